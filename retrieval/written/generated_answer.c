#include "retrieval/written/generated_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "kernels/utf8.h"
#include "retrieval/text/foreign_marks.h"
#include "retrieval/written/own_words.h"
#include "retrieval/question/question.h"
#include "retrieval/written/span_reading.h"
#include "retrieval/written/written_short.h"
#include "retrieval/units/units.h"

enum {
    DEFAULT_SENTENCES = 3,
    LONGEST_SENTENCE = 4096,        /* bytes without an end: the model is not writing sentences */
    POLL_MS = 50,                   /* how soon a client that went away is noticed */
    LABEL = PROMPT_LABEL_BYTES - 2, /* bytes of a label */
};
const double generated_answer_most_behind = 2;

typedef struct writing {
    const generated_answer_input *in;
    generated_answer *out;
    fo_buf raw; /* what the model wrote and has not been judged */
    fo_buf text;
    size_t n_sentences;
    bool over;
    fo_err *err;
} writing;

/* ---- what is asked for -------------------------------------------------------------------- */

static bool is_key(const fact_word *w, enum question_kind kind) {
    switch (kind) {
    case ASK_TIME:
        return w->flags & (WORD_DIGIT | WORD_CALENDAR);
    case ASK_NUMBER:
        return w->flags & (WORD_DIGIT | WORD_NUMERAL);
    case ASK_PERSON:
    case ASK_NAME:
    case ASK_PLACE:
        return (w->flags & WORD_CAPITAL) && !(w->flags & WORD_INITIAL);
    default:
        return false;
    }
}

/* Share, by idf, of the words of `extract` that the question does not say and the sentence does: of
 * those that are asked for, or of all of weight. -1: there are none. */
static double share_said(const lexicon *lx, const question *q, const fact_text *extract,
                         const fact_text *sentence, bool keys_only) {
    double mass = 0, said = 0;
    for (size_t i = 0; i < extract->n_words; i++) {
        const fact_word *w = &extract->words[i];
        if (!fact_is_content(w) || question_says(q, w->id)) continue;
        if (keys_only && !is_key(w, q->kind)) continue;
        double idf = fact_word_idf(lx, extract, w);
        mass += idf;
        if (fact_has(sentence, w->id)) said += idf;
    }
    return mass > 0 ? said / mass : -1;
}

/* An amount without a number, "many kilometres", that both say and the question does not. */
static bool say_an_amount(const question *q, const fact_text *extract, const fact_text *sentence) {
    static const char *const amounts =
        "many several few dozens hundreds thousands millions most half none nobody all";
    for (size_t i = 0; i < sentence->n_words; i++) {
        const fact_word *w = &sentence->words[i];
        if (fact_word_in(sentence, i, amounts) && fact_has(extract, w->id) &&
            !question_says(q, w->id))
            return true;
    }
    return false;
}

static bool has_value(const fact_numbers *list, const fact_number *x) {
    for (size_t i = 0; i < list->n; i++) {
        const bool time = x->unit == UNIT_CLOCK || list->v[i].unit == UNIT_CLOCK;
        if (time ? fact_numbers_equal(&list->v[i], x) : fabs(list->v[i].value - x->value) < 1e-9)
            return true;
    }
    return false;
}

/* Is the date there, and does it say as much as that: not July 1931 for 8 July 1931? */
static bool has_date(const fact_numbers *list, const date_said *date) {
    for (size_t i = 0; i < list->n_dates; i++) {
        const date_said *x = &list->dates[i].said;
        if (dates_agree(x, date) && (date->day || !x->day) && (date->year || !x->year)) return true;
    }
    return false;
}

