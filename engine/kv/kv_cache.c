/* kv_cache.c - pages, references, hashes.
 *
 *                reserve                     commit (block full)
 *     FREE -----------------> USED, private ---------------------> USED, hashed <---- attach
 *      ^                          |                                 |        |
 *      |     last reference gone  |            last reference gone  |        | attach
 *      +--------------------------+                                 v        |
 *      +------------------------------------------------------- CACHED ------+
 *        evicted (to the store, if it was used before) when no page is FREE,
 *        or kv_seq_free(keep = false) of what nobody else used
 *
 * Invariants (kv_cache_check):
 * 1. A page is FREE (no reference, no hash, in the free list), CACHED (no reference, a hash, in the
 *    heap of those that may be evicted) or USED (referenced, in no list). The three counts add up
 *    to n_pages.
 * 2. refs of a page = entries of block tables that name it.
 * 3. A hashed page is full, is found under its hash, and is never written again. No two pages have
 *    the same hash.
 * 4. A page with more than one reference is hashed.
 * 5. A sequence of n tokens has a page for each of its blocks; full blocks that lie within its
 *    exact tokens are hashed with the chain of its tokens.
 *    After kv_seq_pack (kv_pack.c) it has pages for what it kept, none of them hashed.
 * 6. A page in CACHED has its parent in a page, USED or CACHED, and is evicted before it: a chain
 *    is only findable from its beginning. */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/kv/kv_cache_internal.h"

/* ---- tables ------------------------------------------------------------------------------ */

static unsigned bucket(const kv_cache *c, const prefix_hash *h) {
    uint32_t x;
    memcpy(&x, h->bytes, sizeof x);
    return x & (c->n_buckets - 1);
}

static bool same_hash(const prefix_hash *a, const prefix_hash *b) {
    return memcmp(a->bytes, b->bytes, 32) == 0;
}

static int find_page(const kv_cache *c, const prefix_hash *h) {
    for (int p = c->by_hash[bucket(c, h)]; p != NONE; p = c->meta[p].hash_next)
        if (same_hash(&c->meta[p].hash, h)) return p;
    return NONE;
}

static const prefix_hash root_hash; /* the parent of first blocks, all zero */

static void register_page(kv_cache *c, int p, const prefix_hash *h, const prefix_hash *parent,
                          const unsigned char salt[32], const int32_t *tokens) {
    page_meta *m = &c->meta[p];
    m->hashed = true;
    m->met = m->unsaved = false;
    m->uses = 0;
    m->has_parent = parent != NULL;
    m->hash = *h;
    m->parent = parent ? *parent : root_hash;
    memcpy(m->salt, salt, 32);
    memcpy(c->tokens + (size_t)p * (size_t)c->P, tokens, (size_t)c->P * sizeof *tokens);
    int *head = &c->by_hash[bucket(c, h)];
    m->hash_next = *head;
    *head = p;
    head = &c->by_parent[bucket(c, &m->parent)];
    m->child_next = *head;
    *head = p;
}

void kv_cache_unregister_page(kv_cache *c, int p) {
    page_meta *m = &c->meta[p];
    if (m->unsaved) c->n_unsaved--;
    m->unsaved = false;
    int *link = &c->by_hash[bucket(c, &m->hash)];
    while (*link != p) link = &c->meta[*link].hash_next;
    *link = m->hash_next;
    link = &c->by_parent[bucket(c, &m->parent)];
    while (*link != p) link = &c->meta[*link].child_next;
    *link = m->child_next;
    m->hashed = false;
}

/* What evicting a CACHED page costs: blocks cost the same to compute, so chance of reuse decides,
 * aged by what went before (GreedyDual). Of equals the one released first goes: a sequence releases
 * its last block first. */
static void cached_push(kv_cache *c, int p) {
    double worth = c->age + c->meta[p].uses;
    heap_key k = {.second = (int64_t)++c->tick};
    memcpy(&k.first, &worth, sizeof worth); /* doubles >= 0 are in the order of their bits */
    indexed_heap_push(&c->cached, p, k);
}

static void free_push(kv_cache *c, int p) {
    c->meta[p].next = c->free_head;
    c->free_head = p;
    c->n_free++;
}

static int count_used(const kv_cache *c) {
    return c->n_pages - c->n_free - c->cached.n;
}

