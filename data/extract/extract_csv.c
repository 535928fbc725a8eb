/* Tables of values, a row a line: each row with the names that the first one gives. Fields are parted by
 * whatever the first lines are parted by. Source: RFC 4180, and what programs write. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/extract_internal.h"
#include "data/extract/table_rows.h"

enum { LOOK_BYTES = 4096, MAX_FIELD = 64 << 10 };

/* The sign that stands most often outside of quotes in the first line that has any. */
static char find_separator(const char *s, size_t n) {
    static const char candidates[] =
        "\t;|,"; /* of two as frequent the first: 2,5 is a number too */
    size_t counts[sizeof candidates] = {0};
    bool quoted = false, any = false;
    for (size_t i = 0; i < n && i < LOOK_BYTES; i++) {
        if (s[i] == '"') quoted = !quoted;
        if (s[i] == '\n' && !quoted && any) break;
        const char *p = quoted || !s[i] ? NULL : strchr(candidates, s[i]);
        if (!p) continue;
        counts[p - candidates]++;
        any = true;
    }
    size_t best = 0;
    for (size_t i = 1; i < sizeof candidates - 1; i++)
        if (counts[i] > counts[best]) best = i;
    return candidates[best];
}

typedef struct line_reader {
    const char *s;
    size_t n, at;
    char separator;
    fo_buf field;
} line_reader;

/* The next field, without its quotes, in r->field. *last: it is the line's. */
static void read_field(line_reader *r, bool *last) {
    fo_buf_clear(&r->field);
    bool quoted = r->at < r->n && r->s[r->at] == '"';
    r->at += quoted;
    for (; r->at < r->n; r->at++) {
        char c = r->s[r->at];
        if (quoted && c == '"') {
            if (r->at + 1 < r->n && r->s[r->at + 1] == '"')
                r->at++;
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && (c == r->separator || c == '\n')) {
            break;
        }
        if (r->field.len < MAX_FIELD) fo_buf_char(&r->field, c);
    }
    *last = r->at >= r->n || r->s[r->at] == '\n';
    if (r->at < r->n) r->at++;
}

static void read_rows(builder *b, table_rows *t, line_reader *r) {
    uint32_t row = 0;
    bool first = true;
    table_rows_begin(t, b, true);
    while (r->at < r->n && !b->failure) {
        uint32_t column = 0, last_column = 0;
        size_t from = r->at;
        for (bool last = false; !last; column++) {
            read_field(r, &last);
            size_t before = t->n_cells;
            table_rows_cell(t, column, r->field.data ? r->field.data : "", r->field.len);
            if (t->n_cells > before) last_column = column;
        }
        if (r->field.failed) b->failure = FO_ENOMEM;
        row++;
        if (!t->n_cells) continue; /* lines without anything part nothing here */
        char range[40];
        table_range_name(range, t->cells[0].column, row, last_column, row);
        bool header = first && t->n_cells > 1 && !table_rows_has_number(t);
        first = false;
        table_rows_end_row(t, &(text_place){.range = range}, header);
        if (!builder_go_on(b, r->at - from)) return;
    }
}

int extract_csv(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        table_rows *t = calloc(1, sizeof *t);
        line_reader r = {.s = text.data, .n = text.len};
        r.separator = find_separator(r.s, r.n);
        if (t)
            read_rows(b, t, &r);
        else
            b->failure = FO_ENOMEM;
        if (t) table_rows_free(t);
        free(t);
        fo_buf_free(&r.field);
    }
    extract_drop(b, &text);
    return rc;
}
