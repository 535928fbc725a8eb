/* office_text.h - what readers of Word documents and of presentations gather alike: the characters of a paragraph, and
 * the cells of a table, in which paragraphs are joined.
 *
 *     office_text t;
 *     rc = office_text_init(&t, b, err);
 *     ... office_text_add(&t, s, n) ...                       // characters
 *     if (office_text_end(&t)) ... write t.text ...           // the paragraph ends, and is in no cell
 *     fo_buf_clear(&t.text);
 *     office_text_begin_table(&t); ... t.column = 0; ... office_text_begin_cell(&t, span); ... office_text_end_cell(&t); ...
 *     office_text_deinit(&t);
 *
 * Tables within tables are part of a cell. */
#ifndef FORAGE_DATA_OFFICE_TEXT_H
#define FORAGE_DATA_OFFICE_TEXT_H

#include "data/extract/builder.h"
#include "data/extract/table_rows.h"

typedef struct office_text {
    builder *b;
    fo_buf text; /* of the paragraph at hand */
    fo_buf cell; /* of the cell at hand */
    table_rows *rows;
    int tables;            /* how many tables deep */
    uint32_t column, span; /* where the cell at hand begins, and how wide it is */
} office_text;

int office_text_init(office_text *t, builder *b, fo_err *err); /* deinit in any case */
void office_text_deinit(office_text *t);

/* A gathered text that grows without end is a paragraph of a document made to do that: b fails then. */
void office_text_add(office_text *t, const char *s, size_t n);
/* In a table, the paragraph goes to the cell. True: it is the caller's to write, and not empty. The caller clears t->text. */
bool office_text_end(office_text *t);
/* The outermost one begins a table of b's. */
void office_text_begin_table(office_text *t);
void office_text_begin_cell(office_text *t, uint32_t span);
void office_text_end_cell(office_text *t); /* its last paragraph has ended */

#endif
