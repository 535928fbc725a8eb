/* cross_reading.h - the second, closer look: the units that were ranked best are read together with the
 * question, each with its neighbours (engine/embed/reader_cross.h).
 *
 * What compares vectors ranks everything and costs little; what reads both together judges a few.
 * The ranking weights and support are fitted on both: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_CROSS_READING_H
#define FORAGE_RETRIEVAL_CROSS_READING_H

#include "retrieval/answer/candidates.h"

/* The reader has a cross-encoder, and the passage of the candidate that stands first is in English. */
bool cross_reading_can(const candidate_set *set, const extractive_input *in);

/* Fill c[].cross and set->crossed for the candidates of four windows of some hundred tokens: around the one
 * that stands first in set->c, around the next that is not in that window, and so on, two in a passage at
 * most. Only where cross_reading_can. Error codes as reader_cross. */
int cross_reading(candidate_set *set, const extractive_input *in, fo_err *err);

/* Log odds of a candidate that it answers, as they are weighed: what was not read counts like what hardly answers. */
double cross_reading_of(const candidate *c);

/* How far behind the best, by all that is weighed, one may be that leads instead. */
extern const double cross_reading_near;
/* ... and by what reads it with the question; true where nothing was read so. */
bool cross_reading_comes_near(const candidate_set *set, const candidate *c);

#endif
