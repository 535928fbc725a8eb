/* vec_quantize.h - vec_kernels.quantize, for vec_impl.h: any groups one by one, and with AVX2 eight
 * whole ones together, whose maxima, divisions and sums then come in vectors. Both give the same
 * bits: what the eight cannot, infinite, tiny or no numbers, goes back to the one by one. */
#ifndef FORAGE_KERNELS_VEC_QUANTIZE_H
#define FORAGE_KERNELS_VEC_QUANTIZE_H

#include <math.h>
#include <stdbool.h>
#include "kernels/simd16.h"
#include "kernels/vec.h"

/* What the codes of a row may be added up in (vec_codes.compensation), and so what bounds them
 * beside 127: nothing; neighbours and quads; neighbours and octets. */
typedef enum rule { RULE_NONE, RULE_QUADS, RULE_OCTETS } rule;

V16_INLINE rule rule_of(const vec_codes *to) {
    return !to->compensation ? RULE_NONE : to->wide ? RULE_OCTETS : RULE_QUADS;
}

/* What a norm of eight is multiplied with where 127 stands for magnitudes: rounding adds half the
 * root of eight to it. */
#define OCTETS_SCALE (127.0f / (VEC_NORM - 1.5f))
/* Less than this counts as zero then: squares of what matters beside it are still exact floats. */
#define NORM_FROM 1e-15f

/* In each lane the sum of its eight: 0 1 4 5 8 9 12 13 or 2 3 6 7 10 11 14 15. */
V16_INLINE v16 octets_of(v16 a) {
    a = v16_add(a, v16_swap1(a));
    a = v16_add(a, v16_swap4(a));
    return v16_add(a, v16_swap8(a));
}

/* The magnitude that 127 has to stand for. With room for rounding: two codes of a sign sum up to
 * 127 before it and 128 after it, four magnitudes to 253 and 255. */
V16_INLINE float top_of(v16 a, v16 b, const rule r) {
    v16 top = v16_max(v16_abs(a), v16_abs(b));
    if (r == RULE_NONE) return v16_hmax(top);
    top = v16_max(top, v16_abs(v16_add(a, v16_swap1(a))));
    top = v16_max(top, v16_abs(v16_add(b, v16_swap1(b))));
    if (r == RULE_QUADS) {
        v16 fa = v16_add(v16_abs(a), v16_abs(v16_swap1(a)));
        v16 fb = v16_add(v16_abs(b), v16_abs(v16_swap1(b)));
        v16 four = v16_max(v16_add(fa, v16_swap4(fa)), v16_add(fb, v16_swap4(fb)));
        return v16_hmax(v16_max(top, v16_mul(four, v16_set(127.0f / 253.0f))));
    }
    const v16 squares = v16_max(octets_of(v16_mul(a, a)), octets_of(v16_mul(b, b)));
    const float norm = sqrtf(v16_hmax(squares)) * OCTETS_SCALE, one = v16_hmax(top);
    return norm > one || norm != norm ? norm : one;
}

#if defined(__AVX2__)
/* Given the sums of a group's neighbours; in octets they stand there twice. */
V16_INLINE __m128i compensation_of(__m256i two, bool octets) {
    __m256i four = _mm256_add_epi16(two, _mm256_shuffle_epi32(two, 0xB1));
    four = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(four, 7));
    if (octets) { /* 64-bit lanes hold a four twice */
        four = _mm256_add_epi16(four, _mm256_shuffle_epi32(four, 0x4E));
        four = _mm256_permutevar8x32_epi32(four, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4));
    } else {
        four = _mm256_permutevar8x32_epi32(four, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    }
    return _mm256_castsi256_si128(four);
}
#endif

/* Of a group's codes: -128 times the sums of the quads at 8j + 0 1 4 5 and 8j + 2 3 6 7; in octets
 * of two such quads. */
V16_INLINE void put_compensation(int32_t compensation[4], const int8_t q[VEC_GROUP], bool octets) {
#if defined(__AVX2__)
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)q);
    _mm_storeu_si128((__m128i *)(void *)compensation,
                     compensation_of(_mm256_maddubs_epi16(_mm256_set1_epi8(1), v), octets));
