#include "kernels/histogram.h"

const double fo_histogram_bounds_ms[FO_HISTOGRAM_BOUNDS] = {
    0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000};

void fo_histogram_add(fo_histogram *h, double ms) {
    int i = 0;
    while (i < FO_HISTOGRAM_BOUNDS && ms > fo_histogram_bounds_ms[i]) i++;
    atomic_fetch_add_explicit(&h->counts[i], 1, memory_order_relaxed);
    uint64_t us = ms > 0 && ms < 1e12 ? (uint64_t)(ms * 1000) : 0;
    atomic_fetch_add_explicit(&h->sum_us, us, memory_order_relaxed);
}
