/* exit_codes.h - what a command's exit status means stands in its page as an entry that begins with the number, "23 - Partial
 * transfer due to error", or a sentence "1 if no lines were selected": nothing of the question's words is in it, and sentences that
 * merely mention the number have more of them. Part of extractive.h. */
#ifndef FORAGE_RETRIEVAL_EXIT_CODES_H
#define FORAGE_RETRIEVAL_EXIT_CODES_H

#include "retrieval/answer/candidates.h"

/* How sure such an entry is. By hand. */
extern const double exit_codes_support;

/* Into *chosen the entry of the one number that the question asks about as an exit status, return code or error of a command that it
 * names: "exit code 23 rsync", "fsck returned 4", "What does exit status 124 mean for timeout?"; on the page of that command
 * alone, where a heading or a sentence above says that it is about these. How many there are: 0 or 1. English. */
size_t exit_codes_take(const candidate_set *set, candidate *chosen);

#endif
