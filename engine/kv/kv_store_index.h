/* kv_store_index.h - what lies where in the KV store's segment files, in SQLite (DIR/index.db).
 *
 * Derived: what it lacks is found by scanning record headers, what it says wrongly is found out
 * when a record proves not to be the one. What it alone knows is how often records were used.
 * synchronous=NORMAL: a power cut may lose its last commits, nothing else. One thread at a time. */
#ifndef FORAGE_ENGINE_KV_STORE_INDEX_H
#define FORAGE_ENGINE_KV_STORE_INDEX_H

#include "engine/kv/kv_segment.h"

typedef struct kv_store_index kv_store_index;

/* A file that is damaged or of another version is replaced by an empty one (*replaced). Its pages
 * carry checksums (kernels/page_sums.h). */
int kv_store_index_open(kv_store_index **out, const char *dir, bool *replaced, fo_err *err);
void kv_store_index_close(kv_store_index *x); /* NULL is fine */

/* An empty one in the place of whatever is there, for a folder that no process has open: the next store
 * to open the folder fills it from the segments. */
int kv_store_index_renew(const char *dir, fo_err *err);

/* Up to which byte the index knows the segment: what follows has to be scanned. 0: not at all. */
int kv_store_index_segment(kv_store_index *x, uint32_t segment, uint64_t *bytes, fo_err *err);
/* Forget the segments that keep() does not name: their files are gone. */
int kv_store_index_sweep(kv_store_index *x, bool (*keep)(void *arg, uint32_t segment), void *arg,
                         fo_err *err);
/* Every record of a segment. */
typedef int kv_store_index_fn(void *arg, const kv_segment_record *r, double reuse, fo_err *err);
int kv_store_index_records(kv_store_index *x, uint32_t segment, kv_store_index_fn *fn, void *arg,
                           fo_err *err);

/* Changes come in transactions; after an error the transaction is rolled back. */
int kv_store_index_begin(kv_store_index *x, fo_err *err);
int kv_store_index_commit(kv_store_index *x, fo_err *err);
int kv_store_index_put(kv_store_index *x, uint32_t segment, const kv_segment_record *r,
                       double reuse, fo_err *err);
int kv_store_index_drop(kv_store_index *x, const unsigned char key[32], fo_err *err);
int kv_store_index_set_segment(kv_store_index *x, uint32_t segment, uint64_t bytes, fo_err *err);

#endif
