/* table_row.h - rows of tables in plain text: "a | b", columns that stand below each other, or records, whose cells
 * say which columns they are of: "Room: Eider; Floor: 2" (data/extract/table_rows.h writes them).
 *
 *     for (size_t at = 0; table_row_cell(s, n, &at, &cell, &bytes);) use(cell, bytes);
 *     for (size_t at = 0; table_row_pair(s, n, &at, &pair);) use(pair.name, pair.value);
 *
 * Ours: rules for how people lay tables out by hand, and for what pdftotext and mail programs leave of them. */
#ifndef FORAGE_RETRIEVAL_TABLE_ROW_H
#define FORAGE_RETRIEVAL_TABLE_ROW_H

#include <stdbool.h>
#include <stddef.h>

/* The next cell of a row of n bytes, trimmed, which may be empty between bars; *at begins as 0. False: there is none.
 * A row with bars is cut at bars, any other at two blanks or more, or a tab; where it begins with those, its first cell is
 * empty. */
bool table_row_cell(const char *s, size_t n, size_t *at, const char **cell, size_t *bytes);

/* Are the first row's cells what the columns are called? Three columns or more, no figure in the first row ("Children 6-14" may
 * stand above values in all columns but the first), capitals or none throughout, and a column of figures below it (second: the
 * next row). */
bool table_row_names_columns(const char *first, size_t n_first, const char *second, size_t n);

/* "Item | 2023 | 2024": a first cell in words, or empty, and years behind it, two or more that rise or fall. */
bool table_row_names_years(const char *s, size_t n);

typedef struct table_pair {
    const char *name, *value; /* of the row's bytes; a value may hold "; " */
    size_t n_name, n_value;   /* only the first cell of a record may be without a name */
} table_pair;

/* The next cell of a record; *at begins as 0. False: there is none, or what is there has no name. */
bool table_row_pair(const char *s, size_t n, size_t *at, table_pair *out);

/* The first cell of any row without the name of its column; false: there is no other behind it. */
bool table_row_first(const char *s, size_t n, bool record, table_pair *out);

/* Is it a line of two such cells or more, and of nothing beside them? */
bool table_row_is_record(const char *s, size_t n);

/* Is record s of the same table as the line before it: another record that has the first name, in whatever place, and half of
 * the others in their order, or a row with bars of which a cell is the first name? */
bool table_row_is_alike(const char *above, size_t n_above, const char *s, size_t n);

#endif
