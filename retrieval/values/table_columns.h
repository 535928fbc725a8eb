/* table_columns.h - what the columns of a row are called where only its layout makes it one, and the line that names them has
 * nothing above the first:
 *
 *                        1 hour     full day    deposit
 *     Rowing boat         12.00        48.00      20.00
 *
 * text_columns_name_others (data/extract/text_columns.h) is no part of this: it knows no kinds of values, so it takes names
 * without figures above cells of any kind, "8-18   9-17" being as likely a row that goes on. Here a cell's kind tells: "1 hour"
 * names a column of prices, and above words nothing is known to be a name.
 *
 * Ours, tested by tests/retrieval/values/short_clauses_test.c. */
#ifndef FORAGE_RETRIEVAL_TABLE_COLUMNS_H
#define FORAGE_RETRIEVAL_TABLE_COLUMNS_H

#include <stddef.h>

#include "retrieval/units/table_row.h"

enum { TABLE_COLUMNS = 24 }; /* more are not looked at */

/* Puts names to cells[n], whose values are bytes of the line of text[start], by the topmost of the lines of cells right above
 * it: each of its cells stands above one. Where one does not, or is itself a value of that kind, all stay without. */
void table_columns_above(table_pair *cells, size_t n, const char *text, size_t start);

#endif
