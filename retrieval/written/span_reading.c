#include "retrieval/written/span_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/embed/reader_spans.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/text/facts.h"
#include "retrieval/written/own_words.h"
#include "retrieval/question/question.h"
#include "retrieval/values/short_clauses.h"
#include "retrieval/units/units.h"

/* How far what was written may be behind the best span. */
static const float most_behind = 2;

/* How far the best span must be ahead of "it is not here" to be shown as the answer. */
static const float sure = 3;

enum {
    SHORT = 120,  /* bytes of a short answer */
    WINDOW = 700, /* bytes that are read: the support and what stands around it */
    ROOM = 6,     /* words that may stand between those of the answer */
};

/* What is read of a passage: the bytes around [start, end), and what the reader says of them. More than a window is read
 * from its beginning. */
typedef struct stretch {
    size_t from, to;
    reader_ends ends;
} stretch;

static int read_around(stretch *out, const span_reading_input *in, const passage *p, size_t start,
                       size_t end, fo_err *err) {
    const size_t n = end - start, beside = n < WINDOW ? (WINDOW - n) / 2 : 0;
    size_t from = start > beside ? start - beside : 0;
    size_t to = p->len - end > beside ? end + beside : p->len;
    while (from > 0 && from < start && !fo_is_blank(p->text[from - 1])) from++;
    while (to < p->len && to > end && !fo_is_blank(p->text[to])) to--;
    out->from = from;
    out->to = to;
    return reader_spans(in->reader, in->question, p->title, p->text + from, to - from, &out->ends,
                        err);
}

/* The best span of those in bytes [start, end) of the passage. */
static reader_answer best_in(const stretch *s, size_t start, size_t end) {
    return reader_ends_best(&s->ends, (uint32_t)(start - s->from), (uint32_t)(end - s->from));
}

/* A word of the support. */
typedef struct said_word {
    size_t times; /* words of the answer that it says */
    size_t again; /* words back to the same one; SIZE_MAX: not within the widest stretch */
} said_word;

static size_t times_said(const fact_text *answer, uint64_t id) {
    size_t n = 0;
    for (size_t i = 0; i < answer->n_words; i++)
        n += answer->words[i].id == id && fact_is_content(&answer->words[i]);
    return n;
}

static size_t words_back(const fact_text *t, size_t at, size_t most) {
    for (size_t back = 1; back <= at && back < most; back++)
        if (t->words[at - back].id == t->words[at].id) return back;
    return SIZE_MAX;
}

/* Words of the question count where the answer says nothing of the support beyond it. */
static void count_said(said_word *out, const fact_text *support, const fact_text *answer,
                       const fact_text *asked, size_t widest) {
    bool beyond = false;
    for (size_t i = 0; i < support->n_words; i++) {
        const uint64_t id = support->words[i].id;
        out[i] = (said_word){times_said(answer, id), words_back(support, i, widest)};
        beyond |= out[i].times && !fact_has(asked, id);
    }
    for (size_t i = 0; beyond && i < support->n_words; i++)
        if (out[i].times && fact_has(asked, support->words[i].id)) out[i].times = 0;
}

/* Bytes [from, to) of the support with the fewest words that say most of what the answer says beyond the question, or
 * at all where it says nothing beyond it; empty: none do. A sentence may have a thousand words, and so may what a model writes:
 * what a stretch says is counted as it grows. */
static int find(const fact_text *support, const fact_text *answer, const fact_text *asked,
                size_t *from, size_t *to, fo_err *err) {
    const size_t n = support->n_words, widest = answer->n_words + ROOM;
    said_word *w = calloc(n + 1, sizeof *w);
    if (!w) return fo_no_memory(err);
    count_said(w, support, answer, asked, widest);
    size_t most = 0, shortest = SIZE_MAX;
    *from = *to = 0;
    for (size_t i = 0; i < n; i++) {
        size_t said = 0;
        for (size_t k = i + 1; k <= n && k - i <= widest; k++) {
            if (w[k - 1].again > k - 1 - i) said += w[k - 1].times;
            if (said < most || (said == most && k - i >= shortest) || !said) continue;
            most = said;
            shortest = k - i;
            *from = support->words[i].start;
            *to = support->words[k - 1].end;
        }
    }
    free(w);
    return FO_OK;
}

