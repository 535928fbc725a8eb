/* search_index_internal.h - what the files of search_index share.
 *
 * Invariants
 *  1. A part (documents, postings, metadata, ids) is immutable from the moment it is made.
 *  2. A shelf is a list of parts with one graph over all of them: document d of part i is point
 *     bases[i] + d. A sealed shelf is one part in a mapped file; the open shelf (the memory
 *     segment) gains parts and points; a frozen shelf is an open one that waits for its file.
 *  3. A snapshot is immutable but for its count and its filter cache. What it shows of a graph is
 *     bounded by the shelf's n_docs, so points inserted later stay unseen.
 *  4. ix->current always holds a snapshot; it changes only under ix->mu.
 *  5. The manifest on disk names files that exist: files are written before it and removed after.
 *
 *     open --publish--> open (more parts)
 *       | freeze (too large, or seal)
 *     frozen --write_shelf (background, or seal)--> sealed --merge_shelves--> sealed
 *
 * Lock order: ix->work (one seal, merge or compaction at a time), then ix->mu, then the mutex of a
 * snapshot's filter cache, or that of the workers. Readers take only the third. */
#ifndef FORAGE_INDEX_SEARCH_INDEX_INTERNAL_H
#define FORAGE_INDEX_SEARCH_INDEX_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "index/sparse/analyze.h"
#include "index/dense/hnsw.h"
#include "index/sparse/inverted.h"
#include "index/sparse/inverted_hot.h"
#include "index/filter/metadata.h"
#include "index/format/pace.h"
#include "index/search/search_index.h"
#include "index/search/search_workers.h"
#include "index/format/segment.h"
#include "kernels/pool.h"

typedef struct part {
    atomic_int refs;
    segment *file;
    inverted inv;
    inverted_hot *hot; /* NULL: none */
    metadata meta;
    const int64_t *chunks, *documents;
    const uint32_t *order; /* document numbers by chunk id; hostile files: check each */
    uint32_t n_docs;
} part;

typedef struct graph {
    atomic_int refs;
    hnsw *h;
    part *holder; /* of the mapped bytes; NULL: in memory */
} graph;

typedef struct bitmap { /* immutable once published */
    atomic_int refs;
    size_t n_set;
    uint64_t words[];
} bitmap;

typedef struct shelf { /* a value: shelf_copy takes references, shelf_drop gives them back */
    part **parts;
    uint32_t *bases;
    size_t n_parts;
    uint32_t n_docs;
    graph *graph;    /* NULL: sparse only */
    bitmap *live;    /* NULL: every document lives */
    uint64_t file;   /* number in its name; 0: in memory */
    uint64_t serial; /* identity across snapshots */
    bool frozen;
    int64_t epoch; /* of a frozen shelf: what was published when it was frozen */
} shelf;

typedef struct filter_bits { /* a filter's result on each shelf of a snapshot, tombstones out */
    uint64_t filter_id;
    atomic_int refs;
    size_t n;
    struct {
        uint64_t *words;
        size_t n_set;
    } shelves[];
} filter_bits;

struct search_snapshot {
    atomic_int refs;
    search_index *ix;
    int64_t epoch;
    size_t n_live, n_parts;
    pthread_mutex_t cache_mu;
    filter_bits *cache; /* guarded by cache_mu: of the filter seen last */
    size_t n_shelves;
    shelf shelves[];
};

typedef struct staged { /* what publish will make visible */
    inverted_builder *words;
    metadata_builder *meta;
    int64_t *chunks, *documents;
    float *vectors;
    bool *dead; /* removed again before it was published */
    size_t n, room;
    int64_t *removed;
    size_t n_removed, removed_room;
    uint64_t bytes;
} staged;

/* Working memory of a search; kept in ix->rooms between searches. */
typedef struct search_room {
    analyzer *analyzer;
    inverted_scratch *sparse;
    hnsw_scratch *dense;
    struct room_term *terms;
    char *texts;
} search_room;

/* A pass over the sealed files, a slice at a time. */
typedef struct file_check {
    uint64_t serial;  /* of the shelf at hand; those below it are done */
    segment_check at; /* in its file */
} file_check;

/* Where an index stands among those that its workers work for; guarded by the workers' mutex. */
typedef struct background_turn {
    search_index *next;
    bool running, leaving;
    bool to_seal, to_merge;
    bool restart_check;
    double check_ms; /* when the next slice is due; INFINITY: nobody watches */
} background_turn;

enum { SEARCH_ROOMS = 64, SEARCH_MAX_MERGE = 256 };

struct search_index {
    /* immutable after open */
    char *dir, *language, *fingerprint, *tenant;
    uint32_t dim, M, ef_construction;
    uint64_t seed;
    bm25_params bm25;
    size_t seal_chunks;
    bool read_only;
    bool is_new;             /* there was no manifest */
    fo_notices notices;      /* of the opening */
    fo_pool *pool;           /* NULL: one thread */
    search_workers *workers; /* NULL: read-only */
    bool owns_workers;
    /* owned: the writer */
    staged stage;
    analyzer *analyzer;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t stop; /* `stopping` became true */
    uint64_t next_file, next_serial;
    int64_t published;
    bool stopping;
    search_damage_fn *damage_fn; /* NULL: nobody watches, files are not checked */
    void *damage_ctx;
    uint64_t n_failures;  /* in the background; it tries again after the next publish */
    background_turn turn; /* guarded by the workers' mutex */
    pthread_mutex_t work;
    /* owned: the worker whose turn it is */
    pace merge_pace;
    file_check check;
    /* atomic */
    atomic_bool cancel; /* stopping: a merge under way ends */
    _Atomic uint64_t bytes_checked, n_damaged, n_dense_scored;
    _Atomic uint64_t damaged; /* serial of the shelf found damaged, until it is dropped; 0: none */
    _Atomic uint64_t current; /* snapshot << 16 | readers that are taking it */
    _Atomic int64_t sealed_epoch;
    _Atomic uint64_t bytes_written, bytes_ingested;
    _Atomic(search_room *) rooms[SEARCH_ROOMS];
};

