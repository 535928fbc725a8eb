#include "kernels/scan16.h"

#include <immintrin.h>

static size_t reach_avx512(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
                           uint16_t *values) {
    const __m512i t = _mm512_set1_epi16((short)threshold), zero = _mm512_setzero_si512();
    size_t found = 0;
    for (size_t i = 0; i < n; i += 32) {
        uint32_t mask = _mm512_cmpge_epu16_mask(_mm512_loadu_si512(v + i), t);
        if (n - i < 32) mask &= (1u << (n - i)) - 1;
        for (; mask; mask &= mask - 1) {
            size_t at = i + (size_t)__builtin_ctz(mask);
            out[found] = (uint16_t)at;
            values[found++] = v[at];
        }
        _mm512_storeu_si512(v + i, zero);
    }
    return found;
}

static size_t count_avx512(const uint16_t *v, size_t n, uint16_t threshold) {
    const __m512i t = _mm512_set1_epi16((short)threshold);
    size_t found = 0;
    for (size_t i = 0; i < n; i += 32)
        found += (size_t)__builtin_popcount(_mm512_cmpge_epu16_mask(_mm512_loadu_si512(v + i), t));
    return found;
}

static void add_scaled_avx512(uint16_t *sums, const uint8_t *bytes, size_t n, unsigned shift,
                              uint16_t factor) {
    const __m512i f = _mm512_set1_epi16((short)factor);
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    for (size_t i = 0; i < n; i += 32) {
        __m512i x = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(bytes + i)));
        x = _mm512_mulhi_epu16(_mm512_sll_epi16(x, by), f);
        _mm512_storeu_si512(sums + i, _mm512_add_epi16(_mm512_loadu_si512(sums + i), x));
    }
}

static uint32_t reach_lanes_avx512(const uint16_t *masks, const uint16_t *adds, size_t n,
                                   uint16_t threshold) {
    __m256i sums = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i++)
        sums = _mm256_mask_add_epi16(sums, masks[i], sums, _mm256_set1_epi16((short)adds[i]));
    return _mm256_cmpge_epu16_mask(sums, _mm256_set1_epi16((short)threshold));
}

void scan16_init_avx512(scan16_kernels *k) {
    *k = (scan16_kernels){reach_avx512, count_avx512, add_scaled_avx512, reach_lanes_avx512};
}
