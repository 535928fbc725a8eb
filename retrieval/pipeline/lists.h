/* lists.h - what the dense and the sparse index find for a question, and one ranking out of both. */
#ifndef FORAGE_RETRIEVAL_LISTS_H
#define FORAGE_RETRIEVAL_LISTS_H

#include "index/search/search_index.h"
#include "retrieval/rank/fusion.h"

typedef struct run run;

typedef struct found_lists {
    size_t depth;               /* hits that were looked for in each */
    search_hit *dense, *sparse; /* [depth], best first */
    size_t n_dense, n_sparse;
} found_lists;

/* Searches for r->sought in what the filter (NULL: nothing) leaves, as r->q->search.mode says. The question is embedded once
 * for all searches of a run. lists_deinit in any case. FO_ENOMEM, the searches' errors. */
int lists_search(run *r, const search_filter *filter, size_t depth, found_lists *out);
/* fused[2 * depth], best first; *n of them. FO_ENOMEM. */
int lists_fuse(const run *r, const found_lists *l, fused_hit *fused, size_t *n);
void lists_deinit(found_lists *l);

#endif
