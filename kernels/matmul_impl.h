/* matmul_impl.h - the tiles of matmul, shared by the ISA files. The including file defines
 *   MM_TABLE       the table's name
 *   MM_PANELS      panels that a strip takes; MM_ROWS_F32: rows of a float tile (12, 6, 4, 2, 1)
 *   MM_LANES       outputs in an integer vector (8 or 16), MM_UNITS such vectors in a tile,
 *   MM_ROWS_INT    rows of it (6, 4, 3, 2, 1)
 *   MM_FEW_ROWS    up to so many rows in all, tiles of one vector are faster
 *   vf, vf_...     a vector of MM_LANES floats; vf_fused(a, b, c) = a b + c rounded once, always
 *   iw, iacc       weights of MM_LANES outputs x 4 channels; sums of a group of 32 channels
 *   iw_load8(p), iw_load4(p, &lo, &hi)    4 MM_LANES bytes of W8; of W4, as two
 *   iacc_start8(sum), iacc_start4(sum)    the sums' start, given the sum of the activations
 *   iacc_dot8/4(acc, w, x)                x: 4 activations in an int
 *   iacc_end8(acc), iacc_end4(acc, sum)   as floats; sum as for start4
 *   MM_QUADS, if W8 takes 8 activations at once: iacc_quad8(acc, w0, w1, x0, x1, quad)
 * The stored codes are above the weights by 128 (W8) or 8 (W4): start or end takes that off. */
#include "kernels/matmul.h"
#include "kernels/simd16.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* A pointer that gcc is not to compute anew at each use. */
#define HOLD(p) __asm__("" : "+r"(p))

/* With many rows: so many of them against all panels before the next ones, so that they stay in
 * the second cache, and so many groups of them at a time, so that a panel's stay in the first. */
enum { TILE_ROWS = 12, BLOCK_ROWS = 256, BLOCK_GROUPS = 32 };

INLINE void tile_f32(const unsigned char *panel, size_t panel_bytes, const float *x,
                     size_t x_stride, int k, float *out, size_t out_stride, const int rows,
                     const int panels) {
    v16 acc[TILE_ROWS][MM_PANELS];
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int p = 0; p < panels; p++) acc[r][p] = v16_zero();
    }
    for (int i = 0; i < k; i++) {
        v16 w[MM_PANELS];
        UNROLL for (int p = 0; p < panels; p++) w[p] = v16_load(
            (const float *)(const void *)(panel + (size_t)p * panel_bytes) + (size_t)i * MM_PANEL);
        UNROLL for (int r = 0; r < rows; r++) {
            v16 b = v16_set(x[(size_t)r * x_stride + (size_t)i]);
            UNROLL for (int p = 0; p < panels; p++) acc[r][p] = v16_fma(b, w[p], acc[r][p]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int p = 0; p < panels; p++)
            v16_store(out + (size_t)r * out_stride + (size_t)p * MM_PANEL, acc[r][p]);
    }
}

