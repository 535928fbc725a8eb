/* prompt_lookup_test.c - guesses from n-grams: what they are, when they are made, and that through
 * the engine nothing that is written changes: not greedy, drawn, stopped, constrained, in company
 * or preempted. */
#include "tests/test.h"

#include "engine/generate/prompt_lookup.h"
#include "tests/engine/generate/engine_fixture.h"

enum { CAP = 400 };

/* ---- guesses ------------------------------------------------------------------------------- */

static int draft(prompt_lookup *p, const int32_t *t, int n, int most, double cost, int32_t *out) {
    return prompt_lookup_draft(p, t, n, most, 1, cost, out);
}

static void guesses_what_followed_the_longest_match(void **state) {
    (void)state;
    static const int32_t t[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 5, 90, 91, 92, 3, 4, 5};
    int32_t out[PROMPT_LOOKUP_MAX];
    prompt_lookup p;
    assert_ok(prompt_lookup_init(&p, 64, &err), &err);
    /* "4 5" stood before 90 later, but "3 4 5" before 6. */
    int k = draft(&p, t, 17, 4, .01, out);
    assert_true(k >= 1 && k <= 4);
    for (int i = 0; i < k; i++) assert_int_equal(out[i], 6 + i);
    prompt_lookup_deinit(&p);
    assert_ok(prompt_lookup_init(&p, 64, &err), &err);
    assert_int_equal(draft(&p, t, 14, 4, .01, out), 0); /* "91 92" is new */
    assert_int_equal(draft(&p, t, 1, 4, .01, out), 0);
    assert_int_equal(draft(&p, t, 17, 0, .01, out), 0);
    prompt_lookup_deinit(&p);
}

static void goes_on_with_a_loop_past_its_end(void **state) {
    (void)state;
    int32_t t[30], out[PROMPT_LOOKUP_MAX];
    for (int i = 0; i < 30; i++) t[i] = 10 + i % 3;
    prompt_lookup p;
    assert_ok(prompt_lookup_init(&p, 64, &err), &err);
    for (int i = 0; i < 20; i++) prompt_lookup_learn(&p, 0, 0);
    p.last_class = PROMPT_LOOKUP_CLASSES - 1;
    for (int i = 0; i < 20; i++) prompt_lookup_learn(&p, 8, 8);
    int k = draft(&p, t, 30, PROMPT_LOOKUP_MAX, .01, out);
    assert_int_equal(k, PROMPT_LOOKUP_MAX);
    for (int i = 0; i < k; i++) assert_int_equal(out[i], 10 + i % 3);
    prompt_lookup_deinit(&p);
}

/* Any text, indexed piece by piece: every guess is what followed a pair that stood before. */
static void finds_only_what_is_there(void **state) {
    (void)state;
    static int32_t t[CAP];
    int32_t out[PROMPT_LOOKUP_MAX];
    int n_found = 0;
    for (int round = 0; round < 50; round++) {
        int kinds = 2 + (int)(test_random(&seed) % 30), n = 0;
        prompt_lookup p;
        assert_ok(prompt_lookup_init(&p, CAP, &err), &err);
        for (int i = 0; i < CAP; i++) t[i] = (int32_t)(test_random(&seed) % (uint64_t)kinds);
        while (n < CAP) {
            n += 1 + (int)(test_random(&seed) % 9);
            if (n > CAP) n = CAP;
            int k = draft(&p, t, n, 1, .01, out);
            bool known = false;
            for (int i = 2; i < n && n >= 2 && !known; i++)
                known = t[i - 2] == t[n - 2] && t[i - 1] == t[n - 1] && (!k || t[i] == out[0]);
            assert_int_equal(known, k > 0);
            n_found += k;
        }
        prompt_lookup_deinit(&p);
    }
    assert_true(n_found > 500);
}