/* What is compared word by word. */
typedef struct compared {
    fact_text support, asked;
} compared;

static int read_words(compared *out, const span_reading_input *in, fo_err *err) {
    analyzer *a = in->lx->analyzer;
    int rc =
        fact_text_read(&out->support, a, in->passage->text + in->start, in->end - in->start, err);
    return rc ? rc : fact_text_read(&out->asked, a, in->question, strlen(in->question), err);
}

static void words_deinit(compared *w) {
    fact_text_deinit(&w->support);
    fact_text_deinit(&w->asked);
}

/* Does a clause end between words i - 1 and i? */
static bool is_divided(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i], *before = w - 1;
    return memchr(t->text + before->end, ';', w->start - before->end) != NULL;
}

/* "The refrigerator is kept at 5 degrees; the freezer at minus 18": the clause of byte `at` of the passage names nothing that the
 * question does, and another clause of the support does. */
static bool of_another_clause(const compared *w, const span_reading_input *in, size_t at) {
    const fact_text *s = &w->support, *asked = &w->asked;
    size_t a = 0, b;
    while (a < s->n_words && in->start + s->words[a].end <= at) a++;
    if (at < in->start || a == s->n_words) return false;
    for (b = a + 1; b < s->n_words && !is_divided(s, b);) b++;
    while (a > 0 && !is_divided(s, a)) a--;
    size_t here = 0, elsewhere = 0;
    for (size_t i = 1; i < asked->n_words; i++) {
        if (!(asked->words[i - 1].flags & WORD_STOP) || !question_names_thing(asked, i))
            continue; /* of several words the first: a verb may follow */
        const uint64_t id = asked->words[i].id;
        const bool own = fact_says(s, a, b, id),
                   other = fact_says(s, 0, a, id) || fact_says(s, b, s->n_words, id);
        here += own && !other;
        elsewhere += other && !own;
    }
    return elsewhere && !here;
}

/* The written words are bytes [from, to) of the passage. */
static int hold_against(bool *holds, const span_reading_input *in, const compared *w, size_t from,
                        size_t to, fo_err *err) {
    stretch around;
    int rc = read_around(&around, in, in->passage, in->start, in->end, err);
    if (rc) return rc;
    const reader_answer best = best_in(&around, around.from, around.to),
                        own = best_in(&around, from, to);
    const size_t best_from = around.from + best.begin, best_to = around.from + best.end;
    *holds = (best_from < to && best_to > from) || !isfinite(own.score) ||
             own.score >= best.score - most_behind || of_another_clause(w, in, best_from);
    const bool seen = !in->lead || (in->lead == in->passage && in->lead_start < around.to &&
                                    in->lead_end > around.from);
    if (seen || !*holds) return FO_OK;
    const float said = own.score - around.ends.none;
    rc = read_around(&around, in, in->lead, in->lead_start, in->lead_end, err);
    if (rc) return rc;
    const reader_answer other = best_in(&around, around.from, around.to);
    *holds = said >= other.score - around.ends.none - most_behind;
    return FO_OK;
}

static bool can_tell(const span_reading_input *in) {
    return in->reader && reader_has_spans(in->reader) &&
           passage_is_english(in->passage, in->lx->analyzer);
}

int span_reading_holds(bool *holds, const span_reading_input *in, fo_err *err) {
    *holds = true;
    if (!can_tell(in)) return FO_OK;
    compared w = {0};
    fact_text answer = {0};
    size_t from = 0, to = 0;
    int rc = read_words(&w, in, err);
    if (!rc) rc = fact_text_read(&answer, in->lx->analyzer, in->answer, in->n_answer, err);
    if (!rc) rc = find(&w.support, &answer, &w.asked, &from, &to, err);
    if (!rc && from < to) {
        from += in->start;
        to += in->start;
        *holds = !of_another_clause(&w, in, from);
        if (*holds) rc = hold_against(holds, in, &w, from, to, err);
    }
    fact_text_deinit(&answer);
    words_deinit(&w);
    return rc;
}

