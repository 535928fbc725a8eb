/* Tables of values, a row a line: each row with the names that the first one gives. Fields are parted by
 * whatever the first lines are parted by. Source: RFC 4180, and what programs write. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/csv_rows.h"
#include "data/extract/extract_internal.h"
#include "data/extract/table_rows.h"
#include "kernels/utf8.h"

enum {
    LOOK_BYTES = 4096,
    MAX_FIELD = 256 << 10, /* in quotes: less than a part of a large table has for its rows */
    MAX_TITLES = 8,
};

/* The sign that stands most often in the first line that has any; quotes: outside of them. '\0': there is none. */
static char most_frequent(const char *s, size_t n, bool quotes) {
    static const char candidates[] =
        "\t;|,"; /* of two as frequent the first: 2,5 is a number too */
    size_t counts[sizeof candidates] = {0};
    bool quoted = false, any = false;
    for (size_t i = 0; i < n && i < LOOK_BYTES; i++) {
        if (s[i] == '"') quoted = quotes && !quoted;
        if (s[i] == '\n' && !quoted && any) break;
        const char *p = quoted || !s[i] ? NULL : strchr(candidates, s[i]);
        if (!p) continue;
        counts[p - candidates]++;
        any = true;
    }
    size_t best = 0;
    for (size_t i = 1; i < sizeof candidates - 1; i++)
        if (counts[i] > counts[best]) best = i;
    return any ? candidates[best] : '\0';
}

char csv_separator(const char *s, size_t n) {
    char sign = most_frequent(s, n, true);
    if (!sign) sign = most_frequent(s, n, false); /* behind a quote that nothing closes */
    return sign ? sign : '\t';
}

typedef struct line_reader {
    const char *s;
    size_t n, at;
    char separator;
    bool goes_on; /* the text does, behind s[n - 1] */
    fo_buf field;
} line_reader;

/* Where the field that the quote at s[0] opens is closed: the offset of that quote; 0: that one is a letter, for nothing
 * closes it where a field may end; n: it goes on behind s[n - 1]. Someone's inch sign must not swallow the rows below
 * it, up to the next quote: that one opens a field of its own, and stands before text. */
static size_t closing_quote(const char *s, size_t n, char separator, bool goes_on) {
    for (size_t i = 1; i < n && i < MAX_FIELD; i++) {
        if (s[i] != '"') continue;
        if (i + 1 < n && s[i + 1] == '"') {
            i++;
            continue;
        }
        size_t next = i + 1;
        while (next < n && s[next] == ' ') next++;
        bool ends = next == n || s[next] == separator || s[next] == '\n' || s[next] == '\r';
        bool opens = s[i - 1] == separator || s[i - 1] == '\n' || s[i - 1] == '\r';
        return ends || !opens ? i : 0;
    }
    return goes_on && n < MAX_FIELD ? n : 0;
}

/* The next field, without its quotes, in r->field. *last: it is the line's. */
static void read_field(line_reader *r, bool *last) {
    fo_buf_clear(&r->field);
    const char *s = r->s + r->at;
    size_t n = r->n - r->at;
    size_t close = n && *s == '"' ? closing_quote(s, n, r->separator, r->goes_on) : 0, at = close;
    for (size_t i = 1; i < close; i++) {
        fo_buf_char(&r->field, s[i]);
        i += s[i] == '"'; /* of two that mean one */
    }
    at += close && close < n;
    size_t from = at;
    while (at < n && s[at] != r->separator && s[at] != '\n') at++;
    fo_buf_add(&r->field, s + from, at - from);
    *last = at >= n || s[at] == '\n';
    r->at += at + (at < n);
}

/* The cells of the next row. Returns the column of the last that holds anything. */
static uint32_t read_cells(table_rows *t, line_reader *r) {
    uint32_t column = 0, last_column = 0;
    for (bool last = false; !last; column++) {
        read_field(r, &last);
        size_t before = t->n_cells;
        table_rows_cell(t, column, r->field.data ? r->field.data : "", r->field.len);
        if (t->n_cells > before) last_column = column;
    }
    return last_column;
}

/* The row at hand is none of the table's. */
static void drop_row(table_rows *t) {
    t->n_cells = 0;
    fo_buf_clear(&t->row);
}

static bool names_columns(const table_rows *t) {
    return t->n_cells > 1 && !table_rows_has_number(t);
}

/* ---- columns that are years -------------------------------------------------------------------------- */

typedef struct row_years {
    size_t cells, years;
    bool named,
        one_way; /* nothing but years has figures, and the first cell is none; they rise, or fall */
} row_years;

/* 1900 to 2099; 0: it is none. */
static int year_of(const char *s, size_t n) {
    while (n && fo_is_blank(*s)) s++, n--;
    while (n && fo_is_blank(s[n - 1])) n--;
    if (n != 4 || (memcmp(s, "19", 2) && memcmp(s, "20", 2))) return 0;
    if (!fo_is_digit(s[2]) || !fo_is_digit(s[3])) return 0;
    return (*s == '1' ? 1900 : 2000) + (s[2] - '0') * 10 + (s[3] - '0');
}

