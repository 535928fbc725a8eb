/* list_marker.h - the marks of list items at the beginnings of lines, and what only looks like one.
 *
 * Text that is wrapped by hand may bring a number and its full stop, or a dash, to the beginning of a
 * line ("... fell to / 12. Then it rose"): that is no item, and a sentence goes on there. */
#ifndef FORAGE_DATA_LIST_MARKER_H
#define FORAGE_DATA_LIST_MARKER_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the bullet that n bytes at s begin with, as Word, PDF and mails set them, its blank not counted: a round one, the dot "・" of Japanese, or a
 * square, a circle, a triangle, a middle dot, an en or em dash with a blank behind. 0: none. */
size_t list_bullet(const char *s, size_t n);

/* Bytes of the mark at s[at] ("- ", "* ", "+ ", "o ", a bullet of list_bullet, "12. ", "3) "), its blank not
 * counted; 0: none. *number is that of a numbered item, -1 for a bullet. */
size_t list_marker(const char *s, size_t len, size_t at, int *number);

/* Does an item begin at s[at], the first byte of a line's text? It has a mark, and the lines around
 * it bear that out: it follows an empty line or one that is finished, or its neighbours in the list
 * are there; of an en or em dash they have to be, and of "・" with no other line between than indented
 * ones. Looks at a few lines on either side. */
bool list_item_begins(const char *s, size_t len, size_t at);

#endif
