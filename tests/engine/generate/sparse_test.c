/* sparse_test.c - sparse attention through the running engine: which blocks each head keeps, and what
 * is written then, against plain_network.h; memory that is given back; pages that others share; the
 * same text in any company, through preemption and for every cut of the prompt. */
#include "tests/test.h"

#include "tests/engine/generate/engine_fixture.h"
#include "tests/engine/plain_network.h"

enum { PROMPT = 300, ANSWER = 60, PAGE_BYTES = 8192 /* of tiny_llama, bf16, 16 tokens */ };

static sparse_params params(float retention, int window, int refresh) {
    sparse_params p = sparse_params_default();
    p.retention = retention;
    p.window = window;
    p.refresh = refresh;
    return p;
}

static generation_request sparse_request(const int32_t *prompt, size_t n, size_t max_tokens,
                                         const sparse_params *p) {
    generation_request r = request(prompt, n, max_tokens);
    r.sparse = p;
    r.n_logprobs = 0;
    return r;
}

/* What the plain network says about the answer that was written: every token is its likeliest. */
static void follows(plain_network *p, sparse_params sparse, const int32_t *prompt, int n_prompt,
                    const result *got) {
    static int32_t x[PLAIN_MOST];
    static double logits[PLAIN_MOST][V];
    const int n = n_prompt + (int)got->n;
    memcpy(x, prompt, (size_t)n_prompt * sizeof *x);
    memcpy(x + n_prompt, got->tokens, got->n * sizeof *x);
    plain_reset(p);
    int point = n_prompt + sparse.delay;
    for (int at = 0, next; at < n; at = next) {
        next = point < n ? point : n;
        p->watch_from = point - sparse.window, p->watch_to = point;
        plain_rows(p, x, at, next, 0, logits[at]);
        if (next == point) plain_drop(p, &sparse, point - sparse.window, point, point);
        point = sparse.refresh ? point + sparse.refresh : PLAIN_MOST;
    }
    for (int i = 0; i < (int)got->n; i++) {
        const double *row = logits[n_prompt + i - 1];
        double top = -1e300, sum = 0;
        for (int v = 0; v < V; v++)
            if (row[v] > top) top = row[v];
        for (int v = 0; v < V; v++) sum += exp(row[v] - top);
        const double p_got = row[got->tokens[i]] - top - log(sum);
        if (fabs(p_got - (double)got->logprobs[i]) > 1e-3 || row[got->tokens[i]] < top - 1e-3)
            fail_msg("token %d of the answer: log-probability %g, the plain network says %g, its "
                     "best %g",
                     i, (double)got->logprobs[i], p_got, -log(sum));
    }
}

static sparse_params resolved(sparse_params p) {
    static const sparse_params own = {1, 0, 16, 16, 64, 256};
    assert_ok(sparse_params_resolve(&p, &own, &err), &err);
    return p;
}

static void writes_what_the_plain_network_says(void **state) {
    (void)state;
    tiny_shape s = deeper_llama;
    s.type = QUANT_F32;
    snprintf(path, sizeof path, "%s/plain.gguf", folder);
    tiny_model_write(path, &s, &seed);
    plain_network *plain = plain_open(path, &s, 0);
    static const struct {
        float retention;
        int window, refresh, block, sink, delay, n_prompt, page, batch;
    } rows[] = {{.5f, 32, 0, 16, 16, 0, 300, 16, 512},   {.25f, 48, 20, 16, 16, 0, 300, 32, 64},
                {.25f, 32, 16, 48, 0, 5, 291, 16, 40},   {.1f, 16, 33, 32, 40, 0, 200, 48, 512},
                {.75f, 100, 7, 16, 16, 11, 128, 16, 33}, {.3f, 64, 40, 16, 16, 0, 60, 16, 512}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        engine *e = open_engine((engine_options){.exact = true,
                                                 .kv_type = KV_F32,
                                                 .kv_page_tokens = rows[i].page,
                                                 .max_batch_tokens = rows[i].batch,
                                                 .n_threads = 1 + (int)i % 2});
        int32_t prompt[PROMPT];
        result dense, got;
        random_tokens(prompt, PROMPT);
        sparse_params p = params(rows[i].retention, rows[i].window, rows[i].refresh);
        p.block = rows[i].block, p.sink = rows[i].sink, p.delay = rows[i].delay;
        const size_t n = (size_t)rows[i].n_prompt;
        generation_request r = sparse_request(prompt, n, ANSWER, &p);
        run(e, &r, &got);
        follows(plain, resolved(p), prompt, (int)n, &got);
        assert_non_null(strstr(got.ev.kv_note, "approximate"));
        r.sparse = NULL;
        run(e, &r, &dense);
        if (n > 100) assert_memory_not_equal(dense.logprobs, got.logprobs, sizeof(float) * ANSWER);
        close_engine(e);
    }
    plain_close(plain);
    snprintf(path, sizeof path, "%s/tiny.gguf", folder);
}

