/* Answers to questions in other words: when two questions agree, which kept one is found, and how
 * often a wrong answer would be given to real questions. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <ctype.h>

#include "engine/embed/embedder.h"
#include "kernels/vec.h"
#include "retrieval/cache/semantic_hits.h"
#include "retrieval/service/service.h"

static question_marks *marks_of(analyzer *a, const char *question) {
    fo_err err = {0};
    question_marks *m = NULL;
    assert_ok(question_marks_make(&m, a, question, &err), &err);
    return m;
}

static void questions_agree_only_where_nothing_that_counts_differs(void **state) {
    (void)state;
    static const struct {
        const char *one, *other;
        bool agree;
    } pairs[] = {
        {"How tall is the grey heron?", "The grey heron is how tall?", true},
        {"Who wrote the phantom of the opera music?",
         "who wrote the music of the phantom of the opera", true},
        {"When was Acme founded?", "In what year was Acme founded?", true},
        {"How many episodes of season 5 are there?", "how many episodes are in season five", true},
        {"What is Gwen's boat called?", "What was Gwen's boat called?", true},
        {"", "", true},
        /* numbers and units */
        {"How many episodes has season 5?", "How many episodes has season 6?", false},
        {"What happened in 1914?", "What happened in 1918?", false},
        {"What weighs 5 kg?", "What weighs 5 g?", false},
        {"What costs $100?", "What costs $100 million?", false},
        {"What opens at 8 am?", "What opens at 8 pm?", false},
        {"What is new in Python 3.1?", "What is new in Python 3.10?", false},
        /* names, and their order */
        {"What is the capital of France?", "What is the capital of Spain?", false},
        {"what is the capital of france", "what is the capital of spain", false},
        {"Did Athens defeat Sparta?", "Did Sparta defeat Athens?", false},
        {"did carthage defeat rome", "Did Rome defeat Carthage?", false},
        {"did rome defeat carthage", "Did Rome defeat Carthage?", true},
        {"Rome defeated Carthage?", "Carthage defeated Rome?",
         false}, /* a first word has a capital anyway */
        {"defeated carthage Rome", "Carthage defeated Rome", true},
        {"Is Anna older than Berta?", "is berta older than anna", false},
        {"Who plays Tom in the film?", "Who plays Gareth in the film?", false},
        {"What is due on Monday?", "What is due on Friday?", false},
        /* negations */
        {"Which birds migrate?", "Which birds do not migrate?", false},
        {"Which birds fly without resting?", "Which birds fly resting?", false},
        {"Why isn't the weir open?", "Why is the weir open?", false},
        /* what is asked for */
        {"When was Acme founded?", "Where was Acme founded?", false},
        {"Who founded Acme?", "Why was Acme founded?", false},
        {"How many people founded Acme?", "Which people founded Acme?", false},
        {"What percentage of boats sank?", "What boats sank?", false},
        /* sides */
        {"What is the largest lake?", "What is the smallest lake?", false},
        {"When does it open?", "When does it close?", false},
        {"Who came first?", "Who came last?", false},
        {"Who wrote it after the war?", "Who wrote it before the war?", false},
        /* other words */
        {"What is the population of Paris?", "What is the area of Paris?", false},
        {"What does the heron eat?", "What does the otter eat?", false},
    };
    fo_err err = {0};
    analyzer *a;
    assert_ok(analyzer_create(&a, "english", &err), &err);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        question_marks *x = marks_of(a, pairs[i].one), *y = marks_of(a, pairs[i].other);
        if (question_marks_agree(x, y) != pairs[i].agree)
            fail_msg("'%s' and '%s' %s", pairs[i].one, pairs[i].other,
                     pairs[i].agree ? "should agree" : "should not agree");
        assert_int_equal(question_marks_agree(y, x), pairs[i].agree);
        question_marks_free(x);
        question_marks_free(y);
    }
    analyzer_free(a);
}