static void note_used(kv_cache *c) {
    if (count_used(c) > c->stats.most_used) c->stats.most_used = count_used(c);
}

/* ---- pages ------------------------------------------------------------------------------- */

int kv_cache_take_page(kv_cache *c) {
    int p = c->free_head;
    if (p != NONE) {
        c->free_head = c->meta[p].next;
        c->n_free--;
    } else if ((p = indexed_heap_top(&c->cached)) != NONE) {
        memcpy(&c->age, &c->cached.keys[p].first, sizeof c->age);
        indexed_heap_remove(&c->cached, p);
        kv_cache_store_evict(c, p);
        kv_cache_unregister_page(c, p);
        c->stats.evictions++;
    } else {
        return NONE;
    }
    c->meta[p].refs = 1;
    note_used(c);
    return p;
}

static void hold_page(kv_cache *c, int p) {
    if (c->meta[p].refs++ == 0) indexed_heap_remove(&c->cached, p);
    note_used(c);
}

/* A sequence uses the block of page p, behind that of page `parent` (NONE: it is the first). No
 * block has more uses than its parent, so that chains are evicted from their end. */
static void use_page(kv_cache *c, int p, int parent, double expected, bool again) {
    page_meta *m = &c->meta[p];
    double uses = m->uses + again;
    if (uses < 1 + expected) uses = 1 + expected;
    if (parent != NONE && uses > c->meta[parent].uses) uses = c->meta[parent].uses;
    m->uses = uses;
    if (!m->met && (again || uses > 1)) {
        m->met = true;
        kv_cache_store_want(c, p);
    }
}

bool kv_cache_has_child(const kv_cache *c, int p) {
    const prefix_hash *h = &c->meta[p].hash;
    for (int k = c->by_parent[bucket(c, h)]; k != NONE; k = c->meta[k].child_next)
        if (c->meta[k].has_parent && same_hash(&c->meta[k].parent, h)) return true;
    return false;
}

void kv_cache_drop_page(kv_cache *c, int p, bool keep) {
    page_meta *m = &c->meta[p];
    assert(m->refs > 0);
    if (--m->refs) return;
    /* What others used before is not this one's to drop. */
    if (m->hashed && (keep || m->met || kv_cache_has_child(c, p))) {
        cached_push(c, p);
        return;
    }
    if (m->hashed) kv_cache_unregister_page(c, p);
    free_push(c, p);
}

int kv_cache_create(kv_cache **out, const kv_cache_options *opt,
                    const unsigned char fingerprint[32], fo_err *err) {
    if (opt->n_pages < 1)
        return fo_fail_field(err, FO_EINVAL, "kv-ram", "the KV cache needs room for one page");
    kv_cache *c = calloc(1, sizeof *c);
    if (!c) return fo_no_memory(err);
    c->layout = opt->layout;
    c->n_pages = opt->n_pages;
    c->P = opt->layout.page_tokens;
    c->defrag_threshold = opt->defrag_threshold;
    c->n_buckets = 16;
    while (c->n_buckets < 2u * (unsigned)c->n_pages) c->n_buckets *= 2;
    size_t n = (size_t)c->n_pages;
    c->meta = calloc(n, sizeof *c->meta);
    c->tokens = calloc(n * (size_t)c->P, sizeof *c->tokens);
    c->by_hash = malloc(c->n_buckets * sizeof *c->by_hash);
    c->by_parent = malloc(c->n_buckets * sizeof *c->by_parent);
    int rc = FO_OK;
    if (!c->meta || !c->tokens || !c->by_hash || !c->by_parent) rc = fo_no_memory(err);
    /* The storage type decides the bytes as much as the weights do. */
    memcpy(c->named, fingerprint, 32);
    c->named[31] ^= (unsigned char)(1 + opt->layout.type);
    if (!rc) rc = kv_pages_create(&c->pages, &opt->layout, c->n_pages, err);
    if (!rc && indexed_heap_init(&c->cached, c->n_pages) != FO_OK) rc = fo_no_memory(err);
    if (!rc) rc = kv_cache_store_init(c, opt, err);
    if (rc) {
        kv_cache_free(c);
        return rc;
    }
    for (unsigned i = 0; i < c->n_buckets; i++) c->by_hash[i] = c->by_parent[i] = NONE;
    c->free_head = NONE;
    for (int p = c->n_pages; p-- > 0;) free_push(c, p); /* low pages are handed out first */
    *out = c;
    return FO_OK;
}

