/* word_tokens.h - a text as words, numbers and signs, for closed lists of English words. No analyzer: "Fri", "8.50" and the
 * sign of the euro are what they are, and so are the marks of Arabic. */
#ifndef FORAGE_RETRIEVAL_WORD_TOKENS_H
#define FORAGE_RETRIEVAL_WORD_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct word_token {
    const char
        *s; /* in the text: a run of letters, of digits ("8.50", "1,200", "٤٢٠"), or one sign */
    size_t n; /* 0 at the end of the text */
    bool letters, digits;
} word_token;

/* ASCII letters and bytes of others; the bytes of signs such as the euro's and of dashes are none. */
bool word_token_letter(char c);

/* The token at or behind byte *at of text[len], which moves behind it. */
word_token word_token_next(const char *text, size_t len, size_t *at);

/* Is it one of the words that `list` divides by blanks, whatever its case? A number is none. */
bool word_token_in(const char *list, const word_token *t);

/* Is a word of text[len] one of the list's? */
bool word_tokens_say(const char *list, const char *text, size_t len);

/* The year that a number of four digits may be, 1000 to 2199; 0: it is none. */
int word_token_year(const word_token *t);

/* Bytes of the number that a paragraph or an item begins with, "(2) ", "2. " or "2) ", where a capital stands behind it; 0: it begins with none:
 * "(30) hymn books" are so many. */
size_t word_tokens_mark(const char *text, size_t len);

/* Is it these bytes? */
bool word_token_is(const word_token *t, const char *bytes);

/* A hyphen or an en dash? */
bool word_token_is_dash(const word_token *t);

#endif
