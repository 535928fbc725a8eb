/* claim_names.h - what names something in a claim, and whether it is named where the text names it.
 *
 * "Barcelona won the cup in Rome" has its words in "Madrid won the cup in Rome. Barcelona lost." Laid beside the first of
 * the two, of which it has most words, it says one name where that says another: it is another claim. Two names of one
 * sentence that change places are not told: "beaten by" would turn them too. Figures: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_CLAIM_NAMES_H
#define FORAGE_RETRIEVAL_CLAIM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include "retrieval/text/facts.h"

/* A word that names something: a capital inside a sentence, a month, digits among letters (A4, 12B; not 10GB). The first word of a sentence
 * counts unless its ending is one of common words. w: a word of t. */
bool claim_is_name(const fact_text *t, const fact_word *w);

/* Letters of an acronym s[n] against the initials of consecutive words among [first, end) of t: WHO, World Health
 * Organization. */
bool claim_acronym_stands(const char *s, size_t n, const fact_text *t, size_t first, size_t end);

/* False: the claim says what one sentence of the text says, of somebody or something else. True where it says nothing
 * that a sentence says, and of claims and sentences of more than 128 words. */
bool claim_names_keep_place(const fact_text *claim, const fact_text *text);

#endif
