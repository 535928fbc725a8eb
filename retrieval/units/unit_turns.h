/* unit_turns.h - what somebody said in a chat: a unit with who said it, behind what was said before.
 *
 *     case LINE_TURN: return unit_turns_read(r, i, rc); */
#ifndef FORAGE_RETRIEVAL_UNIT_TURNS_H
#define FORAGE_RETRIEVAL_UNIT_TURNS_H

#include "retrieval/units/unit_reader.h"

/* Does a message begin with these n bytes: a time first, as chat_turn.h has it, or in brackets as logs do? *start: where, behind
 * marks that nobody sees. */
bool unit_turns_begins(const char *s, size_t n, size_t *start);

/* The message that begins with line i: that line and those that go on. What was said before is what it hangs on, and is part of
 * the answer where somebody else asked. One past its last line; *rc: FO_ENOMEM. */
size_t unit_turns_read(unit_reader *r, size_t i, int *rc);

#endif
