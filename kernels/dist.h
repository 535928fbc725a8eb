/* dist.h - similarity of one query with many stored vectors: 8-bit codes and BF16 rows.
 *
 * A code row holds unsigned bytes, value + 128, and a query signed bytes of at most +-64: the
 * products of two neighbours, 2 * 255 * 64 = 32,640, then fit the 16-bit sums of the AVX2 kernel,
 * VNNI takes the same operands, and every level gives the same integers. The offset leaves with
 * the caller's constant: sum(q * (u - 128)) = sum(q * u) - 128 * sum(q).
 * Float results agree between levels to rounding only; on one level a row's result depends on
 * that row and the query alone. */
#ifndef FORAGE_KERNELS_DIST_H
#define FORAGE_KERNELS_DIST_H

#include <stddef.h>
#include <stdint.h>

enum {
    DIST_CODE_ALIGN = 64, /* a code row's length and stride are multiples of this many bytes */
    DIST_VEC_ALIGN = 32,  /* a BF16 row's length is a multiple of this many values */
    DIST_QUERY_MAX = 64,  /* largest magnitude in a query of bytes */
    DIST_MAX_LEN = 16384, /* longest row: 255 * 64 * 16384 fits an int32 */
};

typedef struct dist_kernels {
    const char *name; /* "generic", "avx2", "avxvnni", "avx512" */

    /* out[i] = sum_j q[j] * codes[ids[i] * stride + j], j < len; i < n. q[len]; len and stride
     * multiples of DIST_CODE_ALIGN. Rows are fetched ahead within the call. */
    void (*dot_codes)(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                      const uint32_t *ids, size_t n, int32_t *out);

    /* sum_j q[j] * v[j] and sum_j (q[j] - v[j])^2, v BF16; n a multiple of DIST_VEC_ALIGN. */
    float (*dot_bf16)(const float *q, const uint16_t *v, size_t n);
    float (*l2_bf16)(const float *q, const uint16_t *v, size_t n);
} dist_kernels;

/* The best this processor runs, as fo_cpu() reports it now. */
void dist_init(dist_kernels *k);

/* What each level overrides (dist_init calls them; tests may too where fo_cpu() allows). */
void dist_init_generic(dist_kernels *k);
void dist_init_avx2(dist_kernels *k);
void dist_init_avxvnni(dist_kernels *k);
void dist_init_avx512(dist_kernels *k);

static inline float dist_from_bf16(uint16_t v) {
    union {
        uint32_t u;
        float f;
    } x = {.u = (uint32_t)v << 16};
    return x.f;
}

/* Round to nearest even; x must not be NaN. */
static inline uint16_t dist_to_bf16(float x) {
    union {
        float f;
        uint32_t u;
    } b = {.f = x};
    return (uint16_t)((b.u + 0x7FFF + ((b.u >> 16) & 1)) >> 16);
}

#endif
