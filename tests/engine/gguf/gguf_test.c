/* GGUF files: what the writer wrote is read back, metadata of every kind is copied, hostile
 * headers and tensors are refused with the byte at which they lie, any damage is survived, a file that is
 * cut off while it is mapped is told (safetensors as well), every golden file opens. */
#include "tests/test.h"

#include "engine/gguf/gguf.h"
#include "engine/gguf/safetensors.h"
#include "kernels/buf.h"
#include "kernels/file.h"

/* A small file with one of everything, made by the writer. Caller removes the folder. */
static char *sample(char **dir) {
    *dir = test_folder();
    char *path = NULL;
    fo_err err = {0};
    assert_true(asprintf(&path, "%s/sample.gguf", *dir) > 0);
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_str(w, "general.architecture", "test");
    gguf_put_u32(w, "test.layers", 7);
    gguf_put_u64(w, "test.big", UINT64_MAX);
    gguf_put_f32(w, "test.scale", 0.5f);
    gguf_put_bool(w, "test.flag", true);
    gguf_put_strs(w, "test.words", (gguf_str[]){{"alpha", 5}, {"", 0}, {"c\0d", 3}}, 3);
    gguf_put_i32s(w, "test.types", (int32_t[]){1, -2, 3}, 3);
    gguf_put_f32s(w, "test.scores", (float[]){1.5f, -2.5f}, 2);
    gguf_put_tensor(w, "a.weight", QUANT_F32, 2, (uint64_t[]){3, 2});
    gguf_put_tensor(w, "b.weight", QUANT_Q8_0, 2, (uint64_t[]){64, 5});
    gguf_put_tensor(w, "c", QUANT_I8, 1, (uint64_t[]){1});
    unsigned char data[24 + 340 + 1];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7);
    assert_ok(gguf_write_data(w, data, 30, &err), &err); /* pieces need not follow tensors */
    assert_ok(gguf_write_data(w, data + 30, sizeof data - 30, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    return path;
}

static void reads_back_what_the_writer_wrote(void **state) {
    (void)state;
    char *dir, *path = sample(&dir);
    fo_err err = {0};
    gguf *g;
    assert_ok(gguf_open(&g, path, &err), &err);
    assert_int_equal(gguf_version(g), 3);
    assert_int_equal(gguf_n_kv(g), 8);
    assert_int_equal(gguf_n_tensors(g), 3);
    uint64_t u = 0;
    int64_t i = 0;
    double f = 0;
    bool b = false;
    gguf_str s;
    assert_ok(gguf_get_u64(g, "test.layers", &u, &err), &err);
    assert_int_equal(u, 7);
    assert_ok(gguf_get_u64(g, "test.big", &u, &err), &err);
    assert_true(u == UINT64_MAX);
    assert_int_equal(gguf_get_i64(g, "test.big", &i, &err), FO_ECORRUPT);
    assert_ok(gguf_get_f64(g, "test.scale", &f, &err), &err);
    assert_true(f == 0.5);
    assert_ok(gguf_get_f64(g, "test.layers", &f, &err), &err);
    assert_true(f == 7);
    assert_ok(gguf_get_bool(g, "test.flag", &b, &err), &err);
    assert_true(b);
    assert_ok(gguf_get_str(g, "general.architecture", &s, &err), &err);
    assert_true(gguf_str_equal(s, "test"));
    u = 42;
    assert_int_equal(gguf_get_u64(g, "test.absent", &u, &err), FO_ENOTFOUND);
    assert_int_equal(u, 42);
    assert_int_equal(gguf_get_u64(g, "test.scale", &u, &err), FO_ECORRUPT);
    assert_int_equal(gguf_get_str(g, "test.words", &s, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "test.words"));
    const gguf_str *words;
    size_t n;
    assert_ok(gguf_get_strs(g, "test.words", &words, &n, &err), &err);
    assert_int_equal(n, 3);
    assert_true(gguf_str_equal(words[0], "alpha"));
    assert_int_equal(words[2].len, 3);
    const gguf_kv *numbers;
    assert_ok(gguf_get_numbers(g, "test.types", &numbers, &err), &err);
    assert_int_equal(gguf_integer_at(numbers, 1), -2);
    assert_ok(gguf_get_numbers(g, "test.scores", &numbers, &err), &err);
    assert_true(gguf_number_at(numbers, 1) == -2.5);
    const gguf_tensor *t;
    assert_ok(gguf_need_tensor(g, "a.weight", 3, 2, &t, &err), &err);
    assert_int_equal(t->size_bytes, 24);
    assert_int_equal(((const unsigned char *)t->data)[23], (unsigned char)(23 * 7));
    assert_int_equal((uintptr_t)t->data % 32, 0);
    t = gguf_find_tensor(g, "b.weight");
    assert_int_equal(t->row_bytes, 68);
    assert_int_equal(((const unsigned char *)t->data)[339], (unsigned char)(363 * 7));
    assert_int_equal(*(const unsigned char *)gguf_find_tensor(g, "c")->data,
                     (unsigned char)(364 * 7));
    assert_int_equal(gguf_need_tensor(g, "a.weight", 2, 3, &t, &err), FO_ECORRUPT);
    assert_int_equal(gguf_need_tensor(g, "d", 2, 3, &t, &err), FO_ENOTFOUND);
    gguf_close(g);
    free(path);
    test_remove(dir);
}

static void copies_metadata_of_every_kind_unchanged(void **state) {
    (void)state;
    char *dir, *path = sample(&dir), *copy;
    fo_err err = {0};
    assert_true(asprintf(&copy, "%s/copy.gguf", dir) > 0);
    gguf *g, *h;
    assert_ok(gguf_open(&g, path, &err), &err);
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, copy, &err), &err);
    for (size_t i = 0; i < gguf_n_kv(g); i++) gguf_put_kv(w, gguf_kv_at(g, i));
    assert_ok(gguf_writer_commit(w, &err), &err);
    assert_ok(gguf_open(&h, copy, &err), &err);
    assert_int_equal(gguf_n_kv(h), gguf_n_kv(g));
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *a = gguf_kv_at(g, i), *b = gguf_kv_at(h, i);
        assert_int_equal(a->raw_bytes, b->raw_bytes);
        assert_memory_equal(a->raw, b->raw, a->raw_bytes);
    }
    gguf_close(g);
    gguf_close(h);
    free(path);
    free(copy);
    test_remove(dir);
}

