/* Encoders behind embedder.h, against vectors of another implementation. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include "engine/embed/embedder.h"
#include "kernels/buf.h"
#include "kernels/file.h"

enum { DIM = 384, MAX_TEXTS = 256 };

typedef struct golden {
    char *text[MAX_TEXTS];
    size_t len[MAX_TEXTS], n_ids[MAX_TEXTS], n;
    float *vectors;
} golden;

static bool read_golden(golden *g) {
    memset(g, 0, sizeof *g);
    if (!test_shared("golden/minilm/texts.jsonl")) return false;
    fo_err err = {0};
    char *data, *line, *rest;
    size_t size;
    assert_ok(fo_file_read(test_shared("golden/minilm/texts.jsonl"), 64 << 20, &data, &size, &err),
              &err);
    for (rest = data; (line = strsep(&rest, "\n"));) {
        if (!*line) continue;
        cJSON *o = cJSON_Parse(line);
        g->text[g->n] = strdup(cJSON_GetObjectItem(o, "text")->valuestring);
        g->len[g->n] = strlen(g->text[g->n]);
        g->n_ids[g->n++] = (size_t)cJSON_GetArraySize(cJSON_GetObjectItem(o, "ids"));
        cJSON_Delete(o);
    }
    free(data);
    assert_ok(fo_file_read(test_shared("golden/minilm/vectors.f32"), 64 << 20, (char **)&g->vectors,
                           &size, &err),
              &err);
    assert_int_equal(size, g->n * DIM * sizeof(float));
    return true;
}

static void free_golden(golden *g) {
    for (size_t i = 0; i < g->n; i++) free(g->text[i]);
    free(g->vectors);
}

static double least_cosine(embedder *e, const golden *g) {
    fo_err err = {0};
    float *v = malloc(g->n * DIM * sizeof *v);
    double least = 1;
    assert_ok(embedder_embed(e, EMBED_PASSAGE, (const char *const *)g->text, g->len, g->n, v, &err),
              &err);
    for (size_t i = 0; i < g->n; i++) {
        double dot = 0, norm = 0;
        for (size_t k = 0; k < DIM; k++) {
            dot += (double)v[i * DIM + k] * (double)g->vectors[i * DIM + k];
            norm += (double)v[i * DIM + k] * (double)v[i * DIM + k];
        }
        if (g->n_ids[i] == 0) { /* nothing to say: zero here, a vector of [CLS] [SEP] there */
            assert_true(norm == 0);
            continue;
        }
        assert_true(fabs(norm - 1) < 1e-5);
        if (dot < least) least = dot;
    }
    free(v);
    return least;
}

static void minilm_gives_the_golden_vectors(void **state) {
    (void)state;
    golden g;
    if (!read_golden(&g)) skip();
    for (int exact = 0; exact < 2; exact++) {
        fo_err err = {0};
        embedder *e;
        assert_ok(embedder_open_with(&e, test_shared("models/all-minilm-l6-v2-f16.gguf"),
                                     &(embedder_options){.exact = exact}, &err),
                  &err);
        assert_int_equal(embedder_dim(e), DIM);
        assert_int_equal(embedder_max_tokens(e), 510);
        double least = least_cosine(e, &g);
        fprintf(stderr, "# MiniLM %s: least cosine %.7f\n", exact ? "exact" : "fast", least);
        assert_true(least > (exact ? .99999 : .999));
        for (size_t i = 0; i < g.n; i++)
            if (g.n_ids[i] < 254)
                assert_int_equal(embedder_count_tokens(e, g.text[i], g.len[i]), g.n_ids[i]);
        embedder_close(e);
    }
    free_golden(&g);
}

/* Of the reader's weights and the way back from them: MiniLM but for the rounding of its vocabulary to 4 bits, of its
 * layers to 8, and what 64 directions leave of the difference. */
static void the_builtin_encoder_is_minilm(void **state) {
    (void)state;
    char fingerprint[65];
    embedder_encoder_fingerprint(fingerprint);
    golden g;
    const bool has_golden = read_golden(&g);
    for (int exact = 0; exact < 2; exact++) {
        fo_err err = {0};
        embedder *e, *table;
        assert_ok(
            embedder_open_with(&e, EMBEDDER_ENCODER, &(embedder_options){.exact = exact}, &err),
            &err);
        assert_int_equal(embedder_dim(e), DIM);
        assert_int_equal(embedder_max_tokens(e), 254);
        assert_string_equal(embedder_name(e), "forage-encoder-384");
        assert_string_equal(embedder_fingerprint(e), fingerprint);
        assert_ok(embedder_open(&table, EMBEDDER_TABLE, &err), &err);
        assert_string_not_equal(embedder_fingerprint(table), fingerprint);
        embedder_close(table);
        double least = has_golden ? least_cosine(e, &g) : 1;
        fprintf(stderr, "# built-in encoder, %s: least cosine %.5f\n", exact ? "exact" : "fast",
                least);
        assert_true(least > .97);
        embedder_close(e);
    }
    if (has_golden) free_golden(&g);
}

