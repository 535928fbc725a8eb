/* builtin_changes_test.c - models made of the built-in reader and what differs: a change computed by hand, tensors
 * that come whole, changes that do not fit. */
#include "engine/embed/builtin_changes.h"

#include <math.h>
#include <string.h>

#include "engine/embed/reader_impl.h"
#include "tests/test.h"

enum { DIM = 384, RANK = 2 };
static const char matrix[] = "blk.3.attn_q.weight", bias[] = "blk.3.attn_q.bias";

/* One tensor of F32 values in a file of changes that is being written. */
typedef struct part {
    const char *name;
    uint64_t columns, rows; /* rows 0: a vector */
    const float *values;
} part;

static gguf *changes_of(const part *parts, size_t n) {
    char *folder = test_folder(), path[256];
    snprintf(path, sizeof path, "%s/changes.gguf", folder);
    fo_err err = {0};
    gguf_writer *w = NULL;
    gguf *g = NULL;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_str(w, "general.architecture", "bert");
    for (size_t i = 0; i < n; i++) {
        const uint64_t dims[] = {parts[i].columns, parts[i].rows};
        gguf_put_tensor(w, parts[i].name, QUANT_F32, parts[i].rows ? 2 : 1, dims);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t values = parts[i].columns * (parts[i].rows ? parts[i].rows : 1);
        assert_ok(gguf_write_data(w, parts[i].values, values * sizeof(float), &err), &err);
    }
    assert_ok(gguf_writer_commit(w, &err), &err);
    assert_ok(gguf_open(&g, path, &err), &err);
    test_remove(folder); /* what is mapped stays */
    return g;
}

static void unpack(const gguf *g, const char *name, float *out) {
    const gguf_tensor *t = gguf_find_tensor(g, name);
    assert_non_null(t);
    for (size_t i = 0; i < t->n_rows; i++)
        quant_unpack_row(t->type, (const unsigned char *)t->data + i * t->row_bytes,
                         out + i * t->dims[0], t->dims[0]);
}

/* W + B A of that matrix is what a plain loop gives, to the rounding of 8 bits; the bias is the new one; every other
 * byte is the reader's. */
static void changes_are_added(void **state) {
    (void)state;
    static float a[RANK * DIM], b[DIM * RANK], own[DIM], before[DIM * DIM], after[DIM * DIM];
    uint64_t seed = test_seed();
    for (size_t i = 0; i < RANK * DIM; i++) {
        a[i] = (float)(test_random(&seed) % 2001) / 10000 - .1f;
        b[i] = (float)(test_random(&seed) % 2001) / 1000 - 1;
    }
    for (size_t i = 0; i < DIM; i++) own[i] = (float)i;
    const part parts[] = {{"blk.3.attn_q.weight.lora_a", DIM, RANK, a},
                          {"blk.3.attn_q.weight.lora_b", RANK, DIM, b},
                          {bias, DIM, 0, own},
                          {"head.of.its.own", DIM, 0, own}};
    gguf *changes = changes_of(parts, 4), *reader_file = NULL, *changed = NULL;
    fo_pool *pool = fo_pool_create_bound(2, NULL);
    void *bytes = NULL;
    size_t size, n_reader;
    fo_err err = {0};
    assert_ok(builtin_changed(&bytes, &size, (const gguf *const[]){changes}, 1, pool, &err), &err);
    const void *base = reader_builtin(&n_reader);
    assert_int_equal(size, n_reader);
    assert_ok(gguf_open_memory(&reader_file, base, size, &err), &err);
    assert_ok(gguf_open_memory(&changed, bytes, size, &err), &err);
    unpack(reader_file, matrix, before);
    unpack(changed, matrix, after);
    for (size_t i = 0; i < DIM; i++) {
        for (size_t first = 0; first < DIM;
             first += 32) { /* blocks of Q8_0: half a step, and a scale in 16 bits */
            float want[32], most = 0;
            for (size_t k = 0; k < 32; k++) {
                want[k] = before[i * DIM + first + k];
                for (size_t r = 0; r < RANK; r++)
                    want[k] += b[i * RANK + r] * a[r * DIM + first + k];
                if (fabsf(want[k]) > most) most = fabsf(want[k]);
            }
            for (size_t k = 0; k < 32; k++)
                assert_true(fabsf(after[i * DIM + first + k] - want[k]) <= most / 127 * .57f);
        }
    }
    for (size_t i = 0; i < gguf_n_tensors(reader_file); i++) {
        const gguf_tensor *x = gguf_tensor_at(reader_file, i), *y = gguf_tensor_at(changed, i);
        if (gguf_str_equal(x->name, bias))
            assert_memory_equal(y->data, own, sizeof own);
        else if (!gguf_str_equal(x->name, matrix))
            assert_memory_equal(x->data, y->data, x->size_bytes);
    }
    gguf_close(changed);
    gguf_close(reader_file);
    gguf_close(changes);
    free(bytes);
    fo_pool_free(pool);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static float zero[DIM * DIM];
    static const char lora_a[] = "blk.3.attn_q.weight.lora_a",
                      lora_b[] = "blk.3.attn_q.weight.lora_b";
    static const part bad[][2] = {
        {{lora_a, DIM, RANK, zero}, {lora_b, RANK, DIM - 1, zero}},           /* a row less */
        {{lora_a, DIM - 32, RANK, zero}, {lora_b, RANK, DIM, zero}},          /* narrower */
        {{lora_a, DIM, RANK, zero}, {lora_b, RANK + 1, DIM, zero}},           /* other ranks */
        {{lora_a, DIM, 300, zero}, {lora_b, 300, DIM, zero}},                 /* hardly narrow */
        {{lora_a, DIM, RANK, zero}, {"blk.9.attn_q.weight", DIM, DIM, zero}}, /* a half */
        {{"blk.9.attn_q.weight.lora_a", DIM, RANK, zero}, {bias, DIM, 0, zero}},
        {{bias, DIM / 2, 0, zero}, {"x", 1, 0, zero}},        /* a bias of another size */
        {{matrix, DIM, DIM, zero}, {"x", 1, 0, zero}},        /* whole, of another type */
        {{"x", DIM, 0, zero}, {"y.lora_b", DIM, RANK, zero}}, /* nothing of the reader's */
    };
    fo_pool *pool = fo_pool_create_bound(1, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gguf *changes = changes_of(bad[i], 2);
        void *bytes = NULL;
        size_t size;
        fo_err err = {0};
        if (builtin_changed(&bytes, &size, (const gguf *const[]){changes}, 1, pool, &err) !=
            FO_ECORRUPT)
            fail_msg("changes %zu were taken", i);
        assert_null(bytes);
        gguf_close(changes);
    }
    fo_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_added),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
