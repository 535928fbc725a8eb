#include "kernels/dist.h"

#include <immintrin.h>

enum { AHEAD = 12 }; /* rows between the one fetched and the one summed */

static inline void fetch(const uint8_t *row, size_t len) {
    for (size_t j = 0; j < len; j += 64) _mm_prefetch((const char *)row + j, _MM_HINT_T0);
}

static inline __m256i load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

static void dot_codes_avxvnni(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                              const uint32_t *ids, size_t n, int32_t *out) {
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(codes + ids[i] * stride, len);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) fetch(codes + ids[i + AHEAD] * stride, len);
        const uint8_t *c = codes + ids[i] * stride;
        __m256i a = _mm256_setzero_si256(), b = a;
        for (size_t j = 0; j < len; j += 64) {
            a = _mm256_dpbusd_avx_epi32(a, load(c + j), load(q + j));
            b = _mm256_dpbusd_avx_epi32(b, load(c + j + 32), load(q + j + 32));
        }
        a = _mm256_add_epi32(a, b);
        __m128i s = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
        s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
        s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
        out[i] = _mm_cvtsi128_si32(s);
    }
}

void dist_init_avxvnni(dist_kernels *k) {
    k->name = "avxvnni";
    k->dot_codes = dot_codes_avxvnni;
}
