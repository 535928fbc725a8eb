/* trap.h - runs machine code that has instructions which this processor lacks: each one raises
 * SIGILL, and the handler decodes it, does it by a model and steps over it. So the very objects
 * that ship are tested, not only their source.
 *
 * Source of the encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2:
 * all have a VEX prefix of three bytes (C4). */
#ifndef FORAGE_TESTS_KERNELS_TRAP_H
#define FORAGE_TESTS_KERNELS_TRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static const int trap_register[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};

typedef struct trap_operand {
    int mod, reg, rm;   /* of ModRM, without what a prefix adds */
    uintptr_t base;     /* the address without the index */
    long index;         /* added to it; tile instructions multiply it by the row */
    const uint8_t *end; /* of the instruction */
} trap_operand;

static uint64_t trap_read(const ucontext_t *u, int number) {
    return (uint64_t)u->uc_mcontext.gregs[trap_register[number]];
}

/* ModRM and what follows it; x and b: the bits of the prefix that extend index and base. */
static trap_operand trap_decode(const ucontext_t *u, const uint8_t *p, int x, int b) {
    trap_operand o = {.mod = *p >> 6, .reg = *p >> 3 & 7, .rm = *p & 7};
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
        if (!absolute) o.base = trap_read(u, base);
        if (index != 4) o.index = (long)(trap_read(u, index) << scale);
    } else if (!relative)
        o.base = trap_read(u, o.rm | b << 3);
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

/* Does the instruction at p; its end, or NULL where it is none of those that are modelled, or the
 * model found a fault and said so. */
typedef const uint8_t *trap_fn(ucontext_t *u, const uint8_t *p);

static trap_fn *trap_model;

static void trap_handle(int signal, siginfo_t *info, void *context) {
    (void)info;
    ucontext_t *u = context;
    const uint8_t *end = trap_model(u, (const uint8_t *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
    if (!end) { /* somebody's real mistake: die of it */
        struct sigaction plain = {.sa_handler = SIG_DFL};
        fprintf(stderr, "# an instruction that cannot be done\n");
        sigaction(signal, &plain, NULL);
        return;
    }
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)end;
}

/* From here on the model's instructions work. To be called in each test: cmocka puts its own
 * handler before every one. */
static void trap_by(trap_fn *model_fn) {
    struct sigaction act = {.sa_sigaction = trap_handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
    trap_model = model_fn;
    sigaction(SIGILL, &act, NULL);
}

#endif
