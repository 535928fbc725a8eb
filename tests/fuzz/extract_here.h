/* extract_here.h - what the fuzzers of formats share: the processor time of a reading, and the readers
 * that the service runs in a process of their own, to be run in the fuzzer's. */
#ifndef FORAGE_TESTS_EXTRACT_HERE_H
#define FORAGE_TESTS_EXTRACT_HERE_H

#include <time.h>

#include "data/extract/extract.h"

enum { MAX_ROWS = 48 };

static inline double thread_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The registry's rows that are read apart, to be read here. */
static inline size_t rows_of_here(extract_format here[MAX_ROWS]) {
    const extract_format *f;
    size_t n = 0;
    for (size_t i = 0; (f = extract_format_at(i)) && n < MAX_ROWS; i++) {
        if (!f->apart || f->program) continue;
        here[n] = *f;
        here[n++].apart = false;
    }
    return n;
}

#endif
