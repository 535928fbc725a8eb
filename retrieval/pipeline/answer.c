/* The last stage of a question: contexts to an answer. The extractive answer is always made (a
 * millisecond); a language model's stands in its place only where generated_answer.c lets it through. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "kernels/utf8.h"
#include "retrieval/collections/title_vectors.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/text/file_title.h"
#include "retrieval/text/own_names.h"
#include "retrieval/answer/answer_stop.h"
#include "retrieval/question/demands.h"
#include "retrieval/pipeline/query_run.h"
#include "retrieval/written/generated_answer.h"
#include "retrieval/question/relative_days.h"
#include "retrieval/written/span_reading.h"

static int add_citation(run *r, const char *answer, const answer_citation *from, int index) {
    query_result *out = r->out;
    const store_chunk *k = &out->contexts[from->passage].chunk;
    const whole_passage *whole = &r->whole[from->passage];
    const char *text = whole->text ? whole->text : k->text;
    size_t start_cp = whole->text ? whole->start_cp : k->start_cp;
    query_citation *more = realloc(out->citations, (out->n_citations + 1) * sizeof *out->citations);
    if (!more) return fo_no_memory(r->err);
    out->citations = more;
    query_citation *to = &more[out->n_citations++];
    *to = (query_citation){
        .index = index,
        .answer_start = fo_utf8_count(answer, from->answer_start),
        .answer_end = fo_utf8_count(answer, from->answer_end),
        .quote = strndup(text + from->start, from->end - from->start),
        .verified = from->verified,
        .context = from->passage,
        .source_start = start_cp + fo_utf8_count(text, from->start),
        .source_end = start_cp + fo_utf8_count(text, from->end),
    };
    return to->quote ? FO_OK : fo_no_memory(r->err);
}

/* ---- extractive -------------------------------------------------------------------------- */

static void now_visible(run *r) {
    if (r->out->ms.first_visible == 0) r->out->ms.first_visible = fo_now_ms() - r->started;
}

int run_emit_answer(run *r) {
    const query_sink *k = r->sink;
    int stop = 0;
    if (k && r->out->answer[0]) now_visible(r);
    if (k && k->token && r->out->answer[0])
        stop = k->token(k->ctx, r->out->answer, strlen(r->out->answer));
    for (size_t i = 0; k && k->citation && !stop && i < r->out->n_citations; i++)
        stop = k->citation(k->ctx, r->out, &r->out->citations[i]);
    return stop ? fo_fail(r->err, FO_ECANCELLED, "cancelled by the client") : FO_OK;
}

/* The few words of the best unit that answer. Nothing of an answer that a stop string has cut. */
static int point_out(run *r, const extractive_input *in, const extractive_answer *a) {
    query_result *out = r->out;
    if (!r->q->short_answer || !a->n_ranked || a->several || out->stop_sequence) return FO_OK;
    const extractive_rank *best = &a->ranked[0];
    for (size_t i = 0; i < a->n_citations; i++) {
        const answer_citation *c = &a->citations[i];
        if (c->passage != best->passage || c->start > best->start || c->end < best->end) continue;
        size_t from, to;
        int rc =
            span_reading_short(&from, &to,
                               &(span_reading_input){.reader = in->reader,
                                                     .lx = in->lx,
                                                     .question = in->question,
                                                     .own = r->rewritten ? r->q->query : NULL,
                                                     .passage = &in->passages[c->passage],
                                                     .start = best->start,
                                                     .end = best->end,
                                                     .quote_start = c->start,
                                                     .quote_end = c->end,
                                                     .answer = a->text + c->answer_start,
                                                     .n_answer = c->answer_end - c->answer_start},
                               r->err);
        if (rc || from == to) return rc;
        out->short_answer.start = fo_utf8_count(a->text, c->answer_start + from);
        out->short_answer.end = fo_utf8_count(a->text, c->answer_start + to);
        return FO_OK;
    }
    return FO_OK;
}

