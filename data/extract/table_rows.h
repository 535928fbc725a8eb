/* table_rows.h - rows of a table become blocks that can be read alone: the header stands beside each
 * cell, for a chunk may hold one row of a thousand.
 *
 *     Month | Rain mm | Snow days
 *
 *     Month: March; Rain mm: 41; Snow days: 2
 *
 * A header is a row of two cells or more without a number in it, above all rows that are written with it,
 * and the widest of such; or one that says that it is. One with an empty corner, ", Monday, Tuesday", is not followed by a wider
 * one: the first cells below it name their rows. A first row of words and years that rise or fall, "Product | 2023 | 2024", is one
 * where the row below it has few. Rows without one are written as `a | b | c`, a form's (`Default:`, `on`) as `Default: on`. */
#ifndef FORAGE_DATA_TABLE_ROWS_H
#define FORAGE_DATA_TABLE_ROWS_H

#include "data/extract/builder.h"

enum { TABLE_MAX_COLUMNS = 1024 };

typedef struct table_cell {
    size_t at, n; /* of the text of the row */
    uint32_t column;
    bool figure; /* the caller's: it is a number, whatever its text looks like ("CHF 5") */
} table_cell;

typedef struct table_rows { /* zero-initialised; one at a time for a builder */
    builder *b;
    fo_buf row, header; /* text of the cells */
    table_cell cells[TABLE_MAX_COLUMNS], header_cells[TABLE_MAX_COLUMNS];
    size_t n_cells, n_header;
    bool said;  /* the header said of itself that it is one */
    bool used;  /* a row was written with it */
    bool sheet; /* of a workbook, where two columns may have a header */
    bool pairs; /* two cells without a header were written: what follows is no header of two */
    bool begun;
    bool fresh; /* the header was the last row */
    size_t
        years; /* of the first row, which is kept as the header that it may be; 0: it may be none */
    bool several;      /* a row of two cells or more was written */
    bool corner;       /* nothing names the first column, whose cells name their rows */
    size_t own_header; /* cells of the header, less those that say again what others do */
    /* the caller's */
    size_t again;    /* cells of the row at hand that say again what one before them says */
    bool group;      /* the row at hand heads those below it, and has one cell */
    bool more, told; /* cells were left out; it has been said */
} table_rows;

void table_rows_begin(table_rows *t, builder *b, bool sheet);
/* A cell of the row at hand, columns from 0 and rising; one without text is none. What is behind
 * TABLE_MAX_COLUMNS of them is left out, and the text says so below the row. Line breaks in it become blanks. A row
 * longer than b's text may be is that failure of b's. */
void table_rows_cell(table_rows *t, uint32_t column, const char *s, size_t n);
/* The row is complete and stands at this place (NULL: none); header: it says that it is one. An empty row
 * ends the table: the next has a header of its own; but one right below the header is nothing. */
void table_rows_end_row(table_rows *t, const text_place *place, bool header);
/* Is there a number, an amount, a share or a date in the row at hand? */
bool table_rows_has_number(const table_rows *t);
void table_rows_free(table_rows *t);

/* "B2:D9", of one cell "B2": rows from 1. */
void table_range_name(char out[40], uint32_t column, uint32_t row, uint32_t last_column,
                      uint32_t last_row);

#endif
