/* refine.h - better vectors for what is there, while nobody brings documents in.
 *
 * First those of the documents' titles (title_vectors.h), a second after the last document came: that takes seconds.
 * Documents are taken in with vectors of the built-in table, which takes microseconds a passage. An encoder knows
 * better what is meant, and takes milliseconds. So once no documents have come in for a while and nobody asks, this thread embeds the
 * collections anew with the encoder inside the binary, the smallest first, a few chunks at a time and nicer than all
 * else; when one is done, its vectors and its index are exchanged at once. Questions are answered all the time, with the
 * old vectors until then. What is embedded is kept in the store, so that a stop costs nothing; documents that come in
 * make it wait. One that holds a damaged document keeps its vectors: it is passed over, and tried again ten minutes
 * later. A collection that was refined takes its later documents in with the encoder. */
#ifndef FORAGE_RETRIEVAL_REFINE_H
#define FORAGE_RETRIEVAL_REFINE_H

#include "retrieval/collections/service_internal.h"

typedef struct refine refine;

/* Starts the thread. The service has built-in embedders and is neither read-only nor offline. FO_ENOMEM, FO_EIO. */
int refine_start(refine **out, service *s, const service_refine *how, fo_err *err);
/* Ends the thread, after the chunks that it is at: before the service waits for its calls. */
void refine_stop(refine *r);
void refine_free(refine *r);                                 /* NULL is fine in both */
void refine_get_stats(refine *r, service_refine_stats *out); /* any thread; NULL: zeros */

#endif
