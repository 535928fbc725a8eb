/* office_text.h - what readers of Word documents and of presentations gather alike: the characters of a paragraph, and
 * the cells of a table, in which paragraphs are joined.
 *
 *     office_text t;
 *     rc = office_text_init(&t, b, err);
 *     ... office_text_add(&t, s, n) ...                       // characters
 *     if (office_text_end(&t)) ... write t.text ...           // the paragraph ends, and is in no cell
 *     fo_buf_clear(&t.text);
 *     office_text_begin_table(&t);
 *     office_text_begin_row(&t); ... office_text_begin_cell(&t, span); ... t.rows = 2; ... office_text_end_cell(&t);
 *     office_text_end_row(&t, NULL, header); ...
 *     office_text_end_table(&t);
 *     office_text_deinit(&t);
 *
 * Tables within tables are part of a cell. */
#ifndef FORAGE_DATA_OFFICE_TEXT_H
#define FORAGE_DATA_OFFICE_TEXT_H

#include "data/extract/builder.h"
#include "data/extract/table_spans.h"

typedef struct office_text {
    builder *b;
    fo_buf text; /* of the paragraph at hand */
    fo_buf cell; /* of the cell at hand */
    table_spans *table;
    int tables; /* how many tables deep */
    /* the cell at hand: where it begins, and how many columns and rows it goes over */
    uint32_t column, span, rows;
    bool covered; /* it is part of one in a row above */
} office_text;

int office_text_init(office_text *t, builder *b, fo_err *err); /* deinit in any case */
void office_text_deinit(office_text *t);

/* A gathered text that grows without end is a paragraph of a document made to do that: b fails then. */
void office_text_add(office_text *t, const char *s, size_t n);
/* In a table, the paragraph goes to the cell. True: it is the caller's to write, and not empty. The caller clears t->text. */
bool office_text_end(office_text *t);
/* The outermost one begins a table of b's. */
void office_text_begin_table(office_text *t);
void office_text_end_table(office_text *t); /* the outermost one is written then */
void office_text_begin_row(office_text *t);
void office_text_begin_cell(office_text *t, uint32_t span);
void office_text_end_cell(office_text *t); /* its last paragraph has ended */
void office_text_end_row(office_text *t, const text_place *place, bool header);

#endif
