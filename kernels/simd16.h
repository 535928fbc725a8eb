/* simd16.h - sixteen floats at a time, on whatever the including file is compiled for.
 *
 * Only the *_generic.c, *_avx2.c and *_avx512.c files of a kernel family include this, through the
 * family's *_impl.h: one source, one meaning, three machines. Within one ISA every function gives
 * the same bits for the same lanes wherever it is inlined; between ISAs v16_fma may round once or
 * twice. Reductions run in one fixed tree. */
#ifndef FORAGE_KERNELS_SIMD16_H
#define FORAGE_KERNELS_SIMD16_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define V16_INLINE static inline __attribute__((always_inline, unused))

/* Partial vectors: lanes from n on are zero, memory there is not touched. */

#if defined(__AVX512F__)

typedef __m512 v16;
V16_INLINE v16 v16_zero(void) {
    return _mm512_setzero_ps();
}
V16_INLINE v16 v16_set(float x) {
    return _mm512_set1_ps(x);
}
V16_INLINE v16 v16_load(const float *p) {
    return _mm512_loadu_ps(p);
}
V16_INLINE void v16_store(float *p, v16 a) {
    _mm512_storeu_ps(p, a);
}
V16_INLINE v16 v16_load_part(const float *p, int n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
V16_INLINE void v16_store_part(float *p, v16 a, int n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
}
V16_INLINE v16 v16_add(v16 a, v16 b) {
    return _mm512_add_ps(a, b);
}
V16_INLINE v16 v16_sub(v16 a, v16 b) {
    return _mm512_sub_ps(a, b);
}
V16_INLINE v16 v16_mul(v16 a, v16 b) {
    return _mm512_mul_ps(a, b);
}
V16_INLINE v16 v16_div(v16 a, v16 b) {
    return _mm512_div_ps(a, b);
}
V16_INLINE v16 v16_max(v16 a, v16 b) {
    return _mm512_max_ps(a, b);
}
V16_INLINE v16 v16_min(v16 a, v16 b) {
    return _mm512_min_ps(a, b);
}
V16_INLINE v16 v16_abs(v16 a) {
    return _mm512_abs_ps(a);
}
V16_INLINE v16 v16_fma(v16 a, v16 b, v16 c) { /* a * b + c */
    return _mm512_fmadd_ps(a, b, c);
}
V16_INLINE v16 v16_round(v16 a) { /* to nearest, ties to even */
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
V16_INLINE v16 v16_exp2i(v16 n) { /* 2^n for integral n in [-126, 127] */
    __m512i i = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(i, 23));
}
V16_INLINE v16 v16_swap1(v16 a) { /* neighbours change places: 1 0 3 2 ... */
    return _mm512_permute_ps(a, 0xB1);
}
V16_INLINE v16 v16_swap2(v16 a) { /* pairs do: 2 3 0 1 6 ... */
    return _mm512_permute_ps(a, 0x4E);
}
V16_INLINE v16 v16_swap4(v16 a) { /* quads do: 4 5 6 7 0 1 2 3 12 ... */
    return _mm512_shuffle_f32x4(a, a, 0xB1);
}
V16_INLINE v16 v16_swap8(v16 a) { /* halves do */
    return _mm512_shuffle_f32x4(a, a, 0x4E);
}
V16_INLINE v16 v16_from_bf16(const uint16_t *p) {
    __m512i i = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(i, 16));
}
V16_INLINE v16 v16_from_i8(const int8_t *p) {
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
V16_INLINE void v16_to_i8(int8_t *p, v16 a) { /* lanes integral, within [-127, 127] */
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a)));
}

#elif defined(__AVX2__)

