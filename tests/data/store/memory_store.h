/* memory_store.h - a second store, small and in memory: what proves that the first one lies behind
 * store.h, and a model for who makes a third.
 *
 * A home's store is a world that lives until memory_store_forget, over closing and opening. What is
 * committed is a state that never changes: rows (collections, documents, gathered vectors) with a count
 * of their users each. A reader holds the state it found; a transaction works on a copy of the lists
 * and puts it in the state's place when it commits. Jobs and keys change where they lie, under the
 * lock. It keeps no log of queries, no digests and no copies: those functions are left out. */
#ifndef FORAGE_TESTS_DATA_MEMORY_STORE_H
#define FORAGE_TESTS_DATA_MEMORY_STORE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/store/store_backend.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"

/* ---- rows -------------------------------------------------------------------------------- */

typedef struct memory_row { /* at the begin of each; guarded by the world's lock */
    int users;
} memory_row;

typedef struct memory_collection {
    memory_row row;
    store_collection c;
} memory_collection;

typedef struct memory_chunk {
    int64_t id;
    store_chunk_in in;
    float *vector; /* owned */
    uint32_t dim;
} memory_chunk;

typedef struct memory_document {
    memory_row row;
    int64_t id, collection;
    store_document d; /* with its text */
    unsigned char sha256[32];
    memory_chunk *chunks; /* [d.n_chunks] */
} memory_document;

typedef struct memory_vector { /* gathered for another embedder */
    memory_row row;
    int64_t chunk;
    char embedder[65];
    uint32_t dim;
    float *v;
} memory_vector;

enum memory_kind { MEMORY_COLLECTION, MEMORY_DOCUMENT, MEMORY_VECTOR, MEMORY_KINDS };

typedef struct memory_list {
    memory_row **rows;
    size_t n;
} memory_list;

typedef struct memory_state {
    int users; /* guarded by the world's lock */
    memory_list of[MEMORY_KINDS];
} memory_state;

typedef struct memory_job {
    store_job j;
    struct memory_job *next;
} memory_job;

typedef struct memory_key {
    char *tenant, *route, *key, *response; /* response NULL while it runs */
    unsigned char sha256[32];
    int status;
    struct memory_key *next;
} memory_key;

typedef struct memory_world {
    struct memory_world *next;
    char *home;
    pthread_mutex_t mu;
    pthread_cond_t turn;
    bool writing;        /* guarded by mu */
    memory_state *state; /* guarded by mu: what is committed */
    int64_t last_id;     /* owned: who writes; of documents, chunks, collections */
    memory_job *jobs;    /* guarded by mu */
    memory_key *keys;    /* guarded by mu */
    int64_t n_jobs;
} memory_world;

typedef struct memory_store {
    store base;
    memory_world *world;
    bool read_only;
} memory_store;

typedef struct memory_txn {
    store_txn base;
    memory_world *world;
    memory_state *state; /* its own */
    int64_t touched[64];
    size_t n_touched;
} memory_txn;

static memory_world *memory_worlds;
static pthread_mutex_t memory_worlds_mu = PTHREAD_MUTEX_INITIALIZER;

static inline memory_world *memory_of(store *s) {
    return ((memory_store *)s)->world;
}

static inline char *memory_copy(const char *s) {
    return s ? strdup(s) : NULL;
}

static inline void memory_row_free(memory_row *row, int kind) {
    if (kind == MEMORY_COLLECTION) {
        store_collection_deinit(&((memory_collection *)row)->c);
    } else if (kind == MEMORY_DOCUMENT) {
        memory_document *d = (memory_document *)row;
        for (size_t i = 0; i < d->d.n_chunks; i++) free(d->chunks[i].vector);
        free(d->chunks);
        store_document_deinit(&d->d);
    } else {
        free(((memory_vector *)row)->v);
    }
    free(row);
}

