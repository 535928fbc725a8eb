/* latex_commands.h - what commands of LaTeX stand for, and what is done with the groups behind them. */
#ifndef FORAGE_DATA_LATEX_COMMANDS_H
#define FORAGE_DATA_LATEX_COMMANDS_H

#include <stddef.h>

/* The characters of \NAME (ss: ß); NULL: it stands for none. */
const char *latex_character(const char *name, size_t n);

enum {
    LATEX_TEXT,   /* the text of all groups stays; of commands that nobody knows too */
    LATEX_GONE,   /* the command and its groups are dropped; what is behind them is text */
    LATEX_BLANK,  /* the same, and words before and behind it stay apart */
    LATEX_LENGTH, /* a length may follow: \vskip 1em plus 2pt, \parindent=0pt */
    LATEX_LET,    /* two commands follow: \let\a=\b */
    LATEX_ENTRY,  /* up to `groups` groups are a paragraph: "2019, Engineer, ACME" */
    LATEX_PAIR,   /* the same, the first names the others: "Languages: C" */
    LATEX_FIELD,  /* in the preamble an entry, elsewhere text: \address */
    LATEX_LABEL,  /* the same, under its name: "phone: 12" */
};

typedef struct latex_command {
    int does;
    int groups; /* so many of them are no text (settings, keys, files), or of the entry */
} latex_command;

latex_command latex_command_named(const char *name, size_t n);

/* The groups behind \begin{NAME} that are settings: a width, columns. */
int latex_environment_settings(const char *name, size_t n);

#endif
