/* model_test.c - the forward passes on small random models: against a second implementation in
 * double, against themselves in any other company (row invariance, bit for bit), against bad
 * input. Needs no file from elsewhere. */
#include "tests/test.h"

#include <math.h>
#include <unistd.h>

#include "engine/model/encoder.h"
#include "engine/model/model.h"
#include "engine/model/model_memory.h"
#include "engine/model/rope.h"
#include "kernels/cpu.h"
#include "tests/engine/tiny_model.h"

static uint64_t seed;
static fo_err err;
static char *folder, path[512];

enum { V = 97, MAX_TOKENS = 90 };

static const tiny_shape shapes[] = {
    /* arch, type, d, layers, heads, kv heads, head dim, ff, vocab, window, outlier */
    {"llama", QUANT_F32, 64, 2, 8, 2, 8, 96, V, 0, 0, .experts = 0},
    {"qwen2", QUANT_F32, 48, 2, 3, 3, 16, 80, V, 0, 0, .experts = 0},
    {"qwen3", QUANT_F32, 64, 2, 4, 1, 32, 96, V, 0, 0, .experts = 0},
    {"gemma3", QUANT_F32, 64, 7, 4, 2, 24, 96, V, 9, 0, .experts = 0},
    {"phi3", QUANT_F32, 64, 2, 4, 2, 16, 96, V, 20, 0, .experts = 0},
    {"llama", QUANT_Q8_0, 64, 2, 4, 2, 32, 96, V, 0, 37, .experts = 0},
    {"qwen2", QUANT_Q4_0, 64, 2, 4, 2, 32, 96, V, 0, 0, .experts = 0},
    {"llama", QUANT_Q4_1, 64, 2, 36, 2, 32, 96, V, 0, 0, .experts = 0},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static const char *write_model(const tiny_shape *s) {
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    tiny_model_write(path, s, &seed);
    return path;
}

static void random_tokens(int32_t *t, int n) {
    for (int i = 0; i < n; i++) t[i] = (int32_t)(test_random(&seed) % V);
}

typedef struct run_options {
    int threads, page_tokens, batch_tokens;
    bool fast;
    kv_type type;
} run_options;

/* Of one processor each, which this machine may lack. */
static const fo_topology *nodes_of(int n) {
    static fo_topology t;
    t = (fo_topology){.n_cpus = n, .n_cores = n, .n_nodes = n};
    for (int i = 0; i < n; i++) {
        t.n_cores_of[i] = 1;
        fo_cpus_add(&t.cpus[i], i);
    }
    return &t;
}

typedef struct rig {
    fo_pool *pool;
    model *m;
    kv_pages *kv;
    model_context *c;
    int n_pages, next_page;
} rig;

static void rig_open_on(rig *r, const run_options *o, fo_pool *pool) {
    r->pool = pool;
    assert_ok(model_open(&r->m, path, &(model_options){.pool = r->pool, .fast = o->fast}, &err),
              &err);
    kv_layout l;
    assert_ok(model_kv_layout(r->m, o->page_tokens, o->type, &l, &err), &err);
    r->n_pages = 1024 / o->page_tokens * 4;
    r->next_page = r->n_pages;
    assert_ok(kv_pages_create(&r->kv, &l, r->n_pages, &err), &err);
    /* Pages come back dirty from other sequences: nothing unwritten may ever be read. */
    for (int i = 0; i < r->n_pages; i++) memset(kv_pages_data(r->kv, i), 0xff, l.page_bytes);
    assert_ok(
        model_context_create(&r->c, r->m, &(model_limits){o->batch_tokens, o->batch_tokens}, &err),
        &err);
}

static void rig_open(rig *r, const run_options *o) {
    rig_open_on(r, o, fo_pool_create(o->threads));
}

static void rig_close(rig *r) {
    model_context_free(r->c);
    kv_pages_free(r->kv);
    model_close(r->m);
    fo_pool_free(r->pool);
}

/* A block table of fresh pages, in descending order, for n tokens. */
static int take_pages(rig *r, int n, int32_t *table) {
    int p = kv_pages_layout(r->kv)->page_tokens, count = (n + p - 1) / p;
    for (int i = 0; i < count; i++) table[i] = --r->next_page;
    assert_true(r->next_page >= 0);
    return count;
}

/* All logits of one text, prefilled in pieces of at most `piece` (0: random ones). */
static void run_alone(rig *r, const int32_t *tokens, int n, int piece, float *logits) {
    int32_t table[64];
    int n_pages = take_pages(r, n, table);
    for (int at = 0; at < n;) {
        int m = piece ? piece : 1 + (int)(test_random(&seed) % 20);
        if (m > n - at) m = n - at;
        model_sequence s = {.tokens = tokens + at,
                            .n_tokens = m,
                            .start = at,
                            .pages = table,
                            .n_pages = n_pages,
                            .n_logits = m};
        assert_ok(model_forward(r->c, r->kv, &s, 1, logits + at * V, &err), &err);
        at += m;
    }
}

static void agrees_with_the_double_precision_oracle(void **state) {
    (void)state;
    static double want[MAX_TOKENS * V];
    static float got[MAX_TOKENS * V];
    for (int i = 0; i < N_SHAPES; i++) {
        int32_t tokens[40];
        write_model(&shapes[i]);
        random_tokens(tokens, 40);
        oracle_decoder(path, &shapes[i], tokens, 40, want);
        rig r;
        rig_open(&r, &(run_options){1, 16, 64, false, KV_F32});
        run_alone(&r, tokens, 40, 40, got);
        double top = 0, worst = 0;
        for (int j = 0; j < 40 * V; j++) {
            double d = fabs(want[j] - (double)got[j]);
            if (fabs(want[j]) > top) top = fabs(want[j]);
            if (!(d <= worst)) worst = d;
        }
        print_message("# %s: off by %.1e of the largest logit\n", shapes[i].arch, worst / top);
        assert_true(worst < 5e-5 * top);
        rig_close(&r);
    }
}

static void same(const float *a, const float *b, int rows, const char *what) {
    for (int i = 0; i < rows * V; i++) assert_true(isfinite(a[i]));
    if (memcmp(a, b, (size_t)(rows * V) * sizeof *a) == 0) return;
    for (int i = 0; i < rows; i++)
        if (memcmp(a + i * V, b + i * V, V * sizeof *a)) fail_msg("%s: row %d differs", what, i);
}

static void logits_do_not_depend_on_splits_pages_or_threads(void **state) {
    (void)state;
    static float first[MAX_TOKENS * V], other[MAX_TOKENS * V];
    static const run_options others[] = {
        {2, 16, 96, false, KV_F32}, {1, 32, 96, false, KV_F32}, {3, 48, 96, false, KV_F32},
        {2, 16, 96, true, KV_BF16}, {1, 64, 96, true, KV_BF16}, {3, 32, 96, true, KV_BF16},
    };
    for (int i = 0; i < N_SHAPES; i++) {
        int32_t tokens[MAX_TOKENS];
        write_model(&shapes[i]);
        random_tokens(tokens, MAX_TOKENS);
        for (int o = 0; o < 6; o++) {
            rig r;
            if (o % 3 == 0) {
                rig_open(&r, &(run_options){1, 16, 96, others[o].fast, others[o].type});
                run_alone(&r, tokens, MAX_TOKENS, MAX_TOKENS, first);
                rig_close(&r);
            }
            rig_open(&r, &others[o]);
            static const int pieces[] = {1, 0, 0, 7, 16, 33};
            for (int p = 0; p < 6; p++) {
                run_alone(&r, tokens, MAX_TOKENS, pieces[p], other);
                same(other, first, MAX_TOKENS, shapes[i].arch);
            }
            rig_close(&r);
        }
    }
}

/* More threads than rows, strips, heads and processors. */
static void logits_do_not_depend_on_many_threads(void **state) {
    (void)state;
    static float first[MAX_TOKENS * V], other[MAX_TOKENS * V];
    int32_t tokens[MAX_TOKENS];
    write_model(&shapes[5]);
    random_tokens(tokens, MAX_TOKENS);
    static const int threads[] = {1, 7, 33, 64};
    for (int i = 0; i < 4; i++) {
        rig r;
        rig_open(&r, &(run_options){threads[i], 16, 96, true, KV_BF16});
        run_alone(&r, tokens, MAX_TOKENS, i ? 45 : MAX_TOKENS, i ? other : first);
        if (i) same(other, first, MAX_TOKENS, "threads");
        rig_close(&r);
    }
}

/* Nor on where the weights lie: their pages are touched before they are packed. */
static void logits_do_not_depend_on_nodes(void **state) {
    (void)state;
    static float first[MAX_TOKENS * V], other[MAX_TOKENS * V];
    static const int some[] = {0, 3, 4, 5};
    static const struct { int threads, nodes; } runs[] = {{1, 1}, {2, 2}, {9, 2}, {13, 5}};
    for (int i = 0; i < 4; i++) {
        int32_t tokens[MAX_TOKENS];
        write_model(&shapes[some[i]]);
        random_tokens(tokens, MAX_TOKENS);
        for (int o = 0; o < 4; o++) {
            rig r;
            fo_pool *pool = fo_pool_create_bound(runs[o].threads, nodes_of(runs[o].nodes));
            rig_open_on(&r, &(run_options){runs[o].threads, 16, 96, true, KV_BF16}, pool);
            assert_int_equal(fo_pool_is_bound(r.pool), o > 0);
            run_alone(&r, tokens, MAX_TOKENS, o ? 9 : MAX_TOKENS, o ? other : first);
            if (o) same(other, first, MAX_TOKENS, "nodes");
            rig_close(&r);
        }
    }
}

/* A step of so many rows goes through the FFN in pieces of rows and channels. */
static void logits_do_not_depend_on_long_steps(void **state) {
    (void)state;
    enum { LONG = 230 };
    static const tiny_shape wide[] = {
        {"llama", QUANT_Q8_0, 64, 2, 4, 2, 32, 320, V, 0, 0, .experts = 0},
        {"qwen2", QUANT_Q4_1, 64, 2, 6, 2, 32, 544, V, 0, 0, .experts = 0},
        {"gemma3", QUANT_Q4_0, 64, 2, 4, 2, 32, 256, V, 70, 0, .experts = 0},
        {"llama", QUANT_Q8_0, 64, 2, 4, 1, 32, 288, V, 0, 37, .experts = 0},
    };
    static float first[LONG * V], other[LONG * V];
    for (int i = 0; i < 4; i++) {
        int32_t tokens[LONG];
        write_model(&wide[i]);
        random_tokens(tokens, LONG);
        static const int threads[] = {1, 3}, pieces[] = {40, 97, 0, 133, LONG};
        for (int o = 0; o < 2; o++) {
            rig r;
            rig_open(&r, &(run_options){threads[o], 32, LONG, true, KV_BF16});
            if (o == 0) run_alone(&r, tokens, LONG, LONG, first);
            for (int p = 0; p < 5; p++) {
                run_alone(&r, tokens, LONG, pieces[p], other);
                same(other, first, LONG, wide[i].arch);
            }
            rig_close(&r);
        }
    }
}

static void logits_do_not_depend_on_the_batch(void **state) {
    (void)state;
    enum { SEQS = 16, LEN = 40 };
    static float alone[SEQS][LEN * V], together[SEQS * LEN * V];
    static int32_t tokens[SEQS][LEN], tables[SEQS][8];
    for (int i = 0; i < 2 * N_SHAPES; i++) {
        write_model(&shapes[i / 2]);
        rig r;
        rig_open(&r, &(run_options){2, 16, SEQS * LEN, i % 2, i % 2 ? KV_BF16 : KV_F32});
        for (int s = 0; s < SEQS; s++) {
            random_tokens(tokens[s], LEN);
            run_alone(&r, tokens[s], LEN, LEN, alone[s]);
        }
        for (int n = 1; n <= SEQS; n++) { /* n sequences go on side by side at their own pace */
            int done[SEQS] = {0}, n_pages[SEQS], left = n;
            r.next_page = r.n_pages;
            for (int s = 0; s < n; s++) n_pages[s] = take_pages(&r, LEN, tables[s]);
            while (left) {
                model_sequence q[SEQS];
                int which[SEQS], n_q = 0;
                for (int s = 0; s < n; s++) {
                    int m = (int)(test_random(&seed) % (s % 2 ? 3 : 14));
                    if (m > LEN - done[s]) m = LEN - done[s];
                    if (!m) continue;
                    which[n_q] = s;
                    q[n_q++] = (model_sequence){.tokens = tokens[s] + done[s],
                                                .n_tokens = m,
                                                .start = done[s],
                                                .pages = tables[s],
                                                .n_pages = n_pages[s],
                                                .n_logits = m};
                }
                assert_ok(model_forward(r.c, r.kv, q, n_q, together, &err), &err);
                const float *at = together;
                for (int j = 0; j < n_q; j++) {
                    same(at, alone[which[j]] + done[which[j]] * V, q[j].n_tokens, "batch");
                    at += q[j].n_tokens * V;
                    done[which[j]] += q[j].n_tokens;
                    left -= done[which[j]] == LEN;
                }
            }
        }
        rig_close(&r);
    }
}

static void shared_prefix_pages_give_the_same_logits(void **state) {
    (void)state;
    static float first[MAX_TOKENS * V], other[MAX_TOKENS * V];
    write_model(&shapes[5]);
    rig r;
    rig_open(&r, &(run_options){2, 16, 96, true, KV_Q8_0});
    int32_t a[MAX_TOKENS], b[MAX_TOKENS], ta[8], tb[8];
    random_tokens(a, MAX_TOKENS);
    memcpy(b, a, sizeof b);
    random_tokens(b + 48, MAX_TOKENS - 48);
    run_alone(&r, b, MAX_TOKENS, MAX_TOKENS, first);
    int n = take_pages(&r, MAX_TOKENS, ta);
    take_pages(&r, MAX_TOKENS, tb);
    model_sequence s = {.tokens = a, .n_tokens = MAX_TOKENS, .pages = ta, .n_pages = n};
    assert_ok(model_forward(r.c, r.kv, &s, 1, NULL, &err), &err);
    tb[0] = ta[0], tb[1] = ta[1]; /* two pages attached, the third copied whole */
    kv_pages_copy(r.kv, tb[2], ta[2]);
    s = (model_sequence){.tokens = b + 48,
                         .n_tokens = MAX_TOKENS - 48,
                         .start = 48,
                         .pages = tb,
                         .n_pages = n,
                         .n_logits = MAX_TOKENS - 48};
    assert_ok(model_forward(r.c, r.kv, &s, 1, other, &err), &err);
    same(other, first + 48 * V, MAX_TOKENS - 48, "attached");
    /* Rows computed again in the middle change nothing. */
    int32_t positions[] = {3, 20, 21, 50, 89}, again[5];
    for (int i = 0; i < 5; i++) again[i] = b[positions[i]];
    s = (model_sequence){.tokens = again,
                         .n_tokens = 5,
                         .positions = positions,
                         .pages = tb,
                         .n_pages = n,
                         .n_logits = 5};
    assert_ok(model_forward(r.c, r.kv, &s, 1, other, &err), &err);
    for (int i = 0; i < 5; i++) same(other + i * V, first + positions[i] * V, 1, "again");
    rig_close(&r);
}

/* Between any two layers another context computes and the pages are moved elsewhere. */
static void a_step_that_gives_way_gives_the_same_logits(void **state) {
    (void)state;
    enum { N = 61, BEFORE = 23, OTHER = 17 };
    static float want[N * V], got[N * V], other[OTHER * V], unused[OTHER * V];
    const atomic_bool give_way = true;
    for (int i = 0; i < N_SHAPES; i++) {
        int32_t tokens[N], more[OTHER], table[64];
        write_model(&shapes[i]);
        random_tokens(tokens, N);
        random_tokens(more, OTHER);
        rig r;
        rig_open(&r, &(run_options){1 + i % 3, 16, 64, i != 0, i % 2 ? KV_BF16 : KV_F32});
        model_context *second;
        assert_ok(model_context_create(&second, r.m, &(model_limits){64, 64}, &err), &err);
        run_alone(&r, tokens, N, N, want);
        run_alone(&r, more, OTHER, OTHER, other);
        const size_t page_bytes = kv_pages_layout(r.kv)->page_bytes;
        const int n_pages = take_pages(&r, N, table);
        for (int at = 0, n = BEFORE; at < N; at += n, n = N - at) {
            model_sequence s = {.tokens = tokens + at,
                                .n_tokens = n,
                                .start = at,
                                .pages = table,
                                .n_pages = n_pages,
                                .n_logits = n};
            int calls = 1;
            assert_ok(model_forward_begin(second, r.kv, &s, 1, &err), &err);
            while (!model_forward_go(second, r.kv, &s, 1, got + at * V, &give_way)) {
                run_alone(&r, more, OTHER, OTHER, unused);
                same(unused, other, OTHER, "beside a step that gave way");
                int32_t to[64];
                take_pages(&r, N, to);
                for (int k = 0; k < n_pages; k++) {
                    memcpy(kv_pages_data(r.kv, to[k]), kv_pages_data(r.kv, table[k]), page_bytes);
                    memset(kv_pages_data(r.kv, table[k]), 0xff, page_bytes);
                    table[k] = to[k];
                }
                calls++;
            }
            assert_int_equal(calls, shapes[i].layers);
            if (i % 2) continue;
            /* One that is given up in the middle leaves nothing to the next. */
            assert_ok(model_forward_begin(second, r.kv, &s, 1, &err), &err);
            assert_false(model_forward_go(second, r.kv, &s, 1, got + at * V, &give_way));
            assert_ok(model_forward(second, r.kv, &s, 1, got + at * V, &err), &err);
        }
        same(got, want, N, shapes[i].arch);
        model_context_free(second);
        rig_close(&r);
    }
}

static void every_processor_level_stays_near_the_others(void **state) {
    (void)state;
    static float first[2][40 * V], other[40 * V];
    int32_t tokens[40];
    random_tokens(tokens, 40);
    write_model(&shapes[6]);
    const int best = (int)fo_cpu()->level;
    for (int level = best; level >= 0; level--) { /* levels only go down in a process */
        fo_cpu_cap((fo_cpu_level)level);
        for (int fast = 0; fast < 2; fast++) {
            rig r;
            rig_open(&r, &(run_options){1, 16, 64, fast, KV_F32});
            run_alone(&r, tokens, 40, 40, level == best ? first[fast] : other);
            rig_close(&r);
            double top = 0, worst = 0;
            for (int i = 0; level < best && i < 40 * V; i++) {
                top = fmax(top, fabs((double)first[fast][i]));
                worst = fmax(worst, fabs((double)first[fast][i] - (double)other[i]));
            }
            print_message("# %s, %s: off by %.1e\n", fo_cpu_level_name((fo_cpu_level)level),
                          fast ? "fast" : "exact", top > 0 ? worst / top : 0.0);
            assert_true(worst <= (fast ? 2e-2 : 1e-5) * top);
        }
    }
}

static void turned_keys_stand_where_they_would_have_been_computed(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        const tiny_shape *s = &shapes[i];
        write_model(s);
        rig r;
        rig_open(&r, &(run_options){1, 16, 64, false, KV_F32});
        /* The first layer's keys depend on token and position alone. */
        int32_t t[1] = {5}, far[4] = {3, 2, 1, 0}, near_[1] = {9};
        model_sequence q = {.tokens = t, .n_tokens = 1, .start = 53, .pages = far, .n_pages = 4};
        assert_ok(model_forward(r.c, r.kv, &q, 1, NULL, &err), &err);
        q = (model_sequence){.tokens = t, .n_tokens = 1, .start = 7, .pages = near_, .n_pages = 1};
        assert_ok(model_forward(r.c, r.kv, &q, 1, NULL, &err), &err);
        assert_ok(model_shift_keys(r.m, r.kv, 9, 7, 1, 46, &err), &err);
        float a[64], b[64];
        kv_pages_load(r.kv, 0, 5, 0, 0, a, NULL);
        kv_pages_load(r.kv, 9, 7, 0, 0, b, NULL);
        for (int j = 0; j < s->head_dim; j++) assert_true(fabsf(a[j] - b[j]) < 1e-4f);
        assert_int_equal(model_shift_keys(r.m, r.kv, 9, 10, 7, 1, &err), FO_EINVAL);
        rig_close(&r);
    }
}

