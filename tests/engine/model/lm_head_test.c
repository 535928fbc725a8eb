/* lm_head_test.c - logits whose second terms were left out where they cannot matter: against both
 * terms everywhere, at each level that the machine has. */
#include "tests/test.h"

#include <math.h>

#include "engine/model/lm_head.h"

static uint64_t seed;
static fo_err err;

enum { MAX_ROWS = 11, N_LEVELS = 5 };

static const struct {
    const char *name;
    int vec;
} levels[N_LEVELS] = {{"generic", 0}, {"avx2", 1}, {"avxvnni", 1}, {"avx512", 2}, {"amx", 2}};

static float gauss(void) {
    double s = 0;
    for (int i = 0; i < 12; i++) s += test_uniform(&seed);
    return (float)(s - 6);
}

/* A model that is a head alone, and the floats that its weights were made of. */
typedef struct rig {
    model m;
    fo_pool *pool;
    forward f;
    float *w;
    unsigned char *data;
} rig;

/* Weights lie around `shift`, so that a row may have logits below zero alone; every 50th is 20
 * times as long as the others. */
static void rig_open(rig *r, int level, quant_type type, int k, int n, float shift, int threads) {
    *r = (rig){.pool = threads > 1 ? fo_pool_create(threads) : NULL};
    model *m = &r->m;
    m->info = (model_info){.d_model = k, .n_vocab = n, .fast = true};
    m->pool = r->pool;
    m->mm = mm_get_named(levels[level].name);
    m->vec = vec_get_level(levels[level].vec);
    gguf_tensor t = {.type = type, .n_dims = 2, .dims = {(uint64_t)k, (uint64_t)n}};
    size_t row_bytes;
    assert_true(quant_row_bytes(type, (uint64_t)k, &row_bytes));
    t.row_bytes = row_bytes;
    r->w = malloc((size_t)n * (size_t)k * sizeof *r->w);
    t.data = r->data = malloc((size_t)n * row_bytes);
    for (int i = 0; i < n; i++) {
        float *row = r->w + (size_t)i * (size_t)k, size = i % 50 == 7 ? 20 : 1;
        for (int j = 0; j < k; j++) row[j] = size * (gauss() + shift);
        quant_pack_row(type, row, r->data + (size_t)i * row_bytes, (size_t)k);
    }
    mm_kind kind = mm_kind_for(type, true);
    m->head = (linear){.n_parts = 1, .k = k, .two_terms = true};
    assert_ok(mm_weights_init(&m->head.w[0], kind, n, k, NULL, &err), &err);
    m->head.n_out = m->head.w[0].n_panels * MM_PANEL;
    m->head.int16_sums = mm_has_8_bits(kind) && m->mm->int16_sums;
    float *scratch = malloc((size_t)k * sizeof *scratch);
    mm_weights_pack(&m->head.w[0], 0, m->head.w[0].n_panels, type, r->data, row_bytes, NULL,
                    scratch);
    free(scratch);
    assert_ok(lm_head_measure(m, &t, &err), &err);
    assert_ok(forward_create(&r->f, m, r->pool, MAX_ROWS, MAX_ROWS, &err), &err);
}

static void rig_close(rig *r) {
    forward_free(&r->f);
    mm_weights_deinit(&r->m.head.w[0]);
    for (int i = 0; i < r->m.n_owned; i++) free(r->m.owned[i]);
    free(r->m.owned);
    fo_pool_free(r->pool);
    free(r->w);
    free(r->data);
}

/* Rows of all sorts: noise, noise beside one token's weights (alone, or halfway to a second), some
 * channels 100 times the rest, zeroes, and one that makes every logit negative. */
static void fill_rows(rig *r, float *x, float shift) {
    const int k = r->m.head.k;
    for (int i = 0; i < MAX_ROWS; i++) {
        const size_t n = (size_t)r->m.info.n_vocab;
        const float *a = r->w + test_random(&seed) % n * (size_t)k;
        const float *b = r->w + test_random(&seed) % n * (size_t)k;
        for (int j = 0; j < k; j++) {
            float v = gauss();
            if (i % 6 == 1) v += a[j];
            if (i % 6 == 2) v += a[j] + b[j];
            if (i % 6 == 3 && j % 61 == 5) v *= 100;
            if (i % 6 == 4) v = 0;
            if (i % 6 == 5) v = v / 50 - (shift > 0 ? 1 : 0);
            x[(size_t)i * (size_t)k + (size_t)j] = v;
        }
    }
}

