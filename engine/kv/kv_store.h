/* kv_store.h - computed KV kept by name, in RAM and on disk, beyond the pages and beyond restarts.
 *
 *     kv_store *s;
 *     kv_store_open(&s, &(kv_store_options){.dir = "HOME/kv", .disk_bytes = 2u << 30,
 *                                           .ram_bytes = 256 << 20}, fingerprint, &layout, &err);
 *     kv_store_put(s, &(kv_store_item){.key = key, .kind = KV_STORE_CHUNK, .n_tokens = 256,
 *                                      .reuse = 3}, bytes, n, &err);
 *     kv_store_ref ref;
 *     if (kv_store_get(s, KV_STORE_CHUNK, key, &ref, &err) == FO_OK) { // ref.data[ref.n_bytes]
 *         ...
 *         kv_store_release(s, &ref);
 *     }
 *
 * A record's key is a SHA-256 over all that decides its bytes, the tenant's salt among it: whoever
 * cannot name it cannot find it, and equal keys mean equal bytes. What the bytes mean is the
 * caller's matter: a page of exact KV (kv_cache.c) or a chunk's position-free KV.
 *
 * Nothing here is ever the only copy of anything: a put may be declined, a record may be gone at
 * the next get, a damaged one is dropped and computed again. So no caller waits for a disk to write
 * (a thread does that, behind a bounded queue), and a kill at any moment leaves a folder that
 * opens. Records of another model, KV type or layout are never found; their files give way first.
 *
 * What goes when a budget is spent: the record whose loss costs least, chance of reuse x cost of
 * computing it again / bytes, aged by what went before (GreedyDual-Size-Frequency, Cherkasova
 * 1998), in O(log n). Files: kv_store_disk.h. Threads: any. */
#ifndef FORAGE_ENGINE_KV_STORE_H
#define FORAGE_ENGINE_KV_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/model/kv_pages.h"
#include "kernels/error.h"
#include "kernels/notice.h"

typedef struct kv_store kv_store;

enum kv_store_kind {
    KV_STORE_BLOCK, /* exact KV of one full page. Its RAM tier is the page cache: disk alone */
    KV_STORE_CHUNK, /* position-free KV of a chunk: RAM, and disk */
    KV_STORE_KINDS
};

typedef struct kv_store_options {
    const char *dir;      /* made if absent, one process at a time; NULL: no disk tier */
    uint64_t ram_bytes;   /* of records kept in RAM; 0: none but those that are being read */
    uint64_t disk_bytes;  /* of all files in dir, the index's aside; 0: no disk tier */
    uint64_t queue_bytes; /* waiting to be written; 0: 32 MiB */
    fo_notices notices;   /* while it opens: kv_damaged, a file dropped, cut off, or gone */
} kv_store_options;

/* fingerprint: model_info.fingerprint. layout: of the pages the records come from (what a record
 * must agree in is derived from it; page_tokens counts for blocks alone, by their keys).
 * FO_ECONFLICT: another process has the folder open. FO_EIO, FO_ENOSPC, FO_ENOMEM. */
int kv_store_open(kv_store **out, const kv_store_options *opt, const unsigned char fingerprint[32],
                  const kv_layout *layout, fo_err *err);
/* Writes what waits, and what lies in RAM alone. Every reference must have been released. NULL is fine. */
void kv_store_close(kv_store *s);
/* The same until until_ms, a time of fo_now_ms, what was used most first: what is left then is dropped.
 * Beyond it takes no longer than the write that is under way. */
void kv_store_close_by(kv_store *s, double until_ms);

typedef struct kv_store_item {
    const unsigned char *key; /* [32] */
    enum kv_store_kind kind;
    int n_tokens;   /* at least 1: what a hit saves, and its cost to compute again */
    double cost_ms; /* measured time to compute it; 0: in proportion to n_tokens */
    double reuse;   /* expected uses (a sketch's count, hits so far); 0: 1 */
    bool ram_only;  /* not worth a write */
} kv_store_item;

/* Keep a copy of data[n]. A key that is there already is only refreshed (reuse raised to the
 * item's). FO_OK also where it is declined because everything kept is worth more. FO_EBUSY: the
 * queue is full; nothing is lost but the time to compute it again. FO_ELIMIT: larger than a
 * budget. */
int kv_store_put(kv_store *s, const kv_store_item *item, const void *data, size_t n, fo_err *err);

typedef struct kv_store_ref {
    const unsigned char *data; /* [n_bytes], 64-byte aligned, immutable until released */
    size_t n_bytes;
    int n_tokens;
    bool from_disk; /* read for this call */
    void *entry;    /* the store's */
} kv_store_ref;

/* The record, from RAM or read and checked from disk (and then kept in RAM). FO_ENOTFOUND: absent,
 * or damaged and now dropped. Counts as a lookup, and as a use of the record. */
int kv_store_get(kv_store *s, enum kv_store_kind kind, const unsigned char key[32],
                 kv_store_ref *out, fo_err *err);
void kv_store_release(kv_store *s, kv_store_ref *ref);

/* The same into the caller's memory, past the RAM tier: a record of exactly n bytes. */
int kv_store_read(kv_store *s, enum kv_store_kind kind, const unsigned char key[32], void *to,
                  size_t n, fo_err *err);

/* Records on their way from disk, held in RAM for a caller who is about to need them. */
typedef struct kv_store_stage kv_store_stage;
/* Read what of these keys ([n][32]) lies on disk alone, on the caller's thread: until the stage is
 * freed get and read find it in RAM, and count it as read from disk. All stages together hold half
 * the budget of RAM, 32 MiB at least; what is beyond that is read when it is asked for. NULL: there
 * was nothing to read, or no room. */
kv_store_stage *kv_store_stage_keys(kv_store *s, const unsigned char *keys, size_t n);
void kv_store_stage_free(kv_store *s, kv_store_stage *t); /* NULL is fine */

/* Without counting anything. */
bool kv_store_contains(kv_store *s, const unsigned char key[32]);
/* Tell the operating system that these keys ([n][32]) are about to be read. */
void kv_store_prefetch(kv_store *s, const unsigned char *keys, size_t n);
void kv_store_drop(kv_store *s, const unsigned char key[32]);
/* Wait until everything put before is on disk (tests, shutdown). */
void kv_store_flush(kv_store *s);
void kv_store_flush_by(kv_store *s,
                       double until_ms); /* no longer than until that time of fo_now_ms */

typedef struct kv_store_tier_stats {
    uint64_t records, bytes, budget_bytes;
    uint64_t hits, hit_tokens, evictions, written, written_bytes;
} kv_store_tier_stats;

typedef struct kv_store_stats {
    uint64_t lookups[KV_STORE_KINDS], hits[KV_STORE_KINDS], hit_tokens[KV_STORE_KINDS];
    kv_store_tier_stats ram, disk; /* disk.bytes: of the files, dead records included */
    uint64_t live_bytes;           /* of disk.bytes: records that can still be found */
    uint64_t corrupt;              /* records dropped because their bytes were damaged */
    uint64_t foreign_bytes;        /* files of other models, until their room is needed */
    uint64_t queue_bytes, compactions, write_errors;
    uint64_t staged_bytes; /* in RAM beside its budget: read ahead for requests that wait */
    double read_ms;        /* inside reads from disk */
} kv_store_stats;
void kv_store_get_stats(kv_store *s, kv_store_stats *out);

/* Check what must hold between the tables, the heaps and the sums; the first violation is the
 * sentence (tests). */
int kv_store_check(kv_store *s, fo_err *err);

#endif
