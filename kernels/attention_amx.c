/* attention_amx.c - scores and weighted sums by TDPBF16PS, over keys and values that are bf16.
 *
 * A float of q, and a weight, goes in as a pair of bf16: its upper 8 bits and the next 8. The key,
 * or value, that it meets stands in both halves of the other pair, so that a tile of 16 rows x 16
 * channels (or keys) gives the products of 16 bits of the one with the exact other. The splitting
 * is within 2^-17; what a single bf16 would lose is 2^-9, which is too much for scores of tens.
 *
 * A row's sums depend on nothing but the row: rows of a tile are summed apart, and keys that it
 * does not see have weight 0. The rest, and what tiles do not fit, is the code of AVX-512.
 *
 * What bounds it: for 48 rows, 16 keys and 64 channels 24 products, 384 cycles by Intel's figures,
 * where AVX-512 has 6,144 multiply-adds on two ports, 3,072 cycles. */
#define TILE_ROWS  6
#define MID_ROWS   4
#define FEW_ROWS   2
#define QK_BLOCKS  4
#define FEW_BLOCKS 4
#define PV_VECTORS 4
#include "kernels/attention_impl.h"
#include "kernels/tile_amx.h"

enum { TILE = 16, MAX_DIM = 256, MAX_TILES = ATTENTION_ROWS / TILE };
_Static_assert(MAX_TILES == 3, "tiles 0-2 are sums, 3-5 rows, 6 keys or values");

static const tile_config config = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16},
};

typedef uint32_t pairs[TILE]; /* of bf16 */

static bool fits(const attention_tile *t) {
    return t->bf16 && t->k_dim % TILE == 0 && t->k_dim <= MAX_DIM && t->v_stride <= MAX_DIM;
}

/* (upper 8 bits, next 8 bits rounded), as bf16. */
INLINE __m512i split(v16 x) {
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
    __m512i bits = _mm512_castps_si512(x);
    v16 rest = v16_sub(x, _mm512_castsi512_ps(_mm512_and_si512(bits, upper)));
    __m512i next = _mm512_add_epi32(_mm512_castps_si512(rest), _mm512_set1_epi32(0x8000));
    return _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_and_si512(next, upper));
}

/* A bf16 number in both halves. */
INLINE __m512i twice(v16 x) {
    __m512i bits = _mm512_castps_si512(x);
    return _mm512_or_si512(bits, _mm512_srli_epi32(bits, 16));
}

static void begin_tiles(attention_tile *t) {
    begin(t);
    if (!fits(t)) return;
    const size_t n = (size_t)t->n_rows, all = (n + TILE - 1) / TILE * TILE;
    const size_t k = (size_t)t->k_dim, v = (size_t)t->v_stride;
    memset(t->q + n * k, 0, (all - n) * k * sizeof *t->q);
    memset(t->o, 0, all * v * sizeof *t->o);
    for (size_t i = 0; i < n * k; i += TILE)
        _mm512_storeu_si512(t->q + i, split(v16_load(t->q + i)));
    tile_configure(&config);
}

INLINE void score_rows(const attention_tile *t, const pairs *keys, float (*s)[16],
                       const int tiles) {
    const size_t k = (size_t)t->k_dim, row_bytes = k * sizeof *t->q;
    tile_zero(0);
    if (tiles > 1) tile_zero(1);
    if (tiles > 2) tile_zero(2);
    for (size_t d = 0; d < k; d += TILE) {
        tile_load(6, keys + d, sizeof *keys);
        tile_load(3, t->q + d, row_bytes);
        tile_dot_bf16(0, 3, 6);
        if (tiles > 1) {
            tile_load(4, t->q + TILE * k + d, row_bytes);
            tile_dot_bf16(1, 4, 6);
        }
        if (tiles > 2) {
            tile_load(5, t->q + 2 * TILE * k + d, row_bytes);
            tile_dot_bf16(2, 5, 6);
        }
    }
    tile_store(0, s, sizeof *s);
    if (tiles > 1) tile_store(1, s + TILE, sizeof *s);
    if (tiles > 2) tile_store(2, s + 2 * TILE, sizeof *s);
}

static int tiles_of(const attention_tile *t) {
    return (t->n_rows + TILE - 1) / TILE;
}

INLINE void score_all(const attention_tile *t, const float *keys, float (*s)[16]) {
    _Alignas(64) pairs k[MAX_DIM];
    for (int d = 0; d < t->k_dim; d++) _mm512_store_si512(k[d], twice(v16_load(keys + d * 16)));
    tile_written();
    switch (tiles_of(t)) {
    case 1:
        score_rows(t, k, s, 1);
        break;
    case 2:
        score_rows(t, k, s, 2);
        break;
    default:
        score_rows(t, k, s, 3);
    }
    tile_read();
    cap_scores(t, s[0], (size_t)t->n_rows * 16);
}