typedef struct v16 {
    __m256 a, b;
} v16;
V16_INLINE v16 v16_zero(void) {
    return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()};
}
V16_INLINE v16 v16_set(float x) {
    return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
V16_INLINE v16 v16_load(const float *p) {
    return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
V16_INLINE void v16_store(float *p, v16 a) {
    _mm256_storeu_ps(p, a.a);
    _mm256_storeu_ps(p + 8, a.b);
}
V16_INLINE v16 v16_load_part(const float *p, int n) {
    float t[16] = {0};
    memcpy(t, p, (size_t)n * sizeof *p);
    return v16_load(t);
}
V16_INLINE void v16_store_part(float *p, v16 a, int n) {
    float t[16];
    v16_store(t, a);
    memcpy(p, t, (size_t)n * sizeof *p);
}
V16_INLINE v16 v16_add(v16 x, v16 y) {
    return (v16){_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)};
}
V16_INLINE v16 v16_sub(v16 x, v16 y) {
    return (v16){_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)};
}
V16_INLINE v16 v16_mul(v16 x, v16 y) {
    return (v16){_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)};
}
V16_INLINE v16 v16_div(v16 x, v16 y) {
    return (v16){_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)};
}
V16_INLINE v16 v16_max(v16 x, v16 y) {
    return (v16){_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)};
}
V16_INLINE v16 v16_min(v16 x, v16 y) {
    return (v16){_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)};
}
V16_INLINE v16 v16_abs(v16 x) {
    const __m256 m = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return (v16){_mm256_and_ps(x.a, m), _mm256_and_ps(x.b, m)};
}
V16_INLINE v16 v16_fma(v16 x, v16 y, v16 z) {
    return (v16){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
V16_INLINE v16 v16_round(v16 x) {
    return (v16){_mm256_round_ps(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                 _mm256_round_ps(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
V16_INLINE __m256 v16_exp2i_half(__m256 n) {
    __m256i i = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(i, 23));
}
V16_INLINE v16 v16_exp2i(v16 n) {
    return (v16){v16_exp2i_half(n.a), v16_exp2i_half(n.b)};
}
V16_INLINE v16 v16_swap1(v16 x) {
    return (v16){_mm256_permute_ps(x.a, 0xB1), _mm256_permute_ps(x.b, 0xB1)};
}
V16_INLINE v16 v16_swap2(v16 x) {
    return (v16){_mm256_permute_ps(x.a, 0x4E), _mm256_permute_ps(x.b, 0x4E)};
}
V16_INLINE v16 v16_swap4(v16 x) {
    return (v16){_mm256_permute2f128_ps(x.a, x.a, 1), _mm256_permute2f128_ps(x.b, x.b, 1)};
}
V16_INLINE v16 v16_swap8(v16 x) {
    return (v16){x.b, x.a};
}
V16_INLINE v16 v16_from_bf16(const uint16_t *p) {
    __m256i i = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i lo = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(i));
    __m256i hi = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(i, 1));
    return (v16){_mm256_castsi256_ps(_mm256_slli_epi32(lo, 16)),
                 _mm256_castsi256_ps(_mm256_slli_epi32(hi, 16))};
}
V16_INLINE v16 v16_from_i8(const int8_t *p) {
    __m128i i = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (v16){_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(i)),
                 _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(i, 8)))};
}
V16_INLINE void v16_to_i8(int8_t *p, v16 x) {
    __m256i a = _mm256_cvtps_epi32(x.a), b = _mm256_cvtps_epi32(x.b);
    __m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
    __m128i q = _mm_packs_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
    _mm_storeu_si128((__m128i *)(void *)p, q);
}

#else

/* Four vectors of gcc's, not sixteen floats: an unrolled loop over an array in each of these costs
 * minutes of compile time in every file that inlines them, and most under the sanitizers. */
