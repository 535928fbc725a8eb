/* ingest_key.h - the Idempotency-Key of a POST /ingest: the first call under a key does the work, the
 * next ones are given its answer. */
#ifndef FORAGE_SERVER_INGEST_KEY_H
#define FORAGE_SERVER_INGEST_KEY_H

#include "retrieval/service/activity.h"
#include "server/routes/ingest_call.h"

/* call: tenant, route and key are set; the hash of c's body, which is whole, is set here. True: the key
 * is this call's, and whoever asked ends it with ingest_key_finish. False: a reply stands. */
bool ingest_key_claim(repeatable_call *call, ingest_call *c, http_request *r);
/* The answer that later calls are given; reply NULL: none, the key is free again. */
void ingest_key_finish(const repeatable_call *call, app *a, http_request *r, int status,
                       const char *reply);

#endif
