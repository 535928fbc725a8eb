/* scan16.h - where in an array of 16-bit sums a threshold is reached: the inner loop of BM25
 * candidate search. */
#ifndef FORAGE_KERNELS_SCAN16_H
#define FORAGE_KERNELS_SCAN16_H

#include <stddef.h>
#include <stdint.h>

typedef struct scan16_kernels {
    /* Indices i < n (at most 65,536) with v[i] >= threshold, ascending, to out[n], and their
     * values to values[n]; their number.
     * v[n .. next multiple of 32) is readable and ignored. v is zeroed up to there. */
    size_t (*reach)(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out, uint16_t *values);
    /* How many of v[n] are >= threshold; v[n .. next multiple of 32) is readable and zero, and
     * the threshold is at least 1. */
    size_t (*count)(const uint16_t *v, size_t n, uint16_t threshold);
} scan16_kernels;

/* The best for this processor (kernels/cpu.h); asked at each call, so keep it. */
const scan16_kernels *scan16_table(void);

/* Which file fills what. */
size_t scan16_reach_generic(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
                            uint16_t *values);
size_t scan16_reach_avx2(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
                         uint16_t *values);
size_t scan16_reach_avx512(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
                           uint16_t *values);
size_t scan16_count_generic(const uint16_t *v, size_t n, uint16_t threshold);
size_t scan16_count_avx2(const uint16_t *v, size_t n, uint16_t threshold);
size_t scan16_count_avx512(const uint16_t *v, size_t n, uint16_t threshold);

#endif
