/* What one question leaves for the next: kept answers and contexts, changes of the collection,
 * identical questions at once, hot questions asked again, and a process that ends in the middle of
 * that. */
#include "tests/test.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <cjson/cJSON.h>
#include "index/filter/filter.h"
#include "kernels/clock.h"
#include "retrieval/cache/hot_queries.h"
#include "retrieval/pipeline/query_memory_internal.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/scripted_generator.h"

static service *open_home(const char *home, double primes_per_s) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home, .n_threads = 2, .primes_per_s = primes_per_s};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

/* The questions that are counted by name, the hottest first; caller frees. */
static size_t list_hot(service *s, hot_query **list) {
    fo_err err = {0};
    size_t n;
    hot_queries *hot = query_heat_of(s->memory, "default");
    assert_non_null(hot);
    assert_ok(hot_queries_list(hot, 10, list, &n, &err), &err);
    return n;
}

/* The epoch with it in. */
static int64_t put(service *s, const char *id, const char *text) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r;
    ingest_report report;
    assert_ok(service_ingest(s, &into, &d, 1, &r, &report, &err), &err);
    assert_int_not_equal(r.status, INGEST_FAILED);
    ingest_result_deinit(&r);
    return report.epoch;
}

static query_request question(const char *text) {
    return (query_request){.tenant = "default",
                           .collection = "notes",
                           .query = text,
                           .top_k = 3,
                           .generate = true,
                           .strict = true,
                           .search = {.alpha = -1}};
}

static query_result ask_with(service *s, query_request q) {
    fo_err err = {0};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

static query_result ask(service *s, const char *text) {
    return ask_with(s, question(text));
}

static void assert_same_answer(const query_result *a, const query_result *b) {
    assert_string_equal(a->answer, b->answer);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->source, b->source);
    assert_string_equal(a->finish_reason, b->finish_reason);
    assert_int_equal(a->n_citations, b->n_citations);
    assert_int_equal(a->n_contexts, b->n_contexts);
    for (size_t i = 0; i < a->n_citations; i++) {
        assert_string_equal(a->citations[i].quote, b->citations[i].quote);
        assert_int_equal(a->citations[i].source_start, b->citations[i].source_start);
        assert_int_equal(a->citations[i].context, b->citations[i].context);
    }
    for (size_t i = 0; i < a->n_contexts; i++) {
        assert_string_equal(a->contexts[i].chunk.text, b->contexts[i].chunk.text);
        assert_string_equal(a->contexts[i].chunk.document_id, b->contexts[i].chunk.document_id);
    }
}

static const char HERON[] = "The grey heron stands one metre tall. It eats fish.";

typedef struct heard {
    char text[1000];
    size_t n_citations, n_contexts;
} heard;
static int hear_contexts(void *ctx, const query_result *r) {
    ((heard *)ctx)->n_contexts = r->n_contexts;
    return 0;
}
static int hear_token(void *ctx, const char *text, size_t len) {
    strncat(((heard *)ctx)->text, text, len);
    return 0;
}
static int hear_citation(void *ctx, const query_result *r, const query_citation *c) {
    (void)r, (void)c;
    ((heard *)ctx)->n_citations++;
    return 0;
}

static void the_same_question_is_answered_from_memory_and_streamed_alike(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home, -1);
    put(s, "heron", HERON);
    put(s, "owl", "The barn owl hunts mice at night.");
    query_result first = ask(s, "How tall is the grey heron?");
    assert_int_equal(first.cache.answer, CACHE_MISS);
    assert_int_equal(first.cache.retrieval, CACHE_MISS);
    assert_int_equal(first.cache.hot_estimate, 1);
    query_result second = ask(s, "  how TALL is the\tgrey heron? ");
    assert_int_equal(second.cache.answer, CACHE_HIT);
    assert_int_equal(second.cache.hot_estimate, 2);
    assert_same_answer(&first, &second);
    assert_non_null(strstr(second.answer, "one metre"));

    heard h = {0};
    query_sink sink = {&h, hear_contexts, hear_token, hear_citation, NULL};
    query_request q = question("How tall is the grey heron?");
    query_result third;
    assert_ok(service_query(s, &q, &sink, &third, &err), &err);
    assert_int_equal(third.cache.answer, CACHE_HIT);
    assert_string_equal(h.text, first.answer);
    assert_int_equal(h.n_citations, first.n_citations);
    assert_int_equal(h.n_contexts, first.n_contexts);
    service_cache_stats st;
    service_get_cache_stats(s, &st);
    assert_int_equal(st.answer.lookups, 3);
    assert_int_equal(st.answer.hits, 2);
    query_result_deinit(&first), query_result_deinit(&second), query_result_deinit(&third);
    service_close(s);
    test_remove(home);
}

