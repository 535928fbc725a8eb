/* Source code: the text stays as it is, and blocks are marked in it so that a chunk holds whole functions where
 * they fit: each function, method or class with the comment above it and its name, which is the heading of what
 * is found in it; between them what blank lines part. How a language is cut, its row below says:
 *
 *   BRACES  a body is what stands in braces; strings and comments are stepped over
 *   INDENT  a body is what is indented below a line that begins with a word such as "def", up to the line as
 *           far left as that one ("end" included, where a language has it)
 *   SEMICOLON  a statement ends with its semicolon (SQL)
 *   BLANK   nothing is known of it: by blank lines
 *
 * A cut that is wrong (macros with half a body, say) is mended at the next brace in the first column. */
#include <string.h>
#include <strings.h>

#include "data/extract/extract_internal.h"
#include "data/extract/text_lines.h"
#include "kernels/words.h"

enum {
    MAX_CONTAINERS = 16,
    MAX_SIGNATURE = 600,
    MAX_NAME = 200,
    MAX_UNCLOSED = 64, /* braces of one line that are looked for to its end */
};

enum family { BLANK, BRACES, INDENT, SEMICOLON };

typedef struct language {
    const char *endings;
    uint8_t family;
    bool hash_comments;      /* "# ..." */
    bool preprocessor;       /* "#define ...", with what follows a backslash */
    bool backquotes;         /* of strings over lines */
    bool lifetimes;          /* 'a is none of a string (Rust) */
    bool regexes;            /* /.../ (JavaScript) */
    bool lines;              /* a statement ends with its line */
    bool semicolon_comments; /* "-- ..." */
    const char *containers;  /* words whose bodies hold functions */
    const char *starts;      /* INDENT: words that begin a function */
} language;

#define OBJECTS "class interface namespace trait impl module mod object extension protocol actor"
static const language languages[] = {
    {.endings = "c h",
     .family = BRACES,
     .preprocessor = true,
     .containers = "extern class namespace"},
    {.endings = "cc cpp cxx hh hpp hxx inl m mm",
     .family = BRACES,
     .preprocessor = true,
     .containers = "class struct namespace extern"},
    {.endings = "cs",
     .family = BRACES,
     .preprocessor = true,
     .containers = "class struct interface namespace record"},
    {.endings = "java dart", .family = BRACES, .containers = OBJECTS},
    {.endings = "kt kts scala groovy swift",
     .family = BRACES,
     .lines = true,
     .containers = OBJECTS " struct"},
    {.endings = "go proto", .family = BRACES, .lines = true, .backquotes = true, .containers = ""},
    {.endings = "rs", .family = BRACES, .lifetimes = true, .containers = "impl trait mod"},
    {.endings = "js mjs cjs jsx ts tsx mts vue",
     .family = BRACES,
     .lines = true,
     .backquotes = true,
     .regexes = true,
     .containers = "class interface namespace module"},
    {.endings = "php",
     .family = BRACES,
     .hash_comments = true,
     .containers = "class interface trait namespace"},
    {.endings = "pl pm", .family = BRACES, .hash_comments = true, .containers = ""},
    {.endings = "r sh bash zsh ksh awk tcl ps1 psm1",
     .lines = true,
     .family = BRACES,
     .hash_comments = true,
     .containers = ""},
    {.endings = "css scss less", .family = BRACES, .containers = "media supports layer"},
    {.endings = "py pyi pyx nim gd",
     .family = INDENT,
     .hash_comments = true,
     .containers = "class",
     .starts = "def async class proc func"},
    {.endings = "rb rake ex exs jl cr",
     .family = INDENT,
     .hash_comments = true,
     .containers = "class module defmodule",
     .starts = "def defp defmacro class module defmodule function macro struct"},
    {.endings = "lua",
     .family = INDENT,
     .semicolon_comments = true,
     .containers = "",
     .starts = "function local"},
    {.endings = "sql ddl pgsql", .family = SEMICOLON, .semicolon_comments = true},
};

