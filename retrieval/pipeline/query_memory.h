/* query_memory.h - what one query leaves for the next: kept answers, kept contexts, counts.
 *
 * Two layers. *Contexts* serve while the collection's epoch stands. An *answer* serves at its own
 * epoch too, and after the epoch moved once retrieval, run again, has found the same contexts by
 * content hash, and as the same chunks where more of their documents was read (a table that goes on
 * behind them): nothing that a change could have altered is served from before it. Keys are
 * SHA-256 over everything that decides the result; questions are compared after NFKC, case
 * folding and folding of white space, but options (-v, -V), lettered names (zone A) and raised figures (10²) as they
 * are written. Identical queries at one epoch are computed once: the
 * others wait for the first (single flight).
 *
 * A thread of its own asks the hottest questions again, at the lowest priority and rate-limited,
 * where their collection has changed, and saves the counts to HOME/hot/TENANT.hot each minute.
 *
 * Invariants:
 * 1. Values in the caches never change; a newer one replaces them.
 * 2. A value is put under the epoch of the snapshot it was computed from, never a newer one.
 * 3. Of one epoch there are different snapshots where an index lost a damaged file: nothing from before
 *    that is found after it, and nothing is kept until the gap is filled.
 * 4. Nobody waits for a flight while holding a lock; who leads a flight always ends it.
 *
 * The steps of a query, called by the pipeline in this order:
 *
 *   begin --> answer? --hit--------------------------------------------------> end
 *                 \-miss-> contexts? --hit-----------> same_contexts? --hit--> end
 *                                  \-miss-> search --> keep_contexts -^ \-miss-> answer --> end */
#ifndef FORAGE_RETRIEVAL_QUERY_MEMORY_H
#define FORAGE_RETRIEVAL_QUERY_MEMORY_H

#include "retrieval/collections/service_internal.h"
#include "retrieval/pipeline/query.h"

typedef struct query_memory_options { /* as service_options has them */
    int64_t cache_bytes, cache_ttl_ms;
    double primes_per_s, semantic_threshold;
    bool hide_queries;
} query_memory_options;

/* Bytes that answers and contexts may take, 0: no caches; of options.cache_bytes. */
int64_t query_memory_budget(int64_t cache_bytes);
int query_memory_create(query_memory **out, service *s, const query_memory_options *opt,
                        fo_err *err);
/* Starts and stops the thread that primes and saves. */
int query_memory_start(query_memory *m, fo_err *err);
void query_memory_stop(query_memory *m); /* ends what is being primed, and saves; NULL is fine */
void query_memory_free(query_memory *m);

/* One query's way through the memory; zeroed, it takes no part. */
typedef struct query_lookup {
    /* set before query_memory_begin */
    uint64_t titles;        /* title_vectors_serial: what is read and its order hang on them */
    uint64_t n_index_drops; /* of the service, read before the snapshot was taken */
    bool has_gap;           /* of the snapshot: then as if bypassed */
    /* the memory's */
    query_memory *m; /* NULL: bypass */
    const query_request *q;
    query_result *out;
    int64_t epoch;
    double started, answer_from; /* ms */
    bool reads, answered, whole; /* answered: by a hit; whole: one that needed no retrieval */
    bool passing;                /* the answer is good for this moment alone: it is not kept */
    bool beyond;                 /* more of the documents than the contexts decided the answer */
    unsigned char contexts_key[QUERY_KEY_BYTES], answer_key[QUERY_KEY_BYTES];
    struct cached_answer *stale;     /* found, but of an older epoch */
    struct cached_contexts *context; /* of this query's contexts */
    struct flight *flight;           /* this query leads it */
    double cost_ms, answer_ms;       /* of what a hit was spared */
    collection *c;                   /* the caller's until the end */
    double alpha;
    struct semantic_question *semantic; /* asked in other words? */
} query_lookup;

/* Count the question and make the keys. sought: as it is searched for; alpha: as resolved;
 * out->epoch: of the snapshot, as what is set in *t. */
int query_memory_begin(query_memory *m, query_lookup *t, const query_request *q, collection *c,
                       const char *sought, double alpha, query_result *out, fo_err *err);
/* Is there a result of this epoch, or does somebody compute it? Then *out is complete, contexts
 * included. Waits for the latter. FO_ECANCELLED, FO_ETIMEOUT. */
int query_memory_answer(query_lookup *t, bool *found, fo_err *err);
/* Contexts of this epoch: into *out; tail is what keep_contexts was given. */
bool query_memory_contexts(query_lookup *t, double *tail);
void query_memory_keep_contexts(query_lookup *t, double tail);
/* Is there an older answer from the very contexts in *out? Then its answer part is filled. */
bool query_memory_same_contexts(query_lookup *t);
/* Always, whatever happened: keeps a fresh answer and ends the flight. rc: the query's. */
void query_memory_end(query_lookup *t, int rc);

#endif
