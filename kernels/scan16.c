#include "kernels/scan16.h"

#include <string.h>
#include "kernels/cpu.h"

static size_t reach_generic(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
                            uint16_t *values) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        out[found] = (uint16_t)i;
        values[found] = v[i];
        found += v[i] >= threshold;
    }
    memset(v, 0, n * sizeof *v);
    return found;
}

static size_t count_generic(const uint16_t *v, size_t n, uint16_t threshold) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += v[i] >= threshold;
    return found;
}

static void add_scaled_generic(uint16_t *sums, const uint8_t *bytes, size_t n, unsigned shift,
                               uint16_t factor) {
    for (size_t i = 0; i < n; i++)
        sums[i] = (uint16_t)(sums[i] + (((uint32_t)bytes[i] << shift) * factor >> 16));
}

static uint32_t reach_lanes_generic(const uint16_t *masks, const uint16_t *adds, size_t n,
                                    uint16_t threshold) {
    uint32_t sums[16] = {0}, reached = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned l = 0; l < 16; l++) sums[l] += masks[i] >> l & 1 ? adds[i] : 0;
    for (unsigned l = 0; l < 16; l++) reached |= (uint32_t)(sums[l] >= threshold) << l;
    return reached;
}

void scan16_init_generic(scan16_kernels *k) {
    *k = (scan16_kernels){reach_generic, count_generic, add_scaled_generic, reach_lanes_generic};
}

void scan16_init(scan16_kernels *k) {
    fo_cpu_level level = fo_cpu()->level;
    scan16_init_generic(k);
    if (level >= FO_CPU_AVX2) scan16_init_avx2(k);
    if (level >= FO_CPU_AVX512) scan16_init_avx512(k);
}
