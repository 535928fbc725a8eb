/* convert.h and quantize.h: models made from others, held against the models they came from. */
#include "tests/test.h"

#include <math.h>
#include "engine/tools/convert.h"
#include "engine/embed/embedder.h"
#include "engine/gguf/gguf.h"
#include "engine/tools/quantize.h"
#include "kernels/buf.h"
#include "kernels/file.h"

static void put_file(const char *dir, const char *name, const void *data, size_t n) {
    char path[4096];
    fo_err err = {0};
    fo_file_writer *w;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(fo_file_create(&w, path, &err), &err);
    assert_ok(fo_file_write(w, data, n, &err), &err);
    assert_ok(fo_file_commit(w, &err), &err);
}

static void put_text(const char *dir, const char *name, const char *text) {
    put_file(dir, name, text, strlen(text));
}

/* --- a Hugging Face folder made out of a GGUF encoder: the way back must give the encoder --- */
static void hugging_face_name(gguf_str name, char *out, size_t size) {
    static const char *const parts[][2] = {
        {"attn_q.", "attention.self.query."},
        {"attn_k.", "attention.self.key."},
        {"attn_v.", "attention.self.value."},
        {"attn_output.", "attention.output.dense."},
        {"attn_output_norm.", "attention.output.LayerNorm."},
        {"ffn_up.", "intermediate.dense."},
        {"ffn_down.", "output.dense."},
        {"layer_output_norm.", "output.LayerNorm."},
        {"token_embd.", "embeddings.word_embeddings."},
        {"position_embd.", "embeddings.position_embeddings."},
        {"token_types.", "embeddings.token_type_embeddings."},
        {"token_embd_norm.", "embeddings.LayerNorm."},
    };
    char s[256];
    int layer = -1, at = 0;
    snprintf(s, sizeof s, "%.*s", (int)name.len, name.ptr);
    if (sscanf(s, "blk.%d.%n", &layer, &at) < 1) at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = strlen(parts[i][0]);
        if (strncmp(s + at, parts[i][0], n)) continue;
        if (layer >= 0)
            snprintf(out, size, "encoder.layer.%d.%s%s", layer, parts[i][1], s + at + n);
        else
            snprintf(out, size, "%s%s", parts[i][1], s + n);
        return;
    }
    fail_msg("no name for %s", s);
}

