/* memory_state.h - of the store in memory (memory_store.h): its rows, the states that are made of them, transactions that put
 * one state in another's place, and collections. */
#ifndef FORAGE_TESTS_DATA_MEMORY_STATE_H
#define FORAGE_TESTS_DATA_MEMORY_STATE_H

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

#endif
