/* answer_stop.h - stop strings in an answer that no model writes: it ends where a written one would.
 *
 * They are looked for in what the answer says; its markers [n] are put behind the sentences by us
 * and are no part of that. */
#ifndef FORAGE_RETRIEVAL_ANSWER_STOP_H
#define FORAGE_RETRIEVAL_ANSWER_STOP_H

#include "retrieval/answer/extractive.h"

/* End *a, which was made of *in, before the first of n stop strings that is met. Citations of what
 * is left out go; one whose sentence was cut is checked again. *which is the string's index, or -1
 * where none was met and *a is as it was. FO_EINVAL (field "stop") for an empty string or more than
 * 16 of them, FO_ENOMEM. */
int answer_stop_apply(extractive_answer *a, const extractive_input *in, const char *const *stop,
                      size_t n, int *which, fo_err *err);

#endif
