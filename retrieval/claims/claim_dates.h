/* claim_dates.h - do claim and text say the same dates, however they write them?
 *
 * "17.3.2024" is borne out by "on 17 March 2024" and by "2024-03-17", and "03/04/2024" by either of the days that it may be.
 * What of a date is met so is held against no single figure or name any more: it has been compared as a whole. A date with
 * a month's name that does not stand there as one may be said in parts ("14 to 17 March"), but not with the day of another
 * date; one in digits must stand there. */
#ifndef FORAGE_RETRIEVAL_CLAIM_DATES_H
#define FORAGE_RETRIEVAL_CLAIM_DATES_H

#include "retrieval/text/facts.h"

typedef struct dated_text {
    fact_text *text;
    fact_numbers *numbers;
} dated_text;

/* Marks what of claim, quote and title is of a date that claim and quote, or title, both say: fact_date.met,
 * fact_number.dated in all three, WORD_DATED in the claim. What an earlier call has marked is no longer. */
void claim_dates_mark(const dated_text *claim, const dated_text *quote, const dated_text *title);

/* Marks all dates of a claim that has been verified. */
void claim_dates_mark_all(const dated_text *claim);

/* Of a marked claim: may every date that is not met be said in parts? */
bool claim_dates_hold(const dated_text *claim, const dated_text *quote, const dated_text *title);

#endif
