/* matmul_amx.c - AMX: a tile product of 16 rows x 16 outputs x up to 64 channels an instruction.
 *
 * The panels' layout of 4 channels x 16 outputs is what the instruction takes; its codes are
 * unpacked to signed bytes once for a pair of panels and up to ROWS rows (TDPBSSD; the codes as
 * they are would need a correction for each sum). A group's sums of 32 products are integers, so
 * exact, and go through the same two float operations as at every other level, in the same order:
 * the results are the same bits as those of matmul_avx512.c, which takes what tiles do not pay for,
 * fewer than AMX_ROWS rows and the last rows that fill no tile.
 *
 *     rows in chunks (their activations stay in the level 2 cache)
 *       panels in pairs
 *         channels in chunks of GROUPS groups: unpack [pair][GROUPS][8][64]
 *           blocks of 32 rows: 2 x 2 tiles
 *             batches of BATCH groups: products into one buffer of sums, while the sums of the
 *             batch before are scaled and added from the other
 *
 * W8T is what tiles like: its codes are the tiles, where they lie, at their full depth, and sums of
 * two products, 128 channels, are scaled together. Its batch is one scale's channels.
 *
 * What bounds the others: the layouts keep a scale for each 32 channels, so a tile is used to half
 * its depth, 16 cycles for 8,192 products instead of 16,384, and its sums are scaled by 3 vector
 * operations for each of 16 rows, 24 cycles on two ports and more with all that is around them. In
 * K3 and K6 a part that has its own scale is half a group: a quarter of the depth.
 * Counts and what was measured: docs/measurements/amx.md. */
#include "kernels/matmul_512.h"
#include "kernels/matmul_codes.h"
#include "kernels/tile_amx.h"

enum {
    AMX_ROWS = 32, /* with fewer, reading the weights binds, which matmul_avx512.c does better */
    TILE = 16,     /* rows, and outputs, of a tile of sums */
    SUMS = 256,    /* sums in it */
    BLOCK = 2,     /* tiles of a block in each direction */
    ROWS = 256,    /* of a chunk at most */
    GROUPS = 64,   /* of a chunk of channels; halves of groups in K3, K6 */
    GROUP_BYTES = 512, /* of 32 channels x 16 outputs as signed bytes */
    BATCH = 3,       /* groups; two buffers of 4 KiB each fit in the first cache beside the rest */
    WIDE_SCALES = 4, /* of a chunk of W8T: 16 KiB of a pair of panels stay in the first cache */
    DEPTH_BYTES = 2 * GROUP_BYTES, /* a tile of W8T */
    L2_BYTES = 1 << 20, /* activations that may stay there: half of Sapphire Rapids' 2 MiB */
};

/* 0-3: sums, by rows then panels; 4, 5: activations; 6, 7: weights. For groups of 32 channels and
 * for halves of them. */
static const tile_config whole_groups = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 32, 32, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 8, 8},
};
static const tile_config half_groups = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 16, 16, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 4, 4},
};

static const tile_config whole_tiles = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

/* Groups of a batch; of halves, whole groups; of W8T, scales. */
INLINE int batch_of(const mm_kind kind) {
    return mm_is_wide(kind) ? 1 : mm_has_halves(kind) ? BATCH / 2 * 2 : BATCH;
}

/* Parts that a group falls into, each with a scale. */
INLINE int parts_of(const mm_kind kind) {
    return mm_has_halves(kind) ? 2 : 1;
}

/* A pair of panels over a chunk of channels. */
typedef struct weights_chunk {
    int8_t q[BLOCK][GROUPS][GROUP_BYTES];
    float scale[BLOCK][GROUPS][MM_PANEL], min[BLOCK][GROUPS][MM_PANEL];
    int number[GROUPS]; /* of the groups of channels that these are, or of their halves; in W8T of
                         * the first group under each scale */
    int n;
    /* W8T: the panels' own codes take the place of q, so many tiles of them under a scale */
    const unsigned char *panel[BLOCK];
    int depth[WIDE_SCALES];
} weights_chunk;

typedef struct totals {
    float t[ROWS / TILE][BLOCK][SUMS];
} totals;

/* The scales of a block's rows over a chunk of channels, group by group: side by side, so that
 * sixteen broadcasts need one address. */
