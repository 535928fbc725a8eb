/* AsciiDoc: sections, lists, terms, tables, delimited blocks; attributes are filled in, macros give the text in
 * them, comments, conditions and includes are dropped. Source: the AsciiDoc language description (Eclipse), and
 * the two-line titles of the older asciidoc. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/markup.h"
#include "data/extract/superscript.h"
#include "kernels/utf8.h"

enum { MAX_ATTRIBUTES = 64, MAX_VALUE = 200 };

typedef struct attribute {
    char *name, *value;
} attribute;

typedef struct reader {
    markup m;
    attribute attributes[MAX_ATTRIBUTES];
    size_t n_attributes;
    bool code;       /* the next block is listing: [source] */
    bool header_row; /* the next table says that it has a header */
    bool csv;
    size_t columns; /* of the next table; 0: not said */
    bool begun;     /* past the document's header */
} reader;

/* ---- marks in a line ------------------------------------------------------------------------------ */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static bool begins(const char *s, size_t n, const char *with) {
    size_t k = strlen(with);
    return n >= k && memcmp(s, with, k) == 0;
}

static const char *value_of(const reader *r, const char *name, size_t n) {
    static const char *const known[][2] = {
        {"nbsp", " "},  {"sp", " "},          {"empty", ""},
        {"plus", "+"},  {"amp", "&"},         {"lt", "<"},
        {"gt", ">"},    {"startsb", "["},     {"endsb", "]"},
        {"vbar", "|"},  {"asterisk", "*"},    {"backtick", "`"},
        {"caret", "^"}, {"tilde", "~"},       {"apos", "'"},
        {"quot", "\""}, {"backslash", "\\"},  {"zwsp", ""},
        {"blank", ""},  {"two-colons", "::"}, {"two-semicolons", ";;"},
        {"cpp", "C++"}};
    for (size_t i = r->n_attributes; i > 0; i--)
        if (strlen(r->attributes[i - 1].name) == n &&
            !strncasecmp(r->attributes[i - 1].name, name, n))
            return r->attributes[i - 1].value;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i][0]) == n && !memcmp(known[i][0], name, n)) return known[i][1];
    return NULL;
}

/* The end of a pair's second mark in s[from..n): no blank before it, no letter behind it where it is one sign. */
static size_t pair_end(const char *s, size_t n, size_t from, const char *mark) {
    size_t k = strlen(mark), most = from + 2000 < n ? from + 2000 : n;
    for (size_t at = from + 1; at + k <= most; at++)
        if (memcmp(s + at, mark, k) == 0 && s[at - 1] != ' ' &&
            (k > 1 || at + k == n || (!is_word(s[at + k]) && s[at + k] != *mark)))
            return at;
    return 0;
}

/* name:target[text] at s[at]; gives where the brackets are. */
typedef struct macro {
    size_t name, target, open,
        close; /* bytes of the name; where the target begins; of the brackets */
} macro;

static bool macro_at(const char *s, size_t n, size_t at, macro *x) {
    size_t i = at, most = at + 1500 < n ? at + 1500 : n;
    while (i < most && is_word(s[i])) i++;
    if (i == at || i >= most || s[i] != ':') return false;
    x->name = i - at;
    while (i < most && s[i] == ':') i++;
    x->target = i;
    while (i < most && s[i] != '[' && s[i] != ' ') i++;
    if (i >= most || s[i] != '[') return false;
    x->open = i;
    int depth = 0;
    for (; i < most; i++) {
        if (s[i] == '\\')
            i++;
        else if (s[i] == '[')
            depth++;
        else if (s[i] == ']' && --depth == 0)
            break;
    }
    x->close = i;
    return i < most;
}

static void strip_within(markup *m, const char *s, size_t n, fo_buf *out, int depth);

