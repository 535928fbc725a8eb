#include "server/base/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/utf8.h"

bool printable_escapes(int32_t cp) {
    if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) return true;
    if (cp < 0x61c) return false;
    return cp == 0x61c || cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2066 && cp <= 0x2069);
}

typedef struct piece { /* of the input: n harmless bytes, or one escape for n bytes */
    size_t n;
    char escape[16]; /* "": none */
} piece;

static void write_escape(piece *p, int32_t cp, unsigned char first, enum printable_form form) {
    if (form == PRINTABLE_JSON)
        snprintf(p->escape, sizeof p->escape, "\\u%04x", cp < 0 ? 0xfffdu : (unsigned)cp);
    else if (cp < 0)
        snprintf(p->escape, sizeof p->escape, "\\x%02x", first);
    else if (cp == '\n' || cp == '\r' || cp == '\t')
        snprintf(p->escape, sizeof p->escape, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
    else
        snprintf(p->escape, sizeof p->escape, "\\u{%x}", (unsigned)cp);
}

/* The next piece of s[0..n), n > 0. */
static piece next_piece(const char *s, size_t n, enum printable_form form) {
    piece p = {0};
    while (p.n < n) {
        unsigned char ch = (unsigned char)s[p.n];
        int32_t cp = ch;
        size_t len = ch < 0x80 ? 1 : fo_utf8_decode(s + p.n, n - p.n, &cp);
        bool kept = form != PRINTABLE_LINE && (cp == '\n' || cp == '\t');
        if (form == PRINTABLE_JSON && cp == '\r') kept = true; /* white space between its parts */
        if (cp >= 0 && (kept || !printable_escapes(cp))) {
            p.n += len;
            continue;
        }
        if (p.n) return p;                                /* what is harmless comes first */
        p.n = cp < 0 && form != PRINTABLE_JSON ? 1 : len; /* a byte that is no UTF-8 by itself */
        write_escape(&p, cp, ch, form);
        return p;
    }
    return p;
}

void printable_add(fo_buf *b, const char *s, size_t n, enum printable_form form) {
    for (size_t i = 0; i < n;) {
        piece p = next_piece(s + i, n - i, form);
        if (p.escape[0])
            fo_buf_str(b, p.escape);
        else
            fo_buf_add(b, s + i, p.n);
        i += p.n;
    }
}

void printable_put(FILE *f, const char *s, size_t n, enum printable_form form) {
    for (size_t i = 0; i < n;) {
        piece p = next_piece(s + i, n - i, form);
        if (p.escape[0])
            fputs(p.escape, f);
        else
            fwrite(s + i, 1, p.n, f);
        i += p.n;
    }
}

void printable_say(FILE *f, const char *fmt, ...) {
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        fputs("forage: out of memory\n", f);
        return;
    }
    printable_put(f, text, (size_t)n, PRINTABLE_LINE);
    fputc('\n', f);
    free(text);
}

void printable_exact(FILE *f, const char *s, size_t n) {
    if (isatty(fileno(f)))
        printable_put(f, s, n, PRINTABLE_TEXT);
    else
        fwrite(s, 1, n, f);
}
