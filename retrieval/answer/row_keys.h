/* row_keys.h - a row that the question names by its first cell, and asks whether it has what one of its columns is called:
 * "Does the Premium plan include the sauna?" is answered by "Premium | both" below "Pool and sauna"; and a row whose first cell is
 * asked for by what stands beside it: "Which exit code is given for a wrong password?" by "12 | Wrong password". */
#ifndef FORAGE_RETRIEVAL_ROW_KEYS_H
#define FORAGE_RETRIEVAL_ROW_KEYS_H

#include "retrieval/answer/candidates.h"

/* Picks such rows. The candidates of passage `index` are the last of the set. English. */
void rows_pick_by_key(candidate_set *set, size_t index);

/* Picks rows of which one cell says what the question names, and another, below a column that it asks for, the rest: "Who coaches
 * sabre?" is answered by "Epee, sabre | Anatoly" below "Weapon | Coach". Of who, when, where and names. The candidates of passage `index` are the last of the set. English. */
void rows_pick_by_cell(candidate_set *set, size_t index);

#endif