/* The next row that has anything, in r's own text alone. */
static row_years years_of_row(line_reader *r) {
    row_years y = {.named = true, .one_way = true};
    while (r->at < r->n && !y.cells) {
        int before = 0, way = 0;
        bool first = true;
        for (bool last = false; !last; first = false) {
            read_field(r, &last);
            const char *s = r->field.data ? r->field.data : "";
            const int year = year_of(s, r->field.len), goes = year > before ? 1 : -1;
            y.cells += !fo_only_blanks(s, r->field.len);
            y.named = y.named && (year ? !first : !fo_has_digit(s, r->field.len));
            if (!year) continue;
            y.one_way = y.one_way && year != before && (y.years < 2 || goes == way);
            y.years++;
            way = goes;
            before = year;
        }
    }
    return y;
}

/* "Product,2021,2022" from s[from]: years name columns where few stand in the row below, "Tea,5,7". "Founded,1998,2001" above
 * "Closed,2010,2015" does not. */
static bool names_years(const line_reader *r, size_t from) {
    line_reader ahead = *r;
    ahead.at = from;
    ahead.field = (fo_buf){0};
    row_years names = years_of_row(&ahead), below = {0};
    const bool may_be = names.named && names.one_way && names.years > 1;
    if (may_be) below = years_of_row(&ahead);
    fo_buf_free(&ahead.field);
    return may_be && below.cells && below.years * 2 < names.years;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* A part of a table has the rows that name the columns before its own, which are counted from in->first_row. */
static void read_rows(builder *b, table_rows *t, line_reader *r, const extract_input *in) {
    uint32_t row = 0, named = in->first_row ? in->header_rows : 0;
    bool first = true, above = true; /* above: a row of several cells is still to come */
    table_rows_begin(t, b, true);
    if (in->first_row && !named) {
        t->used = true; /* its first row names nothing */
        row = in->first_row - 1;
    }
    while (r->at < r->n && !b->failure) {
        size_t from = r->at;
        uint32_t last_column = read_cells(t, r);
        if (r->field.failed) b->failure = FO_ENOMEM;
        row++;
        if (named && row < named) drop_row(t);
        if (t->n_cells) { /* lines without anything part nothing here */
            char range[40];
            table_range_name(range, t->cells[0].column, row, last_column, row);
            bool header = named ? row == named : first && !in->first_row && names_columns(t);
            if (!named && above && !in->first_row && t->n_cells > 1) header |= names_years(r, from);
            above &= t->n_cells < 2;
            first = false;
            table_rows_end_row(t, &(text_place){.range = range}, header);
        }
        if (named && row == named) {
            row = in->first_row - 1;
            named = 0;
            first = false;
        }
        if (!builder_go_on(b, r->at - from)) return;
    }
}

int extract_csv(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        table_rows *t = calloc(1, sizeof *t);
        line_reader r = {.s = text.data, .n = text.len};
        r.separator = csv_separator(r.s, r.n);
        if (t)
            read_rows(b, t, &r, in);
        else
            b->failure = FO_ENOMEM;
        if (t) table_rows_free(t);
        free(t);
        fo_buf_free(&r.field);
    }
    extract_drop(b, &text);
    return rc;
}

/* ---- where a large one is cut ---------------------------------------------------------------------- */

size_t csv_rows_end(const char *s, size_t n, char separator, bool goes_on, uint64_t *n_rows) {
    bool begins = true; /* a field does */
    size_t end = 0;
    *n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        size_t close = begins && s[i] == '"' ? closing_quote(s + i, n - i, separator, goes_on) : 0;
        begins = false;
        if (close) {
            i += close;
        } else if (s[i] == '\n' || (s[i] == '\r' && i + 1 < n && s[i + 1] != '\n')) {
            ++*n_rows;
            end = i + 1;
            begins = true;
        } else {
            begins = s[i] == separator;
        }
    }
    return end;
}

size_t csv_header(const char *s, size_t n, char separator, uint64_t *n_rows) {
    table_rows *t = calloc(1, sizeof *t);
    line_reader r = {.s = s, .n = n, .separator = separator, .goes_on = true};
    size_t end = 0;
    *n_rows = 0;
    for (bool over = !t; !over && r.at < n && *n_rows < MAX_TITLES;) {
        const size_t from = r.at;
        read_cells(t, &r);
        ++*n_rows;
        bool names = names_columns(t) || (t->n_cells > 1 && names_years(&r, from));
        over = t->n_cells > 1 || r.at >= n;
        if (over && names) end = r.at;
        drop_row(t);
    }
    if (!end) *n_rows = 0;
    if (t) table_rows_free(t);
    free(t);
    fo_buf_free(&r.field);
    return end;
}
