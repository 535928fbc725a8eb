/* tile_amx.h - the few AMX instructions that our kernels use, as macros over the intrinsics.
 *
 * Only *_amx.c files include this. It exists so that the same kernel source can be compiled a
 * second time against a model of the instructions in plain C (tests/kernels/amx_model.h, which
 * defines all of this and the guard below), and so be tested where there is no AMX.
 *
 * A tile is up to 16 rows of up to 64 bytes. Tile numbers are literals 0 .. 7, or macros of such:
 * they become part of the instruction's text.
 *     tile_configure(&config)   LDTILECFG: the shapes, from an object of static storage; tiles = 0
 *     tile_release()            TILERELEASE: no tile state is left for the system to save
 *     tile_load(t, p, stride)   TILELOADD: row r from p + r * stride bytes
 *     tile_store(t, p, stride)  TILESTORED
 *     tile_zero(t)              TILEZERO
 *     tile_dot_i8(c, a, b)      TDPBSSD: c[m][n] += sum over k, i of a[m][4k + i] b[k][4n + i]
 *     tile_dot_bf16(c, a, b)    TDPBF16PS: the same with pairs of bf16 and float sums
 *     tile_written()            what C code wrote before is in memory for a tile_load that follows
 *     tile_read()               C code that follows reads what tile_store wrote
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volumes 1 (chapter 18)
 * and 2.
 */
#ifndef FORAGE_KERNELS_TILE_AMX_H
#define FORAGE_KERNELS_TILE_AMX_H

#include <immintrin.h>
#include <stdint.h>

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;
_Static_assert(sizeof(tile_config) == 64, "what LDTILECFG reads");

#define tile_configure(config)   _tile_loadconfig(config)
#define tile_release()           _tile_release()
#define tile_load(t, p, stride)  _tile_loadd(t, p, stride)
#define tile_store(t, p, stride) _tile_stored(t, p, stride)
#define tile_zero(t)             _tile_zero(t)
#define tile_dot_i8(c, a, b)     _tile_dpbssd(c, a, b)
#define tile_dot_bf16(c, a, b)   _tile_dpbf16ps(c, a, b)
/* The intrinsics of gcc 12 do not say that a tile load reads memory: without this the compiler may
 * leave out a store that only tiles read. Nothing is executed. */
#define tile_written() __asm__ volatile("" ::: "memory")
#define tile_read()    __asm__ volatile("" ::: "memory")

#endif
