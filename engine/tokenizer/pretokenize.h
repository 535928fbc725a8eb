/* pretokenize.h - how byte-level BPE vocabularies cut text into words before merging.
 *
 * Each model family publishes a regular expression (or a series, each applied to the pieces of the
 * one before). Here every expression is a hand-written matcher over Unicode categories: no regex
 * engine on the hot path. Matches and the gaps between them are the pieces; nothing is lost. */
#ifndef FORAGE_ENGINE_PRETOKENIZE_H
#define FORAGE_ENGINE_PRETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

/* The end of the match that begins at s[at], at < n; `at` where none does. s[0..n) is all there
 * is: n is the end of the text to the expression. */
typedef size_t pretokenize_matcher(const char *s, size_t n, size_t at);

enum { PRETOKENIZE_MAX_STAGES = 6 };

typedef struct pretokenizer {
    pretokenize_matcher *stages[PRETOKENIZE_MAX_STAGES]; /* NULL ends them early */
    bool whole_words; /* a word that is a token is that token, whatever the merges say */
    bool add_bos;     /* where the metadata are silent */
} pretokenizer;

/* By the name in tokenizer.ggml.pre; NULL if unknown. Static. */
const pretokenizer *pretokenizer_find(const char *name);

/* Receives the pieces in order; non-zero stops and is returned. */
typedef int pretokenize_fn(void *arg, const char *s, size_t n);

int pretokenize(const pretokenizer *p, const char *s, size_t n, pretokenize_fn *fn, void *arg);

#endif
