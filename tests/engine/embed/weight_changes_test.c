/* weight_changes_test.c - models made of an encoder and what differs: a change computed by hand, tensors
 * that come whole, changes that do not fit. */
#include "engine/embed/weight_changes.h"

#include <math.h>
#include <string.h>

#include "engine/embed/reader_builtin.h"
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
    size_t size;
    fo_err err = {0};
    const void *base = reader_builtin(&size);
    assert_ok(gguf_open_memory(&reader_file, base, size, &err), &err);
    assert_ok(weights_changed(&changed, reader_file, (const gguf *const[]){changes}, 1, pool, &err),
              &err);
    gguf_close(changes); /* what it gave was copied */
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
            assert_ptr_equal(x->data, y->data); /* shared, not copied */
    }
    assert_int_equal(gguf_n_kv(changed), gguf_n_kv(reader_file));
    assert_true(gguf_has(changed, "general.architecture"));
    gguf_close(changed);
    gguf_close(reader_file);
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
    gguf *base = NULL;
    size_t size;
    const void *bytes = reader_builtin(&size);
    fo_err opened = {0};
    assert_ok(gguf_open_memory(&base, bytes, size, &opened), &opened);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gguf *changes = changes_of(bad[i], 2);
        gguf *out = NULL;
        fo_err err = {0};
        if (weights_changed(&out, base, (const gguf *const[]){changes}, 1, pool, &err) !=
            FO_ECORRUPT)
            fail_msg("changes %zu were taken", i);
        assert_null(out);
        gguf_close(changes);
    }
    gguf_close(base);
    fo_pool_free(pool);
}

/* Four bits would round most of a change away: to such a matrix it is added in eight; sets stand one upon the other, and what no
 * low-rank change touches keeps its type. */
static void changes_of_four_bits_stay(void **state) {
    (void)state;
    enum { ROWS = 8, WIDTH = 64 };
    static float w[ROWS * WIDTH], back[WIDTH], a[WIDTH], b[ROWS];
    uint64_t seed = test_seed();
    for (size_t i = 0; i < ROWS * WIDTH; i++) w[i] = (float)(test_random(&seed) % 2001) / 1000 - 1;
    for (size_t i = 0; i < WIDTH; i++) a[i] = (float)(i % 3) - 1;
    for (size_t i = 0; i < ROWS; i++) b[i] = .02f * (float)(i + 1); /* a step is .125 */
    char *folder = test_folder(), path[256];
    snprintf(path, sizeof path, "%s/base.gguf", folder);
    fo_err err = {0};
    gguf_writer *out = NULL;
    gguf *base = NULL, *changed = NULL;
    assert_ok(gguf_writer_create(&out, path, &err), &err);
    gguf_put_str(out, "general.architecture", "bert");
    gguf_put_tensor(out, "m.weight", QUANT_Q4_0, 2, (uint64_t[]){WIDTH, ROWS});
    gguf_put_tensor(out, "other.weight", QUANT_Q4_0, 2, (uint64_t[]){WIDTH, ROWS});
    unsigned char row[WIDTH];
    size_t bytes;
    assert_true(quant_row_bytes(QUANT_Q4_0, WIDTH, &bytes) && bytes <= sizeof row);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < ROWS; i++) {
            quant_pack_row(QUANT_Q4_0, w + i * WIDTH, row, WIDTH);
            assert_ok(gguf_write_data(out, row, bytes, &err), &err);
        }
    assert_ok(gguf_writer_commit(out, &err), &err);
    assert_ok(gguf_open(&base, path, &err), &err);
    test_remove(folder);
    const part parts[] = {{"m.weight.lora_a", WIDTH, 1, a}, {"m.weight.lora_b", 1, ROWS, b}};
    gguf *changes = changes_of(parts, 2);
    fo_pool *pool = fo_pool_create_bound(2, NULL);
    assert_ok(
        weights_changed(&changed, base, (const gguf *const[]){changes, changes}, 2, pool, &err),
        &err);
    const gguf_tensor *was = gguf_find_tensor(base, "m.weight"),
                      *is = gguf_find_tensor(changed, "m.weight");
    assert_int_equal(is->type, QUANT_Q8_0);
    assert_ptr_equal(gguf_find_tensor(changed, "other.weight")->data,
                     gguf_find_tensor(base, "other.weight")->data);
    for (size_t i = 0; i < ROWS; i++) {
        quant_unpack_row(was->type, (const char *)was->data + i * was->row_bytes, w, WIDTH);
        quant_unpack_row(is->type, (const char *)is->data + i * is->row_bytes, back, WIDTH);
        for (size_t k = 0; k < WIDTH; k++) /* twice in steps of an eightieth or so */
            assert_true(fabsf(back[k] - (w[k] + 2 * b[i] * a[k])) < .02f);
    }
    gguf_close(changed);
    gguf_close(changes);
    gguf_close(base);
    fo_pool_free(pool);
}

static void an_overlay_has_no_tensor_of_its_own(void **state) {
    (void)state;
    gguf *base = NULL, *out = NULL;
    size_t size;
    const void *bytes = reader_builtin(&size);
    fo_err err = {0};
    assert_ok(gguf_open_memory(&base, bytes, size, &err), &err);
    gguf_tensor none = *gguf_find_tensor(base, matrix);
    none.name = (gguf_str){"blk.3.attn_x.weight", 19};
    assert_int_equal(gguf_overlay(&out, base, &none, 1, &err), FO_EINVAL);
    assert_null(out);
    assert_non_null(strstr(err.msg, "blk.3.attn_x.weight"));
    gguf_close(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_added),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(changes_of_four_bits_stay),
        cmocka_unit_test(an_overlay_has_no_tensor_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
