/* matmul_256.h - what the two ISA files with 256-bit vectors have in common: their floats and how
 * they load codes (matmul_impl.h says what each name is). */
#ifndef FORAGE_KERNELS_MATMUL_256_H
#define FORAGE_KERNELS_MATMUL_256_H

#include "kernels/matmul.h"
#include "kernels/quant.h"
#include "kernels/simd16.h"

#define MM_PANELS   1
#define MM_ROWS_F32 6
#define MM_LANES    8
#define MM_UNITS    2

typedef __m256 vf;
#define vf_zero        _mm256_setzero_ps
#define vf_set         _mm256_set1_ps
#define vf_load        _mm256_loadu_ps
#define vf_store(p, a) _mm256_storeu_ps(p, a)
#define vf_add         _mm256_add_ps
#define vf_mul         _mm256_mul_ps
#define vf_fused       _mm256_fmadd_ps
V16_INLINE vf vf_from_f16(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

V16_INLINE vf vf_from_u8(const unsigned char *p) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}
V16_INLINE vf vf_from_i8(const unsigned char *p) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}

typedef __m256i iw; /* codes: u8 */
typedef __m256i iacc;

V16_INLINE iw iw_load8(const unsigned char *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
V16_INLINE void iw_store8(unsigned char *p, iw w) {
    _mm256_storeu_si256((__m256i *)(void *)p, w);
}
V16_INLINE iw iw_flip_sign(iw w) {
    return _mm256_xor_si256(w, _mm256_set1_epi8(-128));
}
V16_INLINE void iw_load4(const unsigned char *p, iw *lo, iw *hi) {
    const __m256i m = _mm256_set1_epi8(15);
    __m256i v = iw_load8(p);
    *lo = _mm256_and_si256(v, m);
    *hi = _mm256_and_si256(_mm256_srli_epi16(v, 4), m);
}
V16_INLINE void iw_load5(const unsigned char *p, iw high, int i, iw *lo, iw *hi) {
    const __m256i m = _mm256_set1_epi8(16);
    iw_load4(p, lo, hi);
    *lo = _mm256_or_si256(*lo, _mm256_and_si256(_mm256_slli_epi16(high, 4 - i), m));
    *hi = _mm256_or_si256(*hi, _mm256_and_si256(_mm256_srli_epi16(high, i), m));
}
V16_INLINE iw iw_load6(const unsigned char *p, iw high, int i, int half) {
    const __m256i low = _mm256_set1_epi8(15), m = _mm256_set1_epi8(48);
    __m256i v = iw_load8(p);
    v = _mm256_and_si256(half ? _mm256_srli_epi16(v, 4) : v, low);
    high = i < 2 ? _mm256_slli_epi16(high, 4 - 2 * i) : _mm256_srli_epi16(high, 2 * i - 4);
    return _mm256_or_si256(v, _mm256_and_si256(high, m));
}
V16_INLINE iw iw_load3(iw low, iw high, int i, int half) {
    const __m256i two = _mm256_set1_epi8(3), m = _mm256_set1_epi8(4);
    const int bit = i + 4 * half;
    low = _mm256_and_si256(_mm256_srli_epi16(low, 2 * i), two);
    high = bit < 2 ? _mm256_slli_epi16(high, 2 - bit) : _mm256_srli_epi16(high, bit - 2);
    return _mm256_or_si256(low, _mm256_and_si256(high, m));
}
V16_INLINE void iw_load_levels(const unsigned char *p, iw *lo, iw *hi) {
    const __m128i levels = _mm_loadu_si128((const __m128i *)(const void *)quant_iq4_levels);
    const __m256i table =
        _mm256_xor_si256(_mm256_broadcastsi128_si256(levels), _mm256_set1_epi8(-128));
    iw_load4(p, lo, hi);
    *lo = _mm256_shuffle_epi8(table, *lo);
    *hi = _mm256_shuffle_epi8(table, *hi);
}

#endif
