/* memory_documents.h - of the store in memory (memory_store.h): documents with their chunks, how they are read, and the
 * vectors that are gathered for another embedder. */
#ifndef FORAGE_TESTS_DATA_MEMORY_DOCUMENTS_H
#define FORAGE_TESTS_DATA_MEMORY_DOCUMENTS_H

#include "tests/data/store/memory_state.h"

/* ---- documents --------------------------------------------------------------------------- */

static inline int memory_make_document(memory_world *w, const store_document_in *in,
                                       const store_chunk_in *chunks, size_t n,
                                       const memory_document *old, memory_document **out,
                                       fo_err *err) {
    memory_document *d = calloc(1, sizeof *d);
    if (!d) return fo_no_memory(err);
    d->id = old ? old->id : ++w->last_id;
    d->collection = in->collection;
    memcpy(d->sha256, in->content_sha256, 32);
    d->d = (store_document){.rowid = d->id,
                            .id = strdup(in->id),
                            .title = memory_copy(in->title),
                            .uri = memory_copy(in->uri),
                            .content_type = memory_copy(in->content_type),
                            .metadata = memory_copy(in->metadata),
                            .updated_ms = fo_unix_ms(),
                            .text_bytes = in->text_len,
                            .text = malloc(in->text_len + 1)};
    d->d.created_ms = old ? old->d.created_ms : d->d.updated_ms;
    for (int i = 0; i < 32; i++) snprintf(d->d.content_sha256 + 2 * i, 3, "%02x", d->sha256[i]);
    d->chunks = calloc(n + 1, sizeof *d->chunks);
    bool room = d->d.text && d->d.id && d->chunks;
    if (d->d.text) memcpy(d->d.text, in->text ? in->text : "", in->text_len);
    if (d->d.text) d->d.text[in->text_len] = 0;
    for (size_t i = 0; room && i < n; i++) {
        memory_chunk *c = &d->chunks[d->d.n_chunks++];
        *c = (memory_chunk){.id = ++w->last_id, .in = chunks[i], .dim = in->dim};
        c->in.vector = NULL;
        c->vector = malloc(in->dim * sizeof(float) + 1);
        room = c->vector != NULL;
        if (room) memcpy(c->vector, chunks[i].vector, in->dim * sizeof(float));
    }
    if (!room) return memory_row_free(&d->row, MEMORY_DOCUMENT), fo_no_memory(err);
    *out = d;
    return FO_OK;
}

static inline int memory_list_ids(const memory_document *d, int64_t **ids, size_t *n, fo_err *err) {
    *n = 0;
    *ids = d->d.n_chunks ? malloc(d->d.n_chunks * sizeof **ids) : NULL;
    if (d->d.n_chunks && !*ids) return fo_no_memory(err);
    for (; *n < d->d.n_chunks; ++*n) (*ids)[*n] = d->chunks[*n].id;
    return FO_OK;
}

