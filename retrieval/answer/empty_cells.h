/* empty_cells.h - rows that have nothing in the column that is asked for: they do not answer, nor does another row in their place. Part of
 * candidates.h. */
#ifndef FORAGE_RETRIEVAL_EMPTY_CELLS_H
#define FORAGE_RETRIEVAL_EMPTY_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/answer/candidates.h"

/* "When was 2.7 released?": is nothing in the row's cell of the column that the question names whole, "Released", and no other
 * column has a word of it or of what it asks for, "Departure" of when? Not of the first column, where a blank goes on with the row
 * above, nor of who asks whether or which, where an empty cell may say no. A record leaves such cells out: others of the table near it
 * have them, and so does a row at its end. English. */
bool row_has_empty_cell(const question *q, const candidate_passage *p, const text_unit *u);

/* "What stitch length do I use for jersey?": where the row of jersey has none, no row that says nothing of what that one says tells it.
 * Which rows have none unit_demands_measure has noted (`empty_cell`). The candidates of passage `index` are the last of the set. */
void rows_set_apart_beside_empty(candidate_set *set, size_t index);

/* "What is the focal length of the Corvus 90?": the row of it, where no column is called so, nor anything else in the document. */
bool row_lacks_column(const candidate_set *set, const candidate_passage *p, const text_unit *u);

#endif
