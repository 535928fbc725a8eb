/* charset_guess.h - the character set of a text that declares none and is no UTF-8, by the pairs of letters that are
 * common in a language: windows-1251, koi8-r and koi8-u (Russian, Ukrainian, Bulgarian), windows-1253 (Greek) and
 * windows-1255 (Hebrew). Those of Latin letters are not told apart: their texts differ in few bytes. */
#ifndef FORAGE_DATA_CHARSET_GUESS_H
#define FORAGE_DATA_CHARSET_GUESS_H

#include <stddef.h>

/* An encoding_find name; NULL where the text is too short, or none stands clear of the others. */
const char *charset_guess(const unsigned char *bytes, size_t n);

#endif
