/* ingest_reply.h - the answer of a POST /ingest that was waited for. */
#ifndef FORAGE_SERVER_INGEST_REPLY_H
#define FORAGE_SERVER_INGEST_REPLY_H

#include "server/routes/ingest_call.h"

/* {"collection","epoch","results":[...],"timings_ms"} around the results that stand in c->results, of
 * any length: into a spool of its own, which the caller frees. */
int ingest_reply_write(const ingest_call *c, double total_ms, spool **out, fo_err *err);
/* Its text where it is short enough to be kept (64 MiB); else NULL. Caller frees. */
char *ingest_reply_text(spool *reply);

#endif
