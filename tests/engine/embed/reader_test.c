/* Readers: token vectors against the encoder and another implementation's, alignment against plain
 * sums in double, the cache's bounds, texts that nobody would send in good faith. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include "engine/embed/embedder.h"
#include "engine/embed/reader.h"
#include "engine/embed/reader_builtin.h"
#include "engine/embed/reader_impl.h"
#include "engine/model/encoder.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/file.h"

enum { DIM = 384 };

static reader *open_reader(const char *path, reader_options o) {
    fo_err err = {0};
    reader *r = NULL;
    assert_ok(reader_open(&r, path, &o, &err), &err);
    return r;
}

static reader_text *read_one(reader *r, const char *text, size_t len) {
    fo_err err = {0};
    reader_text *t = NULL;
    assert_ok(reader_encode(r, &text, &len, 1, NULL, &t, &err), &err);
    assert_non_null(t);
    return t;
}

static void assert_same(const reader_text *a, const reader_text *b) {
    assert_int_equal(a->n_tokens, b->n_tokens);
    assert_int_equal(a->read, b->read);
    assert_memory_equal(a->ids, b->ids, (a->n_tokens + 2) * sizeof *a->ids);
    assert_memory_equal(a->spans, b->spans, a->n_tokens * sizeof *a->spans);
    assert_memory_equal(a->scale, b->scale, a->n_tokens * sizeof *a->scale);
    assert_memory_equal(a->codes, b->codes, (size_t)a->n_tokens * a->len);
}

static const char *const texts[] = {
    "How many miles of wall has Hadrian's?",
    "Hadrian's Wall",
    "",
    "The wall ran for 73 miles from Wallsend to Bowness-on-Solway. It was begun in AD 122.",
    "Z\xC3\xBCrich, na\xC3\xAFve caf\xC3\xA9s: \xE6\x9D\xB1\xE4\xBA\xAC \xF0\x9F\x98\x80 ok",
    "wall",
};
enum { N_TEXTS = sizeof texts / sizeof *texts };

static void read_texts(reader *r, reader_text **out) {
    size_t lens[N_TEXTS];
    fo_err err = {0};
    for (int i = 0; i < N_TEXTS; i++) lens[i] = strlen(texts[i]);
    assert_ok(reader_encode(r, texts, lens, N_TEXTS, NULL, out, &err), &err);
}

/* --- vectors --- */
typedef struct oracle {
    model *m;
    tokenizer *t;
    encoder *e;
    float *rows;
} oracle;

/* path NULL: the model in the binary. */
static void oracle_open(oracle *o, const char *path) {
    fo_err err = {0};
    size_t size;
    const void *data = reader_builtin(&size);
    if (path)
        assert_ok(model_open(&o->m, path, &(model_options){0}, &err), &err);
    else
        assert_ok(model_open_memory(&o->m, data, size, "built in", &(model_options){0}, &err),
                  &err);
    assert_ok(tokenizer_from_gguf(&o->t, model_gguf(o->m), &err), &err);
    assert_ok(encoder_create(&o->e, o->m, NULL, &err), &err);
    o->rows = malloc(512 * DIM * sizeof *o->rows);
}

static void oracle_close(oracle *o) {
    encoder_free(o->e);
    tokenizer_free(o->t);
    model_close(o->m);
    free(o->rows);
}

/* The last layer of a text between its ends; how many rows. */
static int oracle_rows(oracle *o, const char *text) {
    int32_t ids[512];
    fo_err err = {0};
    const int n = (int)tokenizer_encode(o->t, text, strlen(text), TOKENIZER_ADD_SPECIAL, ids, 512);
    assert_in_range(n, 2, 512);
    assert_ok(encoder_hidden(o->e, &(encoder_text){ids, n, 0}, 1, o->rows, &err), &err);
    return n;
}

static double cosine(const float *a, const float *b, size_t n) {
    double dot = 0, x = 0, y = 0;
    for (size_t i = 0; i < n; i++) {
        dot += (double)a[i] * (double)b[i];
        x += (double)a[i] * (double)a[i];
        y += (double)b[i] * (double)b[i];
    }
    return x > 0 && y > 0 ? dot / sqrt(x * y) : 0;
}

static void unpack(const reader_text *t, size_t token, float out[DIM]) {
    for (size_t k = 0; k < DIM; k++) out[k] = t->scale[token] * (float)t->codes[token * t->len + k];
}

/* The chain to another implementation: the mean of the encoder's rows is its sentence vector, and
 * a reader's vectors are those rows brought to unit length. */
