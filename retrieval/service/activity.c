#include "retrieval/service/activity.h"

#include "retrieval/service/service_store.h"

int service_create_job(service *s, const char *tenant, const char *kind, const char *collection,
                       int64_t *id, fo_err *err) {
    return store_create_job(service_store(s), tenant, kind, collection, id, err);
}

int service_update_job(service *s, int64_t id, const job_update *to, fo_err *err) {
    return store_update_job(service_store(s), id, to->state, to->n_total, to->n_done, to->n_failed,
                            to->error, to->result, err);
}

int service_get_job(service *s, const char *tenant, int64_t id, store_job *out, fo_err *err) {
    return store_get_job(service_store(s), tenant, id, out, err);
}

int service_claim_call(service *s, const repeatable_call *call, enum store_idem *state, int *status,
                       char **response, fo_err *err) {
    return store_idem_claim(service_store(s), call->tenant, call->route, call->key,
                            call->body_sha256, state, status, response, err);
}

int service_finish_call(service *s, const repeatable_call *call, int status, const char *response,
                        fo_err *err) {
    return store_idem_finish(service_store(s), call->tenant, call->route, call->key, status,
                             response, err);
}

int service_abandon_call(service *s, const repeatable_call *call, fo_err *err) {
    return store_idem_abandon(service_store(s), call->tenant, call->route, call->key, err);
}

int service_log_queries(service *s, const store_query_log *rows, size_t n, fo_err *err) {
    return store_log_queries(service_store(s), rows, n, err);
}

int service_trim_log(service *s, int64_t now_ms, fo_err *err) {
    int rc = store_trim_jobs(service_store(s), now_ms, err);
    return rc ? rc : store_trim_analytics(service_store(s), now_ms, err);
}

int service_cache_series(service *s, const char *tenant, int64_t since_s, int64_t step_s,
                         store_rollup **out, size_t *n, fo_err *err) {
    return store_cache_series(service_store(s), tenant, since_s, step_s, out, n, err);
}

int service_latency_series(service *s, const char *tenant, int64_t since_s, int64_t step_s,
                           store_latency **out, size_t *n, fo_err *err) {
    return store_latency_series(service_store(s), tenant, since_s, step_s, out, n, err);
}

int service_list_queries(service *s, const char *tenant, const char *collections, int64_t since_ms,
                         enum store_query_order order, size_t limit, store_query_row **out,
                         size_t *n, fo_err *err) {
    return store_list_queries(service_store(s), tenant, collections, since_ms, order, limit, out, n,
                              err);
}
