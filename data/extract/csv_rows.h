/* csv_rows.h - where the rows of a table of values end (extract_csv.c): a large one is cut there, for parts that each bring the
 * row which names the columns (text_parts.h). Bytes in any character set whose line ends and separators are those of
 * ASCII. */
#ifndef FORAGE_DATA_CSV_ROWS_H
#define FORAGE_DATA_CSV_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What parts the fields: the sign that a first line "sep=;" says, else the one that most of the first lines have as often as each other. */
char csv_separator(const char *s, size_t n);
/* Bytes of the whole rows that s[0..n) begins with, and how many rows; 0: none is whole. goes_on: the text does, behind
 * s[n - 1], where a quote may be closed yet. */
size_t csv_rows_end(const char *s, size_t n, char separator, bool goes_on, uint64_t *n_rows);
/* Bytes of the table's beginning up to the row that names the columns, with it, and how many rows; 0: none does. */
size_t csv_header(const char *s, size_t n, char separator, uint64_t *n_rows);

#endif
