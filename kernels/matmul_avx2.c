/* matmul_avx2.c - maddubs, which adds two products of u8 by s8 with saturation at 16 bits.
 *
 * W8: |w| <= 128 as u8 times x with w's sign, |x| <= 127: 2 x 128 x 127 = 32,512 <= 32,767, so a
 * pair never saturates; each pair sum is widened at once.
 * W4: q <= 15: a pair is at most 2 x 15 x 127 = 3,810, the eight pairs of a group 30,480 <= 32,767:
 * the group is summed in 16 bits and widened once; the zero point is taken off then, in 32 bits. */
#define MM_TABLE    mm_avx2
#define MM_PANELS   1
#define MM_ROWS_F32 6
#define MM_LANES    8
#define MM_UNITS    1
#define MM_ROWS_INT 4
#define MM_FEW_ROWS 0
#include "kernels/matmul.h"
#include "kernels/simd16.h"

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

typedef struct iw {
    __m256i code; /* u8: magnitudes (W8) or nibbles (W4) */
    __m256i sign; /* W8: the signed weights */
} iw;
/* gcc would turn the chain of sums into a tree and spill its leaves: a third of the speed. */
#define KEEP_ORDER(v) __asm__("" : "+x"(v))

typedef __m256i iacc; /* W8: 32-bit sums; W4: 16-bit sums of pairs */

V16_INLINE iw iw_load8(const unsigned char *p) {
    __m256i w = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)p),
                                 _mm256_set1_epi8((char)0x80));
    return (iw){_mm256_abs_epi8(w), w};
}
V16_INLINE void iw_load4(const unsigned char *p, iw *lo, iw *hi) {
    const __m256i m = _mm256_set1_epi8(15);
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    lo->code = _mm256_and_si256(v, m);
    hi->code = _mm256_and_si256(_mm256_srli_epi16(v, 4), m);
}
V16_INLINE iacc iacc_start8(int32_t sum) {
    (void)sum; /* the weights were made signed: nothing to take off */
    return _mm256_setzero_si256();
}
V16_INLINE iacc iacc_start4(int32_t sum) {
    (void)sum;
    return _mm256_setzero_si256();
}
V16_INLINE iacc iacc_dot8(iacc s, iw w, int x) {
    __m256i signed_x = _mm256_sign_epi8(_mm256_set1_epi32(x), w.sign);
    __m256i pairs = _mm256_maddubs_epi16(w.code, signed_x);
    s = _mm256_add_epi32(s, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    KEEP_ORDER(s);
    return s;
}
V16_INLINE vf iacc_end8(iacc s) {
    return _mm256_cvtepi32_ps(s);
}
V16_INLINE iacc iacc_dot4(iacc s, iw w, int x) {
    s = _mm256_add_epi16(s, _mm256_maddubs_epi16(w.code, _mm256_set1_epi32(x)));
    KEEP_ORDER(s);
    return s;
}
V16_INLINE vf iacc_end4(iacc s, int32_t sum) {
    __m256i wide = _mm256_madd_epi16(s, _mm256_set1_epi16(1));
    return _mm256_cvtepi32_ps(_mm256_add_epi32(wide, _mm256_set1_epi32(-8 * sum)));
}

#include "kernels/matmul_impl.h"
