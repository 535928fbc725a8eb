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
    /* sums[i] += bytes[i] * 2^shift * factor / 2^16, rounded down, modulo 2^16; each byte is below
     * 2^(16 - shift), n a multiple of 64. */
    void (*add_scaled)(uint16_t *sums, const uint8_t *bytes, size_t n, unsigned shift,
                       uint16_t factor);
    /* Sixteen sums at once: bit l of the result says whether the sum of adds[i] over those i < n
     * where masks[i] has bit l is at least `threshold`, which is at least 1. No sum exceeds 2^16.
     */
    uint32_t (*reach_lanes)(const uint16_t *masks, const uint16_t *adds, size_t n,
                            uint16_t threshold);
} scan16_kernels;

/* Fill *k for this processor (kernels/cpu.h). */
void scan16_init(scan16_kernels *k);

/* By level, for tests; each overwrites what it has a faster version of. */
void scan16_init_generic(scan16_kernels *k);
void scan16_init_avx2(scan16_kernels *k);
void scan16_init_avx512(scan16_kernels *k);

#endif
