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

#endif
