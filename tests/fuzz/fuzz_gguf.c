/* The data is a GGUF file. Promises: an error comes with a sentence; of a file that opens, every
 * value, string and tensor byte can be read, every name finds its own entry, and what embeds text
 * from it survives that too. */
#include <math.h>
#include <string.h>

#include "engine/embed/embedder_impl.h"
#include "engine/gguf/gguf.h"
#include "tests/fuzz/fuzz.h"

static volatile double sink;

static void read_kv(const gguf *g, const gguf_kv *kv) {
    char key[256];
    for (size_t i = 0; i < kv->n; i++) {
        if (kv->strs)
            for (size_t k = 0; k < kv->strs[i].len; k++) sink += kv->strs[i].ptr[k];
        else
            sink += gguf_number_at(kv, i) + (double)gguf_integer_at(kv, i);
    }
    if (kv->key.len >= sizeof key || memchr(kv->key.ptr, 0, kv->key.len)) return;
    memcpy(key, kv->key.ptr, kv->key.len);
    key[kv->key.len] = 0;
    FUZZ_CHECK(gguf_find(g, key) == kv);
    uint64_t u;
    int64_t i;
    double f;
    bool b;
    gguf_str s;
    const gguf_str *strs;
    const gguf_kv *numbers;
    size_t n;
    fo_err err = {0};
    int found = !gguf_get_f64(g, key, &f, &err) + !gguf_get_bool(g, key, &b, &err) +
                !gguf_get_str(g, key, &s, &err) + !gguf_get_strs(g, key, &strs, &n, &err) +
                !gguf_get_numbers(g, key, &numbers, &err);
    /* Of these five kinds every value has one, but for arrays of truth values, which nobody asks
     * for. */
    FUZZ_CHECK(found == !(kv->kind == GGUF_ARRAY && kv->elem == GGUF_BOOL));
    gguf_str bytes;
    bool integers = !gguf_get_integers(g, key, &numbers, &err);
    FUZZ_CHECK(!integers || !gguf_get_numbers(g, key, &numbers, &err));
    if (!gguf_get_bytes(g, key, &bytes, &err)) {
        FUZZ_CHECK(integers && bytes.len == kv->n);
        for (size_t k = 0; k < bytes.len; k++) sink += bytes.ptr[k];
    }
    FUZZ_CHECK(!gguf_get_optional_str(g, key, &s, &err) == (kv->kind == GGUF_STRING));
    gguf_get_u64(g, key, &u, &err);
    gguf_get_i64(g, key, &i, &err);
}

static void read_tensor(const gguf_tensor *t) {
    float row[1024];
    const unsigned char *p = t->data;
    FUZZ_CHECK(t->n_rows * t->row_bytes == t->size_bytes);
    for (size_t k = 0; k < t->size_bytes; k++) sink += p[k];
    size_t n = t->dims[0] <= 1024 ? (size_t)t->dims[0] : 1024;
    quant_unpack_row(t->type, p + (t->n_rows - 1) * t->row_bytes, row, n);
}

static void embed(const uint8_t *data, size_t size) {
    gguf *g;
    embedder *e;
    fo_err err = {0};
    if (gguf_open_memory(&g, data, size, &err)) return;
    if (embed_static_open_gguf(&e, g, "input", &err)) {
        FUZZ_CHECK(err.msg[0]);
        return;
    }
    const char *text = "cats and dogs, cats";
    size_t len = strlen(text), dim = embedder_dim(e);
    float *v = malloc(dim * sizeof *v);
    FUZZ_CHECK(!embedder_embed(e, EMBED_QUERY, &text, &len, 1, v, &err));
    for (size_t i = 0; i < dim; i++) FUZZ_CHECK(isfinite(v[i]) && fabsf(v[i]) < 1.001f);
    free(v);
    embedder_close(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gguf *g = NULL;
    fo_err err = {0};
    if (gguf_open_memory(&g, data, size, &err)) {
        FUZZ_CHECK(!g && err.code && err.msg[0]);
        return 0;
    }
    for (size_t i = 0; i < gguf_n_kv(g); i++) read_kv(g, gguf_kv_at(g, i));
    for (size_t i = 0; i < gguf_n_tensors(g); i++) read_tensor(gguf_tensor_at(g, i));
    gguf_close(g);
    embed(data, size);
    return 0;
}
