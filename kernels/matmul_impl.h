/* matmul_impl.h - the tiles of matmul, shared by the ISA files. The including file defines
 *   MM_TABLE       the table's name
 *   MM_PANELS      panels that a strip takes; MM_ROWS_F32: rows of a float tile (12, 6, 4, 2, 1)
 *   MM_LANES       outputs in an integer vector (8 or 16), MM_UNITS such vectors in a tile,
 *   MM_ROWS_INT    rows of it (6, 4, 3, 2, 1)
 *   MM_SOME_PLAIN(kind)     whether some rows too take codes that are unpacked first, as many do
 *   MM_WIDE_KIND            mm_kernels.wide
 *   MM_ACC_IN_MEMORY(kind)  whether gcc is to leave the floating sums there, not plain codes
 *   vf, vf_...     a vector of MM_LANES floats; vf_fused(a, b, c) = a b + c rounded once, always
 *   vf_from_f16/u8/i8(p)    MM_LANES numbers as floats
 *   iw, iacc       weights of MM_LANES outputs x 4 channels; sums of a group of 32 channels
 * and for the kinds, where W4 stands for W4M and K4 as well, W5 for W5M and K5, L4 for L4K:
 *   iw_load8(p), iw_load4(p, &lo, &hi)    4 MM_LANES bytes of W8; of W4, as two
 *   iw_store8(p, w)                       no memcpy, of which a hardened build makes a call
 *   iw_flip_sign(w)                       signed bytes of W8T to those of W8 and back
 *   iw_load5(p, high, i, &lo, &hi)        of W5: as W4 from p, fifth bits i and i + 4 of `high`
 *   iw_load6(p, high, i, half)            of K6: low or (half) high nibbles from p, two bits above
 *                                         them from 2i of `high`
 *   iw_load3(low, high, i, half)          of K3: two bits from 2i of `low`, above them bit i, or
 *                                         (half) i + 4, of `high`
 *   iw_load_levels(p, &lo, &hi)           of L4: levels + 128 of the low and the high nibbles
 *   iacc_start8/4/5(sum)                  the sums' start, given the sum of the activations
 *   iacc_start6(start)                    of K6 and K3, given -32 or -4 times that sum
 *   iacc_dot8/4(acc, w, x)                x: 4 activations in an int; dot4 for all but W8, L4
 *   iacc_end8(acc), iacc_end4/5(acc, sum) as floats; sum as for start; end8 for K6 and K3 too
 *   MM_INT16_SUMS, if W8 and L4 take 8 activations at once, by iacc_quads8(acc, w0, w1, x0, x1,
 *             comp), and wide kinds 16, by iacc_octets8(acc, w[4], x, comp), with KEEP_ORDER(v),
 *             which makes gcc compute v there
 *   MM_QUADS, if W5 takes 16, by dot4 from start4(0) on and iacc_widen5(acc, that sum), half a group
 *             of K3 likewise, and K6 8, by iacc_dot6(acc, w0, w1, x0, x1)
 * Codes are above the weights by 128 (W8, L4), 8 (W4), 16 (W5), 32 (K6) or 4 (K3): start or end
 * takes that off. */
#include <assert.h>

#include "kernels/matmul_codes.h"

/* A pointer that gcc is not to compute anew at each use. */
#define HOLD(p) __asm__("" : "+r"(p))

/* With many rows: so many of them against all panels before the next ones, so that they stay in
 * the second cache, and so many groups of them at a time, so that a panel's stay in the first. */
enum { TILE_ROWS = 12, BLOCK_ROWS = 256, BLOCK_GROUPS = 32 };

/* With up to SOME_ROWS rows memory is a limit: what comes FETCH_BYTES later is fetched, into the
 * second cache, which can wait for many more lines at a time than the first. Where several tiles
 * take the same weights, PIECE_BYTES of a panel at a time, which stay in a first cache. */
#define FETCH(address) __builtin_prefetch((const void *)(address), 0, 2)
enum {
    FETCH_BYTES = 32768,
    PIECE_BYTES = 15360,
    SOME_ROWS = 48,
    FEW_ROWS = MM_ROWS_INT < 3 ? MM_ROWS_INT : 3
};

