/* which_one.h - of things of one kind, which one the question names, and which one a unit is about: "the Second Symphony" and "The
 * Fourth, finished in 1898", "The Blue Gate" and "Long Pier", status 502 and 429. English alone. */
#ifndef FORAGE_RETRIEVAL_WHICH_ONE_H
#define FORAGE_RETRIEVAL_WHICH_ONE_H

#include "retrieval/answer/candidates.h"

/* Sets units apart that are called by another ordinal of the same thing ("First year: 1,050"), that are of another model than the one of
 * the question which their document has ("Petrel 3", "Petrel 3 Pro"), that begin with another work's title in quotes, where the question
 * asks who did it of one that a passage has in quotes, and sentences of a setting that begin with another value in quotes than the one
 * asked about, where one has that. */
void which_one_mark(candidate_set *set);

/* Does the unit begin with another ordinal than the one that the question names of the same thing, or, where it asks who did it, another
 * work's title, and never say the one that is asked about? */
bool which_one_is_another(const candidate_set *set, const candidate *c);

/* Is c about the one that the question names by its ordinal or number, and `other` not? */
bool which_one_is_asked(const candidate_set *set, const candidate *c, const candidate *other);

#endif