/* o += weights x values; values: [16][v_stride] pairs. */
INLINE void weigh_tiles(attention_tile *t, const pairs *weight, const uint32_t *values,
                        const int tiles) {
    const size_t stride = (size_t)t->v_stride, row_bytes = stride * sizeof *t->o;
    tile_load(3, weight, sizeof *weight);
    if (tiles > 1) tile_load(4, weight + TILE, sizeof *weight);
    if (tiles > 2) tile_load(5, weight + 2 * TILE, sizeof *weight);
    for (size_t v = 0; v < stride; v += TILE) {
        float *o = t->o + v;
        tile_load(6, values + v, row_bytes);
        tile_load(0, o, row_bytes);
        tile_dot_bf16(0, 3, 6);
        if (tiles > 1) {
            tile_load(1, o + TILE * stride, row_bytes);
            tile_dot_bf16(1, 4, 6);
        }
        if (tiles > 2) {
            tile_load(2, o + 2 * TILE * stride, row_bytes);
            tile_dot_bf16(2, 5, 6);
        }
        tile_store(0, o, row_bytes);
        if (tiles > 1) tile_store(1, o + TILE * stride, row_bytes);
        if (tiles > 2) tile_store(2, o + 2 * TILE * stride, row_bytes);
    }
}

static void block_tiles(attention_tile *t, const float *keys, const float *values, const int *lo,
                        const int *hi) {
    float s[ATTENTION_ROWS][16], factor[ATTENTION_ROWS];
    _Alignas(64) pairs weight[ATTENTION_ROWS];
    _Alignas(64) uint32_t v[TILE * MAX_DIM];
    const int stride = t->v_stride, tiles = tiles_of(t);
    score_all(t, keys, s);
    soften(t, 0, t->n_rows, s[0], 16, 1, factor, lo, hi);
    int n_keys = 0;
    for (int r = 0; r < t->n_rows; r++)
        if (hi[r] > n_keys) n_keys = hi[r];
    for (int r = 0; r < tiles * TILE; r++) {
        if (r >= t->n_rows) {
            _mm512_store_si512(weight[r], _mm512_setzero_si512());
            continue;
        }
        _mm512_store_si512(weight[r], split(v16_load(s[r])));
        if (factor[r] == 1.0f) continue; /* the maximum stayed, as it does in most blocks */
        float *o = t->o + r * stride;
        for (int i = 0; i < stride; i += 16)
            v16_store(o + i, v16_mul(v16_load(o + i), v16_set(factor[r])));
    }
    /* What lies behind the last key may be no number, which a weight of 0 would not take away. */
    for (int j = 0; j < TILE; j++)
        for (int i = 0; i < stride; i += 16)
            _mm512_store_si512(v + j * stride + i, j < n_keys
                                                       ? twice(v16_load(values + j * stride + i))
                                                       : _mm512_setzero_si512());
    tile_written();
    if (tiles == 1)
        weigh_tiles(t, weight, v, 1);
    else if (tiles == 2)
        weigh_tiles(t, weight, v, 2);
    else
        weigh_tiles(t, weight, v, 3);
    tile_read();
}

static void span_tiles(attention_tile *t, int n_blocks, const float *keys, const float *values,
                       const int *lo, const int *hi) {
    if (!fits(t)) {
        span(t, n_blocks, keys, values, lo, hi);
        return;
    }
    int l[ATTENTION_ROWS], h[ATTENTION_ROWS];
    for (int b = 0; b < n_blocks; b++) {
        for (int r = 0; r < t->n_rows; r++) {
            l[r] = lo[r] - b * TILE;
            h[r] = hi[r] - b * TILE;
        }
        block_tiles(t, keys + b * TILE * t->k_dim, values + b * TILE * t->v_stride, l, h);
    }
}

static void end_tiles(attention_tile *t) {
    end(t);
    if (fits(t)) tile_release();
}

static void weights_tiles(const attention_tile *t, const float *keys, const int *lo, const int *hi,
                          float (*p)[16]) {
    if (!fits(t)) {
        weights(t, keys, lo, hi, p);
        return;
    }
    tile_configure(&config);
    score_all(t, keys, p);
    tile_release();
    scores_to_weights(t, lo, hi, p);
}

const attention_kernels attention_amx = {begin_tiles, span_tiles, end_tiles, weights_tiles};
