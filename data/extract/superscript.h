/* superscript.h - what stands before raised text, so that it is no part of the number that it follows: 10^6, and "45 3" where
 * the 3 leads to a note. What a format says by its height alone would be gone: 106, 453. */
#ifndef FORAGE_DATA_SUPERSCRIPT_H
#define FORAGE_DATA_SUPERSCRIPT_H

#include "data/extract/builder.h"
#include "kernels/utf8.h"

/* "^", " " or nothing, between before[0..n_before) and raised[0..n). Of an ordinal (1st, 2e) nothing is in doubt. link: it
 * leads to what it marks. */
static inline const char *superscript_mark(const char *before, size_t n_before, const char *raised,
                                           size_t n, bool link) {
    if (!n_before || !fo_is_digit(before[n_before - 1]) || !n || fo_is_blank(*raised)) return "";
    if (link) return " ";
    const bool minus = n >= 3 && (!memcmp(raised, "\xE2\x88\x92", 3) || /* U+2212 */
                                  !memcmp(raised, "\xE2\x80\x93", 3) || /* en dash */
                                  !memcmp(raised, "\xE2\x80\x91", 3));  /* no-break hyphen */
    return fo_is_digit(*raised) || *raised == '-' || *raised == '+' || minus ? "^" : "";
}

/* The same, behind the open block's text. */
static inline const char *superscript_mark_in(const builder *b, const char *raised, size_t n,
                                              bool link) {
    if (builder_block_empty(b) || b->bars)
        return ""; /* a cell has begun, whose text is still to come */
    return superscript_mark(b->text.data + b->start, b->text.len - b->start, raised, n, link);
}

#endif
