/* fusion.h - one ranking out of a dense and a sparse one.
 *
 * weighted: alpha * z(dense) + (1 - alpha) * z(sparse): each list standardised over its hits (mean 0,
 *           deviation 1), a missing score counts as that list's lowest, and of a sparse list that holds all there
 *           is as 0, among the hits (so that the only two chunks with the question's words stand out); shown through the logistic
 *           function, 0..1. The default; alpha is measured per embedder. Standardising keeps what
 *           min-max throws away, how far the best stands out: .632 mean nDCG@10 on eight sets against
 *           .630, and ahead of BM25 on every one (docs/measurements/quality.md).
 * rrf:      alpha / (rrf_k + rank_dense) + (1 - alpha) / (rrf_k + rank_sparse), doubled, so that
 *           alpha = .5 is the plain formula (Cormack, Clarke, Buettcher 2009).
 * dbsf:     distribution-based: each list scaled from mean - 3 sd .. mean + 3 sd to 0 .. 1, then
 *           weighted.
 *
 * A fusion method is one value of the enum, one name, one function in fusion.c and one row of its table.
 */
#ifndef FORAGE_RETRIEVAL_FUSION_H
#define FORAGE_RETRIEVAL_FUSION_H

#include <stddef.h>
#include <stdint.h>
#include "retrieval/rank/topk.h"

enum fusion_kind { FUSION_WEIGHTED, FUSION_RRF, FUSION_DBSF };

extern const char *const fusion_names[]; /* by fusion_kind; NULL ends them */

typedef struct fusion_hit {
    int64_t id;
    float score;
} fusion_hit;

typedef struct fusion_params {
    enum fusion_kind kind;
    double alpha; /* weight of the dense list, 0..1 */
    int rrf_k;
    /* Hits that were looked for in each list: a sparse one that is shorter holds every chunk with a word of the
     * question, and the others score 0. 0: it is not known. */
    size_t depth;
} fusion_params;

typedef struct fused_hit {
    int64_t id;
    double score;
    double dense, sparse; /* as given; NAN where that list does not hold it */
} fused_hit;

/* Best k of the union, best first, ties by smaller id. Lists are best first; an id stands at most
 * once in each. The caller's memory: scratch[n_dense + n_sparse], heap[k]. Returns how many of
 * out[k] are filled. */
size_t fusion_merge(const fusion_params *p, const fusion_hit *dense, size_t n_dense,
                    const fusion_hit *sparse, size_t n_sparse, size_t k, fused_hit *scratch,
                    topk_item *heap, fused_hit *out);

#endif
