/* pdf_scan.h - going through what a program writes, piece by piece as it comes: tags of poppler's XML,
 * lines of tesseract's tables. Nothing of it is trusted. */
#ifndef FORAGE_DATA_PDF_SCAN_H
#define FORAGE_DATA_PDF_SCAN_H

#include "data/extract/builder.h"

typedef struct pdf_scanner {
    const extract_stream *from;
    builder *b; /* its budget counts what comes */
    char *data;
    size_t at, n;
    bool over;
} pdf_scanner;

/* FO_ENOMEM through b. */
void pdf_scan_begin(pdf_scanner *s, builder *b, const extract_stream *from);
/* The bytes up to the next `stop`, which is passed over; *n of them at the returned place, good until
 * the next call; 64 KiB without one are cut. NULL at the end. */
const char *pdf_scan_until(pdf_scanner *s, char stop, size_t *n);
void pdf_scan_end(pdf_scanner *s);

/* Of a tag, without its angle brackets: is it one of this name? */
bool pdf_scan_is(const char *tag, size_t n, const char *name);
/* The number in name="...", 0 where there is none that is a place on a page. */
float pdf_scan_number(const char *tag, size_t n, const char *name);

#endif
