/* span_words.h - spans that a question has in one unit and the documents in another: "seven days", where a table has a week permit. */
#ifndef FORAGE_RETRIEVAL_SPAN_WORDS_H
#define FORAGE_RETRIEVAL_SPAN_WORDS_H

#include <stdbool.h>

#include "kernels/buf.h"
#include "retrieval/text/passage.h"

/* The question with a span as the rows of a table in the passages write it: 7 days and a week, 14 days, two weeks and a fortnight, 24 hours and a day,
 * 12 months and a year, 60 minutes and an hour. The first passage that has one of these decides; "a week" is a span only behind
 * "for", "in", "within" or "than": "how many hours a week" says how often. English. False, and *out as it was: nothing is to be changed, or out->failed. */
bool span_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n);

#endif
