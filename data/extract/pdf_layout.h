/* pdf_layout.h - what pdftotext says of the pages of a PDF: lines with their boxes,
 * from its -bbox-layout output. Which of them are running heads is told here too. */
#ifndef FORAGE_DATA_PDF_LAYOUT_H
#define FORAGE_DATA_PDF_LAYOUT_H

#include "data/extract/builder.h"

typedef struct pdf_word {
    size_t at;    /* of pdf_layout.text */
    float x0, x1; /* points */
} pdf_word;

typedef struct pdf_line {
    size_t at, n;         /* of pdf_layout.text */
    size_t word, n_words; /* of pdf_layout.words */
    float box[4];         /* x0, y0, x1, y1 in points from the page's upper left corner */
    uint32_t page;        /* from 1 */
    uint32_t block;       /* lines of a paragraph share it; counted through the document */
    uint32_t table;       /* whose cells it holds, from 1; 0: none. Its lines stand together */
    uint8_t level;        /* of a heading that the document's outline names, from 1; 0: none */
    bool is_running;      /* a head, a foot, a page number: part of the page, not of the text */
    bool is_recognised;   /* from an image: its height says little */
} pdf_line;

/* What one line has in one cell. */
typedef struct pdf_piece {
    size_t at, n; /* of pdf_layout.text */
    float box[4];
    uint32_t row, column; /* from 0 */
} pdf_piece;

typedef struct pdf_table {
    size_t piece, n_pieces; /* of pdf_layout.pieces, in the order of rows, columns and lines */
    uint32_t page, n_columns, n_rows;
    float left, right;
    bool headed; /* the first row names the columns, whatever it looks like */
} pdf_table;

typedef struct pdf_layout {
    fo_buf text, title; /* clean UTF-8 */
    pdf_line *lines;
    size_t n_lines, cap_lines;
    pdf_word *words;
    size_t n_words, cap_words;
    pdf_table *tables;
    size_t n_tables, cap_tables;
    pdf_piece *pieces;
    size_t n_pieces, cap_pieces;
    uint32_t n_pages, n_blocks;
    bool recognised_later; /* a page counts as read when its letters have been looked for */
    float *heights;        /* [n_pages] in points */
    size_t cap_pages;
    bool ended; /* the document's end was seen */
} pdf_layout;

/* Read all of it. b: its budget and its limit of text are kept, and told in b->failure; nothing is
 * written to it. FO_ENOMEM through b alone. */
void pdf_layout_read(pdf_layout *out, builder *b, const extract_stream *from,
                     bool recognised_later);
/* Lines and words that tesseract recognised (pdf_ocr.c), to the end of the lines, for this page; 0:
 * each that it speaks of is a page of its own. points: what a dot of the image measures. */
void pdf_layout_read_ocr(pdf_layout *p, builder *b, const extract_stream *from, uint32_t page,
                         float points);
/* A word (clean UTF-8) to the last line. */
void pdf_layout_add_word(pdf_layout *p, builder *b, const char *s, size_t n, const float box[4]);
/* Mark the lines that repeat at the top or foot of pages, and page numbers. One of words whose numbers differ, "Total due: 120.00",
 * is marked where one of them counts the pages, or where it stands on three pages nearby. */
void pdf_layout_mark_running(pdf_layout *p, builder *b);

/* Where all lines run, the pages are copies of one, as labels and tickets are: those of the first page with words are the text.
 * False: some do not run, or they are page numbers. */
bool pdf_layout_keep_what_repeats(pdf_layout *p);
/* Lines of pages with columns are put in the order of reading (pdf_columns.c), and tables are found;
 * after the above. */
void pdf_layout_order_columns(pdf_layout *p, builder *b);
/* Find tables (pdf_tables.c) among the n lines of a page or of one of its columns: what they hold goes to
 * p->tables and p->pieces, and the lines get their number. gutter: the page has columns, parted here, and
 * only tables that reach over both are sought; 0: the lines are a column. */
void pdf_layout_find_tables(pdf_layout *p, builder *b, pdf_line *const *lines, size_t n,
                            float gutter);
/* Mark the headings that the document's outline names (pdf_outline.c): what pdftohtml -xml says of it. */
void pdf_layout_mark_outline(pdf_layout *p, builder *b, const extract_stream *from);
/* Room for one more element of an array that the budget counts; false: b->failure says why. */
bool pdf_layout_grow(builder *b, void **array, size_t n, size_t *cap, size_t size);
/* &amp;, ligatures and control characters dealt with, a word of XML becomes text at the end of out. */
void pdf_layout_add_xml(fo_buf *out, const char *s, size_t n, size_t *n_replaced);
void pdf_layout_free(pdf_layout *p, builder *b);

#endif
