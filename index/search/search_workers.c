/* The threads behind the indexes: who gets the next turn, and for what.
 *
 *     published --workers_wake--> seal --> merge, and again while there is one to do
 *     watched   --workers_check-> check, a slice at a time, when it is due
 *
 * Lock order: an index's mutexes, then the workers'. No thread holds the latter while it works. */
#include "index/search/search_workers.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include "index/search/search_index_internal.h"
#include "kernels/clock.h"
#include "kernels/priority.h"

enum {
    CHECK_BYTES_PER_S = 16 << 20,
    KEPT_FREE = 2, /* of the threads, by merges */
};

struct search_workers {
    /* immutable after create */
    int n_threads, max_merges;
    pthread_t *threads;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t wake; /* there may be something to do */
    pthread_cond_t done; /* some index is not worked on any more */
    search_index *first, **last;
    int n_merging;
    bool checking, stopping;
    pace check_pace;
    double next_check_ms; /* by the pace */
};

enum turn_kind { TURN_NONE, TURN_SEAL, TURN_MERGE, TURN_CHECK };

static void unlink_index(search_workers *w, search_index *ix) {
    for (search_index **p = &w->first; *p; p = &(*p)->turn.next) {
        if (*p != ix) continue;
        *p = ix->turn.next;
        if (w->last == &ix->turn.next) w->last = p;
        return;
    }
}

static void append_index(search_workers *w, search_index *ix) {
    ix->turn.next = NULL;
    *w->last = ix;
    w->last = &ix->turn.next;
}

/* What is to be done next, and for whom: seals first, then merges, each in the order in which
 * indexes had their last turn. *due: when there is something to check, at the earliest. */
static enum turn_kind choose(search_workers *w, search_index **out, double now, double *due) {
    search_index *merge = NULL, *check = NULL;
    *due = INFINITY;
    for (search_index *ix = w->first; ix; ix = ix->turn.next) {
        if (ix->turn.running || ix->turn.leaving) continue;
        if (ix->turn.to_seal) {
            *out = ix;
            return TURN_SEAL;
        }
        if (!merge && ix->turn.to_merge) merge = ix;
        if (ix->turn.check_ms < *due) { /* who waits longest */
            *due = ix->turn.check_ms;
            check = ix;
        }
    }
    if (merge && w->n_merging < w->max_merges) {
        *out = merge;
        return TURN_MERGE;
    }
    if (w->checking) *due = INFINITY; /* whoever checks looks again when it is done */
    if (*due < w->next_check_ms) *due = w->next_check_ms;
    if (*due > now) return TURN_NONE;
    *out = check;
    return TURN_CHECK;
}

static void wait_until(search_workers *w, double at) {
    if (isinf(at)) {
        pthread_cond_wait(&w->wake, &w->mu);
        return;
    }
    struct timespec t = {.tv_sec = (time_t)(at / 1000)};
    t.tv_nsec = (long)((at - (double)t.tv_sec * 1000) * 1e6);
    if (t.tv_nsec > 999999999) t.tv_nsec = 999999999;
    pthread_cond_timedwait(&w->wake, &w->mu, &t);
}

/* One turn; mu is held before and after, not in between. */
static void take_turn(search_workers *w, search_index *ix, enum turn_kind kind) {
    background_turn *turn = &ix->turn;
    bool more = false, restart = turn->restart_check;
    double check_ms = 0;
    turn->running = true;
    unlink_index(w, ix);
    append_index(w, ix); /* the others come first from here on */
    if (kind == TURN_SEAL) turn->to_seal = false;
    if (kind == TURN_MERGE) turn->to_merge = false;
    if (kind == TURN_CHECK) turn->restart_check = false;
    w->n_merging += kind == TURN_MERGE;
    w->checking |= kind == TURN_CHECK;
    pthread_mutex_unlock(&w->mu);
    if (kind == TURN_SEAL) more = background_seal(ix);
    if (kind == TURN_MERGE) more = background_merge(ix);
    if (kind == TURN_CHECK) check_ms = background_check(ix, restart);
    pthread_mutex_lock(&w->mu);
    turn->running = false;
    turn->to_merge |= more;
    w->n_merging -= kind == TURN_MERGE;
    if (kind == TURN_CHECK) {
        double now = fo_now_ms();
        turn->check_ms = turn->restart_check ? 0 : check_ms;
        w->checking = false;
        w->next_check_ms = now + pace_take(&w->check_pace, BACKGROUND_SLICE, now);
    }
    pthread_cond_broadcast(&w->done);
    pthread_cond_broadcast(&w->wake);
}

static void *work(void *arg) {
    search_workers *w = arg;
    fo_thread_background();
    pthread_mutex_lock(&w->mu);
    while (!w->stopping) {
        search_index *ix = NULL;
        double due;
        enum turn_kind kind = choose(w, &ix, fo_now_ms(), &due);
        if (kind == TURN_NONE)
            wait_until(w, due);
        else
            take_turn(w, ix, kind);
    }
    pthread_mutex_unlock(&w->mu);
    return NULL;
}

int search_workers_create(search_workers **out, int n_threads, fo_err *err) {
    search_workers *w = calloc(1, sizeof *w);
    int n = n_threads < 1 ? SEARCH_WORKERS : n_threads;
    if (!w || !(w->threads = calloc((size_t)n, sizeof *w->threads))) {
        free(w);
        return fo_fail(err, FO_ENOMEM, "out of memory for the threads of indexes");
    }
    w->max_merges = n > KEPT_FREE ? n - KEPT_FREE : 1;
    w->last = &w->first;
    w->check_pace = pace_of(CHECK_BYTES_PER_S);
    pthread_mutex_init(&w->mu, NULL);
    pthread_cond_init(&w->done, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (; w->n_threads < n; w->n_threads++) {
        int rc = pthread_create(&w->threads[w->n_threads], NULL, work, w);
        if (rc == 0) continue;
        search_workers_free(w);
        errno = rc;
        return fo_fail_errno(err, "cannot start a thread for indexes");
    }
    *out = w;
    return FO_OK;
}

void search_workers_free(search_workers *w) {
    if (!w) return;
    pthread_mutex_lock(&w->mu);
    w->stopping = true;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->mu);
    for (int i = 0; i < w->n_threads; i++) pthread_join(w->threads[i], NULL);
    pthread_mutex_destroy(&w->mu);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->done);
    free(w->threads);
    free(w);
}

/* ---- from the indexes ----------------------------------------------------------------------- */

void workers_join(search_workers *w, search_index *ix) {
    ix->turn = (background_turn){.to_seal = true, .check_ms = INFINITY};
    pthread_mutex_lock(&w->mu);
    append_index(w, ix);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}

void workers_leave(search_workers *w, search_index *ix) {
    pthread_mutex_lock(&w->mu);
    ix->turn.leaving = true;
    while (ix->turn.running) pthread_cond_wait(&w->done, &w->mu);
    unlink_index(w, ix);
    pthread_mutex_unlock(&w->mu);
}

size_t workers_n_merging(search_workers *w) {
    pthread_mutex_lock(&w->mu);
    size_t n = (size_t)w->n_merging;
    pthread_mutex_unlock(&w->mu);
    return n;
}

void workers_wake(search_workers *w, search_index *ix) {
    pthread_mutex_lock(&w->mu);
    ix->turn.to_seal = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}

void workers_check(search_workers *w, search_index *ix, bool restart) {
    pthread_mutex_lock(&w->mu);
    ix->turn.check_ms = 0;
    ix->turn.restart_check |= restart;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}
