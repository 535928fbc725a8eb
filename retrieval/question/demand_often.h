/* demand_often.h - "How often is the boiler serviced?": does a question ask for that, and does a text say how often? English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_OFTEN_H
#define FORAGE_RETRIEVAL_DEMAND_OFTEN_H

#include <stdbool.h>
#include <stddef.h>

/* By words, "every week", "daily", "after use", "on Mondays", as a heading does, too. */
bool demand_often_in_words(const char *text, size_t len);
/* ... or by a number, "reload-time 60". */
bool demand_often_in(const char *text, size_t len);

/* "Clean it when the red lamp shines" may say it, "threads that run when all is loaded" does not. */
bool demand_often_by_occasion(const char *text, size_t len);

#endif
