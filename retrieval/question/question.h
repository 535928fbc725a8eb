/* question.h - a question read for answering: what it asks for and which of its words weigh what.
 */
#ifndef FORAGE_RETRIEVAL_QUESTION_H
#define FORAGE_RETRIEVAL_QUESTION_H

#include "retrieval/question/demands.h"
#include "retrieval/question/japanese_words.h"
#include "retrieval/question/question_asks.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/text/facts.h"

/* What kind of answer the question word asks for (English and the languages of fact_classes.h;
 * ASK_OTHER elsewhere). */
enum question_kind {
    ASK_OTHER, /* what, how, commands, key words */
    ASK_PERSON,
    ASK_NAME, /* which team, what company: something with a capital */
    ASK_TIME,
    ASK_PLACE,
    ASK_NUMBER,
    ASK_REASON,
};

enum { QUESTION_MAX_TERMS = 64, QUESTION_SLOTS = 256 };

typedef struct question_term {
    uint64_t id;
    double idf;
    bool name;       /* capital inside the sentence, or digits, or a small_name */
    bool small_name; /* a name in small letters: small_names.h */
    bool code;       /* letters and digits: E3, HP-9's 9 is none; another code is another thing */
    bool rare;       /* of the rarer half of the idf mass */
} question_term;

typedef struct question {
    fact_text text;
    enum question_kind kind;
    bool defines;   /* what is it, what does it mean */
    bool procedure; /* how something is done, what has to be done: all the steps are the answer */
    bool task;      /* ... or it says what is to be done: "list all files below a folder" */
    question_term terms[QUESTION_MAX_TERMS]; /* distinct content terms; the rarest if too many */
    size_t n_terms;
    double mass;                          /* sum of their idf */
    uint8_t pairs[QUESTION_MAX_TERMS][2]; /* neighbours in the question, as terms */
    size_t n_pairs;
    uint32_t words
        [QUESTION_MAX_TERMS]; /* of text, the first one of each term that is no part and has no digits; in its order */
    size_t n_words;
    japanese_phrases phrases; /* of the lists of words that stand for each other */
    exact_names exact;        /* versions and options, which have to be met to the letter */
    demands demands;          /* an amount, a day */
    uint16_t people;          /* people_kinds_in, where it asks what they pay */
    question_asks asks;       /* what it says anywhere */
    japanese_verbs verbs;
    uint64_t rivals;               /* rivals_in: "north", of which "south" is another */
    int16_t slots[QUESTION_SLOTS]; /* hash of ids -> term, -1 empty */
    uint64_t *ids;                 /* every word's id, sorted, stop words too */
    size_t n_ids;
} question;

/* FO_ENOMEM, FO_ELIMIT. On failure *q still needs question_deinit; zero it before. A question of
 * stop words alone keeps them as its terms. */
int question_read(question *q, const lexicon *lx, const char *text, size_t len, fo_err *err);
void question_deinit(question *q);

/* Is it to be told how something is done? */
static inline bool question_asks_how(const question *q) {
    return q->procedure || q->task;
}

/* The term that a word is, or -1. */
static inline int question_term_of(const question *q, uint64_t id) {
    for (uint64_t h = id;; h++) {
        int t = q->slots[h % QUESTION_SLOTS];
        if (t < 0 || q->terms[t].id == id) return t;
    }
}

/* What kind of answer words [w0, w1) of a text ask for. */
enum question_kind question_kind_of(const fact_text *t, size_t w0, size_t w1);

/* "combien de temps", "wie lange", "muss ich", "можно", "怎么办", in another language than English: does word w of a text ask, and say nothing of
 * what is asked for? */
bool question_only_asks(const fact_text *t, size_t w);

/* Is word w of a text part of a thing's name, as English puts it: behind an article or the like ("a document", "how many
 * users", "from Java")? */
bool question_names_thing(const fact_text *t, size_t w);

/* True when the question says this word at all. */
bool question_says(const question *q, uint64_t id);

/* idf mass of a set of terms (bit i = term i), as a share of the whole. */
double question_share(const question *q, uint64_t set);

#endif