/* Retention 1 is no other way of computing. */
static void keeping_all_changes_no_bit(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t prompt[PROMPT];
    random_tokens(prompt, PROMPT);
    sparse_params p = params(1, 32, 16);
    generation_request r = sparse_request(prompt, PROMPT, ANSWER, &p);
    result all, dense;
    run(e, &r, &all);
    r.sparse = NULL;
    run(e, &r, &dense);
    same_tokens(&all, &dense, "retention 1");
    assert_memory_equal(all.logprobs, dense.logprobs, ANSWER * sizeof(float));
    assert_string_equal(all.ev.kv_note, "");
    close_engine(e);
}

/* The same text alone, beside others, with few pages (preempted), for every cut of the prompt, and
 * after others left the prompt's pages. */
static void is_the_same_in_any_company(void **state) {
    (void)state;
    enum { N = 6 };
    static int32_t prompts[N][PROMPT];
    static result alone[N];
    random_tokens(prompts[0], PROMPT);
    for (int i = 1; i < N; i++) {
        memcpy(prompts[i], prompts[0], sizeof *prompts);
        random_tokens(prompts[i] + 50 * (i - 1), (size_t)(PROMPT - 50 * (i - 1)));
    }
    const sparse_params p = params(.25f, 32, 24);
    engine *e = open_engine((engine_options){.no_lookup = true});
    for (int i = 0; i < N; i++) {
        generation_request r = sparse_request(prompts[i], PROMPT, ANSWER, i % 3 ? &p : NULL);
        r.kv_reuse = KV_REUSE_OFF;
        run(e, &r, &alone[i]);
    }
    close_engine(e);
    uint64_t preemptions = 0;
    for (int shape = 0; shape < 4; shape++) {
        e = open_engine((engine_options){.kv_ram = shape == 1 ? 34 * PAGE_BYTES : 0,
                                         .read_stretch = shape == 1 ? -1 : 0,
                                         .max_batch_tokens = shape == 2 ? 37 : 0,
                                         .n_threads = 1 + shape % 2,
                                         .kv_page_tokens = shape == 3 ? 48 : 16});
        for (int round = 0; round < 2; round++) { /* the second finds what the first left */
            generation *g[N];
            for (int i = 0; i < N; i++) {
                generation_request r =
                    sparse_request(prompts[i], PROMPT, ANSWER, i % 3 ? &p : NULL);
                r.priority = i;
                g[i] = submit(e, &r);
            }
            assert_ok(engine_check(e, &err), &err);
            for (int i = 0; i < N; i++) {
                result got;
                finish(g[i], &got);
                same_tokens(&got, &alone[i], "in company");
                assert_memory_equal(got.logprobs, alone[i].logprobs, ANSWER * sizeof(float));
                assert_ok(engine_check(e, &err), &err);
            }
        }
        engine_stats st;
        engine_get_stats(e, &st);
        preemptions += st.preemptions;
        if (shape == 0) assert_true(st.kv.hit_tokens > 0);
        close_engine(e);
    }
    assert_true(preemptions > 0);
}

/* What a request says that it held at most is what the cache had in use at most: alone, with pages that
 * others may find, which are held while the share is packed beside them, and attached to those. */
static void the_peak_is_that_of_the_cache(void **state) {
    (void)state;
    int32_t prompt[PROMPT];
    random_tokens(prompt, PROMPT);
    engine *e = open_engine((engine_options){0});
    const sparse_params quarter = params(.25f, 32, 16);
    generation_request r = sparse_request(prompt, PROMPT, ANSWER, &quarter);
    const size_t dense = (PROMPT + 15) / 16 * 16;
    for (int i = 0; i < 4; i++) {
        result got;
        engine_stats st;
        r.kv_reuse = i < 2 ? KV_REUSE_OFF : KV_REUSE_EXACT;
        engine_forget_peak(e);
        run(e, &r, &got);
        engine_get_stats(e, &st);
        assert_int_equal(got.ev.kv_peak_tokens, st.kv.most_used * 16);
        if (i < 2) assert_int_equal(got.ev.kv_peak_tokens, dense);
        if (i == 2) assert_true(got.ev.kv_peak_tokens > dense);
        assert_true(got.ev.kv_end_tokens < dense / 2);
    }
    close_engine(e);
}

