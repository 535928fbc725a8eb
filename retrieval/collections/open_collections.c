/* Which collections are open: an index is opened when its collection is first asked for, and closed
 * again when more are open than may be and nobody has asked for it for the longest time.
 *
 *            collection_acquire                  close_idle
 *     (none) -------------------> OPENING --> OPEN ----------> CLOSING --> (none)
 *
 * 1. A name is in the table once, from before its index is opened until after it is closed: whoever
 *    wants it meanwhile waits. So an index folder is never open twice.
 * 2. The table holds one reference to what is OPEN, every user another. Only what the table alone
 *    refers to is closed, and no index is opened or closed under mu.
 * 3. Nobody writes to a collection that he has not acquired: what is opened finds the store at
 *    rest, and what is closed has no writer. */
#include <stdlib.h>
#include <string.h>

#include "index/format/keyed_hash.h"
#include "retrieval/collections/service_internal.h"

/* ---- the table, under mu ----------------------------------------------------------------- */

static size_t bucket_of(const char *tenant, const char *name) {
    return (31 * keyed_hash(tenant, strlen(tenant)) + keyed_hash(name, strlen(name))) %
           OPEN_BUCKETS;
}

static collection **place_of(service *s, const char *tenant, const char *name) {
    collection **p = &s->open.buckets[bucket_of(tenant, name)];
    while (*p && (strcmp((*p)->name, name) != 0 || strcmp((*p)->tenant, tenant) != 0))
        p = &(*p)->next;
    return p;
}

static void take_out(service *s, collection *c) {
    collection **p = &s->open.buckets[bucket_of(c->tenant, c->name)];
    while (*p != c) p = &(*p)->next;
    *p = c->next;
    s->open.n--;
    pthread_cond_broadcast(&s->open.changed);
}

static void set_state(service *s, collection *c, enum collection_state state) {
    c->state = state;
    pthread_cond_broadcast(&s->open.changed);
}

/* The collection of this name when nobody is opening or closing it; NULL: it is not open. */
static collection *settled(service *s, const char *tenant, const char *name) {
    collection *c;
    while ((c = *place_of(s, tenant, name)) && c->state != COLLECTION_OPEN)
        pthread_cond_wait(&s->open.changed, &s->mu);
    return c;
}

/* An entry that keeps the name for the caller, in no state to be used. */
static int reserve(service *s, const char *tenant, const char *name, enum collection_state state,
                   collection **out, fo_err *err) {
    collection *c = collection_create(s, tenant, name, err);
    if (!c) return FO_ENOMEM;
    c->state = state;
    *place_of(s, tenant, name) = c;
    s->open.n++;
    *out = c;
    return FO_OK;
}

static void use(service *s, collection *c) {
    c->refs++;
    c->used = ++s->open.clock;
}

/* ---- counters ---------------------------------------------------------------------------- */

/* What c counted since it was opened, or since that was added to those of closed ones. */
static void add_counters(search_index_stats *sum, const collection *c,
                         const search_index_stats *now) {
    sum->bytes_written += now->bytes_written - c->counted.bytes_written;
    sum->bytes_ingested += now->bytes_ingested - c->counted.bytes_ingested;
    sum->bytes_checked += now->bytes_checked - c->counted.bytes_checked;
    sum->n_damaged += now->n_damaged - c->counted.n_damaged;
    sum->n_failures += now->n_failures - c->counted.n_failures;
    sum->n_dense_scored += now->n_dense_scored - c->counted.n_dense_scored;
}

/* Before c leaves those that are open. */
static void keep_counters(service *s, collection *c) {
    search_index_stats now;
    search_index_get_stats(c->index, &now);
    add_counters(&s->open.closed, c, &now);
    c->counted = now;
}

void collection_count_last(collection *c) {
    pthread_mutex_lock(&c->service->mu);
    keep_counters(c->service, c);
    pthread_mutex_unlock(&c->service->mu);
}

/* ---- closing ----------------------------------------------------------------------------- */

static collection *longest_idle(service *s) {
    collection *best = NULL;
    for (size_t i = 0; i < OPEN_BUCKETS; i++)
        for (collection *c = s->open.buckets[i]; c; c = c->next)
            if (c->state == COLLECTION_OPEN && c->refs == 1 && (!best || c->used < best->used))
                best = c;
    return best;
}

/* Down to the budget, as far as collections are idle. */
static void close_idle(service *s) {
    pthread_mutex_lock(&s->mu);
    for (collection *c; s->open.n > s->open.most && (c = longest_idle(s));) {
        keep_counters(s, c);
        set_state(s, c, COLLECTION_CLOSING);
        pthread_mutex_unlock(&s->mu);
        collection_close_index(c); /* what cannot be sealed comes again from the store */
        pthread_mutex_lock(&s->mu);
        take_out(s, c);
        collection_free(c);
    }
    pthread_mutex_unlock(&s->mu);
}

