#include "engine/kv/indexed_heap.h"

#include <assert.h>
#include <stdlib.h>

#include "kernels/error.h"

int indexed_heap_init(indexed_heap *h, int capacity) {
    size_t n = (size_t)(capacity > 0 ? capacity : 1);
    *h = (indexed_heap){.capacity = capacity,
                        .items = malloc(n * sizeof *h->items),
                        .place = malloc(n * sizeof *h->place),
                        .keys = malloc(n * sizeof *h->keys)};
    if (!h->items || !h->place || !h->keys) {
        indexed_heap_deinit(h);
        return FO_ENOMEM;
    }
    for (int i = 0; i < capacity; i++) h->place[i] = -1;
    return FO_OK;
}

void indexed_heap_deinit(indexed_heap *h) {
    free(h->items);
    free(h->place);
    free(h->keys);
    *h = (indexed_heap){0};
}

static bool before(const indexed_heap *h, int a, int b) {
    const heap_key *x = &h->keys[a], *y = &h->keys[b];
    if (x->first != y->first) return x->first < y->first;
    if (x->second != y->second) return x->second < y->second;
    if (x->third != y->third) return x->third < y->third;
    return a < b;
}

static void put(indexed_heap *h, int at, int item) {
    h->items[at] = item;
    h->place[item] = at;
}

static void settle(indexed_heap *h, int at) {
    int item = h->items[at];
    while (at && before(h, item, h->items[(at - 1) / 2])) {
        put(h, at, h->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        int child = 2 * at + 1;
        if (child >= h->n) break;
        if (child + 1 < h->n && before(h, h->items[child + 1], h->items[child])) child++;
        if (!before(h, h->items[child], item)) break;
        put(h, at, h->items[child]);
        at = child;
    }
    put(h, at, item);
}

bool indexed_heap_has(const indexed_heap *h, int item) {
    return h->place[item] >= 0;
}

void indexed_heap_push(indexed_heap *h, int item, heap_key key) {
    assert(item >= 0 && item < h->capacity && h->place[item] < 0);
    h->keys[item] = key;
    put(h, h->n++, item);
    settle(h, h->n - 1);
}

void indexed_heap_change(indexed_heap *h, int item, heap_key key) {
    assert(h->place[item] >= 0);
    h->keys[item] = key;
    settle(h, h->place[item]);
}

void indexed_heap_remove(indexed_heap *h, int item) {
    int at = h->place[item];
    if (at < 0) return;
    h->place[item] = -1;
    int last = h->items[--h->n];
    if (last == item) return;
    put(h, at, last);
    settle(h, at);
}

int indexed_heap_top(const indexed_heap *h) {
    return h->n ? h->items[0] : -1;
}

int indexed_heap_pop(indexed_heap *h) {
    int item = indexed_heap_top(h);
    if (item >= 0) indexed_heap_remove(h, item);
    return item;
}
