/* version_dates.h - when a version came out stands in its heading, "4.0.0 (2025-02-11)", which is no sentence: it is the answer to
 * who asks that. Part of extractive.h. */
#ifndef FORAGE_RETRIEVAL_VERSION_DATES_H
#define FORAGE_RETRIEVAL_VERSION_DATES_H

#include "retrieval/answer/candidates.h"

/* Into *chosen the heading with the version and the date, where the question asks when one version of what a document, or the heading above the versions, is called was
 * released, and nothing else: "When did Quillbox 4.0.0 come out?", "the date of 4.1.2". Not a heading with other words, "supported
 * until", nor where a sentence or a row says when it came out, or two such
 * headings say another day each. How many there are: 0 or 1. English. */
size_t version_dates_take(const candidate_set *set, candidate *chosen);

#endif
