#include "engine/grammar/pattern_syntax.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 64, MAX_REPEAT = 10000, LAST_POINT = 0x10ffff };

typedef struct parser {
    pattern_tree *t;
    const char *text, *at;
    int depth;
    fo_err *err;
} parser;

static int parse_either(parser *p, int *out);

static int refuse(const parser *p, int code, const char *what) {
    return fo_fail(p->err, code, "%s at byte %zu of the pattern", what, (size_t)(p->at - p->text));
}

static int add_term(parser *p, pattern_term term, int *out) {
    if (p->t->n_terms == PATTERN_MAX_TERMS) return refuse(p, FO_ELIMIT, "too many terms");
    *out = p->t->n_terms;
    p->t->terms[p->t->n_terms++] = term;
    return FO_OK;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int add_range(parser *p, uint32_t first, uint32_t last) {
    if (p->t->n_ranges == PATTERN_MAX_RANGES) return refuse(p, FO_ELIMIT, "too many ranges");
    p->t->ranges[p->t->n_ranges++] = (pattern_range){first, last};
    return FO_OK;
}

static int by_first(const void *a, const void *b) {
    const pattern_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Ranges from `from` on become what they leave out of all code points. */
static int complement(parser *p, int from) {
    pattern_range *r = p->t->ranges;
    int n = p->t->n_ranges;
    uint32_t next = 0;
    qsort(r + from, (size_t)(n - from), sizeof *r, by_first);
    if (n == from) return add_range(p, 0, LAST_POINT);
    pattern_range gaps[PATTERN_MAX_RANGES / 8];
    int n_gaps = 0;
    for (int i = from; i < n; i++) {
        if (n_gaps + 2 > (int)(sizeof gaps / sizeof *gaps))
            return refuse(p, FO_ELIMIT, "too many ranges");
        if (r[i].first > next) gaps[n_gaps++] = (pattern_range){next, r[i].first - 1};
        if (r[i].last + 1 > next) next = r[i].last + 1;
    }
    if (next <= LAST_POINT) gaps[n_gaps++] = (pattern_range){next, LAST_POINT};
    p->t->n_ranges = from;
    int rc = FO_OK;
    for (int i = 0; !rc && i < n_gaps; i++) rc = add_range(p, gaps[i].first, gaps[i].last);
    return rc;
}

/* \d, \w, \s and their complements; false: c is none of them. */
static bool add_class(parser *p, char c, int *rc) {
    static const pattern_range digits[] = {{'0', '9'}};
    static const pattern_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    static const pattern_range blanks[] = {
        {9, 13},          {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
        {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
    const pattern_range *list;
    size_t n;
    switch (c | 32) {
    case 'd':
        list = digits, n = 1;
        break;
    case 'w':
        list = words, n = 4;
        break;
    case 's':
        list = blanks, n = sizeof blanks / sizeof *blanks;
        break;
    default:
        return false;
    }
    bool others = c < 'a';
    uint32_t next = 0;
    *rc = FO_OK;
    for (size_t i = 0; !*rc && i < n; i++) {
        if (!others)
            *rc = add_range(p, list[i].first, list[i].last);
        else if (list[i].first > next)
            *rc = add_range(p, next, list[i].first - 1);
        next = list[i].last + 1;
    }
    if (!*rc && others) *rc = add_range(p, next, LAST_POINT);
    return true;
}

static int read_hex(parser *p, int n, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < n; i++, p->at++) {
        char c = *p->at;
        int v = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
        if (v < 0) return refuse(p, FO_EINVAL, "hex digits are missing");
        *out = *out << 4 | (uint32_t)v;
    }
    return FO_OK;
}

/* One code point of the text, which is valid UTF-8. */
static uint32_t read_point(parser *p) {
    unsigned char c = (unsigned char)*p->at++;
    if (c < 0x80) return c;
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    uint32_t v = c & (0x3fu >> more);
    for (; more && (*p->at & 0xc0) == 0x80; more--) v = v << 6 | ((unsigned char)*p->at++ & 0x3fu);
    return v;
}

/* Behind \u: a code point, or one in two halves as JavaScript writes those beyond U+FFFF. */
static int read_unicode(parser *p, uint32_t *out) {
    int rc = read_hex(p, 4, out);
    if (rc || *out < 0xd800 || *out > 0xdfff) return rc;
    uint32_t low = 0;
    if (*out > 0xdbff || p->at[0] != '\\' || p->at[1] != 'u')
        return refuse(p, FO_EINVAL, "half a surrogate pair");
    p->at += 2;
    rc = read_hex(p, 4, &low);
    if (!rc && (low < 0xdc00 || low > 0xdfff)) return refuse(p, FO_EINVAL, "half a surrogate pair");
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return rc;
}

/* Behind a backslash that begins no class: one code point. */
static int read_escape(parser *p, bool in_set, uint32_t *out) {
    static const char names[] = "tnrfv0", means[] = "\t\n\r\f\v";
    char c = *p->at;
    const char *at = c ? strchr(names, c) : NULL;
    if (in_set && c == 'b') return p->at++, *out = 8, FO_OK;
    if (at) return p->at++, *out = (unsigned char)means[at - names], FO_OK;
    if (c == 'x') return p->at++, read_hex(p, 2, out);
    if (c == 'u') return p->at++, read_unicode(p, out);
    if ((unsigned char)c >= 0x80) return *out = read_point(p), FO_OK;
    if (c >= '1' && c <= '9') return refuse(p, FO_EUNSUPPORTED, "a back reference");
    if (c && strchr("bBpPkcC", c)) return refuse(p, FO_EUNSUPPORTED, "an unsupported escape");
    if (!c || (c | 32) >= 'a') {
        if (!c || (c | 32) <= 'z') return refuse(p, FO_EINVAL, "an unknown escape");
    }
    return p->at++, *out = (unsigned char)c, FO_OK;
}

static int read_member(parser *p, uint32_t *out) {
    if (*p->at != '\\') return *out = read_point(p), FO_OK;
    p->at++;
    return read_escape(p, true, out);
}

static int parse_set(parser *p, int from) { /* behind "[" */
    bool others = *p->at == '^';
    int rc = FO_OK;
    p->at += others;
    while (!rc && *p->at != ']') {
        if (!*p->at) return refuse(p, FO_EINVAL, "a class that is not closed");
        if (*p->at == '\\' && add_class(p, p->at[1], &rc)) {
            p->at += 2;
            continue;
        }
        uint32_t first = 0, last;
        rc = read_member(p, &first);
        last = first;
        if (!rc && *p->at == '-' && p->at[1] && p->at[1] != ']') {
            p->at++;
            rc = read_member(p, &last);
            if (!rc && last < first) return refuse(p, FO_EINVAL, "a range that goes backwards");
        }
        if (!rc) rc = add_range(p, first, last);
    }
    if (!rc) p->at++;
    return !rc && others ? complement(p, from) : rc;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static int parse_group(parser *p, int *out) { /* behind "(" */
    if (*p->at == '?') {
        if (p->at[1] == ':') {
            p->at += 2;
        } else if (p->at[1] == '<' && p->at[2] != '=' && p->at[2] != '!') {
            p->at += strcspn(p->at, ">");
            if (*p->at) p->at++;
        } else {
            return refuse(p, FO_EUNSUPPORTED, "look-around");
        }
    }
    if (++p->depth > MAX_NESTING) return refuse(p, FO_ELIMIT, "too many groups in each other");
    int rc = parse_either(p, out);
    p->depth--;
    if (!rc && *p->at != ')') return refuse(p, FO_EINVAL, "a group that is not closed");
    if (!rc) p->at++;
    return rc;
}

static int parse_atom(parser *p, int *out) {
    int from = p->t->n_ranges, rc = FO_OK;
    uint32_t point = 0;
    char c = *p->at;
    if (c == '^' || c == '$')
        return p->at++,
               add_term(p, (pattern_term){.kind = c == '^' ? PATTERN_BEGIN : PATTERN_END}, out);
    if (c == '(') return p->at++, parse_group(p, out);
    if (strchr("*+?", c)) return refuse(p, FO_EINVAL, "nothing to repeat");
    if (c == '[') {
        p->at++;
        rc = parse_set(p, from);
    } else if (c == '.') {
        p->at++;
        static const pattern_range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
        for (int i = 0; !rc && i < 3; i++) rc = add_range(p, line_ends[i].first, line_ends[i].last);
        if (!rc) rc = complement(p, from);
    } else if (c == '\\') {
        p->at++;
        if (add_class(p, *p->at, &rc)) {
            p->at++;
        } else {
            rc = read_escape(p, false, &point);
            if (!rc) rc = add_range(p, point, point);
        }
    } else {
        point = read_point(p);
        rc = add_range(p, point, point);
    }
    if (rc) return rc;
    return add_term(p, (pattern_term){.kind = PATTERN_SET, .a = from, .b = p->t->n_ranges - from},
                    out);
}

/* {n}, {n,} or {n,m}; false: the brace is text. */
static bool read_counts(parser *p, int *min, int *max) {
    char *end;
    const char *at = p->at + 1;
    if (*at < '0' || *at > '9') return false;
    long a = strtol(at, &end, 10), b = a;
    if (*end == ',') {
        at = end + 1;
        b = PATTERN_ENDLESS;
        if (*at >= '0' && *at <= '9')
            b = strtol(at, &end, 10);
        else
            end = (char *)at;
    }
    if (*end != '}') return false;
    p->at = end + 1;
    *min = a > PATTERN_ENDLESS ? PATTERN_ENDLESS : (int)a;
    *max = b > PATTERN_ENDLESS ? PATTERN_ENDLESS : (int)b;
    return true;
}

static int parse_repeat(parser *p, int *out) {
    int rc = parse_atom(p, out);
    while (!rc) {
        int min = 0, max = PATTERN_ENDLESS;
        char c = *p->at;
        if (c == '*' || c == '+' || c == '?') {
            p->at++;
            min = c == '+';
            if (c == '?') max = 1;
        } else if (c != '{' || !read_counts(p, &min, &max)) {
            return FO_OK;
        }
        if (max < min) return refuse(p, FO_EINVAL, "a repetition that goes backwards");
        if (min > MAX_REPEAT || (max > MAX_REPEAT && max != PATTERN_ENDLESS))
            return refuse(p, FO_ELIMIT, "a repetition of more than 10000");
        if (*p->at == '?') p->at++; /* lazy: the same strings match */
        rc = add_term(p, (pattern_term){.kind = PATTERN_REPEAT, .a = *out, .min = min, .max = max},
                      out);
    }
    return rc;
}

static int parse_sequence(parser *p, int *out) {
    int rc = add_term(p, (pattern_term){.kind = PATTERN_EMPTY}, out);
    while (!rc && *p->at && *p->at != '|' && *p->at != ')') {
        int next = 0, before = *out;
        rc = parse_repeat(p, &next);
        if (!rc) rc = add_term(p, (pattern_term){.kind = PATTERN_CAT, .a = before, .b = next}, out);
    }
    return rc;
}

static int parse_either(parser *p, int *out) {
    int rc = parse_sequence(p, out);
    while (!rc && *p->at == '|') {
        int other = 0, before = *out;
        p->at++;
        rc = parse_sequence(p, &other);
        if (!rc)
            rc = add_term(p, (pattern_term){.kind = PATTERN_EITHER, .a = before, .b = other}, out);
    }
    return rc;
}

int pattern_parse(pattern_tree *out, const char *text, fo_err *err) {
    parser p = {out, text, text, 0, err};
    out->n_terms = out->n_ranges = 0;
    int rc = parse_either(&p, &out->root);
    if (!rc && *p.at) return refuse(&p, FO_EINVAL, "a closing parenthesis too many");
    return rc;
}
