/* memory_jobs.h - of the store in memory (memory_store.h): jobs and idempotency keys, which no transaction holds. */
#ifndef FORAGE_TESTS_DATA_MEMORY_JOBS_H
#define FORAGE_TESTS_DATA_MEMORY_JOBS_H

#include "tests/data/store/memory_state.h"

/* ---- jobs and keys ----------------------------------------------------------------------- */

static inline int memory_create_job(store *s, const char *tenant, const char *kind,
                                    const char *collection, int64_t *id, fo_err *err) {
    memory_world *w = memory_of(s);
    memory_job *j = calloc(1, sizeof *j);
    if (!j) return fo_no_memory(err);
    pthread_mutex_lock(&w->mu);
    *id = (int64_t)((uint64_t)++w->n_jobs * 0x9E3779B97F4A7C15u >> 12); /* far from each other */
    j->j = (store_job){.id = *id,
                       .tenant = strdup(tenant),
                       .kind = strdup(kind),
                       .state = strdup("queued"),
                       .n_total = -1,
                       .collection = memory_copy(collection),
                       .created_ms = fo_unix_ms(),
                       .updated_ms = fo_unix_ms()};
    j->next = w->jobs;
    w->jobs = j;
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

static inline void memory_set(char **to, const char *from) {
    if (!from) return;
    free(*to);
    *to = strdup(from);
}

static inline int memory_update_job(store *s, int64_t id, const char *state, int64_t n_total,
                                    int64_t n_done, int64_t n_failed, const char *error,
                                    const char *result, fo_err *err) {
    static const char *const states[] = {"queued", "running", "succeeded", "failed", "cancelled"};
    bool known = !state;
    for (size_t i = 0; i < 5 && !known; i++) known = !strcmp(state, states[i]);
    if (!known) return fo_fail(err, FO_EINVAL, "a job cannot be %s", state);
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    memory_job *j = w->jobs;
    while (j && j->j.id != id) j = j->next;
    if (j) {
        memory_set(&j->j.state, state);
        memory_set(&j->j.error, error);
        memory_set(&j->j.result, result);
        j->j.n_total = n_total, j->j.n_done = n_done, j->j.n_failed = n_failed;
        j->j.updated_ms = fo_unix_ms();
    }
    pthread_mutex_unlock(&w->mu);
    return j ? FO_OK : fo_fail(err, FO_ENOTFOUND, "job %lld does not exist", (long long)id);
}

static inline int memory_get_job(store *s, const char *tenant, int64_t id, store_job *out,
                                 fo_err *err) {
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    const memory_job *j = w->jobs;
    while (j && (j->j.id != id || strcmp(j->j.tenant, tenant))) j = j->next;
    if (j) {
        *out = j->j;
        out->tenant = strdup(j->j.tenant);
        out->kind = strdup(j->j.kind);
        out->state = strdup(j->j.state);
        out->collection = memory_copy(j->j.collection);
        out->error = memory_copy(j->j.error);
        out->result = memory_copy(j->j.result);
    }
    pthread_mutex_unlock(&w->mu);
    return j ? FO_OK : fo_fail(err, FO_ENOTFOUND, "job %lld does not exist", (long long)id);
}

static inline int memory_fail_running_jobs(store *s, fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    for (memory_job *j = w->jobs; j; j = j->next)
        if (!strcmp(j->j.state, "queued") || !strcmp(j->j.state, "running")) {
            memory_set(&j->j.state, "failed");
            memory_set(&j->j.error, "interrupted by a restart");
        }
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

static inline void memory_free_job(memory_job *j) {
    store_job_deinit(&j->j);
    free(j);
}

static inline int memory_trim_jobs(store *s, int64_t now_ms, fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    const int64_t since = now_ms - 30 * 24LL * 3600 * 1000;
    pthread_mutex_lock(&w->mu);
    for (memory_job **at = &w->jobs; *at;) {
        memory_job *j = *at;
        bool over = strcmp(j->j.state, "queued") != 0 && strcmp(j->j.state, "running") != 0;
        if (over && j->j.updated_ms < since) {
            *at = j->next;
            memory_free_job(j);
        } else {
            at = &j->next;
        }
    }
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

/* Where it stands in the list, or the end of it. The lock is held. */
static inline memory_key **memory_find_key(memory_world *w, const char *tenant, const char *route,
                                           const char *key) {
    memory_key **at = &w->keys;
    while (*at && (strcmp((*at)->tenant, tenant) || strcmp((*at)->route, route) ||
                   strcmp((*at)->key, key)))
        at = &(*at)->next;
    return at;
}

static inline void memory_drop_key(memory_key **at) {
    memory_key *k = *at;
    *at = k->next;
    free(k->tenant);
    free(k->route);
    free(k->key);
    free(k->response);
    free(k);
}

static inline int memory_idem_claim(store *s, const char *tenant, const char *route,
                                    const char *key, const unsigned char body_sha256[32],
                                    enum store_idem *state, int *status, char **response,
                                    fo_err *err) {
    memory_world *w = memory_of(s);
    int rc = FO_OK;
    *response = NULL;
    *status = 0;
    pthread_mutex_lock(&w->mu);
    memory_key **at = memory_find_key(w, tenant, route, key);
    if (!*at) {
        *state = STORE_IDEM_NEW;
        memory_key *k = calloc(1, sizeof *k);
        if (k) {
            k->tenant = strdup(tenant), k->route = strdup(route), k->key = strdup(key);
            memcpy(k->sha256, body_sha256, 32);
            *at = k;
        } else {
            rc = fo_no_memory(err);
        }
    } else if (memcmp((*at)->sha256, body_sha256, 32)) {
        *state = STORE_IDEM_OTHER_BODY;
    } else if (!(*at)->response) {
        *state = STORE_IDEM_RUNNING;
    } else {
        *state = STORE_IDEM_DONE;
        *status = (*at)->status;
        *response = strdup((*at)->response);
    }
    pthread_mutex_unlock(&w->mu);
    return rc;
}

static inline int memory_idem_finish(store *s, const char *tenant, const char *route,
                                     const char *key, int status, const char *response,
                                     fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    memory_key *k = *memory_find_key(w, tenant, route, key);
    if (k) {
        memory_set(&k->response, response);
        k->status = status;
    }
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

static inline int memory_idem_abandon(store *s, const char *tenant, const char *route,
                                      const char *key, fo_err *err) {
    (void)err;
    memory_world *w = memory_of(s);
    pthread_mutex_lock(&w->mu);
    memory_key **at = memory_find_key(w, tenant, route, key);
    if (*at && !(*at)->response) memory_drop_key(at);
    pthread_mutex_unlock(&w->mu);
    return FO_OK;
}

#endif
