/* pool.c - a loop is a gate that the caller opens, works behind and closes; it is over when nobody
 * is inside. A worker that comes too late (another program has its processor) finds the gate shut
 * and nobody has waited for it: its share was taken by the others.
 *
 * Both sides look at the gate in a short spin before they sleep: the loops of a model's step follow
 * each other within microseconds, and waking a thread costs more than that. No wake-up is lost:
 * who goes to sleep says so (asleep, waiting) before it looks again, and who changes the gate
 * looks at those after the change; all three are sequentially consistent.
 * Lock order: turn, then mu. */
#include "kernels/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "kernels/alloc_guard.h"
#include "kernels/cpu.h"

enum { SPINS = 600 }; /* some 5 to 20 microseconds of pauses */

enum { INSIDE = 0xffff, OPEN = 0x10000, LOOP = 0x20000, MAX_THREADS = INSIDE };

struct fo_pool {
    /* immutable after create */
    int n_threads, spins;
    pthread_t *threads;

    pthread_mutex_t turn; /* held by the caller of fo_pool_run */
    pthread_mutex_t mu;   /* for sleeping alone */
    pthread_cond_t start, done;
    /* written while the gate is shut and nobody inside, then read-only */
    size_t n, grain;
    fo_pool_fn *fn;
    void *arg;
    bool no_alloc; /* the caller must not allocate, so nobody may */
    /* atomic */
    atomic_ullong gate;  /* loops so far x LOOP + OPEN + workers inside */
    atomic_bool asleep;  /* some worker is, or is about to be */
    atomic_bool waiting; /* the caller is, or is about to be */
    atomic_bool stop;
    /* By thread: its pieces that nobody took yet, [low half, high half). */
    struct share {
        _Alignas(64) atomic_ullong pieces;
    } * shares;
};

typedef struct worker_arg {
    fo_pool *pool;
    int thread;
} worker_arg;

/* A piece out of a thread's share: its first one for the thread itself, which so walks through
 * memory in order, its last one for others. */
