/* acronyms.h - "DVD" and "DVDs", "PC" and "PCs": stemmers of languages in which a plural has other endings leave the s. */
#ifndef FORAGE_RETRIEVAL_ACRONYMS_H
#define FORAGE_RETRIEVAL_ACRONYMS_H

#include "retrieval/question/question.h"

/* "DVDs", which the analysis takes for a compound of "DV" and "Ds". */
bool acronym_is_plural(const char *word, size_t n);

/* The question's term that word i of a text is, but for the s of a plural on either side, where the text writes it in capitals;
 * -1: none. */
int acronym_term_of(const question *q, const fact_text *t, size_t i);

#endif
