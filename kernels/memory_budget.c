/* See memory_budget.h. */
#include "kernels/cond.h"
#include "kernels/memory_budget.h"

#include <pthread.h>
#include <stdlib.h>

#include "kernels/clock.h"

enum { LOOK_MS = 50 }; /* between two looks at a waiter's cancel flag */

/* One that waits, on its own stack. */
typedef struct waiter {
    struct waiter *next;
} waiter;

struct memory_budget {
    size_t bytes; /* immutable */
    pthread_mutex_t mu;
    pthread_cond_t change; /* something was given back, or the first waiter left */
    /* guarded by mu */
    size_t used, most;
    waiter *first, **last;
    size_t n_waiting;
    uint64_t n_waited, n_refused;
};

int memory_budget_create(memory_budget **out, size_t bytes, fo_err *err) {
    memory_budget *b = calloc(1, sizeof *b);
    if (!b) return fo_no_memory(err);
    b->bytes = bytes;
    b->last = &b->first;
    pthread_mutex_init(&b->mu, NULL);
    fo_cond_init(&b->change);
    *out = b;
    return FO_OK;
}

void memory_budget_free(memory_budget *b) {
    if (!b) return;
    pthread_cond_destroy(&b->change);
    pthread_mutex_destroy(&b->mu);
    free(b);
}

/* mu held, in what follows. */

static bool is_free(const memory_budget *b, size_t bytes) {
    return bytes <= b->bytes - b->used;
}

static void enqueue(memory_budget *b, waiter *w) {
    *b->last = w;
    b->last = &w->next;
    b->n_waiting++;
    b->n_waited++;
}

static void dequeue(memory_budget *b, waiter *w) {
    waiter **at = &b->first;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    if (!w->next) b->last = at;
    b->n_waiting--;
    pthread_cond_broadcast(&b->change); /* the next one may be first now */
}

static int wait_in_line(memory_budget *b, size_t bytes, int wait_ms, const atomic_bool *cancel) {
    waiter w = {0};
    int rc = FO_OK;
    double until = fo_now_ms() + wait_ms;
    enqueue(b, &w);
    while (!(b->first == &w && is_free(b, bytes))) {
        double now = fo_now_ms(), look = now + LOOK_MS < until ? now + LOOK_MS : until;
        if (cancel && atomic_load(cancel)) {
            rc = FO_ECANCELLED;
            break;
        }
        if (now >= until) {
            rc = FO_EBUSY;
            break;
        }
        fo_cond_wait_until(&b->change, &b->mu, look);
    }
    dequeue(b, &w);
    if (rc) b->n_refused++;
    return rc;
}

int memory_budget_take(memory_budget *b, size_t bytes, int wait_ms, const atomic_bool *cancel,
                       fo_err *err) {
    if (bytes > b->bytes)
        return fo_fail(err, FO_ELIMIT, "%zu MiB of memory are needed and there are %zu in all",
                       (bytes + (1 << 20) - 1) >> 20, b->bytes >> 20);
    int rc = FO_OK;
    pthread_mutex_lock(&b->mu);
    if (b->first || !is_free(b, bytes))
        rc = wait_ms > 0 ? wait_in_line(b, bytes, wait_ms, cancel) : FO_EBUSY;
    if (!rc) {
        b->used += bytes;
        if (b->used > b->most) b->most = b->used;
    }
    pthread_mutex_unlock(&b->mu);
    if (rc == FO_ECANCELLED) return fo_fail(err, rc, "cancelled");
    if (rc == FO_EBUSY)
        return fo_fail(err, rc, "%zu MiB of memory are needed and others hold too much of the %zu",
                       (bytes + (1 << 20) - 1) >> 20, b->bytes >> 20);
    return rc;
}

void memory_budget_give(memory_budget *b, size_t bytes) {
    if (!bytes) return;
    pthread_mutex_lock(&b->mu);
    b->used -= bytes < b->used ? bytes : b->used;
    pthread_cond_broadcast(&b->change);
    pthread_mutex_unlock(&b->mu);
}

void memory_budget_get_stats(memory_budget *b, memory_budget_stats *out) {
    pthread_mutex_lock(&b->mu);
    *out = (memory_budget_stats){.bytes = b->bytes,
                                 .used = b->used,
                                 .most = b->most,
                                 .n_waiting = b->n_waiting,
                                 .n_waited = b->n_waited,
                                 .n_refused = b->n_refused};
    pthread_mutex_unlock(&b->mu);
}
