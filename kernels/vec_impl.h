/* vec_impl.h - the body of vec_generic.c, vec_avx2.c and vec_avx512.c, which define VEC_TABLE. */
#include "kernels/vec.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/simd16.h"
#include "kernels/vec_quantize.h"

/* Run BODY for i = 0, 16, ... with `m` = lanes that hold values; LOAD and STORE mind the tail. */
#define LOAD(p)     ((m) == 16 ? v16_load((p) + i) : v16_load_part((p) + i, m))
#define STORE(p, v) ((m) == 16 ? v16_store((p) + i, v) : v16_store_part((p) + i, v, m))
#define FOR16       for (int i = 0, m = n < 16 ? n : 16; i < n; i += 16, m = n - i < 16 ? n - i : 16)

static void rms_norm(float *y, const float *x, const float *w, int n, float eps) {
    v16 sum = v16_zero();
    FOR16 {
        v16 a = LOAD(x);
        sum = v16_fma(a, a, sum);
    }
    v16 inv = v16_set(1.0f / sqrtf(v16_sum(sum) / (float)n + eps));
    FOR16 {
        STORE(y, v16_mul(v16_mul(LOAD(x), inv), LOAD(w)));
    }
}

static void layer_norm(float *y, const float *x, const float *w, const float *b, int n, float eps) {
    v16 sum = v16_zero();
    FOR16 {
        sum = v16_add(sum, LOAD(x));
    }
    float mean = v16_sum(sum) / (float)n;
    v16 mv = v16_set(mean);
    sum = v16_zero();
    FOR16 {
        v16 d = v16_sub(LOAD(x), mv);
        if (m < 16) { /* lanes beyond n hold -mean */
            float t[16];
            v16_store(t, d);
            d = v16_load_part(t, m);
        }
        sum = v16_fma(d, d, sum);
    }
    v16 inv = v16_set(1.0f / sqrtf(v16_sum(sum) / (float)n + eps));
    FOR16 {
        v16 v = v16_mul(v16_mul(v16_sub(LOAD(x), mv), inv), LOAD(w));
        if (b) v = v16_add(v, LOAD(b));
        STORE(y, v);
    }
}

static void add(float *y, const float *x, int n) {
    FOR16 {
        STORE(y, v16_add(LOAD(y), LOAD(x)));
    }
}

static void scale(float *y, float s, int n) {
    v16 sv = v16_set(s);
    FOR16 {
        STORE(y, v16_mul(LOAD(y), sv));
    }
}

static void mul_add(float *y, const float *x, float s, int n) {
    v16 sv = v16_set(s);
    FOR16 {
        STORE(y, v16_fma(LOAD(x), sv, LOAD(y)));
    }
}

V16_INLINE v16 sigmoid16(v16 x) {
    v16 one = v16_set(1.0f);
    return v16_div(one, v16_add(one, v16_exp(v16_sub(v16_zero(), x))));
}

/* tanh(x) = 2 sigmoid(2x) - 1; absolute error of a few 1e-8, which is what its uses here need. */
V16_INLINE v16 tanh16(v16 x) {
    v16 two = v16_set(2.0f);
    return v16_fma(two, sigmoid16(v16_mul(two, x)), v16_set(-1.0f));
}

V16_INLINE v16 gelu_tanh16(v16 x) {
    v16 cubic = v16_mul(v16_mul(x, x), x);
    v16 inner = v16_mul(v16_set(0.7978845608028654f), v16_fma(v16_set(0.044715f), cubic, x));
    return v16_mul(x, sigmoid16(v16_add(inner, inner)));
}

/* erf by Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7. */
V16_INLINE v16 gelu16(v16 x) {
    v16 z = v16_mul(v16_abs(x), v16_set(0.7071067811865476f));
    v16 one = v16_set(1.0f);
    v16 t = v16_div(one, v16_fma(v16_set(0.3275911f), z, one));
    v16 p = v16_set(1.061405429f);
    p = v16_fma(p, t, v16_set(-1.453152027f));
    p = v16_fma(p, t, v16_set(1.421413741f));
    p = v16_fma(p, t, v16_set(-0.284496736f));
    p = v16_fma(p, t, v16_set(0.254829592f));
    p = v16_mul(p, t);
    v16 e = v16_exp(v16_sub(v16_zero(), v16_mul(z, z)));
    /* erf(|z|) = 1 - p e; x Phi(x) = (x + |x| erf(|z|)) / 2 */
    v16 erf = v16_sub(one, v16_mul(p, e));
    return v16_mul(v16_set(0.5f), v16_fma(v16_abs(x), erf, x));
}

