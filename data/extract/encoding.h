/* encoding.h - bytes of a known or guessed character encoding become clean UTF-8.
 *
 * Order of belief: byte order mark; valid UTF-8 with a non-ASCII character; the declared charset;
 * the look of UTF-16 without a mark; UTF-8 with a few bad bytes; what charset_guess.h
 * says of Cyrillic, Greek and Hebrew; windows-1252. Where characters of the declared charset
 * are of two bytes, a few of UTF-8 are chance: eight are needed; and in what is a word and not a text ("certain"), the
 * declared charset is believed first. */
#ifndef FORAGE_DATA_ENCODING_H
#define FORAGE_DATA_ENCODING_H

#include "data/extract/doc_budget.h"
#include "kernels/buf.h"
#include "kernels/error.h"

/* Canonical static name of a charset label ("Latin1" -> "windows-1252", as browsers do), NULL for
 * one that is not known. "shift_jis" and "euc-kr" are what Windows writes under these names (CP932, CP949). */
const char *encoding_find(const char *label, size_t len);

/* Decode bytes[0..n) into *out (appended). declared: an encoding_find name or NULL. Ill-formed
 * parts become U+FFFD and are counted; CR and CR LF become LF, form feeds too; other control
 * characters are dropped. *name gets the encoding used. What is appended is taken from the budget
 * (NULL: none). FO_ENOMEM, FO_ELIMIT past max_bytes, and what doc_budget_fail says. */
typedef struct encoding_limits {
    size_t max_bytes; /* of input, without its mark */
    doc_budget *budget;
    bool certain; /* the charset is of these few bytes: a font's, an encoded word's */
} encoding_limits;
int encoding_decode(fo_buf *out, const unsigned char *bytes, size_t n, const char *declared,
                    const encoding_limits *limits, const char **name, size_t *n_replaced,
                    fo_err *err);

/* For a process that may open no file later on: the C library's tables of all character sets are loaded
 * and stay. Once, at its start. */
void encoding_load_all(void);

/* Append UTF-8 s[0..n) with line ends, control characters and ill-formed parts mended as above. */
void encoding_clean(fo_buf *out, const char *s, size_t n, size_t *n_replaced);

/* Do these bytes look like UTF-16 without a mark? "utf-16le", "utf-16be" or NULL. */
const char *encoding_guess_utf16(const unsigned char *bytes, size_t n);

#endif
