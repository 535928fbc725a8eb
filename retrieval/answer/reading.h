/* reading.h - what the reader (engine/embed/reader.h) sees of a question's passages: how near the
 * question's tokens come to a passage, and to any unit of it.
 *
 *     reading *r;
 *     reading_create(&r, model, question, passages, n, NULL, &err);
 *     double of_passage = reading_of_passage(r, 0);
 *     reading_units_measure(r, units, n_units, values, &err);
 *     reading_free(r);
 *
 * Measures are means over the question's tokens of their best cosine, weighted by how rare each
 * token is among the passages: 0..1, comparable between questions and collections. Titles and
 * headings count at a discount, so that a unit which leaves its subject to them is not lost. */
#ifndef FORAGE_RETRIEVAL_READING_H
#define FORAGE_RETRIEVAL_READING_H

#include <stdatomic.h>

#include "engine/embed/reader.h"
#include "retrieval/text/passage.h"
#include "retrieval/units/units.h"

typedef struct reading reading; /* one thread at a time */

/* Read the question and the passages in one batch; what the reader keeps of earlier ones costs
 * nothing. The passages must outlive it. Error codes as reader_encode; *out is NULL then. */
int reading_create(reading **out, reader *model, const char *question, const passage *passages,
                   size_t n_passages, const atomic_bool *cancelled, fo_err *err);
void reading_free(reading *r); /* NULL is fine */

enum { READING_MAX_PASSAGES = 256 };

typedef struct reading_rank {
    double score;   /* higher is better, of this list only */
    double answers; /* calibrated, 0..1: how likely the passage answers the question */
} reading_rank;

/* ranks[n_passages]: by the reader, with the passages' own scores beside it, and titled[n_passages], cosines of the question with
 * their documents' titles (NAN: not known; NULL: none is). */
void reading_rank_passages(const reading *r, const double *titled, reading_rank *ranks);

/* The whole passage with its title. */
double reading_of_passage(const reading *r, size_t passage);

typedef struct reading_unit {
    uint32_t passage;
    text_unit unit;
} reading_unit;

typedef struct reading_values {
    double align; /* unit, its head and, at a discount, heading and title */
    double least; /* of the weightier half of the question's tokens, the least of align */
    double back;  /* the other way: the mean over the unit's tokens of their best cosine with the
                     question's; falls with what the unit says besides */
} reading_values;

int reading_units_measure(const reading *r, const reading_unit *units, size_t n,
                          reading_values *values, fo_err *err);

#endif
