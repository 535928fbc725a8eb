/* read_ahead.h - what a request will want from the disk tier is read before the engine takes it
 * into work, on the thread that brings it, so that nobody else waits for the disk. What comes to be
 * needed later (after a preemption, beyond the stages' budget) is read when it is attached. */
#ifndef FORAGE_ENGINE_READ_AHEAD_H
#define FORAGE_ENGINE_READ_AHEAD_H

#include <pthread.h>

#include "engine/generate/chunk_task.h"
#include "engine/generate/engine.h"

/* mu guards the cache; held for look-ups alone. chunk: NULL: none. NULL: nothing to read. To be
 * freed once the request has attached. */
kv_store_stage *read_ahead(kv_cache *c, kv_store *store, pthread_mutex_t *mu,
                           const generation_request *r, const chunk_task *chunk);

#endif
