#include "retrieval/collections/refine.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "kernels/cond.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/collections/title_vectors.h"

enum {
    IDLE_MS = 30000,
    TITLES_MS =
        1000, /* nothing came in for so long: titles, which take seconds where chunks take minutes */
    UNASKED_MS = 5000, /* nobody has asked for so long either, when it begins */
    POLL_MS = 500,
    RETRY_MS = 600000,    /* after a failure: a full disk does not get better in a second */
    MOST_CHUNKS = 200000, /* of a collection: nobody can write to it while its new index is built */
};

typedef struct failure { /* of a collection, which is passed over so long */
    int64_t collection;
    double until_ms;
} failure;

struct refine {
    /* immutable */
    service *s;
    int64_t idle_ms;
    fo_notices notices;
    pthread_t thread;

    pthread_mutex_t mu;
    pthread_cond_t wake;
    /* guarded by mu */
    bool stop;
    service_refine_stats stats;

    /* of the thread alone */
    double not_before_ms, titles_not_before_ms;
    double titled_ms; /* what service.ingested_ms was when no title was left; -1: some may be */
    double
        all_done_ms; /* what service.ingested_ms was when no collection was left; -1: some may be */
    uint64_t n_asked; /* questions that the service was asked, and */
    double asked_ms;  /* when that number was another one */
    size_t counted;   /* chunks of the collection at hand that are in stats */
    failure *failures;
    size_t n_failures;
    double look_again_ms; /* when one that failed is due; 0: none is */
};

static bool stopping(refine *r) {
    pthread_mutex_lock(&r->mu);
    const bool stop = r->stop;
    pthread_mutex_unlock(&r->mu);
    return stop;
}

/* Until `ms` are over, or the end. */
static void doze(refine *r, int64_t ms) {
    const double until = fo_now_ms() + (double)ms;
    pthread_mutex_lock(&r->mu);
    while (!r->stop && fo_cond_wait_until(&r->wake, &r->mu, until) == 0) {
    }
    pthread_mutex_unlock(&r->mu);
}

static double last_ingest(service *s) {
    pthread_mutex_lock(&s->mu);
    const double ms = s->ingested_ms;
    pthread_mutex_unlock(&s->mu);
    return ms;
}

static bool is_quiet_for(refine *r, int64_t ms) {
    service *s = r->s;
    pthread_mutex_lock(&s->mu);
    const bool quiet = !s->n_ingesting && fo_now_ms() - s->ingested_ms >= (double)ms;
    pthread_mutex_unlock(&s->mu);
    return quiet;
}

static bool is_quiet(refine *r) {
    return is_quiet_for(r, r->idle_ms);
}

/* Nobody asks: where there is always somebody, processors and memory are theirs. */
static bool nobody_asks(refine *r) {
    const uint64_t n = atomic_load_explicit(&r->s->n_queries, memory_order_relaxed);
    const double now = fo_now_ms();
    if (n != r->n_asked) r->asked_ms = now;
    r->n_asked = n;
    return now - r->asked_ms >= (double)(r->idle_ms < UNASKED_MS ? r->idle_ms : UNASKED_MS);
}

/* Between pieces: while documents come in, wait. */
static bool goes_on(void *ctx, size_t done) {
    refine *r = ctx;
    pthread_mutex_lock(&r->mu);
    r->stats.chunks += done - r->counted;
    pthread_mutex_unlock(&r->mu);
    r->counted = done;
    while (!stopping(r) && !is_quiet(r)) doze(r, POLL_MS);
    return !stopping(r);
}

/* ---- titles --------------------------------------------------------------------------------- */

static bool titles_go_on(void *ctx) {
    refine *r = ctx;
    return !stopping(r) && is_quiet_for(r, 0);
}

/* Those of all collections that have none; where documents come in meanwhile, the rest comes later. */
static void embed_titles(refine *r) {
    service *s = r->s;
    fo_err err = {0};
    store_collection *list = NULL;
    size_t n = 0;
    if (service_enter(s, &err)) return;
    const double ingested_ms = last_ingest(s);
    int rc = store_list_collections(s->store, NULL, &list, &n, &err);
    for (size_t i = 0; i < n; i++) {
        size_t n_titles = 0;
        if (!rc) rc = title_vectors_embed(s, &list[i], titles_go_on, r, &n_titles, &err);
        pthread_mutex_lock(&r->mu);
        r->stats.titles += n_titles;
        pthread_mutex_unlock(&r->mu);
        store_collection_deinit(&list[i]);
    }
    free(list);
    /* A store that keeps none will not learn it. */
    if (!rc || rc == FO_EUNSUPPORTED) r->titled_ms = ingested_ms;
    if (rc && rc != FO_EUNSUPPORTED && rc != FO_ECANCELLED) {
        fo_notice(&r->notices, "refine_failed", "titles have no vectors yet: %s", err.msg);
        r->titles_not_before_ms = fo_now_ms() + RETRY_MS;
    }
    service_leave(s);
}