static void silu_mul(float *y, const float *g, const float *u, int n) {
    FOR16 {
        v16 a = LOAD(g);
        STORE(y, v16_mul(v16_mul(a, sigmoid16(a)), LOAD(u)));
    }
}

static void gelu_mul(float *y, const float *g, const float *u, int n) {
    FOR16 {
        STORE(y, v16_mul(gelu_tanh16(LOAD(g)), LOAD(u)));
    }
}

static void gelu(float *y, const float *x, int n) {
    FOR16 {
        STORE(y, gelu16(LOAD(x)));
    }
}

static void soft_cap(float *y, float cap, int n) {
    v16 c = v16_set(cap), inv = v16_set(1.0f / cap);
    FOR16 {
        STORE(y, v16_mul(c, tanh16(v16_mul(LOAD(y), inv))));
    }
}

static float dot(const float *a, const float *b, int n) {
    v16 sum = v16_zero();
    FOR16 {
        sum = v16_fma(LOAD(a), LOAD(b), sum);
    }
    return v16_sum(sum);
}

static float max(const float *x, int n) {
    v16 best = v16_set(x[0]);
    int i = 0;
    for (; i + 16 <= n; i += 16) best = v16_max(best, v16_load(x + i));
    float r = v16_hmax(best);
    for (; i < n; i++) r = x[i] > r ? x[i] : r;
    return r;
}

static double sum_exp(const float *x, float shift, int n) {
    double sum = 0;
    v16 s = v16_set(shift);
    FOR16 {
        float t[16];
        v16_store(t, v16_exp(v16_sub(LOAD(x), s)));
        for (int j = 0; j < m; j++) sum += (double)t[j];
    }
    return sum;
}

static void rope_halves(float *x, const float *c, const float *s, int half) {
    int n = half;
    float *b = x + half;
    FOR16 {
        v16 x0 = LOAD(x), x1 = LOAD(b), cv = LOAD(c), sv = LOAD(s);
        STORE(x, v16_sub(v16_mul(x0, cv), v16_mul(x1, sv)));
        STORE(b, v16_add(v16_mul(x0, sv), v16_mul(x1, cv)));
    }
}

static void rope_pairs(float *x, const float *c, const float *s, int half) {
    for (int i = 0; i < half; i++) {
        float x0 = x[2 * i], x1 = x[2 * i + 1];
        x[2 * i] = x0 * c[i] - x1 * s[i];
        x[2 * i + 1] = x0 * s[i] + x1 * c[i];
    }
}

static void to_bf16(uint16_t *y, const float *x, int n) {
    for (int i = 0; i < n; i++) {
        uint32_t b;
        memcpy(&b, &x[i], sizeof b);
        uint32_t r = (b + 0x7fffu + ((b >> 16) & 1)) >> 16;
        y[i] = (uint16_t)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16) | 64 : r);
    }
}

static void from_bf16(float *y, const uint16_t *x, int n) {
    int i = 0;
    for (; i + 16 <= n; i += 16) v16_store(y + i, v16_from_bf16(x + i));
    for (; i < n; i++) {
        uint32_t b = (uint32_t)x[i] << 16;
        memcpy(&y[i], &b, sizeof b);
    }
}

static void from_i8(float *y, const int8_t *x, float s, int n) {
    v16 sv = v16_set(s);
    int i = 0;
    for (; i + 16 <= n; i += 16) v16_store(y + i, v16_mul(v16_from_i8(x + i), sv));
    for (; i < n; i++) y[i] = (float)x[i] * s;
}

/* Sums and differences of v and itself with neighbours of some distance exchanged. */
#define BUTTERFLIES(swap, signs)                                                                   \
    _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) v[i] =                               \
        v16_fma(v[i], v16_load(signs), swap(v[i]))