static void put_weights(const char *dir, const gguf *g) {
    fo_buf header = {0}, data = {0}, file = {0};
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        char name[256];
        assert_int_equal(t->type, QUANT_F32);
        hugging_face_name(t->name, name, sizeof name);
        fo_buf_printf(&header, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[", i ? "," : "{", name);
        if (t->n_dims == 2) fo_buf_printf(&header, "%llu,", (unsigned long long)t->dims[1]);
        fo_buf_printf(&header, "%llu],\"data_offsets\":[%zu,%zu]}", (unsigned long long)t->dims[0],
                      data.len, data.len + t->size_bytes);
        fo_buf_add(&data, t->data, t->size_bytes);
    }
    fo_buf_char(&header, '}');
    uint64_t n = header.len;
    fo_buf_add(&file, &n, 8);
    fo_buf_add(&file, header.data, header.len);
    fo_buf_add(&file, data.data, data.len);
    assert_false(file.failed);
    put_file(dir, "model.safetensors", file.data, file.len);
    fo_buf_free(&header);
    fo_buf_free(&data);
    fo_buf_free(&file);
}

static void put_words(const char *dir, const gguf *g) {
    fo_buf b = {0};
    fo_err err = {0};
    const gguf_str *words;
    size_t n;
    assert_ok(gguf_get_strs(g, "tokenizer.ggml.tokens", &words, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        bool begins = words[i].len >= 3 && !memcmp(words[i].ptr, "\xE2\x96\x81", 3);
        bool special = words[i].len > 2 && words[i].ptr[0] == '[';
        if (begins)
            fo_buf_add(&b, words[i].ptr + 3, words[i].len - 3);
        else
            fo_buf_printf(&b, "%s%.*s", special ? "" : "##", (int)words[i].len, words[i].ptr);
        fo_buf_char(&b, '\n');
    }
    put_file(dir, "vocab.txt", b.data, b.len);
    fo_buf_free(&b);
}

#define CONFIG                                                                                     \
    "{\"model_type\":\"bert\",\"num_hidden_layers\":2,"                                            \
    "\"hidden_size\":64,\"intermediate_size\":128,\"num_attention_heads\":4,"                      \
    "\"max_position_embeddings\":512,\"type_vocab_size\":2,\"vocab_size\":2699,"                   \
    "\"layer_norm_eps\":1e-12,\"hidden_act\":\"gelu\"}"

static gguf *make_folder(const char *dir) {
    fo_err err = {0};
    gguf *g;
    assert_ok(gguf_open(&g, test_shared("golden/models/bert-f32.gguf"), &err), &err);
    put_weights(dir, g);
    put_words(dir, g);
    put_text(dir, "config.json", CONFIG);
    return g;
}

static void a_converted_folder_is_the_model_it_came_from(void **state) {
    (void)state;
    if (!test_shared("golden/models/bert-f32.gguf")) skip();
    char *dir = test_folder(), out[4096];
    gguf *want = make_folder(dir), *got;
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    put_text(dir, "sentence_bert_config.json", "{\"max_seq_length\":128}");
    put_text(dir, "modules.json",
             "[{\"type\":\"a.Transformer\",\"path\":\"\"},{\"type\":\"a.Pooling\",\"path\":"
             "\"1_Pooling\"},{\"type\":\"a.Normalize\",\"path\":\"2_Normalize\"}]");
    put_text(dir, "config_sentence_transformers.json",
             "{\"prompts\":{\"query\":\"query: \",\"document\":\"passage: \"}}");
    fo_err err = {0};
    convert_result r;
    assert_ok(convert_folder(dir, out, &(convert_options){.type = QUANT_F32}, &r, &err), &err);
    assert_int_equal(r.n_layers, 2);
    assert_string_equal(r.pooling, "mean");
    assert_ok(gguf_open(&got, out, &err), &err);
    assert_int_equal(gguf_n_tensors(got), gguf_n_tensors(want));
    for (size_t i = 0; i < gguf_n_tensors(want); i++) {
        const gguf_tensor *a = gguf_tensor_at(want, i);
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)a->name.len, a->name.ptr);
        const gguf_tensor *b = gguf_find_tensor(got, name);
        assert_non_null(b);
        assert_int_equal(a->type, b->type);
        assert_memory_equal(a->dims, b->dims, sizeof a->dims);
        assert_memory_equal(a->data, b->data, a->size_bytes);
    }
    for (size_t i = 0; i < gguf_n_kv(want); i++) {
        const gguf_kv *a = gguf_kv_at(want, i);
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)a->key.len, a->key.ptr);
        const gguf_kv *b = gguf_find(got, name);
        if (!strcmp(name, "general.name") || !strcmp(name, "tokenizer.ggml.token_type")) continue;
        if (!b || a->raw_bytes != b->raw_bytes || memcmp(a->raw, b->raw, a->raw_bytes))
            fail_msg("metadata %s differs", name);
    }
    gguf_str s;
    assert_ok(gguf_get_str(got, "general.name", &s, &err), &err);
    assert_true(gguf_str_equal(s, "out"));
    assert_ok(gguf_get_str(got, "forage.embedding.passage_prefix", &s, &err), &err);
    assert_true(gguf_str_equal(s, "passage: "));
    gguf_close(got);
    embedder *e;
    assert_ok(embedder_open(&e, out, &err), &err);
    const size_t longer = embedder_count_tokens(e, "passage: ", 9);
    assert_true(longer > 0 && longer >= embedder_count_tokens(e, "query: ", 7));
    assert_int_equal(embedder_max_tokens(e), 126 - longer);
    assert_int_equal(embedder_dim(e), 64);
    embedder_close(e);
    gguf_close(want);
    test_remove(dir);
}