#else
    int sums[4][2];
    for (int i = 0; i < 4; i++, q += 8)
        for (int j = 0; j < 2; j++)
            sums[i][j] = q[2 * j] + q[2 * j + 1] + q[2 * j + 4] + q[2 * j + 5];
    for (int i = 0; i < 4; i++) {
        int two[2] = {sums[i][0], sums[i][1]};
        for (int j = 0; j < 2 && octets; j++) two[j] = sums[i % 2 * 2][j] + sums[i % 2 * 2 + 1][j];
        compensation[i] =
            (int32_t)((uint32_t)(uint16_t)(-128 * two[0]) | (uint32_t)(-128 * two[1]) << 16);
    }
#endif
}

/* The values of group g. */
V16_INLINE void load_group(const float *x, int n, int g, v16 *a, v16 *b) {
    const int at = g * VEC_GROUP, left = n - at;
    if (left >= VEC_GROUP) {
        *a = v16_load(x + at);
        *b = v16_load(x + at + 16);
    } else {
        *a = left > 0 ? v16_load_part(x + at, left < 16 ? left : 16) : v16_zero();
        *b = left > 16 ? v16_load_part(x + at + 16, left - 16) : v16_zero();
    }
}

/* What 127 has to stand for in group g; 0 where that is infinite or no number. */
V16_INLINE float top_of_group(const vec_codes *to, const float *x, int n, int g) {
    v16 a, b;
    load_group(x, n, g, &a, &b);
    const v16 none =
        v16_add(v16_sub(a, a), v16_sub(b, b)); /* maxima may overlook what is no number */
    if (v16_sum(none) != 0) return 0.0f;
    const float top = top_of(a, b, rule_of(to));
    return top <= 3.0e38f ? top : 0.0f;
}

/* Group g with this scale. */
V16_INLINE void round_group(const vec_codes *to, v16 a, v16 b, int g, float inv, float scale) {
    v16 iv = v16_set(inv), hi = v16_set(127.0f), lo = v16_set(-127.0f);
    a = v16_max(v16_min(v16_round(v16_mul(a, iv)), hi), lo);
    b = v16_max(v16_min(v16_round(v16_mul(b, iv)), hi), lo);
    v16_to_i8(to->q + g * VEC_GROUP, a);
    v16_to_i8(to->q + g * VEC_GROUP + 16, b);
    if (to->compensation)
        put_compensation(to->compensation + 4 * g, to->q + g * VEC_GROUP, to->wide);
    to->scale[g] = scale;
    /* Integers below 2^24: exact in any order. */
    const int32_t first = (int32_t)v16_sum(a), last = (int32_t)v16_sum(b);
    to->halves[2 * g] = -32 * first;
    to->halves[2 * g + 1] = -32 * last;
    to->sum[g] = first + last;
    to->wsum[g] = scale * (float)to->sum[g];
}

/* Groups [g, end), each by itself; all those of a wide scale. */
static void quantize_groups(const vec_codes *to, const float *x, int n, int g, int end) {
    enum { MOST = VEC_WIDE / VEC_GROUP };
    for (int count; g < end; g += count) { /* under one scale */
        float own[MOST], top = 0;
        count = !to->wide ? 1 : end - g < MOST ? end - g : MOST;
        for (int i = 0; i < count; i++) {
            own[i] = top_of_group(to, x, n, g + i);
            if (own[i] > top) top = own[i];
        }
        if (rule_of(to) == RULE_OCTETS && top < NORM_FROM) top = 0.0f;
        float inv = top > 0 ? 127.0f / top : 0.0f;
        /* A top below 127 / FLT_MAX counts as zero, too. */
        if (!(inv <= 3.0e38f)) inv = 0.0f, top = 0.0f;
        for (int i = 0; i < count; i++) {
            v16 a = v16_zero(), b = v16_zero();
            if (top > 0 && own[i] > 0) load_group(x, n, g + i, &a, &b);
            round_group(to, a, b, g + i, inv, top / 127.0f);
        }
    }
}

#if defined(__AVX2__)

enum { TOGETHER = 8 };

V16_INLINE __m256 abs8(__m256 x) {
    return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
}