/* Does the sentence say a number, or a date, of the text's in other signs, and the question does not: 8 for eight? */
static int say_one(bool *same, enum question_kind kind, const fact_text *extract,
                   const fact_text *sentence, const char *asked, fo_err *err) {
    fact_numbers of[3] = {0};
    const char *text[3] = {extract->text, sentence->text, asked};
    const size_t len[3] = {extract->len, sentence->len, strlen(asked)};
    int rc = FO_OK;
    for (int i = 0; i < 3 && !rc; i++) rc = fact_numbers_read(&of[i], text[i], len[i], err);
    *same = false;
    for (size_t i = 0; !rc && kind == ASK_TIME && i < of[1].n_dates; i++) {
        const date_said *x = &of[1].dates[i].said;
        *same |= has_date(&of[0], x) && !has_date(&of[2], x);
    }
    for (size_t i = 0; !rc && kind == ASK_NUMBER && i < of[1].n; i++) {
        const fact_number *x = &of[1].v[i];
        *same |= !x->weak && has_value(&of[0], x) && !has_value(&of[2], x);
    }
    for (int i = 0; i < 3; i++) fact_numbers_deinit(&of[i]);
    return rc;
}

/* Share of what a text says beyond the question that the sentence says too: of its numbers, names or
 * dates where the question asks for such, of all its content words elsewhere. */
static int agreement(double *out, const generated_answer_input *in, const char *text, size_t len,
                     const char *sentence, size_t n, fo_err *err) {
    question q = {0};
    fact_text a = {0}, b = {0};
    int rc = question_read(&q, in->lx, in->question, strlen(in->question), err);
    if (!rc) rc = fact_text_read(&a, in->lx->analyzer, text, len, err);
    if (!rc) rc = fact_text_read(&b, in->lx->analyzer, sentence, n, err);
    if (!rc) {
        *out = share_said(in->lx, &q, &a, &b, true);
        if (*out < 0) *out = share_said(in->lx, &q, &a, &b, false);
        if (*out < 0) *out = 1; /* it says nothing beyond the question */
        if (*out == 0 && q.kind == ASK_NUMBER && say_an_amount(&q, &a, &b)) *out = 1;
        bool same = false;
        if ((*out == 0 && q.kind == ASK_NUMBER) || (*out < 1 && q.kind == ASK_TIME))
            rc = say_one(&same, q.kind, &a, &b, in->question, err);
        if (same) *out = 1;
    }
    question_deinit(&q);
    fact_text_deinit(&a);
    fact_text_deinit(&b);
    return rc;
}

/* ---- sentences --------------------------------------------------------------------------- */

/* Has s the form of a label? One that was copied with a wrong digit is no word either. */
static bool is_label(const char *s) {
    for (size_t i = 1; i < LABEL; i++)
        if (!fo_is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'f')) return false;
    return s[0] == 'p';
}

/* Bytes of labels in brackets, "[p0a1b2]", "[p0a1b2, p3c4d5]"; 0: there are none. Other words in brackets may be the
 * document's: "x[i]", "tar [FILE]". */
static size_t labels_length(const char *s, size_t n) {
    size_t at = 1;
    if (n == 0 || s[0] != '[') return 0;
    while (n - at > LABEL && is_label(s + at)) {
        at += LABEL;
        while (at < n && (s[at] == ',' || s[at] == ';' || fo_is_blank(s[at]))) at++;
        if (at < n && s[at] == ']') return at + 1;
    }
    return 0;
}

/* named[i] where one of the labels is that of the i-th context of the prompt. */
static void take_labels(const writing *w, const char *s, size_t n, bool *named) {
    const generated_answer_input *in = w->in;
    for (size_t at = 1; at + LABEL < n; at++)
        for (size_t k = 0; s[at] == 'p' && k < in->layout->n_used; k++)
            if (prompt_label_find(&in->contexts[in->order[k]], 1, s + at, LABEL) == 0)
                named[k] = true;
}

