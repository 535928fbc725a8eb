/* past_states.h - what a document says of a time that is over, where it is asked what holds: "Sessions were kept in files" behind "Where
 * are sessions kept now?", a section that a later one supersedes, a report that is corrected further down. English. */
#ifndef FORAGE_RETRIEVAL_PAST_STATES_H
#define FORAGE_RETRIEVAL_PAST_STATES_H

#include "retrieval/answer/candidates.h"

/* What each section says of itself is read once, behind the passages: a question looks at it for every unit. FO_ENOMEM. */
int past_states_mark(candidate_set *set, fo_err *err);

/* Is it below the heading of another number than the question names: "ADR 9: Session store" of what ADR 17 says? Not where
 * it names that number itself ("This replaces ADR 9"), nor where what comes after or before that one is asked for. */
bool past_states_is_of_another_number(const candidate_set *set, const candidate_passage *p,
                                      const text_unit *u);

/* Does it report what was said wrongly, and what is right behind it: "We wrote that ..." below "Correction"? "If we gave you a
 * wrong number" reports none. */
bool past_states_reports_an_error(const candidate_set *set, const candidate *c);

/* What says instead of the best what holds: of a superseded section one of another, about as likely; of a state of the past, where it is
 * asked what holds now, what says it of the present, of the same thing by the same verb or "since then"; of what is corrected in the same document, the correction. Index into set->c; 0: the
 * best stays. */
size_t past_states_what_holds(const candidate_set *set);

/* Is c of a time that is over, and the best is not? Then it is not said beside that, where the best says it anew. */
bool past_states_is_over(const candidate_set *set, const candidate *c);

#endif
