/* claim_reading.h - words of a sentence that its support does not have: do they say the same?
 *
 * "The tower measures 300 metres" is borne out by "It is 300 metres high", "The tower cost 300
 * metres" is not, and both have one word of weight that the support lacks. The reader tells them
 * apart: in its place a word that says the same comes near to a token of the support, a word that
 * was put in does not. Thresholds and figures: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_CLAIM_READING_H
#define FORAGE_RETRIEVAL_CLAIM_READING_H

#include <stdbool.h>
#include <stddef.h>
#include "engine/embed/reader.h"

typedef struct claim_word {
    size_t start, end; /* bytes of the sentence */
} claim_word;

typedef struct claim_reading_input {
    reader *reader;
    const char *sentence;
    size_t sentence_len;
    const claim_word *words; /* of the sentence, that stand in neither support nor title */
    size_t n_words;
    const char *passage; /* read as a whole, as it is for every question: mostly it is kept */
    size_t passage_len;
    size_t start, end; /* bytes of the passage: the support */
    const char *title; /* NULL or "": none */
} claim_reading_input;

/* *holds: every word comes near enough to a token of support or title. True without words. What lies
 * beyond the tokens that a reader takes of a text is read by itself. FO_ENOMEM, FO_ELIMIT. */
int claim_reading_holds(bool *holds, const claim_reading_input *in, fo_err *err);

#endif
