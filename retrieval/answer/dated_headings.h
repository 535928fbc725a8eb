/* dated_headings.h - what stands below a version or a day: "4.2.1 (12 February 2026)", "Fixed", "- Names with a colon failed."
 * Who asks which version fixed that, or when, is answered by the heading. */
#ifndef FORAGE_RETRIEVAL_DATED_HEADINGS_H
#define FORAGE_RETRIEVAL_DATED_HEADINGS_H

#include "retrieval/answer/candidates.h"

/* Where the question asks for a version or a time, and the unit does not say the time itself: the nearest heading above it in
 * its passage that names one, with no heading of another thing between them, becomes what the unit hangs on. False: *c is as
 * it was. English names of sections ("Added", "Known problems"). */
bool dated_heading_take(const candidate_set *set, candidate *c);

#endif