void collection_release(service *s, collection *c) {
    pthread_mutex_lock(&s->mu);
    bool last = --c->refs == 0, crowded = s->open.n > s->open.most;
    pthread_mutex_unlock(&s->mu);
    if (last) {
        collection *successor = c->successor;
        collection_close_index(c);
        collection_free(c);
        if (successor) {
            pthread_mutex_lock(&s->mu);
            successor->n_predecessors--;
            pthread_cond_broadcast(&s->open.changed);
            pthread_mutex_unlock(&s->mu);
            collection_release(s, successor);
        }
    }
    if (crowded) close_idle(s);
}

void collections_close_all(service *s) {
    for (size_t i = 0; i < OPEN_BUCKETS; i++) {
        while (s->open.buckets[i]) {
            collection *c = s->open.buckets[i];
            s->open.buckets[i] = c->next;
            collection_close_index(c);
            collection_free(c);
        }
    }
}

/* ---- opening ----------------------------------------------------------------------------- */

/* An entry in the state OPENING becomes an open collection, with a reference for the caller, or
 * goes again. */
static int open_reserved(service *s, collection *c, fo_err *err) {
    store_collection row = {0};
    int rc = store_get_collection(s->store, c->tenant, c->name, &row, err);
    if (!rc) close_idle(s); /* not for a name that there is not */
    if (!rc) rc = collection_open_index(c, &row, collection_edition(s, &row), false, err);
    store_collection_deinit(&row);
    pthread_mutex_lock(&s->mu);
    if (!rc) {
        use(s, c);
        set_state(s, c, COLLECTION_OPEN);
    } else {
        take_out(s, c);
    }
    pthread_mutex_unlock(&s->mu);
    if (rc) collection_free(c);
    return rc;
}

int collection_acquire(service *s, const char *tenant, const char *name, collection **out,
                       fo_err *err) {
    int rc = collection_check_names(tenant, name, err);
    if (rc) return rc;
    pthread_mutex_lock(&s->mu);
    collection *c = settled(s, tenant, name);
    bool there = c != NULL;
    if (there)
        use(s, c);
    else
        rc = reserve(s, tenant, name, COLLECTION_OPENING, &c, err);
    pthread_mutex_unlock(&s->mu);
    if (!rc && !there) rc = open_reserved(s, c, err);
    if (!rc) *out = c;
    return rc;
}

/* Those that cost most to open: at the start, where nobody waits for an answer. */
static int by_size(const void *x, const void *y) {
    const store_collection *a = x, *b = y;
    return (a->n_chunks < b->n_chunks) - (a->n_chunks > b->n_chunks);
}

int collections_open_first(service *s, fo_err *err) {
    enum { AT_LEAST = 64, LARGE = 16384 };
    store_collection *list = NULL;
    size_t n = 0;
    int rc = store_list_collections(s->store, NULL, &list, &n, err);
    if (n) qsort(list, n, sizeof *list, by_size);
    for (size_t i = 0; i < n; i++) {
        collection *c = NULL;
        if (!rc && i < s->open.most && (i < AT_LEAST || list[i].n_chunks >= LARGE))
            rc = collection_acquire(s, list[i].tenant, list[i].name, &c, err);
        if (c) collection_release(s, c);
        store_collection_deinit(&list[i]);
    }
    free(list);
    return rc;
}

/* ---- changes of the whole ---------------------------------------------------------------- */

int collection_hold_closed(service *s, const char *tenant, const char *name, collection **out,
                           fo_err *err) {
    int rc = collection_check_names(tenant, name, err);
    if (rc) return rc;
    pthread_mutex_lock(&s->mu);
    collection *c = settled(s, tenant, name);
    if (c)
        use(s, c);
    else
        rc = reserve(s, tenant, name, COLLECTION_CLOSING, &c, err);
    pthread_mutex_unlock(&s->mu);
    if (!rc) *out = c;
    return rc;
}

void collection_let_go(service *s, collection *c, bool deleted) {
    pthread_mutex_lock(&s->mu);
    bool open = c->state == COLLECTION_OPEN;
    if (deleted || !open) take_out(s, c);
    if (deleted && open) {
        keep_counters(s, c);
        c->remove_files = true;
        c->refs--; /* the table's */
    }
    pthread_mutex_unlock(&s->mu);
    if (open)
        collection_release(s, c);
    else
        collection_free(c);
}

