/* continuations.h - what stands right behind the unit that is said first, and belongs to it: where that does not hold, what
 * decides it, what else is to be done. The unit that is said first is set->c[0]. */
#ifndef FORAGE_RETRIEVAL_CONTINUATIONS_H
#define FORAGE_RETRIEVAL_CONTINUATIONS_H

#include "retrieval/answer/candidates.h"

/* "Not on the dyke.": right behind the best, it says where or when that does not hold, and is never left out. So is what takes
 * something of it back: "This does not apply to flats", "Flex members cannot pause", "Lunch is always paid", and, of what holds up to
 * a number, what holds "after that"; but not what says of the same subject something else, "The van is only washed by hand". So is what sets
 * it right: "In fact ..." behind "was expected", and what stands behind an error that is reported (past_states.h). */
bool continuation_restricts(const candidate_set *set, const candidate *c);

/* The sentence right behind the best answers as well as that one: "It keeps for two weeks." */
bool continuation_answers(const candidate_set *set, const candidate *c);

/* The sentence right behind the best says of what that one names something that is asked for and not said there: "The trial
 * period is six months. During it either side may give two weeks' notice." */
bool continuation_completes(const candidate_set *set, const candidate *c);

/* The sentence right behind the best says whether its condition is met, in words of it: "It is covered only with the Plus
 * option. You do not have the Plus option." */
bool continuation_settles(const candidate_set *set, const candidate *c);

/* It belongs to the best, however little of the question it says: it settles that; asked what to do or what happens, it forbids
 * something in words of it ("Do not take a double dose") or says what holds always; or it goes on with an entry of which the best
 * is the beginning, where what to do is asked: "Red lamp: Low oil. Top up."; or says how it is
 * overcome, where that is asked: "To fix this, ..."; or the question also asks when, and it is the first of its
 * paragraph to name a day or a month; or it says what a thing does, where that is asked and the best only says where it is:
 * "Clicking this button ..." */
bool continuation_belongs(const candidate_set *set, const candidate *c);

#endif