typedef struct rows_chunk {
    float scale[GROUPS][BLOCK * TILE], wsum[GROUPS][BLOCK * TILE];
} rows_chunk;

/* Sums of a block over some groups that wait to be scaled and added. */
typedef struct batch {
    int32_t (*sums)[BLOCK * BLOCK][SUMS]; /* [n] */
    const rows_chunk *rows;
    float (*total)[BLOCK][SUMS];
    int first, n, tiles; /* group of the chunk, groups, tiles of rows */
} batch;

/* A group as signed bytes, [k/4][16][4]; of halves, the second GROUP_BYTES behind the first. */
INLINE void unpack_group(const mm_kind kind, const unsigned char *from, int8_t *to) {
    const int zero = mm_has_8_bits(kind)   ? -128
                     : mm_has_min(kind)    ? 0
                     : kind == MM_K6       ? 32
                     : kind == MM_K3       ? 4
                     : mm_has_5_bits(kind) ? 16
                                           : 8;
    const __m512i off = _mm512_set1_epi8((char)zero);
    const bool next = mm_has_8_bits(kind); /* a pair's vectors are neighbours */
    const int second = next ? 64 : mm_has_halves(kind) ? GROUP_BYTES : GROUP_BYTES / 2;
    UNROLL for (int v = 0; v < 4; v++) {
        int8_t *at = to + (next ? 2 * v : v) * 64;
        iw lo, hi;
        load_pair(kind, from, v, &lo, &hi);
        _mm512_store_si512(at, _mm512_sub_epi8(lo, off));
        _mm512_store_si512(at + second, _mm512_sub_epi8(hi, off));
    }
}

/* Groups number begin .. of those that the input sums over. */
INLINE void unpack(const mm_kind kind, const mm_weights *w, const mm_input *in, int panel,
                   int begin, int end, weights_chunk *c, const int panels) {
    const size_t group_bytes = mm_group_bytes(kind), groups = (size_t)(w->k_padded / MM_GROUP);
    const int parts = parts_of(kind);
    c->n = (end - begin) * parts;
    for (int i = 0; i < c->n; i += parts) {
        const int g = in->groups ? in->groups[begin + i / parts] : begin + i / parts;
        for (int j = 0; j < parts; j++) c->number[i + j] = g * parts + j;
        UNROLL for (int p = 0; p < panels; p++) {
            const unsigned char *data = w->data + (size_t)(panel + p) * w->panel_bytes;
            v16 scales[2] = {v16_zero(), v16_zero()};
            unpack_group(kind, data + (size_t)g * group_bytes, c->q[p][i]);
            load_scales(kind, data + w->scale_offset, groups, (size_t)g, 0, scales);
            v16_store(c->scale[p][i], scales[0]);
            if (parts > 1) v16_store(c->scale[p][i + 1], scales[1]);
            if (mm_has_min(kind)) v16_store(c->min[p][i], scales[1]);
        }
    }
    tile_written();
}

/* W8T: the scales of groups [begin, end). */
INLINE void point(const mm_weights *w, int panel, int begin, int end, weights_chunk *c,
                  const int panels) {
    const int groups = w->k_padded / MM_GROUP;
    c->n = (end - begin + MM_WIDE_GROUPS - 1) / MM_WIDE_GROUPS;
    UNROLL for (int p = 0; p < panels; p++) c->panel[p] =
        w->data + (size_t)(panel + p) * w->panel_bytes;
    for (int i = 0; i < c->n; i++) {
        const int g = begin + i * MM_WIDE_GROUPS;
        c->number[i] = g;
        c->depth[i] = groups - g < MM_WIDE_GROUPS ? (groups - g) / 2 : MM_WIDE_GROUPS / 2;
        UNROLL for (int p = 0; p < panels; p++) {
            v16 scale[2];
            load_scales(MM_W8T, c->panel[p] + w->scale_offset, (size_t)groups, (size_t)g, 0, scale);
            v16_store(c->scale[p][i], scale[0]);
        }
    }
    tile_written();
}

/* A block's products with the tiles of weights at b, of which the first begins the sums and the
 * last ends them; q: the block's first row, at their first channel. */
