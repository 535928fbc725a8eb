#include "data/extract/office_text.h"

#include <stdlib.h>

int office_text_init(office_text *t, builder *b, fo_err *err) {
    *t = (office_text){.b = b, .rows = calloc(1, sizeof *t->rows)};
    return t->rows ? FO_OK : fo_no_memory(err);
}

void office_text_deinit(office_text *t) {
    if (t->rows) table_rows_free(t->rows);
    free(t->rows);
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
    if (!t->tables++) table_rows_begin(t->rows, t->b, false);
}

void office_text_begin_cell(office_text *t, uint32_t span) {
    fo_buf_clear(&t->cell);
    t->span = span;
}

void office_text_end_cell(office_text *t) {
    table_rows_cell(t->rows, t->column, t->cell.data ? t->cell.data : "", t->cell.len);
    t->column += t->span;
    fo_buf_clear(&t->cell);
}
