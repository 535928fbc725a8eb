/* matmul_avx2.c - maddubs, which adds two products of u8 by s8 with saturation at 16 bits.
 *
 * W8: |w| <= 128 as u8 times x with w's sign, |x| <= 127: 2 x 128 x 127 = 32,512 <= 32,767, so a
 * pair never saturates; each pair sum is widened at once.
 * W4: q <= 15: a pair is at most 2 x 15 x 127 = 3,810, the eight pairs of a group 30,480 <= 32,767:
 * the group is summed in 16 bits and widened once. The zero point (W4 stores q + 8) is taken off
 * afterwards, in 32 bits. */
#define MM_TABLE    mm_avx2
#define MM_PANELS   1
#define MM_ROWS_F32 6
#define MM_ROWS_INT 2
#include "kernels/matmul.h"
#include "kernels/simd16.h"

typedef struct iw {
    __m256i a, b;           /* u8: magnitudes (W8) or nibbles (W4) */
    __m256i a_sign, b_sign; /* W8: the signed weights */
} iw;
typedef struct iacc {
    __m256i a, b; /* W8: 32-bit sums; W4: 16-bit sums of pairs */
    __m256i zero; /* W4: start in 32 bits */
} iacc;

V16_INLINE iw iw_load8(const unsigned char *p) {
    const __m256i bias = _mm256_set1_epi8((char)0x80);
    __m256i a = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)p), bias);
    __m256i b = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(p + 32)), bias);
    return (iw){_mm256_abs_epi8(a), _mm256_abs_epi8(b), a, b};
}
V16_INLINE void iw_load4(const unsigned char *p, iw *lo, iw *hi) {
    const __m256i m = _mm256_set1_epi8(15);
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
    lo->a = _mm256_and_si256(a, m);
    lo->b = _mm256_and_si256(b, m);
    hi->a = _mm256_and_si256(_mm256_srli_epi16(a, 4), m);
    hi->b = _mm256_and_si256(_mm256_srli_epi16(b, 4), m);
}
V16_INLINE iacc iacc_start8(int32_t sum) {
    (void)sum;
    return (iacc){_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
}
V16_INLINE iacc iacc_start4(int32_t zero) {
    return (iacc){_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_set1_epi32(-8 * zero)};
}
V16_INLINE __m256i pairs8(__m256i w, __m256i w_sign, __m256i x) {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(w, _mm256_sign_epi8(x, w_sign)),
                             _mm256_set1_epi16(1));
}
V16_INLINE iacc iacc_dot8(iacc s, iw w, int x) {
    __m256i v = _mm256_set1_epi32(x);
    s.a = _mm256_add_epi32(s.a, pairs8(w.a, w.a_sign, v));
    s.b = _mm256_add_epi32(s.b, pairs8(w.b, w.b_sign, v));
    return s;
}
V16_INLINE v16 iacc_end8(iacc s) {
    return (v16){_mm256_cvtepi32_ps(s.a), _mm256_cvtepi32_ps(s.b)};
}
V16_INLINE iacc iacc_dot4(iacc s, iw w, int x) {
    __m256i v = _mm256_set1_epi32(x);
    s.a = _mm256_add_epi16(s.a, _mm256_maddubs_epi16(w.a, v));
    s.b = _mm256_add_epi16(s.b, _mm256_maddubs_epi16(w.b, v));
    return s;
}
V16_INLINE v16 iacc_end4(iacc s, mm_kind kind) {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i a = _mm256_madd_epi16(s.a, one), b = _mm256_madd_epi16(s.b, one);
    if (kind == MM_W4) {
        a = _mm256_add_epi32(a, s.zero);
        b = _mm256_add_epi32(b, s.zero);
    }
    return (v16){_mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(b)};
}

V16_INLINE v16 v16_from_f16(const uint16_t *p) {
    return (v16){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p + 8)))};
}
#define v16_fused v16_fma
#include "kernels/matmul_impl.h"
