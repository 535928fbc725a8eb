#include "kernels/peak.h"

#include <stdint.h>
#include <string.h>

#include "kernels/tile_amx.h"

/* Full tiles: 16 x 16 sums over 64 channels of bytes, or 32 of bf16; four sums in flight. */
static const tile_config config = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16},
};

/* Of tiles that were never loaded the processor knows that they are zero, and multiplies them twice
 * as fast as any weights (Emerald Rapids, measured). */
static void load_factors(void) {
    _Alignas(64) unsigned char factors[16 * 64];
    memset(factors, PEAK_BYTE, sizeof factors);
    tile_written();
    tile_load(4, factors, 64);
    tile_load(5, factors, 64);
}

/* A tile product is some 16 cycles, a vector's step less than one. */
enum { SHARE = 8 };

#define LOOP(name, dot, channels)                                                                  \
    static double name(long rounds) {                                                              \
        const long n = rounds / SHARE;                                                             \
        tile_configure(&config); /* all tiles are zero */                                          \
        load_factors();                                                                            \
        for (long r = 0; r < n; r++) {                                                             \
            dot(0, 4, 5);                                                                          \
            dot(1, 4, 5);                                                                          \
            dot(2, 4, 5);                                                                          \
            dot(3, 4, 5);                                                                          \
        }                                                                                          \
        tile_release();                                                                            \
        return (double)n * 4 * 16 * 16 * (channels)*2;                                             \
    }
LOOP(loop_int8, tile_dot_i8, 64)
LOOP(loop_bf16, tile_dot_bf16, 32)

const peak_kernels peak_amx = {loop_int8, loop_bf16};
