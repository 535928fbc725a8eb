/* unit_headings.h - lines that head what is below: such as look like items of a list, "4. Fees", "E. For office use", such as stand
 * alone, and questions.
 *
 *     if (unit_is_numbered_heading(&lines, i) || unit_is_section(&lines, i)) lines.v[i].class = LINE_HEADING;
 *
 * Ours: rules for minutes, contracts and forms, tested in tests/retrieval/units/units_test.c. */
#ifndef FORAGE_RETRIEVAL_UNIT_HEADINGS_H
#define FORAGE_RETRIEVAL_UNIT_HEADINGS_H

#include "retrieval/units/unit_lines.h"

enum {
    UNIT_HEADING_BYTES = 90,   /* of the longest heading */
    UNIT_QUESTION_BYTES = 200, /* ... of a question that what follows answers */
};

/* "4. Fees", a line of its own above sentences, as minutes and contracts have them: no item of a list. */
bool unit_is_numbered_heading(const unit_lines *l, size_t i);
/* "E. For office use", "IV. Payment": a capital or a Roman number and a few words without an end, above what they name. Several
 * below each other are a choice, "A. Yes", "B. No". Of Chinese, "第三条 宠物" and "五、其他". */
bool unit_is_section(const unit_lines *l, size_t i);
/* One sign from end to end: with gaps it stands below the names of columns. */
bool unit_is_drawn(const char *s, size_t n);
/* "PASSWORDS" above a line of dashes, equals signs, tildes or stars, right above what it names, as plain text has it. */
bool unit_is_underlined(const unit_lines *l, size_t i);
/* Where line i is such a line behind a blank one, and one or two short lines below it are a heading, for a drawn line (*below) or
 * a blank one with text behind it ends them: one past the last of them. 0: they are none. */
size_t unit_ruled_heading(const unit_lines *l, size_t i, bool *below);
/* Such a line between blank ones: it parts what is above from what is below, and heads nothing. */
bool unit_is_rule_between(const unit_lines *l, size_t i);

/* "NAME", "OPTIONS" in the first column, and the section's text right below it further in, as pod2text and man print manuals. */
bool unit_is_section_of_manual(const unit_lines *lines, size_t i);

/* The lines' classes are settled for these. A question with a line of its own before what answers it, as pages of frequent
 * questions have them: what stands before has ended, and what follows did not have to begin a new line. */
bool unit_is_asked(const unit_lines *l, size_t i);
/* "Do not take it if", "Please tell us when you": no heading, the items behind it end the sentence. */
bool unit_is_open(const unit_lines *l, size_t i);
/* In capitals: between options only such a line is a heading, for a description may be as short as one. */
bool unit_is_shouted(const unit_lines *l, size_t i);
bool unit_is_in_capitals(const char *s, size_t n); /* the same of bytes */
/* "Child lock" right above what it names, sentences or a list, as people write who leave out the blank line between: a few
 * words without a stop, behind a blank line. A single word above sentences is a term with what is said of it. */
bool unit_is_right_above(const unit_lines *l, size_t i);
/* "history" above "Type: number" and "Default: 10", behind a blank line: the name of a setting, though it is any word and stands right
 * below the text of the one before. */
bool unit_is_setting_name(const unit_lines *l, size_t i);
/* Does line i stand alone between blank lines, short and without a stop, or above what it names? */
bool unit_is_heading(const unit_lines *l, size_t i);
/* ... or would it, if it did not say a sum or a number to call, "Total: £163.00"? Several of them are points of a list. */
bool unit_stands_as_heading(const unit_lines *l, size_t i);

#endif
