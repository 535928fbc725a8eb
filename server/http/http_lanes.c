/* Lanes: bounded queues with threads of their own. A request whose body is streamed comes again and
 * again, for as long as its body does: only the first time can it find the queue full. */
#include <stdlib.h>

#include "kernels/priority.h"
#include "server/http/http_internal.h"

typedef struct lane_start {
    http_server *s;
    int lane;
} lane_start;

static void *work(void *arg) {
    lane_start start = *(lane_start *)arg;
    free(arg);
    http_server *s = start.s;
    http_lane_queue *q = &s->lanes[start.lane];
    if (start.lane == HTTP_LANE_INGEST) fo_thread_background();
    pthread_mutex_lock(&s->mu);
    for (;;) {
        while (!q->first && !q->stop) pthread_cond_wait(&q->wake, &s->mu);
        if (!q->first) break;
        http_request *r = q->first;
        q->first = r->lane_next;
        if (!q->first) q->last = NULL;
        q->count--;
        q->running++;
        pthread_mutex_unlock(&s->mu);
        pthread_mutex_lock(&r->mu);
        if (r->queue_ms == 0) r->queue_ms = (double)(http_now_us() - r->put_us) / 1000;
        pthread_mutex_unlock(&r->mu);
        r->route->handler(r, s->opt.app);
        if (!http_body_park(r)) http_request_finish(r);
        http_request_unref(r);
        pthread_mutex_lock(&s->mu);
        q->running--;
    }
    pthread_mutex_unlock(&s->mu);
    return NULL;
}

int http_lanes_start(http_server *s, fo_err *err) {
    for (int i = HTTP_LANE_INLINE + 1; i < HTTP_N_LANES; i++) {
        http_lane_queue *q = &s->lanes[i];
        q->cap = s->opt.queue_length[i] > 0 ? s->opt.queue_length[i] : 128;
        int n = s->opt.n_workers[i] > 0 ? s->opt.n_workers[i] : 4;
        q->threads = calloc((size_t)n, sizeof *q->threads);
        pthread_cond_init(&q->wake, NULL);
        if (!q->threads) return fo_no_memory(err);
        for (int k = 0; k < n; k++) {
            lane_start *start = malloc(sizeof *start);
            if (!start) return fo_no_memory(err);
            *start = (lane_start){s, i};
            if (pthread_create(&q->threads[k], NULL, work, start) != 0) {
                free(start);
                return fo_fail(err, FO_ENOMEM, "cannot start a worker thread");
            }
            q->n_threads++;
        }
    }
    return FO_OK;
}

bool http_lanes_put_locked(http_server *s, http_request *r, bool again) {
    http_lane_queue *q = &s->lanes[r->route->lane];
    if (q->stop || (!again && q->count >= q->cap)) {
        if (!again) atomic_fetch_add(&s->rejected, 1);
        return false;
    }
    atomic_fetch_add(&r->refs, 1);
    r->lane_next = NULL;
    if (q->last)
        q->last->lane_next = r;
    else
        q->first = r;
    q->last = r;
    q->count++;
    pthread_cond_signal(&q->wake);
    return true;
}

bool http_lanes_put(http_server *s, http_request *r) {
    pthread_mutex_lock(&s->mu);
    bool room = http_lanes_put_locked(s, r, false);
    pthread_mutex_unlock(&s->mu);
    return room;
}

void http_lanes_stop(http_server *s) {
    pthread_mutex_lock(&s->mu);
    for (int i = 0; i < HTTP_N_LANES; i++) {
        s->lanes[i].stop = true;
        if (s->lanes[i].threads) pthread_cond_broadcast(&s->lanes[i].wake);
    }
    pthread_mutex_unlock(&s->mu);
    for (int i = 0; i < HTTP_N_LANES; i++) {
        http_lane_queue *q = &s->lanes[i];
        for (int k = 0; k < q->n_threads; k++) pthread_join(q->threads[k], NULL);
    }
    pthread_mutex_lock(&s->mu);
    for (int i = 0; i < HTTP_N_LANES; i++) {
        http_lane_queue *q = &s->lanes[i];
        if (q->threads) pthread_cond_destroy(&q->wake);
        free(q->threads);
        *q = (http_lane_queue){.stop = true};
    }
    pthread_mutex_unlock(&s->mu);
}
