/* kv_store_disk.c - the disk tier: a folder opened, a thread that writes, room made within a
 * budget.
 *
 * Segments fill one after the other. Evicting a record only makes its bytes dead; room comes from a
 * segment without a live record, or from one that is at most half live and is copied together.
 * The folder never outgrows its budget: writing begins to make room one segment before it, and a
 * copy takes half a segment at most. Files of other models go first, the oldest first.
 *
 * A kill at any moment: records are appended before the index tells of them, and what the index
 * does not tell of is scanned at the next start; what is torn is cut off; a row whose file is gone
 * is swept. A power cut may also leave holes, which the checksums find. Nothing waits for fsync. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/kv/kv_store_internal.h"
#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/file.h"

enum {
    MIN_SEGMENT = 1 << 20,
    MAX_SEGMENT = 128 << 20,
    SEGMENTS = 32,       /* a budget is cut into so many, within these bounds */
    MIN_FREE = 64 << 20, /* left on the file system for those who need it more */
    RETRY_MS = 10000,    /* after a write that failed */
    DIRTY_RECORDS = 256  /* the index is written at the latest after so many */
};

/* ---- segments ---------------------------------------------------------------------------- */

static bool add_segment(kv_store *s, kv_segment *g) {
    kv_segment **list = realloc(s->segments, (s->n_segments + 1) * sizeof *list);
    if (!list) return false;
    s->segments = list;
    list[s->n_segments++] = g;
    s->file_bytes += g->bytes;
    return true;
}

static void unlink_segment(const kv_store *s, uint32_t id) {
    char *path = kv_segment_path(s->dir, id);
    if (path) unlink(path);
    free(path);
}

/* No record of it can be found any more: away with the file. */
static void doom_segment(kv_store *s, kv_segment *g) {
    assert(g->live_bytes == 0 && g != s->active);
    size_t at = 0;
    while (s->segments[at] != g) at++;
    s->segments[at] = s->segments[--s->n_segments];
    s->file_bytes -= g->bytes;
    unlink_segment(s, g->id);
    g->doomed = true;
    if (g->users == 0) kv_segment_close(g);
}

void kv_store_segment_leave(kv_store *s, kv_segment *g) {
    (void)s;
    if (--g->users == 0 && g->doomed) kv_segment_close(g);
}

/* For the index. */
static void mark(kv_store *s, const unsigned char key[32]) {
    int i = kv_store_find(s, key);
    if (i != KV_NONE && s->entries[i].dirty) return;
    if (s->n_dirty == s->cap_dirty) {
        size_t cap = s->cap_dirty ? 2 * s->cap_dirty : 64;
        kv_key *list = realloc(s->dirty, cap * sizeof *list);
        if (!list) return; /* the row stays as it is: found out at the next start */
        s->dirty = list;
        s->cap_dirty = cap;
    }
    memcpy(s->dirty[s->n_dirty++].bytes, key, 32);
    if (i != KV_NONE) s->entries[i].dirty = true;
}

static void place(kv_store *s, int i, kv_segment *g, uint64_t offset) {
    kv_entry *e = &s->entries[i];
    uint64_t extent = kv_segment_extent(e->n_bytes);
    e->segment = g;
    e->offset = offset;
    g->live_bytes += extent;
    s->stats.live_bytes += extent;
    s->stats.disk.records++;
    indexed_heap_push(&s->by_disk, i, kv_store_worth(e, s->disk_age));
    mark(s, e->key);
}

void kv_store_disk_forget(kv_store *s, int i) {
    kv_entry *e = &s->entries[i];
    uint64_t extent = kv_segment_extent(e->n_bytes);
    e->segment->live_bytes -= extent;
    s->stats.live_bytes -= extent;
    s->stats.disk.records--;
    e->segment = NULL;
    indexed_heap_remove(&s->by_disk, i);
    mark(s, e->key);
}

void kv_store_prefetch(kv_store *s, const unsigned char *keys, size_t n) {
    pthread_mutex_lock(&s->mu);
    for (size_t k = 0; k < n; k++) {
        int i = kv_store_find(s, keys + 32 * k);
        const kv_entry *e = i != KV_NONE ? &s->entries[i] : NULL;
        if (e && e->segment && !e->buffer)
            (void)posix_fadvise(e->segment->fd, (off_t)e->offset,
                                (off_t)kv_segment_extent(e->n_bytes), POSIX_FADV_WILLNEED);
    }
    pthread_mutex_unlock(&s->mu);
}

/* ---- the index --------------------------------------------------------------------------- */

