/* Static embedding tables: how a text's vector is made, fingerprints, files that contradict
 * themselves, model2vec folders, hostile safetensors, the built-in table and how well it ranks. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include "engine/embed/embedder.h"
#include "engine/gguf/gguf.h"
#include "engine/gguf/safetensors.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/vec.h"

/* --- a table of four pieces, small enough to check by hand --- */
static const gguf_str pieces[] = {{"[UNK]", 5}, {"[CLS]", 5}, {"[SEP]", 5},
                                  {"cat", 3},   {"dog", 3},   {"##s", 3}};
enum { N_PIECES = 6, DIM = 2 };

typedef struct recipe { /* what is wrong with the file */
    uint64_t rows;
    double alpha, scale, bias;
    const char *arch;
    uint32_t dim;
    double tf_power; /* 0: not in the file */
} recipe;

static const recipe sound = {N_PIECES, .25, .5, 0, "forage-static", DIM, 0};

static void make_table(const char *path, const recipe *r) {
    fo_err err = {0};
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_str(w, "general.architecture", r->arch);
    gguf_put_str(w, "general.name", "four pieces");
    gguf_put_u32(w, "forage-static.embedding_length", r->dim);
    gguf_put_f32(w, "forage-static.alpha", (float)r->alpha);
    if (r->tf_power != 0) gguf_put_f32(w, "forage-static.tf_power", (float)r->tf_power);
    gguf_put_str(w, "tokenizer.ggml.model", "bert");
    gguf_put_strs(w, "tokenizer.ggml.tokens", pieces, N_PIECES);
    gguf_put_u32(w, "tokenizer.ggml.unknown_token_id", 0);
    gguf_put_tensor(w, "token_embd.weight", QUANT_I8, 2, (uint64_t[]){DIM, r->rows});
    gguf_put_tensor(w, "token_embd.scale", QUANT_F32, 1, (uint64_t[]){N_PIECES});
    gguf_put_tensor(w, "output.bias", QUANT_F32, 1, (uint64_t[]){DIM});
    int8_t table[N_PIECES * DIM] = {9, 9, 9, 9, 9, 9, 3, 4, 0, 100, 10, 0};
    float scale[N_PIECES], bias[DIM] = {(float)r->bias, (float)r->bias};
    for (int i = 0; i < N_PIECES; i++) scale[i] = i == 5 ? 1.0f : (float)r->scale;
    assert_ok(gguf_write_data(w, table, (size_t)r->rows * DIM, &err), &err);
    assert_ok(gguf_write_data(w, scale, sizeof scale, &err), &err);
    assert_ok(gguf_write_data(w, bias, sizeof bias, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
}

static void embed_one(embedder *e, const char *text, float *out) {
    fo_err err = {0};
    size_t len = strlen(text);
    assert_ok(embedder_embed(e, EMBED_QUERY, &text, &len, 1, out, &err), &err);
}

static void assert_direction(const float *v, double x, double y) {
    double n = hypot(x, y);
    assert_true(fabs((double)v[0] - x / n) < 1e-6 && fabs((double)v[1] - y / n) < 1e-6);
}

static void a_vector_is_the_normalised_sum_of_its_pieces(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    make_table(path, &sound);
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    assert_string_equal(embedder_name(e), "four pieces");
    assert_int_equal(embedder_dim(e), DIM);
    assert_true(embedder_alpha(e) == 0.25f);
    assert_int_equal(strlen(embedder_fingerprint(e)), 64);
    float v[2];
    embed_one(e, "Cat", v);
    assert_direction(v, 3, 4);
    embed_one(e, "cats", v); /* 0.5 (3, 4) + (10, 0) */
    assert_direction(v, 11.5, 2);
    embed_one(e, "cats and dogs", v); /* "and" is unknown */
    assert_direction(v, 1.5 + 10 + 10, 2 + 50);
    embed_one(e, "elephant", v);
    assert_true(v[0] == 0 && v[1] == 0);
    embed_one(e, "", v);
    assert_true(v[0] == 0 && v[1] == 0);
    assert_int_equal(embedder_count_tokens(e, "cats, dogs", 10), 5); /* the comma is one */
    embedder_close(e);
    test_remove(dir);
}

static void a_bias_shifts_the_mean(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    recipe r = sound;
    r.bias = -1;
    make_table(path, &r);
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    float v[2];
    embed_one(e, "cats", v); /* mean (5.75, 1) - 1 */
    assert_direction(v, 4.75, 0);
    embed_one(e, "elephant", v);
    assert_true(v[0] == 0 && v[1] == 0);
    embedder_close(e);
    test_remove(dir);
}

static void repeated_pieces_are_damped(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096], text[1000] = "";
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    recipe r = sound;
    r.tf_power = .5;
    make_table(path, &r);
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    float v[2];
    embed_one(e, "cat dog cat cat cat", v); /* 2 * 0.5 (3, 4) + 0.5 (0, 100) */
    assert_direction(v, 3, 4 + 50);
    for (int i = 0; i < 100; i++) strcat(text, "cat ");
    embed_one(e, strcat(text, "dog"), v);
    assert_direction(v, 15, 20 + 50);
    embedder_close(e);
    test_remove(dir);
}

static void fingerprints_follow_what_decides_the_vectors(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096], prints[3][65];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    fo_err err = {0};
    recipe r[3] = {sound, sound, sound};
    r[1].alpha = .75; /* weighs results, does not change vectors */
    r[2].scale = .25;
    for (int i = 0; i < 3; i++) {
        embedder *e;
        make_table(path, &r[i]);
        assert_ok(embedder_open(&e, path, &err), &err);
        strcpy(prints[i], embedder_fingerprint(e));
        embedder_close(e);
    }
    assert_string_equal(prints[0], prints[1]);
    assert_string_not_equal(prints[0], prints[2]);
    test_remove(dir);
}

