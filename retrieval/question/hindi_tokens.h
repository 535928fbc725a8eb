/* hindi_tokens.h - the words, numbers and signs of a text in Hindi, as its lists have them: without the dot below, but for ड़ and
 * ढ़, a nasal vowel by the one sign, figures in ASCII, letters of ASCII small. The stop of Hindi is a sign. */
#ifndef FORAGE_RETRIEVAL_HINDI_TOKENS_H
#define FORAGE_RETRIEVAL_HINDI_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/question/demand_words.h"

typedef struct hindi_token {
    char s[DEMAND_WORD_MOST]; /* "" where it is longer */
    size_t start, n;          /* bytes of the text */
    bool letters, digits;
} hindi_token;

/* The next one at or behind *at, which moves behind it; false, and n is 0: there is none. */
bool hindi_token_next(hindi_token *t, const char *text, size_t len, size_t *at);

/* Is the word one of the list's, divided by spaces? */
bool hindi_token_in(const char *list, const hindi_token *t);

bool hindi_word_ends(const char *list, const char *word);

/* Are they one noun, but for an end: "कोर्ट" and "कोर्टों"? */
bool hindi_word_alike(const char *a, const char *b);

#endif
