/* strange_support.h - how far an answer is supported in a language that the reader has not learnt.
 *
 * The built-in reader learnt English. Of German or Spanish it sees which letters are alike: a sentence about something else in words
 * like those of the question comes near, and one that answers does not. So that weighs less there, and words that meet, and meet
 * side by side, weigh more. */
#ifndef FORAGE_RETRIEVAL_STRANGE_SUPPORT_H
#define FORAGE_RETRIEVAL_STRANGE_SUPPORT_H

#include "retrieval/text/support.h"

/* `support` is support_probability(f). type_near: what is asked for stands near words of the question (CAND_TYPE_NEAR); ahead: how far
 * the best unit's score is above that of the next. */
double strange_support(double support, const support_features *f, double type_near, double ahead);

#endif
