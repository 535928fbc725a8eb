/* term_words.h - terms of a list of definitions that are words: "Black bin", not "--all" or "Is it free?".
 *
 * Such a term is said on the line of what it means, "Black bin: Nappies, cat litter.", as otherwise it looks like the
 * heading of a part; a single word on the line above is known for a term. */
#ifndef FORAGE_DATA_TERM_WORDS_H
#define FORAGE_DATA_TERM_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { TERM_WORDS_BYTES = 48 }; /* of the longest */

/* A capital or a letter beyond ASCII, then letters, digits and the signs of words, commas between them ("Orange, blinking"); a single word in small letters behind it.
 * Afterwards *several says whether there are two words or more. */
bool term_words_are(const char *s, size_t n, bool *several);

#endif
