/* jinja_lex.c - a template's text as tokens. White-space control happens here: `-` beside a tag
 * strips all white space on that side, a block tag alone on its line takes its indentation
 * (lstrip_blocks) and the newline behind it (trim_blocks) with it, `+` prevents both. */
#include <stdlib.h>
#include <string.h>

#include "engine/chat/jinja.h"
#include "engine/tokenizer/unicode.h"
#include "kernels/utf8.h"

typedef struct lexer {
    jinja *c;
    const char *s;
    size_t n, at;
    uint32_t line;
    bool line_starts; /* nothing but stripped white space stands before `at` on its line */
    jtoken *tokens;
    size_t n_tokens, cap;
} lexer;

static void fail(lexer *l, const char *what) {
    l->c->line = l->line;
    jinja_fail(l->c, FO_EINVAL, "%s", what);
}

static jtoken *add(lexer *l, jtok type) {
    if (l->c->failed) return NULL;
    if (l->n_tokens == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        jtoken *grown = jinja_alloc(l->c, cap, sizeof *grown);
        if (!grown) return NULL;
        if (l->n_tokens) memcpy(grown, l->tokens, l->n_tokens * sizeof *grown);
        l->tokens = grown;
        l->cap = cap;
    }
    jtoken *t = &l->tokens[l->n_tokens++];
    *t = (jtoken){.type = type, .line = l->line};
    return t;
}

/* Go to `to`, counting lines. */
static void advance(lexer *l, size_t to) {
    for (; l->at < to; l->at++) l->line += l->s[l->at] == '\n';
}

/* The opening tag stands at `end`: emit the text before it. */
static void add_data(lexer *l, size_t end, bool variable, char sign) {
    size_t from = l->at, stop = end;
    if (sign == '-') {
        while (stop > from && fo_is_blank(l->s[stop - 1])) stop--;
    } else if (!variable && sign != '+') {
        size_t line = stop;
        while (line > from && l->s[line - 1] != '\n') line--;
        size_t blank = line;
        while (blank < stop && fo_is_blank(l->s[blank])) blank++;
        if (blank == stop && (line > from || l->line_starts)) stop = line;
    }
    if (stop > from) {
        jtoken *t = add(l, T_DATA);
        if (t) t->text = (jstr){l->s + from, stop - from};
    }
    advance(l, end);
}

/* Behind a closing tag of `length` characters at `at`: strip what its sign says. */
static void close_tag(lexer *l, size_t at, size_t length, char sign, bool trim) {
    size_t to = at + length;
    if (sign == '-') {
        while (to < l->n && fo_is_blank(l->s[to])) to++;
    } else if (trim && sign != '+' && to < l->n && l->s[to] == '\n') {
        to++;
    }
    l->line_starts = l->s[to - 1] == '\n';
    advance(l, to);
}

static char sign_at(const lexer *l, size_t at) {
    return at < l->n && (l->s[at] == '-' || l->s[at] == '+') ? l->s[at] : 0;
}

static void lex_comment(lexer *l, size_t begin) {
    const char *end = begin < l->n ? memmem(l->s + begin, l->n - begin, "#}", 2) : NULL;
    if (!end) {
        fail(l, "a comment is not closed");
        return;
    }
    size_t at = (size_t)(end - l->s);
    char sign = at > begin ? sign_at(l, at - 1) : 0;
    close_tag(l, at, 2, sign, true);
}

static size_t skip_space(const lexer *l, size_t at) {
    while (at < l->n && fo_is_blank(l->s[at])) at++;
    return at;
}

/* Does the block tag whose inside begins at `at` hold only `word`? Then where its end tag is. */
static bool tag_is(const lexer *l, size_t at, const char *word, size_t *close, char *sign) {
    size_t n = strlen(word);
    at = skip_space(l, at);
    if (l->n - at < n || memcmp(l->s + at, word, n) != 0) return false;
    at = skip_space(l, at + n);
    *sign = sign_at(l, at);
    if (*sign) at++;
    *close = at;
    return l->n - at >= 2 && l->s[at] == '%' && l->s[at + 1] == '}';
}

/* Inside {% raw %}: all is data up to {% endraw %}, the newline behind the opening tag as well. */
static void lex_raw(lexer *l, size_t close, char sign) {
    close_tag(l, close, 2, sign, false);
    for (size_t at = l->at;; at += 2) {
        const char *tag = at < l->n ? memmem(l->s + at, l->n - at, "{%", 2) : NULL;
        if (!tag) {
            fail(l, "a raw block is not closed");
            return;
        }
        at = (size_t)(tag - l->s);
        char before = sign_at(l, at + 2), after;
        size_t end;
        if (!tag_is(l, at + 2 + (before != 0), "endraw", &end, &after)) continue;
        add_data(l, at, false, before);
        close_tag(l, end, 2, after, true);
        return;
    }
}