static void what_changes_the_answer_is_not_taken_for_the_same(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home, -1);
    put(s, "heron", HERON);
    enum { VARIANTS = 17 };
    static const query_message said[] = {{"user", "It is so."}, {"assistant", "Yes?"}},
                               other_said[] = {{"user", "It was not."}, {"assistant", "Yes?"}};
    query_request q = question("How tall is the grey heron?"), v[VARIANTS];
    cJSON *json = cJSON_Parse("{\"type\":\"ne\",\"key\":\"year\",\"value\":1999}");
    cJSON *other = cJSON_Parse("{\"type\":\"ne\",\"key\":\"year\",\"value\":2000}");
    search_filter *f[2];
    assert_ok(search_filter_parse(&f[0], json, &err), &err);
    assert_ok(search_filter_parse(&f[1], other, &err), &err);
    for (int i = 0; i < VARIANTS; i++) v[i] = q;
    v[1].top_k = 2;
    v[2].strict = false;
    v[3].max_sentences = 1;
    v[4].search.alpha = 0.9;
    v[5].search.mode = SEARCH_SPARSE;
    v[6].filter = f[0];
    v[7].filter = f[1];
    v[8].max_tokens = 100;
    v[9].search.score_threshold = .01;
    v[10].search.fusion = FUSION_RRF;
    v[11].search.fusion = FUSION_RRF, v[11].search.rrf_k = 10;
    v[12].search.ef = 300;
    v[13].messages = said, v[13].n_messages = 2;
    v[14].messages = other_said, v[14].n_messages = 2;
    v[15].search.fusion = FUSION_DBSF;
    v[16].query = "How small is the grey heron?";
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < VARIANTS; i++) {
            query_result r = ask_with(s, v[i]);
            if (r.cache.answer != (round ? CACHE_HIT : CACHE_MISS))
                fail_msg("case %d, round %d: %d", i, round, r.cache.answer);
            query_result_deinit(&r);
        }
    /* The same contexts, asked for by another kind of answer. */
    v[0].max_sentences = 2;
    query_result r = ask_with(s, v[0]);
    assert_int_equal(r.cache.answer, CACHE_MISS);
    assert_int_equal(r.cache.retrieval, CACHE_HIT);
    query_result_deinit(&r);
    q.cache = CACHE_BYPASS;
    r = ask_with(s, q);
    assert_int_equal(r.cache.answer, CACHE_BYPASSED);
    assert_int_equal(r.cache.retrieval, CACHE_BYPASSED);
    query_result_deinit(&r);
    q.cache = CACHE_DEFAULT;
    q.generate = false;
    for (int round = 0; round < 2; round++) {
        r = ask_with(s, q);
        assert_int_equal(r.cache.retrieval, round ? CACHE_HIT : CACHE_MISS);
        assert_int_equal(r.status, QUERY_ANSWERED);
        assert_int_equal(r.n_contexts, 1);
        query_result_deinit(&r);
    }
    search_filter_free(f[0]), search_filter_free(f[1]);
    cJSON_Delete(json), cJSON_Delete(other);
    service_close(s);
    test_remove(home);
}

