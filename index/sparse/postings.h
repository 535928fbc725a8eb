/* postings.h - a block of up to 128 postings (document number, term frequency) as bytes.
 *
 * Two forms, the smaller is taken; the first byte says which:
 *   0xFF     varints: gap * 2 + (tf > 1), then tf - 2 where tf > 1. The only form of a short block.
 *   0 .. 24  bit-packed (kernels/bitpack.h): this many bits a gap, then bytes: bits a (tf - 1),
 *            number of gap exceptions, of tf exceptions; gaps; tfs; then the exceptions: place
 *            (one byte) and the bits above the packed ones (varint), first those of the gaps.
 * A gap is the document minus the first number it could be (`base`): blocks are strictly
 * ascending by construction. Source of the patching: Yan, Ding & Suel 2009 (OptPFD). */
#ifndef FORAGE_INDEX_POSTINGS_H
#define FORAGE_INDEX_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    POSTINGS_BLOCK = 128,
    POSTINGS_MAX_DOCS = 1 << 24,     /* document numbers are below this */
    POSTINGS_MAX_BLOCK_BYTES = 2048, /* no block is larger */
};

/* n ascending docs (>= base) with tfs (1 .. 2^24) to out[POSTINGS_MAX_BLOCK_BYTES]; bytes written.
 */
size_t postings_encode(const uint32_t *docs, const uint32_t *tfs, size_t n, uint32_t base,
                       uint8_t *out);

/* Decode from hostile bytes [p, p + size) into docs[128] and tfs[128] (both are scratch beyond n).
 * *has_tfs says whether the tfs were decoded on the way; else postings_decode_tfs gives them.
 * True: docs ascend strictly within [base, last], docs[n - 1] == last. False: corrupt. */
bool postings_decode_docs(const uint8_t *p, size_t size, size_t n, uint32_t base, uint32_t last,
                          uint32_t *docs, uint32_t *tfs, bool *has_tfs);
/* Only after postings_decode_docs was true with *has_tfs false for the same block. */
bool postings_decode_tfs(const uint8_t *p, size_t size, uint32_t *tfs);

/* A short block whose last document is not known beforehand (the only block of a short list):
 * varint form, every document below limit. */
bool postings_decode_short(const uint8_t *p, size_t size, size_t n, uint32_t base, uint32_t limit,
                           uint32_t *docs, uint32_t *tfs);

#endif
