/* quant_pack.c - float rows to the block formats.
 *
 * The formats of 32 values take their scale from the extreme value, as everybody does: files made
 * here are byte-equal with those of ggml's reference where the arithmetic is defined. The K formats
 * leave the search for scales to the writer; ours alternates rounding and a weighted least-squares
 * solution from a small grid of starts. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "kernels/quant.h"

/* Scales past the range of a half are cut there: an infinite one would unpack to NaN. */
static void put_half(uint8_t *p, float f) {
    uint16_t h = quant_f32_to_f16(fmaxf(-65504.0f, fminf(65504.0f, f)));
    p[0] = (uint8_t)h;
    p[1] = (uint8_t)(h >> 8);
}

/* 1 / d, or 0 where d is too small to have a finite inverse (the block then packs as zeros). */
static float inverse(float d) {
    return fabsf(d) > 0x1p-126f ? 1.0f / d : 0;
}

static int clamp(int v, int lo, int hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

static int nearest(float v) {
    return (int)lrintf(fmaxf(-1e6f, fminf(1e6f, v)));
}

/* --- blocks of 32 --- */
static void pack_q8_0(const float *x, uint8_t *b) {
    float amax = 0;
    for (int j = 0; j < 32; j++) amax = fmaxf(amax, fabsf(x[j]));
    float d = amax / 127.0f, id = inverse(d);
    put_half(b, d);
    for (int j = 0; j < 32; j++)
        b[2 + j] = (uint8_t)(int8_t)fmaxf(-127, fminf(127, roundf(x[j] * id)));
}

/* The value of largest magnitude, with its sign. */
static float extreme(const float *x, int n) {
    float best = 0;
    for (int j = 0; j < n; j++)
        if (fabsf(x[j]) > fabsf(best)) best = x[j];
    return best;
}

static void range(const float *x, int n, float *lo, float *hi) {
    *lo = *hi = x[0];
    for (int j = 1; j < n; j++) {
        *lo = fminf(*lo, x[j]);
        *hi = fmaxf(*hi, x[j]);
    }
}

static void pack_q4_0(const float *x, uint8_t *b) {
    float d = extreme(x, 32) / -8.0f, id = inverse(d);
    put_half(b, d);
    for (int j = 0; j < 16; j++) {
        int lo = clamp((int)(x[j] * id + 8.5f), 0, 15);
        int hi = clamp((int)(x[j + 16] * id + 8.5f), 0, 15);
        b[2 + j] = (uint8_t)(lo | hi << 4);
    }
}

static void pack_q4_1(const float *x, uint8_t *b) {
    float lo, hi;
    range(x, 32, &lo, &hi);
    float d = (hi - lo) / 15.0f, id = inverse(d);
    put_half(b, d);
    put_half(b + 2, lo);
    for (int j = 0; j < 16; j++) {
        int a = clamp((int)((x[j] - lo) * id + 0.5f), 0, 15);
        int c = clamp((int)((x[j + 16] - lo) * id + 0.5f), 0, 15);
        b[4 + j] = (uint8_t)(a | c << 4);
    }
}

static void put_fives(const int *q, uint8_t *high, uint8_t *low) {
    uint32_t h = 0;
    for (int j = 0; j < 32; j++) h |= (uint32_t)(q[j] >> 4) << j;
    memcpy(high, &h, 4);
    for (int j = 0; j < 16; j++) low[j] = (uint8_t)((q[j] & 15) | (q[j + 16] & 15) << 4);
}

static void pack_q5_0(const float *x, uint8_t *b) {
    float d = extreme(x, 32) / -16.0f, id = inverse(d);
    int q[32];
    put_half(b, d);
    for (int j = 0; j < 32; j++) q[j] = clamp((int)(x[j] * id + 16.5f), 0, 31);
    put_fives(q, b + 2, b + 6);
}

static void pack_q5_1(const float *x, uint8_t *b) {
    float lo, hi;
    range(x, 32, &lo, &hi);
    float d = (hi - lo) / 31.0f, id = inverse(d);
    int q[32];
    put_half(b, d);
    put_half(b + 2, lo);
    for (int j = 0; j < 32; j++) q[j] = clamp((int)((x[j] - lo) * id + 0.5f), 0, 31);
    put_fives(q, b + 4, b + 8);
}

/* The number of the level of IQ4_NL next to v. */
static int nearest_level(float v) {
    int i = 0;
    for (int k = 0; k < 15; k++)
        i += v > 0.5f * (float)(quant_iq4_levels[k] + quant_iq4_levels[k + 1]);
    return i;
}

/* The levels are uneven and reach further down than up, so the scale may have either sign. From
 * each start on a grid of scales: round to levels, take the least-squares scale for those. */
static void pack_iq4_nl(const float *x, uint8_t *b) {
    float top = extreme(x, 32), best = 0, best_gain = 0;
    for (int step = -12; step <= 12 && fabsf(top) > 0x1p-100f; step++) {
        float inv = (120.0f + 2.0f * (float)step) / (step % 2 ? top : -top), sqx = 0, sqq = 0;
        for (int j = 0; j < 32; j++) {
            float q = (float)quant_iq4_levels[nearest_level(x[j] * inv)];
            sqx += q * x[j];
            sqq += q * q;
        }
        if (sqq > 0 && sqx * sqx > best_gain * sqq) {
            best_gain = sqx * sqx / sqq;
            best = sqx / sqq;
        }
    }
    put_half(b, best);
    float id = inverse(quant_f16_to_f32((uint16_t)(b[0] | b[1] << 8)));
    for (int j = 0; j < 16; j++)
        b[2 + j] = (uint8_t)(nearest_level(x[j] * id) | nearest_level(x[j + 16] * id) << 4);
}

/* --- the K formats: least squares --- */

/* Scale and minimum (x ~ scale * q - min, both >= 0, q in 0..top) for n values with weights w.
 * From each start on a grid of scales: round, solve the 2 x 2 weighted normal equations, keep the
 * best error seen. */
static float fit_scale_min(const float *x, const float *w, int n, int top, float *min_out) {
    float lo, hi;
    range(x, n, &lo, &hi);
    if (lo > 0) lo = 0; /* the format's minimum cannot be positive */
    if (!((hi - lo) / (float)top > 0x1p-126f)) {
        *min_out = -lo;
        return 0;
    }
    float best_scale = (hi - lo) / (float)top, best_lo = lo, best_error = INFINITY;
    for (int step = -8; step <= 10; step++) {
        float scale = (hi - lo) / ((float)top + 0.1f * (float)step), base = lo;
        for (int round = 0; round < 2; round++) {
            float sw = 0, sq = 0, sqq = 0, sx = 0, sqx = 0, error = 0, inv = 1.0f / scale;
            for (int j = 0; j < n; j++) {
                float q = (float)clamp(nearest((x[j] - base) * inv), 0, top);
                float e = base + scale * q - x[j];
                error += w[j] * e * e;
                sw += w[j];
                sq += w[j] * q;
                sqq += w[j] * q * q;
                sx += w[j] * x[j];
                sqx += w[j] * q * x[j];
            }
            if (error < best_error) {
                best_error = error;
                best_scale = scale;
                best_lo = base;
            }
            float det = sw * sqq - sq * sq;
            if (!(det > 0)) break;
            float s = (sw * sqx - sq * sx) / det, m = (sqq * sx - sq * sqx) / det;
            if (m > 0) {
                m = 0;
                s = sqq > 0 ? sqx / sqq : 0;
            }
            if (!(s > 0x1p-126f)) break;
            scale = s;
            base = m;
        }
    }
    *min_out = -best_lo;
    return best_scale;
}

/* Q4_K and Q5_K share their scales: 8 sub-blocks of 32, scales and minima of 6 bits. */
static void pack_k4_scales(const float *x, int top, uint8_t *b, int q[256]) {
    float scales[8], mins[8], max_scale = 0, max_min = 0;
    for (int j = 0; j < 8; j++) {
        const float *s = x + 32 * j;
        float w[32], sum = 0;
        for (int l = 0; l < 32; l++) sum += s[l] * s[l];
        float rms = sqrtf(sum / 32);
        for (int l = 0; l < 32; l++) w[l] = rms + fabsf(s[l]);
        scales[j] = fit_scale_min(s, w, 32, top, &mins[j]);
        max_scale = fmaxf(max_scale, scales[j]);
        max_min = fmaxf(max_min, mins[j]);
    }
    put_half(b, max_scale / 63.0f);
    put_half(b + 2, max_min / 63.0f);
    float d = quant_f16_to_f32((uint16_t)(b[0] | b[1] << 8));
    float dmin = quant_f16_to_f32((uint16_t)(b[2] | b[3] << 8));
    uint8_t *packed = b + 4;
    memset(packed, 0, 12);
    for (int j = 0; j < 8; j++) {
        int s = d > 0 ? clamp(nearest(scales[j] / d), 0, 63) : 0;
        int m = dmin > 0 ? clamp(nearest(mins[j] / dmin), 0, 63) : 0;
        if (j < 4) {
            packed[j] |= (uint8_t)s;
            packed[j + 4] |= (uint8_t)m;
        } else {
            packed[j + 4] = (uint8_t)((s & 15) | (m & 15) << 4);
            packed[j - 4] |= (uint8_t)((s >> 4) << 6);
            packed[j] |= (uint8_t)((m >> 4) << 6);
        }
        float scale = d * (float)s, min = dmin * (float)m;
        for (int l = 0; l < 32; l++)
            q[32 * j + l] = scale > 0 ? clamp(nearest((x[32 * j + l] + min) / scale), 0, top) : 0;
    }
}

static void put_nibbles(const int q[256], uint8_t *out) {
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 32; l++)
            out[32 * j + l] = (uint8_t)((q[64 * j + l] & 15) | (q[64 * j + 32 + l] & 15) << 4);
}