/* -v and -V, zone A and zone a, 10² and 102: case and NFKC fold them, and they are not the same. */
static void names_that_are_exact_are_not_folded(void **state) {
    (void)state;
    static const char *const questions[] = {"What does grep -v do?",      "What does grep -V do?",
                                            "What does zone A cost?",     "What does zone a cost?",
                                            "How many are 10²?",          "How many are 102?",
                                            "How tall is the grey heron?"};
    static const char *const same[] = {"what DOES grep  -v do?",     "what DOES grep  -V do?",
                                       "what does ZONE A cost?",     "WHAT does zone a cost?",
                                       "How many are 10²?",          "how MANY are 102?",
                                       "How TALL is the grey heron?"};
    enum { N = sizeof questions / sizeof *questions };
    char *home = test_folder();
    service *s = open_home(home, -1);
    put(s, "heron", HERON);
    put(s, "grep",
        "With the option -v grep selects the lines that do not match. With the option -V grep "
        "prints its version number and exits.");
    put(s, "zones", "A ticket for zone A costs two francs.");
    put(s, "figures", "10² are a hundred. 102 are two more.");
    for (int i = 0; i < N; i++) {
        query_result r = ask(s, questions[i]);
        if (r.cache.answer != CACHE_MISS) fail_msg("%s: not asked before", questions[i]);
        if (i == 0) assert_non_null(strstr(r.answer, "do not match"));
        if (i == 1) assert_non_null(strstr(r.answer, "version number"));
        query_result_deinit(&r);
    }
    for (int i = 0; i < N; i++) {
        query_result r = ask(s, same[i]);
        if (r.cache.answer != CACHE_HIT) fail_msg("%s: the same", same[i]);
        query_result_deinit(&r);
    }
    service_close(s);
    test_remove(home);
}

/* Two collections of one epoch that hold something else: each answers from its own. */
static void collections_share_no_answer(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home, -1);
    static const char *const collections[] = {"notes", "other"},
                             *const texts[] = {HERON, "The grey heron stands two metres tall."},
                             *const want[] = {"one metre", "two metres"};
    for (int i = 0; i < 2; i++) {
        ingest_options into = {
            .tenant = "default", .collection = collections[i], .overlap = SIZE_MAX};
        ingest_document d = {.id = "heron", .bytes = texts[i], .n_bytes = strlen(texts[i])};
        ingest_result r;
        ingest_report report;
        assert_ok(service_ingest(s, &into, &d, 1, &r, &report, &err), &err);
        assert_int_equal(report.epoch, 1);
        ingest_result_deinit(&r);
    }
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2; i++) {
            query_request q = question("How tall is the grey heron?");
            q.collection = collections[i];
            query_result r = ask_with(s, q);
            assert_int_equal(r.cache.answer, round ? CACHE_HIT : CACHE_MISS);
            assert_non_null(strstr(r.answer, want[i]));
            query_result_deinit(&r);
        }
    service_close(s);
    test_remove(home);
}

static void after_a_change_an_answer_serves_only_from_the_same_contexts(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home, -1);
    put(s, "heron", HERON);
    query_request q = question("How tall is the grey heron?");
    q.top_k = 1;
    query_result a = ask_with(s, q);
    put(s, "rocks", "Basalt is a dark volcanic rock.");
    query_result b = ask_with(s, q);
    assert_int_equal(b.cache.answer, CACHE_HIT);
    assert_int_equal(b.cache.retrieval, CACHE_MISS);
    assert_true(b.epoch > a.epoch);
    assert_same_answer(&a, &b);
    query_result c = ask_with(s, q); /* the hit was kept under the new epoch */
    assert_int_equal(c.cache.answer, CACHE_HIT);
    assert_int_equal(c.cache.retrieval, CACHE_BYPASSED);
    put(s, "heron", "The grey heron stands two metres tall. It eats fish.");
    query_result d = ask_with(s, q);
    assert_int_equal(d.cache.answer, CACHE_MISS);
    assert_non_null(strstr(d.answer, "two metres"));
    assert_ok(service_delete_document(s, "default", "notes", "heron", NULL, NULL, &err), &err);
    query_result e = ask_with(s, q);
    assert_int_equal(e.cache.answer, CACHE_MISS);
    assert_null(strstr(e.answer, "metre"));
    service_cache_stats st;
    service_get_cache_stats(s, &st);
    assert_int_equal(st.revalidated, 1);
    /* A collection of the same name made anew starts from nothing. */
    put(s, "heron", HERON);
    query_result f = ask_with(s, q);
    query_result_deinit(&f);
    assert_ok(service_delete_collection(s, "default", "notes", NULL, &err), &err);
    put(s, "heron", "The grey heron stands three metres tall.");
    f = ask_with(s, q);
    assert_int_equal(f.cache.answer, CACHE_MISS);
    assert_non_null(strstr(f.answer, "three metres"));
    query_result_deinit(&a), query_result_deinit(&b), query_result_deinit(&c);
    query_result_deinit(&d), query_result_deinit(&e), query_result_deinit(&f);
    service_close(s);
    test_remove(home);
}

/* ---- many at once ---------------------------------------------------------------------------- */

