/* See roff.h. */
#include "data/extract/roff.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"

static const struct {
    const char *name, *text;
} specials[] = {
    {"aq", "'"},   {"dq", "\""},  {"oq", "‘"}, {"cq", "’"},  {"lq", "“"},  {"rq", "”"},
    {"Bq", "„"},   {"bq", "‚"},   {"Fo", "«"}, {"Fc", "»"},  {"fo", "‹"},  {"fc", "›"},
    {"en", "–"},   {"em", "—"},   {"hy", "-"}, {"mi", "−"},  {"bu", "•"},  {"ci", "○"},
    {"sq", "□"},   {"rs", "\\"},  {"ti", "~"}, {"ha", "^"},  {"ga", "`"},  {"aa", "´"},
    {"at", "@"},   {"sh", "#"},   {"Do", "$"}, {"ct", "¢"},  {"Eu", "€"},  {"eu", "€"},
    {"Po", "£"},   {"Ye", "¥"},   {"co", "©"}, {"rg", "®"},  {"tm", "™"},  {"de", "°"},
    {"sc", "§"},   {"ps", "¶"},   {"dg", "†"}, {"dd", "‡"},  {"12", "½"},  {"14", "¼"},
    {"34", "¾"},   {"S1", "¹"},   {"S2", "²"}, {"S3", "³"},  {"mu", "×"},  {"di", "÷"},
    {"+-", "±"},   {"t+-", "±"},  {"pl", "+"}, {"eq", "="},  {"!=", "≠"},  {"<=", "≤"},
    {">=", "≥"},   {"~~", "≈"},   {"~=", "≅"}, {"==", "≡"},  {"if", "∞"},  {"->", "→"},
    {"<-", "←"},   {"ua", "↑"},   {"da", "↓"}, {"<>", "↔"},  {"rA", "⇒"},  {"lA", "⇐"},
    {"ba", "|"},   {"bv", "|"},   {"br", "|"}, {"or", "|"},  {"ul", "_"},  {"ru", "_"},
    {"sl", "/"},   {"lB", "["},   {"rB", "]"}, {"lC", "{"},  {"rC", "}"},  {"la", "⟨"},
    {"ra", "⟩"},   {"OK", "✓"},   {"lz", "◊"}, {"es", "∅"},  {"mo", "∈"},  {"nm", "∉"},
    {"su", "∑"},   {"sr", "√"},   {"pd", "∂"}, {"is", "∫"},  {"AN", "∧"},  {"OR", "∨"},
    {"no", "¬"},   {"te", "∃"},   {"fa", "∀"}, {"ff", "ff"}, {"fi", "fi"}, {"fl", "fl"},
    {"Fi", "ffi"}, {"Fl", "ffl"}, {"ae", "æ"}, {"AE", "Æ"},  {"oe", "œ"},  {"OE", "Œ"},
    {"ss", "ß"},   {"o/", "ø"},   {"O/", "Ø"}, {"/l", "ł"},  {"/L", "Ł"},  {"-d", "đ"},
    {"Sd", "ð"},   {"-D", "Ð"},   {"Tp", "þ"}, {"TP", "Þ"},  {".i", "ı"},  {"r!", "¡"},
    {"r?", "¿"},   {"*a", "α"},   {"*b", "β"}, {"*g", "γ"},  {"*d", "δ"},  {"*e", "ε"},
    {"*z", "ζ"},   {"*y", "η"},   {"*h", "θ"}, {"*i", "ι"},  {"*k", "κ"},  {"*l", "λ"},
    {"*m", "μ"},   {"*n", "ν"},   {"*c", "ξ"}, {"*o", "ο"},  {"*p", "π"},  {"*r", "ρ"},
    {"*s", "σ"},   {"*t", "τ"},   {"*u", "υ"}, {"*f", "φ"},  {"*x", "χ"},  {"*q", "ψ"},
    {"*w", "ω"},   {"*D", "Δ"},   {"*W", "Ω"}, {"*S", "Σ"},  {"*P", "Π"},  {"mc", "µ"},
};

struct roff_string {
    char *name, *text;
};

/* Strings that pages interpolate with \*: those of man(7), mdoc(7) and of Perl's pages. */
static const struct {
    const char *name, *text;
} strings[] = {
    {"lq", "“"},  {"rq", "”"},  {"Lq", "“"},   {"Rq", "”"}, {"L\"", "\""}, {"R\"", "\""},
    {"C`", "\""}, {"C'", "\""}, {"C+", "C++"}, {"--", "—"}, {"PI", "π"},   {"R", "®"},
    {"Tm", "™"},  {"Aq", "'"},  {"q", "\""},   {"Ba", "|"}, {"Le", "≤"},   {"Ge", "≥"},
    {"Lt", "<"},  {"Gt", ">"},  {"Ne", "≠"},   {"Am", "&"}, {"Pm", "±"},   {"If", "∞"},
};