static bool starts_name(unsigned char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch >= 128;
}

static void lex_name(lexer *l) {
    size_t from = l->at, at = from;
    while (at < l->n && (starts_name((unsigned char)l->s[at]) || fo_is_digit(l->s[at]))) at++;
    jtoken *t = add(l, T_NAME);
    if (t) t->text = (jstr){l->s + from, at - from};
    l->at = at;
}

static void lex_number(lexer *l) {
    char digits[64];
    size_t n = 0, at = l->at;
    bool whole = true, attribute = at > 0 && l->s[at - 1] == '.';
    for (; at < l->n && n < sizeof digits - 1; at++) {
        char ch = l->s[at];
        bool next_digit = at + 1 < l->n && fo_is_digit(l->s[at + 1]);
        if (fo_is_digit(ch))
            digits[n++] = ch;
        else if (ch == '_' && next_digit)
            continue;
        else if (ch == '.' && whole && next_digit && !attribute) {
            digits[n++] = ch;
            whole = false;
        } else if ((ch == 'e' || ch == 'E') && !attribute && n && fo_is_digit(digits[n - 1])) {
            size_t k = at + 1 + (at + 1 < l->n && (l->s[at + 1] == '+' || l->s[at + 1] == '-'));
            if (k >= l->n || !fo_is_digit(l->s[k]) || n > 40) break;
            whole = false;
            for (; at < k; at++) digits[n++] = l->s[at];
            while (at < l->n && fo_is_digit(l->s[at]) && n < sizeof digits - 1)
                digits[n++] = l->s[at++];
            break;
        } else {
            break;
        }
    }
    digits[n] = 0;
    l->at = at;
    jtoken *t = add(l, whole ? T_INT : T_FLOAT);
    if (!t) return;
    if (!whole) {
        t->value = j_float(strtod(digits, NULL));
    } else if (n > 18) {
        fail(l, "an integer of more than 18 digits");
    } else {
        t->value = j_int(strtoll(digits, NULL, 10));
    }
}

static int hex_value(const char *s, size_t n) {
    int v = 0;
    for (size_t i = 0; i < n; i++) {
        char ch = s[i];
        int d = fo_is_digit(ch)            ? ch - '0'
                : (ch >= 'a' && ch <= 'f') ? ch - 'a' + 10
                : (ch >= 'A' && ch <= 'F') ? ch - 'A' + 10
                                           : -1;
        if (d < 0) return -1;
        v = v * 16 + d;
    }
    return v;
}

/* One escape of a Python string at s[at], behind the backslash. Returns the bytes it takes. */
static size_t unescape(const char *s, size_t n, size_t at, char **out) {
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    char ch = s[at];
    if (ch == '\n') return 1;
    const char *known = strchr(from, ch);
    if (known) {
        *(*out)++ = to[known - from];
        return 1;
    }
    if (ch >= '0' && ch <= '7') {
        int v = 0;
        size_t k = 0;
        while (k < 3 && at + k < n && s[at + k] >= '0' && s[at + k] <= '7')
            v = v * 8 + s[at + k++] - '0';
        *out += fo_utf8_encode(v, *out);
        return k;
    }
    size_t hex = ch == 'x' ? 2 : ch == 'u' ? 4 : ch == 'U' ? 8 : 0;
    if (hex && n - at - 1 >= hex) {
        int v = hex_value(s + at + 1 + (hex == 8 ? 2 : 0), hex == 8 ? 6 : hex);
        if (v >= 0 && (v < 0xD800 || v > 0xDFFF) && v <= 0x10FFFF) {
            *out += fo_utf8_encode(v, *out);
            return hex + 1;
        }
    }
    *(*out)++ = '\\'; /* unknown escapes stand for themselves */
    return 0;
}

static void lex_string(lexer *l) {
    char quote = l->s[l->at];
    size_t from = l->at + 1, at = from;
    while (at < l->n && l->s[at] != quote) at += l->s[at] == '\\' ? 2 : 1;
    if (at >= l->n) {
        fail(l, "a string is not closed");
        return;
    }
    jtoken *t = add(l, T_STRING);
    /* No escape grows: \ooo and \xhh become at most two bytes, \uhhhh three. */
    char *out = t ? jinja_alloc(l->c, at - from + 1, 1) : NULL, *p = out;
    if (!out) return;
    for (size_t i = from; i < at;) {
        if (l->s[i] == '\\')
            i += 1 + unescape(l->s, at, i + 1, &p);
        else
            *p++ = l->s[i++];
    }
    t->text = (jstr){out, (size_t)(p - out)};
    advance(l, at + 1);
}

