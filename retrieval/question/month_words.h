/* month_words.h - months by their place in the year: who asks for "the first month of the year" is answered by what the documents say
 * of January, and who asks for October by the row "2026-10" of data. */
#ifndef FORAGE_RETRIEVAL_MONTH_WORDS_H
#define FORAGE_RETRIEVAL_MONTH_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with "the first month of the year" as January, to the twelfth and the last as December, where the passages name two
 * months or more by name, and do not say it as the question does; and "in October", "in October 2026" as "in 2026-10" where the first passage, the best, writes that month and
 * another so, in one year, and does not name it. English. False, and *out as it was: nothing is to be changed, or out->failed. */
bool month_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
