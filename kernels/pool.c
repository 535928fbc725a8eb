/* pool.c - a loop is a gate that the caller opens, works behind and closes; it is over when nobody
 * is inside. A worker that comes too late (another program has its processor) finds the gate shut
 * and nobody has waited for it: its share was taken by the others.
 *
 * Both sides look at the gate in a short spin before they sleep: the loops of a model's step follow
 * each other within microseconds, and waking a thread costs more than that. No wake-up is lost:
 * who goes to sleep says so (asleep, waiting) before it looks again, and who changes the gate
 * looks at those after the change; all three are sequentially consistent.
 *
 * Threads of a node have neighbouring numbers, so neighbouring shares of a loop. Who has done its
 * own share takes from those of its node first: what lies there is near.
 * Lock order: run_mu, then mu. */
#include "kernels/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "kernels/alloc_guard.h"
#include "kernels/cpu.h"
#include "kernels/priority.h"

enum { SPINS = 600 }; /* some 5 to 20 microseconds of pauses */

enum { INSIDE = 0xffff, OPEN = 0x10000, LOOP = 0x20000, MAX_THREADS = INSIDE };

struct fo_pool {
    /* immutable after create */
    int n_threads, spins;
    bool background; /* its threads give way */
    pthread_t *threads;
    const fo_topology *topology; /* NULL: no thread is bound */
    struct place {
        int node;       /* an index into the topology */
        int begin, end; /* the threads of the same node */
    } * places;         /* by thread */

    pthread_mutex_t run_mu; /* held by the caller of fo_pool_run */
    pthread_mutex_t mu;     /* for sleeping alone */
    pthread_cond_t start, done;
    /* written while the gate is shut and nobody inside, then read-only */
    size_t n, grain;
    fo_pool_fn *fn;
    void *arg;
    bool no_alloc; /* the caller must not allocate, so nobody may */
    bool own_only; /* nobody takes from another's share */
    /* atomic */
    atomic_ullong gate;  /* loops so far x LOOP + OPEN + workers inside */
    atomic_bool asleep;  /* some worker is, or is about to be */
    atomic_bool waiting; /* the caller is, or is about to be */
    atomic_bool stop;
    /* By thread: its pieces that nobody took yet, [low half, high half), out of its items. */
    struct share {
        _Alignas(64) atomic_ullong pieces;
        size_t begin, end; /* written while the gate is shut */
    } * shares;
};

