/* mdoc_phrases.h - words that a macro of mdoc(7) stands for: names of systems (.Fx 2.0), and the sentences about what a
 * program exits with (.Ex -std) and what a function returns (.Rv -std). */
#ifndef FORAGE_DATA_MDOC_PHRASES_H
#define FORAGE_DATA_MDOC_PHRASES_H

#include "kernels/buf.h"

/* Is there such a macro? */
bool mdoc_phrase_is(const char *macro);
/* Append what it stands for. words[0..n): what follows it in its line, up to the next macro or mark; name: of the page, where
 * none is given, NULL for none. Returns how many of the words were of it. */
size_t mdoc_phrase(fo_buf *out, const char *macro, char *const *words, size_t n, const char *name);

#endif