void kv_cache_free(kv_cache *c) {
    if (!c) return;
    assert(!c->sequences);
    kv_pages_free(c->pages);
    indexed_heap_deinit(&c->cached);
    free(c->forgotten);
    free(c->meta);
    free(c->tokens);
    free(c->by_hash);
    free(c->by_parent);
    free(c);
}

kv_pages *kv_cache_pages(kv_cache *c) {
    return c->pages;
}
int kv_cache_available(const kv_cache *c) {
    return c->n_free + c->cached.n;
}
int kv_cache_page_tokens(const kv_cache *c) {
    return c->P;
}

/* ---- sequences --------------------------------------------------------------------------- */

static bool grow_table(kv_seq *s, int n_pages) {
    if (n_pages <= s->cap_pages) return true;
    int cap = s->cap_pages ? s->cap_pages : 16;
    while (cap < n_pages) cap *= 2;
    int32_t *pages = realloc(s->pages, (size_t)cap * sizeof *pages);
    if (!pages) return false;
    s->pages = pages;
    prefix_hash *chain = realloc(s->chain, (size_t)cap * sizeof *chain);
    if (!chain) return false;
    s->chain = chain;
    int32_t *packed = realloc(s->packed, (size_t)cap * sizeof *packed);
    if (!packed) return false;
    s->packed = packed;
    s->cap_pages = cap;
    return true;
}

int kv_seq_create(kv_seq **out, kv_cache *c, const unsigned char salt[32], enum kv_reuse reuse,
                  fo_err *err) {
    kv_seq *s = calloc(1, sizeof *s);
    if (s) s->tail = calloc((size_t)c->P, sizeof *s->tail);
    if (!s || !s->tail || !grow_table(s, 1)) {
        if (s) free(s->tail), free(s->pages), free(s->chain), free(s->packed);
        free(s);
        return fo_no_memory(err);
    }
    s->c = c;
    memcpy(s->salt, salt, 32);
    s->reuse = reuse;
    s->n_exact = reuse == KV_REUSE_OFF ? 0 : INT_MAX;
    s->next = c->sequences;
    if (s->next) s->next->prev = s;
    c->sequences = s;
    *out = s;
    return FO_OK;
}

void kv_seq_expect(kv_seq *s, double uses) {
    s->expected = uses > 0 ? uses : 0;
}

int kv_seq_prepare(kv_seq *s, int n, fo_err *err) {
    if (!grow_table(s, n / s->c->P + 1)) return fo_no_memory(err);
    return FO_OK;
}

void kv_seq_free(kv_seq *s, bool keep) {
    if (!s) return;
    kv_cache *c = s->c;
    /* Last block first: a chain is only findable from its beginning, so its end shall go first. */
    for (int i = s->n_pages; i-- > 0;) kv_cache_drop_page(c, s->pages[i], keep);
    *(s->prev ? &s->prev->next : &c->sequences) = s->next;
    if (s->next) s->next->prev = s->prev;
    free(s->pages);
    free(s->chain);
    free(s->packed);
    free(s->tail);
    free(s);
}

void kv_seq_restored(const kv_seq *s, int *n_asked, int *n_tokens) {
    *n_asked = s->n_asked;
    *n_tokens = s->n_restored;
}

int kv_seq_tokens(const kv_seq *s) {
    return s->n_tokens;
}

const int32_t *kv_seq_pages(const kv_seq *s, int *n) {
    *n = s->n_pages;
    return s->pages;
}

/* A hashed block after `parent` that begins with as many of tokens[0..n) as possible. */
static int best_child(const kv_cache *c, const prefix_hash *parent, const unsigned char salt[32],
                      const int32_t *tokens, int n, int *n_match) {
    const prefix_hash *key = parent ? parent : &root_hash;
    int best = NONE;
    *n_match = 0;
    for (int p = c->by_parent[bucket(c, key)]; p != NONE; p = c->meta[p].child_next) {
        const page_meta *m = &c->meta[p];
        if (m->has_parent != (parent != NULL) || !same_hash(&m->parent, key) ||
            memcmp(m->salt, salt, 32) != 0)
            continue;
        const int32_t *t = c->tokens + (size_t)p * (size_t)c->P;
        int k = 0;
        while (k < n && k < c->P && t[k] == tokens[k]) k++;
        if (k > *n_match) {
            *n_match = k;
            best = p;
        }
    }
    return best;
}

