/* latex_reader.h - where the reader of LaTeX stands in its text, and what it passes over: groups, options, names,
 * lengths; and where what was begun ends.
 *
 *     if (latex_take_group(r, '{', '}', &s, &n)) ...      r->at is behind it
 */
#ifndef FORAGE_DATA_LATEX_READER_H
#define FORAGE_DATA_LATEX_READER_H

#include "data/extract/builder.h"
#include "data/extract/table_spans.h"

enum { LATEX_MAX_ENVIRONMENTS = 64, LATEX_MAX_MACROS = 64 };

/* \newcommand{\name}{text} */
typedef struct latex_macro {
    const char *name, *s;
    size_t n_name, n;
} latex_macro;

typedef struct latex_reader {
    builder *b;
    const char *s;
    size_t n, at;
    uint32_t line; /* of s[counted] */
    size_t counted;
    fo_buf words; /* of the block at hand */
    uint32_t words_line;
    uint8_t kind, level;
    table_spans *table;
    bool in_table, row_begun;
    int inner;  /* tables within the cell at hand, which are words of it */
    int braces; /* open since the cell at hand began */
    uint32_t column, wide,
        high; /* where the cell at hand begins, columns and rows that it goes over */
    /* of a numbered list: its last number; UINT32_MAX: bullets */
    uint32_t item[LATEX_MAX_ENVIRONMENTS];
    int depth; /* of lists */
    bool chapters, preamble;
    latex_macro macros[LATEX_MAX_MACROS];
    int n_macros, in_macros, n_read_macros;
    int nested; /* titles and footnotes within each other */
} latex_reader;

/* The text of the group in these brackets at s[at], behind blanks, of 20,000 bytes at most; false where there is none. */
bool latex_take_group(latex_reader *r, char open, char close, const char **s, size_t *n);
void latex_drop_options(latex_reader *r); /* a star and [...] */
void latex_drop_overlay(latex_reader *r); /* <1-2>, of slides */
/* So many groups, where they are there, and the options before each. */
void latex_drop_groups(latex_reader *r, int n_groups);
size_t latex_name_length(const latex_reader *r,
                         size_t at); /* letters of the name that begins at s[at] */
/* What ends a command's name here and is no text: a blank, where it may be one, and "{}". */
void latex_drop_end_of_name(latex_reader *r, bool blank);
void latex_drop_false_branch(latex_reader *r); /* of \iffalse, with its \fi */
bool latex_drop_name(latex_reader *r);         /* \name, where one stands */
void latex_drop_length(latex_reader *r);       /* "=-1.5em plus 2pt", where one stands */
/* What stands before the text of a cell that goes over columns (\multicolumn{2}{c}) or rows (\multirow{2}{*}), behind the
 * command's name. Outside of tables it means nothing; nor does a number below 0, for rows that are written. */
void latex_begin_wide_cell(latex_reader *r);
void latex_begin_high_cell(latex_reader *r);

/* So many bytes from here are looked through for what closes something: it may be missing each time. */
size_t latex_within_reach(const latex_reader *r);
/* Where this mark stands that closes a formula begun before s[from], within the paragraph and outside of groups; `end` where
 * it does not. */
size_t latex_formula_end(latex_reader *r, size_t from, size_t end, const char *mark);
/* Where the text ends of the environment whose name, of n bytes, was read: at \end{name}, or the whole rest. */
size_t latex_environment_end(const latex_reader *r, const char *name, size_t n);
/* \begin{document}, which no remark holds; NULL: there is none. */
const char *latex_document_begin(const latex_reader *r);

#endif