/* Guesses that never come true, at what a row costs where products bound the step: rows lost. */
static void stops_where_it_does_not_pay(void **state) {
    (void)state;
    int32_t t[3000], out[PROMPT_LOOKUP_MAX];
    for (int i = 0; i < 3000; i++) t[i] = i % 7;
    static const double costs[] = {.05, .12, .5, 1};
    for (int c = 0; c < 4; c++) {
        prompt_lookup p;
        double lost = 0;
        assert_ok(prompt_lookup_init(&p, 3000, &err), &err);
        for (int n = 10; n < 3000; n++) {
            int k = draft(&p, t, n, PROMPT_LOOKUP_MAX, costs[c], out);
            if (k) prompt_lookup_learn(&p, k, 0);
            lost += k * costs[c];
        }
        if (lost > .03 * 2990) fail_msg("%.1f steps lost of 2990 at a cost of %g", lost, costs[c]);
        assert_true(p.n_quiet <= PROMPT_LOOKUP_PROBE);
        prompt_lookup_deinit(&p);
    }
}

static void learns_what_a_row_costs(void **state) {
    (void)state;
    step_cost c = {0};
    assert_true(step_cost_row(&c, 1) > .05 && step_cost_row(&c, 1) < .3);
    for (int i = 0; i < 200; i++) {
        int rows = 1 + (int)(test_random(&seed) % 12);
        double ms = 10 + .5 * rows;
        step_cost_add(&c, rows, i % 50 == 49 ? 90000 : ms * (.95 + .1 * test_uniform(&seed)));
    }
    for (int i = 0; i < 100; i++) step_cost_add(&c, 1 + i % 12, 10 + .5 * (1 + i % 12));
    assert_true(fabs(step_cost_row(&c, 1) - .5 / 10.5) < .02);
    for (int i = 0; i < 1000; i++) step_cost_add(&c, 1, 10.5); /* alike: nothing to learn from */
    assert_true(fabs(step_cost_row(&c, 1) - .5 / 10.5) < .02);
}

/* ---- through the engine -------------------------------------------------------------------- */

enum { REQUESTS = 36, PROMPT = 120, ANSWER = 60 };

typedef struct wish {
    int32_t prompt[PROMPT];
    generation_request r;
    sampler_bias bias[4];
    const char *stop[2];
    result alone;
} wish;
static wish wishes[REQUESTS];
static json_schema *any_object;

/* Prompts that repeat themselves; half greedy, half drawn; every constraint that there is. */
static void make_wishes(void) {
    static const char *const stops[] = {"ab", "e", "xq", "o "};
    for (int i = 0; i < REQUESTS; i++) {
        wish *w = &wishes[i];
        size_t n = 4 + test_random(&seed) % (PROMPT - 4), piece = 3 + test_random(&seed) % 20;
        for (size_t k = 0; k < n; k++)
            w->prompt[k] = k >= piece && test_random(&seed) % 16
                               ? w->prompt[k - piece]
                               : 4 + (int32_t)(test_random(&seed) % (V - 4));
        generation_request *r = &w->r;
        *r = (generation_request){.prompt = w->prompt,
                                  .n_prompt = n,
                                  .max_tokens = 1 + test_random(&seed) % ANSWER,
                                  .sampling = sampler_params_default(),
                                  .ignore_end = i % 5 != 0,
                                  .n_logprobs = i % 3 ? -1 : 0};
        if (i % 2) {
            r->sampling.temperature = .3f + (float)test_uniform(&seed);
            r->sampling.top_k = (int)(test_random(&seed) % 2 * 5);
            r->sampling.seed = (uint64_t)i;
        }
        if (i % 4 == 1) r->sampling.repetition = 1.1f;
        if (i % 6 == 2) r->sampling.frequency = .05f;
        if (i % 7 == 3) r->rule.schema = any_object;
        if (i % 7 == 4) r->max_marker = 3;
        if (i % 4 == 2) {
            w->stop[0] = stops[i / 4 % 4];
            r->stop = w->stop;
            r->n_stop = 1;
        }
        for (int k = 0; k < 4; k++)
            w->bias[k] = (sampler_bias){4 + (int32_t)(test_random(&seed) % (V - 4)), 3};
        if (i % 3) r->sampling.bias = w->bias, r->sampling.n_bias = 4;
        if (i % 9 == 8) r->kv_reuse = KV_REUSE_OFF;
    }
}

/* As where the memory is the limit, not measured: runs do not depend on time. */
static engine *open_steady(engine_options o) {
    o.row_cost = .1;
    return open_engine(o);
}

