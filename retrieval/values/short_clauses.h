/* short_clauses.h - which clause of a unit holds the value that was asked for.
 *
 * "Public tours start at 11:00 (in English) and 13:00 (in Welsh)" has two times, and "In August we open at 9 and the last boat
 * goes out at 6 pm", too: the one is meant whose clause says what the others do not, and the question does. What stands before
 * the first value belongs to all of them where nothing stands before the others. Where no clause does, or several do as well,
 * none is told, but all of them where the reader takes all. English. */
#ifndef FORAGE_RETRIEVAL_SHORT_CLAUSES_H
#define FORAGE_RETRIEVAL_SHORT_CLAUSES_H

#include "retrieval/values/short_cells.h"

typedef struct short_clause {
    size_t from, to;             /* bytes of the passage: the clause */
    size_t value_from, value_to; /* ... and its value; equal: it is what the reader takes there */
} short_clause;

/* SHORT_TOLD: the answer stands in *out. unit: the words of bytes [start, end). FO_ENOMEM, FO_ELIMIT. */
int short_clause_find(enum short_told *told, short_clause *out, const short_input *in,
                      const fact_text *unit, fo_err *err);

/* "What about a silver one?": does the unit say nothing of what is asked now, and the quote that it is part of does? */
bool short_is_beside(const asked_words *asked, const fact_text *unit, const fact_text *quote);

/* Is what bytes [from, to) of the passage say an amount, where one is asked for? True where none is. */
bool short_says_amount(const short_input *in, size_t from, size_t to);

#endif
