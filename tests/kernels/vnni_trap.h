/* vnni_trap.h - AVX-VNNI's VPDPBUSD of 256 bits on a processor that has none (trap.h).
 *
 * Source: the manual that trap.h names; volume 1, chapter 13, for where the signal's frame holds
 * the registers: the legacy area of FXSAVE, then XSTATE_BV, and the upper halves at 576. */
#ifndef FORAGE_TESTS_KERNELS_VNNI_TRAP_H
#define FORAGE_TESTS_KERNELS_VNNI_TRAP_H

#ifndef __x86_64__
#include <stdbool.h>

static bool vnni_trap(void) {
    return false;
}
#else
#include <cpuid.h>

#include "tests/kernels/trap.h"

typedef struct ymm {
    uint8_t b[32];
} ymm;

enum { XSAVE_XMM = 160, XSAVE_BITS = 512, XSAVE_YMM_HIGH = 576, XSAVE_AVX = 4 };

static ymm vnni_read(const unsigned char *state, int number) {
    ymm v = {{0}};
    uint64_t bits;
    memcpy(&bits, state + XSAVE_BITS, sizeof bits);
    memcpy(v.b, state + XSAVE_XMM + 16 * number, 16);
    if (bits & XSAVE_AVX) memcpy(v.b + 16, state + XSAVE_YMM_HIGH + 16 * number, 16);
    return v;
}

static void vnni_write(unsigned char *state, int number, const ymm *v) {
    uint64_t bits;
    memcpy(&bits, state + XSAVE_BITS, sizeof bits);
    if (!(bits & XSAVE_AVX)) memset(state + XSAVE_YMM_HIGH, 0, 16 * 16);
    bits |= 2 | XSAVE_AVX;
    memcpy(state + XSAVE_BITS, &bits, sizeof bits);
    memcpy(state + XSAVE_XMM + 16 * number, v->b, 16);
    memcpy(state + XSAVE_YMM_HIGH + 16 * number, v->b + 16, 16);
}

/* sum += the four products of unsigned bytes a and signed bytes b in each 32 bits, as the manual
 * has it: without saturation. */
static void vnni_dot(ymm *sum, const ymm *a, const ymm *b) {
    for (int lane = 0; lane < 32; lane += 4) {
        uint32_t s;
        memcpy(&s, sum->b + lane, 4);
        for (int i = lane; i < lane + 4; i++) s += (uint32_t)((int)a->b[i] * (int8_t)b->b[i]);
        memcpy(sum->b + lane, &s, 4);
    }
}

static const uint8_t *vnni_do(ucontext_t *u, const uint8_t *p) {
    /* 0F38, W0, L1, prefix 66, opcode 50 */
    if (p[0] != 0xc4 || (p[1] & 31) != 2 || (p[2] & 0x87) != 5 || p[3] != 0x50) return NULL;
    const int r = p[1] & 0x80 ? 0 : 8, x = !(p[1] & 0x40), b = !(p[1] & 0x20);
    unsigned char *state = (unsigned char *)u->uc_mcontext.fpregs;
    const trap_operand o = trap_decode(u, p + 4, x, b);
    ymm sum = vnni_read(state, o.reg | r), codes = vnni_read(state, ~p[2] >> 3 & 15), values;
    if (o.mod == 3)
        values = vnni_read(state, o.rm | b << 3);
    else
        memcpy(&values, (const void *)(o.base + (uintptr_t)o.index), sizeof values);
    vnni_dot(&sum, &codes, &values);
    vnni_write(state, o.reg | r, &sum);
    return o.end;
}

/* From here on the instruction works, on a processor with AVX2; false where the rest cannot run. To
 * be called in each test. */
__attribute__((unused)) static bool vnni_trap(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return false;
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && eax & (1u << 4)) return true;
    trap_by(vnni_do);
    return true;
}

#endif
#endif