static void pack_q4_k(const float *x, uint8_t *b) {
    int q[256];
    pack_k4_scales(x, 15, b, q);
    put_nibbles(q, b + 16);
}

static void pack_q5_k(const float *x, uint8_t *b) {
    int q[256];
    pack_k4_scales(x, 31, b, q);
    uint8_t *high = b + 16;
    memset(high, 0, 32);
    for (int j = 0; j < 8; j++)
        for (int l = 0; l < 32; l++) high[l] |= (uint8_t)((q[32 * j + l] >> 4) << j);
    put_nibbles(q, b + 48);
}

/* Signed scale for x ~ scale * q, q in -32..31, squared error weighted by x^2. */
static float fit_scale(const float *x, int n) {
    float top = extreme(x, n), best = top / -32.0f, best_gain = -1;
    if (!(fabsf(top) > 0x1p-100f)) return 0;
    for (int step = -9; step <= 9; step++) {
        float inv = -(32.0f + 0.1f * (float)step) / top, sqx = 0, sqq = 0;
        for (int j = 0; j < n; j++) {
            float q = (float)clamp(nearest(x[j] * inv), -32, 31), w = x[j] * x[j];
            sqx += w * q * x[j];
            sqq += w * q * q;
        }
        /* The least-squares scale sqx / sqq removes sqx^2 / sqq of the error. */
        if (sqq > 0 && sqx * sqx > best_gain * sqq) {
            best_gain = sqx * sqx / sqq;
            best = sqx / sqq;
        }
    }
    return best;
}

