/* metadata_kinds_test.c - a metadata key of a wrong kind is refused by its name, never passed over:
 * every key that the engine reads is given every kind that it must not have. How RoPE is stretched. */
#include "tests/test.h"

#include "engine/chat/chat_prompt.h"
#include "engine/embed/embedder.h"
#include "engine/model/model.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/buf.h"
#include "tests/engine/tiny_model.h"

enum want { INTEGER, NUMBER, FLAG, TEXT, TEXTS, NUMBERS, INTEGERS, BYTES };

typedef struct key {
    const char *name;
    enum want want;
    double number; /* where the tiny model lacks the key: what it gets */
    const char *text;
} key;

/* What each `want` takes of the values below. */
enum { U32 = 1, F32 = 2, BOOL = 4, STR = 8, STRS = 16, I32S = 32, F32S = 64, U8S = 128, ALL = 255 };
static const int takes[] = {
    [INTEGER] = U32, [NUMBER] = U32 | F32,          [FLAG] = BOOL,           [TEXT] = STR,
    [TEXTS] = STRS,  [NUMBERS] = I32S | F32S | U8S, [INTEGERS] = I32S | U8S, [BYTES] = U8S};

static void put(gguf_writer *w, const char *name, int kind, double number, const char *text) {
    const gguf_str s = {text ? text : "x", text ? strlen(text) : 1};
    switch (kind) {
    case U32:
        gguf_put_u32(w, name, (uint32_t)number);
        break;
    case F32:
        gguf_put_f32(w, name, (float)number);
        break;
    case BOOL:
        gguf_put_bool(w, name, number != 0);
        break;
    case STR:
        gguf_put_str_n(w, name, s);
        break;
    case STRS:
        gguf_put_strs(w, name, &s, 1);
        break;
    case I32S:
        gguf_put_i32s(w, name, (int32_t[]){1}, 1);
        break;
    case F32S:
        gguf_put_f32s(w, name, (float[]){1}, 1);
        break;
    default: {
        static const unsigned char raw[] = {GGUF_U8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4};
        gguf_put_kv(w, &(gguf_kv){.key = {name, strlen(name)},
                                  .kind = GGUF_ARRAY,
                                  .raw = raw,
                                  .raw_bytes = sizeof raw});
    }
    }
}

static int right(enum want want) {
    return want == NUMBER ? F32 : takes[want] & -takes[want];
}

/* `from` again with all keys; keys[bad] (none: -1) as `kind`. */
static void copy_file(const char *from, const char *to, const key *keys, int n_keys, int bad,
                      int kind) {
    fo_err err = {0};
    gguf *g;
    gguf_writer *w;
    assert_ok(gguf_open(&g, from, &err), &err);
    assert_ok(gguf_writer_create(&w, to, &err), &err);
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *kv = gguf_kv_at(g, i);
        if (bad < 0 || !gguf_str_equal(kv->key, keys[bad].name)) gguf_put_kv(w, kv);
    }
    for (int i = 0; i < n_keys; i++)
        if (i == bad)
            put(w, keys[i].name, kind, 1, NULL);
        else if (!gguf_has(g, keys[i].name))
            put(w, keys[i].name, right(keys[i].want), keys[i].number, keys[i].text);
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)t->name.len, t->name.ptr);
        gguf_put_tensor(w, name, t->type, t->n_dims, t->dims);
    }
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        assert_ok(gguf_write_data(w, t->data, t->size_bytes, &err), &err);
    }
    assert_ok(gguf_writer_commit(w, &err), &err);
    gguf_close(g);
}

static int open_generator(const char *path, fo_err *err) {
    model_info info;
    gguf *g;
    tokenizer *t = NULL;
    chat_prompt *chat = NULL;
    int rc = model_probe(&info, path, true, err);
    if (rc) return rc;
    assert_ok(gguf_open(&g, path, err), err);
    rc = tokenizer_from_gguf(&t, g, err);
    if (!rc) rc = chat_prompt_create(&chat, g, t, NULL, err);
    chat_prompt_free(chat);
    tokenizer_free(t);
    gguf_close(g);
    return rc;
}

static int open_embedder(const char *path, fo_err *err) {
    embedder *e = NULL;
    int rc = embedder_open(&e, path, err);
    embedder_close(e);
    return rc;
}

static void check(const char *from, const key *keys, int n_keys,
                  int (*open)(const char *path, fo_err *err)) {
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/copy.gguf", dir);
    fo_err err = {0};
    copy_file(from, path, keys, n_keys, -1, 0);
    assert_ok(open(path, &err), &err);
    for (int i = 0; i < n_keys; i++)
        for (int kind = 1; kind < ALL; kind *= 2) {
            if (takes[keys[i].want] & kind) continue;
            copy_file(from, path, keys, n_keys, i, kind);
            err = (fo_err){0};
            if (open(path, &err) == FO_OK) fail_msg("%s of kind %d is taken", keys[i].name, kind);
            if (!strstr(err.msg, keys[i].name)) fail_msg("%s: \"%s\"", keys[i].name, err.msg);
        }
    test_remove(dir);
}

