#include "kernels/dist.h"

#include <immintrin.h>

enum { AHEAD = 12 }; /* rows between the one fetched and the one summed */

static inline void fetch(const uint8_t *row, size_t len) {
    for (size_t j = 0; j < len; j += 64) _mm_prefetch((const char *)row + j, _MM_HINT_T0);
}

/* The four sums of four vectors of sixteen. */
static inline __m128i sum4(__m512i a, __m512i b, __m512i c, __m512i d) {
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    __m512i s = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m256i h = _mm256_add_epi32(_mm512_castsi512_si256(s), _mm512_extracti64x4_epi64(s, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
}

static void dot_codes_avx512(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                             const uint32_t *ids, size_t n, int32_t *out) {
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(codes + ids[i] * stride, len);
    for (size_t i = 0; i < n; i += 4) {
        size_t m = n - i < 4 ? n - i : 4;
        for (size_t t = i + AHEAD; t < i + AHEAD + 4 && t < n; t++)
            fetch(codes + ids[t] * stride, len);
        const uint8_t *c0 = codes + ids[i] * stride;
        const uint8_t *c1 = codes + ids[m > 1 ? i + 1 : i] * stride;
        const uint8_t *c2 = codes + ids[m > 2 ? i + 2 : i] * stride;
        const uint8_t *c3 = codes + ids[m > 3 ? i + 3 : i] * stride;
        __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;
        for (size_t j = 0; j < len; j += 64) {
            __m512i x = _mm512_loadu_si512(q + j);
            s0 = _mm512_dpbusd_epi32(s0, _mm512_loadu_si512(c0 + j), x);
            s1 = _mm512_dpbusd_epi32(s1, _mm512_loadu_si512(c1 + j), x);
            s2 = _mm512_dpbusd_epi32(s2, _mm512_loadu_si512(c2 + j), x);
            s3 = _mm512_dpbusd_epi32(s3, _mm512_loadu_si512(c3 + j), x);
        }
        _mm_mask_storeu_epi32(out + i, (__mmask8)((1u << m) - 1), sum4(s0, s1, s2, s3));
    }
}

/* Thirty-two refined values as 16-bit integers. */
static inline __m512i load_fine(const uint8_t *code, const int8_t *rest) {
    const __m256i flip = _mm256_set1_epi8((char)0x80);
    __m256i c = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)code), flip);
    __m512i high = _mm512_slli_epi16(_mm512_cvtepu8_epi16(c), 8);
    return _mm512_add_epi16(high, _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)rest)));
}

static inline __m512 low_f32(__m512i v) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_castsi512_si256(v)));
}

static inline __m512 high_f32(__m512i v) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(v, 1)));
}

static float dot_fine_avx512(const float *q, const uint8_t *code, const int8_t *rest, size_t n) {
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    for (size_t j = 0; j < n; j += 64) {
        __m512i v = load_fine(code + j, rest + j), w = load_fine(code + j + 32, rest + j + 32);
        a = _mm512_fmadd_ps(_mm512_loadu_ps(q + j), low_f32(v), a);
        b = _mm512_fmadd_ps(_mm512_loadu_ps(q + j + 16), high_f32(v), b);
        c = _mm512_fmadd_ps(_mm512_loadu_ps(q + j + 32), low_f32(w), c);
        d = _mm512_fmadd_ps(_mm512_loadu_ps(q + j + 48), high_f32(w), d);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}

static float l2_fine_avx512(const float *q, const uint8_t *code, const int8_t *rest, float scale,
                            size_t n) {
    const __m512 s = _mm512_set1_ps(scale);
    __m512 a = _mm512_setzero_ps(), b = a;
    for (size_t j = 0; j < n; j += 32) {
        __m512i v = load_fine(code + j, rest + j);
        __m512 x = _mm512_fnmadd_ps(s, low_f32(v), _mm512_loadu_ps(q + j));
        __m512 y = _mm512_fnmadd_ps(s, high_f32(v), _mm512_loadu_ps(q + j + 16));
        a = _mm512_fmadd_ps(x, x, a);
        b = _mm512_fmadd_ps(y, y, b);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(a, b));
}

void dist_init_avx512(dist_kernels *k) {
    k->name = "avx512"; /* over avx2: to_query is short enough there */
    k->dot_codes = dot_codes_avx512;
    k->dot_fine = dot_fine_avx512;
    k->l2_fine = l2_fine_avx512;
}
