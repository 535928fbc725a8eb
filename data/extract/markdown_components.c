/* See markdown_components.h. */
#include "data/extract/markdown_components.h"

#include <string.h>
#include <utf8proc.h>

#include "kernels/utf8.h"

enum {
    TAG_BYTES = 4096, /* of the longest tag that is looked at */
    NAME_BYTES = 64,
    DEEPEST = 16, /* of components that hold others */
    DEEPEST_BRACES =
        16, /* with more of them unclosed each byte would be looked at by every tag before it */
    N_ENDS = 1024, /* hashes of names */
    UNKNOWN = -1,
};

typedef struct piece {
    const char *s;
    size_t n;
} piece;

typedef struct tag {
    size_t n;    /* bytes of it; 0: it is none */
    bool closed; /* "/>" */
    piece name;
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

/* Behind the braces that s[at] begins; 0: they have no end, or too many are within each other. */
static size_t braces_end(const char *s, size_t n, size_t at) {
    size_t open = 0;
    for (size_t i = at; i < n && open <= DEEPEST_BRACES; i++) {
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
    t.name = (piece){s + 1, at - 1};
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

/* Would the next character of the text run into what a tag says? Chinese has no blanks, and the end of **bold** stays beside it.
 * before: the byte in front of the tag. */
static bool runs_into(const char *next, size_t n, char before) {
    int32_t cp = 0;
    if (!n || fo_is_blank(*next) || *next == before || strchr(".,;:!?)]}|\"'\\", *next))
        return false;
    if (*next == '<') return n > 1 && next[1] != '/';
    if (!(*next & 0x80)) return true;
    fo_utf8_decode(next, n, &cp);
    return utf8proc_charwidth(cp) != 2 && utf8proc_category(cp) <= UTF8PROC_CATEGORY_NO;
}

/* What a tag within a line says, parted from the words beside it: `<Step title="Install">Run it.</Step>` is "Install: Run it." */
static void write_within(fo_buf *out, const tag *t, piece says, const char *next, size_t n) {
    const char before = out->len ? out->data[out->len - 1] : '\n';
    if (fo_is_letter(before) || fo_is_digit(before)) fo_buf_char(out, ' ');
    add_text(out, says);
    if (!runs_into(next, n, before)) return;
    const bool ends = strchr(".:!?", says.s[says.n - 1]) != NULL;
    fo_buf_str(out, t->closed || ends || *next == '<' ? " " : ": ");
}

static piece said_by(const tag *t) {
    return t->question.n ? t->question : t->line.n ? t->line : t->path;
}

/* What a tag says that nothing else is on the line of, so that it may hold blocks; blanks: in front of it. */
static void write_above(fo_buf *out, const tag *t, piece blanks) {
    fo_buf_char(out, '\n');
    fo_buf_add(out, blanks.s, blanks.n);
    if (t->question.n) fo_buf_str(out, "#### ");
    add_text(out, said_by(t));
    fo_buf_str(out, "\n");
}

/* Names that are capitals alone are HTML, and what holds code is none of text. */
static bool holds_text(piece name) {
    bool small = false;
    for (size_t i = 0; i < name.n; i++) small |= name.s[i] >= 'a' && name.s[i] <= 'z';
    return small && !memmem(name.s, name.n, "Code", 4);
}

/* ---- lines ---------------------------------------------------------------------------------- */

typedef struct line {
    size_t start, text, end, next; /* text: behind its blanks */
} line;

typedef struct component { /* that is open, its tag alone on a line */
    piece name;
    size_t indent;
    size_t kept; /* blanks that stay in front of its lines, as they are in an item of a list */
    long cut;    /* of the others those that its first line has; UNKNOWN: none was there yet */
} component;

typedef struct walk {
    fo_buf *out;
    const char *s;
    size_t n;
    bool changed;     /* not as it was */
    size_t fence;     /* marks of the open one */
    char mark;        /* of which it is made */
    size_t fence_cut; /* blanks that were cut from the line that opened it */
    bool blank, code; /* the line above: it is blank or indented code */
    bool text;        /* there was a line that is neither blank nor an import */
    size_t list;      /* column of the text of the last item; 0: no list is open */
    component open[DEEPEST];
    size_t depth;
    size_t ends[N_ENDS]; /* where the last line ends that closes a name of this hash */
} walk;

static line line_at(const char *s, size_t n, size_t at) {
    const char *newline = memchr(s + at, '\n', n - at);
    line l = {at, at, newline ? (size_t)(newline - s) : n, newline ? (size_t)(newline - s) + 1 : n};
    while (l.text < l.end && fo_is_blank(s[l.text])) l.text++;
    return l;
}

/* Columns of blanks. */
static size_t indent_of(const char *s, line l) {
    size_t columns = 0;
    for (size_t i = l.start; i < l.text; i++) columns += s[i] == '\t' ? 4 - columns % 4 : 1;
    return columns;
}

/* Bytes of the run of marks of a fence that n bytes at s begin with; 0: they begin none. Behind backticks there are no others on the
 * line: "```foo``` is code within it." *ends: nothing stands behind the run. */
static size_t fence_at(const char *s, size_t n, bool *ends) {
    size_t run = 0;
    if (!n || (*s != '`' && *s != '~')) return 0;
    while (run < n && s[run] == *s) run++;
    if (run < 3 || (*s == '`' && memchr(s + run, '`', n - run))) return 0;
    *ends = skip_blanks(s, n, run) == n;
    return run;
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

/* Do nothing but classes and values, ".wide lang=en", stand from s[at] on? */
static bool are_attributes(const char *s, size_t n, size_t at) {
    while ((at = skip_blanks(s, n, at)) < n) {
        const bool class = s[at] == '.';
        const size_t name = at += class;
        while (at < n && is_name_char(s[at])) at++;
        if (at == name) return false;
        if (class) continue;
        if (at + 1 >= n || s[at] != '=') return false;
        const bool quoted = s[at + 1] == '"' || s[at + 1] == '\'';
        if (quoted && !(at = string_end(s, n, at + 1))) return false;
        while (!quoted && at < n && !fo_is_blank(s[at])) at++;
    }
    return true;
}

/* Where in the line the braces begin that end it, "{#audio}", "{ #audio data-label=Sound }"; 0: there are none. "{#each items as
 * item}" is prose. */
static size_t name_begins(const char *s, size_t n) {
    if (n < 4 || s[n - 1] != '}') return 0;
    size_t at = n - 1;
    while (at && s[at - 1] != '{' && s[at - 1] != '}') at--;
    if (!at || s[at - 1] != '{') return 0;
    size_t name = at;
    if (s[name] == ':') name++;
    name = skip_blanks(s, n, name);
    if (s[name] != '#' || !is_name_char(s[name + 1])) return 0;
    while (name < n - 1 && !fo_is_blank(s[name])) name++;
    return are_attributes(s, n - 1, name) ? at - 1 : 0;
}

/* Bytes of a line without the name behind its heading, "## Recordings {#audio}"; one of nothing else keeps it. */
static size_t without_heading_name(const char *s, size_t n) {
    size_t end = n, marks = 0;
    while (marks < n && s[marks] == '#') marks++;
    if (!marks || marks > 6 || marks >= n || s[marks] != ' ') return n;
    while (end && fo_is_blank(s[end - 1])) end--;
    size_t at = name_begins(s, end);
    while (at && s[at - 1] == ' ') at--;
    return at > marks ? at : n;
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

static size_t hash_of(piece name) {
    size_t hash = 5381;
    for (size_t i = 0; i < name.n; i++) hash = hash * 33 + (unsigned char)name.s[i];
    return hash % N_ENDS;
}

/* Does "<Name" stand in the n bytes at s? */
static bool begins_in(const char *s, size_t n, piece name) {
    for (const char *at = s, *end = s + n;
         (at = memmem(at, (size_t)(end - at), name.s, name.n)) != NULL; at += name.n)
        if (at > s && at[-1] == '<') return true;
    return false;
}

/* The name in the "</Name>" that the line ends with and that it does not begin itself; empty: there is none. */
static piece ended_by(const char *s, line l) {
    size_t end = l.end;
    while (end > l.text && fo_is_blank(s[end - 1])) end--;
    if (end - l.text < 4 || s[end - 1] != '>') return (piece){"", 0};
    size_t at = end - 1;
    while (at > l.text && is_name_char(s[at - 1])) at--;
    const piece name = {s + at, end - 1 - at};
    if (at < l.text + 2 || memcmp(s + at - 2, "</", 2) != 0 || !fo_is_upper(*name.s))
        return (piece){"", 0};
    const bool whole = name.n > NAME_BYTES || begins_in(s + l.text, at - 2 - l.text, name);
    return whole ? (piece){"", 0} : name;
}

static void note_ends(walk *w) {
    for (size_t at = 0; at < w->n;) {
        const line l = line_at(w->s, w->n, at);
        const piece name = ended_by(w->s, l);
        if (name.n) w->ends[hash_of(name)] = l.end;
        at = l.next;
    }
}

/* The component has begun: of the lines that it holds the indent goes. One that ends nowhere holds none: "<Name>" may stand for a
 * word to put in. */
static void open_component(walk *w, const tag *t, size_t indent, size_t kept) {
    const size_t begins = (size_t)(t->name.s - w->s);
    if (w->depth < DEEPEST && w->ends[hash_of(t->name)] > begins)
        w->open[w->depth++] = (component){t->name, indent, kept, UNKNOWN};
}

/* Where the line begins without the indent of the component that holds it, so that it is text and no code. */
static size_t without_indent(walk *w, line l) {
    if (!w->depth) return l.start;
    component *c = &w->open[w->depth - 1];
    const size_t has = l.text - l.start, more = has > c->kept ? has - c->kept : 0;
    if (c->cut == UNKNOWN && l.text < l.end) c->cut = (long)more;
    const size_t cut = c->cut == UNKNOWN ? 0 : (size_t)c->cut;
    w->changed |= cut && more;
    return l.start + (more < cut ? more : cut);
}

/* Blanks in front of the tag of a component that stay in front of what it holds, too: without them it would end the item of a list
 * that it is in. */
static size_t kept_by(walk *w, line l) {
    if (w->list && indent_of(w->s, l) >= w->list) return l.text - without_indent(w, l);
    const size_t has = l.text - l.start, kept = w->depth ? w->open[w->depth - 1].kept : 0;
    return kept < has ? kept : has; /* a tab is fewer bytes than columns */
}

/* Writes the tag at s[at], if it says or holds text: false: it does not. */
static bool write_tag(walk *w, line l, size_t at, const tag *t) {
    const piece says = said_by(t);
    const bool above = !t->closed && is_lone(w->s, w->n, at, at + t->n);
    if (!t->n || !(says.n || (above && holds_text(t->name)))) return false;
    const size_t kept = above ? kept_by(w, l) : 0;
    if (above && holds_text(t->name)) open_component(w, t, indent_of(w->s, l), kept);
    if (above && says.n)
        write_above(w->out, t, (piece){w->s + l.text - kept, kept});
    else if (says.n)
        write_within(w->out, t, says, w->s + at + t->n, w->n - at - t->n);
    return true;
}

/* The line from its byte at on, with what a tag or code of it has on the next ones: one past it. */
static size_t write_line(walk *w, line l, size_t at) {
    const char *s = w->s;
    const size_t n = w->n, kept = l.start + without_heading_name(s + l.start, l.end - l.start);
    w->changed |= kept < l.end;
    while (at < n && s[at] != '\n') {
        if (at >= kept && at < l.end) {
            at = l.end;
            continue;
        }
        size_t next = at + 1;
        const tag t = s[at] == '<' ? read_tag(s + at, n - at) : (tag){0};
        if (t.n && write_tag(w, l, at, &t)) {
            w->changed = true;
            at += t.n;
            continue;
        }
        if (s[at] == '`') next = code_end(s, n, at);
        if (s[at] == '\\' && next < n && (s[next] == '<' || s[next] == '`')) next++;
        fo_buf_add(w->out, s + at, next - at);
        at = next;
    }
    if (at < n) fo_buf_char(w->out, '\n');
    return at < n ? at + 1 : n;
}

/* The name in "</Name>", a line of nothing else; empty: it is none. */
static piece closed_by(const char *s, line l) {
    size_t end = l.end;
    while (end > l.text && fo_is_blank(s[end - 1])) end--;
    if (end - l.text < 4 || memcmp(s + l.text, "</", 2) != 0 || !fo_is_upper(s[l.text + 2]) ||
        s[end - 1] != '>')
        return (piece){"", 0};
    for (size_t i = l.text + 2; i < end - 1; i++)
        if (!is_name_char(s[i])) return (piece){"", 0};
    return (piece){s + l.text + 2, end - l.text - 3};
}

static void close_component(walk *w, piece name) {
    size_t at = w->depth;
    while (at && !(w->open[at - 1].name.n == name.n &&
                   memcmp(w->open[at - 1].name.s, name.s, name.n) == 0))
        at--;
    if (at) w->depth = at - 1;
}

/* Which lists are open at a line that is not blank; those of a component are not looked at. */
static void note_list(walk *w, line l, size_t indent) {
    size_t at = l.text;
    while (at < l.end && fo_is_digit(w->s[at])) at++;
    const bool number = at > l.text && at < l.end && strchr(".)", w->s[at]);
    const bool bullet = at == l.text && strchr("-*+", w->s[at]);
    if ((number || bullet) && at + 1 < l.end && fo_is_blank(w->s[at + 1]))
        w->list = indent + (at - l.text) + 2;
    else if (w->blank && indent < w->list)
        w->list = 0;
}

/* Four blanks behind a blank line are code, but for those that an item of a list has. */
static bool is_code(walk *w, size_t indent) {
    return !w->depth && indent >= w->list + 4 && (w->blank || w->code);
}

/* Lines of a fence stay as they are, but for the indent of a component, as far as the line that opened it has that. */
static bool write_fence(walk *w, line l) {
    bool ends = false;
    const size_t run = fence_at(w->s + l.text, l.end - l.text, &ends);
    if (!run && !w->fence) return false;
    const char mark = w->s[l.text];
    size_t from = without_indent(w, l);
    if (!w->fence) w->fence_cut = from - l.start;
    if (from > l.start + w->fence_cut) from = l.start + w->fence_cut;
    const bool closes = run && w->fence && mark == w->mark && run >= w->fence && ends;
    if (closes)
        w->fence = 0;
    else if (!w->fence)
        w->fence = run, w->mark = mark;
    fo_buf_add(w->out, w->s + from, l.next - from);
    return true;
}

/* A line of text: one past it. */
static size_t write_text(walk *w, line l) {
    const size_t indent = indent_of(w->s, l);
    const piece closed = closed_by(w->s, l);
    while (w->depth && indent < w->open[w->depth - 1].indent && !closed.n) w->depth--;
    note_list(w, l, indent);
    /* a page imports what it uses before it says anything: further down it is text about imports */
    const bool import = !w->text && is_import(w->s + l.start, l.end - l.start);
    w->code = is_code(w, indent);
    w->text |= !import;
    w->blank = false;
    if (w->code) {
        fo_buf_add(w->out, w->s + l.start, l.next - l.start);
        return l.next;
    }
    w->changed |= import || closed.n;
    if (closed.n) {
        close_component(w, closed);
        fo_buf_char(w->out, '\n');
    }
    return closed.n || import ? l.next : write_line(w, l, without_indent(w, l));
}

static bool may_have_any(const char *s, size_t n) {
    if (memmem(s, n, "{#", 2) || memmem(s, n, "{ #", 3) || memmem(s, n, "{: #", 4)) return true;
    for (const char *at = s; (at = memchr(at, '<', n - (size_t)(at - s))); at++)
        if (at + 1 < s + n && fo_is_upper(at[1])) return true;
    return false;
}

bool markdown_components_write(fo_buf *out, const char *s, size_t n) {
    walk w = {.out = out, .s = s, .n = n, .blank = true};
    if (!may_have_any(s, n)) return false;
    note_ends(&w);
    for (size_t at = 0; at < n && !out->failed;) {
        const line l = line_at(s, n, at);
        const bool fenced = write_fence(&w, l), blank = l.text == l.end;
        at = l.next;
        if (!fenced && !blank) {
            at = write_text(&w, l);
            continue;
        }
        if (!fenced) fo_buf_add(out, s + l.start, l.next - l.start);
        w.text |= fenced;
        w.code = w.code && !fenced;
        w.blank = !fenced;
    }
    if (!w.changed) fo_buf_clear(out);
    return w.changed;
}
