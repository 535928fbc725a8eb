/* kv_store.c - the tables, the budget of RAM, put and get.
 *
 *               put                    written              read, kept
 *     (absent) -----> RAM and queued ----------> RAM, disk <-----------+
 *                        |                        |     |              |
 *                        |      evicted from RAM  |     | evicted      |
 *                        |      or a block        v     | from disk    |
 *                        +---------------------> disk --+--------------+
 *
 * Invariants (kv_store_check):
 * 1. An entry is found under its key and has a buffer, a place on disk, or both.
 * 2. by_ram holds the entries whose counted buffer nobody else holds; by_disk those on disk.
 * 3. ram.bytes are the counted buffers', a segment's live_bytes the extents of the entries in it.
 * 4. A queued entry has a buffer. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kv/kv_store_internal.h"
#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/cond.h"

enum { LINE = 64, MAX_REUSE = 1000000 };

/* ---- tables ------------------------------------------------------------------------------ */

static unsigned bucket(const kv_store *s, const unsigned char key[32]) {
    uint32_t x;
    memcpy(&x, key, sizeof x);
    return x & (s->n_buckets - 1);
}

int kv_store_find(const kv_store *s, const unsigned char key[32]) {
    if (!s->n_buckets) return KV_NONE;
    int i = s->buckets[bucket(s, key)];
    while (i != KV_NONE && memcmp(s->entries[i].key, key, 32) != 0) i = s->entries[i].next;
    return i;
}

static bool grow_heap(indexed_heap *h, int capacity) {
    indexed_heap more;
    if (indexed_heap_init(&more, capacity) != FO_OK) return false;
    for (int k = 0; k < h->n; k++) indexed_heap_push(&more, h->items[k], h->keys[h->items[k]]);
    indexed_heap_deinit(h);
    *h = more;
    return true;
}

static bool grow(kv_store *s) {
    int cap = s->cap_entries ? 2 * s->cap_entries : 256;
    unsigned n_buckets = 2u * (unsigned)cap;
    int *buckets = malloc(n_buckets * sizeof *buckets);
    kv_entry *entries = realloc(s->entries, (size_t)cap * sizeof *entries);
    if (entries) s->entries = entries;
    if (!buckets || !entries || !grow_heap(&s->by_ram, cap) || !grow_heap(&s->by_disk, cap)) {
        free(buckets);
        return false;
    }
    free(s->buckets);
    s->buckets = buckets;
    s->n_buckets = n_buckets;
    for (unsigned b = 0; b < n_buckets; b++) buckets[b] = KV_NONE;
    for (int i = 0; i < s->cap_entries; i++) { /* all are taken, or growing was not needed */
        int *head = &buckets[bucket(s, entries[i].key)];
        entries[i].next = *head;
        *head = i;
    }
    for (int i = cap; i-- > s->cap_entries;) {
        entries[i] = (kv_entry){.next = s->free_entry};
        s->free_entry = i;
    }
    s->cap_entries = cap;
    return true;
}

int kv_store_add_entry(kv_store *s, const unsigned char key[32]) {
    if (s->free_entry == KV_NONE && !grow(s)) return KV_NONE;
    int i = s->free_entry;
    kv_entry *e = &s->entries[i];
    s->free_entry = e->next;
    int *head = &s->buckets[bucket(s, key)];
    *e = (kv_entry){.taken = true, .next = *head};
    memcpy(e->key, key, 32);
    *head = i;
    s->n_entries++;
    return i;
}

void kv_store_remove_entry(kv_store *s, int i) {
    kv_entry *e = &s->entries[i];
    if (e->buffer) kv_store_drop_buffer(s, i);
    if (e->segment) kv_store_disk_forget(s, i);
    int *link = &s->buckets[bucket(s, e->key)];
    while (*link != i) link = &s->entries[*link].next;
    *link = e->next;
    *e = (kv_entry){.next = s->free_entry};
    s->free_entry = i;
    s->n_entries--;
}

/* ---- what a record is worth -------------------------------------------------------------- */

