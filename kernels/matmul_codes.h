/* matmul_codes.h - codes and scales of one group of a panel, whatever its kind, by the loads of the
 * including file (iw_load..., vf_from_...: matmul_impl.h says what each is). */
#ifndef FORAGE_KERNELS_MATMUL_CODES_H
#define FORAGE_KERNELS_MATMUL_CODES_H

#include "kernels/matmul.h"
#include "kernels/simd16.h"

/* The including file's function of each kind, for its table. */
/* clang-format off */
#define MM_RUNS \
    {[MM_F32] = run_f32, [MM_W8] = run_w8, [MM_W4] = run_w4, [MM_W4M] = run_w4m, [MM_W5] = run_w5, \
     [MM_W5M] = run_w5m, [MM_K4] = run_k4, [MM_K5] = run_k5, [MM_K6] = run_k6, [MM_K3] = run_k3, \
     [MM_L4] = run_l4, [MM_L4K] = run_l4k, [MM_W8W] = run_w8w, [MM_W8T] = run_w8t}
/* clang-format on */

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* The scales of MM_LANES outputs from `lane` on for group g; panel_scales: the panel's. Products of
 * two factors are exact: 11 bits of an f16 times 8. */
INLINE void load_scales(const mm_kind kind, const unsigned char *panel_scales, size_t groups,
                        size_t g, size_t lane, vf to[2]) {
    if (!mm_has_units(kind)) {
        if (mm_is_wide(kind)) g /= MM_WIDE_GROUPS;
        const uint16_t *f16 = (const uint16_t *)(const void *)panel_scales + g * MM_PANEL + lane;
        to[0] = vf_from_f16(f16);
        if (mm_has_min(kind)) to[1] = vf_from_f16(f16 + groups * MM_PANEL);
        return;
    }
    const size_t at = (g / (MM_SUPER / MM_GROUP) * MM_PANEL + lane) * sizeof(uint16_t);
    const size_t in_group = (size_t)mm_in_units(kind) * MM_PANEL;
    const unsigned char *in_units = panel_scales + g * in_group + lane;
    const unsigned char *units = panel_scales + mm_units(kind, groups) + at;
    const vf unit = vf_from_f16((const uint16_t *)(const void *)units);
    if (!mm_has_min(kind)) {
        to[0] = vf_mul(unit, vf_from_i8(in_units));
        if (mm_has_halves(kind)) to[1] = vf_mul(unit, vf_from_i8(in_units + MM_PANEL));
        return;
    }
    const unsigned char *min_units = panel_scales + mm_min_units(kind, groups) + at;
    to[0] = vf_mul(unit, vf_from_u8(in_units));
    to[1] = vf_mul(vf_from_f16((const uint16_t *)(const void *)min_units),
                   vf_from_u8(in_units + MM_PANEL));
}

/* Pair number v (0-3) of the eight vectors of a group whose codes are at c: vectors v and v + 4, or
 * of weights of 8 bits, 2v and 2v + 1. */
INLINE void load_pair(const mm_kind kind, const unsigned char *c, const int v, iw *lo, iw *hi) {
    if (kind == MM_W8 || kind == MM_W8W) {
        *lo = iw_load8(c + v * 128);
        *hi = iw_load8(c + v * 128 + 64);
    } else if (kind == MM_W8T) {
        *lo = iw_flip_sign(iw_load8(c + v * 128));
        *hi = iw_flip_sign(iw_load8(c + v * 128 + 64));
    } else if (kind == MM_K3) {
        *lo = iw_load3(iw_load8(c), iw_load8(c + 128), v, 0);
        *hi = iw_load3(iw_load8(c + 64), iw_load8(c + 128), v, 1);
    } else if (kind == MM_K6) {
        *lo = iw_load6(c + v * 64, iw_load8(c + 256), v, 0);
        *hi = iw_load6(c + v * 64, iw_load8(c + 320), v, 1);
    } else if (mm_has_levels(kind)) {
        iw_load_levels(c + v * 64, lo, hi);
    } else if (mm_has_5_bits(kind)) {
        iw_load5(c + v * 64, iw_load8(c + 256), v, lo, hi);
    } else {
        iw_load4(c + v * 64, lo, hi);
    }
}

#endif