static void vectors_are_the_last_layers(void **state) {
    (void)state;
    enum { MOST = 25 };
    char *data, *line, *rest, model_path[4096];
    float *golden;
    size_t size, text = 0, rows = 0;
    fo_err err = {0};
    if (!test_shared("golden/minilm/texts.jsonl")) skip();
    snprintf(model_path, sizeof model_path, "%s", test_shared("models/all-minilm-l6-v2-f16.gguf"));
    assert_ok(fo_file_read(test_shared("golden/minilm/texts.jsonl"), 64 << 20, &data, &size, &err),
              &err);
    assert_ok(fo_file_read(test_shared("golden/minilm/vectors.f32"), 64 << 20, (char **)&golden,
                           &size, &err),
              &err);
    oracle o;
    oracle_open(&o, model_path);
    reader *r = open_reader(model_path, (reader_options){.exact = true});
    double least_mean = 1, least_row = 1, least_code = 1;
    for (rest = data; text < MOST && (line = strsep(&rest, "\n")) && *line; text++) {
        cJSON *j = cJSON_Parse(line);
        const char *s = cJSON_GetObjectItem(j, "text")->valuestring;
        const int n_ids = cJSON_GetArraySize(cJSON_GetObjectItem(j, "ids"));
        if (n_ids && n_ids < 254) { /* the other one cuts longer texts */
            reader_text *t = read_one(r, s, strlen(s));
            assert_int_equal(t->n_tokens, n_ids);
            for (int i = 0; i < n_ids; i++)
                assert_int_equal(t->ids[i + 1],
                                 cJSON_GetArrayItem(cJSON_GetObjectItem(j, "ids"), i)->valueint);
            assert_int_equal(oracle_rows(&o, s), n_ids + 2);
            float mean[DIM] = {0};
            for (int i = 0; i < n_ids + 2; i++)
                for (int k = 0; k < DIM; k++) mean[k] += o.rows[i * DIM + k];
            least_mean = fmin(least_mean, cosine(mean, golden + text * DIM, DIM));
            for (int i = 0; i < n_ids; i++, rows++) {
                const float *row = o.rows + (i + 1) * DIM, *v = t->vectors + i * DIM;
                float rounded[DIM];
                unpack(t, (size_t)i, rounded);
                assert_true(fabs(cosine(v, v, DIM) - 1) < 1e-6);
                least_row = fmin(least_row, cosine(row, v, DIM));
                least_code = fmin(least_code, cosine(row, rounded, DIM));
            }
            reader_text_release(t);
        }
        cJSON_Delete(j);
    }
    fprintf(stderr, "# %zu tokens: least cosine of means %.7f, of rows %.7f, of codes %.5f\n", rows,
            least_mean, least_row, least_code);
    assert_true(rows > 1000);
    assert_true(least_mean > .99999);
    assert_true(least_row > .9999999);
    assert_true(least_code > .9995);
    reader_close(r);
    oracle_close(&o);
    free(data);
    free(golden);
}

/* Row for row, where the other implementation is not at hand. */
static void vectors_of_the_model_inside_are_its_rows(void **state) {
    (void)state;
    oracle o;
    oracle_open(&o, NULL);
    reader *r = open_reader(NULL, (reader_options){.exact = true});
    reader_text *t[N_TEXTS];
    read_texts(r, t);
    for (int i = 0; i < N_TEXTS; i++) {
        assert_int_equal(oracle_rows(&o, texts[i]), t[i]->n_tokens + 2);
        for (size_t k = 0; k < t[i]->n_tokens; k++) {
            float rounded[DIM];
            unpack(t[i], k, rounded);
            assert_true(cosine(o.rows + (k + 1) * DIM, t[i]->vectors + k * DIM, DIM) > .9999999);
            assert_true(cosine(o.rows + (k + 1) * DIM, rounded, DIM) > .9998);
        }
    }
    reader_texts_release(t, N_TEXTS);
    reader_close(r);
    oracle_close(&o);
}

/* The model in the binary, as the server runs it, beside its F32 arithmetic. */
static void rounding_keeps_the_directions(void **state) {
    (void)state;
    reader *fast = open_reader(NULL, (reader_options){0});
    reader *exact = open_reader("", (reader_options){.exact = true});
    reader_text *a[N_TEXTS], *b[N_TEXTS];
    read_texts(fast, a);
    read_texts(exact, b);
    double least = 1;
    for (int i = 0; i < N_TEXTS; i++) {
        for (size_t k = 0; k < a[i]->n_tokens; k++) {
            float v[DIM];
            unpack(a[i], k, v);
            least = fmin(least, cosine(v, b[i]->vectors + k * DIM, DIM));
        }
    }
    fprintf(stderr, "# least cosine of the fast path: %.5f\n", least);
    assert_true(least > .997);
    assert_null(a[0]->vectors);
    for (int i = 0; i < N_TEXTS; i++)
        assert_memory_equal(a[i]->ids, b[i]->ids, (a[i]->n_tokens + 2) * sizeof(int32_t));
    reader_texts_release(a, N_TEXTS);
    reader_texts_release(b, N_TEXTS);
    reader_close(fast);
    reader_close(exact);
}

