/* reStructuredText, as docutils and Sphinx have it: sections by their underlines, lists, definitions, fields,
 * tables, code; directives are read for the prose in them, and comments, targets and roles' marks dropped.
 * Source: the reStructuredText markup specification of docutils. */
#include <string.h>

#include "data/extract/markup.h"
#include "data/extract/rst_tables.h"
#include "data/extract/superscript.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

enum { MAX_STYLES = 16, MAX_SUBSTITUTIONS = 64 };

typedef struct substitution { /* into the text */
    const char *name, *value;
    size_t n_name, n_value;
} substitution;

typedef struct reader {
    markup m;
    substitution known[MAX_SUBSTITUTIONS];
    size_t n_known;
    char
        styles[MAX_STYLES]; /* of section lines in order of appearance: overlined ones with bit 7 */
    uint8_t n_styles, level;
} reader;

/* ---- marks in a line ------------------------------------------------------------------------------ */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* The end of `mark` in s[from..n) where inline markup may end: a text before it, no letter behind it. */
static size_t find_end(const char *s, size_t n, size_t from, const char *mark) {
    size_t k = strlen(mark);
    const size_t most = from + 2000 < n ? from + 2000 : n; /* no pair is that far apart */
    for (size_t at = from + 1; at + k <= most; at++) {
        if (s[at] == '\\' && *mark != '`') {
            at++;
            continue;
        }
        if (memcmp(s + at, mark, k) != 0 || s[at - 1] == ' ') continue;
        if (at + k < n && (is_word(s[at + k]) || s[at + k] == *mark)) continue;
        return at;
    }
    return 0;
}

/* What stands between the back quotes of a role or a link: "text <target>" gives the text, "~a.b.c" gives c. */
static void add_quoted(const char *s, size_t n, bool role, fo_buf *out) {
    const char *open = NULL;
    if (n > 2 && s[n - 1] == '>')
        for (size_t i = n - 1; i > 0 && !open; i--)
            if (s[i] == '<') open = s + i;
    if (open && open > s) {
        n = (size_t)(open - s);
        while (n && s[n - 1] == ' ') n--;
    } else if (open) { /* "<https://example.org>": no more than its target */
        s++, n -= 2;
    } else if (role && n && *s == '~') {
        s++, n--;
        for (size_t i = n; i > 0; i--)
            if (s[i - 1] == '.') {
                s += i, n -= i;
                break;
            }
    } else if (role && n && *s == '!') {
        s++, n--;
    }
    for (size_t i = 0; i < n; i++)
        if (s[i] != '\\') fo_buf_char(out, s[i]);
}

/* ":ref:`" at s[at]: the length of what stands before the back quote, 0: no role. */
static size_t role_at(const char *s, size_t n, size_t at) {
    size_t i = at + 1;
    if (i >= n || !is_word(s[i])) return 0;
    while (i < n && i - at < 60 && (is_word(s[i]) || strchr("-_.+:", s[i]))) i++;
    return i < n && s[i] == '`' && s[i - 1] == ':' && i - at > 2 ? i - at : 0;
}

/* ":sup:" at s[at], behind the back quote: its length, 0: no role. */
static size_t role_behind(const char *s, size_t n, size_t at) {
    size_t i = at + 1;
    if (at >= n || s[at] != ':') return 0;
    while (i < n && is_word(s[i])) i++;
    return i > at + 1 && i < n && s[i] == ':' ? i + 1 - at : 0;
}

static void add_raised_mark(const char *role, size_t n_role, const char *raised, size_t n,
                            fo_buf *out) {
    if (fo_words_have("sup superscript", role, n_role))
        fo_buf_str(out, superscript_mark(out->data, out->len, raised, n, false));
}

static void add_substitution(const reader *r, const char *s, size_t n, fo_buf *out) {
    for (size_t i = 0; i < r->n_known; i++)
        if (r->known[i].n_name == n && !memcmp(r->known[i].name, s, n)) {
            fo_buf_add(out, r->known[i].value, r->known[i].n_value);
            return;
        }
    fo_buf_add(out, s, n);
}

/* Bytes of "[#]_", "[#name]_", "[*]_", a note that is numbered by what writes the page; 0: there is none. */
static size_t note_at(const char *s, size_t n) {
    size_t i = 2;
    if (n < 4 || s[0] != '[' || !strchr("#*", s[1])) return 0;
    while (s[1] == '#' && i < n && (is_word(s[i]) || strchr("-_.+:", s[i]))) i++;
    return i + 1 < n && s[i] == ']' && s[i + 1] == '_' ? i + 2 : 0;
}

