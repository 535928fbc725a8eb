/* unit_lists.h - the items of a list, and the list whole where it is a procedure or short.
 *
 *     if (l->class == LINE_ITEM) return unit_lists_read(r, i, 0, 0, rc);
 */
#ifndef FORAGE_RETRIEVAL_UNIT_LISTS_H
#define FORAGE_RETRIEVAL_UNIT_LISTS_H

#include "retrieval/units/unit_reader.h"

/* The items of a list from line i on; lead: the sentence that ends in a colon before it, empty for none. The line behind the
 * list. *rc: FO_ENOMEM. */
size_t unit_lists_read(unit_reader *r, size_t i, uint32_t lead_start, uint32_t lead_end, int *rc);

#endif
