/* home_fixture.h - a service over a home, and documents in chunks of a given size. */
#ifndef FORAGE_TESTS_HOME_FIXTURE_H
#define FORAGE_TESTS_HOME_FIXTURE_H

#include "retrieval/service/service.h"
#include "tests/test.h"

static service *open_home(const char *home) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home, .n_threads = 2, .primes_per_s = -1};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

static void put(service *s, const char *where, const char *id, const char *bytes, size_t n,
                size_t max_tokens) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default",
                           .collection = where,
                           .overlap = max_tokens / 8,
                           .max_tokens = max_tokens};
    ingest_document d = {.id = id, .file_name = id, .bytes = bytes, .n_bytes = n};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    assert_int_not_equal(r.status, INGEST_FAILED);
    ingest_result_deinit(&r);
}

#endif