static void refuses_folders_it_cannot_convert(void **state) {
    (void)state;
    if (!test_shared("golden/models/bert-f32.gguf")) skip();
    char *dir = test_folder(), out[4096];
    gguf_close(make_folder(dir));
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    const struct {
        const char *file, *text, *says;
        int rc;
    } cases[] = {
        {"config.json", "{\"model_type\":\"roberta\"}", "roberta", FO_EUNSUPPORTED},
        {"config.json", "{\"model_type\":\"bert\"}", "num_hidden_layers", FO_ECORRUPT},
        {"config.json", "[", "config.json", FO_ECORRUPT},
        {"1_Pooling/config.json", "{\"pooling_mode_max_tokens\":true}", "pooling", FO_EUNSUPPORTED},
        {"1_Pooling/config.json",
         "{\"pooling_mode_mean_tokens\":true,\"pooling_mode_cls_token\":false,"
         "\"pooling_mode_max_tokens\":true}",
         "2 modes", FO_EUNSUPPORTED},
        {"modules.json",
         "[{\"type\":\"a.Transformer\",\"path\":\"\"},{\"type\":\"a.Pooling\",\"path\":\"1_"
         "Pooling\"},"
         "{\"type\":\"a.LayerNorm\",\"path\":\"2_LayerNorm\"},{\"type\":\"a.Normalize\",\"path\":"
         "\"3\"}]",
         "LayerNorm", FO_EUNSUPPORTED},
        {"modules.json", "[{\"path\":\"1_Pooling\"}]", "without a type", FO_ECORRUPT},
        {"modules.json", "[{\"type\":\"a.Dense\",\"path\":\"2_Dense\"}]", "Dense", FO_EUNSUPPORTED},
        {"modules.json", "[{\"type\":\"a.Pooling\",\"path\":\"../../etc\"}]", "outside",
         FO_ECORRUPT},
        {"vocab.txt", "[UNK]\na\n", "2 pieces", FO_ECORRUPT},
        {"model.safetensors", "short", "safetensors", FO_ECORRUPT},
    };
    char pooling[4200];
    snprintf(pooling, sizeof pooling, "%s/1_Pooling", dir);
    fo_err err = {0};
    assert_ok(fo_make_dirs(pooling, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[4200], kept[4300];
        snprintf(path, sizeof path, "%s/%s", dir, cases[i].file);
        snprintf(kept, sizeof kept, "%s.kept", path);
        rename(path, kept);
        put_text(dir, cases[i].file, cases[i].text);
        memset(&err, 0, sizeof err);
        int rc = convert_folder(dir, out, &(convert_options){.type = QUANT_F16}, NULL, &err);
        if (rc != cases[i].rc || !strstr(err.msg, cases[i].says))
            fail_msg("%s: %s: %s", cases[i].file, fo_code_name(rc), err.msg);
        assert_int_not_equal(access(out, F_OK), 0);
        unlink(path);
        rename(kept, path);
    }
    assert_ok(convert_folder(dir, out, &(convert_options){.type = QUANT_F16}, NULL, &err), &err);
    test_remove(dir);
}

/* --- quantize --- */
static void mixes_follow_llama_cpp(void **state) {
    (void)state;
    /* Files of the same little model that llama.cpp quantised: types must agree. */
    const struct {
        const char *file;
        quantize_target target;
    } cases[] = {{"golden/models/llama-256-Q4_K_M.gguf", QUANTIZE_Q4_K_M},
                 {"golden/models/llama-256-Q6_K.gguf", QUANTIZE_Q6_K},
                 {"golden/models/llama-256-Q8_0.gguf", QUANTIZE_Q8_0},
                 {"golden/models/llama-256-BF16.gguf", QUANTIZE_BF16},
                 {"golden/models/llama-256-F16.gguf", QUANTIZE_F16}};
    if (!test_shared("golden/models/llama-256-F16.gguf")) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fo_err err = {0};
        gguf *g;
        assert_ok(gguf_open(&g, test_shared(cases[k].file), &err), &err);
        for (size_t i = 0; i < gguf_n_tensors(g); i++) {
            const gguf_tensor *t = gguf_tensor_at(g, i);
            quant_type ours = quantize_type_for(g, t, cases[k].target);
            if (ours != t->type)
                fail_msg("%s: %.*s is %s, ours %s", cases[k].file, (int)t->name.len, t->name.ptr,
                         quant_type_traits(t->type)->name, quant_type_traits(ours)->name);
        }
        gguf_close(g);
    }
}

