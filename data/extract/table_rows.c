/* See table_rows.h. */
#include "data/extract/table_rows.h"
#include "data/extract/text_columns.h"
#include "kernels/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_rows_begin(table_rows *t, builder *b, bool sheet) {
    t->b = b;
    t->sheet = sheet;
    t->n_cells = t->n_header = t->own_header = t->again = t->years = 0;
    t->said = t->begun = t->used = t->fresh = t->pairs = t->corner = t->several = t->more =
        t->told = t->group = false;
    fo_buf_clear(&t->row);
    fo_buf_clear(&t->header);
}

void table_rows_free(table_rows *t) {
    fo_buf_free(&t->row);
    fo_buf_free(&t->header);
}

void table_rows_cell(table_rows *t, uint32_t column, const char *s, size_t n) {
    while (n && fo_is_blank(*s)) s++, n--;
    while (n && fo_is_blank(s[n - 1])) n--;
    if (t->b && (n > t->b->max_bytes || t->row.len > t->b->max_bytes - n))
        t->b->failure = t->b->failure ? t->b->failure : FO_ELIMIT;
    if (!n || (t->b && t->b->failure)) return;
    if (t->n_cells == TABLE_MAX_COLUMNS) {
        t->more = true;
        return;
    }
    table_cell *c = &t->cells[t->n_cells++];
    *c = (table_cell){.at = t->row.len, .column = column};
    for (size_t i = 0; i < n; i++) {
        if (fo_is_blank(s[i]) && fo_is_blank(s[i + 1])) continue; /* s[n - 1] is none */
        fo_buf_char(&t->row, fo_is_blank(s[i]) ? ' ' : s[i]);
    }
    c->n = t->row.len - c->at;
}

/* A number, an amount, a share, a date: something that a header is not. */
static bool is_number(const char *s, size_t n) {
    size_t digits = 0, others = 0;
    if (n && isalpha((unsigned char)s[0])) return false; /* "F1", "March 3" */
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        digits += isdigit(c) != 0;
        others += isalpha(c) || (c >= 0xC3 && c != 0xE2); /* the euro sign begins with E2 */
    }
    return digits && (!others || (digits >= others && n < 24));
}

bool table_rows_has_number(const table_rows *t) {
    for (size_t i = 0; i < t->n_cells; i++)
        if (t->cells[i].figure || is_number(t->row.data + t->cells[i].at, t->cells[i].n))
            return true;
    return false;
}

/* "Default: | on": what stands in front of the value names it, as the first cell of a form does. */
static bool is_named_value(const table_rows *t) {
    return t->n_cells == 2 && t->row.data[t->cells[0].at + t->cells[0].n - 1] == ':';
}

static void write_joined(table_rows *t, bool apart) {
    if (apart)
        builder_go_on_with(t->b, TEXT_TABLE_ROW, 0, "\n\n");
    else
        builder_begin(t->b, TEXT_TABLE_ROW, 0);
    for (size_t i = 0; i < t->n_cells; i++) {
        if (i) builder_str(t->b, is_named_value(t) ? " " : " | ");
        builder_add(t->b, t->row.data + t->cells[i].at, t->cells[i].n);
    }
    builder_end(t->b);
}

/* Blank lines between them: each is a paragraph of its own, for rows have no full stops. */
static void write_with_header(table_rows *t) {
    builder_go_on_with(t->b, TEXT_TABLE_ROW, 0, "\n\n");
    size_t h = 0;
    for (size_t i = 0; i < t->n_cells; i++) {
        const table_cell *c = &t->cells[i];
        while (h < t->n_header && t->header_cells[h].column < c->column) h++;
        if (i) builder_str(t->b, "; ");
        if (h < t->n_header && t->header_cells[h].column == c->column) {
            const table_cell *name = &t->header_cells[h];
            builder_add(t->b, t->header.data + name->at, name->n);
            bool stopped = t->header.data[name->at + name->n - 1] == ':';
            builder_str(t->b, stopped ? " " : ": ");
        }
        builder_add(t->b, t->row.data + c->at, c->n);
    }
    builder_end(t->b);
}

/* Each row says the names again: where they are long and many, a file of half a megabyte would become ten. The row of names has
 * them whole; what each row says of one is its beginning then. */
static void shorten_names(table_rows *t) {
    enum { NAMES_OF_ROW = 32 << 10 };
    size_t all = 0;
    for (size_t i = 0; i < t->n_header; i++) all += t->header_cells[i].n;
    if (all <= NAMES_OF_ROW) return;
    const size_t most = NAMES_OF_ROW / t->n_header;
    for (size_t i = 0; i < t->n_header; i++) {
        table_cell *c = &t->header_cells[i];
        if (c->n <= most) continue;
        const char *s = t->header.data + c->at;
        size_t n = most, word = most;
        while (n && !fo_utf8_boundary(s[n])) n--;
        while (word && s[word] != ' ') word--;
        c->n = word > most / 2 ? word : n;
    }
}

static void keep_header(table_rows *t, bool said) {
    fo_buf_clear(&t->header);
    fo_buf_add(&t->header, t->row.data, t->row.len);
    memcpy(t->header_cells, t->cells, t->n_cells * sizeof *t->cells);
    t->n_header = t->n_cells;
    shorten_names(t);
    t->own_header = t->n_cells - t->again;
    t->said = said;
    t->used = t->corner = false;
}

/* ---- columns that are years ------------------------------------------------------------------------- */

static size_t count_years(const table_rows *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_cells; i++)
        n += text_year_of(t->row.data + t->cells[i].at, t->cells[i].n) > 0;
    return n;
}

/* How many years the row at hand has, where they may name columns: two or more that rise or fall, nothing else with figures,
 * and the first column has none. Else 0. */