static inline int memory_put_document(store_txn *base, const store_document_in *doc,
                                      const store_chunk_in *chunks, size_t n, store_put_result *out,
                                      fo_err *err) {
    memory_txn *t = (memory_txn *)base;
    *out = (store_put_result){0};
    for (size_t i = 0; i < n; i++)
        if (chunks[i].start > chunks[i].end || chunks[i].end > doc->text_len ||
            chunks[i].heading_start > chunks[i].heading_end ||
            chunks[i].heading_end > doc->text_len || !chunks[i].vector)
            return fo_fail(err, FO_EINVAL, "chunk %zu has no vector or leaves the text", i);
    size_t ci = memory_find_collection(t->state, NULL, NULL, doc->collection);
    if (ci == t->state->of[MEMORY_COLLECTION].n)
        return fo_fail_field(err, FO_ENOTFOUND, "collection", "the collection does not exist");
    size_t at = memory_find_document(t->state, doc->collection, doc->id);
    const memory_document *old =
        at < t->state->of[MEMORY_DOCUMENT].n ? memory_document_at(t->state, at) : NULL;
    if (old && !memcmp(old->sha256, doc->content_sha256, 32)) {
        *out = (store_put_result){.status = STORE_UNCHANGED, .document = old->id};
        return FO_OK;
    }
    const store_collection *now = &memory_collection_at(t->state, ci)->c;
    int64_t going = old ? (int64_t)old->d.n_chunks : 0;
    if (n && now->n_chunks > going &&
        (strcmp(now->embedder, doc->embedder) || now->dim != doc->dim))
        return fo_fail(err, FO_EMISMATCH, "collection '%s' holds vectors of another embedder",
                       now->name);
    memory_document *made = NULL;
    store_collection *c = NULL;
    int rc = memory_make_document(t->world, doc, chunks, n, old, &made, err);
    if (rc) return rc;
    *out = (store_put_result){
        .status = old ? STORE_UPDATED : STORE_CREATED,
        .document = made->id,
        .first_chunk = n ? made->chunks[0].id : 0,
        .retitled = old && strcmp(old->d.title ? old->d.title : "", doc->title ? doc->title : "")};
    if (old) rc = memory_list_ids(old, &out->removed, &out->n_removed, err);
    if (!rc) rc = memory_touch(t, doc->collection, &c, err);
    if (!rc) rc = memory_count(c, old ? 0 : 1, (int64_t)n - going, err);
    char *fingerprint = rc ? NULL : strdup(doc->embedder);
    if (!rc && !fingerprint) rc = fo_no_memory(err);
    if (!rc) rc = memory_put(t, MEMORY_DOCUMENT, at, &made->row, err);
    if (rc) {
        free(fingerprint);
        free(out->removed);
        *out = (store_put_result){0};
        return memory_row_free(&made->row, MEMORY_DOCUMENT), rc;
    }
    if (!n) return free(fingerprint), FO_OK;
    free(c->embedder);
    c->embedder = fingerprint;
    c->dim = doc->dim;
    return FO_OK;
}

static inline int memory_delete_document(store_txn *base, int64_t collection, const char *id,
                                         const unsigned char *sha256, int64_t **removed,
                                         size_t *n_removed, fo_err *err) {
    memory_txn *t = (memory_txn *)base;
    *removed = NULL;
    *n_removed = 0;
    size_t at = memory_find_document(t->state, collection, id);
    if (at == t->state->of[MEMORY_DOCUMENT].n)
        return fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id);
    const memory_document *d = memory_document_at(t->state, at);
    if (sha256 && memcmp(d->sha256, sha256, 32))
        return fo_fail_field(err, FO_ECONFLICT, "id", "document '%s' has changed meanwhile", id);
    store_collection *c = NULL;
    int rc = memory_list_ids(d, removed, n_removed, err);
    if (!rc) rc = memory_touch(t, collection, &c, err);
    if (!rc) rc = memory_count(c, -1, -(int64_t)d->d.n_chunks, err);
    return rc ? rc : memory_put(t, MEMORY_DOCUMENT, at, NULL, err);
}

/* ---- reading ----------------------------------------------------------------------------- */

static inline int memory_document_unchanged(store *s, int64_t collection, const char *id,
                                            const unsigned char sha256[32], bool *unchanged,
                                            size_t *n_chunks, fo_err *err) {
    (void)err;
    memory_state *st = memory_hold(memory_of(s));
    size_t i = memory_find_document(st, collection, id);
    *unchanged =
        i < st->of[MEMORY_DOCUMENT].n && !memcmp(memory_document_at(st, i)->sha256, sha256, 32);
    *n_chunks = *unchanged ? memory_document_at(st, i)->d.n_chunks : 0;
    memory_release(memory_of(s), st);
    return FO_OK;
}

static inline store_document memory_copy_document(const store_document *d, bool with_text) {
    store_document out = *d;
    out.id = strdup(d->id);
    out.title = memory_copy(d->title);
    out.uri = memory_copy(d->uri);
    out.content_type = memory_copy(d->content_type);
    out.metadata = memory_copy(d->metadata);
    out.text = with_text ? malloc(d->text_bytes + 1) : NULL;
    if (out.text) memcpy(out.text, d->text, d->text_bytes + 1);
    return out;
}

static inline int memory_get_document(store *s, int64_t collection, const char *id, bool with_text,
                                      store_document *out, fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    size_t i = memory_find_document(st, collection, id);
    int rc = i == st->of[MEMORY_DOCUMENT].n
                 ? fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id)
                 : FO_OK;
    if (!rc) *out = memory_copy_document(&memory_document_at(st, i)->d, with_text);
    memory_release(memory_of(s), st);
    return rc;
}

