/* rerank.h - a cross-encoder that reads question and passage together and scores the pair.
 *
 *     reranker_open(&r, "ms-marco-minilm.gguf", pool, &err);
 *     reranker_score(r, query, query_len, passages, lens, n, scores, &err);
 *
 * Slower and better than any score that looks at the two apart, so it orders a few candidates that
 * search found (Nogueira and Cho, "Passage re-ranking with BERT", 2019). Any thread may score;
 * calls take turns. */
#ifndef FORAGE_RETRIEVAL_RERANK_H
#define FORAGE_RETRIEVAL_RERANK_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/pool.h"

typedef struct reranker reranker;

/* FO_EUNSUPPORTED where the file is no cross-encoder. pool: shared, outlives it; NULL: its own. */
int reranker_open(reranker **out, const char *path, fo_pool *pool, fo_err *err);
void reranker_close(reranker *r); /* NULL is fine */
const char *reranker_name(const reranker *r);
int reranker_intact(const reranker *r, fo_err *err); /* as embedder_intact */

/* scores[n]: the model's raw logits, higher is better. The question keeps at most half of the
 * window; a passage is cut at its end. *tokens (may be NULL) counts what was read. */
int reranker_score(reranker *r, const char *query, size_t query_len, const char *const *passages,
                   const size_t *lens, size_t n, float *scores, uint64_t *tokens, fo_err *err);

#endif
