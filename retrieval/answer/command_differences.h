/* command_differences.h - "What is the difference between cp and mv?": where no sentence speaks of both, what each of them does, by the line
 * that says it on its page. Part of extractive.h. */
#ifndef FORAGE_RETRIEVAL_COMMAND_DIFFERENCES_H
#define FORAGE_RETRIEVAL_COMMAND_DIFFERENCES_H

#include "retrieval/answer/candidates.h"

/* How sure these lines are. By hand. */
extern const double command_differences_support;

/* Into chosen[2] the lines of both commands that the question compares, in its order, where the best unit does not name both and the
 * pages of both are here. How many there are: 0 or 2. *missing: the page of one of them at most is here, and the best unit speaks of one
 * alone, so that it tells no difference between these two. */
size_t command_differences_take(const candidate_set *set, candidate *chosen, bool *missing);

#endif
