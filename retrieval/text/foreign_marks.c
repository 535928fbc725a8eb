#include "retrieval/text/foreign_marks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "kernels/utf8.h"

enum {
    LONGEST = 64,      /* bytes between the brackets: a longer list is no marker */
    MANY_BELOW = 100,  /* numbers of a list of markers are below that */
    ENTITY_BYTES = 12, /* "&#0000091;" and shorter */
};

/* ---- brackets ---------------------------------------------------------------------------- */

static bool is_entity(const char *s, size_t n, const char *const *names) {
    for (; *names; names++) {
        size_t k = strlen(*names);
        if (n > k && memcmp(s, *names, k) == 0 && s[k] == ';') return true;
    }
    return false;
}

/* The value of "&#91;" or "&#x5b;" at s, 0 where there is none. */
static uint32_t numeric_entity(const char *s, size_t n) {
    size_t at = 2;
    bool hex = n > 2 && (s[2] | 0x20) == 'x';
    uint32_t v = 0;
    if (n < 4 || s[0] != '&' || s[1] != '#') return 0;
    for (at += hex; at < n && at < ENTITY_BYTES && s[at] != ';'; at++) {
        char c = (char)(s[at] | 0x20);
        if (c >= '0' && c <= '9' && s[at] == c)
            v = v * (hex ? 16 : 10) + (uint32_t)(c - '0');
        else if (hex && c >= 'a' && c <= 'f')
            v = v * 16 + (uint32_t)(c - 'a' + 10);
        else
            return 0;
    }
    return at < n && s[at] == ';' ? v : 0;
}

/* Bytes of the bracket that stands at s, 0 where there is none. */
static size_t bracket(const char *s, size_t n, bool opening) {
    static const char *const left[] = {"&lsqb", "&lbrack", NULL};
    static const char *const right[] = {"&rsqb", "&rbrack", NULL};
    if (n == 0) return 0;
    if (s[0] == (opening ? '[' : ']')) return 1;
    if (s[0] == '&') {
        bool is = is_entity(s, n, opening ? left : right) ||
                  numeric_entity(s, n) == (opening ? '[' : ']');
        const char *end = is ? memchr(s, ';', n) : NULL;
        return end ? (size_t)(end - s) + 1 : 0;
    }
    static const char *const wide[2][2] = {{"\xEF\xBC\xBB", "\xE3\x80\x90"},  /* ［ 【 */
                                           {"\xEF\xBC\xBD", "\xE3\x80\x91"}}; /* ］ 】 */
    for (int i = 0; i < 2 && n >= 3; i++)
        if (memcmp(s, wide[!opening][i], 3) == 0) return 3;
    return 0;
}

/* ---- what stands between them ------------------------------------------------------------ */

/* White space, signs without width, marks of Markdown, and what parts the numbers of a list. */
static bool is_filler(int32_t cp, bool after_number) {
    if (cp == '-' || cp == 0x2013 || cp == 0x2014) return after_number; /* "[-1]" is a number */
    if (cp > 0 && cp < 0x80) return strchr(" \t\r\n,;^*_`~\\#", (char)cp) != NULL;
    return cp == 0xA0 || cp == 0xAD || (cp >= 0x2000 && cp <= 0x200F) ||
           (cp >= 0x2028 && cp <= 0x202F) || (cp >= 0x2060 && cp <= 0x2064) || cp == 0x3000 ||
           cp == 0x3001 || cp == 0xFEFF || cp == 0xFF0C || cp == 0x2020;
}

static bool is_digit(int32_t cp) {
    if (cp < 0x80) return cp >= '0' && cp <= '9';
    utf8proc_category_t c = utf8proc_category(cp);
    return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NO;
}

/* Does what begins at s[0..n), just behind an opening bracket, make it a marker? Then *inside are
 * its bytes, and *closing those of the bracket that ends it (0: the text ends first). */
static bool marks(const char *s, size_t n, size_t *inside, size_t *closing) {
    size_t at = 0, n_numbers = 0;
    bool in_number = false, low = true;
    uint32_t value = 0;
    for (;;) {
        size_t end = bracket(s + at, n - at, false), k;
        int32_t cp = 0;
        bool over = at >= n || end > 0;
        if (!over) {
            k = fo_utf8_decode(s + at, n - at, &cp);
            if (is_digit(cp)) {
                if (!in_number) n_numbers++, value = 0;
                in_number = true;
                if (value < MANY_BELOW) value = cp < 0x80 ? value * 10 + (uint32_t)(cp - '0') : 1;
                at += k;
                if (at > LONGEST) return false;
                continue;
            }
        }
        if (in_number) low &= value > 0 && value < MANY_BELOW;
        in_number = false;
        if (over) {
            *inside = at;
            *closing = end;
            return n_numbers == 1 || (n_numbers == 0 && end == 0) || (n_numbers > 1 && low);
        }
        if (!is_filler(cp, n_numbers > 0) || at + k > LONGEST) return false;
        at += k;
    }
}

static size_t rewrite(char *text, size_t len, bool drop) {
    size_t out = 0;
    for (size_t at = 0; at < len;) {
        size_t open = bracket(text + at, len - at, true), inside, close;
        if (open == 0 || !marks(text + at + open, len - at - open, &inside, &close)) {
            size_t n = open ? open : 1;
            memmove(text + out, text + at, n);
            out += n;
            at += n;
            continue;
        }
        size_t next = at + open + inside + close;
        if (drop) {
            while (out && text[out - 1] == ' ') out--;
            while (out == 0 && next < len && text[next] == ' ') next++;
        } else {
            text[out++] = '(';
            memmove(text + out, text + at + open, inside);
            out += inside;
            if (close) text[out++] = ')';
        }
        at = next;
    }
    return out;
}

size_t foreign_marks_disarm(char *text, size_t len) {
    return rewrite(text, len, false);
}

size_t foreign_marks_drop(char *text, size_t len) {
    for (;;) { /* without one, another may stand there: "[[1]2]" */
        size_t n = rewrite(text, len, true);
        if (n == len) return n;
        len = n;
    }
}
