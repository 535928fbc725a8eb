/* search_beside.h - what is looked for beside a question's words, in other languages than English: "verloren" beside "verliere",
 * "Kita" beside "Kindergarten", "Kühlschrank" and "Reparatur" beside "Kühlschrankreparatur", and the other way round.
 *
 *     search_beside b = {0};
 *     int rc = search_beside_read(&b, snapshot, analyzer, question, err);
 *     search_sparse_beside(snapshot, question, b.terms, b.n, ...);
 *     search_beside_deinit(&b);
 *
 * The index holds stems, and stems leave apart what a list or the make of a word tells (same_words.h, compounds.h). A hit by one of
 * these terms counts less than one by a word of the question; English has the lists of office_words.h in this place, and nothing is
 * read for it here. Ours; figures: docs/measurements/quality.md, "Other languages". */
#ifndef FORAGE_RETRIEVAL_SEARCH_BESIDE_H
#define FORAGE_RETRIEVAL_SEARCH_BESIDE_H

#include "index/search/search_index.h"
#include "index/sparse/analyze.h"
#include "kernels/buf.h"

enum { SEARCH_BESIDE_MOST = 96 };

typedef struct search_beside {
    search_term terms[SEARCH_BESIDE_MOST];
    size_t n;
    fo_buf letters; /* of the terms */
} search_beside;

/* *out is all zero before. Leaves it without terms where the question is in English. FO_ENOMEM, FO_ELIMIT. */
int search_beside_read(search_beside *out, search_snapshot *s, analyzer *a, const char *asked,
                       fo_err *err);
void search_beside_deinit(search_beside *b);

#endif
