/* See text_table.h. */
#include "data/extract/text_table.h"

#include <string.h>

#include "kernels/utf8.h"

void text_table_begin(text_table *t, builder *b) {
    for (size_t i = 0; i < t->n_below; i++) t->below[i].rows = 0;
    if (t->rows) t->goes_on = t->only_names;
    t->b = b;
    t->n_below = t->rows = t->column = t->n_names[0] = t->n_names[1] = 0;
    t->cell_open = t->wide = t->one_name = t->cut = t->say_names = false;
}

/* Of a row; the first one of a table stands apart from what is before it. */
static void begin_block(text_table *t, bool apart) {
    if (apart)
        builder_go_on_with(t->b, TEXT_TABLE_ROW, 0, "\n\n");
    else
        builder_begin(t->b, TEXT_TABLE_ROW, 0);
}

void text_table_row(text_table *t) {
    builder_end(t->b);
    t->row_blocks = t->b->n_blocks;
    t->row_text = t->b->text.len;
    if (!t->rows) {
        t->first_blocks = t->row_blocks;
        t->first_text = t->row_text;
        t->wide = false; /* a row may have been left before */
    }
    begin_block(t, !t->rows && !t->goes_on);
    t->column = t->n_cells = 0;
    t->cell_open = t->over = false;
    t->heads = true;
}

/* [at, end of b): the text of that column, without what parts it from others. */
static text_slice note_cell(text_table *t, size_t column, size_t at) {
    const fo_buf *text = &t->b->text;
    size_t end = text->len;
    if (at > end) at = end;
    while (at < end && (fo_is_blank(text->data[at]) || text->data[at] == '|')) at++;
    while (end > at && fo_is_blank(text->data[end - 1])) end--;
    const text_slice own = {at, end - at};
    while (t->n_cells <= column && t->n_cells < TEXT_TABLE_COLUMNS)
        t->cells[t->n_cells++] = (text_slice){0};
    if (column < TEXT_TABLE_COLUMNS)
        t->cells[column] = own;
    else
        t->over = true;
    return own;
}

static void say(text_table *t, size_t column, const text_cell *c) {
    const size_t at = t->b->text.len;
    builder_cell(t->b);
    builder_add(t->b, c->words, c->n);
    note_cell(t, column, at);
}

static void name_column(text_table *t, size_t column, const text_cell *c) {
    if (column >= TEXT_TABLE_COLUMNS || t->rows > 1) return;
    t->names[t->rows][column] = *c;
    t->n_names[t->rows] = column + 1;
}

/* Columns that cells of rows above go on in. */
static void say_what_goes_on(text_table *t) {
    for (; t->column < TEXT_TABLE_COLUMNS && t->below[t->column].rows; t->column++) {
        text_cell *c = &t->below[t->column];
        c->rows--;
        say(t, t->column, c);
        name_column(t, t->column, c);
    }
}

/* Behind the last column from here on that a cell of a row above goes on in; 0: there is none. */
static size_t end_of_what_goes_on(const text_table *t) {
    size_t end = t->n_below;
    while (end > t->column && !t->below[end - 1].rows) end--;
    return end > t->column ? end : 0;
}

/* The row has ended, and cells from above stand behind its own: in their columns. */
static void say_all_that_goes_on(text_table *t) {
    static const text_cell nothing = {0};
    const size_t end = end_of_what_goes_on(t);
    say_what_goes_on(t);
    while (t->column < end) {
        say(t, t->column, &nothing);
        name_column(t, t->column++, &nothing);
        say_what_goes_on(t);
    }
}

static void close_cell(text_table *t) {
    if (!t->cell_open) return;
    t->cell_open = false;
    text_cell c = {t->cell_rows - 1, 0, {0}};
    const text_slice own = note_cell(t, t->cell_column, t->cell_at);
    if (own.n <= TEXT_TABLE_WORDS && !t->b->failure) {
        c.n = (uint32_t)own.n;
        if (own.n) memcpy(c.words, t->b->text.data + own.at, own.n);
    } else {
        t->cut |= t->rows < 2;
    }
    for (uint32_t i = 0; i < t->cell_width; i++) {
        const size_t column = t->cell_column + i;
        if (i && !t->cell_column) c.n = 0;
        if (i) say(t, column, &c);
        name_column(t, column, &c);
        if (!c.rows || column >= TEXT_TABLE_COLUMNS) continue;
        t->below[column] = c;
        if (column >= t->n_below) t->n_below = column + 1;
    }
    t->column = t->cell_column + t->cell_width;
}

static uint32_t span_of(int said, int most) {
    return (uint32_t)(said < 1 ? 1 : said > most ? most : said);
}

void text_table_cell(text_table *t, bool head, int columns, int rows) {
    if (!t->rows && !t->cell_open && !t->column && head && t->goes_on) begin_block(t, true);
    close_cell(t);
    say_what_goes_on(t);
    builder_cell(t->b);
    t->cell_open = true;
    t->cell_at = t->b->text.len;
    t->cell_column = t->column;
    t->cell_width =
        t->column < TEXT_TABLE_COLUMNS ? span_of(columns, TEXT_TABLE_COLUMNS - (int)t->column) : 1;
    t->cell_rows = span_of(rows, UINT16_MAX);
    t->heads = t->heads && head;
    t->wide |= !t->rows && (t->cell_width > 1 || t->cell_rows > 1);
}

