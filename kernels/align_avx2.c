#include <immintrin.h>

static inline __m256i dot(__m256i sum, __m256i unsigned_bytes, __m256i signed_bytes) {
    const __m256i pairs = _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

#include "kernels/align_256.h"

void align_init_avx2(align_kernels *k) {
    *k = (align_kernels){"avx2", products};
}
