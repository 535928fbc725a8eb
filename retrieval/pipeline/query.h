/* query.h - a question put to a service, and what comes back. Part of service.h, which says how a service is had.
 *
 * Any thread. Strings handed in are UTF-8 and stay the caller's; results own what they point to. */
#ifndef FORAGE_RETRIEVAL_QUERY_H
#define FORAGE_RETRIEVAL_QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "data/store/store_records.h"
#include "retrieval/cache/query_cache.h"
#include "retrieval/collections/collections.h"
#include "retrieval/generator/generator.h"
#include "retrieval/rank/fusion.h"

/* The names of each enum's values, in their order; NULL ends them (fo_names_find, json_in_enum). */
extern const char *const search_mode_names[], *const cache_mode_names[];
extern const char *const context_order_names[], *const rerank_names[];
extern const char *const query_status_names[], *const answer_source_names[];
extern const char *const cache_outcome_names[], *const rewrite_names[];

enum search_mode { SEARCH_HYBRID, SEARCH_DENSE, SEARCH_SPARSE };
enum cache_mode { CACHE_DEFAULT, CACHE_BYPASS, CACHE_REFRESH };
/* Order of the contexts in a prompt: by score, or so that the longest prefix is cached already. */
enum context_order { ORDER_SCORE, ORDER_CACHE };
/* Who answers where a language model is loaded: the model where its answer holds, else extraction;
 * the other two are there to be measured. */
enum answer_by { ANSWER_BY_SERVICE, ANSWER_BY_EXTRACTION, ANSWER_BY_MODEL };

/* Who makes a turn of a conversation whole, to be searched for and answered: for an answer the model
 * where one of its size is good at it, else words of the turns before. */
enum rewrite_by { REWRITE_AUTO, REWRITE_WORDS, REWRITE_MODEL, REWRITE_OFF };

/* What puts the best of the fused list in order: nothing more, the cross-encoder of rerank_model, or
 * the reader. Contexts of an answer are always read, where the service has a reader. */
enum rerank_kind { RERANK_NONE, RERANK_MODEL, RERANK_READER };

typedef struct search_params {
    enum search_mode mode;
    enum fusion_kind fusion;
    double alpha; /* dense weight; < 0: the collection's, else the embedder's default */
    int rrf_k;    /* 0: 60 */
    size_t ef;    /* 0: default */
    enum rerank_kind rerank;
    double score_threshold; /* of the fused score; 0: none, not even below 0 (a cosine) */
} search_params;

typedef struct query_message {
    const char *role, *content;
} query_message;

/* A field that changes contexts or answer belongs into query_keys.c. */
typedef struct query_request {
    const char *tenant, *collection;
    const char *query;             /* the question; required unless messages end with the user's */
    const query_message *messages; /* earlier turns, oldest first; NULL: none */
    size_t n_messages;
    size_t top_k; /* 1 .. 1000; 0: 8 */
    const search_filter *filter;
    const search_filter *sees; /* what the asker sees of the collection; NULL: everything */
    const char
        *without; /* id of a document that no context is from; NULL: none. With CACHE_BYPASS only */
    search_params search;
    bool generate;             /* false: contexts only (POST /search) */
    bool strict;               /* grounding: strict abstains where support is weak */
    size_t max_tokens;         /* of the answer; 0: 256 */
    size_t max_sentences;      /* of the answer; 0: 3 */
    double temperature, top_p; /* top_p 0: 1 */
    uint64_t seed;
    int sampling_top_k;                         /* of a written answer's tokens; 0: all */
    double min_p;                               /* 0: all */
    double presence_penalty, frequency_penalty; /* -2 .. 2 */
    double repetition_penalty;                  /* .01 .. 10; 0: 1, which is none */
    const char *const *stop;                    /* strings that end an answer: stop_match_check */
    size_t n_stop;
    int priority; /* of a written answer: -100 .. 100, higher is sooner */
    enum context_order order;
    enum generator_reuse kv_reuse;
    bool prefill_only; /* compute and keep the KV of the prompt, write nothing */
    bool drop_kv;      /* free its pages at the end instead of keeping them findable */
    generator_diffusion diffusion;
    generator_sparse sparse;
    bool no_lookup;    /* guess nothing ahead from the prompt; the answer is the same */
    bool short_answer; /* say which words of an extractive answer are the answer */
    enum answer_by answer_by;
    enum rewrite_by rewrite;
    enum cache_mode cache;
    long today;     /* the asker's day, in days since 1 January 1970; 0: of this machine's clock */
    int timeout_ms; /* 0: 60,000 */
    atomic_bool *cancel;
    bool background; /* the service's own (priming): counted nowhere */
} query_request;

typedef struct query_citation {
    int index;                       /* the n of the marker [n], 1-based */
    size_t answer_start, answer_end; /* code points of answer: what the marker supports */
    char *quote;
    bool verified;
    size_t context;                  /* into contexts[] */
    size_t source_start, source_end; /* code points of the stored document text */
} query_citation;

