/* See html_table.h. */
#include "data/extract/html_table.h"

#include <string.h>

#include "kernels/utf8.h"

void html_table_begin(html_table *t, builder *b) {
    for (size_t i = 0; i < t->n_below; i++) t->below[i].rows = 0;
    t->b = b;
    t->n_below = t->rows = t->column = t->n_names[0] = t->n_names[1] = 0;
    t->cell_open = t->wide = t->one_name = t->cut = false;
}

void html_table_row(html_table *t) {
    builder_end(t->b);
    if (!t->rows) {
        t->first_blocks = t->b->n_blocks;
        t->first_text = t->b->text.len;
    }
    builder_begin(t->b, TEXT_TABLE_ROW, 0);
    t->column = 0;
    t->cell_open = false;
    t->heads = true;
}

static void say(html_table *t, const html_cell *c) {
    builder_cell(t->b);
    builder_add(t->b, c->words, c->n);
}

static void name_column(html_table *t, size_t column, const html_cell *c) {
    if (column >= HTML_TABLE_COLUMNS || t->rows > 1) return;
    t->names[t->rows][column] = *c;
    t->n_names[t->rows] = column + 1;
}

/* Columns that cells of rows above go on in. */
static void say_what_goes_on(html_table *t) {
    for (; t->column < HTML_TABLE_COLUMNS && t->below[t->column].rows; t->column++) {
        html_cell *c = &t->below[t->column];
        c->rows--;
        say(t, c);
        name_column(t, t->column, c);
    }
}

static void close_cell(html_table *t) {
    if (!t->cell_open) return;
    t->cell_open = false;
    const fo_buf *text = &t->b->text;
    html_cell c = {t->cell_rows - 1, 0, {0}};
    size_t at = t->cell_at < text->len ? t->cell_at : text->len, end = text->len;
    while (at < end && (fo_is_blank(text->data[at]) || text->data[at] == '|')) at++;
    while (end > at && fo_is_blank(text->data[end - 1])) end--;
    if (end - at <= HTML_TABLE_WORDS && !t->b->failure) {
        c.n = (uint32_t)(end - at);
        memcpy(c.words, text->data ? text->data + at : "", c.n);
    } else {
        t->cut |= t->rows < 2;
    }
    for (uint32_t i = 0; i < t->cell_width; i++) {
        const size_t column = t->cell_column + i;
        if (i && !t->cell_column) c.n = 0;
        if (i) say(t, &c);
        name_column(t, column, &c);
        if (!c.rows || column >= HTML_TABLE_COLUMNS) continue;
        t->below[column] = c;
        if (column >= t->n_below) t->n_below = column + 1;
    }
    t->column = t->cell_column + t->cell_width;
}

static uint32_t span_of(int said, int most) {
    return (uint32_t)(said < 1 ? 1 : said > most ? most : said);
}

void html_table_cell(html_table *t, bool head, int columns, int rows) {
    close_cell(t);
    say_what_goes_on(t);
    builder_cell(t->b);
    t->cell_open = true;
    t->cell_at = t->b->text.len;
    t->cell_column = t->column;
    t->cell_width =
        t->column < HTML_TABLE_COLUMNS ? span_of(columns, HTML_TABLE_COLUMNS - (int)t->column) : 1;
    t->cell_rows = span_of(rows, UINT16_MAX);
    t->heads = t->heads && head;
    t->wide |= !t->rows && (t->cell_width > 1 || t->cell_rows > 1);
}

/* The names in two rows above each other. */
static void write_names_as_one(html_table *t) {
    builder *b = t->b;
    const size_t n = t->n_names[0] > t->n_names[1] ? t->n_names[0] : t->n_names[1];
    builder_rewind(b, t->first_blocks, t->first_text);
    builder_begin(b, TEXT_TABLE_ROW, 0);
    for (size_t i = 0; i < n; i++) {
        const html_cell *above = &t->names[0][i], *own = &t->names[1][i];
        say(t, above);
        if (own->n == above->n && !memcmp(above->words, own->words, own->n)) continue;
        if (above->n && own->n) builder_add(b, " ", 1);
        builder_add(b, own->words, own->n);
    }
}

void html_table_end_row(html_table *t) {
    close_cell(t);
    say_what_goes_on(t);
    if (t->rows == 1 && t->one_name && t->heads && !t->cut) write_names_as_one(t);
    t->one_name = !t->rows && t->heads && t->wide && t->n_names[0] > 1;
    t->rows++;
    builder_end(t->b);
}
