#include "kernels/attention.h"

#include <stddef.h>

#include "kernels/cpu.h"

const attention_kernels *attention_get_level(int level) {
    if ((int)fo_cpu()->level < level) return NULL;
    return level >= FO_CPU_AMX      ? &attention_amx
           : level == FO_CPU_AVX512 ? &attention_avx512
           : level == FO_CPU_AVX2   ? &attention_avx2
                                    : &attention_generic;
}

const attention_kernels *attention_get(void) {
    return attention_get_level((int)fo_cpu()->level);
}
