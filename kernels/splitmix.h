/* splitmix.h - random bits that depend on a seed and a place alone: no order of calls and no thread changes them.
 *
 *     uint64_t at = seed;
 *     double u = fo_uniform(fo_splitmix(&at));             // the next draw
 *     u = fo_uniform(fo_mix64(seed + (i + 1) * FO_SPLITMIX_STEP));  // draw i of the same row
 *
 * For sampling, never for secrets. Source: Steele, Lea & Flood 2014. */
#ifndef FORAGE_KERNELS_SPLITMIX_H
#define FORAGE_KERNELS_SPLITMIX_H

#include <stdint.h>

#define FO_SPLITMIX_STEP 0x9E3779B97F4A7C15u

/* Its finaliser: every bit of z has its part in every bit of the result. */
static inline uint64_t fo_mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t fo_splitmix(uint64_t *state) {
    return fo_mix64(*state += FO_SPLITMIX_STEP);
}

/* In [0, 1), of the upper 53 bits. */
static inline double fo_uniform(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
