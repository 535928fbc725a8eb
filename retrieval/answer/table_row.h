/* table_row.h - rows of tables in plain text: "a | b", or columns that stand below each other.
 *
 *     for (size_t at = 0; table_row_cell(s, n, &at, &cell, &bytes);) use(cell, bytes);
 *
 * Ours: rules for how people lay tables out by hand, and for what pdftotext and mail programs leave of them. */
#ifndef FORAGE_RETRIEVAL_TABLE_ROW_H
#define FORAGE_RETRIEVAL_TABLE_ROW_H

#include <stdbool.h>
#include <stddef.h>

/* The next cell of a row of n bytes, trimmed, which may be empty between bars; *at begins as 0. False: there is none.
 * A row with bars is cut at bars, any other at two blanks or more, or a tab. */
bool table_row_cell(const char *s, size_t n, size_t *at, const char **cell, size_t *bytes);

/* Do both lines have as many columns, two at least and 24 at most, each of which begins or ends below the one above? */
bool table_row_is_below(const char *above, size_t n_above, const char *s, size_t n);

/* Are the first row's cells what the columns are called? Three columns or more, no figure in the first row, capitals or none
 * throughout, and a column of figures below it (second: the next row). */
bool table_row_names_columns(const char *first, size_t n_first, const char *second, size_t n);

#endif
