/* matmul.h - out[M,N] = x[M,K] · W[N,K]ᵀ with W repacked once for the machine.
 *
 *     mm_weights w;
 *     mm_weights_init(&w, mm_kind_for(type, fast), n, k, NULL, &err);  // or MM_W8W
 *     mm_weights_pack(&w, 0, w.n_panels, type, rows, row_bytes, NULL, scratch); // any threads
 *     vec_get()->quantize(&codes, x, k, w.k_padded);   // each row, for `in`; not for MM_F32, and
 *                                                      // rotated before for wide kinds
 *     mm_get()->run[w.kind](&w, &in, 0, m, 0, w.n_panels, out, out_stride);
 *     mm_weights_deinit(&w);
 *
 * W is cut into panels of 16 rows (output columns); a panel lies whole in memory, channel by
 * channel, so that one vector load brings 16 outputs:
 *     MM_F32   [k][16] float
 *     MM_W8    [k/4][16][4] bytes (weight + 128), then [k/32][16] scales (f16)
 *     MM_W4    [k/32] x 4 vectors of [16][4] bytes: vector v holds channels 4v.. of the group in
 *              the low nibbles and 4(v+4).. in the high ones (weight + 8), then the scales
 *     MM_W4M   the same with plain nibbles, then [k/32][16] minima (f16): w = scale q + min
 *     MM_W5    [k/32] x (the 4 vectors of W4, then [16][4] bytes whose bit v is the fifth bit of
 *              the code of channel 4v.. at that place) (weight + 16), then the scales
 *     MM_W5M   the same with plain codes, then the minima
 *     MM_K4    codes as W4M, then [k/32][2][16] bytes: scales and minima, in units of the floats
 *     MM_K5    (f16) that follow, [k/256][16] for scales, [k/256][16] for minima; codes as W5M
 *     MM_K6    [k/32] x (the 4 vectors of W4, then 2 of [16][4] bytes, of the first and of the last
 *              16 channels: bits 2v, 2v + 1 are the upper two of the code of channel 4v.. of them)
 *              (weight + 32), then [k/32][2][16] signed bytes: scales of the first and of the last
 *              16 channels, in units of the floats (f16) that follow, [k/256][16]
 *     MM_K3    [k/32] x 3 vectors: two, of the first and of the last 16 channels, whose bits 2v and
 *              2v + 1 are the lower two of the code of channel 4v.. of them; one whose bit v is the
 *              third of the code of channel 4v.. of the group (weight + 4); then as K6
 *     MM_L4    [k/32] x 4 vectors: vector v holds channels 8v.. in the low nibbles and 8v + 4.. in
 *              the high ones, as numbers of IQ4_NL's 16 levels; then [k/32][16] scales (f16)
 *     MM_L4K   the same codes, then [k/32][16] signed bytes: scales, in units of the floats (f16)
 *              that follow, [k/256][16]
 *     MM_W8W   as W8 of rows rotated by vec_kernels.rotate, with [k/128][16] scales (f16): one for
 *              four groups, as activations must have it (vec_codes.wide); no octet is larger than
 *              MM_NORM
 *     MM_W8T   the same as signed bytes, for tiles
 * MM_K... are GGUF's K formats; K6 takes as many bits as in the file, the others 1/8 more a weight.
 *
 * k is padded with zero weights to a multiple of 32 (not MM_F32; wide kinds: 64), n to one of 16;
 * kinds with units take multiples of 256 alone.
 *
 * Row invariance: an output is one sum over k in ascending order (integer inside a group of 32, or
 * in wide kinds of 128, which is exact; then one fused multiply-add), the same in every tile shape.
 * The integer kinds give the same bits at every ISA level. In K3 and K6 the two sums of 16 channels
 * are scaled and added up before that. */
#ifndef FORAGE_KERNELS_MATMUL_H
#define FORAGE_KERNELS_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/huge.h"
#include "kernels/quant.h"

enum { MM_PANEL = 16, MM_GROUP = 32, MM_WIDE = 128, MM_SUPER = 256 };
enum { MM_WIDE_GROUPS = MM_WIDE / MM_GROUP }; /* under one wide scale */
/* Of weights of wide kinds, the norm at most of the eight codes at 16j + (0 1 4 5 8 9 12 13) and
 * at 16j + (2 3 6 7 10 11 14 15): times VEC_NORM it is below 32,768. */
enum { MM_NORM = 199 };

typedef enum mm_kind {
    MM_F32 = 0,
    MM_W8 = 1,
    MM_W4 = 2,
    MM_W4M = 3,
    MM_W5 = 4,
    MM_W5M = 5,
    MM_K4 = 6,
    MM_K5 = 7,
    MM_K6 = 8,
    MM_K3 = 9,
    MM_L4 = 10,
    MM_L4K = 11,
    MM_W8W = 12,
    MM_W8T = 13,
    MM_KIND_END = 14
} mm_kind;

