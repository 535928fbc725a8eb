/* kv_warm.h - the KV of chunks computed before anybody asks, while the language model has nothing
 * else to do.
 *
 * Every chunk is read behind the system message alone, as the prompt of a question would hold it
 * first (prompt.h), and its KV is left to the generator: as blocks that a prompt beginning with it
 * attaches bit for bit, and as a chunk's KV for kv_reuse chunk. Documents that queries found often
 * go first (a count-min sketch). It stops at a budget of bytes, so that it cannot push out what
 * queries left. Requests of users come first: these are worked on only while there is nothing else
 * to do. */
#ifndef FORAGE_RETRIEVAL_KV_WARM_H
#define FORAGE_RETRIEVAL_KV_WARM_H

#include "retrieval/collections/service_internal.h"

typedef struct kv_warm kv_warm;

/* Starts the thread. The service has a generator that keeps what it reads, and is not read-only.
 * FO_ENOMEM, FO_EIO. */
int kv_warm_start(kv_warm **out, service *s, enum kv_warm_mode mode, fo_err *err);
/* Drops what is being computed and ends the thread: before the service waits for its calls. */
void kv_warm_stop(kv_warm *w);
void kv_warm_free(kv_warm *w); /* NULL is fine in both */

/* Chunks were committed. Any thread; NULL is fine. */
void kv_warm_notify(kv_warm *w);
/* Somebody asked a question, and it found a chunk of this document. Any thread; NULL is fine. */
void kv_warm_asked(kv_warm *w);
void kv_warm_touch(kv_warm *w, const collection *c, const char *document);

void kv_warm_get_stats(kv_warm *w, service_warm_stats *out);

#endif
