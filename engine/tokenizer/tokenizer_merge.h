/* tokenizer_merge.h - the merge loop that byte-level BPE and SentencePiece BPE share.
 *
 * A word starts as single symbols; the neighbours with the best (lowest) rank become one, the
 * leftmost first among equals, until no neighbours merge. Short words: scan an array. Long words:
 * a heap over a linked list, O(n log n). Included by tokenizer_bpe.c and tokenizer_spm.c, each of
 * which gives its own `lookup`, so that the compiler inlines it. */
#ifndef FORAGE_ENGINE_TOKENIZER_MERGE_H
#define FORAGE_ENGINE_TOKENIZER_MERGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MERGE_SHORT = 48 }; /* symbols; measured: the heap wins from about 60 on */
#define MERGE_NEVER UINT32_MAX

typedef struct merge_symbol {
    int32_t id;          /* token, -1 where no token has these bytes */
    uint32_t start, len; /* bytes in the word */
} merge_symbol;

/* Rank of merging two neighbours and the token they become; MERGE_NEVER: they do not. */
typedef uint32_t merge_lookup(const void *ctx, const char *s, const merge_symbol *left,
                              const merge_symbol *right, int32_t *id);

static inline __attribute__((always_inline)) size_t
merge_short(merge_lookup *lookup, const void *ctx, const char *s, merge_symbol *sym, size_t n) {
    uint32_t rank[MERGE_SHORT];
    int32_t becomes[MERGE_SHORT];
    for (size_t i = 0; i + 1 < n; i++) rank[i] = lookup(ctx, s, &sym[i], &sym[i + 1], &becomes[i]);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best]) best = i;
        if (rank[best] == MERGE_NEVER) break;
        sym[best].id = becomes[best];
        sym[best].len += sym[best + 1].len;
        n--;
        memmove(&sym[best + 1], &sym[best + 2], (n - best - 1) * sizeof *sym);
        memmove(&rank[best], &rank[best + 1], (n - best - 1) * sizeof *rank);
        memmove(&becomes[best], &becomes[best + 1], (n - best - 1) * sizeof *becomes);
        if (best + 1 < n) rank[best] = lookup(ctx, s, &sym[best], &sym[best + 1], &becomes[best]);
        if (best > 0)
            rank[best - 1] = lookup(ctx, s, &sym[best - 1], &sym[best], &becomes[best - 1]);
    }
    return n;
}

typedef struct merge_entry {
    uint32_t rank, at;   /* at: index of the left symbol */
    uint32_t right, len; /* as they were: another right neighbour or length means it is stale */
    int32_t id;
} merge_entry;

static inline int merge_before(const merge_entry *a, const merge_entry *b) {
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static inline void merge_push(merge_entry *heap, size_t *n, merge_entry e) {
    size_t i = (*n)++;
    while (i && merge_before(&e, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = e;
}

static inline merge_entry merge_pop(merge_entry *heap, size_t *n) {
    merge_entry top = heap[0], last = heap[--*n];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= *n) break;
        if (c + 1 < *n && merge_before(&heap[c + 1], &heap[c])) c++;
        if (!merge_before(&heap[c], &last)) break;
        heap[i] = heap[c];
        i = c;
    }
    if (*n) heap[i] = last;
    return top;
}

typedef struct merge_links {
    uint32_t prev, next; /* UINT32_MAX: none */
} merge_links;

static inline __attribute__((always_inline)) void
merge_consider(merge_lookup *lookup, const void *ctx, const char *s, const merge_symbol *sym,
               uint32_t left, uint32_t right, merge_entry *heap, size_t *n_heap) {
    merge_entry e = {.at = left, .right = right};
    e.rank = lookup(ctx, s, &sym[left], &sym[right], &e.id);
    e.len = sym[left].len + sym[right].len;
    if (e.rank != MERGE_NEVER) merge_push(heap, n_heap, e);
}

/* Returns the symbols left (packed at the front of sym), or SIZE_MAX when out of memory. */
static inline __attribute__((always_inline)) size_t
merge_long(merge_lookup *lookup, const void *ctx, const char *s, merge_symbol *sym, size_t n) {
    /* At most n - 1 entries to begin with; every merge takes one out and puts two in. */
    merge_entry *heap = malloc(2 * n * sizeof *heap);
    merge_links *link = malloc(n * sizeof *link);
    if (!heap || !link) {
        free(heap);
        free(link);
        return SIZE_MAX;
    }
    size_t n_heap = 0;
    for (uint32_t i = 0; i < n; i++)
        link[i] = (merge_links){i ? i - 1 : UINT32_MAX, i + 1 < n ? i + 1 : UINT32_MAX};
    for (uint32_t i = 0; i + 1 < n; i++)
        merge_consider(lookup, ctx, s, sym, i, i + 1, heap, &n_heap);
    while (n_heap) {
        merge_entry e = merge_pop(heap, &n_heap);
        merge_symbol *a = &sym[e.at];
        if (!a->len || link[e.at].next != e.right || a->len + sym[e.right].len != e.len) continue;
        a->id = e.id;
        a->len = e.len;
        sym[e.right].len = 0; /* gone */
        uint32_t next = link[e.right].next, prev = link[e.at].prev;
        link[e.at].next = next;
        if (next != UINT32_MAX) {
            link[next].prev = e.at;
            merge_consider(lookup, ctx, s, sym, e.at, next, heap, &n_heap);
        }
        if (prev != UINT32_MAX) merge_consider(lookup, ctx, s, sym, prev, e.at, heap, &n_heap);
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (sym[i].len) sym[kept++] = sym[i];
    free(heap);
    free(link);
    return kept;
}

static inline __attribute__((always_inline)) size_t
merge_word(merge_lookup *lookup, const void *ctx, const char *s, merge_symbol *sym, size_t n) {
    return n <= MERGE_SHORT ? merge_short(lookup, ctx, s, sym, n)
                            : merge_long(lookup, ctx, s, sym, n);
}

#endif
