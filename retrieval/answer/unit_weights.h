/* unit_weights.h - how much each measure of a unit counts where units are ranked, by what they were measured with. What they were
 * fitted on and how well they do: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_UNIT_WEIGHTS_H
#define FORAGE_RETRIEVAL_UNIT_WEIGHTS_H

#include "retrieval/answer/candidates.h"

/* [CAND_FEATURES], static: for words alone, words and vectors, or a reader, which may be strange to the language of the text (it has
 * not learnt it). */
const double *unit_weights_of(const candidate_set *set, bool strange);

#endif
