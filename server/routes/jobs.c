#include "server/routes/jobs.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/priority.h"
#include "retrieval/service/activity.h"
#include "server/base/log.h"
#include "server/http/http.h"

struct job {
    job *next;
    jobs *owner;
    int64_t id;
    char tenant[65];
    job_fn *fn;
    void (*drop)(void *);
    void *ctx;
    atomic_bool cancel;
    ingest_counts counts;
    int64_t timeout_ms;                            /* 0: none */
    double until_ms;                               /* guarded by mu, of what runs; INFINITY: none */
    bool late;                                     /* guarded by mu: it took longer */
    int64_t n_total, n_done, n_failed, written_ms; /* owned: the jobs' thread */
};

struct jobs {
    service *service;
    int max_waiting;
    pthread_t thread, watcher;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t wake, watch; /* watch: another job runs, or stop */
    job *first, *running;
    int n_waiting;
    bool stop;
};

static void finish(job *j, int rc, const fo_buf *result, const fo_err *why) {
    bool cancelled = !j->late && (rc == FO_ECANCELLED || (rc && j->cancel));
    const char *state = !rc ? "succeeded" : cancelled ? "cancelled" : "failed";
    fo_err err = {0};
    char told[HTTP_MESSAGE];
    job_update to = {state,
                     j->n_total,
                     j->n_done,
                     j->n_failed,
                     rc ? http_message_of(why, told) : NULL,
                     result->len ? result->data : NULL};
    if (service_update_job(j->owner->service, j->id, &to, &err))
        log_event(LOG_LEVEL_ERROR, NULL, "job_record", LOG_INT("job", j->id),
                  LOG_STR("error", err.msg));
    log_event(rc && !cancelled ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, NULL, "job",
              LOG_INT("job", j->id), LOG_STR("state", state), LOG_INT("done", j->n_done),
              LOG_INT("failed", j->n_failed), LOG_STR("error", rc ? why->msg : NULL));
    if (j->drop) j->drop(j->ctx);
    free(j);
}

/* Ends what runs when its time is over: the jobs' own thread is at work then. */
static void *watch(void *arg) {
    jobs *q = arg;
    pthread_mutex_lock(&q->mu);
    while (!q->stop) {
        double until_ms = q->running ? q->running->until_ms : INFINITY;
        if (fo_now_ms() < until_ms) {
            fo_cond_wait_until(&q->watch, &q->mu, until_ms);
            continue;
        }
        q->running->late = true;
        q->running->cancel = true;
        q->running->until_ms = INFINITY;
    }
    pthread_mutex_unlock(&q->mu);
    return NULL;
}

static void *work(void *arg) {
    fo_thread_background();
    jobs *q = arg;
    pthread_mutex_lock(&q->mu);
    for (;;) {
        while (!q->first && !q->stop) pthread_cond_wait(&q->wake, &q->mu);
        if (!q->first) break;
        job *j = q->first;
        q->first = j->next;
        q->n_waiting--;
        q->running = j;
        j->until_ms = j->timeout_ms ? fo_now_ms() + (double)j->timeout_ms : INFINITY;
        pthread_cond_signal(&q->watch);
        bool stop = q->stop;
        pthread_mutex_unlock(&q->mu);
        fo_buf result = {0};
        fo_err err = {0};
        int rc;
        if (stop || j->cancel) {
            rc = fo_fail(&err, FO_ECANCELLED, stop ? "the server was stopped" : "cancelled");
        } else {
            service_update_job(q->service, j->id,
                               &(job_update){.state = "running", .n_total = j->n_total}, NULL);
            rc = j->fn(j->ctx, j, &result, &err);
        }
        pthread_mutex_lock(&q->mu);
        q->running = NULL;
        pthread_mutex_unlock(&q->mu);
        if (rc && j->late)
            rc = fo_fail(&err, FO_ETIMEOUT,
                         "the job took longer than it may (timeout_ms = %lld); what was committed "
                         "before stays",
                         (long long)j->timeout_ms);
        finish(j, rc, &result, &err);
        fo_buf_free(&result);
        pthread_mutex_lock(&q->mu);
    }
    pthread_mutex_unlock(&q->mu);
    return NULL;
}

static void end_work(jobs *q) {
    pthread_mutex_lock(&q->mu);
    q->stop = true;
    if (q->running) q->running->cancel = true;
    pthread_cond_signal(&q->wake);
    pthread_cond_signal(&q->watch);
    pthread_mutex_unlock(&q->mu);
}

