/* scripted_generator.h - a generator without a model, which writes what a test says, word by word.
 *
 *     script p = {.says = "The grey heron is one metre tall."};
 *     service_open(&s, &(service_options){.home = home, .generator = scripted_generator(&p)}, &err);
 *
 * A word is a token. It keeps the prompts that it read, and says of a later one how much of its
 * beginning was there. What it was asked last stands in the script. */
#ifndef FORAGE_TESTS_SCRIPTED_GENERATOR_H
#define FORAGE_TESTS_SCRIPTED_GENERATOR_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernels/clock.h"
#include "kernels/stop_match.h"
#include "retrieval/generator/generator.h"
#include "retrieval/generator/prompt_fit.h"
#include "tests/test.h"

enum { SCRIPT_PROMPTS = 16, SCRIPT_PROMPT_BYTES = 16384 };

typedef struct script {
    /* the test's, before it is opened */
    const char *says;
    const char *(*says_of)(const char *prompt); /* ... or what it makes of the prompt; static */
    uint64_t n_parameters;                      /* 0: those of a small model */
    size_t window;                              /* 0: 4096 */
    bool keeps;                                 /* what it read, to read ahead */
    uint64_t budget_bytes;                      /* of that; a word counts 16 */
    /* the test's, at any time */
    int fails_after; /* so many words: an error then; 0: never */
    int refuses;     /* FO_*: of the next starts */
    int waits_after; /* so many words: it goes on once `go` is set, or it is cancelled; 0: never */
    atomic_bool go;
    atomic_bool away; /* not ready */
    /* the generator's */
    pthread_mutex_t mu;
    /* guarded by mu */
    int n_layouts, n_started, n_cancelled, n_freed;
    generator_options last;
    char prompts[SCRIPT_PROMPTS][SCRIPT_PROMPT_BYTES]; /* latest at n_prompts - 1, modulo */
    unsigned char salts[SCRIPT_PROMPTS][32];
    int n_prompts;
} script;

typedef struct scripted {
    generator base;
    script *script;
} scripted;

typedef struct scripted_layout {
    generator_layout base;
    char *text;
    unsigned char salt[32];
} scripted_layout;

typedef struct scripted_stream {
    generator_stream base;
    const char *rest; /* of what it says */
    generator_options options;
    stop_match stops;
    size_t prompt_tokens, prefix_tokens, n_said;
    double started, first;
    atomic_bool cancelled;
    generator_event over; /* once done */
} scripted_stream;

static inline size_t script_words(const char *s, size_t n) {
    size_t words = 0;
    for (size_t i = 0; i < n; i++)
        words += !strchr(" \n", s[i]) && (i == 0 || strchr(" \n", s[i - 1]));
    return words;
}

/* ---- prompts ------------------------------------------------------------------------------- */

static inline int scripted_turn(void *ctx, size_t i, size_t *n, fo_err *err) {
    const generator_prompt *p = ctx;
    (void)err;
    *n = script_words(p->turns[i].text, strlen(p->turns[i].text));
    return FO_OK;
}

static inline void scripted_head(const generator_prompt *p, fo_buf *out) {
    fo_buf_printf(out, "system: %s\n%s", p->instructions->system, p->instructions->before_contexts);
}

static inline void scripted_tail(const generator_prompt *p, size_t first, fo_buf *out) {
    fo_buf_printf(out, "%s\n", p->instructions->after_contexts);
    for (size_t i = first; i < p->n_turns; i++)
        fo_buf_printf(out, "%s: %s\n", p->turns[i].assistant ? "assistant" : "user",
                      p->turns[i].text);
    fo_buf_printf(out, "user: %s%s%s\nassistant: ", p->instructions->before_question, p->question,
                  p->instructions->after_question);
}

static inline int scripted_rest(void *ctx, size_t first, size_t *n, fo_err *err) {
    fo_buf b = {0};
    (void)err;
    scripted_head(ctx, &b);
    scripted_tail(ctx, first, &b);
    *n = script_words(b.data, b.len);
    fo_buf_free(&b);
    return FO_OK;
}

static inline int scripted_context(void *ctx, size_t i, size_t *n, fo_err *err) {
    const generator_prompt *p = ctx;
    (void)err;
    *n = script_words(p->contexts[i].text, p->contexts[i].len);
    return FO_OK;
}

