#include "engine/generate/read_ahead.h"

#include <stdlib.h>

kv_store_stage *read_ahead(kv_cache *c, kv_store *store, pthread_mutex_t *mu,
                           const generation_request *r, const chunk_task *chunk) {
    if (r->kv_reuse == KV_REUSE_OFF || r->background) return NULL;
    int n_blocks = (int)r->n_prompt / kv_cache_page_tokens(c), n_chunks = (int)r->n_pieces, n = 0;
    unsigned char *names = malloc(32 * (size_t)(n_blocks + n_chunks + 1));
    if (!names) return NULL; /* it is read later */
    pthread_mutex_lock(mu);
    n = kv_cache_stored(c, r->salt, r->prompt, (int)r->n_prompt, names, n_blocks);
    pthread_mutex_unlock(mu);
    if (chunk) n += chunk_task_stored(chunk, names + 32 * n, n_chunks);
    kv_store_stage *t = n ? kv_store_stage_keys(store, names, (size_t)n) : NULL;
    free(names);
    return t;
}