static void the_writer_refuses_what_does_not_fit(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/x.gguf", dir);
    fo_err err = {0};
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_tensor(w, "t", QUANT_Q4_K, 1, (uint64_t[]){100});
    assert_int_equal(gguf_writer_commit(w, &err), FO_EINVAL);
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_tensor(w, "t", QUANT_F32, 1, (uint64_t[]){2});
    assert_ok(gguf_write_data(w, "abcd", 4, &err), &err);
    assert_int_equal(gguf_writer_commit(w, &err), FO_EINVAL); /* four bytes short */
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_tensor(w, "t", QUANT_F32, 1, (uint64_t[]){1});
    assert_int_equal(gguf_write_data(w, "abcdefgh", 8, &err), FO_EINVAL);
    gguf_writer_abort(w);
    assert_int_not_equal(access(path, F_OK), 0);
    test_remove(dir);
}

/* Header fields of a hand-made file: magic, version, tensors, pairs, then the rest. */
static int open_bytes(const void *tail, size_t n, uint64_t n_tensors, uint64_t n_kv, fo_err *err) {
    unsigned char *file = malloc(24 + n); /* exactly sized, so that ASan sees an overrun */
    uint32_t version = 3;
    memcpy(file, "GGUF", 4);
    memcpy(file + 4, &version, 4);
    memcpy(file + 8, &n_tensors, 8);
    memcpy(file + 16, &n_kv, 8);
    if (n) memcpy(file + 24, tail, n);
    gguf *g = NULL;
    int rc = gguf_open_memory(&g, file, 24 + n, err);
    gguf_close(g);
    free(file);
    return rc;
}

typedef struct tail {
    unsigned char b[512];
    size_t n;
} tail;

