/* convert.h: a packed encoder, made here, small and with known weights: what becomes of its tensors and
 * its vocabulary, and that no damaged file gets through. */
#include "tests/test.h"

#include "engine/embed/embedder.h"
#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tools/convert.h"
#include "kernels/buf.h"
#include "kernels/file.h"

enum { WIDTH = 32, FFN = 64, HEADS = 2, POSITIONS = 16, TYPES = 2, ROWS = 16 };

static const char *const pieces[] = {"<s>",           "<pad>", "</s>", "<unk>", "\xE2\x96\x81",
                                     "\xE2\x96\x81p", "u",     "m",    "p",     "ump",
                                     "<mask>"};
enum { N_PIECES = sizeof pieces / sizeof *pieces };

static void put_u32(fo_buf *b, uint32_t v) {
    fo_buf_add(b, &v, 4);
}

static void put_u64(fo_buf *b, uint64_t v) {
    fo_buf_add(b, &v, 8);
}

typedef struct maker {
    fo_buf file, directory, data;
    uint32_t n, seed;
} maker;

static void put_tensor(maker *m, const char *name, uint32_t n, bool blocks) {
    uint16_t len = (uint16_t)strlen(name);
    size_t at = m->data.len;
    for (uint32_t i = 0; i < (blocks ? n / 32 : n); i++) {
        m->seed = m->seed * 1664525 + 1013904223;
        float v = (float)(m->seed >> 16 & 0xFF) / 256 - .5f;
        if (!blocks) {
            fo_buf_add(&m->data, &v, sizeof v);
            continue;
        }
        uint16_t scale = quant_f32_to_f16(v / 8);
        fo_buf_add(&m->data, &scale, sizeof scale);
        for (int k = 0; k < 16; k++) fo_buf_char(&m->data, (char)(m->seed >> (k % 13)));
    }
    fo_buf_add(&m->directory, &len, 2);
    fo_buf_str(&m->directory, name);
    fo_buf_char(&m->directory, blocks);
    put_u32(&m->directory, n);
    put_u64(&m->directory, at); /* the data's own place is added later */
    put_u64(&m->directory, m->data.len - at);
    m->n++;
}

static void put_linear(maker *m, const char *name, uint32_t out, uint32_t in) {
    char full[24];
    snprintf(full, sizeof full, "l0.%s.w", name);
    put_tensor(m, full, out * in, true);
    snprintf(full, sizeof full, "l0.%s.b", name);
    put_tensor(m, full, out, false);
}

static void put_norm(maker *m, const char *name) {
    char full[24];
    snprintf(full, sizeof full, "%s.w", name);
    put_tensor(m, full, WIDTH, false);
    snprintf(full, sizeof full, "%s.b", name);
    put_tensor(m, full, WIDTH, false);
}

static void put_vocabulary(fo_buf *b) {
    fo_buf bytes = {0};
    put_u32(b, N_PIECES);
    put_u32(b, 0);
    put_u32(b, 2);
    put_u32(b, 1);
    put_u32(b, 3);
    for (int i = 0; i < N_PIECES; i++) fo_buf_str(&bytes, pieces[i]);
    put_u64(b, bytes.len);
    for (uint32_t i = 0, at = 0; i <= N_PIECES;
         at += i < N_PIECES ? (uint32_t)strlen(pieces[i]) : 0, i++)
        put_u32(b, at);
    for (int i = 0; i < N_PIECES; i++) {
        float score = i < 4 || i == N_PIECES - 1 ? 0 : i == 9 ? -2 : -5;
        fo_buf_add(b, &score, sizeof score);
    }
    fo_buf_add(b, bytes.data, bytes.len);
    fo_buf_free(&bytes);
    put_u32(b, 2); /* "P" becomes "p", a tab a space */
    put_u32(b, 18);
    for (int i = 0; i < 2; i++) {
        put_u32(b, i ? 'P' : '\t');
        fo_buf_char(b, 1);
        put_u32(b, i ? 'p' : ' ');
    }
}

/* The places of the directory count from the data; moved by where that lies in the file. */
static void move_places(fo_buf *directory, uint32_t n, uint64_t by) {
    char *at = directory->data;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t len;
        uint64_t place;
        memcpy(&len, at, 2);
        at += 2 + len + 5;
        memcpy(&place, at, 8);
        place += by;
        memcpy(at, &place, 8);
        at += 16;
    }
}

static fo_buf make_file(void) {
    maker m = {.seed = 7};
    const uint32_t head[] = {1, WIDTH, 1, HEADS, FFN, ROWS, POSITIONS, TYPES};
    const float epsilon = 1e-12f;
    fo_buf_add(&m.file, "E5S1", 4);
    fo_buf_add(&m.file, head, sizeof head);
    fo_buf_add(&m.file, &epsilon, sizeof epsilon);
    put_u32(&m.file, 32);
    put_vocabulary(&m.file);
    put_tensor(&m, "emb.word", ROWS * WIDTH, true);
    put_tensor(&m, "emb.pos", POSITIONS * WIDTH, false);
    put_tensor(&m, "emb.type", TYPES * WIDTH, false);
    put_norm(&m, "emb.ln");
    put_linear(&m, "q", WIDTH, WIDTH);
    put_linear(&m, "k", WIDTH, WIDTH);
    put_linear(&m, "v", WIDTH, WIDTH);
    put_linear(&m, "ao", WIDTH, WIDTH);
    put_norm(&m, "l0.aln");
    put_linear(&m, "fi", FFN, WIDTH);
    put_linear(&m, "fo", WIDTH, FFN);
    put_norm(&m, "l0.oln");
    put_u32(&m.file, m.n);
    move_places(&m.directory, m.n, m.file.len + m.directory.len);
    fo_buf_add(&m.file, m.directory.data, m.directory.len);
    fo_buf_add(&m.file, m.data.data, m.data.len);
    assert_false(m.file.failed);
    fo_buf_free(&m.directory);
    fo_buf_free(&m.data);
    return m.file;
}