static void refuses_tables_that_contradict_themselves(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    const struct {
        recipe r;
        int rc;
        const char *says;
    } cases[] = {
        {{5, .3, 1, 0, "forage-static", 2, 0}, FO_ECORRUPT, "token_embd.weight"},
        {{6, .3, 1, 0, "forage-static", 3, 0}, FO_ECORRUPT, "token_embd.weight"},
        {{6, 1.5, 1, 0, "forage-static", 2, 0}, FO_ECORRUPT, "alpha"},
        {{6, NAN, 1, 0, "forage-static", 2, 0}, FO_ECORRUPT, "alpha"},
        {{6, .3, 1, 0, "forage-static", 2, -1}, FO_ECORRUPT, "tf_power"},
        {{6, .3, 1, 0, "forage-static", 2, 1.5}, FO_ECORRUPT, "tf_power"},
        {{6, .3, INFINITY, 0, "forage-static", 2, 0}, FO_ECORRUPT, "finite"},
        {{6, .3, 1, NAN, "forage-static", 2, 0}, FO_ECORRUPT, "finite"},
        {{6, .3, 1, 0, "unheard-of", 2, 0}, FO_EUNSUPPORTED, "unheard-of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_err err = {0};
        embedder *e = NULL;
        make_table(path, &cases[i].r);
        assert_int_equal(embedder_open(&e, path, &err), cases[i].rc);
        assert_null(e);
        assert_non_null(strstr(err.msg, cases[i].says));
        assert_non_null(strstr(err.msg, path));
    }
    fo_err err = {0};
    embedder *e;
    assert_int_equal(embedder_open(&e, dir, &err), FO_ENOTFOUND); /* a folder without a model */
    assert_int_not_equal(embedder_open(&e, "/nonexistent", &err), FO_OK);
    test_remove(dir);
}

/* --- model2vec folders --- */
static void put_file(const char *dir, const char *name, const void *data, size_t n) {
    char path[4096];
    fo_err err = {0};
    fo_file_writer *w;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(fo_file_create(&w, path, &err), &err);
    assert_ok(fo_file_write(w, data, n, &err), &err);
    assert_ok(fo_file_commit(w, &err), &err);
}

static void put_tensors(const char *dir, const char *header, const void *data, size_t n) {
    fo_buf b = {0};
    uint64_t len = strlen(header);
    fo_buf_add(&b, &len, 8);
    fo_buf_str(&b, header);
    fo_buf_add(&b, data, n);
    put_file(dir, "model.safetensors", b.data, b.len);
    fo_buf_free(&b);
}

static void loads_a_model2vec_folder_with_weights_and_mapping(void **state) {
    (void)state;
    char *dir = test_folder();
    const char config[] = "{\"model_type\":\"model2vec\"}";
    const char words[] = "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0,\"dog\":2,"
                         "\"cat\":1,\"##s\":3}}}";
    const float data[] = {0, 0, 3, 4, 0, 2, 1, 1, .5f, 4};
    const int64_t mapping[] = {0, 1, 2, 1};
    unsigned char bytes[sizeof data + sizeof mapping];
    memcpy(bytes, data, sizeof data);
    memcpy(bytes + sizeof data, mapping, sizeof mapping);
    put_file(dir, "config.json", config, sizeof config - 1);
    put_file(dir, "tokenizer.json", words, sizeof words - 1);
    put_tensors(dir,
                "{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},"
                "\"weights\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[24,40]},"
                "\"mapping\":{\"dtype\":\"I64\",\"shape\":[4],\"data_offsets\":[40,72]}}",
                bytes, sizeof bytes);
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, dir, &err), &err);
    float v[2];
    embed_one(e, "cats dog", v); /* 1 (3, 4) + 4 (3, 4) + .5 (0, 2) */
    assert_direction(v, 15, 21);
    char path[4096];
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    assert_int_equal(truncate(path, 0), 0); /* behind its back, as a copy over it would */
    const char *text = "dog";
    const size_t len = 3;
    for (int i = 0; i < 2; i++)
        assert_int_equal(embedder_embed(e, EMBED_QUERY, &text, &len, 1, v, &err), FO_EIO);
    assert_non_null(strstr(err.msg, path));
    embedder_close(e);
    const int64_t wild[] = {0, 1, 3, 1};
    memcpy(bytes + sizeof data, wild, sizeof wild);
    put_tensors(dir,
                "{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},"
                "\"mapping\":{\"dtype\":\"I64\",\"shape\":[4],\"data_offsets\":[40,72]}}",
                bytes, sizeof bytes);
    assert_int_equal(embedder_open(&e, dir, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "row 3 of 3"));
    const char doubled[] = "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0,\"a\":0}}}";
    put_file(dir, "tokenizer.json", doubled, sizeof doubled - 1);
    assert_int_equal(embedder_open(&e, dir, &err), FO_ECORRUPT);
    const char bpe[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}";
    put_file(dir, "tokenizer.json", bpe, sizeof bpe - 1);
    assert_int_equal(embedder_open(&e, dir, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "BPE"));
    test_remove(dir);
}

