/* matmul.c - repacking of weights into panels, and the choice of kernels. */
#include "kernels/matmul.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"
#include "kernels/cpu.h"
#include "kernels/vec.h"

static int padded_k(mm_kind kind, int k) {
    const int to = mm_is_wide(kind) ? 2 * MM_GROUP : MM_GROUP;
    return kind == MM_F32 ? k : (k + to - 1) / to * to;
}

static size_t quant_bytes(mm_kind kind, int k_padded) {
    return kind == MM_F32 ? (size_t)k_padded * MM_PANEL * sizeof(float)
                          : (size_t)(k_padded / MM_GROUP) * mm_group_bytes(kind);
}

static size_t panel_size(mm_kind kind, int k_padded) {
    const size_t groups = (size_t)(k_padded / MM_GROUP);
    size_t n = quant_bytes(kind, k_padded);
    if (kind == MM_F32) return (n + 63) / 64 * 64;
    const size_t unit_bytes = mm_min_units(kind, groups) - mm_units(kind, groups);
    const size_t scales =
        mm_is_wide(kind) ? (groups + MM_WIDE_GROUPS - 1) / MM_WIDE_GROUPS : groups;
    const size_t f16_bytes = mm_has_units(kind) ? unit_bytes : mm_minima(scales);
    n += mm_units(kind, groups) + (mm_has_min(kind) ? 2 : 1) * f16_bytes;
    return (n + 63) / 64 * 64;
}

mm_kind mm_kind_for(quant_type type, bool fast) {
    if (!fast) return MM_F32;
    switch (type) {
    case QUANT_Q4_0:
        return MM_W4;
    case QUANT_Q4_1:
        return MM_W4M;
    case QUANT_Q5_0:
        return MM_W5;
    case QUANT_Q5_1:
        return MM_W5M;
    case QUANT_Q3_K:
        return MM_K3;
    case QUANT_Q4_K:
        return MM_K4;
    case QUANT_Q5_K:
        return MM_K5;
    case QUANT_Q6_K:
        return MM_K6;
    case QUANT_IQ4_NL:
        return MM_L4;
    case QUANT_IQ4_XS:
        return MM_L4K;
    default:
        return MM_W8;
    }
}

bool mm_weights_bytes(mm_kind kind, int n, int k, size_t *bytes) {
    if (n < 1 || k < 1 || n > INT32_MAX - MM_PANEL || k > (1 << 24)) return false;
    if (mm_has_units(kind) && k % MM_SUPER != 0) return false;
    return fo_mul_size((size_t)(n + MM_PANEL - 1) / MM_PANEL, panel_size(kind, padded_k(kind, k)),
                       bytes);
}

int mm_weights_init(mm_weights *w, mm_kind kind, int n, int k, fo_huge *from, fo_err *err) {
    size_t bytes;
    if (!mm_weights_bytes(kind, n, k, &bytes))
        return fo_fail(err, FO_EINVAL, "a matrix of %d x %d is out of bounds", n, k);
    int kp = padded_k(kind, k);
    void *data = NULL;
    if (from)
        data = fo_huge_take(from, bytes);
    else if (posix_memalign(&data, 4096, bytes) != 0)
        data = NULL;
    if (!data) return fo_fail(err, FO_ENOMEM, "no memory for a matrix of %zu bytes", bytes);
    *w = (mm_weights){.kind = kind,
                      .n = n,
                      .k = k,
                      .k_padded = kp,
                      .n_panels = (n + MM_PANEL - 1) / MM_PANEL,
                      .panel_bytes = panel_size(kind, kp),
                      .scale_offset = quant_bytes(kind, kp),
                      .owned = !from,
                      .data = data};
    return FO_OK;
}

void mm_weights_deinit(mm_weights *w) {
    if (w->owned) free(w->data);
    *w = (mm_weights){0};
}

