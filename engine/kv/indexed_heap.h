/* indexed_heap.h - a binary heap of small integers whose keys may change: O(log n) push, pop,
 * change and removal by number. The scheduler keeps its queues in it: "who is next" and "this one
 * just became urgent" are both cheap. Smallest key first; equal keys in order of number. */
#ifndef FORAGE_ENGINE_INDEXED_HEAP_H
#define FORAGE_ENGINE_INDEXED_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct heap_key { /* compared member by member */
    int64_t first, second, third;
} heap_key;

typedef struct indexed_heap {
    int n, capacity; /* items are 0 .. capacity - 1, each in the heap at most once */
    int *items;      /* [capacity] heap order */
    int *place;      /* [capacity] item -> index in items, -1: absent */
    heap_key *keys;  /* [capacity] by item */
} indexed_heap;

int indexed_heap_init(indexed_heap *h, int capacity); /* FO_OK, FO_ENOMEM */
void indexed_heap_deinit(indexed_heap *h);

bool indexed_heap_has(const indexed_heap *h, int item);
void indexed_heap_push(indexed_heap *h, int item, heap_key key);   /* must be absent */
void indexed_heap_change(indexed_heap *h, int item, heap_key key); /* must be there */
void indexed_heap_remove(indexed_heap *h, int item);               /* absent: nothing happens */
int indexed_heap_top(const indexed_heap *h);                       /* -1 when empty */
int indexed_heap_pop(indexed_heap *h);                             /* -1 when empty */

#endif
