/* demand_when.h - "When does Uncle Fergus arrive?": does a question ask when something happens, happened or will, and may a text say
 * when anything does? "When should I rebase?" asks in which case. English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_WHEN_H
#define FORAGE_RETRIEVAL_DEMAND_WHEN_H

#include <stdbool.h>
#include <stddef.h>

bool demand_when_asked(const char *question, size_t len);

/* By a number, a day, a month, a season, a time of the day, or a word that sets one thing before or behind another. */
bool demand_when_in(const char *text, size_t len);
/* By a number, a day or a month alone: what a heading says of all below it. */
bool demand_when_named(const char *text, size_t len);

#endif
