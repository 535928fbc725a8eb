/* quant_unpack.c - rows of every GGUF tensor type to float, portable and bit-exact. */
#include "kernels/quant.h"

#include <assert.h>
#include <string.h>

const int8_t quant_iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

static float from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint32_t to_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

float quant_f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = (h >> 10) & 31, man = h & 0x3FF;
    if (exp == 31) /* infinity, or a NaN made quiet as VCVTPH2PS does */
        return from_bits(sign | 0x7F800000 | (man ? 0x400000 | man << 13 : 0));
    if (exp) return from_bits(sign | (exp + 112) << 23 | man << 13);
    float f = (float)man * 0x1p-24f; /* subnormal or zero: exact in float */
    return from_bits(sign | to_bits(f));
}

uint16_t quant_f32_to_f16(float f) {
    uint32_t u = to_bits(f), sign = (u >> 16) & 0x8000;
    u &= 0x7FFFFFFF;
    if (u > 0x7F800000) return (uint16_t)(sign | 0x7E00 | ((u >> 13) & 0x3FF));
    if (u >= 0x477FF000) return (uint16_t)(sign | 0x7C00); /* rounds to 2^16 or beyond */
    if (u < 0x38800000) {
        /* Below the least normal half: adding 0.5 leaves a multiple of 2^-24, rounded to even by
         * the addition itself. */
        return (uint16_t)(sign | (to_bits(from_bits(u) + 0.5f) - 0x3F000000));
    }
    u += 0xFFF + ((u >> 13) & 1);
    return (uint16_t)(sign | ((u - 0x38000000) >> 13));
}

float quant_bf16_to_f32(uint16_t h) {
    return from_bits((uint32_t)h << 16);
}

