/* See table_spans.h. */
#include "data/extract/table_spans.h"

#include <stdio.h>
#include <string.h>

#include "kernels/utf8.h"

enum { NOTHING, OWN, WIDE, COVERED }; /* how a column of a row has its words */

void table_spans_begin(table_spans *t, builder *b, bool sheet) {
    table_rows_begin(&t->rows, b, sheet);
    for (uint32_t i = 0; i < t->n_below; i++) t->below[i].rows = 0;
    t->n_below = 0;
    t->holding = t->named = false;
    t->n_kept = 0;
    fo_buf_clear(&t->kept);
    table_spans_row(t);
}

void table_spans_free(table_spans *t) {
    table_rows_free(&t->rows);
    fo_buf_free(&t->kept);
}

void table_spans_row(table_spans *t) {
    t->next = 0;
    t->now = (table_shape){0};
    t->rows.n_cells = 0;
    fo_buf_clear(&t->rows.row);
}

/* ---- cells ---------------------------------------------------------------------------------------- */

/* False: the cell has no words, or the row is full. */
static bool say(table_spans *t, uint32_t column, const char *s, size_t n, uint8_t how) {
    const size_t before = t->rows.n_cells;
    table_rows_cell(&t->rows, column, s, n);
    if (t->rows.n_cells == before) return false;
    table_shape *now = &t->now;
    if (!before) now->first = column;
    now->last = column;
    if (column < TABLE_SPANS_COLUMNS) now->how[column] = how;
    return true;
}

static void keep_below(table_spans *t, uint32_t column, const table_span *c) {
    if (column >= TABLE_SPANS_COLUMNS) return;
    t->below[column].rows = c->rows;
    t->below[column].n = c->n;
    memcpy(t->below[column].words, c->words, c->n);
    if (c->rows && column >= t->n_below) t->n_below = column + 1;
}

void table_spans_cell(table_spans *t, uint32_t column, uint32_t width, uint32_t height,
                      const char *s, size_t n) {
    if (column < t->next) return;
    width = width ? width : 1;
    t->next =
        column < TABLE_SPANS_COLUMNS && width < UINT32_MAX - column ? column + width : column + 1;
    table_span c = {.rows = height > 1 ? height : 0};
    if (say(t, column, s, n, width > 1 ? WIDE : OWN)) {
        const table_cell *own = &t->rows.cells[t->rows.n_cells - 1];
        if (!t->now.n_own++) t->now.own_first = column;
        t->now.wide |= width > 1;
        if (!column) t->now.head = width;
        if (own->n <= TABLE_SPANS_WORDS) {
            c.n = (uint32_t)own->n;
            memcpy(c.words, t->rows.row.data + own->at, c.n);
        }
    }
    for (uint32_t i = 0; i < width && column + i < TABLE_SPANS_COLUMNS; i++) {
        if (i && !column) c.n = 0;
        if (i) t->now.again += say(t, column + i, c.words, c.n, WIDE);
        keep_below(t, column + i, &c);
    }
}

void table_spans_covered(table_spans *t, uint32_t column, uint32_t width) {
    for (uint32_t c = column; c < TABLE_SPANS_COLUMNS && c - column < width; c++) {
        if (c < t->next) continue;
        t->next = c + 1;
        const table_span *above = &t->below[c];
        if (above->rows && say(t, c, above->words, above->n, COVERED)) t->now.n_covered++;
    }
    if (column >= TABLE_SPANS_COLUMNS && column >= t->next) t->next = column + 1;
}

