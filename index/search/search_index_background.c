/* What is done for an index in the background: it is sealed, also beside a merge, merged, and the
 * checksums of its sealed files are checked. What comes next is search_workers.c's business. */
#include "index/search/search_index_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "kernels/cond.h"
#include "kernels/clock.h"

enum { CHECK_EVERY_MS = 24 * 3600 * 1000, CHECK_AGAIN_MS = 60 * 1000 };

int search_background_gate(void *arg, size_t n, fo_err *err) {
    search_index *ix = arg;
    /* The rate is that of all merges: of two at once each has half. */
    double now = fo_now_ms();
    double at = now + pace_take(&ix->merge_pace, n * search_workers_n_merging(ix->workers), now);
    pthread_mutex_lock(&ix->mu);
    while (!ix->stopping && fo_now_ms() < at) fo_cond_wait_until(&ix->stop, &ix->mu, at);
    bool stopping = ix->stopping;
    pthread_mutex_unlock(&ix->mu);
    return stopping ? fo_fail(err, FO_ECANCELLED, "the merge was stopped") : FO_OK;
}

/* The sealed segment to be checked next: the one of the smallest serial that is not below `from`. */
static const search_segment *next_sealed(const search_snapshot *s, uint64_t from) {
    const search_segment *best = NULL;
    for (size_t i = 0; i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        if (h->file && h->serial >= from && (!best || h->serial < best->serial)) best = h;
    }
    return best;
}

/* Holds no lock: whoever is told may seal, drop the segment and publish. */
static void tell_of_damage(search_index *ix, const char *why) {
    pthread_mutex_lock(&ix->mu);
    search_damage_fn *fn = ix->damage_fn;
    void *ctx = ix->damage_ctx;
    pthread_mutex_unlock(&ix->mu);
    if (fn) fn(ctx, why);
}

void search_background_damage(search_index *ix, uint64_t serial, const fo_err *why) {
    atomic_store(&ix->damaged, serial);
    atomic_fetch_add(&ix->n_damaged, 1);
    tell_of_damage(ix, why->msg);
}

/* When the next slice is due. What could not be dropped (a full disk) is told again by and by. */
static double next_check(search_index *ix) {
    return atomic_load(&ix->damaged) ? fo_now_ms() + CHECK_AGAIN_MS : fo_now_ms();
}

/* A sealed segment that searches could not read; NULL: there is none. */
static const search_segment *unreadable(const search_snapshot *s, fo_err *why) {
    for (size_t i = 0; i < s->n_segments; i++)
        if (search_segment_readable(&s->segments[i], why)) return &s->segments[i];
    return NULL;
}

double search_background_check(search_index *ix, bool restart) {
    file_check *c = &ix->check;
    if (restart) *c = (file_check){0};
    if (atomic_load(&ix->damaged)) {
        tell_of_damage(ix, "a damaged file is still to be put aside");
        if (atomic_load(&ix->damaged)) return next_check(ix);
    }
    search_snapshot *s = search_index_acquire(ix);
    fo_err why = {0};
    const search_segment *h = restart ? unreadable(s, &why) : NULL;
    if (h) { /* whatever the disk would give now: what is mapped is not what was written */
        search_background_damage(ix, h->serial, &why);
        search_index_release(s);
        return next_check(ix);
    }
    h = next_sealed(s, c->serial);
    if (!h) { /* the end of a pass */
        search_index_release(s);
        *c = (file_check){0};
        return fo_now_ms() + CHECK_EVERY_MS;
    }
    if (h->serial != c->serial) {
        c->serial = h->serial;
        c->at = (segment_check){0};
    }
    bool done = false;
    int rc = segment_verify_some(h->parts[0]->file, &c->at, BACKGROUND_SLICE, &done, &why);
    if (rc && rc != FO_ECORRUPT) { /* no descriptor is left, no memory: the file may be whole */
        search_index_release(s);
        return fo_now_ms() + CHECK_AGAIN_MS;
    }
    atomic_fetch_add(&ix->bytes_checked, BACKGROUND_SLICE);
    if (rc || done) *c = (file_check){.serial = h->serial + 1};
    if (rc) {
        fo_fail_prefix(&why, "segment %016llx", (unsigned long long)h->file);
        search_background_damage(ix, h->serial, &why);
    }
    search_index_release(s);
    return next_check(ix);
}