/* The lock is held. */
static inline void memory_drop_state(memory_state *s) {
    if (!s || --s->users) return;
    for (int k = 0; k < MEMORY_KINDS; k++) {
        for (size_t i = 0; i < s->of[k].n; i++)
            if (--s->of[k].rows[i]->users == 0) memory_row_free(s->of[k].rows[i], k);
        free(s->of[k].rows);
    }
    free(s);
}

static inline memory_state *memory_hold(memory_world *w) {
    pthread_mutex_lock(&w->mu);
    memory_state *s = w->state;
    s->users++;
    pthread_mutex_unlock(&w->mu);
    return s;
}

static inline void memory_release(memory_world *w, memory_state *s) {
    pthread_mutex_lock(&w->mu);
    memory_drop_state(s);
    pthread_mutex_unlock(&w->mu);
}

/* Of a transaction's own state: row comes, or takes the place of row `at`; NULL: `at` goes. */
static inline int memory_put(memory_txn *t, int kind, size_t at, memory_row *row, fo_err *err) {
    memory_list *l = &t->state->of[kind];
    if (at == l->n) {
        memory_row **grown = realloc(l->rows, (l->n + 1) * sizeof *grown);
        if (!grown) return fo_no_memory(err);
        l->rows = grown;
        l->n++;
    } else {
        pthread_mutex_lock(&t->world->mu);
        if (--l->rows[at]->users == 0) memory_row_free(l->rows[at], kind);
        pthread_mutex_unlock(&t->world->mu);
    }
    if (row)
        l->rows[at] = row, row->users = 1;
    else
        l->rows[at] = l->rows[--l->n];
    return FO_OK;
}

static inline memory_collection *memory_collection_at(const memory_state *s, size_t i) {
    return (memory_collection *)s->of[MEMORY_COLLECTION].rows[i];
}
static inline memory_document *memory_document_at(const memory_state *s, size_t i) {
    return (memory_document *)s->of[MEMORY_DOCUMENT].rows[i];
}

/* n of the kind where there is none. */
static inline size_t memory_find_collection(const memory_state *s, const char *tenant,
                                            const char *name, int64_t id) {
    size_t n = s->of[MEMORY_COLLECTION].n;
    for (size_t i = 0; i < n; i++) {
        const store_collection *c = &memory_collection_at(s, i)->c;
        if (name ? !strcmp(c->tenant, tenant) && !strcmp(c->name, name) : c->id == id) return i;
    }
    return n;
}
static inline size_t memory_find_document(const memory_state *s, int64_t collection,
                                          const char *id) {
    size_t n = s->of[MEMORY_DOCUMENT].n;
    for (size_t i = 0; i < n; i++) {
        const memory_document *d = memory_document_at(s, i);
        if (d->collection == collection && !strcmp(d->d.id, id)) return i;
    }
    return n;
}

static inline int memory_no_collection(fo_err *err, const char *name) {
    return fo_fail_field(err, FO_ENOTFOUND, "collection", "collection '%s' does not exist", name);
}

/* ---- collections ------------------------------------------------------------------------- */

static inline int memory_copy_collection(store_collection *out, const store_collection *c,
                                         fo_err *err) {
    store_collection copy = *c;
    copy.tenant = strdup(c->tenant);
    copy.name = strdup(c->name);
    copy.language = strdup(c->language);
    copy.embedder = strdup(c->embedder);
    if (copy.tenant && copy.name && copy.language && copy.embedder) return *out = copy, FO_OK;
    store_collection_deinit(&copy);
    return fo_no_memory(err);
}

/* A copy to change, in its place in the transaction's state. */
static inline int memory_own_collection(memory_txn *t, int64_t id, store_collection **out,
                                        fo_err *err) {
    size_t at = memory_find_collection(t->state, NULL, NULL, id);
    if (at == t->state->of[MEMORY_COLLECTION].n)
        return fo_fail_field(err, FO_ENOTFOUND, "collection", "the collection does not exist");
    memory_collection *mine = calloc(1, sizeof *mine);
    if (!mine) return fo_no_memory(err);
    int rc = memory_copy_collection(&mine->c, &memory_collection_at(t->state, at)->c, err);
    if (rc) return free(mine), rc;
    *out = &mine->c;
    return memory_put(t, MEMORY_COLLECTION, at, &mine->row, err);
}

