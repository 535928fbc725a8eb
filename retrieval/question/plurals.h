/* plurals.h - one word and its plural, where stems part them. */
#ifndef FORAGE_RETRIEVAL_PLURALS_H
#define FORAGE_RETRIEVAL_PLURALS_H

#include <stdbool.h>
#include <stddef.h>

/* Is one of two words the other with one of `ends` (a blank between them) behind it? Letters of ASCII in any case; three at least. */
bool plural_is_of(const char *a, size_t n, const char *b, size_t m, const char *ends);

#endif