static void every_target_gives_a_file_close_to_its_source(void **state) {
    (void)state;
    const char *source = test_shared("golden/models/llama-256-F16.gguf");
    if (!source) skip();
    char *dir = test_folder(), out[4096], in[4096];
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    snprintf(in, sizeof in, "%s", source);
    const double worst[] = {[QUANTIZE_F16] = 0,    [QUANTIZE_BF16] = .003,  [QUANTIZE_Q8_0] = .01,
                            [QUANTIZE_Q4_0] = .11, [QUANTIZE_Q4_K_M] = .09, [QUANTIZE_Q6_K] = .025};
    fo_pool *pool = fo_pool_create(2);
    for (int target = 0; target <= QUANTIZE_Q6_K; target++) {
        fo_err err = {0};
        gguf *a, *b;
        quantize_result r;
        assert_ok(quantize_file(
                      in, out, &(quantize_options){.target = (quantize_target)target, .pool = pool},
                      &r, &err),
                  &err);
        assert_ok(gguf_open(&a, in, &err), &err);
        assert_ok(gguf_open(&b, out, &err), &err);
        assert_int_equal(gguf_n_tensors(a), gguf_n_tensors(b));
        assert_int_equal(r.n_converted + r.n_kept, gguf_n_tensors(a));
        for (size_t i = 0; i < gguf_n_tensors(a); i++) {
            const gguf_tensor *x = gguf_tensor_at(a, i), *y = gguf_tensor_at(b, i);
            size_t n = (size_t)x->dims[0];
            float *u = malloc(n * sizeof *u), *v = malloc(n * sizeof *v);
            double error = 0, power = 0;
            for (size_t row = 0; row < x->n_rows; row++) {
                quant_unpack_row(x->type, (const char *)x->data + row * x->row_bytes, u, n);
                quant_unpack_row(y->type, (const char *)y->data + row * y->row_bytes, v, n);
                for (size_t c = 0; c < n; c++) {
                    error += (double)(u[c] - v[c]) * (double)(u[c] - v[c]);
                    power += (double)u[c] * (double)u[c];
                }
            }
            if (sqrt(error / power) > worst[target])
                fail_msg("target %d, %.*s: error %.4f", target, (int)x->name.len, x->name.ptr,
                         sqrt(error / power));
            free(u);
            free(v);
        }
        gguf_close(a);
        gguf_close(b);
    }
    fo_pool_free(pool);
    test_remove(dir);
}