static void put(tail *t, const void *p, size_t n) {
    memcpy(t->b + t->n, p, n);
    t->n += n;
}
static void put32(tail *t, uint32_t v) {
    put(t, &v, 4);
}
static void put64(tail *t, uint64_t v) {
    put(t, &v, 8);
}
static void put_name(tail *t, const char *s) {
    put64(t, strlen(s));
    put(t, s, strlen(s));
}

static void tensor(tail *t, const char *name, uint64_t d0, uint64_t d1, uint32_t type,
                   uint64_t offset) {
    put_name(t, name);
    put32(t, 2);
    put64(t, d0);
    put64(t, d1);
    put32(t, type);
    put64(t, offset);
}

static void refuses_hostile_headers_with_the_byte_offset(void **state) {
    (void)state;
    fo_err err = {0};
    unsigned char zeros[256] = {0};
    assert_int_equal(open_bytes(NULL, 0, 0, 0, &err), FO_OK);
    assert_int_equal(open_bytes(zeros, 100, UINT64_MAX, 0, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "byte 8"));
    assert_int_equal(open_bytes(zeros, 100, 0, UINT64_MAX / 14, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "byte 16"));
    tail t = {0};
    put64(&t, UINT64_MAX); /* a key as long as the universe */
    put(&t, zeros, 64);
    assert_int_equal(open_bytes(t.b, t.n, 0, 1, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "byte 24"));
    t = (tail){0};
    put_name(&t, "k");
    put32(&t, 13); /* no such kind */
    put(&t, zeros, 64);
    assert_int_equal(open_bytes(t.b, t.n, 0, 1, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "byte 33"));
    for (uint32_t elem = 0; elem < 13; elem++) { /* arrays longer than the file */
        for (int huge = 0; huge < 4; huge++) {
            t = (tail){0};
            put_name(&t, "k");
            put32(&t, GGUF_ARRAY);
            put32(&t, elem);
            put64(&t, (uint64_t[]){65, UINT64_MAX, UINT64_MAX / 8 + 1, 1ull << 61}[huge]);
            put(&t, zeros, 64);
            int rc = open_bytes(t.b, t.n, 0, 1, &err);
            assert_int_equal(rc, elem == GGUF_ARRAY ? FO_EUNSUPPORTED : FO_ECORRUPT);
        }
    }
    t = (tail){0};
    put_name(&t, "k");
    put32(&t, GGUF_BOOL);
    put(&t, "\2", 1);
    assert_int_equal(open_bytes(t.b, t.n, 0, 1, &err), FO_ECORRUPT);
    t = (tail){0};
    for (int i = 0; i < 2; i++) {
        put_name(&t, "twice");
        put32(&t, GGUF_U8);
        put(&t, "\1", 1);
    }
    assert_int_equal(open_bytes(t.b, t.n, 0, 2, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "twice"));
    const uint32_t alignments[] = {0, 3, 33, 1u << 21, UINT32_MAX};
    for (size_t i = 0; i < 5; i++) {
        t = (tail){0};
        put_name(&t, "general.alignment");
        put32(&t, GGUF_U32);
        put32(&t, alignments[i]);
        assert_int_equal(open_bytes(t.b, t.n, 0, 1, &err), FO_ECORRUPT);
    }
}

