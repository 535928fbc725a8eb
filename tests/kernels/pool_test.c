/* pool_test.c - loops over threads: every item once, by threads whose numbers are their own,
 * whatever the number of threads and of callers. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "kernels/cpu.h"
#include "kernels/pool.h"
#include "kernels/priority.h"

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

/* Nodes of processors that this machine may lack: binding to those fails, all else is the same. */
static void make_nodes(fo_topology *t, int n_nodes, int cores) {
    *t = (fo_topology){.n_nodes = n_nodes, .n_cpus = n_nodes * cores, .n_cores = n_nodes * cores};
    for (int n = 0; n < n_nodes; n++) {
        t->number[n] = n;
        t->n_cores_of[n] = cores;
        for (int i = 0; i < cores; i++) fo_cpus_add(&t->cpus[n], n * cores + i);
    }
}

static void every_item_runs_once_on_any_number_of_nodes(void **state) {
    (void)state;
    static fo_topology t;
    static const int nodes[] = {1, 2, 3, 8};
    for (int i = 0; i < 4; i++)
        for (int threads = 1; threads <= MOST; threads += 1 + threads / 8) {
            make_nodes(&t, nodes[i], 6);
            fo_pool *p = fo_pool_create_bound(threads, &t);
            assert_int_equal(fo_pool_threads(p), threads);
            assert_int_equal(fo_pool_is_bound(p), nodes[i] > 1 && threads > 1);
            for (int k = 0; threads > 1 && k < threads; k++)
                assert_int_equal(fo_pool_node(p, k), fo_topology_node(&t, k, threads));
            run_once(p, ITEMS, 1);
            run_once(p, 65, 3);
            run_once(p, (size_t)threads, 1);
            fo_pool_free(p);
        }
}

static void shares_follow_each_other_and_are_of_one_size(void **state) {
    (void)state;
    for (int threads = 1; threads <= MOST; threads += 9) {
        fo_pool *p = fo_pool_create(threads);
        static const size_t sizes[] = {0, 1, 9, 63, 64, 65, 1000003, SIZE_MAX};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t at = 0, begin, end;
            const size_t n = sizes[i], T = (size_t)threads;
            for (int t = 0; t < threads; t++, at = end) {
                fo_pool_share(p, n, t, &begin, &end);
                assert_true(begin == at && end - begin >= n / T && end - begin - n / T <= 1);
            }
            assert_true(at == n);
        }
        fo_pool_free(p);
    }
}

/* All threads but one stay in their first item until that one has taken all the rest. */
enum { TEAM = 6, SHARE = 5 };

typedef struct steal_job {
    int thief;
    atomic_int n_inside, n_taken;
    int taken[TEAM * SHARE]; /* by the thief, in order */
} steal_job;

static void wait_for(const atomic_int *n, int value) {
    while (*n < value) usleep(50);
}

static void take_rest(void *arg, size_t begin, size_t end, int thread) {
    steal_job *j = arg;
    assert_int_equal(end, begin + 1);
    if (thread != j->thief) {
        j->n_inside++;
        wait_for(&j->n_taken, TEAM * SHARE - (TEAM - 1));
        return;
    }
    wait_for(&j->n_inside, TEAM - 1);
    j->taken[j->n_taken] = (int)begin;
    j->n_taken++;
}

static void its_own_share_first_then_its_nodes_then_others(void **state) {
    (void)state;
    static fo_topology t;
    make_nodes(&t, 3, 4);
    fo_pool *p = fo_pool_create_bound(TEAM, &t);
    for (int thief = 0; thief < TEAM; thief++) {
        steal_job j = {.thief = thief};
        fo_pool_run(p, TEAM * SHARE, 1, take_rest, &j);
        int k = 0;
        for (int i = 0; i < SHARE; i++) assert_int_equal(j.taken[k++], thief * SHARE + i);
        bool seen[TEAM] = {[0] = false};
        for (int victim = 1; victim < TEAM; victim++) {
            const int whose = j.taken[k] / SHARE;
            assert_true(whose != thief && !seen[whose]);
            assert_int_equal(whose / 2 == thief / 2, victim == 1); /* two threads a node */
            seen[whose] = true;
            for (int i = SHARE - 1; i > 0; i--) /* from its end; its first is taken */
                assert_int_equal(j.taken[k++], whose * SHARE + i);
        }
        assert_int_equal(k, TEAM * SHARE - (TEAM - 1));
    }
    fo_pool_free(p);
}

typedef struct each_job {
    const fo_topology *t;
    fo_pool *pool;
    atomic_int runs[MOST];
    atomic_int n_wrong; /* not where they should be bound */
} each_job;

static void run_each(void *arg, size_t begin, size_t end, int thread) {
    each_job *j = arg;
    fo_cpus now = {{0}};
    assert_true(begin == (size_t)thread && end == begin + 1);
    j->runs[thread]++;
    if (j->t && (!fo_cpus_get_affinity(&now) ||
                 memcmp(&now, &j->t->cpus[fo_pool_node(j->pool, thread)], sizeof now) != 0))
        j->n_wrong++;
}

