/* See markdown_components.h. */
#include "data/extract/markdown_components.h"

#include <string.h>

#include "kernels/utf8.h"

enum {
    TAG_BYTES = 4096, /* of the longest tag that is looked at */
    NAME_BYTES = 64,
};

typedef struct piece {
    const char *s;
    size_t n;
} piece;

typedef struct tag {
    size_t n;                   /* bytes of it; 0: it is none */
    bool closed;                /* "/>" */
    piece question, line, path; /* what it says; line: a title, a heading, a summary or a label */
} tag;

static bool is_name_char(char c) {
    return fo_is_letter(c) || fo_is_digit(c) || strchr("_.:-", c);
}

static size_t skip_blanks(const char *s, size_t n, size_t at) {
    while (at < n && fo_is_blank(s[at])) at++;
    return at;
}

/* Behind the string that s[at] begins, in the quotes that it begins with; 0: it has no end. */
static size_t string_end(const char *s, size_t n, size_t at) {
    const char quote = s[at];
    for (size_t i = at + 1; i < n; i++) {
        if (s[i] == '\\' && quote != '`')
            i++;
        else if (s[i] == quote)
            return i + 1;
    }
    return 0;
}

/* Behind the braces that s[at] begins; 0: they have no end. */
static size_t braces_end(const char *s, size_t n, size_t at) {
    size_t open = 0;
    for (size_t i = at; i < n; i++) {
        open += s[i] == '{';
        if (s[i] == '}' && !--open) return i + 1;
    }
    return 0;
}

/* The text of {"..."}, {'...'}, {`...`} or {<>...</>}; empty: it is made by a program. */
static piece text_in_braces(const char *s, size_t n) {
    static const char begins[] = "<>", ends[] = "</>";
    while (n && fo_is_blank(*s)) s++, n--;
    while (n && fo_is_blank(s[n - 1])) n--;
    if (n > 5 && !memcmp(s, begins, 2) && !memcmp(s + n - 3, ends, 3)) return (piece){s + 2, n - 5};
    if (n > 2 && strchr("\"'`", s[0]) && string_end(s, n, 0) == n) return (piece){s + 1, n - 2};
    return (piece){"", 0};
}

static bool is_called(piece name, const char *want) {
    return name.n == strlen(want) && memcmp(name.s, want, name.n) == 0;
}

static void take(tag *t, piece name, piece value) {
    static const char *const lines[] = {"title", "heading", "summary", "label"};
    if (!value.n) return;
    if (is_called(name, "question")) t->question = value;
    if (is_called(name, "path")) t->path = value;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!t->line.n && is_called(name, lines[i])) t->line = value;
}

/* The value of an attribute at s[at], behind its equals sign: one past it; 0: it is none. */
static size_t read_value(const char *s, size_t n, size_t at, piece *value) {
    *value = (piece){"", 0};
    if (at >= n || !strchr("\"'{", s[at]) || !s[at]) return 0;
    if (s[at] == '{') {
        const size_t end = braces_end(s, n, at);
        if (end) *value = text_in_braces(s + at + 1, end - at - 2);
        return end;
    }
    const char *end = memchr(s + at + 1, s[at], n - at - 1);
    if (!end) return 0;
    *value = (piece){s + at + 1, (size_t)(end - s) - at - 1};
    return (size_t)(end - s) + 1;
}

/* The tag of a component that begins at s[0]. */
static tag read_tag(const char *s, size_t n) {
    tag t = {0};
    size_t at = 1;
    if (n > TAG_BYTES) n = TAG_BYTES;
    if (n < 3 || !fo_is_upper(s[1])) return t;
    while (at < n && at < NAME_BYTES && is_name_char(s[at])) at++;
    for (;;) {
        const size_t from = at;
        at = skip_blanks(s, n, at);
        if (at < n && s[at] == '/') t.closed = true, at = skip_blanks(s, n, at + 1);
        if (at >= n || (t.closed && s[at] != '>')) return t;
        if (s[at] == '>') {
            t.n = at + 1;
            return t;
        }
        if (at == from) return t;
        const size_t name = at;
        while (at < n && is_name_char(s[at])) at++;
        if (at == name) return t;
        const piece called = {s + name, at - name};
        if (at >= n || s[at] != '=') continue; /* it is said to be so, without a value */
        piece value;
        at = read_value(s, n, at + 1, &value);
        if (!at) return t;
        take(&t, called, value);
    }
}

/* On one line; what a string of JavaScript has behind a backslash is meant. */
static void add_text(fo_buf *out, piece p) {
    for (size_t i = 0; i < p.n; i++) {
        if (p.s[i] == '\\' && i + 1 < p.n && strchr("\"'`", p.s[i + 1])) continue;
        fo_buf_char(out, fo_is_blank(p.s[i]) ? ' ' : p.s[i]);
    }
}