static void strip(markup *m, const char *s, size_t n, fo_buf *out) {
    for (size_t at = 0; at < n;) {
        char c = s[at];
        bool starts = at == 0 || !is_word(s[at - 1]);
        size_t end;
        if (c == '\\' && at + 1 < n) {
            if (s[at + 1] != ' ') fo_buf_char(out, s[at + 1]);
            at += 2;
        } else if (c == '[' && (end = note_at(s + at, n - at))) {
            while (out->len && out->data[out->len - 1] == ' ') out->data[--out->len] = '\0';
            at += end;
        } else if (c == ':' && starts && (end = role_at(s, n, at)) &&
                   find_end(s, n, at + end, "`")) {
            size_t stop = find_end(s, n, at + end, "`");
            const char *quoted = s + at + end + 1;
            add_raised_mark(s + at + 1, end - 2, quoted, stop - at - end - 1, out);
            add_quoted(quoted, stop - at - end - 1, true, out);
            at = stop + 1;
        } else if (c == '`' && starts && at + 1 < n && s[at + 1] == '`' &&
                   (end = find_end(s, n, at + 1, "``"))) {
            fo_buf_add(out, s + at + 2, end - at - 2);
            at = end + 2;
        } else if (c == '`' && starts && (end = find_end(s, n, at, "`"))) {
            const char *quoted = s + at + 1;
            const size_t n_quoted = end - at - 1, role = role_behind(s, n, end + 1);
            if (role) add_raised_mark(s + end + 2, role - 2, quoted, n_quoted, out);
            add_quoted(quoted, n_quoted, false, out);
            for (at = end + 1 + role; at < n && s[at] == '_' && at < end + 3;) at++;
        } else if (c == '*' && starts && at + 1 < n && s[at + 1] == '*' &&
                   (end = find_end(s, n, at + 1, "**"))) {
            strip(m, s + at + 2, end - at - 2, out);
            at = end + 2;
        } else if (c == '*' && starts && at + 1 < n && s[at + 1] != ' ' && s[at + 1] != '*' &&
                   (end = find_end(s, n, at, "*"))) {
            strip(m, s + at + 1, end - at - 1, out);
            at = end + 1;
        } else if (c == '|' && starts && at + 1 < n && s[at + 1] != ' ' &&
                   (end = find_end(s, n, at, "|"))) {
            add_substitution(m->ctx, s + at + 1, end - at - 1, out);
            for (at = end + 1; at < n && s[at] == '_';) at++;
        } else if (c == '_' && at && (is_word(s[at - 1]) || s[at - 1] == ']') &&
                   (at + 1 == n || (s[at + 1] != '_' && !is_word(s[at + 1])))) {
            at++; /* a reference: word_ */
        } else if (c == '_' && at && is_word(s[at - 1]) && at + 1 < n && s[at + 1] == '_' &&
                   (at + 2 == n || !is_word(s[at + 2]))) {
            at += 2;
        } else {
            fo_buf_char(out, c);
            at++;
        }
    }
}

/* ---- sections ------------------------------------------------------------------------------------- */

static bool underlines(const text_line *rule, const text_line *title) {
    size_t n = fo_utf8_count(title->s, title->n);
    return rule->n >= n || rule->n >= 4;
}

static void section(reader *r, char style, const text_line *title) {
    uint8_t i = 0;
    while (i < r->n_styles && r->styles[i] != style) i++;
    if (i == r->n_styles && i < MAX_STYLES) r->styles[r->n_styles++] = style;
    r->level = (uint8_t)(i + 1 > 5 ? 5 : i + 1);
    markup_heading(&r->m, r->level, title->s + title->blanks, title->n - title->blanks);
}

/* Is the line a title, with the rule below it, or a rule with the title below that? Takes them. */
static bool take_section(reader *r, const text_line *l) {
    text_line next, after;
    char rule = rst_rule_of(l);
    bool more = text_lines_peek(&r->m.in, 0, &next) && next.n;
    if (!more) return false;
    if (rule && l->n >= 2 && text_lines_peek(&r->m.in, 1, &after) && rst_rule_of(&after) == rule &&
        !rst_rule_of(&next) && after.n == l->n && underlines(l, &next)) {
        text_line ignored;
        markup_next(&r->m, &next);
        section(r, (char)(rule | 0x80), &next);
        markup_next(&r->m, &ignored);
        return true;
    }
    rule = rst_rule_of(&next);
    if (!rule || l->blanks || rst_rule_of(l) || next.n < 2 || !underlines(&next, l)) return false;
    section(r, rule, l);
    markup_next(&r->m, &next);
    return true;
}

/* ---- directives ----------------------------------------------------------------------------------- */

