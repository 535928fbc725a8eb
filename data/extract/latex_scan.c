/* See latex_reader.h. */
#include "data/extract/latex_reader.h"
#include "kernels/utf8.h"

#include <string.h>

/* The group in these brackets at s[at], looked for no farther than `most`: its text; false where there is none. */
bool latex_take_group(latex_reader *r, char open, char close, const char **s, size_t *n) {
    enum { MOST = 20000 };
    size_t i = r->at, end = r->n - i < MOST ? r->n : i + MOST;
    while (i < end && strchr(" \t\n", r->s[i])) i++;
    if (i >= end || r->s[i] != open) return false;
    size_t from = i + 1;
    int depth = 0;
    for (; i < end; i++) {
        char c = r->s[i];
        if (c == '\\') {
            i++;
        } else if (c == '{' || c == open) {
            depth++;
        } else if ((c == '}' || c == close) && --depth == 0) {
            *s = r->s + from;
            *n = i - from;
            r->at = i + 1;
            builder_go_on(r->b, i - from);
            return true;
        }
    }
    builder_go_on(r->b, i - from);
    return false;
}

void latex_drop_options(latex_reader *r) {
    const char *s;
    size_t n;
    if (r->at < r->n && r->s[r->at] == '*') r->at++;
    while (r->at < r->n && r->s[r->at] == '[' && latex_take_group(r, '[', ']', &s, &n)) {
    }
}

void latex_drop_overlay(latex_reader *r) {
    if (r->at >= r->n || r->s[r->at] != '<') return;
    size_t at = r->at + 1;
    while (at < r->n && r->s[at] && strchr("0123456789-+,|@.", r->s[at])) at++;
    if (at < r->n && r->s[at] == '>' && at > r->at + 1) r->at = at + 1;
}

/* So many groups, where they are there, and the options before each. */
void latex_drop_groups(latex_reader *r, int n_groups) {
    const char *s;
    size_t n;
    while (n_groups--) {
        latex_drop_options(r);
        if (!latex_take_group(r, '{', '}', &s, &n)) return;
    }
}

static bool at_letter(const latex_reader *r, size_t at) {
    return at < r->n && fo_is_letter(r->s[at]);
}

/* \name, where one stands. */
bool latex_drop_name(latex_reader *r) {
    size_t at = r->at;
    while (at < r->n && (r->s[at] == ' ' || r->s[at] == '=')) at++;
    if (at >= r->n || r->s[at] != '\\') return false;
    r->at = at + 1;
    while (at_letter(r, r->at) || (r->at < r->n && r->s[r->at] == '@')) r->at++;
    return true;
}

/* "=-1.5em plus 2pt": a length, where one stands. */
void latex_drop_length(latex_reader *r) {
    size_t at = r->at, from;
    while (at < r->n && strchr(" =-+", r->s[at]) && r->s[at]) at++;
    for (from = at; at < r->n && (fo_is_digit(r->s[at]) || r->s[at] == '.'); at++) {
    }
    while (at > from && at < r->n && r->s[at] == ' ') at++;
    if (r->n - at > 1 && at_letter(r, at) && at_letter(r, at + 1) && at > from)
        r->at = at + 2;
    else if (at < r->n && r->s[at] == '\\' && (at > from || memchr(r->s + r->at, '=', at - r->at)))
        r->at = at, latex_drop_name(r);
    else
        return;
    at = r->at + (r->at < r->n && r->s[r->at] == ' ');
    bool more = r->n - at > 5 && (!memcmp(r->s + at, "plus", 4) || !memcmp(r->s + at, "minus", 5));
    if (!more) return;
    r->at = at + (r->s[at] == 'p' ? 4 : 5);
    latex_drop_length(r);
}

/* The number that the next group begins with; 0: none. */
static uint32_t take_number(latex_reader *r) {
    const char *s;
    size_t n;
    uint32_t number = 0;
    if (!latex_take_group(r, '{', '}', &s, &n)) return 0;
    for (size_t i = 0; i < n && i < 4 && fo_is_digit(s[i]); i++)
        number = number * 10 + (uint32_t)(s[i] - '0');
    return number;
}

void latex_begin_wide_cell(latex_reader *r) {
    const uint32_t wide = take_number(r);
    latex_drop_groups(r, 1);
    if (wide && r->in_table && !r->inner) r->wide = wide;
}

/* \multirow[t]{2}[1]{3cm}[2pt]{text}, \multirow{2}*{text}. */
void latex_begin_high_cell(latex_reader *r) {
    latex_drop_options(r);
    const uint32_t high = take_number(r);
    const bool starred = r->at < r->n && r->s[r->at] == '*';
    latex_drop_options(r);
    if (!starred) latex_drop_groups(r, 1);
    latex_drop_options(r);
    if (high && r->in_table && !r->inner) r->high = high;
}

size_t latex_formula_end(latex_reader *r, size_t from, size_t end, const char *mark) {
    enum { MOST = 4000 };
    size_t n = strlen(mark), last = end - from < MOST ? end : from + MOST, i = from;
    int depth = 0;
    bool blank_line = false;
    for (; i < last && !blank_line; i++) {
        char c = r->s[i];
        if (depth <= 0 && last - i >= n && !memcmp(r->s + i, mark, n)) {
            builder_go_on(r->b, i - from);
            return i;
        }
        if (c == '\\') i++;
        depth += (c == '{') - (c == '}');
        size_t k = i + 1;
        while (c == '\n' && k < last && (r->s[k] == ' ' || r->s[k] == '\t')) k++;
        blank_line = c == '\n' && k < last && r->s[k] == '\n';
    }
    builder_go_on(r->b, i - from);
    return end;
}

size_t latex_within_reach(const latex_reader *r) {
    enum { MOST = 100000 };
    return r->n - r->at < MOST ? r->n - r->at : MOST;
}

size_t latex_environment_end(const latex_reader *r, const char *name, size_t n) {
    for (size_t at = r->at; at < r->n;) {
        const char *end = memmem(r->s + at, r->n - at, "\\end{", 5);
        if (!end) break;
        size_t i = (size_t)(end - r->s);
        if (r->n - i > n + 5 && !memcmp(end + 5, name, n) && end[5 + n] == '}') return i;
        at = i + 5;
    }
    return r->n;
}

void latex_drop_end_of_name(latex_reader *r, bool blank) {
    if (blank && r->at < r->n && r->s[r->at] == ' ') r->at++;
    if (r->n - r->at > 1 && r->s[r->at] == '{' && r->s[r->at + 1] == '}') r->at += 2;
}

void latex_drop_false_branch(latex_reader *r) {
    const size_t far = latex_within_reach(r);
    const char *fi = memmem(r->s + r->at, far, "\\fi", 3);
    builder_go_on(r->b, fi ? (size_t)(fi - r->s) - r->at : far);
    if (fi) r->at = (size_t)(fi - r->s) + 3;
}

size_t latex_name_length(const latex_reader *r, size_t at) {
    size_t n = 0;
    while (at_letter(r, at + n)) n++;
    return n;
}

const char *latex_document_begin(const latex_reader *r) {
    const char *begin = r->s;
    while ((begin = memmem(begin, r->n - (size_t)(begin - r->s), "\\begin{document}", 16))) {
        const char *line = begin;
        while (line > r->s && line[-1] != '\n' && *line != '%') line--;
        if (*line != '%' || (line > r->s && line[-1] == '\\')) return begin;
        begin += 16;
    }
    return NULL;
}
