/* size_words.h - sizes that a question has in words and the documents in capitals: "a medium box", "Size: M". */
#ifndef FORAGE_RETRIEVAL_SIZE_WORDS_H
#define FORAGE_RETRIEVAL_SIZE_WORDS_H

#include <stdbool.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with "size M" for "medium", in English, where a passage has such cells below or behind "Size" and none says the
 * word. False, and *out as it was: nothing is to be changed, or out->failed. */
bool size_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
