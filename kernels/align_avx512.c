/* align_avx512.c - four rows times four at a time. The products' first factor has no sign: b + 128
 * stands for b, and 128 times the sum of a's bytes leaves again. */
#include "kernels/align.h"

#include <immintrin.h>

/* The sums of four vectors of sixteen. */
static inline __m128i sum4(const __m512i s[4]) {
    __m512i ab =
        _mm512_add_epi32(_mm512_unpacklo_epi32(s[0], s[1]), _mm512_unpackhi_epi32(s[0], s[1]));
    __m512i cd =
        _mm512_add_epi32(_mm512_unpacklo_epi32(s[2], s[3]), _mm512_unpackhi_epi32(s[2], s[3]));
    __m512i t = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m256i h = _mm256_add_epi32(_mm512_castsi512_si256(t), _mm512_extracti64x4_epi64(t, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
}

static inline int32_t sum_of(const int8_t *row, size_t len) {
    __m512i s = _mm512_setzero_si512();
    for (size_t c = 0; c < len; c += 64)
        s = _mm512_dpbusd_epi32(s, _mm512_set1_epi8(1), _mm512_loadu_si512(row + c));
    return _mm512_reduce_add_epi32(s);
}

static void products(const align_rows *a, const align_rows *b, size_t len, float *out,
                     size_t out_stride) {
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    for (size_t i = 0; i < a->n; i += 4) {
        const size_t m = a->n - i < 4 ? a->n - i : 4;
        const int8_t *x[4];
        int32_t comp[4];
        for (size_t k = 0; k < 4; k++) x[k] = a->codes + (i + (k < m ? k : 0)) * len;
        for (size_t k = 0; k < 4; k++) comp[k] = -128 * sum_of(x[k], len);
        for (size_t j = 0; j < b->n; j += 4) {
            const size_t n = b->n - j < 4 ? b->n - j : 4;
            const __mmask8 some = (__mmask8)((1u << n) - 1);
            const int8_t *y[4];
            __m512i s[4][4];
            for (size_t k = 0; k < 4; k++) y[k] = b->codes + (j + (k < n ? k : 0)) * len;
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 4; l++) s[k][l] = _mm512_setzero_si512();
            for (size_t c = 0; c < len; c += 64) {
                __m512i u[4];
                for (int l = 0; l < 4; l++)
                    u[l] = _mm512_xor_si512(_mm512_loadu_si512(y[l] + c), flip);
                for (int k = 0; k < 4; k++) {
                    const __m512i v = _mm512_loadu_si512(x[k] + c);
                    for (int l = 0; l < 4; l++) s[k][l] = _mm512_dpbusd_epi32(s[k][l], u[l], v);
                }
            }
            const __m128 scales = _mm_maskz_loadu_ps(some, b->scale + j);
            for (size_t k = 0; k < m; k++) {
                const __m128i sums = _mm_add_epi32(sum4(s[k]), _mm_set1_epi32(comp[k]));
                const __m128 by = _mm_mul_ps(_mm_set1_ps(a->scale[i + k]), scales);
                _mm_mask_storeu_ps(out + (i + k) * out_stride + j, some,
                                   _mm_mul_ps(_mm_cvtepi32_ps(sums), by));
            }
        }
    }
}

void align_init_avx512(align_kernels *k) {
    *k = (align_kernels){"avx512", products};
}
