/* The sampler: greedy choice, penalties by their formulas, draws against the softmax, constraints,
 * log-probabilities, bad parameters; and the indexed heap that the scheduler orders by. */
#include "tests/test.h"

#include <math.h>

#include "engine/kv/indexed_heap.h"
#include "engine/generate/sampler.h"

enum { V = 50 };

static sampler *make(void) {
    fo_err err = {0};
    sampler *s;
    assert_ok(sampler_create(&s, V, &err), &err);
    return s;
}

static void greedy_takes_the_largest_and_the_first_of_equals(void **state) {
    (void)state;
    sampler *s = make();
    sampler_params p = sampler_params_default();
    float l[V] = {0};
    l[7] = l[30] = 3;
    assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, NULL, NULL), 7);
    sampler_bias bias[] = {{7, -INFINITY}};
    p.bias = bias;
    p.n_bias = 1;
    assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, NULL, NULL), 30);
    for (int i = 0; i < V; i++) l[i] = NAN; /* then there is none, however it is drawn */
    for (int i = 0; i < 2; i++) {
        p.temperature = (float)i;
        assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, NULL, NULL), -1);
    }
    sampler_free(s);
}

static void penalties_do_what_their_formulas_say(void **state) {
    (void)state;
    sampler *s = make();
    sampler_params p = sampler_params_default();
    float l[V] = {[3] = 4, [4] = 3.5f, [5] = 3};
    int32_t history[] = {3, 3, 4};
    p.frequency = .5f; /* 3: 4 - 1, 4: 3.5 - .5: equal, the first wins */
    assert_int_equal(sampler_pick(s, &p, l, history, 3, 0, NULL, NULL), 3);
    p.frequency = .6f;
    assert_int_equal(sampler_pick(s, &p, l, history, 3, 0, NULL, NULL), 5);
    p.frequency = 0;
    p.presence = .8f; /* 3: 3.2, 4: 2.7, 5: 3 */
    assert_int_equal(sampler_pick(s, &p, l, history, 3, 0, NULL, NULL), 3);
    p.presence = 0;
    p.repetition = 2; /* 3: 2, 4: 1.75, 5: 3 */
    assert_int_equal(sampler_pick(s, &p, l, history, 3, 0, NULL, NULL), 5);
    p.penalty_window = 1; /* only 4 counts */
    assert_int_equal(sampler_pick(s, &p, l, history, 3, 0, NULL, NULL), 3);
    sampler_free(s);
}

static void draws_follow_the_softmax_and_the_seed_alone(void **state) {
    (void)state;
    sampler *s = make(), *again = make();
    sampler_params p = sampler_params_default();
    p.temperature = 1;
    p.seed = test_seed();
    float l[V];
    for (int i = 0; i < V; i++) l[i] = -30;
    l[1] = logf(.5f), l[2] = logf(.3f), l[3] = logf(.2f);
    int count[V] = {0}, n = 20000;
    for (int i = 0; i < n; i++) {
        int32_t t = sampler_pick(s, &p, l, NULL, 0, (uint64_t)i, NULL, NULL);
        if (i < 100)
            assert_int_equal(sampler_pick(again, &p, l, NULL, 0, (uint64_t)i, NULL, NULL), t);
        count[t]++;
    }
    /* Three standard deviations of a binomial share are below .011 here. */
    assert_true(fabs((double)count[1] / n - .5) < .012);
    assert_true(fabs((double)count[2] / n - .3) < .012);
    assert_true(fabs((double)count[3] / n - .2) < .012);
    p.top_k = 2;
    for (int i = 0; i < 500; i++)
        assert_in_range(sampler_pick(s, &p, l, NULL, 0, (uint64_t)i, NULL, NULL), 1, 2);
    p.top_k = 0;
    p.top_p = .45f;
    for (int i = 0; i < 500; i++)
        assert_int_equal(sampler_pick(s, &p, l, NULL, 0, (uint64_t)i, NULL, NULL), 1);
    p.top_p = 1;
    p.min_p = .5f; /* .3 / .5 stays, .2 / .5 goes */
    for (int i = 0; i < 500; i++)
        assert_in_range(sampler_pick(s, &p, l, NULL, 0, (uint64_t)i, NULL, NULL), 1, 2);
    sampler_free(s);
    sampler_free(again);
}