/* ---- what failed by itself ------------------------------------------------------------------ */

/* Is it passed over still? Then the thread looks again at the latest when that is over. */
static bool is_passed_over(refine *r, int64_t id) {
    const double now = fo_now_ms();
    for (size_t i = 0; i < r->n_failures; i++) {
        const failure *f = &r->failures[i];
        if (f->collection != id || now >= f->until_ms) continue;
        if (!r->look_again_ms || f->until_ms < r->look_again_ms) r->look_again_ms = f->until_ms;
        return true;
    }
    return false;
}

/* The others go on, where it is damaged; false: the failure is everybody's, or it cannot be noted. */
static bool pass_over(refine *r, int64_t id, int rc) {
    if (rc == FO_ENOMEM || rc == FO_ENOSPC || rc == FO_EIO) return false;
    size_t at = 0;
    while (at < r->n_failures && r->failures[at].collection != id) at++;
    if (at == r->n_failures) {
        failure *more = realloc(r->failures, (at + 1) * sizeof *more);
        if (!more) return false;
        r->failures = more;
        r->n_failures++;
    }
    r->failures[at] = (failure){id, fo_now_ms() + RETRY_MS};
    return true;
}

/* Has it vectors of the table, and few enough chunks? */
static int is_of_table(service *s, const store_collection *c, const char *encoder, bool *is,
                       fo_err *err) {
    embedder *has = NULL;
    *is = false;
    if (!c->embedder[0] || c->n_chunks > MOST_CHUNKS) return FO_OK;
    if (!strcmp(c->embedder, encoder) && !collection_is_half_exchanged(s, c)) return FO_OK;
    const int rc = service_embedder_of(s, c->embedder, &has, err);
    *is = !rc && has; /* a foreign one is left alone */
    return rc;
}

bool service_is_refinable(service *s, const char *tenant, const char *name, size_t *n_chunks) {
    char encoder[65];
    store_collection c = {0};
    fo_err err = {0};
    bool is = false;
    embedder_encoder_fingerprint(encoder);
    int rc = catalog_get_collection(service_catalog(s), tenant, name, &c, &err);
    if (!rc) rc = is_of_table(s, &c, encoder, &is, &err);
    *n_chunks = (size_t)c.n_chunks;
    store_collection_deinit(&c);
    return !rc && is;
}

/* The smallest collection that has vectors of the table; its names are the caller's to free. *found: there is one. */
static int next_collection(refine *r, const char *encoder, store_collection *out, bool *found,
                           fo_err *err) {
    store_collection *list = NULL;
    size_t n = 0, best = SIZE_MAX;
    int rc = store_list_collections(r->s->store, NULL, &list, &n, err);
    if (rc) return rc;
    r->look_again_ms = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const store_collection *c = &list[i];
        bool of_table;
        if (is_passed_over(r, c->id)) continue;
        rc = is_of_table(r->s, c, encoder, &of_table, err);
        if (rc || !of_table) continue;
        if (best == SIZE_MAX || c->n_chunks < list[best].n_chunks) best = i;
    }
    for (size_t i = 0; i < n; i++) {
        if (i == best && !rc)
            *out = list[i];
        else
            store_collection_deinit(&list[i]);
    }
    free(list);
    *found = best != SIZE_MAX && !rc;
    return rc;
}

