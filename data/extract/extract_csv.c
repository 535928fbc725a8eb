/* Tables of values, a row a line: each row with the names that the first one gives. Fields are parted by
 * whatever the first lines are parted by. Source: RFC 4180, and what programs write. */
#include <ctype.h>
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

static const char separators[] = "\t;|,"; /* of two as frequent the first: 2,5 is a number too */
enum { N_SEPARATORS = sizeof separators - 1, LOOK_LINES = 64, SEMICOLON = 1, COMMA = 3 };

typedef struct sign_counts {
    size_t of[LOOK_LINES][N_SEPARATORS]; /* of each line that has any */
    size_t decimal;                      /* commas between digits, of the line at hand */
    size_t n;
} sign_counts;

static void end_line(sign_counts *c) {
    size_t *of = c->of[c->n], any = 0;
    if (of[0] || of[SEMICOLON]) of[COMMA] -= c->decimal; /* 0,5;1,5 */
    for (size_t k = 0; k < N_SEPARATORS; k++) any += of[k];
    c->decimal = 0;
    c->n += any > 0;
}

/* quotes: what stands in them does not count. */
static void count_signs(sign_counts *c, const char *s, size_t n, bool quotes) {
    const size_t end = n < LOOK_BYTES ? n : LOOK_BYTES;
    bool quoted = false;
    for (size_t i = 0; i < end && c->n < LOOK_LINES; i++) {
        if (s[i] == '"' && quotes) {
            const char before = i ? s[i - 1] : '\n';
            quoted =
                !quoted && (before == '"' || fo_is_blank(before) || strchr(separators, before));
        }
        if (quoted) continue;
        if (s[i] == '\n' || s[i] == '\r') {
            end_line(c);
            continue;
        }
        const char *p = s[i] ? strchr(separators, s[i]) : NULL;
        if (!p) continue;
        c->of[c->n][p - separators]++;
        c->decimal +=
            s[i] == ',' && i && i + 1 < n && fo_is_digit(s[i - 1]) && fo_is_digit(s[i + 1]);
    }
    if (c->n < LOOK_LINES && (end == n || !c->n)) end_line(c); /* the last may be torn */
}

/* How many lines have the sign as often as each other, and how often: of two as many, the more frequent. */
static size_t lines_alike(const sign_counts *c, size_t sign, size_t *often) {
    size_t most = 0;
    *often = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t alike = 0;
        for (size_t k = 0; k < c->n; k++) alike += c->of[k][sign] == c->of[i][sign];
        if (!c->of[i][sign] || alike < most || (alike == most && c->of[i][sign] <= *often))
            continue;
        most = alike;
        *often = c->of[i][sign];
    }
    return most;
}

/* The sign that most of the first lines have as often as each other: a title above them may have another. '\0': there is none. */
static char most_frequent(const char *s, size_t n, bool quotes) {
    sign_counts c = {0};
    size_t best = 0, best_lines = 0, best_often = 0;
    count_signs(&c, s, n, quotes);
    for (size_t i = 0; i < N_SEPARATORS; i++) {
        size_t often, lines = lines_alike(&c, i, &often);
        if (lines < best_lines || (lines == best_lines && often <= best_often)) continue;
        best = i;
        best_lines = lines;
        best_often = often;
    }
    return best_lines ? separators[best] : '\0';
}

/* The sign that a first line "sep=;" says, as Excel writes and heeds it; '\0': there is none. */
static char declared_separator(const char *s, size_t n) {
    const bool mark =
        n > 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0; /* of a part's bytes, not decoded yet */
    size_t at = mark ? 3 : 0;
    const bool quoted = at < n && s[at] == '"';
    at += quoted;
    if (n - at < 6 || strncasecmp(s + at, "sep=", 4) != 0) return '\0';
    const char sign = s[at + 4];
    at += 5;
    if (quoted && s[at++] != '"') return '\0';
    const bool ends = at < n && (s[at] == '\n' || s[at] == '\r');
    return ends && (sign == '\t' || ispunct((unsigned char)sign)) && sign != '"' ? sign : '\0';
}

char csv_separator(const char *s, size_t n) {
    char sign = declared_separator(s, n);
    if (sign) return sign;
    sign = most_frequent(s, n, true);
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

/* Is there nothing but blanks from s[at] on, up to where the field ends? */
static bool ends_field(const char *s, size_t n, size_t at, char separator) {
    while (at < n && s[at] == ' ' && s[at] != separator) at++;
    return at == n || s[at] == separator || s[at] == '\n' || s[at] == '\r';
}

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
        bool ends = ends_field(s, n, i + 1, separator);
        size_t before = i - 1;
        while (before && s[before] == ' ') before--;
        bool opens = s[before] == separator || s[before] == '\n' || s[before] == '\r';
        return ends || !opens ? i : 0;
    }
    return goes_on && n < MAX_FIELD ? n : 0;
}

/* Where the field that begins at s[0], maybe with blanks before its quote, s[*open], is closed; 0: it is in no quotes. Behind
 * blanks, where more follows the second quote, it is text that quotes. */
static size_t quoted_field(const char *s, size_t n, char separator, bool goes_on, size_t *open) {
    size_t at = 0;
    while (at < n && s[at] == ' ') at++;
    if (at == n || s[at] != '"') return 0;
    const size_t close = closing_quote(s + at, n - at, separator, goes_on);
    if (!close) return 0;
    if (at && at + close < n && !ends_field(s, n, at + close + 1, separator)) return 0;
    *open = at;
    return at + close;
}

/* The next field, without its quotes, in r->field. *last: it is the line's. */
static void read_field(line_reader *r, bool *last) {
    fo_buf_clear(&r->field);
    const char *s = r->s + r->at;
    size_t n = r->n - r->at;
    size_t open = 0, close = quoted_field(s, n, r->separator, r->goes_on, &open), at = close;
    for (size_t i = open + 1; i < close; i++) {
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
    const bool declared = !in->first_row && declared_separator(r->s, r->n);
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
        if ((named && row < named) || (declared && row == 1)) drop_row(t);
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
        size_t open;
        size_t close = begins ? quoted_field(s + i, n - i, separator, goes_on, &open) : 0;
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
