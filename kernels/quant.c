/* quant.c - the table of types. Unpacking lives in quant_unpack.c, packing in quant_pack.c. */
#include "kernels/quant.h"

#include <strings.h>
#include "kernels/buf.h"

static const quant_traits traits[QUANT_TYPE_END] = {
    [QUANT_F32] = {"F32", 1, 4},         [QUANT_F16] = {"F16", 1, 2},
    [QUANT_BF16] = {"BF16", 1, 2},       [QUANT_F64] = {"F64", 1, 8},
    [QUANT_I8] = {"I8", 1, 1},           [QUANT_I16] = {"I16", 1, 2},
    [QUANT_I32] = {"I32", 1, 4},         [QUANT_I64] = {"I64", 1, 8},
    [QUANT_Q4_0] = {"Q4_0", 32, 18},     [QUANT_Q4_1] = {"Q4_1", 32, 20},
    [QUANT_Q5_0] = {"Q5_0", 32, 22},     [QUANT_Q5_1] = {"Q5_1", 32, 24},
    [QUANT_Q8_0] = {"Q8_0", 32, 34},     [QUANT_Q2_K] = {"Q2_K", 256, 84},
    [QUANT_Q3_K] = {"Q3_K", 256, 110},   [QUANT_Q4_K] = {"Q4_K", 256, 144},
    [QUANT_Q5_K] = {"Q5_K", 256, 176},   [QUANT_Q6_K] = {"Q6_K", 256, 210},
    [QUANT_IQ4_NL] = {"IQ4_NL", 32, 18}, [QUANT_IQ4_XS] = {"IQ4_XS", 256, 136},
};

const quant_traits *quant_type_traits(uint32_t type) {
    return type < QUANT_TYPE_END && traits[type].name ? &traits[type] : NULL;
}

bool quant_type_from_name(const char *name, quant_type *out) {
    for (uint32_t t = 0; t < QUANT_TYPE_END; t++) {
        if (traits[t].name && !strcasecmp(traits[t].name, name)) {
            *out = (quant_type)t;
            return true;
        }
    }
    return false;
}

bool quant_row_bytes(quant_type type, uint64_t n, size_t *bytes) {
    const quant_traits *t = quant_type_traits(type);
    return t && n % t->block_size == 0 &&
           fo_mul_size((size_t)(n / t->block_size), t->block_bytes, bytes);
}