static int give_extractive(run *r, const extractive_input *in, extractive_answer *a) {
    query_result *out = r->out;
    bool late = !strcmp(out->finish_reason, "timeout");
    if (a->abstain) {
        out->status = QUERY_ABSTAINED;
        out->finish_reason = late ? "timeout" : "abstain";
        return FO_OK;
    }
    int stop;
    int rc = answer_stop_apply(a, in, r->q->stop, r->q->n_stop, &stop, r->err);
    if (rc) return rc;
    out->status = QUERY_ANSWERED;
    out->source = ANSWER_EXTRACTIVE;
    out->finish_reason = stop >= 0 ? "stop_sequence" : late ? "timeout" : "stop";
    free(out->answer);
    out->answer = strdup(a->text);
    if (stop >= 0) out->stop_sequence = strdup(r->q->stop[stop]);
    if (!out->answer || (stop >= 0 && !out->stop_sequence)) return fo_no_memory(r->err);
    for (size_t i = 0; !rc && i < a->n_citations; i++)
        rc = add_citation(r, a->text, &a->citations[i], (int)i + 1);
    out->ms.first_token = fo_now_ms() - r->started;
    if (!rc) rc = run_emit_answer(r);
    return rc ? rc : point_out(r, in, a); /* the words themselves need not wait for it */
}

static void drop_answer(query_result *out) {
    for (size_t i = 0; i < out->n_citations; i++) free(out->citations[i].quote);
    out->n_citations = 0;
    out->answer[0] = 0;
}

/* Show the extract while the model reads: what it will say is not known for seconds. */
static int show_draft(run *r, const extractive_answer *x) {
    query_result *out = r->out;
    const query_request *q = r->q;
    /* A stop string may cut it, and who wants the model's own words wants no others. */
    if (!r->sink || !r->sink->draft || x->abstain || q->n_stop || q->prefill_only ||
        q->answer_by == ANSWER_BY_MODEL)
        return FO_OK;
    char *text = strdup(x->text);
    if (!text) return fo_no_memory(r->err);
    free(out->answer);
    out->answer = text;
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < x->n_citations; i++)
        rc = add_citation(r, x->text, &x->citations[i], (int)i + 1);
    if (!rc) now_visible(r);
    if (!rc && r->sink->draft(r->sink->ctx, out))
        rc = fo_fail(r->err, FO_ECANCELLED, "cancelled by the client");
    drop_answer(out);
    return rc;
}

/* 0 stands for the default. */
static double least_support(const run *r) {
    const double tuned = atomic_load(&r->c->min_support);
    return !r->q->strict ? -1 : tuned > 0 ? tuned : 0;
}

static extractive_input extractive_input_of(const run *r, const passage *passages,
                                            const lexicon *lx) {
    return (extractive_input){.question = r->asked,
                              .spoken_of = r->spoken_of,
                              .follow_up = r->rewritten != NULL && !r->whole_again,
                              .n_asked = r->n_asked,
                              .passages = passages,
                              .n_passages = r->out->n_contexts,
                              .n_own = r->n_own,
                              .meant = r->meant,
                              .titled = r->near_titles,
                              .encoder = title_vectors_encoder(r->titled.of),
                              .lx = lx,
                              .max_sentences = r->q->max_sentences,
                              .min_support = least_support(r),
                              .reader = r->reader,
                              .cancel = r->q->cancel,
                              .emb = r->c->embedder,
                              .dense_floor = r->tail};
}

/* ---- written ----------------------------------------------------------------------------- */

static int on_text(void *ctx, const char *text, size_t len) {
    run *r = ctx;
    if (r->out->ms.first_token == 0) r->out->ms.first_token = fo_now_ms() - r->started;
    if (r->sink) now_visible(r);
    const query_sink *k = r->sink;
    return k && k->token && k->token(k->ctx, text, len) ? FO_ECANCELLED : FO_OK;
}

static int on_citation(void *ctx, const char *answer, const answer_citation *c, int index) {
    run *r = ctx;
    int rc = add_citation(r, answer, c, index);
    const query_sink *k = r->sink;
    if (rc || !k || !k->citation) return rc;
    const bool left = k->citation(k->ctx, r->out, &r->out->citations[r->out->n_citations - 1]);
    return left ? FO_ECANCELLED : FO_OK;
}

