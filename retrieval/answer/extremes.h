/* extremes.h - "Which room is the cheapest?": no row of a table says so, the whole table does. The row whose cell is the most
 * or the least of its column is found by comparing them, of the rows that have what the question asks for besides ("with
 * breakfast"); what the column is, by its name, by the units of its cells or by words of the question. Times that go on over
 * midnight are of the next day, and of hours, "16:00-23:00", what opens or closes tells the end that counts. Where two columns
 * fit and disagree, where no column is of what is asked ("the most popular room"), where a cell cannot be read, or where the
 * table may go on elsewhere, nothing is found: another row would be a wrong answer. English. */
#ifndef FORAGE_RETRIEVAL_EXTREMES_H
#define FORAGE_RETRIEVAL_EXTREMES_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/answer/candidates.h"

/* Marks the candidates of passage `index`, which are the last of the set, that are such rows (CAND_BY_TABLE); only where the
 * question asks for an extreme and the passage's tables are whole (passage.h). */
void extremes_mark(candidate_set *set, size_t index);

#endif
