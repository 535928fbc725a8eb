/* diffusion_keys_test.c - what a model's file says of how it wants to be written with. */
#include "tests/test.h"

#include <math.h>

#include "engine/diffusion/diffusion.h"
#include "engine/gguf/gguf.h"

typedef struct key {
    const char *name;
    enum { INT, FLOAT, BOOL, STR } kind;
    double number;
    const char *text;
} key;

enum { MASK = 7, VOCAB = 100 };

/* A file with the mask token (unless it is negative) and these keys, read for a model of this kind. */
static int read_keys(diffusion_model *out, const char *arch, int attention_block, int mask,
                     const key *keys, size_t n, fo_err *err) {
    char dir[] = "/tmp/forage-diffusion-XXXXXX", path[80];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/m.gguf", dir);
    gguf_writer *w;
    gguf *g;
    assert_ok(gguf_writer_create(&w, path, err), err);
    gguf_put_str(w, "general.architecture", arch);
    if (mask >= 0) gguf_put_u32(w, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
    for (size_t i = 0; i < n; i++) switch (keys[i].kind) {
        case INT:
            gguf_put_u32(w, keys[i].name, (uint32_t)keys[i].number);
            break;
        case FLOAT:
            gguf_put_f32(w, keys[i].name, (float)keys[i].number);
            break;
        case BOOL:
            gguf_put_bool(w, keys[i].name, keys[i].number != 0);
            break;
        case STR:
            gguf_put_str(w, keys[i].name, keys[i].text);
            break;
        }
    assert_ok(gguf_writer_commit(w, err), err);
    assert_ok(gguf_open(&g, path, err), err);
    model_info info = {.n_vocab = VOCAB, .attention_block = attention_block};
    snprintf(info.arch, sizeof info.arch, "%s", arch);
    int rc = diffusion_model_read(out, &info, g, err);
    gguf_close(g);
    unlink(path);
    rmdir(dir);
    return rc;
}

static diffusion_params resolved(const diffusion_model *m, int n_answer) {
    diffusion_params p = diffusion_params_default();
    fo_err err = {0};
    assert_ok(diffusion_params_resolve(&p, m, n_answer, &err), &err);
    return p;
}

static void a_file_without_keys_leaves_the_defaults(void **state) {
    (void)state;
    fo_err err = {0};
    diffusion_model m;
    assert_ok(read_keys(&m, "llada", 0, MASK, NULL, 0, &err), &err);
    assert_int_equal(m.mask, MASK);
    assert_false(m.shift);
    diffusion_params p = resolved(&m, 64);
    assert_int_equal(p.steps, 64);
    assert_int_equal(p.block_length, 32);
    assert_int_equal(p.kv, DIFFUSION_KV_OFF);
    assert_int_equal(p.verify, 0);
    assert_ok(read_keys(&m, "dream", 0, MASK, NULL, 0, &err), &err);
    assert_true(m.shift);
    p = resolved(&m, 64);
    assert_int_equal(p.block_length, 0);
    assert_int_equal(p.remasking, DIFFUSION_ENTROPY);
    assert_float_equal(p.eps, .001, 1e-6);
}

static void each_key_becomes_the_models_own(void **state) {
    (void)state;
    fo_err err = {0};
    diffusion_model m;
    const key keys[] = {
        {"diffusion.steps", INT, 20, NULL},       {"diffusion.block_length", INT, 16, NULL},
        {"diffusion.refresh", INT, 3, NULL},      {"diffusion.top_k", INT, 9, NULL},
        {"diffusion.top_p", FLOAT, .5, NULL},     {"diffusion.eps", FLOAT, .25, NULL},
        {"diffusion.guidance", FLOAT, 1.5, NULL}, {"diffusion.remasking", STR, 0, "margin"},
        {"diffusion.kv", STR, 0, "dual"},         {"diffusion.shift_logits", BOOL, 1, NULL}};
    assert_ok(read_keys(&m, "llada", 0, MASK, keys, sizeof keys / sizeof *keys, &err), &err);
    assert_true(m.shift);
    diffusion_params p = resolved(&m, 64);
    assert_int_equal(p.steps, 20);
    assert_int_equal(p.block_length, 16);
    assert_int_equal(p.refresh, 3);
    assert_int_equal(p.top_k, 9);
    assert_float_equal(p.top_p, .5, 0);
    assert_float_equal(p.eps, .25, 0);
    assert_float_equal(p.guidance, 1.5, 0);
    assert_int_equal(p.remasking, DIFFUSION_MARGIN);
    assert_int_equal(p.kv, DIFFUSION_KV_DUAL);
    p = diffusion_params_default(); /* who asks has the last word */
    p.steps = 32;
    assert_ok(diffusion_params_resolve(&p, &m, 64, &err), &err);
    assert_int_equal(p.steps, 32);
    assert_int_equal(p.block_length, 16);
}

static void a_model_may_want_its_guesses_verified(void **state) {
    (void)state;
    fo_err err = {0};
    diffusion_model m;
    const key on[] = {{"diffusion.verify", BOOL, 1, NULL}};
    const key off[] = {{"diffusion.verify", BOOL, 0, NULL}};
    assert_ok(read_keys(&m, "llada", 32, MASK, on, 1, &err), &err);
    diffusion_params p = resolved(&m, 64);
    assert_int_equal(p.verify, 1);
    assert_float_equal(p.threshold, .9, 1e-6);
    p = diffusion_params_default();
    p.verify = 0; /* who asks has the last word */
    assert_ok(diffusion_params_resolve(&p, &m, 64, &err), &err);
    assert_int_equal(p.verify, 0);
    assert_ok(read_keys(&m, "llada", 32, MASK, off, 1, &err), &err);
    assert_int_equal(resolved(&m, 64).verify, 0);
    /* attention that sees both ways cannot be verified: the file is wrong, and is told so */
    assert_int_equal(read_keys(&m, "llada", 0, MASK, on, 1, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "diffusion.verify"));
}

static void what_does_not_fit_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        key k;
        const char *says;
    } cases[] = {
        {{"diffusion.steps", INT, 4e9, NULL}, "diffusion.steps"},
        {{"diffusion.steps", STR, 0, "many"}, "diffusion.steps"},
        {{"diffusion.block_length", FLOAT, 1.5, NULL}, "diffusion.block_length"},
        {{"diffusion.guidance", FLOAT, NAN, NULL}, "diffusion.guidance"},
        {{"diffusion.guidance", FLOAT, -1, NULL}, "diffusion.guidance"},
        {{"diffusion.eps", FLOAT, 2, NULL}, "diffusion.eps"},
        {{"diffusion.top_p", FLOAT, 1.5, NULL}, "top_p"},
        {{"diffusion.remasking", STR, 0, "guesswork"}, "diffusion.remasking"},
        {{"diffusion.kv", STR, 0, "all"}, "diffusion.kv"},
        {{"diffusion.verify", INT, 1, NULL}, "diffusion.verify"},
        {{"diffusion.shift_logits", STR, 0, "yes"}, "diffusion.shift_logits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_err err = {0};
        diffusion_model m;
        int rc = read_keys(&m, "llada", 0, MASK, &cases[i].k, 1, &err);
        if (rc == FO_OK || !strstr(err.msg, cases[i].says))
            fail_msg("%s: %d, %s", cases[i].k.name, rc, err.msg);
    }
    fo_err err = {0};
    diffusion_model m;
    assert_int_equal(read_keys(&m, "llada", 0, -1, NULL, 0, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "mask_token_id"));
    assert_int_equal(read_keys(&m, "llada", 0, VOCAB, NULL, 0, &err), FO_ECORRUPT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_without_keys_leaves_the_defaults),
        cmocka_unit_test(each_key_becomes_the_models_own),
        cmocka_unit_test(a_model_may_want_its_guesses_verified),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