/* Lines indented more than `indent` follow: as code, or nowhere. */
static void take_body(reader *r, size_t indent, bool code) {
    text_line l;
    text_lines before = r->m.in;
    bool options = true;
    while (markup_next(&r->m, &l)) {
        if (l.n && l.indent <= indent) {
            r->m.in = before;
            break;
        }
        options = options && l.n && rst_is_option(&l);
        if (code && !options) markup_code(&r->m, &l);
        before = r->m.in;
    }
    markup_code_end(&r->m);
}

/* The options of a directive (":name: value"), one of which may be prose. */
static void take_options(reader *r, size_t indent, const char *prose) {
    text_line l;
    while (text_lines_peek(&r->m.in, 0, &l) && l.n && l.indent > indent && rst_is_option(&l)) {
        markup_next(&r->m, &l);
        const char *name = l.s + l.blanks + 1, *end = memchr(name, ':', l.n - l.blanks - 1);
        if (!prose || strlen(prose) != (size_t)(end - name) ||
            memcmp(name, prose, strlen(prose)) != 0)
            continue;
        markup_open(&r->m, TEXT_PARAGRAPH, 0);
        markup_words(&r->m, end + 1, (size_t)(l.s + l.n - end - 1));
        markup_close(&r->m);
    }
}

/* ".. name:: arguments", its options and body. */
static void read_directive(reader *r, const text_line *l, const char *name, size_t n_name,
                           const char *arg) {
    static const char code[] =
        "code code-block sourcecode parsed-literal math prompt doctest testcode testoutput "
        "productionlist graphviz";
    static const char dropped[] = "toctree contents include literalinclude raw highlight "
                                  "currentmodule module meta index default-role sectnum "
                                  "tabularcolumns testsetup testcleanup autosummary sectionauthor "
                                  "moduleauthor codeauthor default-domain "
                                  "ifconfig target-notes header footer role unicode date";
    static const char with_caption[] = "image figure";
    static const char labels[] = "versionadded versionchanged deprecated versionremoved";
    static const char objects[] = "function class method attribute data exception staticmethod "
                                  "classmethod decorator option envvar confval "
                                  "property type macro struct member enum enumerator var program "
                                  "cmdoption opcode pdbcommand rubric topic "
                                  "sidebar admonition object directive describe";
    markup *m = &r->m;
    const char *colon = NULL; /* py:function is a function */
    for (size_t i = 0; i < n_name; i++)
        if (name[i] == ':') colon = name + i;
    const char *base = colon ? colon + 1 : name;
    size_t n_base = n_name - (size_t)(base - name), n_arg = (size_t)(l->s + l->n - arg);
    while (n_arg && *arg == ' ') arg++, n_arg--;
    markup_close(m);
    if (fo_words_have(dropped, base, n_base)) return take_body(r, l->indent, false);
    if (fo_words_have(code, base, n_base)) {
        if (n_base == 4 && !memcmp(base, "math", 4) && n_arg) markup_words(m, arg, n_arg);
        markup_close(m);
        return take_body(r, l->indent, true);
    }
    if (n_base == 9 && !memcmp(base, "csv-table", 9)) {
        if (n_arg) markup_words(m, arg, n_arg);
        return rst_read_csv_table(m, l->indent);
    }
    if (n_base == 10 && !memcmp(base, "list-table", 10)) {
        if (n_arg) markup_words(m, arg, n_arg);
        return rst_read_list_table(m, l->indent);
    }
    if (fo_words_have(with_caption, base, n_base)) return take_options(r, l->indent, "alt");
    if (fo_words_have(labels, base, n_base)) {
        markup_open(m, TEXT_PARAGRAPH, 0);
        markup_words(m,
                     *base == 'd'     ? "Deprecated since version"
                     : base[7] == 'a' ? "New in version"
                     : base[7] == 'c' ? "Changed in version"
                                      : "Removed in version",
                     *base == 'd'     ? 24
                     : base[7] == 'a' ? 14
                                      : 18);
        markup_words(m, arg, n_arg);
        text_line next;
        if (!text_lines_peek(&m->in, 0, &next) || !next.n) markup_close(m);
        return;
    }
    if (fo_words_have(objects, base, n_base) && n_arg) {
        markup_open(m, TEXT_HEADING, (uint8_t)(r->level < 5 ? r->level + 1 : 6));
        markup_words(m, arg, n_arg);
        text_line next; /* signatures of one object stand below each other */
        while (text_lines_peek(&m->in, 0, &next) && next.n && next.indent > l->indent &&
               !rst_is_option(&next) && arg[n_arg - 1] == '\\') {
            markup_next(m, &next);
            markup_words(m, next.s + next.blanks, next.n - next.blanks);
        }
        markup_close(m);
        return take_options(r, l->indent, NULL);
    }
    /* Notes, warnings and the like: what they say is prose, and so it is with those nobody knows. */
    take_options(r, l->indent, NULL);
    if (n_arg && !(n_base == 4 && !memcmp(base, "only", 4))) markup_words(m, arg, n_arg);
}