bool table_spans_pass(table_spans *t, uint32_t n_rows) {
    bool on = false;
    for (uint32_t i = 0; i < t->n_below; i++) {
        table_span *c = &t->below[i];
        on |= c->rows > 0;
        if (c->rows != TABLE_SPANS_ON) c->rows -= c->rows < n_rows ? c->rows : n_rows;
    }
    return on;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

/* The row that table_rows has is written. */
static void write_row(table_spans *t, table_shape *s, bool header) {
    char range[40] = "";
    table_rows *r = &t->rows;
    const bool group = s->alone && s->wide;
    if (group) { /* once is enough */
        r->n_cells = 1;
        s->last = s->first;
    }
    if (s->row) {
        table_range_name(range, s->first, s->row, s->last, s->row);
        s->place.range = range;
    }
    t->named |= !s->alone;
    r->group = group;
    /* A sheet may have remarks above its table, and those are not names because they are wide. */
    r->again = r->sheet && !group ? s->again : 0;
    table_rows_end_row(r, s->placed ? &s->place : NULL, header);
    r->group = false;
    r->again = 0;
}

/* The row that table_rows has and the one that is held change places. */
static void exchange(table_spans *t) {
    table_rows *r = &t->rows;
    const fo_buf text = r->row;
    r->row = t->kept;
    t->kept = text;
    const size_t most = r->n_cells > t->n_kept ? r->n_cells : t->n_kept;
    for (size_t i = 0; i < most; i++) {
        const table_cell cell = r->cells[i];
        r->cells[i] = t->kept_cells[i];
        t->kept_cells[i] = cell;
    }
    const size_t n = r->n_cells;
    r->n_cells = t->n_kept;
    t->n_kept = n;
}

static void write_held(table_spans *t) {
    if (!t->holding) return;
    t->holding = false;
    exchange(t);
    write_row(t, &t->held, t->held.header);
    exchange(t);
}

/* Do the held row and the one at hand name the columns together? */
static bool are_names(const table_spans *t) {
    const table_shape *a = &t->held, *b = &t->now;
    if (a->alone) return false;
    if (a->header && b->header) return true;
    if (!a->wide || a->number || b->number) return false;
    bool below_wide = false, below_nothing = false;
    for (uint32_t i = 0; i < TABLE_SPANS_COLUMNS; i++) {
        const bool own = b->how[i] == OWN || b->how[i] == WIDE;
        if (own && a->how[i] != WIDE && a->how[i] != NOTHING) return false;
        below_wide |= own && a->how[i] == WIDE;
        below_nothing |= own && a->how[i] == NOTHING;
    }
    if (!below_wide) return false;
    if (b->n_covered && !below_nothing) return true; /* a form that only names have */
    return !a->header &&
           !fo_has_digit(t->rows.row.data, t->rows.row.len); /* "3 pm" is no number, nor a name */
}

/* To table_rows: the names of the held row, and behind each that of the row at hand. */
static void join_names(table_spans *t) {
    table_rows *r = &t->rows;
    fo_buf text = {0};
    exchange(t); /* the held one's are in r, those below them in t->kept */
    table_cell joined[TABLE_MAX_COLUMNS];
    size_t n = 0;
    for (size_t i = 0, k = 0; (i < r->n_cells || k < t->n_kept) && n < TABLE_MAX_COLUMNS;) {
        const table_cell *above = i < r->n_cells ? &r->cells[i] : NULL,
                         *own = k < t->n_kept ? &t->kept_cells[k] : NULL;
        if (above && own && above->column < own->column) own = NULL;
        if (above && own && above->column > own->column) above = NULL;
        const table_cell *over = above || own->column >= t->held.head ? above : &r->cells[0];
        const char *high = over ? r->row.data + over->at : "",
                   *low = own ? t->kept.data + own->at : "";
        const bool same = over && own && over->n == own->n && !memcmp(high, low, own->n);
        joined[n] = (table_cell){.at = text.len,
                                 .column = above ? above->column
                                           : own ? own->column
                                                 : 0};
        if (over) fo_buf_add(&text, high, over->n);
        if (over && own && !same) fo_buf_char(&text, ' ');
        if (own && !same) fo_buf_add(&text, low, own->n);
        joined[n].n = text.len - joined[n].at;
        n++;
        i += above != NULL;
        k += own != NULL;
    }
    fo_buf_free(&r->row);
    r->row = text;
    memcpy(r->cells, joined, n * sizeof *joined);
    r->n_cells = n;
    t->n_kept = 0;
    fo_buf_clear(&t->kept);
}

/* Ranges are of what a row says: those of two rows begin with the first one's. */
static void write_names(table_spans *t) {
    table_shape *a = &t->held, *b = &t->now;
    char range[40] = "";
    t->holding = false;
    t->named = true;
    join_names(t);
    if (b->row) {
        table_range_name(range, a->first < b->first ? a->first : b->first, a->row,
                         a->last > b->last ? a->last : b->last, b->row);
        b->place.range = range;
    }
    table_rows_end_row(&t->rows, b->placed ? &b->place : NULL, true);
}

static void end_empty_row(table_spans *t) {
    const bool goes_on = t->now.n_covered > 0;
    table_spans_row(t);
    if (goes_on || !t->rows.sheet) return;
    write_held(t);
    t->named = false;
    table_rows_end_row(&t->rows, NULL, false);
}

void table_spans_end_row(table_spans *t, const text_place *place, uint32_t row, bool header) {
    table_shape *now = &t->now;
    table_spans_pass(t, 1);
    if (!now->n_own) {
        end_empty_row(t);
        return;
    }
    now->row = row;
    now->header = header;
    now->number = table_rows_has_number(&t->rows);
    now->placed = place != NULL;
    if (place) now->place = *place;
    now->alone = now->n_own == 1 && !now->n_covered;
    t->held.alone = t->held.alone && t->held.own_first <= now->first;
    if (t->holding && are_names(t)) {
        write_names(t);
        return;
    }
    write_held(t);
    if (!t->named && (now->wide || (header && !now->alone)) && (header || !now->number)) {
        t->held = *now;
        t->holding = true;
        exchange(t);
    } else {
        write_row(t, now, header);
    }
    table_spans_row(t);
}

void table_spans_end(table_spans *t) {
    table_spans_row(t);
    write_held(t);
}