/* --- retrieval quality --- */
typedef struct texts {
    char **id, **text;
    size_t *len, n, cap;
} texts;

static void add_text(texts *t, const char *id, char *text) {
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 1024;
        t->id = realloc(t->id, t->cap * sizeof *t->id);
        t->text = realloc(t->text, t->cap * sizeof *t->text);
        t->len = realloc(t->len, t->cap * sizeof *t->len);
    }
    t->id[t->n] = strdup(id);
    t->text[t->n] = text;
    t->len[t->n++] = strlen(text);
}

/* A JSON object a line: id, and title + space + text. */
static texts read_texts(const char *path, size_t limit) {
    texts t = {0};
    fo_err err = {0};
    char *data, *line, *rest;
    size_t n;
    assert_ok(fo_file_read(path, 1 << 30, &data, &n, &err), &err);
    for (rest = data; (line = strsep(&rest, "\n")) && t.n < limit;) {
        if (!*line) continue;
        cJSON *o = cJSON_Parse(line);
        const cJSON *title = cJSON_GetObjectItem(o, "title");
        char *text;
        assert_true(asprintf(&text, "%s%s%s", title ? title->valuestring : "", title ? " " : "",
                             cJSON_GetObjectItem(o, "text")->valuestring) >= 0);
        add_text(&t, cJSON_GetObjectItem(o, "id")->valuestring, text);
        cJSON_Delete(o);
    }
    free(data);
    return t;
}