/* Pages are given back, and others can have them. */
static void memory_goes_with_retention(void **state) {
    (void)state;
    int32_t prompt[PROMPT];
    random_tokens(prompt, PROMPT);
    engine *e = open_engine((engine_options){0});
    const sparse_params all = params(1, 32, 0), quarter = params(.25f, 32, 16);
    generation_request r = sparse_request(prompt, PROMPT, ANSWER, &all);
    result dense, got;
    run(e, &r, &dense);
    r.sparse = &quarter;
    run(e, &r, &got);
    assert_int_equal(dense.ev.kv_end_tokens, (PROMPT + ANSWER + 15) / 16 * 16);
    /* The dense answer's pages stay findable: the share is packed beside them. */
    assert_true(got.ev.kv_peak_tokens > PROMPT && got.ev.kv_peak_tokens <= PROMPT * 3 / 2);
    /* a quarter of what is before the window, the window, and what came since the last point */
    assert_true(got.ev.kv_end_tokens <= (PROMPT + ANSWER) / 4 + 32 + 16 + 3 * 16);
    close_engine(e);

    /* While it writes, what it dropped is free for others, and what it shared stays findable. */
    e = open_engine((engine_options){.kv_ram = 40 * PAGE_BYTES});
    r.ignore_end = true;
    r.max_tokens = 150;
    generation *g = submit(e, &r);
    generation_event ev;
    do generation_next(g, -1, &ev, NULL);
    while (!ev.done && ev.completion_tokens < 3);
    engine_stats st;
    engine_get_stats(e, &st);
    if (!ev.done) assert_true(st.kv.n_used <= 10);
    assert_int_equal(engine_probe(e, r.salt, prompt, PROMPT), (PROMPT - 1) / 16 * 16);
    result other;
    generation_request second = request(prompt, PROMPT, 20);
    run(e, &second, &other);
    assert_memory_equal(other.tokens, dense.tokens, 20 * sizeof *other.tokens);
    assert_int_equal(other.ev.cached_tokens, (PROMPT - 1) / 16 * 16);
    finish(g, &got);
    assert_int_equal(got.ev.error, FO_OK);
    close_engine(e);
}

static void refuses_what_it_does_not_do(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t prompt[40];
    random_tokens(prompt, 40);
    static const struct {
        sparse_params p;
        const char *field;
    } rows[] = {{{0, -1, -1, -1, -1, -1}, "sparse.retention"},
                {{1.5f, -1, -1, -1, -1, -1}, "sparse.retention"},
                {{.5f, 1 << 24, -1, -1, -1, -1}, "sparse.delay"},
                {{.5f, -1, 24, -1, -1, -1}, "sparse.block"},
                {{.5f, -1, 0, -1, -1, -1}, "sparse.block"},
                {{.5f, -1, -1, 1 << 24, -1, -1}, "sparse.sink"},
                {{.5f, -1, -1, -1, 8, -1}, "sparse.window"},
                {{.5f, -1, -1, -1, -1, 1 << 24}, "sparse.refresh"}};
    generation *g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        generation_request r = sparse_request(prompt, 40, 8, &rows[i].p);
        assert_int_equal(engine_submit(e, &r, &g, NULL, &err), FO_EINVAL);
        assert_string_equal(err.field, rows[i].field);
    }
    const sparse_params least = params(.01f, 16, 0), half = params(.5f, 16, 0);
    generation_request r = sparse_request(prompt, 40, 8, &least);
    assert_ok(engine_submit(e, &r, &g, NULL, &err), &err); /* the least that the manual allows */
    generation_free(g);
    r = sparse_request(prompt, 40, 8, &half);
    r.prefill_only = true;
    assert_int_equal(engine_submit(e, &r, &g, NULL, &err), FO_EINVAL);
    assert_string_equal(err.field, "sparse");
    close_engine(e);
    tiny_shape s = tiny_llama;
    s.arch = "phi3";
    s.window = 24;
    char windowed[512];
    snprintf(windowed, sizeof windowed, "%s/window.gguf", folder);
    tiny_model_write(windowed, &s, &seed);
    e = open_engine((engine_options){.model = windowed});
    r.prefill_only = false;
    assert_int_equal(engine_submit(e, &r, &g, NULL, &err), FO_EUNSUPPORTED);
    assert_string_equal(err.field, "sparse");
    close_engine(e);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_the_plain_network_says),
        cmocka_unit_test(keeping_all_changes_no_bit),
        cmocka_unit_test(is_the_same_in_any_company),
        cmocka_unit_test(the_peak_is_that_of_the_cache),
        cmocka_unit_test(memory_goes_with_retention),
        cmocka_unit_test(refuses_what_it_does_not_do),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
