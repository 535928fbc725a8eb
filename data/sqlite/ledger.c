#include "data/sqlite/ledger.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "kernels/cond.h"
#include "kernels/clock.h"
#include "kernels/file.h"

enum {
    VERSION = 1,
    SLOT = 256,
    STEP_SLOTS = 256,      /* zeroes are laid down so many slots ahead */
    LONG_SLOTS = 4 << 10,  /* 1 MiB beyond the states it began with */
    MAX_BYTES = 256 << 20, /* a million collections */
    IDLE_SYNC_MS = 50,     /* after which a `done` is synced if no commit follows */
};

enum kind { STATE = 1, INTENT, DONE };

typedef struct header {
    char magic[8];
    uint32_t version;
    unsigned char store[16];
    uint32_t n_states;
    int64_t commit;
    int64_t made_ms;
    unsigned char zero[200];
    uint32_t reserved, crc;
} header;

typedef struct record {
    uint32_t magic;
    uint16_t kind, deleted;
    int64_t commit;
    uint32_t at, of; /* place in its commit's group, from 0 */
    int64_t collection, epoch, n_documents, n_chunks, time_ms;
    char tenant[65], name[65];
    unsigned char zero[58];
    uint32_t crc; /* of the bytes before it and the slot's number */
} record;

_Static_assert(sizeof(header) == SLOT && sizeof(record) == SLOT, "the file's format");

static const char file_magic[8] = {'F', 'O', 'R', 'A', 'G', 'E', 'L', 'G'};
enum { RECORD_MAGIC = 0x3152474c }; /* "LGR1" */

static uint32_t header_crc(const header *h) {
    return (uint32_t)crc32_z(0, (const void *)h, offsetof(header, crc));
}

static uint32_t record_crc(const record *r, uint64_t slot) {
    uint32_t crc = (uint32_t)crc32_z(0, (const void *)&slot, sizeof slot);
    return (uint32_t)crc32_z(crc, (const void *)r, offsetof(record, crc));
}

/* ---- reading ----------------------------------------------------------------------------- */

void ledger_view_deinit(ledger_view *v) {
    free(v->entries);
    *v = (ledger_view){0};
}

static ledger_entry *find(const ledger_view *v, int64_t collection) {
    size_t lo = 0, hi = v->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v->entries[mid].now.collection < collection)
            lo = mid + 1;
        else
            hi = mid;
    }
    return v->entries + lo;
}

const ledger_state *ledger_at(const ledger_view *v, int64_t collection, int64_t commit) {
    const ledger_entry *e = find(v, collection);
    if (e == v->entries + v->n || e->now.collection != collection) return NULL;
    if (commit >= v->last) return e->now.deleted ? NULL : &e->now;
    return e->is_new || e->before.deleted ? NULL : &e->before;
}

typedef struct reading {
    ledger_view *v;
    size_t cap;
} reading;

/* A new commit's group begins: what the last one changed is history now. */
static void settle(ledger_view *v) {
    for (size_t i = 0; i < v->n; i++) {
        v->entries[i].before = v->entries[i].now;
        v->entries[i].is_new = false;
    }
}

/* The commit at hand was rolled back. */
static void revert(ledger_view *v) {
    for (size_t i = 0; i < v->n; i++) {
        ledger_entry *e = &v->entries[i];
        if (e->is_new) e->now.deleted = true;
        if (!e->is_new) e->now = e->before;
    }
}

static bool apply(reading *g, const record *r) {
    ledger_view *v = g->v;
    if (r->collection == 0) return true; /* a commit that changed no collection */
    ledger_state s = {.collection = r->collection,
                      .epoch = r->epoch,
                      .n_documents = r->n_documents,
                      .n_chunks = r->n_chunks,
                      .deleted = r->deleted != 0};
    memcpy(s.tenant, r->tenant, sizeof s.tenant - 1);
    memcpy(s.name, r->name, sizeof s.name - 1);
    ledger_entry *e = find(v, s.collection);
    if (e == v->entries + v->n || e->now.collection != s.collection) {
        size_t at = (size_t)(e - v->entries);
        if (v->n == g->cap) {
            size_t cap = 2 * g->cap;
            ledger_entry *grown = realloc(v->entries, cap * sizeof *grown);
            if (!grown) return false;
            v->entries = grown;
            g->cap = cap;
        }
        e = v->entries + at;
        memmove(e + 1, e, (v->n - at) * sizeof *e);
        v->n++;
        *e = (ledger_entry){.is_new = true};
    }
    e->now = s;
    return true;
}