heap_key kv_store_worth(const kv_entry *e, double age) {
    double w = age + e->reuse * e->cost_ms * 1024 / (double)e->n_bytes;
    heap_key k = {0};
    memcpy(&k.first, &w, sizeof w); /* doubles >= 0 are in the order of their bits */
    return k;
}

double kv_store_worth_of(heap_key k) {
    double w;
    memcpy(&w, &k.first, sizeof w);
    return w;
}

static void raise_reuse(kv_store *s, kv_entry *e, double reuse) {
    if (!(reuse > e->reuse)) return;
    e->reuse = reuse < MAX_REUSE ? reuse : MAX_REUSE;
    e->used = true;
    int i = (int)(e - s->entries);
    if (indexed_heap_has(&s->by_disk, i))
        indexed_heap_change(&s->by_disk, i, kv_store_worth(e, s->disk_age));
    if (indexed_heap_has(&s->by_ram, i))
        indexed_heap_change(&s->by_ram, i, kv_store_worth(e, s->ram_age));
}

/* ---- buffers ----------------------------------------------------------------------------- */

kv_buffer *kv_store_new_buffer(size_t n) {
    size_t whole;
    kv_buffer *b = calloc(1, sizeof *b);
    if (!b || !fo_add_size(n, LINE - 1, &whole) ||
        !(b->data = aligned_alloc(LINE, whole / LINE * LINE))) {
        free(b);
        return NULL;
    }
    b->n = n;
    b->refs = 1;
    b->entry = KV_NONE;
    return b;
}

static void free_buffer(kv_store *s, kv_buffer *b) {
    if (b->counted) s->stats.ram.bytes -= b->n;
    if (b->staged) s->stats.staged_bytes -= b->n;
    free(b->data);
    free(b);
}

/* An entry's counted buffer is in by_ram exactly while the entry alone holds it. */
static void settle(kv_store *s, const kv_buffer *b) {
    if (b->entry == KV_NONE || !b->counted) return;
    bool in = indexed_heap_has(&s->by_ram, b->entry);
    if (b->refs == 1 && !in)
        indexed_heap_push(&s->by_ram, b->entry, kv_store_worth(&s->entries[b->entry], s->ram_age));
    else if (b->refs > 1 && in)
        indexed_heap_remove(&s->by_ram, b->entry);
}

void kv_store_hold(kv_store *s, kv_buffer *b) {
    b->refs++;
    settle(s, b);
}

/* The entry's bytes leave RAM, and the entry the store where they were nowhere else. */
static void drop_copy(kv_store *s, int i) {
    if (s->entries[i].segment)
        kv_store_drop_buffer(s, i);
    else
        kv_store_remove_entry(s, i);
}

void kv_store_let_go(kv_store *s, kv_buffer *b) {
    assert(b->refs > 0);
    if (--b->refs == 0)
        free_buffer(s, b);
    else if (b->refs == 1 && b->staged && b->entry != KV_NONE && !s->entries[b->entry].queued)
        drop_copy(s, b->entry);
    else
        settle(s, b);
}

void kv_store_give_buffer(kv_store *s, int i, kv_buffer *b, bool counted) {
    b->entry = i;
    b->counted = counted;
    b->refs++;
    s->entries[i].buffer = b;
    if (counted) {
        s->stats.ram.bytes += b->n;
        s->stats.ram.records++;
    }
    settle(s, b);
}

void kv_store_drop_buffer(kv_store *s, int i) {
    kv_buffer *b = s->entries[i].buffer;
    s->entries[i].buffer = NULL;
    s->entries[i].queued = false;
    indexed_heap_remove(&s->by_ram, i);
    if (b->counted) s->stats.ram.records--;
    b->entry = KV_NONE;
    kv_store_let_go(s, b);
}

/* Evict from RAM until n more bytes fit, but nothing that is worth more than `worth`. What is
 * declined has given way like what is evicted, and ages the others like it: else records that were
 * used once would keep all new ones out for ever. */