/* ---- short answers -------------------------------------------------------------------------- */

/* Where s says words [0, n), white space apart, from its beginning on; 0: it does not. */
static size_t says_here(const char *s, size_t len, const char *words, size_t n) {
    size_t i = 0, k = 0;
    while (k < n) {
        if (fo_is_blank(words[k])) {
            if (i == len || !fo_is_blank(s[i])) return 0;
            while (k < n && fo_is_blank(words[k])) k++;
            while (i < len && fo_is_blank(s[i])) i++;
        } else if (i == len || s[i++] != words[k++]) {
            return 0;
        }
    }
    return i;
}

/* Bytes [*from, *to) of the answer that say the words, on one line. */
static bool find_said(const span_reading_input *in, const char *words, size_t n, size_t *from,
                      size_t *to) {
    for (size_t i = 0; n && i < in->n_answer; i++) {
        const size_t said = says_here(in->answer + i, in->n_answer - i, words, n);
        if (!said) continue;
        if (memchr(in->answer + i, '\n', said)) return false;
        *from = i;
        *to = i + said;
        return true;
    }
    return false;
}

/* A list is an answer as a whole. */
static bool is_list(const char *s, size_t n) {
    size_t items = 0, room;
    for (const char *line = s, *end = s + n; line < end; line += room) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        room = stop ? (size_t)(stop - line) + 1 : (size_t)(end - line);
        items += text_item_mark(line, room) > 0;
    }
    return items > 1;
}

/* What the unit and the words of the question are, for what tells of several values the one. */
typedef struct short_reading {
    stretch around;
    fact_text unit;
    asked_words asked;
} short_reading;

/* Reads the quote in the place of the unit where what is asked now stands beside it. */
static int look_beside(short_reading *out, span_reading_input *in, fo_err *err) {
    fact_text quote = {0};
    const char *text = in->passage->text + in->quote_start;
    if (out->asked.n < 2 || in->quote_end <= in->quote_start) return FO_OK;
    int rc = fact_text_read(&quote, in->lx->analyzer, text, in->quote_end - in->quote_start, err);
    if (!rc && short_is_beside(&out->asked, &out->unit, &quote)) {
        const fact_text unit = out->unit;
        out->unit = quote;
        quote = unit;
        in->start = in->quote_start;
        in->end = in->quote_end;
    }
    fact_text_deinit(&quote);
    return rc;
}

static int read_short(short_reading *out, span_reading_input *in, fo_err *err) {
    int rc = asked_words_read(&out->asked, in->lx, in->question, in->own, err);
    if (!rc)
        rc = fact_text_read(&out->unit, in->lx->analyzer, in->passage->text + in->start,
                            in->end - in->start, err);
    if (!rc) rc = look_beside(out, in, err);
    return rc ? rc : read_around(&out->around, in, in->passage, in->start, in->end, err);
}

static bool is_cut_bracket(const char *s, size_t n) {
    const char *open = memchr(s, '(', n);
    return open && !memchr(open, ')', (size_t)(s + n - open));
}

/* The words of the clause that answer: the reader's where they say its value, or that. What stands behind the window it has not
 * read. */
static void take_of_clause(const char *text, const stretch *s, const short_clause *c, size_t *from,
                           size_t *to) {
    const reader_answer best = best_in(s, c->from > s->from ? c->from : s->from, c->to);
    size_t a = s->from + best.begin, b = s->from + best.end;
    if (a < c->from) a = c->from;
    if (b > c->to) b = c->to;
    const bool read = isfinite(best.score) && a < b, value = c->value_from < c->value_to;
    *from = c->value_from;
    *to = c->value_to;
    if (!read ||
        (value && (a > c->value_from || b < c->value_to || is_cut_bracket(text + a, b - a))))
        return;
    *from = a;
    *to = b;
}

static bool is_of_word(char c) {
    return word_token_letter(c) || fo_is_digit(c);
}

