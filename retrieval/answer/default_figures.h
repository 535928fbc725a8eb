/* default_figures.h - "How many seconds does it wait?": the entry of a setting says what waits, and the line "Default: 600" of the same
 * entry says how many they are. */
#ifndef FORAGE_RETRIEVAL_DEFAULT_FIGURES_H
#define FORAGE_RETRIEVAL_DEFAULT_FIGURES_H

#include "retrieval/answer/candidates.h"

/* Does the question ask for an amount, of which the unit, a term with what is said of it, has no figure but a 0 (which mostly
 * turns something off)? Not of money. */
bool default_figures_wanted(const question *q, const candidate_passage *p, const text_unit *u);

/* What is said of a setting whose entry goes on with such a line states what is asked for (CAND_NO_AMOUNT). */
void default_figures_mark(candidate_set *set);

#endif