static semantic_question *asked(analyzer *a, unsigned char group, float x, float y) {
    semantic_question *q = calloc(1, sizeof *q);
    assert_non_null(q);
    memset(q->group, group, sizeof q->group);
    q->vector = malloc(2 * sizeof *q->vector);
    assert_non_null(q->vector);
    q->vector[0] = x, q->vector[1] = y;
    q->marks = marks_of(a, "why?");
    return q;
}

static void add(semantic_hits *h, analyzer *a, unsigned char group, float x, float y,
                unsigned char key) {
    semantic_question *q = asked(a, group, x, y);
    unsigned char k[QUERY_KEY_BYTES];
    memset(k, key, sizeof k);
    semantic_hits_add(h, q, k);
    semantic_question_free(q);
}

/* The first byte of the key that is found; -1: none. */
static int find(semantic_hits *h, analyzer *a, unsigned char group, float x, float y) {
    semantic_question *q = asked(a, group, x, y);
    unsigned char k[QUERY_KEY_BYTES];
    double cosine;
    int found = semantic_hits_find(h, q, k, &cosine) ? k[0] : -1;
    semantic_question_free(q);
    return found;
}

static void the_nearest_of_the_group_is_found_and_the_oldest_goes(void **state) {
    (void)state;
    fo_err err = {0};
    analyzer *a;
    semantic_hits *h;
    assert_ok(analyzer_create(&a, "english", &err), &err);
    assert_ok(semantic_hits_create(&h, 3, 2, 0.9, &err), &err);
    assert_int_equal(find(h, a, 1, 1, 0), -1);
    add(h, a, 1, 1, 0, 10);
    add(h, a, 1, 0.8f, 0.6f, 11);
    add(h, a, 2, 0.6f, 0.8f, 12);
    assert_int_equal(find(h, a, 1, 0.8f, 0.6f), 11);
    assert_int_equal(find(h, a, 1, 0.96f, 0.28f), 10); /* cosine .96 with both, .936 */
    assert_int_equal(find(h, a, 1, 0, 1), -1);         /* .6 at best */
    assert_int_equal(find(h, a, 2, 0.6f, 0.8f), 12);
    assert_int_equal(find(h, a, 3, 0.6f, 0.8f), -1);
    assert_int_equal(find(h, a, 1, 0, 0), -1);
    add(h, a, 1, 0, 1, 11); /* the same answer anew: in its place */
    assert_int_equal(find(h, a, 1, 0, 1), 11);
    assert_int_equal(find(h, a, 1, 1, 0), 10);
    add(h, a, 4, 1, 0, 13); /* a fourth: the first goes */
    assert_int_equal(find(h, a, 1, 1, 0), -1);
    assert_int_equal(find(h, a, 4, 1, 0), 13);
    semantic_hits_free(h);
    analyzer_free(a);
}

static void put(service *s, const char *id, const char *text) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    ingest_result_deinit(&r);
}

static enum cache_outcome ask_with(service *s, query_request q, double *similarity) {
    fo_err err = {0};
    query_result r;
    q.tenant = "default", q.collection = "notes";
    q.generate = true, q.strict = true, q.search.alpha = -1;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    enum cache_outcome outcome = r.cache.answer;
    *similarity = r.cache.similarity;
    if (outcome == CACHE_HIT) assert_non_null(strstr(r.answer, "one metre"));
    query_result_deinit(&r);
    return outcome;
}

static enum cache_outcome ask(service *s, const char *text, double *similarity) {
    return ask_with(s, (query_request){.query = text, .top_k = 3}, similarity);
}