/* The sentence without labels and markers and with single blanks. */
static void clean(const writing *w, const char *s, size_t n, fo_buf *out, bool *named) {
    for (size_t i = 0; i < n;) {
        size_t m = labels_length(s + i, n - i);
        if (m) {
            take_labels(w, s + i, m, named);
            if (out->len && out->data[out->len - 1] == ' ') out->len--;
            i += m;
            continue;
        }
        char c = s[i++];
        bool blank = c == ' ' || (c >= '\t' && c <= '\r');
        if (!blank)
            fo_buf_char(out, c);
        else if (out->len && out->data[out->len - 1] != ' ')
            fo_buf_char(out, ' ');
    }
    while (out->len && out->data[out->len - 1] == ' ') out->len--;
    /* Numbers, and what dropping a label has put together: "[[p0a1b2]2]". */
    if (out->len) out->len = foreign_marks_drop(out->data, out->len);
    fo_buf_add(out, "", 0);
}

typedef struct best_span {
    size_t passage, start, end;
    support_check check;
    double behind; /* the best unit, of the units that it overlaps; INFINITY: none was ranked */
} best_span;

static double behind_of(const extractive_answer *x, size_t where, size_t start, size_t end) {
    if (!x || x->abstain) return 0;
    for (size_t i = 0; i < x->n_ranked; i++) {
        const extractive_rank *r = &x->ranked[i];
        if (r->passage == where && r->start < end && start < r->end) return r->behind;
    }
    return INFINITY;
}

static bool is_beside(const best_span *b) {
    return b->behind > generated_answer_most_behind;
}

typedef struct spans_of {
    const extractive_answer *extract;
    size_t passage;
} spans_of;

static bool span_answers(const void *ctx, size_t start, size_t end) {
    const spans_of *of = ctx;
    return behind_of(of->extract, of->passage, start, end) <= generated_answer_most_behind;
}

/* Supported by what answers the question; then by more of its words. */
static bool is_better_span(const best_span *a, const best_span *b) {
    if (!b->check.verified) return true;
    if (is_beside(a) != is_beside(b)) return is_beside(b);
    return a->check.coverage > b->check.coverage;
}

/* The passages that the sentence names first, then the others: a wrong label is put right. */
static int find_support(writing *w, const char *s, size_t n, const bool *named, best_span *best) {
    size_t n_used = w->in->layout->n_used;
    *best = (best_span){.check.reason = "empty"};
    for (int round = 0; round < 2 && (!best->check.verified || is_beside(best)); round++) {
        for (size_t k = 0; k < n_used; k++) {
            if (named[k] != (round == 0)) continue;
            const passage *x = &w->in->passages[w->in->order[k]];
            best_span b = {.passage = w->in->order[k]};
            spans_of spans = {w->in->extract, b.passage};
            int rc =
                citation_find(&b.start, &b.end, &b.check, w->in->lx,
                              &(citation_search){.sentence = s,
                                                 .sentence_len = n,
                                                 .passage = x->text,
                                                 .passage_len = x->len,
                                                 .title = x->title,
                                                 .asked = w->in->question,
                                                 .reader = w->in->reader,
                                                 .answers = w->n_sentences ? NULL : span_answers,
                                                 .answers_ctx = &spans},
                              w->err);
            if (rc) return rc;
            b.behind = behind_of(w->in->extract, b.passage, b.start, b.end);
            if (b.check.verified && is_better_span(&b, best)) *best = b;
        }
    }
    return FO_OK;
}

static int emit(writing *w, size_t from, const answer_citation *c) {
    const generated_answer_sink *k = &w->in->sink;
    int rc = FO_OK;
    if (k->text) rc = k->text(k->ctx, w->text.data + from, w->text.len - from);
    if (!rc && c && k->citation)
        rc = k->citation(k->ctx, w->text.data, c, (int)w->out->n_citations);
    return rc == FO_ECANCELLED ? fo_fail(w->err, rc, "cancelled by the client") : rc;
}

/* The sentence, where it may be the document's own words: no marker in it is ours. */
static void add_sentence(fo_buf *text, const char *s, size_t n) {
    size_t start = text->len;
    fo_buf_add(text, s, n);
    if (!text->failed) text->len = start + foreign_marks_disarm(text->data + start, n);
    fo_buf_add(text, "", 0);
}

