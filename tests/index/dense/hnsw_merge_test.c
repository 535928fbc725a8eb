/* Graphs merged, and those whose points died: recall as good as that of one built afresh, and the same bytes each time. */
#include "tests/index/dense/hnsw_fixture.h"

static uint32_t nearest(const hnsw *h, const float *vector) {
    fo_err err = {0};
    hnsw_scratch *s = hnsw_scratch_create();
    hnsw_query q = {.vector = vector, .k = 1, .visible = UINT32_MAX};
    hnsw_hit hit = {0};
    size_t n = 0;
    assert_ok(hnsw_search(h, &q, s, &hit, &n, &err), &err);
    assert_int_equal(n, 1);
    hnsw_scratch_free(s);
    return hit.id;
}

/* Half of the points die; others come, fewer than live on. Ids of the merged graph follow the
 * inputs' order. */
static void recall_holds_when_half_is_replaced(void **state) {
    (void)state;
    uint64_t r = test_seed();
    fo_err err = {0};
    const uint32_t N = (uint32_t)scaled(6000);
    world w = make_world(r, N, 100, 40, HNSW_COSINE), more = make_world(r + 1, N / 3, 1, 40, 0);
    fo_pool *pool = fo_pool_create(2);
    hnsw *h = build(&w, pool), *fresh = build(&more, pool), *merged;
    uint64_t *alive = calloc(N / 64 + 1, sizeof *alive);
    float *points = malloc((size_t)N * w.dim * sizeof *points);
    size_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        if (test_random(&r) % 2) continue;
        alive[i / 64] |= 1ull << i % 64;
        memcpy(points + n++ * w.dim, w.points + i * w.dim, w.dim * sizeof *points);
    }
    double before = measure(h, &w, w.points, N, NULL, 2 * K, false);
    hnsw_merge_input in[2] = {{h, alive}, {fresh, NULL}};
    assert_ok(hnsw_merge(&merged, in, 2, NULL, pool, NULL, NULL, &err), &err);
    assert_int_equal(hnsw_count(merged), n + N / 3);
    assert_ok(hnsw_verify(merged, NULL, &err), &err);
    float *all = malloc((n + N / 3) * w.dim * sizeof *all);
    memcpy(all, points, n * w.dim * sizeof *all);
    memcpy(all + n * w.dim, more.points, N / 3 * w.dim * sizeof *all);
    double after = measure(merged, &w, all, n + N / 3, NULL, 2 * K, false);
    assert_recall(after, before - 0.004, "merged"); /* of fewer points */
    /* The smaller one first: the larger is still the one that is kept. */
    hnsw_merge_input swapped[2] = {{fresh, NULL}, {h, alive}};
    hnsw *other;
    assert_ok(hnsw_merge(&other, swapped, 2, NULL, pool, NULL, NULL, &err), &err);
    assert_int_equal(nearest(other, more.points + 7 * w.dim), 7);
    assert_int_equal(nearest(merged, more.points + 7 * w.dim), n + 7);
    assert_int_equal(nearest(other, points), N / 3);
    assert_int_equal(nearest(merged, points), 0);
    assert_ok(hnsw_verify(other, NULL, &err), &err);
    /* In place: the dead stay, but nobody living leads to them. */
    assert_ok(hnsw_repair(h, alive, pool, &err), &err);
    assert_recall(measure(h, &w, w.points, N, alive, K, false), 0.93, "repaired");
    hnsw_free(h);
    hnsw_free(fresh);
    hnsw_free(merged);
    hnsw_free(other);
    fo_pool_free(pool);
    free(alive);
    free(points);
    free(all);
    free_world(&w);
    free_world(&more);
}

/* How much more recall a graph built afresh has than one half of whose points died and n_new came;
 * the mean over seeds, as one pair of graphs differs by as much as .007 either way. */
static double loss_when_half_dies(uint64_t r, uint32_t n_old, uint32_t n_new) {
    enum { SEEDS = 4, EF = K };
    fo_err err = {0};
    double merged_sum = 0, fresh_sum = 0;
    for (int round = 0; round < SEEDS; round++) {
        world all = make_world(r + (uint64_t)round, n_old + n_new, 100, 48, HNSW_COSINE), old = all,
              more = all, rest = all;
        size_t row = all.dim * sizeof *all.points, n = 0;
        uint64_t *alive = calloc(n_old / 64 + 1, sizeof *alive);
        old.n = n_old;
        more.n = n_new;
        more.points += (size_t)n_old * all.dim;
        rest.points = malloc((n_old + n_new) * row);
        for (uint32_t i = 0; i < n_old; i++) {
            if (test_random(&r) % 2) continue;
            alive[i / 64] |= 1ull << i % 64;
            memcpy(rest.points + n++ * all.dim, all.points + (size_t)i * all.dim, row);
        }
        memcpy(rest.points + n * all.dim, more.points, n_new * row);
        rest.n = n + n_new;
        hnsw *h = build(&old, NULL), *fresh = build(&rest, NULL), *merged;
        hnsw *add = n_new ? build(&more, NULL) : NULL;
        hnsw_merge_input in[2] = {{h, alive}, {add, NULL}};
        assert_ok(hnsw_merge(&merged, in, add ? 2 : 1, NULL, NULL, NULL, NULL, &err), &err);
        merged_sum += measure(merged, &rest, rest.points, rest.n, NULL, EF, false);
        fresh_sum += measure(fresh, &rest, rest.points, rest.n, NULL, EF, false);
        hnsw_free(h);
        hnsw_free(add);
        hnsw_free(fresh);
        hnsw_free(merged);
        free(alive);
        free(rest.points);
        free_world(&all);
    }
    assert_true(fresh_sum / SEEDS < 0.99); /* the walk is narrow enough to show a loss */
    return (fresh_sum - merged_sum) / SEEDS;
}

