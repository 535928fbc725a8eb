/* pdf_layout.h - what pdftotext says of the pages of a PDF: lines with their boxes,
 * from its -bbox-layout output. Which of them are running heads is told here too. */
#ifndef FORAGE_DATA_PDF_LAYOUT_H
#define FORAGE_DATA_PDF_LAYOUT_H

#include "data/extract/builder.h"

typedef struct pdf_line {
    size_t at, n;    /* of pdf_layout.text */
    float box[4];    /* x0, y0, x1, y1 in points from the page's upper left corner */
    uint32_t page;   /* from 1 */
    uint32_t block;  /* lines of a paragraph share it; counted through the document */
    bool is_running; /* a head, a foot, a page number: part of the page, not of the text */
} pdf_line;

typedef struct pdf_layout {
    fo_buf text, title; /* clean UTF-8 */
    pdf_line *lines;
    size_t n_lines, cap_lines;
    uint32_t n_pages, n_blocks;
    float *heights; /* [n_pages] in points */
    size_t cap_pages;
    bool ended; /* the document's end was seen */
} pdf_layout;

/* Read all of it. b: its budget and its limit of text are kept, and told in b->failure; nothing is
 * written to it. FO_ENOMEM through b alone. */
void pdf_layout_read(pdf_layout *out, builder *b, const extract_stream *from);
/* Mark the lines that repeat at the top or foot of pages, and page numbers. */
void pdf_layout_mark_running(pdf_layout *p, builder *b);
/* Lines of pages with columns are put in the order of reading (pdf_columns.c); after the above. */
void pdf_layout_order_columns(pdf_layout *p, builder *b);
void pdf_layout_free(pdf_layout *p, builder *b);

#endif
