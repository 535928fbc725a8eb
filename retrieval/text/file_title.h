/* file_title.h - what a document without a title is called: "guest letter", by its file "flat/guest-letter.txt". */
#ifndef FORAGE_RETRIEVAL_FILE_TITLE_H
#define FORAGE_RETRIEVAL_FILE_TITLE_H

#include <stdbool.h>

#include "kernels/buf.h"

/* Append the words of the name that a document's id or path ends with, without its ending. */
void file_title_add(fo_buf *b, const char *document);

/* Does the question name the document so: with a word of its file's name that is a name or a number, "What is the dose of
 * Dolofen?" and "dolofen.txt"? Names within a sentence have capitals; "the holiday flat" names nothing so. */
bool file_title_is_asked(const char *question, const char *document);

#endif