static void check_tiny(const char *arch, const key *keys, int n_keys,
                       int (*open)(const char *path, fo_err *err)) {
    uint64_t seed = test_seed();
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/tiny.gguf", dir);
    const tiny_shape shape = {.arch = arch,
                              .type = QUANT_F32,
                              .d = 32,
                              .layers = 1,
                              .heads = 2,
                              .kv_heads = 2,
                              .head_dim = 16,
                              .ff = 32,
                              .vocab = 104};
    tiny_model_write(path, &shape, &seed);
    check(path, keys, n_keys, open);
    test_remove(dir);
}

static void a_generators_keys(void **state) {
    (void)state;
    static const key keys[] = {
        {"general.architecture", TEXT, 0, NULL},
        {"general.name", TEXT, 0, "tiny"},
        {"llama.block_count", INTEGER, 0, NULL},
        {"llama.context_length", INTEGER, 0, NULL},
        {"llama.embedding_length", INTEGER, 0, NULL},
        {"llama.feed_forward_length", INTEGER, 0, NULL},
        {"llama.attention.head_count", INTEGER, 0, NULL},
        {"llama.attention.head_count_kv", INTEGER, 0, NULL},
        {"llama.attention.key_length", INTEGER, 0, NULL},
        {"llama.attention.value_length", INTEGER, 0, NULL},
        {"llama.attention.layer_norm_rms_epsilon", NUMBER, 0, NULL},
        {"llama.expert_count", INTEGER, 0, NULL},
        {"llama.rope.dimension_count", INTEGER, 16, NULL},
        {"llama.rope.freq_base", NUMBER, 10000, NULL},
        {"llama.rope.scaling.type", TEXT, 0, "yarn"},
        {"llama.rope.scaling.factor", NUMBER, 2, NULL},
        {"llama.rope.scaling.original_context_length", INTEGER, 256, NULL},
        {"llama.rope.scaling.attn_factor", NUMBER, 1, NULL},
        {"llama.rope.scaling.yarn_beta_fast", NUMBER, 32, NULL},
        {"llama.rope.scaling.yarn_beta_slow", NUMBER, 1, NULL},
        {"tokenizer.ggml.model", TEXT, 0, NULL},
        {"tokenizer.ggml.pre", TEXT, 0, "default"},
        {"tokenizer.ggml.tokens", TEXTS, 0, NULL},
        {"tokenizer.ggml.scores", NUMBERS, 0, NULL},
        {"tokenizer.ggml.token_type", INTEGERS, 0, NULL},
        {"tokenizer.ggml.precompiled_charsmap", BYTES, 0, NULL},
        {"tokenizer.ggml.bos_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.eos_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.eot_token_id", INTEGER, 2, NULL},
        {"tokenizer.ggml.eom_token_id", INTEGER, 2, NULL},
        {"tokenizer.ggml.unknown_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.padding_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.cls_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.seperator_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.mask_token_id", INTEGER, 0, NULL},
        {"tokenizer.ggml.add_bos_token", FLAG, 1, NULL},
        {"tokenizer.ggml.add_eos_token", FLAG, 0, NULL},
        {"tokenizer.ggml.add_space_prefix", FLAG, 1, NULL},
        {"tokenizer.ggml.remove_extra_whitespaces", FLAG, 0, NULL},
        {"tokenizer.chat_template", TEXT, 0, "{{ bos_token }}"},
    };
    check_tiny("llama", keys, sizeof keys / sizeof *keys, open_generator);
}

static void keys_of_gemma3_and_phi3(void **state) {
    (void)state;
    static const key gemma[] = {{"gemma3.attn_logit_softcapping", NUMBER, 50, NULL},
                                {"gemma3.final_logit_softcapping", NUMBER, 30, NULL},
                                {"gemma3.attention.sliding_window", INTEGER, 64, NULL},
                                {"gemma3.rope.freq_base_swa", NUMBER, 10000, NULL}};
    static const key phi[] = {{"phi3.attention.sliding_window", INTEGER, 64, NULL}};
    check_tiny("gemma3", gemma, sizeof gemma / sizeof *gemma, open_generator);
    check_tiny("phi3", phi, 1, open_generator);
}

static void an_older_way_to_say_how_rope_is_stretched(void **state) {
    (void)state;
    static const key keys[] = {{"llama.rope.scale_linear", NUMBER, 2, NULL}};
    check_tiny("llama", keys, 1, open_generator);
}

static int probe(const char *path, fo_err *err) {
    model_info info;
    return model_probe(&info, path, true, err);
}

static void an_encoders_keys(void **state) {
    (void)state;
    static const key keys[] = {{"bert.pooling_type", INTEGER, MODEL_POOL_CLS, NULL},
                               {"bert.attention.layer_norm_epsilon", NUMBER, 0, NULL}};
    check_tiny("bert", keys, sizeof keys / sizeof *keys, probe);
}