/* What a macro says: its text, else its target where that is an address. False: it is none that is known. */
static bool add_macro(markup *m, const char *s, size_t at, const macro *x, fo_buf *out, int depth) {
    const char *name = s + at, *text = s + x->open + 1;
    size_t n = x->name, n_text = x->close - x->open - 1, n_target = x->open - x->target;
    static const char *const addresses[] = {"http",   "https", "ftp", "irc",
                                            "mailto", "link",  "xref"};
    static const char *const texts[] = {"kbd",  "btn",  "footnote",  "footnoteref",
                                        "pass", "stem", "latexmath", "asciimath"};
    static const char *const silent[] = {"anchor", "indexterm", "include", "toc",
                                         "video",  "audio",     "bibitem", "ifdef",
                                         "ifndef", "endif",     "ifeval"};
    for (size_t i = 0; i < 11; i++)
        if (strlen(silent[i]) == n && !memcmp(silent[i], name, n)) return true;
    bool address = false, plain = false,
         image = begins(name, n, "image") || begins(name, n, "icon"),
         menu = begins(name, n, "menu") && n == 4;
    for (size_t i = 0; i < 7; i++)
        address = address || (strlen(addresses[i]) == n && !memcmp(addresses[i], name, n));
    for (size_t i = 0; i < 8; i++)
        plain = plain || (strlen(texts[i]) == n && !memcmp(texts[i], name, n));
    bool foot = begins(name, n, "footnote");
    if (!address && !plain && !image && !menu && !(begins(name, n, "indexterm2"))) return false;
    if (address || image) { /* the first of several values is the text: "text,window=_blank" */
        const char *comma = memchr(text, ',', n_text);
        if (n_text && *text == '"') {
            const char *quote = memchr(text + 1, '"', n_text - 1);
            text++;
            n_text = quote ? (size_t)(quote - text) : n_text - 1;
        } else if (comma && memchr(comma, '=', n_text - (size_t)(comma - text))) {
            n_text = (size_t)(comma - text);
        } else if (image && comma) {
            n_text = (size_t)(comma - text);
        }
        if (image && memchr(text, '=', n_text)) n_text = 0;
        if (n_text && text[n_text - 1] == '^') n_text--;
    }
    if (menu) {
        fo_buf_add(out, s + x->target, n_target);
        if (n_text) fo_buf_str(out, " > ");
    }
    if (foot) fo_buf_str(out, " (");
    if (n_text)
        strip_within(m, text, n_text, out, depth + 1);
    else if (address && begins(name, n, "link"))
        fo_buf_add(out, s + x->target, n_target);
    else if (address && !begins(name, n, "xref"))
        fo_buf_add(out, name, x->open - at);
    else if (begins(name, n, "xref"))
        fo_buf_add(out, s + x->target, n_target);
    if (foot) fo_buf_char(out, ')');
    return true;
}

/* "<<target,text>>" or "[[anchor]]" at s[at]: its end, 0 where there is none. */
static size_t bracketed(const char *s, size_t n, size_t at, const char *close) {
    const char *end = memmem(s + at + 2, n - at - 2 < 300 ? n - at - 2 : 300, close, 2);
    return end ? (size_t)(end - s) : 0;
}

static void add_raised_mark(const char *raised, size_t n, fo_buf *out) {
    fo_buf_str(out, superscript_mark(out->data, out->len, raised, n, false));
}

