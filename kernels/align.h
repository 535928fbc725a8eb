/* align.h - products of many rows of signed bytes with many others: the cosines of a question's
 * tokens with a passage's, where rows are unit vectors in 8 bits with a scale each.
 *
 * The sums are integers and the scaling is one product in a fixed order, so every level gives the
 * same bits. */
#ifndef FORAGE_KERNELS_ALIGN_H
#define FORAGE_KERNELS_ALIGN_H

#include <stddef.h>
#include <stdint.h>

enum {
    ALIGN_WIDTH = 64,      /* a row's length is a multiple of this many bytes */
    ALIGN_MAX_LEN = 16384, /* longest row: 255 * 127 * 16384 fits an int32 */
};

typedef struct align_rows {
    const int8_t *codes; /* [n][len], within +-127 */
    const float *scale;  /* [n] */
    size_t n;
} align_rows;

typedef struct align_kernels {
    const char *name; /* "generic", "avx2", "avxvnni", "avx512" */

    /* out[i * out_stride + j] = sum_k a[i][k] b[j][k] * (a->scale[i] * b->scale[j]) for i < a->n,
     * j < b->n <= out_stride; other floats are not touched. */
    void (*products)(const align_rows *a, const align_rows *b, size_t len, float *out,
                     size_t out_stride);
} align_kernels;

/* The best this processor runs, as fo_cpu() reports it now. */
void align_init(align_kernels *k);

/* What each level overrides (align_init calls them; tests may too where fo_cpu() allows). */
void align_init_generic(align_kernels *k);
void align_init_avx2(align_kernels *k);
void align_init_avxvnni(align_kernels *k);
void align_init_avx512(align_kernels *k);

#endif
