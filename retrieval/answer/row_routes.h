/* row_routes.h - rows of timetables: where a table has columns for where something begins and where it ends ("From", "To"), "from
 * Bergen to Oslo" is not answered by the row of the way back. English. */
#ifndef FORAGE_RETRIEVAL_ROW_ROUTES_H
#define FORAGE_RETRIEVAL_ROW_ROUTES_H

#include "retrieval/answer/candidates.h"

/* Sets the rows apart that go another way than the question says, and picks those that go that way, where it asks for a column that
 * they have. The candidates of passage `index` are the last of the set. */
void rows_follow_the_route(candidate_set *set, size_t index);

#endif