static void a_text_does_not_depend_on_its_company(void **state) {
    (void)state;
    fo_pool *one = fo_pool_create(1), *three = fo_pool_create(3);
    reader *r = open_reader(NULL, (reader_options){.pool = one});
    reader *s = open_reader(NULL, (reader_options){.pool = three, .cache_bytes = 1 << 20});
    reader_text *all[N_TEXTS], *kept[N_TEXTS];
    read_texts(r, all);
    for (int again = 0; again < 2; again++) {
        read_texts(s, kept);
        for (int i = 0; i < N_TEXTS; i++) assert_same(all[i], kept[i]);
        reader_texts_release(kept, N_TEXTS);
    }
    for (int i = 0; i < N_TEXTS; i++) {
        reader_text *t = read_one(r, texts[i], strlen(texts[i]));
        assert_same(all[i], t);
        reader_text_release(t);
    }
    reader_texts_release(all, N_TEXTS);
    reader_close(r);
    reader_close(s);
    fo_pool_free(one);
    fo_pool_free(three);
}

/* --- spans --- */
static void spans_say_where_tokens_stand(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){0});
    const char *s = "Unbelievable!  Gr\xC3\xBC\xC3\x9F"
                    "e, caf\xC3\xA9.";
    reader_text *t = read_one(r, s, strlen(s));
    char got[256] = "";
    for (size_t i = 0; i < reader_text_tokens(t); i++) {
        reader_span at = reader_text_span(t, i);
        sprintf(got + strlen(got), "|%.*s", (int)(at.end - at.begin), s + at.begin);
    }
    assert_string_equal(got, "|Unbelievable|!|Gr|\xC3\xBC|\xC3\x9F"
                             "e|,|caf\xC3\xA9|.");
    assert_int_equal(reader_text_bytes(t), strlen(s));
    reader_part p = reader_part_of(t, 15, 21, 1); /* three tokens */
    assert_int_equal(p.begin, 2);
    assert_int_equal(p.end, 5);
    p = reader_part_of(t, 0, SIZE_MAX, 1);
    assert_int_equal(p.begin, 0);
    assert_int_equal(p.end, 8);
    p = reader_part_of(t, 9, 3, 1); /* the wrong way round: nothing */
    assert_int_equal(p.begin, p.end);
    p = reader_part_of(t, SIZE_MAX, SIZE_MAX, 1);
    assert_int_equal(p.end - p.begin, 0);
    reader_text_release(t);
    reader_close(r);
}

static void a_long_text_is_cut_and_says_so(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){0});
    char text[3000] = "";
    for (int i = 0; i < 300; i++) strcat(text, i % 2 ? "boat " : "lake ");
    reader_text *whole = read_one(r, text, 256 * 5 - 1), *cut = read_one(r, text, strlen(text));
    assert_int_equal(reader_text_tokens(whole), READER_MAX_TOKENS);
    assert_int_equal(reader_text_bytes(whole), 256 * 5 - 1);
    assert_int_equal(reader_text_tokens(cut), READER_MAX_TOKENS);
    assert_int_equal(reader_text_bytes(cut), 256 * 5 - 1); /* behind the last token that was read */
    assert_memory_equal(whole->codes, cut->codes, READER_MAX_TOKENS * whole->len);
    reader_text_release(whole);
    reader_text_release(cut);
    reader_close(r);
}