static int refine_one(refine *r, const store_collection *row, embedder *encoder, fo_err *err) {
    service *s = r->s;
    collection *c = NULL;
    int rc = collection_acquire(s, row->tenant, row->name, &c, err);
    if (rc) return rc;
    const double began_ms = fo_now_ms();
    fo_notice(&r->notices, "refine_begins", "collection '%s': %lld chunks get vectors of %s",
              row->name, (long long)row->n_chunks, embedder_name(encoder));
    r->counted = 0;
    pthread_mutex_lock(&r->mu);
    r->stats.at_work = true;
    pthread_mutex_unlock(&r->mu);
    rc = collection_reembed(s, c, encoder, goes_on, r, err);
    pthread_mutex_lock(&r->mu);
    r->stats.at_work = false;
    r->stats.collections += !rc;
    pthread_mutex_unlock(&r->mu);
    if (!rc)
        fo_notice(&r->notices, "refined", "collection '%s' has vectors of %s now, after %.0f s",
                  row->name, embedder_name(encoder), (fo_now_ms() - began_ms) / 1000);
    collection_release(s, c);
    return rc;
}

/* One collection; false: none needs it. */
static bool refine_next(refine *r) {
    service *s = r->s;
    fo_err err = {0};
    embedder *encoder = NULL;
    store_collection row = {0};
    char fingerprint[65];
    embedder_encoder_fingerprint(fingerprint);
    if (service_enter(s, &err)) return false;
    const double ingested_ms = last_ingest(s);
    bool found = false;
    int rc = next_collection(r, fingerprint, &row, &found, &err);
    if (!rc && !found) r->all_done_ms = ingested_ms;
    if (found) rc = service_take_encoder(s, &encoder, &err);
    if (found && !rc) rc = refine_one(r, &row, encoder, &err);
    /* Gone meanwhile, or in use: it comes again, or not. */
    if (rc && rc != FO_ECANCELLED && rc != FO_EBUSY && rc != FO_ENOTFOUND) {
        if (row.name)
            fo_notice(&r->notices, "refine_failed", "collection '%s' keeps its vectors: %s",
                      row.name, err.msg);
        else
            fo_notice(&r->notices, "refine_failed", "the collections keep their vectors: %s",
                      err.msg);
        if (!row.name || !pass_over(r, row.id, rc)) r->not_before_ms = fo_now_ms() + RETRY_MS;
    }
    store_collection_deinit(&row);
    service_leave(s);
    return found && !rc;
}

/* No collection is left, none has come in since, and none that failed is due. */
static bool nothing_to_do(const refine *r) {
    const bool retry = r->look_again_ms && fo_now_ms() >= r->look_again_ms;
    return last_ingest(r->s) == r->all_done_ms && !retry;
}

static void *work(void *arg) {
    refine *r = arg;
    while (!stopping(r)) {
        const int64_t titles_ms = r->idle_ms < TITLES_MS ? r->idle_ms : TITLES_MS;
        if (last_ingest(r->s) != r->titled_ms && fo_now_ms() >= r->titles_not_before_ms &&
            is_quiet_for(r, titles_ms))
            embed_titles(r);
        const bool unasked = nobody_asks(r);
        const bool due = unasked && is_quiet(r) && fo_now_ms() >= r->not_before_ms;
        if (!due || nothing_to_do(r) || !refine_next(r)) doze(r, POLL_MS);
    }
    return NULL;
}

int refine_start(refine **out, service *s, const service_refine *how, fo_err *err) {
    refine *r = calloc(1, sizeof *r);
    if (!r) return fo_no_memory(err);
    r->s = s;
    r->all_done_ms = r->titled_ms = -1;
    r->idle_ms = how->idle_ms > 0 ? how->idle_ms : IDLE_MS;
    r->notices = how->notices;
    pthread_mutex_init(&r->mu, NULL);
    fo_cond_init(&r->wake);
    s->ingested_ms = fo_now_ms(); /* who starts a service may be about to bring documents */
    if (pthread_create(&r->thread, NULL, work, r)) {
        pthread_mutex_destroy(&r->mu);
        pthread_cond_destroy(&r->wake);
        free(r);
        return fo_fail(err, FO_EIO, "no thread for better vectors could be started");
    }
    *out = r;
    return FO_OK;
}

void refine_stop(refine *r) {
    if (!r) return;
    pthread_mutex_lock(&r->mu);
    const bool first = !r->stop;
    r->stop = true;
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->mu);
    if (first) pthread_join(r->thread, NULL);
}

void refine_get_stats(refine *r, service_refine_stats *out) {
    *out = (service_refine_stats){0};
    if (!r) return;
    pthread_mutex_lock(&r->mu);
    *out = r->stats;
    pthread_mutex_unlock(&r->mu);
}

void refine_free(refine *r) {
    if (!r) return;
    pthread_mutex_destroy(&r->mu);
    pthread_cond_destroy(&r->wake);
    free(r->failures);
    free(r);
}
