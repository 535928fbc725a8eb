/* inverted_search_internal.h - what the files of a search share.
 *
 * inverted_search.c     what is common to all parts; opens the terms of each
 * inverted_essential.c  the documents of the rarest terms, scored before all others
 * inverted_window.c     windows of documents, for what the rarest terms leave over
 *
 * Sums. What a posting can add to a document's score is bounded by a 16-bit number: the impact, a
 * score quantised to 1/255 (impacts[tf][norm]), times the term's weight in quanta, rounded up each
 * time. Sums of them say which documents are looked at, never what is returned: those whose sum can
 * reach the k-th best score are scored exactly. */
#ifndef FORAGE_INDEX_INVERTED_SEARCH_INTERNAL_H
#define FORAGE_INDEX_INVERTED_SEARCH_INTERNAL_H

#include <string.h>
#include "index/sparse/inverted.h"
#include "index/sparse/inverted_format.h"
#include "index/sparse/inverted_hot.h"
#include "index/sparse/postings.h"
#include "kernels/bits.h"
#include "kernels/scan16.h"

enum {
    WINDOW = 4096,
    WINDOW_ROOM = WINDOW + 2 * POSTINGS_BLOCK, /* a block may begin before and end behind it */
    IMPACT_TFS = 17, /* rows of the table; the last stands for any larger tf */
    SORT_SHIFT = 6,
    SORT_BUCKETS = (1 << 16) >> SORT_SHIFT,
    SUM_MAX = 20000, /* sums of bounds, of peaks for another average and rounding stay below 2^15 */
};

typedef struct cursor {
    double weight; /* idf times the occurrences in the query */
    inverted_list list;
    size_t n_blocks;     /* of a long list, 0 of a short one */
    const uint8_t *body; /* of its blocks */
    size_t body_size;
    uint32_t each;       /* quanta that an impact of 1 adds, times 2^16 */
    uint32_t most;       /* most that a posting adds */
    uint32_t next;       /* first block that ends at or after the window's begin; short: posting */
    uint32_t window_max; /* most it can add in this window */
    uint32_t place;      /* in the order of this window */
    uint32_t begin, end; /* postings of the window in docs and tfs */
    uint32_t n_buffered; /* of them, all told */
    size_t buffered;     /* the last block in there, plus one */
    size_t probed;       /* block in probe_docs, plus one */
    uint32_t probe_at;   /* in probe_docs, where the last probe of this round ended */
    bool probe_has_tfs;
    const uint8_t *tfs_by_doc; /* NULL: the list must be read */
    const uint8_t *peaks;      /* NULL: not kept, or not for these parameters */
    const uint16_t *places;    /* as peaks */
    unsigned peak_shift;       /* a peak adds (peak << shift) * factor / 2^16 and 1 */
    uint16_t peak_factor;
    uint32_t docs[WINDOW_ROOM], tfs[WINDOW_ROOM];
    uint32_t probe_docs[POSTINGS_BLOCK], probe_tfs[POSTINGS_BLOCK];
} cursor;

typedef struct candidate {
    uint32_t sum;  /* upper bound so far */
    uint16_t doc;  /* in the window */
    uint16_t slot; /* column of found */
} candidate;

typedef struct bounded { /* a document or a bucket of them */
    uint32_t bound;      /* on the scores, in quanta */
    uint32_t at;
} bounded;

struct inverted_scratch {
    cursor *cursors;
    uint16_t *order;   /* of the cursors */
    uint32_t *doc_tfs; /* of each term in the document at hand */
    size_t cursors_room;
    inverted_list *lists; /* of part p and term t: p * n_terms + t; n 0: absent */
    size_t lists_room;
    inverted_hit *heap; /* k hits, the worst on top */
    size_t heap_room;
    uint32_t *found; /* tf of a non-essential term (row: its place in the order) and candidate */
    size_t found_room;
    uint16_t *doc_sums; /* of each document of the part: 0 between searches */
    size_t doc_sums_room;
    bounded *documents; /* candidates */
    size_t documents_room;
    bounded *left; /* buckets that the rarest terms leave over */
    size_t left_room;
    uint16_t *lane_masks, *lane_adds; /* of each term in the bucket at hand */
    uint16_t *bucket_sums;            /* most that the terms with peaks add in each bucket */
    size_t bucket_sums_room;
    /* impacts are for these: */
    bm25_params params;
    double average;
    uint8_t impacts[IMPACT_TFS][256];
    uint16_t sums[WINDOW + 32]; /* 0 between windows */
    uint16_t reached[WINDOW], reached_sums[WINDOW];
    uint16_t buckets[SORT_BUCKETS];
    candidate candidates[WINDOW], sorted[WINDOW];
};