typedef struct index_change {
    kv_segment_record r;
    uint32_t segment;
    double reuse;
    bool there;
} index_change;

static bool still_there(void *arg, uint32_t id) { /* the writer alone changes these lists */
    const kv_store *s = arg;
    for (size_t i = 0; i < s->n_segments; i++)
        if (s->segments[i]->id == id) return true;
    for (size_t i = 0; i < s->n_foreign; i++)
        if (s->foreign[i].id == id) return true;
    return false;
}

static index_change change_of(const kv_entry *e) {
    index_change c = {.segment = e->segment->id, .reuse = e->reuse, .there = true};
    c.r = (kv_segment_record){.kind = (uint32_t)e->kind,
                              .n_tokens = e->n_tokens,
                              .cost_ms = e->cost_ms,
                              .n_bytes = e->n_bytes,
                              .offset = e->offset};
    memcpy(c.r.key, e->key, 32);
    return c;
}

static int write_changes(kv_store *s, const index_change *list, size_t n, fo_err *err) {
    int rc = kv_store_index_begin(s->index, err);
    if (rc) return rc;
    for (size_t k = 0; !rc && k < n; k++)
        rc = list[k].there
                 ? kv_store_index_put(s->index, list[k].segment, &list[k].r, list[k].reuse, err)
                 : kv_store_index_drop(s->index, list[k].r.key, err);
    for (size_t k = 0; !rc && k < s->n_segments; k++)
        rc = kv_store_index_set_segment(s->index, s->segments[k]->id, s->segments[k]->bytes, err);
    if (!rc) rc = kv_store_index_sweep(s->index, still_there, s, err);
    return !rc ? kv_store_index_commit(s->index, err) : rc;
}

/* Write what changed since the last time. mu is held before and after. used: how often records
 * were used counts as a change. A failed write is made good by the next, which writes all. */
static void write_index(kv_store *s, bool used) {
    size_t n = 0, most = s->n_dirty + (size_t)s->n_entries;
    index_change *list = malloc((most + 1) * sizeof *list);
    if (!list) { /* the next one writes all */
        s->index_behind = true;
        s->n_dirty = 0;
        return;
    }
    for (size_t k = 0; k < s->n_dirty; k++) {
        int i = kv_store_find(s, s->dirty[k].bytes);
        kv_entry *e = i != KV_NONE ? &s->entries[i] : NULL;
        if (e) e->dirty = false;
        if (e && e->segment) {
            if (!s->index_behind) list[n++] = change_of(e);
            e->used = false;
        } else {
            list[n] = (index_change){.there = false};
            memcpy(list[n++].r.key, s->dirty[k].bytes, 32);
        }
    }
    for (int i = 0; (used || s->index_behind) && i < s->cap_entries; i++) {
        kv_entry *e = &s->entries[i];
        if (!e->taken || !e->segment || !(e->used || s->index_behind)) continue;
        list[n++] = change_of(e);
        e->used = false;
    }
    s->n_dirty = 0;
    s->writing = true;
    pthread_mutex_unlock(&s->mu);
    int rc = write_changes(s, list, n, NULL);
    free(list);
    pthread_mutex_lock(&s->mu);
    s->writing = false;
    s->index_behind = rc;
    if (rc) s->stats.write_errors++;
}

/* ---- room -------------------------------------------------------------------------------- */

static bool new_segment(kv_store *s) {
    struct statvfs fs;
    kv_segment *g = NULL;
    uint32_t id = s->next_segment;
    pthread_mutex_unlock(&s->mu);
    bool ok = statvfs(s->dir, &fs) == 0 &&
              (uint64_t)fs.f_bavail * fs.f_frsize > MIN_FREE + s->segment_bytes &&
              kv_segment_create(&g, s->dir, id, s->owner, NULL) == FO_OK;
    pthread_mutex_lock(&s->mu);
    if (!ok) return false;
    s->next_segment++;
    if (!add_segment(s, g)) {
        unlink_segment(s, id);
        kv_segment_close(g);
        return false;
    }
    s->active = g;
    return true;
}

static void write_failed(kv_store *s) {
    s->stats.write_errors++;
    s->retry_at_ms = fo_now_ms() + RETRY_MS;
    s->active = NULL; /* what it holds stays; the next record begins a new one */
}

