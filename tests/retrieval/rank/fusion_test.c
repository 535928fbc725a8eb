/* One ranking out of two (fusion.h) with the heap below it (topk.h), and texts that repeat another
 * (dedupe.h). */
#include "tests/test.h"

#include <math.h>

#include "kernels/words.h"
#include "retrieval/text/dedupe.h"
#include "retrieval/rank/fusion.h"
#include "retrieval/rank/topk.h"

static int by_rank(const void *a, const void *b) {
    const topk_item *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void topk_keeps_what_a_full_sort_would(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 200; round++) {
        topk_item all[300], heap[40];
        size_t n = test_random(&seed) % 300, k = test_random(&seed) % 40;
        topk t = topk_over(heap, k);
        for (size_t i = 0; i < n; i++) {
            all[i] = (topk_item){(double)(test_random(&seed) % 50), (int64_t)i};
            topk_push(&t, all[i].score, all[i].id);
        }
        topk_push(&t, NAN, 7);
        topk_sort(&t);
        qsort(all, n, sizeof *all, by_rank);
        assert_int_equal(t.n, n < k ? n : k);
        for (size_t i = 0; i < t.n; i++) {
            assert_int_equal(heap[i].id, all[i].id);
            assert_true(heap[i].score == all[i].score);
        }
    }
}

static size_t merge(enum fusion_kind kind, double alpha, fused_hit *out, size_t k) {
    static const fusion_hit dense[] = {{1, .9f}, {2, .5f}, {3, .1f}};
    static const fusion_hit sparse[] = {{4, 20}, {2, 15}, {1, 10}};
    fused_hit scratch[6];
    topk_item heap[6];
    fusion_params p = {kind, alpha, 0, 0};
    return fusion_merge(&p, dense, 3, sparse, 3, k, scratch, heap, out);
}

static void weighted_fusion_standardises_and_counts_missing_as_lowest(void **state) {
    (void)state;
    fused_hit out[6];
    assert_int_equal(merge(FUSION_WEIGHTED, .25, out, 6), 4);
    /* z(dense) of 1, 2, 3 = u, 0, -u with u = sqrt(3/2); z(sparse) of 4, 2, 1 the same. */
    double u = sqrt(1.5), want[] = {.75 * u - .25 * u, 0, .25 * u - .75 * u, -u};
    int64_t ids[] = {4, 2, 1, 3};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out[i].id, ids[i]);
        assert_float_equal(out[i].score, 1 / (1 + exp(-want[i])), 1e-6);
    }
    assert_true(isnan(out[0].dense));
    assert_float_equal(out[2].sparse, 10, 1e-6);
    assert_float_equal(out[2].dense, .9, 1e-6);
    assert_int_equal(merge(FUSION_WEIGHTED, .25, out, 2), 2);
    assert_int_equal(out[0].id, 4);
}

/* Forty chunks near each other by their vectors, two of which have words of the question: the one that has them all
 * comes first where these are all that have any, also with the least cosine. */
static void a_short_sparse_list_counts_what_it_lacks_as_zero(void **state) {
    (void)state;
    enum { N = 40 };
    fusion_hit dense[N];
    const fusion_hit sparse[] = {{N - 1, 10.8f}, {20, 3.9f}};
    fused_hit scratch[N + 2], out[N + 2];
    topk_item heap[N + 2];
    for (int i = 0; i < N; i++) dense[i] = (fusion_hit){i, .5f - .004f * (float)i};
    fusion_params p = {FUSION_WEIGHTED, .5, 0, 100};
    assert_int_equal(fusion_merge(&p, dense, N, sparse, 2, N + 2, scratch, heap, out), N);
    assert_int_equal(out[0].id, N - 1);
    p.depth = 2; /* there may be more of them */
    assert_int_equal(fusion_merge(&p, dense, N, sparse, 2, N + 2, scratch, heap, out), N);
    assert_int_equal(out[0].id, 0);
}

static void rank_fusion_uses_ranks_alone(void **state) {
    (void)state;
    fused_hit out[6];
    assert_int_equal(merge(FUSION_RRF, .5, out, 6), 4);
    assert_int_equal(out[0].id, 1); /* 1/61 + 1/63 against 1/62 + 1/62: the former is more */
    assert_float_equal(out[0].score, 1. / 61 + 1. / 63, 1e-9);
    assert_int_equal(out[1].id, 2);
    assert_int_equal(out[2].id, 4);
    assert_int_equal(out[3].id, 3);
}

