/* matmul_512.h - what the ISA files with 512-bit vectors, AVX-512 and AMX, have in common: floats,
 * and how they load codes (matmul_impl.h says what each name is). */
#ifndef FORAGE_KERNELS_MATMUL_512_H
#define FORAGE_KERNELS_MATMUL_512_H

#include "kernels/quant.h"
#include "kernels/simd16.h"

typedef v16 vf;
#define vf_zero  v16_zero
#define vf_set   v16_set
#define vf_load  v16_load
#define vf_store v16_store
#define vf_add   v16_add
#define vf_mul   v16_mul
#define vf_fused v16_fma

typedef __m512i iw;

V16_INLINE iw iw_load8(const unsigned char *p) {
    return _mm512_loadu_si512(p);
}
V16_INLINE void iw_store8(unsigned char *p, iw w) {
    _mm512_storeu_si512(p, w);
}
V16_INLINE iw iw_flip_sign(iw w) {
    return _mm512_xor_si512(w, _mm512_set1_epi8(-128));
}
V16_INLINE void iw_load4(const unsigned char *p, iw *lo, iw *hi) {
    const __m512i m = _mm512_set1_epi8(15);
    __m512i v = _mm512_loadu_si512(p);
    *lo = _mm512_and_si512(v, m);
    *hi = _mm512_and_si512(_mm512_srli_epi16(v, 4), m);
}
V16_INLINE void iw_load5(const unsigned char *p, iw high, int i, iw *lo, iw *hi) {
    const __m512i m = _mm512_set1_epi8(16); /* .. or (.. and m) */
    iw_load4(p, lo, hi);
    *lo = _mm512_ternarylogic_epi32(*lo, _mm512_slli_epi16(high, (unsigned)(4 - i)), m, 0xf8);
    *hi = _mm512_ternarylogic_epi32(*hi, _mm512_srli_epi16(high, (unsigned)i), m, 0xf8);
}
V16_INLINE iw iw_load6(const unsigned char *p, iw high, int i, int half) {
    const __m512i low = _mm512_set1_epi8(15), m = _mm512_set1_epi8(48);
    __m512i v = _mm512_loadu_si512(p);
    v = _mm512_and_si512(half ? _mm512_srli_epi16(v, 4) : v, low);
    high = i < 2 ? _mm512_slli_epi16(high, (unsigned)(4 - 2 * i))
                 : _mm512_srli_epi16(high, (unsigned)(2 * i - 4));
    return _mm512_ternarylogic_epi32(v, high, m, 0xf8);
}
V16_INLINE iw iw_load3(iw low, iw high, int i, int half) {
    const __m512i two = _mm512_set1_epi8(3), m = _mm512_set1_epi8(4);
    const int bit = i + 4 * half;
    low = _mm512_and_si512(_mm512_srli_epi16(low, (unsigned)(2 * i)), two);
    high = bit < 2 ? _mm512_slli_epi16(high, (unsigned)(2 - bit))
                   : _mm512_srli_epi16(high, (unsigned)(bit - 2));
    return _mm512_or_si512(low, _mm512_and_si512(high, m));
}
V16_INLINE void iw_load_levels(const unsigned char *p, iw *lo, iw *hi) {
    const __m128i levels = _mm_loadu_si128((const __m128i *)(const void *)quant_iq4_levels);
    const __m512i table = _mm512_xor_si512(_mm512_broadcast_i32x4(levels), _mm512_set1_epi8(-128));
    iw_load4(p, lo, hi);
    *lo = _mm512_shuffle_epi8(table, *lo);
    *hi = _mm512_shuffle_epi8(table, *hi);
}

V16_INLINE v16 vf_from_u8(const unsigned char *p) {
    return _mm512_cvtepi32_ps(
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
V16_INLINE v16 vf_from_i8(const unsigned char *p) {
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
V16_INLINE v16 vf_from_f16(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

#endif
