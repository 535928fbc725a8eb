/* kv_cache_internal.h - what kv_cache.c (pages, references, hashes) and kv_cache_store.c (what
 * leaves the pages and comes back) share. */
#ifndef FORAGE_ENGINE_KV_CACHE_INTERNAL_H
#define FORAGE_ENGINE_KV_CACHE_INTERNAL_H

#include "engine/kv/indexed_heap.h"
#include "engine/kv/kv_cache.h"
#include "engine/kv/prefix_hash.h"

enum { NONE = -1 };

typedef struct page_meta {
    int refs;
    int next; /* in the free list */
    bool hashed;
    bool has_parent; /* false: first block of a sequence */
    bool met;        /* more than one sequence used it, or is expected to: worth a write */
    bool unsaved;    /* met, and not offered to the store since */
    prefix_hash hash, parent;
    unsigned char salt[32];    /* of the tenant: children of the root are told apart by it */
    int hash_next, child_next; /* chains of the two tables */
    double uses;               /* how many sequences used it, or are expected to */
} page_meta;

struct kv_cache {
    kv_layout layout;
    kv_pages *pages;
    unsigned char named[32]; /* in each block: the fingerprint and the storage type */
    double defrag_threshold;
    int n_pages, P;
    page_meta *meta;    /* [n_pages] */
    int32_t *tokens;    /* [n_pages][P], of hashed pages */
    int *by_hash;       /* [n_buckets] pages by their hash */
    int *by_parent;     /* [n_buckets] pages by their parent's hash */
    unsigned n_buckets; /* a power of two */
    int free_head, n_free;
    indexed_heap cached; /* CACHED pages, the next to be evicted first */
    double age;          /* worth of the page evicted last */
    uint64_t tick;
    kv_store *store;     /* NULL: what is evicted is gone */
    uint32_t *forgotten; /* [n_forgotten] tags of blocks that were evicted unmet */
    unsigned n_forgotten;
    int n_unsaved;
    kv_seq *sequences;
    kv_cache_stats stats; /* the counters */
};

struct kv_seq {
    kv_cache *c;
    kv_seq *prev, *next;
    unsigned char salt[32];
    enum kv_reuse reuse;
    int n_tokens;
    int n_before;            /* of its tokens, when it was in work before (kv_seq_return) */
    int n_asked, n_restored; /* blocks looked for in the store; tokens that came from it */
    int n_exact;             /* what follows so many tokens is not exact: INT_MAX, all is */
    int shift;               /* position p lies in slot p + shift (kv_seq_pack) */
    double expected;         /* uses of its blocks, beside its own */
    int32_t *pages;          /* [n_pages] */
    int n_pages, cap_pages;
    int most_pages;     /* kv_seq_most_pages */
    prefix_hash *chain; /* [cap_pages]: names of the full blocks */
    int32_t *packed;    /* [cap_pages]: kv_seq_pack's */
    int32_t *tail;      /* [P]: tokens of the unfinished block */
};

/* The sequence holds its pages and so many beside, for a moment. */
static inline void kv_seq_note_pages(kv_seq *s, int beside) {
    if (s->n_pages + beside > s->most_pages) s->most_pages = s->n_pages + beside;
}

/* kv_cache.c: a page with one reference, NONE: there is none left; a reference less, and what nobody
 * refers to is kept findable or not; a hashed page is found no more; one without references is free. */
int kv_cache_take_page(kv_cache *c);
void kv_cache_drop_page(kv_cache *c, int p, bool keep);
void kv_cache_unregister_page(kv_cache *c, int p);
bool kv_cache_has_child(const kv_cache *c, int p);

/* kv_cache_store.c */
int kv_cache_store_init(kv_cache *c, const kv_cache_options *opt, fo_err *err);
/* A page is about to be evicted: what is worth it goes to the store. */
void kv_cache_store_evict(kv_cache *c, int p);
/* A block was computed that had no page: was it here before? */
bool kv_cache_store_remembers(const kv_cache *c, const prefix_hash *h);
/* Fill page p with the block's bytes. False: the store does not have them. */
bool kv_cache_store_restore(kv_cache *c, const prefix_hash *h, int p);
/* The page's block is worth a write when there is time. */
void kv_cache_store_want(kv_cache *c, int p);

#endif