static int let_through(writing *w, const char *s, size_t n, const best_span *span) {
    generated_answer *out = w->out;
    size_t from = w->text.len;
    if (from) fo_buf_char(&w->text, ' ');
    size_t start = w->text.len;
    add_sentence(&w->text, s, n);
    answer_citation *c = NULL;
    if (span->check.verified) {
        answer_citation *more =
            realloc(out->citations, (out->n_citations + 1) * sizeof *out->citations);
        if (!more) return fo_fail(w->err, FO_ENOMEM, "out of memory for an answer");
        out->citations = more;
        c = &more[out->n_citations++];
        *c = (answer_citation){.passage = span->passage,
                               .start = span->start,
                               .end = span->end,
                               .answer_start = start,
                               .answer_end = w->text.len,
                               .verified = true};
        fo_buf_printf(&w->text, " [%zu]", out->n_citations);
    }
    if (w->text.failed) return fo_fail(w->err, FO_ENOMEM, "out of memory for an answer");
    w->n_sentences++;
    out->accepted = true;
    size_t most = w->in->max_sentences ? w->in->max_sentences : DEFAULT_SENTENCES;
    w->over = w->n_sentences >= most;
    return emit(w, from, c);
}

static void refuse(writing *w, const char *why) {
    w->over = true;
    if (!w->out->accepted) w->out->refused = why;
}

/* May the document's words stand in the place of the model's? The generator looked for stop strings in what the model
 * wrote alone: none is to come in with what is put there. As it will be said, so the brackets of markers are round. */
static bool may_replace(const writing *w, fo_buf *said) {
    const generator_options *o = &w->in->options;
    if (!said->len) return false;
    said->len = foreign_marks_disarm(said->data, said->len);
    for (size_t i = 0; i < o->n_stop; i++)
        if (memmem(said->data, said->len, o->stop[i], strlen(o->stop[i]))) return false;
    return true;
}

/* A sentence said before is the beginning of a loop. */
static bool repeats(const writing *w, const fo_buf *s) {
    return w->text.len && strstr(w->text.data, s->data) != NULL;
}

/* The words of the support that it says are those that answer. */
static int reads_as_answer(writing *w, const fo_buf *s, const best_span *span, bool *answers) {
    const generated_answer_input *in = w->in;
    const extractive_rank *lead =
        in->extract && in->extract->n_ranked ? &in->extract->ranked[0] : NULL;
    return span_reading_holds(
        answers,
        &(span_reading_input){.reader = in->reader,
                              .lx = in->lx,
                              .question = in->question,
                              .passage = &in->passages[span->passage],
                              .start = span->start,
                              .end = span->end,
                              .lead = lead ? &in->passages[lead->passage] : NULL,
                              .lead_start = lead ? lead->start : 0,
                              .lead_end = lead ? lead->end : 0,
                              .answer = s->data,
                              .n_answer = s->len},
        w->err);
}

/* A cell of the best row, or a bare yes or no, is said with the words of that unit, which bear it out; *judged: it was one. */
static int judge_short(writing *w, const fo_buf *s, bool *judged) {
    const generated_answer_input *in = w->in;
    const extractive_answer *x = in->extract;
    if (!x || x->abstain || !x->lead || !x->n_ranked) return FO_OK;
    const written_short_input written = {.analyzer = in->lx->analyzer,
                                         .question = in->question,
                                         .answer = s->data,
                                         .n_answer = s->len,
                                         .lead = x->lead};
    fo_buf said = {0};
    enum written_verdict verdict;
    int rc = written_cell(&verdict, &said, &written, w->err);
    const bool cell = verdict != WRITTEN_OTHERWISE;
    if (!rc && !cell) verdict = written_yes_or_no(&said, &written);
    *judged = !rc && verdict != WRITTEN_OTHERWISE;
    if (!rc && said.failed) rc = fo_fail(w->err, FO_ENOMEM, "out of memory for an answer");
    const extractive_rank *best = &x->ranked[0];
    const best_span span = {.passage = best->passage,
                            .start = best->start,
                            .end = best->end,
                            .check = {.verified = true}};
    if (!rc && verdict == WRITTEN_BESIDE) refuse(w, "beside");
    if (!rc && verdict == WRITTEN_HOLDS) {
        const bool may = may_replace(w, &said);
        const fo_buf *words = may ? &said : s;
        w->out->agreement = 1;
        if (may || cell)
            rc = let_through(w, words->data, words->len, &span);
        else
            refuse(w, "stop"); /* a bare yes or no does not say of what */
        w->over = true;
    }
    fo_buf_free(&said);
    return rc;
}

