#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "kernels/peak_impl.h"

#ifdef __x86_64__

/* SSE2 is the baseline of x86-64: 8 products of 16-bit numbers, 4 of floats. */
#define STEP_INT(s, a, b)   _mm_add_epi32(s, _mm_madd_epi16(a, b))
#define STEP_FLOAT(s, a, b) _mm_add_ps(s, _mm_mul_ps(a, b))
PEAK_LOOP(loop_int8, __m128i, STEP_INT, 16)
PEAK_LOOP(loop_float, __m128, STEP_FLOAT, 8)

#else

/* Vectors of 128 bits as the compiler has them: 4 products of 32-bit numbers, 4 of floats. */
typedef int32_t quad_int __attribute__((vector_size(16)));
typedef float quad_float __attribute__((vector_size(16)));
#define STEP(s, a, b) ((s) + (a) * (b))
PEAK_LOOP(loop_int8, quad_int, STEP, 8)
PEAK_LOOP(loop_float, quad_float, STEP, 8)

#endif

const peak_kernels peak_generic = {loop_int8, loop_float};
