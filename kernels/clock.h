/* clock.h - time for measuring (monotonic) and for records (since 1970). */
#ifndef FORAGE_KERNELS_CLOCK_H
#define FORAGE_KERNELS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double fo_now_ms(void) { /* monotonic, fractions of a millisecond */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline int64_t fo_unix_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
