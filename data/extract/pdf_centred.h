/* pdf_centred.h - rows of a table whose cells stand in the middle of the row's height, as those of web pages do: a cell of one
 * line beside one of two stands between these.
 *
 *     Pump does not
 *                      Impeller is blocked
 *     start
 *
 * By its lines this is three rows. Of pdf_tables.c alone. */
#ifndef FORAGE_DATA_PDF_CENTRED_H
#define FORAGE_DATA_PDF_CENTRED_H

#include "data/extract/pdf_finder.h"

/* The segments, by their height on the page: those of cells that are centred on each other get the height of them all (y0, y1),
 * every other that of its line. */
void pdf_centred_join(finder *f);

#endif