static void rows_that_do_not_divide_fall_back(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    fo_err err = {0};
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    const struct {
        const char *name;
        uint64_t cols;
        quant_type type;
    } tensors[] = {
        {"blk.0.attn_q.weight", 576, QUANT_Q5_0},      {"blk.0.attn_q.weight2", 576, QUANT_F32},
        {"blk.0.attn_qkv.weight", 576, QUANT_Q5_1},    {"output.weight", 576, QUANT_Q8_0},
        {"blk.0.ffn_up.weight", 40, QUANT_F16},        {"blk.0.attn_norm.weight", 576, QUANT_F32},
        {"blk.0.ffn_gate_inp.weight", 512, QUANT_F32}, {"blk.0.attn_k.weight", 512, QUANT_Q4_K},
    };
    enum { N = sizeof tensors / sizeof *tensors };
    for (size_t i = 0; i < N; i++)
        gguf_put_tensor(w, tensors[i].name, QUANT_F32, 2, (uint64_t[]){tensors[i].cols, 2});
    float zero[1152] = {0};
    for (size_t i = 0; i < N; i++)
        assert_ok(gguf_write_data(w, zero, tensors[i].cols * 2 * sizeof(float), &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    gguf *g;
    assert_ok(gguf_open(&g, path, &err), &err);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(quantize_type_for(g, gguf_tensor_at(g, i), QUANTIZE_Q4_K_M),
                         tensors[i].type);
    gguf_close(g);
    test_remove(dir);
}

static void the_token_embedding_may_have_a_type_of_its_own(void **state) {
    (void)state;
    char *dir = test_folder(), in[4096], out[4096];
    snprintf(in, sizeof in, "%s/in.gguf", dir);
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    fo_err err = {0};
    gguf_writer *w;
    enum { ROWS = 4, COLS = 384 };
    static float x[ROWS * COLS];
    uint64_t seed = test_seed();
    for (int i = 0; i < ROWS * COLS; i++) x[i] = (float)(test_uniform(&seed) - .5);
    assert_ok(gguf_writer_create(&w, in, &err), &err);
    static const char *const names[] = {"token_embd.weight", "blk.0.attn_q.weight"};
    for (int i = 0; i < 2; i++)
        gguf_put_tensor(w, names[i], QUANT_F32, 2, (uint64_t[]){COLS, ROWS});
    for (int i = 0; i < 2; i++) assert_ok(gguf_write_data(w, x, sizeof x, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    quantize_options o = {.target = QUANTIZE_Q8_0, .token_embedding = QUANT_IQ4_NL};
    quantize_result r;
    assert_ok(quantize_file(in, out, &o, &r, &err), &err);
    assert_int_equal(r.n_converted, 2);
    assert_int_equal(r.n_fallback, 0);
    gguf *g;
    assert_ok(gguf_open(&g, out, &err), &err);
    const gguf_tensor *e = gguf_find_tensor(g, names[0]);
    assert_int_equal(e->type, QUANT_IQ4_NL);
    assert_int_equal(gguf_find_tensor(g, names[1])->type, QUANT_Q8_0);
    for (int row = 0; row < ROWS; row++) {
        float want[COLS], got[COLS];
        unsigned char packed[COLS / 32 * 18];
        quant_pack_row(QUANT_IQ4_NL, x + row * COLS, packed, COLS);
        quant_unpack_row(QUANT_IQ4_NL, packed, want, COLS);
        quant_unpack_row(e->type, (const char *)e->data + (size_t)row * e->row_bytes, got, COLS);
        assert_memory_equal(got, want, sizeof want);
    }
    gguf_close(g);
    o.token_embedding = QUANT_Q4_K; /* 256 does not divide 384: said, not replaced */
    assert_int_equal(quantize_file(in, out, &o, &r, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "384"));
    o.token_embedding = QUANT_IQ4_XS;
    assert_int_equal(quantize_file(in, out, &o, &r, &err), FO_EINVAL);
    test_remove(dir);
}

/* Cuts the file off once the first of its tensors was read, as a copy over it would. */
static void cut_off(void *path, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    assert_int_equal(truncate(path, 4096), 0);
}

static void no_model_is_made_of_a_file_that_is_cut_off_meanwhile(void **state) {
    (void)state;
    if (!test_shared("golden/models/bert-f32.gguf")) skip();
    char *dir = test_folder(), in[4096], out[4096], half[4096];
    fo_err err = {0};
    convert_result made;
    quantize_result r;
    snprintf(in, sizeof in, "%s/model.safetensors", dir);
    snprintf(out, sizeof out, "%s/out.gguf", dir);
    snprintf(half, sizeof half, "%s/half.gguf", dir);
    gguf_close(make_folder(dir));
    const convert_options whole = {.type = QUANT_F32},
                          cuts = {.type = QUANT_F16, .progress = cut_off, .progress_arg = in};
    assert_ok(convert_folder(dir, out, &whole, &made, &err), &err);
    assert_int_equal(convert_folder(dir, half, &cuts, &made, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "model.safetensors: byte"));
    assert_int_equal(access(half, F_OK), -1);
    const quantize_options o = {.target = QUANTIZE_F16, .progress = cut_off, .progress_arg = out};
    assert_int_equal(quantize_file(out, half, &o, &r, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "out.gguf: byte"));
    assert_int_equal(access(half, F_OK), -1);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_converted_folder_is_the_model_it_came_from),
        cmocka_unit_test(refuses_folders_it_cannot_convert),
        cmocka_unit_test(no_model_is_made_of_a_file_that_is_cut_off_meanwhile),
        cmocka_unit_test(mixes_follow_llama_cpp),
        cmocka_unit_test(every_target_gives_a_file_close_to_its_source),
        cmocka_unit_test(rows_that_do_not_divide_fall_back),
        cmocka_unit_test(the_token_embedding_may_have_a_type_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