/* search_index_shelf.c */
int part_open(part **out, segment *file, const search_index *ix, fo_err *err); /* takes file */
void part_drop(part *p);
int shelf_copy(shelf *out, const shelf *in, fo_err *err);
void shelf_drop(shelf *s);
bool shelf_alive(const shelf *s, uint32_t doc);
size_t shelf_n_live(const shelf *s);
int shelf_open_file(shelf *out, const search_index *ix, const char *path, uint64_t file,
                    fo_err *err);
/* Merge whole parts in memory, numbers kept: parts[n] to one. */
int parts_join(part **out, part *const *parts, size_t n, const search_index *ix, fo_err *err);
/* One file from the living documents of shelves[n]: maps[i][d] is the new number of document d of
 * shelf i (UINT32_MAX: dropped), caller frees each. *out is a shelf without tombstones. paced: a
 * merge of the background thread, which keeps to merge_bytes_per_s and ends when the index closes.
 */
int shelves_write(shelf *out, search_index *ix, const shelf *shelves, size_t n, uint64_t file,
                  int64_t epoch, bool paced, uint32_t **maps, fo_err *err);
int write_ids(segment_writer *w, const int64_t *chunks, const int64_t *documents, uint32_t n,
              fo_err *err);
int write_info(segment_writer *w, const search_index *ix, uint32_t n_docs, int64_t epoch,
               fo_err *err);
bitmap *bitmap_create(uint32_t n_docs, const bitmap *like); /* all set, or a copy */
void bitmap_drop(bitmap *b);
char *file_path(const search_index *ix, uint64_t file); /* caller frees; NULL: no memory */

/* A graph in memory with room for `capacity` points. */
int graph_create(graph **out, const search_index *ix, size_t capacity, fo_err *err);
/* Room for `capacity` points in the place of *g, which readers of older snapshots keep as it is. */
int graph_grow(graph **g, size_t capacity, fo_err *err);

/* search_index_manifest.c */
/* Read the manifest and open what it names; *out[*n] shelves. */
int manifest_read(search_index *ix, shelf **out, size_t *n, size_t *n_dropped, fo_err *err);
int manifest_write(search_index *ix, const search_snapshot *s, int64_t epoch, fo_err *err);
void put_aside(const search_index *ix, const char *path); /* a damaged file */
/* What a manifest says, without opening anything. FO_ECORRUPT. Caller frees *files. */
typedef struct manifest_file {
    uint64_t file, n_docs;
} manifest_file;
int manifest_list(const char *dir, manifest_file **files, size_t *n, fo_err *err);
/* The number in a segment's name; *rest is what follows ".seg". */
bool segment_name(const char *name, uint64_t *file, const char **rest);

/* search_index.c */
int search_chunk_check(const search_index *ix, const search_chunk_in *c, fo_err *err);
void filter_bits_drop(filter_bits *f);
search_snapshot *snapshot_create(search_index *ix, size_t n_shelves, int64_t epoch, fo_err *err);
void snapshot_count(search_snapshot *s);                     /* after its shelves are set */
search_snapshot *snapshot_current(search_index *ix);         /* under mu, no reference taken */
void snapshot_publish(search_index *ix, search_snapshot *s); /* under mu */

/* search_index_merge.c */
int seal_frozen(search_index *ix, fo_err *err); /* write every frozen shelf; work held */
int compact_all(search_index *ix, fo_err *err); /* work held */
/* Write a shelf that no snapshot holds to a file and add that to what is visible; the manifest then
 * covers `epoch` and the current tombstones. An empty shelf: the manifest alone. work held. */
int shelf_seal(search_index *ix, const shelf *s, int64_t epoch, fo_err *err);
/* One merge, if there is any to be done. */
int merge_once(search_index *ix, bool *did, fo_err *err);
bool has_merge(search_index *ix);

/* search_index_background.c: turns, called by the workers. */
bool background_seal(search_index *ix);  /* whatever waits for its file; true: there is a merge */
bool background_merge(search_index *ix); /* one; true: there is another */
/* One slice, of a new pass when `restart`; when the next is due. */
double background_check(search_index *ix, bool restart);
/* A segment_gate for merges: waits as long as the rate asks for. */
int background_gate(void *ix, size_t n, fo_err *err);
enum { BACKGROUND_SLICE = 1 << 20 }; /* bytes that a check looks at */

/* search_workers.c */
void workers_join(search_workers *w, search_index *ix);
void workers_leave(search_workers *w, search_index *ix); /* waits for the turn it has */
size_t workers_n_merging(search_workers *w);
void workers_wake(search_workers *w, search_index *ix); /* something may have to be sealed */
/* Its files are checked from now on; `restart`: from the first one. */
void workers_check(search_workers *w, search_index *ix, bool restart);

/* search_index_query.c */
void search_room_free(search_room *r);

#endif
