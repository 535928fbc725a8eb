/* Offline builds: the same answers as online ingest, also after a kill -9 anywhere. */
#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>
#include "retrieval/service/service.h"

enum { N_DOCS = 1500, BATCH = 500, N_QUESTIONS = 40 };

static const char *const words[] = {
    "heron",  "river", "stone",  "lichen", "amber",  "harbour", "copper", "meadow", "glacier",
    "kettle", "orbit", "violin", "basalt", "falcon", "saffron", "tundra", "walnut", "zephyr",
    "anchor", "birch", "cobalt", "dune",   "ember",  "fjord",   "garnet", "hazel",  "ivory",
    "jasper", "kelp",  "lagoon", "marble", "nettle", "obsidian"};

typedef struct corpus {
    char text[N_DOCS][320], id[N_DOCS][16];
    ingest_document docs[N_DOCS];
} corpus;

static corpus *make_corpus(uint64_t *r) {
    corpus *c = calloc(1, sizeof *c);
    assert_non_null(c);
    size_t n_words = sizeof words / sizeof *words;
    for (size_t i = 0; i < N_DOCS; i++) {
        size_t at = 0;
        for (uint64_t w = 8 + test_random(r) % 16; w > 0; w--)
            at += (size_t)snprintf(c->text[i] + at, sizeof c->text[i] - at, "%s%s", at ? " " : "",
                                   words[test_random(r) % n_words]);
        snprintf(c->id[i], sizeof c->id[i], "d%zu", i);
        c->docs[i] = (ingest_document){.id = c->id[i], .bytes = c->text[i], .n_bytes = at};
    }
    return c;
}

static service *open_home(const char *home, bool offline) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {
        .home = home, .n_threads = 2, .offline = offline, .build_memory = 1, .cache_bytes = -1};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

static void put_batch(service *s, const corpus *c, size_t begin) {
    static ingest_result r[BATCH];
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    assert_ok(service_ingest(s, &into, c->docs + begin, BATCH, r, NULL, &err), &err);
    for (size_t i = 0; i < BATCH; i++) {
        assert_int_not_equal(r[i].status, INGEST_FAILED);
        ingest_result_deinit(&r[i]);
    }
}

/* Where the child dies: after so many batches, or at the nth word of a stage of the index. */
typedef struct death {
    int after_batches; /* 0: not there */
    int stage;         /* -1: not there */
    int nth;
} death;

static void on_progress(void *ctx, enum search_bulk_stage stage, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    death *d = ctx;
    if ((int)stage == d->stage && --d->nth == 0) raise(SIGKILL);
}

static void build(const char *home, const corpus *c, death d) {
    service *s = open_home(home, true);
    fo_err err = {0};
    for (size_t i = 0; i < N_DOCS; i += BATCH) {
        put_batch(s, c, i);
        if (d.after_batches && --d.after_batches == 0) raise(SIGKILL);
    }
    assert_ok(service_catch_up(s, "default", "notes", on_progress, &d, NULL, &err), &err);
    service_close(s);
}

typedef struct answer {
    size_t n;
    char id[8][16];
    double score[8];
} answer;

static void ask(service *s, const char *question, answer *a) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = "notes",
                       .query = question,
                       .top_k = 8,
                       /* two graphs of the same points: the search must see all of them */
                       .search = {.alpha = -1, .ef = N_DOCS}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    *a = (answer){.n = r.n_contexts};
    for (size_t i = 0; i < r.n_contexts; i++) {
        snprintf(a->id[i], sizeof a->id[i], "%s", r.contexts[i].chunk.document_id);
        a->score[i] = r.contexts[i].score;
    }
    query_result_deinit(&r);
}

static void ask_all(service *s, uint64_t seed, answer out[N_QUESTIONS]) {
    uint64_t r = seed;
    size_t n_words = sizeof words / sizeof *words;
    for (int i = 0; i < N_QUESTIONS; i++) {
        char q[128];
        snprintf(q, sizeof q, "%s %s %s", words[test_random(&r) % n_words],
                 words[test_random(&r) % n_words], words[test_random(&r) % n_words]);
        ask(s, q, &out[i]);
        assert_true(out[i].n > 0);
    }
}

static void assert_same_answers(const answer *a, const answer *b) {
    for (int i = 0; i < N_QUESTIONS; i++) {
        assert_int_equal(a[i].n, b[i].n);
        for (size_t j = 0; j < a[i].n; j++) {
            assert_string_equal(a[i].id[j], b[i].id[j]);
            assert_true(a[i].score[j] == b[i].score[j]);
        }
    }
}

static int sound(void *ctx, const char *tenant, const char *name, search_index *ix, fo_err *err) {
    (void)tenant, (void)name;
    search_index_stats st;
    search_index_get_stats(ix, &st);
    assert_int_equal(st.n_chunks, N_DOCS);
    ++*(int *)ctx;
    return search_index_verify(ix, err);
}

