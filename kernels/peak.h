/* peak.h - what this machine can do at best, measured: the yardstick beside every speed we report.
 * Each function takes part of a second and uses every thread of the pool. */
#ifndef FORAGE_KERNELS_PEAK_H
#define FORAGE_KERNELS_PEAK_H

#include <stddef.h>
#include "kernels/pool.h"

/* Loops over registers of one ISA level: `rounds` rounds, the number of operations done (a product
 * and a sum count two). */
typedef struct peak_kernels {
    double (*int8)(long rounds);
    double (*bf16)(long rounds); /* bf16 products where there are such, else float */
} peak_kernels;

/* What the factors consist of: 63, and as bf16 or float some .75. */
enum { PEAK_BYTE = 0x3f };

double peak_int8_tops(fo_pool *pool);
double peak_bf16_tflops(fo_pool *pool);

/* GB/s of reading a buffer of `bytes` once, all threads together; best of three plain walks and
 * three that fetch ahead. 0: no memory. */
double peak_read_gbps(fo_pool *pool, size_t bytes);

/* Seconds of a clock that only goes forward. */
double peak_seconds(void);

extern const peak_kernels peak_generic, peak_avx2, peak_avxvnni, peak_avx512, peak_avx512bf16,
    peak_amx;

#endif
