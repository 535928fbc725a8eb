/* clock_words.h - times of the day that are said in words: "um halb acht", "à midi", "a la una y media", "alle sette e un quarto",
 * "ao meio-dia", "в семь вечера". Lists of our own for German, French, Spanish, Italian, Portuguese and Russian. */
#ifndef FORAGE_RETRIEVAL_CLOCK_WORDS_H
#define FORAGE_RETRIEVAL_CLOCK_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Does the text say a time of the day so? False of a language without lists, and where it is said in figures alone. */
bool clock_words_in(int language, const char *text, size_t len);

#endif
