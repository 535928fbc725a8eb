#include "data/extract/office_text.h"

#include <stdlib.h>

int office_text_init(office_text *t, builder *b, fo_err *err) {
    *t = (office_text){.b = b, .table = calloc(1, sizeof *t->table)};
    return t->table ? FO_OK : fo_no_memory(err);
}

void office_text_deinit(office_text *t) {
    if (t->table) table_spans_free(t->table);
    free(t->table);
    fo_buf_free(&t->text);
    fo_buf_free(&t->cell);
}

void office_text_add(office_text *t, const char *s, size_t n) {
    if (t->text.len + t->cell.len + n > t->b->max_bytes)
        t->b->failure = FO_ELIMIT;
    else
        fo_buf_add(&t->text, s, n);
}

bool office_text_end(office_text *t) {
    if (t->text.failed || t->cell.failed) t->b->failure = FO_ENOMEM;
    if (!t->text.len || t->b->failure) return false;
    if (!t->tables) return true;
    if (t->cell.len) fo_buf_char(&t->cell, ' ');
    fo_buf_add(&t->cell, t->text.data, t->text.len);
    return false;
}

void office_text_begin_table(office_text *t) {
    if (!t->tables++) table_spans_begin(t->table, t->b, false);
}

void office_text_end_table(office_text *t) {
    if (!t->tables) return;
    if (!--t->tables) table_spans_end(t->table);
}

void office_text_begin_row(office_text *t) {
    t->column = 0;
    table_spans_row(t->table);
}

void office_text_begin_cell(office_text *t, uint32_t span) {
    fo_buf_clear(&t->cell);
    t->span = span;
    t->rows = 1;
    t->covered = false;
}

void office_text_end_cell(office_text *t) {
    /* What a covered cell holds is seen nowhere, unless a program wrote it that knows no spans. */
    if (t->covered && !t->cell.len)
        table_spans_covered(t->table, t->column, t->span);
    else if (t->span)
        table_spans_cell(t->table, t->column, t->span, t->rows, t->cell.data ? t->cell.data : "",
                         t->cell.len);
    t->column += t->span;
    fo_buf_clear(&t->cell);
}

void office_text_end_row(office_text *t, const text_place *place, bool header) {
    table_spans_end_row(t->table, place, 0, header);
}
