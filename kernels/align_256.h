/* align_256.h - two rows times four at a time, on 256-bit vectors; the including file says how 32
 * products of bytes are added to eight sums:
 *     static inline __m256i dot(__m256i sum, __m256i unsigned_bytes, __m256i signed_bytes);
 * |a| times b with a's sign is a times b, and two such products of at most 127 * 127 fit the 16 bits
 * that AVX2 adds them up in. */
#ifndef FORAGE_KERNELS_ALIGN_256_H
#define FORAGE_KERNELS_ALIGN_256_H

#include <immintrin.h>

#include "kernels/align.h"

static inline __m256i load(const int8_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* The sums of four vectors of eight. */
static inline __m128i sum4(const __m256i s[4]) {
    __m256i ab = _mm256_hadd_epi32(s[0], s[1]), cd = _mm256_hadd_epi32(s[2], s[3]);
    __m256i t = _mm256_hadd_epi32(ab, cd);
    return _mm_add_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
}

/* out[0..n) of row i: the sums times the scales, those of b from j on. */
static inline void scale4(__m128i sums, float a_scale, const float *b_scale, size_t n, float *out) {
    float s[4] = {0}, x[4];
    for (size_t k = 0; k < n; k++) s[k] = b_scale[k];
    __m128 scales = _mm_mul_ps(_mm_set1_ps(a_scale), _mm_loadu_ps(s));
    _mm_storeu_ps(x, _mm_mul_ps(_mm_cvtepi32_ps(sums), scales));
    for (size_t k = 0; k < n; k++) out[k] = x[k];
}

static void products(const align_rows *a, const align_rows *b, size_t len, float *out,
                     size_t out_stride) {
    for (size_t i = 0; i < a->n; i += 2) {
        const size_t m = a->n - i < 2 ? 1 : 2;
        const int8_t *a0 = a->codes + i * len, *a1 = a0 + (m - 1) * len;
        for (size_t j = 0; j < b->n; j += 4) {
            const size_t n = b->n - j < 4 ? b->n - j : 4;
            const int8_t *row[4];
            for (size_t k = 0; k < 4; k++) row[k] = b->codes + (j + (k < n ? k : 0)) * len;
            __m256i s[4], t[4];
            for (int k = 0; k < 4; k++) s[k] = t[k] = _mm256_setzero_si256();
            for (size_t c = 0; c < len; c += 32) {
                const __m256i x = load(a0 + c), y = load(a1 + c);
                const __m256i u = _mm256_abs_epi8(x), v = _mm256_abs_epi8(y);
                for (int k = 0; k < 4; k++) {
                    const __m256i z = load(row[k] + c);
                    s[k] = dot(s[k], u, _mm256_sign_epi8(z, x));
                    t[k] = dot(t[k], v, _mm256_sign_epi8(z, y));
                }
            }
            scale4(sum4(s), a->scale[i], b->scale + j, n, out + i * out_stride + j);
            if (m == 2)
                scale4(sum4(t), a->scale[i + 1], b->scale + j, n, out + (i + 1) * out_stride + j);
        }
    }
}

#endif