/* --- hostile texts --- */
static void any_bytes_are_a_text(void **state) {
    (void)state;
    enum { BIG = 1 << 20, N = 9 };
    reader *r = open_reader(NULL, (reader_options){.cache_bytes = 1 << 22});
    uint64_t seed = test_seed();
    char *noise = malloc(BIG), *letters = malloc(BIG), *blanks = malloc(BIG), *words = malloc(BIG);
    for (size_t i = 0; i < BIG; i++) noise[i] = (char)test_random(&seed);
    memset(letters, 'a', BIG);
    memset(blanks, ' ', BIG);
    for (size_t i = 0; i < BIG; i++) words[i] = "lake boat "[i % 10];
    const char *hostile[N] = {"",    " \n\t", "\0\0\0", "\xFF\xFE\x80", "\xF0\x9F\x98",
                              noise, letters, blanks,   words};
    const size_t lens[N] = {0, 3, 3, 3, 3, BIG, BIG, BIG, BIG};
    reader_text *t[N];
    fo_err err = {0};
    assert_ok(reader_encode(r, hostile, lens, N, NULL, t, &err), &err);
    for (int i = 0; i < N; i++) {
        assert_in_range(reader_text_tokens(t[i]), 0, READER_MAX_TOKENS);
        assert_true(reader_text_bytes(t[i]) <= lens[i]);
        for (size_t k = 0; k < t[i]->n_tokens; k++) {
            float v[DIM];
            unpack(t[i], k, v);
            assert_true(fabs(cosine(v, v, DIM) - 1) < 1e-5 && t[i]->scale[k] > 0);
            assert_true(t[i]->spans[k].end <= lens[i]);
        }
    }
    for (int i = 0; i < 5; i++) assert_int_equal(reader_text_tokens(t[i]), 0);
    assert_int_equal(reader_text_tokens(t[6]), 1); /* one unknown word */
    assert_int_equal(reader_text_tokens(t[7]), 0);
    assert_int_equal(reader_text_tokens(t[8]), READER_MAX_TOKENS);
    reader_texts_release(t, N);
    free(noise);
    free(letters);
    free(blanks);
    free(words);
    reader_close(r);
}

static void a_call_is_bounded(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){0});
    const char *many[READER_MAX_TEXTS + 1];
    size_t lens[READER_MAX_TEXTS + 1];
    static reader_text *out[READER_MAX_TEXTS + 1];
    fo_err err = {0};
    for (int i = 0; i <= READER_MAX_TEXTS; i++) many[i] = i % 2 ? "lake" : "a boat on it";
    for (int i = 0; i <= READER_MAX_TEXTS; i++) lens[i] = strlen(many[i]);
    assert_int_equal(reader_encode(r, many, lens, READER_MAX_TEXTS + 1, NULL, out, &err),
                     FO_ELIMIT);
    assert_non_null(strstr(err.msg, "1025"));
    assert_ok(reader_encode(r, many, lens, READER_MAX_TEXTS, NULL, out, &err), &err);
    for (int i = 2; i < READER_MAX_TEXTS; i++) assert_ptr_equal(out[i], out[i - 2]);
    reader_texts_release(out, READER_MAX_TEXTS);
    assert_ok(reader_encode(r, many, lens, 0, NULL, out, &err), &err);
    lens[1] = ((size_t)1 << 30) + 1; /* refused before a byte of it is looked at */
    memset(&err, 0, sizeof err);
    assert_int_equal(reader_encode(r, many, lens, 2, NULL, out, &err), FO_ELIMIT);
    assert_non_null(strstr(err.msg, "text 1"));
    assert_null(out[0]);
    reader_close(r);
}

/* 400 different words a text: each is a text of its own, in more than one step. */
static void many_short_texts_are_read_in_several_steps(void **state) {
    (void)state;
    enum { N = 700 };
    fo_pool *pool = fo_pool_create(1);
    reader *r = open_reader(NULL, (reader_options){.pool = pool});
    static char text[N][32];
    const char *list[N];
    size_t lens[N];
    static reader_text *out[N];
    fo_err err = {0};
    for (int i = 0; i < N; i++) {
        lens[i] = (size_t)sprintf(text[i], i % 3 ? "room %d" : "%d", i);
        list[i] = text[i];
    }
    assert_ok(reader_encode(r, list, lens, N, NULL, out, &err), &err);
    for (int i = 0; i < N; i += 97) {
        reader_text *t = read_one(r, text[i], lens[i]);
        assert_same(t, out[i]);
        reader_text_release(t);
    }
    reader_texts_release(out, N);
    reader_close(r);
    fo_pool_free(pool);
}

static void what_one_read_no_other_finds(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){.cache_bytes = 1 << 20});
    const unsigned char spaces[3][32] = {{1}, {2}, {1}};
    const char *s = "the grey heron";
    size_t len = strlen(s);
    fo_err err = {0};
    reader_stats stats;
    reader_text *first = NULL;
    const uint64_t misses[] = {1, 2, 3,
                               3}; /* by itself, in one space, in another, in the first again */
    for (int i = 0; i < 4; i++) {
        reader *own = i ? reader_apart(r, spaces[i - 1]) : r;
        reader_text *t;
        assert_non_null(own);
        assert_ok(reader_encode(own, &s, &len, 1, NULL, &t, &err), &err);
        reader_get_stats(own, &stats);
        assert_int_equal(stats.misses, misses[i]);
        if (first) assert_int_equal(reader_text_tokens(t), reader_text_tokens(first));
        if (first)
            reader_text_release(t);
        else
            first = t;
        if (own != r) reader_close(own);
    }
    reader_text_release(first);
    reader_close(r);
}