static void add_once(size_t *list, size_t *n, size_t index) {
    for (size_t i = 0; i < *n; i++)
        if (list[i] == index) return;
    list[(*n)++] = index;
}

/* Contexts as they are offered to the prompt: those that the extractive answer quotes first, since
 * the few that fit should hold the answer; then by their best unit, the others by score. */
static void rank_for_prompt(const run *r, const extractive_answer *x, size_t *ranked) {
    size_t at = 0;
    for (size_t i = 0; i < x->n_citations; i++) add_once(ranked, &at, x->citations[i].passage);
    for (size_t i = 0; i < x->n_ranked; i++) add_once(ranked, &at, x->ranked[i].passage);
    for (size_t i = 0; i < r->out->n_contexts; i++) add_once(ranked, &at, i);
}

/* How many passages hold an answer that is nearly as good as the best: a model that gets more reads
 * longer, and errs more often. 0: as many as its template says. */
static size_t contexts_needed(const run *r, const extractive_answer *x) {
    enum { MOST_NEEDED = 3 };
    static const double nearly = 3; /* a twentieth of the best one's odds */
    size_t seen[MOST_NEEDED], n = 0;
    if (x->abstain || !r->s->prompts->only_needed) return 0;
    for (size_t i = 0; i < x->n_ranked && x->ranked[i].behind <= nearly && n < MOST_NEEDED; i++)
        add_once(seen, &n, x->ranked[i].passage);
    size_t most = r->s->prompts->max_contexts;
    return n < most ? n : most;
}

static size_t tokens_allowed(const query_request *q) {
    return q->max_tokens ? q->max_tokens : PROMPT_ANSWER_TOKENS;
}

/* Tokens of the window that are kept free for the answer. One that is checked is a few sentences long, so what a client
 * allows beyond a quarter of the window does not push the documents out of it. */
static size_t answer_room(const run *r) {
    const size_t allowed = tokens_allowed(r->q);
    const size_t quarter = generator_get_info(r->s->generator)->window / 4;
    const size_t most = quarter > PROMPT_ANSWER_TOKENS ? quarter : PROMPT_ANSWER_TOKENS;
    return r->q->answer_by == ANSWER_BY_MODEL || allowed < most ? allowed : most;
}

/* What is allowed, or what the prompt leaves of the window. */
static size_t answer_tokens(const run *r, const generator_layout *l) {
    const size_t allowed = tokens_allowed(r->q);
    const size_t left = generator_get_info(r->s->generator)->window - l->n_tokens;
    return allowed < left ? allowed : left;
}

static int lay_out(run *r, const prompt_context *offered, const extractive_answer *x,
                   const prompt_turn *turns, size_t n_turns, generator_layout **out) {
    const query_request *q = r->q;
    unsigned char salt[32];
    service_kv_salt(q->tenant, q->sees, salt);
    prompt p;
    int rc = prompt_make(&p, r->s->prompts,
                         &(prompt_input){.contexts = offered,
                                         .n_contexts = r->out->n_contexts,
                                         .turns = turns,
                                         .n_turns = n_turns,
                                         /* A context's KV is moved from behind the head alone. */
                                         .turns_first = q->kv_reuse != REUSE_CHUNK,
                                         .question = q->query,
                                         .unsure = x->abstain,
                                         .max_tokens = answer_room(r),
                                         .max_contexts = contexts_needed(r, x),
                                         .cached_first = q->order == ORDER_CACHE,
                                         .salt = salt},
                         r->err);
    if (rc) return rc;
    rc = generator_lay_out(r->s->generator, &p.prompt, out, r->err);
    prompt_deinit(&p);
    return rc;
}

