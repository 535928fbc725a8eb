/* inverted_format.h - what inverted.c and inverted_build.c share: the bytes of the sections. */
#ifndef FORAGE_INDEX_INVERTED_FORMAT_H
#define FORAGE_INDEX_INVERTED_FORMAT_H

#include <stdint.h>

enum {
    DICT_BLOCK_TERMS = 8,  /* terms that share a prefix-compressed block */
    DICT_BLOCK_BYTES = 12, /* u64 offset in the postings, u32 offset in the dictionary */
    LIST_BLOCK_BYTES = 9,  /* of a long list's table: u32 last[], u32 end[], u8 bound[] */
    TERM_MAX_BYTES = 255,
    HASH_TAG_SHIFT = 24, /* a slot: ordinal + 1, and above it 8 bits of the hash ... */
    HASH_TAG_TERMS = (1 << HASH_TAG_SHIFT) - 1, /* ... where there are fewer terms than this */
    HASH_READ_PROBES = 64,   /* slots that a look-up tries before it searches the blocks */
    HASH_WRITE_PROBES = 256, /* a term that finds no free slot among so many gets none */
};

/* Whoever knows the hash can write any number of terms that fall together. They cost these many probes
 * each, not one another. Other terms fill two thirds of a table at most, where one in 10^8 is as far
 * from its place as that: they all have their slot, which is all that earlier versions look at. */

/* The bits above HASH_TAG_SHIFT of a term's slot. The slot's place comes from the low bits. */
static inline uint32_t hash_tag(uint32_t hash, uint32_t n_terms) {
    return n_terms < HASH_TAG_TERMS ? hash & ~(uint32_t)HASH_TAG_TERMS : 0;
}

/* A dictionary entry: bytes shared with the term before it in its block (varint), bytes of its
 * own (varint, then they), number of postings (varint), bytes of postings (varint), bound (u8). */

typedef struct inverted_header { /* SECTION_INVERTED */
    uint32_t n_docs, n_terms;
    uint64_t n_postings, sum_length;
    double k1, b, average; /* of the bounds */
} inverted_header;

#endif
