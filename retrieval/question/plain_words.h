/* plain_words.h - a question put as documents and the models that read them put it: "How high is the deposit?" asks how
 * much it is, and no height; "since which version does it exist" since which it is; "out of the box" and "if I don't set it" ask for what holds "by default". English; everything else is
 * left alone. */
#ifndef FORAGE_RETRIEVAL_PLAIN_WORDS_H
#define FORAGE_RETRIEVAL_PLAIN_WORDS_H

#include <stdbool.h>

#include "kernels/buf.h"

/* Appends the question so put to *out; false, and nothing appended, where it is plain already. */
bool plain_words(fo_buf *out, const char *question);

/* The same of a question for all that there is about something: "Tell me about the weir" is "What about the weir?". Not behind other
 * turns, where "what about" asks of it what was asked before. */
bool plain_words_subject(fo_buf *out, const char *question);

#endif