static void replacing_half_costs_less_than_half_a_point_of_recall(void **state) {
    (void)state;
    if (scaled(2400) != 2400) skip(); /* one thread, and too few points would be scanned */
    uint64_t seed = test_seed();
    /* Fewer come than live on: the graph that lost half is the one that is kept. */
    double replaced = loss_when_half_dies(seed, 4800, 2000);
    double thinned = loss_when_half_dies(seed, 4800, 0);
    if (replaced > 0.005 || thinned > 0.005)
        fail_msg("recall lost: %.4f when half is replaced, %.4f when half dies", replaced, thinned);
}

static void merging_is_deterministic_with_one_thread(void **state) {
    (void)state;
    fo_err err = {0};
    world w = make_world(test_seed(), 1200, 1, 20, HNSW_COSINE);
    hnsw *h = build(&w, NULL), *a, *b;
    uint64_t alive[1200 / 64 + 1];
    memset(alive, 0x5B, sizeof alive);
    hnsw_merge_input in[2] = {{h, alive}, {h, NULL}};
    hnsw_section x[HNSW_N_SECTIONS], y[HNSW_N_SECTIONS];
    assert_ok(hnsw_merge(&a, in, 2, NULL, NULL, NULL, NULL, &err), &err);
    assert_ok(hnsw_merge(&b, in, 2, NULL, NULL, NULL, NULL, &err), &err);
    hnsw_sections(a, x);
    hnsw_sections(b, y);
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        assert_int_equal(x[i].size, y[i].size);
        if (x[i].size) assert_memory_equal(x[i].data, y[i].data, x[i].size);
    }
    hnsw_free(a);
    hnsw_free(b);
    memset(alive, 0, sizeof alive); /* nothing alive: an empty graph */
    assert_ok(hnsw_merge(&a, in, 1, NULL, NULL, NULL, NULL, &err), &err);
    assert_int_equal(hnsw_count(a), 0);
    hnsw_free(a);
    hnsw_free(h);
    free_world(&w);
}

static hnsw *of_zeroes(uint32_t n) {
    enum { DIM = 16 };
    fo_err err = {0};
    hnsw *h;
    hnsw_params p = {.dim = DIM, .metric = HNSW_IP, .capacity = n, .ef_construction = 100};
    float *x = calloc((size_t)n * DIM, sizeof *x);
    assert_ok(hnsw_create(&h, &p, &err), &err);
    assert_ok(hnsw_build(h, x, n, NULL, NULL, NULL, &err), &err);
    free(x);
    return h;
}

/* The bytes of a file may name one point in all places of a list. Points that are all alike keep such a list as it is
 * when another one is linked back to, and what is kept must not be written behind its end. */
static void lists_that_name_a_point_again_and_again_are_merged_without(void **state) {
    (void)state;
    enum { N = 64, MORE = 32, SLOTS = 32 };
    fo_err err = {0};
    hnsw *h = of_zeroes(N), *more = of_zeroes(MORE), *mapped, *merged;
    hnsw_section sec[HNSW_N_SECTIONS];
    void *bytes[HNSW_N_SECTIONS];
    size_t n_lists = 0;
    hnsw_sections(h, sec);
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        bytes[i] = aligned_alloc(64, (sec[i].size + 64) / 64 * 64);
        if (sec[i].size) memcpy(bytes[i], sec[i].data, sec[i].size);
        sec[i].data = bytes[i];
        if (sec[i].size != N * SLOTS * sizeof(uint32_t)) continue;
        n_lists++;
        for (uint32_t k = 0; k < N * SLOTS; k++)
            ((uint32_t *)bytes[i])[k] =
                k / SLOTS % 3 ? (k / SLOTS + 7) % N : k / SLOTS; /* or itself */
    }
    assert_int_equal(n_lists, 1);
    assert_ok(hnsw_map(&mapped, sec, &err), &err);
    hnsw_merge_input in[2] = {{more, NULL}, {mapped, NULL}};
    assert_ok(hnsw_merge(&merged, in, 2, NULL, NULL, NULL, NULL, &err), &err);
    assert_int_equal(hnsw_count(merged), N + MORE);
    assert_ok(hnsw_verify(merged, NULL, &err), &err);
    hnsw_free(merged);
    hnsw_free(mapped);
    hnsw_free(more);
    hnsw_free(h);
    for (int i = 0; i < HNSW_N_SECTIONS; i++) free(bytes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recall_holds_when_half_is_replaced),
        cmocka_unit_test(replacing_half_costs_less_than_half_a_point_of_recall),
        cmocka_unit_test(merging_is_deterministic_with_one_thread),
        cmocka_unit_test(lists_that_name_a_point_again_and_again_are_merged_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