uint16_t quant_f32_to_bf16(float f) {
    uint32_t u = to_bits(f);
    if ((u & 0x7FFFFFFF) > 0x7F800000) return (uint16_t)(u >> 16 | 64); /* NaN, made quiet */
    return (uint16_t)((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
}

static float half_at(const uint8_t *p) {
    return quant_f16_to_f32((uint16_t)(p[0] | p[1] << 8));
}

/* --- blocks of 32 --- */
static void unpack_q4_0(const uint8_t *b, float *y) {
    float d = half_at(b);
    const uint8_t *q = b + 2;
    for (int j = 0; j < 16; j++) {
        y[j] = (float)((q[j] & 15) - 8) * d;
        y[j + 16] = (float)((q[j] >> 4) - 8) * d;
    }
}

static void unpack_q4_1(const uint8_t *b, float *y) {
    float d = half_at(b), m = half_at(b + 2);
    const uint8_t *q = b + 4;
    for (int j = 0; j < 16; j++) {
        y[j] = (float)(q[j] & 15) * d + m;
        y[j + 16] = (float)(q[j] >> 4) * d + m;
    }
}

static uint32_t fifth_bits(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static void unpack_q5_0(const uint8_t *b, float *y) {
    float d = half_at(b);
    uint32_t high = fifth_bits(b + 2);
    const uint8_t *q = b + 6;
    for (int j = 0; j < 16; j++) {
        int lo = (q[j] & 15) | (int)(high >> j & 1) << 4;
        int hi = (q[j] >> 4) | (int)(high >> (j + 16) & 1) << 4;
        y[j] = (float)(lo - 16) * d;
        y[j + 16] = (float)(hi - 16) * d;
    }
}

static void unpack_q5_1(const uint8_t *b, float *y) {
    float d = half_at(b), m = half_at(b + 2);
    uint32_t high = fifth_bits(b + 4);
    const uint8_t *q = b + 8;
    for (int j = 0; j < 16; j++) {
        int lo = (q[j] & 15) | (int)(high >> j & 1) << 4;
        int hi = (q[j] >> 4) | (int)(high >> (j + 16) & 1) << 4;
        y[j] = (float)lo * d + m;
        y[j + 16] = (float)hi * d + m;
    }
}

static void unpack_q8_0(const uint8_t *b, float *y) {
    float d = half_at(b);
    const int8_t *q = (const int8_t *)b + 2;
    for (int j = 0; j < 32; j++) y[j] = (float)q[j] * d;
}

static void unpack_iq4_nl(const uint8_t *b, float *y) {
    float d = half_at(b);
    const uint8_t *q = b + 2;
    for (int j = 0; j < 16; j++) {
        y[j] = d * (float)quant_iq4_levels[q[j] & 15];
        y[j + 16] = d * (float)quant_iq4_levels[q[j] >> 4];
    }
}

/* --- blocks of 256 --- */
static void unpack_q2_k(const uint8_t *b, float *y) {
    const uint8_t *scales = b, *q = b + 16;
    float d = half_at(b + 80), dmin = half_at(b + 82);
    for (int part = 0; part < 2; part++, q += 32) {
        for (int shift = 0; shift < 8; shift += 2) {
            for (int half = 0; half < 2; half++) {
                uint8_t s = *scales++;
                float dl = d * (float)(s & 15), ml = dmin * (float)(s >> 4);
                for (int l = 0; l < 16; l++)
                    *y++ = dl * (float)(q[16 * half + l] >> shift & 3) - ml;
            }
        }
    }
}

static void unpack_q3_k(const uint8_t *b, float *y) {
    const uint8_t *high = b, *q = b + 32, *s = b + 96;
    float d = half_at(b + 108);
    for (int i = 0; i < 16; i++) {
        float dl = d * (float)quant_k3_scale(s, i);
        int part = i / 8, bit = i / 2, shift = 2 * (bit % 4);
        for (int l = 0; l < 16; l++) {
            int at = 16 * (i % 2) + l;
            int v = (q[32 * part + at] >> shift & 3) - (high[at] >> bit & 1 ? 0 : 4);
            *y++ = dl * (float)v;
        }
    }
}

static void unpack_q4_k(const uint8_t *b, float *y) {
    float d = half_at(b), dmin = half_at(b + 2);
    const uint8_t *scales = b + 4, *q = b + 16;
    for (int j = 0; j < 8; j++) {
        uint8_t s, m;
        quant_k4_scale(scales, j, &s, &m);
        float dl = d * (float)s, ml = dmin * (float)m;
        for (int l = 0; l < 32; l++)
            *y++ = dl * (float)(q[32 * (j / 2) + l] >> 4 * (j % 2) & 15) - ml;
    }
}

static void unpack_q5_k(const uint8_t *b, float *y) {
    float d = half_at(b), dmin = half_at(b + 2);
    const uint8_t *scales = b + 4, *high = b + 16, *q = b + 48;
    for (int j = 0; j < 8; j++) {
        uint8_t s, m;
        quant_k4_scale(scales, j, &s, &m);
        float dl = d * (float)s, ml = dmin * (float)m;
        for (int l = 0; l < 32; l++) {
            int v = (q[32 * (j / 2) + l] >> 4 * (j % 2) & 15) + ((high[l] >> j & 1) << 4);
            *y++ = dl * (float)v - ml;
        }
    }
}

static void unpack_q6_k(const uint8_t *b, float *y) {
    const uint8_t *low = b, *high = b + 128;
    const int8_t *scales = (const int8_t *)b + 192;
    float d = half_at(b + 208);
    for (int i = 0; i < 8; i++) { /* 32 values each */
        int part = i / 4, row = i % 4;
        const uint8_t *l4 = low + 64 * part + 32 * (row % 2), *h2 = high + 32 * part;
        for (int l = 0; l < 32; l++) {
            int v = (l4[l] >> 4 * (row / 2) & 15) | (h2[l] >> 2 * row & 3) << 4;
            float dl = d * (float)scales[8 * part + 2 * row + l / 16];
            *y++ = dl * (float)(v - 32);
        }
    }
}

static void unpack_iq4_xs(const uint8_t *b, float *y) {
    float d = half_at(b);
    const uint8_t *q = b + 8;
    for (int i = 0; i < 8; i++, q += 16, y += 32) {
        float dl = d * (float)quant_iq4_scale(b, i);
        for (int j = 0; j < 16; j++) {
            y[j] = dl * (float)quant_iq4_levels[q[j] & 15];
            y[j + 16] = dl * (float)quant_iq4_levels[q[j] >> 4];
        }
    }
}

/* --- plain numbers --- */
#define PLAIN(T, convert)                                                                          \
    for (size_t i = 0; i < n; i++) {                                                               \
        T v;                                                                                       \
        memcpy(&v, (const char *)src + i * sizeof v, sizeof v);                                    \
        dst[i] = convert(v);                                                                       \
    }                                                                                              \
    return

void quant_unpack_row(quant_type type, const void *src, float *dst, size_t n) {
    void (*block)(const uint8_t *, float *) = NULL;
    switch (type) {
    case QUANT_F32:
        memcpy(dst, src, n * 4);
        return;
    case QUANT_F16:
        PLAIN(uint16_t, quant_f16_to_f32);
    case QUANT_BF16:
        PLAIN(uint16_t, quant_bf16_to_f32);
    case QUANT_F64:
        PLAIN(double, (float));
    case QUANT_I8:
        PLAIN(int8_t, (float));
    case QUANT_I16:
        PLAIN(int16_t, (float));
    case QUANT_I32:
        PLAIN(int32_t, (float));
    case QUANT_I64:
        PLAIN(int64_t, (float));
    case QUANT_Q4_0:
        block = unpack_q4_0;
        break;
    case QUANT_Q4_1:
        block = unpack_q4_1;
        break;
    case QUANT_Q5_0:
        block = unpack_q5_0;
        break;
    case QUANT_Q5_1:
        block = unpack_q5_1;
        break;
    case QUANT_Q8_0:
        block = unpack_q8_0;
        break;
    case QUANT_Q2_K:
        block = unpack_q2_k;
        break;
    case QUANT_Q3_K:
        block = unpack_q3_k;
        break;
    case QUANT_Q4_K:
        block = unpack_q4_k;
        break;
    case QUANT_Q5_K:
        block = unpack_q5_k;
        break;
    case QUANT_Q6_K:
        block = unpack_q6_k;
        break;
    case QUANT_IQ4_NL:
        block = unpack_iq4_nl;
        break;
    case QUANT_IQ4_XS:
        block = unpack_iq4_xs;
        break;
    case QUANT_TYPE_END:
        break;
    }
    assert(block);
    const quant_traits *t = quant_type_traits(type);
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += t->block_size, p += t->block_bytes) block(p, dst + i);
}
