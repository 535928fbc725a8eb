/* question_words.h - what a question word asks for, by language: part of question.h. Lists of our own; English is question.c's. */
#ifndef FORAGE_RETRIEVAL_QUESTION_WORDS_H
#define FORAGE_RETRIEVAL_QUESTION_WORDS_H

#include <stdbool.h>
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

/* Of such a language: is bytes [start, end) of the question, a character or a pair of them, part of what asks and says nothing
 * of what is asked for ("怎么办", "可以", "吗")? A pair that only touches it is no word, and is so too. False of other languages. */
bool question_word_is_light(int language, const char *text, size_t len, size_t start, size_t end);

#endif
