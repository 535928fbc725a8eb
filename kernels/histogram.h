/* histogram.h - durations counted in fixed buckets by any number of threads, in the shape that
 * Prometheus reads. Zeroed memory is an empty histogram. */
#ifndef FORAGE_KERNELS_HISTOGRAM_H
#define FORAGE_KERNELS_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { FO_HISTOGRAM_BOUNDS = 18 };
extern const double fo_histogram_bounds_ms[FO_HISTOGRAM_BOUNDS]; /* ascending, inclusive */

typedef struct fo_histogram {
    /* atomic: relaxed counters */
    atomic_uint_fast64_t counts[FO_HISTOGRAM_BOUNDS + 1]; /* the last: longer than all bounds */
    atomic_uint_fast64_t sum_us;
} fo_histogram;

void fo_histogram_add(fo_histogram *h, double ms);

#endif
