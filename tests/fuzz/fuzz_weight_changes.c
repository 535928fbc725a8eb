/* The data is a file of changes to an encoder (weight_changes.h), here to four small tensors of the types that encoders come
 * in. Promises: an error comes with a sentence; a model out of it has the encoder's tensors, of which every value can be
 * read, and what no change is of is shared with it. */
#include <string.h>
#include <unistd.h>

#include "engine/embed/weight_changes.h"
#include "kernels/file.h"
#include "kernels/quant.h"
#include "tests/fuzz/fuzz.h"

static const struct {
    const char *name;
    quant_type type;
    uint64_t columns, rows; /* rows 0: a vector */
} tensors[] = {{"a.weight", QUANT_Q4_0, 32, 4},
               {"b.weight", QUANT_F16, 16, 3},
               {"c.weight", QUANT_F32, 8, 2},
               {"a.bias", QUANT_F32, 4, 0}};
enum { N_TENSORS = sizeof tensors / sizeof *tensors, MOST_VALUES = 128 };

/* The encoder's file, for as long as the process is there. */
static void *make_base(size_t *size) {
    static unsigned char zero[MOST_VALUES * sizeof(float)];
    char path[] = "/tmp/fuzz-weight-changes-XXXXXX", *bytes;
    fo_err err = {0};
    gguf_writer *w;
    const int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0);
    close(fd);
    FUZZ_CHECK(!gguf_writer_create(&w, path, &err));
    gguf_put_str(w, "general.architecture", "bert");
    for (size_t i = 0; i < N_TENSORS; i++) {
        const uint64_t dims[] = {tensors[i].columns, tensors[i].rows};
        gguf_put_tensor(w, tensors[i].name, tensors[i].type, tensors[i].rows ? 2 : 1, dims);
    }
    for (size_t i = 0; i < N_TENSORS; i++) {
        size_t row = 0;
        FUZZ_CHECK(quant_row_bytes(tensors[i].type, tensors[i].columns, &row));
        FUZZ_CHECK(!gguf_write_data(w, zero, row * (tensors[i].rows ? tensors[i].rows : 1), &err));
    }
    FUZZ_CHECK(!gguf_writer_commit(w, &err));
    FUZZ_CHECK(!fo_file_read(path, 1 << 20, &bytes, size, &err));
    unlink(path);
    return bytes;
}

static void read_tensors(const gguf *g, const gguf *base) {
    float row[MOST_VALUES];
    volatile float sink = 0;
    FUZZ_CHECK(gguf_n_tensors(g) == N_TENSORS);
    for (size_t i = 0; i < N_TENSORS; i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i), *of = gguf_tensor_at(base, i);
        FUZZ_CHECK(gguf_find_tensor(g, tensors[i].name) == t);
        FUZZ_CHECK(t->dims[0] == of->dims[0] && t->n_rows == of->n_rows);
        FUZZ_CHECK(t->data != of->data || t->type == of->type);
        for (size_t k = 0; k < t->n_rows; k++) {
            quant_unpack_row(t->type, (const unsigned char *)t->data + k * t->row_bytes, row,
                             t->dims[0]);
            for (size_t j = 0; j < t->dims[0]; j++) sink += row[j];
        }
    }
}

/* times: the same changes one upon the other. */
static void change(const uint8_t *data, size_t size, size_t times) {
    static void *bytes;
    static size_t n_bytes;
    static fo_pool *pool;
    gguf *base, *changes, *out = NULL;
    fo_err err = {0};
    if (!bytes) bytes = make_base(&n_bytes);
    if (!pool) pool = fo_pool_create_bound(1, NULL);
    FUZZ_CHECK(pool);
    if (gguf_open_memory(&changes, data, size, &err)) return;
    FUZZ_CHECK(!gguf_open_memory(&base, bytes, n_bytes, &err));
    const gguf *all[] = {changes, changes};
    if (weights_changed(&out, base, all, times, pool, &err)) {
        FUZZ_CHECK(!out && err.code && err.msg[0]);
    } else {
        read_tensors(out, base);
        gguf_close(out);
    }
    gguf_close(changes);
    gguf_close(base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    change(data, size, 1);
    change(data, size, 2);
    return 0;
}