static size_t years_of_names(const table_rows *t) {
    text_years years = {0};
    for (size_t i = 0; i < t->n_cells; i++) {
        const char *s = t->row.data + t->cells[i].at;
        const int year = text_year_of(s, t->cells[i].n);
        if (!year && fo_has_digit(s, t->cells[i].n)) return 0;
        if (year && (t->cells[i].column == 0 || !text_years_go_on(&years, year))) return 0;
    }
    return years.n > 1 ? years.n : 0;
}

/* The first row of the table has been kept and written. The one below it, at hand, tells whether it names columns: "Tea | 5 | 7"
 * below years does, "Closed | 2010 | 2015" does not. */
static void settle_years(table_rows *t) {
    const size_t years = t->years;
    t->years = 0;
    if (!years) return;
    t->fresh = count_years(t) * 2 < years;
    t->said = t->fresh;
    if (!t->fresh) t->n_header = t->own_header = 0;
}

/* The row begins in the column before the header's first one, and each other cell of it has a name: the header's corner is
 * empty, and what stands in the row's first cell names the row. Names have no gaps; remarks above a table may. */
static bool is_under_corner(const table_rows *t) {
    if (!t->n_header || t->n_cells < 2 || !(t->fresh || t->corner)) return false;
    const uint32_t first = t->header_cells[0].column,
                   last = t->header_cells[t->n_header - 1].column;
    return last - first + 1 == t->n_header && t->cells[0].column + 1 == first &&
           t->cells[t->n_cells - 1].column <= last;
}

/* Does the row at hand name the columns of those that come? */
static bool is_header(const table_rows *t, bool number, bool says) {
    if (t->group || is_named_value(t)) return false;
    if (says) return !t->said;
    if (t->n_cells == 2 && t->pairs) return false;
    if (is_under_corner(t)) return false;
    return !t->said && !t->used && !number && t->n_cells > 1 &&
           (!t->n_header || t->n_cells - t->again > t->own_header);
}

/* Is it one of those whose columns are named? A remark above or below a table is not; and where there are
 * two columns, only numbers tell a table from a list of things and what they are. */
static bool is_headed(const table_rows *t, bool number) {
    enum { REMARK = 40 }; /* bytes in a first cell that stands alone: no key is as long */
    if (t->group) return false;
    if (t->n_cells == 1 && t->n_header > 2 && t->cells[0].n > REMARK) return false;
    if (!t->n_header || t->said) return t->n_header != 0;
    if (is_under_corner(t)) return true;
    if (t->corner) return true;
    if (t->n_header == 2) return t->sheet && (number || t->used) && t->n_cells == 2;
    if (t->n_cells == 1) return false;
    return t->used || number || t->n_cells == t->n_header;
}

/* Once for a table: what is not there is not searched for in vain. */
static void tell_of_more(table_rows *t) {
    if (!t->more || t->told) return;
    t->told = true;
    builder_begin(t->b, TEXT_PARAGRAPH, 0);
    builder_str(t->b, "(Rows of this table have more than 1,024 cells; those behind them are left "
                      "out.)");
    builder_end(t->b);
}

void table_rows_end_row(table_rows *t, const text_place *place, bool header) {
    if (t->row.failed || t->header.failed) t->b->failure = FO_ENOMEM;
    if (!builder_go_on(t->b, t->row.len)) return;
    if (!t->n_cells && t->fresh) { /* a blank one below the header: the table is still to come */
        t->fresh = false;
        return;
    }
    if (!t->n_cells) {
        t->n_header = 0;
        t->begun = t->said = t->used = t->pairs = t->corner = t->several = false;
        t->years = 0;
        return;
    }
    settle_years(t);
    bool number = table_rows_has_number(t);
    builder_set_place(t->b, place);
    const bool first = !t->n_header && !t->used && !t->several && !t->group && !header;
    const size_t years = first ? years_of_names(t) : 0;
    if (is_header(t, number, header)) {
        keep_header(t, header);
        write_joined(t, !t->begun);
        tell_of_more(t);
        t->fresh = true;
        t->begun = true;
        t->n_cells = 0;
        fo_buf_clear(&t->row);
        return;
    } else if (is_headed(t, number)) {
        write_with_header(t);
        t->used |= number; /* before, a wider row may come that names the columns */
        t->corner |= is_under_corner(t);
    } else {
        const bool remark = t->n_cells == 1 && t->n_header > 2;
        write_joined(t, !t->begun || remark || t->group); /* it stands apart */
        t->pairs |= t->n_cells == 2;
        if (years) keep_header(t, false);
        t->several |= t->n_cells > 1;
        t->years = years;
    }
    tell_of_more(t);
    t->begun = !t->group;
    t->fresh = false;
    t->n_cells = 0;
    fo_buf_clear(&t->row);
}

/* "B2", "AA10": row from 1. */
static void cell_name(char out[16], uint32_t column, uint32_t row) {
    char letters[8];
    int n = 0;
    for (uint32_t c = column + 1; c && n < 7; c = (c - 1) / 26)
        letters[n++] = (char)('A' + (c - 1) % 26);
    int at = 0;
    while (n) out[at++] = letters[--n];
    snprintf(out + at, (size_t)(16 - at), "%u", row % 100000000u);
}

void table_range_name(char out[40], uint32_t column, uint32_t row, uint32_t last_column,
                      uint32_t last_row) {
    char a[16], b[16];
    cell_name(a, column, row);
    cell_name(b, last_column, last_row);
    if (strcmp(a, b) == 0)
        snprintf(out, 40, "%s", a);
    else
        snprintf(out, 40, "%s:%s", a, b);
}
