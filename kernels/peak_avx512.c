#include <immintrin.h>

#include "kernels/peak_impl.h"

#define STEP_INT(s, a, b)   _mm512_dpbusd_epi32(s, a, b)
#define STEP_FLOAT(s, a, b) _mm512_fmadd_ps(a, b, s)
#define STEP_BF16(s, a, b)  _mm512_dpbf16_ps(s, (__m512bh)(a), (__m512bh)(b))
PEAK_LOOP(loop_int8, __m512i, STEP_INT, 128)
PEAK_LOOP(loop_float, __m512, STEP_FLOAT, 32)
PEAK_LOOP(loop_bf16, __m512, STEP_BF16, 64)

const peak_kernels peak_avx512 = {loop_int8, loop_float};
const peak_kernels peak_avx512bf16 = {loop_int8, loop_bf16};
