/* The threads behind the indexes: which task comes next, and of which index.
 *
 *     published --search_workers_wake--> seal --> merge, and again while there is one to do; seals go on beside it
 *     watched   --search_workers_check-> check, a slice at a time, when it is due
 *
 * Lock order: an index's mutexes, then the workers'. No thread holds the latter while it works. */
#include "index/search/search_workers.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include "index/search/search_index_internal.h"
#include "kernels/cond.h"
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

enum task_kind { TASK_NONE, TASK_SEAL, TASK_MERGE, TASK_CHECK };

static void unlink_index(search_workers *w, search_index *ix) {
    for (search_index **p = &w->first; *p; p = &(*p)->background.next) {
        if (*p != ix) continue;
        *p = ix->background.next;
        if (w->last == &ix->background.next) w->last = p;
        return;
    }
}

static void append_index(search_workers *w, search_index *ix) {
    ix->background.next = NULL;
    *w->last = ix;
    w->last = &ix->background.next;
}

/* What is to be done next, and for whom: seals first, then merges, each in the order in which
 * indexes had their last task. *due: when there is something to check, at the earliest. */
static enum task_kind choose(search_workers *w, search_index **out, double now, double *due) {
    search_index *merge = NULL, *check = NULL;
    *due = INFINITY;
    for (search_index *ix = w->first; ix; ix = ix->background.next) {
        if (ix->background.running || ix->background.leaving) continue;
        if (ix->background.to_seal) {
            *out = ix;
            return TASK_SEAL;
        }
        if (ix->background.merging) continue;
        if (!merge && ix->background.to_merge) merge = ix;
        if (ix->background.check_ms < *due) { /* who waits longest */
            *due = ix->background.check_ms;
            check = ix;
        }
    }
    if (merge && w->n_merging < w->max_merges) {
        *out = merge;
        return TASK_MERGE;
    }
    if (w->checking) *due = INFINITY; /* whoever checks looks again when it is done */
    if (*due < w->next_check_ms) *due = w->next_check_ms;
    if (*due > now) return TASK_NONE;
    *out = check;
    return TASK_CHECK;
}

/* A merge, and what is to be told of what it read. Meanwhile seals go on: what comes in while a long merge waits for
 * its rate must not gather in memory. Not while the damage is told, though: what is published into a gap is sealed by
 * whoever fills it. */
static bool merge(search_workers *w, search_index *ix) {
    search_background *b = &ix->background;
    uint64_t damaged;
    fo_err why = {0};
    bool more = search_background_merge(ix, &damaged, &why);
    if (!damaged) return more;
    pthread_mutex_lock(&w->mu);
    while (b->running) pthread_cond_wait(&w->done, &w->mu);
    b->running = true;
    pthread_mutex_unlock(&w->mu);
    search_background_damage(ix, damaged, &why);
    pthread_mutex_lock(&w->mu);
    b->running = false;
    pthread_mutex_unlock(&w->mu);
    return false;
}

/* One task; mu is held before and after, not in between. */
static void run_task(search_workers *w, search_index *ix, enum task_kind kind) {
    search_background *b = &ix->background;
    bool more = false, restart = b->restart_check;
    double check_ms = 0;
    *(kind == TASK_MERGE ? &b->merging : &b->running) = true;
    unlink_index(w, ix);
    append_index(w, ix); /* the others come first from here on */
    if (kind == TASK_SEAL) b->to_seal = false;
    if (kind == TASK_MERGE) b->to_merge = false;
    if (kind == TASK_CHECK) b->restart_check = false;
    w->n_merging += kind == TASK_MERGE;
    w->checking |= kind == TASK_CHECK;
    pthread_mutex_unlock(&w->mu);
    static const char *const names[] = {"index idle", "index seal", "index merge", "index check"};
    pthread_setname_np(pthread_self(), names[kind]); /* `top -H` shows what goes on */
    if (kind == TASK_SEAL) more = search_background_seal(ix);
    if (kind == TASK_MERGE) more = merge(w, ix);
    if (kind == TASK_CHECK) check_ms = search_background_check(ix, restart);
    pthread_setname_np(pthread_self(), names[TASK_NONE]);
    pthread_mutex_lock(&w->mu);
    *(kind == TASK_MERGE ? &b->merging : &b->running) = false;
    b->to_merge |= more;
    w->n_merging -= kind == TASK_MERGE;
    if (kind == TASK_CHECK) {
        double now = fo_now_ms();
        b->check_ms = b->restart_check ? 0 : check_ms;
        w->checking = false;
        w->next_check_ms = now + pace_take(&w->check_pace, BACKGROUND_SLICE, now);
    }
    pthread_cond_broadcast(&w->done);
    pthread_cond_broadcast(&w->wake);
}

static void *work(void *arg) {
    search_workers *w = arg;
    fo_thread_background();
    pthread_setname_np(pthread_self(), "index idle");
    pthread_mutex_lock(&w->mu);
    while (!w->stopping) {
        search_index *ix = NULL;
        double due;
        enum task_kind kind = choose(w, &ix, fo_now_ms(), &due);
        if (kind == TASK_NONE)
            fo_cond_wait_until(&w->wake, &w->mu, due);
        else
            run_task(w, ix, kind);
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
    fo_cond_init(&w->wake);
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

void search_workers_join(search_workers *w, search_index *ix) {
    ix->background = (search_background){.to_seal = true, .check_ms = INFINITY};
    pthread_mutex_lock(&w->mu);
    append_index(w, ix);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}

void search_workers_leave(search_workers *w, search_index *ix) {
    pthread_mutex_lock(&w->mu);
    ix->background.leaving = true;
    while (ix->background.running || ix->background.merging) pthread_cond_wait(&w->done, &w->mu);
    unlink_index(w, ix);
    pthread_mutex_unlock(&w->mu);
}

size_t search_workers_n_merging(search_workers *w) {
    pthread_mutex_lock(&w->mu);
    size_t n = (size_t)w->n_merging;
    pthread_mutex_unlock(&w->mu);
    return n;
}

void search_workers_wake(search_workers *w, search_index *ix) {
    pthread_mutex_lock(&w->mu);
    ix->background.to_seal = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}

void search_workers_check(search_workers *w, search_index *ix, bool restart) {
    pthread_mutex_lock(&w->mu);
    ix->background.check_ms = 0;
    ix->background.restart_check |= restart;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}