INLINE int load_i32(const int8_t *p) {
    int v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* `units` neighbouring vectors of MM_LANES outputs, from vector number `first` of the panel on,
 * over the groups [begin, end) (of the list, where there is one), going on with the sums in out.
 * next: NULL, or the panels to fetch meanwhile. With few rows, memory is the limit, and only the
 * first of several passes over a panel would wait for it. */
INLINE void tile_int(const mm_kind kind, const mm_weights *w, const unsigned char *panel,
                     const int first, const mm_input *in, int row, float *out, size_t out_stride,
                     const int rows, const int units, const unsigned char *next, const int begin,
                     const int end) {
    const int groups = w->k_padded / MM_GROUP;
    const int8_t *q = in->q + (size_t)row * in->q_stride;
    const float *scale = in->scale + (size_t)row * in->g_stride;
    const float *wsum = in->wsum + (size_t)row * in->g_stride;
    const int32_t *sum = in->sum + (size_t)row * in->g_stride;
#ifdef MM_QUADS
    const int32_t *quads = in->quads + (size_t)row * in->g_stride * 4;
#endif
    const size_t group_bytes = kind == MM_W8 ? 512 : 256;
    const unsigned char *codes[MM_UNITS], *scales[MM_UNITS];
    vf acc[TILE_ROWS][MM_UNITS];
    UNROLL for (int u = 0; u < units; u++) {
        size_t at = (size_t)((first + u) * MM_LANES / MM_PANEL) * w->panel_bytes;
        size_t lane = (size_t)((first + u) * MM_LANES % MM_PANEL);
        codes[u] = panel + at + lane * 4;
        scales[u] = panel + at + w->scale_offset + lane * sizeof(uint16_t);
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int u = 0; u < units; u++) acc[r][u] =
            begin ? vf_load(out + (size_t)r * out_stride + (size_t)u * MM_LANES) : vf_zero();
    }
    for (int i_group = begin; i_group < end; i_group++) {
        const int g = in->groups ? in->groups[i_group] : i_group;
        if (next) { /* known while compiling */
            UNROLL for (int p = 0; p < MM_PANELS; p++) {
                const unsigned char *from = next + (size_t)p * w->panel_bytes;
                UNROLL for (size_t i = 0; i < group_bytes; i += 64)
                    __builtin_prefetch(from + (size_t)g * group_bytes + i);
                __builtin_prefetch(from + w->scale_offset + (size_t)g * 2 * MM_PANEL);
            }
        }
        iacc t[TILE_ROWS][MM_UNITS];
        UNROLL for (int r = 0; r < rows; r++) {
            int s = sum[(size_t)r * in->g_stride + (size_t)g];
            UNROLL for (int u = 0; u < units; u++) t[r][u] =
                kind == MM_W8 ? iacc_start8(s) : iacc_start4(kind == MM_W4 ? s : 0);
        }
#ifdef MM_QUADS
        if (kind == MM_W8) {
            const int8_t *x[TILE_ROWS];
            const int32_t *lift[TILE_ROWS];
            UNROLL for (int r = 0; r < rows; r++) {
                size_t at = (size_t)r * in->g_stride + (size_t)g;
                x[r] = q + (size_t)r * in->q_stride + (size_t)g * MM_GROUP;
                lift[r] = quads + at * 4;
                HOLD(x[r]);
                HOLD(lift[r]);
            }
            UNROLL for (int i = 0; i < 4; i++) {
                iw b0[MM_UNITS], b1[MM_UNITS];
                UNROLL for (int u = 0; u < units; u++) {
                    b0[u] = iw_load8(codes[u] + (size_t)g * group_bytes + (size_t)i * 128);
                    b1[u] = iw_load8(codes[u] + (size_t)g * group_bytes + (size_t)i * 128 + 64);
                }
                UNROLL for (int r = 0; r < rows; r++) {
                    int x0 = load_i32(x[r] + i * 8), x1 = load_i32(x[r] + i * 8 + 4);
                    UNROLL for (int u = 0; u < units; u++) t[r][u] =
                        iacc_quad8(t[r][u], b0[u], b1[u], x0, x1, lift[r][i]);
                }
            }
        } else
#else
        if (kind == MM_W8) {
            UNROLL for (int i = 0; i < 8; i++) {
                iw b[MM_UNITS];
                UNROLL for (int u = 0; u < units; u++) b[u] =
                    iw_load8(codes[u] + (size_t)g * group_bytes + (size_t)i * 64);
                UNROLL for (int r = 0; r < rows; r++) {
                    int x = load_i32(q + (size_t)r * in->q_stride + (size_t)(g * 32 + i * 4));
                    UNROLL for (int u = 0; u < units; u++) t[r][u] = iacc_dot8(t[r][u], b[u], x);
                }
            }
        } else
#endif
        {
            UNROLL for (int i = 0; i < 4; i++) {
                iw lo[MM_UNITS], hi[MM_UNITS];
                UNROLL for (int u = 0; u < units; u++)
                    iw_load4(codes[u] + (size_t)g * group_bytes + (size_t)i * 64, &lo[u], &hi[u]);
                UNROLL for (int r = 0; r < rows; r++) {
                    const int8_t *at = q + (size_t)r * in->q_stride + (size_t)(g * 32 + i * 4);
                    int x0 = load_i32(at), x1 = load_i32(at + 16);
                    UNROLL for (int u = 0; u < units; u++) t[r][u] =
                        iacc_dot4(iacc_dot4(t[r][u], lo[u], x0), hi[u], x1);
                }
            }
        }
        UNROLL for (int u = 0; u < units; u++) {
            const uint16_t *f16 = (const uint16_t *)(const void *)scales[u] + (size_t)g * MM_PANEL;
            vf ws = vf_from_f16(f16);
            vf wm = kind == MM_W4M ? vf_from_f16(f16 + (size_t)groups * MM_PANEL) : vf_zero();
            UNROLL for (int r = 0; r < rows; r++) {
                size_t at = (size_t)r * in->g_stride + (size_t)g;
                vf f = kind == MM_W8 ? iacc_end8(t[r][u])
                                     : iacc_end4(t[r][u], kind == MM_W4 ? sum[at] : 0);
                acc[r][u] = vf_fused(vf_mul(f, ws), vf_set(scale[at]), acc[r][u]);
                if (kind == MM_W4M) acc[r][u] = vf_fused(wm, vf_set(wsum[at]), acc[r][u]);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int u = 0; u < units; u++) {
            float *o = out + (size_t)r * out_stride + (size_t)u * MM_LANES;
            vf_store(o, in->add ? vf_add(vf_load(o), acc[r][u]) : acc[r][u]);
        }
    }
}

/* All rows from row0 on that make whole tiles of `rows`. */
#define TILES_F32(rows)                                                                            \
    for (; row1 - row >= (rows); row += (rows))                                                    \
        tile_f32(data, w->panel_bytes, in->x + (size_t)row * in->x_stride, in->x_stride, w->k,     \
                 out + (size_t)row * out_stride, out_stride, rows, panels);
#define TILES_INT(rows)                                                                            \
    for (; row1 - row >= (rows) + (next && row1 - row == (rows)); row += (rows))                   \
        tile_int(kind, w, data, first, in, row, out + (size_t)row * out_stride, out_stride, rows,  \
                 units, NULL, begin, end);                                                         \
    if (next && row1 - row == (rows)) {                                                            \
        tile_int(kind, w, data, first, in, row, out + (size_t)row * out_stride, out_stride, rows,  \
                 units, next, begin, end);                                                         \
        return;                                                                                    \
    }

INLINE void rows_f32(const mm_weights *w, const unsigned char *data, const mm_input *in, int row,
                     int row1, float *out, size_t out_stride, const int panels) {
    if (MM_ROWS_F32 >= 12) TILES_F32(12)
    if (MM_ROWS_F32 >= 6) TILES_F32(6)
    if (MM_ROWS_F32 >= 4) TILES_F32(4)
    if (MM_ROWS_F32 >= 2) TILES_F32(2)
    TILES_F32(1)
}

INLINE void rows_int(const mm_kind kind, const mm_weights *w, const unsigned char *data,
                     const int first, const mm_input *in, int row, int row1, float *out,
                     size_t out_stride, const int units, const unsigned char *next, int begin,
                     int end) {
    if (MM_ROWS_INT >= 6) {
        TILES_INT(6)
    }
    if (MM_ROWS_INT >= 4) {
        TILES_INT(4)
    }
    if (MM_ROWS_INT >= 3) {
        TILES_INT(3)
    }
    if (MM_ROWS_INT >= 2) {
        TILES_INT(2)
    }
    TILES_INT(1)
}

/* All rows against `panels` panels, in passes of `units` vectors: their weights stay in the cache.
 * fetch: while the last pass runs, memory has nothing to do but to bring the next panels. */
INLINE void strip(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                  int panel, float *out, size_t out_stride, const int panels, const int units,
                  const bool fetch, int begin, int end) {
    const unsigned char *data = w->data + (size_t)panel * w->panel_bytes;
    const unsigned char *next = fetch ? data + (size_t)panels * w->panel_bytes : NULL;
    const int vectors = panels * MM_PANEL / MM_LANES;
    out += (size_t)panel * MM_PANEL;
    if (kind == MM_F32) {
        rows_f32(w, data, in, row0, row1, out, out_stride, panels);
        return;
    }
    UNROLL for (int u = 0; u < vectors; u += units)
        rows_int(kind, w, data, u, in, row0, row1, out + u * MM_LANES, out_stride, units,
                 u + units == vectors ? next : NULL, begin, end);
}

INLINE void run_block(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0,
                      int row1, int panel0, int panel1, float *out, size_t out_stride,
                      const int units, const bool fetch, int begin, int end) {
    int p = panel0;
    if (fetch) /* beyond panel1 too: whoever goes on there, it is in the shared cache */
        for (; p + MM_PANELS <= panel1 && p + 2 * MM_PANELS <= w->n_panels; p += MM_PANELS)
            strip(kind, w, in, row0, row1, p, out, out_stride, MM_PANELS, units, true, begin, end);
    for (; p + MM_PANELS <= panel1; p += MM_PANELS)
        strip(kind, w, in, row0, row1, p, out, out_stride, MM_PANELS, units, false, begin, end);
    const int all = MM_PANEL / MM_LANES;
    if (MM_PANELS > 1)
        for (; p < panel1; p++)
            strip(kind, w, in, row0, row1, p, out, out_stride, 1, all < units ? all : units, false,
                  begin, end);
}

/* Sums in ascending order whether they pause in out or not: blocks do not change a bit. Where out
 * holds a first term, they cannot. */
INLINE void run(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                int panel0, int panel1, float *out, size_t out_stride, const int units,
                const bool fetch) {
    const bool whole = kind == MM_F32 || fetch;
    const int groups = kind == MM_F32 ? 1 : in->groups ? in->n_groups : w->k_padded / MM_GROUP;
    const int rows = whole ? row1 - row0 : BLOCK_ROWS;
    const int step = whole || in->add ? groups : BLOCK_GROUPS;
    for (int row = row0; row < row1; row += rows) {
        const int end = row1 - row < rows ? row1 : row + rows;
        int begin = 0;
        do { /* an empty list has its sums too: zeroes */
            int stop = groups - begin < step ? groups : begin + step;
            run_block(kind, w, in, row, end, panel0, panel1, out, out_stride, units, fetch, begin,
                      stop);
            begin = stop;
        } while (begin < groups);
    }
}

/* Functions of their own: gcc makes better code of each alone. */
#define RUN_AS(name, kind, units, fetch)                                                           \
    __attribute__((noinline)) static void name(const mm_weights *w, const mm_input *in, int row0,  \
                                               int row1, int panel0, int panel1, float *out,       \
                                               size_t out_stride) {                                \
        run(kind, w, in, row0, row1, panel0, panel1, out, out_stride, units, fetch);               \
    }
/* Several passes over few rows are memory's business as well. */
#define RUN(name, kind)                                                                            \
    RUN_AS(name##_many, kind, MM_UNITS, false)                                                     \
    RUN_AS(name##_some, kind, MM_UNITS, true)                                                      \
    RUN_AS(name##_few, kind, 1, true)                                                              \
    static void name(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,      \
                     int panel1, float *out, size_t out_stride) {                                  \
        const int rows = row1 - row0;                                                              \
        const bool passes = rows > MM_ROWS_INT || MM_UNITS * MM_LANES < MM_PANEL;                  \
        (rows <= MM_FEW_ROWS ? name##_few                                                          \
         : passes && rows <= 3 * MM_ROWS_INT                                                       \
             ? name##_some                                                                         \
             : name##_many)(w, in, row0, row1, panel0, panel1, out, out_stride);                   \
    }
RUN_AS(run_f32, MM_F32, MM_UNITS, false)
RUN(run_w8, MM_W8)
RUN(run_w4, MM_W4)
RUN(run_w4m, MM_W4M)

const mm_kernels MM_TABLE = {
    .run = {[MM_F32] = run_f32, [MM_W8] = run_w8, [MM_W4] = run_w4, [MM_W4M] = run_w4m},
    .panels = MM_PANELS,
#ifdef MM_QUADS
    .quads = true,
#endif
};
