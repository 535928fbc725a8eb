/* dedupe.h - passages that say nothing new, found by their word shingles. Copies of a text are often cut
 * at other places (a translation that leaves pages as they are, the second version of a report), so
 * that a passage lies in two others, half and half: it is held against all that was taken before it.
 * Source: Broder 1997 (containment of shingle sets), exact over 64-bit hashes: contexts are few. */
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

/* Share of the shingles of `of` that `in` holds too, 0..1; 1 where `of` has none. It is not symmetric: a
 * heading is held by its chapter. */
double shingle_share(const shingle_set *of, const shingle_set *in);

/* Add the shingles of `more` to `all`. FO_OK or FO_ENOMEM, which leaves *all as it was. */
int shingle_set_add(shingle_set *all, const shingle_set *more);

#endif
