/* A collection embedded anew, or its index files made anew, while the old index answers.
 *
 *   gather   chunks without a vector of this embedder, in batches of one transaction each:
 *            interrupted, it goes on where it was
 *   adopt    one transaction: the new vectors are the collection's
 *   swap     a fresh index is built from the store and takes the old one's place; where there is no memory (or no
 *            disk) for it, the old one goes on answering and the collection is half exchanged: whoever wants to bring
 *            documents in, or refines, swaps first
 *
 * From adopt to swap nobody writes to the home; queries go on with the old index, whose files lie
 * in a folder of their own (named by the embedder). */
#include <stdlib.h>
#include <string.h>

#include "retrieval/collections/service_internal.h"

enum {
    BATCH = 256,
    PIECE = 64, /* while people ask: some second of an encoder's time between two looks */
};

typedef struct rebuild {
    service *s;
    embedder *to;
    size_t piece;                            /* chunks at a time, at most BATCH */
    bool (*goes_on)(void *ctx, size_t done); /* NULL: to its end */
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
    size_t dim = embedder_dim(r->to), m = 0;
    const char *fingerprint = embedder_fingerprint(r->to);
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
    if (!rc) rc = embed_passages(r->to, in, m, vectors, err);
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
        if (r->goes_on && !r->goes_on(r->ctx, r->done))
            return fo_fail(err, FO_ECANCELLED, "cancelled");
        int rc = store_chunks_to_embed(r->s->store, c->id, embedder_fingerprint(r->to), after,
                                       r->piece, &ids, &n, err);
        if (!rc && n) {
            after = ids[n - 1];
            rc = gather_batch(r, c, ids, n, err);
        }
        free(ids);
        if (rc || n == 0) return rc;
    }
}

static int adopt(service *s, collection *c, const embedder *to, fo_err *err) {
    store_txn *t = NULL;
    int rc = store_begin(s->store, &t, err);
    if (rc) return rc;
    rc = store_adopt_vectors(t, c->id, embedder_fingerprint(to), (uint32_t)embedder_dim(to), err);
    if (!rc) return store_commit(t, err);
    store_rollback(t);
    return rc;
}

/* Somebody deleted it, or put another in its place. */
static bool is_gone(service *s, collection *c) {
    pthread_mutex_lock(&s->mu);
    bool gone = c->remove_files;
    pthread_mutex_unlock(&s->mu);
    return gone;
}

/* From here to end_exchange no documents are on their way in. wait: new ones wait, those under way are waited for, and the caller has
 * no lock that they may want; else false where there are any. */
static bool begin_exchange(service *s, bool wait) {
    pthread_mutex_lock(&s->mu);
    while (wait && s->exchanging) pthread_cond_wait(&s->idle, &s->mu);
    const bool can = !s->exchanging && (wait || !s->n_ingesting);
    if (can) s->exchanging = true;
    while (can && s->n_ingesting) pthread_cond_wait(&s->idle, &s->mu);
    pthread_mutex_unlock(&s->mu);
    return can;
}

static void end_exchange(service *s) {
    pthread_mutex_lock(&s->mu);
    s->exchanging = false;
    pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->mu);
}

static bool is_half_exchanged(service *s, const collection *c) {
    pthread_mutex_lock(&s->mu);
    const bool half = c->half_exchanged;
    pthread_mutex_unlock(&s->mu);
    return half;
}

/* With admin_mu held: what came in since the last look (mostly nothing), then new vectors and a new index at once. */
static int exchange(rebuild *r, collection *c, fo_err *err) {
    service *s = r->s;
    writer_take(s);
    int rc = FO_OK;
    bool half = is_half_exchanged(s, c);
    if (!half && c->embedder != r->to) {
        rc = gather(r, c, err);
        if (!rc) rc = adopt(s, c, r->to, err);
        half = !rc;
    }
    if (!rc) rc = collection_renew(s, c, err);
    pthread_mutex_lock(&s->mu);
    c->half_exchanged = half && rc;
    pthread_mutex_unlock(&s->mu);
    writer_yield(s);
    return rc;
}

static int rebuild_collection(rebuild *r, collection *c, fo_err *err) {
    service *s = r->s;
    const bool changes = c->embedder != r->to;
    int rc = changes && !is_half_exchanged(s, c) ? gather(r, c, err) : FO_OK;
    if (rc) return rc;
    if (changes) begin_exchange(s, true);
    pthread_mutex_lock(&s->admin_mu);
    if (!is_gone(s, c)) rc = exchange(r, c, err);
    pthread_mutex_unlock(&s->admin_mu);
    if (changes) end_exchange(s);
    return rc;
}

int collection_reembed(service *s, collection *c, embedder *to,
                       bool (*goes_on)(void *ctx, size_t done), void *ctx, fo_err *err) {
    rebuild r = {.s = s, .to = to, .piece = PIECE, .goes_on = goes_on, .ctx = ctx};
    int rc = is_half_exchanged(s, c) ? FO_OK : gather(&r, c, err);
    if (rc) return rc;
    collection_wait_alone(s, c);
    pthread_mutex_lock(&s->admin_mu);
    if (is_gone(s, c) || c->embedder == to) {
        rc = FO_OK;
    } else if (!begin_exchange(s, false)) {
        rc = fo_fail(err, FO_EBUSY, "documents are on their way in");
    } else {
        r.goes_on = NULL;
        rc = exchange(&r, c, err);
        end_exchange(s);
    }
    pthread_mutex_unlock(&s->admin_mu);
    return rc;
}

bool collection_is_half_exchanged(service *s, const store_collection *row) {
    pthread_mutex_lock(&s->mu);
    collection *c = collection_if_open(s, row->tenant, row->name);
    const bool half = c && c->half_exchanged;
    pthread_mutex_unlock(&s->mu);
    if (c) collection_release(s, c);
    return half;
}

int collection_finish_exchange(service *s, const char *tenant, const char *name, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    collection *c = collection_if_open(s, tenant, name);
    const bool half = c && c->half_exchanged;
    pthread_mutex_unlock(&s->mu);
    int rc = FO_OK;
    if (half) {
        rebuild r = {.s = s, .to = c->embedder};
        collection_wait_alone(s, c);
        begin_exchange(s, true);
        pthread_mutex_lock(&s->admin_mu);
        if (!is_gone(s, c)) rc = exchange(&r, c, err);
        pthread_mutex_unlock(&s->admin_mu);
        end_exchange(s);
    }
    if (c) collection_release(s, c);
    return rc;
}

/* What its vectors shall be of: whoever named no embedder wants those that are there. */
static embedder *wanted_for(const service *s, const collection *c) {
    return s->embedder_asked_for || !c->embedder ? s->embedder : c->embedder;
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
    rebuild r = {.s = s, .piece = BATCH, .progress = progress, .ctx = ctx};
    if (!rc) rc = store_list_collections(s->store, tenant, &list, &n, err);
    for (size_t i = 0; i < n; i++)
        if (!name || strcmp(name, list[i].name) == 0) r.total += (size_t)list[i].n_chunks;
    for (size_t i = 0; !rc && i < n; i++) {
        if (name && strcmp(name, list[i].name) != 0) continue;
        found = true;
        collection *c = NULL;
        rc = collection_acquire(s, list[i].tenant, list[i].name, &c, err);
        if (rc) break;
        r.to = wanted_for(s, c);
        bool embeds = c->embedder != r.to;
        collection_wait_alone(s, c);
        rc = rebuild_collection(&r, c, err);
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