void kv_seq_return(kv_seq *s, int n) {
    s->n_before = n;
}

int kv_seq_returned(const kv_seq *s) {
    return s->n_before;
}

/* Block i is one that it made before: that it comes, or is computed, again says nothing about others. */
static bool was_own(const kv_seq *s, int i) {
    return i < s->n_before / s->c->P;
}

/* Block i of the sequence, whose name is h, from the store into a page of its own. */
static int restore_page(kv_seq *s, const prefix_hash *h, int i, const int32_t *tokens) {
    kv_cache *c = s->c;
    if (!c->store) return NONE;
    s->n_asked++;
    if (!kv_store_contains(c->store, h->bytes)) return NONE;
    int p = kv_cache_take_page(c);
    if (p == NONE) return NONE;
    if (!kv_cache_store_restore(c, h, p)) {
        c->meta[p].refs = 0;
        free_push(c, p);
        return NONE;
    }
    s->n_restored += c->P;
    register_page(c, p, h, i ? &s->chain[i - 1] : NULL, s->salt, tokens + (size_t)i * (size_t)c->P);
    return p;
}

/* Block i comes from the store: have those behind it read ahead. s->chain has room for them. */
static void prefetch_blocks(kv_seq *s, int i, int blocks, const int32_t *tokens) {
    kv_cache *c = s->c;
    int n = i;
    for (; n < blocks; n++) {
        prefix_hash_block(&s->chain[n], c->named, n ? &s->chain[n - 1] : NULL, s->salt,
                          tokens + (size_t)n * (size_t)c->P, (size_t)c->P);
        if (!kv_store_contains(c->store, s->chain[n].bytes)) break;
    }
    if (n > i) kv_store_prefetch(c->store, s->chain[i].bytes, (size_t)(n - i));
}

int kv_seq_attach(kv_seq *s, const int32_t *tokens, int n, int *n_attached, fo_err *err) {
    kv_cache *c = s->c;
    int had = s->n_tokens, first = had / c->P;
    assert(had % c->P == 0 && s->n_pages >= first);
    *n_attached = 0;
    if (had > s->n_exact || s->n_exact == 0 || n - had < 2) return FO_OK;
    c->stats.lookups++;
    c->stats.lookup_tokens += (uint64_t)(n - had);
    int limit = n - 1, blocks = limit / c->P;
    if (!grow_table(s, blocks + 1)) return fo_no_memory(err);
    while (s->n_pages > first)
        kv_cache_drop_page(c, s->pages[--s->n_pages], true); /* reserved, unused */
    int i = first;
    bool ahead = false;
    for (; i < blocks; i++) {
        prefix_hash h;
        prefix_hash_block(&h, c->named, i ? &s->chain[i - 1] : NULL, s->salt, tokens + i * c->P,
                          (size_t)c->P);
        int p = find_page(c, &h);
        if (p != NONE) {
            hold_page(c, p);
        } else {
            if (c->store && !ahead) prefetch_blocks(s, i, blocks, tokens);
            ahead = true;
            if ((p = restore_page(s, &h, i, tokens)) == NONE) break;
        }
        use_page(c, p, i ? s->pages[i - 1] : NONE, s->expected, !was_own(s, i));
        s->pages[i] = p;
        s->chain[i] = h;
        s->n_pages = i + 1;
    }
    s->n_tokens = i * c->P;
    c->stats.hit_blocks += (uint64_t)(i - first);
    /* The next block may agree in its first tokens: copy it and keep those. */
    int n_match = 0;
    int child = best_child(c, i ? &s->chain[i - 1] : NULL, s->salt, tokens + s->n_tokens,
                           limit - s->n_tokens, &n_match);
    if (child != NONE && n_match > 0) {
        hold_page(c, child); /* or take_page might evict it */
        int copy = kv_cache_take_page(c);
        if (copy != NONE) {
            kv_pages_copy(c->pages, copy, child);
            c->stats.copies++;
            c->stats.partial_hits++;
            s->pages[s->n_pages++] = copy;
            memcpy(s->tail, tokens + s->n_tokens, (size_t)n_match * sizeof *tokens);
            s->n_tokens += n_match;
        }
        kv_seq_note_pages(s, 1);
        kv_cache_drop_page(c, child, true);
    }
    kv_seq_note_pages(s, 0);
    *n_attached = s->n_tokens - had;
    c->stats.hit_tokens += (uint64_t)*n_attached;
    return FO_OK;
}

