#include "kernels/vec.h"

#include "kernels/cpu.h"

const vec_kernels *vec_get_level(int level) {
    if ((int)fo_cpu()->level < level) return NULL;
    return level >= FO_CPU_AVX512 ? &vec_avx512 : level == FO_CPU_AVX2 ? &vec_avx2 : &vec_generic;
}

const vec_kernels *vec_get(void) {
    return vec_get_level((int)fo_cpu()->level);
}
