/* arabic_words.h - words of Arabic as lists of demand_words.h and arabic_demands.c have them: without what is written with a word
 * and is none of its own, the article and the particles before it. */
#ifndef FORAGE_RETRIEVAL_ARABIC_WORDS_H
#define FORAGE_RETRIEVAL_ARABIC_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Is the first letter of the UTF-8 word one of Arabic script? */
bool arabic_word_is(const char *word, size_t len);

/* The word, NUL-terminated, without marks already, in place: no tatweel, "ة" as "ه", "ى" as "ي", no article ("الساعة", "بالحافلة",
 * "للطالب"), and no alif that only carries the mark of a case. tanween: that mark stood at its end ("يومًا"). */
void arabic_word_plain(char *word, bool tanween);

/* Does the raw word end in the mark that an alif carries, on either side of it? */
bool arabic_word_has_tanween(const char *word, size_t len);

#endif