/* The names in two rows above each other; they are t->names[0] then. */
static void write_names_as_one(text_table *t) {
    builder *b = t->b;
    const size_t n = t->n_names[0] > t->n_names[1] ? t->n_names[0] : t->n_names[1];
    builder_rewind(b, t->first_blocks, t->first_text);
    begin_block(t, true);
    for (size_t i = 0; i < n; i++) {
        text_cell *above = &t->names[0][i];
        const text_cell *own = &t->names[1][i];
        const bool same = own->n == above->n && memcmp(above->words, own->words, own->n) == 0;
        say(t, i, above);
        if (same) continue;
        if (above->n && own->n) builder_add(b, " ", 1);
        builder_add(b, own->words, own->n);
        const text_slice both =
            note_cell(t, i, t->cells[i].n ? t->cells[i].at : b->text.len - own->n);
        if (both.n > TEXT_TABLE_WORDS || b->failure) {
            t->cut = true;
            continue;
        }
        memcpy(above->words, b->text.data + both.at, both.n);
        above->n = (uint32_t)both.n;
    }
    t->n_names[0] = n;
}

/* "4.1", "2024": seen alone it names nothing. */
static bool is_number(const text_cell *c) {
    size_t digits = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (fo_is_letter(c->words[i]) || (c->words[i] & 0x80)) return false;
        digits += fo_is_digit(c->words[i]);
    }
    return digits > 0;
}

static bool has_number_for_a_name(const text_table *t) {
    bool number = false, word = false;
    for (size_t i = 0; i < t->n_names[0]; i++) {
        number |= is_number(&t->names[0][i]);
        word |= t->names[0][i].n && !is_number(&t->names[0][i]);
    }
    return number && word && t->n_names[0] > 2 &&
           !t->cut; /* of two, "Capacity | 5" is no pair of names */
}

/* Takes the row back out of b, to be written in another way: the text of cell c is at row->data + (c.at - t->row_text) then. False: no
 * memory. */
static bool take_row(text_table *t, fo_buf *row) {
    builder *b = t->b;
    fo_buf_add(row, b->text.data + t->row_text, b->text.len - t->row_text);
    if (row->failed)
        b->failure = FO_ENOMEM;
    else
        builder_rewind(b, t->row_blocks, t->row_text);
    return !row->failed;
}

/* The row again, each cell behind the name of its column. */
static void write_with_names(text_table *t) {
    builder *b = t->b;
    fo_buf row = {0};
    size_t filled = 0;
    for (size_t i = 0; i < t->n_cells; i++) filled += t->cells[i].n > 0;
    if (filled < 2 || t->over || b->failure) return;
    if (take_row(t, &row)) builder_go_on_with(b, TEXT_TABLE_ROW, 0, "\n\n");
    for (size_t i = 0; i < t->n_cells && !b->failure; i++) {
        const text_slice *c = &t->cells[i];
        if (!c->n) continue;
        if (!builder_block_empty(b)) builder_str(b, "; ");
        if (i < t->n_names[0] && t->names[0][i].n) {
            builder_add(b, t->names[0][i].words, t->names[0][i].n);
            builder_str(b, ": ");
        }
        builder_add(b, row.data + (c->at - t->row_text), c->n);
    }
    fo_buf_free(&row);
}

/* "Default: | on": what stands in front of the value names it, and the row above names no column. */
static bool is_named_value(const text_table *t) {
    const text_slice *name = t->cells;
    return t->n_cells == 2 && !t->over && !t->b->failure && name->n && name[1].n &&
           t->b->text.data[name->at + name->n - 1] == ':';
}

/* The row again, as a line: "Default: on". */
static void write_named_value(text_table *t) {
    builder *b = t->b;
    fo_buf row = {0};
    if (take_row(t, &row)) {
        begin_block(t, !t->rows && !t->goes_on);
        for (size_t i = 0; i < 2; i++) {
            if (i) builder_str(b, " ");
            builder_add(b, row.data + (t->cells[i].at - t->row_text), t->cells[i].n);
        }
    }
    fo_buf_free(&row);
}

void text_table_end_row(text_table *t) {
    close_cell(t);
    say_all_that_goes_on(t);
    const bool second =
        t->rows == 1 && t->one_name && t->heads && !t->cut && t->row_blocks == t->names_blocks;
    if (second)
        write_names_as_one(t);
    else if (t->say_names)
        write_with_names(t);
    else if (is_named_value(t))
        write_named_value(t);
    if (second || (!t->rows && t->heads)) t->say_names = has_number_for_a_name(t);
    t->one_name = !t->rows && t->heads && t->wide && t->n_names[0] > 1;
    t->only_names = second || (!t->rows && t->heads);
    t->rows++;
    builder_end(t->b);
    if (t->one_name) t->names_blocks = t->b->n_blocks;
}

void text_table_leave_row(text_table *t) {
    t->cell_open = false;
    for (; t->column < t->n_below; t->column++)
        if (t->below[t->column].rows) t->below[t->column].rows--;
    builder_end(t->b);
}
