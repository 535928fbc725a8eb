/* matmul_avx2.c - maddubs, which adds two products of u8 by s8 with saturation at 16 bits.
 *
 * W8: the stored code c = w + 128 <= 255 times x. The rows' codes are rounded so that two
 * neighbours of one sign add up to 128 at most (vec_kernels.quantize with compensation): a pair is
 * at most 255 x 128 = 32,640 <= 32,767 and never saturates; neighbours of two signs stay below
 * 255 x 127. Two pairs and -128 times the sum of their four x are added modulo 2^16. That is the sum of w x,
 * and because |w| <= 128 and the four |x| add up to 255 at most, it is at most 32,640 and so exact.
 * It is widened then: six instructions for 64 products, where |w| times x with w's sign needs
 * eight, of which three instead of four are multiplications.
 * W8W, W8T: the rows' neighbours likewise; octets of weights and of codes have norms that no
 * product of them passes 32,767 (MM_NORM, VEC_NORM), and so no sum of eight products does (Cauchy
 * and Schwarz): four pairs and -128 times the sum of their x: ten instructions for 128 products.
 * W4: q <= 15: a pair is at most 2 x 15 x 127 = 3,810, the eight pairs of a group 30,480 <= 32,767:
 * the group is summed in 16 bits and widened once; the zero point is taken off then, in 32 bits.
 * W5: q <= 31: four pairs are at most 4 x 2 x 31 x 127 = 31,496: a group is widened twice.
 * K6: q <= 63: two pairs are at most 2 x 2 x 63 x 127 = 32,004: half a group is widened twice.
 * K3: q <= 7: half a group is at most 4 x 2 x 7 x 127 = 7,112 and is widened once. L4 is as W8: |w| <= 127. */
#define MM_TABLE               mm_avx2
#define MM_WIDE_KIND           MM_W8W
#define MM_SOME_PLAIN(kind)    (mm_has_5_bits(kind) || mm_has_halves(kind))
#define MM_ACC_IN_MEMORY(kind) mm_has_4_bits(kind)
#define MM_ROWS_INT            4
#define MM_INT16_SUMS
#define MM_QUADS
#include "kernels/matmul_256.h"

/* gcc would turn the chain of sums into a tree and spill its leaves: a third of the speed. */
#define KEEP_ORDER(v) __asm__("" : "+x"(v))

/* Four activations for each lane. */
V16_INLINE __m256i set_4(const int8_t *x) {
    int four;
    memcpy(&four, x, sizeof four);
    return _mm256_set1_epi32(four);
}

/* 2^shift sum in all lanes: shifted there, a broadcast out of memory does the rest. */
V16_INLINE __m256i times(int32_t sum, const int shift) {
    return _mm256_slli_epi32(_mm256_set1_epi32(sum), shift);
}

V16_INLINE iacc iacc_start8(int32_t sum) {
    (void)sum; /* taken off four by four */
    return _mm256_setzero_si256();
}
V16_INLINE iacc iacc_start4(int32_t sum) {
    (void)sum;
    return _mm256_setzero_si256();
}
V16_INLINE iacc iacc_quads8(iacc s, iw w0, iw w1, int x0, int x1, int comp) {
    __m256i sum = _mm256_maddubs_epi16(w0, _mm256_set1_epi32(x0));
    sum = _mm256_add_epi16(sum, _mm256_set1_epi32(comp));
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w1, _mm256_set1_epi32(x1)));
    s = _mm256_add_epi32(s, _mm256_madd_epi16(sum, _mm256_set1_epi16(1)));
    KEEP_ORDER(s);
    return s;
}
V16_INLINE iacc iacc_octets8(iacc s, const iw w[4], const int8_t *x, int comp) {
    __m256i sum = _mm256_maddubs_epi16(w[0], set_4(x));
    sum = _mm256_add_epi16(sum, _mm256_set1_epi32(comp));
    _Pragma("GCC unroll 3") for (int i = 1; i < 4; i++) {
        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w[i], set_4(x + 4 * i)));
        KEEP_ORDER(sum);
    }
    s = _mm256_add_epi32(s, _mm256_madd_epi16(sum, _mm256_set1_epi16(1)));
    KEEP_ORDER(s);
    return s;
}
V16_INLINE vf iacc_end8(iacc s) {
    return _mm256_cvtepi32_ps(s);
}
V16_INLINE iacc iacc_dot4(iacc s, iw w, int x) {
    s = _mm256_add_epi16(s, _mm256_maddubs_epi16(w, _mm256_set1_epi32(x)));
    KEEP_ORDER(s);
    return s;
}
V16_INLINE vf iacc_end4(iacc s, int32_t sum) {
    __m256i wide = _mm256_madd_epi16(s, _mm256_set1_epi16(1));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(wide, times(sum, 3)));
}
#define iacc_start5 iacc_start4
V16_INLINE iacc iacc_widen5(iacc t, iacc s) {
    return _mm256_add_epi32(t, _mm256_madd_epi16(s, _mm256_set1_epi16(1)));
}
V16_INLINE vf iacc_end5(iacc s, int32_t sum) {
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(s, times(sum, 4)));
}
V16_INLINE iacc iacc_start6(int32_t start) {
    return _mm256_set1_epi32(start);
}
V16_INLINE iacc iacc_dot6(iacc s, iw w0, iw w1, int x0, int x1) {
    __m256i sum = _mm256_maddubs_epi16(w0, _mm256_set1_epi32(x0));
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w1, _mm256_set1_epi32(x1)));
    s = _mm256_add_epi32(s, _mm256_madd_epi16(sum, _mm256_set1_epi16(1)));
    KEEP_ORDER(s);
    return s;
}

#include "kernels/matmul_impl.h"