static void a_cancelled_call_gives_nothing(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){.cache_bytes = 1 << 20});
    atomic_bool cancelled = true;
    const char *s = "a boat";
    size_t len = 6;
    reader_text *t = (void *)&len;
    fo_err err = {0};
    reader_stats stats;
    assert_int_equal(reader_encode(r, &s, &len, 1, &cancelled, &t, &err), FO_ECANCELLED);
    assert_null(t);
    reader_get_stats(r, &stats);
    assert_int_equal(stats.texts, 0);
    cancelled = false;
    assert_ok(reader_encode(r, &s, &len, 1, &cancelled, &t, &err), &err);
    reader_text_release(t);
    reader_close(r);
}

static void other_models_are_refused(void **state) {
    (void)state;
    fo_err err = {0};
    reader *r = NULL;
    assert_int_equal(reader_open(&r, "/nowhere/reader.gguf", &(reader_options){0}, &err),
                     FO_ENOTFOUND);
    const char *path = test_shared("models/stories260K.gguf");
    if (path) {
        assert_int_equal(reader_open(&r, path, &(reader_options){0}, &err), FO_EUNSUPPORTED);
        assert_non_null(strstr(err.msg, "writes text"));
    }
    assert_null(r);
}

/* What all vectors have in common says nothing: less that, tokens that point the same way otherwise are near, others are not. */
static void the_centre_is_taken_off(void **state) {
    (void)state;
    enum { N = 40, WIDTH = 64 };
    uint64_t seed = test_seed();
    float common[WIDTH], own[N / 2][WIDTH], row[WIDTH];
    for (size_t k = 0; k < WIDTH; k++) common[k] = k % 3 ? .12f : -.12f;
    for (size_t i = 0; i < N / 2; i++)
        for (size_t k = 0; k < WIDTH; k++) own[i][k] = (float)(test_uniform(&seed) - .5) * .12f;
    for (int off = 0; off < 2; off++) {
        reader_text *t = reader_text_create(N, WIDTH, false);
        for (size_t i = 0; i < N; i++) { /* 2 i and 2 i + 1 are alike, of different lengths */
            for (size_t k = 0; k < WIDTH; k++)
                row[k] = (common[k] + own[i / 2][k]) * (float)(1 + i % 2);
            reader_text_set(t, i, row, off ? common : NULL);
        }
        float a[DIM] = {0}, b[DIM] = {0}, c[DIM] = {0};
        for (size_t k = 0; k < WIDTH; k++) {
            a[k] = t->scale[0] * (float)t->codes[k];
            b[k] = t->scale[1] * (float)t->codes[t->len + k];
            c[k] = t->scale[2] * (float)t->codes[2 * t->len + k];
        }
        assert_true(cosine(a, b, WIDTH) > .99);
        if (off)
            assert_true(cosine(a, c, WIDTH) < .6);
        else
            assert_true(cosine(a, c, WIDTH) > .8);
        reader_text_release(t);
    }
}

/* A reader over weights that are open already gives what one that read them gives, and leaves them open. */
static void weights_may_be_shared(void **state) {
    (void)state;
    fo_err err = {0};
    embedder *e = NULL;
    assert_ok(embedder_open(&e, EMBEDDER_ENCODER, &err), &err);
    assert_non_null(embedder_model(e));
    float before[DIM], after[DIM];
    const char *text = texts[3];
    const size_t len = strlen(text);
    assert_int_equal(embedder_dim(e), DIM);
    assert_ok(embedder_embed(e, EMBED_QUERY, &text, &len, 1, before, &err), &err);
    for (int round = 0; round < 2; round++) {
        reader *r = open_reader(embedder_name(e), (reader_options){.weights = embedder_model(e)});
        assert_null(r->centre); /* MiniLM's vectors are scattered */
        reader_text *t = read_one(r, text, len);
        assert_true(reader_text_tokens(t) > 10);
        reader_text_release(t);
        reader_close(r);
    }
    assert_ok(embedder_embed(e, EMBED_QUERY, &text, &len, 1, after, &err), &err);
    assert_memory_equal(before, after, sizeof before);
    embedder_close(e);
    embedder *table = NULL;
    assert_ok(embedder_open(&table, EMBEDDER_TABLE, &err), &err);
    assert_null(embedder_model(table));
    embedder_close(table);
}