int kv_cache_probe(kv_cache *c, const unsigned char salt[32], const int32_t *tokens, int n) {
    if (n < 2) return 0;
    int limit = n - 1, i = 0;
    prefix_hash h, parent;
    for (; (i + 1) * c->P <= limit; i++) {
        prefix_hash_block(&h, c->named, i ? &parent : NULL, salt, tokens + i * c->P, (size_t)c->P);
        if (find_page(c, &h) == NONE && !(c->store && kv_store_contains(c->store, h.bytes))) break;
        parent = h;
    }
    int n_match;
    best_child(c, i ? &parent : NULL, salt, tokens + i * c->P, limit - i * c->P, &n_match);
    return i * c->P + n_match;
}

void kv_cache_forget(kv_cache *c, const unsigned char salt[32], const int32_t *tokens, int n) {
    int last = NONE;
    prefix_hash h, parent;
    for (int i = 0; i < n / c->P; i++, parent = h) {
        prefix_hash_block(&h, c->named, i ? &parent : NULL, salt, tokens + i * c->P, (size_t)c->P);
        int p = find_page(c, &h);
        if (p == NONE) break;
        last = p;
    }
    while (last != NONE) {
        const page_meta *m = &c->meta[last];
        if (m->refs || m->met || kv_cache_has_child(c, last)) return;
        int before = m->has_parent ? find_page(c, &m->parent) : NONE;
        indexed_heap_remove(&c->cached, last);
        kv_cache_unregister_page(c, last);
        free_push(c, last);
        last = before;
    }
}

int kv_cache_stored(kv_cache *c, const unsigned char salt[32], const int32_t *tokens, int n,
                    unsigned char *names, int max) {
    prefix_hash h, parent;
    int n_stored = 0;
    if (!c->store) return 0;
    for (int i = 0; (i + 1) * c->P <= n - 1 && n_stored < max; i++, parent = h) {
        prefix_hash_block(&h, c->named, i ? &parent : NULL, salt, tokens + i * c->P, (size_t)c->P);
        if (find_page(c, &h) != NONE) continue;
        if (!kv_store_contains(c->store, h.bytes)) break;
        memcpy(names + 32 * n_stored++, h.bytes, 32);
    }
    return n_stored;
}

int kv_seq_reserve(kv_seq *s, int n, fo_err *err) {
    kv_cache *c = s->c;
    int need = (s->n_tokens + s->shift + n + c->P - 1) / c->P;
    int old = s->n_pages;
    /* The block that the next token falls into, if it is there already and others hold or may find it. */
    int at = (s->n_tokens + s->shift) / c->P;
    bool copy = at < s->n_pages && n > 0 && c->meta[s->pages[at]].hashed;
    if (!grow_table(s, need > old ? need : old)) return fo_no_memory(err);
    int want = (need > old ? need - old : 0) + copy;
    if (want > kv_cache_available(c))
        return fo_fail(err, FO_ENOMEM, "the KV cache has %d of %d pages left, %d are needed",
                       kv_cache_available(c), c->n_pages, want);
    if (copy) {
        int fresh = kv_cache_take_page(c);
        kv_pages_copy(c->pages, fresh, s->pages[at]);
        kv_seq_note_pages(s, 1);
        kv_cache_drop_page(c, s->pages[at], true);
        s->pages[at] = fresh;
        c->stats.copies++;
    }
    while (s->n_pages < need) s->pages[s->n_pages++] = kv_cache_take_page(c);
    kv_seq_note_pages(s, 0);
    return FO_OK;
}

