#include "server/routes/query_log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "retrieval/service/activity.h"
#include "server/base/log.h"
#include "kernels/clock.h"
#include "kernels/cond.h"

#define ROWS_MAX 4096

struct query_log {
    service *service;
    pthread_t thread;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t wake;
    store_query_log *rows; /* strings are owned */
    size_t n;
    uint64_t dropped;
    bool stop;
};

static void free_row(store_query_log *r) {
    free((char *)r->tenant);
    free((char *)r->collection);
    free((char *)r->query);
    free((char *)r->status);
    free((char *)r->answer_source);
}

static void write_rows(query_log *l, store_query_log *rows, size_t n) {
    fo_err err = {0};
    if (n && service_log_queries(l->service, rows, n, &err))
        log_event(LOG_LEVEL_WARN, NULL, "query_log", LOG_INT("lost", n), LOG_STR("error", err.msg));
    for (size_t i = 0; i < n; i++) free_row(&rows[i]);
}

static void *work(void *arg) {
    query_log *l = arg;
    store_query_log *spare = calloc(ROWS_MAX, sizeof *spare);
    pthread_mutex_lock(&l->mu);
    int64_t trimmed = 0;
    while (spare && (!l->stop || l->n)) {
        if (!l->stop) {
            fo_cond_wait_until(&l->wake, &l->mu, fo_now_ms() + 1000);
        }
        store_query_log *rows = l->rows;
        size_t n = l->n;
        l->rows = spare;
        l->n = 0;
        pthread_mutex_unlock(&l->mu);
        write_rows(l, rows, n);
        if (log_now_ms() - trimmed > 3600 * 1000) { /* a failed one is tried again in an hour */
            trimmed = log_now_ms();
            service_trim_log(l->service, trimmed, NULL);
        }
        spare = rows;
        pthread_mutex_lock(&l->mu);
    }
    pthread_mutex_unlock(&l->mu);
    free(spare);
    return NULL;
}

int query_log_create(query_log **out, service *s, fo_err *err) {
    query_log *l = calloc(1, sizeof *l);
    store_query_log *rows = calloc(ROWS_MAX, sizeof *rows);
    if (!l || !rows) {
        free(l);
        free(rows);
        return fo_no_memory(err);
    }
    l->service = s;
    l->rows = rows;
    pthread_mutex_init(&l->mu, NULL);
    fo_cond_init(&l->wake);
    if (pthread_create(&l->thread, NULL, work, l) != 0) {
        free(rows);
        free(l);
        return fo_fail(err, FO_ENOMEM, "cannot start a thread");
    }
    *out = l;
    return FO_OK;
}

void query_log_free(query_log *l) {
    if (!l) return;
    pthread_mutex_lock(&l->mu);
    l->stop = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mu);
    pthread_join(l->thread, NULL);
    for (size_t i = 0; i < l->n; i++) free_row(&l->rows[i]);
    free(l->rows);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->mu);
    free(l);
}

static char *copy(const char *s) {
    return s ? strdup(s) : NULL;
}

/* A dropped row's cache figures join a late row of the same tenant, at most a second older: the
 * rollups stay right when the log itself cannot keep up. The lock is held. */
static void carry(query_log *l, const store_query_log *row) {
    for (size_t i = l->n; i-- > 0 && l->n - i <= 64;) {
        if (strcmp(l->rows[i].tenant, row->tenant) != 0) continue;
        for (int k = 0; k < STORE_N_LAYERS; k++) {
            l->rows[i].layers[k].lookups += row->layers[k].lookups;
            l->rows[i].layers[k].hits += row->layers[k].hits;
            l->rows[i].layers[k].saved_ms += row->layers[k].saved_ms;
            l->rows[i].layers[k].saved_tokens += row->layers[k].saved_tokens;
        }
        return;
    }
}

void query_log_add(query_log *l, const store_query_log *row) {
    if (!l) return;
    store_query_log r = *row;
    r.tenant = copy(row->tenant);
    r.collection = copy(row->collection);
    r.query = copy(row->query);
    r.status = copy(row->status);
    r.answer_source = copy(row->answer_source);
    pthread_mutex_lock(&l->mu);
    bool room =
        l->n < ROWS_MAX && !l->stop && r.tenant && r.collection && r.status && r.answer_source;
    if (room)
        l->rows[l->n++] = r;
    else {
        l->dropped++;
        carry(l, row);
    }
    pthread_mutex_unlock(&l->mu);
    if (!room) free_row(&r);
}

uint64_t query_log_dropped(query_log *l) {
    if (!l) return 0;
    pthread_mutex_lock(&l->mu);
    uint64_t n = l->dropped;
    pthread_mutex_unlock(&l->mu);
    return n;
}