typedef struct search { /* one search; from `part` on, of the part at hand */
    inverted_scratch *s;
    const bm25_params *params;
    scan16_kernels kernels;
    size_t n_terms, k, n_hits;
    double average;
    const inverted_part *part;
    const inverted *inv;
    uint32_t part_index;
    uint8_t bounds[256]; /* today's bound of a stored one */
    size_t n_open;       /* cursors with postings: order[0 .. n_open) */
    double quanta;       /* a unit of score in sums */
    bool revisits;       /* a document may be scored twice */
    uint32_t begin, end; /* the window */
    uint32_t threshold;  /* sums below it cannot enter the heap */
} search;

/* inverted_search.c */
int inverted_search_damaged(fo_err *err);
int inverted_search_no_memory(fo_err *err);
bool inverted_search_decode_block(const search *q, const cursor *c, size_t block, uint32_t *docs,
                                  uint32_t *tfs, bool *has_tfs);
/* Offer a document with its exact score, and raise the threshold. */
void inverted_search_offer(search *q, uint32_t doc, double score);

/* inverted_essential.c: *done when the part needs no window any more. */
int inverted_search_essential(search *q, bool *done, fo_err *err);

/* inverted_window.c */
int inverted_search_window(search *q, fo_err *err); /* documents begin .. end, at most WINDOW */
bool inverted_search_any_allowed(const search *q);  /* among them */

static inline uint32_t last_of(const cursor *c, size_t block) {
    uint32_t v;
    memcpy(&v, c->list.data + 4 * block, 4);
    return v;
}

static inline uint32_t end_of(const cursor *c, size_t block) {
    uint32_t v;
    memcpy(&v, c->list.data + 4 * (c->n_blocks + block), 4);
    return v;
}

static inline size_t block_count(const cursor *c, size_t block) {
    return block + 1 < c->n_blocks ? POSTINGS_BLOCK : c->list.n - block * POSTINGS_BLOCK;
}

static inline bool inverted_search_decode_tfs(const cursor *c, size_t block, uint32_t *tfs) {
    uint32_t begin = block ? end_of(c, block - 1) : 0;
    return postings_decode_tfs(c->body + begin, end_of(c, block) - begin, tfs);
}

/* No posting has a larger impact than the list's bound, but a hostile file may say so. */
static inline uint32_t add_of(const cursor *c, uint32_t impact) {
    uint32_t a = (uint32_t)((uint64_t)impact * c->each >> 16) + 1;
    return a < c->most ? a : c->most;
}

static inline uint32_t peak_add(const cursor *c, uint32_t peak) {
    return ((peak << c->peak_shift) * c->peak_factor >> 16) + 1;
}

static inline uint8_t impact_of(const search *q, uint32_t tf, uint32_t doc) {
    return q->s->impacts[tf < IMPACT_TFS - 1 ? tf : IMPACT_TFS - 1][q->inv->norms[doc]];
}

static inline bool is_allowed(const inverted_part *part, uint32_t doc) {
    return fo_bits_get(part->allowed, part->allowed_base + doc);
}

/* First of docs[begin, end) that is not below doc; without branches that depend on the data. */
static inline uint32_t find_doc(const uint32_t *docs, uint32_t begin, uint32_t end, uint32_t doc) {
    const uint32_t *p = docs + begin;
    uint32_t n = end - begin;
    if (n == 0) return begin;
    while (n > 1) {
        uint32_t half = n / 2;
        p += half & -(uint32_t)(p[half - 1] < doc);
        n -= half;
    }
    return (uint32_t)(p - docs) + (*p < doc);
}

/* First block from `from` on that ends at or after doc; n_blocks: none. */
static inline uint32_t find_block(const cursor *c, uint32_t from, uint32_t doc) {
    uint32_t n = (uint32_t)c->n_blocks - from;
    if (n == 0) return from;
    while (n > 1) {
        uint32_t half = n / 2;
        from += half & -(uint32_t)(last_of(c, from + half - 1) < doc);
        n -= half;
    }
    return from + (last_of(c, from) < doc);
}

#endif
