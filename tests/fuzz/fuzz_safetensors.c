/* The data is a safetensors file. Promises: an error comes with a sentence; of a file that opens,
 * every tensor byte can be read and every name finds its tensor. */
#include <string.h>

#include "engine/gguf/safetensors.h"
#include "tests/fuzz/fuzz.h"

static volatile double sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    safetensors *s = NULL;
    fo_err err = {0};
    if (safetensors_open_memory(&s, data, size, &err)) {
        FUZZ_CHECK(!s && err.code && err.msg[0]);
        return 0;
    }
    for (size_t i = 0; i < safetensors_count(s); i++) {
        const safetensors_tensor *t = safetensors_at(s, i);
        FUZZ_CHECK(safetensors_find(s, t->name) == t);
        const unsigned char *p = t->data;
        for (size_t k = 0; k < t->size_bytes; k++) sink += p[k];
        float row[256];
        size_t n = t->n_values < 256 ? (size_t)t->n_values : 256;
        if (t->type != QUANT_TYPE_END) quant_unpack_row(t->type, t->data, row, n);
    }
    safetensors_close(s);
    return 0;
}