/* Alone, short texts go product by product, or head by head where heads are whole strips of the
 * weights, and long ones in tiles of rows; together all go in tiles, cut without regard to where a
 * text ends. */
static void texts_keep_their_vectors(const char *arch, int heads, int head_dim, int threads,
                                     bool fast) {
    const int d = heads * head_dim;
    const tiny_shape s = {arch, QUANT_F32, d, 2, heads, heads, head_dim, 96, V, 0, 0, .experts = 0};
    write_model(&s);
    fo_pool *pool = fo_pool_create(threads);
    model *m;
    encoder *e;
    assert_ok(model_open(&m, path, &(model_options){.pool = pool, .fast = fast}, &err), &err);
    assert_ok(encoder_create(&e, m, &(encoder_limits){.batch_tokens = 600}, &err), &err);
    enum { N = 40 };
    static int32_t ids[N][200];
    static float together[N * 120], alone[120], scores[N];
    assert_true(d <= 120);
    encoder_text t[N];
    for (int i = 0; i < N; i++) {
        int n = 1 + (int)(test_random(&seed) % 130);
        random_tokens(ids[i], n);
        t[i] = (encoder_text){ids[i], n, n / 2};
    }
    assert_ok(encoder_embed(e, t, N, together, &err), &err);
    assert_ok(encoder_score(e, t, N, scores, &err), &err);
    for (int i = 0; i < N; i++) {
        float score;
        assert_ok(encoder_embed(e, &t[i], 1, alone, &err), &err);
        assert_memory_equal(alone, together + i * d, (size_t)d * sizeof *alone);
        assert_ok(encoder_score(e, &t[i], 1, &score, &err), &err);
        assert_true(score == scores[i] && score != 0 && isfinite(score));
    }
    const int longest = model_get_info(m)->n_context;
    static int32_t many[TINY_CONTEXT + 1];
    assert_int_equal(encoder_embed(e, &(encoder_text){many, longest + 1, 0}, 1, alone, &err),
                     FO_ELIMIT);
    int32_t bad = V;
    assert_int_equal(encoder_embed(e, &(encoder_text){&bad, 1, 0}, 1, alone, &err), FO_EINVAL);
    encoder_free(e);
    model_close(m);
    fo_pool_free(pool);
}

