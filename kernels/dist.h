/* dist.h - similarity of one query with many stored vectors: 8-bit codes, and the same refined to
 * 16 bits by a second row of bytes.
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
    DIST_QUERY_MAX = 64,  /* largest magnitude in a query of bytes */
    DIST_MAX_LEN = 16384, /* longest row: 255 * 64 * 16384 fits an int32 */
};

#define DIST_TINY 0x1p-100f /* a smaller vector counts as zero: its inverse would overflow */

typedef struct dist_kernels {
    const char *name; /* "generic", "avx2", "avxvnni", "avx512" */

    /* out[i] = sum_j q[j] * codes[ids[i] * stride + j], j < len; i < n. q[len]; len and stride
     * multiples of DIST_CODE_ALIGN. Rows are fetched ahead within the call. */
    void (*dot_codes)(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                      const uint32_t *ids, size_t n, int32_t *out);

    /* The refined value j is v[j] = (code[j] - 128) * 256 + rest[j], within +-32,767.
     * dot_fine: sum_j q[j] * v[j]. l2_fine: sum_j (q[j] - scale * v[j])^2.
     * n a multiple of DIST_CODE_ALIGN. */
    float (*dot_fine)(const float *q, const uint8_t *code, const int8_t *rest, size_t n);
    float (*l2_fine)(const float *q, const uint8_t *code, const int8_t *rest, float scale,
                     size_t n);

    /* q[j] = x[j] * DIST_QUERY_MAX / max|x| rounded to even; the sum of q -> *sum. Returns the
     * largest magnitude; below DIST_TINY q is all zeroes. The same on every level. x finite, n a
     * multiple of DIST_CODE_ALIGN. */
    float (*to_query)(const float *x, size_t n, int8_t *q, int32_t *sum);
} dist_kernels;

/* The best this processor runs, as fo_cpu() reports it now. */
void dist_init(dist_kernels *k);

/* What each level overrides (dist_init calls them; tests may too where fo_cpu() allows). */
void dist_init_generic(dist_kernels *k);
void dist_init_avx2(dist_kernels *k);
void dist_init_avxvnni(dist_kernels *k);
void dist_init_avx512(dist_kernels *k);

static inline float dist_fine(uint8_t code, int8_t rest) {
    return (float)((code - 128) * 256 + rest);
}

#endif
