/* inverted_hot.h - the frequencies of an index's commonest terms, laid out by document.
 *
 *     inverted_hot *h = inverted_hot_create(&inv);       // beside an opened index
 *     const uint8_t *tfs = inverted_hot_get(h, &list);   // NULL: not one of them
 *     uint32_t tf = inverted_hot_tf(tfs, doc);           // INVERTED_HOT_MORE: look into the list
 *
 * A term that stands in one document of sixteen or more is mostly looked up, document by document,
 * where rarer terms brought one up. Four bits for each document answer that with one load; a block
 * of postings would have to be unpacked for each. A list is laid out when it is first asked for, at
 * most INVERTED_HOT_LISTS of them: half a byte a document each.
 *
 * Threads: any number; who finds a list being laid out goes without. */
#ifndef FORAGE_INDEX_INVERTED_HOT_H
#define FORAGE_INDEX_INVERTED_HOT_H

#include "index/inverted.h"

enum {
    INVERTED_HOT_LISTS = 48,
    INVERTED_HOT_SHARE = 16, /* one document of so many holds the term */
    INVERTED_HOT_MORE = 15,  /* this often or more */
};

/* inv must outlive it. NULL: out of memory, or an index too small to gain by it. */
inverted_hot *inverted_hot_create(const inverted *inv);
void inverted_hot_free(inverted_hot *h); /* NULL is fine */
const uint8_t *inverted_hot_get(inverted_hot *h, const inverted_list *list);
size_t inverted_hot_memory(const inverted_hot *h); /* bytes; NULL: 0 */

static inline uint32_t inverted_hot_tf(const uint8_t *tfs, uint32_t doc) {
    return tfs[doc >> 1] >> (doc & 1) * 4 & 15;
}

#endif
