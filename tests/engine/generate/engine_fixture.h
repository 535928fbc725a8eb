/* engine_fixture.h - what tests of the running engine stand on: a folder with a small random model
 * for the whole group, requests, and what came of them. */
#ifndef FORAGE_TESTS_ENGINE_ENGINE_FIXTURE_H
#define FORAGE_TESTS_ENGINE_ENGINE_FIXTURE_H

#include "engine/generate/engine.h"
#include "tests/engine/tiny_model.h"

enum { V = TINY_VOCAB, RESULT_MOST = 400, IDLE_MS = 60000 };

static uint64_t seed;
static fo_err err;
static char *folder, path[512]; /* path: the model in folder */

static const tiny_shape deeper_llama = {.arch = "llama",
                                        .type = QUANT_Q8_0,
                                        .d = 64,
                                        .layers = 3,
                                        .heads = 4,
                                        .kv_heads = 2,
                                        .head_dim = 32,
                                        .ff = 96,
                                        .vocab = V};

/* --- the group's set-up and tear-down --- */
static inline int open_folder(void **state) {
    (void)state;
    folder = test_folder();
    snprintf(path, sizeof path, "%s/tiny.gguf", folder);
    tiny_model_write(path, &tiny_llama, &seed);
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    test_remove(folder);
    return 0;
}

/* --- the engine --- */

/* On the group's model, one thread and little memory, but for what o says. */
static inline engine *open_engine(engine_options o) {
    if (!o.model) o.model = path;
    if (!o.n_threads) o.n_threads = 1;
    if (!o.kv_ram) o.kv_ram = 8 << 20;
    engine *e = NULL;
    assert_ok(engine_open(&e, &o, &err), &err);
    return e;
}

static inline void wait_idle(engine *e) {
    engine_stats st;
    for (int i = 0; i < IDLE_MS; i++) {
        engine_get_stats(e, &st);
        if (st.n_running + st.n_waiting == 0) return;
        usleep(1000);
    }
    fail_msg("the engine does not come to rest");
}

/* No page is held and every invariant stands. */
static inline void close_engine(engine *e) {
    engine_stats st;
    wait_idle(e);
    engine_get_stats(e, &st);
    assert_ok(engine_check(e, &err), &err);
    assert_int_equal(st.kv.n_used, 0);
    assert_int_equal(st.kv.n_sequences, 0);
    engine_close(e);
}

/* --- requests --- */
static inline void random_tokens(int32_t *t, size_t n) {
    for (size_t i = 0; i < n; i++) t[i] = 3 + (int32_t)(test_random(&seed) % (V - 3));
}

static inline generation_request request(const int32_t *prompt, size_t n, size_t max_tokens) {
    return (generation_request){.prompt = prompt,
                                .n_prompt = n,
                                .max_tokens = max_tokens,
                                .sampling = sampler_params_default(),
                                .ignore_end = true,
                                .n_logprobs = -1};
}

static inline generation *submit(engine *e, const generation_request *r) {
    generation *g = NULL;
    assert_ok(engine_submit(e, r, &g, NULL, &err), &err);
    return g;
}

typedef struct result {
    int32_t tokens[RESULT_MOST];
    float logprobs[RESULT_MOST];
    size_t n;
    generation_event ev;
    char text[4096];
} result;

static inline void finish(generation *g, result *out) {
    fo_buf text = {0};
    *out = (result){0};
    do {
        generation_next(g, -1, &out->ev, &text);
    } while (!out->ev.done);
    const generation_token *t = generation_tokens(g, &out->n);
    assert_true(out->n <= RESULT_MOST);
    assert_int_equal(out->n, out->ev.completion_tokens);
    for (size_t i = 0; i < out->n; i++) {
        out->tokens[i] = t[i].token;
        out->logprobs[i] = t[i].logprob;
    }
    snprintf(out->text, sizeof out->text, "%s", text.data ? text.data : "");
    fo_buf_free(&text);
    generation_free(g);
}

static inline void run(engine *e, const generation_request *r, result *out) {
    finish(submit(e, r), out);
}

static inline void same_tokens(const result *a, const result *b, const char *what) {
    if (a->ev.error || b->ev.error)
        fail_msg("%s: %s", what, a->ev.error ? a->ev.message : b->ev.message);
    if (a->n != b->n || memcmp(a->tokens, b->tokens, a->n * sizeof *a->tokens) != 0)
        fail_msg("%s: other tokens", what);
}

/* --- prompts made of pieces --- */
enum { ASK_TOKENS = 480, ASK_PIECES = 8 };

typedef struct ask { /* r points into it: stays where it is */
    int32_t tokens[ASK_TOKENS];
    generation_piece pieces[ASK_PIECES];
    generation_request r;
} ask;

static inline void ask_begin(ask *a, size_t max_tokens, enum kv_reuse reuse) {
    *a = (ask){.r = request(a->tokens, 0, max_tokens)};
    a->r.pieces = a->pieces;
    a->r.kv_reuse = reuse;
    a->r.kv_chunk_budget = 1; /* all of what is moved is computed again: answers are exact */
}

static inline void ask_add(ask *a, const int32_t *tokens, size_t n,
                           enum generation_piece_kind kind) {
    assert_true(a->r.n_pieces < ASK_PIECES && a->r.n_prompt + n <= ASK_TOKENS);
    a->pieces[a->r.n_pieces++] = (generation_piece){a->r.n_prompt, n, kind};
    memcpy(a->tokens + a->r.n_prompt, tokens, n * sizeof *tokens);
    a->r.n_prompt += n;
}

#endif
