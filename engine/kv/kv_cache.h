/* kv_cache.h - who holds which page of KV: sharing by content, copy-on-write, reuse after the end.
 *
 *     kv_cache_create(&c, &(kv_cache_options){.layout = layout, .n_pages = 4096}, fingerprint, &err);
 *     kv_seq *s;
 *     kv_seq_create(&s, c, salt, KV_REUSE_EXACT, &err);
 *     kv_seq_attach(s, prompt, n, &n_attached, &err);  // what is there already
 *     kv_seq_reserve(s, n_new, &err);                  // pages to write the next n_new tokens
 *     model_forward(..., kv_seq_pages(s), ...);
 *     kv_seq_commit(s, tokens, n_new);                 // full blocks become findable, at once
 *     kv_seq_free(s, true);                            // pages stay findable until taken
 *
 * A sequence shares full blocks with every other that has the same tokens before and in them (same
 * model, same tenant), from the moment the block is full, running or finished. Shared pages are
 * never written: whoever would write gets a copy. A block that agrees only in its first tokens is
 * copied and the copy used up to there. What is evicted is what is least likely to be used again,
 * the ends of chains first; with a store, blocks survive that, and restarts.
 *
 * Threads: one (the scheduler's), with every sequence.
 * Source: PagedAttention (Kwon et al. 2023); names of blocks: prefix_hash.h. */
#ifndef FORAGE_ENGINE_KV_CACHE_H
#define FORAGE_ENGINE_KV_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/model/kv_pages.h"
#include "engine/kv/kv_store.h"
#include "kernels/error.h"

typedef struct kv_cache kv_cache;
typedef struct kv_seq kv_seq;

typedef struct kv_cache_options {
    kv_layout layout;
    int n_pages;
    /* Compact when this share of the pages below the highest used one is free; <= 0 or > 1: only
     * when asked. */
    double defrag_threshold;
    kv_store *store; /* where blocks go that fall out of the pages and were used before, and where
                        blocks are looked for that are in no page; NULL: none. Outlives the cache */
} kv_cache_options;

/* fingerprint: model_info.fingerprint. FO_EINVAL, FO_ENOMEM. */
int kv_cache_create(kv_cache **out, const kv_cache_options *opt,
                    const unsigned char fingerprint[32], fo_err *err);
void kv_cache_free(kv_cache *c); /* its sequences must be gone; NULL is fine */
kv_pages *kv_cache_pages(kv_cache *c);

/* Pages that can be had now: free ones and those that are only kept for reuse. */
int kv_cache_available(const kv_cache *c);
int kv_cache_page_tokens(const kv_cache *c);

/* What a request may take of KV that others computed, and leave to others. */
enum kv_reuse {
    KV_REUSE_EXACT, /* attach and be found: the bits are those of computing all afresh */
    KV_REUSE_CHUNK, /* the same, and chunks' KV at any position (engine.h); such blocks are the
                       sequence's own and never found */
    KV_REUSE_OFF,   /* neither attach nor be found */
};

int kv_seq_create(kv_seq **out, kv_cache *c, const unsigned char salt[32], enum kv_reuse reuse,
                  fo_err *err);
/* How many more uses are expected of what it computes and attaches (a sketch's estimate): weighs
 * when pages are evicted. */
void kv_seq_expect(kv_seq *s, double uses);
/* keep: full blocks stay findable until their pages are needed; false: they go at once, unless
 * another sequence uses or used them. NULL is fine. */
void kv_seq_free(kv_seq *s, bool keep);

/* It was in work before, with n tokens, whose blocks kv_seq_free kept: to meet these again is no use
 * of them by another. Before it attaches. */
void kv_seq_return(kv_seq *s, int n);
int kv_seq_returned(const kv_seq *s);

/* Take the memory for a block table of n tokens now, so that until then no other call allocates. */
int kv_seq_prepare(kv_seq *s, int n, fo_err *err);

/* tokens[0..n) is the whole sequence to be, of which the first kv_seq_tokens(s) are there already
 * (none, or a multiple of the page size). Attach the longest run of what follows that the cache
 * has, up to token n - 1 (the last one must be computed to have logits). *n_attached: how many
 * came. Called at the start, and again at a block's end while another sequence computes the same.
 */
int kv_seq_attach(kv_seq *s, const int32_t *tokens, int n, int *n_attached, fo_err *err);

/* How many of tokens[0..n) attach would find, without taking anything: for admission and for
 * choosing the order of contexts. */
int kv_cache_probe(kv_cache *c, const unsigned char salt[32], const int32_t *tokens, int n);

/* Blocks of tokens[0..n), the last first, are findable no more, as far as no sequence holds them and
 * none has met them. */
void kv_cache_forget(kv_cache *c, const unsigned char salt[32], const int32_t *tokens, int n);

/* The names ([max][32]) of the blocks of tokens[0..n) that attach would read from the store: how
 * many. */
int kv_cache_stored(kv_cache *c, const unsigned char salt[32], const int32_t *tokens, int n,
                    unsigned char *names, int max);

