/* amx_trap.h - AMX instructions on a processor that has none (trap.h). Every thread has its own
 * tiles, as with the real ones.
 *
 * Source: the manual that trap.h names: the encodings of LDTILECFG, TILE*, TDPBSSD, TDPBF16PS. */
#ifndef FORAGE_TESTS_KERNELS_AMX_TRAP_H
#define FORAGE_TESTS_KERNELS_AMX_TRAP_H

#include <cpuid.h>

#include "tests/kernels/amx_model.h"
#include "tests/kernels/trap.h"

/* Do the instruction at p; its end, or NULL where it is none of ours. */
static const uint8_t *amx_one(const ucontext_t *u, const uint8_t *p) {
    enum { NP, P66, PF3, PF2 };
    if (p[0] != 0xc4 || (p[1] & 31) != 2 || p[2] & 0x84) return NULL; /* 0F38, W0, L0 */
    const int x = !(p[1] & 0x40), b = !(p[1] & 0x20), v = ~p[2] >> 3 & 15, prefix = p[2] & 3;
    const trap_operand o = trap_decode(u, p + 4, x, b);
    const bool memory = o.mod != 3;
    switch (p[3]) {
    case 0x49:
        if (prefix == NP && memory && o.reg == 0)
            tile_configure((const tile_config *)o.base);
        else if (prefix == NP && p[4] == 0xc0)
            tile_release();
        else if (prefix == PF2 && !memory && o.rm == 0)
            tile_zero(o.reg);
        else
            return NULL;
        return o.end;
    case 0x4b:
        if (!memory || o.rm != 4) return NULL;
        if (prefix == PF2)
            tile_load(o.reg, (const void *)o.base, o.index);
        else if (prefix == PF3)
            tile_store(o.reg, (void *)o.base, o.index);
        else
            return NULL;
        return o.end;
    case 0x5e:
        if (memory || prefix != PF2) return NULL;
        tile_dot_i8(o.reg, o.rm, v);
        return o.end;
    case 0x5c:
        if (memory || prefix != PF3) return NULL;
        tile_dot_bf16(o.reg, o.rm, v);
        return o.end;
    default:
        return NULL;
    }
}

static const uint8_t *amx_do(ucontext_t *u, const uint8_t *p) {
    const uint8_t *end = amx_one(u, p);
    if (end && amx.fault[0]) {
        fprintf(stderr, "# %s\n", amx.fault);
        return NULL;
    }
    return end;
}

/* From here on AMX instructions work; false, and nothing is done, where the processor has them. To
 * be called in each test. */
__attribute__((unused)) static bool amx_trap(void) {
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx & (1u << 24)) return false;
    trap_by(amx_do);
    return true;
}

#endif