typedef struct worker_arg {
    fo_pool *pool;
    int thread, node;
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

/* Whose share a thread takes from as its number `i`: its own, those of its node, the others. */
static int whose_share(const fo_pool *p, int thread, int i) {
    const struct place *at = &p->places[thread];
    const int near = at->end - at->begin;
    return i < near ? at->begin + (thread - at->begin + i) % near
                    : (at->end + i - near) % p->n_threads;
}

static void work(fo_pool *p, int thread) {
    const int n_shares = p->own_only ? 1 : p->n_threads;
    for (int i = 0; i < n_shares; i++) {
        struct share *s = &p->shares[whose_share(p, thread, i)];
        size_t piece;
        while (take(s, i == 0, &piece)) {
            const size_t begin = s->begin + piece * p->grain;
            p->fn(p->arg, begin, s->end - begin < p->grain ? s->end : begin + p->grain, thread);
        }
    }
}

void fo_pool_share(const fo_pool *p, size_t n, int thread, size_t *begin, size_t *end) {
    const size_t threads = (size_t)p->n_threads, t = (size_t)thread, more = n % threads;
    *begin = n / threads * t + (t < more ? t : more);
    *end = *begin + n / threads + (t < more);
}

static void share_out(fo_pool *p) {
    for (int t = 0; t < p->n_threads; t++) {
        struct share *s = &p->shares[t];
        fo_pool_share(p, p->n, t, &s->begin, &s->end);
        const size_t pieces = s->end > s->begin ? (s->end - s->begin - 1) / p->grain + 1 : 0;
        atomic_store_explicit(&s->pieces, (unsigned long long)pieces << 32, memory_order_relaxed);
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
            fo_cpu_pause();
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
        fo_cpu_pause();
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
    if (p->topology) (void)fo_cpus_set_affinity(&p->topology->cpus[a.node]);
    if (p->background) fo_thread_background();
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

static int node_of(const fo_topology *t, int thread, int n_threads) {
    return t ? fo_topology_node(t, thread, n_threads) : 0;
}

/* Fewer threads may run than were planned. */
static void find_places(fo_pool *p, int planned) {
    for (int begin = 0, end; begin < p->n_threads; begin = end) {
        const int node = node_of(p->topology, begin, planned);
        for (end = begin + 1; end < p->n_threads; end++)
            if (node_of(p->topology, end, planned) != node) break;
        for (int i = begin; i < end; i++) p->places[i] = (struct place){node, begin, end};
    }
}

static fo_pool *create(int n_threads, const fo_topology *t, bool background) {
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;
    fo_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = calloc((size_t)n_threads, sizeof *p->threads);
    p->shares = aligned_alloc(64, (size_t)n_threads * sizeof *p->shares);
    p->places = calloc((size_t)n_threads, sizeof *p->places);
    if (!p->threads || !p->shares || !p->places) {
        free(p->threads);
        free(p->shares);
        free(p->places);
        free(p);
        return NULL;
    }
    if (t && t->n_nodes > 1 && n_threads > 1) p->topology = t;
    p->background = background;
    /* Who spins must not keep another from working. */
    p->spins = n_threads <= fo_cpu_count() ? SPINS : 0;
    pthread_mutex_init(&p->run_mu, NULL);
    pthread_mutex_init(&p->mu, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    p->n_threads = 1;
    for (int i = 1; i < n_threads; i++) {
        worker_arg *a = malloc(sizeof *a);
        if (!a) break;
        *a = (worker_arg){p, i, node_of(p->topology, i, n_threads)};
        if (pthread_create(&p->threads[i], NULL, worker, a) != 0) {
            free(a);
            break;
        }
        p->n_threads++;
    }
    find_places(p, n_threads);
    return p;
}

fo_pool *fo_pool_create(int n_threads) {
    return create(n_threads < 1 ? fo_cpu_count() : n_threads, NULL, false);
}

fo_pool *fo_pool_create_bound(int n_threads, const fo_topology *t) {
    return create(n_threads < 1 ? fo_core_count() : n_threads, t ? t : fo_cpu_topology(), false);
}

fo_pool *fo_pool_create_background(int n_threads, bool bound) {
    if (n_threads < 1) n_threads = bound ? fo_core_count() : fo_cpu_count();
    return create(n_threads, bound ? fo_cpu_topology() : NULL, true);
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
    pthread_mutex_destroy(&p->run_mu);
    pthread_mutex_destroy(&p->mu);
    pthread_cond_destroy(&p->start);
    pthread_cond_destroy(&p->done);
    free(p->threads);
    free(p->shares);
    free(p->places);
    free(p);
}

int fo_pool_threads(const fo_pool *p) {
    return p->n_threads;
}

int fo_pool_node(const fo_pool *p, int thread) {
    return p->places[thread].node;
}

int fo_pool_node_number(const fo_pool *p, int thread) {
    return p->topology ? p->topology->number[p->places[thread].node] : 0;
}

bool fo_pool_is_bound(const fo_pool *p) {
    return p->places[0].node != p->places[p->n_threads - 1].node;
}

void fo_pool_enter(const fo_pool *p, fo_pool_visit *v) {
    v->bound = p->topology && fo_cpus_get_affinity(&v->before) &&
               fo_cpus_set_affinity(&p->topology->cpus[p->places[0].node]);
}

void fo_pool_leave(const fo_pool_visit *v) {
    if (v->bound) (void)fo_cpus_set_affinity(&v->before);
}

/* Nobody else takes the share of a thread that is late. */
static void await_all(fo_pool *p) {
    for (int t = 0; t < p->n_threads; t++)
        for (;;) {
            const unsigned long long v = atomic_load(&p->shares[t].pieces);
            if ((v & UINT32_MAX) >= v >> 32) break;
            sched_yield();
        }
}

static void run(fo_pool *p, size_t n, size_t grain, fo_pool_fn *fn, void *arg, bool own_only) {
    pthread_mutex_lock(&p->run_mu);
    p->n = n;
    p->grain = (n - 1) / grain < UINT32_MAX ? grain : (n - 1) / (UINT32_MAX - 1) + 1;
    p->fn = fn;
    p->arg = arg;
    p->no_alloc = fo_alloc_is_forbidden();
    p->own_only = own_only;
    share_out(p);
    atomic_fetch_add(&p->gate, LOOP + OPEN);
    if (atomic_load(&p->asleep)) wake(p);
    work(p, 0);
    if (own_only) await_all(p);
    if (atomic_fetch_sub(&p->gate, OPEN) & INSIDE) await_workers(p);
    pthread_mutex_unlock(&p->run_mu);
}

void fo_pool_run(fo_pool *p, size_t n, size_t grain, fo_pool_fn *fn, void *arg) {
    if (n == 0) return;
    if (grain == 0) grain = 1;
    if (p->n_threads > 1 && n > grain) {
        run(p, n, grain, fn, arg, false);
        return;
    }
    for (size_t begin = 0; begin < n; begin += grain)
        fn(arg, begin, n - begin < grain ? n : begin + grain, 0);
}

void fo_pool_each(fo_pool *p, fo_pool_fn *fn, void *arg) {
    run(p, (size_t)p->n_threads, 1, fn, arg, true);
}