/* The whole built-in table is too large to copy a hundred times: three rows of it. */
static void a_static_tables_keys(void **state) {
    (void)state;
    static const key keys[] = {{"general.name", TEXT, 0, "table"},
                               {"forage-static.embedding_length", INTEGER, 4, NULL},
                               {"forage-static.alpha", NUMBER, .5, NULL},
                               {"forage-static.tf_power", NUMBER, .5, NULL},
                               {"tokenizer.ggml.tokens", TEXTS, 0, NULL}};
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/table.gguf", dir);
    fo_err err = {0};
    gguf_writer *w;
    const gguf_str tokens[] = {{"[PAD]", 5}, {"[UNK]", 5}, {"word", 4}};
    const float rows[12] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_str(w, "general.architecture", "forage-static");
    gguf_put_str(w, "tokenizer.ggml.model", "bert");
    gguf_put_strs(w, "tokenizer.ggml.tokens", tokens, 3);
    gguf_put_u32(w, "tokenizer.ggml.unknown_token_id", 1);
    gguf_put_tensor(w, "token_embd.weight", QUANT_F32, 2, (uint64_t[]){4, 3});
    assert_ok(gguf_write_data(w, rows, sizeof rows, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    check(path, keys, sizeof keys / sizeof *keys, open_embedder);
    test_remove(dir);
}

/* A small model with these keys beside its own, at `other`. */
static void write_with(const char *dir, char other[4096], const key *keys, int n_keys) {
    uint64_t seed = 5;
    char path[4096];
    snprintf(path, sizeof path, "%s/tiny.gguf", dir);
    snprintf(other, 4096, "%s/other.gguf", dir);
    tiny_model_write(path,
                     &(tiny_shape){.arch = "llama",
                                   .type = QUANT_F32,
                                   .d = 32,
                                   .layers = 1,
                                   .heads = 2,
                                   .kv_heads = 2,
                                   .head_dim = 16,
                                   .ff = 32,
                                   .vocab = 104},
                     &seed);
    copy_file(path, other, keys, n_keys, -1, 0);
}

static void a_way_of_scaling_rope_that_is_not_known_is_refused(void **state) {
    (void)state;
    static const key keys[] = {{"llama.rope.scaling.type", TEXT, 0, "dynamic"}};
    char *dir = test_folder(), path[4096];
    write_with(dir, path, keys, 1);
    fo_err err = {0};
    assert_int_equal(probe(path, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "llama.rope.scaling.type is \"dynamic\""));
    test_remove(dir);
}

/* A key of ones, turned by so many positions. */
static void turned(const char *path, int by, float out[16]) {
    fo_err err = {0};
    model *m;
    kv_layout l;
    kv_pages *kv;
    float ones[16];
    for (int i = 0; i < 16; i++) ones[i] = 1;
    assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
    assert_ok(model_kv_layout(m, 16, KV_F32, &l, &err), &err);
    assert_ok(kv_pages_create(&kv, &l, 1, &err), &err);
    kv_pages_store(kv, 0, 0, 0, 0, ones, ones);
    assert_ok(model_shift_keys(m, kv, 0, 0, 1, by, &err), &err);
    kv_pages_load(kv, 0, 0, 0, 0, out, NULL);
    kv_pages_free(kv);
    model_close(m);
}

static void rope_is_stretched_however_the_file_says_it(void **state) {
    (void)state;
    static const key type = {"llama.rope.scaling.type", TEXT, 0, "linear"},
                     none = {"llama.rope.scaling.type", TEXT, 0, "none"},
                     four = {"llama.rope.scaling.factor", NUMBER, 4, NULL},
                     old = {"llama.rope.scale_linear", NUMBER, 4, NULL},
                     two = {"llama.rope.scale_linear", NUMBER, 2, NULL};
    static const struct {
        key keys[2];
        int n, by;
    } files[] = {{{type}, 0, 3},       {{type, four}, 2, 12}, {{four}, 1, 12},      {{old}, 1, 12},
                 {{type, old}, 2, 12}, {{four, two}, 2, 12},  {{none, four}, 2, 3}, {{type}, 1, 3}};
    static const double no_factor[] = {0, -2, 1e-30, 1e20};
    char *dir = test_folder(), path[4096];
    float plain[16], key_of[16];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_with(dir, path, files[i].keys, files[i].n);
        turned(path, files[i].by, i ? key_of : plain);
        if (i) assert_memory_equal(plain, key_of, sizeof plain);
    }
    for (int i = 0; i < 8; i++) {
        key bad = i % 2 ? four : old;
        bad.number = no_factor[i / 2];
        fo_err err = {0};
        write_with(dir, path, &bad, 1);
        assert_int_equal(probe(path, &err), FO_ECORRUPT);
        assert_non_null(strstr(err.msg, bad.name));
    }
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_generators_keys),
        cmocka_unit_test(keys_of_gemma3_and_phi3),
        cmocka_unit_test(an_encoders_keys),
        cmocka_unit_test(a_static_tables_keys),
        cmocka_unit_test(an_older_way_to_say_how_rope_is_stretched),
        cmocka_unit_test(a_way_of_scaling_rope_that_is_not_known_is_refused),
        cmocka_unit_test(rope_is_stretched_however_the_file_says_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
