/* cond.h - condition variables that wait by the monotonic clock: whoever sets the machine's clock meanwhile makes no
 * wait longer or shorter.
 *
 *     fo_cond_init(&c);
 *     double until = fo_now_ms() + 250;                            // clock.h
 *     while (!ready && fo_cond_wait_until(&c, &mu, until) == 0) {
 *     }
 *
 * All waits with an end go through this header; `make check` sees to it. */
#ifndef FORAGE_KERNELS_COND_H
#define FORAGE_KERNELS_COND_H

#include <math.h>
#include <pthread.h>
#include <time.h>

/* Ended by pthread_cond_destroy. */
static inline void fo_cond_init(pthread_cond_t *c) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(c, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Wait under mu until woken, or until until_ms, a time of fo_now_ms (INFINITY: for ever; one that has passed: the
 * mutex is let go and taken again). 0 when woken, perhaps for nothing; ETIMEDOUT. */
static inline int fo_cond_wait_until(pthread_cond_t *c, pthread_mutex_t *mu, double until_ms) {
    if (isinf(until_ms) && until_ms > 0) return pthread_cond_wait(c, mu);
    struct timespec t = {0};
    if (until_ms > 0) {
        t.tv_sec = (time_t)(until_ms / 1e3);
        t.tv_nsec = (long)((until_ms - (double)t.tv_sec * 1e3) * 1e6);
        if (t.tv_nsec < 0) t.tv_nsec = 0;
        if (t.tv_nsec > 999999999) t.tv_nsec = 999999999;
    }
    return pthread_cond_timedwait(c, mu, &t);
}

#endif
