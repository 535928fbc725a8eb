/* A store through its header, whatever it is made of: what goes in comes out, counts and epochs hold,
 * bad calls are refused. Each test runs over SQLite's and over the one in memory. */
#include "tests/test.h"

#include <pthread.h>
#include <unistd.h>

#include "data/sqlite/sqlite_store.h"
#include "tests/data/store/memory_store.h"
#include "tests/data/store/store_fixture.h"

enum { DIM = FIXTURE_DIM };

/* Each test runs over both. */
static const store_backend *backend;

typedef struct env {
    char *dir;
    store *s;
    store_collection c;
} env;

static env open_env(void) {
    env e = {.dir = test_folder()};
    fo_err err = {0};
    assert_ok(store_open(&e.s, backend, e.dir, NULL, &err), &err);
    assert_ok(store_create_collection(e.s, "acme", "docs", NULL, &e.c, &err), &err);
    return e;
}

static void close_env(env *e) {
    fo_err err = {0};
    if (backend == &sqlite_store_backend) assert_ok(store_verify(e->s, &err), &err);
    store_collection_deinit(&e->c);
    store_close(e->s);
    memory_store_forget(e->dir);
    test_remove(e->dir);
}

static void collection_is_made_found_listed_and_deleted(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    assert_string_equal(e.c.language, "english");
    assert_string_equal(e.c.embedder, "");
    assert_true(e.c.alpha < 0);
    store_collection again;
    assert_int_equal(store_create_collection(e.s, "acme", "docs", NULL, &again, &err),
                     FO_ECONFLICT);
    assert_string_equal(err.field, "collection");
    assert_ok(store_create_collection(e.s, "other", "docs", "german", &again, &err), &err);
    assert_int_not_equal(again.id, e.c.id);
    store_collection_deinit(&again);
    store_collection *list;
    size_t n;
    assert_ok(store_list_collections(e.s, "acme", &list, &n, &err), &err);
    assert_int_equal(n, 1);
    store_collection_deinit(&list[0]);
    free(list);
    assert_ok(store_list_collections(e.s, NULL, &list, &n, &err), &err);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    assert_ok(store_set_tuning(e.s, e.c.id, 0.25, 0.5, &err), &err);
    assert_ok(store_get_collection(e.s, "acme", "docs", &again, &err), &err);
    assert_true(again.alpha == 0.25 && again.min_support == 0.5);
    store_collection_deinit(&again);
    assert_ok(store_delete_collection(e.s, "acme", "docs", NULL, &err), &err);
    assert_int_equal(store_delete_collection(e.s, "acme", "docs", NULL, &err), FO_ENOTFOUND);
    assert_int_equal(store_get_collection(e.s, "acme", "docs", &again, &err), FO_ENOTFOUND);
    close_env(&e);
}

static void *raise_soon(void *cancel) {
    usleep(5000);
    atomic_store((atomic_bool *)cancel, true);
    return NULL;
}

/* Before it begins, or in the middle: all is still there, and the next one goes through. */
static void a_deletion_of_a_collection_can_be_cancelled(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    enum { MANY = 40, LARGE = 300000 }; /* some 17,000 chunks */
    for (size_t k = 0; k < MANY; k++) {
        fixture_document d;
        fixture_make(&d, e.c.id, k, LARGE, &seed);
        store_put_result res;
        assert_ok(fixture_put(e.s, &d, &res, &err), &err);
        free(res.removed);
        fixture_free(&d);
    }
    const bool sqlite =
        backend == &sqlite_store_backend; /* the other one is too quick for the middle */
    for (int late = 0; late < 1 + sqlite; late++) {
        atomic_bool cancel = !late;
        pthread_t t;
        if (late) assert_int_equal(pthread_create(&t, NULL, raise_soon, &cancel), 0);
        assert_int_equal(store_delete_collection(e.s, "acme", "docs", &cancel, &err),
                         FO_ECANCELLED);
        if (late) pthread_join(t, NULL);
        store_collection now;
        assert_ok(store_get_collection(e.s, "acme", "docs", &now, &err), &err);
        assert_int_equal(now.n_documents, MANY);
        store_collection_deinit(&now);
        if (sqlite) assert_ok(store_verify(e.s, &err), &err);
    }
    const atomic_bool never = false;
    assert_ok(store_delete_collection(e.s, "acme", "docs", &never, &err), &err);
    close_env(&e);
}

