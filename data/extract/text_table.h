/* text_table.h - tables of pages and Markdown, whose rows are written as they come, each cell in its columns.
 *
 *     text_table_begin(&t, b);              // <table>
 *     text_table_row(&t);                   // <tr>
 *     text_table_cell(&t, true, 2, 1);      // <th colspan="2">, then its text to b
 *     text_table_end_row(&t);
 *
 * A row is read alone, so what goes over several of them is said in each: the words of a cell with a rowspan stand in the
 * rows below, those of one with a colspan in all of its columns, but for the first column, where a wide cell heads a group of
 * rows. Two rows of names, of which the first has wide ones and nothing stands between them, become one: "Summer opens | Summer
 * closes". Longer cells are not said again.
 *
 * A blank line stands before a table, so that two one behind the other are not read as one; but where the first is
 * names alone and the second has none, as pages have them whose names stay in sight.
 *
 * Rows are written "a | b | c", those of a form ("Default:", "on") as lines: "Default: on". Below names that are numbers, which nobody would take for names ("Setting | 4.1 | 4.2"), each
 * row says them: "Setting: port; 4.1: 8080; 4.2: 8420", as table_rows.h does. */
#ifndef FORAGE_DATA_TEXT_TABLE_H
#define FORAGE_DATA_TEXT_TABLE_H

#include "data/extract/builder.h"

enum { TEXT_TABLE_COLUMNS = 64, TEXT_TABLE_WORDS = 200 }; /* beyond those nothing is said again */

typedef struct text_cell {
    uint32_t rows; /* that it still goes on for */
    uint32_t n;
    char words[TEXT_TABLE_WORDS];
} text_cell;

typedef struct text_slice {
    size_t at, n;
} text_slice;

typedef struct text_table { /* zero-initialised; owns nothing; 40 KB */
    builder *b;
    text_cell below[TEXT_TABLE_COLUMNS];    /* what stands there in the rows that follow */
    text_cell names[2][TEXT_TABLE_COLUMNS]; /* what the first two rows have in n_names columns */
    size_t n_names[2], n_below;
    size_t rows;                     /* that are complete */
    bool only_names;                 /* they name columns, and nothing is below them */
    bool goes_on;                    /* so did the table before: this one, without names, has its */
    size_t first_blocks, first_text; /* of b, before the first row */
    size_t names_blocks;             /* of b, behind it, where it is one of names */
    size_t column;                   /* of the next cell */
    size_t cell_at, cell_column;     /* of the open one: its text in b, its first column */
    uint32_t cell_width, cell_rows;
    bool cell_open;
    bool heads;                  /* all cells of this row name something */
    bool wide;                   /* one of the first row goes over several columns or rows */
    bool one_name;               /* the first row is one of names, and the second may be another */
    bool cut;                    /* a name of them was too long to be kept */
    bool say_names;              /* each row says them */
    bool over;                   /* this row has more columns than are told apart */
    size_t row_blocks, row_text; /* of b, before this row */
    size_t n_cells;
    text_slice cells[TEXT_TABLE_COLUMNS]; /* where the text of each column stands in b */
} text_table;

void text_table_begin(text_table *t, builder *b);
/* Ends the open block of b and begins a row's. */
void text_table_row(text_table *t);
/* Spans below 1 are 1. head: <th>. */
void text_table_cell(text_table *t, bool head, int columns, int rows);
void text_table_end_row(text_table *t);
/* The row ends where it is, for what comes is no part of its cells: blocks of b. */
void text_table_leave_row(text_table *t);

#endif
