#include "data/extract/text_columns.h"

#include <string.h>
#include <utf8proc.h>

#include "kernels/utf8.h"

size_t text_columns_gap(const char *s, size_t n, size_t i) {
    size_t k = i;
    bool tab = false;
    while (k < n && fo_is_blank(s[k])) tab |= s[k++] == '\t';
    if (!tab && k - i == 2 && i > 0 && strchr(".!?:", s[i - 1])) return 0;
    return tab || k - i > 1 ? k - i : 0;
}

/* Marks stand above or below the letter before them. */
static size_t places_of(int32_t cp) {
    if (cp < 0x300) return 1;
    const utf8proc_category_t kind = utf8proc_category(cp);
    if (kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME) return 0;
    return cp >= 0x1100 && utf8proc_charwidth(cp) == 2 ? 2 : 1;
}

/* Places that the text takes in its line: a Chinese, Japanese or Korean character takes two, the vowel signs of Arabic none. */
static size_t places(const char *s, size_t n) {
    size_t c = 0;
    for (size_t i = 0, bytes; i < n; i += bytes) {
        int32_t cp = s[i];
        bytes = 1;
        if ((unsigned char)s[i] >= 0x80 && !(bytes = fo_utf8_decode(s + i, n - i, &cp))) break;
        c += places_of(cp);
    }
    return c;
}

/* In Arabic's figures, too. */
static bool is_figure(const char *s, size_t n) {
    int32_t cp = s[0];
    if ((unsigned char)s[0] < 0x80) return fo_is_digit(s[0]);
    return fo_utf8_boundary(s[0]) && fo_utf8_decode(s, n, &cp) && fo_utf8_digit(cp) >= 0;
}

size_t text_columns_of(const char *s, size_t n, text_column out[TEXT_COLUMNS_MOST], bool *tabs) {
    size_t count = 0, at = 0, passed = 0, chars = 0;
    *tabs = memchr(s, '\t', n) != NULL;
    if (memchr(s, '|', n)) return 0;
    while (n && fo_is_blank(s[n - 1])) n--;
    while (at < n && fo_is_blank(s[at])) at++;
    while (at < n) {
        size_t end = at, gap = 0;
        bool figures = false;
        for (; end < n && !(gap = text_columns_gap(s, n, end)); end++)
            figures |= is_figure(s + end, n - end);
        if (count == TEXT_COLUMNS_MOST) return 0;
        chars += places(s + passed, at - passed);
        const size_t start = chars;
        chars += places(s + at, end - at);
        out[count++] =
            (text_column){start, chars, at, end - at, figures, !(s[at] >= 'a' && s[at] <= 'z')};
        passed = end;
        at = end + gap;
    }
    return count;
}

static bool is_near(size_t a, size_t b) {
    return a + 1 >= b && b + 1 >= a;
}

/* "1.4  Early care from 6:45 is open to parents": a clause behind its number, "1.", "2.3", "(4)". */
static bool is_clause(const char *s, const text_column *c, size_t count) {
    enum { WORDS = 4 };
    size_t stops = 0, words = 1;
    if (count != 2) return false;
    for (size_t i = c[0].at; i < c[0].at + c[0].bytes; i++) {
        if (!fo_is_digit(s[i]) && !strchr(".()", s[i])) return false;
        stops += !fo_is_digit(s[i]);
    }
    for (size_t i = c[1].at; i < c[1].at + c[1].bytes; i++) words += s[i] == ' ';
    return stops > 0 && words >= WORDS;
}

bool text_columns_are_below(const char *above, size_t n_above, const char *s, size_t n) {
    enum { ALIKE = 3 }; /* so many below each other are rows, though one has a remark behind them */
    text_column a[TEXT_COLUMNS_MOST], b[TEXT_COLUMNS_MOST];
    bool tabs_above, tabs;
    const size_t n_a = text_columns_of(above, n_above, a, &tabs_above),
                 n_b = text_columns_of(s, n, b, &tabs), count = n_a < n_b ? n_a : n_b;
    if (count < 2 || tabs != tabs_above) return false;
    if (n_a != n_b && (tabs || count < ALIKE || count + 1 < (n_a > n_b ? n_a : n_b))) return false;
    if (is_clause(above, a, n_a) && is_clause(s, b, n_b)) return false;
    for (size_t i = 1; i < count && !tabs; i++)
        if (!is_near(a[i].start, b[i].start) && !is_near(a[i].end, b[i].end)) return false;
    return true;
}