static void strip_within(markup *m, const char *s, size_t n, fo_buf *out, int depth) {
    const reader *r = m->ctx;
    for (size_t at = 0; at < n;) {
        char c = s[at];
        bool starts = at == 0 || !is_word(s[at - 1]);
        size_t end;
        macro x;
        if (depth > 8) {
            fo_buf_add(out, s + at, n - at);
            return;
        }
        if (c == '\\' && at + 1 < n && strchr("*_`#^~+{<[:\\", s[at + 1])) {
            fo_buf_char(out, s[at + 1]);
            at += 2;
        } else if (c == '{' && (end = pair_end(s, n, at, "}")) &&
                   value_of(r, s + at + 1, end - at - 1)) {
            fo_buf_str(out, value_of(r, s + at + 1, end - at - 1));
            at = end + 1;
        } else if (c == '<' && at + 4 < n && s[at + 1] == '<' &&
                   (end = bracketed(s, n, at, ">>"))) {
            const char *comma = memchr(s + at, ',', end - at),
                       *from = comma ? comma + 1 : s + at + 2;
            strip_within(m, from, (size_t)(s + end - from), out, depth + 1);
            at = end + 2;
        } else if (c == '[' && at + 3 < n && s[at + 1] == '[' &&
                   (end = bracketed(s, n, at, "]]"))) {
            at = end + 2;
        } else if (c == '(' && at + 3 < n && s[at + 1] == '(' &&
                   (end = bracketed(s, n, at, "))"))) {
            bool hidden =
                s[at + 2] == '('; /* ((term)) is shown, (((a,b))) is for the index alone */
            if (!hidden) strip_within(m, s + at + 2, end - at - 2, out, depth + 1);
            at = end + 2 + (hidden && end + 2 < n && s[end + 2] == ')');
        } else if (starts && is_word(c) && macro_at(s, n, at, &x) &&
                   add_macro(m, s, at, &x, out, depth)) {
            at = x.close + 1;
        } else if (c == '[' && starts && memchr(s + at, ']', n - at < 60 ? n - at : 60) &&
                   (end = (size_t)((const char *)memchr(s + at, ']', n - at) - s)) && end + 1 < n &&
                   s[end + 1] == '#') {
            at = end + 1; /* [.role]#text# */
        } else if (strchr("*_`#+^~", c) && at + 1 < n && s[at + 1] == c &&
                   (end = pair_end(s, n, at + 1, (char[]){c, c, 0}))) {
            if (c == '^') add_raised_mark(s + at + 2, end - at - 2, out);
            strip_within(m, s + at + 2, end - at - 2, out, depth + 1);
            at = end + 2;
        } else if (strchr("*_`#+", c) && starts && at + 1 < n && s[at + 1] != ' ' &&
                   s[at + 1] != c && (end = pair_end(s, n, at, (char[]){c, 0}))) {
            if (c == '+')
                fo_buf_add(out, s + at + 1, end - at - 1);
            else
                strip_within(m, s + at + 1, end - at - 1, out, depth + 1);
            at = end + 1;
        } else if ((c == '^' || c == '~') && at + 1 < n && s[at + 1] != ' ' &&
                   (end = pair_end(s, n, at, (char[]){c, 0})) && !memchr(s + at, ' ', end - at)) {
            if (c == '^') add_raised_mark(s + at + 1, end - at - 1, out);
            fo_buf_add(out, s + at + 1, end - at - 1);
            at = end + 1;
        } else {
            fo_buf_char(out, c);
            at++;
        }
    }
}

static void strip(markup *m, const char *s, size_t n, fo_buf *out) {
    if (n > 2 && s[n - 1] == '+' && s[n - 2] == ' ') n -= 2; /* a break of lines */
    strip_within(m, s, n, out, 0);
}

/* ---- attributes ----------------------------------------------------------------------------------- */

/* ":name: value" is kept to be filled in. */
static bool take_attribute(reader *r, const text_line *l) {
    if (l->n < 3 || l->s[0] != ':' || (!is_word(l->s[1]) && l->s[1] != '!')) return false;
    size_t i = 1;
    while (i < l->n && (is_word(l->s[i]) || strchr("-_!", l->s[i]))) i++;
    if (i == l->n || l->s[i] != ':') return false;
    size_t from = i + 1;
    while (from < l->n && l->s[from] == ' ') from++;
    if (r->n_attributes < MAX_ATTRIBUTES && i < 60 && l->n - from <= MAX_VALUE) {
        attribute a = {strndup(l->s + 1, i - 1), strndup(l->s + from, l->n - from)};
        if (a.name && a.value) {
            r->attributes[r->n_attributes++] = a;
        } else {
            free(a.name);
            free(a.value);
            r->m.b->failure = FO_ENOMEM;
        }
    }
    text_line next; /* a value may go on behind a backslash */
    while (l->s[l->n - 1] == '\\' && text_lines_peek(&r->m.in, 0, &next) && next.n &&
           markup_next(&r->m, &next))
        *(text_line *)l = next;
    return true;
}

static bool says(const text_line *l, const char *word) {
    return memmem(l->s, l->n, word, strlen(word)) != NULL;
}