typedef float v16_quad __attribute__((vector_size(16)));
typedef int32_t v16_quad_int __attribute__((vector_size(16)));
typedef struct v16 {
    v16_quad q[4];
} v16;
#define V16_MAP(f)        ((v16){{f(0), f(1), f(2), f(3)}})
#define V16_PICK(m, a, b) ((v16_quad)(((m) & (v16_quad_int)(a)) | (~(m) & (v16_quad_int)(b))))
V16_INLINE v16 v16_set(float x) {
    v16_quad q = {x, x, x, x};
    return (v16){{q, q, q, q}};
}
V16_INLINE v16 v16_zero(void) {
    return v16_set(0.0f);
}
V16_INLINE v16 v16_load(const float *p) {
    v16 r;
    memcpy(&r, p, sizeof r);
    return r;
}
V16_INLINE void v16_store(float *p, v16 a) {
    memcpy(p, &a, sizeof a);
}
V16_INLINE v16 v16_load_part(const float *p, int n) {
    float t[16] = {0};
    for (int i = 0; i < n; i++) t[i] = p[i];
    return v16_load(t);
}
V16_INLINE void v16_store_part(float *p, v16 a, int n) {
    float t[16];
    v16_store(t, a);
    for (int i = 0; i < n; i++) p[i] = t[i];
}
V16_INLINE v16 v16_add(v16 a, v16 b) {
#define EACH(i)           (a.q[i] + b.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_sub(v16 a, v16 b) {
#define EACH(i) (a.q[i] - b.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_mul(v16 a, v16 b) {
#define EACH(i) (a.q[i] * b.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_div(v16 a, v16 b) {
#define EACH(i) (a.q[i] / b.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_max(v16 a, v16 b) {
#define EACH(i) V16_PICK(a.q[i] > b.q[i], a.q[i], b.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_min(v16 a, v16 b) {
#define EACH(i) V16_PICK(a.q[i] < b.q[i], a.q[i], b.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_abs(v16 a) {
#define EACH(i) ((v16_quad)((v16_quad_int)a.q[i] & 0x7fffffff))
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_fma(v16 a, v16 b, v16 c) {
#define EACH(i) (a.q[i] * b.q[i] + c.q[i])
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_round(v16 a) { /* |a| < 2^22 */
#define EACH(i) ((a.q[i] + 12582912.0f) - 12582912.0f)
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_exp2i(v16 n) {
#define EACH(i) ((v16_quad)((__builtin_convertvector(n.q[i], v16_quad_int) + 127) << 23))
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_swap1(v16 a) {
#define EACH(i) __builtin_shufflevector(a.q[i], a.q[i], 1, 0, 3, 2)
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_swap2(v16 a) {
#define EACH(i) __builtin_shufflevector(a.q[i], a.q[i], 2, 3, 0, 1)
    return V16_MAP(EACH);
#undef EACH
}
V16_INLINE v16 v16_swap4(v16 a) {
    return (v16){{a.q[1], a.q[0], a.q[3], a.q[2]}};
}
V16_INLINE v16 v16_swap8(v16 a) {
    return (v16){{a.q[2], a.q[3], a.q[0], a.q[1]}};
}
V16_INLINE v16 v16_from_bf16(const uint16_t *p) {
    uint32_t bits[16];
    for (int i = 0; i < 16; i++) bits[i] = (uint32_t)p[i] << 16;
    v16 r;
    memcpy(&r, bits, sizeof r);
    return r;
}
V16_INLINE v16 v16_from_i8(const int8_t *p) {
    float t[16];
    for (int i = 0; i < 16; i++) t[i] = (float)p[i];
    return v16_load(t);
}
V16_INLINE void v16_to_i8(int8_t *p, v16 a) {
    float t[16];
    v16_store(t, a);
    for (int i = 0; i < 16; i++) p[i] = (int8_t)t[i];
}

#endif

/* The sum of the lanes: halves folded onto each other (8, 4, 2, 1 apart), the same tree at every
 * level. */
#if defined(__AVX2__)
V16_INLINE __m128 v16_fold4(__m128 x) {
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_add_ss(x, _mm_movehdup_ps(x));
}
V16_INLINE __m128 v16_fold4_max(__m128 x) {
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_max_ss(x, _mm_movehdup_ps(x));
}
V16_INLINE float v16_sum(v16 a) {
#if defined(__AVX512F__)
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
#else
    __m256 h = _mm256_add_ps(a.a, a.b);
#endif
    return _mm_cvtss_f32(
        v16_fold4(_mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1))));
}
V16_INLINE float v16_hmax(v16 a) {
#if defined(__AVX512F__)
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
#else
    __m256 h = _mm256_max_ps(a.a, a.b);
#endif
    return _mm_cvtss_f32(
        v16_fold4_max(_mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1))));
}
#else
V16_INLINE float v16_sum(v16 a) {
    v16_quad t = (a.q[0] + a.q[2]) + (a.q[1] + a.q[3]);
    return (t[0] + t[2]) + (t[1] + t[3]);
}
V16_INLINE float v16_hmax(v16 a) {
    v16_quad u = V16_PICK(a.q[0] > a.q[2], a.q[0], a.q[2]);
    v16_quad v = V16_PICK(a.q[1] > a.q[3], a.q[1], a.q[3]);
    v16_quad t = V16_PICK(u > v, u, v);
    float x = t[0] > t[2] ? t[0] : t[2], y = t[1] > t[3] ? t[1] : t[3];
    return x > y ? x : y;
}
#endif

/* e^x: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial of degree 6 (Taylor coefficients), error
 * below 2 units in the last place. Below -87 the result is 0: never a subnormal number. */
V16_INLINE v16 v16_exp(v16 x) {
    const v16 low = v16_set(-87.0f);
    v16 c = v16_min(v16_max(x, low), v16_set(88.0f));
    v16 n = v16_round(v16_mul(c, v16_set(1.44269504088896341f)));
    v16 r = v16_fma(n, v16_set(-0.693359375f), c);
    r = v16_fma(n, v16_set(2.12194440e-4f), r);
    v16 p = v16_set(1.0f / 720.0f);
    p = v16_fma(p, r, v16_set(1.0f / 120.0f));
    p = v16_fma(p, r, v16_set(1.0f / 24.0f));
    p = v16_fma(p, r, v16_set(1.0f / 6.0f));
    p = v16_fma(p, r, v16_set(0.5f));
    p = v16_fma(p, r, v16_set(1.0f));
    p = v16_fma(p, r, v16_set(1.0f));
    v16 y = v16_mul(p, v16_exp2i(n));
#if defined(__AVX512F__)
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, low, _CMP_GE_OQ), y);
#elif defined(__AVX2__)
    return (v16){_mm256_and_ps(y.a, _mm256_cmp_ps(x.a, low.a, _CMP_GE_OQ)),
                 _mm256_and_ps(y.b, _mm256_cmp_ps(x.b, low.b, _CMP_GE_OQ))};
