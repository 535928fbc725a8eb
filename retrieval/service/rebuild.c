/* A collection embedded anew, or its index files made anew, while the old index answers.
 *
 *   gather   chunks without a vector of this embedder, in batches of one transaction each:
 *            interrupted, it goes on where it was
 *   adopt    one transaction: the new vectors are the collection's
 *   swap     a fresh index is built from the store and takes the old one's place
 *
 * From adopt to swap nobody writes to the home; queries go on with the old index, whose files lie
 * in a folder of their own (named by the embedder). */
#include <stdlib.h>
#include <string.h>

#include "retrieval/service/service_internal.h"

enum { BATCH = 256 };

typedef struct rebuild {
    service *s;
    void (*progress)(void *ctx, size_t done, size_t total);
    void *ctx;
    size_t done, total;
} rebuild;

static void report(rebuild *r, size_t more) {
    r->done += more;
    if (r->progress) r->progress(r->ctx, r->done, r->total);
}

static int gather_batch(rebuild *r, collection *c, const int64_t *ids, size_t n, fo_err *err) {
    service *s = r->s;
    size_t dim = embedder_dim(s->embedder), m = 0;
    const char *fingerprint = embedder_fingerprint(s->embedder);
    store_chunk *chunks = calloc(n, sizeof *chunks);
    float *vectors = malloc(n * dim * sizeof *vectors);
    int64_t *there = malloc(n * sizeof *there);
    int rc = chunks && vectors && there ? store_get_chunks(s->store, ids, n, chunks, err)
                                        : fo_no_memory(err);
    for (size_t i = 0; !rc && i < n; i++) { /* one may have been deleted meanwhile */
        if (!chunks[i].id) continue;
        store_chunk k = chunks[m];
        chunks[m] = chunks[i];
        chunks[i] = k;
        there[m] = chunks[m].id;
        m++;
    }
    titled_text in[BATCH];
    for (size_t i = 0; i < m; i++)
        in[i] = (titled_text){chunks[i].title, chunks[i].text, chunks[i].text_len};
    if (!rc) rc = embed_passages(s, in, m, vectors, err);
    store_txn *t = NULL;
    if (!rc) rc = store_begin(s->store, &t, err);
    if (!rc) {
        rc = store_gather_vectors(t, c->tenant, fingerprint, there, vectors, m, (uint32_t)dim, err);
        if (!rc)
            rc = store_commit(t, err);
        else
            store_rollback(t);
    }
    for (size_t i = 0; chunks && i < n; i++) store_chunk_deinit(&chunks[i]);
    free(chunks);
    free(vectors);
    free(there);
    if (!rc) report(r, n);
    return rc;
}

static int gather(rebuild *r, collection *c, fo_err *err) {
    for (int64_t after = 0;;) {
        int64_t *ids = NULL;
        size_t n = 0;
        int rc = store_chunks_to_embed(r->s->store, c->id, embedder_fingerprint(r->s->embedder),
                                       after, BATCH, &ids, &n, err);
        if (!rc && n) {
            after = ids[n - 1];
            rc = gather_batch(r, c, ids, n, err);
        }
        free(ids);
        if (rc || n == 0) return rc;
    }
}

static int adopt(service *s, collection *c, fo_err *err) {
    store_txn *t = NULL;
    int rc = store_begin(s->store, &t, err);
    if (rc) return rc;
    rc = store_adopt_vectors(t, c->id, embedder_fingerprint(s->embedder),
                             (uint32_t)embedder_dim(s->embedder), err);
    if (!rc) return store_commit(t, err);
    store_rollback(t);
    return rc;
}

static int rebuild_collection(rebuild *r, collection *c, fo_err *err) {
    service *s = r->s;
    pthread_mutex_lock(&s->mu);
    bool gone = c->remove_files; /* deleted, or rebuilt by somebody else meanwhile */
    pthread_mutex_unlock(&s->mu);
    if (gone) return FO_OK;
    if (c->foreign_vectors) {
        int rc = gather(r, c, err);
        if (rc) return rc;
    }
    writer_take(s);
    int rc = FO_OK;
    if (c->foreign_vectors) {
        rc = gather(r, c, err); /* what came in since the last look; mostly nothing */
        if (!rc) rc = adopt(s, c, err);
    }
    if (!rc) rc = collection_renew(s, c, err);
    writer_yield(s);
    return rc;
}

int service_rebuild(service *s, const char *tenant, const char *name,
                    void (*progress)(void *ctx, size_t done, size_t total), void *ctx,
                    fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    if (s->read_only) rc = fo_fail(err, FO_EUNSUPPORTED, "this service is read-only");
    store_collection *list = NULL;
    size_t n = 0;
    bool found = false;
    rebuild r = {.s = s, .progress = progress, .ctx = ctx};
    if (!rc) rc = store_list_collections(s->store, tenant, &list, &n, err);
    for (size_t i = 0; i < n; i++)
        if (!name || strcmp(name, list[i].name) == 0) r.total += (size_t)list[i].n_chunks;
    for (size_t i = 0; !rc && i < n; i++) {
        if (name && strcmp(name, list[i].name) != 0) continue;
        found = true;
        collection *c = NULL;
        rc = collection_acquire(s, list[i].tenant, list[i].name, &c, err);
        if (rc) break;
        bool embeds = c->foreign_vectors;
        collection_wait_alone(s, c);
        pthread_mutex_lock(&s->admin_mu);
        rc = rebuild_collection(&r, c, err);
        pthread_mutex_unlock(&s->admin_mu);
        collection_release(s, c);
        if (!rc && !embeds) report(&r, (size_t)list[i].n_chunks);
    }
    if (!rc && name && !found)
        rc = fo_fail_field(err, FO_ENOTFOUND, "collection", "collection '%s' does not exist", name);
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    service_leave(s);
    return rc;
}