/* "[source,c]", "[cols="1,2",options="header"]": of the block that follows. */
static void read_block_attributes(reader *r, const text_line *l) {
    r->code = says(l, "[source") || says(l, "[listing") || says(l, "[literal") || says(l, "[,") ||
              says(l, "[stem") || says(l, "[latexmath");
    r->header_row = says(l, "%header") || says(l, "\"header") || says(l, "options=header") ||
                    says(l, "opts=header") || says(l, ",header");
    r->csv = says(l, "format=csv") || says(l, "format=\"csv\"");
    const char *cols = memmem(l->s, l->n, "cols=", 5), *end = l->s + l->n;
    if (!cols) return;
    cols += 5;
    char stop = cols < end && *cols == '"' ? '"' : ',';
    cols += stop == '"';
    size_t count = 0, repeat = 0;
    for (const char *p = cols; p < end && *p != stop && *p != ']'; p++) {
        if (*p >= '0' && *p <= '9' && repeat < 100)
            repeat = repeat * 10 + (size_t)(*p - '0');
        else if (*p == '*')
            count += repeat ? repeat - 1 : 0, repeat = 0;
        else
            repeat = 0;
        if (*p == ',' || *p == ';' || p == cols) count++;
    }
    r->columns = count;
}

/* ---- tables --------------------------------------------------------------------------------------- */

typedef struct cell_spec { /* what stands before a cell's bar: "2.3+" or "4*" */
    uint32_t wide, high, copies;
} cell_spec;

static const cell_spec plain = {1, 1, 1};

typedef struct table {
    reader *r;
    fo_buf cell;
    cell_spec spec;         /* of the open cell */
    size_t column, columns; /* columns 0: those of the first line */
    bool open, header;
    size_t n_rows;
} table;

static void end_row(table *t) {
    if (t->column) markup_row_end(&t->r->m, t->header && !t->n_rows);
    t->n_rows += t->column > 0;
    t->column = 0;
}

/* Columns in which a cell of a row above goes on have none of this row. */
static void pass_covered(table *t) {
    while (t->column < t->columns && markup_covered(&t->r->m, (uint32_t)t->column)) t->column++;
    if (t->columns && t->column >= t->columns) end_row(t);
}

static void put_cell(table *t) {
    const size_t left = t->columns ? t->columns - t->column : t->spec.wide;
    const uint32_t wide = t->spec.wide < left ? t->spec.wide : (uint32_t)left;
    markup_cell_over(&t->r->m, (uint32_t)t->column, wide, t->spec.high,
                     t->cell.data ? t->cell.data : "", t->cell.len);
    t->column += wide;
}

static void end_cell(table *t) {
    if (!t->open) return;
    if (t->cell.failed) t->r->m.b->failure = FO_ENOMEM;
    for (uint32_t i = 0; i < t->spec.copies && !t->r->m.b->failure; i++) {
        size_t row;
        do { /* a row may be covered whole */
            row = t->n_rows;
            pass_covered(t);
        } while (row != t->n_rows);
        put_cell(t);
        pass_covered(t);
    }
    fo_buf_clear(&t->cell);
    t->spec = plain;
    t->open = false;
}

static void add_words(table *t, const char *s, size_t n) {
    while (n && (*s == ' ' || *s == '\t')) s++, n--;
    while (n && s[n - 1] == ' ') n--;
    if (n && t->cell.len) fo_buf_char(&t->cell, ' ');
    fo_buf_add(&t->cell, s, n);
}

/* What stands before a '|' may say how its cell goes on and looks: "2+", "a", ".3+^.>s". It stands apart from the words
 * of the cell before, and digits without a sign behind them are such words. */
static size_t spec_before(const char *s, size_t from, size_t end) {
    size_t at = end;
    if (at > from && strchr("aehlmdsv", s[at - 1])) at--;
    if (at > from && strchr("<^>", s[at - 1])) at--;
    if (at > from && at < end && strchr("<^>", s[at]) && s[at - 1] == '.') {
        at--;
        if (at > from && strchr("<^>", s[at - 1])) at--;
    }
    size_t sign = at;
    if (sign > from && (s[sign - 1] == '+' || s[sign - 1] == '*')) {
        for (sign--; sign > from && (fo_is_digit(s[sign - 1]) || s[sign - 1] == '.');) sign--;
        if (sign + 1 == at) return end;
        at = sign;
    }
    return !at || s[at - 1] == ' ' || s[at - 1] == '\t' ? at : end;
}

