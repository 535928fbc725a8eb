/* short_cells.h - which cell of a table's row is the value that was asked for.
 *
 * "What does an e-bike cost for a week?" of "Bicycle: E-bike; Day: £36; Weekend: £64; Week: £150": that of the column whose
 * name the question speaks of, by its words, a month or day within it, an amount that it bounds, and never one of a column that
 * the question denies ("we are not members") or of another number ("1 hour" of "two hours"). Where several cells of the kind
 * are left, none is told. English. */
#ifndef FORAGE_RETRIEVAL_SHORT_CELLS_H
#define FORAGE_RETRIEVAL_SHORT_CELLS_H

#include "retrieval/question/asked_words.h"
#include "retrieval/text/passage.h"

enum short_told {
    SHORT_OPEN,     /* nothing is known against what the reader takes */
    SHORT_TOLD,     /* it is these bytes */
    SHORT_NOT_TOLD, /* it may be one or another: none is said */
};

typedef struct short_input {
    const lexicon *lx;
    const asked_words *asked;
    const passage *passage;
    size_t start, end; /* bytes of the passage: the unit */
    size_t best_from,
        best_to; /* bytes of the passage that the reader takes for the answer; equal: none */
} short_input;

/* *row: the unit is a row of a table, and the rest holds. Else nothing is told. FO_ENOMEM, FO_ELIMIT. */
int short_cell(bool *row, enum short_told *told, size_t *from, size_t *to, const short_input *in,
               fo_err *err);

#endif