static void each_thread_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= MOST; threads = 2 * threads + 1) {
        each_job j = {.pool = fo_pool_create(threads)};
        for (int i = 0; i < 20; i++) fo_pool_each(j.pool, run_each, &j);
        for (int i = 0; i < threads; i++) assert_int_equal(j.runs[i], 20);
        run_once(j.pool, ITEMS, 2); /* with others' shares again */
        fo_pool_free(j.pool);
    }
}

/* Nodes out of the processors that there are, the first of them alone in one. */
static void threads_stay_on_their_node(void **state) {
    (void)state;
    static fo_topology t;
    fo_cpus all, now;
    assert_true(fo_cpus_get_affinity(&all));
    if (fo_cpus_count(&all) < 2) skip();
    make_nodes(&t, 2, 1);
    t.cpus[0] = t.cpus[1] = (fo_cpus){{0}};
    for (int i = 0, n = 0; i < FO_CPUS; i++)
        if (fo_cpus_has(&all, i)) fo_cpus_add(&t.cpus[n], i), n = 1;
    for (int threads = 2; threads <= 8; threads *= 2) {
        each_job j = {.t = &t, .pool = fo_pool_create_bound(threads, &t)};
        fo_pool_visit v;
        fo_pool_enter(j.pool, &v);
        assert_true(v.bound);
        fo_pool_each(j.pool, run_each, &j);
        assert_int_equal(j.n_wrong, 0);
        fo_pool_leave(&v);
        assert_true(fo_cpus_get_affinity(&now));
        assert_memory_equal(&now, &all, sizeof all);
        fo_pool_each(j.pool, run_each, &j);
        assert_int_equal(j.n_wrong, 1); /* the caller alone */
        fo_pool_free(j.pool);
    }
    fo_pool *p = fo_pool_create(2);
    fo_pool_visit v;
    fo_pool_enter(p, &v);
    assert_false(v.bound);
    fo_pool_leave(&v);
    fo_pool_free(p);
}

static void note_nice(void *arg, size_t begin, size_t end, int thread) {
    (void)begin, (void)end;
    ((int *)arg)[thread] = getpriority(PRIO_PROCESS, 0);
}

static void *nice_of_child(void *arg) {
    *(int *)arg = getpriority(PRIO_PROCESS, 0);
    return NULL;
}

static void *lower_twice(void *arg) {
    int *nice = arg; /* after once, twice, and of a thread made then */
    for (int i = 0; i < 2; i++) {
        fo_thread_background();
        nice[i] = getpriority(PRIO_PROCESS, 0);
    }
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, nice_of_child, &nice[2]), 0);
    pthread_join(t, NULL);
    return NULL;
}

static void threads_of_the_background_are_nicer(void **state) {
    (void)state;
    enum { N = 4 };
    const int usual = getpriority(PRIO_PROCESS, 0);
    const int low = usual + FO_BACKGROUND_NICE < 19 ? usual + FO_BACKGROUND_NICE : 19;
    for (int bound = 0; bound < 2; bound++) {
        int nice[N];
        fo_pool *p = fo_pool_create_background(N, bound);
        assert_int_equal(fo_pool_threads(p), N);
        fo_pool_each(p, note_nice, nice);
        assert_int_equal(nice[0], usual); /* the caller's is its own business */
        for (int i = 1; i < N; i++) assert_int_equal(nice[i], low);
        run_once(p, ITEMS, 3);
        fo_pool_free(p);
    }
    int nice[3];
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, lower_twice, nice), 0);
    pthread_join(t, NULL);
    for (int i = 0; i < 3; i++) assert_int_equal(nice[i], low);
    fo_pool *p = fo_pool_create(N);
    int other[N];
    fo_pool_each(p, note_nice, other);
    for (int i = 0; i < N; i++) assert_int_equal(other[i], usual);
    fo_pool_free(p);
}

static void as_many_threads_as_processors_or_cores_by_default(void **state) {
    (void)state;
    fo_pool *p = fo_pool_create(0);
    assert_int_equal(fo_pool_threads(p), fo_cpu_count());
    run_once(p, ITEMS, 3);
    fo_pool_free(p);
    p = fo_pool_create_bound(0, NULL);
    assert_int_equal(fo_pool_threads(p), fo_core_count());
    run_once(p, ITEMS, 3);
    fo_pool_free(p);
    fo_pool_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once_with_1_to_64_threads),
        cmocka_unit_test(every_item_runs_once_on_any_number_of_nodes),
        cmocka_unit_test(loops_follow_each_other_without_a_lost_wake_up),
        cmocka_unit_test(callers_take_turns),
        cmocka_unit_test(shares_follow_each_other_and_are_of_one_size),
        cmocka_unit_test(its_own_share_first_then_its_nodes_then_others),
        cmocka_unit_test(each_thread_once),
        cmocka_unit_test(threads_stay_on_their_node),
        cmocka_unit_test(threads_of_the_background_are_nicer),
        cmocka_unit_test(as_many_threads_as_processors_or_cores_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
