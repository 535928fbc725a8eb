/* The thread of an index: seals and merges first; between them, a slice at a time, it checks the
 * checksums of the sealed files. */
#include "index/search/search_index_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "kernels/clock.h"
#include "kernels/priority.h"

enum {
    CHECK_SLICE = 1 << 20,
    CHECK_BYTES_PER_S = 16 << 20,
    CHECK_EVERY_MS = 24 * 3600 * 1000,
};

/* Wait on ix->wake, under mu, no longer than until `at` (monotonic, ms). */
static void wait_until(search_index *ix, double at) {
    struct timespec t = {.tv_sec = (time_t)(at / 1000)};
    t.tv_nsec = (long)((at - (double)t.tv_sec * 1000) * 1e6);
    if (t.tv_nsec < 0) t.tv_nsec = 0;
    if (t.tv_nsec > 999999999) t.tv_nsec = 999999999;
    pthread_cond_timedwait(&ix->wake, &ix->mu, &t);
}

int background_gate(void *arg, size_t n, fo_err *err) {
    search_index *ix = arg;
    double now = fo_now_ms(), at = now + pace_take(&ix->merge_pace, n, now);
    pthread_mutex_lock(&ix->mu);
    while (!ix->stopping && fo_now_ms() < at) wait_until(ix, at);
    bool stopping = ix->stopping;
    pthread_mutex_unlock(&ix->mu);
    return stopping ? fo_fail(err, FO_ECANCELLED, "the merge was stopped") : FO_OK;
}

/* The sealed shelf to be checked next: the one of the smallest serial that is not below `from`. */
static const shelf *next_sealed(const search_snapshot *s, uint64_t from) {
    const shelf *best = NULL;
    for (size_t i = 0; i < s->n_shelves; i++) {
        const shelf *h = &s->shelves[i];
        if (h->file && h->serial >= from && (!best || h->serial < best->serial)) best = h;
    }
    return best;
}

static void report_damage(search_index *ix, const shelf *h, const fo_err *why) {
    fo_err text = {0};
    fo_fail(&text, why->code, "segment %016llx: %s", (unsigned long long)h->file, why->msg);
    pthread_mutex_lock(&ix->mu);
    search_damage_fn *fn = ix->damage_fn;
    void *ctx = ix->damage_ctx;
    pthread_mutex_unlock(&ix->mu);
    atomic_store(&ix->damaged, h->serial);
    atomic_fetch_add(&ix->n_damaged, 1);
    if (fn) fn(ctx, text.msg);
}

/* One slice; sets when the next is due. */
static void check_some(search_index *ix) {
    file_check *c = &ix->check;
    search_snapshot *s = search_index_acquire(ix);
    const shelf *h = next_sealed(s, c->serial);
    double now = fo_now_ms();
    if (!h) { /* the end of a pass */
        search_index_release(s);
        *c = (file_check){.pace = c->pace, .next_ms = now + CHECK_EVERY_MS};
        return;
    }
    if (h->serial != c->serial) {
        c->serial = h->serial;
        c->at = (segment_check){0};
    }
    bool done = false;
    fo_err why = {0};
    int rc = segment_verify_some(h->parts[0]->file, &c->at, CHECK_SLICE, &done, &why);
    atomic_fetch_add(&ix->bytes_checked, CHECK_SLICE);
    c->next_ms = now + pace_take(&c->pace, CHECK_SLICE, now);
    if (rc != FO_OK || done) c->serial++;
    if (rc != FO_OK) report_damage(ix, h, &why);
    search_index_release(s);
}

void *background(void *arg) {
    fo_thread_background();
    search_index *ix = arg;
    int64_t seen = INT64_MIN; /* the snapshot's epoch when there was nothing left to do */
    uint64_t serial = 0;
    ix->merge_pace = pace_of(ix->merge_bytes_per_s);
    ix->check.pace = pace_of(CHECK_BYTES_PER_S);
    pthread_mutex_lock(&ix->mu);
    while (!ix->stopping) {
        int64_t epoch = snapshot_current(ix)->epoch;
        bool idle = epoch == seen && serial == ix->next_serial;
        if (ix->check_now) ix->check = (file_check){.pace = ix->check.pace};
        ix->check_now = false;
        if (idle && ix->damage_fn && ix->check.next_ms <= fo_now_ms()) {
            pthread_mutex_unlock(&ix->mu);
            check_some(ix);
            pthread_mutex_lock(&ix->mu);
            continue;
        }
        if (idle) {
            if (ix->damage_fn)
                wait_until(ix, ix->check.next_ms);
            else
                pthread_cond_wait(&ix->wake, &ix->mu);
            continue;
        }
        pthread_mutex_unlock(&ix->mu);
        bool did = false;
        fo_err err = {0};
        int rc = work_once(ix, &did, &err);
        pthread_mutex_lock(&ix->mu);
        /* after a failure (a full disk): again when something was published, not at once */
        if (rc != FO_OK && !ix->stopping) ix->n_failures++;
        if (rc != FO_OK || !did) {
            seen = epoch;
            serial = ix->next_serial;
        }
    }
    pthread_mutex_unlock(&ix->mu);
    return NULL;
}

void search_index_watch(search_index *ix, search_damage_fn *fn, void *ctx) {
    pthread_mutex_lock(&ix->mu);
    ix->damage_fn = fn;
    ix->damage_ctx = ctx;
    pthread_cond_broadcast(&ix->wake);
    pthread_mutex_unlock(&ix->mu);
}

void search_index_check_files(search_index *ix) {
    pthread_mutex_lock(&ix->mu);
    ix->check_now = true;
    pthread_cond_broadcast(&ix->wake);
    pthread_mutex_unlock(&ix->mu);
}

/* Under work and mu: the current snapshot without the shelf. */
static int drop_shelf(search_index *ix, uint64_t serial, size_t *n_dropped, fo_err *err) {
    search_snapshot *now = snapshot_current(ix);
    search_snapshot *s = snapshot_create(ix, now->n_shelves, now->epoch, err);
    int rc = s ? FO_OK : FO_ENOMEM;
    uint64_t file = 0;
    for (size_t i = 0; i < now->n_shelves && rc == FO_OK; i++) {
        if (now->shelves[i].serial == serial) {
            file = now->shelves[i].file;
            continue;
        }
        rc = shelf_copy(&s->shelves[s->n_shelves], &now->shelves[i], err);
        if (rc == FO_OK) s->n_shelves++;
    }
    /* The files cover no epoch until the gap is filled and sealed. */
    if (rc == FO_OK && file) rc = manifest_write(ix, s, -1, err);
    if (rc != FO_OK || !file) {
        search_index_release(s);
        return rc;
    }
    snapshot_publish(ix, s);
    char *path = file_path(ix, file);
    if (path) put_aside(ix, path);
    free(path);
    *n_dropped = 1;
    return FO_OK;
}

int search_index_drop_damaged(search_index *ix, size_t *n_dropped, fo_err *err) {
    *n_dropped = 0;
    pthread_mutex_lock(&ix->work);
    pthread_mutex_lock(&ix->mu);
    uint64_t serial = atomic_exchange(&ix->damaged, 0);
    int rc = serial ? drop_shelf(ix, serial, n_dropped, err) : FO_OK;
    pthread_mutex_unlock(&ix->mu);
    pthread_mutex_unlock(&ix->work);
    return rc;
}