#ifdef MM_INT16_SUMS
#include "kernels/matmul_stream.h"
#endif

/* Whether unpacked groups have their scales as floats; for 5 bits under f16 that does not pay. */
INLINE bool plain_has_scales(const mm_kind kind) {
    return kind != MM_W5 && kind != MM_W5M;
}

/* Codes lie as the tiles read them, but for a sign. */
INLINE bool has_plain_codes(const mm_kind kind) {
    return kind == MM_W8 || mm_is_wide(kind);
}

/* Minima, or scales of the other half, beside the scales. */
INLINE bool has_two_scales(const mm_kind kind) {
    return mm_has_min(kind) || mm_has_halves(kind);
}

/* The groups of a panel that a pass takes: codes as plain bytes, [k/4][16][4]; scales, and minima
 * or, in K3 and K6, those of the other half; L4 as W8. */
typedef struct plain_groups {
    unsigned char codes[BLOCK_GROUPS][MM_GROUP * MM_PANEL];
    float scales[BLOCK_GROUPS][2][MM_PANEL];
} plain_groups;

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

/* Group g of a panel of a kind that is not W8, as number i of `to`. */
INLINE void unpack_group(const mm_kind kind, const mm_weights *w, const unsigned char *panel, int g,
                         plain_groups *to, int i) {
    const unsigned char *from = panel + (size_t)g * mm_group_bytes(kind);
    unsigned char *codes = to->codes[i];
    UNROLL for (int lane = 0; lane < MM_PANEL; lane += MM_LANES) {
        UNROLL for (int v = 0; v < 4; v++) {
            const int at_lo = mm_has_8_bits(kind) ? 2 * v : v;
            const int at_hi = mm_has_8_bits(kind) ? 2 * v + 1 : v + 4;
            iw lo, hi;
            load_pair(kind, from + lane * 4, v, &lo, &hi);
            iw_store8(codes + at_lo * 64 + lane * 4, lo);
            iw_store8(codes + at_hi * 64 + lane * 4, hi);
        }
        if (!plain_has_scales(kind)) continue;
        vf scales[2] = {vf_zero(), vf_zero()};
        load_scales(kind, panel + w->scale_offset, (size_t)(w->k_padded / MM_GROUP), (size_t)g,
                    (size_t)lane, scales);
        vf_store(to->scales[i][0] + lane, scales[0]);
        if (has_two_scales(kind)) vf_store(to->scales[i][1] + lane, scales[1]);
    }
}

/* What a tile walks through. */
typedef struct walk {
    const unsigned char *panel;
    const plain_groups *plain; /* [MM_PANELS], or NULL: the panel's own codes */
    size_t next;               /* bytes from this strip's panels to those after them */
    int begin, end;            /* groups (of the list, where there is one) */
} walk;

/* Cache lines number part, part + parts, ... of what lies FETCH_BYTES behind group g; panels follow
 * each other, and something else the last one. */
INLINE void fetch_group(const mm_kind kind, const mm_weights *w, const walk *v, int g,
                        const int part, const int parts) {
    const size_t bytes = mm_group_bytes(kind), groups = (size_t)(w->k_padded / MM_GROUP);
    const int lines = (int)bytes / 64;
    UNROLL for (int p = 0; p < MM_PANELS; p++) {
        const uintptr_t from = (uintptr_t)v->panel + (size_t)p * w->panel_bytes + FETCH_BYTES;
        const size_t at = (size_t)g * 2 * MM_PANEL;
        const uintptr_t scales =
            from + w->scale_offset + (mm_is_wide(kind) ? at / MM_WIDE_GROUPS : at);
        UNROLL for (int i = part; i < lines; i += parts)
            FETCH(from + (size_t)g * bytes + (size_t)i * 64);
        if (part != 0) continue;
        FETCH(scales);
        if (mm_has_units(kind)) /* some 8 bytes a group, of units */
            FETCH(from + w->scale_offset + mm_units(kind, groups) + (size_t)g * 8);
        else if (mm_has_min(kind))
            FETCH(scales + mm_minima(groups));
    }
}

