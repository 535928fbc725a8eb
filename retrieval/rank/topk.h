/* topk.h - the k best of a stream, in a bounded heap: O(n log k), no allocation. */
#ifndef FORAGE_RETRIEVAL_TOPK_H
#define FORAGE_RETRIEVAL_TOPK_H

#include <stddef.h>
#include <stdint.h>

typedef struct topk_item {
    double score;
    int64_t id; /* ties: the smaller id wins, so that results do not depend on arrival */
} topk_item;

typedef struct topk {
    topk_item *items; /* the caller's [k]; a min-heap until topk_sort */
    size_t k, n;
} topk;

static inline topk topk_over(topk_item *items, size_t k) {
    return (topk){items, k, 0};
}

/* Offer an item; NaN scores are refused. Returns 1 when it is in. */
int topk_push(topk *t, double score, int64_t id);
/* Best first. The heap is gone afterwards. */
void topk_sort(topk *t);

#endif