static void other_words_get_the_kept_answer_where_it_is_switched_on(void **state) {
    (void)state;
    fo_err err = {0};
    for (int on = 0; on < 2; on++) {
        char *home = test_folder();
        service *s;
        service_options opt = {
            .home = home, .n_threads = 2, .primes_per_s = -1, .semantic_threshold = on ? 0.85 : 0};
        assert_ok(service_open(&s, &opt, &err), &err);
        put(s, "heron", "The grey heron stands one metre tall. It eats fish.");
        put(s, "owl", "The barn owl hunts mice at night. Owls see well.");
        double near;
        assert_int_equal(ask(s, "How tall is the grey heron?", &near), CACHE_MISS);
        assert_int_equal(ask(s, "The grey heron is how tall?", &near), on ? CACHE_HIT : CACHE_MISS);
        assert_true(on ? near >= 0.85 && near < 1.0001 : near == 0);
        service_cache_stats st;
        service_get_cache_stats(s, &st);
        assert_int_equal(st.semantic, on);
        assert_int_equal(st.answer.hits, on);
        /* others are not taken for it, nor other parameters, nor a bypass */
        assert_int_equal(ask(s, "How tall is the barn owl?", &near), CACHE_MISS);
        assert_int_equal(
            ask_with(s, (query_request){.query = "The grey heron is how tall, then?", .top_k = 2},
                     &near),
            CACHE_MISS);
        query_request by = {.query = "So how tall is the grey heron?", .cache = CACHE_BYPASS};
        assert_int_equal(ask_with(s, by, &near), CACHE_BYPASSED);
        query_message turn = {"user", "And the owl?"};
        query_request after = {
            .query = "How tall is a grey heron?", .top_k = 3, .messages = &turn, .n_messages = 1};
        assert_int_equal(ask_with(s, after, &near), CACHE_MISS);
        /* after a change nothing of before it */
        put(s, "stork", "The white stork builds its nest on roofs.");
        assert_int_equal(ask(s, "How tall is a grey heron?", &near), CACHE_MISS);
        assert_true(near == 0);
        service_close(s);
        test_remove(home);
    }
}

/* ---- measured on real questions ---------------------------------------------------------------
 */

typedef struct real_question {
    char *text, *answers[16];
    size_t n_answers;
    question_marks *marks;
} real_question;

/* Lower case, words alone, articles left out. */
static char *plain(const char *s) {
    char *out = malloc(strlen(s) + 2);
    assert_non_null(out);
    size_t n = 0;
    while (*s) {
        if (!isalnum((unsigned char)*s) && (unsigned char)*s < 0x80) {
            s++;
            continue;
        }
        size_t from = n;
        if (n) out[n++] = ' ';
        size_t word = n;
        for (; *s && (isalnum((unsigned char)*s) || (unsigned char)*s >= 0x80); s++)
            out[n++] = (char)tolower((unsigned char)*s);
        out[n] = 0;
        const char *w = out + word;
        if (!strcmp(w, "a") || !strcmp(w, "an") || !strcmp(w, "the")) n = from;
    }
    out[n] = 0;
    return out;
}

static bool same_answer(const real_question *x, const real_question *y) {
    for (size_t i = 0; i < x->n_answers; i++)
        for (size_t k = 0; k < y->n_answers; k++)
            if (strstr(x->answers[i], y->answers[k]) || strstr(y->answers[k], x->answers[i]))
                return true;
    return false;
}

/* {"text":…,"answers":[…]} a line, or question TAB ['answer', "answer"]. */
static size_t read_questions(const char *path, analyzer *a, real_question *q, size_t max) {
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    static char line[65536];
    size_t n = 0;
    while (n < max && fgets(line, sizeof line, f)) {
        real_question *x = &q[n];
        cJSON *root = *line == '{' ? cJSON_Parse(line) : NULL;
        if (root) {
            x->text = strdup(cJSON_GetObjectItem(root, "text")->valuestring);
            const cJSON *e;
            cJSON_ArrayForEach(e, cJSON_GetObjectItem(root, "answers")) {
                if (x->n_answers < 16) x->answers[x->n_answers++] = plain(e->valuestring);
            }
            cJSON_Delete(root);
        } else {
            char *tab = strchr(line, '\t');
            if (!tab) continue;
            *tab++ = 0;
            x->text = strdup(line);
            for (char *p = tab; *p && x->n_answers < 16; p++) {
                if (*p != '\'' && *p != '"') continue;
                char *end = strchr(p + 1, *p);
                if (!end) break;
                *end = 0;
                x->answers[x->n_answers++] = plain(p + 1);
                p = end;
            }
        }
        x->marks = marks_of(a, x->text);
        n++;
    }
    fclose(f);
    return n;
}