static bool make_ram_room(kv_store *s, uint64_t n, double worth) {
    if (n > s->ram_budget) return false;
    while (s->stats.ram.bytes + n > s->ram_budget) {
        int i = indexed_heap_top(&s->by_ram);
        if (i < 0) return false;
        if (kv_store_worth_of(s->by_ram.keys[i]) > worth) {
            s->ram_age = worth;
            return false;
        }
        s->ram_age = kv_store_worth_of(s->by_ram.keys[i]);
        s->stats.ram.evictions++;
        drop_copy(s, i);
    }
    return true;
}

/* ---- open and close ---------------------------------------------------------------------- */

int kv_store_open(kv_store **out, const kv_store_options *opt, const unsigned char fingerprint[32],
                  const kv_layout *layout, fo_err *err) {
    kv_store *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    pthread_mutex_init(&s->mu, NULL);
    pthread_cond_init(&s->work, NULL);
    fo_cond_init(&s->done);
    s->until_ms = INFINITY;
    s->lock_fd = -1;
    s->free_entry = KV_NONE;
    s->last = &s->first;
    s->notices = opt->notices;
    s->ram_budget = opt->ram_bytes;
    s->disk_budget = opt->disk_bytes;
    s->queue_budget = opt->queue_bytes ? opt->queue_bytes : (uint64_t)32 << 20;
    kv_segment_owner(s->owner, fingerprint, layout);
    int rc = grow(s) ? FO_OK : fo_no_memory(err);
    if (!rc && opt->dir && opt->disk_bytes) {
        s->dir = strdup(opt->dir);
        rc = s->dir ? kv_store_disk_open(s, err) : fo_no_memory(err);
    }
    if (rc) {
        kv_store_close(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

void kv_store_close(kv_store *s) {
    kv_store_close_by(s, INFINITY);
}

void kv_store_close_by(kv_store *s, double until_ms) {
    if (!s) return;
    kv_store_disk_close(s, until_ms);
    for (int i = 0; i < s->cap_entries; i++)
        if (s->entries[i].taken && s->entries[i].buffer) kv_store_drop_buffer(s, i);
    assert(s->stats.ram.bytes == 0); /* a reference was not released */
    free(s->entries);
    free(s->buckets);
    indexed_heap_deinit(&s->by_ram);
    indexed_heap_deinit(&s->by_disk);
    pthread_cond_destroy(&s->done);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->mu);
    free(s->dir);
    free(s);
}

/* ---- put --------------------------------------------------------------------------------- */

/* False: the disk is behind. */
static bool queue_takes(const kv_store *s, uint64_t n) {
    return !s->stats.queue_bytes || s->stats.queue_bytes + n <= s->queue_budget;
}

/* What may become of n bytes: kept in RAM, written. FO_ELIMIT, FO_EBUSY: neither. */
static int where(kv_store *s, const kv_store_item *it, size_t n, bool *ram, bool *disk,
                 fo_err *err) {
    *ram = it->kind == KV_STORE_CHUNK && n <= s->ram_budget;
    *disk = !it->ram_only && kv_store_disk_takes(s, n);
    if (!*ram && !*disk)
        return fo_fail(err, FO_ELIMIT, "a KV record of %zu bytes is too large for the store", n);
    if (*disk && !queue_takes(s, n)) {
        *disk = false;
        if (!*ram) return fo_fail(err, FO_EBUSY, "the KV store's disk is behind");
    }
    return FO_OK;
}

int kv_store_put(kv_store *s, const kv_store_item *it, const void *data, size_t n, fo_err *err) {
    assert(it->n_tokens > 0 && n > 0);
    bool ram, disk;
    pthread_mutex_lock(&s->mu);
    int rc = FO_OK, i = kv_store_find(s, it->key);
    bool there = i != KV_NONE;
    if (there) {
        kv_entry *e = &s->entries[i];
        raise_reuse(s, e, it->reuse);
        if (!it->ram_only && !e->segment && !e->queued && e->buffer &&
            kv_store_disk_takes(s, e->n_bytes) && queue_takes(s, e->n_bytes))
            rc = kv_store_enqueue(s, i, err);
    } else {
        rc = where(s, it, n, &ram, &disk, err);
    }
    pthread_mutex_unlock(&s->mu);
    if (there || rc) return rc;
    kv_buffer *b = kv_store_new_buffer(n);
    if (!b) return fo_no_memory(err);
    memcpy(b->data, data, n);

    pthread_mutex_lock(&s->mu);
    if (kv_store_find(s, it->key) == KV_NONE) { /* nobody was faster */
        kv_entry fresh = {.kind = it->kind,
                          .n_tokens = it->n_tokens,
                          .cost_ms = it->cost_ms > 0 ? it->cost_ms : it->n_tokens,
                          .reuse = it->reuse > 0 ? it->reuse : 1,
                          .n_bytes = n};
        if (fresh.reuse > MAX_REUSE) fresh.reuse = MAX_REUSE;
        if (ram) ram = make_ram_room(s, n, kv_store_worth_of(kv_store_worth(&fresh, s->ram_age)));
        i = ram || disk ? kv_store_add_entry(s, it->key) : KV_NONE;
        if (i != KV_NONE) {
            kv_entry *e = &s->entries[i];
            e->kind = fresh.kind;
            e->n_tokens = fresh.n_tokens;
            e->cost_ms = fresh.cost_ms;
            e->reuse = fresh.reuse;
            e->n_bytes = n;
            kv_store_give_buffer(s, i, b, ram);
            if (disk) rc = kv_store_enqueue(s, i, err);
            if (rc && !ram) kv_store_remove_entry(s, i);
        } else if (ram || disk) {
            rc = fo_no_memory(err);
        }
    }
    kv_store_let_go(s, b);
    pthread_mutex_unlock(&s->mu);
    return rc;
}

/* ---- get --------------------------------------------------------------------------------- */

static kv_segment_record record_of(const kv_entry *e) {
    kv_segment_record r = {.kind = (uint32_t)e->kind,
                           .n_tokens = e->n_tokens,
                           .cost_ms = e->cost_ms,
                           .n_bytes = e->n_bytes,
                           .offset = e->offset};
    memcpy(r.key, e->key, 32);
    return r;
}

static void count_hit(kv_store *s, kv_store_tier_stats *tier, enum kv_store_kind kind,
                      int n_tokens) {
    s->stats.hits[kind]++;
    s->stats.hit_tokens[kind] += (uint64_t)n_tokens;
    tier->hits++;
    tier->hit_tokens += (uint64_t)n_tokens;
}

int kv_store_read_record(kv_store *s, int i, void *to, fo_err *err) {
    kv_segment *g = s->entries[i].segment;
    kv_segment_record r = record_of(&s->entries[i]);
    g->users++;
    pthread_mutex_unlock(&s->mu);
    double t0 = fo_now_ms();
    int rc = kv_segment_read(g, s->owner, &r, to, err);
    double spent = fo_now_ms() - t0;
    pthread_mutex_lock(&s->mu);
    s->stats.read_ms += spent;
    if (rc) { /* unreadable is as good as damaged: it must not be tried for ever */
        s->stats.corrupt++;
        i = kv_store_find(s, r.key);
        if (i != KV_NONE && s->entries[i].segment == g && s->entries[i].offset == r.offset) {
            kv_store_disk_forget(s, i);
            if (!s->entries[i].buffer) kv_store_remove_entry(s, i);
        }
        rc = fo_fail(err, FO_ENOTFOUND, "the KV record was damaged and is dropped");
    }
    kv_store_segment_leave(s, g);
    return rc;
}

/* A chunk that was read ahead stays in RAM, if there is room for what it is worth. */
static void keep_staged(kv_store *s, int i) {
    const kv_entry *e = &s->entries[i];
    kv_buffer *b = e->buffer;
    if (!b->staged || e->kind != KV_STORE_CHUNK ||
        !make_ram_room(s, b->n, kv_store_worth_of(kv_store_worth(e, s->ram_age))))
        return;
    b->staged = false;
    s->stats.staged_bytes -= b->n;
    b->counted = true;
    s->stats.ram.bytes += b->n;
    s->stats.ram.records++;
    settle(s, b);
}

int kv_store_get(kv_store *s, enum kv_store_kind kind, const unsigned char key[32],
                 kv_store_ref *out, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    s->stats.lookups[kind]++;
    int i = kv_store_find(s, key), rc = FO_OK;
    kv_buffer *b = NULL;
    int n_tokens = 0;
    bool from_disk = false;
    if (i == KV_NONE) {
        rc = fo_fail(err, FO_ENOTFOUND, "no such KV record");
    } else {
        kv_entry *e = &s->entries[i];
        n_tokens = e->n_tokens;
        raise_reuse(s, e, e->reuse + 1);
        b = e->buffer;
        if (b) {
            kv_store_hold(s, b);
            from_disk = b->staged;
            count_hit(s, from_disk ? &s->stats.disk : &s->stats.ram, kind, n_tokens);
            keep_staged(s, i);
        } else if (!(b = kv_store_new_buffer(e->n_bytes))) {
            rc = fo_no_memory(err);
        } else {
            rc = kv_store_read_record(s, i, b->data, err);
            i = kv_store_find(s, key);
            e = i != KV_NONE ? &s->entries[i] : NULL;
            if (rc) {
                kv_store_let_go(s, b);
            } else {
                count_hit(s, &s->stats.disk, kind, n_tokens);
                from_disk = true;
                if (e && e->buffer) { /* somebody read it at the same time */
                    kv_store_let_go(s, b);
                    b = e->buffer;
                    kv_store_hold(s, b);
                } else if (e && e->kind == KV_STORE_CHUNK &&
                           make_ram_room(s, b->n,
                                         kv_store_worth_of(kv_store_worth(e, s->ram_age)))) {
                    kv_store_give_buffer(s, i, b, true);
                }
            }
        }
    }
    pthread_mutex_unlock(&s->mu);
    if (!rc)
        *out = (kv_store_ref){.data = b->data,
                              .n_bytes = b->n,
                              .n_tokens = n_tokens,
                              .from_disk = from_disk,
                              .entry = b};
    return rc;
}

void kv_store_release(kv_store *s, kv_store_ref *ref) {
    if (!ref->entry) return;
    pthread_mutex_lock(&s->mu);
    kv_store_let_go(s, ref->entry);
    pthread_mutex_unlock(&s->mu);
    *ref = (kv_store_ref){0};
}

int kv_store_read(kv_store *s, enum kv_store_kind kind, const unsigned char key[32], void *to,
                  size_t n, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    s->stats.lookups[kind]++;
    int i = kv_store_find(s, key), rc = FO_OK;
    if (i == KV_NONE || s->entries[i].n_bytes != n) {
        rc = fo_fail(err, FO_ENOTFOUND, "no such KV record");
    } else {
        kv_entry *e = &s->entries[i];
        int n_tokens = e->n_tokens;
        kv_buffer *b = e->buffer;
        raise_reuse(s, e, e->reuse + 1);
        if (b) {
            kv_store_hold(s, b);
            pthread_mutex_unlock(&s->mu);
            memcpy(to, b->data, n);
            pthread_mutex_lock(&s->mu);
            count_hit(s, b->staged ? &s->stats.disk : &s->stats.ram, kind, n_tokens);
            kv_store_let_go(s, b);
        } else {
            rc = kv_store_read_record(s, i, to, err);
            if (!rc) count_hit(s, &s->stats.disk, kind, n_tokens);
        }
    }
    pthread_mutex_unlock(&s->mu);
    return rc;
}

bool kv_store_contains(kv_store *s, const unsigned char key[32]) {
    pthread_mutex_lock(&s->mu);
    bool there = kv_store_find(s, key) != KV_NONE;
    pthread_mutex_unlock(&s->mu);
    return there;
}

void kv_store_drop(kv_store *s, const unsigned char key[32]) {
    pthread_mutex_lock(&s->mu);
    int i = kv_store_find(s, key);
    if (i != KV_NONE) kv_store_remove_entry(s, i);
    pthread_mutex_unlock(&s->mu);
}

/* ---- looking at it ----------------------------------------------------------------------- */

void kv_store_get_stats(kv_store *s, kv_store_stats *out) {
    pthread_mutex_lock(&s->mu);
    *out = s->stats;
    out->ram.budget_bytes = s->ram_budget;
    out->disk.budget_bytes = s->dir ? s->disk_budget : 0;
    out->disk.bytes = s->file_bytes;
    out->foreign_bytes = 0;
    for (size_t i = 0; i < s->n_foreign; i++) out->foreign_bytes += s->foreign[i].bytes;
    pthread_mutex_unlock(&s->mu);
}

static int check_entry(const kv_store *s, int i, fo_err *err) {
    const kv_entry *e = &s->entries[i];
    const kv_buffer *b = e->buffer;
    if (kv_store_find(s, e->key) != i)
        return fo_fail(err, FO_ECORRUPT, "invariant 1: entry %d is not found under its key", i);
    if (!b && !e->segment) return fo_fail(err, FO_ECORRUPT, "invariant 1: entry %d is nowhere", i);
    if (b && (b->entry != i || b->n != e->n_bytes || b->refs < 1))
        return fo_fail(err, FO_ECORRUPT, "invariant 1: entry %d has another's buffer", i);
    if (indexed_heap_has(&s->by_ram, i) != (b && b->counted && b->refs == 1))
        return fo_fail(err, FO_ECORRUPT, "invariant 2: entry %d and the heap of RAM", i);
    if (indexed_heap_has(&s->by_disk, i) != (e->segment != NULL))
        return fo_fail(err, FO_ECORRUPT, "invariant 2: entry %d and the heap of the disk", i);
    if (e->queued && !b)
        return fo_fail(err, FO_ECORRUPT, "invariant 4: entry %d is queued without bytes", i);
    return FO_OK;
}

int kv_store_check(kv_store *s, fo_err *err) {
    int rc = FO_OK, n = 0;
    uint64_t ram = 0, live = 0, in_ram = 0, on_disk = 0, files = 0, in_segments = 0;
    pthread_mutex_lock(&s->mu);
    for (int i = 0; !rc && i < s->cap_entries; i++) {
        const kv_entry *e = &s->entries[i];
        if (!e->taken) continue;
        n++;
        rc = check_entry(s, i, err);
        if (e->buffer && e->buffer->counted) ram += e->n_bytes, in_ram++;
        if (e->segment) live += kv_segment_extent(e->n_bytes), on_disk++;
    }
    for (size_t i = 0; i < s->n_segments; i++) {
        in_segments += s->segments[i]->live_bytes;
        if (!s->writing) files += s->segments[i]->bytes;
    }
    for (size_t i = 0; i < s->n_foreign; i++) files += s->foreign[i].bytes;
    if (!rc &&
        (n != s->n_entries || in_ram != s->stats.ram.records || on_disk != s->stats.disk.records))
        rc = fo_fail(err, FO_ECORRUPT, "invariant 1: %d entries, %d counted", n, s->n_entries);
    if (!rc && (ram > s->stats.ram.bytes || live != s->stats.live_bytes || live != in_segments ||
                (!s->writing && files != s->file_bytes)))
        rc = fo_fail(err, FO_ECORRUPT,
                     "invariant 3: %llu bytes in RAM, %llu counted; %llu live on disk, %llu and "
                     "%llu counted; %llu of files, %llu counted",
                     (unsigned long long)ram, (unsigned long long)s->stats.ram.bytes,
                     (unsigned long long)live, (unsigned long long)s->stats.live_bytes,
                     (unsigned long long)in_segments, (unsigned long long)files,
                     (unsigned long long)s->file_bytes);
    pthread_mutex_unlock(&s->mu);
    return rc;
}