static inline int memory_get_collection(store *s, const char *tenant, const char *name,
                                        store_collection *out, fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    size_t i = memory_find_collection(st, tenant, name, 0);
    int rc = i == st->of[MEMORY_COLLECTION].n
                 ? memory_no_collection(err, name)
                 : memory_copy_collection(out, &memory_collection_at(st, i)->c, err);
    memory_release(memory_of(s), st);
    return rc;
}

static inline int memory_by_name(const void *x, const void *y) {
    const store_collection *a = x, *b = y;
    int d = strcmp(a->name, b->name);
    return d ? d : strcmp(a->tenant, b->tenant);
}

static inline int memory_choose_collections(store *s, const char *tenant, const char *name,
                                            const char *not_of, const char *nor_of,
                                            store_collection **out, size_t *n, fo_err *err) {
    memory_state *st = memory_hold(memory_of(s));
    size_t all = st->of[MEMORY_COLLECTION].n;
    int rc = FO_OK;
    *n = 0;
    *out = calloc(all + 1, sizeof **out);
    if (!*out) rc = fo_no_memory(err);
    for (size_t i = 0; !rc && i < all; i++) {
        const store_collection *c = &memory_collection_at(st, i)->c;
        if ((tenant && strcmp(c->tenant, tenant)) || (name && strcmp(c->name, name))) continue;
        if (not_of && (!c->embedder[0] || !strcmp(c->embedder, not_of))) continue;
        if (nor_of && !strcmp(c->embedder, nor_of)) continue;
        rc = memory_copy_collection(&(*out)[*n], c, err);
        if (!rc) ++*n;
    }
    memory_release(memory_of(s), st);
    for (size_t i = 0; rc && i < *n; i++) store_collection_deinit(&(*out)[i]);
    if (rc) return free(*out), rc;
    qsort(*out, *n, sizeof **out, memory_by_name);
    return FO_OK;
}

static inline int memory_list_collections(store *s, const char *tenant, store_collection **out,
                                          size_t *n, fo_err *err) {
    return memory_choose_collections(s, tenant, NULL, NULL, NULL, out, n, err);
}

static inline int memory_foreign_collections(store *s, const char *tenant, const char *name,
                                             const char *fingerprint, const char *also,
                                             size_t limit, store_collection **out, size_t *n,
                                             size_t *n_all, fo_err *err) {
    int rc = memory_choose_collections(s, tenant, name, fingerprint, also, out, n_all, err);
    *n = rc ? 0 : *n_all < limit ? *n_all : limit;
    for (size_t i = *n; !rc && i < *n_all; i++) store_collection_deinit(&(*out)[i]);
    return rc;
}

/* ---- transactions ------------------------------------------------------------------------ */

static inline int memory_begin(store *s, store_txn **out, fo_err *err) {
    memory_world *w = memory_of(s);
    if (((memory_store *)s)->read_only)
        return fo_fail(err, FO_EUNSUPPORTED, "the store is open read-only");
    memory_txn *t = calloc(1, sizeof *t);
    memory_state *mine = calloc(1, sizeof *mine);
    if (!t || !mine) return free(t), free(mine), fo_no_memory(err);
    pthread_mutex_lock(&w->mu);
    while (w->writing) pthread_cond_wait(&w->turn, &w->mu);
    w->writing = true;
    mine->users = 1;
    bool room = true;
    for (int k = 0; k < MEMORY_KINDS; k++) {
        const memory_list *from = &w->state->of[k];
        memory_list *to = &mine->of[k];
        to->rows = malloc((from->n + 1) * sizeof *to->rows);
        room = room && to->rows;
        for (; room && to->n < from->n; to->n++)
            to->rows[to->n] = from->rows[to->n], to->rows[to->n]->users++;
    }
    pthread_mutex_unlock(&w->mu);
    *t = (memory_txn){.base.store = s, .world = w, .state = mine};
    *out = &t->base;
    return room ? FO_OK : (s->ops->rollback(*out), fo_no_memory(err));
}

