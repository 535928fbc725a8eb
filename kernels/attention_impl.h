/* attention_impl.h - the body of the ISA files, which define TILE_ROWS (rows of the largest
 * register tile; of MID_ROWS and FEW_ROWS are the smaller ones), QK_BLOCKS (blocks of keys that its
 * scores take together; FEW_BLOCKS with few rows), PV_VECTORS (vectors of values of the weighted
 * sum's), and the name ATTENTION_TABLE, or not where they make a table of their own from what is
 * here.
 *
 * Rows go through a span by the tile: scores, weights and sums of a few rows stay in the first
 * cache, and their maxima, exponentials and the sums' scaling come once for 64 keys. */
#include "kernels/attention.h"

#include <math.h>
#include <stddef.h>

#include "kernels/simd16.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

_Static_assert(ATTENTION_ROWS % TILE_ROWS == 0 && TILE_ROWS <= 16,
               "rows are filled up to whole tiles; their factors fit in a vector");

/* Scores are kept times log2 e, so that weights are powers of 2. */
static const float log2_e = 1.44269504088896341f;

static void begin(attention_tile *t) {
    const int n = t->n_rows, all = (n + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    for (int i = 0; i < n * t->k_dim; i++) t->q[i] *= log2_e;
    memset(t->q + n * t->k_dim, 0, (size_t)((all - n) * t->k_dim) * sizeof *t->q);
    memset(t->o, 0, (size_t)all * (size_t)t->v_stride * sizeof *t->o);
    for (int r = 0; r < ATTENTION_ROWS; r++) {
        t->m[r] = -INFINITY;
        v16_store(t->sums[r], v16_zero());
    }
}

/* s[row][block][16], `stride` floats from row to row: the scores of `rows` rows from r0 on with
 * `blocks` neighbouring blocks of keys. */
INLINE void scores(const attention_tile *t, const float *keys, int r0, float *s, size_t s_stride,
                   const int rows, const int blocks) {
    const float *q = t->q + (size_t)r0 * (size_t)t->k_dim;
    const size_t stride = (size_t)t->k_dim;
    v16 acc[TILE_ROWS][ATTENTION_SPAN / 16];
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int b = 0; b < blocks; b++) acc[r][b] = v16_zero();
    }
    for (size_t d = 0; d < stride; d++) {
        v16 k[ATTENTION_SPAN / 16];
        UNROLL for (int b = 0; b < blocks; b++) k[b] =
            v16_load(keys + ((size_t)b * stride + d) * 16);
        UNROLL for (int r = 0; r < rows; r++) {
            v16 x = v16_set(q[(size_t)r * stride + d]);
            UNROLL for (int b = 0; b < blocks; b++) acc[r][b] = v16_fma(x, k[b], acc[r][b]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int b = 0; b < blocks; b++)
            v16_store(s + (size_t)r * s_stride + (size_t)b * 16, acc[r][b]);
    }
}

