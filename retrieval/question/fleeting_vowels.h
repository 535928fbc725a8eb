/* fleeting_vowels.h - "игрушек" and "игрушки", "окон" and "окна": in Russian a vowel before the last consonant comes and goes, and
 * the stemmer parts such forms.
 *
 *     int k = question_term_of(q, t->words[i].id);
 *     if (k < 0) k = fleeting_vowel_term_of(q, t, i);
 */
#ifndef FORAGE_RETRIEVAL_FLEETING_VOWELS_H
#define FORAGE_RETRIEVAL_FLEETING_VOWELS_H

#include "retrieval/question/question.h"

/* The question's term of which word i of a text in Russian is another form by that; -1: none, or the text is in another
 * language. Any thread. */
int fleeting_vowel_term_of(const question *q, const fact_text *t, size_t i);

#endif