/* Append to the active segment, without mu meanwhile. */
static kv_segment *append(kv_store *s, kv_segment_record *r, const void *data) {
    if (!s->active && !new_segment(s)) {
        write_failed(s);
        return NULL;
    }
    kv_segment *g = s->active;
    uint64_t before = g->bytes;
    g->users++;
    pthread_mutex_unlock(&s->mu);
    int rc = kv_segment_append(g, s->owner, r, data, NULL);
    pthread_mutex_lock(&s->mu);
    s->file_bytes += g->bytes - before;
    kv_store_segment_leave(s, g);
    if (rc) {
        write_failed(s);
        return NULL;
    }
    if (g->bytes >= s->segment_bytes) s->active = NULL;
    return g;
}

/* The store closes, and has taken as long as it may. */
static bool late(const kv_store *s) {
    return fo_now_ms() >= s->until_ms;
}

/* Copy what lives in g into the active segment and drop the file; where that gets late, both stay. */
static void compact(kv_store *s, kv_segment *g) {
    s->stats.compactions++;
    g->users++;
    uint64_t room = 0;
    void *bytes = NULL;
    /* Entries may come and go: each is looked at. */
    for (int i = 0; i < s->cap_entries && !late(s); i++) {
        if (!s->entries[i].taken || s->entries[i].segment != g) continue;
        index_change c = change_of(&s->entries[i]);
        kv_segment *to = NULL;
        if (c.r.n_bytes > room) {
            free(bytes);
            bytes = malloc(room = c.r.n_bytes);
            if (!bytes) room = 0;
        }
        if (bytes) {
            kv_segment_record r = c.r;
            pthread_mutex_unlock(&s->mu);
            int rc = kv_segment_read(g, s->owner, &r, bytes, NULL);
            pthread_mutex_lock(&s->mu);
            if (!rc) to = append(s, &r, bytes);
            if (rc == FO_ECORRUPT) s->stats.corrupt++;
            c.r.offset = r.offset;
        }
        int at = kv_store_find(s, c.r.key);
        if (at == KV_NONE || s->entries[at].segment != g) continue;
        heap_key worth = s->by_disk.keys[at];
        kv_store_disk_forget(s, at);
        if (to) {
            place(s, at, to, c.r.offset);
            indexed_heap_change(&s->by_disk, at, worth); /* being moved is no use */
        } else if (!s->entries[at].buffer) {
            kv_store_remove_entry(s, at);
        }
    }
    free(bytes);
    if (g->live_bytes == 0) doom_segment(s, g);
    kv_store_segment_leave(s, g);
}

/* The sealed segment with the least life in it. */
static kv_segment *emptiest(const kv_store *s) {
    kv_segment *best = NULL;
    for (size_t k = 0; k < s->n_segments; k++) {
        kv_segment *g = s->segments[k];
        if (g == s->active) continue;
        if (!best || (double)g->live_bytes * (double)best->bytes <
                         (double)best->live_bytes * (double)g->bytes)
            best = g;
    }
    return best;
}

static void drop_foreign(kv_store *s) {
    size_t oldest = 0;
    for (size_t k = 1; k < s->n_foreign; k++)
        if (s->foreign[k].modified < s->foreign[oldest].modified) oldest = k;
    unlink_segment(s, s->foreign[oldest].id);
    s->file_bytes -= s->foreign[oldest].bytes;
    s->foreign[oldest] = s->foreign[--s->n_foreign];
}

/* Until n more bytes fit. False: they cannot. Gives mu up meanwhile. */
static bool make_room(kv_store *s, uint64_t n) {
    uint64_t spare = s->segment_bytes < s->disk_budget / 2 ? s->segment_bytes : 0;
    while (s->file_bytes + n + spare > s->disk_budget) {
        if (late(s)) return false;
        if (s->n_foreign) {
            drop_foreign(s);
            continue;
        }
        kv_segment *g = emptiest(s);
        if (g && g->live_bytes == 0) {
            doom_segment(s, g);
        } else if (g && g->live_bytes <= g->bytes / 2 &&
                   s->file_bytes + g->live_bytes + kv_segment_extent(0) <= s->disk_budget) {
            compact(s, g);
        } else {
            int i = indexed_heap_top(&s->by_disk);
            if (i < 0) {
                if (!s->active) return false;
                s->active = NULL; /* nothing lives, so it goes in the next turn */
                continue;
            }
            s->disk_age = kv_store_worth_of(s->by_disk.keys[i]);
            s->stats.disk.evictions++;
            kv_store_disk_forget(s, i);
            if (!s->entries[i].buffer) kv_store_remove_entry(s, i);
        }
    }
    return true;
}

/* ---- the writer -------------------------------------------------------------------------- */