static cell_spec read_spec(const char *s, size_t n) {
    enum { MOST_COPIES = 99, MOST_ROWS = 9999 };
    cell_spec spec = plain;
    uint32_t number[2] = {0, 0}; /* before and behind the point */
    for (size_t i = 0, part = 0; i < n; i++) {
        if (s[i] == '.') {
            part = 1;
        } else if (fo_is_digit(s[i])) {
            number[part] = number[part] * 10 + (uint32_t)(s[i] - '0');
            if (number[part] > MOST_ROWS) number[part] = MOST_ROWS;
        } else {
            if (s[i] == '*' && number[0])
                spec.copies = number[0] < MOST_COPIES ? number[0] : MOST_COPIES;
            if (s[i] == '+' && number[0]) spec.wide = number[0];
            if (s[i] == '+' && number[1]) spec.high = number[1];
            break;
        }
    }
    return spec;
}

static void read_cells(table *t, const text_line *l) {
    size_t from = 0;
    for (size_t i = 0; i <= l->n; i++) {
        bool bar = i < l->n && l->s[i] == '|' && !(i && l->s[i - 1] == '\\');
        if (!bar && i < l->n) continue;
        size_t stop = bar ? spec_before(l->s, from, i) : i;
        if (t->open) add_words(t, l->s + from, stop - from);
        if (!bar) break;
        end_cell(t);
        if (!t->r->m.row_line) t->r->m.row_line = t->r->m.in.number;
        t->open = true;
        t->spec = read_spec(l->s + stop, i - stop);
        from = i + 1;
    }
}

static void read_csv(table *t, const text_line *l, char separator) {
    bool quoted = false;
    t->open = true;
    t->r->m.row_line = t->r->m.in.number;
    for (size_t i = 0; i < l->n; i++) {
        char c = l->s[i];
        if (c == '"') {
            if (quoted && i + 1 < l->n && l->s[i + 1] == '"')
                fo_buf_char(&t->cell, '"'), i++;
            else
                quoted = !quoted;
        } else if (c == separator && !quoted) {
            end_cell(t);
            t->open = true;
        } else {
            fo_buf_char(&t->cell, c);
        }
    }
    end_cell(t);
    end_row(t);
}

static void read_table(reader *r, const text_line *top) {
    table t = {.r = r, .spec = plain, .columns = r->columns, .header = r->header_row};
    char separator = top->s[0] == ',' || r->csv ? ',' : top->s[0] == ':' ? ':' : 0;
    text_line l, next;
    size_t lines = 0;
    markup_table(&r->m);
    while (markup_next(&r->m, &l)) {
        if (l.n >= 4 && l.s[0] == top->s[0] && !memcmp(l.s + 1, "===", 3)) break;
        if (!l.n) continue;
        if (separator) {
            t.columns = 0;
            read_csv(&t, &l, separator);
            continue;
        }
        if (begins(l.s, l.n, "//")) continue;
        read_cells(&t, &l);
        bool blank = text_lines_peek(&r->m.in, 0, &next) && !next.n;
        if (!lines++ && !t.columns) { /* the first line has all of the columns */
            end_cell(&t);
            t.columns = t.column;
            if (blank) t.header = true;
            end_row(&t);
        } else if (lines == 1 && blank &&
                   t.column + (size_t)t.spec.wide * t.spec.copies == t.columns) {
            t.header = true;
        }
    }
    end_cell(&t);
    end_row(&t);
    fo_buf_free(&t.cell);
    r->columns = 0;
    r->header_row = r->csv = false;
}

/* ---- blocks --------------------------------------------------------------------------------------- */

