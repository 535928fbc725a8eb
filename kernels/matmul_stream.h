/* matmul_stream.h - products of a wide kind with many rows, where a multiplication adds up octets
 * in 16 bits (matmul_impl.h, MM_INT16_SUMS): the codes of 16 channels of a panel stay in registers
 * while rows pass by, a row's sums wait in the first cache. A tile of rows that keeps its sums in
 * registers instead loads each code again for every few rows; with so little left to compute, the
 * loads and what does not fit the registers take a fifth of its time. The sums are the tiles'. */
#ifndef FORAGE_KERNELS_MATMUL_STREAM_H
#define FORAGE_KERNELS_MATMUL_STREAM_H

#include "kernels/matmul_codes.h"

/* From so many rows on, and so many at a time: what they read and their sums fill half a cache. */
enum { STREAM_FROM = 4, STREAM_ROWS = 48, STREAM_UNITS = MM_PANEL / MM_LANES };

/* Channels [at, at + 16) of a panel's group times those rows; first: of their scale. */
INLINE void stream_octets(const mm_kind kind, const unsigned char *codes, const int pair,
                          const int8_t *q, size_t q_stride, const int32_t *comp, size_t comp_stride,
                          int rows, iacc (*sums)[STREAM_UNITS], const bool first) {
    iw w[STREAM_UNITS][4];
    UNROLL for (int u = 0; u < STREAM_UNITS; u++) {
        load_pair(kind, codes + u * MM_LANES * 4, 2 * pair, &w[u][0], &w[u][1]);
        load_pair(kind, codes + u * MM_LANES * 4, 2 * pair + 1, &w[u][2], &w[u][3]);
        UNROLL for (int i = 0; i < 4; i++) KEEP_ORDER(w[u][i]); /* not loaded for each row */
    }
    _Pragma("GCC unroll 2") for (int r = 0; r < rows; r++) {
        UNROLL for (int u = 0; u < STREAM_UNITS; u++) {
            iacc sum = first ? iacc_start8(0) : sums[r][u];
            sums[r][u] = iacc_octets8(sum, w[u], q, *comp);
        }
        q += q_stride;
        comp += comp_stride;
    }
}

/* Rows [row, row + rows) against a panel, groups [begin, end), of whole scales. */
INLINE void stream_rows(const mm_kind kind, const mm_weights *w, const unsigned char *panel,
                        const mm_input *in, int row, int rows, float *out, size_t out_stride,
                        int begin, int end, const bool fetch) {
    const size_t group_bytes = mm_group_bytes(kind), comp_stride = in->g_stride * 4;
    iacc sums[STREAM_ROWS][STREAM_UNITS];
    vf acc[STREAM_ROWS][STREAM_UNITS];
    for (int r = 0; r < rows; r++) {
        UNROLL for (int u = 0; u < STREAM_UNITS; u++) acc[r][u] =
            begin ? vf_load(out + (size_t)r * out_stride + (size_t)u * MM_LANES) : vf_zero();
    }
    for (int g = begin; g < end; g++) {
        const unsigned char *codes = panel + (size_t)g * group_bytes;
        const int8_t *q = in->q + (size_t)row * in->q_stride + (size_t)g * MM_GROUP;
        const int32_t *comp = in->compensation + (size_t)row * comp_stride + (size_t)g * 4;
        if (fetch) {
            for (size_t i = 0; i < group_bytes; i += 64) FETCH(codes + FETCH_BYTES + i);
        }
        if (g % MM_WIDE_GROUPS == 0)
            stream_octets(kind, codes, 0, q, in->q_stride, comp, comp_stride, rows, sums, true);
        else
            stream_octets(kind, codes, 0, q, in->q_stride, comp, comp_stride, rows, sums, false);
        stream_octets(kind, codes, 1, q + 16, in->q_stride, comp + 1, comp_stride, rows, sums,
                      false);
        if ((g + 1) % MM_WIDE_GROUPS != 0 && g + 1 < w->k_padded / MM_GROUP) continue;
        vf scales[STREAM_UNITS][2];
        UNROLL for (int u = 0; u < STREAM_UNITS; u++) load_scales(
            kind, panel + w->scale_offset, 0, (size_t)g, (size_t)u * MM_LANES, scales[u]);
        const float *scale = in->scale + (size_t)row * in->g_stride + (size_t)g;
        for (int r = 0; r < rows; r++, scale += in->g_stride) {
            UNROLL for (int u = 0; u < STREAM_UNITS; u++) acc[r][u] =
                vf_fused(vf_mul(iacc_end8(sums[r][u]), scales[u][0]), vf_set(*scale), acc[r][u]);
        }
    }
    for (int r = 0; r < rows; r++) {
        UNROLL for (int u = 0; u < STREAM_UNITS; u++) {
            float *o = out + (size_t)r * out_stride + (size_t)u * MM_LANES;
            vf_store(o, in->add ? vf_add(vf_load(o), acc[r][u]) : acc[r][u]);
        }
    }
}

/* What matmul_impl.h's strip does, of one panel. */
INLINE void stream(const mm_kind kind, const mm_weights *w, const unsigned char *panel,
                   const mm_input *in, int row, int row1, float *out, size_t out_stride, int begin,
                   int end, const bool fetch) {
    const int blocks = (row1 - row + STREAM_ROWS - 1) / STREAM_ROWS;
    const int step = (row1 - row + blocks - 1) / blocks;
    bool first = fetch;
    for (; row < row1; row += step, first = false)
        stream_rows(kind, w, panel, in, row, row1 - row < step ? row1 - row : step,
                    out + (size_t)row * out_stride, out_stride, begin, end, first);
}

#endif