static void add_special(fo_buf *out, const char *name, size_t n) {
    static const struct {
        char mark;
        int32_t combining;
    } accents[] = {{'\'', 0x301}, {'`', 0x300}, {'^', 0x302}, {':', 0x308},
                   {'~', 0x303},  {',', 0x327}, {'v', 0x30C}, {'o', 0x30A}};
    char s[4];
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strlen(specials[i].name) == n && memcmp(specials[i].name, name, n) == 0) {
            fo_buf_str(out, specials[i].text);
            return;
        }
    if (n >= 5 && name[0] == 'u') { /* uXXXX, several joined by _ */
        int32_t cp = 0;
        for (size_t i = 1; i <= n; i++) {
            if (i == n || name[i] == '_') {
                if (cp >= 0xA0 && cp < 0x110000 && !(cp >= 0xD800 && cp < 0xE000))
                    fo_buf_add(out, s, fo_utf8_encode(cp, s));
                else if (cp >= 0x20 && cp < 0x7F)
                    fo_buf_char(out, (char)cp);
                cp = 0;
            } else {
                char c = name[i];
                int digit = c >= '0' && c <= '9'   ? c - '0'
                            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                   : -1;
                if (digit < 0 || cp > 0x10FFFF) return;
                cp = cp * 16 + digit;
            }
        }
        return;
    }
    for (size_t i = 0; n == 2 && i < sizeof accents / sizeof *accents; i++)
        if (name[0] == accents[i].mark && ((name[1] | 32) >= 'a' && (name[1] | 32) <= 'z')) {
            fo_buf_char(out, name[1]);
            fo_buf_add(out, s, fo_utf8_encode(accents[i].combining, s));
            return;
        }
}

/* A name after an escape letter: x, (xx or [x...]; *next is past it. */
static size_t take_name(const char *s, size_t n, size_t at, size_t *from, size_t *next) {
    *from = *next = at;
    if (at >= n) return 0;
    if (s[at] == '(') {
        *from = at + 1;
        *next = at + 3 < n ? at + 3 : n;
        return *next - (*from < *next ? *from : *next);
    }
    if (s[at] == '[') {
        const char *close = memchr(s + at, ']', n - at);
        *from = at + 1;
        size_t end = close ? (size_t)(close - s) : n;
        *next = close ? end + 1 : n;
        return end - *from;
    }
    *next = at + 1;
    return 1;
}

/* 'text' after an escape letter, any delimiter; *next is past it. */
static size_t take_quoted(const char *s, size_t n, size_t at, size_t *from, size_t *next) {
    *from = *next = at;
    if (at >= n) return 0;
    const char *close = at + 1 < n ? memchr(s + at + 1, s[at], n - at - 1) : NULL;
    *from = at + 1;
    size_t end = close ? (size_t)(close - s) : n;
    *next = close ? end + 1 : n;
    return end - *from;
}

/* ---- escapes, by the letter behind the backslash -------------------------------------------- */

static bool is_one_of(char c, const char *letters) {
    return c && strchr(letters, c);
}

/* The character that an escape stands for; 0: it stands for none, or for more. */
static char character_of(char c) {
    static const char letters[] = "-'`\\eE. ~0t", characters[] = "-'`\\\\\\.    ";
    return is_one_of(c, letters) ? characters[strchr(letters, c) - letters] : 0;
}

/* What is resolved at the moment; a string's text may use other strings, or itself. */
typedef struct resolving {
    const roff_strings *of;
    size_t depth, room; /* bytes that strings may still add */
} resolving;

enum { MAX_DEPTH = 8, MAX_GROWTH = 1 << 16 };

static bool resolve(fo_buf *out, const char *s, size_t n, resolving *at);

static struct roff_string *find_string(const roff_strings *of, const char *name, size_t len) {
    for (size_t i = 0; of && i < of->n; i++)
        if (strlen(of->v[i].name) == len && memcmp(of->v[i].name, name, len) == 0) return &of->v[i];
    return NULL;
}

/* \*x, \*(xx, \*[x...]: a string that pages may use without defining it (they define some of these for printers), or one of
 * the page's own. */
static void add_string(fo_buf *out, const char *name, size_t len, resolving *r) {
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (strlen(strings[i].name) == len && memcmp(strings[i].name, name, len) == 0) {
            fo_buf_str(out, strings[i].text);
            return;
        }
    const struct roff_string *own = find_string(r->of, name, len);
    const size_t n = own ? strlen(own->text) : 0;
    if (!n || r->depth == MAX_DEPTH || n > r->room) return;
    r->room -= n;
    r->depth++;
    resolve(out, own->text, n, r);
    r->depth--;
}