static void documents_come_back_as_they_went_in(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    /* Sizes around the seams of the stored pieces. */
    const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 300001};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        fixture_document d;
        fixture_make(&d, e.c.id, k, sizes[k], &seed);
        store_put_result res;
        assert_ok(fixture_put(e.s, &d, &res, &err), &err);
        assert_int_equal(res.status, STORE_CREATED);
        assert_int_equal(res.n_removed, 0);
        store_document got;
        assert_ok(store_get_document(e.s, e.c.id, d.id, true, &got, &err), &err);
        assert_int_equal(got.text_bytes, d.in.text_len);
        assert_memory_equal(got.text, d.text, d.in.text_len + 1);
        assert_string_equal(got.title, d.in.title);
        assert_null(got.uri);
        assert_int_equal(strlen(got.content_sha256), 64);
        assert_int_equal(got.n_chunks, d.n_chunks);
        store_document_deinit(&got);
        for (size_t i = 0; i < d.n_chunks; i++) {
            int64_t id = res.first_chunk + (int64_t)i;
            store_chunk c;
            assert_ok(store_get_chunks(e.s, &id, 1, &c, &err), &err);
            assert_int_equal(c.id, id);
            assert_int_equal(c.ordinal, i);
            assert_int_equal(c.text_len, d.chunks[i].end - d.chunks[i].start);
            assert_memory_equal(c.text, d.text + d.chunks[i].start, c.text_len);
            assert_string_equal(c.document_id, d.id);
            if (d.chunks[i].heading_end > d.chunks[i].heading_start)
                assert_memory_equal(c.heading, d.text + d.chunks[i].heading_start,
                                    d.chunks[i].heading_end - d.chunks[i].heading_start);
            else
                assert_null(c.heading);
            store_chunk_deinit(&c);
        }
        fixture_free(&d);
    }
    close_env(&e);
}

static void an_update_gives_new_chunks_and_names_the_old(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document d;
    fixture_make(&d, e.c.id, 1, 5000, &seed);
    store_put_result first, second, third;
    assert_ok(fixture_put(e.s, &d, &first, &err), &err);
    assert_ok(fixture_put(e.s, &d, &second, &err), &err);
    assert_int_equal(second.status, STORE_UNCHANGED);
    bool unchanged;
    size_t n;
    assert_ok(
        store_document_unchanged(e.s, e.c.id, d.id, d.in.content_sha256, &unchanged, &n, &err),
        &err);
    assert_true(unchanged);
    assert_int_equal(n, d.n_chunks);
    size_t n_old = d.n_chunks;
    fixture_free(&d);
    fixture_make(&d, e.c.id, 1, 9000, &seed);
    assert_ok(
        store_document_unchanged(e.s, e.c.id, d.id, d.in.content_sha256, &unchanged, &n, &err),
        &err);
    assert_false(unchanged);
    assert_ok(fixture_put(e.s, &d, &third, &err), &err);
    assert_int_equal(third.status, STORE_UPDATED);
    assert_int_equal(third.document, first.document);
    assert_int_equal(third.n_removed, n_old);
    for (size_t i = 0; i < n_old; i++)
        assert_int_equal(third.removed[i], first.first_chunk + (int64_t)i);
    assert_true(third.first_chunk >= first.first_chunk + (int64_t)n_old);
    store_chunk gone;
    assert_ok(store_get_chunks(e.s, third.removed, 1, &gone, &err), &err);
    assert_int_equal(gone.id, 0);
    free(third.removed);
    store_collection c;
    assert_ok(store_get_collection(e.s, "acme", "docs", &c, &err), &err);
    assert_int_equal(c.n_documents, 1);
    assert_int_equal(c.n_chunks, d.n_chunks);
    assert_int_equal(c.epoch, 2); /* the unchanged put does not count */
    store_collection_deinit(&c);
    fixture_free(&d);
    close_env(&e);
}

