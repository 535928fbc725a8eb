/* unique_chunks_fixture.h - an index of chunks that each have a word, a vector and metadata of their own, and whether they
 * are found by them. */
#ifndef FORAGE_TESTS_UNIQUE_CHUNKS_FIXTURE_H
#define FORAGE_TESTS_UNIQUE_CHUNKS_FIXTURE_H

#include <math.h>

#include "index/search/search_index.h"
#include "tests/test.h"

enum { DIM = 16 };

static inline search_index_options options(size_t seal_chunks) {
    return (search_index_options){.dim = DIM,
                                  .fingerprint = "feed",
                                  .tenant = "default",
                                  .ef_construction = 40,
                                  .seed = 7,
                                  .seal_chunks = seal_chunks};
}

static inline search_index *open_index(const char *dir, size_t seal_chunks, size_t expect_dropped) {
    search_index *ix;
    fo_err err = {0};
    size_t dropped;
    search_index_options o = options(seal_chunks);
    assert_ok(search_index_open(&ix, dir, &o, &dropped, &err), &err);
    assert_int_equal(dropped, expect_dropped);
    return ix;
}

/* A vector that belongs to the chunk alone. */
static inline void vector_of(int64_t chunk, float *v) {
    uint64_t seed = (uint64_t)chunk * 977;
    double norm = 0;
    for (int i = 0; i < DIM; i++) {
        v[i] = (float)(test_uniform(&seed) - 0.5);
        norm += (double)v[i] * (double)v[i];
    }
    for (int i = 0; i < DIM; i++) v[i] = (float)(v[i] / sqrt(norm));
}

static inline void add(search_index *ix, int64_t chunk) {
    char text[256], meta[128];
    float v[DIM];
    fo_err err = {0};
    vector_of(chunk, v);
    snprintf(text, sizeof text, "the unique%lld word of shared%lld and common things %s",
             (long long)chunk, (long long)(chunk % 10), chunk % 3 ? "odd odd odd" : "even");
    snprintf(meta, sizeof meta, "{\"n\":%lld,\"tag\":[\"t%lld\",\"all\"]}", (long long)chunk,
             (long long)(chunk % 7));
    search_chunk_in c = {.chunk = chunk,
                         .document = chunk / 2,
                         .title = "A title",
                         .text = text,
                         .text_len = strlen(text),
                         .metadata = meta,
                         .vector = v};
    assert_ok(search_index_add(ix, &c, &err), &err);
}

static inline void publish(search_index *ix, int64_t epoch) {
    fo_err err = {0};
    assert_ok(search_index_publish(ix, epoch, &err), &err);
}

static inline bool sparse_finds(search_snapshot *s, int64_t chunk) {
    char query[64];
    search_hit hit;
    size_t n;
    fo_err err = {0};
    snprintf(query, sizeof query, "unique%lld", (long long)chunk);
    assert_ok(search_sparse(s, query, 1, NULL, &hit, &n, &err), &err);
    if (n) assert_true(hit.chunk == chunk && hit.document == chunk / 2 && hit.score > 0);
    return n == 1;
}

static inline bool dense_finds(search_snapshot *s, int64_t chunk) {
    float v[DIM];
    search_hit hit = {0};
    size_t n;
    fo_err err = {0};
    vector_of(chunk, v);
    assert_ok(search_dense(s, v, 1, 0, NULL, &hit, &n, &err), &err);
    return n == 1 && hit.chunk == chunk && hit.score > 0.99f;
}

#endif
