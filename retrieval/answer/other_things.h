/* other_things.h - units that say what is asked of something else: another office, another number, a rival, another file. */
#ifndef FORAGE_RETRIEVAL_OTHER_THINGS_H
#define FORAGE_RETRIEVAL_OTHER_THINGS_H

#include "retrieval/answer/candidates.h"

/* CAND_OTHER_THING of a unit of passage p, as far as it tells by itself: 0, 1, or CAND_RIVAL. */
double other_thing_of(const candidate_set *set, const candidate_passage *p, const text_unit *u);

#endif