static void a_vector_does_not_depend_on_its_company(void **state) {
    (void)state;
    const char *path = test_shared("models/all-minilm-l6-v2-f16.gguf");
    if (!path) skip();
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    const char *texts[] = {"a", "The quick brown fox jumps over the lazy dog.", "", "fox", "?"};
    size_t lens[5];
    static float all[5][DIM], one[DIM];
    for (int i = 0; i < 5; i++) lens[i] = strlen(texts[i]);
    assert_ok(embedder_embed(e, EMBED_QUERY, texts, lens, 5, all[0], &err), &err);
    for (int i = 0; i < 5; i++) {
        assert_ok(embedder_embed(e, EMBED_QUERY, texts + i, lens + i, 1, one, &err), &err);
        assert_memory_equal(one, all[i], sizeof one);
    }
    embedder_close(e);
}

static void a_prefix_changes_vectors_and_fingerprint(void **state) {
    (void)state;
    const char *path = test_shared("models/all-minilm-l6-v2-f16.gguf");
    if (!path) skip();
    fo_err err = {0};
    embedder *plain, *prefixed;
    assert_ok(embedder_open(&plain, path, &err), &err);
    assert_ok(
        embedder_open_with(&prefixed, path, &(embedder_options){.query_prefix = "query: "}, &err),
        &err);
    assert_string_not_equal(embedder_fingerprint(plain), embedder_fingerprint(prefixed));
    static float a[DIM], b[DIM];
    const char *with = "query: fox", *bare = "fox";
    size_t len_with = 10, len_bare = 3;
    assert_ok(embedder_embed(plain, EMBED_QUERY, &with, &len_with, 1, a, &err), &err);
    assert_ok(embedder_embed(prefixed, EMBED_QUERY, &bare, &len_bare, 1, b, &err), &err);
    assert_memory_equal(a, b, sizeof a);
    assert_ok(embedder_embed(prefixed, EMBED_PASSAGE, &bare, &len_bare, 1, b, &err), &err);
    assert_memory_not_equal(a, b, sizeof a);
    embedder_close(plain);
    embedder_close(prefixed);
}

/* The small nomic-bert, which has no table of positions, with another context; NULL: it is not there. */
static char *nomic_of(const char *dir, uint32_t n_context) {
    static const char key[] = "nomic-bert.context_length";
    const char *from = test_shared("golden/models/nomic-bert-f32.gguf");
    if (!from) return NULL;
    fo_err err = {0};
    char *data, *path = malloc(4096);
    size_t n;
    assert_ok(fo_file_read(from, 64 << 20, &data, &n, &err), &err);
    char *at = memmem(data, n, key, sizeof key - 1);
    assert_non_null(at);
    memcpy(at + sizeof key - 1 + sizeof(uint32_t), &n_context,
           sizeof n_context); /* behind its type */
    snprintf(path, 4096, "%s/nomic.gguf", dir);
    fo_file_writer *w;
    assert_ok(fo_file_create(&w, path, &err), &err);
    assert_ok(fo_file_write(w, data, n, &err), &err);
    assert_ok(fo_file_commit(w, &err), &err);
    free(data);
    return path;
}

/* The vector of n times a letter, behind which stands `last`. */
static void embed_letters(embedder *e, size_t n, const char *last, float *out) {
    fo_buf b = {0};
    fo_err err = {0};
    for (size_t i = 0; i < n; i++) fo_buf_str(&b, i % 3 ? "a " : "i ");
    assert_int_equal(embedder_count_tokens(e, b.data, b.len), n);
    fo_buf_str(&b, last);
    assert_ok(embedder_embed(e, EMBED_PASSAGE, (const char *const[]){b.data}, &b.len, 1, out, &err),
              &err);
    fo_buf_free(&b);
}

/* Of texts of max_tokens all counts, of longer ones what stands behind does not. */
static void assert_cuts_at(embedder *e, size_t most) {
    assert_int_equal(embedder_max_tokens(e), most);
    const size_t size = embedder_dim(e) * sizeof(float);
    float *whole = malloc(size), *cut = malloc(size), *less = malloc(size);
    embed_letters(e, most, "", whole);
    embed_letters(e, most, "i a i a i a i a i a", cut);
    embed_letters(e, most - 1, "", less);
    assert_memory_equal(whole, cut, size);
    assert_memory_not_equal(whole, less, size);
    free(whole);
    free(cut);
    free(less);
}

