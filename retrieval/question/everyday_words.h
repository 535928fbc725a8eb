/* everyday_words.h - words of Russian and Chinese that are one for whoever asks: forms that the stemmer leaves apart ("игрушек" and
 * "игрушки", "оплатить" and "оплачивать"), and pairs of everyday words of which either may stand ("посудомойка" and "посудомоечная",
 * "狗" and "犬"). The index's terms stay as they are; they are told when a text is held against a question.
 *
 *     int k = question_term_of(q, t->words[i].id);
 *     if (k < 0) k = everyday_words_term_of(q, t, i);
 *
 * Closed lists of our own; nothing of what is nearly the same, or a kind of the other. */
#ifndef FORAGE_RETRIEVAL_EVERYDAY_WORDS_H
#define FORAGE_RETRIEVAL_EVERYDAY_WORDS_H

#include "retrieval/question/question.h"

/* The question's term that word i of a text, in the question's language, is; -1: none, or another language. Any thread. */
int everyday_words_term_of(const question *q, const fact_text *t, size_t i);

#endif
