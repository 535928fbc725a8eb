/* tiers.h - rows and items that hold for amounts up to, from or between bounds: who sends 7 kg is answered by "up to 10 kg" and not
 * by the rows beside it, who calls off four days before by "6 to 2 days before". */
#ifndef FORAGE_RETRIEVAL_TIERS_H
#define FORAGE_RETRIEVAL_TIERS_H

#include "retrieval/answer/candidates.h"

/* Where the question names amounts and two or more rows of a table, items of a list or sentences below one heading state
 * bounds for them: those that do not hold all of them, or less closely than another, are of another thing (CAND_OTHER_THING).
 * Two amounts of one kind are told apart by the way they go ("50 cm long and 30 cm wide"), or not looked at. */
void tiers_mark(candidate_set *set);

/* Once all features are known, and again once the cross-encoder has read: the one that holds the amount says what the others of its list say, but for the bounds, and meets the
 * question as well as the best of them. Where no row of a table holds it and an amount is asked for, all else of that document
 * is of another thing, but for what names the amount or states a bound that holds it. */
void tiers_settle(candidate_set *set);

#endif
