#include "kernels/scan16.h"

#include <immintrin.h>

size_t scan16_reach_avx512(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
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

size_t scan16_count_avx512(const uint16_t *v, size_t n, uint16_t threshold) {
    const __m512i t = _mm512_set1_epi16((short)threshold);
    size_t found = 0;
    for (size_t i = 0; i < n; i += 32)
        found += (size_t)__builtin_popcount(_mm512_cmpge_epu16_mask(_mm512_loadu_si512(v + i), t));
    return found;
}
