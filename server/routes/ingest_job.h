/* ingest_job.h - a POST /ingest that nobody waits for: its body is there, the work goes on as a job. */
#ifndef FORAGE_SERVER_INGEST_JOB_H
#define FORAGE_SERVER_INGEST_JOB_H

#include "server/routes/ingest_call.h"

/* Queue the work; *reply tells the job's id. The job owns c from here on, which is the request's no
 * longer; on an error it is freed. FO_EBUSY where the queue is full. */
int ingest_job_start(ingest_call *c, http_request *r, fo_buf *reply, fo_err *err);

#endif
