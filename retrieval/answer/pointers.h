/* pointers.h - sentences that only say where something stands: "For more information, see Caching", "This document describes how
 * backups are made". English alone. */
#ifndef FORAGE_RETRIEVAL_POINTERS_H
#define FORAGE_RETRIEVAL_POINTERS_H

#include "retrieval/answer/candidates.h"

/* Does the sentence send its reader to another place, and says nothing else? "See that the door is shut" does not, nor "Hold the key (see
 * below)". */
bool pointer_is_all(const char *s, size_t n);

/* Sets CAND_QUESTION of such units: what stands there answers. Not where the question asks for a place to read. */
void pointers_mark(candidate_set *set);

#endif
