/* matmul_impl.h - the tiles of matmul, shared by the ISA files. The including file defines
 *   MM_TABLE, MM_PANELS (panels a tile takes), MM_ROWS_F32 and MM_ROWS_INT (rows a tile takes, 12,
 * 8, 6, 4 or 2, and smaller ones below), and the integer primitives: iw 16 outputs x 4 channels of
 * weights, ready to multiply iacc                                 16 sums of a group of 32 channels
 *   iw_load8(p), iw_load4(p, &lo, &hi)   64 bytes of W8; 64 bytes of W4 as two
 *   iacc_start8(sum), iacc_start4(zero)  the sums' start: W8 bytes carry + 128
 *   iacc_dot8/4(acc, w, x)               x: 4 activations in an int
 *   iacc_end8/4(acc)                     as floats
 *   v16_from_f16(p), v16_fused(a, b, c)  a b + c rounded once, at every level */
#include "kernels/matmul.h"
#include "kernels/simd16.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

enum { TILE_ROWS = 12 };

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

INLINE void tile_int(const mm_kind kind, const mm_weights *w, const unsigned char *panel,
                     const mm_input *in, int row, float *out, size_t out_stride, const int rows,
                     const int panels) {
    const int groups = w->k_padded / MM_GROUP;
    const int8_t *q = in->q + (size_t)row * in->q_stride;
    const float *scale = in->scale + (size_t)row * in->g_stride;
    const float *wsum = in->wsum + (size_t)row * in->g_stride;
    const int32_t *sum = in->sum + (size_t)row * in->g_stride;
    const size_t group_bytes = kind == MM_W8 ? 512 : 256;
    v16 acc[TILE_ROWS][MM_PANELS];
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int p = 0; p < panels; p++) acc[r][p] = v16_zero();
    }
    for (int g = 0; g < groups; g++) {
        iacc t[TILE_ROWS][MM_PANELS];
        UNROLL for (int r = 0; r < rows; r++) {
            UNROLL for (int p = 0; p < panels; p++) {
                int s = sum[(size_t)r * in->g_stride + (size_t)g];
                t[r][p] = kind == MM_W8 ? iacc_start8(s) : iacc_start4(kind == MM_W4 ? s : 0);
            }
        }
        if (kind == MM_W8) {
            UNROLL for (int i = 0; i < 8; i++) {
                iw b[MM_PANELS];
                UNROLL for (int p = 0; p < panels; p++) b[p] = iw_load8(
                    panel + (size_t)p * w->panel_bytes + (size_t)g * group_bytes + (size_t)i * 64);
                UNROLL for (int r = 0; r < rows; r++) {
                    int x = load_i32(q + (size_t)r * in->q_stride + (size_t)(g * 32 + i * 4));
                    UNROLL for (int p = 0; p < panels; p++) t[r][p] = iacc_dot8(t[r][p], b[p], x);
                }
            }
        } else {
            UNROLL for (int i = 0; i < 4; i++) {
                iw lo[MM_PANELS], hi[MM_PANELS];
                UNROLL for (int p = 0; p < panels; p++) iw_load4(
                    panel + (size_t)p * w->panel_bytes + (size_t)g * group_bytes + (size_t)i * 64,
                    &lo[p], &hi[p]);
                UNROLL for (int r = 0; r < rows; r++) {
                    const int8_t *at = q + (size_t)r * in->q_stride + (size_t)(g * 32 + i * 4);
                    int x0 = load_i32(at), x1 = load_i32(at + 16);
                    UNROLL for (int p = 0; p < panels; p++) t[r][p] =
                        iacc_dot4(iacc_dot4(t[r][p], lo[p], x0), hi[p], x1);
                }
            }
        }
        UNROLL for (int p = 0; p < panels; p++) {
            const uint16_t *scales =
                (const uint16_t *)(const void *)(panel + (size_t)p * w->panel_bytes +
                                                 w->scale_offset) +
                (size_t)g * MM_PANEL;
            v16 ws = v16_from_f16(scales);
            v16 wm = kind == MM_W4M ? v16_from_f16(scales + (size_t)groups * MM_PANEL) : v16_zero();
            UNROLL for (int r = 0; r < rows; r++) {
                size_t at = (size_t)r * in->g_stride + (size_t)g;
                v16 f = kind == MM_W8 ? iacc_end8(t[r][p]) : iacc_end4(t[r][p], kind);
                acc[r][p] = v16_fused(v16_mul(f, ws), v16_set(scale[at]), acc[r][p]);
                if (kind == MM_W4M) acc[r][p] = v16_fused(wm, v16_set(wsum[at]), acc[r][p]);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int p = 0; p < panels; p++) {
            float *o = out + (size_t)r * out_stride + (size_t)p * MM_PANEL;
            v16_store(o, in->add ? v16_add(v16_load(o), acc[r][p]) : acc[r][p]);
        }
    }
}

#define TILE(rows)                                                                                 \
    for (; row1 - row >= (rows); row += (rows)) {                                                  \
        float *o = out + (size_t)row * out_stride + (size_t)panel * MM_PANEL;                      \
        if (kind == MM_F32)                                                                        \
            tile_f32(data, w->panel_bytes, in->x + (size_t)row * in->x_stride, in->x_stride, w->k, \
                     o, out_stride, rows, panels);                                                 \
        else                                                                                       \
            tile_int(kind, w, data, in, row, o, out_stride, rows, panels);                         \
    }

/* All rows against one tile's width of panels: their weights stay in the cache. */
INLINE void strip(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                  int panel, float *out, size_t out_stride, const int panels) {
    const unsigned char *data = w->data + (size_t)panel * w->panel_bytes;
    const int most = kind == MM_F32 ? MM_ROWS_F32 : MM_ROWS_INT;
    int row = row0;
    if (most >= 12) TILE(12)
    if (most >= 8) TILE(8)
    if (most >= 6) TILE(6)
    if (most >= 4) TILE(4)
    if (most >= 2) TILE(2)
    TILE(1)
}

INLINE void run(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                int panel0, int panel1, float *out, size_t out_stride) {
    int p = panel0;
    for (; p + MM_PANELS <= panel1; p += MM_PANELS)
        strip(kind, w, in, row0, row1, p, out, out_stride, MM_PANELS);
    if (MM_PANELS > 1)
        for (; p < panel1; p++) strip(kind, w, in, row0, row1, p, out, out_stride, 1);
}

#define RUN(name, kind)                                                                            \
    static void name(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,      \
                     int panel1, float *out, size_t out_stride) {                                  \
        run(kind, w, in, row0, row1, panel0, panel1, out, out_stride);                             \
    }
RUN(run_f32, MM_F32)
RUN(run_w8, MM_W8)
RUN(run_w4, MM_W4)
RUN(run_w4m, MM_W4M)

const mm_kernels MM_TABLE = {
    .run = {[MM_F32] = run_f32, [MM_W8] = run_w8, [MM_W4] = run_w4, [MM_W4M] = run_w4m},
    .panels = MM_PANELS,
};