static void a_build_answers_as_online_ingest_does_wherever_it_was_killed(void **state) {
    (void)state;
    static answer want[N_QUESTIONS], got[N_QUESTIONS];
    static const death deaths[] = {
        {0, -1, 0},                   /* nowhere */
        {1, -1, 0},                   /* a third of the documents stored */
        {3, -1, 0},                   /* all stored, no index */
        {0, SEARCH_BULK_POSTINGS, 1}, /* before the first file */
        {0, SEARCH_BULK_GRAPH, 2},
        {0, SEARCH_BULK_COMMIT, 1}, /* one of several files */
        {0, SEARCH_BULK_POSTINGS, 5},
        {0, SEARCH_BULK_COMMIT, 2},
    };
    uint64_t seed = test_seed();
    uint64_t rng = seed;
    corpus *c = make_corpus(&rng);
    fo_err err = {0};
    char *online = test_folder();
    service *s = open_home(online, false);
    for (size_t i = 0; i < N_DOCS; i += BATCH) put_batch(s, c, i);
    ask_all(s, seed + 1, want);
    service_close(s);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        char *home = test_folder();
        bool dies = deaths[i].after_batches || deaths[i].stage >= 0;
        if (dies) {
            fflush(NULL);
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                build(home, c, deaths[i]);
                _exit(1); /* it was to die before */
            }
            int status;
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        build(home, c, (death){0, -1, 0});
        s = open_home(home, false);
        ask_all(s, seed + 1, got);
        assert_same_answers(want, got);
        int n = 0;
        assert_ok(service_each_index(s, NULL, NULL, sound, &n, &err), &err);
        assert_int_equal(n, 1);
        service_close(s);
        test_remove(home);
    }
    test_remove(online);
    free(c);
}

static void a_killed_build_is_brought_up_by_whoever_opens_the_home(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    uint64_t rng = seed;
    corpus *c = make_corpus(&rng);
    char *home = test_folder();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        build(home, c, (death){0, SEARCH_BULK_COMMIT, 1});
        _exit(1);
    }
    int status, n = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    fo_err err = {0};
    service *s = open_home(home, false);
    assert_ok(service_each_index(s, NULL, NULL, sound, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_int_equal(service_catch_up(s, "default", "notes", NULL, NULL, NULL, &err),
                     FO_EUNSUPPORTED);
    service_close(s);
    test_remove(home);
    free(c);
}

static void an_update_and_a_deletion_reach_the_index_of_an_offline_build(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    uint64_t rng = seed;
    corpus *c = make_corpus(&rng);
    char *home = test_folder();
    fo_err err = {0};
    build(home, c, (death){0, -1, 0});
    service *s = open_home(home, true);
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = "d7", .bytes = "quince quince quince", .n_bytes = 20};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    assert_int_equal(r.status, INGEST_UPDATED);
    ingest_result_deinit(&r);
    assert_ok(service_delete_document(s, "default", "notes", "d8", NULL, NULL, &err), &err);
    assert_ok(service_catch_up(s, "default", "notes", NULL, NULL, NULL, &err), &err);
    service_close(s);
    s = open_home(home, false);
    answer a;
    ask(s, "quince", &a);
    assert_true(a.n > 0);
    assert_string_equal(a.id[0], "d7");
    for (int i = 0; i < 2; i++) { /* and again after the tombstones were read from the manifest */
        ask(s, c->text[8], &a);
        for (size_t j = 0; j < a.n; j++) assert_string_not_equal(a.id[j], "d8");
        service_close(s);
        s = open_home(home, false);
    }
    service_close(s);
    test_remove(home);
    free(c);
}

static void a_cancelled_build_keeps_what_it_built(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    uint64_t rng = seed;
    corpus *c = make_corpus(&rng);
    char *home = test_folder();
    fo_err err = {0};
    service *s = open_home(home, true);
    for (size_t i = 0; i < N_DOCS; i += BATCH) put_batch(s, c, i);
    const atomic_bool over =
        true; /* from the first moment: a batch is built each time all the same */
    int runs = 1, rc;
    while ((rc = service_catch_up(s, "default", "notes", NULL, NULL, &over, &err)) && runs < 100) {
        assert_int_equal(rc, FO_ECANCELLED);
        err = (fo_err){0};
        runs++;
    }
    assert_int_equal(rc, FO_OK);
    assert_true(runs > 1);
    int n = 0;
    assert_ok(service_each_index(s, NULL, NULL, sound, &n, &err), &err);
    service_close(s);
    s = open_home(home, false);
    answer a;
    ask(s, c->text[N_DOCS - 1], &a);
    assert_true(a.n > 0);
    service_close(s);
    test_remove(home);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_answers_as_online_ingest_does_wherever_it_was_killed),
        cmocka_unit_test(a_killed_build_is_brought_up_by_whoever_opens_the_home),
        cmocka_unit_test(an_update_and_a_deletion_reach_the_index_of_an_offline_build),
        cmocka_unit_test(a_cancelled_build_keeps_what_it_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
