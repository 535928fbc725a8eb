/* model_amx_test.c - whole models on the AMX kernels' machine code: on the processor or, where that
 * has no AMX, through traps (tests/kernels/amx_trap.h). Against the AVX-512 kernels, and against
 * themselves in other splits and numbers of threads. */
#include "tests/test.h"

#include <math.h>

#include "tests/engine/tiny_model.h" /* before model_internal.h, whose names it uses otherwise */

#include "engine/model/encoder.h"
#include "engine/model/model_internal.h"
#include "kernels/cpu.h"
#include "tests/kernels/amx_trap.h"

static uint64_t seed;
static fo_err err;
static char *folder, path[512];

enum { V = 97, N = 90, PAGE = 16, PAGES = 64 };

static const tiny_shape shapes[] = {
    /* arch, type, d, layers, heads, kv heads, head dim, ff, vocab, window, outlier */
    {"llama", QUANT_Q8_0, 64, 2, 4, 2, 32, 96, V, 0, 37, .experts = 0},
    {"qwen2", QUANT_Q4_0, 64, 2, 4, 2, 32, 96, V, 0, 0, .experts = 0},
    {"llama", QUANT_Q4_1, 64, 2, 36, 2, 32, 96, V, 0, 0, .experts = 0},
    {"gemma3", QUANT_F16, 64, 7, 4, 2, 16, 96, V, 9, 0, .experts = 0},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

typedef struct run_options {
    int threads, piece; /* tokens of a step; 0: random */
    kv_type type;
    bool amx, exact;
    bool packed; /* for tiles, whoever multiplies */
} run_options;

/* All logits of one text. */
static void run(const run_options *o, const int32_t *tokens, float *logits) {
    fo_pool *pool = fo_pool_create(o->threads);
    model *m;
    const model_options options = {
        .pool = pool, .fast = !o->exact, .kernels = o->packed ? &mm_amx : &mm_avx512};
    assert_ok(model_open(&m, path, &options, &err), &err);
    m->mm = o->amx ? &mm_amx : &mm_avx512;
    m->attention = o->amx ? &attention_amx : &attention_avx512;
    kv_layout l;
    kv_pages *kv;
    model_context *c;
    assert_ok(model_kv_layout(m, PAGE, o->type, &l, &err), &err);
    assert_ok(kv_pages_create(&kv, &l, PAGES, &err), &err);
    for (int i = 0; i < PAGES; i++) memset(kv_pages_data(kv, i), 0xff, l.page_bytes);
    assert_ok(model_context_create(&c, m, &(model_limits){N, N}, &err), &err);
    int32_t table[N / PAGE + 1];
    for (int i = 0; i <= N / PAGE; i++) table[i] = PAGES - 1 - i;
    for (int at = 0, n; at < N; at += n) {
        n = o->piece ? o->piece : 1 + (int)(test_random(&seed) % 45);
        if (n > N - at) n = N - at;
        model_sequence s = {.tokens = tokens + at,
                            .n_tokens = n,
                            .start = at,
                            .pages = table,
                            .n_pages = N / PAGE + 1,
                            .n_logits = n};
        assert_ok(model_forward(c, kv, &s, 1, logits + at * V, &err), &err);
    }
    for (int i = 0; i < N * V; i++) assert_true(isfinite(logits[i]));
    model_context_free(c);
    kv_pages_free(kv);
    model_close(m);
    fo_pool_free(pool);
}

/* A shape's model and a text for it. */
static void begin(int shape, int32_t tokens[N]) {
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    tiny_model_write(path, &shapes[shape], &seed);
    for (int i = 0; i < N; i++) tokens[i] = (int32_t)(test_random(&seed) % V);
}

static void need_tiles(void) {
    if (fo_cpu()->level == FO_CPU_AVX512 && amx_trap()) return;
    if (fo_cpu()->level == FO_CPU_AMX) return;
    print_message("# neither AMX nor AVX-512 without it\n");
    skip();
}

static void products_by_tiles_change_no_bit_of_a_model(void **state) {
    (void)state;
    need_tiles();
    static float want[N * V], got[N * V];
    int32_t tokens[N];
    for (int i = 0; i < N_SHAPES; i++) {
        begin(i, tokens);
        amx_forget();
        run(&(run_options){1, N, KV_F32, false, false, true}, tokens, want);
        assert_int_equal(amx.n_config, 0);
        run(&(run_options){1, N, KV_F32, true, false, true}, tokens, got);
        assert_memory_equal(got, want, sizeof got);
        run(&(run_options){1, N, KV_F32, false, false, false}, tokens, got);
        assert_true(amx.n_dot_i8 > 0 || fo_cpu()->level == FO_CPU_AMX);
        assert_int_equal(amx.n_config, amx.n_release);
        assert_memory_equal(got, want, sizeof got);
    }
}

/* The last layer of two texts, which fill tiles and some rows more. */
static void encode(const mm_kernels *pack, const mm_kernels *run_by, const int32_t tokens[N],
                   float *out) {
    model *m;
    encoder *e;
    const model_options options = {.fast = true, .kernels = pack};
    assert_ok(model_open(&m, path, &options, &err), &err);
    assert_true(m->layers[0].qkv.wide && m->layers[0].down.wide && m->layers[0].qkv.n_fine == 0);
    m->mm = run_by;
    m->attention = &attention_avx512;
    assert_ok(encoder_create(&e, m, &(encoder_limits){.batch_tokens = N}, &err), &err);
    const encoder_text texts[2] = {{tokens, 50, 0}, {tokens + 50, N - 50, 0}};
    assert_ok(encoder_hidden(e, texts, 2, out, &err), &err);
    encoder_free(e);
    model_close(m);
}

static void products_by_tiles_change_no_bit_of_an_encoder(void **state) {
    (void)state;
    need_tiles();
    static const tiny_shape shape = {"bert", QUANT_F16, 128, 2, 4,  4,
                                     32,     200,       V,   0, 37, .experts = 0};
    static float want[N * 128], got[N * 128];
    int32_t tokens[N];
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    tiny_model_write(path, &shape, &seed);
    for (int i = 0; i < N; i++) tokens[i] = (int32_t)(test_random(&seed) % V);
    encode(&mm_avx512, &mm_avx512, tokens, want);
    amx_forget();
    encode(&mm_amx, &mm_amx, tokens, got);
    assert_true(amx.n_dot_i8 > 0 || fo_cpu()->level == FO_CPU_AMX);
    assert_memory_equal(got, want, sizeof got);
}

static double distance(const float *x, const float *y) { /* 1 - cosine */
    double dot = 0, a = 0, b = 0;
    for (int j = 0; j < N * V; j++) {
        dot += (double)x[j] * (double)y[j];
        a += (double)x[j] * (double)x[j];
        b += (double)y[j] * (double)y[j];
    }
    return 1 - dot / sqrt(a * b);
}

/* The last bits of attention turn roundings to int8 over, here and there, so that the logits of two
 * kernels differ by more than their attention does: what counts is the distance to exact ones. */
static void attention_by_tiles_is_no_farther_from_exact_logits(void **state) {
    (void)state;
    need_tiles();
    static float exact[N * V], vectors[N * V], tiles[N * V];
    int32_t tokens[N];
    for (int i = 0; i < N_SHAPES; i++) {
        begin(i, tokens);
        amx_forget();
        run(&(run_options){1, N, KV_F32, false, true, false}, tokens, exact);
        run(&(run_options){1, N, KV_BF16, false, false, false}, tokens, vectors);
        run(&(run_options){1, N, KV_BF16, true, false, true}, tokens, tiles);
        assert_true(amx.n_dot_bf16 > 0 || fo_cpu()->level == FO_CPU_AMX);
        double v = distance(exact, vectors), t = distance(exact, tiles);
        print_message("# %s: 1 - cosine %.2e by vectors, %.2e by tiles\n", shapes[i].arch, v, t);
        assert_true(t < 1.25 * v + 1e-5);
    }
}

static void rows_do_not_depend_on_splits_or_threads(void **state) {
    (void)state;
    need_tiles();
    static float first[N * V], other[N * V];
    static const run_options others[] = {{1, 1, KV_BF16, true, false, true},
                                         {3, 0, KV_BF16, true, false, true},
                                         {2, 33, KV_BF16, true, false, true}};
    int32_t tokens[N];
    for (int i = 0; i < N_SHAPES; i += N_SHAPES - 1) {
        begin(i, tokens);
        run(&(run_options){1, N, KV_BF16, true, false, true}, tokens, first);
        for (int o = 0; o < 3; o++) {
            run(&others[o], tokens, other);
            for (int r = 0; r < N; r++)
                if (memcmp(other + r * V, first + r * V, V * sizeof *first))
                    fail_msg("%s, pieces of %d: row %d differs", shapes[i].arch, others[o].piece,
                             r);
        }
    }
}

static int open_folder(void **state) {
    (void)state;
    folder = test_folder();
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    test_remove(folder);
    return 0;
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_by_tiles_change_no_bit_of_a_model),
        cmocka_unit_test(products_by_tiles_change_no_bit_of_an_encoder),
        cmocka_unit_test(attention_by_tiles_is_no_farther_from_exact_logits),
        cmocka_unit_test(rows_do_not_depend_on_splits_or_threads),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
