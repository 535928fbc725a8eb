#include "kernels/dist.h"

#include <immintrin.h>

enum { AHEAD = 12 }; /* rows between the one fetched and the one summed */

static inline void fetch(const uint8_t *row, size_t len) {
    for (size_t j = 0; j < len; j += 64) _mm_prefetch((const char *)row + j, _MM_HINT_T0);
}

static inline int32_t sum_i32(__m256i a) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
    return _mm_cvtsi128_si32(s);
}

static inline __m256i load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

static void dot_codes_avx2(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                           const uint32_t *ids, size_t n, int32_t *out) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(codes + ids[i] * stride, len);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) fetch(codes + ids[i + AHEAD] * stride, len);
        const uint8_t *c = codes + ids[i] * stride;
        __m256i a = _mm256_setzero_si256(), b = a;
        for (size_t j = 0; j < len; j += 64) {
            __m256i x = _mm256_maddubs_epi16(load(c + j), load(q + j));
            __m256i y = _mm256_maddubs_epi16(load(c + j + 32), load(q + j + 32));
            a = _mm256_add_epi32(a, _mm256_madd_epi16(x, ones));
            b = _mm256_add_epi32(b, _mm256_madd_epi16(y, ones));
        }
        out[i] = sum_i32(_mm256_add_epi32(a, b));
    }
}

/* Sixteen refined values as 16-bit integers. */
static inline __m256i load_fine(const uint8_t *code, const int8_t *rest) {
    const __m128i flip = _mm_set1_epi8((char)0x80);
    __m128i c = _mm_xor_si128(_mm_loadu_si128((const __m128i *)code), flip);
    __m256i high = _mm256_slli_epi16(_mm256_cvtepu8_epi16(c), 8);
    return _mm256_add_epi16(high, _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)rest)));
}

static inline __m256 low_f32(__m256i v) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_castsi256_si128(v)));
}

static inline __m256 high_f32(__m256i v) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm256_extracti128_si256(v, 1)));
}

static inline float sum_f32(__m256 a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    s = _mm_add_ss(s, _mm_movehdup_ps(s));
    return _mm_cvtss_f32(s);
}

static float dot_fine_avx2(const float *q, const uint8_t *code, const int8_t *rest, size_t n) {
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
    for (size_t j = 0; j < n; j += 32) {
        __m256i v = load_fine(code + j, rest + j), w = load_fine(code + j + 16, rest + j + 16);
        a = _mm256_fmadd_ps(_mm256_loadu_ps(q + j), low_f32(v), a);
        b = _mm256_fmadd_ps(_mm256_loadu_ps(q + j + 8), high_f32(v), b);
        c = _mm256_fmadd_ps(_mm256_loadu_ps(q + j + 16), low_f32(w), c);
        d = _mm256_fmadd_ps(_mm256_loadu_ps(q + j + 24), high_f32(w), d);
    }
    return sum_f32(_mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
}

static float l2_fine_avx2(const float *q, const uint8_t *code, const int8_t *rest, float scale,
                          size_t n) {
    const __m256 s = _mm256_set1_ps(scale);
    __m256 a = _mm256_setzero_ps(), b = a;
    for (size_t j = 0; j < n; j += 16) {
        __m256i v = load_fine(code + j, rest + j);
        __m256 x = _mm256_fnmadd_ps(s, low_f32(v), _mm256_loadu_ps(q + j));
        __m256 y = _mm256_fnmadd_ps(s, high_f32(v), _mm256_loadu_ps(q + j + 8));
        a = _mm256_fmadd_ps(x, x, a);
        b = _mm256_fmadd_ps(y, y, b);
    }
    return sum_f32(_mm256_add_ps(a, b));
}

static inline __m256i to_i32(const float *x, __m256 up) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), up));
}

static float to_query_avx2(const float *x, size_t n, int8_t *q, int32_t *sum) {
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    __m256 most = _mm256_setzero_ps();
    for (size_t j = 0; j < n; j += 8)
        most = _mm256_max_ps(most, _mm256_and_ps(magnitude, _mm256_loadu_ps(x + j)));
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    float max = _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
    __m256 up = _mm256_set1_ps(max >= DIST_TINY ? DIST_QUERY_MAX / max : 0.0f);
    __m256i total = _mm256_setzero_si256();
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (size_t j = 0; j < n; j += 32) {
        __m256i a = to_i32(x + j, up), b = to_i32(x + j + 8, up);
        __m256i c = to_i32(x + j + 16, up), d = to_i32(x + j + 24, up);
        total = _mm256_add_epi32(total,
                                 _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d)));
        __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        _mm256_storeu_si256((__m256i *)(q + j), _mm256_permutevar8x32_epi32(bytes, order));
    }
    *sum = sum_i32(total);
    return max;
}

void dist_init_avx2(dist_kernels *k) {
    *k = (dist_kernels){"avx2", dot_codes_avx2, dot_fine_avx2, l2_fine_avx2, to_query_avx2};
}
