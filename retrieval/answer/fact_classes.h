/* fact_classes.h - closed classes of words and question words, by language: part of facts.h and
 * question.h. Lists of our own; a language without one merely has fewer marks. */
#ifndef FORAGE_RETRIEVAL_FACT_CLASSES_H
#define FORAGE_RETRIEVAL_FACT_CLASSES_H

#include <stddef.h>
#include <stdint.h>

/* WORD_* of a word (any case) of a language other than English, by its number (index/sparse/language.h);
 * 0 where it is in no class, or the language has no lists. Any thread. */
uint32_t fact_class_of(int language, const char *word, size_t len);

/* What a question word, or the noun behind "which", asks for in that language: an enum question_kind, or
 * one of those below. word: lower-cased. */
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