static void texts_give_the_same_vector_in_any_company(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 5};
    for (int fast = 0; fast < 2; fast++)
        for (int i = 0; i < 3; i++) {
            static const int heads[][2] = {{4, 16}, {2, 32}, {6, 20}};
            for (int k = 0; k < 3; k++) {
                texts_keep_their_vectors("bert", heads[k][0], heads[k][1], threads[i], fast);
                texts_keep_their_vectors("nomic-bert", heads[k][0], heads[k][1], threads[i], fast);
            }
        }
}

static void refuses_what_a_step_cannot_run(void **state) {
    (void)state;
    write_model(&shapes[0]);
    rig r;
    rig_open(&r, &(run_options){1, 16, 8, false, KV_F32});
    static float logits[8 * V];
    int32_t t[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, table[2] = {0, 1}, bad_table[2] = {0, 100000};
    int32_t back[2] = {4, 3};
    model_sequence ok = {.tokens = t, .n_tokens = 4, .pages = table, .n_pages = 1, .n_logits = 4};
    model_sequence s = ok;
    assert_ok(model_forward(r.c, r.kv, &s, 1, logits, &err), &err);
    s.n_tokens = 9;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_ELIMIT);
    s = ok, s.start = 14;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    s = ok, s.start = 14, s.pages = bad_table, s.n_pages = 2;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    s = ok, s.positions = back;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    s = ok, s.n_logits = 5;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    t[2] = V;
    s = ok;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    rig_close(&r);
}

