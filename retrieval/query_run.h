/* query_run.h - what the stages of one question hand on: pipeline.c finds, answer.c answers. */
#ifndef FORAGE_RETRIEVAL_QUERY_RUN_H
#define FORAGE_RETRIEVAL_QUERY_RUN_H

#include "retrieval/service_internal.h"

enum { FUSION_DEPTH = 100 }; /* of each list; min-max scales depend on it, so not of top_k */

typedef struct run {
    service *s;
    const query_request *q;
    const query_sink *sink;
    query_result *out;
    fo_err *err;
    collection *c;
    search_snapshot *snapshot;
    analyzer *words; /* of the collection, for this thread until the end */
    double started;
    const char *question; /* what is asked last: the query, or the last message */
    size_t n_turns;       /* of messages, before it */
    char *search_text;    /* the question as it is searched for: made whole from the turns */
    size_t top_k, depth;
    double alpha;
    fusion_hit *dense, *sparse; /* [depth] each */
    size_t n_dense, n_sparse;
    fused_hit *fused; /* [2 * depth] */
    size_t n_fused;
} run;

int run_check_alive(run *r); /* FO_ECANCELLED, FO_ETIMEOUT */
double run_time_left_ms(const run *r);
/* idf of the snapshot, for a lexicon. */
float run_idf(void *snapshot, const char *term, size_t len);

/* Fill answer, citations, status, usage; tell the sink. */
int run_answer(run *r);

#endif
