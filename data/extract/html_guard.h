/* html_guard.h - a page made harmless for the parser.
 *
 * libxml2 compares each attribute of a tag with all before it, so a tag of 40,000 attributes takes
 * seconds and twice as many take four times as long; and nothing can stop it inside a tag. No page
 * that people write has more than a few dozen in a tag. */
#ifndef FORAGE_DATA_HTML_GUARD_H
#define FORAGE_DATA_HTML_GUARD_H

#include "data/extract/builder.h"

/* A copy of the page in *out without the attributes past the first 256 of any tag; *out stays empty
 * where no tag has as many, which is nearly always. False: b->failure says why. */
bool html_guard_attributes(builder *b, const char *s, size_t n, fo_buf *out);

#endif
