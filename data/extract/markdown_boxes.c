/* See markdown_boxes.h. */
#include "data/extract/markdown_boxes.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"

enum { DEEPEST = 16, INDENT = 4 };

typedef struct line {
    size_t start, text, end, next; /* text: behind its blanks; end: before those behind it */
    size_t indent;                 /* columns that the text begins in */
} line;

typedef struct box_title {
    size_t at, n;
    bool kind; /* the word for what kind of box it is */
} box_title;

typedef struct walk {
    fo_buf *out;
    const char *s;
    size_t n;
    bool changed;       /* not as it was */
    bool blank;         /* the line above is */
    bool list;          /* one is open: what an item holds is indented, too */
    char mark;          /* of the open fence */
    size_t fence;       /* marks of it; 0: none is open */
    size_t at[DEEPEST]; /* columns that the open boxes begin in */
    size_t depth;
} walk;

/* A tab goes on to the next of the columns that indents are made of. */
static size_t column_behind(char c, size_t column) {
    return c == '\t' ? column + INDENT - column % INDENT : column + 1;
}

static line line_at(const char *s, size_t n, size_t at) {
    const char *newline = memchr(s + at, '\n', n - at);
    const size_t end = newline ? (size_t)(newline - s) : n;
    line l = {.start = at, .text = at, .end = end, .next = newline ? end + 1 : n};
    while (l.text < l.end && (s[l.text] == ' ' || s[l.text] == '\t'))
        l.indent = column_behind(s[l.text++], l.indent);
    while (l.end > l.text && fo_is_blank(s[l.end - 1])) l.end--;
    return l;
}

static bool begins(const char *s, line l, const char *mark) {
    const size_t n = strlen(mark);
    return l.end - l.text > n && memcmp(s + l.text, mark, n) == 0;
}

/* ": Customize the language" */
static bool is_definition(const char *s, line l) {
    return begins(s, l, ": ") || begins(s, l, ":\t");
}

/* The first of a box's words is what MkDocs shows where it has no title; of some it tells nothing. */
static void kind_of(const char *s, size_t at, size_t end, box_title *title) {
    static const char plain[] = "note info tip hint";
    while (at < end && s[at] == ' ') at++;
    const char *behind = memchr(s + at, ' ', end - at);
    const size_t n = behind ? (size_t)(behind - s) - at : end - at;
    if (!(fo_is_letter(s[at]) || fo_is_digit(s[at])) || fo_words_have_any_case(plain, s + at, n))
        return;
    *title = (box_title){.at = at, .n = n, .kind = true};
}

/* `!!! note`, `??? tip "Faster"`, `???+ note inline end`, `=== "Linux"`: its words and its title are letters and a string. */
static bool is_box(const char *s, line l, box_title *title) {
    static const char *const marks[] = {"!!! ", "??? ", "???+ ", "=== \"", "===! \"", "===+ \""};
    size_t at = 0;
    for (size_t i = 0; !at && i < sizeof marks / sizeof *marks; i++)
        if (begins(s, l, marks[i])) at = l.text + strlen(marks[i]) - (marks[i][0] == '=');
    if (!at) return false;
    const size_t words = at;
    while (at < l.end && (fo_is_letter(s[at]) || fo_is_digit(s[at]) || strchr("-_ ", s[at]))) at++;
    if (at == l.end) {
        kind_of(s, words, l.end, title);
        return true;
    }
    if (s[at] != '"' || l.end - at < 2 || s[l.end - 1] != '"') return false;
    *title = (box_title){.at = at + 1, .n = l.end - at - 2};
    return true;
}

static bool is_item(const char *s, line l) {
    size_t at = l.text;
    while (at < l.end && fo_is_digit(s[at])) at++;
    if (at == l.text ? !strchr("-*+", s[at]) : at >= l.end || !strchr(".)", s[at])) return false;
    return at + 1 < l.end && (s[at + 1] == ' ' || s[at + 1] == '\t');
}

/* The line without the indents of the boxes that hold it: no tab lies across where they end. */
static size_t without_indents(walk *w, line l) {
    const size_t cut = w->depth * INDENT;
    size_t from = l.start;
    for (size_t column = 0; from < l.text && column < cut; from++)
        column = column_behind(w->s[from], column);
    w->changed |= from > l.start;
    return from;
}

