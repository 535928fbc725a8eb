/* query_memory_internal.h - what query_memory.c (the steps of a query), cached_results.c (what is
 * kept), query_keys.c (under which keys) and query_heat.c (counts, priming) share. */
#ifndef FORAGE_RETRIEVAL_QUERY_MEMORY_INTERNAL_H
#define FORAGE_RETRIEVAL_QUERY_MEMORY_INTERNAL_H

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "retrieval/cache/hot_queries.h"
#include "retrieval/cache/semantic_hits.h"
#include "retrieval/pipeline/query_memory.h"

/* ---- cached_results.c ------------------------------------------------------------------------ */

typedef struct cached_contexts {
    cache_value head;
    int64_t epoch;
    unsigned char digest[32]; /* of what the contexts say and where it stands */
    query_context *contexts;
    size_t n, n_collapsed, bytes;
    double tail, cost_ms;
} cached_contexts;

typedef struct cached_answer {
    cache_value head;
    int64_t epoch;
    query_result r; /* without contexts */
    cached_contexts *contexts;
    bool beyond;               /* chunks beside the contexts were read for it */
    double cost_ms, answer_ms; /* of the whole query; of the answer alone */
} cached_answer;

/* Copies of what *r holds; NULL where memory ran out. */
cached_contexts *cached_contexts_make(const query_result *r, int64_t epoch, double tail,
                                      double cost_ms);
cached_answer *cached_answer_make(const query_result *r, cached_contexts *contexts, int64_t epoch,
                                  double cost_ms, double answer_ms);
size_t cached_answer_bytes(const cached_answer *k);
/* Fresh copies for a query's result; false where memory ran out. */
bool cached_contexts_copy(const cached_contexts *k, query_context **out);
bool cached_answer_copy(const cached_answer *k, query_result *out);

/* ---- query_keys.c -------------------------------------------------------------------------- */

/* NFKC, case-folded, runs of white space one blank, none at the ends. Caller frees. */
char *query_normalise(const char *text);
/* One field of a key: length and bytes, so that no two lists of fields look the same. */
void query_key_text(fo_buf *b, const char *s);
/* Both keys of the lookup. question: normalised; sought: as it is searched for. What normalising takes away of exact
 * names (exact_names.h) is read from the query itself: so whoever leaves the question out has them in still. */
bool query_keys_make(query_lookup *t, const collection *c, double alpha, const char *question,
                     const char *sought);

/* ---- query_semantic.c ---------------------------------------------------------------------- */

/* The answer of this epoch to a question that says the same, where the service looks for such; the
 * caller drops it. Sets t->semantic, for query_semantic_keep. */
cached_answer *query_semantic_find(query_lookup *t, double *cosine);
/* The lookup's answer is kept: let it be found by other words. */
void query_semantic_keep(query_lookup *t);

/* ---- query_heat.c -------------------------------------------------------------------------- */

typedef struct tenant_heat {
    struct tenant_heat *next;
    char *name;
    hot_queries *hot;
} tenant_heat;

struct query_memory {
    /* immutable after create */
    service *s;
    query_cache *answers, *contexts; /* NULL: no caches */
    semantic_hits *semantic;         /* NULL: off */
    char *folder;                    /* NULL: counts are not saved */
    bool hide_text;
    double primes_per_s;

    pthread_mutex_t mu;
    pthread_cond_t landed;  /* a flight is done, or the upkeep thread shall look up */
    struct flight *flights; /* guarded by mu */
    tenant_heat *tenants;   /* guarded by mu; nodes live as long as the memory */
    size_t n_tenants;
    bool stop, running;
    pthread_t upkeep;
    atomic_bool ending; /* what is being primed ends, too */

    atomic_uint_fast64_t coalesced, revalidated, primed, semantic_hits; /* relaxed counters */
};

/* Count a question; how often it was asked of late. question: normalised. */
uint32_t query_heat_count(query_memory *m, const query_request *q, const char *question);
/* The counts of a tenant, made on first use; NULL beyond the most that are counted. */
hot_queries *query_heat_of(query_memory *m, const char *tenant);
void query_heat_save(query_memory *m);
/* Ask the hottest questions whose collection has moved again, at most *allowance of them, which is
 * lowered. One caller at a time. */
void query_heat_prime(query_memory *m, double *allowance);
/* The thread that primes and saves; arg: the memory. */
void *query_heat_upkeep(void *arg);

#endif
