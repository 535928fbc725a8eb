/* month_words.h - months by their place in the year: who asks for "the first month of the year" is answered by what the documents say
 * of January. */
#ifndef FORAGE_RETRIEVAL_MONTH_WORDS_H
#define FORAGE_RETRIEVAL_MONTH_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with "the first month of the year" as January, to the twelfth and the last as December, where the passages name two
 * months or more by name, and do not say it as the question does. English. False, and *out as it was: nothing is to be changed, or out->failed. */
bool month_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
