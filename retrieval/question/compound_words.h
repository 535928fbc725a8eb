/* compound_words.h - compounds of a question that the documents write as two words: "Jahresbeitrag" and "Beitrag im Jahr",
 * "Italienischkurs" and "Kurs: Italienisch". The other way, a compound of a text that has a word of the question in it, is
 * compounds.h's. */
#ifndef FORAGE_RETRIEVAL_COMPOUND_WORDS_H
#define FORAGE_RETRIEVAL_COMPOUND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with such a compound as its two parts, where no passage says it and one passage says both. Of a question in a language that
 * joins words (language_joins_words). False, and *out as it was: nothing is to be changed, or out->failed. */
bool compound_words_as_written(fo_buf *out, const char *question, const passage *passages,
                               size_t n);

#endif