void kv_seq_commit(kv_seq *s, const int32_t *tokens, int n) {
    kv_cache *c = s->c;
    assert((s->n_tokens + s->shift + n + c->P - 1) / c->P <= s->n_pages);
    if (s->shift) { /* its blocks are nobody else's */
        s->n_tokens += n;
        return;
    }
    for (int done = 0; done < n;) {
        int slot = s->n_tokens % c->P, k = c->P - slot < n - done ? c->P - slot : n - done;
        memcpy(s->tail + slot, tokens + done, (size_t)k * sizeof *tokens);
        s->n_tokens += k;
        done += k;
        if (s->n_tokens % c->P || s->n_tokens > s->n_exact) continue;
        int i = s->n_tokens / c->P - 1;
        const prefix_hash *parent = i ? &s->chain[i - 1] : NULL;
        prefix_hash_block(&s->chain[i], c->named, parent, s->salt, s->tail, (size_t)c->P);
        int twin = find_page(c, &s->chain[i]);
        if (twin == NONE) {
            register_page(c, s->pages[i], &s->chain[i], parent, s->salt, s->tail);
            use_page(c, s->pages[i], i ? s->pages[i - 1] : NONE, s->expected,
                     !was_own(s, i) && kv_cache_store_remembers(c, &s->chain[i]));
        } else if (twin != s->pages[i]) {
            hold_page(c, twin); /* same tokens, same weights: the same bits (row invariance) */
            kv_seq_note_pages(s, 1);
            kv_cache_drop_page(c, s->pages[i], false);
            s->pages[i] = twin;
            use_page(c, twin, i ? s->pages[i - 1] : NONE, s->expected, true);
            c->stats.deduplicated++;
        }
    }
}

void kv_seq_truncate(kv_seq *s, int n) {
    kv_cache *c = s->c;
    if (n >= s->n_tokens) n = s->n_tokens;
    if (n == 0) s->shift = 0;
    int need = (n + s->shift + c->P - 1) / c->P;
    if (n % c->P && n / c->P < s->n_tokens / c->P) {
        /* The cut falls into a full block: its tokens become the unfinished tail again. A block
         * that is not exact has no copy of them, and needs none: it is never hashed. */
        if ((n / c->P + 1) * c->P <= s->n_exact)
            memcpy(s->tail, c->tokens + (size_t)s->pages[n / c->P] * (size_t)c->P,
                   (size_t)(n % c->P) * sizeof *s->tail);
    }
    while (s->n_pages > need) kv_cache_drop_page(c, s->pages[--s->n_pages], true);
    s->n_tokens = n;
    /* Back where every block was hashed: what follows may be exact again. */
    if (s->reuse != KV_REUSE_OFF && n <= s->n_exact / c->P * c->P) s->n_exact = INT_MAX;
}

int kv_seq_most_pages(kv_seq *s) {
    const int most = s->most_pages > s->n_pages ? s->most_pages : s->n_pages;
    s->most_pages = s->n_pages;
    return most;
}

void kv_seq_diverge(kv_seq *s) {
    if (s->n_exact > s->n_tokens) s->n_exact = s->n_tokens;
}

int kv_seq_read(const kv_seq *s, int position, int layer, int head, float *k, float *v,
                fo_err *err) {
    const kv_layout *l = &s->c->layout;
    if (position < 0 || position >= s->n_tokens || layer < 0 || layer >= l->n_layers || head < 0 ||
        head >= l->n_kv_heads)
        return fo_fail(err, FO_EINVAL, "no KV at position %d, layer %d, head %d", position, layer,
                       head);
    assert(s->shift == 0);
    kv_pages_load(s->c->pages, s->pages[position / s->c->P], position % s->c->P, layer, head, k, v);
    return FO_OK;
}

/* ---- compaction -------------------------------------------------------------------------- */

static int highest_held(const kv_cache *c) {
    int top = c->n_pages - 1;
    while (top >= 0 && c->meta[top].refs == 0 && !c->meta[top].hashed) top--;
    return top;
}

static double fragmentation(const kv_cache *c) {
    int top = highest_held(c);
    return top < 0 ? 0 : 1 - (double)(c->n_pages - c->n_free) / (top + 1);
}

