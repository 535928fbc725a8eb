#include "kernels/scan16.h"

#include <immintrin.h>

static size_t reach_avx2(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
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

static size_t count_avx2(const uint16_t *v, size_t n, uint16_t threshold) {
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

static void add_scaled_avx2(uint16_t *sums, const uint8_t *bytes, size_t n, unsigned shift,
                            uint16_t factor) {
    const __m256i f = _mm256_set1_epi16((short)factor);
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    for (size_t i = 0; i < n; i += 16) {
        __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(bytes + i)));
        x = _mm256_mulhi_epu16(_mm256_sll_epi16(x, by), f);
        __m256i *at = (__m256i *)(sums + i);
        _mm256_storeu_si256(at, _mm256_add_epi16(_mm256_loadu_si256(at), x));
    }
}

static uint32_t reach_lanes_avx2(const uint16_t *masks, const uint16_t *adds, size_t n,
                                 uint16_t threshold) {
    const __m256i lanes = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                            8192, 16384, INT16_MIN);
    const __m256i t = _mm256_set1_epi16((short)threshold);
    __m256i sums = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i++) {
        __m256i on = _mm256_and_si256(_mm256_set1_epi16((short)masks[i]), lanes);
        on = _mm256_cmpeq_epi16(on, lanes);
        sums = _mm256_add_epi16(sums, _mm256_and_si256(on, _mm256_set1_epi16((short)adds[i])));
    }
    __m256i reached = _mm256_cmpeq_epi16(_mm256_max_epu16(sums, t), sums);
    __m128i low = _mm256_castsi256_si128(reached), high = _mm256_extracti128_si256(reached, 1);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

void scan16_init_avx2(scan16_kernels *k) {
    *k = (scan16_kernels){reach_avx2, count_avx2, add_scaled_avx2, reach_lanes_avx2};
}
