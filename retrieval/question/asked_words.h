/* asked_words.h - which words of a question a stretch of a document says, those that were asked now before those of the turns
 * before.
 *
 *     asked_words w = {0};
 *     int rc = asked_words_read(&w, lx, "and english? tours welsh", "and english?", &err);
 *     for (size_t i = 0; i < w.n; i++)      // "english" alone first, then all three
 *         use(asked_words_in(&w.tier[i], &text, from, to));
 *     asked_words_deinit(&w);
 *
 * A question that was made whole from the turns before holds both things, the one that is asked about and the one that was. */
#ifndef FORAGE_RETRIEVAL_ASKED_WORDS_H
#define FORAGE_RETRIEVAL_ASKED_WORDS_H

#include "retrieval/question/question.h"

typedef struct asked_tier {
    question q;
    uint64_t
        denied; /* terms behind a "not" or "non": "we are not from the parish", "non-members" */
    uint64_t denied_things; /* ... that name a thing: "not a member", no "must not eat" */
    bool whole;             /* it says full, whole, entire, all: "all day" */
} asked_tier;

enum { ASKED_TIERS = 2 };

typedef struct asked_words {
    asked_tier tier[ASKED_TIERS]; /* the narrower first */
    size_t n;
} asked_words;

/* own: the part that was asked now; NULL: all of it. Zero *out before, asked_words_deinit after, also on failure. FO_ENOMEM,
 * FO_ELIMIT. */
int asked_words_read(asked_words *out, const lexicon *lx, const char *asked, const char *own,
                     fo_err *err);
void asked_words_deinit(asked_words *w);

/* The question as it was made whole. */
static inline const question *asked_words_whole(const asked_words *w) {
    return &w->tier[w->n - 1].q;
}

/* Is money asked for, now or before? */
enum asked_money {
    ASKED_NO_MONEY,
    ASKED_PERHAPS, /* "how much", "what does it take": a sum where the document has one */
    ASKED_MONEY,
};
enum asked_money asked_words_money(const asked_words *w);

/* Is it any other amount that it demands? */
bool asked_words_amount(const asked_words *w);

/* The terms of the tier among the words in bytes [from, to) of a text; parts of compounds count. A word that goes on where a term
 * of five letters ends says it, and the other way round: "parish" and "Parishioners". */
uint64_t asked_words_in(const asked_tier *t, const fact_text *text, size_t from, size_t to);

/* full, whole, entire, all, complete */
bool asked_word_is_whole(const char *word, size_t n);

#endif
