/* store_fixture.h - documents to fill a store with: random text, chunks that cover it, vectors. */
#ifndef FORAGE_TESTS_DATA_STORE_FIXTURE_H
#define FORAGE_TESTS_DATA_STORE_FIXTURE_H

#include "tests/test.h"

#include "data/store/store.h"

#define FIXTURE_DIM      8
#define FIXTURE_EMBEDDER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

typedef struct fixture_document {
    char id[32], title[32];
    char *text;
    store_chunk_in *chunks;
    float *vectors;
    size_t n_chunks;
    store_document_in in;
} fixture_document;

/* Document "doc-<number>" with `size` bytes of text, new content for every state of the seed. */
static inline void fixture_make(fixture_document *d, int64_t collection, size_t number, size_t size,
                                uint64_t *seed) {
    enum { CHUNK = 700 };
    memset(d, 0, sizeof *d);
    snprintf(d->id, sizeof d->id, "doc-%zu", number);
    snprintf(d->title, sizeof d->title, "Title %zu", number);
    d->text = malloc(size + 1);
    assert_non_null(d->text);
    for (size_t i = 0; i < size; i++) d->text[i] = (char)('a' + test_random(seed) % 26);
    d->text[size] = 0;
    d->n_chunks = (size + CHUNK - 1) / CHUNK;
    d->chunks = calloc(d->n_chunks + 1, sizeof *d->chunks);
    d->vectors = calloc(d->n_chunks * FIXTURE_DIM + 1, sizeof *d->vectors);
    assert_non_null(d->chunks);
    assert_non_null(d->vectors);
    for (size_t i = 0; i < d->n_chunks; i++) {
        store_chunk_in *c = &d->chunks[i];
        c->start = c->start_cp = i * CHUNK;
        c->end = c->end_cp = (i + 1) * CHUNK < size ? (i + 1) * CHUNK : size;
        c->n_tokens = 100;
        if (i % 2) c->heading_end = size < 10 ? size : 10;
        c->vector = d->vectors + i * FIXTURE_DIM;
        d->vectors[i * FIXTURE_DIM + i % FIXTURE_DIM] = 1;
    }
    d->in = (store_document_in){.collection = collection,
                                .id = d->id,
                                .title = d->title,
                                .metadata = "{\"k\":1}",
                                .text = d->text,
                                .text_len = size,
                                .embedder = FIXTURE_EMBEDDER,
                                .dim = FIXTURE_DIM};
    for (int i = 0; i < 32; i++) d->in.content_sha256[i] = (unsigned char)test_random(seed);
}

static inline void fixture_free(fixture_document *d) {
    free(d->text);
    free(d->chunks);
    free(d->vectors);
}

/* Put it in a transaction of its own. */
static inline int fixture_put(store *s, const fixture_document *d, store_put_result *res,
                              fo_err *err) {
    store_txn *t;
    int rc = store_begin(s, &t, err);
    if (rc) return rc;
    rc = store_put_document(t, &d->in, d->chunks, d->n_chunks, res, err);
    if (rc) {
        store_rollback(t);
        return rc;
    }
    rc = store_commit(t, err);
    if (rc) free(res->removed);
    return rc;
}

#endif