/* ".. " at the line's beginning: a directive, a note, a target, a comment. */
static void read_explicit(reader *r, const text_line *l) {
    const char *s = l->s + l->blanks + 2, *end = l->s + l->n;
    while (s < end && *s == ' ') s++;
    if (s < end && *s == '|') { /* .. |name| replace:: text */
        markup_close(&r->m);
        return take_body(r, l->indent, false);
    }
    if (s < end && *s == '[') { /* .. [1] a footnote; "[#]" is no number that a reader sees */
        const char *close = memchr(s, ']', (size_t)(end - s));
        markup_open(&r->m, TEXT_PARAGRAPH, 0);
        if (close && end - s > 2 && strchr("#*", s[1]))
            for (s = close + 1; s < end && *s == ' ';) s++;
        return markup_words(&r->m, s, (size_t)(end - s));
    }
    const char *p = s;
    while (p < end &&
           (is_word(*p) || strchr("-_+.", *p) || (*p == ':' && p + 1 < end && p[1] != ':')))
        p++;
    if (p > s && end - p >= 2 && p[0] == ':' && p[1] == ':')
        return read_directive(r, l, s, (size_t)(p - s), p + 2);
    markup_close(&r->m);
    take_body(r, l->indent, false);
}

/* ---- blocks --------------------------------------------------------------------------------------- */

