/* inverted_format.h - what inverted.c and inverted_build.c share: the bytes of the sections. */
#ifndef FORAGE_INDEX_INVERTED_FORMAT_H
#define FORAGE_INDEX_INVERTED_FORMAT_H

#include <stdint.h>

enum {
    DICT_BLOCK_TERMS = 8,  /* terms that share a prefix-compressed block */
    DICT_BLOCK_BYTES = 12, /* u64 offset in the postings, u32 offset in the dictionary */
    LIST_BLOCK_BYTES = 9,  /* of a long list's table: u32 last[], u32 end[], u8 bound[] */
    TERM_MAX_BYTES = 255,
};

/* A dictionary entry: bytes shared with the term before it in its block (varint), bytes of its
 * own (varint, then they), number of postings (varint), bytes of postings (varint), bound (u8). */

typedef struct inverted_header { /* SECTION_INVERTED */
    uint32_t n_docs, n_terms;
    uint64_t n_postings, sum_length;
    double k1, b, average; /* of the bounds */
} inverted_header;

#endif