typedef struct crowd {
    service *s;
    pthread_barrier_t start;
    atomic_int floor; /* heights below this were replaced or deleted by a commit that returned */
    atomic_int newest;
    _Atomic int64_t epoch; /* of the last commit that returned */
    atomic_bool stop;
    atomic_int asked, stale, hits, answered;
} crowd;

static void *ask_once(void *arg) {
    crowd *c = arg;
    pthread_barrier_wait(&c->start);
    query_result r = ask(c->s, "How tall is the grey heron?");
    c->hits += r.cache.answer == CACHE_HIT;
    c->answered += strstr(r.answer, "one metre") != NULL;
    query_result_deinit(&r);
    return NULL;
}

static void concurrent_identical_questions_are_computed_once(void **state) {
    (void)state;
    enum { N = 8, ROUNDS = 20 };
    char *home = test_folder();
    crowd c = {.s = open_home(home, -1)};
    pthread_barrier_init(&c.start, NULL, N);
    for (int round = 0; round < ROUNDS; round++) {
        char text[200];
        snprintf(text, sizeof text, "%s Seen %d times.", HERON, round);
        put(c.s, "heron", text);
        pthread_t t[N];
        for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, ask_once, &c);
        for (int i = 0; i < N; i++) pthread_join(t[i], NULL);
        assert_int_equal(c.hits, (round + 1) * (N - 1));
    }
    assert_int_equal(c.answered, N * ROUNDS);
    service_cache_stats st;
    service_get_cache_stats(c.s, &st);
    fprintf(stderr, "# %d questions, %d computed, %d waited for another\n", N * ROUNDS, ROUNDS,
            (int)st.coalesced);
    pthread_barrier_destroy(&c.start);
    service_close(c.s);
    test_remove(home);
}

static void *ask_on(void *arg) {
    static const char *const ways[] = {"How tall is the grey heron?", "grey heron centimetres tall",
                                       "What does the barn owl hunt?",
                                       "The grey heron is how tall?"};
    crowd *c = arg;
    for (unsigned i = 0; !c->stop; i++) {
        int64_t epoch = c->epoch; /* committed before the question: the answer is no older */
        int floor = c->floor, height = -1;
        query_request q = question(ways[i % 4]);
        q.top_k = 1 + i / 4 % 2;
        query_result r = ask_with(c->s, q);
        const char *at = strstr(r.answer, "stands ");
        if (at) height = atoi(at + 7);
        /* No context may be older either. */
        for (size_t k = 0; k < r.n_contexts; k++) {
            const char *in = strstr(r.contexts[k].chunk.text, "stands ");
            if (in && atoi(in + 7) < floor) c->stale++;
        }
        if (at && height < floor) c->stale++;
        if (r.epoch < epoch) c->stale++;
        c->asked++;
        c->hits += r.cache.answer == CACHE_HIT;
        c->answered += height >= 0;
        query_result_deinit(&r);
    }
    return NULL;
}

static void change_and_ask(double semantic_threshold) {
    fo_err err = {0};
    enum { READERS = 4, CHANGES = 150, MOST = 3000 };
    char *home = test_folder();
    crowd c = {0};
    service_options opt = {
        .home = home, .n_threads = 2, .primes_per_s = 50, .semantic_threshold = semantic_threshold};
    assert_ok(service_open(&c.s, &opt, &err), &err);
    put(c.s, "heron", "The grey heron stands 0 centimetres tall.");
    put(c.s, "owl", "The barn owl hunts mice at night.");
    pthread_t t[READERS];
    for (int k = 0; k < READERS; k++) pthread_create(&t[k], NULL, ask_on, &c);
    service_cache_stats st = {0};
    int i = 1; /* where other words may do, until they did */
    for (; i <= CHANGES || (semantic_threshold > 0 && !st.semantic && i <= MOST); i++) {
        service_get_cache_stats(c.s, &st);
        char text[100];
        int64_t epoch;
        if (i % 5 == 0) {
            assert_ok(service_delete_document(c.s, "default", "notes", "heron", NULL, &epoch, &err),
                      &err);
        } else if (i % 5 == 1 || i % 5 == 3) {
            snprintf(text, sizeof text, "The grey heron stands %d centimetres tall.", i);
            epoch = put(c.s, "heron", text);
        } else { /* an unrelated change: answers may be kept */
            snprintf(text, sizeof text, "Basalt number %d is a dark volcanic rock.", i);
            c.epoch = put(c.s, "rocks", text);
            continue;
        }
        c.epoch = epoch;
        c.floor = i;
        usleep(3000);
    }
    c.stop = true;
    for (int k = 0; k < READERS; k++) pthread_join(t[k], NULL);
    service_get_cache_stats(c.s, &st);
    fprintf(
        stderr,
        "# %d questions over %d changes: %d hits, %d after the same contexts, %d in other words, "
        "%d stale\n",
        c.asked, i - 1, c.hits, (int)st.revalidated, (int)st.semantic, c.stale);
    assert_int_equal(c.stale, 0);
    assert_true(c.hits > 0 && c.answered > 0);
    assert_true((st.semantic > 0) == (semantic_threshold > 0));
    service_close(c.s);
    test_remove(home);
}

