/* unit_code.h - lines as somebody types them into a shell or a file: no term that the next paragraph explains, and no heading.
 *
 *     if (unit_code_is_typed(s, n)) ...
 *
 * Ours: rules for manuals and their examples, tested in tests/retrieval/units/unit_code_test.c. */
#ifndef FORAGE_RETRIEVAL_UNIT_CODE_H
#define FORAGE_RETRIEVAL_UNIT_CODE_H

#include "retrieval/units/unit_lines.h"

/* Plainly typed, whatever it begins with: "$ dnf install restic", "</Directory>", "RewriteRule "^/(.+)$" "/new/$1" [PT]",
 * "/usr/bin/upsc ups@localhost". Not "The --bwlimit option", nor "<stash>" or "drop [-q] [<stash>]", which say how something is written. */
bool unit_code_is_typed(const char *s, size_t n);

/* Does line i, with a blank line behind it, look like a term, and is an example of the text around it: typed, led in by a colon,
 * amidst a sentence, above another such line? "(( foo = 1 ))" above "gives the answer 1" is; "set-time [TIME]" and "/etc/skel/" are
 * terms. */
bool unit_code_is_example(const unit_lines *l, size_t i);

/* "has-session" above "(alias: has)": a line in brackets between blank ones, of what stands above it; or right between an option's name
 * and what is said of it, "(Keyword: flush)". */
bool unit_code_is_aside(const unit_lines *l, size_t i);

/* "# Retry after 60 seconds", of an example of settings or commands: no heading of Markdown. */
bool unit_code_is_comment(const unit_lines *l, size_t i);

/* "Then you can use" above "$ dnf install restic": the line leads in what is typed below it, without a colon. */
bool unit_code_is_led_in(const unit_lines *l, size_t i);

/* "Variables such as" above "var="foo bar"" above "are split into words.": the line that goes on with the sentence that line i, the last
 * of its paragraph, leaves for an example; 0: it does not. */
size_t unit_code_amidst(const unit_lines *l, size_t i);

#endif