/* --- one group of 32 weights of one row --- */
typedef struct group {
    uint8_t q[MM_GROUP]; /* as stored: + 128 for W8, + 8 for W4, + 16 for W5, + 32 for K6..; W8T's
                          * are stored without */
    uint16_t scale, min; /* f16; or the units of those */
    uint8_t in_units[2]; /* K4, K5: scale and minimum; K3, K6: scales of the halves, signed */
} group;

static uint16_t load_u16(const unsigned char *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static void split_nibbles(const unsigned char *p, uint8_t q[MM_GROUP]) {
    for (int i = 0; i < 16; i++) {
        q[i] = p[i] & 15;
        q[i + 16] = p[i] >> 4;
    }
}

static void add_fifth_bits(const unsigned char *p, uint8_t q[MM_GROUP]) {
    for (int i = 0; i < MM_GROUP; i++) q[i] |= (uint8_t)((p[i / 8] >> i % 8 & 1) << 4);
}

/* f16 not below f (finite, >= 0), so that no weight is clipped. */
static uint16_t f16_up(float f) {
    if (!(f < 65504.0f)) return 0x7bff;
    uint16_t h = quant_f32_to_f16(f);
    return quant_f16_to_f32(h) < f ? (uint16_t)(h + 1) : h;
}

/* The scale with which the largest of n weights becomes 127; with `wide` no octet has a norm above
 * MM_NORM either, when rounded: that adds half the root of eight. What is infinite or no number
 * becomes zero. */
static float w8_scale(float *x, int n, bool wide) {
    float one = vec_get()->magnitude(x, n) / 127.0f;
    if (isnan(one)) {
        for (int i = 0; i < n; i++)
            if (!isfinite(x[i])) x[i] = 0;
        one = vec_get()->magnitude(x, n) / 127.0f;
    }
    if (!wide || !(one > 0)) return one;
    /* Octets whose weights are too small for a float's inverse are so when rounded. */
    const float inv = 1.0f / one;
    const float over = vec_get()->norm_of_octets(x, inv < 3e38f ? inv : 3e38f, n);
    return over > MM_NORM - 1.5f ? one * (over / (MM_NORM - 1.5f)) : one;
}

/* n weights by g->scale, which is exact_scale rounded up, but for one that no f16 holds. */
static void round_to_w8(const float *x, int n, float exact_scale, group *g) {
    float s = quant_f16_to_f32(g->scale);
    if (s < exact_scale) s = exact_scale;
    vec_get()->to_i8((int8_t *)g->q, x, s > 0 ? 1.0f / s : 0.0f, n);
    for (int i = 0; i < n; i++) g->q[i] ^= 0x80;
    for (int i = n; i < MM_GROUP; i++) g->q[i] = 128;
}

/* Group number j of the row at `row`, exactly; false for types that are not kept exactly. */
static bool exact_group(quant_type type, const unsigned char *row, int j, group *g) {
    const unsigned char *b;
    switch (type) {
    case QUANT_Q8_0:
        b = row + (size_t)j * 34;
        g->scale = load_u16(b);
        for (int i = 0; i < MM_GROUP; i++) g->q[i] = b[2 + i] ^ 0x80;
        return true;
    case QUANT_Q4_0:
        b = row + (size_t)j * 18;
        g->scale = load_u16(b);
        split_nibbles(b + 2, g->q);
        return true;
    case QUANT_Q4_1:
        b = row + (size_t)j * 20;
        g->scale = load_u16(b);
        g->min = load_u16(b + 2);
        split_nibbles(b + 4, g->q);
        return true;
    case QUANT_Q5_0:
        b = row + (size_t)j * 22;
        g->scale = load_u16(b);
        split_nibbles(b + 6, g->q);
        add_fifth_bits(b + 2, g->q);
        return true;
    case QUANT_Q5_1:
        b = row + (size_t)j * 24;
        g->scale = load_u16(b);
        g->min = load_u16(b + 2);
        split_nibbles(b + 8, g->q);
        add_fifth_bits(b + 4, g->q);
        return true;
    case QUANT_Q4_K:
    case QUANT_Q5_K: {
        const bool five = type == QUANT_Q5_K;
        b = row + (size_t)(j / 8) * (five ? 176 : 144);
        quant_k4_scale(b + 4, j % 8, &g->in_units[0], &g->in_units[1]);
        g->scale = load_u16(b);
        g->min = load_u16(b + 2) ^ 0x8000; /* is subtracted */
        const unsigned char *q = b + (five ? 48 : 16) + (j % 8) / 2 * 32;
        for (int i = 0; i < MM_GROUP; i++) g->q[i] = j % 2 ? q[i] >> 4 : q[i] & 15;
        for (int i = 0; five && i < MM_GROUP; i++)
            g->q[i] |= (uint8_t)((b[16 + i] >> j % 8 & 1) << 4);
        return true;
    }
    case QUANT_IQ4_NL:
        b = row + (size_t)j * 18;
        g->scale = load_u16(b);
        split_nibbles(b + 2, g->q);
        return true;
    case QUANT_IQ4_XS:
        b = row + (size_t)(j / 8) * 136;
        g->scale = load_u16(b);
        g->in_units[0] = (uint8_t)quant_iq4_scale(b, j % 8);
        split_nibbles(b + 8 + j % 8 * 16, g->q);
        return true;
    case QUANT_Q3_K: {
        b = row + (size_t)(j / 8) * 110;
        const unsigned char *low = b + 32 + j % 8 / 4 * 32;
        for (int i = 0; i < MM_GROUP; i++)
            g->q[i] = (uint8_t)((low[i] >> 2 * (j % 4) & 3) | (b[i] >> j % 8 & 1) << 2);
        for (int i = 0; i < 2; i++) g->in_units[i] = (uint8_t)quant_k3_scale(b + 96, j % 8 * 2 + i);
        g->scale = load_u16(b + 108);
        return true;
    }
    case QUANT_Q6_K: {
        b = row + (size_t)(j / 8) * 210;
        const int part = j % 8 / 4, quarter = j % 4; /* of 128 channels, of 32 */
        const unsigned char *low = b + part * 64 + quarter % 2 * 32, *high = b + 128 + part * 32;
        for (int i = 0; i < MM_GROUP; i++)
            g->q[i] = (uint8_t)((quarter < 2 ? low[i] & 15 : low[i] >> 4) |
                                (high[i] >> 2 * quarter & 3) << 4);
        memcpy(g->in_units, b + 192 + 2 * j % 16, 2);
        g->scale = load_u16(b + 208);
        return true;
    }
    default:
        return false;
    }
}

/* Bits [shift, shift + n) of the four codes from channel c on, for vectors of a group that hold the
 * same bits of `step` channels after each other: 8 / n of them in a byte. */
static void put_bits(unsigned char *to, const group *g, int c, int step, int shift, int n) {
    for (int i = 0; i < 4; i++) {
        unsigned bits = 0;
        for (int v = 0; v < 8 / n; v++)
            bits |= (unsigned)(g->q[c + v * step + i] >> shift & ((1 << n) - 1)) << n * v;
        to[i] = (unsigned char)bits;
    }
}

static void put_codes(mm_kind kind, unsigned char *q, const group *g) {
    if (kind == MM_W8 || mm_is_wide(kind)) {
        uint32_t four;
        for (int v = 0; v < 8; v++) {
            memcpy(&four, g->q + v * 4, 4);
            if (kind == MM_W8T) four ^= 0x80808080; /* the offset of 128 away */
            memcpy(q + v * 64, &four, 4);
        }
        return;
    }
    if (kind == MM_K3) {
        for (int h = 0; h < 2; h++) put_bits(q + h * 64, g, h * 16, 4, 0, 2);
        put_bits(q + 128, g, 0, 4, 2, 1);
        return;
    }
    for (int v = 0; v < 4; v++)
        if (mm_has_levels(kind))
            put_bits(q + v * 64, g, v * 8, 4, 0, 4);
        else
            put_bits(q + v * 64, g, v * 4, 16, 0, 4);
    if (kind == MM_K6)
        for (int h = 0; h < 2; h++) put_bits(q + 256 + h * 64, g, h * 16, 4, 4, 2);
    if (mm_has_5_bits(kind)) put_bits(q + 256, g, 0, 4, 4, 1);
}

/* An output's scale for group j of a panel, or what its scale is in units of; the same of minima.
 */
static uint16_t *f16_at(const mm_weights *w, unsigned char *panel, int lane, int j, bool minimum) {
    const size_t groups = (size_t)(w->k_padded / MM_GROUP);
    size_t from = minimum ? mm_minima(groups) : 0;
    if (mm_has_units(w->kind)) {
        from = minimum ? mm_min_units(w->kind, groups) : mm_units(w->kind, groups);
        j /= MM_SUPER / MM_GROUP;
    }
    if (mm_is_wide(w->kind)) j /= MM_WIDE_GROUPS;
    uint16_t *f16 = (uint16_t *)(void *)(panel + w->scale_offset + from);
    return f16 + j * MM_PANEL + lane;
}

static void put_group(const mm_weights *w, unsigned char *panel, int lane, int j, const group *g) {
    const int in_units = mm_in_units(w->kind);
    put_codes(w->kind, panel + (size_t)j * mm_group_bytes(w->kind) + lane * 4, g);
    for (int i = 0; i < in_units; i++)
        panel[w->scale_offset + (size_t)((j * in_units + i) * MM_PANEL + lane)] = g->in_units[i];
    *f16_at(w, panel, lane, j, false) = g->scale;
    if (mm_has_min(w->kind)) *f16_at(w, panel, lane, j, true) = g->min;
}

static void pack_lane(mm_weights *w, unsigned char *panel, int lane, quant_type type,
                      const unsigned char *row, const float *columns, float *scratch) {
    if (w->kind == MM_F32) {
        float *f = (float *)(void *)panel;
        if (row) quant_unpack_row(type, row, scratch, (size_t)w->k);
        for (int i = 0; i < w->k; i++)
            f[(size_t)i * MM_PANEL + (size_t)lane] = row ? scratch[i] : 0;
        return;
    }
    group g = {.q = {0}};
    float scale = 0;
    const bool wide = mm_is_wide(w->kind);
    bool exact = row && !wide && w->k % MM_GROUP == 0 && exact_group(type, row, 0, &g);
    if (row && !exact) quant_unpack_row(type, row, scratch, (size_t)w->k);
    for (int i = 0; row && columns && i < w->k; i++) scratch[i] *= columns[i];
    if (row && wide) vec_get()->rotate(scratch, scratch, w->k, w->k_padded);
    const int k = wide ? w->k_padded : w->k;
    for (int j = 0; j < w->k_padded / MM_GROUP; j++) {
        int left = k - j * MM_GROUP;
        float *x = scratch + (size_t)j * MM_GROUP;
        const int unit = wide ? MM_WIDE : MM_GROUP; /* channels under one scale */
        if (exact) {
            exact_group(type, row, j, &g);
        } else if (row) {
            const int under = left < unit ? left : unit;
            if (j * MM_GROUP % unit == 0) {
                scale = w8_scale(x, under, wide);
                g.scale = f16_up(scale);
            }
            round_to_w8(x, left < MM_GROUP ? left : MM_GROUP, scale, &g);
        } else {
            g = (group){.q = {0}};
        }
        put_group(w, panel, lane, j, &g);
    }
}

void mm_weights_pack(mm_weights *w, int panel0, int panel1, quant_type type, const void *rows,
                     size_t row_bytes, const float *columns, float *scratch) {
    for (int p = panel0; p < panel1; p++)
        for (int lane = 0; lane < MM_PANEL; lane++) {
            int r = p * MM_PANEL + lane;
            const unsigned char *row =
                r < w->n ? (const unsigned char *)rows + (size_t)r * row_bytes : NULL;
            pack_lane(w, w->data + (size_t)p * w->panel_bytes, lane, type, row, columns, scratch);
        }
}

/* The code of channel i of a group, whose vectors hold this output's bytes at q, q + 64, ... */
static int code_at(mm_kind kind, const unsigned char *q, int i) {
    const int half = i / 16, byte = i % 4;
    if (kind == MM_W8 || kind == MM_W8W) return q[i / 4 * 64 + byte];
    if (kind == MM_W8T) return q[i / 4 * 64 + byte] ^ 0x80;
    if (kind == MM_K3)
        return (q[half * 64 + byte] >> i % 16 / 4 * 2 & 3) | (q[128 + byte] >> i / 4 & 1) << 2;
    if (mm_has_levels(kind)) return q[i / 8 * 64 + byte] >> i % 8 / 4 * 4 & 15;
    int code = q[i % 16 / 4 * 64 + byte] >> 4 * half & 15;
    if (kind == MM_K6) code |= (q[256 + half * 64 + byte] >> i % 16 / 4 * 2 & 3) << 4;
    if (mm_has_5_bits(kind)) code |= (q[256 + byte] >> i / 4 & 1) << 4;
    return code;
}

float mm_weights_at(const mm_weights *w, int row, int channel) {
    static const int zero[MM_KIND_END] = {
        [MM_W8] = 128, [MM_W8W] = 128, [MM_W8T] = 128, [MM_W4] = 8,
        [MM_W5] = 16,  [MM_K6] = 32,   [MM_K3] = 4};
    unsigned char *panel = w->data + (size_t)(row / MM_PANEL) * w->panel_bytes;
    int lane = row % MM_PANEL, j = channel / MM_GROUP, i = channel % MM_GROUP;
    if (w->kind == MM_F32) return ((const float *)(const void *)panel)[channel * MM_PANEL + lane];
    const int in_units = mm_in_units(w->kind);
    const unsigned char *of = panel + w->scale_offset + (size_t)(j * in_units * MM_PANEL + lane);
    const int code = code_at(w->kind, panel + (size_t)j * mm_group_bytes(w->kind) + lane * 4, i);
    float s = quant_f16_to_f32(*f16_at(w, panel, lane, j, false));
    if (mm_has_min(w->kind)) {
        float m = quant_f16_to_f32(*f16_at(w, panel, lane, j, true));
        if (in_units) s *= (float)of[0], m *= (float)of[MM_PANEL];
        return s * (float)code + m;
    }
    if (in_units) s *= (float)(int8_t)of[mm_has_halves(w->kind) ? i / 16 * MM_PANEL : 0];
    if (mm_has_levels(w->kind)) return s * (float)quant_iq4_levels[code];
    return s * (float)(code - zero[w->kind]);
}

const mm_kernels *mm_get_named(const char *name) {
    const fo_cpu_info *cpu = fo_cpu();
    if (!strcmp(name, "generic")) return &mm_generic;
    if (!strcmp(name, "avx2") && cpu->level >= FO_CPU_AVX2) return &mm_avx2;
    if (!strcmp(name, "avxvnni") && cpu->level >= FO_CPU_AVX2 && cpu->avx_vnni) return &mm_avxvnni;
    if (!strcmp(name, "avx512") && cpu->level >= FO_CPU_AVX512) return &mm_avx512;
    if (!strcmp(name, "amx") && cpu->level >= FO_CPU_AMX) return &mm_amx;
    return NULL;
}

const mm_kernels *mm_get(void) {
    static const char *const best_first[] = {"amx", "avx512", "avxvnni", "avx2", "generic"};
    for (int i = 0;; i++) {
        const mm_kernels *t = mm_get_named(best_first[i]);
        if (t) return t;
    }
}