/* Bytes of a list's mark at the line's text: "- ", "1. ", "(a) ", "#. "; 0: none. */
static size_t list_mark(const text_line *l) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, i = 0;
    if (n > 1 && strchr("-*+", *s) && s[1] == ' ') return 1;
    if (n > 3 && (!memcmp(s, "\xE2\x80\xA2", 3) || !memcmp(s, "\xE2\x80\xA3", 3)) && s[3] == ' ')
        return 3;
    bool bracket = s[0] == '(';
    i += bracket;
    if (i < n && s[i] == '#')
        i++;
    else {
        size_t digits = i;
        while (i < n && i - digits < 3 && s[i] >= '0' && s[i] <= '9') i++;
        if (i == digits && i < n && ((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z')))
            i++;
        if (i == digits) return 0;
    }
    if (i + 1 >= n || (bracket ? s[i] != ')' : s[i] != '.' && s[i] != ')') || s[i + 1] != ' ')
        return 0;
    return i + 1;
}

/* ":name: value" at the line's text: bytes of the name with its colons; 0: none. */
static size_t field_name(const text_line *l) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks;
    if (n < 3 || s[0] != ':' || !is_word(s[1])) return 0;
    for (size_t i = 2; i < n && i < 60; i++) {
        if (s[i] == '`') return 0;
        if (s[i] == ':' && (i + 1 == n || s[i + 1] == ' ')) return i + 1;
    }
    return 0;
}

/* A code block behind "::", indented or quoted. */
static void take_literal(reader *r, size_t indent) {
    text_line l;
    text_lines ahead = r->m.in;
    while (text_lines_next(&ahead, &l) && !l.n) {
    }
    if (l.n && l.indent > indent) return take_body(r, indent, true);
    char quote = l.n > l.blanks ? l.s[l.blanks] : 0;
    if (!quote || is_word(quote)) return;
    for (text_lines before = r->m.in; markup_next(&r->m, &l); before = r->m.in) {
        if (l.n && l.s[l.blanks] != quote) {
            r->m.in = before;
            break;
        }
        if (!l.n && r->m.in_code) break;
        markup_code(&r->m, &l);
    }
    markup_code_end(&r->m);
}

/* The end of a paragraph that says "::": what follows is code. False: the paragraph goes on. */
static bool ends_literal(reader *r, const text_line *l, size_t indent) {
    text_line next;
    if (l->n < 2 || memcmp(l->s + l->n - 2, "::", 2) != 0) return false;
    if (text_lines_peek(&r->m.in, 0, &next) && next.n) return false;
    size_t n = l->n - l->blanks - 2;
    if (n) markup_words(&r->m, l->s + l->blanks, n + 1); /* one colon stays */
    if (n && r->m.words.len > 1 && r->m.words.data[r->m.words.len - 2] == ' ') {
        r->m.words.len -= 2; /* "text ::" has none */
        r->m.words.data[r->m.words.len] = 0;
    }
    markup_close(&r->m);
    take_literal(r, indent);
    return true;
}

static void add_text(reader *r, const text_line *l, size_t indent) {
    if (!ends_literal(r, l, indent)) markup_words(&r->m, l->s + l->blanks, l->n - l->blanks);
}

/* A paragraph begins with this line: an item, a field, a term, a doctest, or words. */
static void begin_paragraph(reader *r, const text_line *l) {
    markup *m = &r->m;
    text_line next;
    size_t mark = list_mark(l), field = mark ? 0 : field_name(l), skip;
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks;
    if (n > 3 && !memcmp(s, ">>> ", 4)) {
        text_line code = *l;
        do markup_code(m, &code);
        while (text_lines_peek(&m->in, 0, &code) && code.n && markup_next(m, &code));
        return markup_code_end(m);
    }
    if (mark) {
        for (skip = mark; skip < n && s[skip] == ' ';) skip++;
        markup_item(m, s, mark, "", 0);
        text_line rest = {.s = s + skip, .n = n - skip};
        return add_text(r, &rest, l->indent);
    }
    if (field) {
        markup_open(m, TEXT_PARAGRAPH, 0);
        markup_words(m, s + 1, field - 2);
        fo_buf_char(&m->words, ':');
        if (n > field) markup_words(m, s + field + 1, n - field - 1);
        return;
    }
    if (n > 1 && s[0] == '|' && s[1] == ' ') { /* a line block keeps its lines */
        markup_open(m, TEXT_PARAGRAPH, 0);
        return markup_words(m, s + 2, n - 2);
    }
    bool term = text_lines_peek(&m->in, 0, &next) && next.n && next.indent > l->indent &&
                !(l->n > 1 && !memcmp(l->s + l->n - 2, "::", 2));
    markup_open(m, term ? TEXT_LIST_ITEM : TEXT_PARAGRAPH, 0);
    if (!term) return add_text(r, l, l->indent);
    markup_words(m, s, n);
    fo_buf_char(&m->words, ':');
}

/* ".. |name| replace:: text": known before the text is read, which may use it first. */
static void find_substitutions(reader *r) {
    text_lines lines = r->m.in;
    text_line l;
    while (text_lines_next(&lines, &l) && r->n_known < MAX_SUBSTITUTIONS &&
           builder_go_on(r->m.b, l.n)) {
        const char *s = l.s + l.blanks, *bar;
        size_t n = l.n - l.blanks;
        if (n < 8 || memcmp(s, ".. |", 4) != 0 || !(bar = memchr(s + 4, '|', n - 4))) continue;
        const char *mark = memmem(bar, (size_t)(s + n - bar), " replace:: ", 11);
        if (mark != bar + 1) continue;
        r->known[r->n_known++] =
            (substitution){s + 4, mark + 11, (size_t)(bar - s - 4), (size_t)(s + n - mark - 11)};
    }
}

static void read_blocks(reader *r) {
    markup *m = &r->m;
    text_line l;
    size_t indent = 0; /* of the open paragraph's last line */
    while (markup_next(m, &l)) {
        const char *s = l.s + l.blanks;
        size_t n = l.n - l.blanks;
        if (!n) {
            markup_close(m);
            continue;
        }
        bool fresh = !m->open || l.indent < indent;
        indent = l.indent;
        if (n >= 2 && s[0] == '.' && s[1] == '.' && (n == 2 || s[2] == ' ')) {
            read_explicit(r, &l);
        } else if (n >= 3 && s[0] == '_' && s[1] == '_' && s[2] == ' ') {
            markup_close(m); /* an anonymous target */
        } else if (rst_is_grid(&l) && !m->open) {
            rst_read_grid(m, &l);
        } else if (rst_is_simple(&l) && !m->open) {
            rst_read_simple(m, &l);
        } else if (!m->open && take_section(r, &l)) {
            indent = 0;
        } else if (!m->open && rst_rule_of(&l) && n >= 4) {
            continue; /* a line across the page */
        } else if (fresh || list_mark(&l) || field_name(&l) ||
                   (n > 1 && s[0] == '|' && s[1] == ' ')) {
            begin_paragraph(r, &l);
        } else {
            add_text(r, &l, l.indent);
        }
    }
}

int extract_rst(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        reader r = {
            .m = {.b = b, .in = {.s = text.data, .n = text.len}, .strip = strip, .ctx = &r}};
        find_substitutions(&r);
        read_blocks(&r);
        markup_end(&r.m);
    }
    extract_drop(b, &text);
    return rc;
}
