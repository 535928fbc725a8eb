/* dedupe.h - near-duplicate passages, found by their word shingles.
 * Source: Broder 1997 (resemblance of shingle sets), exact over 64-bit hashes: contexts are few. */
#ifndef FORAGE_RETRIEVAL_DEDUPE_H
#define FORAGE_RETRIEVAL_DEDUPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The set of hashed 4-word shingles of a text, sorted; words are runs of non-space, case of ASCII
 * letters folded. A shorter text has one shingle. */
typedef struct shingle_set {
    uint64_t *hashes;
    size_t n;
} shingle_set;

int shingle_set_init(shingle_set *s, const char *text, size_t len); /* FO_OK or FO_ENOMEM */
void shingle_set_deinit(shingle_set *s);

/* Jaccard resemblance, 0..1; two empty sets resemble each other fully. */
double shingle_resemblance(const shingle_set *a, const shingle_set *b);

#endif