/* A line of at least four of one sign: what delimits a block. 0: none. */
static char delimiter(const text_line *l) {
    if (l->blanks) return 0;
    if (l->n == 2 && !memcmp(l->s, "--", 2)) return 'o';
    if (begins(l->s, l->n, "```")) return '`';
    if (l->n < 4 || !strchr("-.=*_/+", l->s[0])) return 0;
    for (size_t i = 1; i < l->n; i++)
        if (l->s[i] != l->s[0]) return 0;
    return l->s[0];
}

static bool same(const text_line *a, const text_line *b) {
    return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
}

/* To the line that ends the block as it began: as code, or nowhere. */
static void take_delimited(reader *r, const text_line *top, bool code) {
    text_line l, end = *top;
    if (top->s[0] == '`') end.n = 3;
    markup_close(&r->m);
    while (markup_next(&r->m, &l) && !same(&l, &end))
        if (code) markup_code(&r->m, &l);
    markup_code_end(&r->m);
}

/* The sections of the older form: a line of ==== ---- ~~~~ ^^^^ ++++ below the title, as long as it. */
static uint8_t two_line_title(const text_line *l, const text_line *next) {
    static const char signs[] = "=-~^+";
    if (l->blanks || l->n < 2 || next->n < 3 || next->blanks || !is_word(l->s[0])) return 0;
    const char *sign = strchr(signs, next->s[0]);
    if (!sign || strspn(next->s, (char[]){*sign, 0}) < next->n) return 0;
    size_t n = fo_utf8_count(l->s, l->n), d = n > next->n ? n - next->n : next->n - n;
    return d <= 2 ? (uint8_t)(sign - signs + 1) : 0;
}

/* Bytes of a list's mark: "* ", "-- ", "1. ", ".. ", "<1> "; 0: none. */
static size_t list_mark(const text_line *l) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, i = 0;
    if (!n) return 0;
    if (strchr("*.-", *s))
        while (i < n && i < 6 && s[i] == *s) i++;
    else if (n > 3 && !memcmp(s, "\xE2\x80\xA2", 3))
        i = 3;
    else if (*s == '<') {
        i = 1 + strspn(s + 1, "0123456789.");
        i = i > 1 && i < n && s[i] == '>' ? i + 1 : 0;
    } else {
        while (i < n && i < 4 && s[i] >= '0' && s[i] <= '9') i++;
        i = i && i < n && (s[i] == '.' || s[i] == ')') ? i + 1 : 0;
    }
    return i && i < n && s[i] == ' ' && !(*s == '-' && i > 1) ? i : 0;
}

/* "term::", maybe with its text behind it: where the colons begin; 0: none. */
static size_t term_mark(const text_line *l, size_t *after) {
    for (size_t i = l->blanks + 1; i + 1 < l->n; i++) {
        bool mark =
            (l->s[i] == ':' && l->s[i + 1] == ':') || (l->s[i] == ';' && l->s[i + 1] == ';');
        if (!mark || l->s[i - 1] == ' ') continue;
        size_t end = i;
        while (end < l->n && l->s[end] == l->s[i]) end++;
        if (end - i > 4 || (end < l->n && l->s[end] != ' ')) {
            i = end;
            continue;
        }
        *after = end;
        return i;
    }
    return 0;
}

static void read_item(reader *r, const text_line *l, size_t mark) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, at = mark;
    while (at < n && s[at] == ' ') at++;
    if (n - at > 4 && s[at] == '[' && s[at + 2] == ']' && s[at + 3] == ' ' && s[at + 1] == ' ')
        at += 4; /* to be done */
    markup_item(&r->m, s, mark, s + at, n - at);
}

static void section(reader *r, uint8_t level, const char *s, size_t n) {
    while (n && *s == ' ') s++, n--;
    while (n && (s[n - 1] == '=' || s[n - 1] == ' ')) n--; /* "== Title ==" */
    markup_heading(&r->m, level, s, n);
    r->code = false;
}

