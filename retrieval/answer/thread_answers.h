/* thread_answers.h - a thread or report is about one thing, and the sentence that says what came of it does not say that again: "Workaround
 * until there is a release: set ...", "1.12.2 is out with the fix." English. */
#ifndef FORAGE_RETRIEVAL_THREAD_ANSWERS_H
#define FORAGE_RETRIEVAL_THREAD_ANSWERS_H

#include "retrieval/answer/candidates.h"

/* Where the question asks for the workaround, the cause, the solution of something itself ("What is the workaround for ...?", not "How long
 * can the solution be kept?"), the only unit with that label in the document of the
 * best, in its section, or in one of the same thing: it or its heading says something of the question, the heading is a label, or the
 * title alone says what is asked about; where it asks which release has the fix, the only sentence there that says a version and "fix", and that or
 * another word of the question (behind "the fix for" one stands there), if the best says none and stands below no version; of several, the one right behind the best. Index into set->c; 0: the best stays. */
size_t thread_answers_leading(const candidate_set *set);

/* Behind it, set->c[0], which leads in place of `was`, what it was is passed over; a unit of another section of the document is not, where it
 * says something of the question that neither says. */
void thread_answers_pass_over(candidate_set *set, const candidate *was);

/* Where a label is asked for, that of another thing in the best's document is passed over. */
void thread_answers_pass_over_others(candidate_set *set);

#endif
