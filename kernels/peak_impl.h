/* peak_impl.h - the loop of the peak_*.c files, which define PEAK_TABLE and, for each of int8 and
 * bf16, the vector type, the sum's step and the operations of a step. Twelve sums are in flight,
 * more than any core's latency times throughput asks for. The inputs pass through an empty asm, so
 * that nothing is computed beforehand. */
#include <stdint.h>
#include <string.h>

#include "kernels/peak.h"

#define SUMS 12

/* A register of vectors, for the compiler's asm. */
#ifdef __aarch64__
#define PEAK_IN_REGISTER "+w"
#else
#define PEAK_IN_REGISTER "+x"
#endif

#define PEAK_LOOP(name, vec, step, ops)                                                            \
    static double name(long rounds) {                                                              \
        vec sum[SUMS], a, b;                                                                       \
        _Pragma("GCC unroll 16") for (int i = 0; i < SUMS; i++) sum[i] = (vec){0};                 \
        memset(&a, PEAK_BYTE, sizeof a);                                                           \
        memset(&b, PEAK_BYTE, sizeof b);                                                           \
        for (long r = 0; r < rounds; r++) {                                                        \
            _Pragma("GCC unroll 16") for (int i = 0; i < SUMS; i++) {                              \
                __asm__ volatile("" : PEAK_IN_REGISTER(a), PEAK_IN_REGISTER(b));                   \
                sum[i] = step(sum[i], a, b);                                                       \
            }                                                                                      \
        }                                                                                          \
        _Pragma("GCC unroll 16") for (int i = 0; i < SUMS;                                         \
                                      i++) __asm__ volatile("" : PEAK_IN_REGISTER(sum[i]));        \
        return (double)rounds * SUMS * (ops);                                                      \
    }
