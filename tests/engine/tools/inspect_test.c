/* forage inspect: what it says of a file is what opening the file does, for models that run and
 * for those that do not. */
#include "tests/test.h"

#include "engine/embed/embedder.h"
#include "engine/generate/engine.h"
#include "engine/gguf/gguf.h"
#include "engine/tools/inspect.h"
#include "tests/engine/tiny_model.h"

static inspect_report look(const char *path) {
    fo_err err = {0};
    gguf *g;
    inspect_report r;
    assert_ok(gguf_open(&g, path, &err), &err);
    inspect_file(&r, path, g);
    gguf_close(g);
    return r;
}

static void the_built_in_table_runs(void **state) {
    (void)state;
    inspect_report r = look("data/models/forage-embed-256.gguf");
    assert_int_equal(r.kind, INSPECT_STATIC);
    assert_true(r.runs && r.fits);
    assert_int_equal(r.types[QUANT_I8].n_tensors, 1);
    assert_int_equal(r.types[QUANT_I8].bytes, 30522 * 256);
    assert_string_equal(r.architecture, "forage-static");
}

static void kinds_and_needs_are_told_apart(void **state) {
    (void)state;
    const struct {
        const char *name;
        inspect_kind kind;
        bool runs;
        uint64_t kv; /* 2 bytes x layers x KV heads x (key + value width) */
    } cases[] = {
        {"models/all-minilm-l6-v2-f16.gguf", INSPECT_ENCODER, true, 0},
        {"models/stories260K.gguf", INSPECT_GENERATOR, true, 2 * 5 * 4 * (8 + 8)},
        {"golden/tokenizers/ggml-vocab-qwen2.gguf", INSPECT_VOCABULARY, false, 0},
    };
    for (size_t i = 0; i < 3; i++) {
        const char *path = test_shared(cases[i].name);
        if (!path) skip();
        inspect_report r = look(path);
        assert_int_equal(r.kind, cases[i].kind);
        assert_int_equal(r.runs, cases[i].runs);
        assert_int_equal(r.kv_bytes_per_token, cases[i].kv);
        assert_int_equal(r.reason[0] == 0, cases[i].runs);
        assert_true(r.needed_bytes >= r.weight_bytes + r.scratch_bytes);
    }
}

static void an_unknown_architecture_is_told_why_it_does_not_run(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/x.gguf", dir);
    fo_err err = {0};
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_str(w, "general.architecture", "unheard-of");
    gguf_put_tensor(w, "t", QUANT_F32, 1, (uint64_t[]){1});
    assert_ok(gguf_write_data(w, "abcd", 4, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    inspect_report r = look(path);
    assert_int_equal(r.kind, INSPECT_UNKNOWN);
    assert_false(r.runs);
    assert_non_null(strstr(r.reason, "unheard-of"));
    test_remove(dir);
}

/* Every place where `from` stands in the file, which has as many bytes as `to`. */
static void spoil(const char *path, const char *from, const char *to) {
    enum { MOST = 4 << 20 };
    char *text = malloc(MOST), *at = text;
    FILE *f = fopen(path, "r+b");
    size_t n = fread(text, 1, MOST, f);
    assert_int_equal(strlen(from), strlen(to));
    assert_true(n < MOST && memmem(text, n, from, strlen(from)));
    while ((at = memmem(at, n - (size_t)(at - text), from, strlen(from))))
        memcpy(at, to, strlen(to));
    rewind(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    free(text);
}

/* What opens the file says; the message goes to err. */
static bool opens(const char *path, bool encoder, fo_err *err) {
    if (encoder) {
        embedder *e = NULL;
        bool ok = embedder_open(&e, path, err) == FO_OK;
        embedder_close(e);
        return ok;
    }
    engine *e = NULL;
    bool ok = engine_open(&e, &(engine_options){.model = path, .n_threads = 1}, err) == FO_OK;
    engine_close(e);
    return ok;
}

static void what_inspect_says_is_what_opening_does(void **state) {
    (void)state;
    static const struct {
        const char *arch, *from, *to; /* from: spoilt in the file, NULL: nothing */
        bool runs;
    } cases[] = {
        {"llama", NULL, NULL, true},
        {"qwen2", NULL, NULL, true},
        {"dream", NULL, NULL, true},
        {"llada", NULL, NULL, true},
        {"llada", "tokenizer.ggml.mask_token_id", "tokenizer.ggml.mash_token_id", false},
        {"llama", "tokenizer.ggml.model", "tokenizer.ggml.modem", false},
        {"llama", "tokenizer.ggml.tokens", "tokenizer.ggml.tokenz", false},
        {"bert", "cls.output.weight", "cls.utopia.weight", false}, /* has no vocabulary */
    };
    uint64_t seed = test_seed();
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/m.gguf", dir);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool bert = !strcmp(cases[i].arch, "bert");
        tiny_shape s = {.arch = cases[i].arch,
                        .d = 64,
                        .layers = 2,
                        .heads = 4,
                        .kv_heads = bert ? 4 : 2,
                        .head_dim = 16,
                        .ff = 96,
                        .vocab = 128};
        tiny_model_write(path, &s, &seed);
        if (cases[i].from) spoil(path, cases[i].from, cases[i].to);
        inspect_report r = look(path);
        fo_err err = {0};
        bool opened = opens(path, bert, &err);
        if (r.runs != opened || opened != cases[i].runs || (!opened && strcmp(r.reason, err.msg)))
            fail_msg("%s, case %zu: inspect says %d (%s), opening %d (%s)", cases[i].arch, i,
                     r.runs, r.reason, opened, err.msg);
        assert_true(r.fits || !r.runs);
    }
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_table_runs),
        cmocka_unit_test(kinds_and_needs_are_told_apart),
        cmocka_unit_test(an_unknown_architecture_is_told_why_it_does_not_run),
        cmocka_unit_test(what_inspect_says_is_what_opening_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