static inline void memory_end(memory_txn *t, bool commit) {
    memory_world *w = t->world;
    pthread_mutex_lock(&w->mu);
    memory_state *gone = commit ? w->state : t->state;
    if (commit) w->state = t->state;
    memory_drop_state(gone);
    w->writing = false;
    pthread_cond_broadcast(&w->turn);
    pthread_mutex_unlock(&w->mu);
    free(t);
}

static inline int memory_commit(store_txn *t, fo_err *err) {
    (void)err;
    return memory_end((memory_txn *)t, true), FO_OK;
}

static inline void memory_rollback(store_txn *t) {
    memory_end((memory_txn *)t, false);
}

static inline int memory_ended(store_txn *t, int rc, fo_err *err) {
    return rc ? (memory_rollback(t), rc) : memory_commit(t, err);
}

/* Once a transaction, its epoch rises. */
static inline int memory_touch(memory_txn *t, int64_t id, store_collection **out, fo_err *err) {
    int rc = memory_own_collection(t, id, out, err);
    if (rc) return rc;
    for (size_t i = 0; i < t->n_touched; i++)
        if (t->touched[i] == id) return FO_OK;
    if (t->n_touched == sizeof t->touched / sizeof *t->touched)
        return fo_fail(err, FO_ELIMIT, "too many collections in one transaction");
    t->touched[t->n_touched++] = id;
    (*out)->epoch++;
    return FO_OK;
}

static inline int memory_count(store_collection *c, int64_t documents, int64_t chunks,
                               fo_err *err) {
    c->n_documents += documents;
    c->n_chunks += chunks;
    if (c->n_chunks) return FO_OK;
    char *none = strdup("");
    if (!none) return fo_no_memory(err);
    free(c->embedder);
    c->embedder = none;
    c->dim = 0;
    return FO_OK;
}

static inline int memory_create_collection(store *s, const char *tenant, const char *name,
                                           const char *language, store_collection *out,
                                           fo_err *err) {
    store_txn *base;
    int rc = memory_begin(s, &base, err);
    if (rc) return rc;
    memory_txn *t = (memory_txn *)base;
    size_t n = t->state->of[MEMORY_COLLECTION].n;
    if (memory_find_collection(t->state, tenant, name, 0) < n)
        rc = fo_fail_field(err, FO_ECONFLICT, "collection", "collection '%s' exists already", name);
    memory_collection *made = rc ? NULL : calloc(1, sizeof *made);
    if (!rc && !made) rc = fo_no_memory(err);
    store_collection as = {.id = ++t->world->last_id,
                           .tenant = (char *)tenant,
                           .name = (char *)name,
                           .language = (char *)(language ? language : "english"),
                           .embedder = (char *)"",
                           .alpha = -1,
                           .min_support = -1,
                           .created_ms = fo_unix_ms()};
    if (!rc) rc = memory_copy_collection(&made->c, &as, err);
    if (!rc) rc = memory_put(t, MEMORY_COLLECTION, n, &made->row, err);
    if (!rc && out) rc = memory_copy_collection(out, &as, err);
    return memory_ended(base, rc, err);
}

static inline int memory_delete_collection(store *s, const char *tenant, const char *name,
                                           const atomic_bool *cancel, fo_err *err) {
    store_txn *base;
    if (cancel && atomic_load(cancel)) return fo_fail(err, FO_ECANCELLED, "cancelled");
    int rc = memory_begin(s, &base, err);
    if (rc) return rc;
    memory_txn *t = (memory_txn *)base;
    size_t i = memory_find_collection(t->state, tenant, name, 0);
    if (i == t->state->of[MEMORY_COLLECTION].n)
        return memory_ended(base, memory_no_collection(err, name), err);
    int64_t id = memory_collection_at(t->state, i)->c.id;
    memory_put(t, MEMORY_COLLECTION, i, NULL, err);
    for (size_t k = t->state->of[MEMORY_DOCUMENT].n; k-- > 0;)
        if (memory_document_at(t->state, k)->collection == id)
            memory_put(t, MEMORY_DOCUMENT, k, NULL, err);
    return memory_ended(base, FO_OK, err);
}