/* o = factor o + p v over n_keys keys, for `vectors` vectors of the values from v0 on. */
INLINE void weigh(attention_tile *t, const float *values, int r0, const float *p, size_t p_stride,
                  const float *factor, int n_keys, int v0, const int rows, const int vectors) {
    const size_t stride = (size_t)t->v_stride;
    float *o = t->o + (size_t)r0 * stride + (size_t)v0;
    v16 acc[TILE_ROWS][PV_VECTORS];
    UNROLL for (int r = 0; r < rows; r++) {
        v16 f = v16_set(factor[r]);
        UNROLL for (int i = 0; i < vectors; i++) acc[r][i] =
            v16_mul(v16_load(o + (size_t)r * stride + (size_t)i * 16), f);
    }
    values += v0;
    for (int j = 0; j < n_keys; j++) {
        v16 v[PV_VECTORS];
        UNROLL for (int i = 0; i < vectors; i++) v[i] =
            v16_load(values + (size_t)j * stride + (size_t)i * 16);
        UNROLL for (int r = 0; r < rows; r++) {
            v16 w = v16_set(p[(size_t)r * p_stride + (size_t)j]);
            UNROLL for (int i = 0; i < vectors; i++) acc[r][i] = v16_fma(w, v[i], acc[r][i]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int i = 0; i < vectors; i++)
            v16_store(o + (size_t)r * stride + (size_t)i * 16, acc[r][i]);
    }
}

INLINE void cap_scores(const attention_tile *t, float *s, size_t n) {
    if (t->soft_cap <= 0) return;
    for (size_t i = 0; i < n; i += 16) {
        v16 cap = v16_set(t->soft_cap * log2_e), one = v16_set(1.0f), two = v16_set(2.0f);
        v16 x = v16_div(v16_load(s + i), cap);
        v16 e = v16_exp(v16_mul(v16_set(-2.0f), x));
        v16_store(s + i, v16_mul(cap, v16_sub(v16_div(two, v16_add(one, e)), one)));
    }
}

/* Scores of n rows from r0 on become weights under the rows' new maxima; factor: what the sums so
 * far are worth under those. What blocks that a row does not see add is nothing, to the bit. */
INLINE void soften(attention_tile *t, int r0, int n, float *s, size_t stride, int n_blocks,
                   float *factor, const int *lo, const int *hi) {
    float was[ATTENTION_ROWS], top[ATTENTION_ROWS];
    const int n_keys = n_blocks * 16;
    int r;
    for (r = 0; r < n; r++) {
        float *row = s + (size_t)r * stride;
        for (int j = 0; j < lo[r] && j < n_keys; j++) row[j] = -INFINITY;
        for (int j = hi[r] < 0 ? 0 : hi[r]; j < n_keys; j++) row[j] = -INFINITY;
        v16 best = v16_load(row);
        for (int j = 16; j < n_keys; j += 16) best = v16_max(best, v16_load(row + j));
        float high = v16_hmax(best);
        was[r] = t->m[r0 + r];
        top[r] = high > was[r] ? high : was[r];
    }
    for (; r % 16; r++) was[r] = top[r] = 0;
    for (r = 0; r < n; r += 16)
        v16_store(factor + r, v16_exp2(v16_sub(v16_load(was + r), v16_load(top + r))));
    for (r = 0; r < n; r++) {
        float *row = s + (size_t)r * stride;
        if (lo[r] >= hi[r] || top[r] == -INFINITY) { /* saw nothing: -inf - -inf would be NaN */
            factor[r] = 1.0f;
            for (int j = 0; j < n_keys; j += 16) v16_store(row + j, v16_zero());
            continue;
        }
        v16 shift = v16_set(top[r]);
        v16 sum = v16_mul(v16_load(t->sums[r0 + r]), v16_set(factor[r]));
        for (int j = 0; j < n_keys; j += 16) {
            v16 p = v16_exp2(v16_sub(v16_load(row + j), shift));
            v16_store(row + j, p);
            sum = v16_add(sum, p);
        }
        v16_store(t->sums[r0 + r], sum);
        t->m[r0 + r] = top[r];
    }
}

/* A tile of `rows` rows from r0 on, of which there are n. */
INLINE void part(attention_tile *t, int r0, int n, int n_blocks, const float *keys,
                 const float *values, const int *lo, const int *hi, const int rows,
                 const int blocks) {
    float s[TILE_ROWS][ATTENTION_SPAN], factor[16];
    const size_t block_floats = (size_t)t->k_dim * 16;
    int n_keys = 0, b = 0;
    lo += r0, hi += r0;
    for (int r = 0; r < n; r++)
        if (lo[r] < hi[r] && hi[r] > n_keys) n_keys = hi[r];
    if (n_keys == 0) return;
    if (n_keys > n_blocks * 16) n_keys = n_blocks * 16;
    n_blocks = (n_keys + 15) / 16;
    for (; b + blocks <= n_blocks; b += blocks)
        scores(t, keys + (size_t)b * block_floats, r0, s[0] + b * 16, ATTENTION_SPAN, rows, blocks);
    for (; b < n_blocks; b++)
        scores(t, keys + (size_t)b * block_floats, r0, s[0] + b * 16, ATTENTION_SPAN, rows, 1);
    for (int r = 0; r < n; r++) cap_scores(t, s[r], (size_t)n_blocks * 16);
    soften(t, r0, n, s[0], ATTENTION_SPAN, n_blocks, factor, lo, hi);
    for (int r = n; r < rows; r++) {
        factor[r] = 1.0f;
        for (int j = 0; j < n_blocks; j++) v16_store(s[r] + j * 16, v16_zero());
    }
    int v = 0;
    for (; v + PV_VECTORS * 16 <= t->v_stride; v += PV_VECTORS * 16)
        weigh(t, values, r0, s[0], ATTENTION_SPAN, factor, n_keys, v, rows, PV_VECTORS);
    for (; v < t->v_stride; v += 16)
        weigh(t, values, r0, s[0], ATTENTION_SPAN, factor, n_keys, v, rows, 1);
}

/* Functions of their own, so that gcc plans the registers of each alone. */
#define PART(name, rows, blocks)                                                                   \
    __attribute__((noinline)) static void name(attention_tile *t, int r0, int n, int n_blocks,     \
                                               const float *keys, const float *values,             \
                                               const int *lo, const int *hi) {                     \
        part(t, r0, n, n_blocks, keys, values, lo, hi, rows, blocks);                              \
    }
PART(part_full, TILE_ROWS, QK_BLOCKS)
PART(part_mid, MID_ROWS, QK_BLOCKS)
PART(part_few, FEW_ROWS, FEW_BLOCKS)

static void span(attention_tile *t, int n_blocks, const float *keys, const float *values,
                 const int *lo, const int *hi) {
    for (int r = 0; r < t->n_rows; r += TILE_ROWS) {
        const int n = t->n_rows - r < TILE_ROWS ? t->n_rows - r : TILE_ROWS;
        (n > MID_ROWS   ? part_full
         : n > FEW_ROWS ? part_mid
                        : part_few)(t, r, n, n_blocks, keys, values, lo, hi);
    }
}

static void end(attention_tile *t) {
    for (int r = 0; r < t->n_rows; r++) {
        float *o = t->o + (size_t)r * (size_t)t->v_stride;
        const float sum = v16_sum(v16_load(t->sums[r]));
        t->l[r] = sum > 0 ? 1.0f / sum : 0.0f;
        v16 inv = v16_set(t->l[r]);
        /* Keys that a row does not see add +0 and so make -0 to +0: always so. */
        for (int i = 0; i < t->v_stride; i += 16)
            v16_store(o + i, v16_fma(v16_load(o + i), inv, v16_zero()));
    }
}

INLINE void scores_to_weights(const attention_tile *t, const int *lo, const int *hi,
                              float (*p)[16]) {
    for (int r = 0; r < t->n_rows; r++) {
        v16 e = v16_exp2(v16_sub(v16_load(p[r]), v16_set(t->m[r])));
        v16_store(p[r], v16_mul(e, v16_set(t->l[r])));
        for (int j = 0; j < 16; j++)
            if (j < lo[r] || j >= hi[r]) p[r][j] = 0;
    }
}

static void weights(const attention_tile *t, const float *keys, const int *lo, const int *hi,
                    float (*p)[16]) {
    for (int r = 0; r < t->n_rows; r += TILE_ROWS) scores(t, keys, r, p[r], 16, TILE_ROWS, 1);
    cap_scores(t, p[0], (size_t)t->n_rows * 16);
    scores_to_weights(t, lo, hi, p);
}

#ifdef ATTENTION_TABLE
const attention_kernels ATTENTION_TABLE = {begin, span, end, weights};
#endif