static void lex_operator(lexer *l) {
    static const char *const two[] = {"==", "!=", ">=", "<=", "//", "**"};
    unsigned char a = (unsigned char)l->s[l->at];
    int op = a;
    for (size_t i = 0; i < sizeof two / sizeof *two && l->at + 1 < l->n; i++)
        if (l->s[l->at] == two[i][0] && l->s[l->at + 1] == two[i][1]) op = J_OP2(a, two[i][1]);
    if (op < 256 && !strchr("+-*/%~()[]{}<>=.:|,;", (char)a)) {
        l->c->line = l->line;
        jinja_fail(l->c, FO_EINVAL, "the character '%c' (code %d) has no place here",
                   a >= 32 && a < 127 ? a : '?', a);
        return;
    }
    jtoken *t = add(l, T_OP);
    if (t) t->op = op;
    l->at += op < 256 ? 1 : 2;
}

/* From the inside of {{ or {% to behind its end. */
static void lex_tag(lexer *l, bool variable) {
    char first = variable ? '}' : '%';
    int open = 0; /* brackets: "}}" inside a dict is no end */
    while (!l->c->failed) {
        advance(l, skip_space(l, l->at));
        if (l->at >= l->n) {
            fail(l, "a tag is not closed");
            return;
        }
        size_t at = l->at;
        char sign = sign_at(l, at);
        size_t end = at + (sign != 0);
        if (!open && l->n - end >= 2 && l->s[end] == first && l->s[end + 1] == '}' &&
            !(variable && sign == '+')) {
            add(l, variable ? T_VAR_END : T_BLOCK_END);
            close_tag(l, end, 2, sign, !variable);
            return;
        }
        char ch = l->s[at];
        if (ch == '"' || ch == '\'')
            lex_string(l);
        else if (fo_is_digit(ch))
            lex_number(l);
        else if (starts_name((unsigned char)ch))
            lex_name(l);
        else
            lex_operator(l);
        open += ch == '(' || ch == '[' || ch == '{';
        open -= ch == ')' || ch == ']' || ch == '}';
        if (open < 0) fail(l, "a bracket is closed that was never opened");
    }
}

/* Newlines become \n, and one at the very end goes. */
static char *normalise(jinja *c, const char *text, size_t *n) {
    char *out = jinja_alloc(c, *n + 1, 1);
    if (!out) return NULL;
    size_t len = 0;
    for (size_t i = 0; i < *n; i++) {
        if (text[i] == '\r' && i + 1 < *n && text[i + 1] == '\n') continue;
        out[len++] = text[i] == '\r' ? '\n' : text[i];
    }
    if (len && out[len - 1] == '\n') len--;
    *n = len;
    return out;
}

/* The next opening tag at or behind `at`: its second character in *kind; n if there is none. */
static size_t find_tag(const lexer *l, size_t at, char *kind) {
    while (at < l->n) {
        const char *brace = memchr(l->s + at, '{', l->n - at);
        if (!brace) break;
        at = (size_t)(brace - l->s);
        if (at + 1 < l->n && strchr("{%#", l->s[at + 1]) && l->s[at + 1]) {
            *kind = l->s[at + 1];
            return at;
        }
        at++;
    }
    return l->n;
}

bool jinja_lex(jinja *c, const char *text, size_t n, const jtoken **tokens) {
    size_t bad;
    c->line = 1;
    if (!fo_utf8_valid(text, n, &bad)) {
        jinja_fail(c, FO_EINVAL, "the template is not UTF-8 at byte %zu", bad);
        return false;
    }
    lexer l = {.c = c, .line = 1, .line_starts = true, .n = n};
    l.s = normalise(c, text, &l.n);
    while (!c->failed && l.at < l.n) {
        char kind = 0;
        size_t at = find_tag(&l, l.at, &kind);
        if (at == l.n) {
            add_data(&l, at, true, 0);
            break;
        }
        char sign = sign_at(&l, at + 2);
        size_t inside = at + 2 + (sign != 0), close;
        char close_sign;
        add_data(&l, at, kind == '{', sign);
        if (kind == '#') {
            lex_comment(&l, inside);
        } else if (kind == '%' && tag_is(&l, inside, "raw", &close, &close_sign)) {
            lex_raw(&l, close, close_sign);
        } else {
            add(&l, kind == '{' ? T_VAR_BEGIN : T_BLOCK_BEGIN);
            l.at = inside;
            lex_tag(&l, kind == '{');
        }
    }
    add(&l, T_END);
    *tokens = l.tokens;
    return !c->failed;
}
