/* further_units.h - what is said behind the best unit of an answer. What comes near it by all that is weighed mostly says more of the
 * same; a row, an option or another document more often speaks of another thing. */
#ifndef FORAGE_RETRIEVAL_FURTHER_UNITS_H
#define FORAGE_RETRIEVAL_FURTHER_UNITS_H

#include "retrieval/answer/candidates.h"

/* Is a further unit worth its place behind the best, set->c[0]? Behind what a section begins with is what follows there. */
bool further_unit_adds(const candidate_set *set, const candidate *c);

#endif
