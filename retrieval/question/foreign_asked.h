/* foreign_asked.h - the words of a question, folded as the lists of demand_words.h have them: what foreign_demands.c and
 * arabic_demands.c look at. */
#ifndef FORAGE_RETRIEVAL_FOREIGN_ASKED_H
#define FORAGE_RETRIEVAL_FOREIGN_ASKED_H

#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_words.h"

enum { FOREIGN_ASKED_MOST = 64 }; /* words of a question that are looked at */

typedef struct asked {
    const demand_words *w;
    struct {
        char folded[DEMAND_WORD_MOST];
        word_token t;
        bool comma; /* ... or the sign that begins a question stands before it */
    } v[FOREIGN_ASKED_MOST];
    size_t n;
} asked;

/* Apostrophes, hyphens and the like stand between words. */
void foreign_asked_read(asked *a, const demand_words *w, const char *question, size_t len);

/* What a noun that is asked for, word i, measures. */
enum demand_amount foreign_asked_measure(const asked *a, size_t i);

/* Is word i in the list, which may be NULL? Behind the last one no word is. */
static inline bool is(const asked *a, size_t i, const char *list) {
    return i < a->n && demand_word_in(list, a->v[i].folded);
}

/* Is one of words [from, end)? */
static inline bool among(const asked *a, size_t from, size_t end, const char *list) {
    for (size_t i = from; i < end; i++)
        if (is(a, i, list)) return true;
    return false;
}

#endif
