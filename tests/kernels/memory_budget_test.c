/* A shared number of bytes: never more is taken than there is, nobody is passed for ever, waiting
 * ends by time and by cancel. */
#include "tests/test.h"

#include <pthread.h>

#include "kernels/clock.h"
#include "kernels/memory_budget.h"

static void takes_what_is_free_and_no_more(void **state) {
    (void)state;
    fo_err err = {0};
    memory_budget *b;
    assert_ok(memory_budget_create(&b, 100, &err), &err);
    assert_int_equal(memory_budget_take(b, 101, 1000, NULL, &err), FO_ELIMIT);
    assert_ok(memory_budget_take(b, 60, 0, NULL, &err), &err);
    assert_ok(memory_budget_take(b, 40, 0, NULL, &err), &err);
    assert_int_equal(memory_budget_take(b, 1, 0, NULL, &err), FO_EBUSY);
    double began = fo_now_ms();
    assert_int_equal(memory_budget_take(b, 1, 80, NULL, &err), FO_EBUSY);
    assert_true(fo_now_ms() - began >= 79);
    atomic_bool gone = true;
    assert_int_equal(memory_budget_take(b, 1, 60000, &gone, &err), FO_ECANCELLED);
    memory_budget_give(b, 60);
    assert_ok(memory_budget_take(b, 60, 0, NULL, &err), &err);
    memory_budget_stats st;
    memory_budget_get_stats(b, &st);
    assert_int_equal(st.most, 100);
    assert_int_equal(st.n_waiting, 0);
    assert_int_equal(st.n_waited, 2);
    assert_int_equal(st.n_refused, 2);
    memory_budget_free(b);
}

typedef struct worker {
    memory_budget *b;
    atomic_size_t *held, *over;
    uint64_t seed;
    int taken;
} worker;

static void *work(void *arg) {
    worker *w = arg;
    for (int i = 0; i < 300; i++) {
        /* Large ones among small ones: they get their turn as well. */
        size_t n = i % 10 ? 1 + test_random(&w->seed) % 20 : 90 + test_random(&w->seed) % 11;
        if (memory_budget_take(w->b, n, 60000, NULL, NULL) != FO_OK) continue;
        w->taken++;
        if (atomic_fetch_add(w->held, n) + n > 100) atomic_fetch_add(w->over, 1);
        if (i % 3 == 0) usleep(50);
        atomic_fetch_sub(w->held, n);
        memory_budget_give(w->b, n);
    }
    return NULL;
}

static void many_threads_never_hold_more_than_there_is(void **state) {
    (void)state;
    enum { THREADS = 6 };
    fo_err err = {0};
    memory_budget *b;
    atomic_size_t held = 0, over = 0;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    assert_ok(memory_budget_create(&b, 100, &err), &err);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){b, &held, &over, (uint64_t)i + 1, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].taken, 300);
    }
    memory_budget_stats st;
    memory_budget_get_stats(b, &st);
    assert_int_equal(over, 0);
    assert_int_equal(st.used, 0);
    assert_int_equal(st.n_waiting, 0);
    assert_true(st.most <= 100 && st.n_waited > 0);
    memory_budget_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_free_and_no_more),
        cmocka_unit_test(many_threads_never_hold_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