static inline int scripted_lay_out(generator *g, const generator_prompt *p, generator_layout **out,
                                   fo_err *err) {
    scripted *own = (scripted *)g;
    scripted_layout *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->base.generator = g;
    prompt_counter c = {(void *)p, scripted_turn, scripted_rest, scripted_context};
    pthread_mutex_lock(&own->script->mu);
    own->script->n_layouts++;
    pthread_mutex_unlock(&own->script->mu);
    int rc = prompt_fit(&l->base, p, g->info.window, &c, err);
    if (rc) {
        generator_layout_free(&l->base);
        return rc;
    }
    fo_buf b = {0};
    scripted_head(p, &b);
    l->base.head_tokens = script_words(b.data, b.len);
    for (size_t i = 0; i < l->base.n_used; i++) {
        const prompt_text *t = &p->contexts[l->base.order[i]];
        size_t n = t->len;
        while (l->base.cut && script_words(t->text, n) > l->base.context_tokens) n--;
        fo_buf_add(&b, t->text, n);
    }
    scripted_tail(p, l->base.n_turns_dropped, &b);
    memcpy(l->salt, p->salt, sizeof l->salt);
    l->text = fo_buf_take(&b, NULL);
    *out = &l->base;
    return FO_OK;
}

static inline void scripted_layout_free(generator_layout *l) {
    free(l->order);
    free(((scripted_layout *)l)->text);
    free(l);
}

/* Words that the prompt has in common with the beginning of one that was read before. */
static inline size_t scripted_known(const script *p, const scripted_layout *l) {
    size_t most = 0;
    for (int k = 0; k < p->n_prompts && k < SCRIPT_PROMPTS; k++) {
        size_t same = 0;
        if (memcmp(p->salts[k], l->salt, sizeof l->salt) != 0) continue;
        while (l->text[same] && p->prompts[k][same] == l->text[same]) same++;
        size_t words = script_words(l->text, same);
        if (words > most) most = words;
    }
    return most;
}

static inline void scripted_remember(script *p, const scripted_layout *l, size_t words) {
    size_t n = strlen(l->text);
    while (script_words(l->text, n) > words) n--;
    assert_true(n < SCRIPT_PROMPT_BYTES);
    int k = p->n_prompts++ % SCRIPT_PROMPTS;
    memcpy(p->prompts[k], l->text, n);
    p->prompts[k][n] = 0;
    memcpy(p->salts[k], l->salt, sizeof l->salt);
}

/* ---- text ---------------------------------------------------------------------------------- */

static inline int scripted_start(generator *g, const generator_layout *layout,
                                 const generator_options *o, generator_stream **out,
                                 int64_t *retry_after_ms, fo_err *err) {
    script *p = ((scripted *)g)->script;
    const scripted_layout *l = (const scripted_layout *)layout;
    if (p->refuses) {
        if (retry_after_ms) *retry_after_ms = 1500;
        return fo_fail(err, p->refuses, "the script refuses");
    }
    scripted_stream *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->base.generator = g;
    int rc = stop_match_init(&s->stops, o->stop, o->n_stop, err);
    if (rc) {
        free(s);
        return rc;
    }
    s->rest = p->says_of ? p->says_of(((const scripted_layout *)layout)->text) : p->says;
    s->options = *o;
    s->started = fo_now_ms();
    s->prompt_tokens =
        o->background ? layout->head_tokens + layout->context_tokens : layout->n_tokens;
    pthread_mutex_lock(&p->mu);
    p->n_started++;
    p->last = *o;
    s->prefix_tokens = o->reuse == REUSE_OFF ? 0 : scripted_known(p, l);
    if (s->prefix_tokens > s->prompt_tokens) s->prefix_tokens = s->prompt_tokens;
    if (o->reuse != REUSE_OFF && !o->drop_kv) scripted_remember(p, l, s->prompt_tokens);
    pthread_mutex_unlock(&p->mu);
    *out = &s->base;
    return FO_OK;
}

static inline void scripted_end(scripted_stream *s, const char *why, int error, fo_buf *text) {
    fo_buf thrown = {0};
    bool stopped = stop_match_end(&s->stops, text ? text : &thrown);
    fo_buf_free(&thrown);
    s->over.done = true;
    s->over.finish_reason = stopped ? "stop_sequence" : why;
    s->over.error = error;
    if (error) snprintf(s->over.message, sizeof s->over.message, "the script ends here");
}

/* One word more. */
static inline void scripted_say(scripted_stream *s, fo_buf *text) {
    fo_buf thrown = {0};
    const char *word = s->rest;
    size_t n = *word == ' ';
    while (word[n] && word[n] != ' ') n++;
    s->rest += n;
    s->n_said++;
    if (s->first == 0) s->first = fo_now_ms() - s->started;
    if (stop_match_push(&s->stops, word, n, text ? text : &thrown)) {
        s->over.done = true;
        s->over.finish_reason = "stop_sequence";
    }
    fo_buf_free(&thrown);
}

