/* office_words.h - everyday words of a question as documents have them: "cut down a tree", where the document says "felled". */
#ifndef FORAGE_RETRIEVAL_OFFICE_WORDS_H
#define FORAGE_RETRIEVAL_OFFICE_WORDS_H

#include <stdbool.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with an everyday phrase put as the passages write it: "a sick note" as "a doctor's certificate", "over the internet" as
 * "online", "Christmas Day" as "25 December". The passages are in their order, the best first: the first that has one of both
 * decides, and where it has the phrase of the question, in any form of its words, nothing is changed; nor, of a feast, where any
 * of them says one by its name. English. False, and *out as it was: nothing is
 * to be changed, or out->failed. */
bool office_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

/* The question and, behind it, what documents may write in place of its everyday phrases, so that words find these as well: "show me what
 * it would do" looks for "dry run", too. English. False, and *out as it was: it has none, or out->failed. */
bool office_words_to_search(fo_buf *out, const char *question);

#endif