static inline int memory_txn_get_document(store_txn *base, int64_t collection, const char *id,
                                          store_document *out, fo_err *err) {
    memory_txn *t = (memory_txn *)base;
    size_t i = memory_find_document(t->state, collection, id);
    if (i == t->state->of[MEMORY_DOCUMENT].n)
        return fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id);
    *out = memory_copy_document(&memory_document_at(t->state, i)->d, false);
    return FO_OK;
}

static inline int memory_by_id(const void *x, const void *y) {
    return strcmp((*(memory_document *const *)x)->d.id, (*(memory_document *const *)y)->d.id);
}

static inline int memory_list_documents(store *s, int64_t collection, const char *after,
                                        size_t limit, store_document **out, size_t *n,
                                        bool *has_more, fo_err *err) {
    *n = 0;
    *has_more = false;
    if (limit < 1 || limit > 100000)
        return fo_fail_field(err, FO_EINVAL, "limit", "limit must be between 1 and 100000");
    memory_state *st = memory_hold(memory_of(s));
    size_t all = st->of[MEMORY_DOCUMENT].n, count = 0;
    memory_document **list = calloc(all + 1, sizeof *list);
    *out = calloc(limit, sizeof **out);
    int rc = list && *out ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < all; i++) {
        memory_document *d = memory_document_at(st, i);
        if (d->collection == collection && (!after || strcmp(d->d.id, after) > 0))
            list[count++] = d;
    }
    if (!rc) qsort(list, count, sizeof *list, memory_by_id);
    for (; !rc && *n < count && *n < limit; ++*n)
        (*out)[*n] = memory_copy_document(&list[*n]->d, false);
    *has_more = count > limit;
    memory_release(memory_of(s), st);
    free(list);
    if (rc) free(*out), *out = NULL;
    return rc;
}

static inline void memory_copy_chunk(const memory_document *d, const memory_chunk *c,
                                     size_t ordinal, store_chunk *out) {
    enum { BEFORE = 512 };
    const store_chunk_in *in = &c->in;
    size_t from = in->start > BEFORE ? in->start - BEFORE : 0;
    while (from < in->start && !fo_utf8_boundary(d->d.text[from])) from++;
    size_t heading = in->heading_end - in->heading_start;
    char *text = malloc(in->end - from + 1);
    *out =
        (store_chunk){.id = c->id,
                      .document = d->id,
                      .ordinal = ordinal,
                      .start = in->start,
                      .end = in->end,
                      .start_cp = in->start_cp,
                      .end_cp = in->end_cp,
                      .text_len = in->end - in->start,
                      .n_before = in->start - from,
                      .heading = heading ? strndup(d->d.text + in->heading_start, heading) : NULL,
                      .document_id = strdup(d->d.id),
                      .title = memory_copy(d->d.title),
                      .uri = memory_copy(d->d.uri),
                      .metadata = memory_copy(d->d.metadata)};
    memcpy(text, d->d.text + from, in->end - from);
    text[in->end - from] = 0;
    out->text = text + out->n_before;
}

static inline int memory_get_chunks(store *s, const int64_t *ids, size_t n, store_chunk *out,
                                    fo_err *err) {
    (void)err;
    memory_state *st = memory_hold(memory_of(s));
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < st->of[MEMORY_DOCUMENT].n; k++) {
            const memory_document *d = memory_document_at(st, k);
            if (!d->d.n_chunks || ids[i] < d->chunks[0].id) continue;
            size_t at = (size_t)(ids[i] - d->chunks[0].id);
            if (at < d->d.n_chunks) memory_copy_chunk(d, &d->chunks[at], at, &out[i]);
        }
    memory_release(memory_of(s), st);
    return FO_OK;
}

static inline int memory_get_text(store *s, int64_t document, size_t start, size_t end, char *out,
                                  fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    bool found = false;
    for (size_t k = 0; k < st->of[MEMORY_DOCUMENT].n && !found; k++) {
        const memory_document *d = memory_document_at(st, k);
        found = d->id == document && start <= end && end <= d->d.text_bytes;
        if (found) memcpy(out, d->d.text + start, end - start);
    }
    memory_release(memory_of(s), st);
    return found ? FO_OK
                 : fo_fail(err, FO_ECORRUPT, "document %lld has no such text", (long long)document);
}

