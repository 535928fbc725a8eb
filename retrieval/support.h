/* support.h - what a word weighs, and how far the passages support an answer to the question.
 *
 * The lexicon is the view of the index that extractive answers and citation checks share: the
 * analysis that made the terms and their inverse document frequency. One thread at a time may use
 * one lexicon (its analyzer is not thread-safe). */
#ifndef FORAGE_RETRIEVAL_SUPPORT_H
#define FORAGE_RETRIEVAL_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include "index/analyze.h"

/* Inverse document frequency of an analysed term, > 0; largest for a term the index lacks. */
typedef float term_idf_fn(void *ctx, const char *term, size_t len);

typedef struct lexicon {
    analyzer *analyzer;
    term_idf_fn *idf; /* NULL: every term weighs the same */
    void *idf_ctx;
} lexicon;

/* What speaks for an answer: every member in [0, 1] except where said. Shares are of the
 * question's idf mass, stop words left out. */
typedef struct support_features {
    double sentence_share; /* covered by the best sentence and its passage's title */
    double passage_share;  /* covered by the best passage */
    double rare_share;     /* covered by that passage, of the rarer half of the mass */
    double names_share;    /* of the question's names and numbers found in that passage */
    double answer_type;    /* 1 where the sentence has what the question word asks for */
    double proximity;      /* how close together the covered words stand in the passage */
    double score_ratio;    /* the best passage's BM25 over the question's score on itself */
    double score_gap;      /* lead of the best passage over the average of the next ones */
    double dense;          /* cosine of question and best passage; NAN where unknown */
} support_features;

/* Calibrated: the share of questions with such features whose documents do hold the answer.
 * Monotone in the underlying score; how and on what it was fitted: docs/answers.md. */
double support_probability(const support_features *f);

/* Below this support an answer is refused under strict grounding: where 90 % of the answerable
 * questions of the calibration set are kept. */
extern const double support_threshold;

#endif
