/* own_words.h - a short answer is said as the document says it.
 *
 *     fo_buf said = {0};
 *     own_words(&said, &(own_words_input){.analyzer = a, .answer = "July 8, 1914", .n_answer = 12, ...}, &err);
 *     if (said.len) ...    // "8 July 1914"
 *
 * A model that is asked for few words writes a name, a number or a list, often in another order than its source, or
 * without what belongs to it. Where all of its words stand close together in the span that supports it, that stretch of
 * the span is the answer: nobody need wonder whether the two mean the same. */
#ifndef FORAGE_RETRIEVAL_OWN_WORDS_H
#define FORAGE_RETRIEVAL_OWN_WORDS_H

#include "index/sparse/analyze.h"
#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct own_words_input {
    analyzer *analyzer;
    const char *answer;
    size_t n_answer;
    const char *span; /* of the document: what supports the answer */
    size_t n_span;
    const char *question;
} own_words_input;

/* What to say instead of the answer, white space made single; nothing is added to *out where the answer is a sentence of
 * its own, says something else, or says it already. One thread an analyzer. FO_ENOMEM. */
int own_words(fo_buf *out, const own_words_input *in, fo_err *err);

#endif
