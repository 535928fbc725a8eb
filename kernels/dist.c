#include "kernels/dist.h"

#include <math.h>

#include "kernels/cpu.h"

static void dot_codes_generic(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                              const uint32_t *ids, size_t n, int32_t *out) {
    for (size_t i = 0; i < n; i++) {
        const uint8_t *c = codes + ids[i] * stride;
        int32_t sum = 0;
        for (size_t j = 0; j < len; j++) sum += q[j] * c[j];
        out[i] = sum;
    }
}

enum { LANES = 16 }; /* the order of the float sums: sixteen strided partial sums, then halves */

static float sum_lanes(float *acc) {
    for (int w = LANES / 2; w; w /= 2)
        for (int i = 0; i < w; i++) acc[i] += acc[i + w];
    return acc[0];
}

static float dot_fine_generic(const float *q, const uint8_t *code, const int8_t *rest, size_t n) {
    float acc[LANES] = {0};
    for (size_t j = 0; j < n; j += LANES)
        for (int i = 0; i < LANES; i++) acc[i] += q[j + i] * dist_fine(code[j + i], rest[j + i]);
    return sum_lanes(acc);
}

static float l2_fine_generic(const float *q, const uint8_t *code, const int8_t *rest, float scale,
                             size_t n) {
    float acc[LANES] = {0};
    for (size_t j = 0; j < n; j += LANES) {
        for (int i = 0; i < LANES; i++) {
            float d = q[j + i] - scale * dist_fine(code[j + i], rest[j + i]);
            acc[i] += d * d;
        }
    }
    return sum_lanes(acc);
}

static float to_query_generic(const float *x, size_t n, int8_t *q, int32_t *sum) {
    float max = 0;
    for (size_t j = 0; j < n; j++) max = fabsf(x[j]) > max ? fabsf(x[j]) : max;
    float up = max >= DIST_TINY ? DIST_QUERY_MAX / max : 0.0f;
    *sum = 0;
    for (size_t j = 0; j < n; j++) {
        q[j] = (int8_t)lrintf(x[j] * up);
        *sum += q[j];
    }
    return max;
}

void dist_init_generic(dist_kernels *k) {
    *k = (dist_kernels){"generic", dot_codes_generic, dot_fine_generic, l2_fine_generic,
                        to_query_generic};
}

void dist_init(dist_kernels *k) {
    const fo_cpu_info *cpu = fo_cpu();
    dist_init_generic(k);
    if (cpu->level >= FO_CPU_AVX2) dist_init_avx2(k);
    if (cpu->avx_vnni) dist_init_avxvnni(k);
    if (cpu->level >= FO_CPU_AVX512) dist_init_avx512(k);
}
