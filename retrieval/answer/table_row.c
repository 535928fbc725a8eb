#include "retrieval/answer/table_row.h"

#include <string.h>

#include "kernels/utf8.h"

enum { MAX_COLUMNS = 24 };

/* Bytes of the gap that parts two cells at s[i]; 0: none begins there. Behind a sentence two blanks are none: typewriters
 * had them there. */
static size_t gap_at(const char *s, size_t n, size_t i) {
    size_t k = i;
    bool tab = false;
    while (k < n && fo_is_blank(s[k])) tab |= s[k++] == '\t';
    if (!tab && k - i == 2 && i > 0 && strchr(".!?:", s[i - 1])) return 0;
    return tab || k - i > 1 ? k - i : 0;
}

bool table_row_cell(const char *s, size_t n, size_t *at, const char **cell, size_t *bytes) {
    const bool bars = memchr(s, '|', n) != NULL;
    size_t from = *at, end, next;
    if (from == 0) {
        while (from < n && fo_is_blank(s[from])) from++;
        if (bars && from < n && s[from] == '|') from++;
        while (n > from && fo_is_blank(s[n - 1])) n--;
        if (bars && n > from && s[n - 1] == '|') n--;
    }
    if (from >= n) return false;
    for (end = from, next = n; end < n; end++) {
        const size_t gap = bars ? s[end] == '|' : gap_at(s, n, end);
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

typedef struct column {
    size_t start, end; /* characters from the beginning of the line */
    bool figures, capital;
} column;

static bool is_figure(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] >= '0' && s[i] <= '9') return true;
    return false;
}

static size_t characters(const char *s, size_t n) {
    size_t c = 0;
    for (size_t i = 0; i < n; i++) c += ((unsigned char)s[i] & 0xC0) != 0x80;
    return c;
}

/* Columns of a line without bars; 0: too many. *tabs: a tab parts them, so that places say nothing. */
static size_t columns_of(const char *s, size_t n, column out[MAX_COLUMNS], bool *tabs) {
    size_t count = 0, bytes;
    const char *cell;
    *tabs = memchr(s, '\t', n) != NULL;
    if (memchr(s, '|', n)) return 0;
    for (size_t at = 0; table_row_cell(s, n, &at, &cell, &bytes); count++) {
        if (count == MAX_COLUMNS) return 0;
        const size_t start = characters(s, (size_t)(cell - s));
        out[count] = (column){start, start + characters(cell, bytes), is_figure(cell, bytes),
                              !(cell[0] >= 'a' && cell[0] <= 'z')};
    }
    return count;
}

static bool is_near(size_t a, size_t b) {
    return a + 1 >= b && b + 1 >= a;
}

bool table_row_is_below(const char *above, size_t n_above, const char *s, size_t n) {
    column a[MAX_COLUMNS], b[MAX_COLUMNS];
    bool tabs_above, tabs;
    const size_t count = columns_of(above, n_above, a, &tabs_above);
    if (count < 2 || columns_of(s, n, b, &tabs) != count || tabs != tabs_above) return false;
    for (size_t i = 1; i < count && !tabs; i++)
        if (!is_near(a[i].start, b[i].start) && !is_near(a[i].end, b[i].end)) return false;
    return true;
}

bool table_row_names_columns(const char *first, size_t n_first, const char *second, size_t n) {
    column a[MAX_COLUMNS], b[MAX_COLUMNS];
    bool tabs, changes = false;
    const size_t count = columns_of(first, n_first, a, &tabs);
    if (count < 3 || columns_of(second, n, b, &tabs) != count) return false;
    for (size_t i = 0; i < count; i++) {
        if (a[i].figures || a[i].capital != a[0].capital) return false;
        changes |= b[i].figures;
    }
    return changes;
}
