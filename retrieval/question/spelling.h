/* spelling.h - words of a question that are misspelt: "When is the libary open?" asks for the library.
 *
 * A word that stands neither in the documents nor in the language is taken for the one that a single slip of the fingers makes of
 * it: a letter too many, too few, another one, or two in the wrong order, the first and the last one right; for a word of the documents, the most frequent first, or
 * else for the only one of the language. Left alone are short words, what has digits or signs in it, and what stands in quotes; a
 * name (a capital within the sentence) is not taken for one with another letter. */
#ifndef FORAGE_RETRIEVAL_SPELLING_H
#define FORAGE_RETRIEVAL_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

#include "index/sparse/analyze.h"
#include "kernels/buf.h"

typedef void spelling_word_fn(void *ctx, const char *word, size_t len);

/* What words there are. Words are in small letters; terms are analyze()'s. */
typedef struct spelling_source {
    analyzer *words; /* of the documents' language */
    bool english; /* its words are known, by is_word; of another language only the documents' are */
    bool capitals; /* nouns have them, as in German: they are no names */
    void *ctx;     /* of the functions: */
    bool (*is_word)(void *ctx, const char *word, size_t len); /* of the language */
    void (*each_word)(void *ctx, spelling_word_fn *fn, void *fn_ctx);
    bool (*has_term)(void *ctx, const char *term, size_t len); /* have the documents it? */
    void (*each_term)(void *ctx, spelling_word_fn *fn, void *fn_ctx);
    double (*idf)(void *ctx, const char *term, size_t len);
    /* Appends a word of a document that the asker sees, which becomes the term, to *out; false: there is none. */
    bool (*word_of)(void *ctx, const char *term, size_t len, fo_buf *out);
} spelling_source;

/* Is b one slip away from a? Both by code points; equal words are not. */
bool spelling_is_slip(const char *a, size_t n_a, const char *b, size_t n_b);

/* Appends the question with such words mended to *out; false, and nothing appended, where there are none (or no memory: out->failed). */
bool spelling_mend(fo_buf *out, const char *question, const spelling_source *s);

#endif