static void refuses_models_that_contradict_themselves(void **state) {
    (void)state;
    model_info info;
    tiny_shape s = shapes[0];
    s.arch = "mamba";
    write_model(&s);
    assert_int_equal(model_probe(&info, path, true, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "mamba"));
    s = shapes[0], s.kv_heads = 3;
    write_model(&s);
    assert_int_equal(model_probe(&info, path, true, &err), FO_ECORRUPT);
    s = shapes[2], s.arch = "llama", s.kv_heads = 1;
    write_model(&s);
    assert_ok(model_probe(&info, path, true, &err), &err);
    assert_int_equal(info.n_vocab, V);
    assert_true(info.weight_bytes > 0);
    model *m;
    assert_int_equal(model_open(&m, path, &(model_options){.max_bytes = 1000}, &err), FO_ENOMEM);
    unsigned char before[32];
    assert_ok(model_open(&m, path, &(model_options){.fast = true}, &err), &err);
    assert_int_equal(model_get_info(m)->weight_bytes, info.weight_bytes);
    memcpy(before, model_get_info(m)->fingerprint, 32);
    model_close(m);
    write_model(&s); /* other weights */
    assert_ok(model_open(&m, path, &(model_options){.fast = true}, &err), &err);
    assert_memory_not_equal(before, model_get_info(m)->fingerprint, 32);
    model_close(m);
}