typedef struct memory_place {
    const memory_document *d;
    const memory_chunk *c;
} memory_place;

static inline int memory_by_chunk(const void *x, const void *y) {
    int64_t a = ((const memory_place *)x)->c->id, b = ((const memory_place *)y)->c->id;
    return (a > b) - (a < b);
}

/* The chunks of a collection with id > after, in order of id. Caller frees *out. */
static inline int memory_places(const memory_state *st, int64_t collection, int64_t after,
                                memory_place **out, size_t *n, int64_t *epoch, fo_err *err) {
    size_t cap = 0, at = memory_find_collection(st, NULL, NULL, collection);
    if (at == st->of[MEMORY_COLLECTION].n)
        return fo_fail(err, FO_ENOTFOUND, "the collection does not exist");
    if (epoch) *epoch = memory_collection_at(st, at)->c.epoch;
    for (size_t k = 0; k < st->of[MEMORY_DOCUMENT].n; k++)
        cap += memory_document_at(st, k)->d.n_chunks;
    *n = 0;
    *out = malloc((cap + 1) * sizeof **out);
    if (!*out) return fo_no_memory(err);
    for (size_t k = 0; k < st->of[MEMORY_DOCUMENT].n; k++) {
        const memory_document *d = memory_document_at(st, k);
        for (size_t i = 0; d->collection == collection && i < d->d.n_chunks; i++)
            if (d->chunks[i].id > after) (*out)[(*n)++] = (memory_place){d, &d->chunks[i]};
    }
    qsort(*out, *n, sizeof **out, memory_by_chunk);
    return FO_OK;
}

static inline int memory_each_chunk(store *s, int64_t collection, int64_t after, store_index_fn *fn,
                                    void *ctx, int64_t *epoch, fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    memory_place *list = NULL;
    size_t n = 0;
    int rc = memory_places(st, collection, after, &list, &n, epoch, err);
    for (size_t i = 0; !rc && i < n; i++) {
        const memory_document *d = list[i].d;
        const memory_chunk *c = list[i].c;
        size_t len = c->in.end - c->in.start;
        char *text = strndup(d->d.text + c->in.start, len); /* ends with a NUL, as readers expect */
        store_index_row row = {.chunk = c->id,
                               .document = d->id,
                               .title = d->d.title ? d->d.title : "",
                               .text = text,
                               .text_len = len,
                               .metadata = d->d.metadata ? d->d.metadata : "",
                               .vector = c->vector,
                               .dim = c->dim};
        rc = text ? fn(ctx, &row) : fo_no_memory(err);
        free(text);
    }
    free(list);
    memory_release(memory_of(s), st);
    return rc;
}

static inline int memory_chunk_ids(store *s, int64_t collection, int64_t **ids, int64_t **documents,
                                   size_t *n, int64_t *epoch, fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    memory_place *list = NULL;
    *n = 0;
    *ids = NULL;
    if (documents) *documents = NULL;
    int rc = memory_places(st, collection, INT64_MIN, &list, n, epoch, err);
    if (!rc && *n) {
        *ids = malloc(*n * sizeof **ids);
        if (documents) *documents = malloc(*n * sizeof **documents);
        if (!*ids || (documents && !*documents)) rc = fo_no_memory(err);
    }
    for (size_t i = 0; !rc && i < *n; i++) {
        (*ids)[i] = list[i].c->id;
        if (documents) (*documents)[i] = list[i].d->id;
    }
    free(list);
    memory_release(memory_of(s), st);
    return rc;
}

/* ---- another embedder -------------------------------------------------------------------- */

static inline size_t memory_find_vector(const memory_state *st, int64_t chunk,
                                        const char *fingerprint) {
    const memory_list *l = &st->of[MEMORY_VECTOR];
    for (size_t i = 0; i < l->n; i++) {
        const memory_vector *v = (const memory_vector *)l->rows[i];
        if (v->chunk == chunk && (!fingerprint || !strcmp(v->embedder, fingerprint))) return i;
    }
    return l->n;
}

