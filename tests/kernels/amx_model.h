/* amx_model.h - the AMX instructions of kernels/tile_amx.h in plain C, so that a kernel's source
 * can be compiled against them and run where there is no AMX:
 *
 *     #include "tests/kernels/amx_model.h"
 *     #define mm_amx mm_amx_modelled
 *     #include "kernels/matmul_amx.c"
 *
 * What the processor would refuse (#GP, #UD) is recorded as the first fault and not done; a test
 * asks for amx.fault afterwards. Memory is read and written as the instructions do, row by row,
 * colsb bytes each, so that the address sanitizer sees what a tile would touch.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18, and
 * the operation sections of LDTILECFG, TILE*, TDPB*D and TDPBF16PS in volume 2. */
#ifndef FORAGE_TESTS_KERNELS_AMX_MODEL_H
#define FORAGE_TESTS_KERNELS_AMX_MODEL_H
#define FORAGE_KERNELS_TILE_AMX_H /* the real one stays out */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Palette 1. */
enum { AMX_TILES = 8, AMX_TILE_ROWS = 16, AMX_ROW_BYTES = 64 };

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

typedef struct amx_state {
    bool configured; /* TILES_CONFIGURED */
    uint8_t rows[AMX_TILES];
    uint16_t row_bytes[AMX_TILES];
    uint8_t data[AMX_TILES][AMX_TILE_ROWS][AMX_ROW_BYTES];
    char fault[160]; /* "": none since the test cleared it */
    long n_config, n_release, n_load, n_store, n_zero, n_dot_i8, n_dot_bf16;
} amx_state;

static _Thread_local amx_state amx;

__attribute__((unused)) static void amx_forget(void) { /* as a new thread finds it */
    memset(&amx, 0, sizeof amx);
}

__attribute__((format(printf, 1, 2))) static bool amx_refuse(const char *format, ...) {
    if (!amx.fault[0]) {
        va_list args;
        va_start(args, format);
        vsnprintf(amx.fault, sizeof amx.fault, format, args);
        va_end(args);
    }
    return false;
}

__attribute__((unused)) static void tile_release(void) {
    amx.n_release++;
    amx.configured = false;
    memset(amx.rows, 0, sizeof amx.rows);
    memset(amx.row_bytes, 0, sizeof amx.row_bytes);
    memset(amx.data, 0, sizeof amx.data);
}

static bool amx_config_is_good(const tile_config *c) {
    if (c->palette > 1) return amx_refuse("LDTILECFG #GP: palette %d", c->palette);
    for (int i = 0; i < 14; i++)
        if (c->reserved[i]) return amx_refuse("LDTILECFG #GP: reserved byte %d is set", i + 2);
    if (c->palette && c->start_row >= AMX_TILE_ROWS)
        return amx_refuse("LDTILECFG #GP: start row %d", c->start_row);
    for (int t = 0; t < 16; t++) {
        if (t >= AMX_TILES && (c->rows[t] || c->row_bytes[t]))
            return amx_refuse("LDTILECFG #GP: tile %d does not exist", t);
        if (c->rows[t] > AMX_TILE_ROWS)
            return amx_refuse("LDTILECFG #GP: tile %d has %d rows", t, c->rows[t]);
        if (c->row_bytes[t] > AMX_ROW_BYTES)
            return amx_refuse("LDTILECFG #GP: tile %d has rows of %d bytes", t, c->row_bytes[t]);
        if (!c->rows[t] != !c->row_bytes[t])
            return amx_refuse("LDTILECFG #GP: tile %d has one size of two", t);
    }
    return true;
}

__attribute__((unused)) static void tile_configure(const tile_config *c) {
    amx.n_config++;
    if (c->palette == 0) { /* back to the initial state, whatever follows */
        tile_release();
        amx.n_release--;
        return;
    }
    if (!amx_config_is_good(c)) return;
    amx.configured = true;
    memcpy(amx.rows, c->rows, sizeof amx.rows);
    memcpy(amx.row_bytes, c->row_bytes, sizeof amx.row_bytes);
    memset(amx.data, 0, sizeof amx.data);
}

static bool amx_tile_is_good(const char *name, int t) {
    if (!amx.configured) return amx_refuse("%s #UD: tiles are not configured", name);
    if (t < 0 || t >= AMX_TILES) return amx_refuse("%s #UD: no tile %d", name, t);
    if (!amx.rows[t]) return amx_refuse("%s #UD: tile %d is not configured", name, t);
    return true;
}

__attribute__((unused)) static void tile_zero(int t) {
    amx.n_zero++;
    if (amx_tile_is_good("TILEZERO", t)) memset(amx.data[t], 0, sizeof amx.data[t]);
}

/* base + row * stride as the address unit adds: bytes, 64 bits, the stride signed. */
static uintptr_t amx_address(const void *base, long stride, int row) {
    return (uintptr_t)base + (uintptr_t)stride * (uintptr_t)row;
}

