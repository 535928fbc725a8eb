/* same_words.h - words that are one for whoever asks: "rotto" and "rompere", "lost" and "lose", "Kita" and "Kindergarten", "lift" and
 * "elevator". The stemmer leaves them apart, and the index's terms are its; so they are told when a text is held against a question.
 *
 *     int k = question_term_of(q, t->words[i].id);
 *     if (k < 0) k = same_words_term_of(q, t, i);
 *
 * Closed lists of our own, a file a language (same_words_lists.h): irregular forms, and pairs of everyday words of which in a manual, a set
 * of rules or minutes either may stand. Nothing of what is nearly the same. Of English also kinds: "pets" of a text is the question's "dog",
 * not the other way round, and not "other pets", nor where the text speaks of dogs. A road is no street where it is called so: "Mill Road".
 * Of Portuguese, plurals ("viagem", "viagens") and the accents of either spelling ("ténis", "tênis") by rule, of Arabic particles written
 * before a word ("لشقة"). */
#ifndef FORAGE_RETRIEVAL_SAME_WORDS_H
#define FORAGE_RETRIEVAL_SAME_WORDS_H

#include "retrieval/question/question.h"

/* What is the same as a word. */
typedef struct same_words_group {
    const char *stems;   /* its own among them, a blank between them; "": none */
    const char *written; /* words of which the stem tells nothing, as they are written */
} same_words_group;

/* Of word i of a text, by the lists alone. Any thread; static. */
same_words_group same_words_group_of(const fact_text *t, size_t i);

/* The question's term that word i of a text, in the question's language, is by those lists; -1: none. Any thread. */
int same_words_term_of(const question *q, const fact_text *t, size_t i);

#endif
