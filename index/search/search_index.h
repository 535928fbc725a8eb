/* search_index.h - the dense and sparse index of one collection: a set of segments.
 *
 * One mutable segment in memory takes what comes in; sealed, immutable, memory-mapped segment
 * files hold the rest (segment.h). Readers work on a *snapshot* (segments + tombstones) and never
 * wait; writers stage changes and publish a new snapshot. What is unsealed at a crash comes again
 * from the store: the manifest says which epoch the sealed files cover.
 *
 *     search_index_add(ix, &chunk, &err);            // staged: nobody sees it
 *     search_index_remove(ix, id);
 *     search_index_publish(ix, epoch, &err);         // visible to the next snapshot
 *
 *     search_snapshot *s = search_index_acquire(ix);
 *     search_sparse(s, "query text", 100, NULL, hits, &n, &err);
 *     search_index_release(s);
 *
 * Threads: any number of readers; add/remove/publish/discard/seal from one writer at a time
 * (the caller's lock). Merges run on threads of their own (search_workers.h) and publish by
 * themselves. */
#ifndef FORAGE_INDEX_SEARCH_INDEX_H
#define FORAGE_INDEX_SEARCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "index/filter/filter.h"
#include "kernels/error.h"
#include "kernels/notice.h"
#include "kernels/pool.h"

typedef struct search_index search_index;
typedef struct search_snapshot search_snapshot;
struct search_workers; /* search_workers.h */

typedef struct search_index_options {
    const char *language;        /* Snowball name or "none"; NULL: "english" */
    uint32_t dim;                /* of the vectors; 0: sparse only */
    const char *fingerprint;     /* of the embedder, 64 hex digits ("" when dim is 0) */
    const char *tenant;          /* goes into every segment's header */
    float k1, b;                 /* BM25; both 0: the defaults 0.9 and 0.4 */
    uint32_t M, ef_construction; /* HNSW; 0: 16 and 200 */
    uint64_t seed;               /* of the HNSW levels */
    size_t seal_chunks;          /* memory segment is sealed past this many; 0: 16,384 */
    /* Of metadata in one segment: bytes of distinct keys and strings, and one for each entry of a chunk; 0: 1 GiB. What
     * comes beyond it begins another segment, and merges keep to it; a chunk's own metadata (at most 1 MiB) go in whole. */
    uint64_t segment_metadata;
    fo_pool *pool; /* builds graphs; shared, outlives the index. NULL or of one thread: the same
                     * input and seed give the same file */
    fo_pool *merge_pool; /* merges them, which takes long: what is published meanwhile has `pool` to
                          * itself. NULL: `pool` */
    /* seal, merge and check; shared, outlive the index. NULL: two threads of its own */
    struct search_workers *workers;
    bool read_only; /* the folder stays as it is; what is added lives in memory alone */
    /* That background merges may write, all of those together that share workers; 0: 64 MiB; < 0:
     * any number. */
    int64_t merge_bytes_per_s;
    /* While it opens: index_dropped (a file, and why), index_leftover. From then on, from the threads of the
     * background: index_stuck (a seal or merge failed, where the one before did not), index_goes_on. */
    fo_notices notices;
} search_index_options;

/* Open the folder (made if absent). A file with a bad magic, version or checksum, of another
 * fingerprint, language or dim is put aside (renamed *.bad), a notice names it and *n_dropped
 * counts it: the caller fills the gap from the store (search_index_gap_filled). FO_ENOMEM and FO_EIO
 * leave the files as they are. read_only: files that a writer merges meanwhile are not missed. */
int search_index_open(search_index **out, const char *dir, const search_index_options *opt,
                      size_t *n_dropped, fo_err *err);
/* Ends what is done for it in the background (a merge begins again another time), for good. */
void search_index_stop(search_index *ix);
/* Stops, seals what is unsealed when `seal`, unmaps. Snapshots must be released. */
int search_index_close(search_index *ix, bool seal, fo_err *err);

/* Epoch that the sealed files cover (their chunks and tombstones); -1 when there are none. */
int64_t search_index_epoch(const search_index *ix);
/* The newest epoch that the files know anything of, >= search_index_epoch: they may have tombstones of
 * chunks that went after the last seal. A store that is behind this has lost something. */