static int convert(const char *dir, const void *data, size_t n, quant_type type, convert_result *r,
                   fo_err *err) {
    char in[4096], out[4096];
    snprintf(in, sizeof in, "%s/in.bin", dir);
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    FILE *f = fopen(in, "wb"); /* thousands of them: none is synced */
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
    return convert_packed(in, out, &(convert_options){.type = type}, r, err);
}

static void a_packed_file_keeps_its_bits_and_its_vocabulary(void **state) {
    (void)state;
    char *dir = test_folder(), out[4096];
    fo_buf file = make_file();
    fo_err err = {0};
    convert_result r;
    gguf *g;
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    assert_ok(convert(dir, file.data, file.len, QUANT_Q4_0, &r, &err), &err);
    assert_int_equal(r.n_layers, 1);
    assert_int_equal(r.n_vocab, N_PIECES);
    assert_ok(gguf_open(&g, out, &err), &err);
    const gguf_tensor *t = gguf_find_tensor(g, "token_embd.weight");
    assert_non_null(t);
    assert_int_equal(t->type, QUANT_Q4_0);
    assert_int_equal(t->dims[1], N_PIECES); /* rows that no piece has are gone */
    assert_non_null(memmem(file.data, file.len, t->data, t->size_bytes));
    t = gguf_find_tensor(g, "blk.0.ffn_down.weight");
    assert_non_null(t);
    assert_int_equal(t->dims[0], FFN);
    assert_non_null(memmem(file.data, file.len, t->data, t->size_bytes));
    gguf_close(g);

    embedder *e;
    int32_t ids[16];
    assert_ok(embedder_open(&e, out, &err), &err);
    const tokenizer *words = embedder_tokenizer(e);
    assert_int_equal(tokenizer_encode(words, "\tPump up", 8, 0, ids, 16), 5);
    assert_memory_equal(ids, ((int32_t[]){5, 9, 4, 6, 8}), 5 * sizeof *ids);
    assert_int_equal(tokenizer_encode(words, "<s>", 3, 0, ids, 16), 2); /* text, not the token */
    assert_memory_equal(ids, ((int32_t[]){4, 3}), 2 * sizeof *ids);
    embedder_close(e);
    fo_buf_free(&file);
    free(dir);
}

static void sixteen_bits_say_what_four_said(void **state) {
    (void)state;
    char *dir = test_folder(), out[4096];
    fo_buf file = make_file();
    fo_err err = {0};
    float v[2][WIDTH];
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    const quant_type types[] = {QUANT_Q4_0, QUANT_F16};
    for (int i = 0; i < 2; i++) {
        embedder *e;
        const char *text = "pump up";
        size_t len = strlen(text);
        assert_ok(convert(dir, file.data, file.len, types[i], NULL, &err), &err);
        assert_ok(embedder_open_with(&e, out, &(embedder_options){.exact = true}, &err), &err);
        assert_ok(embedder_embed(e, EMBED_PASSAGE, &text, &len, 1, v[i], &err), &err);
        embedder_close(e);
    }
    float dot = 0;
    for (int k = 0; k < WIDTH; k++) dot += v[0][k] * v[1][k];
    assert_true(dot > .9999f);
    fo_buf_free(&file);
    free(dir);
}

static void a_file_cut_short_anywhere_is_refused(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_buf file = make_file();
    for (size_t n = 0; n < file.len; n += n < 2048 ? 1 : 97) {
        fo_err err = {0};
        assert_int_equal(convert(dir, file.data, n, QUANT_Q4_0, NULL, &err), FO_ECORRUPT);
        assert_non_null(strstr(err.msg, "in.bin"));
    }
    fo_buf_free(&file);
    free(dir);
}

static void no_changed_byte_of_the_head_does_harm(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_buf file = make_file();
    size_t n_refused = 0, data_at = 1500; /* the directory ends about there */
    for (size_t at = 0; at < data_at; at += 3) {
        char was = file.data[at];
        fo_err err = {0};
        file.data[at] = (char)(was ^ 0xFF);
        n_refused += convert(dir, file.data, file.len, QUANT_Q4_0, NULL, &err) != FO_OK;
        file.data[at] = was;
    }
    assert_true(n_refused > 200); /* the rest are letters of pieces, bits of scores and weights */
    fo_buf_free(&file);
    free(dir);
}

/* Once the first of its tensors was read, as a copy over it would. */
static void cut_off(void *path, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    assert_int_equal(truncate(path, 0), 0);
}

static void no_model_is_made_of_a_file_that_is_cut_off_meanwhile(void **state) {
    (void)state;
    char *dir = test_folder(), in[4096], out[4096];
    fo_buf file = make_file();
    fo_err err = {0};
    snprintf(in, sizeof in, "%s/in.bin", dir);
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    assert_ok(fo_file_put(in, file.data, file.len, &err), &err);
    const convert_options cuts = {.type = QUANT_F32, .progress = cut_off, .progress_arg = in};
    assert_int_equal(convert_packed(in, out, &cuts, NULL, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "in.bin: byte"));
    assert_int_equal(access(out, F_OK), -1);
    fo_buf_free(&file);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_file_keeps_its_bits_and_its_vocabulary),
        cmocka_unit_test(no_model_is_made_of_a_file_that_is_cut_off_meanwhile),
        cmocka_unit_test(sixteen_bits_say_what_four_said),
        cmocka_unit_test(a_file_cut_short_anywhere_is_refused),
        cmocka_unit_test(no_changed_byte_of_the_head_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
