/* model_golden_test.c - models against figures of other programs: llama.cpp's logits for the small
 * random models, F32 log-probabilities of the real SmolLM2, sentence-transformers' vectors of
 * MiniLM. Every check needs the shared folder; SmolLM2 also what `make models` fetches. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "engine/model/encoder.h"
#include "engine/model/model.h"
#include "kernels/file.h"

static fo_pool *pool;
static fo_err err;

static float *read_floats(const char *path, size_t *n) {
    char *data;
    size_t size;
    assert_ok(fo_file_read(path, 1u << 30, &data, &size, &err), &err);
    *n = size / sizeof(float);
    return (float *)(void *)data;
}

static const char *real_model(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "models/%s", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* --- a model run over one text --- */
typedef struct runner {
    model *m;
    model_context *c;
    kv_pages *kv;
    int32_t *table;
    int n_pages;
    const model_info *info;
} runner;

static void runner_open(runner *r, const char *path, bool fast, kv_type type, int max_tokens) {
    assert_ok(model_open(&r->m, path, &(model_options){.pool = pool, .fast = fast}, &err), &err);
    r->info = model_get_info(r->m);
    kv_layout l;
    assert_ok(model_kv_layout(r->m, 16, type, &l, &err), &err);
    r->n_pages = max_tokens / 16 + 1;
    assert_ok(kv_pages_create(&r->kv, &l, r->n_pages, &err), &err);
    assert_ok(model_context_create(&r->c, r->m, &(model_limits){max_tokens, max_tokens}, &err),
              &err);
    r->table = malloc((size_t)r->n_pages * sizeof *r->table);
    for (int i = 0; i < r->n_pages; i++) r->table[i] = r->n_pages - 1 - i;
}

static void runner_close(runner *r) {
    model_context_free(r->c);
    kv_pages_free(r->kv);
    free(r->table);
    model_close(r->m);
}

static void runner_step(runner *r, const int32_t *tokens, int n, int start, int n_logits,
                        float *logits) {
    model_sequence s = {.tokens = tokens,
                        .n_tokens = n,
                        .start = start,
                        .pages = r->table,
                        .n_pages = r->n_pages,
                        .n_logits = n_logits};
    assert_ok(model_forward(r->c, r->kv, &s, 1, logits, &err), &err);
}