static void an_update_says_whether_the_title_is_another(void **state) {
    (void)state;
    static const struct {
        const char *title;
        bool again, other; /* the content that is there; another title than what is there */
    } puts[] = {{"Pumps", false, false}, {"Pumps", false, false}, {"Pump", true, false},
                {"Pump", false, true},   {NULL, false, true},     {"", false, false},
                {"Pump", false, true},   {"", false, true},       {NULL, false, false}};
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed(), before = seed;
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) {
        fixture_document d;
        store_put_result res;
        if (puts[i].again)
            seed = before;
        else
            before = seed;
        fixture_make(&d, e.c.id, 1, 900, &seed);
        d.in.title = puts[i].title;
        assert_ok(fixture_put(e.s, &d, &res, &err), &err);
        assert_int_equal(res.status, !i              ? STORE_CREATED
                                     : puts[i].again ? STORE_UNCHANGED
                                                     : STORE_UPDATED);
        if (res.retitled != puts[i].other) fail_msg("put %zu", i);
        free(res.removed);
        fixture_free(&d);
    }
    close_env(&e);
}

static void the_epoch_rises_once_per_transaction(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    store_txn *t;
    assert_ok(store_begin(e.s, &t, &err), &err);
    for (size_t k = 0; k < 5; k++) {
        fixture_document d;
        fixture_make(&d, e.c.id, k, 2000, &seed);
        store_put_result res;
        assert_ok(store_put_document(t, &d.in, d.chunks, d.n_chunks, &res, &err), &err);
        fixture_free(&d);
    }
    int64_t epoch, *removed;
    size_t n_removed;
    assert_ok(store_delete_document(t, e.c.id, "doc-3", &removed, &n_removed, &err), &err);
    assert_true(n_removed > 0);
    free(removed);
    assert_int_equal(store_delete_document(t, e.c.id, "doc-3", &removed, &n_removed, &err),
                     FO_ENOTFOUND);
    assert_ok(store_txn_epoch(t, e.c.id, &epoch, &err), &err);
    assert_int_equal(epoch, 1);
    store_collection c; /* readers do not see it yet */
    assert_ok(store_get_collection(e.s, "acme", "docs", &c, &err), &err);
    assert_int_equal(c.epoch, 0);
    assert_int_equal(c.n_documents, 0);
    store_collection_deinit(&c);
    assert_ok(store_commit(t, &err), &err);
    assert_ok(store_get_collection(e.s, "acme", "docs", &c, &err), &err);
    assert_int_equal(c.epoch, 1);
    assert_int_equal(c.n_documents, 4);
    assert_string_equal(c.embedder, FIXTURE_EMBEDDER);
    assert_int_equal(c.dim, DIM);
    store_collection_deinit(&c);
    assert_ok(store_begin(e.s, &t, &err), &err);
    assert_ok(store_delete_document(t, e.c.id, "doc-1", &removed, &n_removed, &err), &err);
    free(removed);
    store_rollback(t);
    /* A version goes only while it is the one that stands. */
    fixture_document d;
    store_put_result res;
    fixture_make(&d, e.c.id, 2, 2000, &seed);
    unsigned char before[32];
    memset(before, 7, sizeof before);
    assert_ok(store_begin(e.s, &t, &err), &err);
    assert_ok(store_put_document(t, &d.in, d.chunks, d.n_chunks, &res, &err), &err);
    free(res.removed);
    store_document there; /* the transaction sees what it has written, and no reader does */
    assert_ok(store_txn_get_document(t, e.c.id, "doc-2", &there, &err), &err);
    assert_string_equal(there.title, d.in.title);
    assert_int_equal(there.n_chunks, d.n_chunks);
    store_document_deinit(&there);
    assert_int_equal(store_txn_get_document(t, e.c.id, "doc-99", &there, &err), FO_ENOTFOUND);
    assert_int_equal(store_delete_version(t, e.c.id, "doc-2", before, &removed, &n_removed, &err),
                     FO_ECONFLICT);
    assert_ok(
        store_delete_version(t, e.c.id, "doc-2", d.in.content_sha256, &removed, &n_removed, &err),
        &err);
    assert_int_equal(n_removed, d.n_chunks);
    free(removed);
    fixture_free(&d);
    store_rollback(t);
    assert_ok(store_get_collection(e.s, "acme", "docs", &c, &err), &err);
    assert_int_equal(c.epoch, 1);
    assert_int_equal(c.n_documents, 4);
    store_collection_deinit(&c);
    close_env(&e);
}