INLINE void products(const void *const b[BLOCK], const int8_t *q, size_t q_stride,
                     int32_t (*sums)[SUMS], const bool first, const bool last, const int tiles,
                     const int panels) {
    tile_load(6, b[0], 64);
    if (panels > 1) tile_load(7, b[1], 64);
    tile_load(4, q, q_stride);
    if (tiles > 1) tile_load(5, q + TILE * q_stride, q_stride);
    if (first) {
        tile_zero(0);
        if (panels > 1) tile_zero(1);
        if (tiles > 1) tile_zero(2);
        if (tiles > 1 && panels > 1) tile_zero(3);
    }
    tile_dot_i8(0, 4, 6);
    if (panels > 1) tile_dot_i8(1, 4, 7);
    if (tiles > 1) tile_dot_i8(2, 5, 6);
    if (tiles > 1 && panels > 1) tile_dot_i8(3, 5, 7);
    if (!last) return;
    tile_store(0, sums[0], 64);
    if (panels > 1) tile_store(1, sums[1], 64);
    if (tiles > 1) tile_store(2, sums[2], 64);
    if (tiles > 1 && panels > 1) tile_store(3, sums[3], 64);
    tile_read();
}

/* Step number `step` of a batch's products: its group of that number; of W8T, the tile of that
 * number under its scale. q: the block's first row. */
INLINE void multiply_some(const mm_kind kind, const weights_chunk *c, const batch *b, int step,
                          const int8_t *q, size_t q_stride, int32_t (*sums)[BLOCK * BLOCK][SUMS],
                          const int panels) {
    const bool wide = mm_is_wide(kind);
    const int i = wide ? b->first : b->first + step, tile = wide ? step : 0;
    const size_t at = (size_t)c->number[i] * (size_t)(MM_GROUP / parts_of(kind));
    const void *weights[BLOCK];
    for (int p = 0; p < panels; p++)
        weights[p] = wide ? (const void *)(c->panel[p] + at * MM_PANEL + (size_t)tile * DEPTH_BYTES)
                          : (const void *)c->q[p][i];
    const bool first = !wide || tile == 0, last = !wide || tile + 1 == c->depth[i];
    q += at + (size_t)(tile * 2 * MM_GROUP);
    if (b->tiles > 1)
        products(weights, q, q_stride, sums[wide ? 0 : step], first, last, BLOCK, panels);
    else
        products(weights, q, q_stride, sums[wide ? 0 : step], first, last, 1, panels);
}

/* to[group][row] from a row's floats, for 16 rows. */
INLINE void transpose(const weights_chunk *c, const int parts, const float *from, size_t stride,
                      float (*to)[BLOCK * TILE], bool in_order) {
    int i = 0;
    for (; in_order && parts == 1 && i + 4 <= c->n; i += 4)
        for (int r = 0; r < TILE; r += 4) {
            const float *f = from + (size_t)r * stride + c->number[i];
            __m128 x0 = _mm_loadu_ps(f), x1 = _mm_loadu_ps(f + stride);
            __m128 x2 = _mm_loadu_ps(f + 2 * stride), x3 = _mm_loadu_ps(f + 3 * stride);
            _MM_TRANSPOSE4_PS(x0, x1, x2, x3);
            _mm_store_ps(to[i] + r, x0);
            _mm_store_ps(to[i + 1] + r, x1);
            _mm_store_ps(to[i + 2] + r, x2);
            _mm_store_ps(to[i + 3] + r, x3);
        }
    for (; i < c->n; i++)
        for (int r = 0; r < TILE; r++)
            to[i][r] = from[(size_t)r * stride + (size_t)(c->number[i] / parts)];
}

INLINE void transpose_rows(const mm_kind kind, const weights_chunk *c, const mm_input *in, int row,
                           int tiles, rows_chunk *rows) {
    for (int t = 0; t < tiles; t++) {
        const size_t at = (size_t)(row + t * TILE) * in->g_stride;
        float(*scale)[BLOCK * TILE] = (float(*)[BLOCK * TILE])(rows->scale[0] + t * TILE);
        float(*wsum)[BLOCK * TILE] = (float(*)[BLOCK * TILE])(rows->wsum[0] + t * TILE);
        transpose(c, parts_of(kind), in->scale + at, in->g_stride, scale,
                  !in->groups && !mm_is_wide(kind));
        if (mm_has_min(kind)) transpose(c, 1, in->wsum + at, in->g_stride, wsum, !in->groups);
    }
}

