/* ingest_job.h - a POST /ingest that nobody waits for: its body is there, the work goes on as a job. */
#ifndef FORAGE_SERVER_INGEST_JOB_H
#define FORAGE_SERVER_INGEST_JOB_H

#include "server/routes/ingest_call.h"

/* Is it to be a job? A JSON body says so inside, and there, as in a form, may stand the collection: c->collection is then
 * the one that the documents go into, so that the job's record has it. For a body that is whole. FO_ENOMEM, FO_EIO. */
int ingest_job_wanted(ingest_call *c, bool *wanted, fo_err *err);

/* Queue the work; *reply tells the job's id. The job owns c from here on, which is the request's no
 * longer; on an error it is freed. FO_EBUSY where the queue is full; FO_EINVAL, FO_EDENIED: the collection's name is
 * none, or the key may not write there. */
int ingest_job_start(ingest_call *c, http_request *r, fo_buf *reply, fo_err *err);

#endif
