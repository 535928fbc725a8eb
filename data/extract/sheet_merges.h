/* sheet_merges.h - cells of an Excel sheet that are one. The sheet names them behind its rows, so they are looked for in its
 * bytes before the rows are read.
 *
 *     sheet_merges m = {0};
 *     rc = sheet_merges_find(&m, z, "xl/worksheets/sheet1.xml", err);
 *     const sheet_merge *cells = sheet_merges_at(&m, row, column);   // rows rise, and columns within one
 *     sheet_merges_free(&m);
 *
 * Source: ECMA-376 part 1, 18.3.1.54. */
#ifndef FORAGE_DATA_SHEET_MERGES_H
#define FORAGE_DATA_SHEET_MERGES_H

#include "data/extract/zip_parts.h"

typedef struct sheet_merge {
    uint32_t row, column, last_row, last_column; /* rows from 1, columns from 0 */
} sheet_merge;

typedef struct sheet_merges { /* zero-initialised */
    sheet_merge *merges;      /* by row and column */
    size_t n, cap, next;
} sheet_merges;

/* Those of the sheet in this part, instead of what was there; at most 65,536. Errors as of zip_parts_each_piece. */
int sheet_merges_find(sheet_merges *m, zip_parts *z, const char *part, fo_err *err);
/* The one that begins in this cell; NULL: none. */
const sheet_merge *sheet_merges_at(sheet_merges *m, uint32_t row, uint32_t column);
void sheet_merges_free(sheet_merges *m);

/* "AB12": the column from 0; the row where it says one. What comes behind it; NULL: it is no name of a cell. */
const char *sheet_cell_read(const char *s, uint32_t *column, uint32_t *row);

#endif
