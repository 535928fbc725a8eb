#include "kernels/align.h"

#include "kernels/cpu.h"

static void products_generic(const align_rows *a, const align_rows *b, size_t len, float *out,
                             size_t out_stride) {
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            int32_t sum = 0;
            for (size_t k = 0; k < len; k++) sum += a->codes[i * len + k] * b->codes[j * len + k];
            out[i * out_stride + j] = (float)sum * (a->scale[i] * b->scale[j]);
        }
    }
}

void align_init_generic(align_kernels *k) {
    *k = (align_kernels){"generic", products_generic};
}

void align_init(align_kernels *k) {
    const fo_cpu_info *cpu = fo_cpu();
    align_init_generic(k);
    if (cpu->level >= FO_CPU_AVX2) align_init_avx2(k);
    if (cpu->avx_vnni) align_init_avxvnni(k);
    if (cpu->level >= FO_CPU_AVX512) align_init_avx512(k);
}
