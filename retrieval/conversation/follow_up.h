/* follow_up.h - "And the south pump?" put into the question before it, no model.
 *
 *     fo_buf b = {0};
 *     follow_up_make(&b, "How often is the north pump serviced?", "And the south pump?");
 *     // true: "How often is the south pump serviced?"
 *
 * Half a question takes the place of what stands in the whole one before it where the two are plainly of one kind: they
 * end with the same noun, begin with the same preposition, or are codes, days, months, years, names or kinds of people, or
 * opposites ("And close?" behind what opens). Where no two words
 * tell, it takes the place of what the question is about: what it counts, what stands behind its first verb, the one phrase
 * with an article. A part that begins with a preposition of its own is added at the end. English; everything else is left
 * alone.
 */
#ifndef FORAGE_RETRIEVAL_FOLLOW_UP_H
#define FORAGE_RETRIEVAL_FOLLOW_UP_H

#include <stdbool.h>

#include "kernels/buf.h"

/* Does `turn` go on from what was said: "and the second?", "what about Rome?" */
bool follow_up_goes_on(const char *turn);

/* ... and is a sentence that asks something of its own, if by one word: "can I smoke?" */
bool follow_up_asks_alone(const char *turn);

/* Does it put right what was asked: "no, I meant the kayak"? */
bool follow_up_corrects(const char *turn);

/* ... and says only when, where or how: "and in winter?", "and without a car?" It names no other thing to speak of. */
bool follow_up_adds_a_circumstance(const char *turn);

/* ... and has all that a question needs by itself: "And what does the dinner cost?" */
bool follow_up_is_whole(const char *turn);

/* Appends the whole question to `out`, or returns false and leaves it. At most 64 words of `before`
 * and 8 of `turn` are looked at; longer ones are left alone. An allocation that failed shows in `out`. */
bool follow_up_make(fo_buf *out, const char *before, const char *turn);

#endif
