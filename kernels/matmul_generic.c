/* matmul_generic.c - plain C: what every other level is tested against. */
#define MM_TABLE               mm_generic
#define MM_PANELS              1
#define MM_ROWS_F32            4
#define MM_LANES               16
#define MM_UNITS               1
#define MM_ROWS_INT            1
#define MM_WIDE_KIND           MM_F32
#define MM_SOME_PLAIN(kind)    false
#define MM_ACC_IN_MEMORY(kind) false
#include <math.h>
#include "kernels/quant.h"
#include "kernels/simd16.h"

typedef v16 vf;
#define vf_zero  v16_zero
#define vf_set   v16_set
#define vf_load  v16_load
#define vf_store v16_store
#define vf_add   v16_add
#define vf_mul   v16_mul

typedef struct iw {
    uint8_t b[64];
} iw;
typedef struct iacc {
    int32_t s[16];
} iacc;

V16_INLINE iw iw_load8(const unsigned char *p) {
    iw w;
    memcpy(w.b, p, sizeof w.b);
    return w;
}
V16_INLINE void iw_store8(unsigned char *p, iw w) {
    memcpy(p, &w, sizeof w);
}
V16_INLINE iw iw_flip_sign(iw w) {
    for (int i = 0; i < 64; i++) w.b[i] ^= 0x80;
    return w;
}
V16_INLINE void iw_load4(const unsigned char *p, iw *lo, iw *hi) {
    for (int i = 0; i < 64; i++) {
        lo->b[i] = p[i] & 15;
        hi->b[i] = p[i] >> 4;
    }
}
V16_INLINE void iw_load5(const unsigned char *p, iw high, int i, iw *lo, iw *hi) {
    iw_load4(p, lo, hi);
    for (int j = 0; j < 64; j++) {
        lo->b[j] |= (uint8_t)((high.b[j] >> i & 1) << 4);
        hi->b[j] |= (uint8_t)((high.b[j] >> (i + 4) & 1) << 4);
    }
}
V16_INLINE iw iw_load6(const unsigned char *p, iw high, int i, int half) {
    iw w;
    for (int j = 0; j < 64; j++)
        w.b[j] = (uint8_t)((half ? p[j] >> 4 : p[j] & 15) | (high.b[j] >> 2 * i & 3) << 4);
    return w;
}
V16_INLINE iw iw_load3(iw low, iw high, int i, int half) {
    iw w;
    for (int j = 0; j < 64; j++)
        w.b[j] = (uint8_t)((low.b[j] >> 2 * i & 3) | (high.b[j] >> (i + 4 * half) & 1) << 2);
    return w;
}
V16_INLINE void iw_load_levels(const unsigned char *p, iw *lo, iw *hi) {
    for (int i = 0; i < 64; i++) {
        lo->b[i] = (uint8_t)(quant_iq4_levels[p[i] & 15] + 128);
        hi->b[i] = (uint8_t)(quant_iq4_levels[p[i] >> 4] + 128);
    }
}
V16_INLINE iacc iacc_set(int32_t v) {
    iacc a;
    for (int i = 0; i < 16; i++) a.s[i] = v;
    return a;
}
V16_INLINE iacc iacc_start8(int32_t sum) {
    return iacc_set(-128 * sum);
}
V16_INLINE iacc iacc_start4(int32_t sum) {
    return iacc_set(-8 * sum);
}
V16_INLINE iacc iacc_dot8(iacc a, iw w, int x) {
    int8_t b[4];
    memcpy(b, &x, sizeof b);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 4; j++) a.s[i] += (int32_t)w.b[4 * i + j] * b[j];
    return a;
}
V16_INLINE v16 iacc_end8(iacc a) {
    float t[16];
    for (int i = 0; i < 16; i++) t[i] = (float)a.s[i];
    return v16_load(t);
}
#define iacc_dot4         iacc_dot8
#define iacc_end4(a, sum) iacc_end8(a)
#define iacc_end5(a, sum) iacc_end8(a)
V16_INLINE iacc iacc_start5(int32_t sum) {
    return iacc_set(-16 * sum);
}

V16_INLINE iacc iacc_start6(int32_t start) {
    return iacc_set(start);
}

V16_INLINE v16 vf_from_u8(const unsigned char *p) {
    float t[16];
    for (int i = 0; i < 16; i++) t[i] = (float)p[i];
    return v16_load(t);
}
V16_INLINE v16 vf_from_i8(const unsigned char *p) {
    float t[16];
    for (int i = 0; i < 16; i++) t[i] = (float)(int8_t)p[i];
    return v16_load(t);
}
V16_INLINE v16 vf_from_f16(const uint16_t *p) {
    float t[16];
    for (int i = 0; i < 16; i++) t[i] = quant_f16_to_f32(p[i]);
    return v16_load(t);
}
V16_INLINE v16 vf_fused(v16 a, v16 b, v16 c) {
    float x[16], y[16], z[16];
    v16_store(x, a);
    v16_store(y, b);
    v16_store(z, c);
    for (int i = 0; i < 16; i++) z[i] = fmaf(x[i], y[i], z[i]);
    return v16_load(z);
}
#include "kernels/matmul_impl.h"
