/* unit_hanging.h - entries of a list without bullets, of which what does not fit on a line is indented on the next one:
 *
 *     Ann Roe, advocate: complaints and praise, on the first floor
 *         behind the lift. Room 4.
 *     Bo Keane: wounds. */
#ifndef FORAGE_RETRIEVAL_UNIT_HANGING_H
#define FORAGE_RETRIEVAL_UNIT_HANGING_H

#include "retrieval/units/unit_lines.h"

/* Make the first line of each such entry an item. Each begins with a capital, there are two at least, and what is indented goes on
 * with a line that had no room for it. */
void unit_hanging_find(unit_lines *l);

#endif