static void no_answer_is_older_than_the_last_committed_change(void **state) {
    (void)state;
    change_and_ask(0);
    change_and_ask(0.85);
}

/* ---- priming and what outlives the process --------------------------------------------------- */

static void hot_questions_are_answered_again_after_a_change_and_a_restart(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home, 200);
    put(s, "heron", HERON);
    for (int i = 0; i < 3; i++) {
        query_result r = ask(s, "How tall is the grey heron?");
        query_result_deinit(&r);
    }
    service_cache_stats st = {0};
    put(s, "heron", "The grey heron stands two metres tall. It eats fish.");
    for (int i = 0; i < 1500; i++) { /* the thread looks four times a second */
        service_get_cache_stats(s, &st);
        if (st.primed) break;
        usleep(20000);
    }
    assert_true(st.primed >= 1);
    uint64_t lookups = st.answer.lookups;
    assert_int_equal(lookups, 3); /* priming is nobody's question */
    query_result r = ask(s, "How tall is the grey heron?");
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_non_null(strstr(r.answer, "two metres"));
    assert_int_equal(r.cache.hot_estimate, 4);
    query_result_deinit(&r);
    service_close(s);

    s = open_home(home, 200);
    hot_query *list;
    assert_int_equal(list_hot(s, &list), 1);
    assert_int_equal(list[0].estimate, 4);
    assert_string_equal(list[0].query, "How tall is the grey heron?");
    hot_query_list_free(list, 1);
    for (int i = 0; i < 1500; i++) {
        service_get_cache_stats(s, &st);
        if (st.primed) break;
        usleep(20000);
    }
    r = ask(s, "How tall is the grey heron?");
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_int_equal(r.cache.hot_estimate, 5);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

/* As the page asks: the words that are the answer, said. */
static void what_is_primed_is_what_was_asked(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home, 200);
    put(s, "heron", HERON);
    query_request q = question("How tall is the grey heron?");
    q.short_answer = true;
    for (int i = 0; i < 3; i++) {
        query_result r = ask_with(s, q);
        query_result_deinit(&r);
    }
    service_cache_stats st = {0};
    put(s, "heron", "The grey heron stands two metres tall. It eats fish.");
    for (int i = 0; i < 1500 && !st.primed; i++) {
        service_get_cache_stats(s, &st);
        usleep(20000);
    }
    assert_true(st.primed >= 1);
    query_result r = ask_with(s, q);
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_true(r.short_answer.end > r.short_answer.start);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

static size_t n_hot(service *s, uint64_t *hash) {
    hot_query *list;
    const size_t n = list_hot(s, &list);
    if (n) *hash = list[0].hash;
    hot_query_list_free(list, n);
    return n;
}

/* A model writes on and on: who closes the service does not wait for that, and the question is not forgotten. */
static void what_is_being_primed_ends_with_the_service(void **state) {
    (void)state;
    char *home = test_folder();
    script p = {.says = "The grey heron stands one metre tall [1]."};
    service_options opt = {
        .home = home, .n_threads = 2, .primes_per_s = 200, .generator = scripted_generator(&p)};
    service *s;
    fo_err err = {0};
    assert_ok(service_open(&s, &opt, &err), &err);
    put(s, "heron", HERON);
    for (int i = 0; i < 3; i++) {
        query_result r = ask(s, "How tall is the grey heron?");
        query_result_deinit(&r);
    }
    pthread_mutex_lock(&p.mu);
    const int n_before = p.n_started;
    p.waits_after = 2;
    pthread_mutex_unlock(&p.mu);
    put(s, "heron", "The grey heron stands two metres tall. It eats fish.");
    bool begun = false;
    for (int i = 0; i < 1500 && !begun; i++) {
        usleep(20000);
        pthread_mutex_lock(&p.mu);
        begun = p.n_started > n_before;
        pthread_mutex_unlock(&p.mu);
    }
    assert_true(begun);
    const double from = fo_now_ms();
    service_close(s);
    assert_true(fo_now_ms() - from < 20000);
    uint64_t hash = 0;
    s = open_home(home, -1);
    assert_int_equal(n_hot(s, &hash), 1);
    service_close(s);
    test_remove(home);
}