static void write_line(walk *w, line l) {
    const size_t from = without_indents(w, l);
    fo_buf_add(w->out, w->s + from, l.next - from);
}

/* The boxes that the line is not indented enough for. */
static void end_boxes(walk *w, line l) {
    while (w->depth && l.indent < w->at[w->depth - 1] + INDENT) w->depth--;
}

static bool write_fence(walk *w, line l) {
    const char *s = w->s;
    size_t run = 0;
    while (l.text + run < l.end && strchr("`~", s[l.text]) && s[l.text + run] == s[l.text]) run++;
    const bool others =
        s[l.text] == '`' && memchr(s + l.text + run, '`', l.end - l.text - run) != NULL;
    const bool is = run >= 3 && !others;
    if (!is && !w->fence) return false;
    if (!w->fence)
        w->fence = run, w->mark = s[l.text], end_boxes(w, l);
    else if (is && s[l.text] == w->mark && run >= w->fence && l.text + run == l.end)
        w->fence = 0;
    write_line(w, l);
    return true;
}

/* Others go on with the paragraph above, which may stand in a box. */
static bool begins_a_block(const walk *w, line l) {
    return w->blank || w->s[l.text] == '#' || is_item(w->s, l);
}

/* Where a box may begin: elsewhere its line is one of code. */
static bool may_begin(const walk *w, line l) {
    const size_t held = w->depth ? w->at[w->depth - 1] + INDENT : 0;
    return w->list || (l.indent >= held && l.indent < held + INDENT);
}

/* What is behind "!!!" and holds nothing is said with emphasis: "!!! Do not run this". */
static bool holds_any(const walk *w, line l) {
    for (size_t at = l.next; at < w->n;) {
        const line below = line_at(w->s, w->n, at);
        if (below.text < below.end) return below.indent >= l.indent + INDENT;
        at = below.next;
    }
    return false;
}

/* A paragraph of its own, also right below a line. */
static void write_title(walk *w, line l, const box_title *title) {
    const size_t from = without_indents(w, l);
    const char *s = w->s + title->at;
    if (!w->blank && title->n) fo_buf_char(w->out, '\n');
    fo_buf_add(w->out, w->s + from, l.text - from);
    if (title->kind) fo_buf_char(w->out, (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s));
    fo_buf_add(w->out, s + title->kind, title->n - title->kind);
    fo_buf_str(w->out, "\n\n");
    w->changed = true;
}

static void write_text(walk *w, line l) {
    box_title title = {0};
    if (begins_a_block(w, l)) end_boxes(w, l);
    if (is_item(w->s, l))
        w->list = true;
    else if (w->blank && l.text == l.start)
        w->list = false;
    const bool may = may_begin(w, l);
    const bool box = may && is_box(w->s, l, &title) && (w->s[l.text] == '=' || holds_any(w, l));
    if (box)
        write_title(w, l, &title);
    else
        write_line(w, l);
    if ((box || (may && is_definition(w->s, l))) && w->depth < DEEPEST)
        w->at[w->depth++] = l.indent;
}

static bool may_have_any(const char *s, size_t n) {
    static const char *const marks[] = {"\n: ",  "\n:\t",  "!!! ",    "??? ",
                                        "???+ ", "=== \"", "===! \"", "===+ \""};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (memmem(s, n, marks[i], strlen(marks[i]))) return true;
    return false;
}

bool markdown_boxes_write(fo_buf *out, const char *s, size_t n) {
    walk w = {.out = out, .s = s, .n = n, .blank = true};
    if (!may_have_any(s, n)) return false;
    for (size_t at = 0; at < n && !out->failed;) {
        const line l = line_at(s, n, at);
        const bool blank = l.text == l.end;
        at = l.next;
        if (blank)
            fo_buf_add(out, s + l.start, l.next - l.start);
        else if (!write_fence(&w, l))
            write_text(&w, l);
        w.blank = blank;
    }
    if (!w.changed) fo_buf_clear(out);
    return w.changed;
}
