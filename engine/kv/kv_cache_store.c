/* kv_cache_store.c - the seam between pages and the KV store: blocks that fall out of the pages,
 * and those that come back.
 *
 * Written is what was used twice: a block met by a second sequence, or computed again after it had
 * been evicted. A block that nobody asked for again costs the disk nothing; at the end, when
 * nothing else can use the disk, everything cached is written, what is worth most first. */
#include <stdlib.h>
#include <string.h>

#include "engine/kv/kv_cache_internal.h"
#include "kernels/clock.h"

enum { FORGOTTEN = 1 << 16 };

int kv_cache_store_init(kv_cache *c, const kv_cache_options *opt, fo_err *err) {
    c->store = opt->store;
    if (!c->store) return FO_OK;
    c->n_forgotten = FORGOTTEN;
    while (c->n_forgotten < 8u * (unsigned)c->n_pages) c->n_forgotten *= 2;
    c->forgotten = calloc(c->n_forgotten, sizeof *c->forgotten);
    return c->forgotten ? FO_OK : fo_no_memory(err);
}

/* A place and a tag, never 0, from a block's name: a false memory only costs a write. */
static uint32_t *memory_of(const kv_cache *c, const prefix_hash *h, uint32_t *tag) {
    uint32_t at;
    memcpy(&at, h->bytes + 8, sizeof at);
    memcpy(tag, h->bytes + 12, sizeof *tag);
    *tag |= 1;
    return &c->forgotten[at & (c->n_forgotten - 1)];
}

bool kv_cache_store_remembers(const kv_cache *c, const prefix_hash *h) {
    if (!c->store) return false;
    uint32_t tag, *place = memory_of(c, h, &tag);
    return *place == tag;
}

bool kv_cache_met(kv_cache *c, const unsigned char name[32]) {
    prefix_hash h;
    memcpy(h.bytes, name, sizeof h.bytes);
    if (!c->store) return false;
    uint32_t tag, *place = memory_of(c, &h, &tag);
    bool met = *place == tag;
    *place = tag;
    return met;
}

static int save(kv_cache *c, int p) {
    const page_meta *m = &c->meta[p];
    kv_store_item item = {
        .key = m->hash.bytes, .kind = KV_STORE_BLOCK, .n_tokens = c->P, .reuse = m->uses};
    int rc =
        kv_store_put(c->store, &item, kv_pages_data_const(c->pages, p), c->layout.page_bytes, NULL);
    if (!rc) c->stats.saved_blocks++;
    return rc;
}

void kv_cache_store_evict(kv_cache *c, int p) {
    if (!c->store) return;
    if (c->meta[p].met) {
        if (!kv_store_contains(c->store, c->meta[p].hash.bytes)) save(c, p);
    } else {
        uint32_t tag, *place = memory_of(c, &c->meta[p].hash, &tag);
        *place = tag;
    }
}

bool kv_cache_store_restore(kv_cache *c, const prefix_hash *h, int p) {
    if (kv_store_read(c->store, KV_STORE_BLOCK, h->bytes, kv_pages_data(c->pages, p),
                      c->layout.page_bytes, NULL) != FO_OK)
        return false;
    c->stats.restored_blocks++;
    return true;
}

void kv_cache_store_want(kv_cache *c, int p) {
    if (!c->store || c->meta[p].unsaved) return;
    c->meta[p].unsaved = true;
    c->n_unsaved++;
}

static int by_uses(const void *a, const void *b) {
    const page_meta *x = *(const page_meta *const *)a, *y = *(const page_meta *const *)b;
    return (x->uses < y->uses) - (x->uses > y->uses);
}

/* Pages to write, those used most first; NULL without memory. */
static page_meta **candidates(kv_cache *c, bool all, int *n) {
    page_meta **list = malloc((size_t)c->n_pages * sizeof *list);
    *n = 0;
    for (int p = 0; list && p < c->n_pages; p++) {
        page_meta *m = &c->meta[p];
        if (m->hashed && (all || m->unsaved) && !kv_store_contains(c->store, m->hash.bytes))
            list[(*n)++] = m;
        else if (m->unsaved)
            m->unsaved = false, c->n_unsaved--;
    }
    if (*n) qsort(list, (size_t)*n, sizeof *list, by_uses);
    return list;
}

int kv_cache_save(kv_cache *c, int max) {
    if (!c->store || c->n_unsaved == 0) return 0;
    int n, k = 0, saved = 0;
    page_meta **list = candidates(c, false, &n);
    for (; list && k < n && k < max; k++) {
        int rc = save(c, (int)(list[k] - c->meta));
        if (rc == FO_EBUSY) break; /* later */
        saved += !rc;
        list[k]->unsaved = false;
        c->n_unsaved--;
    }
    free(list);
    return saved;
}

int kv_cache_unsaved(const kv_cache *c) {
    return c->n_unsaved;
}

int kv_cache_save_all(kv_cache *c, double max_ms) {
    if (!c->store) return 0;
    double until = fo_now_ms() + max_ms;
    int n, saved = 0;
    page_meta **list = candidates(c, true, &n);
    for (int k = 0; list && k < n && fo_now_ms() < until;) {
        int rc = save(c, (int)(list[k] - c->meta));
        if (rc == FO_EBUSY) {
            kv_store_flush_by(c->store, until);
            continue;
        }
        saved += !rc;
        k++;
    }
    free(list);
    return saved;
}