static void put_rows(rig *r, const float *x, int rows) {
    const int k = r->m.head.k;
    for (int i = 0; i < rows; i++)
        memcpy(r->f.xn + (size_t)i * (size_t)r->f.d_stride, x + (size_t)i * (size_t)k,
               (size_t)k * sizeof *x);
}

/* The plain product with one term or, by another way than lm_head.c's, with both. */
static void plain_logits(rig *r, int terms, float *out) {
    linear w = r->m.head;
    mm_input in;
    w.two_terms = false;
    w.n_fine = terms == 2;
    forward_input(&r->f, &w, r->f.xn, r->f.d_stride, MAX_ROWS, &in);
    forward_linear(&r->f, &w, &in, MAX_ROWS, out, w.n_out);
}

static int argmax(const float *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Panels of a row that differ from the first term alone. */
static int check_row(const rig *r, int row, const float *first, const float *both,
                     const float *out) {
    const int n = r->m.info.n_vocab, best = argmax(both, n);
    assert_int_equal(argmax(out, n), best);
    int refined = 0;
    for (int c = 0; c < n; c += MM_PANEL) {
        const int width = n - c < MM_PANEL ? n - c : MM_PANEL;
        const size_t bytes = (size_t)width * sizeof *out;
        const bool has_first = !memcmp(out + c, first + c, bytes);
        const bool has_both = !memcmp(out + c, both + c, bytes);
        assert_true(has_first || has_both);
        refined += !has_first;
        const float rise = r->f.head_rests[row] * r->m.head_norms[c / MM_PANEL / LM_HEAD_STRETCH];
        for (int i = c; i < c + width; i++) {
            assert_true(fabsf(both[i] - first[i]) <= rise + 1e-4f * fabsf(both[i]));
            if (both[i] == both[best]) assert_true(has_both);
        }
    }
    return refined;
}

static void check(int level, quant_type type, int k, int n, float shift, int threads) {
    rig r;
    rig_open(&r, level, type, k, n, shift, threads);
    const size_t width = (size_t)r.m.head.n_out, floats = MAX_ROWS * width;
    float *x = malloc(MAX_ROWS * (size_t)k * sizeof *x);
    float *first = malloc(4 * floats * sizeof *first), *both = first + floats, *out = both + floats,
          *alone = out + floats;
    fill_rows(&r, x, shift);
    put_rows(&r, x, MAX_ROWS);
    plain_logits(&r, 1, first);
    plain_logits(&r, 2, both);
    lm_head_logits(&r.f, MAX_ROWS, out);
    for (int i = 0; i < MAX_ROWS; i++) {
        const size_t at = (size_t)i * width;
        int refined = check_row(&r, i, first + at, both + at, out + at);
        if (i % 6 == 1 && n > 1000) assert_true(refined < n / MM_PANEL / 4); /* it pays */
    }
    for (int i = 0, rows; i < MAX_ROWS; i += rows) { /* in other company */
        rows = 1 + (int)(test_random(&seed) % 4);
        if (rows > MAX_ROWS - i) rows = MAX_ROWS - i;
        put_rows(&r, x + (size_t)i * (size_t)k, rows);
        lm_head_logits(&r.f, rows, alone);
        for (int j = 0; j < rows; j++)
            assert_memory_equal(alone + (size_t)j * width, out + (size_t)(i + j) * width,
                                (size_t)n * sizeof *out);
    }
    free(x);
    free(first);
    rig_close(&r);
}

static void the_best_logits_have_both_terms_and_the_others_the_first(void **state) {
    (void)state;
    for (int l = 0; l < N_LEVELS; l++) {
        if (!mm_get_named(levels[l].name)) continue;
        check(l, QUANT_Q8_0, 96, 61, 0, 1);
        check(l, QUANT_Q8_0, 128, 3001, 0, 1);
        check(l, QUANT_Q8_0, 896, 2100, .5f, 3);
        check(l, QUANT_Q4_0, 576, 1024, 0, 2);
        check(l, QUANT_Q4_1, 64, 1041, .5f, 1);
        check(l, QUANT_Q5_0, 96, 1030, 0, 2);
        check(l, QUANT_F16, 160, 777, .5f, 1);
        check(l, QUANT_Q6_K, 256, 1041, 0, 2);
        check(l, QUANT_Q4_K, 512, 777, .5f, 1);
    }
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_logits_have_both_terms_and_the_others_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
