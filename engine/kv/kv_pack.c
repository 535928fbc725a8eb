/* kv_pack.c - sequences that keep other positions of each head.
 *
 *     before   page 0            page 1            page 2        a block table's blocks a .. f
 *     head 0   a0 b0             c0 d0             e0 f0
 *     head 1   a1 b1             c1 d1             e1 f1
 *                    sources {a, d, f}, {b, c, f}
 *     after    page 0            page 1                          the same pages, or new ones where
 *     head 0   a0 d0             f0 .                            the old are not this sequence's alone
 *     head 1   b1 c1             f1 .
 *
 * Every head keeps as many blocks as the others, so that a page is as full of one head as of the
 * others: what is dropped goes back whole, whichever positions the heads chose. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "engine/kv/kv_cache_internal.h"

size_t kv_seq_pack_bytes(const kv_layout *l, int n) {
    return (size_t)n * kv_layout_block_bytes(l);
}

int kv_seq_shift(const kv_seq *s) {
    return s->shift;
}

static bool is_own(const kv_cache *c, int p) {
    return c->meta[p].refs == 1 && !c->meta[p].hashed;
}

/* A page to write to: one of s's own from *next on, else any, else one that is only findable still,
 * from the end on, because a chain is found from its beginning. */
static int target_page(kv_seq *s, int *next) {
    kv_cache *c = s->c;
    for (; *next < s->n_pages; ++*next)
        if (is_own(c, s->pages[*next])) return s->pages[(*next)++];
    int p = kv_cache_take_page(c);
    if (p != NONE) return p;
    for (int i = s->n_pages; i-- > 0;) {
        p = s->pages[i];
        if (c->meta[p].refs != 1 || !c->meta[p].hashed || kv_cache_has_child(c, p)) continue;
        kv_cache_unregister_page(c, p);
        if (s->n_exact > i * c->P) s->n_exact = i * c->P;
        return p;
    }
    return NONE;
}

static bool names(const int32_t *pages, int n, int p) {
    for (int i = 0; i < n; i++)
        if (pages[i] == p) return true;
    return false;
}

/* Head by head through room, so that it does not matter where pages are written that are read. */
static void move_blocks(kv_seq *s, const int32_t *to, const int32_t *sources, int n,
                        unsigned char *room) {
    const kv_layout *l = &s->c->layout;
    const size_t bytes = kv_layout_block_bytes(l);
    const int in_page = l->page_tokens / KV_BLOCK;
    for (int layer = 0; layer < l->n_layers; layer++)
        for (int head = 0; head < l->n_kv_heads; head++, sources += n) {
            for (int i = 0; i < n; i++)
                kv_pages_export_block(s->c->pages, s->pages[sources[i] / in_page],
                                      sources[i] % in_page * KV_BLOCK, layer, head,
                                      room + (size_t)i * bytes);
            for (int i = 0; i < n; i++)
                kv_pages_import_block(s->c->pages, to[i / in_page], i % in_page * KV_BLOCK, layer,
                                      head, room + (size_t)i * bytes);
        }
}

int kv_seq_pack(kv_seq *s, const int32_t *sources, int n, int shift, void *room, fo_err *err) {
    kv_cache *c = s->c;
    const int in_page = c->P / KV_BLOCK, n_pages = (n + in_page - 1) / in_page;
    assert(n_pages <= s->n_pages && shift % KV_BLOCK == 0);
    int32_t *to = s->packed;
    int next = 0, got = 0, beside = 0;
    while (got < n_pages && (to[got] = target_page(s, &next)) != NONE) got++;
    for (int i = 0; i < got; i++) beside += !names(s->pages, s->n_pages, to[i]);
    kv_seq_note_pages(s, beside);
    if (got < n_pages) {
        while (got-- > 0)
            if (!names(s->pages, s->n_pages, to[got])) kv_cache_drop_page(c, to[got], false);
        return fo_fail(err, FO_ENOMEM, "%d pages to keep a share of the KV in are not to be had",
                       n_pages);
    }
    move_blocks(s, to, sources, n, room);
    for (int i = s->n_pages; i-- > 0;)
        if (!names(to, n_pages, s->pages[i])) kv_cache_drop_page(c, s->pages[i], true);
    memcpy(s->pages, to, (size_t)n_pages * sizeof *to);
    s->n_pages = n_pages;
    s->shift = shift;
    s->n_exact = 0;
    return FO_OK;
}

int kv_seq_own(kv_seq *s, fo_err *err) {
    kv_cache *c = s->c;
    for (int i = s->n_pages; i-- > 0;) {
        if (is_own(c, s->pages[i])) continue;
        const int p = kv_cache_take_page(c);
        if (p == NONE) return fo_fail(err, FO_ENOMEM, "no KV page is left to copy a shared one to");
        kv_pages_copy(c->pages, p, s->pages[i]);
        kv_seq_note_pages(s, 1);
        kv_cache_drop_page(c, s->pages[i], true);
        s->pages[i] = p;
        if (s->n_exact > i * c->P) s->n_exact = i * c->P;
        c->stats.copies++;
    }
    s->n_exact = 0;
    return FO_OK;
}
