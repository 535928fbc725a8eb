#include "server/routes/gauges.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/cond.h"
#include "kernels/clock.h"
#include "server/local/engine_figures.h"
#include "server/routes/app.h"

enum { EVERY_S = 15, KEPT = 86400 / EVERY_S };

struct gauges {
    service *service;
    pthread_t thread;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t wake;
    bool stop;
    size_t n; /* looks so far; look i is in ring[i % KEPT] */
    gauge_point ring[KEPT];
};

const char *gauge_name(enum gauge g) {
    static const char *const names[N_GAUGES] = {"resident", "answer", "retrieval", "index", "kv"};
    return names[g];
}

static gauge_point look(service *s) {
    gauge_point p = {.t_s = fo_unix_ms() / 1000};
    p.max_bytes[GAUGE_RESIDENT] = app_resident_bytes();
    service_cache_stats caches;
    service_get_cache_stats(s, &caches);
    p.max_bytes[GAUGE_ANSWERS] = caches.answer.bytes;
    p.max_bytes[GAUGE_CONTEXTS] = caches.retrieval.bytes;
    search_index_stats indexes = {0};
    service_get_index_stats(s, &indexes, NULL, NULL);
    p.max_bytes[GAUGE_INDEX] = indexes.bytes_memory;
    engine_kv_use kv;
    engine_figures_kv_use(service_generator(s), &kv);
    p.max_bytes[GAUGE_KV] = kv.page_bytes;
    return p;
}

static void *work(void *arg) {
    gauges *g = arg;
    pthread_mutex_lock(&g->mu);
    while (!g->stop) {
        pthread_mutex_unlock(&g->mu);
        gauge_point p = look(g->service);
        pthread_mutex_lock(&g->mu);
        g->ring[g->n++ % KEPT] = p;
        double until = fo_now_ms() + EVERY_S * 1e3;
        while (!g->stop && fo_cond_wait_until(&g->wake, &g->mu, until) == 0) {
        }
    }
    pthread_mutex_unlock(&g->mu);
    return NULL;
}

int gauges_create(gauges **out, service *s, fo_err *err) {
    gauges *g = calloc(1, sizeof *g);
    if (!g) return fo_no_memory(err);
    g->service = s;
    pthread_mutex_init(&g->mu, NULL);
    fo_cond_init(&g->wake);
    if (pthread_create(&g->thread, NULL, work, g) != 0) {
        free(g);
        return fo_fail(err, FO_ENOMEM, "cannot start a thread");
    }
    *out = g;
    return FO_OK;
}

void gauges_free(gauges *g) {
    if (!g) return;
    pthread_mutex_lock(&g->mu);
    g->stop = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->mu);
    pthread_join(g->thread, NULL);
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->mu);
    free(g);
}

int gauges_series(gauges *g, int64_t since_s, int64_t step_s, gauge_point **out, size_t *n,
                  fo_err *err) {
    *out = NULL;
    *n = 0;
    gauge_point *list = malloc(KEPT * sizeof *list);
    if (!list) return fo_no_memory(err);
    size_t k = 0;
    pthread_mutex_lock(&g->mu);
    for (size_t i = g->n > KEPT ? g->n - KEPT : 0; i < g->n; i++) {
        const gauge_point *p = &g->ring[i % KEPT];
        int64_t at = p->t_s / step_s * step_s;
        if (p->t_s < since_s) continue;
        if (k == 0 || list[k - 1].t_s != at) {
            list[k] = *p;
            list[k++].t_s = at;
            continue;
        }
        for (int m = 0; m < N_GAUGES; m++)
            if (list[k - 1].max_bytes[m] < p->max_bytes[m])
                list[k - 1].max_bytes[m] = p->max_bytes[m];
    }
    pthread_mutex_unlock(&g->mu);
    *out = list;
    *n = k;
    return FO_OK;
}