enum task { SEAL, MERGE };

/* After a failure (a full disk): again when something was published, not at once. Meanwhile what comes in stays
 * in memory: told at the first failure and when it is over. */
static bool succeeded(search_index *ix, enum task task, int rc, const fo_err *why) {
    pthread_mutex_lock(&ix->mu);
    bool stopping = ix->stopping, was = ix->stuck[task];
    if (!stopping) ix->stuck[task] = rc != FO_OK;
    pthread_mutex_unlock(&ix->mu);
    if (stopping) return false;
    const char *what = task == SEAL ? "written to a file" : "merged";
    if (rc) atomic_fetch_add(&ix->n_failures, 1);
    if (rc && !was)
        fo_notice(
            &ix->notices, "index_stuck",
            "the index in %s cannot be %s: %s; it is tried again after the next change, and until "
            "then %s",
            ix->dir, what, why->msg,
            task == SEAL ? "what comes in stays in memory" : "searches take longer");
    if (!rc && was)
        fo_notice(&ix->notices, "index_goes_on", "the index in %s is %s again", ix->dir, what);
    return !rc;
}

bool search_background_seal(search_index *ix) {
    fo_err err = {0};
    pthread_mutex_lock(&ix->sealing);
    int rc = search_seal_frozen(ix, &err);
    pthread_mutex_unlock(&ix->sealing);
    return succeeded(ix, SEAL, rc, &err) && search_has_merge(ix);
}

bool search_background_merge(search_index *ix, uint64_t *damaged, fo_err *why) {
    bool did = false;
    int rc = search_merge_once(ix, &did, damaged, why);
    if (*damaged) return false; /* told as that: what is done about it is the caller's */
    return succeeded(ix, MERGE, rc, why) && did && search_has_merge(ix);
}

void search_index_watch(search_index *ix, search_damage_fn *fn, void *ctx) {
    pthread_mutex_lock(&ix->mu);
    ix->damage_fn = fn;
    ix->damage_ctx = ctx;
    pthread_mutex_unlock(&ix->mu);
    if (ix->workers) search_workers_check(ix->workers, ix, false);
}

void search_index_check_files(search_index *ix) {
    pthread_mutex_lock(&ix->mu);
    bool watched = ix->damage_fn != NULL;
    pthread_mutex_unlock(&ix->mu);
    if (ix->workers && watched) search_workers_check(ix->workers, ix, true);
}

/* Under merging and mu: the current snapshot without the segment. */
static int drop_segment(search_index *ix, uint64_t serial, size_t *n_dropped, fo_err *err) {
    search_snapshot *now = search_snapshot_current(ix);
    search_snapshot *s = search_snapshot_create(ix, now->n_segments, now->epoch, err);
    int rc = s ? FO_OK : FO_ENOMEM;
    uint64_t file = 0;
    for (size_t i = 0; i < now->n_segments && !rc; i++) {
        if (now->segments[i].serial == serial) {
            file = now->segments[i].file;
            continue;
        }
        rc = search_segment_copy(&s->segments[s->n_segments], &now->segments[i], err);
        if (!rc) s->n_segments++;
    }
    /* The files cover no epoch until the gap is filled and sealed. */
    if (!rc && file) rc = search_manifest_write(ix, s, -1, err);
    if (rc || !file) {
        search_index_release(s);
        return rc;
    }
    ix->has_gap = true;
    search_snapshot_publish(ix, s);
    char *path = search_file_path(ix, file);
    if (path) search_put_aside(ix, path);
    free(path);
    *n_dropped = 1;
    return FO_OK;
}

int search_index_drop_damaged(search_index *ix, size_t *n_dropped, fo_err *err) {
    *n_dropped = 0;
    pthread_mutex_lock(&ix->merging);
    pthread_mutex_lock(&ix->mu);
    uint64_t serial = atomic_load(&ix->damaged);
    int rc = serial ? drop_segment(ix, serial, n_dropped, err) : FO_OK;
    if (!rc)
        atomic_compare_exchange_strong(&ix->damaged, &serial,
                                       0); /* else it is still to be dropped */
    pthread_mutex_unlock(&ix->mu);
    pthread_mutex_unlock(&ix->merging);
    return rc;
}
