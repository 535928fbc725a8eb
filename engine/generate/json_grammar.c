#include "engine/generate/json_grammar.h"

#include <string.h>

enum { MAX_DEPTH = 62, MAX_BLANKS = 20 };

/* Where the reader stands. The numbers' states come last, in the order of RFC 8259, section 6. */
enum {
    AT_ROOT,
    AT_FIRST_KEY, /* "{" was read */
    AT_KEY,       /* "," in an object */
    AT_COLON,
    AT_FIRST_ITEM, /* "[" was read */
    AT_VALUE,
    AT_AFTER, /* a value is over */
    AT_DONE,
    IN_KEY,
    IN_STRING,
    IN_LITERAL,
    IN_MINUS,
    IN_ZERO,
    IN_INTEGER,
    IN_POINT,
    IN_FRACTION,
    IN_E,
    IN_E_SIGN,
    IN_EXPONENT,
};

json_state json_state_start(void) {
    return (json_state){.where = AT_ROOT};
}

bool json_complete(const json_state *s) {
    return s->where == AT_DONE;
}

static bool open_level(json_state *s, bool object) {
    if (s->depth == MAX_DEPTH) return false;
    s->objects = s->objects << 1 | object;
    s->depth++;
    s->where = object ? AT_FIRST_KEY : AT_FIRST_ITEM;
    return true;
}

static bool close_level(json_state *s) {
    s->objects >>= 1;
    s->where = --s->depth ? AT_AFTER : AT_DONE;
    return true;
}

static bool begin_value(json_state *s, char c) {
    static const char *const literals[] = {"true", "false", "null"};
    if (c == '{' || c == '[') return open_level(s, c == '{');
    if (c == '"') return s->where = IN_STRING, true;
    if (c == '-') return s->where = IN_MINUS, true;
    if (c == '0') return s->where = IN_ZERO, true;
    if (c >= '1' && c <= '9') return s->where = IN_INTEGER, true;
    for (size_t i = 0; i < 3; i++)
        if (c == literals[i][0]) {
            s->literal = literals[i] + 1;
            s->where = IN_LITERAL;
            return true;
        }
    return false;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* escape: 0 none, 1 after the backslash, 2..5 hex digits still to come plus one. */
static bool read_string(json_state *s, char c) {
    if (s->escape == 1) {
        s->escape = c == 'u' ? 5 : 0;
        return c && strchr("\"\\/bfnrtu", c);
    }
    if (s->escape) {
        bool surrogate = s->escape == 4 && s->high && !(c >= '0' && c <= '7');
        if (!is_hex(c) || surrogate) return false;
        s->high = s->escape == 5 && (c == 'd' || c == 'D');
        s->escape = s->escape == 2 ? 0 : s->escape - 1;
        return true;
    }
    if (c == '"')
        s->where = s->where == IN_KEY ? AT_COLON : AT_AFTER;
    else if (c == '\\')
        s->escape = 1;
    return (unsigned char)c >= 0x20;
}

/* 1: c belongs to the number; 0: the number may end before c; -1: it may not. */
static int read_number(json_state *s, char c) {
    bool digit = c >= '0' && c <= '9', e = c == 'e' || c == 'E';
    int next = -1;
    switch (s->where) {
    case IN_MINUS:
        next = c == '0' ? IN_ZERO : digit ? IN_INTEGER : -1;
        break;
    case IN_ZERO:
    case IN_INTEGER:
        next = digit && s->where == IN_INTEGER ? IN_INTEGER : c == '.' ? IN_POINT : e ? IN_E : 0;
        break;
    case IN_POINT:
    case IN_FRACTION:
        next = digit ? IN_FRACTION : s->where == IN_POINT ? -1 : e ? IN_E : 0;
        break;
    case IN_E:
        next = c == '+' || c == '-' ? IN_E_SIGN : digit ? IN_EXPONENT : -1;
        break;
    case IN_E_SIGN:
    case IN_EXPONENT:
        next = digit ? IN_EXPONENT : s->where == IN_E_SIGN ? -1 : 0;
        break;
    }
    if (next > 0) s->where = (uint8_t)next;
    return next > 0 ? 1 : next;
}

static bool read_structure(json_state *s, char c) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
        return s->where != AT_DONE && ++s->blanks <= MAX_BLANKS;
    s->blanks = 0;
    bool object = s->objects & 1;
    switch (s->where) {
    case AT_ROOT:
        return c == '{' && open_level(s, true);
    case AT_FIRST_KEY:
        if (c == '}') return close_level(s);
        /* fall through */
    case AT_KEY:
        s->where = IN_KEY;
        return c == '"';
    case AT_COLON:
        s->where = AT_VALUE;
        return c == ':';
    case AT_FIRST_ITEM:
        if (c == ']') return close_level(s);
        /* fall through */
    case AT_VALUE:
        return begin_value(s, c);
    case AT_AFTER:
        if (c == (object ? '}' : ']')) return close_level(s);
        s->where = object ? AT_KEY : AT_VALUE;
        return c == ',';
    default:
        return false;
    }
}

static bool read_byte(json_state *s, char c) {
    if (s->where == IN_KEY || s->where == IN_STRING) return read_string(s, c);
    if (s->where == IN_LITERAL) {
        if (c != *s->literal) return false;
        if (!*++s->literal) s->where = AT_AFTER;
        return true;
    }
    if (s->where >= IN_MINUS) {
        int taken = read_number(s, c);
        if (taken) return taken > 0;
        s->where = AT_AFTER;
    }
    return read_structure(s, c);
}

bool json_read(json_state *s, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!read_byte(s, text[i])) return false;
    return true;
}

json_filter json_filter_start(const tokenizer *t) {
    return (json_filter){t, json_state_start()};
}

/* Tokens that print nothing bring the object no nearer to its end, and could go on for ever. */
static tokenizer_string shown(const json_filter *f, int32_t token) {
    if (tokenizer_attributes(f->t, token) & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN))
        return (tokenizer_string){"", 0};
    return tokenizer_piece(f->t, token);
}

bool json_allows(void *filter, int32_t token) {
    const json_filter *f = filter;
    if (tokenizer_is_end(f->t, token)) return false;
    json_state next = f->state;
    tokenizer_string piece = shown(f, token);
    return piece.len && json_read(&next, piece.data, piece.len);
}

void json_take(json_filter *f, int32_t token) {
    tokenizer_string piece = shown(f, token);
    json_read(&f->state, piece.data, piece.len);
}

bool json_done(const json_filter *f) {
    return json_complete(&f->state);
}