static void another_embedder_is_refused_and_the_transaction_goes_on(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document a, b;
    fixture_make(&a, e.c.id, 1, 3000, &seed);
    fixture_make(&b, e.c.id, 2, 3000, &seed);
    b.in.embedder = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    store_txn *t;
    store_put_result res;
    assert_ok(store_begin(e.s, &t, &err), &err);
    assert_ok(store_put_document(t, &a.in, a.chunks, a.n_chunks, &res, &err), &err);
    assert_int_equal(store_put_document(t, &b.in, b.chunks, b.n_chunks, &res, &err), FO_EMISMATCH);
    assert_non_null(strstr(err.msg, "embedder"));
    b.in.collection = 999;
    assert_int_equal(store_put_document(t, &b.in, b.chunks, b.n_chunks, &res, &err), FO_ENOTFOUND);
    assert_ok(store_commit(t, &err), &err);
    /* The same document by another embedder: nothing of the first is left, so it may. */
    a.in.embedder = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    a.in.content_sha256[0] ^= 1;
    assert_ok(fixture_put(e.s, &a, &res, &err), &err);
    free(res.removed);
    store_document got;
    assert_int_equal(store_get_document(e.s, e.c.id, "doc-2", false, &got, &err), FO_ENOTFOUND);
    fixture_free(&a);
    fixture_free(&b);
    close_env(&e);
}

static int count_rows(void *ctx, const store_index_row *row) {
    int64_t *last = ctx;
    assert_true(row->chunk > last[0]);
    last[0] = row->chunk;
    last[1]++;
    assert_int_equal(row->dim, DIM);
    assert_non_null(row->vector);
    assert_int_equal(((uintptr_t)row->vector) % 16, 0);
    assert_int_equal(strlen(row->text), row->text_len);
    return last[1] == last[2] ? -77 : FO_OK;
}

static void chunks_are_walked_in_order_and_listed(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    size_t total = 0;
    for (size_t k = 0; k < 20; k++) {
        fixture_document d;
        fixture_make(&d, e.c.id, k, 100 + 3000 * k, &seed);
        store_put_result res;
        assert_ok(fixture_put(e.s, &d, &res, &err), &err);
        total += d.n_chunks;
        fixture_free(&d);
    }
    int64_t epoch, walk[3] = {0, 0, -1}, *ids;
    assert_ok(store_each_chunk(e.s, e.c.id, 0, count_rows, walk, &epoch, &err), &err);
    assert_int_equal(walk[1], total);
    assert_int_equal(epoch, 20);
    int64_t stopped[3] = {0, 0, 5};
    assert_int_equal(store_each_chunk(e.s, e.c.id, 0, count_rows, stopped, NULL, &err), -77);
    size_t n;
    assert_ok(store_chunk_ids(e.s, e.c.id, &ids, NULL, &n, &epoch, &err), &err);
    assert_int_equal(n, total);
    for (size_t i = 1; i < n; i++) assert_true(ids[i] > ids[i - 1]);
    int64_t tail[3] = {ids[n / 2], 0, -1};
    assert_ok(store_each_chunk(e.s, e.c.id, ids[n / 2], count_rows, tail, NULL, &err), &err);
    assert_int_equal(tail[1], n - n / 2 - 1);
    free(ids);
    assert_int_equal(store_chunk_ids(e.s, 12345, &ids, NULL, &n, &epoch, &err), FO_ENOTFOUND);
    close_env(&e);
}

static void documents_are_listed_in_pages(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    for (size_t k = 10; k < 20; k++) {
        fixture_document d;
        fixture_make(&d, e.c.id, k, 200, &seed);
        store_put_result res;
        assert_ok(fixture_put(e.s, &d, &res, &err), &err);
        fixture_free(&d);
    }
    char after[64] = "";
    size_t seen = 0;
    bool more = true;
    while (more) {
        store_document *page;
        size_t n;
        assert_ok(
            store_list_documents(e.s, e.c.id, after[0] ? after : NULL, 3, &page, &n, &more, &err),
            &err);
        for (size_t i = 0; i < n; i++) {
            char want[32];
            snprintf(want, sizeof want, "doc-%zu", 10 + seen++);
            assert_string_equal(page[i].id, want);
            assert_null(page[i].text);
            snprintf(after, sizeof after, "%s", page[i].id);
            store_document_deinit(&page[i]);
        }
        free(page);
    }
    assert_int_equal(seen, 10);
    close_env(&e);
}