/* --- alignment --- */
static float random_weight(uint64_t *seed) {
    static const float weights[] = {0, .5f, .9f, 1};
    return weights[test_random(seed) % 4];
}

/* Parts drawn at random, against sums in double over the codes, or over the unrounded vectors. */
static void alignment_is_the_best_weighted_cosine(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int exact = 0; exact < 2; exact++) {
        reader *r = open_reader(NULL, (reader_options){.exact = exact});
        reader_text *t[N_TEXTS];
        fo_err err = {0};
        read_texts(r, t);
        for (int round = 0; round < 40; round++) {
            enum { UNITS = 7, PARTS = 3 };
            const reader_text *q = t[test_random(&seed) % N_TEXTS];
            reader_part parts[UNITS][PARTS];
            reader_unit units[UNITS];
            for (int u = 0; u < UNITS; u++) {
                units[u] = (reader_unit){parts[u], test_random(&seed) % (PARTS + 1)};
                for (int p = 0; p < PARTS; p++) {
                    const reader_text *of = t[test_random(&seed) % N_TEXTS];
                    uint32_t a = (uint32_t)(test_random(&seed) % (of->n_tokens + 1));
                    uint32_t b = (uint32_t)(test_random(&seed) % (of->n_tokens + 1));
                    parts[u][p] =
                        (reader_part){of, a < b ? a : b, a < b ? b : a, random_weight(&seed)};
                }
            }
            float best[UNITS * READER_MAX_TOKENS];
            assert_ok(reader_align(q, units, UNITS, best, &err), &err);
            for (int u = 0; u < UNITS; u++) {
                for (size_t k = 0; k < q->n_tokens; k++) {
                    double want = -2;
                    for (size_t p = 0; p < units[u].n_parts; p++) {
                        for (uint32_t i = parts[u][p].begin; i < parts[u][p].end; i++) {
                            float x[DIM], y[DIM];
                            unpack(q, k, x);
                            unpack(parts[u][p].text, i, y);
                            const double c = exact
                                                 ? cosine(q->vectors + k * DIM,
                                                          parts[u][p].text->vectors + i * DIM, DIM)
                                                 : cosine(x, y, DIM);
                            want = fmax(want, (double)parts[u][p].weight * c);
                        }
                    }
                    const float got = best[(size_t)u * q->n_tokens + k];
                    if (!(fabs((double)got - (want < -1 ? 0 : want)) < 2e-6))
                        fail_msg("unit %d, token %zu: %.7f, not %.7f", u, k, (double)got, want);
                }
            }
        }
        reader_texts_release(t, N_TEXTS);
        reader_close(r);
    }
}

/* What the whole is for. */
static void the_sentence_that_answers_is_the_nearest(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){0});
    const char *passage =
        "The house was built in 1904 for a painter. Guests may borrow the rowing boat, which holds "
        "four, on the lake only. Breakfast is laid between seven and nine.";
    static const struct {
        const char *question;
        int sentence;
    } cases[] = {{"When can I eat in the morning?", 2},
                 {"How many people fit into the dinghy?", 1},
                 {"How old is the building?", 0}};
    const size_t ends[] = {42, 112, strlen(passage)};
    reader_text *p = read_one(r, passage, strlen(passage));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        reader_text *q = read_one(r, cases[c].question, strlen(cases[c].question));
        const size_t n = reader_text_tokens(q);
        reader_part part[3];
        reader_unit unit[3];
        float best[3 * READER_MAX_TOKENS], weights[READER_MAX_TOKENS], score[3];
        fo_err err = {0};
        for (int i = 0; i < 3; i++) {
            part[i] = reader_part_of(p, i ? ends[i - 1] : 0, ends[i], 1);
            unit[i] = (reader_unit){&part[i], 1};
        }
        assert_ok(reader_align(q, unit, 3, best, &err), &err);
        reader_idf(q, unit, 3, weights);
        for (int i = 0; i < 3; i++) score[i] = reader_score(best + (size_t)i * n, weights, n);
        for (int i = 0; i < 3; i++)
            if (i != cases[c].sentence && score[i] >= score[cases[c].sentence])
                fail_msg("%s: sentence %d has %.3f, %d has %.3f", cases[c].question, i,
                         (double)score[i], cases[c].sentence, (double)score[cases[c].sentence]);
        reader_text_release(q);
    }
    reader_text_release(p);
    reader_close(r);
}

