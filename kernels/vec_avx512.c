#define VEC_TABLE vec_avx512
#include "kernels/vec_impl.h"