static inline bool mm_has_4_bits(mm_kind kind) { /* not as numbers of levels */
    return kind == MM_W4 || kind == MM_W4M || kind == MM_K4;
}
static inline bool mm_has_5_bits(mm_kind kind) {
    return kind == MM_W5 || kind == MM_W5M || kind == MM_K5;
}
static inline bool mm_has_min(mm_kind kind) {
    return kind == MM_W4M || kind == MM_W5M || kind == MM_K4 || kind == MM_K5;
}
/* A scale for each 16 channels. */
static inline bool mm_has_halves(mm_kind kind) {
    return kind == MM_K6 || kind == MM_K3;
}
/* Codes are numbers of levels. */
static inline bool mm_has_levels(mm_kind kind) {
    return kind == MM_L4 || kind == MM_L4K;
}
/* A scale for each MM_WIDE channels, of weights and activations. */
static inline bool mm_is_wide(mm_kind kind) {
    return kind == MM_W8W || kind == MM_W8T;
}
/* Weights of 8 bits, before their scale. */
static inline bool mm_has_8_bits(mm_kind kind) {
    return kind == MM_W8 || mm_is_wide(kind) || mm_has_levels(kind);
}
/* Scales and minima of a group that are bytes, in units of a float for each MM_SUPER channels. */
static inline int mm_in_units(mm_kind kind) {
    return kind == MM_L4K ? 1 : kind == MM_K4 || kind == MM_K5 || mm_has_halves(kind) ? 2 : 0;
}
static inline bool mm_has_units(mm_kind kind) {
    return mm_in_units(kind) > 0;
}
/* Codes of 32 channels of a panel (integer kinds). */
static inline size_t mm_group_bytes(mm_kind kind) {
    return kind == MM_W8 || mm_is_wide(kind) ? 512
           : kind == MM_K6                   ? 384
           : mm_has_5_bits(kind)             ? 320
           : kind == MM_K3                   ? 192
                                             : 256;
}
/* Where the minima (W4M, W5M), the units of the scales and those of the minima (K4, K5) of a panel
 * of so many groups begin, in bytes behind the scales. */
static inline size_t mm_minima(size_t groups) {
    return groups * MM_PANEL * sizeof(uint16_t);
}
static inline size_t mm_units(mm_kind kind, size_t groups) {
    return groups * (size_t)mm_in_units(kind) * MM_PANEL;
}
static inline size_t mm_min_units(mm_kind kind, size_t groups) {
    return mm_units(kind, groups) + groups / (MM_SUPER / MM_GROUP) * MM_PANEL * sizeof(uint16_t);
}

typedef struct mm_weights {
    mm_kind kind;
    int n, k;     /* true sizes */
    int k_padded; /* k for MM_F32 */
    int n_panels;
    size_t panel_bytes;  /* a multiple of 64 */
    size_t scale_offset; /* of the scales inside a panel; the minima follow them */
    bool owned;          /* data, by this struct; else by the fo_huge it was taken from */
    unsigned char *data; /* 64-byte aligned */
} mm_weights;

/* Rows of activations. The F32 kind reads x, the integer kinds the rest. */
typedef struct mm_input {
    const float *x;
    size_t x_stride;             /* floats from row to row */
    const int8_t *q;             /* [m][k_padded] in [-127, 127] */
    const float *scale, *wsum;   /* [m][k_padded / 32]: scale, and scale times the group's sum */
    const int32_t *sum;          /* the group's sum of q */
    const int32_t *halves;       /* K3, K6: [m][k_padded / 16], -32 times the sum of 16 codes */
    const int32_t *compensation; /* 8 bits, with int16_sums: [m][k_padded / 8] of quantize */
    size_t q_stride;             /* elements from row to row */
    size_t g_stride;             /* the same; of halves 2, of compensation 4 g_stride */
    bool add;                    /* add to what out holds: the second term of a finer rounding */
    const int *groups; /* NULL: all, as always with wide kinds; else the groups of channels
                                  * to sum over, ascending */
    int n_groups;
} mm_input;

/* Rows [row0, row1) of the input times panels [panel0, panel1): writes out[row * stride + column]
 * for 16 columns a panel, the padding included. */
typedef void mm_run_fn(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                       int panel1, float *out, size_t out_stride);

typedef struct mm_kernels {
    mm_run_fn *run[MM_KIND_END];
    int panels;      /* panels that a tile takes together: ranges of a multiple of it run best */
    bool int16_sums; /* weights of 8 bits add up in 16: rows for them must be rounded for that */
    mm_kind wide;    /* the wide kind that they gain by; MM_F32: none */
} mm_kernels;

/* How a tensor of this type is kept: MM_F32 when exact, else the nearest integer kind. */
mm_kind mm_kind_for(quant_type type, bool fast);

/* Bytes that n x k weights take; false where that overflows. */
bool mm_weights_bytes(mm_kind kind, int n, int k, size_t *bytes);

/* Memory for them (uninitialised), out of `from` where that is not NULL. FO_EINVAL, FO_ENOMEM. */
int mm_weights_init(mm_weights *w, mm_kind kind, int n, int k, fo_huge *from, fo_err *err);
void mm_weights_deinit(mm_weights *w); /* zeroed is fine */

/* Fill panels [panel0, panel1) from the tensor whose row 0 is at `rows`. scratch[k_padded] floats.
 * columns: what weights that are rounded are multiplied with before, or NULL; others must have
 * none. Several threads may pack different panels. Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q3_K to Q6_K,
 * IQ4_NL and IQ4_XS are kept exactly in their integer kinds; the others are rounded to 8 bits, as
 * all that wide kinds take. */
void mm_weights_pack(mm_weights *w, int panel0, int panel1, quant_type type, const void *rows,
                     size_t row_bytes, const float *columns, float *scratch);

/* The weight at [row][channel] as the kernels see it, so of wide kinds one of a rotated row; for
 * tests. */
float mm_weights_at(const mm_weights *w, int row, int channel);

/* The best this machine has. */
const mm_kernels *mm_get(void);

/* Tables by name for tests: "generic", "avx2", "avxvnni", "avx512", "amx"; NULL where the machine
 * (or the cap) lacks it or there is no such name. */
const mm_kernels *mm_get_named(const char *name);

extern const mm_kernels mm_generic, mm_avx2, mm_avxvnni, mm_avx512, mm_amx;

#endif