int kv_store_enqueue(kv_store *s, int i, fo_err *err) {
    kv_write *w = malloc(sizeof *w);
    if (!w) return fo_no_memory(err);
    kv_entry *e = &s->entries[i];
    *w = (kv_write){.buffer = e->buffer};
    memcpy(w->key, e->key, 32);
    kv_store_hold(s, e->buffer);
    e->queued = true;
    s->stats.queue_bytes += e->n_bytes;
    *s->last = w;
    s->last = &w->next;
    pthread_cond_signal(&s->work);
    return FO_OK;
}

/* The entry of a queued write, while it still wants to be written. */
static int wanted(const kv_store *s, const kv_write *w) {
    int i = kv_store_find(s, w->key);
    return i != KV_NONE && s->entries[i].queued && s->entries[i].buffer == w->buffer ? i : KV_NONE;
}

static void write_record(kv_store *s, const kv_write *w) {
    int i = wanted(s, w);
    kv_segment *g = NULL;
    index_change c = {0};
    if (i == KV_NONE) return;
    if (!late(s) && fo_now_ms() >= s->retry_at_ms &&
        make_room(s, kv_segment_extent(w->buffer->n)) && (i = wanted(s, w)) != KV_NONE) {
        kv_entry *e = &s->entries[i];
        c.r = (kv_segment_record){.kind = (uint32_t)e->kind,
                                  .n_tokens = e->n_tokens,
                                  .cost_ms = e->cost_ms,
                                  .n_bytes = e->n_bytes};
        memcpy(c.r.key, e->key, 32);
        g = append(s, &c.r, w->buffer->data);
    }
    i = wanted(s, w);
    if (i == KV_NONE) return; /* dropped meanwhile: what was written is dead */
    s->entries[i].queued = false;
    if (g) {
        place(s, i, g, c.r.offset);
        s->stats.disk.written++;
        s->stats.disk.written_bytes += c.r.n_bytes;
    }
    if (w->buffer->counted) return; /* stays in RAM */
    if (g)
        kv_store_drop_buffer(s, i);
    else
        kv_store_remove_entry(s, i);
}

static void *writer(void *arg) {
    kv_store *s = arg;
    pthread_mutex_lock(&s->mu);
    for (;;) {
        kv_write *w = s->first;
        if (w) {
            s->first = w->next;
            if (!s->first) s->last = &s->first;
            s->writing = true;
            write_record(s, w);
            s->writing = false;
            s->stats.queue_bytes -= w->buffer->n;
            kv_store_let_go(s, w->buffer);
            free(w);
            if (s->n_dirty < DIRTY_RECORDS) continue;
        }
        if (s->n_dirty) write_index(s, false);
        if (s->first) continue;
        pthread_cond_broadcast(&s->done);
        if (s->stop) break;
        if (!s->n_dirty) pthread_cond_wait(&s->work, &s->mu);
    }
    write_index(s, true);
    pthread_mutex_unlock(&s->mu);
    return NULL;
}

void kv_store_flush(kv_store *s) {
    kv_store_flush_by(s, INFINITY);
}

void kv_store_flush_by(kv_store *s, double until_ms) {
    if (!s->dir) return;
    pthread_mutex_lock(&s->mu);
    pthread_cond_signal(&s->work);
    while ((s->first || s->writing || s->n_dirty) &&
           fo_cond_wait_until(&s->done, &s->mu, until_ms) == 0) {
    }
    pthread_mutex_unlock(&s->mu);
}

/* ---- open and close ---------------------------------------------------------------------- */

static bool add_record(kv_store *s, kv_segment *g, const kv_segment_record *r, double reuse,
                       bool known) {
    int i = kv_store_find(s, r->key);
    if (i != KV_NONE)
        kv_store_disk_forget(s, i); /* the later copy counts */
    else if ((i = kv_store_add_entry(s, r->key)) == KV_NONE)
        return false;
    kv_entry *e = &s->entries[i];
    e->kind = (enum kv_store_kind)r->kind;
    e->n_tokens = r->n_tokens;
    e->cost_ms = r->cost_ms > 0 && r->cost_ms < 1e12 ? r->cost_ms : r->n_tokens;
    e->reuse = reuse > 0 && reuse < 1e12 ? reuse : 1;
    e->n_bytes = r->n_bytes;
    e->dirty = known; /* nothing to tell the index */
    place(s, i, g, r->offset);
    if (known) e->dirty = false;
    return true;
}

