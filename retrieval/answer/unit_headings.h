/* unit_headings.h - lines that look like items of a list and head what is below: "4. Fees", "E. For office use".
 *
 *     if (unit_is_numbered_heading(&lines, i) || unit_is_section(&lines, i)) lines.v[i].class = LINE_HEADING;
 *
 * Ours: rules for minutes, contracts and forms, tested in tests/retrieval/answer/units_test.c. */
#ifndef FORAGE_RETRIEVAL_UNIT_HEADINGS_H
#define FORAGE_RETRIEVAL_UNIT_HEADINGS_H

#include "retrieval/answer/unit_lines.h"

enum { UNIT_HEADING_BYTES = 90 }; /* of the longest heading */

/* "4. Fees", a line of its own above sentences, as minutes and contracts have them: no item of a list. */
bool unit_is_numbered_heading(const unit_lines *l, size_t i);
/* "E. For office use", "IV. Payment": a capital or a Roman number and a few words without an end, above what they name. Several
 * below each other are a choice, "A. Yes", "B. No". */
bool unit_is_section(const unit_lines *l, size_t i);
/* "PASSWORDS" above a line of dashes, equals signs, tildes or stars, right above what it names, as plain text has it. */
bool unit_is_underlined(const unit_lines *l, size_t i);
/* Such a line between blank ones: it parts what is above from what is below, and heads nothing. */
bool unit_is_rule_between(const unit_lines *l, size_t i);

#endif