static void jobs_keep_their_state(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    int64_t id, other;
    store_job j;
    assert_ok(store_create_job(e.s, "acme", "ingest", "docs", &id, &err), &err);
    assert_ok(store_create_job(e.s, "acme", "rebuild", NULL, &other, &err), &err);
    assert_true(id > 0 && other > 0 &&
                llabs(other - id) > 1000); /* a number tells of no other job */
    assert_ok(store_update_job(e.s, id, "running", 10, 4, 1, NULL, NULL, &err), &err);
    assert_ok(store_get_job(e.s, "acme", id, &j, &err), &err);
    assert_string_equal(j.state, "running");
    assert_int_equal(j.n_total, 10);
    assert_int_equal(j.n_done, 4);
    assert_null(j.error);
    store_job_deinit(&j);
    assert_int_equal(store_get_job(e.s, "stranger", id, &j, &err), FO_ENOTFOUND);
    assert_ok(store_update_job(e.s, other, "succeeded", 1, 1, 0, NULL, "{\"ok\":true}", &err),
              &err);
    assert_ok(store_fail_running_jobs(e.s, &err), &err);
    assert_ok(store_get_job(e.s, "acme", id, &j, &err), &err);
    assert_string_equal(j.state, "failed");
    assert_string_equal(j.error, "interrupted by a restart");
    assert_int_equal(j.n_done, 4);
    store_job_deinit(&j);
    assert_ok(store_get_job(e.s, "acme", other, &j, &err), &err);
    assert_string_equal(j.state, "succeeded");
    assert_string_equal(j.result, "{\"ok\":true}");
    store_job_deinit(&j);
    assert_int_equal(store_update_job(e.s, 99, "failed", 0, 0, 0, NULL, NULL, &err), FO_ENOTFOUND);
    assert_int_not_equal(store_update_job(e.s, id, "dreaming", 0, 0, 0, NULL, NULL, &err), FO_OK);
    close_env(&e);
}

static void jobs_that_are_long_over_go(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    const int64_t day = 24LL * 3600 * 1000, now = fo_unix_ms();
    int64_t over, running, waiting;
    store_job j;
    assert_ok(store_create_job(e.s, "acme", "ingest", "docs", &over, &err), &err);
    assert_ok(store_create_job(e.s, "acme", "ingest", "docs", &running, &err), &err);
    assert_ok(store_create_job(e.s, "acme", "ingest", "docs", &waiting, &err), &err);
    assert_ok(store_update_job(e.s, over, "cancelled", 1, 1, 0, NULL, NULL, &err), &err);
    assert_ok(store_update_job(e.s, running, "running", 1, 0, 0, NULL, NULL, &err), &err);
    assert_ok(store_trim_jobs(e.s, now + 29 * day, &err), &err);
    assert_ok(store_get_job(e.s, "acme", over, &j, &err), &err);
    store_job_deinit(&j);
    assert_ok(store_trim_jobs(e.s, now + 31 * day, &err), &err);
    assert_int_equal(store_get_job(e.s, "acme", over, &j, &err), FO_ENOTFOUND);
    assert_ok(store_get_job(e.s, "acme", running, &j, &err), &err);
    store_job_deinit(&j);
    assert_ok(store_get_job(e.s, "acme", waiting, &j, &err), &err);
    store_job_deinit(&j);
    close_env(&e);
}

