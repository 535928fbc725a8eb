/* row_conditions.h - what a question asks of the rows of a table by a yes or a no of their columns, "with a balcony but without
 * breakfast", and which rows it leaves out by name, "outside London". English. */
#ifndef FORAGE_RETRIEVAL_ROW_CONDITIONS_H
#define FORAGE_RETRIEVAL_ROW_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/answer/candidates.h"

/* "no", "none", a dash; "yes", a tick: of a cell. */
bool row_cell_denies(const char *s, size_t n);
bool row_cell_consents(const char *s, size_t n);

/* Do the words of a column's name, which is in the passage's text, all stand in the question, but for stop words and for what a
 * column says besides ("Breakfast included")? */
bool row_column_is_asked(const candidate_set *set, const candidate_passage *p, const char *name,
                         size_t n);

/* Does the question deny what the column says, or may it: "without breakfast"? */
bool row_column_is_denied(const candidate_set *set, const candidate_passage *p, const char *name,
                          size_t n);

enum { ROW_FAILS = -1, ROW_UNCLEAR = -2 };

/* How many of the asked columns have in this row the yes, or the no, that is asked for: 0 where none has either. ROW_FAILS: one
 * has the other ("a stove or water": all have). ROW_UNCLEAR: a denial may be of this column or of the one before it. */
int row_conditions_met(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* The terms of what the question leaves out: "the limit outside London", "all rooms other than the Attic"; 0: of nothing. */
uint64_t row_terms_left_out(const question *q);

/* Is the row named so? Not one that says itself what it is not of: "Outside London". */
bool row_is_left_out(const candidate_set *set, const candidate_passage *p, const text_unit *u);

#endif