static bool take(struct share *s, bool mine, size_t *piece) {
    unsigned long long v = atomic_load_explicit(&s->pieces, memory_order_relaxed), to;
    do {
        const unsigned long long begin = v & UINT32_MAX, end = v >> 32;
        if (begin >= end) return false;
        *piece = mine ? begin : end - 1;
        to = mine ? v + 1 : v - (1ull << 32);
    } while (!atomic_compare_exchange_weak_explicit(&s->pieces, &v, to, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static void work(fo_pool *p, int thread) {
    for (int i = 0; i < p->n_threads; i++) {
        const int whose = (thread + i) % p->n_threads;
        size_t piece;
        while (take(&p->shares[whose], i == 0, &piece)) {
            const size_t begin = piece * p->grain;
            p->fn(p->arg, begin, p->n - begin < p->grain ? p->n : begin + p->grain, thread);
        }
    }
}

static void share_out(fo_pool *p) {
    const size_t pieces = (p->n - 1) / p->grain + 1, threads = (size_t)p->n_threads;
    for (size_t t = 0, begin = 0; t < threads; t++) {
        const size_t end = begin + pieces / threads + (t < pieces % threads);
        atomic_store_explicit(&p->shares[t].pieces, (unsigned long long)end << 32 | begin,
                              memory_order_relaxed);
        begin = end;
    }
}

static bool is_new(unsigned long long gate, unsigned long long seen) {
    return (gate & OPEN) && gate / LOOP != seen;
}

static bool news(fo_pool *p, unsigned long long seen) {
    return is_new(atomic_load(&p->gate), seen) || atomic_load(&p->stop);
}

static void await_news(fo_pool *p, unsigned long long seen) {
    for (;;) {
        for (int i = 0; i < p->spins; i++) {
            if (news(p, seen)) return;
            __builtin_ia32_pause();
        }
        pthread_mutex_lock(&p->mu);
        atomic_store(&p->asleep, true);
        const bool sleep = !news(p, seen);
        if (sleep) pthread_cond_wait(&p->start, &p->mu);
        pthread_mutex_unlock(&p->mu);
        if (!sleep) return;
    }
}

/* Into the loop that is open, if that is another than `seen`. */
static bool enter(fo_pool *p, unsigned long long *seen) {
    unsigned long long gate = atomic_load(&p->gate);
    do {
        if (!is_new(gate, *seen)) return false;
    } while (!atomic_compare_exchange_weak(&p->gate, &gate, gate + 1));
    *seen = gate / LOOP;
    return true;
}

static void leave(fo_pool *p) {
    const unsigned long long gate = atomic_fetch_sub(&p->gate, 1) - 1;
    if ((gate & (OPEN | INSIDE)) || !atomic_load(&p->waiting)) return;
    pthread_mutex_lock(&p->mu);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->mu);
}

static bool empty(fo_pool *p) {
    return (atomic_load(&p->gate) & INSIDE) == 0;
}

static void await_workers(fo_pool *p) {
    for (int i = 0; i < p->spins; i++) {
        if (empty(p)) return;
        __builtin_ia32_pause();
    }
    pthread_mutex_lock(&p->mu);
    atomic_store(&p->waiting, true);
    while (!empty(p)) pthread_cond_wait(&p->done, &p->mu);
    atomic_store(&p->waiting, false);
    pthread_mutex_unlock(&p->mu);
}

static void *worker(void *v) {
    worker_arg a = *(worker_arg *)v;
    free(v);
    fo_pool *p = a.pool;
    for (unsigned long long seen = 0;;) {
        await_news(p, seen);
        if (atomic_load(&p->stop)) return NULL;
        if (!enter(p, &seen)) continue;
        const bool no_alloc = p->no_alloc;
        if (no_alloc) fo_alloc_forbid();
        work(p, a.thread);
        if (no_alloc) fo_alloc_allow();
        leave(p);
    }
}

fo_pool *fo_pool_create(int n_threads) {
    const int n_cpus = fo_cpu_count();
    if (n_threads < 1) n_threads = n_cpus;
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;
    fo_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = calloc((size_t)n_threads, sizeof *p->threads);
    p->shares = aligned_alloc(64, (size_t)n_threads * sizeof *p->shares);
    if (!p->threads || !p->shares) {
        free(p->threads);
        free(p->shares);
        free(p);
        return NULL;
    }
    p->spins = n_threads <= n_cpus ? SPINS : 0; /* who spins must not keep another from working */
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->mu, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    p->n_threads = 1;
    for (int i = 1; i < n_threads; i++) {
        worker_arg *a = malloc(sizeof *a);
        if (!a) break;
        *a = (worker_arg){p, i};
        if (pthread_create(&p->threads[i], NULL, worker, a) != 0) {
            free(a);
            break;
        }
        p->n_threads++;
    }
    return p;
}

static void wake(fo_pool *p) {
    pthread_mutex_lock(&p->mu);
    atomic_store(&p->asleep, false);
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->mu);
}

void fo_pool_free(fo_pool *p) {
    if (!p) return;
    atomic_store(&p->stop, true);
    wake(p);
    for (int i = 1; i < p->n_threads; i++) pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->turn);
    pthread_mutex_destroy(&p->mu);
    pthread_cond_destroy(&p->start);
    pthread_cond_destroy(&p->done);
    free(p->threads);
    free(p->shares);
    free(p);
}

int fo_pool_threads(const fo_pool *p) {
    return p->n_threads;
}

void fo_pool_run(fo_pool *p, size_t n, size_t grain, fo_pool_fn *fn, void *arg) {
    if (n == 0) return;
    if (grain == 0) grain = 1;
    if (p->n_threads == 1 || n <= grain) {
        for (size_t begin = 0; begin < n; begin += grain)
            fn(arg, begin, n - begin < grain ? n : begin + grain, 0);
        return;
    }
    pthread_mutex_lock(&p->turn);
    p->n = n;
    p->grain = (n - 1) / grain < UINT32_MAX ? grain : (n - 1) / (UINT32_MAX - 1) + 1;
    p->fn = fn;
    p->arg = arg;
    p->no_alloc = fo_alloc_is_forbidden();
    share_out(p);
    atomic_fetch_add(&p->gate, LOOP + OPEN);
    if (atomic_load(&p->asleep)) wake(p);
    work(p, 0);
    if (atomic_fetch_sub(&p->gate, OPEN) & INSIDE) await_workers(p);
    pthread_mutex_unlock(&p->turn);
}