__attribute__((unused)) static void tile_load(int t, const void *base, long stride) {
    amx.n_load++;
    if (!amx_tile_is_good("TILELOADD", t)) return;
    memset(amx.data[t], 0, sizeof amx.data[t]);
    for (int r = 0; r < amx.rows[t]; r++)
        memcpy(amx.data[t][r], (const void *)amx_address(base, stride, r), amx.row_bytes[t]);
}

__attribute__((unused)) static void tile_store(int t, void *base, long stride) {
    amx.n_store++;
    if (!amx_tile_is_good("TILESTORED", t)) return;
    for (int r = 0; r < amx.rows[t]; r++)
        memcpy((void *)amx_address(base, stride, r), amx.data[t][r], amx.row_bytes[t]);
}

/* The conditions that all products share. */
static bool amx_product_is_good(const char *name, int c, int a, int b) {
    if (!amx_tile_is_good(name, c) || !amx_tile_is_good(name, a) || !amx_tile_is_good(name, b))
        return false;
    if (c == a || c == b || a == b)
        return amx_refuse("%s #UD: tiles %d, %d, %d are not three", name, c, a, b);
    if (amx.row_bytes[c] % 4 || amx.row_bytes[a] % 4 || amx.row_bytes[b] % 4)
        return amx_refuse("%s #UD: rows of %d, %d, %d bytes", name, amx.row_bytes[c],
                          amx.row_bytes[a], amx.row_bytes[b]);
    if (amx.rows[c] != amx.rows[a])
        return amx_refuse("%s #UD: %d rows of sums, %d of the first", name, amx.rows[c],
                          amx.rows[a]);
    if (amx.row_bytes[c] != amx.row_bytes[b])
        return amx_refuse("%s #UD: rows of sums have %d bytes, of the second %d", name,
                          amx.row_bytes[c], amx.row_bytes[b]);
    if (amx.row_bytes[a] / 4 != amx.rows[b])
        return amx_refuse("%s #UD: the first is %d deep, the second %d", name, amx.row_bytes[a] / 4,
                          amx.rows[b]);
    return true;
}

/* signed_a, signed_b: TDPBSSD is both, TDPBSUD the first, TDPBUSD the second. Sums wrap. */
static void amx_dot_i8(const char *name, int c, int a, int b, bool signed_a, bool signed_b) {
    amx.n_dot_i8++;
    if (!amx_product_is_good(name, c, a, b)) return;
    for (int m = 0; m < amx.rows[c]; m++)
        for (int k = 0; k < amx.row_bytes[a] / 4; k++)
            for (int n = 0; n < amx.row_bytes[c] / 4; n++) {
                uint32_t sum;
                memcpy(&sum, &amx.data[c][m][4 * n], sizeof sum);
                for (int i = 0; i < 4; i++) {
                    int x = amx.data[a][m][4 * k + i], y = amx.data[b][k][4 * n + i];
                    if (signed_a) x = (int8_t)x;
                    if (signed_b) y = (int8_t)y;
                    sum += (uint32_t)(x * y);
                }
                memcpy(&amx.data[c][m][4 * n], &sum, sizeof sum);
            }
    for (int m = amx.rows[c]; m < AMX_TILE_ROWS; m++) memset(amx.data[c][m], 0, AMX_ROW_BYTES);
}

__attribute__((unused)) static void tile_dot_i8(int c, int a, int b) {
    amx_dot_i8("TDPBSSD", c, a, b, true, true);
}

/* Denormals count as zero, read or made, whatever MXCSR says. */
static float amx_flush(float x) {
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static float amx_bf16(const uint8_t *p) {
    uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 24;
    float f;
    memcpy(&f, &bits, sizeof f);
    return amx_flush(f);
}

/* Pairs' first and second products are summed apart over the whole depth, then added to each other
 * and to the tile. A product of two bf16 is exact in float, but for its exponent, so that only the
 * sums round. */
__attribute__((unused)) static void tile_dot_bf16(int c, int a, int b) {
    amx.n_dot_bf16++;
    if (!amx_product_is_good("TDPBF16PS", c, a, b)) return;
    for (int m = 0; m < amx.rows[c]; m++)
        for (int n = 0; n < amx.row_bytes[c] / 4; n++) {
            float even = 0, odd = 0, sum;
            for (int k = 0; k < amx.row_bytes[a] / 4; k++) {
                const uint8_t *x = &amx.data[a][m][4 * k], *y = &amx.data[b][k][4 * n];
                even = amx_flush(fmaf(amx_bf16(x), amx_bf16(y), even));
                odd = amx_flush(fmaf(amx_bf16(x + 2), amx_bf16(y + 2), odd));
            }
            memcpy(&sum, &amx.data[c][m][4 * n], sizeof sum);
            sum = amx_flush(amx_flush(sum) + amx_flush(even + odd));
            memcpy(&amx.data[c][m][4 * n], &sum, sizeof sum);
        }
    for (int m = amx.rows[c]; m < AMX_TILE_ROWS; m++) memset(amx.data[c][m], 0, AMX_ROW_BYTES);
}

__attribute__((unused)) static void tile_written(void) {}
__attribute__((unused)) static void tile_read(void) {}

#endif
