/* dated_headings.h - what stands below a version or a day: "4.2.1 (12 February 2026)", "Fixed", "- Names with a colon failed."
 * Who asks which version fixed that, or when, is answered by the heading. */
#ifndef FORAGE_RETRIEVAL_DATED_HEADINGS_H
#define FORAGE_RETRIEVAL_DATED_HEADINGS_H

#include "retrieval/answer/candidates.h"
#include "retrieval/text/dates.h"

/* Where the question asks for a version or a time, and the unit does not say the time itself: the nearest heading above it in
 * its passage that names one, with no heading of another thing between them, becomes what the unit hangs on; what a row of a
 * table, or a list or an item of it with a line that leads in, stands below (c->dated_start, dated_end), of a row also where the question names a
 * day. Where the passage goes on with the section of a version, its heading (c->section). *c may be as it was. English names of
 * sections ("Added", "Known problems"). */
void dated_heading_take(const candidate_set *set, candidate *c);

/* The first date that a heading says, if it says one. */
bool dated_heading_says(const char *s, size_t n, date_said *out);

/* Of the nearest heading above a unit that says a date with a year, a number that is the greater the later it is; 0: none does. */
int dated_heading_above(const candidate_passage *p, const text_unit *u);

/* The nearest heading above a unit in its passage; NULL: none. */
const text_unit *heading_above(const candidate_passage *p, const text_unit *u);

/* Is the heading s[n] that of a version: "4.2.1 (12 February 2026)", "[4.2.1]", "Version 3"? Not "4.2 Fees", of a numbered
 * section. */
bool dated_heading_of_version(const char *s, size_t n);

/* ... or one that stands below each version alike, "Fixed", "Known problems", and parts nothing from it? */
bool dated_heading_of_changes(const char *s, size_t n);

#endif