static inline int memory_chunks_to_embed(store *s, int64_t collection, const char *fingerprint,
                                         int64_t after, size_t limit, int64_t **ids, size_t *n,
                                         fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    memory_place *list = NULL;
    size_t all = 0;
    *n = 0;
    *ids = calloc(limit + 1, sizeof **ids);
    int rc =
        *ids ? memory_places(st, collection, after, &list, &all, NULL, err) : fo_no_memory(err);
    for (size_t i = 0; !rc && i < all && *n < limit; i++)
        if (memory_find_vector(st, list[i].c->id, fingerprint) == st->of[MEMORY_VECTOR].n)
            (*ids)[(*n)++] = list[i].c->id;
    free(list);
    memory_release(memory_of(s), st);
    if (rc) free(*ids), *ids = NULL;
    return rc;
}

static inline int memory_gather_vectors(store_txn *base, const char *tenant,
                                        const char *fingerprint, const int64_t *ids,
                                        const float *vectors, size_t n, uint32_t dim, fo_err *err) {
    (void)tenant;
    memory_txn *t = (memory_txn *)base;
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        memory_vector *v = calloc(1, sizeof *v);
        float *copy = malloc(dim * sizeof *copy + 1);
        if (!v || !copy) return free(v), free(copy), fo_no_memory(err);
        *v = (memory_vector){.chunk = ids[i], .dim = dim, .v = copy};
        snprintf(v->embedder, sizeof v->embedder, "%s", fingerprint);
        memcpy(copy, vectors + i * dim, dim * sizeof *copy);
        rc = memory_put(t, MEMORY_VECTOR, memory_find_vector(t->state, ids[i], NULL), &v->row, err);
    }
    return rc;
}

static inline int memory_adopt_vectors(store_txn *base, int64_t collection, const char *fingerprint,
                                       uint32_t dim, fo_err *err) {
    memory_txn *t = (memory_txn *)base;
    int rc = FO_OK;
    for (size_t k = 0; k < t->state->of[MEMORY_DOCUMENT].n; k++) {
        const memory_document *d = memory_document_at(t->state, k);
        for (size_t i = 0; d->collection == collection && i < d->d.n_chunks; i++)
            if (memory_find_vector(t->state, d->chunks[i].id, fingerprint) ==
                t->state->of[MEMORY_VECTOR].n)
                return fo_fail(err, FO_ECONFLICT, "chunks have no vector of the new embedder yet");
    }
    for (size_t k = 0; !rc && k < t->state->of[MEMORY_DOCUMENT].n; k++) {
        const memory_document *d = memory_document_at(t->state, k);
        if (d->collection != collection || !d->d.n_chunks) continue;
        memory_document *copy = calloc(1, sizeof *copy);
        memory_chunk *chunks = calloc(d->d.n_chunks, sizeof *chunks);
        if (!copy || !chunks) return free(copy), free(chunks), fo_no_memory(err);
        *copy = *d;
        copy->row = (memory_row){0};
        copy->d = memory_copy_document(&d->d, true);
        copy->chunks = chunks;
        for (size_t i = 0; i < d->d.n_chunks; i++) {
            size_t at = memory_find_vector(t->state, d->chunks[i].id, fingerprint);
            memory_vector *v = (memory_vector *)t->state->of[MEMORY_VECTOR].rows[at];
            chunks[i] = d->chunks[i];
            chunks[i].dim = dim;
            chunks[i].vector = malloc(dim * sizeof(float) + 1);
            if (chunks[i].vector) memcpy(chunks[i].vector, v->v, dim * sizeof(float));
            if (!rc)
                rc = chunks[i].vector ? memory_put(t, MEMORY_VECTOR, at, NULL, err)
                                      : fo_no_memory(err);
        }
        if (rc)
            memory_row_free(&copy->row, MEMORY_DOCUMENT);
        else
            rc = memory_put(t, MEMORY_DOCUMENT, k, &copy->row, err);
    }
    store_collection *c = NULL;
    if (!rc) rc = memory_touch(t, collection, &c, err);
    char *name = rc || !c->n_chunks ? NULL : strdup(fingerprint);
    if (name) {
        free(c->embedder);
        c->embedder = name;
        c->dim = dim;
        c->alpha = c->min_support = -1;
    }
    return rc;
}

#endif