/* A batch into the running totals of tile number `slot` of the block. */
INLINE void add_scaled(const mm_kind kind, const weights_chunk *c, const batch *b, int slot) {
    const int tile = slot / BLOCK, panel = slot % BLOCK;
    float *total = b->total[tile][panel];
    v16 acc[TILE];
    UNROLL for (int r = 0; r < TILE; r++) acc[r] = v16_load(total + r * MM_PANEL);
    for (int i = 0; i < b->n; i += parts_of(kind)) {
        const int g = b->first + i;
        const int32_t *sums = b->sums[i][slot];
        const int32_t *lasts = mm_has_halves(kind) ? b->sums[i + 1][slot] : sums;
        const float *scale = b->rows->scale[g] + tile * TILE;
        const float *wsum = b->rows->wsum[g] + tile * TILE;
        /* Else gcc keeps an offset for each of the addresses in a register. */
        __asm__("" : "+r"(scale), "+r"(wsum), "+r"(sums));
        const v16 ws = v16_load(c->scale[panel][g]);
        const v16 wm = mm_has_min(kind) ? v16_load(c->min[panel][g]) : v16_zero();
        const v16 last = mm_has_halves(kind) ? v16_load(c->scale[panel][g + 1]) : v16_zero();
        UNROLL for (int r = 0; r < TILE; r++) {
            v16 f = _mm512_cvtepi32_ps(_mm512_load_si512(sums + r * MM_PANEL));
            f = v16_mul(f, ws);
            if (mm_has_halves(kind))
                f = v16_fma(_mm512_cvtepi32_ps(_mm512_load_si512(lasts + r * MM_PANEL)), last, f);
            acc[r] = v16_fma(f, v16_set(scale[r]), acc[r]);
            if (mm_has_min(kind)) acc[r] = v16_fma(wm, v16_set(wsum[r]), acc[r]);
        }
    }
    UNROLL for (int r = 0; r < TILE; r++) v16_store(total + r * MM_PANEL, acc[r]);
}

/* Part `step` of `steps` of the scaling of a batch. */
INLINE void add_some(const mm_kind kind, const weights_chunk *c, const batch *b, int step,
                     const int steps, const int panels) {
    const int begin = step * BLOCK * BLOCK / steps, end = (step + 1) * BLOCK * BLOCK / steps;
    for (int slot = begin; slot < end; slot++)
        if (slot / BLOCK < b->tiles && slot % BLOCK < panels) add_scaled(kind, c, b, slot);
}

/* All whole tiles of rows [row0, row1) over a chunk of channels. The products of one batch and the
 * scaling of the one before, of whichever block, run beside each other. */
INLINE void chunk(const mm_kind kind, const weights_chunk *c, const mm_input *in, int row0,
                  int row1, totals *total, const int panels) {
    _Alignas(64) int32_t sums[2][BATCH][BLOCK * BLOCK][SUMS];
    _Alignas(64) rows_chunk rows[2]; /* this block's and the one's before */
    batch before = {.n = 0};
    const int most = batch_of(kind);
    int which = 0, side = 0;
    for (int row = row0; row + TILE <= row1; row += BLOCK * TILE, side ^= 1) {
        batch now = {.rows = &rows[side],
                     .total = &total->t[(row - row0) / TILE],
                     .tiles = row1 - row >= BLOCK * TILE ? BLOCK : 1};
        transpose_rows(kind, c, in, row, now.tiles, &rows[side]);
        for (int first = 0; first < c->n; first += most, which ^= 1) {
            now.first = first;
            now.n = c->n - first < most ? c->n - first : most;
            now.sums = sums[which];
            const int steps = mm_is_wide(kind) ? c->depth[first] : most;
            for (int step = 0; step < steps; step++) {
                if (mm_is_wide(kind) || step < now.n)
                    multiply_some(kind, c, &now, step, in->q + (size_t)row * in->q_stride,
                                  in->q_stride, sums[which], panels);
                if (before.n) add_some(kind, c, &before, step, steps, panels);
            }
            before = now;
        }
    }
    if (before.n) add_some(kind, c, &before, 0, 1, panels);
}

