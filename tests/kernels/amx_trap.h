/* amx_trap.h - runs machine code that has AMX instructions on a processor that has none: each one
 * raises SIGILL, and the handler decodes it, does it by the model and steps over it. So the very
 * objects that ship are tested, not only their source. Every thread has its own tiles, as with the
 * real ones.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: the encodings of
 * LDTILECFG, TILE*, TDPBSSD and TDPBF16PS, all with a VEX prefix of three bytes (C4). */
#ifndef FORAGE_TESTS_KERNELS_AMX_TRAP_H
#define FORAGE_TESTS_KERNELS_AMX_TRAP_H

#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "tests/kernels/amx_model.h"

static const int amx_register[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};

typedef struct amx_operand {
    int mod, reg, rm;   /* of ModRM; numbers of tiles have no prefix bits */
    uintptr_t base;     /* the address without the index */
    long index;         /* what the tile instructions multiply by the row */
    const uint8_t *end; /* of the instruction */
} amx_operand;

static uint64_t amx_read(const ucontext_t *u, int number) {
    return (uint64_t)u->uc_mcontext.gregs[amx_register[number]];
}

/* ModRM and what follows it; x and b: the bits of the prefix that extend index and base. */
static amx_operand amx_decode(const ucontext_t *u, const uint8_t *p, int x, int b) {
    amx_operand o = {.mod = *p >> 6, .reg = *p >> 3 & 7, .rm = *p & 7};
    int32_t far = 0;
    bool relative = o.mod == 0 && o.rm == 5, absolute = false;
    p++;
    if (o.mod == 3) {
        o.end = p;
        return o;
    }
    if (o.rm == 4) {
        const int scale = *p >> 6, index = (*p >> 3 & 7) | x << 3, base = (*p & 7) | b << 3;
        p++;
        absolute = o.mod == 0 && (base & 7) == 5;
        if (!absolute) o.base = amx_read(u, base);
        if (index != 4) o.index = (long)(amx_read(u, index) << scale);
    } else if (!relative)
        o.base = amx_read(u, o.rm | b << 3);
    if (o.mod == 1)
        o.base += (uintptr_t)(long)(int8_t)*p++;
    else if (o.mod == 2 || relative || absolute) {
        memcpy(&far, p, sizeof far);
        p += sizeof far;
        o.base += (uintptr_t)(long)far;
    }
    if (relative) o.base += (uintptr_t)p;
    o.end = p;
    return o;
}

/* Do the instruction at p; its end, or NULL where it is none of ours. */
static const uint8_t *amx_do(const ucontext_t *u, const uint8_t *p) {
    enum { NP, P66, PF3, PF2 };
    if (p[0] != 0xc4 || (p[1] & 31) != 2 || p[2] & 0x84) return NULL; /* 0F38, W0, L0 */
    const int x = !(p[1] & 0x40), b = !(p[1] & 0x20), v = ~p[2] >> 3 & 15, prefix = p[2] & 3;
    const amx_operand o = amx_decode(u, p + 4, x, b);
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

static void amx_on_trap(int signal, siginfo_t *info, void *context) {
    (void)info;
    ucontext_t *u = context;
    const uint8_t *end = amx_do(u, (const uint8_t *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
    if (!end || amx.fault[0]) { /* somebody's real mistake: die of it */
        struct sigaction plain = {.sa_handler = SIG_DFL};
        fprintf(stderr, "# %s\n", end ? amx.fault : "an instruction that is not known");
        sigaction(signal, &plain, NULL);
        return;
    }
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)end;
}

/* From here on AMX instructions work; false, and nothing is done, where the processor has them. To
 * be called in each test: cmocka puts its own handler before every one. */
__attribute__((unused)) static bool amx_trap(void) {
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx & (1u << 24)) return false;
    struct sigaction act = {.sa_sigaction = amx_on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGILL, &act, NULL);
    return true;
}

#endif
