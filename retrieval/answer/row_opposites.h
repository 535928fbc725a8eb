/* row_opposites.h - rows of one table of which one denies what the other says: "insulated" and "not insulated", "members" and
 * "non-members". They share their words, and what reads them takes one for the other. English. */
#ifndef FORAGE_RETRIEVAL_ROW_OPPOSITES_H
#define FORAGE_RETRIEVAL_ROW_OPPOSITES_H

#include "retrieval/answer/candidates.h"

/* Sets the rows apart whose name denies a word that the question says, or says one that it denies, where another row of their
 * table is called as the question has it. The candidates of passage `index` are the last of the set. */
void rows_set_opposites_apart(candidate_set *set, size_t index);

#endif