/* K3, K6: the sums of half a group of the rows whose codes for this group are at x. */
INLINE void half_sums(const mm_kind kind, const unsigned char *const codes[MM_UNITS], size_t at,
                      const bool plain, const int half, const int8_t *const x[TILE_ROWS],
                      const int32_t *const starts[TILE_ROWS], iacc t[TILE_ROWS][MM_UNITS],
                      const int rows, const int units) {
#ifdef MM_QUADS
    const bool narrow = kind == MM_K3; /* half a group adds up in 16 bits */
#else
    const bool narrow = false;
#endif
    UNROLL for (int r = 0; r < rows; r++) {
        const int32_t start = kind == MM_K3 ? starts[r][half] / 8 : starts[r][half];
        UNROLL for (int u = 0; u < units; u++) t[r][u] =
            narrow ? iacc_start4(0) : iacc_start6(start);
    }
    UNROLL for (int v = 0; v < 4; v += 2) {
        iw b[MM_UNITS][2];
        UNROLL for (int u = 0; u < units; u++) {
            UNROLL for (int j = 0; j < 2; j++) {
                const unsigned char *c = codes[u] + at;
                const int i = v + j;
                b[u][j] = plain ? iw_load8(c + half * 256 + i * 64)
                          : kind == MM_K3
                              ? iw_load3(iw_load8(c + half * 64), iw_load8(c + 128), i, half)
                              : iw_load6(c + i * 64, iw_load8(c + 256 + half * 64), i, half);
            }
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const int x0 = load_i32(x[r] + half * 16 + v * 4);
            const int x1 = load_i32(x[r] + half * 16 + v * 4 + 4);
#ifdef MM_QUADS
            UNROLL for (int u = 0; u < units; u++) t[r][u] =
                narrow ? iacc_dot4(iacc_dot4(t[r][u], b[u][0], x0), b[u][1], x1)
                       : iacc_dot6(t[r][u], b[u][0], b[u][1], x0, x1);
#else
            UNROLL for (int u = 0; u < units; u++) t[r][u] =
                iacc_dot4(iacc_dot4(t[r][u], b[u][0], x0), b[u][1], x1);
#endif
        }
    }
#ifdef MM_QUADS
    UNROLL for (int r = 0; narrow && r < rows; r++) {
        UNROLL for (int u = 0; u < units; u++) t[r][u] =
            iacc_widen5(iacc_start6(starts[r][half] / 8), t[r][u]);
    }
#endif
}

#ifdef MM_INT16_SUMS
/* Wide kinds: sixteen channels at a time. */
INLINE void wide_sums(const mm_kind kind, const unsigned char *const codes[MM_UNITS], size_t at,
                      const int8_t *const x[TILE_ROWS], const int32_t *const comp[TILE_ROWS],
                      iacc t[TILE_ROWS][MM_UNITS], const int rows, const int units) {
    UNROLL for (int i = 0; i < 2; i++) {
        iw b[MM_UNITS][4];
        UNROLL for (int u = 0; u < units; u++) {
            load_pair(kind, codes[u] + at, 2 * i, &b[u][0], &b[u][1]);
            load_pair(kind, codes[u] + at, 2 * i + 1, &b[u][2], &b[u][3]);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            UNROLL for (int u = 0; u < units; u++) t[r][u] =
                iacc_octets8(t[r][u], b[u], x[r] + i * 16, comp[r][i]);
        }
    }
}
#endif

#ifdef MM_QUADS
/* 5 bits: sixteen channels at a time, pair by pair of vectors for all rows and units, so that no more
 * than a pair of codes is held. */
