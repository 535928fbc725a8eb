/* inverted_hot.h - what is kept in memory about an index's common terms, laid out by document.
 *
 *     inverted_hot *h = inverted_hot_create(&inv);                     // beside an opened index
 *     const inverted_hot_list *l = inverted_hot_get(h, &list);         // NULL: not one of them
 *     uint8_t most = l->peaks[doc >> inverted_hot_shift(h)];           // of the document's bucket
 *     bool maybe = inverted_hot_has(l->places, inverted_hot_shift(h), doc);
 *     uint32_t tf = inverted_hot_tf(l->tfs, doc);                      // INVERTED_HOT_MORE: look
 *                                                                      // into the list
 *
 * Peaks: documents are cut into buckets of 2^shift (64 up to a million documents); the peak of a
 * term in a bucket is the largest impact of its postings there, in 255ths, rounded up, for the
 * average length at the time of writing, as block bounds are (inverted.h); 0: the term is not in
 * the bucket. Summed over a query's terms they bound whole buckets at once. Beside each peak stand
 * 16 bits: in which sixteenths of the bucket the term is. Kept for terms in one document of 256 or
 * more, INVERTED_HOT_LISTS of them: 96 bytes a document at most.
 *
 * Frequencies: a term that stands in one document of sixteen or more is mostly looked up, document
 * by document, where rarer terms brought one up. Four bits for each document answer that with one
 * load. Kept for INVERTED_HOT_TFS terms: 24 bytes a document at most.
 *
 * A list is laid out when it is first asked for. Threads: any number; who finds a list being laid
 * out goes without. Source of the peaks: Mallia, Suel & Tonellotto 2024 (block-max pruning). */
#ifndef FORAGE_INDEX_INVERTED_HOT_H
#define FORAGE_INDEX_INVERTED_HOT_H

#include "index/sparse/inverted.h"

enum {
    INVERTED_HOT_LISTS = 2048,
    INVERTED_HOT_SHARE = 256, /* one document of so many holds the term */
    INVERTED_HOT_TFS = 48,
    INVERTED_HOT_TFS_SHARE = 16,
    INVERTED_HOT_MORE = 15, /* this often or more */
    INVERTED_HOT_PAD = 64,  /* peaks are readable, and 0, up to a multiple of this */
};

typedef struct inverted_hot_list {
    const uint8_t *peaks;   /* of each bucket */
    const uint16_t *places; /* bit i: in the i-th sixteenth of the bucket */
    const uint8_t *tfs;     /* 4 bits for each document; NULL: not kept */
} inverted_hot_list;

/* inv must outlive it. NULL: out of memory, or an index too small to gain by it. */
inverted_hot *inverted_hot_create(const inverted *inv);
void inverted_hot_free(inverted_hot *h); /* NULL is fine */
const inverted_hot_list *inverted_hot_get(inverted_hot *h, const inverted_list *list);
unsigned inverted_hot_shift(const inverted_hot *h);
size_t inverted_hot_memory(const inverted_hot *h); /* bytes; NULL: 0 */

/* False: the term is not in the document, nor in those of its sixteenth. */
static inline bool inverted_hot_has(const uint16_t *places, unsigned shift, uint32_t doc) {
    return places[doc >> shift] >> (doc >> (shift - 4) & 15) & 1;
}

static inline uint32_t inverted_hot_tf(const uint8_t *tfs, uint32_t doc) {
    return tfs[doc >> 1] >> (doc & 1) * 4 & 15;
}

#endif
