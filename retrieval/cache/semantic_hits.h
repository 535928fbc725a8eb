/* semantic_hits.h - an answer for a question asked in other words: optional, off by default.
 *
 * What was answered of late is kept as the question's vector and its *marks*; a question finds the
 * answer of the nearest one whose cosine reaches a threshold, where a lexical guard agrees. The
 * guard exists because vectors of questions that differ in one name, number or "not" lie closer
 * than vectors of paraphrases: docs/measurements/caching.md has the measured rates with and without it.
 *
 * Only questions of the same group are compared: the same tenant, collection and parameters (the
 * key of an answer, made without its question). */
#ifndef FORAGE_RETRIEVAL_SEMANTIC_HITS_H
#define FORAGE_RETRIEVAL_SEMANTIC_HITS_H

#include "index/sparse/analyze.h"
#include "kernels/error.h"
#include "retrieval/cache/query_cache.h"

/* ---- the guard ----------------------------------------------------------------------------- */

/* What two questions must have in common to be taken for one. */
typedef struct question_marks question_marks;

int question_marks_make(question_marks **out, analyzer *a, const char *question, fo_err *err);
void question_marks_free(question_marks *m); /* NULL is fine */
/* The same numbers with their units, names (what one of the two writes with a capital, the other perhaps
 * without) in the same order, kind (who, when, how many, ...), negations and sides of a contrast (first
 * and last); and of all other words of both, but for stop words, at most one that is not in the other. */
bool question_marks_agree(const question_marks *a, const question_marks *b);

/* ---- what was answered ----------------------------------------------------------------------- */

typedef struct semantic_hits semantic_hits; /* any thread */

/* capacity: questions kept; the oldest goes first. threshold: cosine, 0..1. */
int semantic_hits_create(semantic_hits **out, size_t capacity, size_t dim, double threshold,
                         fo_err *err);
void semantic_hits_free(semantic_hits *h); /* NULL is fine */

/* A question on its way: vector[dim] of unit length is copied, marks are taken. A vector of zeroes
 * is never near anything. */
typedef struct semantic_question {
    unsigned char group[QUERY_KEY_BYTES];
    float *vector;
    question_marks *marks;
} semantic_question;
void semantic_question_free(semantic_question *q); /* NULL is fine */

/* The answer key of the nearest question that agrees; *cosine is its similarity. False: none. */
bool semantic_hits_find(semantic_hits *h, const semantic_question *q,
                        unsigned char answer_key[QUERY_KEY_BYTES], double *cosine);
/* q was answered, under answer_key. Takes vector and marks out of q. */
void semantic_hits_add(semantic_hits *h, semantic_question *q,
                       const unsigned char answer_key[QUERY_KEY_BYTES]);

#endif