typedef struct opening {
    kv_store *s;
    kv_segment *g;
    uint64_t size, end; /* of the file, of its last known record */
    size_t n_short;     /* known records that the file does not hold */
    bool failed;
} opening;

static int known_record(void *arg, const kv_segment_record *r, double reuse, fo_err *err) {
    opening *o = arg;
    uint64_t extent = kv_segment_extent(r->n_bytes);
    if (r->kind >= KV_STORE_KINDS || r->n_tokens < 1 || r->n_bytes < 1 || r->n_bytes > o->size ||
        r->offset % kv_segment_extent(0) || r->offset < kv_segment_extent(0) ||
        r->offset > o->size || extent > o->size - r->offset) {
        o->n_short++; /* the file is shorter than the index believes */
        return FO_OK;
    }
    if (r->offset + extent > o->end) o->end = r->offset + extent;
    return add_record(o->s, o->g, r, reuse, true) ? FO_OK : fo_no_memory(err);
}

static bool found_record(void *arg, const kv_segment_record *r) {
    opening *o = arg;
    if (r->kind >= KV_STORE_KINDS) return true;
    o->failed = !add_record(o->s, o->g, r, 0, false);
    return !o->failed;
}

static int load_segment(kv_store *s, kv_segment *g, fo_err *err) {
    struct stat st;
    if (fstat(g->fd, &st) != 0) return fo_fail_errno(err, "cannot read %s", s->dir);
    opening o = {.s = s, .g = g, .size = (uint64_t)st.st_size};
    uint64_t known = 0;
    int rc = kv_store_index_segment(s->index, g->id, &known, err);
    if (!rc && known) rc = kv_store_index_records(s->index, g->id, known_record, &o, err);
    uint64_t from = known <= o.size ? known : o.end;
    if (!rc) rc = kv_segment_scan(g, from, s->owner, found_record, &o, err);
    if (!rc && o.failed) rc = fo_no_memory(err);
    if (!rc && o.n_short)
        fo_notice(&s->notices, "kv_damaged", "%s/%08x.kv is cut off: %zu records are gone", s->dir,
                  g->id, o.n_short);
    if (!rc && g->unread)
        fo_notice(&s->notices, "kv_damaged", "%s/%08x.kv cannot be read at %d places: passed over",
                  s->dir, g->id, g->unread);
    if (!rc && g->bytes < o.size) {
        fo_notice(&s->notices, "kv_damaged",
                  "%s/%08x.kv ends with %llu bytes that are no whole record: cut off", s->dir,
                  g->id, (unsigned long long)(o.size - g->bytes));
        rc = kv_segment_trim(g, err);
    }
    return rc;
}

static int add_foreign(kv_store *s, uint32_t id, fo_err *err) {
    struct stat st;
    char *path = kv_segment_path(s->dir, id);
    kv_foreign *list = realloc(s->foreign, (s->n_foreign + 1) * sizeof *list);
    if (list) s->foreign = list;
    int rc = FO_OK;
    if (!path || !list)
        rc = fo_no_memory(err);
    else if (stat(path, &st) != 0)
        rc = fo_fail_errno(err, "cannot read %s", path);
    else
        list[s->n_foreign++] = (kv_foreign){id, (uint64_t)st.st_size, (int64_t)st.st_mtime};
    if (!rc) s->file_bytes += (uint64_t)st.st_size;
    free(path);
    return rc;
}

static int list_files(kv_store *s, fo_err *err) {
    DIR *d = opendir(s->dir);
    if (!d) return fo_fail_errno(err, "cannot read %s", s->dir);
    int rc = FO_OK;
    for (struct dirent *e; !rc && (e = readdir(d));) {
        uint32_t id;
        kv_segment *g = NULL;
        if (!kv_segment_name(e->d_name, &id) || id == UINT32_MAX) continue;
        if (id >= s->next_segment) s->next_segment = id + 1;
        rc = kv_segment_open(&g, s->dir, id, s->owner, err);
        if (rc == FO_EMISMATCH) {
            rc = add_foreign(s, id, err);
        } else if (rc == FO_ECORRUPT) {
            fo_notice(&s->notices, "kv_damaged", "%s/%08x.kv has no good header: removed", s->dir,
                      id);
            unlink_segment(s, id);
            rc = FO_OK;
        } else if (!rc) {
            g->bytes = 0; /* counted once it is loaded */
            if (!add_segment(s, g)) {
                kv_segment_close(g);
                rc = fo_no_memory(err);
            }
        }
    }
    closedir(d);
    return rc;
}

