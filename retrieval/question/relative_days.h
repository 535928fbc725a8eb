/* relative_days.h - "Who is on duty today?": which day that is, is not in the documents. Where the passages go by days of the week
 * or by dates, the word is replaced by the day it stands for; where they do not ("What is the castle used for today?"), it is left.
 * English. */
#ifndef FORAGE_RETRIEVAL_RELATIVE_DAYS_H
#define FORAGE_RETRIEVAL_RELATIVE_DAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* A day, as days since 1 January 1970, in the asker's calendar. */
typedef long calendar_day;

/* The day of "2026-11-28"; false where that is none (29 February of most years), or before 1970. */
bool calendar_day_read(const char *iso, calendar_day *out);

/* Of this machine's clock and time zone. */
calendar_day calendar_day_now(void);

/* Does the question say today, tonight, tomorrow or yesterday? Its answer holds for a day. */
bool relative_days_in(const char *question);

/* Appends the question to *out with such words replaced, "on Saturday" or "on 28 November"; false, and nothing appended, where
 * there are none or the best of the passages do not go by days. */
bool relative_days_resolve(fo_buf *out, const char *question, calendar_day today,
                           const passage *passages, size_t n);

#endif