/* A text is cut where the encoder's bound is, below the model's context; its prefix is a part of it. */
static void a_text_is_cut_at_the_tokens_that_are_told(void **state) {
    (void)state;
    char *dir = test_folder(), *path = nomic_of(dir, 32768);
    fo_err err = {0};
    embedder *e;
    if (!path) {
        test_remove(dir);
        skip();
    }
    assert_ok(embedder_open(&e, path, &err), &err);
    assert_cuts_at(e, 8190);
    embedder_close(e);
    free(path);
    path = nomic_of(dir, 64);
    embedder_options o = {.query_prefix = "a", .passage_prefix = "i a i a: "};
    assert_ok(embedder_open_with(&e, path, &o, &err), &err);
    assert_cuts_at(e, 62 - embedder_count_tokens(e, "i a i a: ", 9));
    embedder_close(e);
    free(path);
    test_remove(dir);
}

static void a_generator_is_refused(void **state) {
    (void)state;
    const char *path = test_shared("models/stories260K.gguf");
    if (!path) skip();
    fo_err err = {0};
    embedder *e;
    assert_int_equal(embedder_open(&e, path, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "embed"));
}

typedef struct ingesting {
    embedder *e;
    atomic_bool begun, done;
} ingesting;

static void *ingest(void *arg) {
    enum { N = 160 };
    ingesting *in = arg;
    char text[512] = "";
    for (int i = 0; i < 60; i++) strcat(text, "heron ");
    const char *texts[N];
    size_t lens[N];
    for (int i = 0; i < N; i++) texts[i] = text, lens[i] = strlen(text);
    float *v = malloc(N * DIM * sizeof *v);
    fo_err err = {0};
    in->begun = true;
    int rc = embedder_embed(in->e, EMBED_PASSAGE, texts, lens, N, v, &err);
    in->done = true;
    free(v);
    return rc ? in : NULL;
}

/* Questions and passages run on pools of their own, or on one: the same bits. */
static void passages_may_have_a_pool_of_their_own(void **state) {
    (void)state;
    const char *path = test_shared("models/all-minilm-l6-v2-f16.gguf");
    if (!path) skip();
    enum { N = 40 };
    static float usual[N][DIM], beside[N][DIM], question[N][DIM];
    char text[N][256] = {{0}};
    const char *texts[N];
    size_t lens[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k <= i; k++) strcat(text[i], k % 3 ? "heron " : "reed ");
        texts[i] = text[i], lens[i] = strlen(text[i]);
    }
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    assert_ok(embedder_embed(e, EMBED_PASSAGE, texts, lens, N, usual[0], &err), &err);
    embedder_close(e);
    for (int threads = 1; threads <= 3; threads++) {
        fo_pool *pool = fo_pool_create(2), *low = fo_pool_create_background(threads, true);
        embedder_options o = {.pool = pool, .passage_pool = low};
        assert_ok(embedder_open_with(&e, path, &o, &err), &err);
        assert_ok(embedder_embed(e, EMBED_PASSAGE, texts, lens, N, beside[0], &err), &err);
        assert_ok(embedder_embed(e, EMBED_QUERY, texts, lens, N, question[0], &err), &err);
        assert_memory_equal(beside, usual, sizeof usual);
        assert_memory_equal(question, usual, sizeof usual);
        embedder_close(e);
        fo_pool_free(pool);
        fo_pool_free(low);
    }
}

/* The order of events, not their time: some 10,000 tokens of passages are in work. */
static void a_question_does_not_wait_for_a_batch_of_passages(void **state) {
    (void)state;
    if (!test_shared("models/all-minilm-l6-v2-f16.gguf")) skip();
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, test_shared("models/all-minilm-l6-v2-f16.gguf"), &err), &err);
    const char *question = "How tall is a heron?";
    size_t len = strlen(question);
    float alone[DIM], past[DIM];
    assert_ok(embedder_embed(e, EMBED_QUERY, &question, &len, 1, alone, &err), &err);
    bool passed = false;
    for (int i = 0; i < 5 && !passed; i++) { /* this thread may be the one that is held up */
        ingesting in = {.e = e};
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, ingest, &in), 0);
        while (!in.begun) sched_yield();
        assert_ok(embedder_embed(e, EMBED_QUERY, &question, &len, 1, past, &err), &err);
        passed = !in.done;
        void *failed;
        pthread_join(t, &failed);
        assert_null(failed);
        assert_memory_equal(alone, past, sizeof alone);
    }
    assert_true(passed);
    embedder_close(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minilm_gives_the_golden_vectors),
        cmocka_unit_test(the_builtin_encoder_is_minilm),
        cmocka_unit_test(a_vector_does_not_depend_on_its_company),
        cmocka_unit_test(a_prefix_changes_vectors_and_fingerprint),
        cmocka_unit_test(passages_may_have_a_pool_of_their_own),
        cmocka_unit_test(a_question_does_not_wait_for_a_batch_of_passages),
        cmocka_unit_test(a_text_is_cut_at_the_tokens_that_are_told),
        cmocka_unit_test(a_generator_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