static void jobs_free(jobs *q) {
    pthread_cond_destroy(&q->wake);
    pthread_cond_destroy(&q->watch);
    pthread_mutex_destroy(&q->mu);
    free(q);
}

int jobs_create(jobs **out, service *s, int max_waiting, fo_err *err) {
    jobs *q = calloc(1, sizeof *q);
    if (!q) return fo_no_memory(err);
    q->service = s;
    q->max_waiting = max_waiting;
    pthread_mutex_init(&q->mu, NULL);
    pthread_cond_init(&q->wake, NULL);
    fo_cond_init(&q->watch);
    bool works = pthread_create(&q->thread, NULL, work, q) == 0;
    if (works && pthread_create(&q->watcher, NULL, watch, q) == 0) {
        *out = q;
        return FO_OK;
    }
    if (works) {
        end_work(q);
        pthread_join(q->thread, NULL);
    }
    jobs_free(q);
    return fo_fail(err, FO_ENOMEM, "cannot start a thread");
}

void jobs_stop(jobs *q) {
    if (!q) return;
    end_work(q);
    pthread_join(q->thread, NULL);
    pthread_join(q->watcher, NULL);
    jobs_free(q);
}

int jobs_add(jobs *q, const char *tenant, const char *kind, const char *collection,
             int64_t timeout_ms, job_fn *fn, void (*drop)(void *), void *ctx, int64_t *id,
             fo_err *err) {
    job *j = calloc(1, sizeof *j);
    if (!j) return fo_no_memory(err);
    pthread_mutex_lock(&q->mu);
    bool full = q->n_waiting >= q->max_waiting || q->stop;
    if (!full) q->n_waiting++; /* the place is taken while the record is made */
    pthread_mutex_unlock(&q->mu);
    if (full) {
        free(j);
        return fo_fail(err, FO_EBUSY, "%d jobs wait already; try again later", q->max_waiting);
    }
    int rc = service_create_job(q->service, tenant, kind, collection, id, err);
    pthread_mutex_lock(&q->mu);
    if (rc) {
        q->n_waiting--;
        pthread_mutex_unlock(&q->mu);
        free(j);
        return rc;
    }
    *j = (job){.owner = q,
               .id = *id,
               .fn = fn,
               .drop = drop,
               .ctx = ctx,
               .timeout_ms = timeout_ms,
               .n_total = -1};
    strncpy(j->tenant, tenant, sizeof j->tenant - 1);
    job **at = &q->first;
    while (*at) at = &(*at)->next;
    *at = j;
    pthread_cond_signal(&q->wake);
    pthread_mutex_unlock(&q->mu);
    return FO_OK;
}

int jobs_cancel(jobs *q, const char *tenant, int64_t id, fo_err *err) {
    pthread_mutex_lock(&q->mu);
    job *found = NULL;
    if (q->running && q->running->id == id) found = q->running;
    for (job *j = q->first; j && !found; j = j->next)
        if (j->id == id) found = j;
    if (found && strcmp(found->tenant, tenant)) found = NULL;
    if (found) found->cancel = true;
    pthread_mutex_unlock(&q->mu);
    if (found) return FO_OK;
    store_job record = {0};
    int rc = service_get_job(q->service, tenant, id, &record, err);
    if (rc) return rc;
    rc = fo_fail(err, FO_ECONFLICT, "the job is over: %s", record.state);
    store_job_deinit(&record);
    return rc;
}

ingest_counts *job_counts(job *j) {
    return &j->counts;
}

bool jobs_look(jobs *q, const char *tenant, int64_t id, size_t *pages, size_t *passages) {
    pthread_mutex_lock(&q->mu);
    const job *j = q->running;
    bool runs = j && j->id == id && !strcmp(j->tenant, tenant);
    if (runs) {
        *pages = atomic_load(&j->counts.pages);
        *passages = atomic_load(&j->counts.passages);
    }
    pthread_mutex_unlock(&q->mu);
    return runs;
}

atomic_bool *job_cancel_flag(job *j) {
    return &j->cancel;
}

void job_progress(job *j, int64_t n_total, int64_t n_done, int64_t n_failed) {
    j->n_total = n_total, j->n_done = n_done, j->n_failed = n_failed;
    int64_t now = log_now_ms();
    if (now - j->written_ms < 500) return;
    j->written_ms = now;
    job_update to = {.n_total = n_total, .n_done = n_done, .n_failed = n_failed};
    service_update_job(j->owner->service, j->id, &to, NULL);
}
