/* version_changes.h - "What is new in 4.2?" over a log of changes: what stands below the heading of that version, up to the
 * next one's. None of those lines says a word of the question. English. */
#ifndef FORAGE_RETRIEVAL_VERSION_CHANGES_H
#define FORAGE_RETRIEVAL_VERSION_CHANGES_H

#include "retrieval/answer/candidates.h"

/* How sure that is: the question says nothing else, and the heading is the version's. By hand. */
extern const double version_changes_support;

/* Where the question asks what changed in one version, or what was added, removed, fixed there, and nothing else but whose
 * version it is: chosen[EXTRACTIVE_MOST_SENTENCES] gets one candidate for each kind of change, in their order, below its
 * heading, of the first passage that has them; whole lines, max_chars bytes at most. How many; 0: it is not asked, or not said. */
size_t version_changes_take(const candidate_set *set, const extractive_input *in, size_t max_chars,
                            candidate *chosen);

#endif