INLINE void five_sums(const mm_kind kind, const unsigned char *const codes[MM_UNITS], size_t at,
                      const bool plain, const int8_t *const x[TILE_ROWS],
                      iacc t[TILE_ROWS][MM_UNITS], const int rows, const int units) {
    iacc s[TILE_ROWS][MM_UNITS];
    UNROLL for (int i = 0; i < 4; i++) {
        if (i % 2 == 0) {
            UNROLL for (int r = 0; r < rows; r++) {
                UNROLL for (int u = 0; u < units; u++) s[r][u] = iacc_start4(0);
            }
        }
        iw b[MM_UNITS][2];
        UNROLL for (int u = 0; u < units; u++) {
            const unsigned char *c = codes[u] + at + i * 64;
            if (plain)
                b[u][0] = iw_load8(c), b[u][1] = iw_load8(c + 256);
            else
                load_pair(kind, codes[u] + at, i, &b[u][0], &b[u][1]);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const int x0 = load_i32(x[r] + i * 4), x1 = load_i32(x[r] + i * 4 + 16);
            UNROLL for (int u = 0; u < units; u++) s[r][u] =
                iacc_dot4(iacc_dot4(s[r][u], b[u][0], x0), b[u][1], x1);
        }
        if (i % 2) {
            UNROLL for (int r = 0; r < rows; r++) {
                UNROLL for (int u = 0; u < units; u++) t[r][u] = iacc_widen5(t[r][u], s[r][u]);
            }
        }
    }
}
#endif

/* All but K3 and K6: the sums of group g of the rows whose codes for it are at x. compensation:
 * of the first row's group 0, g_stride groups of four from row to row. */
INLINE void group_sums(const mm_kind kind, const unsigned char *const codes[MM_UNITS], size_t at,
                       const bool plain, const int8_t *const x[TILE_ROWS],
                       const int32_t *compensation, size_t g_stride, int g,
                       iacc t[TILE_ROWS][MM_UNITS], const int rows, const int units) {
    const bool eight = mm_has_8_bits(kind);
#ifdef MM_QUADS
    if (mm_has_5_bits(kind)) {
        five_sums(kind, codes, at, plain, x, t, rows, units);
        return;
    }
#endif
#ifdef MM_INT16_SUMS
    const int32_t *comp[TILE_ROWS];
    UNROLL for (int r = 0; eight && r < rows; r++) {
        comp[r] = compensation + ((size_t)r * g_stride + (size_t)g) * 4;
        HOLD(comp[r]);
    }
    if (mm_is_wide(kind)) {
        wide_sums(kind, codes, at, x, comp, t, rows, units);
        return;
    }
#else
    (void)compensation, (void)g_stride, (void)g;
#endif
    /* Vectors of codes lie in pairs of channels that follow each other, or that are 16 apart. */
    const int step = eight ? 8 : 4, apart = eight ? 4 : 16;
    UNROLL for (int i = 0; i < 4; i++) {
        iw b0[MM_UNITS], b1[MM_UNITS];
        UNROLL for (int u = 0; u < units; u++) {
            const unsigned char *c = codes[u] + at + i * step * 16;
            if (plain)
                b0[u] = iw_load8(c), b1[u] = iw_load8(c + apart * 16);
            else
                load_pair(kind, codes[u] + at, i, &b0[u], &b1[u]);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            const int x0 = load_i32(x[r] + i * step), x1 = load_i32(x[r] + i * step + apart);
            UNROLL for (int u = 0; u < units; u++) {
                if (!eight)
                    t[r][u] = iacc_dot4(iacc_dot4(t[r][u], b0[u], x0), b1[u], x1);
                else
#ifdef MM_INT16_SUMS
                    t[r][u] = iacc_quads8(t[r][u], b0[u], b1[u], x0, x1, comp[r][i]);
#else
                    t[r][u] = iacc_dot8(iacc_dot8(t[r][u], b0[u], x0), b1[u], x1);
#endif
            }
        }
    }
}

/* Scales of unit u of a tile for the group at hand. */
#define TILE_SCALES(u)                                                                             \
    if (plain && plain_has_scales(kind)) {                                                         \
        const float *of = plain_scales[u] + i_code * 2 * MM_PANEL;                                 \
        ws[u][0] = vf_load(of);                                                                    \
        if (has_two_scales(kind)) ws[u][1] = vf_load(of + MM_PANEL);                               \
    } else                                                                                         \
        load_scales(kind, scales[u], (size_t)groups, (size_t)g, lanes[u], ws[u])

/* The groups from g on that share a scale with it. */
INLINE int scale_groups(const mm_kind kind, int g, int groups) {
    const int all = mm_is_wide(kind) ? MM_WIDE_GROUPS : 1;
    return groups - g < all ? groups - g : all;
}

/* `units` neighbouring vectors of MM_LANES outputs, from vector number `first` of the panel on,
 * going on with the sums in out. part, parts: of what comes next, fetched meanwhile; parts 0:
 * nothing. plain: the codes are unpacked. */
