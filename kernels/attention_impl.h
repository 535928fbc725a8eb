/* attention_impl.h - the body of the ISA files, which define QK_ROWS (rows whose scores are summed
 * together), PV_ROWS and PV_VECTORS (the tile of the weighted sum), and the name ATTENTION_TABLE,
 * or not where they make a table of their own from what is here. */
#include "kernels/attention.h"

#include <math.h>
#include <stddef.h>

#include "kernels/simd16.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

_Static_assert(ATTENTION_ROWS % QK_ROWS == 0 && ATTENTION_ROWS % PV_ROWS == 0 &&
                   ATTENTION_ROWS % 16 == 0,
               "rows are filled up to whole tiles");

static void begin(attention_tile *t) {
    const int n = t->n_rows, all = (n + QK_ROWS - 1) / QK_ROWS * QK_ROWS;
    memset(t->q + n * t->k_dim, 0, (size_t)((all - n) * t->k_dim) * sizeof *t->q);
    memset(t->o, 0, (size_t)all * (size_t)t->v_stride * sizeof *t->o);
    for (int r = 0; r < ATTENTION_ROWS; r++) {
        t->m[r] = -INFINITY;
        t->l[r] = 0;
    }
}

INLINE void scores(const attention_tile *t, const float *keys, int r0, float (*s)[16],
                   const int rows) {
    const float *q = t->q + (size_t)r0 * (size_t)t->k_dim;
    const size_t stride = (size_t)t->k_dim;
    v16 acc[QK_ROWS];
    UNROLL for (int r = 0; r < rows; r++) acc[r] = v16_zero();
    for (size_t d = 0; d < stride; d++) {
        v16 k = v16_load(keys + d * 16);
        UNROLL for (int r = 0; r < rows; r++) acc[r] =
            v16_fma(v16_set(q[(size_t)r * stride + d]), k, acc[r]);
    }
    UNROLL for (int r = 0; r < rows; r++) v16_store(s[r0 + r], acc[r]);
}

