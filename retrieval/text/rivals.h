/* rivals.h - words of which one excludes the other: who asks about the north pump, dinner, the red lamp or winter is not
 * answered by the south pump, lunch, the green lamp or summer, near as their vectors are. English. */
#ifndef FORAGE_RETRIEVAL_RIVALS_H
#define FORAGE_RETRIEVAL_RIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bit for each such word of a text. */
uint64_t rivals_in(const char *text, size_t len);

/* Has a text with the words `said` a rival of one of those `asked`, and not that one? */
bool rivals_exclude(uint64_t asked, uint64_t said);

#endif
