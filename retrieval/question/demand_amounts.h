/* demand_amounts.h - amounts that a question demands: a price, a weight, a temperature, a time or a way, a number; and
 * whether a text states one. English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_AMOUNTS_H
#define FORAGE_RETRIEVAL_DEMAND_AMOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/text/word_tokens.h"

enum demand_amount {
    AMOUNT_NONE,
    AMOUNT_MONEY,
    AMOUNT_EXPENSE, /* what does it cost: money, or time, memory, a share */
    AMOUNT_WEIGHT,
    AMOUNT_TEMPERATURE,
    AMOUNT_LONG, /* how long: of time or of way */
    AMOUNT_ANY,  /* how many, how far: a number, in digits or letters */
    AMOUNT_LOUDNESS,
    AMOUNT_LENGTH, /* how wide, of texts in another language: a way */
    AMOUNT_COUNT,  /* how many, in another language: a number that is no price, time or measure */
    AMOUNT_SHARE, /* the tax, interest or VAT rate: "5 %", "zero", "two points above the base rate" */
    AMOUNT_OFTEN, /* how often: demand_often.h */
};

/* "What is the yearly rent", "what does it cost", "at what temperature", "how heavy", "how much ... pay". How something
 * is done, who, why, when and what something is called are other questions. */
enum demand_amount demand_amount_of(const char *question, size_t len);

/* Does it ask "how big", and does a text say so without a number, "the size of a pitch", "small enough to fit"? Not by a word of the
 * question. */
bool demand_size_of(const char *question, size_t len);
bool demand_size_in(const char *text, size_t len, const char *question, size_t question_len);

/* "What is the rent?": does the text have a word for that sum; does it name another one, a grant, a deposit, a fine, that the
 * question does not? True and false where none with a name of its own is asked for. */
bool demand_sum_in(const char *question, size_t question_len, const char *text, size_t len);
bool demand_other_sum_in(const char *question, size_t question_len, const char *text, size_t len);
/* Is what the text states that other sum: its name is the label before a colon, or stands in the clause of the only sum there?
 * Not in "costs 390 euros a month, and holders of grants pay 20 less". */
bool demand_is_other_sum(const char *question, size_t question_len, const char *text, size_t len);
/* Does the text say that the sum asked for is paid, "costs", "pays", or of a salary, that somebody gets it? */
bool demand_sum_paid_in(const char *question, size_t question_len, const char *text, size_t len);

enum amount_stated {
    AMOUNT_NOT_STATED,
    AMOUNT_PERHAPS, /* "cleaning 60.": a number that counts nothing else, where money is asked for */
    AMOUNT_STATED,
};
/* Does text[len] state an amount of the kind? AMOUNT_STATED where none is demanded. */
enum amount_stated demand_amount_in(enum demand_amount amount, const char *text, size_t len);

/* Is it the sign of a currency; that, or its name in words? */
bool demand_currency_sign(const word_token *t);
bool demand_currency_named(const word_token *t);

/* May a row of a table, or what its columns are called, state the amount by a number alone, since a word of it says
 * of what kind its numbers are ("Weight: 62")? True for what may be counted or paid: that is said above a table. */
bool demand_amount_column_in(enum demand_amount amount, const char *text, size_t len);

#endif
