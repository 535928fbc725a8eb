/* calendar_rule.h - when an entry of a calendar takes place, in words: rules of repetition and dates.
 *
 *     calendar_rule(&out, "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", 32);   // "every month on the 2nd Tuesday"
 *
 * Source: RFC 5545, 3.3.10 (RECUR). */
#ifndef FORAGE_DATA_CALENDAR_RULE_H
#define FORAGE_DATA_CALENDAR_RULE_H

#include <stdbool.h>

#include "kernels/buf.h"

/* The rule in words, appended. False where a part of it is none that can be told (days of the year, weeks, hours, what is
 * misspelled): half of a rule would be another one, and *out is as it was. */
bool calendar_rule(fo_buf *out, const char *rule, size_t n);

/* "20240503T140000Z" as "2024-05-03 14:00 UTC", appended; what is no date, as it is. zone: of a time without one; "". */
void calendar_date(fo_buf *out, const char *v, size_t n, const char *zone);
/* A list of dates, parted by commas, and of periods ("20240503T140000Z/20240503T150000Z"); the zone is said once. */
void calendar_dates(fo_buf *out, const char *v, size_t n, const char *zone);

/* Is s[0..n) all digits? */
bool calendar_digits(const char *s, size_t n);

#endif