INLINE void weigh(attention_tile *t, const float *values, int r0, float (*p)[16],
                  const float *factor, int n_keys, int v0, const int rows, const int vectors) {
    const size_t stride = (size_t)t->v_stride;
    float *o = t->o + (size_t)r0 * stride + (size_t)v0;
    v16 acc[PV_ROWS][PV_VECTORS];
    UNROLL for (int r = 0; r < rows; r++) {
        v16 f = v16_set(factor[r0 + r]);
        UNROLL for (int i = 0; i < vectors; i++) acc[r][i] =
            v16_mul(v16_load(o + (size_t)r * stride + (size_t)i * 16), f);
    }
    for (int j = 0; j < n_keys; j++) {
        v16 v[PV_VECTORS];
        UNROLL for (int i = 0; i < vectors; i++) v[i] =
            v16_load(values + (size_t)j * stride + (size_t)(v0 + i * 16));
        UNROLL for (int r = 0; r < rows; r++) {
            v16 w = v16_set(p[r0 + r][j]);
            UNROLL for (int i = 0; i < vectors; i++) acc[r][i] = v16_fma(w, v[i], acc[r][i]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int i = 0; i < vectors; i++)
            v16_store(o + (size_t)r * stride + (size_t)i * 16, acc[r][i]);
    }
}

INLINE void weigh_rows(attention_tile *t, const float *values, int r0, float (*p)[16],
                       const float *factor, int n_keys, const int rows) {
    int v = 0;
    for (; v + PV_VECTORS * 16 <= t->v_stride; v += PV_VECTORS * 16)
        weigh(t, values, r0, p, factor, n_keys, v, rows, PV_VECTORS);
    for (; v < t->v_stride; v += 16) weigh(t, values, r0, p, factor, n_keys, v, rows, 1);
}

INLINE void cap_scores(const attention_tile *t, float (*s)[16]) {
    if (t->soft_cap <= 0) return;
    for (int r = 0; r < t->n_rows; r++) {
        v16 cap = v16_set(t->soft_cap), one = v16_set(1.0f), two = v16_set(2.0f);
        v16 x = v16_div(v16_load(s[r]), cap);
        v16 e = v16_exp(v16_mul(v16_set(-2.0f), x));
        v16_store(s[r], v16_mul(cap, v16_sub(v16_div(two, v16_add(one, e)), one)));
    }
}

INLINE void all_scores(const attention_tile *t, const float *keys, float (*s)[16]) {
    /* A whole tile takes no longer than its last rows alone: those wait for each sum. */
    for (int r = 0; r < t->n_rows; r += QK_ROWS) scores(t, keys, r, s, QK_ROWS);
    cap_scores(t, s);
}

/* Scores become weights under the rows' new maxima; factor: what the sums so far are worth under
 * those. Returns how many keys some row sees. */
INLINE int soften(attention_tile *t, float (*s)[16], float *factor, const int *lo, const int *hi) {
    float top[ATTENTION_ROWS];
    int r, n = t->n_rows, n_keys = 0;
    for (r = 0; r < n; r++) {
        for (int j = 0; j < lo[r] && j < 16; j++) s[r][j] = -INFINITY;
        for (int j = hi[r] < 0 ? 0 : hi[r]; j < 16; j++) s[r][j] = -INFINITY;
        float best = v16_hmax(v16_load(s[r]));
        top[r] = best > t->m[r] ? best : t->m[r];
        if (hi[r] > n_keys) n_keys = hi[r];
    }
    for (; r % 16; r++) top[r] = t->m[r];
    for (r = 0; r < n; r += 16)
        v16_store(factor + r, v16_exp(v16_sub(v16_load(t->m + r), v16_load(top + r))));
    for (r = 0; r < n; r++) {
        if (lo[r] >= hi[r] || top[r] == -INFINITY) { /* saw nothing: -inf - -inf would be NaN */
            factor[r] = 1.0f;
            v16_store(s[r], v16_zero());
            continue;
        }
        v16 p = v16_exp(v16_sub(v16_load(s[r]), v16_set(top[r])));
        v16_store(s[r], p);
        t->l[r] = t->l[r] * factor[r] + v16_sum(p);
        t->m[r] = top[r];
    }
    return n_keys < 16 ? n_keys : 16;
}

static void block(attention_tile *t, const float *keys, const float *values, const int *lo,
                  const int *hi) {
    float s[ATTENTION_ROWS][16], factor[ATTENTION_ROWS];
    const int n = t->n_rows;
    all_scores(t, keys, s);
    const int n_keys = soften(t, s, factor, lo, hi);
    int r = 0;
    for (; r + PV_ROWS <= n; r += PV_ROWS) weigh_rows(t, values, r, s, factor, n_keys, PV_ROWS);
    if (n - r > PV_ROWS / 2) { /* as for the scores, from the half on */
        for (int i = n; i < r + PV_ROWS; i++) {
            factor[i] = 1.0f;
            v16_store(s[i], v16_zero());
        }
        weigh_rows(t, values, r, s, factor, n_keys, PV_ROWS);
        r = n;
    }
    for (; r < n; r++) weigh_rows(t, values, r, s, factor, n_keys, 1);
}

static void end(attention_tile *t) {
    for (int r = 0; r < t->n_rows; r++) {
        float *o = t->o + (size_t)r * (size_t)t->v_stride;
        v16 inv = v16_set(t->l[r] > 0 ? 1.0f / t->l[r] : 0.0f);
        for (int i = 0; i < t->v_stride; i += 16) v16_store(o + i, v16_mul(v16_load(o + i), inv));
    }
}

INLINE void scores_to_weights(const attention_tile *t, const int *lo, const int *hi,
                              float (*p)[16]) {
    for (int r = 0; r < t->n_rows; r++) {
        v16 inv = v16_set(t->l[r] > 0 ? 1.0f / t->l[r] : 0.0f);
        v16_store(p[r], v16_mul(v16_exp(v16_sub(v16_load(p[r]), v16_set(t->m[r]))), inv));
        for (int j = 0; j < 16; j++)
            if (j < lo[r] || j >= hi[r]) p[r][j] = 0;
    }
}

static void weights(const attention_tile *t, const float *keys, const int *lo, const int *hi,
                    float (*p)[16]) {
    all_scores(t, keys, p);
    scores_to_weights(t, lo, hi, p);
}

#ifdef ATTENTION_TABLE
const attention_kernels ATTENTION_TABLE = {begin, block, end, weights};
#endif