int64_t search_index_newest(const search_index *ix);
/* Chunk ids that sealed segments hold alive, ascending; caller frees. For reconciling at start. */
int search_index_ids(search_index *ix, int64_t **ids, size_t *n, fo_err *err);

typedef struct search_chunk_in {
    int64_t chunk, document;
    const char *title; /* indexed as part of the text; "" if none */
    const char *text;
    size_t text_len;
    const char *metadata; /* JSON object or "": its scalars (and arrays of them) can be filtered */
    const float *vector;  /* [dim], unit length; NULL when dim is 0 */
} search_chunk_in;

int search_index_add(search_index *ix, const search_chunk_in *c, fo_err *err);
/* Does what is staged have more metadata than one segment takes? A publish makes several of it; whoever has much more
 * to come publishes first, where what is there may be shown. */
bool search_index_is_full(const search_index *ix);
/* Unknown ids are ignored. FO_ENOMEM: nothing is staged of it. */
int search_index_remove(search_index *ix, int64_t chunk, fo_err *err);
/* Show what is staged. Failed (FO_ENOMEM), it stays staged and is owed: the store has it. */
int search_index_publish(search_index *ix, int64_t epoch, fo_err *err);
/* Before anything more is staged: publish what is owed. Failed, nothing may be staged: a discard could not tell
 * the one from the other. */
int search_index_settle(search_index *ix, fo_err *err);
void search_index_discard(
    search_index *ix); /* what was staged since the last publish; nothing that is owed */

/* Write the memory segment to a file and the manifest with the last published epoch. */
int search_index_seal(search_index *ix, fo_err *err);
/* Merge all segments into one without tombstones (blocking); into several where one would have too many chunks or
 * too much metadata. */
int search_index_compact(search_index *ix, fo_err *err);

search_snapshot *search_index_acquire(search_index *ix); /* never waits, never fails */
void search_index_release(search_snapshot *s);
int64_t search_snapshot_epoch(const search_snapshot *s);
size_t search_snapshot_count(const search_snapshot *s); /* live chunks */
/* Chunks of its epoch are missing (search_index_has_gap): a later snapshot of the same epoch may find
 * more. */
bool search_snapshot_has_gap(const search_snapshot *s);

typedef struct search_hit {
    int64_t chunk, document;
    float score; /* sparse: exact BM25; dense: cosine (inner product of unit vectors) */
} search_hit;

/* Best k live chunks by BM25 over the whole snapshot (statistics are the snapshot's, not a
 * segment's), best first, ties by smaller chunk id. hits[k] is the caller's. No match: *n = 0. */
int search_sparse(search_snapshot *s, const char *query, size_t k, const search_filter *filter,
                  search_hit *hits, size_t *n, fo_err *err);
/* The same, with terms that are looked for beside the query's words: forms and parts of them, in the letters of the index (analyze.h).
 * A hit by one of them scores so much of BM25. Those that are among the query's own change nothing. */
typedef struct search_term {
    const char *term;
    size_t len;
    double weight; /* > 0 */
} search_term;
int search_sparse_beside(search_snapshot *s, const char *query, const search_term *beside,
                         size_t n_beside, size_t k, const search_filter *filter, search_hit *hits,
                         size_t *n, fo_err *err);
/* The number of the language (language.h) in which the query's words become terms, where that is another than English; else -1. */
int search_query_language(search_snapshot *s, const char *query);
/* Every term of the snapshot, one of several parts once for each of them; none at all where there are more than `most`. */
typedef void search_term_fn(void *ctx, const char *term, size_t len);
void search_each_term(search_snapshot *s, size_t most, search_term_fn *fn, void *ctx);
/* Is it a term of a chunk? */
bool search_has_term(search_snapshot *s, const char *term, size_t len);
/* Best k by inner product; ef 0: a default that suits k. Exact when the snapshot is small. */
int search_dense(search_snapshot *s, const float *query, size_t k, size_t ef,
                 const search_filter *filter, search_hit *hits, size_t *n, fo_err *err);