static inline int memory_set_tuning(store *s, int64_t collection, double alpha, double min_support,
                                    fo_err *err) {
    store_txn *t;
    store_collection *c = NULL;
    int rc = memory_begin(s, &t, err);
    if (rc) return rc;
    rc = memory_own_collection((memory_txn *)t, collection, &c, err);
    if (!rc) c->alpha = alpha, c->min_support = min_support;
    return memory_ended(t, rc, err);
}

static inline int memory_txn_epoch(store_txn *base, int64_t collection, int64_t *epoch,
                                   fo_err *err) {
    memory_txn *t = (memory_txn *)base;
    size_t i = memory_find_collection(t->state, NULL, NULL, collection);
    if (i == t->state->of[MEMORY_COLLECTION].n)
        return fo_fail(err, FO_ENOTFOUND, "the collection does not exist");
    *epoch = memory_collection_at(t->state, i)->c.epoch;
    return FO_OK;
}

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
    *out = (store_put_result){.status = old ? STORE_UPDATED : STORE_CREATED,
                              .document = made->id,
                              .first_chunk = n ? made->chunks[0].id : 0};
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

/* ---- jobs and keys ----------------------------------------------------------------------- */

static inline int memory_create_job(store *s, const char *tenant, const char *kind,
                                    const char *collection, int64_t *id, fo_err *err) {
    memory_world *w = memory_of(s);
    memory_job *j = calloc(1, sizeof *j);
    if (!j) return fo_no_memory(err);
    pthread_mutex_lock(&w->mu);
    *id = ++w->n_jobs;
    j->j = (store_job){.id = *id,
                       .tenant = strdup(tenant),
                       .kind = strdup(kind),
                       .state = strdup("queued"),
                       .n_total = -1,
                       .collection = memory_copy(collection),
                       .created_ms = fo_unix_ms(),
                       .updated_ms = fo_unix_ms()};
    j->next = w->jobs;
    w->jobs = j;
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

static inline void memory_set(char **to, const char *from) {
    if (!from) return;
    free(*to);
    *to = strdup(from);
}

static inline int memory_update_job(store *s, int64_t id, const char *state, int64_t n_total,
                                    int64_t n_done, int64_t n_failed, const char *error,
                                    const char *result, fo_err *err) {
    static const char *const states[] = {"queued", "running", "succeeded", "failed", "cancelled"};
    bool known = !state;
    for (size_t i = 0; i < 5 && !known; i++) known = !strcmp(state, states[i]);
    if (!known) return fo_fail(err, FO_EINVAL, "a job cannot be %s", state);
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    memory_job *j = w->jobs;
    while (j && j->j.id != id) j = j->next;
    if (j) {
        memory_set(&j->j.state, state);
        memory_set(&j->j.error, error);
        memory_set(&j->j.result, result);
        j->j.n_total = n_total, j->j.n_done = n_done, j->j.n_failed = n_failed;
        j->j.updated_ms = fo_unix_ms();
    }
    pthread_mutex_unlock(&w->mu);
    return j ? FO_OK : fo_fail(err, FO_ENOTFOUND, "job %lld does not exist", (long long)id);
}

static inline int memory_get_job(store *s, const char *tenant, int64_t id, store_job *out,
                                 fo_err *err) {
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    const memory_job *j = w->jobs;
    while (j && (j->j.id != id || strcmp(j->j.tenant, tenant))) j = j->next;
    if (j) {
        *out = j->j;
        out->tenant = strdup(j->j.tenant);
        out->kind = strdup(j->j.kind);
        out->state = strdup(j->j.state);
        out->collection = memory_copy(j->j.collection);
        out->error = memory_copy(j->j.error);
        out->result = memory_copy(j->j.result);
    }
    pthread_mutex_unlock(&w->mu);
    return j ? FO_OK : fo_fail(err, FO_ENOTFOUND, "job %lld does not exist", (long long)id);
}

static inline int memory_fail_running_jobs(store *s, fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    for (memory_job *j = w->jobs; j; j = j->next)
        if (!strcmp(j->j.state, "queued") || !strcmp(j->j.state, "running")) {
            memory_set(&j->j.state, "failed");
            memory_set(&j->j.error, "interrupted by a restart");
        }
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

static inline void memory_free_job(memory_job *j) {
    store_job_deinit(&j->j);
    free(j);
}

static inline int memory_trim_jobs(store *s, int64_t now_ms, fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    const int64_t since = now_ms - 30 * 24LL * 3600 * 1000;
    pthread_mutex_lock(&w->mu);
    for (memory_job **at = &w->jobs; *at;) {
        memory_job *j = *at;
        bool over = strcmp(j->j.state, "queued") != 0 && strcmp(j->j.state, "running") != 0;
        if (over && j->j.updated_ms < since) {
            *at = j->next;
            memory_free_job(j);
        } else {
            at = &j->next;
        }
    }
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

/* Where it stands in the list, or the end of it. The lock is held. */
static inline memory_key **memory_find_key(memory_world *w, const char *tenant, const char *route,
                                           const char *key) {
    memory_key **at = &w->keys;
    while (*at && (strcmp((*at)->tenant, tenant) || strcmp((*at)->route, route) ||
                   strcmp((*at)->key, key)))
        at = &(*at)->next;
    return at;
}

static inline void memory_drop_key(memory_key **at) {
    memory_key *k = *at;
    *at = k->next;
    free(k->tenant);
    free(k->route);
    free(k->key);
    free(k->response);
    free(k);
}

static inline int memory_idem_claim(store *s, const char *tenant, const char *route,
                                    const char *key, const unsigned char body_sha256[32],
                                    enum store_idem *state, int *status, char **response,
                                    fo_err *err) {
    memory_world *w = memory_of(s);
    int rc = FO_OK;
    *response = NULL;
    *status = 0;
    pthread_mutex_lock(&w->mu);
    memory_key **at = memory_find_key(w, tenant, route, key);
    if (!*at) {
        *state = STORE_IDEM_NEW;
        memory_key *k = calloc(1, sizeof *k);
        if (k) {
            k->tenant = strdup(tenant), k->route = strdup(route), k->key = strdup(key);
            memcpy(k->sha256, body_sha256, 32);
            *at = k;
        } else {
            rc = fo_no_memory(err);
        }
    } else if (memcmp((*at)->sha256, body_sha256, 32)) {
        *state = STORE_IDEM_OTHER_BODY;
    } else if (!(*at)->response) {
        *state = STORE_IDEM_RUNNING;
    } else {
        *state = STORE_IDEM_DONE;
        *status = (*at)->status;
        *response = strdup((*at)->response);
    }
    pthread_mutex_unlock(&w->mu);
    return rc;
}

static inline int memory_idem_finish(store *s, const char *tenant, const char *route,
                                     const char *key, int status, const char *response,
                                     fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    memory_key *k = *memory_find_key(w, tenant, route, key);
    if (k) {
        memory_set(&k->response, response);
        k->status = status;
    }
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

static inline int memory_idem_abandon(store *s, const char *tenant, const char *route,
                                      const char *key, fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    memory_key **at = memory_find_key(w, tenant, route, key);
    if (*at && !(*at)->response) memory_drop_key(at);
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

/* ---- opening ----------------------------------------------------------------------------- */

static inline void memory_close(store *s) {
    free(s); /* the world stays */
}

static const store_ops memory_store_ops = {
    .close = memory_close,
    .get_collection = memory_get_collection,
    .create_collection = memory_create_collection,
    .delete_collection = memory_delete_collection,
    .list_collections = memory_list_collections,
    .foreign_collections = memory_foreign_collections,
    .set_tuning = memory_set_tuning,
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .put_document = memory_put_document,
    .delete_document = memory_delete_document,
    .txn_get_document = memory_txn_get_document,
    .txn_epoch = memory_txn_epoch,
    .document_unchanged = memory_document_unchanged,
    .get_document = memory_get_document,
    .list_documents = memory_list_documents,
    .get_chunks = memory_get_chunks,
    .get_text = memory_get_text,
    .each_chunk = memory_each_chunk,
    .chunk_ids = memory_chunk_ids,
    .chunks_to_embed = memory_chunks_to_embed,
    .gather_vectors = memory_gather_vectors,
    .adopt_vectors = memory_adopt_vectors,
    .create_job = memory_create_job,
    .update_job = memory_update_job,
    .get_job = memory_get_job,
    .fail_running_jobs = memory_fail_running_jobs,
    .trim_jobs = memory_trim_jobs,
    .idem_claim = memory_idem_claim,
    .idem_finish = memory_idem_finish,
    .idem_abandon = memory_idem_abandon,
};

static inline memory_world *memory_find_world(const char *home, bool make) {
    pthread_mutex_lock(&memory_worlds_mu);
    memory_world *w = memory_worlds;
    while (w && strcmp(w->home, home)) w = w->next;
    if (!w && make && (w = calloc(1, sizeof *w))) {
        w->home = strdup(home);
        w->state = calloc(1, sizeof *w->state);
        w->state->users = 1;
        pthread_mutex_init(&w->mu, NULL);
        pthread_cond_init(&w->turn, NULL);
        w->next = memory_worlds;
        memory_worlds = w;
    }
    pthread_mutex_unlock(&memory_worlds_mu);
    return w;
}

static inline int memory_open(store **out, const char *home, const store_options *opt,
                              fo_err *err) {
    memory_world *w = memory_find_world(home, !opt->read_only);
    if (!w) return fo_fail(err, FO_EIO, "there is no store in %s", home);
    memory_store *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    *s = (memory_store){.base.ops = &memory_store_ops, .world = w, .read_only = opt->read_only};
    pthread_mutex_lock(&w->mu); /* whoever held the claims that have no answer is gone */
    for (memory_key **k = &w->keys; *k && !opt->read_only;)
        if ((*k)->response)
            k = &(*k)->next;
        else
            memory_drop_key(k);
    pthread_mutex_unlock(&w->mu);
    *out = &s->base;
    return FO_OK;
}

static inline int memory_look(const char *home, enum store_presence *out, bool *acknowledged,
                              fo_err *err) {
    (void)err;
    *out = memory_find_world(home, false) ? STORE_THERE : STORE_GONE;
    *acknowledged = false;
    return FO_OK;
}

static const char *const memory_files[] = {NULL};
static const store_backend memory_store_backend = {.name = "memory",
                                                   .file = "memory",
                                                   .files = memory_files,
                                                   .open = memory_open,
                                                   .look = memory_look};

/* All of a home's store, which nobody has open. */
static inline void memory_store_forget(const char *home) {
    pthread_mutex_lock(&memory_worlds_mu);
    memory_world **at = &memory_worlds, *w;
    while (*at && strcmp((*at)->home, home)) at = &(*at)->next;
    w = *at;
    if (w) *at = w->next;
    pthread_mutex_unlock(&memory_worlds_mu);
    if (!w) return;
    memory_drop_state(w->state);
    while (w->keys) memory_drop_key(&w->keys);
    for (memory_job *j = w->jobs, *next; j; j = next) {
        next = j->next;
        store_job_deinit(&j->j);
        free(j);
    }
    pthread_mutex_destroy(&w->mu);
    pthread_cond_destroy(&w->turn);
    free(w->home);
    free(w);
}

#endif