static void what_cannot_be_aligned_is_named(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){0}),
           *s = open_reader(NULL, (reader_options){.exact = true});
    reader_text *a = read_one(r, "a boat", 6), *b = read_one(s, "a boat", 6);
    const struct {
        reader_part part;
        const char *says;
    } cases[] = {{{a, 1, 3, 1}, "tokens 1 to 3 of a text of 2"},
                 {{a, 2, 1, 1}, "tokens 2 to 1"},
                 {{a, 0, 2, 1.5f}, "weight"},
                 {{a, 0, 2, -1}, "weight"},
                 {{a, 0, 2, NAN}, "weight"},
                 {{NULL, 0, 0, 1}, "no text"},
                 {{b, 0, 2, 1}, "different readers"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float best[2] = {7, 7};
        fo_err err = {0};
        assert_int_equal(reader_align(a, &(reader_unit){&cases[i].part, 1}, 1, best, &err),
                         FO_EINVAL);
        if (!strstr(err.msg, cases[i].says)) fail_msg("case %zu: %s", i, err.msg);
        assert_true(best[0] == 7);
    }
    reader_text_release(a);
    reader_text_release(b);
    reader_close(r);
    reader_close(s);
}

static void rare_tokens_weigh_more(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){0});
    const char *s[] = {"the lake house", "the lake", "the the the", ""};
    size_t lens[4];
    reader_text *t[4];
    fo_err err = {0};
    for (int i = 0; i < 4; i++) lens[i] = strlen(s[i]);
    assert_ok(reader_encode(r, s, lens, 4, NULL, t, &err), &err);
    float w[READER_MAX_TOKENS];
    reader_part parts[5];
    for (int i = 0; i < 4; i++) parts[i] = reader_part_of(t[i], 0, SIZE_MAX, 1);
    parts[4] = reader_part_of(t[1], 0, SIZE_MAX, .5f);
    const reader_unit among[] = {{parts, 1}, {parts + 1, 1}, {parts + 2, 1}, {parts + 3, 1}};
    reader_idf(t[0], among, 4, w);
    for (int i = 0; i < 3; i++) { /* in 3, 2 and 1 of 4 units */
        const double df = 3 - i, want = log(1 + (4 - df + .5) / (df + .5));
        assert_true(fabs((double)w[i] - want) < 1e-6);
    }
    const reader_unit two_parts[] = {{parts, 1}, {parts + 3, 2}}; /* the lake: in both */
    reader_idf(t[0], two_parts, 2, w);
    assert_true(fabs((double)w[1] - log(1 + .5 / 2.5)) < 1e-6);
    assert_true(fabs((double)w[2] - log(1 + 1.5 / 1.5)) < 1e-6);
    reader_idf(t[0], NULL, 0, w);
    assert_true(w[0] > 0 && w[0] == w[2]);
    const float best[] = {.5f, 1, 0};
    assert_true(fabs((double)reader_score(best, (const float[]){1, 2, 1}, 3) - .625) < 1e-7);
    assert_true(reader_score(best, (const float[]){0, 0, 0}, 3) == 0);
    assert_true(reader_score(best, best, 0) == 0);
    reader_texts_release(t, 4);
    reader_close(r);
}

/* --- the cache --- */
static reader_stats stats_of(reader *r) {
    reader_stats s;
    reader_get_stats(r, &s);
    return s;
}

static void what_was_read_is_not_read_again(void **state) {
    (void)state;
    reader *r = open_reader(NULL, (reader_options){.cache_bytes = 1 << 20});
    reader_text *a[N_TEXTS], *b[N_TEXTS];
    read_texts(r, a);
    read_texts(r, b);
    for (int i = 0; i < N_TEXTS; i++) assert_ptr_equal(a[i], b[i]);
    reader_stats s = stats_of(r);
    assert_int_equal(s.hits, N_TEXTS);
    assert_int_equal(s.misses, N_TEXTS);
    assert_int_equal(s.texts, N_TEXTS);
    reader_texts_release(b, N_TEXTS);
    reader_close(r);
    assert_int_equal(reader_text_tokens(a[5]), 1); /* a text outlives its cache */
    reader_texts_release(a, N_TEXTS);
}

