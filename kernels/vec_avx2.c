#define VEC_TABLE vec_avx2
#include "kernels/vec_impl.h"