#else
#define EACH(i) ((v16_quad)((x.q[i] >= low.q[i]) & (v16_quad_int)y.q[i]))
    return V16_MAP(EACH);
#undef EACH
#endif
}

/* 2^x for x <= 126: x = n + r with |r| <= 1/2, a polynomial of degree 5 that is 1 at 0 (least
 * largest relative error, 9e-8; 1.7e-7 with its rounding). Below -126 the result is 0. Half the
 * multiplications of v16_exp: for loops that wait for those. */
V16_INLINE v16 v16_exp2(v16 x) {
    const v16 magic = v16_set(12582912.0f),
              low = v16_set(-126.0f); /* magic + x: n in the low bits */
    v16 t = v16_add(x, magic), r = v16_sub(x, v16_sub(t, magic));
    v16 p = v16_set(0.00132647157f);
    p = v16_fma(p, r, v16_set(0.00967151299f));
    p = v16_fma(p, r, v16_set(0.0555073395f));
    p = v16_fma(p, r, v16_set(0.240222424f));
    p = v16_fma(p, r, v16_set(0.693147004f));
    p = v16_fma(p, r, v16_set(1.0f));
#if defined(__AVX512F__)
    __m512i y =
        _mm512_add_epi32(_mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(t), 23));
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, low, _CMP_GE_OQ), _mm512_castsi512_ps(y));
#elif defined(__AVX2__)
#define HALF(h)                                                                                    \
    _mm256_and_ps(_mm256_castsi256_ps(_mm256_add_epi32(                                            \
                      _mm256_castps_si256(p.h), _mm256_slli_epi32(_mm256_castps_si256(t.h), 23))), \
                  _mm256_cmp_ps(x.h, low.h, _CMP_GE_OQ))
    return (v16){HALF(a), HALF(b)};
#undef HALF
#else
#define EACH(i)                                                                                    \
    ((v16_quad)((x.q[i] >= low.q[i]) & ((v16_quad_int)p.q[i] + ((v16_quad_int)t.q[i] << 23))))
    return V16_MAP(EACH);
#undef EACH
#endif
}

#endif