INLINE void tile_int(const mm_kind kind, const bool plain, const mm_weights *w, const walk *v,
                     const int first, const mm_input *in, int row, float *out, size_t out_stride,
                     const int rows, const int units, const int part, const int parts) {
    const int groups = w->k_padded / MM_GROUP;
    const int8_t *q = in->q + (size_t)row * in->q_stride;
    const float *scale = in->scale + (size_t)row * in->g_stride;
    const float *wsum = in->wsum + (size_t)row * in->g_stride;
    const int32_t *sum = in->sum + (size_t)row * in->g_stride;
    const int32_t *halves =
        mm_has_halves(kind) ? in->halves + (size_t)row * in->g_stride * 2 : NULL;
    const int32_t *compensation = in->compensation && mm_has_8_bits(kind)
                                      ? in->compensation + (size_t)row * in->g_stride * 4
                                      : NULL;
    const bool five = mm_has_5_bits(kind), centred = !mm_has_min(kind);
    const size_t group_bytes = plain ? MM_GROUP * MM_PANEL : mm_group_bytes(kind);
    const unsigned char *codes[MM_UNITS], *scales[MM_UNITS];
    const float *plain_scales[MM_UNITS];
    size_t lanes[MM_UNITS];
    vf acc[TILE_ROWS][MM_UNITS];
    UNROLL for (int u = 0; u < units; u++) {
        const int panel = (first + u) * MM_LANES / MM_PANEL;
        const unsigned char *data = v->panel + (size_t)panel * w->panel_bytes;
        lanes[u] = (size_t)((first + u) * MM_LANES % MM_PANEL);
        codes[u] = (plain ? v->plain[panel].codes[0] : data) + lanes[u] * 4;
        scales[u] = data + w->scale_offset;
        plain_scales[u] = plain ? v->plain[panel].scales[0][0] + lanes[u] : NULL;
    }
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int u = 0; u < units; u++) acc[r][u] =
            v->begin ? vf_load(out + (size_t)r * out_stride + (size_t)u * MM_LANES) : vf_zero();
    }
    iacc t[TILE_ROWS][MM_UNITS]; /* begun by the first group of a scale; gcc does not see that */
    if (mm_is_wide(kind)) {
        UNROLL for (int r = 0; r < rows; r++) {
            UNROLL for (int u = 0; u < units; u++) t[r][u] = iacc_start8(0);
        }
    }
    for (int i_group = v->begin; i_group < v->end; i_group++) {
        const int g = in->groups ? in->groups[i_group] : i_group;
        const size_t i_code = (size_t)(plain ? i_group - v->begin : g), at = i_code * group_bytes;
        if (parts) fetch_group(kind, w, v, g, part, parts);
        vf ws[MM_UNITS][2]; /* and minima, or of the other half */
        const int first_group = mm_is_wide(kind) ? g / MM_WIDE_GROUPS * MM_WIDE_GROUPS
                                                 : g; /* of those under one scale */
        const int8_t *x[TILE_ROWS];
        UNROLL for (int r = 0; r < rows; r++) {
            x[r] = q + (size_t)r * in->q_stride + (size_t)g * MM_GROUP;
            HOLD(x[r]);
        }
        if (mm_has_halves(kind)) {
            const int32_t *starts[TILE_ROWS];
            vf f[TILE_ROWS][MM_UNITS];
            UNROLL for (int r = 0; r < rows; r++) starts[r] =
                halves + ((size_t)r * in->g_stride + (size_t)g) * 2;
            UNROLL for (int u = 0; u < units; u++) TILE_SCALES(u);
            UNROLL for (int half = 0; half < 2; half++) {
                half_sums(kind, codes, at, plain, half, x, starts, t, rows, units);
                UNROLL for (int u = 0; u < units; u++) {
                    UNROLL for (int r = 0; r < rows; r++) f[r][u] =
                        half ? vf_fused(iacc_end8(t[r][u]), ws[u][1], f[r][u])
                             : vf_mul(iacc_end8(t[r][u]), ws[u][0]);
                }
            }
            UNROLL for (int r = 0; r < rows; r++) {
                const vf xs = vf_set(scale[(size_t)r * in->g_stride + (size_t)g]);
                UNROLL for (int u = 0; u < units; u++) acc[r][u] = vf_fused(f[r][u], xs, acc[r][u]);
            }
            continue;
        }
        if (g == first_group) {
            UNROLL for (int r = 0; r < rows; r++) {
                const int32_t *of = sum + (size_t)r * in->g_stride + (size_t)g;
                int s = of[0];
                for (int i = 1; i < scale_groups(kind, g, groups); i++) s += of[i];
                UNROLL for (int u = 0; u < units; u++) t[r][u] =
                    mm_has_8_bits(kind) ? iacc_start8(s)
                    : five              ? iacc_start5(centred ? s : 0)
                                        : iacc_start4(centred ? s : 0);
            }
        }
        group_sums(kind, codes, at, plain, x, compensation, in->g_stride, g, t, rows, units);
        if (g + 1 < first_group + scale_groups(kind, first_group, groups)) continue;
        UNROLL for (int u = 0; u < units; u++) TILE_SCALES(u);
        UNROLL for (int r = 0; r < rows; r++) {
            const size_t i = (size_t)r * in->g_stride + (size_t)first_group;
            const vf xs = vf_set(scale[i]), xw = mm_has_min(kind) ? vf_set(wsum[i]) : xs;
            UNROLL for (int u = 0; u < units; u++) {
                vf f = mm_has_8_bits(kind) ? iacc_end8(t[r][u])
                       : five              ? iacc_end5(t[r][u], centred ? sum[i] : 0)
                                           : iacc_end4(t[r][u], centred ? sum[i] : 0);
                acc[r][u] = vf_fused(vf_mul(f, ws[u][0]), xs, acc[r][u]);
                if (mm_has_min(kind)) acc[r][u] = vf_fused(ws[u][1], xw, acc[r][u]);
                if (plain && MM_ACC_IN_MEMORY(kind)) __asm__("" : "+m"(acc[r][u]));
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

/* With many rows: the next panels' codes of these groups, some with each tile. Left to
 * itself, a core waits for the first tile's. */
typedef struct ahead {
    uintptr_t from[MM_PANELS]; /* behind the last panel something else is fetched */
    size_t at, end, step;      /* bytes */
} ahead;

INLINE ahead plan_ahead(const mm_kind kind, const mm_weights *w, const walk *v, int rows) {
    ahead a = {.end = 0};
    if (rows < 8 * MM_ROWS_INT) return a;
    a.end = (size_t)(v->end - v->begin) * mm_group_bytes(kind);
    for (int p = 0; p < MM_PANELS; p++)
        a.from[p] = (uintptr_t)v->panel + v->next + (size_t)p * w->panel_bytes +
                    (size_t)v->begin * mm_group_bytes(kind);
    a.step = a.end / (size_t)(rows / MM_ROWS_INT + 1) + 64;
    return a;
}

INLINE void fetch_ahead(ahead *a) {
    const size_t stop = a->end - a->at < a->step ? a->end : a->at + a->step;
    for (; a->at < stop; a->at += 64) {
        UNROLL for (int p = 0; p < MM_PANELS; p++) FETCH(a->from[p] + a->at);
    }
}

/* All rows from row0 on that make whole tiles of `rows`. */
#define TILES_F32(rows)                                                                            \
    for (; row1 - row >= (rows); row += (rows))                                                    \
        tile_f32(data, w->panel_bytes, in->x + (size_t)row * in->x_stride, in->x_stride, w->k,     \
                 out + (size_t)row * out_stride, out_stride, rows, panels);
#define TILES_INT(rows)                                                                            \
    if (MM_ROWS_INT >= (rows) && most >= (rows))                                                   \
        for (; row1 - row >= (rows); row += (rows), part += parts > 0) {                           \
            if (!parts && first == 0) fetch_ahead(&next);                                          \
            tile_int(kind, plain, w, v, first, in, row, out + (size_t)row * out_stride,            \
                     out_stride, rows, units, part, parts);                                        \
            if (single) return;                                                                    \
        }

INLINE void rows_f32(const mm_weights *w, const unsigned char *data, const mm_input *in, int row,
                     int row1, float *out, size_t out_stride, const int panels) {
    if (MM_ROWS_F32 >= 12) TILES_F32(12)
    if (MM_ROWS_F32 >= 6) TILES_F32(6)
    if (MM_ROWS_F32 >= 4) TILES_F32(4)
    if (MM_ROWS_F32 >= 2) TILES_F32(2)
    TILES_F32(1)
}

/* single: the rows are one tile, which 5 never are. */
INLINE void rows_int(const mm_kind kind, const bool plain, const mm_weights *w, const walk *v,
                     const int first, const mm_input *in, int row, int row1, float *out,
                     size_t out_stride, const int units, const int most, const bool single,
                     int part, const int parts) {
    ahead next = plan_ahead(kind, w, v, row1 - row);
    TILES_INT(6) TILES_INT(4) TILES_INT(3) TILES_INT(2) TILES_INT(1)
}

/* Tiles that rows_int makes of some rows. */
INLINE int tiles_of(int rows) {
    int n = 0;
    const int sizes[] = {6, 4, 3, 2, 1};
    for (int i = 0; i < 5; i++)
        if (sizes[i] <= MM_ROWS_INT) n += rows / sizes[i], rows %= sizes[i];
    return n;
}

/* How a product is run. */
typedef struct plan {
    int most;    /* rows of a tile */
    bool single; /* the rows are one */
    int units;   /* vectors of a tile */
    bool fetch;  /* what comes next, while a pass runs */
    bool plain;  /* codes are unpacked before the first of several tiles reads them */
} plan;

/* All rows against `panels` panels, groups [begin, end), in passes of some vectors: their weights
 * stay in the cache. */
INLINE void strip(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                  int panel, float *out, size_t out_stride, const int panels, const plan how,
                  int begin, int end) {
    walk v = {.panel = w->data + (size_t)panel * w->panel_bytes,
              .next = (size_t)panels * w->panel_bytes};
    const int vectors = panels * MM_PANEL / MM_LANES, passes = vectors / how.units;
    out += (size_t)panel * MM_PANEL;
    if (kind == MM_F32) {
        rows_f32(w, v.panel, in, row0, row1, out, out_stride, panels);
        return;
    }
#ifdef MM_INT16_SUMS
    if (mm_is_wide(kind) && row1 - row0 >= STREAM_FROM) {
        stream(kind, w, v.panel, in, row0, row1, out, out_stride, begin, end, how.fetch);
        return;
    }
#endif
    const int tiles = how.single ? 1 : tiles_of(row1 - row0);
    int step = end - begin;
    if (!how.single && (how.fetch || how.plain)) { /* even pieces */
        const int bytes = panels * (int)(mm_group_bytes(kind) + 2 * MM_PANEL);
        int most = how.fetch ? PIECE_BYTES / bytes : BLOCK_GROUPS;
        if (mm_is_wide(kind)) most = most / MM_WIDE_GROUPS * MM_WIDE_GROUPS;
        if (how.plain && most > BLOCK_GROUPS) most = BLOCK_GROUPS;
        const int pieces = (step + most - 1) / most;
        if (!in->add && pieces > 1) step = (step + pieces - 1) / pieces;
        if (mm_is_wide(kind)) /* no scale's groups are parted */
            step = (step + MM_WIDE_GROUPS - 1) / MM_WIDE_GROUPS * MM_WIDE_GROUPS;
    }
    const bool fetch = how.fetch && !in->groups; /* a list's are in the cache, of the first term */
    plain_groups plain[MM_PANELS];
    assert(!how.plain || step <= BLOCK_GROUPS);
    v.plain = plain;
    v.begin = begin;
    do { /* an empty list has its sums too: zeroes */
        v.end = end - v.begin < step ? end : v.begin + step;
        if (how.plain) {
            for (int i = v.begin; i < v.end; i++) {
                const int g = in->groups ? in->groups[i] : i;
                UNROLL for (int p = 0; p < panels; p++) unpack_group(
                    kind, w, v.panel + (size_t)p * w->panel_bytes, g, &plain[p], i - v.begin);
            }
        }
        UNROLL for (int u = 0; u < vectors; u += how.units) rows_int(
            kind, how.plain, w, &v, u, in, row0, row1, out + u * MM_LANES, out_stride, how.units,
            how.most, how.single, u / how.units * tiles, fetch ? passes * tiles : 0);
        v.begin = v.end;
    } while (v.begin < end);
}

INLINE void run_block(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0,
                      int row1, int panel0, int panel1, float *out, size_t out_stride,
                      const plan how, int begin, int end) {
    const int all = MM_PANEL / MM_LANES;
    int p = panel0;
    for (; p + MM_PANELS <= panel1; p += MM_PANELS)
        strip(kind, w, in, row0, row1, p, out, out_stride, MM_PANELS, how, begin, end);
    if (MM_PANELS > 1)
        for (; p < panel1; p++)
            strip(kind, w, in, row0, row1, p, out, out_stride, 1,
                  (plan){how.most, how.single, all < how.units ? all : how.units, false, how.plain},
                  begin, end);
}

/* Sums in ascending order whether they pause in out or not: blocks do not change a bit. Where out
 * holds a first term, they cannot. */
INLINE void run(const mm_kind kind, const mm_weights *w, const mm_input *in, int row0, int row1,
                int panel0, int panel1, float *out, size_t out_stride, const plan how) {
    const bool whole = kind == MM_F32 || row1 - row0 <= SOME_ROWS;
    const int groups = kind == MM_F32 ? 1 : in->groups ? in->n_groups : w->k_padded / MM_GROUP;
    const int rows = whole ? row1 - row0 : BLOCK_ROWS;
    const int step = whole || in->add ? groups : BLOCK_GROUPS;
    for (int row = row0; row < row1; row += rows) {
        const int end = row1 - row < rows ? row1 : row + rows;
        int begin = 0;
        do {
            int stop = groups - begin < step ? groups : begin + step;
            run_block(kind, w, in, row, end, panel0, panel1, out, out_stride, how, begin, stop);
            begin = stop;
        } while (begin < groups);
    }
}

/* Functions of their own: gcc makes better code of each alone. */
#define RUN_AS(name, kind, ...)                                                                    \
    __attribute__((noinline)) static void name(const mm_weights *w, const mm_input *in, int row0,  \
                                               int row1, int panel0, int panel1, float *out,       \
                                               size_t out_stride) {                                \
        run(kind, w, in, row0, row1, panel0, panel1, out, out_stride, (plan){__VA_ARGS__});        \
    }
/* Codes are unpacked where several tiles of rows follow each other. Sums that are added to what out
 * holds cannot pause, which unpacked codes make them: those run tile by tile. */
#define RUN(name, kind)                                                                            \
    RUN_AS(name##_few, kind, FEW_ROWS, true, MM_UNITS, true, false)                                \
    RUN_AS(name##_some, kind, MM_ROWS_INT, false, MM_UNITS, true, MM_SOME_PLAIN(kind))             \
    RUN_AS(name##_many, kind, MM_ROWS_INT, false, MM_UNITS, false, !has_plain_codes(kind))         \
    static void name(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,      \
                     int panel1, float *out, size_t out_stride) {                                  \
        const int tile = MM_SOME_PLAIN(kind) ? FEW_ROWS : MM_ROWS_INT;                             \
        const int most = !has_plain_codes(kind) && in->add ? tile : INT32_MAX;                     \
        for (int row = row0, end; row < row1; row = end) {                                         \
            end = row1 - row > most ? row + most : row1;                                           \
            const int rows = end - row;                                                            \
            (rows <= FEW_ROWS    ? name##_few                                                      \
             : rows <= SOME_ROWS ? name##_some                                                     \
                                 : name##_many)(w, in, row, end, panel0, panel1, out, out_stride); \
        }                                                                                          \
    }
RUN_AS(run_f32, MM_F32, 0, false, MM_UNITS, false, false)
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
RUN(run_w8w, MM_W8W)
RUN(run_w8t, MM_W8T)

const mm_kernels MM_TABLE = {
    .run = MM_RUNS,
    .panels = MM_PANELS,
    .wide = MM_WIDE_KIND,
#ifdef MM_INT16_SUMS
    .int16_sums = true,
#endif
};
