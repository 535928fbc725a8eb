/* unit_pairs.h - questions and answers that are marked as such: "Q: ... / A: ...", "D: ... / R: ...", "问：… / 答：…".
 *
 * A letter alone may stand for anything ("R: red"), so a question counts where the mark of its answer comes next, and where it has
 * a question mark or is one of several. */
#ifndef FORAGE_RETRIEVAL_UNIT_PAIRS_H
#define FORAGE_RETRIEVAL_UNIT_PAIRS_H

#include "retrieval/units/unit_lines.h"

/* Make each such question, all its lines, a heading, and let its answer begin behind the mark, which may stand on a line of its own. */
void unit_pairs_find(unit_lines *l);

/* Is a heading such a question, with a question mark or without? */
bool unit_pairs_is_question(const char *s, size_t n);

#endif