typedef struct rate {
    size_t hits, wrong;
} rate;

/* A stream of n questions, each answered by the nearest before it, where that is near enough. */
static rate stream(const real_question *q, size_t n, const float *v, size_t dim, double threshold,
                   bool guarded) {
    rate r = {0};
    for (size_t i = 0; i < n; i++) {
        double best = threshold;
        size_t at = n;
        for (size_t k = 0; k < i; k++) {
            double near = (double)vec_get()->dot(v + i * dim, v + k * dim, (int)dim);
            if (near < best || !strcmp(q[i].text, q[k].text)) continue;
            if (guarded && !question_marks_agree(q[i].marks, q[k].marks)) continue;
            best = near;
            at = k;
        }
        if (at == n) continue;
        r.hits++;
        r.wrong += !same_answer(&q[i], &q[at]);
    }
    return r;
}

static void wrong_answers_to_real_questions_are_rare(void **state) {
    (void)state;
    static const char *const files[] = {"eval/squad/queries.jsonl",
                                        "eval/query_mix/topics.dpr.nq.test.txt"};
    static const double thresholds[] = {0.85, 0.9, 0.93, 0.95};
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    enum { MAX = 1000 }; /* all pairs of them, eight times */
#else
    enum { MAX = 5000 };
#endif
    if (!test_shared(files[0]) || !test_shared(files[1])) skip();
    fo_err err = {0};
    analyzer *a;
    embedder *e;
    assert_ok(analyzer_create(&a, "english", &err), &err);
    assert_ok(embedder_open(&e, getenv("EMBED_MODEL"), &err), &err);
    size_t dim = embedder_dim(e);
    real_question *q = calloc(MAX, sizeof *q);
    float *v = malloc(MAX * dim * sizeof *v);
    assert_true(q && v);
    for (int file = 0; file < 2; file++) {
        size_t n = read_questions(test_shared(files[file]), a, q, MAX);
        assert_true(n == MAX || n > 3000);
        for (size_t i = 0; i < n; i++) {
            const char *text = q[i].text;
            size_t len = strlen(text);
            assert_ok(embedder_embed(e, EMBED_QUERY, &text, &len, 1, v + i * dim, &err), &err);
        }
        for (size_t t = 0; t < sizeof thresholds / sizeof *thresholds; t++) {
            rate bare = stream(q, n, v, dim, thresholds[t], false);
            rate held = stream(q, n, v, dim, thresholds[t], true);
            fprintf(stderr,
                    "# %s: %zu questions, cosine %.2f: %zu of %zu wrong, guarded %zu of %zu\n",
                    files[file], n, thresholds[t], bare.wrong, bare.hits, held.wrong, held.hits);
            assert_true(held.wrong <= bare.wrong && held.hits <= bare.hits);
            if (thresholds[t] >= 0.9) assert_true(held.wrong <= 3); /* of some 4,000 */
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < q[i].n_answers; k++) free(q[i].answers[k]);
            free(q[i].text);
            question_marks_free(q[i].marks);
            q[i] = (real_question){0};
        }
    }
    free(q);
    free(v);
    embedder_close(e);
    analyzer_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_agree_only_where_nothing_that_counts_differs),
        cmocka_unit_test(the_nearest_of_the_group_is_found_and_the_oldest_goes),
        cmocka_unit_test(other_words_get_the_kept_answer_where_it_is_switched_on),
        cmocka_unit_test(wrong_answers_to_real_questions_are_rare),
    };
    return cmocka_run_group_tests_name("semantic_hits", tests, NULL, NULL);
}