/* The file is what a process leaves that ends while it primes. */
static void a_question_in_whose_priming_the_process_ended_is_not_primed_again(void **state) {
    (void)state;
    char *home = test_folder(), path[4096];
    service *s = open_home(home, -1);
    put(s, "heron", HERON);
    for (int i = 0; i < 3; i++) {
        query_result r = ask(s, "How tall is the grey heron?");
        query_result_deinit(&r);
    }
    uint64_t hash = 0;
    assert_int_equal(n_hot(s, &hash), 1);
    service_close(s);
    snprintf(path, sizeof path, "%s/hot/default.priming", home);
    for (int k = 0; k < 2; k++) { /* gone for good, not until the next start */
        FILE *f = k == 0 ? fopen(path, "wb") : NULL;
        if (f) assert_int_equal(fwrite(&hash, sizeof hash, 1, f), 1);
        if (f) fclose(f);
        s = open_home(home, -1);
        assert_int_equal(n_hot(s, &hash), 0);
        assert_int_not_equal(access(path, F_OK), 0);
        if (k == 0) { /* a process that is killed saves nothing more: look at the file */
            service *second = NULL;
            fo_err err = {0};
            service_options opt = {.home = home, .read_only = true, .primes_per_s = -1};
            assert_ok(service_open(&second, &opt, &err), &err);
            assert_int_equal(n_hot(second, &hash), 0);
            service_close(second);
        }
        service_close(s);
    }
    s = open_home(home, -1);
    query_result r = ask(s, "How tall is the grey heron?");
    assert_int_equal(r.cache.hot_estimate, 4); /* its count stays, and it joins again */
    query_result_deinit(&r);
    assert_int_equal(n_hot(s, &hash), 1);
    service_close(s);
    test_remove(home);
}

/* An answer longer than any model's window, asked with no error to fill: by priming, or a caller
 * that does not want to know. */
static void every_question_may_be_asked_without_an_error_to_fill(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home, -1);
    put(s, "heron", HERON);
    query_request good = question("How tall is the grey heron?");
    query_request bad[] = {good, good, good, good, good, good};
    bad[0].query = "";
    bad[1].search.mode = (enum search_mode)3;
    bad[2].search.fusion = (enum fusion_kind)3;
    bad[3].search.alpha = NAN;
    bad[4].collection = "none";
    bad[5].temperature = NAN;
    query_result r;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_err err = {0};
        int rc = service_query(s, &bad[i], NULL, &r, &err);
        assert_int_not_equal(rc, FO_OK);
        assert_int_equal(rc, err.code);
        assert_true(err.msg[0]);
        assert_int_equal(service_query(s, &bad[i], NULL, &r, NULL), rc);
    }
    assert_int_equal(service_query(s, &good, NULL, &r, NULL), FO_OK);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_question_is_answered_from_memory_and_streamed_alike),
        cmocka_unit_test(what_changes_the_answer_is_not_taken_for_the_same),
        cmocka_unit_test(names_that_are_exact_are_not_folded),
        cmocka_unit_test(collections_share_no_answer),
        cmocka_unit_test(after_a_change_an_answer_serves_only_from_the_same_contexts),
        cmocka_unit_test(concurrent_identical_questions_are_computed_once),
        cmocka_unit_test(no_answer_is_older_than_the_last_committed_change),
        cmocka_unit_test(hot_questions_are_answered_again_after_a_change_and_a_restart),
        cmocka_unit_test(what_is_primed_is_what_was_asked),
        cmocka_unit_test(what_is_being_primed_ends_with_the_service),
        cmocka_unit_test(a_question_in_whose_priming_the_process_ended_is_not_primed_again),
        cmocka_unit_test(every_question_may_be_asked_without_an_error_to_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