/* One or two panels for a chunk of rows. */
INLINE void strip(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                  int panel, float *out, size_t out_stride, weights_chunk *c, totals *total,
                  const int panels) {
    const int n = in->groups ? in->n_groups : w->k_padded / MM_GROUP;
    const int tiled = (row1 - row0) / TILE * TILE;
    const bool add = in->add;
    memset(total, 0, (size_t)(tiled / TILE) * sizeof total->t[0]);
    const int step = mm_is_wide(kind) ? WIDE_SCALES * MM_WIDE_GROUPS : GROUPS / parts_of(kind);
    for (int g = 0; g < n; g += step) {
        const int end = g + step < n ? g + step : n;
        if (mm_is_wide(kind))
            point(w, panel, g, end, c, panels);
        else
            unpack(kind, w, in, panel, g, end, c, panels);
        chunk(kind, c, in, row0, row0 + tiled, total, panels);
    }
    for (int r = 0; r < tiled; r++) {
        float *o = out + (size_t)(row0 + r) * out_stride + (size_t)panel * MM_PANEL;
        UNROLL for (int p = 0; p < panels; p++) {
            v16 t = v16_load(total->t[r / TILE][p] + r % TILE * MM_PANEL);
            v16_store(o + p * MM_PANEL, add ? v16_add(v16_load(o + p * MM_PANEL), t) : t);
        }
    }
    if (row0 + tiled < row1)
        mm_avx512.run[kind](w, in, row0 + tiled, row1, panel, panel + panels, out, out_stride);
}

/* Rows of a chunk: as even as whole blocks can be, none larger than the caches like. */
static int chunk_rows(int rows, int k) {
    int most = L2_BYTES / k / (BLOCK * TILE) * (BLOCK * TILE);
    most = most > ROWS ? ROWS : most < 2 * BLOCK * TILE ? 2 * BLOCK * TILE : most;
    int n = (rows + most - 1) / most, each = (rows + n - 1) / n;
    return (each + BLOCK * TILE - 1) / (BLOCK * TILE) * (BLOCK * TILE);
}

/* out + row * stride is where a row's output lies, as for every kernel. */
#define RUN(name, kind)                                                                            \
    __attribute__((noinline)) static void name##_tiles(const mm_weights *w, const mm_input *in,    \
                                                       int row0, int row1, int panel0, int panel1, \
                                                       float *out, size_t out_stride) {            \
        _Alignas(64) weights_chunk c;                                                              \
        _Alignas(64) totals total;                                                                 \
        const int rows = chunk_rows(row1 - row0, w->k_padded);                                     \
        tile_configure(mm_is_wide(kind)      ? &whole_tiles                                        \
                       : mm_has_halves(kind) ? &half_groups                                        \
                                             : &whole_groups);                                     \
        for (int row = row0; row < row1; row += rows) {                                            \
            const int end = row1 - row < rows ? row1 : row + rows;                                 \
            int p = panel0;                                                                        \
            for (; p + BLOCK <= panel1; p += BLOCK)                                                \
                strip(kind, w, in, row, end, p, out, out_stride, &c, &total, BLOCK);               \
            if (p < panel1) strip(kind, w, in, row, end, p, out, out_stride, &c, &total, 1);       \
        }                                                                                          \
        tile_release();                                                                            \
    }                                                                                              \
    static void name(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,      \
                     int panel1, float *out, size_t out_stride) {                                  \
        (row1 - row0 < AMX_ROWS ? mm_avx512.run[kind] : name##_tiles)(w, in, row0, row1, panel0,   \
                                                                      panel1, out, out_stride);    \
    }
RUN(run_w8, MM_W8)
RUN(run_w4, MM_W4)
RUN(run_w4m, MM_W4M)
RUN(run_w5, MM_W5)
RUN(run_w5m, MM_W5M)
RUN(run_k4, MM_K4)
RUN(run_k5, MM_K5)
RUN(run_k6, MM_K6)
RUN(run_k3, MM_K3)
RUN(run_l4, MM_L4)
RUN(run_l4k, MM_L4K)
RUN(run_w8t, MM_W8T)

/* Only that a table has it: a machine with tiles keeps W8T. */
static void run_w8w(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                    int panel1, float *out, size_t out_stride) {
    mm_avx512.run[MM_W8W](w, in, row0, row1, panel0, panel1, out, out_stride);
}

static void run_f32(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                    int panel1, float *out, size_t out_stride) {
    mm_avx512.run[MM_F32](w, in, row0, row1, panel0, panel1, out, out_stride);
}

const mm_kernels mm_amx = {
    .run = MM_RUNS,
    .panels = BLOCK,
    .wide = MM_W8T,
};
