/* vec.h - operations on rows of floats: norms, activations, rotary embedding, rounding to int8.
 *
 * Rows need no alignment. Unless said otherwise x and y may be the same row. Every function gives
 * the same bits for the same row whatever runs beside it. The table is chosen once by fo_cpu(). */
#ifndef FORAGE_KERNELS_VEC_H
#define FORAGE_KERNELS_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values that share one activation scale; and that do where that is asked for. */
enum { VEC_GROUP = 32, VEC_WIDE = 128 };
/* What the norms of eight codes times that of eight weights (MM_NORM) must not pass: 32,767. */
enum { VEC_NORM = 164 };

/* Where vec_kernels.quantize puts k_padded values; g = k_padded / VEC_GROUP. */
typedef struct vec_codes {
    int8_t *q;       /* [k_padded] in [-127, 127] */
    float *scale;    /* [g] */
    int32_t *sum;    /* [g] of q */
    int32_t *halves; /* [2g] -32 times the sums of 16 codes */
    float *wsum;     /* [g] scale times sum */
    /* [k_padded / 8] or NULL. Asks for codes that a kernel may add up in 16 bits; the scale grows
     * by an eighth to a third for that. The codes of two neighbours of one sign add up to 128 at
     * most. Without `wide` the magnitudes at 8j + (0 1 4 5) and at 8j + (2 3 6 7) add up to 255 at
     * most, and compensation[j] holds -128 times the two sums of codes, as 16-bit numbers, the
     * first one low. With `wide` the squares of each octet, 16j + (0 1 4 5 8 9 12 13) and 16j +
     * (2 3 6 7 10 11 14 15), add up to VEC_NORM^2 at most, and compensation[4g + i] holds -128
     * times the sums of those two, where j = 2g + i: two are used of a group's four. */
    int32_t *compensation;
    bool wide; /* one scale for each VEC_WIDE values: scale[g] is that of four groups */
} vec_codes;

typedef struct vec_kernels {
    /* y = x / sqrt(mean(x^2) + eps) * w */
    void (*rms_norm)(float *y, const float *x, const float *w, int n, float eps);
    /* y = (x - mean) / sqrt(var + eps) * w + b; b may be NULL */
    void (*layer_norm)(float *y, const float *x, const float *w, const float *b, int n, float eps);
    void (*add)(float *y, const float *x, int n);                      /* y += x */
    void (*scale)(float *y, float s, int n);                           /* y *= s */
    void (*mul_add)(float *y, const float *x, float s, int n);         /* y += s x */
    void (*silu_mul)(float *y, const float *g, const float *u, int n); /* silu(g) u */
    void (*gelu_mul)(float *y, const float *g, const float *u,
                     int n);                       /* gelu(g) u, gelu by the tanh approximation */
    void (*gelu)(float *y, const float *x, int n); /* x Phi(x), by erf (1.5e-7 absolute) */
    void (*soft_cap)(float *y, float cap, int n);  /* y = cap tanh(y / cap) */
    float (*dot)(const float *a, const float *b, int n);
    float (*max)(const float *x, int n); /* n >= 1 */
    /* sum of e^(x - shift) over the row, in double; for log-probabilities */
    double (*sum_exp)(const float *x, float shift, int n);
    /* Pairs (x[i], x[i + half]) rotated by the angle whose cosine and sine are c[i], s[i]. */
    void (*rope_halves)(float *x, const float *c, const float *s, int half);
    /* Pairs (x[2i], x[2i + 1]). */
    void (*rope_pairs)(float *x, const float *c, const float *s, int half);
    void (*to_bf16)(uint16_t *y, const float *x, int n); /* nearest even; NaN stays NaN */
    void (*from_bf16)(float *y, const uint16_t *x, int n);
    void (*from_i8)(float *y, const int8_t *x, float scale, int n); /* y = scale x */
    void (*to_i8)(int8_t *y, const float *x, float scale, int n); /* scale x, to +-127; x finite */
    /* The largest |x|; NaN where one is infinite or no number. */
    float (*magnitude)(const float *x, int n);
    /* The largest norm of the octets (vec_codes.compensation) of scale x, finite; n is a multiple
     * of 16. */
    float (*norm_of_octets)(const float *x, float scale, int n);
    /* q[k_padded] = round(x / scale) in groups of VEC_GROUP, scale = max |x| / 127, zeroes from n
     * to k_padded (a multiple of VEC_GROUP). A group that holds an infinite number or one that is
     * none counts as zero; others under the same wide scale do not. With compensation and wide
     * scales, which take squares, so do a group with magnitudes beyond 1e18 and all below 1e-15. */
    void (*quantize)(const vec_codes *to, const float *x, int n, int k_padded);
    /* y[n_padded] = x[n] and zeroes, rotated: each VEC_WIDE values, the last half as many where
     * n_padded (a multiple of VEC_WIDE / 2) says so, times an orthogonal matrix of +-1 / sqrt(their
     * number), Sylvester's. It is its own inverse, keeps sums of products of rows rotated alike,
     * and spreads an outlier over its neighbours, so that one scale fits them all: Ashkboos
     * and others, QuaRot (2024). The same bits at every level. y may be x. */
    void (*rotate)(float *y, const float *x, int n, int n_padded);
    /* r = x - scale[g] q: what quantize() left. r may be x. */
    void (*residual)(float *r, const float *x, const int8_t *q, const float *scale, int n);
} vec_kernels;

/* The best this machine has; made once, thread-safe. */
const vec_kernels *vec_get(void);

/* One level's table (0 generic, 1 avx2, 2 avx512), NULL where the machine lacks it: for tests. */
const vec_kernels *vec_get_level(int level);

extern const vec_kernels vec_generic, vec_avx2, vec_avx512;

#endif