static void write_bytes(const char *bytes) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, strlen(bytes), f), strlen(bytes));
    assert_int_equal(fclose(f), 0);
}

static int times_said(const char *part) {
    int n = 0;
    for (const char *at = err.msg; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

static void what_is_wrong_with_a_file_names_it_once(void **state) {
    (void)state;
    static const char no_gguf[] = "This is a text, and no model at all.";
    model_info info;
    model *m;
    uint64_t bytes;
    write_model(&shapes[0]); /* sets the path */
    write_bytes(no_gguf);
    assert_int_equal(model_probe(&info, path, true, &err), FO_ECORRUPT);
    assert_int_equal(times_said(path), 1);
    assert_int_equal(
        model_open_memory(&m, no_gguf, sizeof no_gguf, "lent", &(model_options){0}, &err),
        FO_ECORRUPT);
    assert_int_equal(times_said("lent: "), 1);
    tiny_shape s = shapes[0];
    s.kv_heads = 3;
    write_model(&s);
    assert_int_equal(model_probe(&info, path, true, &err), FO_ECORRUPT);
    assert_int_equal(times_said(path), 1);
    /* One that says its architecture in a number, or not at all, is damaged: not one of those that take no memory. */
    for (int number = 0; number < 2; number++) {
        gguf_writer *w;
        assert_ok(gguf_writer_create(&w, path, &err), &err);
        if (number) gguf_put_u32(w, "general.architecture", 7);
        assert_ok(gguf_writer_commit(w, &err), &err);
        assert_int_equal(model_probe(&info, path, true, &err), FO_ECORRUPT);
        assert_int_equal(times_said("general.architecture"), 1);
        assert_int_equal(model_memory_of_encoder(&bytes, path, &err), FO_ECORRUPT);
        assert_int_equal(times_said(path), 1);
    }
}

/* Another model comes to the path while the weights are read, as a download that is renamed does. */
static void put_another(void *arg, uint64_t total, uint64_t done) {
    (void)total;
    (void)done;
    rename(arg, path);
}

static void the_fingerprint_is_of_the_weights_that_were_read(void **state) {
    (void)state;
    char other[600];
    unsigned char first[32], second[32];
    model *m;
    write_model(&shapes[0]);
    snprintf(other, sizeof other, "%s.other", path);
    tiny_model_write(other, &shapes[0], &seed);
    assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
    memcpy(first, model_get_info(m)->fingerprint, 32);
    model_close(m);
    assert_ok(model_open(&m, path, &(model_options){.progress = put_another, .progress_arg = other},
                         &err),
              &err);
    assert_memory_equal(first, model_get_info(m)->fingerprint, 32);
    model_close(m);
    assert_int_equal(access(other, F_OK), -1);
    assert_ok(model_open(&m, path, &(model_options){0}, &err), &err);
    memcpy(second, model_get_info(m)->fingerprint, 32);
    assert_memory_not_equal(first, second, 32);
    model_close(m);
}

/* Wanted: the ratio of the plain frequency to YaRN's, worked out from the paper's equations for a
 * model of Qwen2.5's shape (128 channels, base 10^6, 4 times 32,768 tokens). */
static void yarn_stretches_slow_pairs_only(void **state) {
    (void)state;
    static const struct {
        int pair;
        double factor;
    } want[] = {{0, 1},         {23, 1},   {24, 1.046154}, {30, 1.446809},
                {35, 2.125000}, {40, 4.0}, {63, 4.0}};
    float f[64];
    assert_true(rope_yarn_factors(f, 128, 1e6, 4, 32768, 32, 1));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_float_equal(f[want[i].pair], want[i].factor, 1e-5);
    assert_true(rope_yarn_factors(f, 128, 1e6, 1, 32768, 32, 1)); /* stretched once: not at all */
    for (int i = 0; i < 64; i++) assert_float_equal(f[i], 1, 0);
    assert_false(rope_yarn_factors(f, 128, 1, 4, 32768, 32, 1));
    assert_false(rope_yarn_factors(f, 128, 1e6, (double)NAN, 32768, 32, 1));
    assert_false(rope_yarn_factors(f, 128, 1e6, 4, 32768, 1, 32));
}

/* Kilobytes of the process's memory that a mapping of the model's file takes; -1: there is none. */
static long file_resident(void) {
    FILE *f = fopen("/proc/self/smaps", "r");
    assert_non_null(f);
    char line[1024];
    bool of_file = false;
    long sum = -1, kib;
    while (fgets(line, sizeof line, f)) {
        if (strchr("0123456789abcdef", line[0])) of_file = strstr(line, path) != NULL;
        if (of_file && sscanf(line, "Rss: %ld kB", &kib) == 1) sum = (sum < 0 ? 0 : sum) + kib;
    }
    fclose(f);
    return sum;
}

static void weights_lie_in_memory_once(void **state) {
    (void)state;
    static const tiny_shape wide = {"llama", QUANT_Q8_0, 512, 4, 8, 8,
                                    64,      2048,       V,   0, 0, .experts = 0};
    write_model(&wide);
    model *m;
    assert_ok(model_open(&m, path, &(model_options){.fast = true}, &err), &err);
    const long file = (long)(model_get_info(m)->file_bytes >> 10), resident = file_resident();
    assert_true(file > 10000);
    if (resident < 0) skip();         /* a system that does not say */
    assert_true(resident < file / 8); /* the metadata, and what lies beside the matrices */
    /* What was forgotten is as it was. */
    gguf *again;
    assert_ok(gguf_open(&again, path, &err), &err);
    for (size_t i = 0; i < gguf_n_tensors(again); i++) {
        const gguf_tensor *t = gguf_tensor_at(again, i), *u = gguf_tensor_at(model_gguf(m), i);
        assert_memory_equal(t->data, u->data, t->size_bytes);
    }
    assert_true(file_resident() > file);
    for (size_t i = 0; i < gguf_n_tensors(again); i++)
        gguf_forget(again, gguf_tensor_at(again, i)->data, gguf_tensor_at(again, i)->size_bytes);
    gguf_close(again);
    model_close(m);
}

int main(void) {
    seed = test_seed();
    folder = test_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_lie_in_memory_once),
        cmocka_unit_test(agrees_with_the_double_precision_oracle),
        cmocka_unit_test(logits_do_not_depend_on_splits_pages_or_threads),
        cmocka_unit_test(logits_do_not_depend_on_many_threads),
        cmocka_unit_test(logits_do_not_depend_on_nodes),
        cmocka_unit_test(logits_do_not_depend_on_long_steps),
        cmocka_unit_test(logits_do_not_depend_on_the_batch),
        cmocka_unit_test(shared_prefix_pages_give_the_same_logits),
        cmocka_unit_test(a_step_that_gives_way_gives_the_same_logits),
        cmocka_unit_test(turned_keys_stand_where_they_would_have_been_computed),
        cmocka_unit_test(what_is_wrong_with_a_file_names_it_once),
        cmocka_unit_test(the_fingerprint_is_of_the_weights_that_were_read),
        cmocka_unit_test(yarn_stretches_slow_pairs_only),
        cmocka_unit_test(texts_give_the_same_vector_in_any_company),
        cmocka_unit_test(refuses_what_a_step_cannot_run),
        cmocka_unit_test(refuses_models_that_contradict_themselves),
        cmocka_unit_test(every_processor_level_stays_near_the_others), /* lowers the level: last */
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    test_remove(folder);
    return rc;
}
