/* unit_demands.h - how far a unit of a passage meets what the question demands (demands.h): the amount, the detail, the place, the
 * reason, the day; by itself, or by what it hangs on. Part of candidates.h. */
#ifndef FORAGE_RETRIEVAL_UNIT_DEMANDS_H
#define FORAGE_RETRIEVAL_UNIT_DEMANDS_H

#include "retrieval/answer/candidates.h"

/* Sets CAND_NO_AMOUNT, CAND_NO_PLACE, CAND_RESTATED, CAND_DAY and CAND_OTHER_DAY of *c, whose words and terms are known. */
void unit_demands_measure(const candidate_set *set, const candidate_passage *p, candidate *c);

/* The question's terms that are days or months of which the unit speaks by a range, "Monday to Thursday" or, in what it hangs on,
 * "April to October": it says them, in other words. */
uint64_t unit_demands_calendar(const question *q, const candidate_passage *p, const text_unit *u);

/* The question's terms that are a number within a range of the unit, in texts in Arabic: "الدور السادس" of "الدور ٤ إلى ٩". */
uint64_t unit_demands_number(const question *q, const candidate_passage *p, const text_unit *u);

/* Is its range of others: the third floor is asked for? */
bool unit_demands_other_number(const question *q, const candidate_passage *p, const text_unit *u);

#endif
