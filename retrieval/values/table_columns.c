#include "retrieval/values/table_columns.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/values/cell_values.h"

enum { LINES = 48 }; /* above a row that are looked at */

/* Where the line of byte `at` begins. */
static size_t line_start(const char *text, size_t at) {
    while (at > 0 && text[at - 1] != '\n') at--;
    return at;
}

static size_t cells_of(const char *line, size_t n) {
    const char *cell;
    size_t count = 0, bytes;
    for (size_t at = 0; table_row_cell(line, n, &at, &cell, &bytes);) count++;
    return count;
}

/* The line that may name the columns of the one at `row`: the topmost of those of several cells right above. *n = 0: none. */
static const char *topmost(const char *text, size_t row, size_t *n) {
    size_t top = row;
    for (int i = 0; i < LINES && top > 0; i++) {
        const size_t from = line_start(text, top - 1), bytes = top - 1 - from;
        if (memchr(text + from, '\t', bytes) || memchr(text + from, '|', bytes) ||
            cells_of(text + from, bytes) < 2)
            break;
        top = from;
    }
    *n = top < row ? (size_t)((const char *)memchr(text + top, '\n', row - top) - text) - top : 0;
    return text + top;
}

typedef struct place {
    size_t from, to; /* characters of the line */
} place;

static place place_of(const char *line, const char *s, size_t n) {
    const size_t from = fo_utf8_count(line, (size_t)(s - line));
    return (place){from, from + fo_utf8_count(s, n)};
}

static bool is_above(place a, place b) {
    return a.from < b.to && b.from < a.to;
}

/* Another row, of which this one's cell is of the same kind. */
static bool is_value_like(const char *name, size_t n, const table_pair *cell) {
    cell_value a, b;
    const bool value = cell_value_read(cell->value, cell->n_value, &b);
    if (cell_is_empty(cell->value, cell->n_value)) return false;
    return !value || (cell_value_read(name, n, &a) && a.unit == b.unit);
}

void table_columns_above(table_pair *cells, size_t n, const char *text, size_t start) {
    const size_t row = line_start(text, start);
    size_t n_head, named = 0, bytes;
    const char *head = topmost(text, row, &n_head), *name;
    table_pair out[TABLE_COLUMNS];
    if (!n_head || n < 3 || n > TABLE_COLUMNS) return;
    memcpy(out, cells, n * sizeof *out);
    for (size_t at = 0; table_row_cell(head, n_head, &at, &name, &bytes);) {
        if (!bytes) continue; /* above the first column */
        const place above = place_of(head, name, bytes);
        size_t met = 0, last = 0;
        for (size_t i = 0; i < n; i++)
            if (is_above(above, place_of(text + row, cells[i].value, cells[i].n_value))) {
                met++;
                last = i;
            }
        if (met != 1 || out[last].n_name || (last && is_value_like(name, bytes, &cells[last])))
            return;
        out[last].name = name;
        out[last].n_name = bytes;
        named += last > 0;
    }
    if (named == n - 1) memcpy(cells, out, n * sizeof *out);
}