/* The reader may see parts of words: "£1" of "£15". */
static void take_whole_words(const span_reading_input *in, size_t *from, size_t *to) {
    const char *text = in->passage->text;
    while (*from > in->start && is_of_word(text[*from - 1]) && is_of_word(text[*from])) --*from;
    while (*to < in->end && is_of_word(text[*to - 1]) && is_of_word(text[*to])) ++*to;
}

/* Does it begin or end within a name, as "md" of "old.md" and "2" of "-2" do? */
static bool is_torn(const span_reading_input *in, size_t from, size_t to) {
    const char *s = in->passage->text;
    const bool front = from > in->start && strchr("./\\-_:@=", s[from - 1]) &&
                       (from - 1 == in->start || !fo_is_blank(s[from - 2]) || s[from - 1] == '-');
    const bool back = to + 1 < in->end && strchr("./\\-_:@=", s[to]) && is_of_word(s[to + 1]);
    return front || back;
}

/* "day" of "the same day" says another thing. */
static void take_attribute(const span_reading_input *in, size_t *from) {
    const char *text = in->passage->text;
    size_t end = *from;
    while (end > in->start && fo_is_blank(text[end - 1])) end--;
    size_t start = end;
    while (start > in->start && fo_is_letter(text[start - 1])) start--;
    if (end < *from &&
        fo_words_have_any_case("same next following previous", text + start, end - start))
        *from = start;
}

/* Bytes of the passage that answer; equal: nothing is told. */
typedef struct short_choice {
    size_t from, to;
    bool value; /* a value as it stands, with nothing beside it */
} short_choice;

/* What the reader takes is right as a rule where there is one value of the kind; where there are several, it often takes the
 * wrong one. */
static int choose_short(short_choice *out, const span_reading_input *in, const short_reading *r,
                        fo_err *err) {
    const reader_answer best = best_in(&r->around, in->start, in->end);
    size_t a = r->around.from + best.begin, b = r->around.from + best.end;
    if (a >= b || best.score - r->around.ends.none < sure) return FO_OK;
    take_whole_words(in, &a, &b);
    const short_input at = {.lx = in->lx,
                            .asked = &r->asked,
                            .passage = in->passage,
                            .start = in->start,
                            .end = in->end,
                            .best_from = a,
                            .best_to = b};
    bool row;
    enum short_told told;
    short_clause clause = {0};
    int rc = short_cell(&row, &told, &a, &b, &at, err);
    if (!rc && !row) {
        rc = short_clause_find(&told, &clause, &at, &r->unit, err);
        if (!rc && told == SHORT_TOLD)
            take_of_clause(in->passage->text, &r->around, &clause, &a, &b);
        if (!rc && !short_says_amount(&at, a, b)) told = SHORT_NOT_TOLD;
    }
    if (rc || told == SHORT_NOT_TOLD || (a < b && is_torn(in, a, b))) return rc;
    if (a < b) take_attribute(in, &a);
    *out = (short_choice){a, b, told == SHORT_TOLD && (row || clause.value_to > 0)};
    return FO_OK;
}

/* Does it say nothing that the question does not: "Is it on in February?", "What about the pasta one?" "Red or blue?" may be
 * answered by its own words, and so may what something is. */
static bool says_only_what_is_asked(const short_reading *r, const span_reading_input *in,
                                    size_t from, size_t to) {
    const question *q = &r->asked.tier[0].q;
    const bool asks_what = q->kind != ASK_OTHER || q->defines;
    if (r->asked.n < 2 && !q->demands.whether && asks_what && !q->procedure) return false;
    size_t words = 0;
    if (word_tokens_say("or", q->text.text, q->text.len)) return false;
    for (size_t i = 0; i < r->unit.n_words; i++) {
        const fact_word *w = &r->unit.words[i];
        if (in->start + w->start < from || in->start + w->end > to) continue;
        if (w->flags & WORD_NEGATION) return false;
        if (!fact_is_content(w)) continue;
        if (!question_says(q, w->id)) return false;
        words++;
    }
    return words > 0;
}

