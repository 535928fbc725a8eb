/* See xml_guard.h. Attributes are counted by their "=" outside of quotes. Declarations ("<!DOCTYPE") are taken for text: what would be
 * an element in one begins with "<!" as well. */
#include "data/extract/xml_guard.h"

#include <string.h>

enum { TEXT, OPENED, TAG, BANG, BANG_DASH, COMMENT, CDATA, INSTRUCTION };

/* Behind the first byte of a tag. */
static int kind_of(char c) {
    return c == '!' ? BANG : c == '?' ? INSTRUCTION : TAG;
}

/* c is the next byte of what ends with `end`, three bytes of which the first two are alike, or two: is it the last? */
static bool ends(xml_guard *g, const char *end, char c) {
    const unsigned k = (unsigned)strlen(end);
    if (g->behind == k - 1 && c == end[k - 1]) {
        g->behind = 0;
        return true;
    }
    if (c != end[0])
        g->behind = 0;
    else if (g->behind < k - 1)
        g->behind++;
    return false;
}

/* The next byte that may matter in what g is in: the others are passed over at once. */
static size_t pass_over(const xml_guard *g, const char *s, size_t n) {
    const char *found = g->in == TEXT              ? memchr(s, '<', n)
                        : g->in == TAG && g->quote ? memchr(s, g->quote, n)
                        : g->behind                ? s
                        : g->in == COMMENT         ? memchr(s, '-', n)
                        : g->in == CDATA           ? memchr(s, ']', n)
                        : g->in == INSTRUCTION     ? memchr(s, '?', n)
                                                   : s;
    return found ? (size_t)(found - s) : n;
}

static void in_tag(xml_guard *g, char c) {
    if (g->quote) {
        g->quote = 0; /* it is the one that closes */
    } else if (c == '"' || c == '\'') {
        g->quote = c;
    } else if (c == '>') {
        g->in = TEXT;
        g->n = 0;
    } else {
        g->n += c == '=';
    }
}

bool xml_guard_pass(xml_guard *g, const char *s, size_t n) {
    for (size_t at = pass_over(g, s, n); at < n; at += 1 + pass_over(g, s + at + 1, n - at - 1)) {
        const char c = s[at];
        switch (g->in) {
        case TEXT:
            g->in = OPENED;
            break;
        case OPENED:
            g->in = kind_of(c);
            break;
        case BANG:
            g->in = c == '-' ? BANG_DASH : c == '[' ? CDATA : TEXT;
            break;
        case BANG_DASH:
            g->in = c == '-' ? COMMENT : TEXT;
            break;
        case COMMENT:
            if (ends(g, "-->", c)) g->in = TEXT;
            break;
        case CDATA:
            if (ends(g, "]]>", c)) g->in = TEXT;
            break;
        case INSTRUCTION:
            if (ends(g, "?>", c)) g->in = TEXT;
            break;
        default:
            in_tag(g, c);
            if (g->n > XML_GUARD_ATTRIBUTES) return false;
        }
    }
    return true;
}