/* left[i]: has documents[i], n <= 64, a living chunk that the filter (NULL: none) leaves? The searches' errors. */
int search_documents_left(search_snapshot *s, const search_filter *filter, const int64_t *documents,
                          size_t n, bool *left, fo_err *err);

/* BM25 inverse document frequency of an analysed term (as analyze.h gives it) in this snapshot:
 * extractive answers and citation checks weigh words by it. */
float search_idf(search_snapshot *s, const char *term, size_t len);

typedef struct search_index_stats {
    size_t n_segments, n_chunks, n_deleted, n_postings, n_terms;
    uint64_t bytes_files, bytes_memory;
    /* Since the folder was made; write amplification = written / ingested. */
    uint64_t bytes_written, bytes_ingested;
    uint64_t bytes_checked, n_damaged; /* since the opening, by search_index_watch */
    uint64_t n_failures;               /* seals and merges of the background, since the opening */
    uint64_t n_dense_scored; /* points that dense searches weighed since the opening: their cost */
} search_index_stats;
void search_index_get_stats(search_index *ix, search_index_stats *out);

/* Every file of a folder that nobody has open, as it lies: what the manifest names is there with
 * sound checksums, and nothing else is. `file` is the name within the folder, extra: nothing needs
 * it. Findings do not make it fail. */
typedef void search_file_fn(void *ctx, const char *file, bool extra, const char *what);
int search_index_check_folder(const char *dir, search_file_fn *fn, void *ctx, fo_err *err);

/* The files of a folder as its manifest names them at one moment, held open, also while another process
 * writes there. A copy of them is an index of that epoch. FO_ENOTFOUND: there is no manifest. */
typedef struct search_held_file {
    char name[24];
    int fd;
    uint64_t size; /* bytes */
} search_held_file;
typedef struct search_held {
    char *manifest; /* the bytes of the file MANIFEST */
    size_t manifest_bytes;
    search_held_file *files; /* [n] */
    size_t n;
} search_held;
int search_index_hold(search_held *out, const char *dir, fo_err *err);
void search_index_unhold(search_held *h);

/* Check every checksum and invariant (posting order, block maxima, graph links in range and
 * reachability, id maps) of every sealed segment; the first violation is the error. */
int search_index_verify(search_index *ix, fo_err *err);

/* From now on the checksums of the sealed files are checked in the background, 16 MiB a second at
 * most (of all indexes that share workers) and behind seals and merges, all of them once a day. A merge checks those that it reads, and leaves them where one is damaged. What is damaged is reported from the
 * thread that checks, which holds no lock: fn may drop the file and fill the gap, or leave it. */
typedef void search_damage_fn(void *ctx, const char *why);
void search_index_watch(search_index *ix, search_damage_fn *fn, void *ctx);
void search_index_check_files(search_index *ix); /* begin a pass now */
/* Put the file found damaged aside (renamed *.bad): its chunks are gone until the caller adds them
 * again, says so and seals. Those that call must be the one writer. */
int search_index_drop_damaged(search_index *ix, size_t *n_dropped, fo_err *err);
/* Were files dropped, now or when it was opened, whose chunks are not all here again? Until then
 * no manifest says that the files cover an epoch: the next opening finds what is missing. */
bool search_index_has_gap(search_index *ix);
void search_index_gap_filled(search_index *ix); /* all that the store has was published */

typedef struct search_id_report { /* chunks */
    size_t n_missing;             /* not in the index */
    size_t n_tombstoned;          /* there, but marked as deleted */
    size_t n_extra;               /* found by searches, though nobody put them there */
    size_t n_doubled;             /* found twice */
    size_t n_moved;               /* under another document */
    size_t n_without_vector;      /* in the inverted index alone */
    int64_t first;                /* a chunk at fault; -1: none */
} search_id_report;
/* Does what searches see now consist of chunks[n] (ascending) of documents[n], in the inverted and
 * in the dense index? FO_ECORRUPT otherwise. */
int search_index_compare(search_index *ix, const int64_t *chunks, const int64_t *documents,
                         size_t n, search_id_report *out, fo_err *err);

#endif
