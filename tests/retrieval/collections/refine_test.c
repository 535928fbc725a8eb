/* refine_test.c - collections that get better vectors while nobody brings documents in: what they answer then, who
 * opens them afterwards and with what, documents that come in meanwhile, a stop in the middle. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "retrieval/collections/catalog.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/service/damaged_page.h"

static const char *const texts[] = {
    "Felines take a nap in the hay shed at noon.",    "The tractor is greased on Fridays.",
    "A storm took the roof off the boat house.",      "Bread is baked in the old oven.",
    "The wages are paid on the last day of a month.", "Children under six travel free.",
};
enum { N = sizeof texts / sizeof *texts, DEADLINE_S = 120 };

static char *home;

static service *open_home(service_options o) {
    fo_err err = {0};
    service *s;
    o.home = home;
    o.n_threads = 2;
    assert_ok(service_open(&s, &o, &err), &err);
    return s;
}

static const service_options plain = {0}, refining = {.refine = {.on = true, .idle_ms = 1}},
                             with_table = {.embed_model = EMBEDDER_TABLE};

static void put(service *s, const char *id, const char *text) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    if (r.status == INGEST_FAILED) fail_msg("%s: %s", id, r.error.msg);
    ingest_result_deinit(&r);
}

static void fill(service *s) {
    char id[8];
    for (int i = 0; i < N; i++) {
        snprintf(id, sizeof id, "d%d", i);
        put(s, id, texts[i]);
    }
}

/* The collection's row, which the caller deinits. */
static store_collection row_of(service *s) {
    fo_err err = {0};
    store_collection c = {0};
    assert_ok(catalog_get_collection(service_catalog(s), "default", "default", &c, &err), &err);
    return c;
}

static bool is_refined(service *s) {
    char encoder[65];
    embedder_encoder_fingerprint(encoder);
    store_collection c = row_of(s);
    const bool is = !strcmp(c.embedder, encoder);
    store_collection_deinit(&c);
    return is;
}

/* Until the new vectors answer, not only until the store has them. */
static void wait_until_refined(service *s) {
    service_refine_stats st = {0};
    for (int i = 0; i < DEADLINE_S * 100 && !st.collections; i++) {
        service_get_refine_stats(s, &st);
        usleep(10000);
    }
    assert_true(st.collections > 0 && is_refined(s));
}

/* The document that the dense side alone finds first; "" where there is none. */
static const char *nearest(service *s, const char *question) {
    static char id[64];
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .cache = CACHE_BYPASS,
                       .search = {.mode = SEARCH_DENSE, .alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    snprintf(id, sizeof id, "%s", r.n_contexts ? r.contexts[0].chunk.document_id : "");
    query_result_deinit(&r);
    return id;
}

static void begin(void) {
    home = test_folder();
}

static void end(service *s) {
    service_close(s);
    test_remove(home);
}

static void off_changes_nothing(void **state) {
    (void)state;
    begin();
    service *s = open_home(plain);
    fill(s);
    usleep(50000);
    service_refine_stats st;
    service_get_refine_stats(s, &st);
    assert_true(!st.at_work && !st.chunks && !st.collections);
    assert_false(is_refined(s));
    size_t n = 0;
    assert_true(service_is_refinable(s, "default", "default", &n) && n == N);
    assert_false(service_is_refinable(s, "default", "nowhere", &n));
    end(s);
}

/* Found by what is meant; written to, closed, opened by who asks for nothing, counted as no foreign one. */
static void what_is_there_gets_better_vectors(void **state) {
    (void)state;
    begin();
    service *s = open_home(plain);
    fill(s);
    store_collection before = row_of(s);
    service_close(s);
    s = open_home(refining);
    wait_until_refined(s);
    store_collection after = row_of(s);
    assert_int_equal(before.dim, 256);
    assert_int_equal(after.dim, 384);
    assert_true(after.epoch > before.epoch);
    assert_int_equal(after.n_chunks, before.n_chunks);
    store_collection_deinit(&before);
    store_collection_deinit(&after);
    service_refine_stats st;
    size_t refinable = 0;
    assert_false(service_is_refinable(s, "default", "default", &refinable));
    service_get_refine_stats(s, &st);
    assert_int_equal(st.chunks, N);
    assert_string_equal(nearest(s, "Where do cats sleep?"), "d0");
    assert_string_equal(nearest(s, "salary"), "d4");
    put(s, "late", "The veterinarian comes on Tuesdays.");
    assert_string_equal(nearest(s, "animal doctor"), "late");
    service_close(s);

    s = open_home(plain);
    store_collection *foreign;
    size_t n, n_all;
    fo_err err = {0};
    assert_ok(service_foreign_collections(s, NULL, NULL, 8, &foreign, &n, &n_all, &err), &err);
    assert_int_equal(n_all, 0);
    free(foreign);
    assert_true(is_refined(s));
    assert_string_equal(nearest(s, "animal doctor"), "late");
    put(s, "later", "Sheep are shorn in May.");
    assert_string_equal(nearest(s, "wool is cut"), "later");
    /* A rebuild of who names no embedder keeps what is there; of who names one, changes it. */
    assert_ok(service_rebuild(s, "default", "default", NULL, NULL, &err), &err);
    assert_true(is_refined(s));
    assert_string_equal(nearest(s, "wool is cut"), "later");
    service_close(s);
    s = open_home(with_table);
    assert_string_equal(nearest(s, "wool is cut"), "later"); /* served as it is, until then */
    assert_ok(service_rebuild(s, "default", "default", NULL, NULL, &err), &err);
    assert_false(is_refined(s));
    put(s, "last", "The tractor is old.");
    assert_string_equal(nearest(s, "tractor old"), "last");
    end(s);
}

typedef struct bringing {
    service *s;
    atomic_bool stop;
    int n;
} bringing;

static void *bring(void *arg) {
    bringing *b = arg;
    enum { MOST = 400 }; /* more of one kind would hide the others from a graph */
    char id[24], text[64];
    while (!atomic_load(&b->stop) && b->n < MOST) {
        snprintf(id, sizeof id, "n%d", b->n);
        snprintf(text, sizeof text, "Note %d says that drawer q%dz is empty.", b->n, b->n);
        put(b->s, id, text);
        b->n++;
        usleep(b->n % 8 ? 1000 : 60000); /* an exchange can be when nobody brings any */
    }
    return NULL;
}

/* Documents come in all the time, before, while and after the vectors are exchanged: none is lost, none has vectors
 * of the wrong kind, all are found by both sides. */
static void documents_come_in_meanwhile(void **state) {
    (void)state;
    begin();
    service *s = open_home(refining);
    fill(s);
    bringing b = {.s = s};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, bring, &b), 0);
    wait_until_refined(s);
    usleep(200000);
    atomic_store(&b.stop, true);
    pthread_join(t, NULL);
    fo_err err = {0};
    search_id_report ids;
    assert_ok(service_compare_ids(s, "default", "default", &ids, &err), &err);
    assert_int_equal(ids.n_missing + ids.n_extra, 0);
    store_collection c = row_of(s);
    assert_int_equal(c.n_documents, N + b.n);
    store_collection_deinit(&c);
    fprintf(stderr, "# %d documents came in meanwhile\n", b.n);
    assert_true(b.n > 0);
    assert_string_equal(nearest(s, "Where do cats sleep?"), "d0");
    end(s);
}

