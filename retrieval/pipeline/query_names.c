/* The names of the enums of a query and its result, as requests, replies, logs and metrics have them. */
#include "retrieval/pipeline/query.h"

const char *const search_mode_names[] = {
    [SEARCH_HYBRID] = "hybrid", [SEARCH_DENSE] = "dense", [SEARCH_SPARSE] = "sparse", NULL};

const char *const cache_mode_names[] = {
    [CACHE_DEFAULT] = "default", [CACHE_BYPASS] = "bypass", [CACHE_REFRESH] = "refresh", NULL};

const char *const context_order_names[] = {[ORDER_SCORE] = "score", [ORDER_CACHE] = "cache", NULL};

const char *const rerank_names[] = {
    [RERANK_NONE] = "none", [RERANK_MODEL] = "model", [RERANK_READER] = "reader", NULL};

const char *const query_status_names[] = {[QUERY_ANSWERED] = "answered",
                                          [QUERY_ABSTAINED] = "abstained",
                                          [QUERY_NO_CONTEXT] = "no_context",
                                          NULL};

const char *const answer_source_names[] = {[ANSWER_NONE] = "none",
                                           [ANSWER_EXTRACTIVE] = "extractive",
                                           [ANSWER_GENERATED] = "generated",
                                           NULL};

const char *const cache_outcome_names[] = {
    [CACHE_BYPASSED] = "bypass", [CACHE_HIT] = "hit", [CACHE_MISS] = "miss", NULL};

const char *const rewrite_names[] = {[REWRITE_AUTO] = "auto",
                                     [REWRITE_WORDS] = "words",
                                     [REWRITE_MODEL] = "model",
                                     [REWRITE_OFF] = "off",
                                     NULL};
