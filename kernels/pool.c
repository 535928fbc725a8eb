#include "kernels/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/cpu.h"

struct fo_pool {
    /* immutable after create */
    int n_threads;
    pthread_t *threads;

    pthread_mutex_t turn; /* held by the caller of fo_pool_run; taken before mu */
    pthread_mutex_t mu;
    pthread_cond_t start, done;
    /* guarded by mu */
    unsigned long generation;
    int n_busy;
    bool stop;
    /* written under mu before a generation starts, then read-only */
    size_t n, grain;
    fo_pool_fn *fn;
    void *arg;

    atomic_size_t next; /* first item nobody took yet */
};

typedef struct worker_arg {
    fo_pool *pool;
    int thread;
} worker_arg;

static void work(fo_pool *p, int thread) {
    for (;;) {
        size_t begin = atomic_fetch_add_explicit(&p->next, p->grain, memory_order_relaxed);
        if (begin >= p->n) return;
        size_t end = p->n - begin < p->grain ? p->n : begin + p->grain;
        p->fn(p->arg, begin, end, thread);
    }
}

static void *worker(void *v) {
    worker_arg a = *(worker_arg *)v;
    free(v);
    fo_pool *p = a.pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&p->mu);
    for (;;) {
        while (!p->stop && p->generation == seen) pthread_cond_wait(&p->start, &p->mu);
        if (p->stop) break;
        seen = p->generation;
        pthread_mutex_unlock(&p->mu);
        work(p, a.thread);
        pthread_mutex_lock(&p->mu);
        if (--p->n_busy == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->mu);
    return NULL;
}

fo_pool *fo_pool_create(int n_threads) {
    if (n_threads < 1) n_threads = fo_cpu_count();
    fo_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = calloc((size_t)n_threads, sizeof *p->threads);
    if (!p->threads) {
        free(p);
        return NULL;
    }
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

void fo_pool_free(fo_pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->mu);
    p->stop = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->mu);
    for (int i = 1; i < p->n_threads; i++) pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->turn);
    pthread_mutex_destroy(&p->mu);
    pthread_cond_destroy(&p->start);
    pthread_cond_destroy(&p->done);
    free(p->threads);
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
    pthread_mutex_lock(&p->mu);
    p->n = n;
    p->grain = grain;
    p->fn = fn;
    p->arg = arg;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    p->n_busy = p->n_threads - 1;
    p->generation++;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->mu);
    work(p, 0);
    pthread_mutex_lock(&p->mu);
    while (p->n_busy) pthread_cond_wait(&p->done, &p->mu);
    pthread_mutex_unlock(&p->mu);
    pthread_mutex_unlock(&p->turn);
}
