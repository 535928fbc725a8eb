/* line_break.h - does a line break end a sentence that has no stop?
 *
 * Headings, entries and rows end with their line; a sentence that its writer wrapped goes on in the
 * next one. To cut a sentence may turn it into its opposite ("... the only one that may be used" /
 * "on the lake"), to join a heading with what follows is merely untidy: so a break is an end only
 * where nothing says that the sentence goes on. */
#ifndef FORAGE_DATA_LINE_BREAK_H
#define FORAGE_DATA_LINE_BREAK_H

#include <stdbool.h>
#include <stddef.h>

/* s[newline] is the line break, s[first] where the sentence begins. Looks at a bounded number of
 * lines around it. */
bool line_break_ends(const char *s, size_t len, size_t first, size_t newline);

/* Is it followed by an empty line, by a list item, or by the next message of a chat? Then it ends whatever stands before it. */
bool line_break_ends_block(const char *s, size_t len, size_t newline);

#endif
