/* What is staged and removed again before it is published, in whatever order its chunks came. */
#include "tests/test.h"

#include <time.h>

#include "index/search/search_index.h"
#include "tests/index/search/index_fixture.h"

enum { IDS = 60 };

/* Staged chunks that are found for each id. */
static void expect_found(search_index *ix, const int alive[IDS]) {
    fo_err err = {0};
    search_snapshot *s = search_index_acquire(ix);
    for (int64_t id = 0; id < IDS; id++) {
        char query[40];
        search_hit hits[IDS];
        size_t n;
        snprintf(query, sizeof query, "word%lld", (long long)id);
        assert_ok(search_sparse(s, query, IDS, NULL, hits, &n, &err), &err);
        assert_int_equal(n, alive[id]);
    }
    search_index_release(s);
}

/* Ascending as the writer's are, the same one twice among them, and in any order. */
static void what_is_removed_before_it_is_published_is_never_found(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 60; round++) {
        char *dir = test_folder();
        search_index *ix = open_default_index(dir);
        fo_err err = {0};
        int alive[IDS] = {0};
        int64_t last = 0;
        const int kind = round % 3;
        for (int i = 0; i < 100; i++) {
            if (test_random(&seed) % 3 == 0) {
                const int64_t gone = (int64_t)(test_random(&seed) % IDS);
                assert_ok(search_index_remove(ix, gone, &err), &err);
                alive[gone] = 0;
                continue;
            }
            const int64_t id = kind == 2 ? (int64_t)(test_random(&seed) % IDS)
                                         : last + (kind == 0 || test_random(&seed) % 2);
            if (id >= IDS) break;
            last = id;
            add(ix, id);
            alive[id]++;
        }
        assert_ok(search_index_publish(ix, 1, &err), &err);
        expect_found(ix, alive);
        assert_ok(search_index_close(ix, false, &err), &err);
        test_remove(dir);
    }
}

/* Processor time of so many removals, half of them of chunks older than the first that is staged. */
static double removing(search_index *ix, int64_t first) {
    enum { REMOVALS = 40000 };
    fo_err err = {0};
    double best = 1e9;
    for (int round = 0; round < 3; round++) {
        struct timespec a, b;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        for (int64_t i = 0; i < REMOVALS; i++)
            assert_ok(search_index_remove(ix, first - REMOVALS / 2 + i, &err), &err);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        double took = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        if (took < best) best = took;
    }
    return best;
}

static void a_removal_costs_no_look_at_all_that_is_staged(void **state) {
    (void)state;
    double took[2];
    const int64_t staged[2] = {200, 20000}, first = 1000000;
    for (int k = 0; k < 2; k++) {
        char *dir = test_folder();
        fo_err err = {0};
        search_index *ix = open_default_index(dir);
        for (int64_t i = 0; i < staged[k]; i++) add(ix, first + i);
        took[k] = removing(ix, first);
        search_index_discard(ix);
        assert_ok(search_index_close(ix, false, &err), &err);
        test_remove(dir);
    }
    if (took[1] > 20 * took[0])
        fail_msg("%.4f s among %lld chunks, %.4f among %lld", took[1], (long long)staged[1],
                 took[0], (long long)staged[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_removed_before_it_is_published_is_never_found),
        cmocka_unit_test(a_removal_costs_no_look_at_all_that_is_staged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
