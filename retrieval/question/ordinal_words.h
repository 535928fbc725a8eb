/* ordinal_words.h - places in a row of things that a question counts in one way and the documents in another: "year two", "2nd year",
 * "Second year". */
#ifndef FORAGE_RETRIEVAL_ORDINAL_WORDS_H
#define FORAGE_RETRIEVAL_ORDINAL_WORDS_H

#include <stdbool.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with "the second year" for "year two", "year 2" or "2nd year", or any of these for another, in English, as a passage
 * writes it, or another place of such things where none has this one, and none has it as it is asked. False, and *out as it was: nothing is to be changed, or out->failed. */
bool ordinal_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
