#include "kernels/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernels/amx_check.h"
#include "kernels/cgroup.h"

static fo_cpu_info detected; /* immutable after detect(), but for fo_cpu_cap in tests */
static fo_cpu_level machine_level;
static bool one_node; /* FORAGE_NUMA=off; immutable after detect() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const level_names[] = {"generic", "avx2", "avx512", "amx"};

/* The level that FORAGE_CPU names; the highest without it. */
static fo_cpu_level named_level(const char *name) {
    if (!name || !*name) return FO_CPU_AMX;
    if (strcmp(name, "avxvnni") == 0) return FO_CPU_AVX2;
    for (int i = 0; i <= FO_CPU_AMX; i++)
        if (strcmp(name, level_names[i]) == 0) return (fo_cpu_level)i;
    snprintf(detected.note, sizeof detected.note,
             "FORAGE_CPU is '%.40s', not generic, avx2, avxvnni, avx512 or amx: nothing is capped",
             name);
    return FO_CPU_AMX;
}

/* FORAGE_NUMA, and a note where it says what it cannot. */
static void read_numa(void) {
    const char *numa = getenv("FORAGE_NUMA");
    one_node = numa && strcmp(numa, "off") == 0;
    if (numa && *numa && !one_node && strcmp(numa, "on") && !detected.note[0])
        snprintf(detected.note, sizeof detected.note,
                 "FORAGE_NUMA is '%.40s', not off or on: nodes of memory count", numa);
}

#ifdef __x86_64__

static unsigned long long xcr0(void) {
    unsigned lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return ((unsigned long long)hi << 32) | lo;
}

/* NULL when the AMX kernels may be used; else why not, as the end of a sentence. Linux hands out
 * the 8 KiB tile state only on request, to a whole process: ARCH_REQ_XCOMP_PERM, XTILEDATA. */
static const char *why_no_amx(bool tiles_saved) {
    static char text[96];
    if (!tiles_saved) return "the system does not save tiles";
    if (syscall(SYS_arch_prctl, 0x1023, 18) != 0) {
        snprintf(text, sizeof text, "the system does not grant it (%s)", strerror(errno));
        return text;
    }
    const amx_tables amx = {&mm_amx, &attention_amx}, other = {&mm_generic, &attention_generic};
    return amx_check(&amx, &other);
}

/* Puts the name down, and a note where there is more than is used. */
static fo_cpu_level detect_level(fo_cpu_level cap) {
    unsigned a, b, c, d;
    unsigned brand[12] = {0};
    if (__get_cpuid(0x80000002, &brand[0], &brand[1], &brand[2], &brand[3]) &&
        __get_cpuid(0x80000003, &brand[4], &brand[5], &brand[6], &brand[7]) &&
        __get_cpuid(0x80000004, &brand[8], &brand[9], &brand[10], &brand[11])) {
        memcpy(detected.name, brand, sizeof brand);
    }
    if (!__get_cpuid(1, &a, &b, &c, &d)) return FO_CPU_GENERIC;
    bool osxsave = c & bit_OSXSAVE, fma = c & bit_FMA, f16c = c & bit_F16C;
    if (!osxsave || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return FO_CPU_GENERIC;
    unsigned long long saved = xcr0();
    bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xE6) == 0xE6;
    bool tiles = (saved & 0x60000) == 0x60000;
    unsigned b7 = b, c7 = c, d7 = d;
    unsigned a71 = 0;
    if (a >= 1) __get_cpuid_count(7, 1, &a71, &b, &c, &d);
    if (!ymm || !fma || !f16c || !(b7 & bit_AVX2) || !(b7 & bit_BMI2)) return FO_CPU_GENERIC;
    detected.avx_vnni = a71 & (1u << 4);
    const unsigned need_b = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    const unsigned need_c = bit_AVX512VNNI | bit_AVX512VBMI;
    if (!zmm || (b7 & need_b) != need_b || (c7 & need_c) != need_c) return FO_CPU_AVX2;
    detected.avx512_bf16 = a71 & (1u << 5);
    const unsigned need_d = (1u << 22) | (1u << 24) | (1u << 25); /* bf16, tile, int8 */
    if (cap < FO_CPU_AMX || (d7 & need_d) != need_d || !detected.avx512_bf16) return FO_CPU_AVX512;
    const char *why_not = why_no_amx(tiles);
    if (!why_not) return FO_CPU_AMX;
    snprintf(detected.note, sizeof detected.note, "the processor has AMX, but %s: AVX-512 is used",
             why_not);
    return FO_CPU_AVX512;
}

#else

/* A processor of which nothing is asked. */
static fo_cpu_level detect_level(fo_cpu_level cap) {
    (void)cap;
    struct utsname u;
    if (uname(&u) == 0) snprintf(detected.name, sizeof detected.name, "%.60s", u.machine);
    return FO_CPU_GENERIC;
}

#endif

static void detect(void) {
    const char *name = getenv("FORAGE_CPU");
    const fo_cpu_level cap = named_level(name);
    machine_level = detect_level(cap);
    fo_cpu_cap(cap);
    if (name && strcmp(name, "avx2") == 0) detected.avx_vnni = false;
    read_numa();
}

void fo_cpu_cap(fo_cpu_level level) {
    detected.level = level < machine_level ? level : machine_level;
    if (detected.level < FO_CPU_AVX2) detected.avx_vnni = false;
    if (detected.level < FO_CPU_AVX512) detected.avx512_bf16 = false;
}

const fo_cpu_info *fo_cpu(void) {
    pthread_once(&once, detect);
    return &detected;
}

const char *fo_cpu_level_name(fo_cpu_level level) {
    return level_names[level];
}

static fo_topology topology; /* immutable after find_topology */

static void find_topology(void) {
    (void)fo_cpu();
    fo_topology_read(&topology, "", NULL);
    if (one_node) fo_topology_flatten(&topology);
}

const fo_topology *fo_cpu_topology(void) {
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    pthread_once(&found, find_topology);
    return &topology;
}

static int within_quota(int n) {
    const int quota = fo_cgroup_cpus("");
    if (quota && quota < n) n = quota;
    return n < 1 ? 1 : n;
}

int fo_cpu_count(void) {
    return within_quota(fo_cpu_topology()->n_cpus);
}

int fo_core_count(void) {
    const fo_topology *t = fo_cpu_topology();
    return within_quota(t->n_cores > 1 ? t->n_cores : t->n_cpus);
}
