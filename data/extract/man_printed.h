/* man_printed.h - manual pages as `man ls | col -b > ls.txt` prints them: plain text whose columns say what is a section, an option
 * and its description, an example. They become the text that extract_man.c makes of the page's source.
 *
 *     if (man_printed_is(text, n)) man_printed_read(b, text, n);
 *
 * Ours: how groff and mandoc lay a page out. Sections begin in the first column, their text further in; what is said of an option
 * stands further in than its name, on the same line where the name is short. */
#ifndef FORAGE_DATA_MAN_PRINTED_H
#define FORAGE_DATA_MAN_PRINTED_H

#include "data/extract/builder.h"

/* Does the text begin with such a page: "LS(1)   User Commands   LS(1)", and a section's heading with its text further in? */
bool man_printed_is(const char *s, size_t n);

/* The page to b, which is empty: headings, paragraphs, options with their descriptions, examples. The first section's text, "ls -
 * list directory contents", is the title; what stands at the head and foot of paper is left out. Words parted at a line's end
 * are whole again. b->failure says what went wrong. */
void man_printed_read(builder *b, const char *s, size_t n);

#endif
