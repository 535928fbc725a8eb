#include <emmintrin.h>

#include "kernels/peak_impl.h"

/* SSE2 is the baseline of x86-64: 8 products of 16-bit numbers, 4 of floats. */
#define STEP_INT(s, a, b)   _mm_add_epi32(s, _mm_madd_epi16(a, b))
#define STEP_FLOAT(s, a, b) _mm_add_ps(s, _mm_mul_ps(a, b))
PEAK_LOOP(loop_int8, __m128i, STEP_INT, 16)
PEAK_LOOP(loop_float, __m128, STEP_FLOAT, 8)

const peak_kernels peak_generic = {loop_int8, loop_float};