static int damaged(fo_err *err, const char *path, uint64_t slot, const char *why) {
    return fo_fail(err, FO_ECORRUPT, "%s is damaged at byte %llu: %s", path,
                   (unsigned long long)(slot * SLOT), why);
}

static bool is_zero(const void *p, size_t n) {
    const unsigned char *b = p;
    for (size_t i = 0; i < n; i++)
        if (b[i]) return false;
    return true;
}

/* In order of the slots. A power cut may leave zeroes within the last two commits; nothing of
 * another commit stands behind such a gap. */
static int read_records(reading *g, const char *path, const unsigned char *data, uint64_t n_slots,
                        uint32_t n_states, fo_err *err) {
    ledger_view *v = g->v;
    int64_t last_before_gap = 0;
    bool gap = false, gap_passed = false;
    uint32_t expected = 0; /* of the group at hand: the next place */
    for (uint64_t slot = 1; slot < n_slots; slot++) {
        record r;
        memcpy(&r, data + slot * SLOT, SLOT);
        if (is_zero(&r, sizeof r)) {
            if (slot <= n_states) return damaged(err, path, slot, "a record is missing");
            if (!gap) last_before_gap = v->last;
            gap = true;
            continue;
        }
        if (r.magic != RECORD_MAGIC || r.crc != record_crc(&r, slot))
            return damaged(err, path, slot, "a record has a wrong checksum");
        if ((slot <= n_states) != (r.kind == STATE) || r.kind < STATE || r.kind > DONE)
            return damaged(err, path, slot, "a record of the wrong kind");
        gap_passed |= gap;
        if (gap && (r.commit < last_before_gap || r.commit > last_before_gap + 1))
            return damaged(err, path, slot, "records before it are missing");
        if (r.kind == STATE) {
            if (!apply(g, &r)) return fo_no_memory(err);
            continue;
        }
        if (r.kind == DONE) {
            if (r.commit != v->last && !gap) return damaged(err, path, slot, "an odd number");
            v->last = r.commit;
            v->done = true;
            expected = 0;
            continue;
        }
        /* N again: the first try was rolled back. */
        bool follows = r.commit == v->last + 1 || (r.commit == v->last && !v->done);
        bool within = r.commit == v->last && r.at == expected && expected > 0;
        if (!within && !(follows && r.at == 0) && !gap)
            return damaged(err, path, slot, "commits do not follow each other");
        if (!within && r.commit == v->last && !v->done) revert(v);
        if (!within) settle(v);
        v->last = r.commit;
        v->done = false;
        expected = r.at + 1 < r.of ? r.at + 1 : 0;
        if (!apply(g, &r)) return fo_no_memory(err);
    }
    if (expected || gap_passed) v->done = false; /* torn: not all of it is known */
    return FO_OK;
}

int ledger_read(const char *path, ledger_view *out, fo_err *err) {
    *out = (ledger_view){0};
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return fo_fail(err, FO_ENOTFOUND, "%s does not exist", path);
    char *data = NULL;
    size_t size = 0;
    int rc = fo_file_read(path, MAX_BYTES, &data, &size, err);
    if (rc) return rc;
    header h = {0};
    reading g = {.v = out, .cap = 64};
    out->entries =
        malloc(g.cap * sizeof *out->entries); /* also of none: no place in NULL is counted from */
    if (!out->entries) {
        rc = fo_no_memory(err);
    } else if (size < SLOT || size % SLOT) {
        rc = damaged(err, path, size / SLOT, "it ends in the middle of a record");
    } else {
        memcpy(&h, data, sizeof h);
        if (memcmp(h.magic, file_magic, sizeof h.magic) != 0 || h.crc != header_crc(&h))
            rc = damaged(err, path, 0, "the header has a wrong checksum");
        else if (h.version != VERSION)
            rc = fo_fail(err, FO_EMISMATCH, "%s has version %u, this program reads %d", path,
                         h.version, VERSION);
        else if (h.n_states >= size / SLOT || size / SLOT % STEP_SLOTS)
            rc = damaged(err, path, size / SLOT, "it was cut off");
    }
    if (!rc) {
        memcpy(out->store, h.store, sizeof out->store);
        out->last = h.commit;
        out->done = true;
        rc = read_records(&g, path, (const unsigned char *)data, size / SLOT, h.n_states, err);
    }
    free(data);
    if (rc) ledger_view_deinit(out);
    return rc;
}

/* ---- writing ----------------------------------------------------------------------------- */

