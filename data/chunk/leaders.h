/* leaders.h - dots that lead the eye from a name to what it has: "Monthly pass ........ 39.00", "Concert . . . . 25 April".
 *
 * Such dots end no sentence, and a line that has them is an entry of its own. An ellipsis ("wait ... there it is") is told
 * from them by the lines around it: leaders come in lists, and one alone leads to an amount. */
#ifndef FORAGE_DATA_LEADERS_H
#define FORAGE_DATA_LEADERS_H

#include <stdbool.h>
#include <stddef.h>

/* Is the line of s[at] such an entry: three dots or more, also "…" or with blanks between, behind a text and before another
 * one; and so is a line of the three above or below it, or there are four dots and a figure behind them? */
bool leaders_in_line(const char *s, size_t len, size_t at);

/* Where the dots end that begin with the dot at s[at], in such a line, and have text behind them there, three or more: the
 * first ones or others; 0: they are none. */
size_t leaders_end(const char *s, size_t len, size_t at);

#endif