bool roff_strings_define(roff_strings *t, const char *name, const char *text, bool append) {
    struct roff_string *s = find_string(t, name, strlen(name));
    const size_t before = s && append ? strlen(s->text) : 0, n = strlen(text);
    if (!*name || before + n > ROFF_STRING_MAX || (!s && t->n == ROFF_STRINGS)) return true;
    if (!t->v && !(t->v = calloc(ROFF_STRINGS, sizeof *t->v))) return false;
    if (!s) {
        char *own = strdup(name);
        if (!own) return false;
        s = &t->v[t->n++];
        s->name = own;
    }
    char *grown = realloc(s->text, before + n + 1);
    if (!grown) return false;
    memcpy(grown + before, text, n + 1);
    s->text = grown;
    return true;
}

void roff_strings_free(roff_strings *t) {
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].name);
        free(t->v[i].text);
    }
    free(t->v);
    *t = (roff_strings){0};
}

/* \o'ab': of letters printed over each other the first is kept. */
static void add_overstruck(fo_buf *out, const char *s, size_t len) {
    int32_t cp;
    if (!len) return;
    size_t k = fo_utf8_decode(s, len, &cp);
    if (s[0] != '\\' && cp >= 0) fo_buf_add(out, s, k);
}

/* An escape that does not exist stands for its character; returns where the next begins. */
static size_t add_itself(fo_buf *out, const char *s, size_t n, size_t at) {
    int32_t cp;
    size_t k = (unsigned char)s[at] < 0x80 ? 1 : fo_utf8_decode(s + at, n - at, &cp);
    fo_buf_add(out, s + at, k);
    return at + k;
}

/* Fonts, colours, registers, sizes: \fB, \n+(xx, \s-1, \s10, \s'12'. Returns where they end. */
static size_t skip_name(char c, const char *s, size_t n, size_t at) {
    size_t from, next;
    if (is_one_of(c, "ns") && at < n && (s[at] == '+' || s[at] == '-')) at++;
    if (c == 's' && at < n && s[at] == '\'')
        take_quoted(s, n, at, &from, &next);
    else if (c == 's' && at + 1 < n && s[at] >= '1' && s[at] <= '3' && fo_is_digit(s[at + 1]) &&
             s[at - 1] == 's')
        next = at + 2; /* sizes from 10 to 39 need no bracket, but behind a sign */
    else
        take_name(s, n, at, &from, &next);
    return next;
}

/* The escape whose letter stands at `at`; returns where it ends. */
static size_t resolve_escape(fo_buf *out, const char *s, size_t n, size_t at, resolving *r) {
    char c = s[at];
    size_t from, next = at + 1, len;
    if (character_of(c)) {
        fo_buf_char(out, character_of(c));
    } else if (is_one_of(c, "([")) {
        len = take_name(s, n, at, &from, &next);
        add_special(out, s + from, len);
    } else if (c == 'C') {
        len = take_quoted(s, n, at + 1, &from, &next);
        add_special(out, s + from, len);
    } else if (c == '*') {
        len = take_name(s, n, at + 1, &from, &next);
        add_string(out, s + from, len, r);
    } else if (c == 'o') {
        len = take_quoted(s, n, at + 1, &from, &next);
        add_overstruck(out, s + from, len);
    } else if (is_one_of(c, "fFmMnkYVg$s")) {
        next = skip_name(c, s, n, at + 1);
    } else if (is_one_of(c, "hvwlLDXbxRSHABN")) { /* motions, lines, drawings, devices */
        take_quoted(s, n, at + 1, &from, &next);
    } else if (!is_one_of(c, "z&|^%:/,)!?{}udrpa")) { /* these print nothing */
        next = add_itself(out, s, n, at);
    }
    return next;
}

static bool resolve(fo_buf *out, const char *s, size_t n, resolving *r) {
    size_t at = 0;
    while (at < n) {
        while (at < n && !fo_utf8_boundary(s[at])) at++; /* an escape's name was not ASCII */
        if (at == n) return false;
        const char *slash = memchr(s + at, '\\', n - at);
        size_t plain = slash ? (size_t)(slash - s) : n;
        fo_buf_add(out, s + at, plain - at);
        if (plain + 1 >= n) return false;
        char c = s[plain + 1];
        if (c == '"' || c == '#') return false; /* a comment, to the end of the line */
        if (c == 'c') return true;
        at = resolve_escape(out, s, n, plain + 1, r);
    }
    return false;
}

bool roff_resolve(fo_buf *out, const char *s, size_t n, const roff_strings *of) {
    resolving r = {.of = of, .room = MAX_GROWTH};
    return resolve(out, s, n, &r);
}
