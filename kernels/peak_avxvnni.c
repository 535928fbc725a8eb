#include <immintrin.h>

#include "kernels/peak_impl.h"

#define STEP_INT(s, a, b)   _mm256_dpbusd_avx_epi32(s, a, b)
#define STEP_FLOAT(s, a, b) _mm256_fmadd_ps(a, b, s)
PEAK_LOOP(loop_int8, __m256i, STEP_INT, 64)
PEAK_LOOP(loop_float, __m256, STEP_FLOAT, 16)

const peak_kernels peak_avxvnni = {loop_int8, loop_float};
