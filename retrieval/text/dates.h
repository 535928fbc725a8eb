/* dates.h - dates as texts write them, read in one place for cells, questions and the check of written sentences.
 *
 * In digits: 2024-03-17, 17.3.2024, 17.03.24, 17/03/2024, 2024年3月17日. With the month's name: 17 March 2024,
 * March 17th, 2024, 17-Mar-2024, 17. März 2024, 17 de marzo de 2024. "17.3.", day and month of German, is one where what
 * stands around it tells (date_short_at). The names are those of English, German, French, Spanish, Italian, Portuguese, Dutch,
 * Swedish, Danish, Norwegian, Finnish, Russian, Arabic and Hindi, whatever the text is written in. A year has four digits,
 * from 1000 to 2199; where it has two, which it may behind two figures each of day and month or between dashes and with the
 * month's name, 70 to 99 are of the last century. */
#ifndef FORAGE_RETRIEVAL_DATES_H
#define FORAGE_RETRIEVAL_DATES_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/text/word_tokens.h"

enum { DATE_MONTHS = 12, DATE_DAYS = 31 };

enum date_order {
    DATE_ORDER_SURE, /* it cannot be taken for another date */
    DATE_ORDER_OPEN, /* 03/12/2025: day and month may change places */
    DATE_ORDER_DAY_FIRST,
    DATE_ORDER_MONTH_FIRST,
};

typedef struct date_said {
    int year, month, day;  /* year, day 0: not said. DATE_ORDER_OPEN: with the day first */
    enum date_order order; /* of figures between slashes or dashes */
    bool digits;           /* no name of a month */
    bool doubtful; /* "5 may", "7 march": without a year and in small letters it may be a verb */
} date_said;

/* The date, or the month of a year, that s[n] begins with: the caller sees to what stands before it. Bytes; 0: none. */
size_t date_at(const char *s, size_t n, date_said *out);

/* "17.3.", which begins at text[at]: with "am", "bis", the name of a weekday or another such date before it, or with "um",
 * "bis" or a dash and another one behind it; "the mean was 17.3." and "3.1. Pumps" are none. Bytes; 0: none. */
size_t date_short_at(const char *text, size_t len, size_t at, date_said *out);

/* May the two be the same day, or lie in the same month where one says no day? Where only one says the year, yes. */
bool dates_agree(const date_said *a, const date_said *b);

/* 1: January, "jan" ... 12; 0: the word is the name of no month. */
int date_month_named(const word_token *t);
int date_month_named_in_english(const word_token *t);

/* Does the text name that month, 1 to 12, in a word? */
bool date_month_in(int month, const char *text, size_t len);

#endif