static void an_idempotency_key_answers_once(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    unsigned char body[32] = {1}, changed[32] = {2};
    enum store_idem st;
    int status;
    char *response;
#define CLAIM(sha)                                                                                 \
    assert_ok(store_idem_claim(e.s, "acme", "/ingest", "k", sha, &st, &status, &response, &err),   \
              &err)
    CLAIM(body);
    assert_int_equal(st, STORE_IDEM_NEW);
    CLAIM(body);
    assert_int_equal(st, STORE_IDEM_RUNNING);
    assert_ok(store_idem_abandon(e.s, "acme", "/ingest", "k", &err), &err);
    CLAIM(body);
    assert_int_equal(st, STORE_IDEM_NEW);
    assert_ok(store_idem_finish(e.s, "acme", "/ingest", "k", 200, "{\"a\":1}", &err), &err);
    assert_ok(store_idem_abandon(e.s, "acme", "/ingest", "k", &err), &err);
    CLAIM(body);
    assert_int_equal(st, STORE_IDEM_DONE);
    assert_int_equal(status, 200);
    assert_string_equal(response, "{\"a\":1}");
    free(response);
    CLAIM(changed);
    assert_int_equal(st, STORE_IDEM_OTHER_BODY);
    assert_null(response);
    /* The same key of another tenant, or on another route, is another one. */
    assert_ok(store_idem_claim(e.s, "other", "/ingest", "k", body, &st, &status, &response, &err),
              &err);
    assert_int_equal(st, STORE_IDEM_NEW);
    assert_ok(store_idem_claim(e.s, "acme", "/else", "k", body, &st, &status, &response, &err),
              &err);
    assert_int_equal(st, STORE_IDEM_NEW);
    /* A claim that a crash left open goes when the store opens again. */
    assert_ok(store_idem_claim(e.s, "acme", "/ingest", "k2", body, &st, &status, &response, &err),
              &err);
    store_close(e.s);
    assert_ok(store_open(&e.s, backend, e.dir, NULL, &err), &err);
    assert_ok(store_idem_claim(e.s, "acme", "/ingest", "k2", body, &st, &status, &response, &err),
              &err);
    assert_int_equal(st, STORE_IDEM_NEW);
    CLAIM(body);
    assert_int_equal(st, STORE_IDEM_DONE);
    free(response);
    close_env(&e);
}

static void a_read_only_store_reads_and_refuses_writes(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    store *s;
    assert_ok(store_open(&s, backend, e.dir, &(store_options){.read_only = true}, &err), &err);
    store_collection c;
    assert_ok(store_get_collection(s, "acme", "docs", &c, &err), &err);
    store_collection_deinit(&c);
    store_txn *t;
    assert_int_equal(store_begin(s, &t, &err), FO_EUNSUPPORTED);
    store_close(s);
    close_env(&e);
}

/* ---- threads ----------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    store *s;
    int64_t collection;
    uint64_t seed;
    size_t base;
    bool writes;
} worker;

static void *run_worker(void *arg) {
    worker *w = arg;
    fo_err err = {0};
    for (size_t k = 0; k < 25; k++) {
        if (w->writes) {
            fixture_document d;
            fixture_make(&d, w->collection, w->base + k % 20, 1500, &w->seed);
            store_put_result res;
            assert_ok(fixture_put(w->s, &d, &res, &err), &err);
            free(res.removed);
            fixture_free(&d);
        } else {
            int64_t *ids, epoch;
            size_t n;
            assert_ok(store_chunk_ids(w->s, w->collection, &ids, NULL, &n, &epoch, &err), &err);
            if (n > 8) n = 8;
            store_chunk got[8];
            assert_ok(store_get_chunks(w->s, ids, n, got, &err), &err);
            for (size_t i = 0; i < n; i++) store_chunk_deinit(&got[i]);
            free(ids);
        }
    }
    return NULL;
}

static void readers_and_writers_work_side_by_side(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    worker w[6];
    for (size_t i = 0; i < 6; i++) {
        w[i] = (worker){
            .s = e.s, .collection = e.c.id, .seed = i, .base = i * 100, .writes = i % 2 == 0};
        assert_int_equal(pthread_create(&w[i].thread, NULL, run_worker, &w[i]), 0);
    }
    for (size_t i = 0; i < 6; i++) pthread_join(w[i].thread, NULL);
    store_collection c;
    assert_ok(store_get_collection(e.s, "acme", "docs", &c, &err), &err);
    assert_int_equal(c.n_documents, 60);
    assert_int_equal(c.epoch, 75);
    store_collection_deinit(&c);
    close_env(&e);
}

static void a_transaction_that_is_rolled_back_leaves_nothing(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document d, other;
    store_put_result res;
    fixture_make(&d, e.c.id, 1, 3000, &seed);
    fixture_make(&other, e.c.id, 1, 2000, &seed);
    assert_ok(fixture_put(e.s, &d, &res, &err), &err);
    store_txn *t;
    store_put_result lost;
    assert_ok(store_begin(e.s, &t, &err), &err);
    assert_ok(store_put_document(t, &other.in, other.chunks, other.n_chunks, &lost, &err), &err);
    free(lost.removed);
    store_rollback(t);
    store_chunk c;
    assert_ok(store_get_chunks(e.s, &res.first_chunk, 1, &c, &err), &err);
    assert_int_equal(c.id, res.first_chunk);
    assert_memory_equal(c.text, d.text, c.text_len);
    store_chunk_deinit(&c);
    /* Numbers that were given out are not given again where somebody may know them. */
    assert_ok(fixture_put(e.s, &other, &lost, &err), &err);
    assert_true(lost.first_chunk >= res.first_chunk + (int64_t)d.n_chunks);
    free(lost.removed);
    fixture_free(&d);
    fixture_free(&other);
    close_env(&e);
}