/* What was embedded before a stop is not embedded again. */
static void a_stop_costs_nothing(void **state) {
    (void)state;
    enum { MANY = 200 };
    begin();
    service *s = open_home(plain);
    char id[16], text[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "m%d", i);
        snprintf(text, sizeof text, "Shelf %d holds item number %d.", i, i * 7);
        put(s, id, text);
    }
    service_close(s);
    uint64_t sum = 0;
    service_refine_stats st = {0};
    for (int runs = 0; !st.collections; runs++) {
        assert_true(runs < 100);
        s = open_home(refining);
        for (int i = 0; i < DEADLINE_S * 100 && !st.chunks && !st.collections; i++) {
            service_get_refine_stats(s, &st);
            usleep(10000);
        }
        service_close(s); /* after its first piece, or its last */
        sum += st.chunks;
        if (st.collections) break;
        st = (service_refine_stats){0};
        s = open_home(plain);
        const bool done = is_refined(s);
        service_close(s);
        if (done) break;
    }
    s = open_home(plain);
    assert_true(is_refined(s));
    assert_true(sum <= MANY);
    end(s);
}

static void one_that_is_damaged_holds_no_other_up(void **state) {
    (void)state;
    begin();
    service *s = open_home(plain);
    fo_err err = {0};
    char *text = long_text("The hay shed is locked at night. ");
    ingest_options into = {
        .tenant = "default", .collection = "small", .max_tokens = 2000, .overlap = SIZE_MAX};
    ingest_document d = {.id = "bad", .bytes = text, .n_bytes = LONG_TEXT};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    assert_true(r.status == INGEST_CREATED && r.chunks < N); /* so it comes first */
    ingest_result_deinit(&r);
    free(text);
    fill(s);
    service_close(s);
    damage_mark(home);
    s = open_home(refining);
    wait_until_refined(s); /* the collection default, which is larger */
    assert_string_equal(nearest(s, "salary"), "d4");
    end(s);
}

static void hear(void *ctx, const char *kind, const char *text) {
    (void)text;
    if (!strncmp(kind, "index_", 6)) atomic_fetch_add((atomic_int *)ctx, 1);
}

static void a_new_index_is_no_missing_one(void **state) {
    (void)state;
    atomic_int heard = 0;
    service_options o = refining;
    o.notices = (fo_notices){hear, &heard};
    begin();
    service *s = open_home(o);
    fill(s);
    wait_until_refined(s);
    assert_string_equal(nearest(s, "salary"), "d4");
    assert_int_equal(atomic_load(&heard), 0);
    end(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_changes_nothing),
        cmocka_unit_test(what_is_there_gets_better_vectors),
        cmocka_unit_test(documents_come_in_meanwhile),
        cmocka_unit_test(a_stop_costs_nothing),
        cmocka_unit_test(one_that_is_damaged_holds_no_other_up),
        cmocka_unit_test(a_new_index_is_no_missing_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