/* Author and revision below the title are prose; attributes are not. */
static void read_line(reader *r, text_line *l) {
    markup *m = &r->m;
    text_line next;
    size_t mark, after;
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks;
    char d = delimiter(l);
    bool more = text_lines_peek(&m->in, 0, &next);
    uint8_t level = !m->open && more ? two_line_title(l, &next) : 0;
    if (level) {
        section(r, level, s, n);
        markup_next(m, &next);
    } else if (d == '/') {
        take_delimited(r, l, false);
    } else if (d == '-' || d == '.' || d == '`') {
        take_delimited(r, l, true);
        r->code = false;
    } else if (d == '+') {
        take_delimited(r, l, r->code);
        r->code = false;
    } else if (d) { /* examples, quotes, open blocks: what is in them is prose */
        if (r->code && d == 'o')
            take_delimited(r, l, true);
        else
            markup_close(m);
        r->code = false;
    } else if (!l->blanks && n >= 4 && strchr("|,:!", s[0]) && !memcmp(s + 1, "===", 3)) {
        read_table(r, l);
    } else if (!l->blanks && n > 1 && s[0] == '/' && s[1] == '/') {
        return; /* a comment parts nothing */
    } else if (!l->blanks && take_attribute(r, l)) {
        markup_close(m);
    } else if (!l->blanks && s[0] == '[' && s[n - 1] == ']' &&
               !(n > 2 && s[1] == '[' && !m->open && memchr(s, ' ', n))) {
        markup_close(m);
        read_block_attributes(r, l);
    } else if (!l->blanks &&
               (begins(s, n, "ifdef::") || begins(s, n, "ifndef::") || begins(s, n, "endif::") ||
                begins(s, n, "ifeval::") || begins(s, n, "include::") || begins(s, n, "toc::") ||
                begins(s, n, "<<<") || (n == 3 && (!memcmp(s, "'''", 3) || !memcmp(s, "***", 3))) ||
                (n == 1 && *s == '+'))) {
        markup_close(m);
    } else if (!l->blanks && (*s == '=' || *s == '#') && !m->open &&
               (mark = strspn(s, (char[]){*s, 0})) <= 6 && mark < n && s[mark] == ' ') {
        section(r, (uint8_t)mark, s + mark, n - mark);
    } else if (!l->blanks && *s == '.' && n > 1 && s[1] != '.' && s[1] != ' ' && !m->open) {
        markup_open(m, TEXT_PARAGRAPH, 0); /* a block's title */
        markup_words(m, s + 1, n - 1);
        markup_close(m);
    } else if (r->code && !m->open) { /* [source] above a paragraph: to the next empty line */
        text_line code = *l;
        do markup_code(m, &code);
        while (text_lines_peek(&m->in, 0, &code) && code.n && markup_next(m, &code));
        markup_code_end(m);
        r->code = false;
    } else if ((mark = list_mark(l)) != 0) {
        read_item(r, l, mark);
    } else if ((mark = term_mark(l, &after)) != 0) {
        markup_open(m, TEXT_LIST_ITEM, 0);
        markup_words(m, s, mark - l->blanks);
        fo_buf_char(&m->words, ':');
        if (after < l->n) markup_words(m, l->s + after, l->n - after);
        /* Its text may stand below an empty line. */
        else if (more && !next.n)
            markup_next(m, &next);
    } else if (l->blanks && !m->open) { /* indented: as it stands */
        text_line code = *l;
        do markup_code(m, &code);
        while (text_lines_peek(&m->in, 0, &code) && code.n && markup_next(m, &code));
        markup_code_end(m);
    } else {
        markup_words(m, s, n);
    }
}

int extract_asciidoc(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        reader *r = calloc(1, sizeof *r);
        if (!r) {
            extract_drop(b, &text);
            return fo_no_memory(err);
        }
        r->m = (markup){.b = b, .in = {.s = text.data, .n = text.len}, .strip = strip, .ctx = r};
        text_line l;
        while (markup_next(&r->m, &l)) {
            if (l.n)
                read_line(r, &l);
            else
                markup_close(&r->m);
        }
        markup_end(&r->m);
        for (size_t i = 0; i < r->n_attributes; i++) {
            free(r->attributes[i].name);
            free(r->attributes[i].value);
        }
        free(r);
    }
    extract_drop(b, &text);
    return rc;
}