static bool even(void *ctx, int32_t token) {
    (void)ctx;
    return token % 2 == 0;
}

static void a_constraint_is_obeyed(void **state) {
    (void)state;
    sampler *s = make();
    sampler_params p = sampler_params_default();
    float l[V] = {[3] = 9, [4] = 5, [6] = 4};
    assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, even, NULL), 4);
    p.temperature = 1;
    for (int i = 0; i < 300; i++)
        assert_int_equal(sampler_pick(s, &p, l, NULL, 0, (uint64_t)i, even, NULL) % 2, 0);
    sampler_free(s);
}

static void logprobs_are_normalised_and_sorted(void **state) {
    (void)state;
    sampler *s = make();
    float l[V];
    for (int i = 0; i < V; i++) l[i] = (float)((i * 7) % 11) * .3f;
    double sum = 0;
    float lp;
    sampler_logprob top[5];
    for (int i = 0; i < V; i++) {
        assert_int_equal(sampler_logprobs(s, l, i, &lp, top, 5), 5);
        sum += exp((double)lp);
    }
    assert_float_equal(sum, 1, 1e-5);
    for (int i = 1; i < 5; i++) assert_true(top[i - 1].logprob >= top[i].logprob);
    assert_float_equal(l[top[0].token], 3, 1e-6);
    sampler_free(s);
}

static void bad_parameters_are_named(void **state) {
    (void)state;
    fo_err err = {0};
    sampler_params p = sampler_params_default();
    assert_ok(sampler_params_check(&p, V, &err), &err);
    p.temperature = 3;
    assert_int_equal(sampler_params_check(&p, V, &err), FO_EINVAL);
    assert_string_equal(err.field, "temperature");
    p = sampler_params_default();
    p.top_p = NAN;
    assert_int_equal(sampler_params_check(&p, V, &err), FO_EINVAL);
    assert_string_equal(err.field, "top_p");
    p = sampler_params_default();
    sampler_bias b = {V, 1};
    p.bias = &b;
    p.n_bias = 1;
    assert_int_equal(sampler_params_check(&p, V, &err), FO_EINVAL);
}

/* ---- indexed heap ------------------------------------------------------------------------- */

static void the_heap_agrees_with_a_linear_scan(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    enum { N = 64 };
    indexed_heap h;
    assert_int_equal(indexed_heap_init(&h, N), FO_OK);
    heap_key keys[N];
    bool in[N] = {false};
    assert_int_equal(indexed_heap_pop(&h), -1);
    for (int op = 0; op < 20000; op++) {
        int i = (int)(test_random(&seed) % N);
        heap_key k = {(int64_t)(test_random(&seed) % 5), (int64_t)(test_random(&seed) % 5), 0};
        switch (test_random(&seed) % 4) {
        case 0:
            if (in[i])
                indexed_heap_change(&h, i, k);
            else
                indexed_heap_push(&h, i, k);
            in[i] = true;
            keys[i] = k;
            break;
        case 1:
            indexed_heap_remove(&h, i);
            in[i] = false;
            break;
        default: {
            int best = -1;
            for (int j = 0; j < N; j++)
                if (in[j] &&
                    (best < 0 || keys[j].first < keys[best].first ||
                     (keys[j].first == keys[best].first && keys[j].second < keys[best].second)))
                    best = j;
            assert_int_equal(indexed_heap_top(&h), best);
            if (best >= 0) {
                assert_int_equal(indexed_heap_pop(&h), best);
                in[best] = false;
            }
        }
        }
        assert_int_equal(indexed_heap_has(&h, i), in[i]);
    }
    indexed_heap_deinit(&h);
}

