/* Real vocabularies against ids that other implementations gave: needs the shared folder. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/file.h"

static tokenizer *load(const char *path) {
    fo_err err = {0};
    gguf *g;
    tokenizer *t = NULL;
    assert_ok(gguf_open(&g, path, &err), &err);
    assert_ok(tokenizer_from_gguf(&t, g, &err), &err);
    gguf_close(g);
    return t;
}

static char *read_shared(const char *name) {
    const char *path = test_shared(name);
    if (!path) return NULL;
    fo_err err = {0};
    char *data;
    size_t size;
    assert_ok(fo_file_read(path, 1u << 28, &data, &size, &err), &err);
    return data;
}

/* Ids equal, and the text comes back where the family is lossless. Returns the mistakes made. */
static int check(const tokenizer *t, const char *text, size_t len, const int32_t *want,
                 size_t n_want, bool lossless) {
    int32_t *ids;
    size_t n;
    fo_err err = {0};
    assert_ok(tokenizer_encode_alloc(t, text, len, 0, &ids, &n, &err), &err);
    size_t same = 0;
    while (same < n && same < n_want && ids[same] == want[same]) same++;
    bool wrong = n != n_want || same != n;
    if (wrong)
        fprintf(stderr, "# %zu ids, want %zu, differ at %zu (%d, want %d): %.*s\n", n, n_want, same,
                same < n ? ids[same] : -1, same < n_want ? want[same] : -1,
                (int)(len < 100 ? len : 100), text);
    assert_int_equal(tokenizer_count(t, text, len, 0), n);
    if (lossless && !wrong) {
        fo_buf out = {0};
        assert_ok(tokenizer_decode(t, ids, n, true, &out, &err), &err);
        assert_int_equal(out.len, len);
        if (len) assert_memory_equal(out.data, text, len);
        fo_buf_free(&out);
    }
    free(ids);
    return wrong;
}

static void check_vocabulary(const char *name, bool lossless) {
    char file[256];
    snprintf(file, sizeof file, "golden/tokenizers/ggml-vocab-%s.gguf.inp", name);
    char *in = read_shared(file);
    if (!in) skip();
    snprintf(file, sizeof file, "golden/tokenizers/ggml-vocab-%s.gguf.out", name);
    char *want = read_shared(file);
    assert_non_null(want);
    snprintf(file, sizeof file, "golden/tokenizers/ggml-vocab-%s.gguf", name);
    tokenizer *t = load(test_shared(file));
    static const char between[] = "\n__ggml_vocab_test__\n";
    const char *line = want, *text = in;
    int wrong = 0, lines = 0;
    for (;; lines++) {
        const char *end = strstr(text, between);
        if (!end) break;
        int32_t ids[4096];
        size_t n = 0;
        for (;;) {
            char *after;
            while (*line == ' ') line++;
            if (*line == '\n' || !*line) break;
            ids[n++] = (int32_t)strtol(line, &after, 10);
            assert_true(after > line);
            line = after;
        }
        if (*line) line++;
        wrong += check(t, text, (size_t)(end - text), ids, n, lossless);
        text = end + sizeof between - 1;
    }
    assert_int_equal(wrong, 0);
    assert_in_range(lines, 40, 100);
    tokenizer_free(t);
    free(want);
    free(in);
}

/* Lines of {"text", "ids"}. */
static void check_jsonl(const char *model, const char *name, const char *ids_key) {
    char *lines = read_shared(name);
    if (!lines) skip();
    tokenizer *t = load(model);
    int wrong = 0, n_lines = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), n_lines++) {
        cJSON *o = cJSON_Parse(line);
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(o, "text"));
        const cJSON *a = cJSON_GetObjectItem(o, ids_key), *v;
        assert_non_null(text);
        size_t n = 0;
        int32_t *ids = malloc((size_t)(cJSON_GetArraySize(a) + 1) * sizeof *ids);
        cJSON_ArrayForEach(v, a) ids[n++] = (int32_t)v->valuedouble;
        wrong += check(t, text, strlen(text), ids, n, false);
        free(ids);
        cJSON_Delete(o);
    }
    assert_true(n_lines > 0);
    assert_int_equal(wrong, 0);
    tokenizer_free(t);
    free(lines);
}

static void minilm_ids_are_hugging_faces(void **state) {
    (void)state;
    const char *path = test_shared("models/all-minilm-l6-v2-f16.gguf");
    if (!path) skip();
    char *model = strdup(path);
    check_jsonl(model, "golden/minilm/texts.jsonl", "ids");
    free(model);
}

static void bert_bge_agrees(void **state) {
    (void)state;
    check_vocabulary("bert-bge", false);
}

static void gpt_2_agrees(void **state) {
    (void)state;
    check_vocabulary("gpt-2", true);
}

static void llama_bpe_agrees(void **state) {
    (void)state;
    check_vocabulary("llama-bpe", true);
}

static void qwen2_agrees(void **state) {
    (void)state;
    check_vocabulary("qwen2", true);
}

static void starcoder_agrees(void **state) {
    (void)state;
    check_vocabulary("starcoder", true);
}

static void falcon_agrees(void **state) {
    (void)state;
    check_vocabulary("falcon", true);
}

static void deepseek_coder_agrees(void **state) {
    (void)state;
    check_vocabulary("deepseek-coder", true);
}

static void llama_spm_agrees(void **state) {
    (void)state;
    check_vocabulary("llama-spm", true);
}

/* The real model: FORAGE_SMOLLM2, or models/ where `make models` puts it. */
static void smollm2_ids_agree(void **state) {
    (void)state;
    const char *given = getenv("FORAGE_SMOLLM2");
    const char *model = given ? given : "models/smollm2-135m-instruct-q4_1.gguf";
    if (access(model, R_OK) != 0) skip();
    check_jsonl(model, "golden/smollm2/texts.jsonl", "tokens");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minilm_ids_are_hugging_faces),
        cmocka_unit_test(bert_bge_agrees),
        cmocka_unit_test(gpt_2_agrees),
        cmocka_unit_test(llama_bpe_agrees),
        cmocka_unit_test(qwen2_agrees),
        cmocka_unit_test(starcoder_agrees),
        cmocka_unit_test(falcon_agrees),
        cmocka_unit_test(deepseek_coder_agrees),
        cmocka_unit_test(llama_spm_agrees),
        cmocka_unit_test(smollm2_ids_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
