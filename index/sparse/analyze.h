/* analyze.h - text to index terms: Unicode words (utf8proc), NFKC case folding, Snowball stems.
 * The same analysis serves indexing, queries, extractive answers and citation checks. */
#ifndef FORAGE_INDEX_ANALYZE_H
#define FORAGE_INDEX_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"

typedef struct analyzer analyzer; /* not thread-safe: one per thread; cheap to reuse */

/* language: Snowball name ("english" means the Porter stemmer, see docs/measurements/quality.md) or "none". */
int analyzer_create(analyzer **out, const char *language, fo_err *err);
void analyzer_free(analyzer *a);

typedef struct analyzed_term {
    const char *term; /* stem, valid until the callback returns */
    size_t len;
    size_t start, end; /* bytes of the word in the source text */
    size_t position;   /* 0-based ordinal of the word */
    bool stop;         /* a stop word of the language */
    bool part; /* a part of the compound before it (fooBar, foo_bar: foo, bar), same position */
} analyzed_term;
typedef int analyze_fn(void *ctx, const analyzed_term *t); /* non-zero stops and is returned */

/* Every word of the text in order. A word is a run of letters, digits and marks, with inner
 * apostrophes; an English possessive ('s) is dropped. Identifiers give the whole and then their
 * parts (part = true). Scripts written without spaces give every character and every pair of
 * neighbours (part = true). Bytes that are not UTF-8 divide words. Terms are at most 255 bytes:
 * longer words are cut at a code point. */
int analyze(analyzer *a, const char *text, size_t len, analyze_fn *fn, void *ctx);

#endif