static void free_texts(texts *t) {
    for (size_t i = 0; i < t->n; i++) {
        free(t->id[i]);
        free(t->text[i]);
    }
    free(t->id);
    free(t->text);
    free(t->len);
}

static texts *sorted;
static int by_id(const void *a, const void *b) {
    return strcmp(sorted->id[*(const uint32_t *)a], sorted->id[*(const uint32_t *)b]);
}

static uint32_t *order_of(texts *t) {
    uint32_t *order = malloc(t->n * sizeof *order);
    for (size_t i = 0; i < t->n; i++) order[i] = (uint32_t)i;
    sorted = t;
    qsort(order, t->n, sizeof *order, by_id);
    return order;
}

static int64_t index_of(const texts *t, const uint32_t *order, const char *id) {
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = strcmp(t->id[order[mid]], id);
        if (!c) return order[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

typedef struct judgement {
    int64_t query, doc;
    double gain;
} judgement;

static judgement *read_qrels(const char *path, texts *queries, texts *docs, size_t *n) {
    uint32_t *qo = order_of(queries), *d_o = order_of(docs);
    char *data, *line, *rest;
    size_t size, cap = 0;
    fo_err err = {0};
    judgement *j = NULL;
    *n = 0;
    assert_ok(fo_file_read(path, 1 << 30, &data, &size, &err), &err);
    for (rest = data; (line = strsep(&rest, "\n"));) {
        char q[256], d[512];
        double gain;
        if (sscanf(line, "%255[^\t]\t%511[^\t]\t%lf", q, d, &gain) != 3 || gain <= 0) continue;
        if (*n == cap) j = realloc(j, (cap = cap ? 2 * cap : 4096) * sizeof *j);
        /* A judged document that the corpus lacks still counts in the ideal ranking. */
        j[*n] = (judgement){index_of(queries, qo, q), index_of(docs, d_o, d), gain};
        if (j[*n].query >= 0) ++*n;
    }
    free(data);
    free(qo);
    free(d_o);
    return j;
}

static int by_gain(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static double ndcg_of(const float *scores, size_t n_docs, const judgement *j, size_t n, int64_t q) {
    double gains[4096], dcg = 0, ideal = 0;
    size_t top[10], n_top = 0, n_gains = 0;
    for (size_t d = 0; d < n_docs; d++) { /* the ten best by insertion */
        size_t at = n_top < 10 ? n_top++ : 9;
        if (at == 9 && n_top == 10 && d >= 10 && scores[d] <= scores[top[9]]) continue;
        top[at] = d;
        for (; at && scores[top[at]] > scores[top[at - 1]]; at--) {
            size_t swap = top[at];
            top[at] = top[at - 1];
            top[at - 1] = swap;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (j[i].query != q) continue;
        assert_true(n_gains < 4096);
        gains[n_gains++] = j[i].gain;
        for (size_t k = 0; k < n_top; k++)
            if ((int64_t)top[k] == j[i].doc) dcg += j[i].gain / log2((double)k + 2);
    }
    if (!n_gains) return -1;
    qsort(gains, n_gains, sizeof *gains, by_gain);
    for (size_t k = 0; k < n_gains && k < 10; k++) ideal += gains[k] / log2((double)k + 2);
    return dcg / ideal;
}

static float *embed_texts(embedder *e, enum embed_kind kind, const texts *t) {
    fo_err err = {0};
    float *v = malloc(t->n * embedder_dim(e) * sizeof *v);
    assert_ok(embedder_embed(e, kind, (const char *const *)t->text, t->len, t->n, v, &err), &err);
    return v;
}

/* Dense nDCG@10 by exhaustive cosine, document level; -1 where the set is absent. */
static double dense_ndcg(embedder *e, const char *set, size_t max_queries) {
    char corpus[256], queries_name[256], qrels[256];
    snprintf(corpus, sizeof corpus, "eval/%s/corpus.jsonl", set);
    snprintf(queries_name, sizeof queries_name, "eval/%s/queries.jsonl", set);
    snprintf(qrels, sizeof qrels, "eval/%s/qrels.tsv", set);
    if (!test_shared(corpus)) return -1;
    texts docs = read_texts(test_shared(corpus), SIZE_MAX);
    texts queries = read_texts(test_shared(queries_name), max_queries);
    size_t n_judged, dim = embedder_dim(e), judged_queries = 0;
    judgement *j = read_qrels(test_shared(qrels), &queries, &docs, &n_judged);
    float *d = embed_texts(e, EMBED_PASSAGE, &docs), *q = embed_texts(e, EMBED_QUERY, &queries);
    float *scores = malloc(64 * docs.n * sizeof *scores);
    double sum = 0;
    for (size_t i = 0; i < queries.n; i++) {
        size_t batch = queries.n - i < 64 ? queries.n - i : 64;
        if (i % 64 == 0)
            for (size_t k = 0; k < docs.n; k++) /* a document stays near for all of a batch */
                for (size_t b = 0; b < batch; b++)
                    scores[b * docs.n + k] =
                        vec_get()->dot(q + (i + b) * dim, d + k * dim, (int)dim);
        double v = ndcg_of(scores + i % 64 * docs.n, docs.n, j, n_judged, (int64_t)i);
        if (v < 0) continue;
        sum += v;
        judged_queries++;
    }
    free(scores);
    free(d);
    free(q);
    free(j);
    free_texts(&docs);
    free_texts(&queries);
    return sum / (double)judged_queries;
}

static const struct {
    const char *name;
    size_t max_queries;
    double potion; /* an independent implementation's figure */
} sets[] = {
    {"scifact", SIZE_MAX, .487},       {"cranfield", SIZE_MAX, .301},
    {"cisi", SIZE_MAX, .342},          {"cacm", SIZE_MAX, .279},
    {"cookbook_code", SIZE_MAX, .410}, {"nq-swap", SIZE_MAX, .461},
    {"mtrag-un", SIZE_MAX, .690},      {"squad", 1500, .527},
};
enum { N_SETS = sizeof sets / sizeof *sets };

static void potion_is_as_good_as_in_its_reference_implementation(void **state) {
    (void)state;
    const char *path = test_shared("models/potion-base-4m-int8");
    if (!path) skip();
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    for (int i = 0; i < N_SETS; i++) {
        double v = dense_ndcg(e, sets[i].name, sets[i].max_queries);
        fprintf(stderr, "# potion %s: nDCG@10 %.4f (reference %.3f)\n", sets[i].name, v,
                sets[i].potion);
        assert_true(v > sets[i].potion - .01 && v < sets[i].potion + .03);
    }
    embedder_close(e);
}

static void the_embedded_table_is_ahead_of_potion(void **state) {
    (void)state;
    if (!test_shared("eval/squad/corpus.jsonl")) skip();
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, "data/models/forage-embed-256.gguf", &err), &err);
    double sum = 0, potion = 0;
    for (int i = 0; i < N_SETS; i++) {
        double v = dense_ndcg(e, sets[i].name, sets[i].max_queries);
        fprintf(stderr, "# embedded %s: nDCG@10 %.4f\n", sets[i].name, v);
        sum += v / N_SETS;
        potion += sets[i].potion / N_SETS;
    }
    fprintf(stderr, "# embedded mean %.4f, potion %.4f\n", sum, potion);
    assert_true(sum > potion + .06);
    embedder_close(e);
}

static void the_embedded_table_is_whole_and_knows_its_weight(void **state) {
    (void)state;
    fo_err err = {0};
    embedder *e;
    assert_ok(embedder_open(&e, "data/models/forage-embed-256.gguf", &err), &err);
    assert_int_equal(embedder_dim(e), 256);
    assert_true(embedder_alpha(e) > 0 && embedder_alpha(e) < 1);
    const char *near[] = {"How do I bake bread?", "Knead the dough and put it in the oven.",
                          "The parliament voted on the budget."};
    size_t lens[3];
    float v[3][256], a = 0, b = 0;
    for (int i = 0; i < 3; i++) lens[i] = strlen(near[i]);
    assert_ok(embedder_embed(e, EMBED_PASSAGE, near, lens, 3, v[0], &err), &err);
    for (int k = 0; k < 256; k++) {
        a += v[0][k] * v[1][k];
        b += v[0][k] * v[2][k];
    }
    assert_true(a > b + .2f);
    embedder_close(e);
}

/* --- safetensors --- */
static int open_tensors(const char *header, size_t data_bytes) {
    uint64_t n = strlen(header);
    unsigned char *file = calloc(1, 8 + n + data_bytes);
    memcpy(file, &n, 8);
    memcpy(file + 8, header, n);
    fo_err err = {0};
    safetensors *s = NULL;
    int rc = safetensors_open_memory(&s, file, 8 + n + data_bytes, &err);
    if (rc) assert_true(err.msg[0]);
    safetensors_close(s);
    free(file);
    return rc;
}

static void refuses_hostile_safetensors(void **state) {
    (void)state;
#define T(dtype, shape, range)                                                                     \
    "{\"t\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" range "}}"
    assert_int_equal(open_tensors(T("\"F32\"", "[2,2]", "[0,16]"), 16), FO_OK);
    assert_int_equal(open_tensors(T("\"F8_NEW\"", "[2,2]", "[0,3]"), 16), FO_OK);
    assert_int_equal(open_tensors("{\"__metadata__\":{\"a\":\"b\"}}", 0), FO_OK);
    const char *bad[] = {
        T("\"F32\"", "[2,2]", "[0,20]"),
        T("\"F32\"", "[2,2]", "[4,20]"),
        T("\"F32\"", "[2,2]", "[16,0]"),
        T("\"F32\"", "[2,2]", "[-16,0]"),
        T("\"F32\"", "[2,2]", "[0]"),
        T("\"F32\"", "[2,2]", "[0,1e300]"),
        T("\"F32\"", "[4294967296,4294967296]", "[0,0]"),
        T("\"F32\"", "[1.5]", "[0,6]"),
        T("\"F32\"", "[-1]", "[0,4]"),
        T("\"F32\"", "4", "[0,16]"),
        T("7", "[4]", "[0,16]"),
        T("\"F32\"", "[1,1,1,1,1,1,1,1,4]", "[0,16]"),
        T("\"F32_with_a_long_name\"", "[4]", "[0,16]"),
        "{\"t\":7}",
        "[]",
        "{",
        "",
        "{\"t\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"t\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (open_tensors(bad[i], 16) != FO_ECORRUPT) fail_msg("accepted: %s", bad[i]);
    unsigned char file[16] = {255, 255, 255, 255, 255, 255, 255, 255, '{', '}'};
    fo_err err = {0};
    safetensors *s;
    assert_int_equal(safetensors_open_memory(&s, file, sizeof file, &err), FO_ECORRUPT);
    for (size_t n = 0; n < 10; n++)
        assert_int_equal(safetensors_open_memory(&s, file, n, &err), FO_ECORRUPT);
}

/* --- threads --- */
typedef struct job {
    embedder *e;
    float v[8][2];
} job;

static void *embed_again(void *arg) {
    job *j = arg;
    for (int k = 0; k < 200; k++)
        for (int i = 0; i < 8; i++) embed_one(j->e, i % 2 ? "cats and dogs" : "dog cat", j->v[i]);
    return NULL;
}

static void many_threads_get_the_same_vectors(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    make_table(path, &sound);
    fo_err err = {0};
    job jobs[4];
    pthread_t threads[4];
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    for (int i = 0; i < 4; i++) {
        jobs[i].e = e;
        assert_int_equal(pthread_create(&threads[i], NULL, embed_again, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 1; i < 4; i++) assert_memory_equal(jobs[i].v, jobs[0].v, sizeof jobs[0].v);
    embedder_close(e);
    test_remove(dir);
}

/* `embed_static_test MODEL...` prints the quality of models instead of testing. */
static int print_quality(int n, char **paths) {
    for (int k = 0; k < n; k++) {
        fo_err err = {0};
        embedder *e;
        if (embedder_open(&e, paths[k], &err)) {
            fprintf(stderr, "%s\n", err.msg);
            return 1;
        }
        double sum = 0;
        for (int i = 0; i < N_SETS; i++) {
            double v = dense_ndcg(e, sets[i].name, sets[i].max_queries);
            printf("%s %.3f  ", sets[i].name, v);
            sum += v;
        }
        printf("mean %.4f  %s\n", sum / N_SETS, paths[k]);
        embedder_close(e);
    }
    return 0;
}

/* The table inside learnt English: of other scripts its vocabulary has letters, or not even those. */
static void it_says_which_text_it_has_learnt(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool learnt;
    } cases[] = {
        {"When?", true},
        {"", true},
        {"Bibliothek \u00F6ffnet wann?", true},
        {"Khi n\u00E0o th\u01B0 vi\u1EC7n m\u1EDF c\u1EEDa?", true},
        {"Кто ласты?", false},
        {"Де зберігаються ключі від човна?", false},
        {"Install Python 3.11, что это?", true},
        {"泳池几点开放", false},
        {"ポンプはどこにありますか。", false},
        {"도서관은 언제 엽니까?", false},
        {"מתי נפתחת הספרייה?", false},
        {"متى تفتح المكتبة؟", false},
        {"ห้องสมุดเปิดกี่โมง", false},
    };
    embedder *e;
    fo_err err = {0};
    assert_ok(embedder_open(&e, NULL, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (embedder_has_learnt(e, cases[i].text, strlen(cases[i].text)) != cases[i].learnt)
            fail_msg("%s", cases[i].text);
    embedder_close(e);
}

int main(int argc, char **argv) {
    if (argc > 1) return print_quality(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vector_is_the_normalised_sum_of_its_pieces),
        cmocka_unit_test(a_bias_shifts_the_mean),
        cmocka_unit_test(repeated_pieces_are_damped),
        cmocka_unit_test(fingerprints_follow_what_decides_the_vectors),
        cmocka_unit_test(refuses_tables_that_contradict_themselves),
        cmocka_unit_test(loads_a_model2vec_folder_with_weights_and_mapping),
        cmocka_unit_test(refuses_hostile_safetensors),
        cmocka_unit_test(many_threads_get_the_same_vectors),
        cmocka_unit_test(the_embedded_table_is_whole_and_knows_its_weight),
        cmocka_unit_test(the_embedded_table_is_ahead_of_potion),
        cmocka_unit_test(potion_is_as_good_as_in_its_reference_implementation),
        cmocka_unit_test(it_says_which_text_it_has_learnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