/* Bytes of the answer that say bytes [from, to) of the passage: where the unit stands in it, or the first that do. */
static void find_in_answer(const span_reading_input *in, size_t at, size_t n, size_t *from,
                           size_t *to) {
    const char *unit = in->passage->text + in->start, *words = in->passage->text + at;
    for (size_t i = 0; i < in->n_answer; i++) {
        const char *s = in->answer + i;
        const size_t said = says_here(s, in->n_answer - i, unit, at + n - in->start),
                     before = said ? says_here(s, said, unit, at - in->start) : 0;
        if (!said) continue;
        if (memchr(s + before, '\n', said - before)) return;
        *from = i + before;
        *to = i + said;
        return;
    }
    (void)find_said(in, words, n, from, to);
}

/* The words with what limits an amount, where the answer says that. */
static int say_short(size_t *from, size_t *to, const span_reading_input *in, size_t at, size_t n,
                     fo_err *err) {
    fo_buf own = {0};
    int rc = own_words(&own,
                       &(own_words_input){.analyzer = in->lx->analyzer,
                                          .answer = in->passage->text + at,
                                          .n_answer = n,
                                          .span = in->passage->text + in->start,
                                          .n_span = in->end - in->start,
                                          .question = in->question},
                       err);
    if (!rc && !(own.len <= SHORT && find_said(in, own.data, own.len, from, to)))
        find_in_answer(in, at, n, from, to);
    fo_buf_free(&own);
    return rc;
}

/* Does text[0..n) hold this word, in any case, also as a part of another? */
static bool holds_word(const char *text, size_t n, const char *word, size_t n_word) {
    for (size_t i = 0; i + n_word <= n; i++)
        if (!strncasecmp(text + i, word, n_word)) return true;
    return false;
}

/* Does the question say a word of four letters or more of text[0..n) that is no part of the names? */
static bool says_a_word_of(const char *asked, const char *text, size_t n, const char *names,
                           size_t n_names) {
    enum { LETTERS = 4 };
    for (size_t at = 0, end; at < n; at = end) {
        while (at < n && !fo_is_letter(text[at])) at++;
        for (end = at; end < n && fo_is_letter(text[end]);) end++;
        if (end - at >= LETTERS && !holds_word(names, n_names, text + at, end - at) &&
            holds_word(asked, strlen(asked), text + at, end - at))
            return true;
    }
    return false;
}

/* "cksum - compute and verify file checksums", the line by which a page of a manual is called: it answers what a command does with
 * all that stands behind the dash, and which command does it with the names, never with a word of the one or with some of both. */
static void keep_to_a_side(const span_reading_input *in, size_t *from, size_t *to) {
    const char *title = in->passage->title ? in->passage->title : "";
    const size_t names = exact_names_of_command(title);
    size_t n = strlen(title);
    if (!names || *from == *to || *to > n || n > in->n_answer || memcmp(in->answer, title, n) != 0)
        return;
    const size_t what = names + 2 + strcspn(title + names + 1, " ");
    const bool named = exact_names_command_said(in->question, strlen(in->question), title);
    while (n > what && title[n - 1] == '.') n--;
    if (*from >= what &&
        (!named || says_a_word_of(in->question, title + what, n - what, title, names)))
        return;
    if (!named)
        *from = 0, *to = names;
    else if (n - what <= SHORT)
        *from = what, *to = n;
    else
        *from = *to = 0;
}

int span_reading_short(size_t *from, size_t *to, const span_reading_input *in, fo_err *err) {
    *from = *to = 0;
    if (!can_tell(in) || is_list(in->answer, in->n_answer)) return FO_OK;
    short_reading r = {0};
    short_choice c = {0};
    span_reading_input at = *in;
    int rc = read_short(&r, &at, err);
    if (!rc) rc = choose_short(&c, &at, &r, err);
    const size_t n = c.to - c.from;
    if (!rc && n && n <= SHORT && !says_only_what_is_asked(&r, &at, c.from, c.to)) {
        if (c.value)
            find_in_answer(&at, c.from, n, from, to);
        else
            rc = say_short(from, to, &at, c.from, n, err);
        keep_to_a_side(in, from, to);
    }
    fact_text_deinit(&r.unit);
    asked_words_deinit(&r.asked);
    return rc;
}
