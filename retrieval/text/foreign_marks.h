/* foreign_marks.h - what looks like a citation marker in text that is not ours.
 *
 *     size_t n = foreign_marks_disarm(text, len);  // "500 hours [2]" is "500 hours (2)" now
 *
 * A marker [n] in an answer says "source n bears this out", so it must come from us alone: a
 * document that contains "[2]" (a reference list, an attack), or a model that writes one, would
 * point at another source. Their brackets become round ones. The quotes of citations are not
 * touched: they are the source's own bytes. */
#ifndef FORAGE_RETRIEVAL_FOREIGN_MARKS_H
#define FORAGE_RETRIEVAL_FOREIGN_MARKS_H

#include <stddef.h>

/* Disarm every marker in text[0..len) in place; returns the new length, which is never larger.
 *
 * A marker is a bracket around one number, or around several that are positive and below 100
 * ("[2, 3]", "[1-4]"; but "[0, 1]" and "[1.5]" are mathematics). Also what a reader or a Markdown
 * renderer would take for one: digits of any script, "\[2\]", "[^2]", "[**2**]", brackets of full
 * width or written as HTML entities, signs without width in between, and a "[" or "[2" at the end,
 * which the next sentence could close. */
size_t foreign_marks_disarm(char *text, size_t len);

/* The same markers, taken out, with the blanks before them (behind them, at the beginning): of what
 * a model wrote, whose markers say nothing. */
size_t foreign_marks_drop(char *text, size_t len);

#endif