struct ledger {
    int fd;
    uint64_t n_slots, capacity, n_states; /* owned: who commits */
    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t wake, synced_more;
    uint64_t wanted, synced; /* guarded by mu: syncs asked for and done */
    bool dirty, stop;        /* guarded by mu: a `done` waits for its sync */
    int failed;              /* guarded by mu: errno of a sync, 0: none */
};

static void *sync_thread(void *arg) {
    ledger *l = arg;
    pthread_mutex_lock(&l->mu);
    for (;;) {
        while (!l->stop && l->wanted == l->synced && !l->dirty) pthread_cond_wait(&l->wake, &l->mu);
        if (!l->stop && l->wanted == l->synced) {
            fo_cond_wait_until(&l->wake, &l->mu,
                               fo_now_ms() + IDLE_SYNC_MS); /* the next intent takes it along */
        }
        if (l->stop && !l->dirty && l->wanted == l->synced) break;
        uint64_t upto = l->wanted;
        l->dirty = false;
        pthread_mutex_unlock(&l->mu);
        int failed = fdatasync(l->fd) == 0 ? 0 : errno;
        pthread_mutex_lock(&l->mu);
        l->synced = upto;
        if (failed) l->failed = failed;
        pthread_cond_broadcast(&l->synced_more);
    }
    pthread_mutex_unlock(&l->mu);
    return NULL;
}

