/* pool_test.c - loops over threads: every item once, by threads whose numbers are their own,
 * whatever the number of threads and of callers. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "kernels/cpu.h"
#include "kernels/pool.h"

enum { MOST = 64, ITEMS = 400 };

typedef struct job {
    fo_pool *pool;
    size_t n, grain;
    atomic_int runs[ITEMS];
    atomic_int inside[MOST]; /* is a thread of this number at work? */
    atomic_int n_wrong;
} job;

static void count(void *arg, size_t begin, size_t end, int thread) {
    job *j = arg;
    if (thread < 0 || thread >= fo_pool_threads(j->pool) || begin >= end || end > j->n ||
        end - begin > j->grain || atomic_fetch_add(&j->inside[thread], 1) != 0) {
        j->n_wrong++;
        return;
    }
    for (size_t i = begin; i < end; i++) j->runs[i]++;
    atomic_fetch_sub(&j->inside[thread], 1);
}

static void run_once(fo_pool *pool, size_t n, size_t grain) {
    static job j;
    memset(&j, 0, sizeof j);
    j.pool = pool, j.n = n, j.grain = grain ? grain : 1;
    fo_pool_run(pool, n, grain, count, &j);
    assert_int_equal(j.n_wrong, 0);
    for (size_t i = 0; i < ITEMS; i++) assert_int_equal(j.runs[i], i < n);
}

static void every_item_runs_once_with_1_to_64_threads(void **state) {
    (void)state;
    for (int threads = 1; threads <= MOST; threads++) {
        fo_pool *p = fo_pool_create(threads);
        assert_non_null(p);
        assert_int_equal(fo_pool_threads(p), threads);
        static const size_t sizes[] = {0, 1, 2, 63, 64, 65, ITEMS};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            run_once(p, sizes[i], 1);
            run_once(p, sizes[i], 1 + i * 3);
        }
        run_once(p, 9, 0);
        run_once(p, 9, 100);
        fo_pool_free(p);
    }
}

/* Many short loops: a wake-up that is lost would stop them for ever. */
static void loops_follow_each_other_without_a_lost_wake_up(void **state) {
    (void)state;
    static const int threads[] = {2, 3, 16, 64};
    for (int i = 0; i < 4; i++) {
        fo_pool *p = fo_pool_create(threads[i]);
        for (int round = 0; round < 2000 / threads[i]; round++) {
            if (round % 50 == 49) usleep(200); /* long enough that they sleep */
            run_once(p, (size_t)(1 + round % 70), 1);
        }
        fo_pool_free(p);
    }
}

typedef struct caller {
    pthread_t thread;
    fo_pool *pool;
    atomic_ulong sum;
} caller;

static void add_range(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    for (size_t i = begin; i < end; i++) atomic_fetch_add((atomic_ulong *)arg, i);
}

static void *call_often(void *v) {
    caller *c = v;
    for (int i = 0; i < 100; i++) fo_pool_run(c->pool, 50, 3, add_range, &c->sum);
    return NULL;
}

static void callers_take_turns(void **state) {
    (void)state;
    enum { CALLERS = 5 };
    static const int threads[] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        static caller c[CALLERS];
        fo_pool *p = fo_pool_create(threads[i]);
        for (int k = 0; k < CALLERS; k++) {
            c[k].pool = p;
            c[k].sum = 0;
            assert_int_equal(pthread_create(&c[k].thread, NULL, call_often, &c[k]), 0);
        }
        for (int k = 0; k < CALLERS; k++) {
            pthread_join(c[k].thread, NULL);
            assert_int_equal(c[k].sum, 100 * (50 * 49 / 2));
        }
        fo_pool_free(p);
    }
}

static void as_many_threads_as_processors_by_default(void **state) {
    (void)state;
    fo_pool *p = fo_pool_create(0);
    assert_int_equal(fo_pool_threads(p), fo_cpu_count());
    run_once(p, ITEMS, 3);
    fo_pool_free(p);
    fo_pool_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once_with_1_to_64_threads),
        cmocka_unit_test(loops_follow_each_other_without_a_lost_wake_up),
        cmocka_unit_test(callers_take_turns),
        cmocka_unit_test(as_many_threads_as_processors_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