/* Budget for four texts or so; 40 are read, the first again and again. */
static void the_cache_keeps_to_its_budget(void **state) {
    (void)state;
    enum { BUDGET = 20000 };
    reader *r = open_reader(NULL, (reader_options){.cache_bytes = BUDGET});
    reader_text *first = read_one(r, "the first text of all", 21);
    uint64_t hits = 0;
    for (int i = 0; i < 40; i++) {
        char text[64];
        sprintf(text, "room %d has seven windows and a door", i);
        reader_text_release(read_one(r, text, strlen(text)));
        reader_text *again = read_one(r, "the first text of all", 21);
        assert_ptr_equal(again, first); /* used last: never the one to go */
        reader_text_release(again);
        reader_stats s = stats_of(r);
        assert_in_range(s.bytes, 1, BUDGET);
        assert_int_equal(s.hits, ++hits);
        assert_int_equal(s.texts + s.evictions, i + 2);
    }
    assert_in_range(stats_of(r).texts, 2, 8);
    char *words = malloc(4096);
    for (int i = 0; i < 4096; i++) words[i] = "lake boat "[i % 10];
    reader_text *large = read_one(r, words, 4096), *same = read_one(r, words, 4096);
    assert_ptr_not_equal(large, same); /* larger than the whole budget: not kept, nothing goes */
    assert_in_range(stats_of(r).texts, 2, 8);
    reader_text_release(large);
    reader_text_release(same);
    reader_text_release(first);
    free(words);
    reader_close(r);
}

typedef struct asking {
    reader *r;
    int number;
    reader_text *const *want;
    bool failed;
} asking;

static void *ask_often(void *arg) {
    asking *a = arg;
    for (int round = 0; round < 6; round++) {
        reader_text *t[N_TEXTS];
        size_t lens[N_TEXTS];
        fo_err err = {0};
        for (int i = 0; i < N_TEXTS; i++) lens[i] = strlen(texts[i]);
        if (reader_encode(a->r, texts, lens, N_TEXTS, NULL, t, &err)) {
            a->failed = true;
            return NULL;
        }
        for (int i = 0; i < N_TEXTS; i++)
            a->failed = a->failed || t[i]->n_tokens != a->want[i]->n_tokens ||
                        memcmp(t[i]->codes, a->want[i]->codes, (size_t)t[i]->n_tokens * t[i]->len);
        char own[32]; /* pushes the others out of a small cache */
        size_t len = (size_t)sprintf(own, "thread %d, round %d", a->number, round);
        const char *s = own;
        reader_text *mine;
        if (reader_encode(a->r, &s, &len, 1, NULL, &mine, &err)) a->failed = true;
        reader_part part = reader_part_of(t[3], 0, SIZE_MAX, 1);
        float best[READER_MAX_TOKENS];
        if (reader_align(mine, &(reader_unit){&part, 1}, 1, best, &err)) a->failed = true;
        reader_text_release(mine);
        reader_texts_release(t, N_TEXTS);
    }
    return NULL;
}

static void threads_share_a_reader(void **state) {
    (void)state;
    enum { THREADS = 4 };
    fo_pool *pool = fo_pool_create(2);
    const size_t budgets[] = {0, 12000, 1 << 20};
    for (int b = 0; b < 3; b++) {
        reader *r = open_reader(NULL, (reader_options){.pool = pool, .cache_bytes = budgets[b]});
        reader_text *want[N_TEXTS];
        read_texts(r, want);
        asking a[THREADS];
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++) {
            a[i] = (asking){r, i, want, false};
            assert_int_equal(pthread_create(&t[i], NULL, ask_often, &a[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
        for (int i = 0; i < THREADS; i++) assert_false(a[i].failed);
        assert_true(stats_of(r).bytes <= budgets[b]);
        reader_texts_release(want, N_TEXTS);
        reader_close(r);
    }
    fo_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_the_last_layers),
        cmocka_unit_test(what_one_read_no_other_finds),
        cmocka_unit_test(vectors_of_the_model_inside_are_its_rows),
        cmocka_unit_test(rounding_keeps_the_directions),
        cmocka_unit_test(a_text_does_not_depend_on_its_company),
        cmocka_unit_test(spans_say_where_tokens_stand),
        cmocka_unit_test(a_long_text_is_cut_and_says_so),
        cmocka_unit_test(any_bytes_are_a_text),
        cmocka_unit_test(a_call_is_bounded),
        cmocka_unit_test(many_short_texts_are_read_in_several_steps),
        cmocka_unit_test(a_cancelled_call_gives_nothing),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(the_centre_is_taken_off),
        cmocka_unit_test(weights_may_be_shared),
        cmocka_unit_test(alignment_is_the_best_weighted_cosine),
        cmocka_unit_test(the_sentence_that_answers_is_the_nearest),
        cmocka_unit_test(what_cannot_be_aligned_is_named),
        cmocka_unit_test(rare_tokens_weigh_more),
        cmocka_unit_test(what_was_read_is_not_read_again),
        cmocka_unit_test(the_cache_keeps_to_its_budget),
        cmocka_unit_test(threads_share_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