static void vectors_of_another_embedder_take_their_place_at_once(void **state) {
    (void)state;
    enum { WIDE = 4 };
    static const char other[] = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document d;
    store_put_result res;
    fixture_make(&d, e.c.id, 1, 5000, &seed);
    assert_ok(fixture_put(e.s, &d, &res, &err), &err);
    store_collection *foreign;
    size_t n, n_all;
    assert_ok(store_foreign_collections(e.s, "acme", NULL, other, d.in.embedder, 8, &foreign, &n,
                                        &n_all, &err),
              &err);
    assert_int_equal(n + n_all, 0);
    free(foreign);
    assert_ok(
        store_foreign_collections(e.s, "acme", NULL, other, NULL, 8, &foreign, &n, &n_all, &err),
        &err);
    assert_int_equal(n, 1);
    assert_int_equal(n_all, 1);
    store_collection_deinit(&foreign[0]);
    free(foreign);
    int64_t *ids;
    assert_ok(store_chunks_to_embed(e.s, e.c.id, other, 0, 100, &ids, &n, &err), &err);
    assert_int_equal(n, d.n_chunks);
    float *vectors = calloc(n * WIDE, sizeof *vectors);
    for (size_t i = 0; i < n; i++) vectors[i * WIDE] = (float)i;
    store_txn *t;
    assert_ok(store_begin(e.s, &t, &err), &err);
    assert_ok(store_gather_vectors(t, "acme", other, ids, vectors, n - 1, WIDE, &err), &err);
    assert_int_equal(store_adopt_vectors(t, e.c.id, other, WIDE, &err), FO_ECONFLICT);
    assert_ok(store_gather_vectors(t, "acme", other, ids + n - 1, vectors + (n - 1) * WIDE, 1, WIDE,
                                   &err),
              &err);
    assert_ok(store_commit(t, &err), &err);
    free(ids);
    assert_ok(store_chunks_to_embed(e.s, e.c.id, other, 0, 100, &ids, &n, &err), &err);
    assert_int_equal(n, 0);
    free(ids);
    assert_ok(store_begin(e.s, &t, &err), &err);
    assert_ok(store_adopt_vectors(t, e.c.id, other, WIDE, &err), &err);
    assert_ok(store_commit(t, &err), &err);
    store_collection c;
    assert_ok(store_get_collection(e.s, "acme", "docs", &c, &err), &err);
    assert_string_equal(c.embedder, other);
    assert_int_equal(c.dim, WIDE);
    assert_int_equal(c.epoch, 2);
    store_collection_deinit(&c);
    free(vectors);
    fixture_free(&d);
    close_env(&e);
}

static void what_is_committed_is_there_after_opening_again(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document d;
    store_put_result res;
    fixture_make(&d, e.c.id, 1, 3000, &seed);
    assert_ok(fixture_put(e.s, &d, &res, &err), &err);
    store_close(e.s);
    assert_ok(store_open(&e.s, backend, e.dir, NULL, &err), &err);
    store_document got;
    assert_ok(store_get_document(e.s, e.c.id, d.id, true, &got, &err), &err);
    assert_string_equal(got.text, d.text);
    store_document_deinit(&got);
    char part[100];
    assert_ok(store_get_text(e.s, res.document, 700, 799, part, &err), &err);
    assert_memory_equal(part, d.text + 700, 99);
    assert_int_equal(store_get_text(e.s, res.document, 2999, 3001, part, &err), FO_ECORRUPT);
    enum store_presence is;
    bool acknowledged;
    assert_ok(backend->look(e.dir, &is, &acknowledged, &err), &err);
    assert_int_equal(is, STORE_THERE);
    fixture_free(&d);
    close_env(&e);
}