static int argmax(const float *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

static double log_sum_exp(const float *x, int n) {
    double top = (double)x[argmax(x, n)], sum = 0;
    for (int i = 0; i < n; i++) sum += exp((double)x[i] - top);
    return top + log(sum);
}

static double cosine(const float *a, const float *b, int n) {
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

static const int32_t decoder_tokens[] = {1,   20,  300, 45, 77,  120, 260, 33,  290, 18, 6,   350,
                                         222, 111, 99,  5,  240, 87,  64,  200, 311, 12, 150, 42};
static const int32_t encoder_tokens[] = {2, 20, 300, 45, 77, 120, 260, 33, 290, 18, 3};

static int golden_tokens(const char *name, int32_t out[200]) {
    if (!strstr(name, "-hd")) {
        memcpy(out, decoder_tokens, sizeof decoder_tokens);
        return 24;
    }
    for (int i = 0; i < 200; i++) out[i] = (7 * i * i + 37 * i + 11) % 450;
    return 200;
}

/* Largest difference over the largest logit, worst cosine of a row; fails where the best token
 * differs although the golden margin exceeds `margin` times the largest logit. */
static void compare(const char *name, bool fast, double margin, double *difference,
                    double *worst_cosine) {
    char file[256];
    size_t n;
    snprintf(file, sizeof file, "golden/models/%s.logits.f32", name);
    float *golden = read_floats(test_shared(file), &n);
    snprintf(file, sizeof file, "golden/models/%s.gguf", name);
    runner r;
    int32_t tokens[200];
    int n_tokens = golden_tokens(name, tokens);
    runner_open(&r, test_shared(file), fast, fast ? KV_BF16 : KV_F32, 200);
    int v = r.info->n_vocab;
    assert_int_equal(n, n_tokens * v);
    float *logits = malloc(n * sizeof *logits);
    runner_step(&r, tokens, n_tokens, 0, n_tokens, logits);
    double top = 0, worst = 0;
    *worst_cosine = 1;
    for (size_t i = 0; i < n; i++) {
        if (fabs((double)golden[i]) > top) top = fabs((double)golden[i]);
        double d = fabs((double)golden[i] - (double)logits[i]);
        if (!(d <= worst)) worst = d;
    }
    for (int i = 0; i < n_tokens; i++) {
        const float *g = golden + (size_t)i * (size_t)v, *o = logits + (size_t)i * (size_t)v;
        double c = cosine(g, o, v);
        if (!(c >= *worst_cosine)) *worst_cosine = c;
        int best = argmax(g, v), ours = argmax(o, v);
        if (best != ours && (double)(g[best] - g[ours]) > margin * top)
            fail_msg("%s: row %d: token %d, golden %d by %g", name, i, ours, best,
                     (double)(g[best] - g[ours]));
    }
    *difference = worst / top;
    print_message("# %s%s: difference %.2e of the largest logit, worst cosine %.6f\n", name,
                  fast ? " (fast)" : "", *difference, *worst_cosine);
    free(logits);
    free(golden);
    runner_close(&r);
}

static const char *const f32_models[] = {"llama-f32",      "llama3-f32", "qwen2-f32",
                                         "qwen2-hd64-f32", "qwen3-f32",  "qwen3-hd128-f32",
                                         "gemma3-f32",     "dream-f32",  "llada-f32"};
static const char *const quantised_models[] = {"F16",    "BF16", "Q8_0",   "Q4_0",
                                               "Q4_1",   "Q5_0", "Q2_K",   "Q4_K_M",
                                               "Q5_K_M", "Q6_K", "IQ4_NL", "IQ4_XS"};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void f32_models_give_the_golden_logits(void **state) {
    (void)state;
    if (!test_shared("golden/models")) skip();
    for (size_t i = 0; i < COUNT(f32_models); i++) {
        double d, c;
        compare(f32_models[i], false, 1e-3, &d, &c);
        assert_true(d < 1e-3);
    }
}

static void quantised_models_give_logits_near_the_golden_ones(void **state) {
    (void)state;
    if (!test_shared("golden/models")) skip();
    for (size_t i = 0; i < COUNT(quantised_models); i++) {
        double d, c;
        char name[64];
        snprintf(name, sizeof name, "llama-256-%s", quantised_models[i]);
        compare(name, false, 0.05, &d, &c);
        assert_true(c >= 0.998);
    }
}

static void the_fast_path_stays_near_the_golden_logits(void **state) {
    (void)state;
    if (!test_shared("golden/models")) skip();
    for (size_t i = 0; i < COUNT(f32_models); i++) {
        double d, c;
        compare(f32_models[i], true, 0.1, &d, &c);
        assert_true(c >= 0.995);
    }
    for (size_t i = 0; i < COUNT(quantised_models); i++) {
        double d, c;
        char name[64];
        snprintf(name, sizeof name, "llama-256-%s", quantised_models[i]);
        compare(name, true, 0.1, &d, &c);
        assert_true(c >= 0.995);
    }
}

static void encoders_give_the_golden_vectors(void **state) {
    (void)state;
    if (!test_shared("golden/models")) skip();
    static const char *const names[] = {"bert-f32", "nomic-bert-f32"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char file[256];
        size_t n;
        snprintf(file, sizeof file, "golden/models/%s.logits.f32", names[i]);
        float *golden = read_floats(test_shared(file), &n), out[64];
        assert_int_equal(n, 64);
        model *m;
        encoder *e;
        snprintf(file, sizeof file, "golden/models/%s.gguf", names[i]);
        assert_ok(model_open(&m, test_shared(file), &(model_options){.pool = pool}, &err), &err);
        assert_ok(encoder_create(&e, m, NULL, &err), &err);
        encoder_text t = {encoder_tokens, 11, 0};
        assert_ok(encoder_embed(e, &t, 1, out, &err), &err);
        double c = cosine(golden, out, 64);
        print_message("# %s: cosine %.7f\n", names[i], c);
        assert_true(c >= 0.9999);
        encoder_free(e);
        model_close(m);
        free(golden);
    }
}

/* --- real models --- */
static cJSON *next_line(char **at) {
    if (!**at) return NULL;
    char *end = strchr(*at, '\n');
    if (end) *end = 0;
    cJSON *j = cJSON_Parse(*at);
    *at = end ? end + 1 : *at + strlen(*at);
    return j;
}

static int int_array(const cJSON *j, int32_t *out, int max) {
    int n = 0;
    const cJSON *v;
    cJSON_ArrayForEach(v, j) {
        assert_true(n < max);
        out[n++] = (int32_t)v->valueint;
    }
    return n;
}

enum { MAX_TEXT = 512 };

typedef struct text_score {
    double worst_logp, sum_logp, nll_ratio; /* over listed ones; of the best token; worst text */
    int positions, same_best;
} text_score;

static text_score score_texts(const char *path, bool fast) {
    char *data, *at;
    size_t size;
    assert_ok(fo_file_read(test_shared("golden/smollm2/texts.jsonl"), 1u << 28, &data, &size, &err),
              &err);
    runner r;
    runner_open(&r, path, fast, fast ? KV_BF16 : KV_F32, MAX_TEXT);
    int v = r.info->n_vocab;
    float *logits = malloc((size_t)MAX_TEXT * (size_t)v * sizeof *logits);
    text_score s = {0};
    at = data;
    for (cJSON *j; (j = next_line(&at)); cJSON_Delete(j)) {
        int32_t tokens[MAX_TEXT];
        int n = int_array(cJSON_GetObjectItem(j, "tokens"), tokens, MAX_TEXT);
        runner_step(&r, tokens, n, 0, n, logits);
        double nll = 0;
        const cJSON *row = cJSON_GetObjectItem(j, "top")->child;
        for (int i = 0; i < n; i++, row = row->next) {
            const float *x = logits + (size_t)i * (size_t)v;
            double z = log_sum_exp(x, v);
            if (i + 1 < n) nll += z - (double)x[tokens[i + 1]];
            const cJSON *top;
            cJSON_ArrayForEach(top, row) {
                int id = top->child->valueint;
                double d = fabs((double)x[id] - z - top->child->next->valuedouble);
                if (d > s.worst_logp) s.worst_logp = d;
                if (top == row->child) {
                    s.sum_logp += d;
                    s.same_best += argmax(x, v) == id;
                }
            }
            s.positions++;
        }
        double golden = cJSON_GetObjectItem(j, "nll")->valuedouble;
        double ratio = fabs(nll / (n - 1) - golden) / golden;
        if (ratio > s.nll_ratio) s.nll_ratio = ratio;
    }
    print_message(
        "# %s: %d positions, best token equal on %.2f %%, mean |d log p| of the best %.4f, "
        "largest of those listed %.4f, mean NLL off by at most %.3f %%\n",
        fast ? "fast" : "exact", s.positions, 100.0 * s.same_best / s.positions,
        s.sum_logp / s.positions, s.worst_logp, 100 * s.nll_ratio);
    free(logits);
    free(data);
    runner_close(&r);
    return s;
}

static void smollm2_gives_the_golden_log_probabilities(void **state) {
    (void)state;
    const char *path = real_model("smollm2-135m-instruct-q4_1.gguf");
    if (!path || !test_shared("golden/smollm2")) skip();
    text_score s = score_texts(path, false);
    assert_true(s.worst_logp <= 0.005);
}

static void smollm2_on_the_fast_path_stays_within_its_bounds(void **state) {
    (void)state;
    const char *path = real_model("smollm2-135m-instruct-q4_1.gguf");
    if (!path || !test_shared("golden/smollm2")) skip();
    text_score s = score_texts(path, true);
    assert_true(s.nll_ratio <= 0.01);
    assert_true(s.same_best >= 0.95 * s.positions);
    assert_true(s.sum_logp <= 0.05 * s.positions);
}

static void smollm2_writes_the_golden_tokens(void **state) {
    (void)state;
    const char *path = real_model("smollm2-135m-instruct-q4_1.gguf");
    if (!path || !test_shared("golden/smollm2")) skip();
    char *data, *at;
    size_t size;
    assert_ok(
        fo_file_read(test_shared("golden/smollm2/greedy.jsonl"), 1u << 28, &data, &size, &err),
        &err);
    runner r;
    runner_open(&r, path, false, KV_F32, 1024);
    float *logits = malloc((size_t)r.info->n_vocab * sizeof *logits);
    at = data;
    int compared = 0;
    for (cJSON *j; (j = next_line(&at)); cJSON_Delete(j)) {
        int32_t tokens[1024], greedy[64];
        int n = int_array(cJSON_GetObjectItem(j, "tokens"), tokens, 900);
        int n_greedy = int_array(cJSON_GetObjectItem(j, "greedy"), greedy, 64);
        const cJSON *margin = cJSON_GetObjectItem(j, "margin")->child;
        runner_step(&r, tokens, n, 0, 1, logits);
        for (int i = 0; i < n_greedy; i++, margin = margin->next) {
            if (margin->valuedouble < 0.01) break;
            assert_int_equal(argmax(logits, r.info->n_vocab), greedy[i]);
            compared++;
            runner_step(&r, &greedy[i], 1, n + i, 1, logits);
        }
    }
    print_message("# %d greedy tokens equal\n", compared);
    free(logits);
    free(data);
    runner_close(&r);
}

/* The vocabulary's own [CLS] and [SEP] around the golden ids, which carry none. */
static void minilm_cosines(const char *path, bool fast, double *worst, double *mean) {
    char *data, *at;
    size_t size, n_floats;
    assert_ok(fo_file_read(test_shared("golden/minilm/texts.jsonl"), 1u << 28, &data, &size, &err),
              &err);
    float *golden = read_floats(test_shared("golden/minilm/vectors.f32"), &n_floats);
    model *m;
    encoder *e;
    assert_ok(model_open(&m, path, &(model_options){.pool = pool, .fast = fast}, &err), &err);
    assert_ok(encoder_create(&e, m, NULL, &err), &err);
    static int32_t ids[200][514];
    encoder_text texts[200];
    int n = 0;
    at = data;
    for (cJSON *j; (j = next_line(&at)); cJSON_Delete(j), n++) {
        const cJSON *list = cJSON_GetObjectItem(j, "ids");
        if (!list) list = cJSON_GetObjectItem(j, "tokens");
        ids[n][0] = 101;
        int count = int_array(list, ids[n] + 1, 512);
        if (count > 254) count = 254; /* the reference cuts at 256 tokens */
        ids[n][count + 1] = 102;
        texts[n] = (encoder_text){ids[n], count + 2, 0};
    }
    assert_int_equal(n_floats, n * 384);
    float *out = malloc(n_floats * sizeof *out);
    assert_ok(encoder_embed(e, texts, (size_t)n, out, &err), &err);
    *worst = 1;
    *mean = 0;
    for (int i = 0; i < n; i++) {
        double c = cosine(out + i * 384, golden + i * 384, 384);
        if (c < *worst) *worst = c;
        *mean += c / n;
    }
    print_message("# MiniLM%s: %d texts, worst cosine %.7f, mean %.7f\n", fast ? " (fast)" : "", n,
                  *worst, *mean);
    encoder_free(e);
    model_close(m);
    free(out);
    free(golden);
    free(data);
}

static void minilm_gives_the_golden_vectors(void **state) {
    (void)state;
    double worst, mean;
    if (!test_shared("golden/minilm") || !test_shared("models/all-minilm-l6-v2-f16.gguf")) skip();
    char *path = strdup(test_shared("models/all-minilm-l6-v2-f16.gguf"));
    minilm_cosines(path, false, &worst, &mean);
    assert_true(worst >= 0.99999);
    minilm_cosines(path, true, &worst, &mean);
    assert_true(worst >= 0.999);
    free(path);
}

int main(void) {
    pool = fo_pool_create(2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_models_give_the_golden_logits),
        cmocka_unit_test(quantised_models_give_logits_near_the_golden_ones),
        cmocka_unit_test(the_fast_path_stays_near_the_golden_logits),
        cmocka_unit_test(encoders_give_the_golden_vectors),
        cmocka_unit_test(minilm_gives_the_golden_vectors),
        cmocka_unit_test(smollm2_gives_the_golden_log_probabilities),
        cmocka_unit_test(smollm2_on_the_fast_path_stays_within_its_bounds),
        cmocka_unit_test(smollm2_writes_the_golden_tokens),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fo_pool_free(pool);
    return rc;
}
