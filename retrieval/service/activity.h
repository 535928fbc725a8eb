/* activity.h - what is asked of a service and what becomes of it, kept in its store over restarts:
 * jobs, the answers of calls that may be repeated, the log of queries and its sums.
 *
 * Any thread; each call that writes is a commit of its own and waits for the write lock. Strings are the
 * caller's and are copied. */
#ifndef FORAGE_RETRIEVAL_ACTIVITY_H
#define FORAGE_RETRIEVAL_ACTIVITY_H

#include "retrieval/service/service.h"

/* ---- jobs -------------------------------------------------------------------------------- */

/* A record of work that goes on after its call, state "queued"; *id numbers it. What a crash left
 * queued or running is "failed" at the next service_open. */
int service_create_job(service *s, const char *tenant, const char *kind, const char *collection,
                       int64_t *id, fo_err *err);
typedef struct job_update {
    const char *state; /* as in store_job; NULL: as it is */
    int64_t n_total, n_done, n_failed;
    const char *error, *result; /* NULL: as they are; result is JSON */
} job_update;
int service_update_job(service *s, int64_t id, const job_update *to, fo_err *err);
/* FO_ENOTFOUND; caller deinits *out. */
int service_get_job(service *s, const char *tenant, int64_t id, store_job *out, fo_err *err);

/* ---- calls that may be repeated ----------------------------------------------------------- */

/* A call that its client may send twice under one key; what it carries is known by a hash. */
typedef struct repeatable_call {
    const char *tenant, *route, *key;
    unsigned char body_sha256[32];
} repeatable_call;

/* What the key stands for: nothing yet, and now for this call, which the caller ends with one of the
 * two below; a call that still runs; one that is done, whose answer *response (caller frees) and
 * *status are; or one with another body. A claim that a crash left is gone, an answer expires after
 * a day. */
int service_claim_call(service *s, const repeatable_call *call, enum store_idem *state, int *status,
                       char **response, fo_err *err);
int service_finish_call(service *s, const repeatable_call *call, int status, const char *response,
                        fo_err *err);
int service_abandon_call(service *s, const repeatable_call *call, fo_err *err); /* forget the key */

/* ---- the log of queries -------------------------------------------------------------------- */

/* Many rows in one commit, with the sums that the series below are made of. */
int service_log_queries(service *s, const store_query_log *rows, size_t n, fo_err *err);
/* Drop queries older than 30 days, minutes older than 2, hours older than 60, days older than 730
 * days; and jobs that were over 30 days ago. */
int service_trim_log(service *s, int64_t now_ms, fo_err *err);

/* What each cache layer did, in steps of step_s seconds from since_s on, in order of time; those
 * without a look-up are left out. Caller frees *out. */
int service_cache_series(service *s, const char *tenant, int64_t since_s, int64_t step_s,
                         store_rollup **out, size_t *n, fo_err *err);
/* The same of the time that queries took; step_s 0: all of it as one step. */
int service_latency_series(service *s, const char *tenant, int64_t since_s, int64_t step_s,
                           store_latency **out, size_t *n, fo_err *err);
/* Logged questions since since_ms, those that differ in case alone together, of collections, names with commas
 * between them; NULL: of all. Caller frees with
 * store_query_rows_free. */
int service_list_queries(service *s, const char *tenant, const char *collections, int64_t since_ms,
                         enum store_query_order order, size_t limit, store_query_row **out,
                         size_t *n, fo_err *err);

#endif
