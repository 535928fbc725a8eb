/* demand_counts.h - may a number of a text be how many of something there are, or do all of them count something else? English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_COUNTS_H
#define FORAGE_RETRIEVAL_DEMAND_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* "The fume cupboard of L3 is used by two people for 20 minutes": who asks how many cupboards there are gets no number of them. A
 * number of what the question itself names is one; one that stands alone may be. */
bool demand_count_in(const char *text, size_t len, const char *question, size_t question_len);

/* "How many children are in the group?": those are called by many names, and what their number is of is not always said; but a
 * price, an age, a time or a measure is none. */
bool demand_counts_people(const char *question, size_t len);

#endif
