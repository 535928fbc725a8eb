/* footnotes.h - what a sign refers to: "17.00*" of a row, and below the table "* On Fridays 21.00". */
#ifndef FORAGE_RETRIEVAL_FOOTNOTES_H
#define FORAGE_RETRIEVAL_FOOTNOTES_H

#include "retrieval/answer/candidates.h"

/* Is c the note that the best one, a row or an item of the same passage, has a sign of: an asterisk, a dagger, or a raised digit,
 * however a format has left it? It is said with that, whatever is asked. Where several lines begin with the sign, it is a bullet. */
bool footnote_is_of_the_best(const candidate_set *set, const candidate *c);

#endif