/* A span of 16 `vectors` values, of which n are there. */
V16_INLINE void rotate_span(float *y, const float *x, int n, const int vectors) {
    static const float sign1[16] = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
    static const float sign2[16] = {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1};
    static const float sign4[16] = {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1};
    static const float sign8[16] = {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1};
    v16 v[VEC_WIDE / 16];
    _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) {
        const int left = n - 16 * i;
        v[i] = left >= 16 ? v16_load(x + 16 * i)
               : left > 0 ? v16_load_part(x + 16 * i, left)
                          : v16_zero();
    }
    BUTTERFLIES(v16_swap1, sign1);
    BUTTERFLIES(v16_swap2, sign2);
    BUTTERFLIES(v16_swap4, sign4);
    BUTTERFLIES(v16_swap8, sign8);
    _Pragma("GCC unroll 3") for (int h = 1; h < vectors; h *= 2) {
        _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++) {
            if (i & h) continue;
            const v16 a = v[i], b = v[i + h];
            v[i] = v16_add(a, b);
            v[i + h] = v16_sub(a, b);
        }
    }
    const v16 length = v16_set(vectors == 8 ? 0.08838834764831845f : 0.125f);
    _Pragma("GCC unroll 8") for (int i = 0; i < vectors; i++)
        v16_store(y + 16 * i, v16_mul(v[i], length));
}

static void rotate(float *y, const float *x, int n, int n_padded) {
    int at = 0;
    for (; at + VEC_WIDE <= n_padded; at += VEC_WIDE) rotate_span(y + at, x + at, n - at, 8);
    if (at < n_padded) rotate_span(y + at, x + at, n - at, 4);
}

static void to_i8(int8_t *y, const float *x, float s, int n) {
    const v16 by = v16_set(s), hi = v16_set(127.0f), lo = v16_set(-127.0f);
    int i = 0;
    for (; i + 16 <= n; i += 16)
        v16_to_i8(y + i, v16_round(v16_max(v16_min(v16_mul(v16_load(x + i), by), hi), lo)));
    if (i == n) return;
    int8_t t[16];
    v16_to_i8(t, v16_round(v16_max(v16_min(v16_mul(v16_load_part(x + i, n - i), by), hi), lo)));
    memcpy(y + i, t, (size_t)(n - i));
}

static float magnitude(const float *x, int n) {
    v16 top = v16_zero(), none = v16_zero();
    for (int i = 0; i < n; i += 16) {
        const v16 v = n - i < 16 ? v16_load_part(x + i, n - i) : v16_load(x + i);
        top = v16_max(top, v16_abs(v));
        none = v16_add(none, v16_sub(v, v));
    }
    return v16_sum(none) == 0 ? v16_hmax(top) : NAN;
}

static float norm_of_octets(const float *x, float s, int n) {
    v16 top = v16_zero();
    for (int i = 0; i < n; i += 16) {
        const v16 v = v16_mul(v16_load(x + i), v16_set(s));
        top = v16_max(top, octets_of(v16_mul(v, v)));
    }
    return sqrtf(v16_hmax(top));
}

static void residual(float *r, const float *x, const int8_t *q, const float *gscale, int n) {
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        v16 back = v16_mul(v16_from_i8(q + i), v16_set(gscale[i / VEC_GROUP]));
        v16_store(r + i, v16_sub(v16_load(x + i), back));
    }
    for (; i < n; i++) r[i] = x[i] - (float)q[i] * gscale[i / VEC_GROUP];
}

const vec_kernels VEC_TABLE = {
    .rms_norm = rms_norm,
    .layer_norm = layer_norm,
    .add = add,
    .scale = scale,
    .mul_add = mul_add,
    .silu_mul = silu_mul,
    .gelu_mul = gelu_mul,
    .gelu = gelu,
    .soft_cap = soft_cap,
    .dot = dot,
    .max = max,
    .sum_exp = sum_exp,
    .rope_halves = rope_halves,
    .rope_pairs = rope_pairs,
    .to_bf16 = to_bf16,
    .from_bf16 = from_bf16,
    .from_i8 = from_i8,
    .to_i8 = to_i8,
    .magnitude = magnitude,
    .norm_of_octets = norm_of_octets,
    .quantize = quantize,
    .rotate = rotate,
    .residual = residual,
};
