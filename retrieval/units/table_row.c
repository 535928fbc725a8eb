#include "retrieval/units/table_row.h"

#include <string.h>

#include "data/extract/text_columns.h"
#include "kernels/utf8.h"

bool table_row_cell(const char *s, size_t n, size_t *at, const char **cell, size_t *bytes) {
    const bool bars = memchr(s, '|', n) != NULL;
    size_t from = *at, end, next;
    if (from == 0 && !bars && text_columns_gap(s, n, 0)) { /* the names of columns but the first */
        *at = text_columns_gap(s, n, 0);
        *cell = s;
        *bytes = 0;
        return true;
    }
    if (from == 0) {
        while (from < n && fo_is_blank(s[from])) from++;
        if (bars && from < n && s[from] == '|') from++;
        while (n > from && fo_is_blank(s[n - 1])) n--;
        if (bars && n > from && s[n - 1] == '|') n--;
    }
    if (from >= n) return false;
    for (end = from, next = n; end < n; end++) {
        const size_t gap = bars ? s[end] == '|' : text_columns_gap(s, n, end);
        if (!gap) continue;
        next = end + gap;
        break;
    }
    *at = next;
    while (from < end && fo_is_blank(s[from])) from++;
    while (end > from && fo_is_blank(s[end - 1])) end--;
    *cell = s + from;
    *bytes = end - from;
    return true;
}

static bool is_figure(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] >= '0' && s[i] <= '9') return true;
    return false;
}

/* "6:52", "2,60 EUR", "-" for none: begins with a figure, or has no letter. */
static bool is_value(const char *s, size_t n) {
    if (fo_is_digit(s[0])) return true;
    for (size_t i = 0; i < n; i++)
        if (fo_is_letter(s[i])) return false;
    return true;
}

/* "Fare          Adults    Children 6-14" above "Single        2.60      1.30": a name may have a figure in it where all that is
 * below names are values. */
static bool names_values(const char *first, const text_column *a, const char *second,
                         const text_column *b, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (!fo_is_letter(first[a[i].at]) || !is_value(second + b[i].at, b[i].bytes)) return false;
    return !a[0].figures && !is_value(second + b[0].at, b[0].bytes);
}

/* "Age    Weight    At most in 24 hours": a few names among others have a figure behind words, above a value. */
static bool names_few_values(const char *first, const text_column *a, const char *second,
                             const text_column *b, size_t count) {
    size_t figures = 0;
    for (size_t i = 0; i < count; i++) {
        if (!a[i].figures) continue;
        figures++;
        if (!fo_is_letter(first[a[i].at]) || !fo_is_digit(second[b[i].at])) return false;
    }
    return 2 * figures <= count;
}

bool table_row_names_columns(const char *first, size_t n_first, const char *second, size_t n) {
    text_column a[TEXT_COLUMNS_MOST], b[TEXT_COLUMNS_MOST];
    bool tabs, changes = false, figures = false;
    const size_t count = text_columns_of(first, n_first, a, &tabs);
    if (count < 3 || text_columns_of(second, n, b, &tabs) != count) return false;
    for (size_t i = 0; i < count; i++) {
        if (a[i].capital != a[0].capital) return false;
        figures |= a[i].figures;
        changes |= b[i].figures;
    }
    return changes && (!figures || names_values(first, a, second, b, count) ||
                       names_few_values(first, a, second, b, count));
}

bool table_row_names_years(const char *s, size_t n) {
    size_t at = 0, bytes;
    const char *cell;
    text_years years = {0};
    if (!table_row_cell(s, n, &at, &cell, &bytes) || is_figure(cell, bytes)) return false;
    while (table_row_cell(s, n, &at, &cell, &bytes)) {
        const int year = text_year_of(cell, bytes);
        if (!year || !text_years_go_on(&years, year)) return false;
    }
    return years.n > 1;
}

/* ---- records ------------------------------------------------------------------------------ */

enum { MAX_NAME = 80, NAME_WORDS = 8 };

/* A time of the day: "Whole day (9:00-23:00): £130" */
static bool is_within_time(const char *s, size_t n, size_t colon) {
    return colon > 0 && colon + 1 < n && fo_is_digit(s[colon - 1]) && fo_is_digit(s[colon + 1]);
}

/* Bytes of a column's name that s begins with, behind which ": " stands; 0: it begins with none. */
static size_t name_at(const char *s, size_t n) {
    size_t words = 1, i = 0;
    for (; i < n && i <= MAX_NAME && (s[i] != ':' || is_within_time(s, n, i)); i++) {
        if (strchr(";|\n", s[i])) return 0;
        words += s[i] == ' ';
    }
    if (i == 0 || i > MAX_NAME || i >= n || words > NAME_WORDS || s[0] == ' ') return 0;
    return i + 1 < n && s[i + 1] == ' ' ? i : 0;
}

/* Where the value that begins at s[from] ends: at "; " before a name. */
static size_t value_end(const char *s, size_t n, size_t from) {
    while (from < n && !(s[from] == ';' && from + 2 < n && s[from + 1] == ' ' &&
                         name_at(s + from + 2, n - from - 2)))
        from++;
    return from;
}

bool table_row_pair(const char *s, size_t n, size_t *at, table_pair *out) {
    const char *from = s + *at;
    const size_t left = n - *at, name = name_at(from, left), value = name ? name + 2 : 0;
    const size_t end = value_end(from, left, value);
    if (end == value || (!name && (*at || end == left))) return false;
    *out = (table_pair){from, from + value, name, end - value};
    *at += end < left ? end + 2 : end;
    return true;
}

static bool same(const char *a, size_t n_a, const char *b, size_t n_b) {
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

bool table_row_is_record(const char *s, size_t n) {
    size_t at = 0, count = 0;
    table_pair p;
    for (; table_row_pair(s, n, &at, &p);
         count++) /* "--step N | 512 | smaller: less; larger: more" is a row */
        if (!p.n_name && memmem(p.value, p.n_value, " | ", 3)) return false;
    return count > 1 && at == n;
}

bool table_row_first(const char *s, size_t n, bool record, table_pair *out) {
    size_t at = 0;
    if (record) return table_row_pair(s, n, &at, out) && at < n;
    *out = (table_pair){s, s, 0, 0};
    return table_row_cell(s, n, &at, &out->value, &out->n_value) && at < n;
}

static bool is_cell_of(const char *row, size_t n_row, const char *s, size_t n) {
    const char *cell;
    size_t bytes;
    for (size_t at = 0; table_row_cell(row, n_row, &at, &cell, &bytes);)
        if (same(cell, bytes, s, n)) return true;
    return false;
}

bool table_row_is_alike(const char *above, size_t n_above, const char *s, size_t n) {
    table_pair p, q;
    size_t at = 0, before = 0, met = 0, count = 0;
    if (!table_row_is_record(above, n_above)) {
        while (table_row_pair(s, n, &at, &p) && !p.n_name) continue;
        return at && memchr(above, '|', n_above) && is_cell_of(above, n_above, p.name, p.n_name);
    }
    while (table_row_pair(s, n, &at, &p)) { /* an empty cell is left out, so names may be missing */
        size_t k = before;
        bool found = false;
        while (!found && table_row_pair(above, n_above, &k, &q))
            found = same(p.name, p.n_name, q.name, q.n_name);
        if (!found && !count) return false;
        if (found) before = k;
        met += found;
        count++;
    }
    return met * 2 >= count;
}