/* What of the prompt fits: for the caller to know, and for the model's text to be checked against. */
static int report_prompt(run *r, const generator_layout *l, const size_t *ranked) {
    query_result *out = r->out;
    out->prompt.contexts = calloc(l->n_used + 1, sizeof *l->order);
    if (!out->prompt.contexts) return fo_no_memory(r->err);
    for (size_t i = 0; i < l->n_used; i++) out->prompt.contexts[i] = ranked[l->order[i]];
    out->prompt.n_contexts = l->n_used;
    out->prompt.n_dropped = l->n_dropped;
    out->prompt.n_turns_dropped = l->n_turns_dropped;
    out->prompt.cut = l->cut;
    return FO_OK;
}

static int make_prompt(run *r, const prompt_context *contexts, const extractive_answer *x,
                       generator_layout **out) {
    const query_request *q = r->q;
    size_t n = r->out->n_contexts, n_turns = 0;
    size_t *ranked = calloc(n + 1, sizeof *ranked);
    prompt_context *offered = calloc(n + 1, sizeof *offered);
    prompt_turn *turns = calloc(q->n_messages + 1, sizeof *turns);
    int rc = ranked && offered && turns ? FO_OK : fo_no_memory(r->err);
    if (!rc) {
        rank_for_prompt(r, x, ranked);
        for (size_t i = 0; i < n; i++) offered[i] = contexts[ranked[i]];
        for (size_t i = 0; i < q->n_messages; i++)
            if (strcmp(q->messages[i].role, "system"))
                turns[n_turns++] = (prompt_turn){!strcmp(q->messages[i].role, "assistant"),
                                                 q->messages[i].content};
        rc = lay_out(r, offered, x, turns, n_turns, out);
    }
    if (!rc) rc = report_prompt(r, *out, ranked);
    free(ranked);
    free(offered);
    free(turns);
    return rc;
}

static generator_options options_of(const run *r, const generator_layout *l) {
    const query_request *q = r->q;
    double left = run_time_left_ms(r);
    return (generator_options){
        .max_tokens = answer_tokens(r, l),
        .temperature = q->temperature,
        .top_p = q->top_p,
        .top_k = q->sampling_top_k,
        .min_p = q->min_p,
        .presence_penalty = q->presence_penalty,
        .frequency_penalty = q->frequency_penalty,
        .repetition_penalty = q->repetition_penalty,
        .seed = q->seed,
        .stop = q->stop,
        .n_stop = q->n_stop,
        .priority = q->priority,
        .deadline_ms = left < 1 ? 1 : (int64_t)left,
        .reuse = q->kv_reuse,
        /* What is asked often is read often: what was computed of it is worth keeping. */
        .expected_uses = r->out->cache.hot_estimate,
        .no_lookup = q->no_lookup,
        .diffusion = q->diffusion,
        .sparse = q->sparse,
        .drop_kv = q->drop_kv,
        .prefill_only = q->prefill_only};
}

/* By what another try may be spared: then what stands in the answer's place is not kept either. */
static bool is_cut_short(const char *finish_reason) {
    return !strcmp(finish_reason, "error") || !strcmp(finish_reason, "timeout") ||
           !strcmp(finish_reason, "cancelled");
}

static void take_outcome(run *r, const generator_event *ev, const generator_layout *l) {
    query_result *out = r->out;
    out->usage = ev->usage;
    if (!out->usage.prompt_tokens) out->usage.prompt_tokens = l->n_tokens;
    out->ms.queue = ev->queue_ms;
    out->ms.prefill = ev->prefill_ms;
    out->ms.decode = ev->decode_ms;
    out->finish_reason = ev->finish_reason ? ev->finish_reason : "stop";
    if (is_cut_short(out->finish_reason)) r->lookup.passing = true;
}

static int accept(run *r, generated_answer *w) {
    query_result *out = r->out;
    const generator_event *ev = &w->outcome;
    free(out->answer);
    out->answer = w->text;
    w->text = NULL;
    out->status = QUERY_ANSWERED;
    out->source = r->q->prefill_only ? ANSWER_NONE : ANSWER_GENERATED;
    out->model = generator_get_info(r->s->generator)->name;
    if (out->ms.first_token == 0) out->ms.first_token = ev->first_token_ms; /* 0: none came */
    if (ev->stop_index < 0 || (size_t)ev->stop_index >= r->q->n_stop) return FO_OK;
    out->stop_sequence = strdup(r->q->stop[ev->stop_index]);
    return out->stop_sequence ? FO_OK : fo_no_memory(r->err);
}