/* What the tag says. lone: nothing else is on its line, so that it may hold blocks. */
static void write_tag(fo_buf *out, const tag *t, bool lone) {
    const piece *says = t->question.n ? &t->question : t->line.n ? &t->line : &t->path;
    if (lone && !t->closed) fo_buf_str(out, t->question.n ? "\n#### " : "\n");
    add_text(out, *says);
    if (lone && !t->closed) fo_buf_str(out, "\n");
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Bytes of the run of marks of a fence that the line begins with; 0: it begins none. */
static size_t fence_at(const char *s, size_t n) {
    size_t i = 0, run = 0;
    while (i < n && (s[i] == ' ' || s[i] == '\t')) i++;
    if (i >= n || (s[i] != '`' && s[i] != '~')) return 0;
    while (i + run < n && s[i + run] == s[i]) run++;
    return run >= 3 ? run : 0;
}

/* import Tabs from '@theme/Tabs'; */
static bool is_import(const char *s, size_t n) {
    static const char from[] = " from ";
    if (n < 12 || memcmp(s, "import ", 7) != 0) return false;
    const char *at = memmem(s, n, from, sizeof from - 1);
    if (!at) return false;
    at += sizeof from - 1;
    while (n && strchr("; \r", s[n - 1])) n--;
    return at < s + n - 1 && (*at == '"' || *at == '\'') && s[n - 1] == *at;
}

/* Bytes of a line without the name behind its heading, "## Recordings {#audio}". */
static size_t without_heading_name(const char *s, size_t n) {
    size_t end = n, marks = 0;
    while (marks < n && s[marks] == '#') marks++;
    if (!marks || marks > 6 || marks >= n || s[marks] != ' ') return n;
    while (end && fo_is_blank(s[end - 1])) end--;
    if (!end || s[end - 1] != '}') return n;
    size_t at = end - 1;
    while (at > marks && is_name_char(s[at - 1])) at--;
    if (at < marks + 3 || at == end - 1 || s[at - 1] != '#' || s[at - 2] != '{') return n;
    at -= 2;
    while (at && s[at - 1] == ' ') at--;
    return at;
}

/* Behind the code in backticks that s[at] begins, if it ends before a blank line; else behind the backticks. */
static size_t code_end(const char *s, size_t n, size_t at) {
    enum { LONGEST = 8 << 10 };
    size_t run = 0;
    while (at + run < n && s[at + run] == '`') run++;
    if (n - at - run > LONGEST) n = at + run + LONGEST;
    for (size_t i = at + run; i < n; i++) {
        size_t here = 0;
        if (s[i] == '\n' && i + 1 < n && s[i + 1] == '\n') break;
        while (i + here < n && s[i + here] == '`') here++;
        if (here == run) return i + here;
        if (here) i += here - 1;
    }
    return at + run;
}

/* Does nothing but blanks stand on the line before s[at] and behind s[end]? */
static bool is_lone(const char *s, size_t n, size_t at, size_t end) {
    while (at && (s[at - 1] == ' ' || s[at - 1] == '\t')) at--;
    while (end < n && (s[end] == ' ' || s[end] == '\t' || s[end] == '\r')) end++;
    return (!at || s[at - 1] == '\n') && (end >= n || s[end] == '\n');
}

/* The line that begins at s[at], with what a tag or code of it has on the next ones: one past it. *changed: not as it was. */
static size_t write_line(fo_buf *out, const char *s, size_t n, size_t at, bool *changed) {
    const char *newline = memchr(s + at, '\n', n - at);
    const size_t stop = newline ? (size_t)(newline - s) : n;
    const size_t kept = at + without_heading_name(s + at, stop - at);
    *changed |= kept < stop;
    while (at < n && s[at] != '\n') {
        if (at >= kept && at < stop) {
            at = stop;
            continue;
        }
        size_t next = at + 1;
        const tag t = s[at] == '<' ? read_tag(s + at, n - at) : (tag){0};
        if (t.n && (t.question.n || t.line.n || t.path.n)) {
            write_tag(out, &t, is_lone(s, n, at, at + t.n));
            *changed = true;
            at += t.n;
            continue;
        }
        if (s[at] == '`') next = code_end(s, n, at);
        fo_buf_add(out, s + at, next - at);
        at = next;
    }
    if (at < n) fo_buf_char(out, '\n');
    return at < n ? at + 1 : n;
}

static bool may_have_any(const char *s, size_t n) {
    if (memmem(s, n, "{#", 2)) return true;
    for (const char *at = s; (at = memchr(at, '<', n - (size_t)(at - s))); at++)
        if (at + 1 < s + n && fo_is_upper(at[1])) return true;
    return false;
}

bool markdown_components_write(fo_buf *out, const char *s, size_t n) {
    bool changed = false;
    size_t fence = 0;
    char mark = 0;
    if (!may_have_any(s, n)) return false;
    for (size_t at = 0; at < n && !out->failed;) {
        const char *newline = memchr(s + at, '\n', n - at);
        const size_t stop = newline ? (size_t)(newline - s) : n, run = fence_at(s + at, stop - at);
        const char own = run ? s[skip_blanks(s, stop, at)] : 0;
        const bool opens = run && !fence, closes = run && fence && own == mark && run >= fence;
        if (opens) fence = run, mark = own;
        if (fence || run) {
            fo_buf_add(out, s + at, stop - at + (newline != NULL));
            at = newline ? stop + 1 : n;
            if (closes) fence = 0;
        } else if (is_import(s + at, stop - at)) {
            changed = true;
            at = newline ? stop + 1 : n;
        } else {
            at = write_line(out, s, n, at, &changed);
        }
    }
    if (!changed) fo_buf_clear(out);
    return changed;
}
