/* cpu.h - what this processor and operating system can run, asked once.
 *
 * A kernel family is a struct of function pointers. Its portable C file fills it; each ISA level
 * that fo_cpu() reports then overrides what it does better, from low to high. Callers hold the
 * table, never a level. FORAGE_CPU=generic|avx2|avxvnni|avx512|amx in the environment caps the
 * level, so that every path of a big machine can be tested on it (avxvnni is avx2 and 256-bit VNNI
 * where the machine has it). CPUID is believed only together with XGETBV (the operating system must
 * save the registers). AMX counts only after Linux granted its state to the process and its kernels
 * gave the right results here (kernels/amx_check.h); neither is tried under a lower cap.
 *
 * Every level above generic is x86-64's; on another architecture generic is all there is, and
 * kernels/levels_absent.c has what the tables would name. */
#ifndef FORAGE_KERNELS_CPU_H
#define FORAGE_KERNELS_CPU_H

#include <stdbool.h>

#include "kernels/topology.h"

/* A moment's rest for a thread that looks again and again. */
static inline void fo_cpu_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* "yield" ends at once on most */
#endif
}

typedef enum fo_cpu_level {
    FO_CPU_GENERIC = 0,
    FO_CPU_AVX2 = 1,   /* AVX2 + FMA + F16C + BMI2 */
    FO_CPU_AVX512 = 2, /* AVX-512 F BW DQ VL VNNI VBMI */
    FO_CPU_AMX = 3,    /* AMX tile, int8, bf16 */
} fo_cpu_level;

typedef struct fo_cpu_info {
    fo_cpu_level level; /* after the cap */
    bool avx_vnni; /* 256-bit VNNI without AVX-512 (Alder Lake, Zen 5); false when capped below avx2
                    */
    bool avx512_bf16; /* VDPBF16PS */
    char name[64];    /* brand string */
    char note[192];   /* a sentence to be logged (the processor has more than is used, or a variable
                       * of the environment says what it cannot); or "" */
} fo_cpu_info;

/* Detected at the first call; thread-safe; valid for ever. */
const fo_cpu_info *fo_cpu(void);

/* "generic", "avx2", "avx512", "amx". */
const char *fo_cpu_level_name(fo_cpu_level level);

/* For tests that run every level in one process: lower the level from now on (never raise above
 * what the machine has). Kernel tables made before keep their functions: make them again. */
void fo_cpu_cap(fo_cpu_level level);

/* The processors of this process, asked once: at the first call, by a thread that may use them all.
 * FORAGE_NUMA=off in the environment makes one node of all. Valid for ever. */
const fo_topology *fo_cpu_topology(void);

/* Processors this process may use: the smaller of the affinity mask (which a cpuset narrows) and
 * the quota of its control groups, rounded up. For threads that wait for memory, files or others.
 */
int fo_cpu_count(void);

/* The same, with processors that share a core counted once: for threads that multiply. Where all
 * there is is one core, its processors are counted: two threads fill each other's waits, and
 * nothing is lost to threads that wait for the slowest of many. */
int fo_core_count(void);

#endif
