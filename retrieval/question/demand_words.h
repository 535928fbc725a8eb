/* demand_words.h - the words by which a question demands something and a text states it, of languages other than English: a
 * price, an amount, a time, a person. Lists of our own for German, French, Spanish, Italian, Portuguese, Russian and Arabic (arabic_words.h), as they are
 * written without case and accents ("gebuhr", "cuanto", "какои"), so that "CUÁNTO" and "cuanto" are met as well. */
#ifndef FORAGE_RETRIEVAL_DEMAND_WORDS_H
#define FORAGE_RETRIEVAL_DEMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/text/word_tokens.h"

typedef struct demand_words {
    const char *language;
    bool joins; /* it writes compounds as one word: `sums` are their ends as well */
    bool
        bare_be; /* "is" is left out, `much` counts too, adjectives are told by their ends: "сколько окон", "какая цена билета" */
    /* of questions */
    const char *much, *many;                     /* "how much", "how many" in one word */
    const char *how, *behind_much, *behind_many; /* ... in two: "wie viel", "wie viele" */
    const char *of;                              /* between them and the noun: "combien de" */
    const char *each;                            /* before them, how often: "cada cuánto" */
    const char *what, *what_does;                /* what, which; before a verb: "was kostet" */
    const char *between;                         /* "what" and its noun: "quel est le" */
    const char *when, *who;
    const char *until;  /* before those: "bis wann" */
    const char *at;     /* before "how much", the hour: "во сколько" */
    const char *clock;  /* the time of the day: "quelle heure" */
    const char *day;    /* a day or date: "quel jour" */
    const char *spends; /* it costs, they pay */
    const char *sums;   /* a price, a fee */
    const char *must;   /* "was muss ich zahlen" */
    const char *dear;   /* behind "how": "wie teuer" */
    const char *high;   /* ... of a sum or another amount: "wie hoch", "quanto è alto" */
    const char *broad, *far,
        *weighty;        /* behind "how much is": "quanto è profondo", "lungo", "pesante" */
    const char *happens; /* what is long in time: "quanto è lungo il corso" */
    const char *heavy, *warm, *loud, *extent, *lasting, *size;
    const char *phone, *number, *calls, *mail, *web;
    const char *office; /* behind "who": leads */
    const char *
        offices; /* who holds one has a name: the treasurer, not the tenant; `joins`: ends of words */
    const char *be; /* "quel est", "wie lautet" */
    const char
        *amounts; /* the sums of which "which" may ask how much they are; `joins`: ends of words */
    const char *prices;    /* ... those that can be had: "qué precio tiene" */
    const char *has, *due; /* behind those: it has, it is to be paid */
    const char *costs;     /* of `spends`, those that name no payer */
    const char *payers;    /* who pays things, and not a price: "Was zahlt die Versicherung?" */
    const char *wants,
        *holds; /* where "is" is left out, no address and no sum: "какой телефон подходит", "взнос включает" */
    const char *where; /* the other words that ask: where, why */
    const char *bound; /* "when must", "when is it forbidden": in which case */
    const char *often; /* counted by many texts that do not say so: people, days */
    const char *verbs; /* behind what is counted */
    /* of texts */
    const char *articles; /* numerals that are articles too */
    const char *currencies, *free, *none, *pays;
    const char *per; /* behind a bare price: "12 pro Tag" */
    const char *times, *lengths, *weights, *degrees, *sounds, *other_units;
    const char *hour;          /* behind an hour: "8 Uhr" */
    const char *labels;        /* before a number that numbers something: "Platz 4" */
    const char *ranges;        /* between two numbers: "14 bis 18" */
    const char *until_said;    /* before the end of a time: "bis Mai" */
    const char *timed;         /* words of time that are in no class of facts.h */
    const char *quantity;      /* a column of counts is called so */
    const char *events;        /* say when by what happens then: "bei Rückgabe" */
    const char *cases;         /* ... in which case: "pour les travaux en hauteur" */
    const char *single, *only; /* behind and before an article that counts: "un solo", "nur ein" */
    const char *unlimited, *both;
    const char *included; /* ... in the price */
    const char *entry;    /* what is free if it is "frei", "libre" */
    const char *donation; /* what one gives, or is told: no price */
    const char *adult;    /* of age */
} demand_words;

/* The lists of a language by its number (index/sparse/language.h); NULL: there are none, English's neither. */
const demand_words *demand_words_of(int language);

enum { DEMAND_WORD_MOST = 48 };

/* The token without case and accents, NUL-terminated in out; "" where it is longer or no word. */
const char *demand_word_fold(char out[DEMAND_WORD_MOST], const word_token *t);

/* Is the folded word one of the list's (which may be NULL)? */
bool demand_word_in(const char *list, const char *folded);

/* ... or does it end as one of them, as compounds do? */
bool demand_word_ends(const char *list, const char *folded);

/* Does a word of the text, folded, stand in the list? */
bool demand_words_say(const char *list, const char *text, size_t len);

/* Is it a word for a sum of money, or a compound of one ("Jahresgebühr")? */
bool demand_word_is_sum(const demand_words *w, const char *folded);

#endif