/* *taken: the answer is the model's. */
static int write_from(run *r, const passage *passages, const prompt_context *contexts,
                      const lexicon *lx, const extractive_answer *x, const generator_layout *l,
                      bool *taken) {
    bool alone = r->q->answer_by == ANSWER_BY_MODEL || r->q->prefill_only;
    generated_answer w;
    generated_answer_input in = {.generator = r->s->generator,
                                 .layout = l,
                                 .order = r->out->prompt.contexts,
                                 .passages = passages,
                                 .contexts = contexts,
                                 .lx = lx,
                                 .reader = r->reader,
                                 .question = r->asked,
                                 .extract = x,
                                 .strict = r->q->strict,
                                 .least_agreement = r->s->prompts->least_agreement,
                                 .unchecked = alone,
                                 .max_sentences = r->q->max_sentences,
                                 .options = options_of(r, l),
                                 .cancel = r->q->cancel,
                                 .sink = {r, on_text, on_citation}};
    int rc = generated_answer_make(&w, &in, &r->out->retry_after_ms, r->err);
    if (rc) {
        r->out->usage = w.outcome.usage; /* it is to be paid for all the same */
        return rc;
    }
    take_outcome(r, &w.outcome, l);
    r->out->agreement = w.agreement;
    *taken = w.accepted || alone;
    if (*taken) rc = accept(r, &w);
    generated_answer_deinit(&w);
    return rc;
}

static int write_answer(run *r, const passage *passages, const lexicon *lx,
                        const extractive_answer *x, bool *taken) {
    size_t n = r->out->n_contexts;
    prompt_context *contexts = calloc(n + 1, sizeof *contexts);
    if (!contexts) return fo_no_memory(r->err);
    for (size_t i = 0; i < n; i++)
        contexts[i] = (prompt_context){r->out->contexts[i].chunk.text,
                                       r->out->contexts[i].chunk.text_len, passages[i].title};
    generator_layout *l = NULL;
    int rc = make_prompt(r, contexts, x, &l);
    if (!rc) rc = write_from(r, passages, contexts, lx, x, l, taken);
    generator_layout_free(l);
    free(contexts);
    if (rc == FO_ELIMIT &&
        !r->q->prefill_only) { /* too long for this model: the documents answer */
        *r->err = (fo_err){0};
        rc = FO_OK;
    }
    return rc;
}

/* ---- which ------------------------------------------------------------------------------- */

static int check_alive(void *ctx, fo_err *err) {
    (void)err; /* the run's own */
    return run_check_alive(ctx);
}

/* Sentences at the edges of their chunks are completed before they are shown, and then there may be
 * a better answer. */
static int make_extractive(run *r, extractive_input *in, passage *passages, extractive_answer *x) {
    const query_result *out = r->out;
    whole_source beside = {.store = r->s->store, .alive = check_alive, .ctx = r};
    bool changed = false, compares = demands_comparison_in(r->asked, strlen(r->asked));
    int rc = whole_passages_followed(&beside, out->contexts, out->n_contexts, passages,
                                     &in->followed, r->err);
    if (!rc && compares)
        rc = whole_passages_tables(&beside, out->contexts, out->n_contexts, passages, r->whole,
                                   NULL, &changed, r->err);
    else if (!rc)
        rc = whole_passages_headers(&beside, out->contexts, out->n_contexts, passages, r->whole,
                                    r->err);
    if (!rc) rc = extractive_answer_make(x, in, r->err);
    if (!rc && x->of_cut_table) { /* more of its rows may answer as well */
        rc = whole_passages_tables(&beside, out->contexts, out->n_contexts, passages, r->whole, x,
                                   &changed, r->err);
        if (!rc && changed) {
            extractive_answer_deinit(x);
            rc = extractive_answer_make(x, in, r->err);
        }
    }
    changed = !rc && !x->abstain;
    for (int round = 0; !rc && changed; round++) {
        rc = whole_passages_complete(&beside, out->contexts, out->n_contexts, passages, r->whole, x,
                                     round > 0, &changed, r->err);
        if (rc || !changed) break;
        extractive_answer_deinit(x);
        rc = extractive_answer_make(x, in, r->err);
    }
    r->out->support = x->support;
    r->lookup.beyond |= beside.read;
    return rc;
}