static void pack_q6_k(const float *x, uint8_t *b) {
    float scales[16];
    for (int i = 0; i < 16; i++) scales[i] = fit_scale(x + 16 * i, 16);
    put_half(b + 208, extreme(scales, 16) / -128.0f);
    float d = quant_f16_to_f32((uint16_t)(b[208] | b[209] << 8));
    int q[256];
    for (int i = 0; i < 16; i++) {
        int s = d != 0 ? clamp(nearest(scales[i] / d), -128, 127) : 0;
        b[192 + i] = (uint8_t)(int8_t)s;
        float scale = d * (float)s; /* a half times an integer: never too small to invert */
        for (int l = 0; l < 16; l++)
            q[16 * i + l] = 32 + (scale != 0 ? clamp(nearest(x[16 * i + l] / scale), -32, 31) : 0);
    }
    for (int part = 0; part < 2; part++) {
        const int *p = q + 128 * part;
        for (int l = 0; l < 32; l++) {
            b[64 * part + l] = (uint8_t)((p[l] & 15) | (p[l + 64] & 15) << 4);
            b[64 * part + l + 32] = (uint8_t)((p[l + 32] & 15) | (p[l + 96] & 15) << 4);
            b[128 + 32 * part + l] = (uint8_t)(p[l] >> 4 | (p[l + 32] >> 4) << 2 |
                                               (p[l + 64] >> 4) << 4 | (p[l + 96] >> 4) << 6);
        }
    }
}

static void (*const packers[QUANT_TYPE_END])(const float *, uint8_t *) = {
    [QUANT_Q8_0] = pack_q8_0, [QUANT_Q4_0] = pack_q4_0, [QUANT_Q4_1] = pack_q4_1,
    [QUANT_Q5_0] = pack_q5_0, [QUANT_Q5_1] = pack_q5_1, [QUANT_Q4_K] = pack_q4_k,
    [QUANT_Q5_K] = pack_q5_k, [QUANT_Q6_K] = pack_q6_k, [QUANT_IQ4_NL] = pack_iq4_nl,
};

bool quant_can_pack(quant_type type) {
    return type == QUANT_F32 || type == QUANT_F16 || type == QUANT_BF16 ||
           ((unsigned)type < QUANT_TYPE_END && packers[type]);
}

void quant_pack_row(quant_type type, const float *src, void *dst, size_t n) {
    assert(quant_can_pack(type));
    if (type == QUANT_F32) {
        memcpy(dst, src, n * 4);
    } else if (type == QUANT_F16 || type == QUANT_BF16) {
        for (size_t i = 0; i < n; i++) {
            uint16_t h = type == QUANT_F16 ? quant_f32_to_f16(src[i]) : quant_f32_to_bf16(src[i]);
            memcpy((char *)dst + 2 * i, &h, 2);
        }
    } else {
        const quant_traits *t = quant_type_traits(type);
        uint8_t *p = dst;
        for (size_t i = 0; i < n; i += t->block_size, p += t->block_bytes) {
            float x[256]; /* without the values that no scale could cover */
            for (uint32_t j = 0; j < t->block_size; j++)
                x[j] = isfinite(src[i + j]) ? fmaxf(-1e7f, fminf(1e7f, src[i + j])) : 0;
            packers[type](x, p);
        }
    }
}