static void same(const wish *w, const result *got, const char *how) {
    const result *want = &w->alone;
    int i = (int)(w - wishes);
    if (want->n != got->n || memcmp(want->tokens, got->tokens, want->n * sizeof *want->tokens) ||
        strcmp(want->text, got->text) || strcmp(want->ev.finish_reason, got->ev.finish_reason))
        fail_msg("request %d, %s: '%s' (%s), not '%s' (%s)", i, how, got->text,
                 got->ev.finish_reason, want->text, want->ev.finish_reason);
    if (w->r.n_logprobs >= 0) /* the same rows: the same bits */
        assert_memory_equal(want->logprobs, got->logprobs, want->n * sizeof *want->logprobs);
}

static void compare(engine *e, int at_once, const char *how) {
    generation *g[REQUESTS];
    result got;
    for (int i = 0; i < REQUESTS; i += at_once) {
        int end = i + at_once < REQUESTS ? i + at_once : REQUESTS;
        for (int k = i; k < end; k++) g[k] = submit(e, &wishes[k].r);
        for (int k = i; k < end; k++) {
            finish(g[k], &got);
            same(&wishes[k], &got, how);
        }
        assert_ok(engine_check(e, &err), &err);
    }
}

static void writes_the_same_with_guesses_and_without(void **state) {
    (void)state;
    engine_stats st;
    assert_int_equal(json_schema_any_object(&any_object, NULL), FO_OK);
    for (int round = 0; round < 6; round++) {
        const bool exact = round % 3 == 2;
        make_wishes();
        engine *e = open_steady((engine_options){.no_lookup = true, .exact = exact});
        for (int i = 0; i < REQUESTS; i++) finish(submit(e, &wishes[i].r), &wishes[i].alone);
        engine_get_stats(e, &st);
        assert_int_equal(st.drafted_tokens, 0);
        close_engine(e);

        e = open_steady((engine_options){.exact = exact});
        compare(e, 1, "alone");
        engine_get_stats(e, &st);
        assert_true(st.drafted_tokens > 50);
        assert_true(st.kept_tokens > 10 && st.kept_tokens < st.drafted_tokens);
        compare(e, REQUESTS, "all at once");
        close_engine(e);

        e = open_steady((engine_options){
            .exact = exact, .max_batch_tokens = 20, .max_sequences = 4, .kv_page_tokens = 32});
        compare(e, 7, "small steps");
        close_engine(e);

        e = open_steady((engine_options){.exact = exact, .kv_ram = 14 * 8192});
        for (int i = 0; i < 20; i++) {
            compare(e, REQUESTS, "few pages");
            engine_get_stats(e, &st);
            if (st.preemptions) break;
        }
        assert_true(st.preemptions > 0 && st.kept_tokens > 0);
        close_engine(e);
    }
    json_schema_free(any_object);
}

static void a_request_can_do_without_guesses(void **state) {
    (void)state;
    engine *e = open_steady((engine_options){0});
    engine_stats st;
    result with, without;
    int32_t prompt[40];
    for (int i = 0; i < 40; i++) prompt[i] = 10 + i % 4;
    generation_request r = {.prompt = prompt,
                            .n_prompt = 40,
                            .max_tokens = ANSWER,
                            .sampling = sampler_params_default(),
                            .ignore_end = true,
                            .n_logprobs = -1,
                            .no_lookup = true};
    finish(submit(e, &r), &without);
    engine_get_stats(e, &st);
    assert_int_equal(st.drafted_tokens, 0);
    uint64_t steps = st.steps;
    r.no_lookup = false;
    r.sampling.bias =
        &(sampler_bias){11, 100}; /* writes one token for ever: every guess is right */
    r.sampling.n_bias = 1;
    finish(submit(e, &r), &with);
    engine_get_stats(e, &st);
    assert_int_equal(with.n, ANSWER);
    assert_true(st.kept_tokens > ANSWER / 2);
    assert_int_equal(st.steps - steps + st.kept_tokens, ANSWER);
    close_engine(e);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_what_followed_the_longest_match),
        cmocka_unit_test(goes_on_with_a_loop_past_its_end),
        cmocka_unit_test(finds_only_what_is_there),
        cmocka_unit_test(stops_where_it_does_not_pay),
        cmocka_unit_test(learns_what_a_row_costs),
        cmocka_unit_test(writes_the_same_with_guesses_and_without),
        cmocka_unit_test(a_request_can_do_without_guesses),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
