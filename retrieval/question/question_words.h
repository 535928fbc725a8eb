/* question_words.h - what a question word asks for, by language: part of question.h. Lists of our own; English is question.c's. */
#ifndef FORAGE_RETRIEVAL_QUESTION_WORDS_H
#define FORAGE_RETRIEVAL_QUESTION_WORDS_H

#include <stddef.h>

/* What a question word, or the noun behind "which", asks for in that language (index/sparse/language.h): an enum question_kind,
 * or one of those below. word: in any case. Any thread. */
enum {
    ASKS_NOTHING = -1, /* no question word */
    ASKS_WHICH = -2,   /* which, what: the words behind it say */
    ASKS_HOW = -3,     /* how: a number, if a measure follows ("wie viele") */
    ASKS_MEASURE = -4, /* many, long, far: behind "how" */
};
int question_word_of(int language, const char *word, size_t len);

/* Of a language written without spaces, by what stands anywhere in the question: an enum question_kind. */
int question_kind_within(int language, const char *text, size_t len);

#endif
