#include "kernels/peak.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernels/cpu.h"

enum { TRIES = 3, ROUNDS = 2000000 };

double peak_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct loop_job {
    double (*fn)(long rounds);
    double *done; /* by item */
} loop_job;

static void loop_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    loop_job *j = arg;
    for (size_t i = begin; i < end; i++) j->done[i] = j->fn(ROUNDS);
}

/* Operations a second: one item a thread, whoever is late, best of some tries. */
static double best_rate(fo_pool *pool, double (*fn)(long)) {
    double best = 0;
    const size_t n = (size_t)fo_pool_threads(pool);
    double *done = calloc(n, sizeof *done);
    for (int i = 0; done && i < TRIES; i++) {
        loop_job job = {fn, done};
        double start = peak_seconds(), sum = 0;
        fo_pool_each(pool, loop_some, &job);
        double took = peak_seconds() - start;
        for (size_t j = 0; j < n; j++) sum += done[j];
        if (sum / took > best) best = sum / took;
    }
    free(done);
    return best;
}

double peak_int8_tops(fo_pool *pool) {
    const fo_cpu_info *cpu = fo_cpu();
    const peak_kernels *k = cpu->level >= FO_CPU_AMX      ? &peak_amx
                            : cpu->level >= FO_CPU_AVX512 ? &peak_avx512
                            : cpu->avx_vnni               ? &peak_avxvnni
                            : cpu->level == FO_CPU_AVX2   ? &peak_avx2
                                                          : &peak_generic;
    return best_rate(pool, k->int8) * 1e-12;
}

double peak_bf16_tflops(fo_pool *pool) {
    const fo_cpu_info *cpu = fo_cpu();
    bool bf16 = cpu->level >= FO_CPU_AVX512 && cpu->avx512_bf16;
    const peak_kernels *k = cpu->level >= FO_CPU_AMX      ? &peak_amx
                            : bf16                        ? &peak_avx512bf16
                            : cpu->level >= FO_CPU_AVX512 ? &peak_avx512
                            : cpu->level == FO_CPU_AVX2   ? &peak_avx2
                                                          : &peak_generic;
    return best_rate(pool, k->bf16) * 1e-12;
}

typedef struct read_job {
    const uint64_t *data;
    size_t words;
    uint64_t *sums; /* by piece, so that the reads are not removed */
    bool fetch;     /* what comes AHEAD bytes later, into the second cache, as the products do */
} read_job;

enum { PIECE_WORDS = 1 << 18, AHEAD = 32 << 10 };

static void read_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    read_job *j = arg;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *p = j->data + i * PIECE_WORDS;
        uint64_t s[8] = {0};
        for (size_t w = 0; w < PIECE_WORDS; w += 8) {
            if (j->fetch) __builtin_prefetch((const void *)((uintptr_t)(p + w) + AHEAD), 0, 2);
            for (int k = 0; k < 8; k++) s[k] += p[w + (size_t)k];
        }
        for (int k = 1; k < 8; k++) s[0] += s[k];
        j->sums[i] = s[0];
    }
}

typedef struct fill_job {
    fo_pool *pool;
    uint64_t *data;
    size_t pieces;
} fill_job;

/* What a thread will read, so that it lies on its node. */
static void fill_share(void *arg, size_t begin, size_t end, int thread) {
    fill_job *j = arg;
    fo_pool_share(j->pool, j->pieces, thread, &begin, &end);
    memset(j->data + begin * PIECE_WORDS, 1, (end - begin) * PIECE_WORDS * sizeof *j->data);
}

double peak_read_gbps(fo_pool *pool, size_t bytes) {
    size_t pieces = bytes / (PIECE_WORDS * sizeof(uint64_t));
    bytes = pieces * PIECE_WORDS * sizeof(uint64_t);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *sums = malloc(pieces * sizeof *sums);
    double best = 0;
    if (data != MAP_FAILED && sums) {
        (void)madvise(data, bytes, MADV_HUGEPAGE);
        fill_job fill = {pool, data, pieces};
        fo_pool_each(pool, fill_share, &fill);
        for (int i = 0; i < 2 * TRIES; i++) {
            read_job job = {data, bytes / sizeof(uint64_t), sums, i & 1};
            double start = peak_seconds();
            fo_pool_run(pool, pieces, 8, read_some, &job);
            double rate = (double)bytes / (peak_seconds() - start) * 1e-9;
            if (rate > best) best = rate;
        }
    }
    if (data != MAP_FAILED) munmap(data, bytes);
    free(sums);
    return best;
}
