#include "kernels/scan16.h"

#include <string.h>
#include "kernels/cpu.h"

size_t scan16_reach_generic(uint16_t *v, size_t n, uint16_t threshold, uint16_t *out,
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

size_t scan16_count_generic(const uint16_t *v, size_t n, uint16_t threshold) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += v[i] >= threshold;
    return found;
}

void scan16_add_scaled_generic(uint16_t *sums, const uint8_t *bytes, size_t n, unsigned shift,
                               uint16_t factor) {
    for (size_t i = 0; i < n; i++)
        sums[i] = (uint16_t)(sums[i] + (((uint32_t)bytes[i] << shift) * factor >> 16));
}

uint32_t scan16_reach_lanes_generic(const uint16_t *masks, const uint16_t *adds, size_t n,
                                    uint16_t threshold) {
    uint32_t sums[16] = {0}, reached = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned l = 0; l < 16; l++) sums[l] += masks[i] >> l & 1 ? adds[i] : 0;
    for (unsigned l = 0; l < 16; l++) reached |= (uint32_t)(sums[l] >= threshold) << l;
    return reached;
}

const scan16_kernels *scan16_table(void) {
    static const scan16_kernels generic = {scan16_reach_generic, scan16_count_generic,
                                           scan16_add_scaled_generic, scan16_reach_lanes_generic};
#if defined(__x86_64__)
    static const scan16_kernels avx2 = {scan16_reach_avx2, scan16_count_avx2,
                                        scan16_add_scaled_avx2, scan16_reach_lanes_avx2},
                                avx512 = {scan16_reach_avx512, scan16_count_avx512,
                                          scan16_add_scaled_avx512, scan16_reach_lanes_avx512};
    fo_cpu_level level = fo_cpu()->level;
    if (level >= FO_CPU_AVX512) return &avx512;
    if (level >= FO_CPU_AVX2) return &avx2;
#endif
    return &generic;
}
