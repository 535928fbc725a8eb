#include "kernels/scan16.h"

#include <immintrin.h>

size_t scan16_reach_avx2(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
                         uint16_t *values) {
    const __m256i t = _mm256_set1_epi16((short)threshold), zero = _mm256_setzero_si256();
    size_t found = 0;
    for (size_t i = 0; i < n; i += 32) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(v + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(v + i + 16));
        __m256i x = _mm256_cmpeq_epi16(_mm256_max_epu16(a, t), a);
        __m256i y = _mm256_cmpeq_epi16(_mm256_max_epu16(b, t), b);
        /* packs works within 128-bit halves: the permutation puts the quarters in order */
        __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(x, y), 0xD8);
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(both);
        if (n - i < 32) mask &= (1u << (n - i)) - 1;
        for (; mask; mask &= mask - 1) {
            size_t at = i + (size_t)__builtin_ctz(mask);
            out[found] = (uint16_t)at;
            values[found++] = v[at];
        }
        _mm256_storeu_si256((__m256i *)(v + i), zero);
        _mm256_storeu_si256((__m256i *)(v + i + 16), zero);
    }
    return found;
}

size_t scan16_count_avx2(const uint16_t *v, size_t n, uint16_t threshold) {
    const __m256i t = _mm256_set1_epi16((short)threshold);
    __m256i found = _mm256_setzero_si256(); /* 16-bit counts: at most 65,536 / 16 each */
    for (size_t i = 0; i < n; i += 16) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(v + i));
        found = _mm256_sub_epi16(found, _mm256_cmpeq_epi16(_mm256_max_epu16(a, t), a));
    }
    __m256i pairs = _mm256_madd_epi16(found, _mm256_set1_epi16(1));
    __m128i x = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4E));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0xB1));
    return (size_t)(uint32_t)_mm_cvtsi128_si32(x);
}
