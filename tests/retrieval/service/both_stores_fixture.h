/* both_stores_fixture.h - a service over a home of SQLite's files or of the store in memory: the groups of a file run over
 * the one and then over the other. */
#ifndef FORAGE_TESTS_BOTH_STORES_FIXTURE_H
#define FORAGE_TESTS_BOTH_STORES_FIXTURE_H

#include "data/sqlite/sqlite_store.h"
#include "retrieval/service/service_store.h"
#include "retrieval/service/service.h"
#include "tests/data/store/memory_store.h"
#include "tests/test.h"

static const ingest_options into = {
    .tenant = "default", .collection = "notes", .overlap = SIZE_MAX};

/* Each test runs over both, but for those that are about SQLite's files. */
static const store_backend *backend = &sqlite_store_backend;

static inline void forget(char *home) {
    char path[4200];
    snprintf(path, sizeof path, "%s/forage.db", home);
    assert_int_equal(access(path, F_OK) == 0, backend == &sqlite_store_backend);
    memory_store_forget(home);
    test_remove(home);
}

/* Does all that is stored agree with itself? */
static inline void expect_sound(service *s) {
    fo_err err = {0};
    int rc = store_verify(service_store(s), &err);
    if (backend == &memory_store_backend)
        assert_int_equal(rc, FO_EUNSUPPORTED);
    else
        assert_ok(rc, &err);
}

static inline service *open_home(const char *home) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home, .store = backend, .n_threads = 2};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

static inline enum ingest_status put(service *s, const char *id, const char *text,
                                     const char *metadata) {
    fo_err err = {0};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text), .metadata = metadata};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    enum ingest_status status = r.status;
    ingest_result_deinit(&r);
    return status;
}

static inline query_request question(const char *text) {
    return (query_request){.tenant = "default",
                           .collection = "notes",
                           .query = text,
                           .top_k = 5,
                           .generate = true,
                           .strict = true,
                           .search = {.alpha = -1}};
}

/* The document of the best context, "" without one. A buffer of the thread. */
static const char *best(service *s, const char *text) {
    static _Thread_local char id[600];
    fo_err err = {0};
    query_request q = question(text);
    q.generate = false;
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    snprintf(id, sizeof id, "%s", r.n_contexts ? r.contexts[0].chunk.document_id : "");
    query_result_deinit(&r);
    return id;
}

static inline void fill(service *s, int from, int to) {
    static const char *const things[] = {"granite", "basalt", "slate", "marble", "quartz"};
    for (int i = from; i < to; i++) {
        char id[32], text[256], meta[64];
        snprintf(id, sizeof id, "doc%d", i);
        snprintf(text, sizeof text,
                 "Entry number %d describes %s found near marker%d on the northern trail.", i,
                 things[i % 5], i);
        snprintf(meta, sizeof meta, "{\"n\":%d,\"kind\":\"%s\"}", i, things[i % 5]);
        assert_int_equal(put(s, id, text, meta), INGEST_CREATED);
    }
}

#endif
