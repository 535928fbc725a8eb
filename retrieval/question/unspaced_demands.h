/* unspaced_demands.h - what a question in Chinese or Japanese demands of its answer, and which texts state it. They are written
 * without spaces, so what tells are the characters that stand together ("多少钱", "いくら") and those behind a number ("20 元",
 * "两只"), not words; demands.h has the same of the languages that divide words.
 *
 *     if (unspaced_demands_known(language)) f = unspaced_demands_read(language, question, len);
 *
 * What is not on its lists is not demanded, and a text states rather too much than too little: who is said by any word for
 * people, when by any for a time. */
#ifndef FORAGE_RETRIEVAL_UNSPACED_DEMANDS_H
#define FORAGE_RETRIEVAL_UNSPACED_DEMANDS_H

#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_details.h"

/* Are there lists of the language of that number (index/sparse/language.h)? */
bool unspaced_demands_known(int language);

typedef struct unspaced_demands {
    enum demand_amount amount;
    enum demand_detail detail; /* one of the two at most */
    char counter[4]; /* "人" of "何人", where what is counted by it is told apart; "" */
} unspaced_demands;

unspaced_demands unspaced_demands_read(int language, const char *question, size_t len);

/* As demand_amount_in and demand_detail_in, of a text in that language. */
enum amount_stated unspaced_amount_in(int language, enum demand_amount amount, const char *text,
                                      size_t len);
/* Does the text count by the counter, or one that stands for it: "12名" for "人", but not "2階"? True of one that is not told apart. */
bool unspaced_counts_in(int language, const char *counter, const char *text, size_t len);

bool unspaced_detail_in(int language, enum demand_detail detail, const char *text, size_t len);

#endif
