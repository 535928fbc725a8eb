/* text_lines.h - a text line by line, for readers of formats that go by lines.
 *
 *     text_lines lines = {.s = text, .n = len};
 *     for (text_line l; text_lines_next(&lines, &l);) ... l.s, l.n, l.indent, lines.number ...
 */
#ifndef FORAGE_DATA_TEXT_LINES_H
#define FORAGE_DATA_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text_line { /* into the text */
    const char *s;         /* with its indentation */
    size_t n;              /* without blanks at its end */
    size_t indent;         /* columns of blanks at its beginning, a tab to the next eighth */
    size_t blanks;         /* the same in bytes */
} text_line;

typedef struct text_lines { /* s and n are the caller's, the rest is zero at first */
    const char *s;
    size_t n;
    size_t at;       /* where the next line begins */
    uint32_t number; /* of the line that was given last, from 1 */
} text_lines;

/* The next line; false at the end. */
bool text_lines_next(text_lines *t, text_line *out);
/* The line that comes after `skip` others, without going on; false where there is none. */
bool text_lines_peek(const text_lines *t, size_t skip, text_line *out);

#endif