static int judge_clean(writing *w, const fo_buf *s, const bool *named) {
    const generated_answer_input *in = w->in;
    if (s->len == 0) return FO_OK;
    if (repeats(w, s)) {
        w->over = true;
        return FO_OK;
    }
    best_span span;
    bool judged = false;
    int rc = w->n_sentences == 0 ? judge_short(w, s, &judged) : FO_OK;
    if (rc || judged) return rc;
    rc = find_support(w, s->data, s->len, named, &span);
    if (rc) return rc;
    bool first = w->n_sentences == 0, answers = true;
    if (!span.check.verified && (in->strict || first)) {
        refuse(w, "unsupported");
        return FO_OK;
    }
    if (first) {
        const passage *p = &in->passages[span.passage];
        double of_support, of_lead = 1;
        w->out->agreement = exp(-span.behind);
        rc = agreement(&of_support, in, p->text + span.start, span.end - span.start, s->data,
                       s->len, w->err);
        if (!rc && in->least_agreement > 0 && in->extract && in->extract->lead)
            rc = agreement(&of_lead, in, in->extract->lead, strlen(in->extract->lead), s->data,
                           s->len, w->err);
        if (rc) return rc;
        answers = of_support > 0 && of_lead >= in->least_agreement;
        if (answers && span.check.verified) rc = reads_as_answer(w, s, &span, &answers);
        if (rc) return rc;
    }
    /* A list is shown as the document has it. */
    const bool held = in->extract && !in->extract->abstain, item = text_item_mark(s->data, s->len);
    if (first && held && (is_beside(&span) || !answers || item)) {
        refuse(w, "beside");
        return FO_OK;
    }
    if (!span.check.verified || !first) return let_through(w, s->data, s->len, &span);
    const passage *p = &in->passages[span.passage];
    fo_buf own = {0};
    rc = own_words(&own,
                   &(own_words_input){.analyzer = in->lx->analyzer,
                                      .answer = s->data,
                                      .n_answer = s->len,
                                      .span = p->text + span.start,
                                      .n_span = span.end - span.start,
                                      .question = in->question},
                   w->err);
    const fo_buf *said = !rc && may_replace(w, &own) ? &own : s;
    if (!rc) rc = let_through(w, said->data, said->len, &span);
    fo_buf_free(&own);
    return rc;
}

static int judge(writing *w, const char *s, size_t n) {
    fo_buf cleaned = {0};
    size_t n_used = w->in->layout->n_used;
    bool *named = calloc(n_used + 1, sizeof *named);
    int rc = FO_OK;
    if (named) clean(w, s, n, &cleaned, named);
    if (!named || cleaned.failed)
        rc = fo_fail(w->err, FO_ENOMEM, "out of memory for an answer");
    else
        rc = judge_clean(w, &cleaned, named);
    free(named);
    fo_buf_free(&cleaned);
    return rc;
}

/* Stands a second sentence behind the first? */
static bool has_finished(const fo_buf *raw) {
    const size_t end = sentence_end(raw->data, raw->len, 0);
    return !fo_only_blanks(raw->data + end, raw->len - end);
}

