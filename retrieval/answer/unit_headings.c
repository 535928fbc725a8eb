#include "retrieval/answer/unit_headings.h"

#include <string.h>

#include "kernels/utf8.h"

/* Is the line before or behind i, blank ones aside, a numbered item too, or is there none behind it? */
static bool is_beside_items(const unit_lines *lines, size_t i) {
    size_t before = i, next = i + 1;
    while (before > 0 && lines->v[before - 1].class == LINE_BLANK) before--;
    while (next < lines->n && lines->v[next].class == LINE_BLANK) next++;
    const text_line *l = before > 0 ? &lines->v[before - 1] : NULL;
    return next >= lines->n || (l && l->class == LINE_ITEM && fo_is_digit(lines->text[l->start])) ||
           (lines->v[next].class == LINE_ITEM && fo_is_digit(lines->text[lines->v[next].start]));
}

bool unit_is_numbered_heading(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i];
    const char *s = lines->text + l->start;
    const size_t n = l->end - l->start;
    if (l->class != LINE_ITEM || !fo_is_digit(s[0]) || n > UNIT_HEADING_BYTES ||
        strchr(".!?:;,", s[n - 1]))
        return false;
    if (i + 1 >= lines->n || (i > 0 ? lines->v[i - 1].class != LINE_BLANK : lines->goes_on))
        return false;
    if (l[1].class == LINE_BLANK) return !is_beside_items(lines, i);
    const text_line *next = l + 1, *last = &lines->v[unit_paragraph_end(lines, i + 1) - 1];
    const char first = lines->text[next->start];
    return next->class == LINE_TEXT && !(first >= 'a' && first <= 'z') &&
           next->end - next->start > n && unit_breaks_on_purpose(lines, i) &&
           unit_ends_sentence(lines->text + last->start, last->end - last->start);
}

/* Bytes of "E. ", "IV) " before the name of a section; 0: none. */
static size_t section_mark(const char *s, size_t n) {
    enum { LONGEST = 5 };
    size_t i = 0;
    while (i < n && i < LONGEST && s[i] && strchr("IVXLC", s[i])) i++;
    if (i == 0 && n && s[0] >= 'A' && s[0] <= 'Z') i = 1;
    return i && i + 2 < n && (s[i] == '.' || s[i] == ')') && s[i + 1] == ' ' ? i + 2 : 0;
}

/* A few words without an end: "J. S. Bach" is no section, and "E. Gorse" may be a name. */
static bool names_section(const char *s, size_t n, size_t mark) {
    enum { WIDEST = 60, MOST_WORDS = 6 };
    size_t words = 1;
    if (!mark || n > WIDEST || !fo_is_upper(s[mark]) || strchr(".!?:;,", s[n - 1])) return false;
    for (size_t k = mark; k < n; k++) {
        if (strchr("|[]_", s[k]) || (s[k] == '.' && k + 1 < n && s[k + 1] == ' ')) return false;
        words += s[k] == ' ';
    }
    return words <= MOST_WORDS && (words > 1 || mark > 3);
}

static bool has_mark(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return section_mark(s, n) > 0;
}

bool unit_is_section(const unit_lines *l, size_t i) {
    size_t n, n_before;
    const char *s = unit_lines_text(l, i, &n);
    const uint8_t class = l->v[i].class;
    if ((class != LINE_TEXT && class != LINE_ITEM) || !names_section(s, n, section_mark(s, n)))
        return false;
    size_t before = i;
    const size_t next = unit_lines_skip_blank(l, i + 1);
    while (before > 0 && l->v[before - 1].class == LINE_BLANK) before--;
    if (next >= l->n || has_mark(l, next) || (before > 0 && has_mark(l, before - 1))) return false;
    if (next == i + 1 && l->v[next].class == LINE_TEXT && !unit_breaks_on_purpose(l, i))
        return false;
    if (i == 0 || before < i) return !(i == 0 && l->goes_on);
    const char *above = unit_lines_text(l, i - 1, &n_before); /* a line that goes on here? */
    return l->v[i - 1].class != LINE_TEXT || unit_ends_sentence(above, n_before);
}

/* One sign from end to end: with gaps it stands below the names of columns. */
static bool is_underline(const char *s, size_t n) {
    if (n < 3 || !strchr("-=~*_", s[0])) return false;
    for (size_t i = 1; i < n; i++)
        if (s[i] != s[0]) return false;
    return true;
}

bool unit_is_underlined(const unit_lines *l, size_t i) {
    size_t n, n_below;
    const char *s = unit_lines_text(l, i, &n);
    if (i + 1 >= l->n || n > UNIT_HEADING_BYTES) return false;
    if (i > 0 ? l->v[i - 1].class != LINE_BLANK : l->goes_on) return false;
    const char *below = unit_lines_text(l, i + 1, &n_below);
    const bool named = l->v[i].class == LINE_TEXT || unit_is_numbered_heading(l, i) ||
                       (l->v[i].class == LINE_ITEM && fo_is_digit(s[0]));
    return named && is_underline(below, n_below) && !memmem(s, n, "  ", 2) && !memchr(s, '\t', n) &&
           !is_underline(s, n);
}

bool unit_is_rule_between(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return is_underline(s, n) && (i == 0 ? !l->goes_on : l->v[i - 1].class == LINE_BLANK) &&
           (i + 1 == l->n || l->v[i + 1].class == LINE_BLANK);
}
