/* unit_lines.h - the lines of a text by how they begin and end, and by those beside them: what units.c makes units of.
 *
 *     unit_lines l = {.text = text, .len = len, .before = before};
 *     int rc = unit_lines_read(&l, &err);
 *     use(l.v[0].class), unit_lines_deinit(&l);
 */
#ifndef FORAGE_RETRIEVAL_UNIT_LINES_H
#define FORAGE_RETRIEVAL_UNIT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

enum line_class {
    LINE_BLANK,
    LINE_TEXT,
    LINE_OPTION,
    LINE_ITEM,
    LINE_ROW,
    LINE_RECORD, /* a row whose cells say which columns they are of */
    LINE_TURN,
    LINE_HEADING, /* of a numbered section (is_numbered_heading), or "[network]" above settings */
    LINE_MAIL,    /* "Date: Mon, 6 Jul 2026", of the lines a mail begins with */
    LINE_SETTING, /* "port = 9631", or a comment beside such lines */
};

typedef struct text_line {
    uint32_t start, end; /* without white space at the ends */
    uint8_t class;       /* enum line_class */
} text_line;

typedef struct unit_lines {
    const char *text;
    size_t len, before; /* bytes; before: of the document, in memory before text[0] */
    bool goes_on;       /* the first line began before the text */
    bool followed;      /* more of the document is known to stand behind the text */
    text_line *v;
    size_t n, cap;
    size_t width; /* of the longest line of text: where wrapping would have happened */
} unit_lines;

/* Fill v from text, len and before. FO_ENOMEM. */
int unit_lines_read(unit_lines *l, fo_err *err);
void unit_lines_deinit(unit_lines *l);

/* The bytes of line i, without white space at its ends. */
const char *unit_lines_text(const unit_lines *l, size_t i, size_t *n);
/* The same with its indent, which of the first line stands before the text. */
const char *unit_lines_indented(const unit_lines *l, size_t i, size_t *n);
/* The last line before the text that is not blank; *n = 0: there is none. */
const char *unit_lines_above(const unit_lines *l, size_t *n);
/* The first line from i on that is not blank, or l->n. */
size_t unit_lines_skip_blank(const unit_lines *l, size_t i);

/* True when the break after line i was made on purpose: the next line's first word would have fit. */
bool unit_breaks_on_purpose(const unit_lines *l, size_t i);
/* The paragraph of text lines from line i: one past its last line. */
size_t unit_paragraph_end(const unit_lines *l, size_t i);

/* "# seconds before it is closed", "; ...", "// ..." */
bool unit_is_comment(const char *s, size_t n);

/* "A: ", "Answer: " before what answers a question: bytes of it. */
size_t unit_answer_mark(const char *s, size_t n);
/* "E2: water does not drain. ...": a line that begins with what it speaks of. Who asks and who answers are no such things. */
bool unit_is_tagged(const unit_lines *l, size_t i);
/* "When: 2026-12-21", all that is said below the name of an event: a line that begins with what its figure is, and no heading
 * of what follows. "Chapter 2: 1990 to 2000" has a figure before the colon, too. */
bool unit_is_field(const unit_lines *l, size_t i);

/* "Flat white ..... 3.80", "Concert . . . . 25 April": dots lead from a name to what it has (data/chunk/leaders.h). */
bool unit_is_led(const unit_lines *l, size_t i);

/* "-e, --export   writes all feeds": the byte at which a line that begins with an option says what it does, behind a gap as columns have
 * it; 0: it says nothing of the kind. */
size_t unit_option_said(const char *s, size_t n);

bool unit_ends_sentence(const char *s, size_t n);
/* The line between header and rows: "| --- | :-: |", "=====  ====". */
bool unit_is_rule(const char *s, size_t n);
/* "a | b", "| a |" */
bool unit_is_row(const char *s, size_t n);

#endif