static int answer_from(run *r, passage *passages, const lexicon *lx) {
    extractive_answer x = {0};
    const query_request *q = r->q;
    bool taken = false;
    int rc = run_take_reader(r);
    if (rc) return rc;
    extractive_input in = extractive_input_of(r, passages, lx);
    rc = make_extractive(r, &in, passages, &x);
    bool ask_model =
        r->s->generator && q->answer_by != ANSWER_BY_EXTRACTION &&
        (!x.abstain || !q->strict || q->answer_by == ANSWER_BY_MODEL || q->prefill_only);
    if (!rc && ask_model && !generator_ready(r->s->generator)) {
        ask_model = false;
        r->lookup.passing = true;
        if (q->prefill_only)
            rc = fo_fail(r->err, FO_EBUSY, "the language model cannot be asked at the moment");
    }
    if (!rc && ask_model) rc = show_draft(r, &x);
    if (!rc && ask_model) rc = write_answer(r, passages, lx, &x, &taken);
    if (!rc && !taken) rc = give_extractive(r, &in, &x);
    extractive_answer_deinit(&x);
    return rc;
}

passage run_passage(const run *r, const query_context *c) {
    return (passage){.text = c->chunk.text,
                     .len = c->chunk.text_len,
                     .before = c->chunk.n_before,
                     .title = c->chunk.title,
                     .document = c->chunk.document_id,
                     .heading = c->chunk.heading,
                     .score = (float)c->score,
                     .dense = r->strange_script ? NAN : (float)c->dense,
                     .sparse = (float)c->sparse};
}

/* What a document begins with; document 0: not read yet. */
typedef struct beginning {
    int64_t document;
    size_t n;
    char bytes[OWN_NAMES_BEGINNING];
} beginning;

/* That of context i's document into read[i], once for contexts of one document that want as much of it. */
static int read_beginning(run *r, size_t i, beginning *read) {
    const store_chunk *k = &r->out->contexts[i].chunk;
    const size_t there = k->start ? k->start : k->text_len,
                 n = there < OWN_NAMES_BEGINNING ? there : OWN_NAMES_BEGINNING;
    beginning *b = &read[i];
    for (size_t j = 0; j < i; j++)
        if (read[j].document == k->document && read[j].n == n) {
            *b = read[j];
            return FO_OK;
        }
    *b = (beginning){.document = k->document, .n = n};
    if (k->start) {
        r->lookup.beyond = true; /* no context holds it */
        const int rc = store_get_text(r->s->store, k->document, 0, n, b->bytes, r->err);
        if (rc != FO_ECORRUPT) return rc;
        b->n = 0; /* damaged: it says nothing of whose it is */
        return FO_OK;
    }
    memcpy(b->bytes, k->text, n);
    return FO_OK;
}

/* A document without a title is called as its file where the question calls it so, and every one besides by the names of
 * the question that it bears as a whole. read: NULL where the question has no names. The title is the caller's to free; NULL: as it
 * was. */
