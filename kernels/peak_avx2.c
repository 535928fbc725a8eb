#include <immintrin.h>

#include "kernels/peak_impl.h"

#define STEP_INT(s, a, b)                                                                          \
    _mm256_add_epi32(s, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)))
#define STEP_FLOAT(s, a, b) _mm256_fmadd_ps(a, b, s)
PEAK_LOOP(loop_int8, __m256i, STEP_INT, 64)
PEAK_LOOP(loop_float, __m256, STEP_FLOAT, 16)

const peak_kernels peak_avx2 = {loop_int8, loop_float};