void collection_replace(service *s, collection *c, collection *fresh) {
    pthread_mutex_lock(&s->mu);
    collection **p = place_of(s, c->tenant, c->name);
    fresh->state = COLLECTION_OPEN;
    fresh->used = ++s->open.clock;
    fresh->next = c->next;
    *p = fresh;
    keep_counters(s, c);
    c->remove_files = true;
    c->refs--; /* the table's; the caller holds another */
    /* As long as the old files are there, the new ones are not looked for by name. */
    c->successor = fresh;
    fresh->n_predecessors++;
    fresh->refs++;
    pthread_mutex_unlock(&s->mu);
}

void collection_wait_alone(service *s, collection *c) {
    pthread_mutex_lock(&s->mu);
    while (c->n_predecessors) pthread_cond_wait(&s->open.changed, &s->mu);
    pthread_mutex_unlock(&s->mu);
}

/* ---- what is asked of them ---------------------------------------------------------------- */

collection *collection_if_open(service *s, const char *tenant, const char *name) {
    collection *c = *place_of(s, tenant, name);
    if (c && c->state != COLLECTION_OPEN) c = NULL;
    if (c) c->refs++;
    return c;
}

int64_t collection_epoch(service *s, const char *tenant, const char *name) {
    pthread_mutex_lock(&s->mu);
    collection *c = collection_if_open(s, tenant, name);
    pthread_mutex_unlock(&s->mu);
    int64_t epoch = -1;
    if (c) {
        search_snapshot *now = search_index_acquire(c->index);
        epoch = search_snapshot_epoch(now);
        search_index_release(now);
        collection_release(s, c);
        return epoch;
    }
    store_collection row = {0};
    if (store_get_collection(s->store, tenant, name, &row, NULL) == FO_OK) epoch = row.epoch;
    store_collection_deinit(&row);
    return epoch;
}

static int with_index(service *s, const char *tenant, const char *name, service_index_fn *fn,
                      void *ctx, fo_err *err) {
    collection *c;
    int rc = collection_acquire(s, tenant, name, &c, err);
    if (rc) return rc;
    rc = fn(ctx, c->tenant, c->name, c->index, err);
    collection_release(s, c);
    return rc;
}

int service_each_index(service *s, const char *tenant, const char *name, service_index_fn *fn,
                       void *ctx, fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    store_collection *list = NULL;
    size_t n = 0, n_found = 0;
    rc = store_list_collections(s->store, tenant, &list, &n, err);
    for (size_t i = 0; i < n; i++) {
        if (!rc && (!name || strcmp(name, list[i].name) == 0)) {
            rc = with_index(s, list[i].tenant, list[i].name, fn, ctx, err);
            n_found++;
        }
        store_collection_deinit(&list[i]);
    }
    free(list);
    if (!rc && name && !n_found)
        rc = fo_fail_field(err, FO_ENOTFOUND, "collection", "collection '%s' does not exist", name);
    service_leave(s);
    return rc;
}

int service_get_index_stats(service *s, search_index_stats *out, size_t *n_open, fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    size_t n = 0;
    pthread_mutex_lock(&s->mu); /* looking at an index takes a microsecond or two */
    *out = s->open.closed;
    for (size_t i = 0; i < OPEN_BUCKETS; i++) {
        for (const collection *c = s->open.buckets[i]; c; c = c->next) {
            if (c->state != COLLECTION_OPEN) continue;
            search_index_stats now;
            search_index_get_stats(c->index, &now);
            add_counters(out, c, &now);
            out->n_segments += now.n_segments;
            out->n_chunks += now.n_chunks;
            out->n_deleted += now.n_deleted;
            out->n_postings += now.n_postings;
            out->n_terms += now.n_terms;
            out->bytes_files += now.bytes_files;
            out->bytes_memory += now.bytes_memory;
            n++;
        }
    }
    pthread_mutex_unlock(&s->mu);
    if (n_open) *n_open = n;
    service_leave(s);
    return rc;
}

/* ---- analyzers --------------------------------------------------------------------------- */

int collection_take_analyzer(service *s, collection *c, analyzer **out, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    *out = c->n_idle_analyzers ? c->idle_analyzers[--c->n_idle_analyzers] : NULL;
    pthread_mutex_unlock(&s->mu);
    return *out ? FO_OK : analyzer_create(out, c->language, err);
}

void collection_give_analyzer(service *s, collection *c, analyzer *a) {
    if (!a) return;
    size_t room = sizeof c->idle_analyzers / sizeof *c->idle_analyzers;
    pthread_mutex_lock(&s->mu);
    if ((size_t)c->n_idle_analyzers < room) {
        c->idle_analyzers[c->n_idle_analyzers++] = a;
        a = NULL;
    }
    pthread_mutex_unlock(&s->mu);
    analyzer_free(a);
}