static bool only_odd(void *asked, int32_t token) {
    ++*(int *)asked;
    return token % 2 == 1;
}

static bool none(void *ctx, int32_t token) {
    (void)ctx, (void)token;
    return false;
}

static void a_rule_that_allows_nothing_gives_nothing(void **state) {
    (void)state;
    sampler *s = make();
    sampler_params p = sampler_params_default();
    float l[V];
    for (int i = 0; i < V; i++) l[i] = (float)i;
    assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, none, NULL), -1);
    p.temperature = 1;
    assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, none, NULL), -1);
    sampler_free(s);
}

static bool once(void *ctx, int32_t token) {
    int *left = ctx;
    return token == 3 && (*left)-- > 0;
}

/* A rule that has had enough work refuses what it allowed before: that is drawn, and nothing that it never allowed. */
static void what_a_rule_allowed_is_drawn_though_it_is_weary(void **state) {
    (void)state;
    sampler *s = make();
    float l[V];
    for (int i = 0; i < V; i++) l[i] = i == 3 ? 1 : i < 8 ? .5f : -.5f;
    for (int way = 0; way < 4; way++) {
        sampler_params p = sampler_params_default();
        p.temperature = 1;
        p.top_k = way == 1 ? 3 : 0;
        p.top_p = way >= 2 ? .5f : 1;
        p.seed = (uint64_t)way;
        int left = 1;
        assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 3, once, &left), 3);
    }
    sampler_free(s);
}

/* What is drawn under a rule is distributed as if only the allowed tokens were there, whichever way
 * it is drawn; most of the vocabulary is not asked about. */
static void a_rule_leaves_the_distribution_of_the_rest(void **state) {
    (void)state;
    sampler *s = make();
    sampler_params p = sampler_params_default();
    float l[V], odd[V];
    int asked = 0;
    for (int i = 0; i < V; i++) {
        l[i] = i < 8 ? (float)i * .5f : -60;
        odd[i] = i % 2 ? l[i] : -INFINITY;
    }
    l[4] = 9; /* likely, and not allowed */
    assert_int_equal(sampler_pick(s, &p, l, NULL, 0, 0, only_odd, &asked), 7);
    assert_true(asked < V);
    static const struct {
        float temperature, top_p, min_p;
        int top_k;
    } ways[] = {{1, 1, 0, 0}, {1, 1, 0, 3}, {1, .7f, 0, 0}, {.5f, 1, .1f, 0}, {.1f, 1, 0, 0}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        int n[2][V] = {{0}};
        p.temperature = ways[w].temperature;
        p.top_p = ways[w].top_p;
        p.min_p = ways[w].min_p;
        p.top_k = ways[w].top_k;
        enum { DRAWS = 20000 };
        for (int i = 0; i < DRAWS; i++) {
            p.seed = (uint64_t)i;
            n[0][sampler_pick(s, &p, l, NULL, 0, 3, only_odd, &asked)]++;
            n[1][sampler_pick(s, &p, odd, NULL, 0, 3, NULL, NULL)]++;
        }
        for (int i = 0; i < V; i++) {
            assert_true(i % 2 || !n[0][i]);
            /* Six standard deviations of a difference of two counts. */
            assert_true(abs(n[0][i] - n[1][i]) <= 6 * sqrt(2 * (n[1][i] + 1)));
        }
    }
    sampler_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_takes_the_largest_and_the_first_of_equals),
        cmocka_unit_test(penalties_do_what_their_formulas_say),
        cmocka_unit_test(draws_follow_the_softmax_and_the_seed_alone),
        cmocka_unit_test(a_constraint_is_obeyed),
        cmocka_unit_test(logprobs_are_normalised_and_sorted),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(a_rule_that_allows_nothing_gives_nothing),
        cmocka_unit_test(what_a_rule_allowed_is_drawn_though_it_is_weary),
        cmocka_unit_test(a_rule_leaves_the_distribution_of_the_rest),
        cmocka_unit_test(the_heap_agrees_with_a_linear_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