/* top_of() before its reduction, of 32 floats; each pair and each four is summed once. squares: of
 * the octets, apart. */
V16_INLINE __m256 tops8(const float *x, const rule r, __m256 *squares) {
    __m256 x0 = _mm256_loadu_ps(x), x1 = _mm256_loadu_ps(x + 8);
    __m256 x2 = _mm256_loadu_ps(x + 16), x3 = _mm256_loadu_ps(x + 24);
    __m256 a0 = abs8(x0), a1 = abs8(x1), a2 = abs8(x2), a3 = abs8(x3);
    __m256 top = _mm256_max_ps(_mm256_max_ps(a0, a1), _mm256_max_ps(a2, a3));
    if (r == RULE_NONE) return top;
    __m256 pairs = _mm256_max_ps(abs8(_mm256_hadd_ps(x0, x1)), abs8(_mm256_hadd_ps(x2, x3)));
    top = _mm256_max_ps(top, pairs);
    if (r == RULE_OCTETS) {
        a0 = _mm256_mul_ps(x0, x0), a1 = _mm256_mul_ps(x1, x1);
        a2 = _mm256_mul_ps(x2, x2), a3 = _mm256_mul_ps(x3, x3);
    }
    __m256 f0 = _mm256_hadd_ps(a0, a1), f1 = _mm256_hadd_ps(a2, a3);
    __m256 quads =
        _mm256_add_ps(_mm256_permute2f128_ps(f0, f1, 0x20), _mm256_permute2f128_ps(f0, f1, 0x31));
    if (r == RULE_QUADS)
        return _mm256_max_ps(top, _mm256_mul_ps(quads, _mm256_set1_ps(127.0f / 253.0f)));
    *squares = _mm256_add_ps(quads, _mm256_permute_ps(quads, 0x4E));
    return top;
}

/* Lane g: the maximum of v[g]. */
V16_INLINE __m256 max_each(const __m256 v[TOGETHER]) {
    __m256 pair[4], four[2];
    for (int i = 0; i < 4; i++)
        pair[i] = _mm256_max_ps(_mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]),
                                _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]));
    for (int i = 0; i < 2; i++)
        four[i] = _mm256_max_ps(_mm256_shuffle_ps(pair[2 * i], pair[2 * i + 1], 0x44),
                                _mm256_shuffle_ps(pair[2 * i], pair[2 * i + 1], 0xEE));
    return _mm256_max_ps(_mm256_permute2f128_ps(four[0], four[1], 0x20),
                         _mm256_permute2f128_ps(four[0], four[1], 0x31));
}

/* Lane g: the sum of the lower and of the upper half of v[g]. */
V16_INLINE void sum_each(const __m256i v[TOGETHER], __m256i *lower, __m256i *upper) {
    __m256i a = _mm256_hadd_epi32(_mm256_hadd_epi32(v[0], v[1]), _mm256_hadd_epi32(v[2], v[3]));
    __m256i b = _mm256_hadd_epi32(_mm256_hadd_epi32(v[4], v[5]), _mm256_hadd_epi32(v[6], v[7]));
    *lower = _mm256_permute2x128_si256(a, b, 0x20);
    *upper = _mm256_permute2x128_si256(a, b, 0x31);
}

V16_INLINE __m256i codes8(const float *x, __m256 inv) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), inv));
}

