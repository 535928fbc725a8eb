/* analyze.h - text to index terms: Unicode words (utf8proc), NFKC case folding, Snowball stems; of Hindi, spellings
 * of one word (the dot below, the moon-dot, its figures) are folded.
 * The same analysis serves indexing, queries, extractive answers and citation checks. */
#ifndef FORAGE_INDEX_ANALYZE_H
#define FORAGE_INDEX_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

/* The terms that today's analysis makes, where they are others than those of an edition before; analysis_changes (analyze.c) has the
 * scripts for which they are. */
enum { ANALYZER_EDITION = 1 };

/* Terms of a script, [from, to) by their bytes, that an edition makes otherwise than those before it. The last row has edition 0. */
typedef struct analysis_change {
    uint8_t edition;
    const char *from, *to;
} analysis_change;
extern const analysis_change analysis_changes[];

typedef struct analyzer analyzer; /* not thread-safe: one per thread; cheap to reuse */

/* language: Snowball name ("english" means the Porter stemmer, see docs/measurements/quality.md), another
 * name of language.h, or "none". */
int analyzer_create(analyzer **out, const char *language, fo_err *err);
void analyzer_free(analyzer *a);

/* The analyzer of a language by its number (language.h), -1: a itself. Belongs to a, is made when it is
 * first asked for, and is a itself where there is no memory for another. */
analyzer *analyzer_in(analyzer *a, int language);

/* The number of its language where that is another than English, else -1. */
int analyzer_language(const analyzer *a);

/* The one for a text: of the language that the text is in, a where that is a's own or cannot be told. Of
 * an analyzer of "none" always itself. *language gets the number, -1: a's own; may be NULL. */
analyzer *analyzer_for_text(analyzer *a, const char *text, size_t len, int *language);

/* The same for the best passage of a question: where no language can be told of it, as of a table's rows, the one that the question
 * is plainly in. */
analyzer *analyzer_for_answer(analyzer *a, const char *text, size_t len, const char *question);

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

/* A letter or a digit of any script; -1 is none. */
bool analyze_is_of_word(int32_t cp);

/* A letter of a script that is written without spaces between words. Hangul has spaces, but particles
 * cling to its words: pairs of syllables find them. */
bool analyze_is_unspaced(int32_t cp);

#endif
