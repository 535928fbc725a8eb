/* markup.h - what readers of markup that goes by lines (reStructuredText, AsciiDoc, Org) share: blocks with
 * the line where they begin, whose words are gathered first and freed of their marks when the block ends.
 *
 *     markup m = {.b = b, .in = {.s = text, .n = len}, .strip = strip_marks};
 *     while (markup_next(&m, &l)) {
 *         markup_open(&m, TEXT_PARAGRAPH, 0);
 *         markup_words(&m, l.s, l.n);
 *         ...
 *     }
 *     markup_end(&m);
 */
#ifndef FORAGE_DATA_MARKUP_H
#define FORAGE_DATA_MARKUP_H

#include "data/extract/extract_internal.h"
#include "data/extract/table_spans.h"
#include "data/extract/text_lines.h"

typedef struct markup {
    /* the reader's */
    builder *b;
    text_lines in;
    /* Append s[0..n) without marks to out. */
    void (*strip)(struct markup *m, const char *s, size_t n, fo_buf *out);
    void *ctx;
    /* markup.c's */
    fo_buf words, clean; /* of the open block */
    bool open;
    table_spans *table;
    uint32_t row_line; /* where the row at hand begins, if a reader says so; else where it ends */
    size_t code_indent;
    bool in_code;
} markup;

/* The next line; false at the end, and where the budget says no. */
bool markup_next(markup *m, text_line *l);
/* A block that begins at the line which came last; the open one ends. */
void markup_open(markup *m, uint8_t kind, uint8_t level);
/* Words of the open block (else of a new paragraph), a blank before them where there are some. */
void markup_words(markup *m, const char *s, size_t n);
void markup_close(markup *m); /* without an open block: nothing */
/* A heading of its own; the first one is the title as well. */
void markup_heading(markup *m, uint8_t level, const char *s, size_t n);
/* An item of a list: its mark ("-", "3.", "term:"), then words. */
void markup_item(markup *m, const char *mark, size_t n_mark, const char *s, size_t n);

/* Code, line by line as it stands, less the indentation of its first line. */
void markup_code(markup *m, const text_line *l);
void markup_code_end(markup *m);

/* A row of a table: cells one by one, with their marks, then its end. */
void markup_table(markup *m);
void markup_cell(markup *m, uint32_t column, const char *s, size_t n);
/* One that goes over so many columns and rows: said in each, as table_spans.h has it. */
void markup_cell_over(markup *m, uint32_t column, uint32_t width, uint32_t height, const char *s,
                      size_t n);
/* True: in this column a cell of a row above goes on, and the row at hand says it. Of cells in the first
 * TABLE_SPANS_COLUMNS alone. */
bool markup_covered(markup *m, uint32_t column);
void markup_row_end(markup *m, bool header);

/* Ends what is open and frees what this holds. */
void markup_end(markup *m);

#endif