/* Eight groups from number `first` on; false where one of them is no case for it. */
V16_INLINE bool quantize_together(const vec_codes to, const float *x, int first, const rule r) {
    const __m256i ones = _mm256_set1_epi8(1), wide = _mm256_set1_epi16(1);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256 tops[TOGETHER], squares[TOGETHER];
    float inv[TOGETHER];
    __m256i sums[TOGETHER], odd = _mm256_setzero_si256();
    _Pragma("GCC unroll 8") for (int g = 0; g < TOGETHER; g++) tops[g] =
        tops8(x + (first + g) * VEC_GROUP, r, &squares[g]);
    const __m256 c = _mm256_set1_ps(127.0f), most = _mm256_set1_ps(3.0e38f);
    __m256 top = max_each(tops);
    if (r == RULE_OCTETS) {
        const __m256 norm = _mm256_sqrt_ps(max_each(squares));
        top = _mm256_max_ps(top, _mm256_mul_ps(norm, _mm256_set1_ps(OCTETS_SCALE)));
    }
    if (to.wide) {
        if (_mm256_movemask_ps(_mm256_cmp_ps(top, most, _CMP_LE_OQ)) != 0xff) return false;
        top = _mm256_max_ps(top, _mm256_permute_ps(top, 0xB1));
        top = _mm256_max_ps(top, _mm256_permute_ps(top, 0x4E));
    }
    const __m256 iv = _mm256_div_ps(c, top);
    __m256 fine =
        _mm256_and_ps(_mm256_cmp_ps(iv, most, _CMP_LE_OQ), _mm256_cmp_ps(top, most, _CMP_LE_OQ));
    if (r == RULE_OCTETS)
        fine = _mm256_and_ps(fine, _mm256_cmp_ps(top, _mm256_set1_ps(NORM_FROM), _CMP_GE_OQ));
    top = _mm256_and_ps(top, fine); /* the others count as zero */
    _mm256_storeu_ps(inv, _mm256_and_ps(iv, fine));
    _Pragma("GCC unroll 8") for (int g = 0; g < TOGETHER; g++) {
        const float *from = x + (first + g) * VEC_GROUP;
        __m256 s = _mm256_set1_ps(inv[g]);
        __m256i lo = _mm256_packs_epi32(codes8(from, s), codes8(from + 8, s));
        __m256i hi = _mm256_packs_epi32(codes8(from + 16, s), codes8(from + 24, s));
        __m256i v = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(lo, hi), order);
        _mm256_storeu_si256((__m256i *)(void *)(to.q + (first + g) * VEC_GROUP), v);
        /* Infinity times 0, and what was no number, became -128. */
        odd = _mm256_or_si256(odd, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(-128)));
        __m256i two = _mm256_maddubs_epi16(ones, v);
        sums[g] = _mm256_madd_epi16(two, wide);
        if (r != RULE_NONE)
            _mm_storeu_si128((__m128i *)(void *)(to.compensation + 4 * (first + g)),
                             compensation_of(two, r == RULE_OCTETS));
    }
    if (_mm256_movemask_epi8(odd)) return false;
    __m256 scale = _mm256_div_ps(top, c);
    __m256i lower, upper;
    sum_each(sums, &lower, &upper);
    const __m256i total = _mm256_add_epi32(lower, upper), zero = _mm256_setzero_si256();
    lower = _mm256_sub_epi32(zero, _mm256_slli_epi32(lower, 5));
    upper = _mm256_sub_epi32(zero, _mm256_slli_epi32(upper, 5));
    const __m256i lo = _mm256_unpacklo_epi32(lower, upper); /* of groups 0 1 4 5 */
    const __m256i hi = _mm256_unpackhi_epi32(lower, upper); /* of 2 3 6 7 */
    __m256i *halves = (__m256i *)(void *)(to.halves + 2 * first);
    _mm256_storeu_si256(halves, _mm256_permute2x128_si256(lo, hi, 0x20));
    _mm256_storeu_si256(halves + 1, _mm256_permute2x128_si256(lo, hi, 0x31));
    _mm256_storeu_ps(to.scale + first, scale);
    _mm256_storeu_si256((__m256i *)(void *)(to.sum + first), total);
    _mm256_storeu_ps(to.wsum + first, _mm256_mul_ps(scale, _mm256_cvtepi32_ps(total)));
    return true;
}

#endif

static void quantize(const vec_codes *to, const float *x, int n, int k_padded) {
    const int groups = k_padded / VEC_GROUP;
    int g = 0;
#if defined(__AVX2__)
    const rule r = rule_of(to);
    for (; (g + TOGETHER) * VEC_GROUP <= n; g += TOGETHER)
        if (!(r == RULE_NONE    ? quantize_together(*to, x, g, RULE_NONE)
              : r == RULE_QUADS ? quantize_together(*to, x, g, RULE_QUADS)
                                : quantize_together(*to, x, g, RULE_OCTETS)))
            quantize_groups(to, x, n, g, g + TOGETHER);
#endif
    quantize_groups(to, x, n, g, groups);
}

#endif
