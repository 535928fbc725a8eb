/* charsmap.h - the "precompiled charsmap" of a SentencePiece model: how text is normalised (usually
 * NFKC and some more) before it is cut. Longest match of a character sequence gives its
 * replacement. Source: sentencepiece's model format (Kudo & Richardson 2018): a 32-bit length, a
 * double-array trie of 32-bit units (darts-clone, Yata 2008), then replacements that end in a zero
 * byte each. */
#ifndef FORAGE_ENGINE_CHARSMAP_H
#define FORAGE_ENGINE_CHARSMAP_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct charsmap { /* immutable; zeroed: replaces nothing */
    uint32_t *units;
    size_t n_units;
    char *texts; /* ends in a zero byte */
    size_t n_texts;
} charsmap;

/* Copies blob[0..n). FO_ECORRUPT names what does not fit; every later walk stays inside. */
int charsmap_init(charsmap *m, const void *blob, size_t n, fo_err *err);
void charsmap_deinit(charsmap *m);

/* Bytes of the longest key that begins s[0..n), and its replacement in *text, *len (may be empty);
 * 0 where there is none. Any bytes may be asked for. */
size_t charsmap_match(const charsmap *m, const char *s, size_t n, const char **text, size_t *len);

#endif
