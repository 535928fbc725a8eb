/* experts_test.c - mixtures of experts against plain_network.h: Mixtral (llama), qwen3moe, llada-moe;
 * rows do not depend on their company; files that are wrong. */
#include "tests/test.h"

#include "engine/model/model.h"
#include "tests/engine/plain_network.h"

enum { V = 120, N = 40, PAGE = 16, KINDS = 3 };
static uint64_t seed;
static fo_err err;
static char *folder, path[512];

static int open_folder(void **state) {
    (void)state;
    folder = test_folder();
    snprintf(path, sizeof path, "%s/moe.gguf", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    test_remove(folder);
    return 0;
}

static tiny_shape shape(int kind, quant_type type) {
    static const char *const archs[KINDS] = {"llama", "qwen3moe", "llada-moe"};
    return (tiny_shape){.arch = archs[kind],
                        .type = type,
                        .d = 64,
                        .layers = 3,
                        .heads = 4,
                        .kv_heads = 2,
                        .head_dim = 32,
                        .ff = 64,
                        .vocab = V,
                        .experts = 9,
                        .experts_used = 1 + kind};
}

/* logits[N][V] of tokens, in steps of `cut` rows. */
static void run_model(const model *m, const int32_t *tokens, int cut, float *logits) {
    kv_layout l;
    kv_pages *kv;
    model_context *c;
    int32_t table[(N + PAGE - 1) / PAGE];
    const bool causal = model_get_info(m)->causal;
    for (int i = 0; i < (N + PAGE - 1) / PAGE; i++) table[i] = i;
    assert_ok(model_kv_layout(m, PAGE, KV_F32, &l, &err), &err);
    assert_ok(kv_pages_create(&kv, &l, (N + PAGE - 1) / PAGE, &err), &err);
    assert_ok(model_context_create(&c, m, &(model_limits){N, N}, &err), &err);
    for (int at = 0, n; at < N; at += n) {
        n = !causal || N - at < cut ? N - at : cut;
        model_sequence s = {.tokens = tokens + at,
                            .n_tokens = n,
                            .start = at,
                            .pages = table,
                            .n_pages = (N + PAGE - 1) / PAGE,
                            .n_logits = n};
        assert_ok(model_forward(c, kv, &s, 1, logits + at * V, &err), &err);
    }
    model_context_free(c);
    kv_pages_free(kv);
}

static double cosine(const float *a, const double *b, int n) {
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < n; i++) {
        ab += (double)a[i] * b[i];
        aa += (double)a[i] * (double)a[i];
        bb += b[i] * b[i];
    }
    return ab / sqrt(aa * bb);
}

static void gives_what_the_plain_network_gives(void **state) {
    (void)state;
    static float got[N * V], cut[N * V];
    static double want[N * V];
    int32_t tokens[N];
    for (int i = 0; i < N; i++) tokens[i] = (int32_t)(test_random(&seed) % V);
    for (int kind = 0; kind < KINDS; kind++)
        for (int variant = 0; variant < 8; variant++) {
            tiny_shape s = shape(kind, variant % 2 ? QUANT_Q8_0 : QUANT_F32);
            if (variant % 4 > 1) s.experts_used = s.experts;
            if (variant > 3) s.shared = kind ? 96 : 32; /* wider than an expert, and narrower */
            s.shared_gate = variant > 5;
            tiny_model_write(path, &s, &seed);
            plain_network *p = plain_open(path, &s, 0);
            plain_rows(p, tokens, 0, N, N, want);
            plain_close(p);
            for (int fast = 0; fast < 2; fast++)
                for (int threads = 1; threads < 4; threads++) {
                    fo_pool *pool = fo_pool_create(threads);
                    model *m;
                    assert_ok(
                        model_open(&m, path, &(model_options){.pool = pool, .fast = fast}, &err),
                        &err);
                    run_model(m, tokens, N, got);
                    for (int i = 0; i < N * V && !fast; i++)
                        assert_true(fabs((double)got[i] - want[i]) < 1e-4);
                    /* Of several, int8 takes an expert for another now and then. */
                    for (int i = 0; i < N && variant % 4 > 1; i++)
                        assert_true(cosine(got + i * V, want + i * V, V) > .99);
                    run_model(m, tokens, 7, cut);
                    assert_memory_equal(got, cut, sizeof got);
                    model_close(m);
                    fo_pool_free(pool);
                }
        }
}

/* The byte `behind` the first place in the file where `text` begins becomes c. */
static void change(const char *text, size_t behind, int c) {
    enum { HEAD = 16384 };
    static char head[HEAD];
    FILE *f = fopen(path, "r+b");
    assert_true(fread(head, 1, HEAD, f) == HEAD);
    const char *at = memmem(head, HEAD, text, strlen(text));
    assert_non_null(at);
    fseek(f, at - head + (long)behind, SEEK_SET);
    fputc(c, f);
    fclose(f);
}

/* Files of Mixtral name the width of an expert in feed_forward_length alone, others say there how wide all are that
 * a token goes through: what holds is how wide the matrices are. */
