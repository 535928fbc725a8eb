/* man_lines.h - what a line of a manual page is made of: the arguments of a macro, the cells of a table's row. */
#ifndef FORAGE_DATA_MAN_LINES_H
#define FORAGE_DATA_MAN_LINES_H

#include <stddef.h>

enum { MAN_MAX_ARGS = 32 };

typedef struct man_arguments {
    char *at[MAN_MAX_ARGS]; /* point into the line, NUL-terminated */
    size_t n;
} man_arguments;

/* Cut s into arguments in place: blanks part them, "..." holds them together, "" is a quote. The last one has all that is left: a
 * sentence in bold may have more words than any macro has arguments. */
man_arguments man_split(char *s);
/* Opening braces of a line, \{, less closing ones. */
long man_braces(const char *s);

/* Cells of a row that `tab` parts. */
size_t man_cells_of(const char *s, char tab);
/* Of a row that has nothing but the rest of the last cell above it, begun in a small letter, that rest: "or death of controlling
 * process" below "Hangup detected on controlling terminal". NULL: it is a row of its own. */
char *man_rest_of_row(char *s, char tab, size_t n_cells);

#endif
