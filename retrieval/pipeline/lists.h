/* lists.h - what the dense and the sparse index find for a question, and one ranking out of both. */
#ifndef FORAGE_RETRIEVAL_LISTS_H
#define FORAGE_RETRIEVAL_LISTS_H

#include "index/search/search_index.h"
#include "retrieval/pipeline/search_beside.h"
#include "retrieval/rank/fusion.h"

typedef struct run run;

/* What the inverted index is asked for. */
typedef struct sought_words {
    bool read;
    fo_buf written; /* what is sought, as manuals say it (office_words.h); no data: as it is */
    search_beside beside; /* and beside it */
} sought_words;

typedef struct found_lists {
    size_t depth;               /* hits that were looked for in each */
    search_hit *dense, *sparse; /* [depth], best first */
    size_t n_dense, n_sparse;
} found_lists;

/* Searches for r->sought in what the filter (NULL: nothing) leaves, as r->q->search.mode says. The question is embedded, and
 * its words are read, once for all searches of a run. lists_deinit in any case. FO_ENOMEM, the searches' errors. */
int lists_search(run *r, const search_filter *filter, size_t depth, found_lists *out);
/* fused[2 * depth], best first; *n of them. FO_ENOMEM. */
int lists_fuse(const run *r, const found_lists *l, fused_hit *fused, size_t *n);
void lists_deinit(found_lists *l);
void lists_words_deinit(sought_words *w);

#endif