static const language *language_of(const char *file_name) {
    static const language none = {.family = BLANK};
    size_t n = file_name ? strlen(file_name) : 0, at;
    if (n > 3 && !strcasecmp(file_name + n - 3, ".gz")) n -= 3;
    for (at = n; at > 0 && file_name[at - 1] != '.' && file_name[at - 1] != '/';) at--;
    if (!at || file_name[at - 1] != '.') return &none;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (fo_words_have_any_case(languages[i].endings, file_name + at, n - at))
            return &languages[i];
    return &none;
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

typedef struct cutter {
    builder *b;
    const language *lang;
    const char *s;  /* the text, which ends b's */
    size_t n, base; /* where it begins there */
    /* the block at hand; empty where start == end */
    size_t start, end;
    uint32_t line;
    size_t name, n_name; /* of what it defines, in the text; n_name 0: none */
    /* the statement at hand, with the comments above it; it may be the block's end */
    size_t statement;
    uint32_t statement_line;
    bool fresh; /* none has begun */
} cutter;

static void end_block(cutter *c) {
    if (c->end > c->start) {
        builder_set_place(c->b, &(text_place){.line = c->line});
        builder_mark(c->b, c->base + c->start, c->base + c->end, TEXT_CODE, 0);
        if (c->n_name && c->n_name <= MAX_NAME && c->name >= c->start &&
            c->name + c->n_name <= c->end && c->name - c->start < UINT32_MAX && !c->b->failure)
            builder_name(c->b, c->name - c->start, c->n_name);
    }
    c->start = c->end = c->n_name = 0;
}

static void add_line(cutter *c, size_t start, size_t end, uint32_t line) {
    if (c->end == c->start) {
        c->start = start;
        c->line = line;
    }
    c->end = end;
    if (c->fresh) {
        c->statement = start;
        c->statement_line = line;
        c->fresh = false;
    }
}

/* The statement at hand becomes a block of its own, apart from what stands before it. */
static void part_statement(cutter *c) {
    if (c->fresh || c->statement <= c->start || c->statement >= c->end) return;
    size_t end = c->end, before = c->statement;
    while (before > c->start && strchr(" \t\r\n", c->s[before - 1])) before--;
    c->end = before;
    end_block(c);
    c->start = c->statement;
    c->line = c->statement_line;
    c->end = end;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

/* A signature without comments and strings, each byte with its place in the text. */
typedef struct signature {
    char s[MAX_SIGNATURE + 1];
    size_t at[MAX_SIGNATURE];
    size_t n;
} signature;

static void read_signature(const cutter *c, size_t from, size_t to, signature *g) {
    g->n = 0;
    if (to - from > 2 * MAX_SIGNATURE) from = to - 2 * MAX_SIGNATURE;
    for (size_t i = from; i < to && g->n < MAX_SIGNATURE; i++) {
        const char *s = c->s + i;
        bool line_comment = (s[0] == '/' && s[1] == '/') ||
                            (c->lang->hash_comments && s[0] == '#') ||
                            (c->lang->preprocessor && s[0] == '#') ||
                            (c->lang->semicolon_comments && s[0] == '-' && s[1] == '-');
        if (line_comment) {
            while (i < to && c->s[i] != '\n') i++;
            i--;
            if (i + 1 < to) continue;
            break;
        }
        if (s[0] == '/' && s[1] == '*') {
            const char *end = memmem(s + 2, to - i - 2 < to ? to - i - 2 : 0, "*/", 2);
            if (!end) break;
            i = (size_t)(end - c->s) + 1;
            continue;
        }
        g->s[g->n] = *s == '\n' || *s == '\t' || *s == '\r' ? ' ' : *s;
        g->at[g->n++] = i;
    }
    g->s[g->n] = 0;
}

static bool word_at(const signature *g, size_t from, size_t to, const char *one_of) {
    return fo_words_have(one_of, g->s + from, to - from);
}

/* The name that ends before `to`, with its owner ("Foo::bar", "s.run", "~Foo"); false: none is there. */
static bool name_before(const signature *g, size_t to, size_t *from, size_t *end) {
    while (to && g->s[to - 1] == ' ') to--;
    if (to && g->s[to - 1] == '>') { /* of generic ones: name<T> */
        int depth = 0;
        size_t i = to;
        do {
            i--;
            depth += (g->s[i] == '>') - (g->s[i] == '<');
        } while (i && depth > 0);
        if (depth) return false;
        to = i;
        while (to && g->s[to - 1] == ' ') to--;
    }
    size_t start = to;
    while (start) {
        char c = g->s[start - 1];
        bool owner = (c == ':' && start > 1 && g->s[start - 2] == ':') ||
                     (c == ':' && start < to && g->s[start] == ':') || c == '.' || c == '~';
        if (!is_name(c) && !owner) break;
        start--;
    }
    while (start < to && (g->s[start] == ':' || g->s[start] == '.')) start++;
    *from = start;
    *end = to;
    return to > start && !(g->s[start] >= '0' && g->s[start] <= '9');
}

static void set_name(cutter *c, const signature *g, size_t from, size_t to) {
    if (to <= from || g->at[to - 1] - g->at[from] != to - 1 - from) return; /* a comment in it */
    c->name = g->at[from];
    c->n_name = to - from;
}

/* The word of `one_of` that stands in the signature outside of brackets: where the name behind it begins. */
static size_t behind_word(const signature *g, const char *one_of, size_t *word) {
    int depth = 0;
    for (size_t i = 0; i < g->n;) {
        depth += (g->s[i] == '(' || g->s[i] == '[') - (g->s[i] == ')' || g->s[i] == ']');
        if (!is_name(g->s[i])) {
            i++;
            continue;
        }
        size_t from = i;
        while (i < g->n && is_name(g->s[i])) i++;
        if (depth || !word_at(g, from, i, one_of) ||
            (from && (g->s[from - 1] == '.' || g->s[from - 1] == '@')))
            continue;
        if (word) *word = from;
        if (i < g->n && g->s[i] == '<') /* impl<T> */
            for (int angle = 0; i < g->n; i++) {
                angle += (g->s[i] == '<') - (g->s[i] == '>');
                if (!angle) {
                    i++;
                    break;
                }
            }
        while (i < g->n && (g->s[i] == ' ' || g->s[i] == '"')) i++;
        return i;
    }
    return 0;
}

static const char types[] = "class struct enum union interface namespace trait impl module mod "
                            "object extension protocol record";

/* Names what the signature in [from, to) defines: a function by what stands before its brackets. */
static void name_braces(cutter *c, signature *g) {
    static const char no_names[] =
        "if for while switch catch return else do try foreach elseif elsif unless until "
        "synchronized using lock fixed with match loop select case when function func fn sub";
    size_t type = behind_word(g, types, NULL),
           function = behind_word(g, "function func fn fun sub def", NULL);
    size_t from, to, limit = g->n;
    int depth = 0;
    if (function) { /* func (s *Server) Run(: the receiver is stepped over */
        size_t i = function;
        if (i < g->n && g->s[i] == '(' && strchr(g->s + i, ')') && c->lang->backquotes &&
            !c->lang->regexes) {
            i = (size_t)(strchr(g->s + i, ')') - g->s) + 1;
            while (i < g->n && g->s[i] == ' ') i++;
        }
        size_t end = i;
        while (end < g->n && (is_name(g->s[end]) || strchr(":.-", g->s[end])) &&
               !(g->s[end] == ':' && g->s[end + 1] != ':'))
            end++;
        if (end > i) return set_name(c, g, i, end);
    }
    size_t assigned = 0; /* name = ..., name <- ... */
    for (size_t i = 0; i < g->n; i++) {
        char x = g->s[i];
        depth += (x == '(' || x == '[') - (x == ')' || x == ']');
        bool sets = (x == '=' && (i + 1 == g->n || !strchr("=>", g->s[i + 1])) &&
                     (!i || !strchr("=!<>+-*/|&", g->s[i - 1]))) ||
                    (x == '<' && i + 1 < g->n && g->s[i + 1] == '-');
        if (depth == 0 && sets && !assigned && i) {
            assigned = i;
            break;
        }
    }
    if (assigned) {
        size_t end = assigned;
        while (end && g->s[end - 1] == ' ') end--;
        while (end && g->s[end - 1] == ']') /* int table[4] = { */
            while (end && g->s[--end] != '[') {
            }
        /* TypeScript: name: Type = ... */
        size_t colon = 0;
        for (size_t i = 0; i < end && c->lang->regexes; i++)
            if (g->s[i] == ':' && !colon) colon = i;
        if (colon) end = colon;
        if (name_before(g, end, &from, &to)) return set_name(c, g, from, to);
        return;
    }
    /* type Name struct {, message Name {, .selector { */
    size_t kind = behind_word(g, "type message service rule", NULL);
    if (kind) {
        size_t stop = kind;
        while (stop < g->n && is_name(g->s[stop])) stop++;
        return set_name(c, g, kind, stop);
    }
    if (type && !strchr(g->s, '(')) {
        size_t end = type;
        while (end < g->n &&
               (is_name(g->s[end]) || (g->s[end] == ':' && g->s[end + 1] == ':') ||
                (end > type && g->s[end] == ':' && g->s[end - 1] == ':') || g->s[end] == '.'))
            end++;
        return set_name(c, g, type, end);
    }
    depth = 0;
    for (size_t i = 0; i < limit; i++) {
        if (g->s[i] == '(' && depth++ == 0 && name_before(g, i, &from, &to)) {
            bool attribute = (to - from > 11 && !memcmp(g->s + from, "__attribute", 11)) ||
                             (from && strchr("@#[", g->s[from - 1]));
            if (attribute || word_at(g, from, to, no_names)) continue;
            return set_name(c, g, from, to);
        }
        depth -= g->s[i] == ')' && depth > 0;
    }
    if (type) {
        size_t end = type;
        while (end < g->n && (is_name(g->s[end]) || g->s[end] == '.')) end++;
        return set_name(c, g, type, end);
    }
}

/* ---- braces ----------------------------------------------------------------------------------------- */

typedef struct braces {
    cutter c;
    int depth, base; /* base: of the containers around */
    int brackets;    /* round and square ones that are open in the statement at hand */
    int n_containers;
    bool in_comment, in_backquotes, in_macro, in_unit;
    char last; /* sign of code in the statement at hand */
    signature g;
} braces;

/* A brace opens where statements stand: a function's body, or one that holds functions. True: the latter. */
static bool opens_container(braces *r, size_t at) {
    cutter *c = &r->c;
    read_signature(c, c->fresh ? at : c->statement, at, &r->g);
    name_braces(c, &r->g);
    size_t word = 0;
    if (r->n_containers == MAX_CONTAINERS || !behind_word(&r->g, c->lang->containers, &word))
        return false;
    /* A function may return a struct: "static struct fo_buf *make(void) {". */
    const char *bracket = strchr(r->g.s, '(');
    return !bracket || memmem(r->g.s, r->g.n, "extern", 6) || (size_t)(bracket - r->g.s) < word;
}

static size_t skip_string(const braces *r, size_t i, size_t end) {
    const char *s = r->c.s;
    char quote = s[i];
    for (i++; i < end && s[i] != quote; i++)
        if (s[i] == '\\') i++;
    return i < end ? i : end - 1;
}

/* The end of what s[i] opens, if it stands in the line. *unclosed counts those of the line that did not: each costs a
 * look at the rest of it, and behind so many there is none that a person wrote. */
static size_t skip_braces(builder *b, const char *s, size_t i, size_t end, int *unclosed) {
    int depth = 0;
    size_t at = i;
    if (*unclosed == MAX_UNCLOSED) return i;
    for (; at < end; at++) {
        depth += (s[at] == '{') - (s[at] == '}');
        if (!depth) break;
    }
    builder_go_on(b, at - i);
    if (at < end) return at;
    ++*unclosed;
    return i;
}

static bool is_regex(const braces *r, size_t i, size_t end) {
    return r->c.lang->regexes && (!r->last || strchr("(,=:[!&|?{};+", r->last)) &&
           memchr(r->c.s + i + 1, '/', end - i - 1);
}

/* One line's signs. */
static void scan_line(braces *r, size_t start, size_t end) {
    cutter *c = &r->c;
    const char *s = c->s;
    const language *l = c->lang;
    int unclosed = 0;
    for (size_t i = start; i < end && !c->b->failure; i++) {
        char x = s[i], y = i + 1 < end ? s[i + 1] : 0;
        if (r->in_comment) {
            if (x == '*' && y == '/') r->in_comment = false, i++;
        } else if (r->in_backquotes) {
            if (x == '\\') i++;
            if (x == '`') r->in_backquotes = false;
        } else if (x == '/' && y == '*' && !l->hash_comments) {
            r->in_comment = true;
            i++;
        } else if ((x == '/' && y == '/' && (!l->hash_comments || l->containers[0])) ||
                   (l->hash_comments && x == '#' && (i == start || strchr(" \t;", s[i - 1])))) {
            return;
        } else if (x == '`' && l->backquotes) {
            r->in_backquotes = true;
            r->last = x;
        } else if (x == '/' && is_regex(r, i, end)) {
            i = skip_string(r, i, end);
            r->last = '/';
        } else if (x == '\\') {
            i++;
        } else if (x == '"' || (x == '\'' && (!l->lifetimes || y == '\\' ||
                                              (i + 2 < end && s[i + 2] == '\'')))) {
            i = skip_string(r, i, end);
            r->last = '"';
        } else if (x == '{' && l->hash_comments && i > start && strchr("$@%#", s[i - 1])) {
            i = skip_braces(c->b, s, i, end, &unclosed); /* ${name} */
            r->last = '}';
        } else if (x == '{') {
            if (r->depth == r->base && !r->in_unit) {
                builder_go_on(c->b, MAX_SIGNATURE); /* read for each, however long the line */
                part_statement(c);
                r->in_unit = !opens_container(r, i);
                if (!r->in_unit) {
                    r->n_containers++;
                    r->base++;
                }
            }
            r->depth++;
            r->last = x;
        } else if (x == '}') {
            r->depth -= r->depth > 0;
            if (r->depth < r->base) {
                r->base = r->depth;
                r->n_containers -= r->n_containers > 0;
                r->in_unit = false;
            }
            r->last = x;
        } else if (x != ' ' && x != '\t' && x != '\r') {
            r->brackets += (x == '(' || x == '[') - (x == ')' || x == ']');
            if (r->brackets < 0) r->brackets = 0;
            r->last = x;
        }
    }
}

/* Of a language whose statements end with their lines: does one end with this line? */
static bool ends_line(const braces *r, const text_lines *lines, const text_line *l) {
    text_line next;
    if (!r->c.lang->lines || r->in_unit || l->s[l->blanks] == '@' || strchr("=(,\\|&+-.", r->last))
        return false;
    return !text_lines_peek(lines, 0, &next) || next.n == next.blanks || next.s[next.blanks] != '{';
}

static void cut_braces(const cutter *given) {
    braces r = {.c = *given};
    cutter *c = &r.c;
    text_lines lines = {.s = c->s, .n = c->n};
    text_line l;
    c->fresh = true;
    while (text_lines_next(&lines, &l) && builder_go_on(c->b, l.n + 1)) {
        size_t start = (size_t)(l.s - c->s), end = start + l.n;
        bool at_base = r.depth == r.base && !r.in_comment && !r.in_backquotes;
        if (!l.n) {
            r.in_macro = false;
            if (!at_base || r.in_unit) continue;
            end_block(c);
            c->fresh = true;
            r.last = 0;
            r.brackets = 0;
            continue;
        }
        bool macro = r.in_macro || (c->lang->preprocessor && l.s[l.blanks] == '#');
        int containers = r.n_containers;
        add_line(c, start, end, lines.number);
        if (macro) {
            r.in_macro = l.s[l.n - 1] == '\\';
            if (at_base && !r.in_macro) c->fresh = true;
            continue;
        }
        bool comment = r.in_comment || (l.n > l.blanks + 1 && l.s[l.blanks] == '/' &&
                                        strchr("/*", l.s[l.blanks + 1]));
        scan_line(&r, start, end);
        if (l.s[0] == '}' && r.depth > r.base)
            r.depth = r.base; /* out of step with the text: mended */
        if (r.depth != r.base || r.in_comment || r.in_backquotes) continue;
        bool closed =
            r.in_unit && r.last != ',' && !(r.last == ')' && c->lang->regexes && !c->n_name);
        if (l.n > 2 && !memcmp(l.s, "<?", 2)) c->fresh = true; /* <?php */
        if (r.n_containers > containers) { /* its first line is a block with its name */
            end_block(c);
            c->fresh = true;
        } else if (closed) {
            r.in_unit = false;
            if (c->n_name) end_block(c);
            c->fresh = true;
        } else if (!comment && !r.brackets && r.last &&
                   (strchr(";},:", r.last) || ends_line(&r, &lines, &l))) {
            r.in_unit = false;
            c->fresh = true;
        }
        if (c->fresh) r.last = 0, r.brackets = 0;
    }
    end_block(c);
}

/* ---- indentation ------------------------------------------------------------------------------------- */

typedef struct indents {
    cutter c;
    size_t open[MAX_CONTAINERS]; /* columns of the classes around */
    int n_open;
    size_t unit;        /* column of the function at hand; SIZE_MAX: none */
    const char *quotes; /* of a text over lines that is open */
} indents;

/* "def name", "local function a.b": the word that begins it and the name behind it. */
static bool starts_unit(indents *r, const text_line *l, bool *container) {
    cutter *c = &r->c;
    const char *s = l->s;
    size_t i = l->blanks, word = i;
    while (i < l->n && is_name(s[i])) i++;
    if (!fo_words_have(c->lang->starts, s + word, i - word)) return false;
    *container = fo_words_have(c->lang->containers, s + word, i - word);
    bool prefix = fo_words_have("async local", s + word, i - word);
    while (i < l->n && s[i] == ' ') i++;
    if (prefix) {
        word = i;
        while (i < l->n && is_name(s[i])) i++;
        if (!fo_words_have("def function", s + word, i - word)) return false;
        while (i < l->n && s[i] == ' ') i++;
    }
    size_t name = i;
    while (i < l->n && (is_name(s[i]) || strchr(".:?!", s[i]))) i++;
    while (i > name && strchr(".:", s[i - 1])) i--;
    if (i == name) return false;
    c->name = (size_t)(s - c->s) + name;
    c->n_name = i - name;
    return true;
}

/* Texts in three quotes go over lines that are no code. */
static void scan_quotes(indents *r, const text_line *l) {
    for (size_t i = 0; i < l->n; i++) {
        const char *s = l->s + i;
        bool three = l->n - i >= 3 && (!memcmp(s, "\"\"\"", 3) || !memcmp(s, "'''", 3));
        if (r->quotes) {
            if (three && *s == *r->quotes) r->quotes = NULL, i += 2;
        } else if (three) {
            r->quotes = s;
            i += 2;
        } else if (*s == '#' && r->c.lang->hash_comments) {
            return;
        } else if (*s == '"' || *s == '\'') {
            char quote = *s;
            for (i++; i < l->n && l->s[i] != quote; i++) i += l->s[i] == '\\';
        }
    }
}

static bool is_remark(const cutter *c, const text_line *l) {
    const char *s = l->s + l->blanks;
    return (c->lang->hash_comments && *s == '#') || *s == '@' ||
           (c->lang->semicolon_comments && l->n > l->blanks + 1 && s[0] == '-' && s[1] == '-');
}

static void cut_indents(const cutter *given) {
    indents r = {.c = *given, .unit = SIZE_MAX};
    cutter *c = &r.c;
    text_lines lines = {.s = c->s, .n = c->n};
    text_line l;
    bool remarks =
        false; /* the block at hand holds comments and decorators alone: they belong to what follows */
    while (text_lines_next(&lines, &l) && builder_go_on(c->b, l.n + 1)) {
        size_t start = (size_t)(l.s - c->s), end = start + l.n;
        bool text = r.quotes != NULL,
             python = c->lang->starts[0] == 'd' && strstr(c->lang->starts, "async");
        if (python || text) scan_quotes(&r, &l);
        if (text) {
            add_line(c, start, end, lines.number);
            continue;
        }
        if (!l.n) {
            if (r.unit == SIZE_MAX) {
                end_block(c);
                remarks = false;
            }
            continue;
        }
        const char *s = l.s + l.blanks;
        bool closes =
            l.n - l.blanks >= 3 && !memcmp(s, "end", 3) && (l.n == l.blanks + 3 || !is_name(s[3]));
        bool bracket = strchr(")]}", *s) != NULL;
        if (r.unit != SIZE_MAX && l.indent <= r.unit &&
            !bracket) { /* the function ends, with its "end" */
            r.unit = SIZE_MAX;
            if (closes) add_line(c, start, end, lines.number);
            end_block(c);
            remarks = false;
            if (closes) continue;
        }
        while (r.n_open && l.indent <= r.open[r.n_open - 1]) r.n_open--;
        bool container = false;
        size_t had_name = c->name, had = c->n_name;
        if (r.unit == SIZE_MAX && starts_unit(&r, &l, &container)) {
            size_t name = c->name, n_name = c->n_name;
            c->n_name = had, c->name = had_name;
            if (remarks)
                part_statement(c);
            else
                end_block(c);
            add_line(c, start, end, lines.number);
            c->name = name, c->n_name = n_name;
            remarks = false;
            if (container && r.n_open < MAX_CONTAINERS)
                r.open[r.n_open++] = l.indent;
            else
                r.unit = l.indent;
            continue;
        }
        bool remark = is_remark(c, &l);
        if (r.unit == SIZE_MAX && remark && !remarks) {
            if (c->n_name) end_block(c);
            remarks = c->fresh = true;
        } else if (!remark) {
            remarks = false;
        }
        add_line(c, start, end, lines.number);
    }
    end_block(c);
}

/* ---- statements, and what nobody knows ----------------------------------------------------------------- */

/* CREATE TABLE IF NOT EXISTS name */
static void name_statement(cutter *c, size_t from, size_t to) {
    static const char before[] =
        "table view function procedure trigger index type schema sequence materialized "
        "temporary temp unique or replace if not exists virtual";
    signature g;
    read_signature(c, from, to, &g);
    size_t i = 0;
    bool create = false;
    while (i < g.n) {
        while (i < g.n && strchr(" \"`[", g.s[i])) i++;
        size_t word = i;
        while (i < g.n && (is_name(g.s[i]) || (create && g.s[i] == '.'))) i++;
        if (i == word) return;
        if (!create) {
            if (!fo_words_have_any_case("create alter", g.s + word, i - word)) return;
            create = true;
        } else if (!fo_words_have_any_case(before, g.s + word, i - word)) {
            return set_name(c, &g, word, i);
        }
    }
}

static void cut_statements(cutter *c) {
    text_lines lines = {.s = c->s, .n = c->n};
    text_line l;
    bool dollars = false, in_comment = false, named = false;
    int begins = 0;
    while (text_lines_next(&lines, &l) && builder_go_on(c->b, l.n + 1)) {
        size_t start = (size_t)(l.s - c->s), end = start + l.n;
        if (!l.n) {
            if (!dollars && !in_comment && !begins && !named) end_block(c);
            continue;
        }
        add_line(c, start, end, lines.number);
        bool ends = false;
        for (size_t i = l.blanks; i < l.n; i++) {
            const char *s = l.s + i;
            size_t left = l.n - i;
            if (in_comment) {
                if (left > 1 && s[0] == '*' && s[1] == '/') in_comment = false, i++;
            } else if (left > 1 && s[0] == '/' && s[1] == '*') {
                in_comment = true;
            } else if (left > 1 && s[0] == '-' && s[1] == '-') {
                break;
            } else if (left > 1 && s[0] == '$' && s[1] == '$') {
                dollars = !dollars;
                i++;
            } else if (*s == '\'' && !dollars) {
                const char *quote = memchr(s + 1, '\'', left - 1);
                i = quote ? (size_t)(quote - l.s) : l.n;
            } else if (is_name(*s)) {
                size_t word = i;
                while (i < l.n && is_name(l.s[i])) i++;
                const char *w = l.s + word;
                size_t n = i - word;
                if (n == 6 && !named && !strncasecmp(w, "create", 6)) {
                    size_t from = start + word, to = from + 300 < c->n ? from + 300 : c->n;
                    name_statement(c, from, to);
                    named = true;
                }
                bool body = n == 5 && !strncasecmp(w, "begin", 5) && named; /* of a trigger */
                begins += body;
                if (begins && n == 4 && !strncasecmp(w, "case", 4)) begins++;
                if (begins && n == 3 && !strncasecmp(w, "end", 3)) begins--;
                i--;
            } else if (*s == ';') {
                ends = !dollars && !begins;
            }
        }
        if (ends) {
            named = false;
            if (c->n_name) end_block(c);
        }
    }
    end_block(c);
}

static void cut_blank(cutter *c) {
    text_lines lines = {.s = c->s, .n = c->n};
    text_line l;
    while (text_lines_next(&lines, &l) && builder_go_on(c->b, l.n + 1)) {
        size_t start = (size_t)(l.s - c->s);
        if (l.n)
            add_line(c, start, start + l.n, lines.number);
        else
            end_block(c);
    }
    end_block(c);
}

/* ---- the format ---------------------------------------------------------------------------------------- */

/* Mark the blocks of the n bytes that end b's text. */
static void mark(builder *b, const char *file_name, size_t n) {
    cutter c = {.b = b, .lang = language_of(file_name), .n = n, .base = b->text.len - n};
    c.s = b->text.data + c.base;
    switch (c.lang->family) {
    case BRACES:
        cut_braces(&c);
        break;
    case INDENT:
        cut_indents(&c);
        break;
    case SEMICOLON:
        cut_statements(&c);
        break;
    default:
        cut_blank(&c);
    }
}

void extract_code_text(builder *b, const char *file_name, const char *s, size_t n) {
    builder_add(b, s, n);
    if (b->failure || !n) return;
    b->open = false;
    mark(b, file_name, n);
}

int extract_code(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    bool part = b->text.len > 0; /* as in extract_plain */
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc && part)
        extract_code_text(b, in->file_name, text.data, text.len);
    else if (!rc)
        builder_adopt(b, &text);
    extract_drop(b, &text);
    if (!rc && !part && !b->failure) mark(b, in->file_name, b->text.len);
    return rc;
}
