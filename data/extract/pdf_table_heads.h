/* pdf_table_heads.h - which rows of a table on a page name its columns: those above the first with figures, those that name groups
 * of columns, and a first one that has nothing at the left where all others have a name. */
#ifndef FORAGE_DATA_PDF_TABLE_HEADS_H
#define FORAGE_DATA_PDF_TABLE_HEADS_H

#include "data/extract/pdf_finder.h"

/* How many of the n rows of the page from i on make up the head, 0: it cannot be told. They have no numbers, and all that come have
 * some. */
size_t pdf_table_heads_rows(const finder *f, size_t i, size_t n);
/* Does the first of them name the columns, whatever figures it has? */
bool pdf_table_heads_first(const finder *f, size_t i, size_t n);

#endif