typedef struct query_context {
    store_chunk chunk;
    double score;                 /* fused */
    double dense, sparse, rerank; /* NAN where that list does not hold it */
    double answers;               /* by the reader: how likely it answers, 0..1; NAN: not read */
} query_context;

enum query_status { QUERY_ANSWERED, QUERY_ABSTAINED, QUERY_NO_CONTEXT };
enum answer_source { ANSWER_NONE, ANSWER_EXTRACTIVE, ANSWER_GENERATED };

enum cache_outcome { CACHE_BYPASSED, CACHE_HIT, CACHE_MISS };

/* Whatever of this an answer owns is copied by cached_results.c. */
typedef struct query_result {
    char *answer; /* "" when there is none */
    enum query_status status;
    enum answer_source source;
    const char *finish_reason; /* static: "stop", "abstain", ... */
    const char *refusal;       /* static: what to say where there is no answer, in the question's
                                  language; "" where there is one */
    const char *model;         /* that wrote the answer, the service's; NULL: none */
    char *stop_sequence;       /* that ended a written answer; NULL: none */
    char *rewritten;         /* what was searched for instead of the question; NULL: that itself */
    bool rewritten_by_model; /* ... or by words of the turns before it */
    bool respelt;            /* ... or its misspelt words are mended, and no more */
    double support;          /* calibrated support of the best answer, 0..1 */
    double agreement; /* of what the model wrote with the extractive answer: generated_answer.h */
    struct {          /* what the model was given to read; n_contexts 0: no prompt */
        size_t *contexts; /* [n_contexts], into contexts[], in the order of the prompt */
        size_t n_contexts, n_dropped, n_turns_dropped; /* dropped: for want of room */
        bool cut;                                      /* the only context lost its end */
    } prompt;
    query_citation *citations;
    size_t n_citations;
    struct {               /* the few words of answer that answer; equal: none, or not asked for */
        size_t start, end; /* code points of answer */
    } short_answer;
    query_context *contexts;
    size_t n_contexts;
    size_t n_collapsed; /* near-duplicates left out */
    /* A damaged file of the index was put aside and its chunks are not all back from the store: what was not found may
     * stand in the documents all the same. Such a result is not kept. */
    bool index_incomplete;
    int64_t epoch;
    generator_usage usage; /* of the answer; where service_query failed, until then */
    size_t
        rewriting_tokens; /* that the model took for `rewritten`, also where it came to nothing */
    struct {
        enum cache_outcome answer, retrieval;
        uint32_t hot_estimate; /* how often this was asked of late, by the sketch */
        double similarity;     /* of the question that was answered, where it was another; else 0 */
        double saved_ms;       /* by a hit, over what it cost at first */
        size_t saved_tokens;
    } cache;
    struct {
        double queue, embed, dense, sparse, fuse, rerank, prefill, first_token, decode, total;
        double first_visible; /* words of an answer, a draft's too; without a sink the total */
    } ms;
    int64_t retry_after_ms; /* where service_query gave FO_EBUSY */
} query_result;
void query_result_deinit(query_result *r);

/* Called while the answer grows, from the thread that runs the query; NULL members are skipped.
 * A non-zero return cancels the query. */
typedef struct query_sink {
    void *ctx;
    int (*contexts)(void *ctx, const query_result *partial);
    int (*token)(void *ctx, const char *text, size_t len);
    int (*citation)(void *ctx, const query_result *partial, const query_citation *c);
    /* The answer in the documents' own words, while the model still reads: partial's answer and
     * citations. Tokens that come later take its place; they may be the same words. */
    int (*draft)(void *ctx, const query_result *partial);
} query_sink;

/* FO_EINVAL names the field; FO_ENOTFOUND when the collection does not exist; FO_EBUSY when the
 * language model refuses for load. A model that runs out of time, or into an error, is no failure:
 * the extractive answer is given. After an error *out holds nothing but what the model took, usage and
 * rewriting_tokens, and retry_after_ms. */
int service_query(service *s, const query_request *q, const query_sink *sink, query_result *out,
                  fo_err *err);

/* ---- what questions leave for the next -------------------------------------------------------- */

/* What the caches did since the start. */
typedef struct service_cache_stats {
    query_cache_stats answer, retrieval;
    uint64_t coalesced;   /* hits that waited for a concurrent, identical query */
    uint64_t revalidated; /* answer hits after the epoch moved: the same contexts were found */
    uint64_t primed;
    uint64_t semantic; /* answer hits of questions in other words */
} service_cache_stats;
void service_get_cache_stats(service *s, service_cache_stats *out);
uint32_t service_hot_estimate(service *s, const char *tenant, const char *collection,
                              const char *query);

#endif
