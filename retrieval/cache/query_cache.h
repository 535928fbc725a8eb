/* query_cache.h - results kept under a byte budget: W-TinyLFU.
 *
 *              put                       evicted                  hit
 *     (new) ---------> window LRU (1 %) ---------> probation LRU ------> protected LRU (80 %)
 *                                        admitted?      ^                      |
 *                                                       +----- overflow -------+
 *
 * What falls out of the window enters the main part only if a count-min sketch has seen its key
 * more often than that of the main part's next victim, so that one-off questions do not push out
 * what is asked again and again. The sketch halves itself, so that yesterday's favourites fade.
 * Source: Einziger, Friedman & Manes 2017. Ours: segments are measured in bytes; the sketch looks
 * back over 256 requests an entry (at least 65,536), which suits the long tail of questions.
 *
 * Values are counted references and never change once put. Any thread; one short lock. */
#ifndef FORAGE_RETRIEVAL_QUERY_CACHE_H
#define FORAGE_RETRIEVAL_QUERY_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct query_cache query_cache;

enum { QUERY_KEY_BYTES = 32 }; /* SHA-256 */

/* The first member of what is kept. */
typedef struct cache_value {
    atomic_int refs;
    void (*destroy)(struct cache_value *v);
} cache_value;
void cache_value_init(cache_value *v, void (*destroy)(cache_value *)); /* one reference */
void *cache_value_keep(cache_value *v);                                /* one more; returns v */
void cache_value_drop(cache_value *v);                                 /* NULL is fine */

typedef struct query_cache_options {
    size_t budget_bytes; /* of keys and values together */
    int64_t ttl_ms;      /* 0: an entry lives until it is evicted */
} query_cache_options;

int query_cache_create(query_cache **out, const query_cache_options *opt, fo_err *err);
void query_cache_free(query_cache *c); /* drops its references; NULL is fine */

/* Counts the key as asked for. The value with a reference for the caller, or NULL. now_ms: any
 * clock, as long as it is one. Whether a value serves is the caller's to say: query_cache_count. */
cache_value *query_cache_get(query_cache *c, const unsigned char key[QUERY_KEY_BYTES],
                             int64_t now_ms);
/* Takes a reference of its own; replaces what the key had. An entry of more than a tenth of the
 * budget is not kept. */
void query_cache_put(query_cache *c, const unsigned char key[QUERY_KEY_BYTES], cache_value *v,
                     size_t bytes, int64_t now_ms);

typedef struct query_cache_stats {
    uint64_t lookups, hits; /* as counted by query_cache_count */
    uint64_t saved_tokens;
    double saved_ms;
    uint64_t rejected, evictions;
    size_t entries, bytes, budget_bytes;
} query_cache_stats;
void query_cache_count(query_cache *c, bool hit, double saved_ms, size_t saved_tokens);
void query_cache_get_stats(query_cache *c, query_cache_stats *out);

#endif
