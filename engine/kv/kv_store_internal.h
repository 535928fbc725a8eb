/* kv_store_internal.h - what the files of the KV store share.
 *
 * kv_store.c         tables, budgets, put and get
 * kv_store_disk.c    the disk tier: opening a folder, the writer's thread, making room
 * kv_store_stage.c   reading ahead
 * kv_segment.c       one file of records
 * kv_store_index.c   where they lie, in SQLite
 *
 * One lock, mu; nothing is read, written or hashed under it. A buffer lives as long as somebody
 * holds it: its entry, a reader, the queue. A segment's file is closed when its last user left. */
#ifndef FORAGE_ENGINE_KV_STORE_INTERNAL_H
#define FORAGE_ENGINE_KV_STORE_INTERNAL_H

#include <pthread.h>

#include "engine/kv/indexed_heap.h"
#include "engine/kv/kv_segment.h"
#include "engine/kv/kv_store.h"
#include "engine/kv/kv_store_index.h"

enum { KV_NONE = -1, KV_DISK_SHARE = 4 /* a record takes no more of the disk */ };

typedef struct kv_buffer {
    unsigned char *data;
    size_t n;
    int refs;
    int entry;    /* whose RAM copy it is, KV_NONE: nobody's any more */
    bool counted; /* in ram.bytes */
    bool staged;  /* in staged_bytes: its entry drops it with the last other user */
} kv_buffer;

typedef struct kv_entry {
    unsigned char key[32];
    enum kv_store_kind kind;
    int n_tokens;
    double cost_ms;
    double reuse; /* uses so far, or what was expected of it */
    uint64_t n_bytes;
    kv_buffer *buffer;   /* in RAM; NULL: not */
    kv_segment *segment; /* on disk; NULL: not */
    uint64_t offset;
    bool queued; /* for the disk */
    bool dirty;  /* its place changed and the index does not know */
    bool used;   /* its reuse changed since the index was written */
    int next;    /* in its bucket, or in the free list */
    bool taken;  /* is an entry, not a free place */
} kv_entry;

typedef struct kv_write { /* a record on its way to the disk */
    struct kv_write *next;
    unsigned char key[32];
    kv_buffer *buffer;
} kv_write;

typedef struct kv_foreign { /* a file of another model */
    uint32_t id;
    uint64_t bytes;
    int64_t modified;
} kv_foreign;

typedef struct kv_key {
    unsigned char bytes[32];
} kv_key;

struct kv_store {
    /* immutable after open */
    char *dir; /* NULL: no disk tier */
    int lock_fd;
    unsigned char owner[32];
    fo_notices notices; /* of the opening */
    uint64_t ram_budget, disk_budget, queue_budget, segment_bytes;
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t mu;
    pthread_cond_t work; /* for the writer */
    pthread_cond_t done; /* the queue and the index are written */
    /* guarded by mu */
    bool stop;
    double until_ms; /* after it nothing more is written; INFINITY but while it closes */
    kv_entry *entries;
    int n_entries, cap_entries, free_entry;
    int *buckets; /* [n_buckets] */
    unsigned n_buckets;
    indexed_heap by_ram;  /* entries whose buffer nobody else holds, least worth first */
    indexed_heap by_disk; /* entries on disk */
    double ram_age, disk_age;
    kv_write *first, **last;
    bool writing;      /* the writer is outside the lock */
    bool index_behind; /* a write of it failed */
    uint64_t file_bytes;
    kv_segment **segments;
    size_t n_segments;
    kv_segment *active; /* the one that grows; NULL: the next write makes one */
    kv_foreign *foreign;
    size_t n_foreign;
    kv_key *dirty;
    size_t n_dirty, cap_dirty;
    uint32_t next_segment;
    double retry_at_ms; /* after a failed write */
    kv_store_stats stats;

    kv_store_index *index; /* owned: the writer's thread; before it, open's */
};

/* All of these with mu held. */
int kv_store_find(const kv_store *s, const unsigned char key[32]);
int kv_store_add_entry(kv_store *s, const unsigned char key[32]); /* KV_NONE: no memory */
void kv_store_remove_entry(kv_store *s, int i); /* with its buffer; its place on disk is dead */
/* What an entry's loss would cost, per byte, on top of an age. */
heap_key kv_store_worth(const kv_entry *e, double age);
double kv_store_worth_of(heap_key k);
void kv_store_hold(kv_store *s, kv_buffer *b);
void kv_store_let_go(kv_store *s, kv_buffer *b);
void kv_store_drop_buffer(kv_store *s, int i); /* the entry's RAM copy */

kv_buffer *kv_store_new_buffer(size_t n); /* one reference, nobody's; NULL: no memory */
/* It is the entry's RAM copy from now on. */
void kv_store_give_buffer(kv_store *s, int i, kv_buffer *b, bool counted);
/* Read an entry's record from its segment into to[n_bytes], without the lock meanwhile. The entry
 * may be another's, or gone, afterwards. */
int kv_store_read_record(kv_store *s, int i, void *to, fo_err *err);

/* kv_store_disk.c */
int kv_store_disk_open(kv_store *s, fo_err *err);
/* Writes what waits, until that time; ends the thread. */
void kv_store_disk_close(kv_store *s, double until_ms);
/* Take the entry off the disk: its bytes there are dead. mu held. */
void kv_store_disk_forget(kv_store *s, int i);
/* Leave a segment after a read. mu held. */
void kv_store_segment_leave(kv_store *s, kv_segment *g);
/* May a record of n bytes be written at all? One that takes too much of the disk would drive all others
 * out. */
static inline bool kv_store_disk_takes(const kv_store *s, uint64_t n) {
    return s->dir && kv_segment_extent(n) <= s->disk_budget / KV_DISK_SHARE;
}
/* Put the entry's buffer into the queue. mu held. FO_ENOMEM. */
int kv_store_enqueue(kv_store *s, int i, fo_err *err);

#endif
