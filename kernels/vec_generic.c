#define VEC_TABLE vec_generic
#include "kernels/vec_impl.h"
