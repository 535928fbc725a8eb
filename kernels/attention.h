/* attention.h - softmax(q·K) V over spans of up to 64 keys, one at a time (online softmax). Keys
 * lie in blocks of 16.
 *
 * A tile holds up to ATTENTION_ROWS query rows that read the same KV head: the heads of a GQA group
 * and neighbouring positions together. The caller walks the spans in ascending order, from the
 * block that holds a row's first visible key to the one that holds its last. Spans end where 64
 * divides the position, or with the last block; what a row gives then depends on the positions
 * alone.
 * Source: Milakov & Gimelshein 2018 (online normaliser); Dao 2022 (FlashAttention). */
#ifndef FORAGE_KERNELS_ATTENTION_H
#define FORAGE_KERNELS_ATTENTION_H

#include <stdbool.h>

enum { ATTENTION_ROWS = 48, ATTENTION_BLOCK = 16, ATTENTION_SPAN = 64 };

typedef struct attention_tile {
    int n_rows;
    int k_dim, v_dim;
    int v_stride;   /* of values and o: v_dim rounded up to a multiple of 16 */
    float soft_cap; /* 0: none; else scores become cap tanh(score / cap) */
    bool bf16;      /* keys and values are bf16 numbers, and 16 bits of q and of weights will do */
    /* Both have room for ATTENTION_ROWS rows; those behind n_rows are filled up with zeroes. */
    float *q; /* [n_rows][k_dim], the score's scale multiplied in; the kernels' from begin() on */
    float *o; /* [n_rows][v_stride]: the sum so far; the result after end() */
    /* The kernels': running maximum, the 16 parts of the running sum, and from end() on the
     * inverse of the sum (0 for rows that saw no key). */
    float m[ATTENTION_ROWS], sums[ATTENTION_ROWS][16], l[ATTENTION_ROWS];
} attention_tile;

/* From begin() to end() all calls come from one thread, which uses no other kernel of matmul.h
 * meanwhile: the AMX kernels keep the tiles' configuration. Several tiles may take turns in their
 * spans, all between the last begin() and the first end(). */
typedef struct attention_kernels {
    /* o = 0, m = -infinity, l = 0 */
    void (*begin)(attention_tile *t);
    /* One span: keys[n_blocks][k_dim][16], values[16 n_blocks][v_stride]. Row r sees the keys
     * lo[r] <= j < hi[r] of it (none where lo >= hi); values at or beyond every hi are not read.
     */
    void (*span)(attention_tile *t, int n_blocks, const float *keys, const float *values,
                 const int *lo, const int *hi);
    /* o /= l; rows that saw no key become zero. */
    void (*end)(attention_tile *t);
    /* After end(): the softmax weights p[n_rows][16] of a block that was walked, 0 for keys that a
     * row does not see. p has room for ATTENTION_ROWS rows. */
    void (*weights)(const attention_tile *t, const float *keys, const int *lo, const int *hi,
                    float (*p)[16]);
} attention_kernels;

/* The best this machine has. */
const attention_kernels *attention_get(void);

/* 0 generic, 1 avx2, 2 avx512, 3 amx; NULL where the machine lacks it: for tests. */
const attention_kernels *attention_get_level(int level);

extern const attention_kernels attention_generic, attention_avx2, attention_avx512, attention_amx;

#endif
