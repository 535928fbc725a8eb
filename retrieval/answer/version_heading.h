/* version_heading.h - of which version what stands below a heading is, where the question names one: a log of changes has "## 3.2.0
 * (2026-08-14)" above them. */
#ifndef FORAGE_RETRIEVAL_VERSION_HEADING_H
#define FORAGE_RETRIEVAL_VERSION_HEADING_H

#include <stddef.h>
#include <stdint.h>

#include "retrieval/question/question.h"

typedef struct version_heading {
    enum version_of {
        VERSION_NOT_SAID,
        VERSION_ASKED,
        VERSION_HOLDS, /* an earlier one, and what is so in a later one is asked: "How long are notes kept in 3.4?" */
        VERSION_OTHER,
    } is;
    uint64_t number; /* of VERSION_HOLDS: the later, the greater */
} version_heading;

/* Of a heading s[n]; that of a numbered section, "3.2 Fees", says none. What was added, changed or fixed in a version, or was so
 * until it, no earlier one tells. */
version_heading version_heading_of(const question *q, const char *s, size_t n);

/* Of the nearest heading of Markdown that says one in the `before` bytes before text. */
version_heading version_heading_before(const question *q, const char *text, size_t before);

typedef struct candidate_set candidate_set;
/* Of two changes that an earlier version may hold, the later one of a document that has all words of the question the other has
 * stands: the other is of another version. */
void version_headings_settle(candidate_set *set);

#endif