/* Make the pages for the next n tokens writable: new ones, and a copy of the last page where it is
 * shared. FO_ENOMEM when there are not enough pages; the sequence is then as before. */
int kv_seq_reserve(kv_seq *s, int n, fo_err *err);

/* The KV of these tokens now stands behind the sequence's tokens (reserved before). A block that
 * another sequence filled meanwhile is dropped for that one's. */
void kv_seq_commit(kv_seq *s, const int32_t *tokens, int n);

/* Forget all but the first n tokens (speculation, preemption with n = 0). */
void kv_seq_truncate(kv_seq *s, int n);

/* What follows the tokens that are there is not what computing afresh would give: those blocks stay
 * this sequence's own. Ends when the sequence is truncated to a block's end before that. */
void kv_seq_diverge(kv_seq *s);

/* Drop blocks of KV, head by head. Afterwards the sequence has n blocks of KV_BLOCK slots, of each
 * layer and KV head other ones: block i of head (layer, head) is what was its block
 * sources[(layer * n_kv_heads + head) * n + i]. Position p of those to come, and of those that keep
 * their order at the end, lies in slot p + shift (a multiple of KV_BLOCK) from now on. Pages that are
 * not needed any more go back: those that others share or may find stay as they are for them. What
 * this sequence holds from now on is its own and never found. room: kv_seq_pack_bytes(layout, n).
 * FO_ENOMEM: not enough pages to write to, because others share those that are held; nothing was
 * changed then. */
int kv_seq_pack(kv_seq *s, const int32_t *sources, int n, int shift, void *room, fo_err *err);
size_t kv_seq_pack_bytes(const kv_layout *l, int n);
int kv_seq_shift(const kv_seq *s); /* 0: nothing was dropped */
/* Copy what is shared or findable, and be found no more: every page is then this sequence's alone.
 * FO_ENOMEM; what was copied until then stays so. */
int kv_seq_own(kv_seq *s, fo_err *err);

/* How many blocks were looked for in a disk tier, and how many tokens came from it. */
void kv_seq_restored(const kv_seq *s, int *n_asked, int *n_tokens);

/* The most pages that it held at a time since this was asked last, those included that it held beside
 * for a moment, to copy or pack into. */
int kv_seq_most_pages(kv_seq *s);

int kv_seq_tokens(const kv_seq *s);                   /* committed */
const int32_t *kv_seq_pages(const kv_seq *s, int *n); /* block table, until the next call on s or a
                                                         compaction */

/* Keys [k_dim] and values [v_dim] of one position as floats, copied: for tests and debugging. */
int kv_seq_read(const kv_seq *s, int position, int layer, int head, float *k, float *v,
                fo_err *err);

/* Move used pages to the low end and give the rest's memory back to the operating system. Called
 * between steps; block tables change. Returns the pages moved. */
int kv_cache_compact(kv_cache *c);
/* The same if the threshold is passed. */
int kv_cache_maintain(kv_cache *c);

/* Was this asked before about the name (of a chunk, say)? It is from now on. Forgets some, and may
 * take one for another: what depends on it is a write to disk. Without a disk tier: no. */
bool kv_cache_met(kv_cache *c, const unsigned char name[32]);

/* Write up to max blocks that are worth it and not in the store yet, those worth most first: when
 * there is nothing else to do. How many were given to the store. */
int kv_cache_save(kv_cache *c, int max);
/* Blocks that may be worth it and were not given yet: where this is not 0 after kv_cache_save, the
 * store was busy. */
int kv_cache_unsaved(const kv_cache *c);
/* The same with everything cached, for at most max_ms: before the end. */
int kv_cache_save_all(kv_cache *c, double max_ms);

typedef struct kv_cache_stats {
    int page_tokens;
    uint64_t page_bytes;
    int n_pages, n_free, n_cached, n_used, n_shared; /* shared: held by more than one */
    int most_used;                                   /* since the start, or kv_cache_forget_most */
    int n_sequences;
    double fragmentation;            /* free share of the pages below the highest used one */
    uint64_t lookups, lookup_tokens; /* attaches, and the tokens they asked for */
    uint64_t hit_tokens, hit_blocks, partial_hits;
    uint64_t deduplicated, copies, evictions, compactions, moved;
    uint64_t restored_blocks; /* of hit_blocks: read from the store */
    uint64_t saved_blocks;    /* given to the store */
} kv_cache_stats;
void kv_cache_get_stats(const kv_cache *c, kv_cache_stats *out);
void kv_cache_forget_most(kv_cache *c); /* most_used begins with what is used now */

enum kv_page_state {
    KV_PAGE_FREE,
    KV_PAGE_CACHED, /* of no sequence, findable */
    KV_PAGE_USED,
    KV_PAGE_SHARED, /* used by more than one sequence */
};
/* The state of the first `max` pages: how many were written. */
int kv_cache_map(const kv_cache *c, unsigned char *states, int max);

/* Check every invariant at the top of kv_cache.c; the first violation is the sentence. O(pages +
 * block tables): for tests and debug builds. */
int kv_cache_check(const kv_cache *c, fo_err *err);

#endif
