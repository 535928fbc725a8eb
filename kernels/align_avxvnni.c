#include <immintrin.h>

static inline __m256i dot(__m256i sum, __m256i unsigned_bytes, __m256i signed_bytes) {
    return _mm256_dpbusd_avx_epi32(sum, unsigned_bytes, signed_bytes);
}

#include "kernels/align_256.h"

void align_init_avxvnni(align_kernels *k) {
    *k = (align_kernels){"avxvnni", products};
}
