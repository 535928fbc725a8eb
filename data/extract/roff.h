/* roff.h - the escapes of troff inside a line of text: fonts and motions vanish, special
 * characters become Unicode. Sources: groff(7), groff_char(7). */
#ifndef FORAGE_DATA_ROFF_H
#define FORAGE_DATA_ROFF_H

#include "kernels/buf.h"

/* Append s[0..n) to out with escapes resolved. True if the line ends in \c: what follows is to be
 * joined without a space. */
bool roff_resolve(fo_buf *out, const char *s, size_t n);

#endif
