/* charsmap.h - the "precompiled charsmap" of a SentencePiece model: how text is normalised (usually
 * NFKC and some more) before it is cut. Longest match of a character sequence gives its
 * replacement. Source: sentencepiece's model format (Kudo & Richardson 2018): a 32-bit length, a
 * double-array trie of 32-bit units (darts-clone, Yata 2008), then replacements that end in a zero
 * byte each. */
#ifndef FORAGE_ENGINE_CHARSMAP_H
#define FORAGE_ENGINE_CHARSMAP_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
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

enum { CHARSMAP_MAX_KEY = 64 };

typedef struct charsmap_rule { /* key becomes text; neither has a zero byte, text may be empty */
    const char *key, *text;
    size_t key_len, text_len;
} charsmap_rule;

/* Append the charsmap of these rules to *out, in the form that charsmap_init reads. Sorts them.
 * FO_EINVAL (a key that is empty, too long, or there twice), FO_ELIMIT (too many), FO_ENOMEM. */
int charsmap_build(charsmap_rule *rules, size_t n, fo_buf *out, fo_err *err);

#endif
