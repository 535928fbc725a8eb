/* pdf_centred.h - rows of a table whose cells stand in the middle of the row's height, as those of web pages do: a cell of one
 * line beside one of two stands between these.
 *
 *     Pump does not
 *                      Impeller is blocked
 *     start
 *
 * By its lines this is three rows. Lines are a cell's where they are as far apart as its others: rows are often hardly farther apart
 * than those. One line beside the middle one of three looks like a row of its own, and is told by the cells beside it. Of
 * pdf_tables.c alone. */
#ifndef FORAGE_DATA_PDF_CENTRED_H
#define FORAGE_DATA_PDF_CENTRED_H

#include "data/extract/pdf_finder.h"

/* The segments, by their height on the page: those of cells that are centred on each other get the height of them all (y0, y1),
 * every other that of its line. */
void pdf_centred_join(finder *f);

#endif