static inline bool scripted_next(generator_stream *stream, int timeout_ms, generator_event *ev,
                                 fo_buf *text) {
    scripted_stream *s = (scripted_stream *)stream;
    script *p = ((scripted *)stream->generator)->script;
    bool waits = p->waits_after && s->n_said >= (size_t)p->waits_after;
    double until = fo_now_ms() + timeout_ms;
    while (waits && !atomic_load(&p->go) && !atomic_load(&s->cancelled) &&
           (timeout_ms < 0 || fo_now_ms() < until))
        usleep(500);
    bool held = waits && !atomic_load(&p->go);
    bool late = s->options.deadline_ms && fo_now_ms() - s->started > (double)s->options.deadline_ms;
    if (!s->over.done) {
        if (atomic_load(&s->cancelled))
            scripted_end(s, "cancelled", 0, text);
        else if (late)
            scripted_end(s, "timeout", 0, text);
        else if (s->options.prefill_only)
            scripted_end(s, "stop", 0, text);
        else if (p->fails_after && s->n_said >= (size_t)p->fails_after)
            scripted_end(s, "error", FO_EIO, text);
        else if (!held && !*s->rest)
            scripted_end(s, "stop", 0, text);
        else if (!held && s->n_said == s->options.max_tokens)
            scripted_end(s, "length", 0, text);
        else if (!held)
            scripted_say(s, text);
    }
    *ev = s->over;
    if (!ev->finish_reason) ev->finish_reason = "";
    ev->stop_index = s->stops.found;
    ev->usage = (generator_usage){.prompt_tokens = s->prompt_tokens,
                                  .completion_tokens = s->n_said,
                                  .cached_tokens = s->prefix_tokens,
                                  .prefix_tokens = s->prefix_tokens};
    ev->prefill_ms = 1;
    ev->first_token_ms = s->first;
    return !held || ev->done;
}

static inline void scripted_cancel(generator_stream *s) {
    script *p = ((scripted *)s->generator)->script;
    pthread_mutex_lock(&p->mu);
    p->n_cancelled++;
    pthread_mutex_unlock(&p->mu);
    atomic_store(&((scripted_stream *)s)->cancelled, true);
}

static inline void scripted_stream_free(generator_stream *s) {
    script *p = ((scripted *)s->generator)->script;
    pthread_mutex_lock(&p->mu);
    p->n_freed++;
    pthread_mutex_unlock(&p->mu);
    stop_match_deinit(&((scripted_stream *)s)->stops);
    free(s);
}

/* ---- the generator ------------------------------------------------------------------------- */

static inline bool scripted_ready(const generator *g) {
    return !atomic_load(&((const scripted *)g)->script->away);
}

static inline void scripted_kept(generator *g, generator_kept *out) {
    *out = (generator_kept){((scripted *)g)->script->budget_bytes, 16, 1};
}

static inline void scripted_close(generator *g) {
    script *p = ((scripted *)g)->script;
    assert_int_equal(p->n_freed, p->n_started); /* whatever happened */
    pthread_mutex_destroy(&p->mu);
    free(g);
}

static inline int scripted_open(generator **out, const void *options, const generator_place *at,
                                fo_err *err) {
    static const generator_methods forgets = {.lay_out = scripted_lay_out,
                                              .layout_free = scripted_layout_free,
                                              .start = scripted_start,
                                              .next = scripted_next,
                                              .cancel = scripted_cancel,
                                              .stream_free = scripted_stream_free,
                                              .ready = scripted_ready,
                                              .close = scripted_close};
    static generator_methods keeps;
    keeps = forgets;
    keeps.get_kept = scripted_kept;
    script *p = (script *)options;
    (void)at, (void)err;
    scripted *own = calloc(1, sizeof *own);
    assert_non_null(own);
    pthread_mutex_init(&p->mu, NULL);
    p->n_layouts = p->n_started = p->n_cancelled = p->n_freed = 0;
    own->script = p;
    own->base.methods = p->keeps ? &keeps : &forgets;
    own->base.info = (generator_info){.name = "scripted",
                                      .fingerprint = {1, 2, 3},
                                      .n_parameters = p->n_parameters,
                                      .window = p->window ? p->window : 4096};
    *out = &own->base;
    return FO_OK;
}

static inline generator_source scripted_generator(script *p) {
    return (generator_source){scripted_open, p};
}

/* The prompt that was read last; the test's until the next. */
static inline const char *script_prompt(const script *p) {
    assert_true(p->n_prompts > 0);
    return p->prompts[(p->n_prompts - 1) % SCRIPT_PROMPTS];
}

#endif