bool text_columns_name_all(const char *first, size_t n_first, const char *second, size_t n) {
    text_column a[TEXT_COLUMNS_MOST], b[TEXT_COLUMNS_MOST];
    bool tabs_above, tabs, figures = false;
    const size_t count = text_columns_of(first, n_first, a, &tabs_above);
    if (count < 3 || tabs_above || text_columns_of(second, n, b, &tabs) != count || tabs)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (a[i].figures || a[i].start > b[i].end || a[i].end < b[i].start) return false;
        figures |= i > 0 && b[i].figures;
    }
    return figures && is_near(a[0].start, b[0].start);
}

bool text_columns_name_others(const char *first, size_t n_first, const char *second, size_t n) {
    text_column a[TEXT_COLUMNS_MOST], b[TEXT_COLUMNS_MOST];
    bool tabs_above, tabs;
    const size_t count = text_columns_of(first, n_first, a, &tabs_above);
    if (count < 2 || tabs_above || text_columns_of(second, n, b, &tabs) != count + 1 || tabs)
        return false;
    for (size_t i = 0; i < count; i++) {
        const bool above = a[i].start <= b[i + 1].end && a[i].end >= b[i + 1].start;
        const bool value = a[i].figures && !fo_is_letter(first[a[i].at]); /* "24 hours" */
        if (value || a[i].start < b[0].end || !above) return false;
    }
    return true;
}

/* ---- in a paragraph ------------------------------------------------------------------------- */

typedef struct line {
    size_t start, end, next; /* end without blanks */
} line;

static line line_at(const char *s, size_t n, size_t at) {
    const char *newline = memchr(s + at, '\n', n - at);
    line l = {at, newline ? (size_t)(newline - s) : n, 0};
    l.next = newline ? l.end + 1 : n;
    while (l.end > l.start && fo_is_blank(s[l.end - 1])) l.end--;
    return l;
}

/* "=====  ====" */
static bool is_rule(const char *s, line l) {
    for (size_t i = l.start; i < l.end; i++)
        if (!strchr("-= ", s[i])) return false;
    return l.end > l.start;
}

static bool are_below(const char *s, line above, line l) {
    return text_columns_are_below(s + above.start, above.end - above.start, s + l.start,
                                  l.end - l.start);
}

int text_year_of(const char *s, size_t n) {
    if (n != 4 || (memcmp(s, "19", 2) && memcmp(s, "20", 2))) return 0;
    if (!fo_is_digit(s[2]) || !fo_is_digit(s[3])) return 0;
    return (*s == '1' ? 1900 : 2000) + (s[2] - '0') * 10 + (s[3] - '0');
}

bool text_years_go_on(text_years *y, int year) {
    const int way = year > y->last ? 1 : -1;
    if (year == y->last || (y->n > 1 && way != y->way)) return false;
    *y = (text_years){y->n + 1, year, way};
    return true;
}

text_rows text_columns_find(const char *s, size_t n, size_t at) {
    line above = {at, at, at};
    for (line first; at < n; above = first, at = first.next) {
        first = line_at(s, n, at);
        if (first.end == first.start) break;
        line last = first;
        size_t rows = 1;
        for (size_t k = first.next; k < n;) {
            const line l = line_at(s, n, k);
            k = l.next;
            if (l.start == first.next && is_rule(s, l)) continue;
            if (!are_below(s, last, l)) break;
            last = l;
            rows++;
        }
        if (rows < TEXT_COLUMNS_ROWS) continue;
        const char *names = s + above.start, *row = s + first.start;
        const size_t n_names = above.end - above.start, n_row = first.end - first.start;
        const bool named =
            n_names && ((names[0] == ' ' && text_columns_name_others(names, n_names, row, n_row)) ||
                        text_columns_name_all(names, n_names, row, n_row));
        return (text_rows){named ? above.start : first.start, last.end};
    }
    return (text_rows){at, at};
}