/* Judge what is finished of raw; at the end also the rest, unless it was broken off. */
static int judge_finished(writing *w, bool done) {
    fact_text t = {0};
    if (w->raw.len == 0) return FO_OK;
    if (!done && !has_finished(&w->raw)) return FO_OK;
    int rc = fact_text_read(&t, w->in->lx->analyzer, w->raw.data, w->raw.len, w->err);
    const char *why = w->out->outcome.finish_reason;
    bool broken_off =
        done && why && (!strcmp(why, "length") || !strcmp(why, "timeout") || !strcmp(why, "error"));
    size_t used = 0;
    for (size_t i = 0; !rc && !w->over && i < t.n_sentences; i++) {
        const char *s = w->raw.data + t.sentences[i].start;
        size_t n = t.sentences[i].end - t.sentences[i].start;
        bool last = i + 1 == t.n_sentences;
        if (last && !done) break;
        if (last && broken_off && !sentence_is_whole(s, n)) break;
        rc = judge(w, s, n);
        used = t.sentences[i].end;
    }
    fact_text_deinit(&t);
    memmove(w->raw.data, w->raw.data + used, w->raw.len - used);
    w->raw.len -= used;
    fo_buf_add(&w->raw, "", 0);
    return rc;
}

/* ---- the generation ---------------------------------------------------------------------- */

static int follow(writing *w, generator_stream *g) {
    generator_event *ev = &w->out->outcome;
    const atomic_bool *cancel = w->in->cancel;
    int rc = FO_OK;
    for (bool stopping = false; !rc;) {
        size_t before = w->raw.len;
        generator_next(g, POLL_MS, ev, &w->raw);
        if (w->raw.failed) return fo_fail(w->err, FO_ENOMEM, "out of memory for an answer");
        if (cancel && atomic_load(cancel))
            return fo_fail(w->err, FO_ECANCELLED, "cancelled by the client");
        if (stopping) {
            if (ev->done) break;
            continue;
        }
        if (w->in->unchecked) {
            if (ev->done) break;
            continue;
        }
        if (w->raw.len > before || ev->done) rc = judge_finished(w, ev->done);
        if (ev->done) break;
        if (!rc && !w->over && w->raw.len > LONGEST_SENTENCE) refuse(w, "unsupported");
        if (w->over) { /* the rest is not wanted: its place and pages go to others */
            generator_cancel(g);
            stopping = true;
        }
    }
    return rc;
}

static int finish(writing *w) {
    generated_answer *out = w->out;
    generator_event *ev = &out->outcome;
    if (ev->error && !w->in->unchecked) {
        if (!out->accepted) out->refused = "error";
    }
    /* We had enough, whether or not the generator was told in time. */
    const char *why = ev->finish_reason;
    if (w->over && why && (!strcmp(why, "cancelled") || !strcmp(why, "length")))
        ev->finish_reason = "stop";
    if (w->in->unchecked) {
        out->accepted = w->raw.len > 0;
        fo_buf_add(&w->text, w->raw.data ? w->raw.data : "", w->raw.len);
    }
    if (!out->accepted && !out->refused) out->refused = "empty";
    fo_buf_add(&w->text, "", 0);
    out->text = fo_buf_take(&w->text, NULL);
    return out->text ? FO_OK : fo_fail(w->err, FO_ENOMEM, "out of memory for an answer");
}

int generated_answer_make(generated_answer *out, const generated_answer_input *in,
                          int64_t *retry_after_ms, fo_err *err) {
    *out = (generated_answer){.outcome.stop_index = -1};
    writing w = {.in = in, .out = out, .err = err};
    generator_stream *g = NULL;
    int rc = generator_start(in->generator, in->layout, &in->options, &g, retry_after_ms, err);
    if (!rc) rc = follow(&w, g);
    generator_stream_free(g);
    if (!rc) rc = finish(&w);
    fo_buf_free(&w.raw);
    fo_buf_free(&w.text);
    if (rc) {
        const generator_usage used = out->outcome.usage;
        generated_answer_deinit(out);
        out->outcome.usage = used;
    }
    return rc;
}

void generated_answer_deinit(generated_answer *a) {
    free(a->text);
    free(a->citations);
    *a = (generated_answer){0};
}