static void distribution_fusion_centres_each_list(void **state) {
    (void)state;
    fused_hit out[6];
    assert_int_equal(merge(FUSION_DBSF, .5, out, 6), 4);
    for (size_t i = 0; i < 4; i++)
        if (out[i].id == 2) assert_float_equal(out[i].score, .5, 1e-6); /* the mean of both */
}

static void fusion_of_nothing_and_of_equal_scores_is_finite(void **state) {
    (void)state;
    fusion_hit same[] = {{5, 1}, {6, 1}};
    fused_hit scratch[4], out[4];
    topk_item heap[4];
    for (int kind = FUSION_WEIGHTED; kind <= FUSION_DBSF; kind++) {
        fusion_params p = {(enum fusion_kind)kind, .3, 0, 0};
        assert_int_equal(fusion_merge(&p, NULL, 0, NULL, 0, 4, scratch, heap, out), 0);
        assert_int_equal(fusion_merge(&p, same, 2, NULL, 0, 4, scratch, heap, out), 2);
        assert_int_equal(out[0].id, 5);
        assert_true(isfinite(out[0].score) && out[0].score > 0);
        assert_int_equal(fo_names_find(fusion_names, fusion_names[kind]), kind);
    }
}

static double share(const char *a, const char *b) {
    shingle_set x, y;
    assert_int_equal(shingle_set_init(&x, a, strlen(a)), FO_OK);
    assert_int_equal(shingle_set_init(&y, b, strlen(b)), FO_OK);
    double r = shingle_share(&x, &y);
    shingle_set_deinit(&x);
    shingle_set_deinit(&y);
    return r;
}

static void shingles_tell_copies_from_others(void **state) {
    (void)state;
    const char *a = "the quick brown fox jumps over the lazy dog and runs away from it";
    assert_true(share(a, a) == 1);
    assert_true(share(a, "The  quick brown fox jumps over the lazy dog and runs away "
                         "from\nit") == 1);
    assert_true(share(a, "a completely different sentence about something else") == 0);
    assert_true(share("brown quick the fox", "the quick brown fox") == 0); /* order counts */
    assert_true(share("one two", "one two") == 1);
    assert_true(share("one two", "two one") == 0);
    assert_true(share("", "") == 1);
    double near = share(a, "the quick brown fox jumps over the lazy dog and runs away now");
    assert_true(near > .6 && near < 1);
    assert_true(share("the quick brown fox", a) == 1); /* a part is held by the whole */
    assert_true(share(a, "the quick brown fox") < .1); /* and not the other way round */
}

/* A copy that is cut elsewhere lies half in one passage, half in the next. */
static void a_passage_is_held_by_two_together(void **state) {
    (void)state;
    shingle_set first, second, across;
    const char *a = "one two three four five six seven eight",
               *b = "six seven eight nine ten eleven",
               *both = "three four five six seven eight nine ten";
    assert_int_equal(shingle_set_init(&first, a, strlen(a)), FO_OK);
    assert_int_equal(shingle_set_init(&second, b, strlen(b)), FO_OK);
    assert_int_equal(shingle_set_init(&across, both, strlen(both)), FO_OK);
    assert_true(shingle_share(&across, &first) < .8);
    assert_true(shingle_share(&across, &second) < .8);
    size_t n = first.n + second.n;
    assert_int_equal(shingle_set_add(&first, &second), FO_OK);
    assert_int_equal(first.n, n); /* five to eight and six to nine are met in one each */
    for (size_t i = 1; i < first.n; i++) assert_true(first.hashes[i - 1] < first.hashes[i]);
    assert_true(shingle_share(&across, &first) >= .8);
    assert_int_equal(shingle_set_add(&first, &across), FO_OK);
    assert_true(shingle_share(&across, &first) == 1);
    n = first.n;
    assert_int_equal(shingle_set_add(&first, &across), FO_OK); /* nothing twice */
    assert_int_equal(first.n, n);
    shingle_set_deinit(&first);
    shingle_set_deinit(&second);
    shingle_set_deinit(&across);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topk_keeps_what_a_full_sort_would),
        cmocka_unit_test(weighted_fusion_standardises_and_counts_missing_as_lowest),
        cmocka_unit_test(a_short_sparse_list_counts_what_it_lacks_as_zero),
        cmocka_unit_test(rank_fusion_uses_ranks_alone),
        cmocka_unit_test(distribution_fusion_centres_each_list),
        cmocka_unit_test(fusion_of_nothing_and_of_equal_scores_is_finite),
        cmocka_unit_test(shingles_tell_copies_from_others),
        cmocka_unit_test(a_passage_is_held_by_two_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