static void an_expert_is_as_wide_as_its_matrices(void **state) {
    (void)state;
    static float want[N * V], got[N * V];
    int32_t tokens[N];
    for (int i = 0; i < N; i++) tokens[i] = (int32_t)(test_random(&seed) % V);
    for (int kind = 0; kind < KINDS; kind++)
        for (int whole = 0; whole < 2; whole++) {
            tiny_shape s = shape(kind, QUANT_F32);
            char length[64];
            model *m;
            s.experts_used = 2;
            tiny_model_write(path, &s, &seed);
            assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
            run_model(m, tokens, N, want);
            model_close(m);
            snprintf(length, sizeof length, "%s.expert_feed_forward_length", s.arch);
            change(length, strlen(s.arch) + 1, 'E'); /* a key that nobody reads */
            snprintf(length, sizeof length, "%s.feed_forward_length", s.arch);
            if (whole) change(length, strlen(length) + 4, s.ff * s.experts_used);
            assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
            run_model(m, tokens, N, got);
            assert_memory_equal(want, got, sizeof got);
            model_close(m);
        }
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    model *m = NULL;
    tiny_shape s = shape(1, QUANT_Q8_0);
    s.experts_used = 10; /* of 9 */
    tiny_model_write(path, &s, &seed);
    assert_int_equal(model_open(&m, path, &(model_options){0}, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "expert_used_count"));
    s.experts_used = 0;
    tiny_model_write(path, &s, &seed);
    assert_int_equal(model_open(&m, path, &(model_options){0}, &err), FO_ECORRUPT);
    s = shape(2, QUANT_Q8_0);
    tiny_model_write(path, &s, &seed);
    assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
    assert_false(model_get_info(m)->causal);
    model_close(m);
    /* A file that says it has one expert more than its matrices. */
    const size_t behind = sizeof "llada-moe.expert_count" - 1 + 4; /* and the kind of the value */
    change("llada-moe.expert_count", behind, 8);
    assert_int_equal(model_open(&m, path, &(model_options){0}, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "ffn_"));
    /* One with shared experts that lacks a part of them. */
    static const char *const parts[] = {"blk.1.ffn_gate_shexp", "blk.1.ffn_up_shexp",
                                        "blk.1.ffn_down_shexp"};
    s.shared = 32;
    for (int i = 0; i < 3; i++) {
        tiny_model_write(path, &s, &seed);
        change(parts[i], strlen(parts[i]) - 1, 'x');
        assert_true(model_open(&m, path, &(model_options){0}, &err) != FO_OK);
        assert_non_null(strstr(err.msg, parts[i]));
    }
    s.shared = 0;
    s.odd_router = 4;
    tiny_model_write(path, &s, &seed);
    assert_int_equal(model_open(&m, path, &(model_options){0}, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "expert_shared_count is 2, but the model lacks blk.0."));
    /* Routers that are no softmax over all, or choose by a bias. */
    static const char *const odd[] = {"expert_gating_func", "expert_group_count", "exp_probs_b"};
    for (s.odd_router = 1; s.odd_router < 4; s.odd_router++) {
        tiny_model_write(path, &s, &seed);
        assert_int_equal(model_open(&m, path, &(model_options){0}, &err), FO_EUNSUPPORTED);
        assert_non_null(strstr(err.msg, odd[s.odd_router - 1]));
    }
}

/* What a row is multiplied with, and what a step reads, of a mixture. */
static void counts_the_experts_that_a_row_goes_through(void **state) {
    (void)state;
    tiny_shape s = shape(1, QUANT_F32);
    const double of_one = 3.0 * s.d * s.ff,
                 attention = (double)s.d * s.head_dim * 2 * (s.heads + s.kv_heads);
    for (s.shared = 0; s.shared < 96; s.shared += 64)
        for (s.experts_used = 1; s.experts_used <= s.experts; s.experts_used += 4) {
            model *m;
            model_info probed;
            tiny_model_write(path, &s, &seed);
            assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
            assert_ok(model_probe(&probed, path, false, &err), &err);
            const double want = attention + s.experts_used * of_one + 3.0 * s.d * s.shared;
            const double passed = (double)s.experts_used / s.experts;
            const model_info *i = model_get_info(m);
            assert_true((double)i->layer_parameters == s.layers * want);
            assert_int_equal(probed.layer_parameters, i->layer_parameters);
            assert_true((double)i->n_parameters > s.layers * s.experts * of_one);
            const double all = model_step_bytes(m, 1 << 20),
                         experts = 4.0 * s.layers * s.experts * of_one;
            const gguf_tensor *embd = gguf_find_tensor(model_gguf(m), "token_embd.weight");
            const bool tied = !gguf_find_tensor(model_gguf(m), "output.weight");
            assert_true(all == (double)i->file_bytes - (tied ? 0 : (double)embd->size_bytes));
            assert_true(fabs(all - model_step_bytes(m, 1) - experts * (1 - passed)) < 1);
            assert_true(fabs(all - model_step_bytes(m, 2) - experts * (1 - passed) * (1 - passed)) <
                        1);
            model_close(m);
        }
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_the_plain_network_gives),
        cmocka_unit_test(an_expert_is_as_wide_as_its_matrices),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(counts_the_experts_that_a_row_goes_through),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
