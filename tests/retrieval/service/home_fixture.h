/* home_fixture.h - a service over a home, documents that go into it, and samples of files. */
#ifndef FORAGE_TESTS_HOME_FIXTURE_H
#define FORAGE_TESTS_HOME_FIXTURE_H

#include "kernels/file.h"
#include "retrieval/service/service.h"
#include "tests/test.h"

static inline service *open_home_with(service_options opt) {
    fo_err err = {0};
    service *s = NULL;
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

static inline service *open_home(const char *home) {
    return open_home_with((service_options){.home = home, .n_threads = 2, .primes_per_s = -1});
}

/* What became of it: it has not failed. */
static inline enum ingest_status ingest_one(service *s, const ingest_options *into,
                                            const ingest_document *d) {
    fo_err err = {0};
    ingest_result r;
    assert_ok(service_ingest(s, into, d, 1, &r, NULL, &err), &err);
    enum ingest_status status = r.status;
    ingest_result_deinit(&r);
    assert_int_not_equal(status, INGEST_FAILED);
    return status;
}

static inline void put(service *s, const char *where, const char *id, const char *bytes, size_t n,
                       size_t max_tokens) {
    ingest_options into = {.tenant = "default",
                           .collection = where,
                           .overlap = max_tokens / 8,
                           .max_tokens = max_tokens};
    ingest_document d = {.id = id, .file_name = id, .bytes = bytes, .n_bytes = n};
    ingest_one(s, &into, &d);
}

/* A file into "notes", in chunks of the usual size; file_name NULL: a text. */
static inline enum ingest_status put_note(service *s, const char *id, const char *file_name,
                                          const char *bytes, size_t n) {
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .file_name = file_name, .bytes = bytes, .n_bytes = n};
    return ingest_one(s, &into, &d);
}

/* Of tests/data/formats; freed by the caller. */
static inline char *read_sample(const char *name, size_t *n) {
    char path[256], *bytes;
    fo_err err = {0};
    snprintf(path, sizeof path, "tests/data/formats/%s", name);
    assert_ok(fo_file_read(path, 64 << 20, &bytes, n, &err), &err);
    return bytes;
}

#endif
