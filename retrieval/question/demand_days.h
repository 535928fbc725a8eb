/* demand_days.h - days of the week and months that a text names, in words or in short ("Mon-Fri", "Sat: 9-12"). English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_DAYS_H
#define FORAGE_RETRIEVAL_DEMAND_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"
#include "retrieval/text/word_tokens.h"

enum { DEMAND_EVERY_DAY = 0x7F };

/* Bit 0: Monday ... bit 6: Sunday; those between two as well ("Tuesday to Friday", "between Friday evening and Monday morning"), all
 * where something is daily. */
uint8_t demand_days_in(const char *text, size_t len);

/* Does it speak of days from one on, or until one, and name no other end: "from Thursday on"? Which those are is not known. */
bool demand_days_open(const char *text, size_t len);

/* Is it the name of a day of the week, in full or in short, or of several? Whether "sun" and "sat" are meant as one is not asked. */
bool demand_day_named(const char *word, size_t n);

/* 0: January, "jan" ... 11; -1: the word is the name of no month. Whether "may" and "march" are meant as one is not asked. */
int demand_month_named(const word_token *t);

/* Bit 0: January ...; those between two as well: "from 1 November to 31 March", "from the first Sunday in April to Christmas". */
uint16_t demand_months_in(const char *text, size_t len);

/* Does it speak of months from one on, or until one, and name no other end, or Easter: "from 1 May", "until June"? */
bool demand_months_open(const char *text, size_t len);

/* The one day of a month that the text names, "17 March", "March 17th", "2025-03-17", "17.3.2025" (dates.h): 32 a month, 1 January is 33.
 * 0: none, several, 03/04/2025, which may be either of two, or a time that begins or ends there ("by 17 March", "3 to 9 March"). */
uint16_t demand_date_in(const char *text, size_t len);

/* The year that something is asked of, "in 2022", "of the season 2022/23"; 0: none. A model of 2015 is of no such year. */
uint16_t demand_year_of(const char *question, size_t len);

enum demand_year { YEAR_NOT_SAID, YEAR_MET, YEAR_OTHER };
/* Does the text name that year, or only others? Where it speaks of a time from, until or between years, it is not said. */
enum demand_year demand_year_in(uint16_t year, const char *text, size_t len);

/* Does a text state bounds that the year, not 0, is within: 2010 within "before 1 July 2011", 2022 within "since 2019"? A year that is
 * the bound itself may be on either side. */
bool demand_year_is_bounded(uint16_t year, const char *text, size_t len);

/* Appends the question to *out with its days as the passages write them, "Sat" for "Saturday"; false, and nothing
 * appended, where they write one of them out, or none in short. What reads both knows few short forms. */
bool demand_days_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
