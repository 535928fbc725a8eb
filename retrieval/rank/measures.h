/* measures.h - how good a ranking or an answer is. Pure functions.
 * Sources: trec_eval (linear gain in nDCG), SQuAD v1.1's evaluation script (normalisation, exact
 * match, F1). */
#ifndef FORAGE_RETRIEVAL_MEASURES_H
#define FORAGE_RETRIEVAL_MEASURES_H

#include <stdbool.h>
#include <stddef.h>

/* A ranking is given as gains[n], best rank first: the judged relevance of what stands at each
 * rank, 0 where it is not judged or not relevant. `ideal` are the relevances (> 0) of all judged
 * documents of the query, in any order. */

/* DCG@k over its ideal; gain linear in the relevance, discount log2(rank + 1). 0 without relevant
 * documents. */
double measure_ndcg(const int *gains, size_t n, const int *ideal, size_t n_ideal, size_t k);
/* 1 / rank of the first relevant one within k, else 0. */
double measure_mrr(const int *gains, size_t n, size_t k);
/* Share of the n_relevant documents that stand within k. */
double measure_recall(const int *gains, size_t n, size_t n_relevant, size_t k);
/* 1 when a relevant one stands within k. */
double measure_success(const int *gains, size_t n, size_t k);

/* SQuAD's normalisation: lower case, punctuation and the articles a, an, the gone, white space
 * single. Case is folded for all of Unicode; a character of a script without spaces between words is a
 * word. Caller frees; NULL when out of memory. */
char *measure_normalise(const char *answer);
/* 1 or 0, and token-overlap F1, of normalised texts; the best over the gold answers. */
double measure_exact(const char *answer, const char *const *gold, size_t n_gold);
double measure_f1(const char *answer, const char *const *gold, size_t n_gold);
/* Does the normalised answer hold a whole normalised gold answer, at word boundaries? */
bool measure_contains(const char *answer, const char *const *gold, size_t n_gold);

#endif
