/* html_table.h - cells of a page's table, each in its columns.
 *
 *     html_table_begin(&t, b);              // <table>
 *     html_table_row(&t);                   // <tr>
 *     html_table_cell(&t, true, 2, 1);      // <th colspan="2">, then its text to b
 *     html_table_end_row(&t);
 *
 * A row is read alone, so what goes over several of them is said in each: the words of a cell with a rowspan stand in the
 * rows below, those of one with a colspan in all of its columns, but for the first column, where a wide cell heads a group of
 * rows. Two rows of names, of which the first has wide ones, become one: "Summer opens | Summer closes". Longer cells are
 * not said again. */
#ifndef FORAGE_DATA_HTML_TABLE_H
#define FORAGE_DATA_HTML_TABLE_H

#include "data/extract/builder.h"

enum { HTML_TABLE_COLUMNS = 64, HTML_TABLE_WORDS = 200 }; /* beyond those nothing is said again */

typedef struct html_cell {
    uint32_t rows; /* that it still goes on for */
    uint32_t n;
    char words[HTML_TABLE_WORDS];
} html_cell;

typedef struct html_table { /* zero-initialised; owns nothing; 40 KB */
    builder *b;
    html_cell below[HTML_TABLE_COLUMNS];    /* what stands there in the rows that follow */
    html_cell names[2][HTML_TABLE_COLUMNS]; /* what the first two rows have in n_names columns */
    size_t n_names[2], n_below;
    size_t rows;                     /* that are complete */
    size_t first_blocks, first_text; /* of b, before the first row */
    size_t column;                   /* of the next cell */
    size_t cell_at, cell_column;     /* of the open one: its text in b, its first column */
    uint32_t cell_width, cell_rows;
    bool cell_open;
    bool heads;    /* all cells of this row name something */
    bool wide;     /* one of the first row goes over several columns or rows */
    bool one_name; /* the first row is one of names, and the second may be another */
    bool cut;      /* a name of them was too long to be kept */
} html_table;

void html_table_begin(html_table *t, builder *b);
/* Ends the open block of b and begins a row's. */
void html_table_row(html_table *t);
/* Spans below 1 are 1. head: <th>. */
void html_table_cell(html_table *t, bool head, int columns, int rows);
void html_table_end_row(html_table *t);

#endif
