/* Waits with an end (kernels/cond.h): how long they last, that a wake ends them, and what they do with times that have
 * passed or never come. */
#include "kernels/cond.h"

#include <errno.h>

#include "kernels/clock.h"
#include "tests/test.h"

typedef struct gate {
    pthread_mutex_t mu;
    pthread_cond_t opened;
    bool open;
} gate;

static void gate_init(gate *g) {
    pthread_mutex_init(&g->mu, NULL);
    fo_cond_init(&g->opened);
    g->open = false;
}

static void gate_deinit(gate *g) {
    pthread_cond_destroy(&g->opened);
    pthread_mutex_destroy(&g->mu);
}

static void a_wait_lasts_until_its_end(void **state) {
    (void)state;
    gate g;
    gate_init(&g);
    pthread_mutex_lock(&g.mu);
    const double ends[] = {0.25, 30, 120.5};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        double until = fo_now_ms() + ends[i];
        int rc = 0;
        while (!rc) rc = fo_cond_wait_until(&g.opened, &g.mu, until);
        assert_int_equal(rc, ETIMEDOUT);
        assert_true(fo_now_ms() >= until - .01); /* a float's rounding */
    }
    pthread_mutex_unlock(&g.mu);
    gate_deinit(&g);
}

static void a_time_that_has_passed_is_no_wait(void **state) {
    (void)state;
    gate g;
    gate_init(&g);
    pthread_mutex_lock(&g.mu);
    const double passed[] = {0, -5, -INFINITY, fo_now_ms() - 1};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        assert_int_equal(fo_cond_wait_until(&g.opened, &g.mu, passed[i]), ETIMEDOUT);
    pthread_mutex_unlock(&g.mu);
    gate_deinit(&g);
}

static void *open_later(void *arg) {
    gate *g = arg;
    struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&g->mu);
    g->open = true;
    pthread_cond_broadcast(&g->opened);
    pthread_mutex_unlock(&g->mu);
    return NULL;
}

static void a_wake_ends_it(void **state) {
    (void)state;
    const double ends[] = {60000, INFINITY};
    for (size_t i = 0; i < 2; i++) {
        gate g;
        gate_init(&g);
        pthread_t thread;
        double began = fo_now_ms();
        assert_int_equal(pthread_create(&thread, NULL, open_later, &g), 0);
        pthread_mutex_lock(&g.mu);
        int rc = 0;
        while (!g.open && !rc) rc = fo_cond_wait_until(&g.opened, &g.mu, began + ends[i]);
        pthread_mutex_unlock(&g.mu);
        assert_int_equal(rc, 0);
        assert_true(fo_now_ms() - began < 50000);
        pthread_join(thread, NULL);
        gate_deinit(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_lasts_until_its_end),
        cmocka_unit_test(a_time_that_has_passed_is_no_wait),
        cmocka_unit_test(a_wake_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