/* Everything that names page `from` is made to name `to`, which is FREE and in no list. */
static void move_page(kv_cache *c, int to, int from, int *moved_to) {
    page_meta *a = &c->meta[from], *b = &c->meta[to];
    kv_pages_copy(c->pages, to, from);
    int refs = a->refs;
    b->refs = refs;
    b->hashed = false;
    if (a->hashed) {
        page_meta old = *a;
        kv_cache_unregister_page(c, from);
        register_page(c, to, &old.hash, old.has_parent ? &old.parent : NULL, old.salt,
                      c->tokens + (size_t)from * (size_t)c->P);
        b->uses = old.uses;
        b->met = old.met;
        if (old.unsaved) kv_cache_store_want(c, to);
        if (refs == 0) { /* keep its place in the order of eviction */
            heap_key k = c->cached.keys[from];
            indexed_heap_remove(&c->cached, from);
            indexed_heap_push(&c->cached, to, k);
        }
    }
    a->refs = 0;
    moved_to[from] = to;
}

int kv_cache_compact(kv_cache *c) {
    int *moved_to = malloc((size_t)c->n_pages * sizeof *moved_to);
    if (!moved_to) return 0; /* nothing is lost but tidiness */
    for (int p = 0; p < c->n_pages; p++) moved_to[p] = NONE;
    int low = 0, high = c->n_pages - 1, n_moved = 0;
    for (;;) {
        while (low < high && (c->meta[low].refs || c->meta[low].hashed)) low++;
        while (low < high && !c->meta[high].refs && !c->meta[high].hashed) high--;
        if (low >= high) break;
        move_page(c, low++, high--, moved_to);
        n_moved++;
    }
    for (kv_seq *s = c->sequences; s; s = s->next)
        for (int i = 0; i < s->n_pages; i++)
            if (moved_to[s->pages[i]] != NONE) s->pages[i] = moved_to[s->pages[i]];
    free(moved_to);
    c->free_head = NONE;
    c->n_free = 0;
    int first_free = c->n_pages;
    for (int p = c->n_pages; p-- > 0;) {
        if (c->meta[p].refs || c->meta[p].hashed) continue;
        free_push(c, p);
        if (p == first_free - 1) first_free = p;
    }
    if (first_free < c->n_pages) { /* whole memory pages of the free end go back */
        uintptr_t unit = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t begin = (uintptr_t)kv_pages_data(c->pages, first_free);
        uintptr_t end = (uintptr_t)kv_pages_data(c->pages, c->n_pages - 1) + c->layout.page_bytes;
        begin = (begin + unit - 1) & ~(unit - 1);
        end &= ~(unit - 1);
        if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    c->stats.compactions++;
    c->stats.moved += (uint64_t)n_moved;
    return n_moved;
}

int kv_cache_maintain(kv_cache *c) {
    if (c->defrag_threshold <= 0 || c->defrag_threshold > 1) return 0;
    return fragmentation(c) > c->defrag_threshold ? kv_cache_compact(c) : 0;
}

/* ---- looking at it ----------------------------------------------------------------------- */

void kv_cache_get_stats(const kv_cache *c, kv_cache_stats *out) {
    *out = c->stats;
    out->page_tokens = c->P;
    out->page_bytes = c->layout.page_bytes;
    out->n_pages = c->n_pages;
    out->n_free = c->n_free;
    out->n_cached = c->cached.n;
    out->n_used = count_used(c);
    for (int p = 0; p < c->n_pages; p++) out->n_shared += c->meta[p].refs > 1;
    for (const kv_seq *s = c->sequences; s; s = s->next) out->n_sequences++;
    out->fragmentation = fragmentation(c);
}

void kv_cache_forget_most(kv_cache *c) {
    c->stats.most_used = count_used(c);
}

int kv_cache_map(const kv_cache *c, unsigned char *states, int max) {
    int n = c->n_pages < max ? c->n_pages : max;
    for (int p = 0; p < n; p++) {
        const page_meta *m = &c->meta[p];
        states[p] = m->refs > 1    ? KV_PAGE_SHARED
                    : m->refs == 1 ? KV_PAGE_USED
                    : m->hashed    ? KV_PAGE_CACHED
                                   : KV_PAGE_FREE;
    }
    return n;
}

static int check_sequence(const kv_cache *c, const kv_seq *s, int *refs, fo_err *err) {
    if (s->n_pages < (s->n_tokens + s->shift + c->P - 1) / c->P)
        return fo_fail(err, FO_ECORRUPT, "invariant 5: %d tokens but %d pages", s->n_tokens,
                       s->n_pages);
    for (int i = 0; i < s->n_pages; i++) {
        int p = s->pages[i];
        if (p < 0 || p >= c->n_pages)
            return fo_fail(err, FO_ECORRUPT, "a block table names page %d", p);
        refs[p]++;
        bool full = (i + 1) * c->P <= s->n_tokens;
        bool exact = (i + 1) * c->P <= s->n_exact;
        if (exact && full && (!c->meta[p].hashed || !same_hash(&c->meta[p].hash, &s->chain[i])))
            return fo_fail(err, FO_ECORRUPT, "invariant 5: full block %d in page %d is not found",
                           i, p);
        if (c->meta[p].refs > 1 && !c->meta[p].hashed)
            return fo_fail(err, FO_ECORRUPT, "invariant 4: page %d is shared without a hash", p);
    }
    return FO_OK;
}

/* A CACHED page's parent is evicted after it. */
static int check_order(const kv_cache *c, int p, fo_err *err) {
    const page_meta *m = &c->meta[p];
    bool cached = m->refs == 0 && m->hashed;
    if (cached != indexed_heap_has(&c->cached, p))
        return fo_fail(err, FO_ECORRUPT, "invariant 1: page %d and the order of eviction", p);
    if (!cached || !m->has_parent) return FO_OK;
    int parent = find_page(c, &m->parent);
    if (parent == NONE)
        return fo_fail(err, FO_ECORRUPT, "invariant 6: page %d outlived its parent", p);
    if (c->meta[parent].refs) return FO_OK;
    heap_key a = c->cached.keys[p], b = c->cached.keys[parent];
    if (a.first > b.first || (a.first == b.first && a.second > b.second))
        return fo_fail(err, FO_ECORRUPT, "invariant 6: page %d goes after its parent %d", p,
                       parent);
    return FO_OK;
}

int kv_cache_check(const kv_cache *c, fo_err *err) {
    int *refs = calloc((size_t)c->n_pages, sizeof *refs);
    if (!refs) return fo_no_memory(err);
    int rc = FO_OK, n = 0;
    for (const kv_seq *s = c->sequences; !rc && s; s = s->next)
        rc = check_sequence(c, s, refs, err);
    int n_used = 0, n_cached = 0;
    for (int p = 0; !rc && p < c->n_pages; p++) {
        const page_meta *m = &c->meta[p];
        if (m->refs != refs[p])
            rc = fo_fail(err, FO_ECORRUPT, "invariant 2: page %d counts %d references, has %d", p,
                         m->refs, refs[p]);
        else if (m->hashed && find_page(c, &m->hash) != p)
            rc = fo_fail(err, FO_ECORRUPT, "invariant 3: page %d is not found under its hash", p);
        n_used += m->refs > 0;
        n_cached += m->refs == 0 && m->hashed;
    }
    free(refs);
    if (rc) return rc;
    for (int p = c->free_head; p != NONE && n <= c->n_pages; p = c->meta[p].next, n++)
        if (c->meta[p].refs || c->meta[p].hashed)
            return fo_fail(err, FO_ECORRUPT, "invariant 1: page %d is in the free list", p);
    if (n != c->n_free)
        return fo_fail(err, FO_ECORRUPT, "invariant 1: %d pages are free, %d counted", n,
                       c->n_free);
    if (c->cached.n != n_cached)
        return fo_fail(err, FO_ECORRUPT, "invariant 1: %d pages are cached, %d counted", n_cached,
                       c->cached.n);
    int n_unsaved = 0;
    for (int p = 0; p < c->n_pages; p++) {
        rc = check_order(c, p, err);
        if (rc) return rc;
        n_unsaved += c->meta[p].unsaved;
    }
    if (n_unsaved != c->n_unsaved)
        return fo_fail(err, FO_ECORRUPT, "%d pages are unsaved, %d counted", n_unsaved,
                       c->n_unsaved);
    if (n_used + c->cached.n + c->n_free != c->n_pages)
        return fo_fail(err, FO_ECORRUPT, "invariant 1: %d + %d + %d pages of %d", n_used,
                       c->cached.n, c->n_free, c->n_pages);
    return FO_OK;
}