static int name_document(run *r, size_t i, const analyzer *words, passage *p, beginning *read,
                         char **title) {
    const char *titled = p->title ? p->title : "";
    fo_buf name = {0};
    size_t n_called;
    int rc = FO_OK;
    fo_buf_str(&name, titled);
    if (!titled[0] && p->document && file_title_is_asked(r->asked, p->document))
        file_title_add(&name, p->document);
    n_called = name.len;
    /* in German every noun has a capital */
    if (read && passage_is_english(p, words) && !exact_names_of_command(titled)) {
        rc = read_beginning(r, i, read);
        if (!rc)
            own_names_add(&name, r->asked, p->document, read[i].bytes, read[i].n, p->text, p->len);
    }
    if (!rc && name.failed) rc = fo_no_memory(r->err);
    if (!rc && name.len > strlen(titled)) {
        r->n_own[i] = name.len - n_called;
        p->title = *title = fo_buf_take(&name, NULL);
        if (!*title) rc = fo_no_memory(r->err);
    }
    fo_buf_free(&name);
    return rc;
}

/* May a name of the question be one that a document bears as a whole? */
static bool names_a_document(const run *r) {
    bool names = own_names_any(r->asked);
    for (size_t i = 0; !names && i < r->out->n_contexts; i++)
        names = own_names_filed(r->asked, r->out->contexts[i].chunk.document_id);
    return names;
}

static int answer_generally(run *r) {
    query_result *out = r->out;
    size_t n = out->n_contexts;
    passage *passages = calloc(n, sizeof *passages);
    char **titles = calloc(n, sizeof *titles);
    r->whole = calloc(n, sizeof *r->whole);
    r->n_own = calloc(n, sizeof *r->n_own);
    r->meant = calloc(n, sizeof *r->meant);
    r->near_titles = calloc(n, sizeof *r->near_titles);
    const bool named = names_a_document(r);
    beginning *read = named ? calloc(n, sizeof *read) : NULL;
    analyzer *words = NULL;
    int rc =
        passages && titles && r->whole && r->n_own && r->meant && r->near_titles && (read || !named)
            ? collection_take_analyzer(r->s, r->c, &words, r->err)
            : fo_no_memory(r->err);
    if (!rc) rc = titled_compare(r); /* contexts from memory were not compared */
    for (size_t i = 0; !rc && i < n; i++) {
        passages[i] = run_passage(r, &out->contexts[i]);
        r->near_titles[i] = (float)titled_near(r, out->contexts[i].chunk.document);
        r->meant[i] = (float)titled_meant(r, out->contexts[i].chunk.document);
        rc = name_document(r, i, words, &passages[i], read, &titles[i]);
    }
    free(read);
    if (!rc) {
        /* Question and passages in the language of the best passage: their stems are to meet. */
        analyzer *own = analyzer_for_answer(words, passages[0].text, passages[0].len, r->asked);
        lexicon lx = {own, run_idf, r->snapshot};
        const char *as_asked = r->asked;
        fo_buf resolved = {0};
        if (relative_days_resolve(&resolved, r->asked, r->q->today, passages, n) &&
            !resolved.failed)
            r->asked = resolved.data;
        rc = resolved.failed ? fo_no_memory(r->err) : answer_from(r, passages, &lx);
        r->asked = as_asked;
        fo_buf_free(&resolved);
    }
    collection_give_analyzer(r->s, r->c, words);
    whole_passages_free(r->whole, n);
    r->whole = NULL;
    free(r->n_own);
    r->n_own = NULL;
    free(r->meant);
    r->meant = NULL;
    free(r->near_titles);
    r->near_titles = NULL;
    for (size_t i = 0; titles && i < n; i++) free(titles[i]);
    free(titles);
    free(passages);
    return rc;
}

int run_answer(run *r) {
    query_result *out = r->out;
    double t0 = fo_now_ms();
    if (out->n_contexts == 0) {
        out->status = QUERY_NO_CONTEXT;
        out->finish_reason = "abstain";
        return FO_OK;
    }
    if (!r->q->generate) {
        out->status = QUERY_ANSWERED;
        out->finish_reason = "stop";
        return FO_OK;
    }
    int rc = answer_generally(r);
    /* An extractive answer's own time; what was only read ahead has none. */
    double own = fo_now_ms() - t0 - out->ms.queue - out->ms.prefill;
    if (out->usage.completion_tokens == 0) out->ms.decode = r->q->prefill_only ? 0 : fmax(own, 0);
    return rc;
}
