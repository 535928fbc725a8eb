/* table_spans.h - cells of an Office table, each in its columns, before table_rows.h writes them.
 *
 *     table_spans_begin(&t, b, false);
 *     table_spans_row(&t);
 *     table_spans_cell(&t, 0, 1, 2, "Ward", 4);     // it goes over two rows
 *     table_spans_cell(&t, 1, 2, 1, "Visits", 6);   // and this over two columns
 *     table_spans_end_row(&t, NULL, 0, false);
 *     table_spans_row(&t);
 *     table_spans_covered(&t, 0, 1);                // "Ward" goes on here
 *     ...
 *     table_spans_end(&t);
 *
 * A row is read alone, so what goes over several of them is said in each: the words of a cell over rows stand in the rows
 * below, those of one over columns in all of its columns, but for the first column, where a wide cell heads a group of rows (or
 * columns: those of names below it say it); and one that has the row for itself is a title. Two rows of names become one, "Visits Weekdays | Visits Weekends": where
 * both say that they are such, or the first has a wide cell, neither has a number, and the second has words only below wide
 * cells and empty ones. Cells of more than 200 bytes, and columns behind the 64th, are not said again. */
#ifndef FORAGE_DATA_TABLE_SPANS_H
#define FORAGE_DATA_TABLE_SPANS_H

#include "data/extract/table_rows.h"

enum {
    TABLE_SPANS_COLUMNS = 64,
    TABLE_SPANS_WORDS = 200,
    TABLE_SPANS_ON = INT32_MAX, /* rows of a cell that goes on as long as the rows below say so */
};

typedef struct table_span {
    uint32_t rows; /* that it goes on for, the one at hand counted */
    uint32_t n;
    char words[TABLE_SPANS_WORDS];
} table_span;

typedef struct table_shape { /* of a row */
    uint8_t how[TABLE_SPANS_COLUMNS];
    uint32_t first, last, own_first;  /* columns with words; with words that are the row's own */
    uint32_t n_own, n_covered, again; /* cells; those that say again what a wide one says */
    uint32_t row;
    uint32_t head; /* columns that a cell in the first one goes over */
    bool alone;    /* a title, or the heading of a group: the rows below begin no further left */
    bool wide, number, header, placed;
    text_place place;
} table_shape;

typedef struct table_spans { /* zero-initialised; one at a time for a builder; 90 KB */
    table_rows rows;
    table_span below[TABLE_SPANS_COLUMNS];
    uint32_t n_below;
    uint32_t next; /* the first column of the row at hand that nothing was said of */
    table_shape now, held;
    bool holding; /* the first row waits for the second */
    bool named;   /* rows of several cells were written: what follows names no columns */
    fo_buf kept;  /* what table_rows has of the held row */
    table_cell kept_cells[TABLE_MAX_COLUMNS];
    size_t n_kept;
} table_spans;

void table_spans_begin(table_spans *t, builder *b, bool sheet);
void table_spans_row(table_spans *t);
/* Columns rise. width and height below 1 are 1; s[0..n) may be empty. What the row has said of a column stays. */
void table_spans_cell(table_spans *t, uint32_t column, uint32_t width, uint32_t height,
                      const char *s, size_t n);
/* In these columns a cell of a row above goes on, if there is one. */
void table_spans_covered(table_spans *t, uint32_t column, uint32_t width);
/* The row is complete. row: its number from 1, for the range of its place; 0: none. A row in which nothing is but what goes
 * on is not written; an empty one ends the table of a sheet and is nothing elsewhere. */
void table_spans_end_row(table_spans *t, const text_place *place, uint32_t row, bool header);
/* So many rows are not there. True: cells go on in them. */
bool table_spans_pass(table_spans *t, uint32_t n_rows);
/* Writes what waits; before anything else is written to the builder. */
void table_spans_end(table_spans *t);
void table_spans_free(table_spans *t);

#endif