static void what_a_store_leaves_out_is_refused_by_name(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    store_rollup *rows;
    size_t n;
    assert_int_equal(store_backup(e.s, "/nonexistent-folder/x.db", NULL, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "store"));
    assert_int_equal(store_verify(e.s, &err), FO_EUNSUPPORTED);
    assert_int_equal(store_rewrite(e.s, &err), FO_EUNSUPPORTED);
    assert_int_equal(store_mark_damaged(e.s, 1, &err), FO_EUNSUPPORTED);
    assert_int_equal(store_log_queries(e.s, &(store_query_log){.tenant = "acme"}, 1, &err),
                     FO_EUNSUPPORTED);
    assert_int_equal(store_cache_series(e.s, "acme", 0, 60, &rows, &n, &err), FO_EUNSUPPORTED);
    assert_int_equal(store_free_disk_bytes(e.s), -1);
    assert_int_equal(store_n_refused(e.s), 0);
    assert_int_equal(store_get_timing(e.s, STORE_TIMING_COMMIT)->counts[0], 0);
    close_env(&e);
}

/* A store that finds what it is told to. */
typedef struct finder {
    store base;
    size_t n;
    int rc;
} finder;

static int find_some(store *s, store_finding_fn *fn, void *ctx, store_check_counts *out,
                     fo_err *err) {
    static const store_finding found[] = {
        {.document = "tide table", .what = "its text is not what was ingested"},
        {.document = "lock book", .what = "the vector of its title is damaged"},
        {.what = "page 7 is damaged"}};
    const finder *f = (const finder *)s;
    (void)out;
    for (size_t i = 0; i < f->n; i++) fn(ctx, &found[i]);
    return f->rc ? fo_fail(err, f->rc, "the disk does not answer") : FO_OK;
}

static void what_is_found_first_is_told(void **state) {
    (void)state;
    static const store_ops ops = {.check = find_some};
    static const struct {
        size_t n;
        int rc, want;
        const char *msg;
    } cases[] = {
        {0, FO_OK, FO_OK, ""},
        {1, FO_OK, FO_ECORRUPT,
         "the database is damaged: document 'tide table': its text is not what was ingested"},
        {3, FO_OK, FO_ECORRUPT,
         "the database is damaged: document 'tide table': its text is not what was ingested"},
        {0, FO_EIO, FO_EIO, "the disk does not answer"},
        {2, FO_EIO, FO_EIO, "the disk does not answer"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        finder f = {{&ops}, cases[i].n, cases[i].rc};
        fo_err err = {0};
        assert_int_equal(store_verify(&f.base, &err), cases[i].want);
        assert_string_equal(err.msg, cases[i].msg);
        assert_int_equal(store_verify(&f.base, NULL), cases[i].want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collection_is_made_found_listed_and_deleted),
        cmocka_unit_test(a_deletion_of_a_collection_can_be_cancelled),
        cmocka_unit_test(documents_come_back_as_they_went_in),
        cmocka_unit_test(an_update_gives_new_chunks_and_names_the_old),
        cmocka_unit_test(an_update_says_whether_the_title_is_another),
        cmocka_unit_test(the_epoch_rises_once_per_transaction),
        cmocka_unit_test(another_embedder_is_refused_and_the_transaction_goes_on),
        cmocka_unit_test(chunks_are_walked_in_order_and_listed),
        cmocka_unit_test(documents_are_listed_in_pages),
        cmocka_unit_test(jobs_keep_their_state),
        cmocka_unit_test(jobs_that_are_long_over_go),
        cmocka_unit_test(an_idempotency_key_answers_once),
        cmocka_unit_test(a_read_only_store_reads_and_refuses_writes),
        cmocka_unit_test(readers_and_writers_work_side_by_side),
        cmocka_unit_test(a_transaction_that_is_rolled_back_leaves_nothing),
        cmocka_unit_test(vectors_of_another_embedder_take_their_place_at_once),
        cmocka_unit_test(what_is_committed_is_there_after_opening_again),
    };
    static const store_backend *const all[] = {&sqlite_store_backend, &memory_store_backend};
    int failed = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        backend = all[i];
        failed += cmocka_run_group_tests_name(backend->name, tests, NULL, NULL);
    }
    const struct CMUnitTest of_memory[] = {
        cmocka_unit_test(what_a_store_leaves_out_is_refused_by_name),
        cmocka_unit_test(what_is_found_first_is_told),
    };
    backend = &memory_store_backend;
    return failed + cmocka_run_group_tests_name("left out", of_memory, NULL, NULL);
}