static int write_at(int fd, const void *data, size_t n, uint64_t at, fo_err *err) {
    const unsigned char *p = data;
    while (n) {
        ssize_t k = pwrite(fd, p, n, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return fo_fail_errno(err, "cannot write the ledger");
        p += k;
        n -= (size_t)k;
        at += (uint64_t)k;
    }
    return FO_OK;
}

static void fill(record *r, enum kind kind, int64_t commit, const ledger_state *s, uint32_t at,
                 uint32_t of, uint64_t slot) {
    *r = (record){.magic = RECORD_MAGIC,
                  .kind = (uint16_t)kind,
                  .commit = commit,
                  .at = at,
                  .of = of,
                  .time_ms = fo_unix_ms()};
    if (s) {
        r->deleted = s->deleted;
        r->collection = s->collection;
        r->epoch = s->epoch;
        r->n_documents = s->n_documents;
        r->n_chunks = s->n_chunks;
        memcpy(r->tenant, s->tenant, sizeof r->tenant);
        memcpy(r->name, s->name, sizeof r->name);
    }
    r->crc = record_crc(r, slot);
}

/* The file, and zeroes for the first commits. Nothing stands at its path yet. */
static int write_file(fo_file_writer *w, const unsigned char store[16], int64_t commit,
                      const ledger_state *states, size_t n, uint64_t *n_slots, fo_err *err) {
    header h = {
        .version = VERSION, .n_states = (uint32_t)n, .commit = commit, .made_ms = fo_unix_ms()};
    memcpy(h.magic, file_magic, sizeof h.magic);
    memcpy(h.store, store, sizeof h.store);
    h.crc = header_crc(&h);
    int rc = fo_file_write(w, &h, sizeof h, err);
    for (size_t i = 0; !rc && i < n; i++) {
        record r;
        fill(&r, STATE, commit, &states[i], (uint32_t)i, (uint32_t)n, i + 1);
        rc = fo_file_write(w, &r, sizeof r, err);
    }
    if (!rc) rc = fo_file_pad(w, (size_t)STEP_SLOTS * SLOT, err);
    static const unsigned char zeroes[SLOT]; /* room for one more at least */
    if (!rc && fo_file_offset(w) == (n + 1) * SLOT)
        rc = fo_file_write(w, zeroes, sizeof zeroes, err);
    if (!rc) rc = fo_file_pad(w, (size_t)STEP_SLOTS * SLOT, err);
    *n_slots = fo_file_offset(w) / SLOT;
    return rc;
}

static void ledger_free(ledger *l) {
    close(l->fd);
    pthread_mutex_destroy(&l->mu);
    pthread_cond_destroy(&l->wake);
    pthread_cond_destroy(&l->synced_more);
    free(l);
}

/* A ledger over fd, which is its own from here on, also after an error. */
static int start(ledger **out, int fd, uint64_t capacity, size_t n_states, fo_err *err) {
    ledger *l = calloc(1, sizeof *l);
    if (!l) {
        close(fd);
        return fo_no_memory(err);
    }
    l->fd = fd;
    l->capacity = capacity;
    l->n_states = n_states;
    l->n_slots = n_states + 1;
    pthread_mutex_init(&l->mu, NULL);
    pthread_cond_init(&l->synced_more, NULL);
    fo_cond_init(&l->wake);
    int failed = pthread_create(&l->thread, NULL, sync_thread, l);
    if (!failed) {
        *out = l;
        return FO_OK;
    }
    errno = failed;
    int rc = fo_fail_errno(err, "cannot start the ledger's thread");
    ledger_free(l);
    return rc;
}

static bool stands_at(const ledger *l, const char *path) {
    struct stat mine, there;
    return fstat(l->fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

int ledger_create(ledger **out, const char *path, const unsigned char store[16], int64_t commit,
                  const ledger_state *states, size_t n, fo_err *err) {
    *out = NULL;
    if (n >= MAX_BYTES / SLOT / 2)
        return fo_fail(err, FO_ELIMIT, "%zu collections are too many for the ledger", n);
    fo_file_writer *w;
    uint64_t capacity = 0;
    int fd = -1, rc = fo_file_create(&w, path, err);
    if (rc) return rc;
    rc = write_file(w, store, commit, states, n, &capacity, err);
    /* All that can fail comes before the fresh file takes the place of one that is being written. */
    if (!rc) rc = fo_file_dup(w, &fd, err);
    if (!rc) rc = start(out, fd, capacity, n, err);
    if (rc) {
        fo_file_abort(w);
        return rc;
    }
    rc = fo_file_commit(w, err);
    if (rc && !stands_at(*out, path)) {
        ledger_close(*out);
        *out = NULL;
    }
    return rc;
}

void ledger_close(ledger *l) {
    if (!l) return;
    pthread_mutex_lock(&l->mu);
    l->stop = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mu);
    pthread_join(l->thread, NULL);
    ledger_free(l);
}

bool ledger_is_long(const ledger *l) {
    return l->n_slots > l->n_states + LONG_SLOTS;
}

/* Zeroes ahead of n more slots, on disk: a sync of what overwrites them writes no metadata. */
static int make_room(ledger *l, uint64_t n, fo_err *err) {
    static const unsigned char zeroes[STEP_SLOTS * SLOT];
    if (l->n_slots + n < l->capacity) return FO_OK;
    int rc = FO_OK;
    while (!rc && l->n_slots + n >= l->capacity) {
        rc = write_at(l->fd, zeroes, sizeof zeroes, l->capacity * SLOT, err);
        if (!rc) l->capacity += STEP_SLOTS;
    }
    if (!rc && fsync(l->fd) != 0) rc = fo_fail_errno(err, "cannot sync the ledger");
    /* A full disk: what was laid down of the last step would be taken for a cut-off file. */
    if (rc) (void)!ftruncate(l->fd, (off_t)(l->capacity * SLOT));
    return rc;
}

int ledger_begin(ledger *l, int64_t commit, const ledger_state *states, size_t n, fo_err *err) {
    size_t of = n ? n : 1;
    int rc = make_room(l, of + 1, err);
    record *list = !rc ? malloc(of * sizeof *list) : NULL;
    if (!rc && !list) rc = fo_no_memory(err);
    if (rc) return rc;
    for (size_t i = 0; i < of; i++)
        fill(&list[i], INTENT, commit, n ? &states[i] : NULL, (uint32_t)i, (uint32_t)of,
             l->n_slots + i);
    rc = write_at(l->fd, list, of * sizeof *list, l->n_slots * SLOT, err);
    free(list);
    if (rc) return rc;
    l->n_slots += of;
    pthread_mutex_lock(&l->mu);
    l->wanted++;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mu);
    return FO_OK;
}

int ledger_end(ledger *l, int64_t commit, bool made, fo_err *err) {
    int rc = FO_OK;
    if (made) {
        record r;
        fill(&r, DONE, commit, NULL, 0, 1, l->n_slots);
        rc = write_at(l->fd, &r, sizeof r, l->n_slots * SLOT, err);
        if (!rc) l->n_slots++;
    }
    pthread_mutex_lock(&l->mu);
    while (l->synced < l->wanted) pthread_cond_wait(&l->synced_more, &l->mu);
    int failed = l->failed;
    l->failed = 0;
    if (made && !rc) {
        l->dirty = true;
        pthread_cond_signal(&l->wake);
    }
    pthread_mutex_unlock(&l->mu);
    if (!rc && failed) {
        errno = failed;
        rc = fo_fail_errno(err, "cannot sync the ledger");
    }
    return rc;
}
