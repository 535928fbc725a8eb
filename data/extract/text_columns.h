/* text_columns.h - columns that stand below each other in plain text, parted by two blanks or more, or a tab.
 *
 *     if (text_columns_are_below(above, n_above, s, n)) ...a row of the same table...
 *     text_columns_find(s, n, at, &rows);     // where such a table stands in a paragraph
 *
 * Ours: rules for how people lay tables out by hand, and for what pdftotext and mail programs leave of them. */
#ifndef FORAGE_DATA_TEXT_COLUMNS_H
#define FORAGE_DATA_TEXT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TEXT_COLUMNS_MOST = 24,
    TEXT_COLUMNS_ROWS = 3, /* rows of a table: two lines may be alike by chance */
};

typedef struct text_column {
    size_t start,
        end;          /* places from the beginning of the line, of which wide characters take two */
    size_t at, bytes; /* the same in bytes */
    bool figures, capital;
} text_column;

/* Bytes of the gap that parts two cells at s[i]; 0: none begins there. Behind a sentence two blanks are none: typewriters had
 * them there. */
size_t text_columns_gap(const char *s, size_t n, size_t i);

/* Columns of a line; 0: there are too many, or bars. *tabs: a tab parts them, so that places say nothing. */
size_t text_columns_of(const char *s, size_t n, text_column out[TEXT_COLUMNS_MOST], bool *tabs);

/* Do both lines have as many columns, two at least, each of which begins or ends below the one above? One of them may have one
 * more at its end, where there are three. Clauses behind their numbers, "1.4  Early care is open", are no columns. */
bool text_columns_are_below(const char *above, size_t n_above, const char *s, size_t n);

/* Does `first` name the columns of `second`, which stands below it, but the first, "            Gym     Pool"? Both from where
 * their lines begin. No name begins with a figure. */
bool text_columns_name_others(const char *first, size_t n_first, const char *second, size_t n);

/* Does `first` name all columns of `second`, which stands below it, three at least, and is set otherwise: "Stay      Price a night"
 * above "1 to 3 days      95 euros"? Each name has its value below some of its letters, and no figure. */
bool text_columns_name_all(const char *first, size_t n_first, const char *second, size_t n);

/* Years that name columns: they rise or fall. Zero-initialised. */
typedef struct text_years {
    size_t n;
    int last, way; /* 1: they rise, -1: they fall */
} text_years;

/* The year that a cell is, 1900 to 2099; 0: it is none. */
int text_year_of(const char *s, size_t n);

/* The next one; false: it is the last again, or goes the other way. */
bool text_years_go_on(text_years *y, int year);

typedef struct text_rows {
    size_t start,
        end; /* of lines, the last one's line break left out; start == end: there are none */
} text_rows;

/* The first three rows or more of a paragraph from the line that begins at s[at] on, with a rule below the first and the line
 * above that names the others, if there is one. The paragraph ends at a line without text. */
text_rows text_columns_find(const char *s, size_t n, size_t at);

#endif
