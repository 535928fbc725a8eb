#include "tests/test.h"

#include "engine/gguf/gguf.h"
#include "engine/tools/inspect.h"

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
        assert_true(r.needed_bytes >= r.file_bytes);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_table_runs),
        cmocka_unit_test(kinds_and_needs_are_told_apart),
        cmocka_unit_test(an_unknown_architecture_is_told_why_it_does_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
