/* quant.h - the number formats of GGUF tensors: their geometry, unpacking to float, packing.
 *
 * A row of n values is n / block_size blocks of block_bytes each, without padding; n must be a
 * multiple of block_size. All multi-byte fields are little-endian. The functions here are the
 * portable reference: bit-exact with the format's definition, and the oracle for every kernel that
 * reads a block directly.
 * Source of the layouts: ggml's quantisation formats as GGUF files carry them. */
#ifndef FORAGE_KERNELS_QUANT_H
#define FORAGE_KERNELS_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

/* The values are those that stand in GGUF files. */
typedef enum quant_type {
    QUANT_F32 = 0,
    QUANT_F16 = 1,
    QUANT_Q4_0 = 2,
    QUANT_Q4_1 = 3,
    QUANT_Q5_0 = 6,
    QUANT_Q5_1 = 7,
    QUANT_Q8_0 = 8,
    QUANT_Q2_K = 10,
    QUANT_Q3_K = 11,
    QUANT_Q4_K = 12,
    QUANT_Q5_K = 13,
    QUANT_Q6_K = 14,
    QUANT_IQ4_NL = 20,
    QUANT_IQ4_XS = 23,
    QUANT_I8 = 24,
    QUANT_I16 = 25,
    QUANT_I32 = 26,
    QUANT_I64 = 27,
    QUANT_F64 = 28,
    QUANT_BF16 = 30,
    QUANT_TYPE_END = 31,
} quant_type;

typedef struct quant_traits {
    const char *name;     /* "Q4_K", as the GGUF world writes it */
    uint32_t block_size;  /* values in a block; 1 for plain numbers */
    uint32_t block_bytes; /* bytes a block takes */
} quant_traits;

/* Geometry of a type number out of a file; NULL where Forage does not know the type. */
const quant_traits *quant_type_traits(uint32_t type);

/* "Q8_0", "q8_0" -> QUANT_Q8_0; false where there is no such type. */
bool quant_type_from_name(const char *name, quant_type *out);

/* Bytes of a row of n values; false where n is no multiple of the block or the size overflows. */
bool quant_row_bytes(quant_type type, uint64_t n, size_t *bytes);

/* Exact conversions of the 16-bit formats: to float without loss (NaN payloads and quietness kept
 * as hardware does), from float rounded to nearest even, NaN stays NaN, overflow is infinite. */
float quant_f16_to_f32(uint16_t h);
uint16_t quant_f32_to_f16(float f);
float quant_bf16_to_f32(uint16_t h);
uint16_t quant_f32_to_bf16(float f);

/* A row of n values (a multiple of the block) at src to float dst[n]. src needs no alignment.
 * Every type of the table; integers and F64 are converted to the nearest float. Bit-exact with
 * the format's definition evaluated in float without fusing. */
void quant_unpack_row(quant_type type, const void *src, float *dst, size_t n);

/* True for the types quant_pack_row writes: F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q4_K Q5_K Q6_K
 * IQ4_NL. */
bool quant_can_pack(quant_type type);

/* float src[n] to a row at dst. Values that are not finite become 0 in the block formats. The
 * K formats and IQ4_NL minimise the squared error over a grid of scales (K: weighted by magnitude).
 */
void quant_pack_row(quant_type type, const float *src, void *dst, size_t n);

/* The 16 levels of IQ4_NL and IQ4_XS. */
extern const int8_t quant_iq4_levels[16];

/* Scale and minimum of sub-block j (0-7) of Q4_K and Q5_K out of their 12 packed bytes. */
static inline void quant_k4_scale(const uint8_t s[12], int j, uint8_t *scale, uint8_t *min) {
    if (j < 4) {
        *scale = s[j] & 63;
        *min = s[j + 4] & 63;
    } else {
        *scale = (uint8_t)((s[j + 4] & 15) | ((s[j - 4] >> 6) << 4));
        *min = (uint8_t)((s[j + 4] >> 4) | ((s[j] >> 6) << 4));
    }
}

/* Scale of sub-block i (0-15, of 16 values) of Q3_K out of its 12 packed bytes. */
static inline int quant_k3_scale(const uint8_t s[12], int i) {
    int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4;
    return (low | (s[8 + i % 4] >> 2 * (i / 4) & 3) << 4) - 32;
}

/* Scale of sub-block i (0-7) of the block of IQ4_XS at b. */
static inline int quant_iq4_scale(const uint8_t *b, int i) {
    int high = b[2] | b[3] << 8;
    return ((b[4 + i / 2] >> 4 * (i % 2) & 15) | (high >> 2 * i & 3) << 4) - 32;
}

#endif
