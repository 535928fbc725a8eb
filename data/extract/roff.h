/* roff.h - the escapes of troff inside a line of text: fonts and motions vanish, special
 * characters become Unicode. Sources: groff(7), groff_char(7). */
#ifndef FORAGE_DATA_ROFF_H
#define FORAGE_DATA_ROFF_H

#include "kernels/buf.h"

/* Strings that a page defines for itself (.ds), for \*x, \*(xx and \*[x...]. Zeroed before; what is longer than
 * ROFF_STRING_MAX, or beyond the ROFF_STRINGS-th, is left out. */
enum { ROFF_STRINGS = 256, ROFF_STRING_MAX = 1024 };
typedef struct roff_strings {
    struct roff_string *v;
    size_t n;
} roff_strings;

/* Define one, or append to it; the text may hold escapes, which are resolved where it is used. False: out of memory. */
bool roff_strings_define(roff_strings *t, const char *name, const char *text, bool append);
void roff_strings_free(roff_strings *t);

/* Append s[0..n) to out with escapes resolved; of: the page's own strings, NULL for none. True if the line ends in \c: what
 * follows is to be joined without a space. */
bool roff_resolve(fo_buf *out, const char *s, size_t n, const roff_strings *of);

#endif
