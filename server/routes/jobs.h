/* jobs.h - work that goes on after its request was answered: a bounded queue and one thread.
 * Progress and outcome stand in the store of the service, so that they survive a restart. */
#ifndef FORAGE_SERVER_JOBS_H
#define FORAGE_SERVER_JOBS_H

#include <stdatomic.h>
#include "kernels/buf.h"
#include "kernels/error.h"
#include "retrieval/service/service.h"

typedef struct jobs jobs;
typedef struct job job;

/* Runs on the jobs' thread. Its cancel flag is set by jobs_cancel, by jobs_stop and when its time is over. *result: JSON text for
 * the job's record (may stay empty). */
typedef int job_fn(void *ctx, job *j, fo_buf *result, fo_err *err);

int jobs_create(jobs **out, service *s, int max_waiting, fo_err *err);
/* Cancels what runs and what waits, waits for the thread. NULL is fine. */
void jobs_stop(jobs *j);

/* Make a record and queue fn(ctx); drop(ctx) is called when it is over, run or not. timeout_ms: that it may
 * take once it runs, 0: any; beyond it has failed. On an error ctx stays the caller's. FO_EBUSY where the
 * queue is full. */
int jobs_add(jobs *j, const char *tenant, const char *kind, const char *collection,
             int64_t timeout_ms, job_fn *fn, void (*drop)(void *), void *ctx, int64_t *id,
             fo_err *err);
/* FO_ENOTFOUND, FO_ECONFLICT where it is over already. */
int jobs_cancel(jobs *j, const char *tenant, int64_t id, fo_err *err);

/* From inside fn: */
atomic_bool *job_cancel_flag(job *j);
/* Written to the store at most twice a second. n_total < 0: unknown. */
void job_progress(job *j, int64_t n_total, int64_t n_done, int64_t n_failed);
/* Where an ingest counts how far it is within documents; the job's. */
ingest_counts *job_counts(job *j);

/* What these are by now. False: no such job of this tenant runs. From any thread. */
bool jobs_look(jobs *j, const char *tenant, int64_t id, size_t *pages, size_t *passages);

#endif
