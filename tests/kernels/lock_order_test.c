/* tests/lock_order.c, which every program of a sanitizer build is linked with: it ends one that takes two mutexes in both
 * orders, though nobody waits for anybody, and lets others be. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "kernels/clock.h"
#include "kernels/cond.h"
#include "tests/test.h"

static pthread_mutex_t a, b, c;
static pthread_cond_t signalled;

static void take(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void one_order(void) {
    take(&a, &b);
    take(&b, &c);
    take(&a, &c);
    take(&a, &b);
}
static void both_orders(void) {
    take(&a, &b);
    take(&b, &a);
}
static void a_circle_of_three(void) {
    take(&a, &b);
    take(&b, &c);
    take(&c, &a);
}
static void a_wait_under_another(void) { /* it takes a again while it holds b */
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    fo_cond_wait_until(&signalled, &a, fo_now_ms());
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
}
static void a_try_waits_for_nobody(void) {
    take(&a, &b);
    pthread_mutex_lock(&b);
    if (pthread_mutex_trylock(&a) == 0) pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
}

/* The signal that ended a process that does this; 0: none did. */
static int ended_by(void (*what)(void)) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        pthread_mutex_init(&a, NULL);
        pthread_mutex_init(&b, NULL);
        pthread_mutex_init(&c, NULL);
        fo_cond_init(&signalled);
        what();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void an_order_is_let_be(void **state) {
    (void)state;
    assert_int_equal(ended_by(one_order), 0);
    assert_int_equal(ended_by(a_try_waits_for_nobody), 0);
}

static void a_circle_ends_the_program(void **state) {
    (void)state;
    assert_int_equal(ended_by(both_orders), SIGABRT);
    assert_int_equal(ended_by(a_circle_of_three), SIGABRT);
    assert_int_equal(ended_by(a_wait_under_another), SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_let_be),
        cmocka_unit_test(a_circle_ends_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
