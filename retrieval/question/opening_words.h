/* opening_words.h - who asks on which day or until when something is open is answered by its hours, under whatever name: "Horaires :
 * mar-sam 6h30-19h30", "geöffnet von elf bis neun", for "Wann schließt das Bad?" as well. Lists of our own for German, French, Spanish, Italian,
 * Portuguese and Russian. */
#ifndef FORAGE_RETRIEVAL_OPENING_WORDS_H
#define FORAGE_RETRIEVAL_OPENING_WORDS_H

#include "retrieval/question/question.h"

/* The question's term that word i of a text is: its word for being open or closed, where it asks for a time or names days, or, of an hour,
 * the part of that day ("por la tarde"); -1: none. */
int opening_term_of(const question *q, const fact_text *t, size_t i);

#endif
