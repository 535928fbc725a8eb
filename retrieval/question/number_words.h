/* number_words.h - amounts that a question has in letters and the documents in figures: "a six-day ski set", "6 days". */
#ifndef FORAGE_RETRIEVAL_NUMBER_WORDS_H
#define FORAGE_RETRIEVAL_NUMBER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* "one" to "twenty", "first" to "twelfth". */
enum { NUMBER_WORDS_NUMERALS = 20, NUMBER_WORDS_ORDINALS = 12 };
extern const char *const number_words_numerals[NUMBER_WORDS_NUMERALS],
    *const number_words_ordinals[NUMBER_WORDS_ORDINALS];

/* "first" is 0, "twelfth" 11; -1: it is none of them. English, in letters of any case. */
int number_words_ordinal(const char *word, size_t n);

/* The question with figures for two to twenty, in English, where what is counted stands behind that number in figures in a
 * passage, and not in letters. False, and *out as it was: nothing is to be changed, or out->failed. */
bool number_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