static void refuses_hostile_tensors(void **state) {
    (void)state;
    fo_err err = {0};
    const struct {
        uint64_t d0, d1;
        uint32_t type;
        uint64_t offset;
        int rc;
    } cases[] = {
        {8, 4, QUANT_F32, 0, FO_OK},
        {8, 4, QUANT_F32, 32, FO_ECORRUPT},                  /* past the end */
        {8, 4, QUANT_F32, 4, FO_ECORRUPT},                   /* unaligned */
        {8, 5, QUANT_F32, 0, FO_ECORRUPT},                   /* too large */
        {0, 4, QUANT_F32, 0, FO_ECORRUPT},                   /* empty */
        {1ull << 32, 1ull << 32, QUANT_F32, 0, FO_ECORRUPT}, /* product overflows */
        {1ull << 62, 1, QUANT_F32, 0, FO_ECORRUPT},          /* bytes overflow */
        {UINT64_MAX, 1, QUANT_F32, 0, FO_ECORRUPT},
        {8, 4, QUANT_F32, UINT64_MAX - 31, FO_ECORRUPT}, /* offset wraps */
        {48, 1, QUANT_Q8_0, 0, FO_ECORRUPT},             /* no whole blocks */
        {8, 4, 4, 0, FO_EUNSUPPORTED},                   /* a type of the past */
        {8, 4, UINT32_MAX, 0, FO_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tail t = {0};
        tensor(&t, "t", cases[i].d0, cases[i].d1, cases[i].type, cases[i].offset);
        while ((24 + t.n) % 32) put(&t, "", 1);
        for (int k = 0; k < 128; k++) put(&t, "", 1);
        assert_int_equal(open_bytes(t.b, t.n, 1, 0, &err), cases[i].rc);
    }
    tail t = {0};
    put_name(&t, "t");
    put32(&t, 5);
    for (int k = 0; k < 100; k++) put(&t, "\1", 1);
    assert_int_equal(open_bytes(t.b, t.n, 1, 0, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "5 dimensions"));
    t = (tail){0};
    tensor(&t, "same", 1, 1, QUANT_F32, 0);
    tensor(&t, "same", 1, 1, QUANT_F32, 0);
    for (int k = 0; k < 100; k++) put(&t, "", 1);
    assert_int_equal(open_bytes(t.b, t.n, 2, 0, &err), FO_ECORRUPT);
}

static void refuses_other_files_and_versions(void **state) {
    (void)state;
    fo_err err = {0};
    gguf *g;
    unsigned char file[64] = "GGUF";
    for (size_t n = 0; n < 24; n++)
        assert_int_equal(gguf_open_memory(&g, file, n, &err), FO_ECORRUPT);
    for (uint32_t v = 0; v < 9; v++) {
        memcpy(file + 4, &v, 4);
        int rc = gguf_open_memory(&g, file, sizeof file, &err);
        assert_int_equal(rc, v == 2 || v == 3 ? FO_OK : FO_EUNSUPPORTED);
        if (!rc) gguf_close(g);
    }
    memcpy(file + 4, "\0\0\0\3", 4);
    assert_int_equal(gguf_open_memory(&g, file, sizeof file, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "big-endian"));
    memcpy(file, "ggml", 4);
    assert_int_equal(gguf_open_memory(&g, file, sizeof file, &err), FO_ECORRUPT);
    assert_int_equal(gguf_open(&g, "/nonexistent.gguf", &err), FO_ENOTFOUND);
}

/* Every truncation and thousands of bit flips of a valid file: an error or a file whose tensors
 * can all be read, never a crash. */
static void survives_truncation_and_bit_flips(void **state) {
    (void)state;
    char *dir, *path = sample(&dir), *data;
    size_t size;
    fo_err err = {0};
    assert_ok(fo_file_read(path, 1 << 20, &data, &size, &err), &err);
    gguf *g;
    for (size_t n = 0; n < size; n++) {
        char *cut = malloc(n + !n);
        memcpy(cut, data, n);
        int rc = gguf_open_memory(&g, cut, n, &err);
        if (!rc) gguf_close(g);
        assert_true(rc == FO_ECORRUPT || n > size - 32); /* only padding may be missing */
        free(cut);
    }
    uint64_t seed = test_seed();
    unsigned long sum = 0;
    for (int trial = 0; trial < 20000; trial++) {
        char *bad = malloc(size);
        memcpy(bad, data, size);
        for (uint64_t k = test_random(&seed) % 3 + 1; k; k--)
            bad[test_random(&seed) % 600 % size] ^= (char)(1u << test_random(&seed) % 8);
        if (!gguf_open_memory(&g, bad, size, &err)) {
            for (size_t i = 0; i < gguf_n_tensors(g); i++) {
                const gguf_tensor *t = gguf_tensor_at(g, i);
                for (size_t k = 0; k < t->size_bytes; k++)
                    sum += ((const unsigned char *)t->data)[k];
            }
            gguf_close(g);
        }
        free(bad);
    }
    assert_true(sum > 0);
    free(data);
    free(path);
    test_remove(dir);
}

static void a_file_that_is_cut_off_while_it_is_open_is_told(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/long.gguf", dir);
    gguf_writer *w;
    enum { N = 1 << 16 };
    unsigned char *data = malloc(N);
    assert_non_null(data);
    memset(data, 7, N);
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_tensor(w, "a", QUANT_I8, 1, (uint64_t[]){N});
    assert_ok(gguf_write_data(w, data, N, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    gguf *g;
    assert_ok(gguf_open(&g, path, &err), &err);
    const signed char *a = gguf_find_tensor(g, "a")->data;
    assert_int_equal(a[N - 1], 7);
    assert_ok(gguf_intact(g, &err), &err);
    assert_int_equal(truncate(path, 1 << 14), 0);
    assert_ok(gguf_intact(g, &err), &err); /* nothing of it was read since */
    assert_int_equal(a[N - 1], 0);
    for (int i = 0; i < 2; i++) { /* and it stays so */
        assert_int_equal(gguf_intact(g, &err), FO_EIO);
        assert_non_null(strstr(err.msg, path));
        assert_non_null(strstr(err.msg, "cannot be read any more"));
    }
    gguf_close(g);
    free(data);
    test_remove(dir);
}

/* So is a safetensors file, of which the header is read whole when it is opened and the values as they are needed. */
static void a_safetensors_file_that_is_cut_off_is_told(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    static const char header[] =
        "{\"a\":{\"dtype\":\"I8\",\"shape\":[65536],\"data_offsets\":[0,65536]}}";
    const uint64_t n = sizeof header - 1;
    char *dir = test_folder(), path[4096];
    fo_err err = {0};
    fo_buf file = {0};
    unsigned char *values = malloc(N);
    assert_non_null(values);
    memset(values, 7, N);
    fo_buf_add(&file, &n, sizeof n);
    fo_buf_add(&file, header, n);
    fo_buf_add(&file, values, N);
    assert_false(file.failed);
    snprintf(path, sizeof path, "%s/long.safetensors", dir);
    assert_ok(fo_file_put(path, file.data, file.len, &err), &err);
    safetensors *s;
    assert_ok(safetensors_open(&s, path, &err), &err);
    const signed char *a = safetensors_find(s, "a")->data;
    assert_int_equal(a[N - 1], 7);
    assert_ok(safetensors_intact(s, &err), &err);
    assert_int_equal(truncate(path, 1 << 14), 0);
    assert_int_equal(a[N - 1], 0);
    assert_int_equal(safetensors_intact(s, &err), FO_EIO);
    assert_non_null(strstr(err.msg, path));
    safetensors_close(s);
    free(values);
    fo_buf_free(&file);
    test_remove(dir);
}

static void opens_every_golden_file(void **state) {
    (void)state;
    const char *names[] = {"models/all-minilm-l6-v2-f16.gguf", "models/stories260K.gguf",
                           "golden/tokenizers/ggml-vocab-llama-bpe.gguf",
                           "golden/models/llama-256-IQ4_XS.gguf"};
    const size_t tensors[] = {101, 48, 0, 21};
    for (size_t i = 0; i < 4; i++) {
        const char *path = test_shared(names[i]);
        if (!path) skip();
        fo_err err = {0};
        gguf *g;
        assert_ok(gguf_open(&g, path, &err), &err);
        assert_int_equal(gguf_n_tensors(g), tensors[i]);
        gguf_close(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_the_writer_wrote),
        cmocka_unit_test(copies_metadata_of_every_kind_unchanged),
        cmocka_unit_test(the_writer_refuses_what_does_not_fit),
        cmocka_unit_test(refuses_hostile_headers_with_the_byte_offset),
        cmocka_unit_test(refuses_hostile_tensors),
        cmocka_unit_test(refuses_other_files_and_versions),
        cmocka_unit_test(survives_truncation_and_bit_flips),
        cmocka_unit_test(a_file_that_is_cut_off_while_it_is_open_is_told),
        cmocka_unit_test(a_safetensors_file_that_is_cut_off_is_told),
        cmocka_unit_test(opens_every_golden_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