static bool found_at_start(void *arg, uint32_t id) {
    const kv_store *s = arg;
    bool there = still_there(arg, id);
    if (!there) fo_notice(&s->notices, "kv_damaged", "%s/%08x.kv is gone", s->dir, id);
    return there;
}

static int by_id(const void *a, const void *b) {
    uint32_t x = (*(kv_segment *const *)a)->id, y = (*(kv_segment *const *)b)->id;
    return (x > y) - (x < y);
}

static int lock_folder(kv_store *s, fo_err *err) {
    int rc = fo_make_dirs(s->dir, err);
    if (rc) return rc;
    char *path = NULL;
    if (asprintf(&path, "%s/lock", s->dir) < 0) return fo_no_memory(err);
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock_fd < 0)
        rc = fo_fail_errno(err, "cannot open %s", path);
    else if (flock(s->lock_fd, LOCK_EX | LOCK_NB) != 0)
        rc = errno == EWOULDBLOCK
                 ? fo_fail(err, FO_ECONFLICT, "another process has %s open", s->dir)
                 : fo_fail_errno(err, "cannot lock %s", path);
    free(path);
    return rc;
}

int kv_store_disk_open(kv_store *s, fo_err *err) {
    s->segment_bytes = s->disk_budget / SEGMENTS;
    if (s->segment_bytes < MIN_SEGMENT) s->segment_bytes = MIN_SEGMENT;
    if (s->segment_bytes > MAX_SEGMENT) s->segment_bytes = MAX_SEGMENT;
    int rc = lock_folder(s, err);
    if (!rc) rc = list_files(s, err);
    bool replaced = false;
    if (!rc) rc = kv_store_index_open(&s->index, s->dir, &replaced, err);
    if (!rc && replaced)
        fo_notice(&s->notices, "kv_damaged",
                  "%s/index.db was damaged or of another version: made anew from the segments",
                  s->dir);
    if (!rc) rc = kv_store_index_sweep(s->index, found_at_start, s, err);
    if (rc) return rc;
    if (s->n_segments) qsort(s->segments, s->n_segments, sizeof *s->segments, by_id);
    for (size_t k = 0; !rc && k < s->n_segments; k++) {
        rc = load_segment(s, s->segments[k], err);
        if (!rc) s->file_bytes += s->segments[k]->bytes;
    }
    if (rc) return rc;
    kv_segment *newest = s->n_segments ? s->segments[s->n_segments - 1] : NULL;
    if (newest && newest->bytes < s->segment_bytes / 2) s->active = newest;
    pthread_mutex_lock(&s->mu);
    make_room(s, 0); /* the budget may have been larger before */
    pthread_mutex_unlock(&s->mu);
    if (pthread_create(&s->thread, NULL, writer, s) != 0)
        return fo_fail_errno(err, "cannot start the KV store's thread");
    s->has_thread = true;
    return FO_OK;
}

typedef struct unwritten {
    double reuse;
    int entry;
} unwritten;

static int by_reuse(const void *a, const void *b) {
    const unwritten *x = a, *y = b;
    return (x->reuse < y->reuse) - (x->reuse > y->reuse);
}

/* What lies in RAM alone into the queue, what is used most first: nothing else wants the disk now. */
static void enqueue_rest(kv_store *s) {
    size_t n = 0;
    unwritten *list = malloc(((size_t)s->n_entries + 1) * sizeof *list);
    for (int i = 0; list && i < s->cap_entries; i++) {
        const kv_entry *e = &s->entries[i];
        if (e->taken && e->buffer && !e->segment && !e->queued &&
            kv_store_disk_takes(s, e->n_bytes))
            list[n++] = (unwritten){e->reuse, i};
    }
    if (n) qsort(list, n, sizeof *list, by_reuse);
    for (size_t k = 0; k < n; k++) kv_store_enqueue(s, list[k].entry, NULL);
    free(list);
}

void kv_store_disk_close(kv_store *s, double until_ms) {
    if (s->has_thread) {
        pthread_mutex_lock(&s->mu);
        enqueue_rest(s);
        s->until_ms = until_ms;
        s->stop = true;
        pthread_cond_signal(&s->work);
        pthread_mutex_unlock(&s->mu);
        pthread_join(s->thread, NULL);
    }
    for (size_t k = 0; k < s->n_segments; k++) kv_segment_close(s->segments[k]);
    free(s->segments);
    free(s->foreign);
    free(s->dirty);
    kv_store_index_close(s->index);
    if (s->lock_fd >= 0) close(s->lock_fd);
}
