/* first_unit.h - which unit is said first. The ranking says how likely each answers; of several that are about as likely, the one that
 * names what is asked about, or is the value that is asked for, leads. */
#ifndef FORAGE_RETRIEVAL_FIRST_UNIT_H
#define FORAGE_RETRIEVAL_FIRST_UNIT_H

#include "retrieval/answer/candidates.h"

/* Move the unit that leads to the front of set->c, which is ranked, and mark as passed_over what is no answer beside it for want of
 * the subject or the value, or because it is over (past_states.h). */
void first_unit_choose(candidate_set *set);

#endif
