/* search_index_internal.h - what the files of search_index share.
 *
 * Invariants
 *  1. A part (documents, postings, metadata, ids) is immutable from the moment it is made.
 *  2. A segment is a list of parts with one graph over all of them: document d of part i is point
 *     bases[i] + d. A sealed segment is one part in a mapped file; the open segment (the memory
 *     segment) gains parts and points; a frozen segment is an open one that waits for its file.
 *  3. A snapshot is immutable but for its count and its filter cache. What it shows of a graph is
 *     bounded by the segment's n_docs, so points inserted later stay unseen.
 *  4. ix->current always holds a snapshot; it changes only under ix->mu.
 *  5. The manifest on disk names files that exist: files are written before it and removed after.
 *
 *     open --publish--> open (more parts)
 *       | freeze (too large, or seal)
 *     frozen --search_segment_seal (background, or seal)--> sealed --search_merge_once--> sealed
 *
 * Lock order: ix->sealing (one seal at a time) or ix->merging (one merge or compaction at a time, and no
 * file goes meanwhile), never both; then ix->mu, then the mutex of a snapshot's filter cache, or that of
 * the workers. Readers take only that of a filter cache. A seal may end while a merge writes: it takes none of
 * the files that the merge reads, and each is installed in the snapshot of that moment. */
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

typedef struct
    search_segment { /* a value: search_segment_copy takes references, search_segment_drop gives them back */
    part **parts;
    uint32_t *bases;
    size_t n_parts;
    uint32_t n_docs;
    graph *graph;    /* NULL: sparse only */
    bitmap *live;    /* NULL: every document lives */
    uint64_t file;   /* number in its name; 0: in memory */
    uint64_t serial; /* identity across snapshots */
    bool frozen;
    int64_t epoch; /* of a frozen segment: what was published when it was frozen */
} search_segment;

typedef struct filter_bits { /* a filter's result on each segment of a snapshot, tombstones out */
    uint64_t filter_id;
    atomic_int refs;
    size_t n;
    bool all; /* it leaves nothing out that is live: a search without it is the same, and faster */
    struct {
        uint64_t *words;
        size_t n_set;
    } segments[];
} filter_bits;

struct search_snapshot {
    atomic_int refs;
    search_index *ix;
    int64_t epoch;
    size_t n_live, n_parts;
    pthread_mutex_t cache_mu;
    filter_bits *cache; /* guarded by cache_mu: of the filter seen last */
    /* Bits of the languages (language.h) that chunks were told to be in, and of those that many are in;
     * looked up by the first search, LANGUAGES_KNOWN with them. */
    _Atomic uint64_t languages, common_languages;
    atomic_bool has_gap; /* of the index, when it was published and not filled since */
    size_t n_segments;
    search_segment segments[];
};

/* What becomes a part: its documents are those from `begin` on, up to the next one's. */
typedef struct staged_part {
    inverted_builder *words;
    metadata_builder *meta;
    size_t begin;
} staged_part;

typedef struct staged { /* what publish will make visible */
    staged_part *parts; /* more than one: the metadata of all are too much for a segment */
    size_t n_parts;
    int64_t *chunks, *documents;
    float *vectors;
    bool *dead; /* removed again before it was published */
    size_t n, room;
    bool unordered; /* chunks[n] do not ascend, as new ones do */
    int64_t *removed;
    size_t n_removed, removed_room;
    uint64_t bytes;
    bool owed; /* a publish of all this failed: the store has it, under this */
    int64_t owed_epoch;
} staged;

/* Working memory of a search; kept in ix->scratches between searches. */
typedef struct search_scratch {
    analyzer *analyzer;
    inverted_scratch *sparse;
    hnsw_scratch *dense;
    struct query_term *terms;
    char *texts;
} search_scratch;

/* A pass over the sealed files, a slice at a time. */
typedef struct file_check {
    uint64_t serial;  /* of the segment at hand; those below it are done */
    segment_check at; /* in its file */
} file_check;

/* Where an index stands among those that its workers work for; guarded by the workers' mutex. */
typedef struct search_background {
    search_index *next;
    bool running; /* a task, beside which there is no other one */
    bool merging; /* beside which it may be sealed */
    bool leaving;
    bool to_seal, to_merge;
    bool restart_check;
    double check_ms; /* when the next slice is due; INFINITY: nobody watches */
} search_background;

enum { SEARCH_SCRATCHES = 64, SEARCH_MAX_MERGE = 256 };

struct search_index {
    /* immutable after open */
    char *dir, *language, *fingerprint, *tenant;
    uint32_t dim, M, ef_construction;
    uint64_t seed;
    bm25_params bm25;
    size_t seal_chunks;
    uint64_t segment_metadata; /* metadata_weight of a segment, at most */
    bool read_only;
    bool is_new; /* there was no manifest */
    fo_notices notices;
    fo_pool *pool, *merge_pool; /* NULL: one thread */
    search_workers *workers;    /* NULL: read-only */
    bool owns_workers;
    /* owned: the writer */
    staged stage;
    analyzer *analyzer;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t stop; /* `stopping` became true */
    uint64_t next_file, next_serial;
    int64_t published;
    bool
        has_gap; /* a file was dropped and its chunks are not all here again: no epoch is covered */
    bool stopping;
    search_damage_fn *damage_fn; /* NULL: nobody watches, files are not checked */
    void *damage_ctx;
    bool stuck[2]; /* the last seal, the last merge in the background failed: that was told */
    search_background background; /* guarded by the workers' mutex */
    pthread_mutex_t sealing, merging;
    /* owned: the worker that merges it; that checks it */
    pace merge_pace;
    file_check check;
    /* atomic */
    atomic_bool cancel; /* stopping: a merge under way ends */
    _Atomic uint64_t bytes_checked, n_damaged, n_dense_scored;
    _Atomic uint64_t n_failures; /* in the background; it tries again after the next publish */
    _Atomic uint64_t
        damaged; /* serial of the segment found damaged, until it is dropped; 0: none */
    _Atomic uint64_t current; /* snapshot << 16 | readers that are taking it */
    search_snapshot *held;    /* guarded by mu: the same, where checkers of leaks see the pointer */
    _Atomic int64_t sealed_epoch, newest; /* newest: that the manifest knows anything of */
    _Atomic uint64_t bytes_written, bytes_ingested;
    _Atomic(search_scratch *) scratches[SEARCH_SCRATCHES];
};

/* search_index_segment.c */
int search_part_open(part **out, segment *file, const search_index *ix,
                     fo_err *err); /* takes file */
void search_part_drop(part *p);
int search_segment_copy(search_segment *out, const search_segment *in, fo_err *err);
void search_segment_drop(search_segment *s);
int search_segment_readable(const search_segment *s, fo_err *err); /* segment_readable */
bool search_segment_alive(const search_segment *s, uint32_t doc);
size_t search_segment_n_live(const search_segment *s);
/* metadata_weight of one file made of it, at most. */
uint64_t search_segment_metadata(const search_segment *s);
int search_segment_open(search_segment *out, const search_index *ix, const char *path,
                        uint64_t file, fo_err *err);
/* Merge whole parts in memory, numbers kept: parts[n] to one. */
int search_parts_join(part **out, part *const *parts, size_t n, const search_index *ix,
                      fo_err *err);
/* One file from the living documents of segments[n]: maps[i][d] is the new number of document d of
 * segment i (UINT32_MAX: dropped), caller frees each. *out is a segment without tombstones. paced: a
 * merge of the background thread, which keeps to merge_bytes_per_s and ends when the index closes.
 */
int search_segments_write(search_segment *out, search_index *ix, const search_segment *segments,
                          size_t n, uint64_t file, int64_t epoch, bool paced, uint32_t **maps,
                          fo_err *err);
int search_write_ids(segment_writer *w, const int64_t *chunks, const int64_t *documents, uint32_t n,
                     fo_err *err);
int search_write_info(segment_writer *w, const search_index *ix, uint32_t n_docs, int64_t epoch,
                      fo_err *err);
bitmap *search_bitmap_create(uint32_t n_docs, const bitmap *like); /* all set, or a copy */
void search_bitmap_drop(bitmap *b);
char *search_file_path(const search_index *ix, uint64_t file); /* caller frees; NULL: no memory */

/* A graph in memory with room for `capacity` points. */
int search_graph_create(graph **out, const search_index *ix, size_t capacity, fo_err *err);
/* Room for `capacity` points in the place of *g, which readers of older snapshots keep as it is. */
int search_graph_grow(graph **g, size_t capacity, fo_err *err);

/* search_index_manifest.c */
/* Read the manifest and open what it names; *out[*n] segments. */
int search_manifest_read(search_index *ix, search_segment **out, size_t *n, size_t *n_dropped,
                         fo_err *err);
/* Under mu. While the index has a gap, the epoch that is written is -1, whatever `epoch` says. */
int search_manifest_write(search_index *ix, const search_snapshot *s, int64_t epoch, fo_err *err);
void search_put_aside(const search_index *ix, const char *path); /* a damaged file */
/* What a manifest says, without opening anything. FO_ECORRUPT. Caller frees *files. */
typedef struct search_manifest_file {
    uint64_t file, n_docs;
} search_manifest_file;
int search_manifest_list(const char *dir, search_manifest_file **files, size_t *n, fo_err *err);
/* The same, and the manifest's bytes, which the caller frees too. */
int search_manifest_load(const char *dir, char **data, size_t *size, search_manifest_file **files,
                         size_t *n, fo_err *err);
/* The number in a segment's name; *rest is what follows ".seg". */
bool search_segment_name(const char *name, uint64_t *file, const char **rest);

/* search_index.c */
/* A chunk's words, its title's before them, each with add(ctx, ...). The words of a text in another
 * language than the index's are that language's stems; terms that no text has (a control character in
 * front) say that there are such chunks and of which language. */
void search_chunk_words(analyzer *a, const char *title, const char *text, size_t len,
                        analyze_fn *add, void *ctx);

enum { SEARCH_MARK_ROOM = 32 };
/* The mark of a language, by its number; -1: of any but the index's own. Returns its bytes. */
size_t search_language_mark(int language, char mark[SEARCH_MARK_ROOM]);

int search_chunk_check(const search_index *ix, const search_chunk_in *c, fo_err *err);
void search_filter_bits_drop(filter_bits *f);
search_snapshot *search_snapshot_create(search_index *ix, size_t n_segments, int64_t epoch,
                                        fo_err *err);
search_snapshot *search_snapshot_current(search_index *ix); /* under mu, no reference taken */
void search_snapshot_publish(search_index *ix, search_snapshot *s); /* under mu */

/* search_index_merge.c */
int search_seal_frozen(search_index *ix,
                       fo_err *err); /* write every frozen segment; sealing held */
int search_compact_all(search_index *ix, fo_err *err); /* merging held */
/* Write a segment that no snapshot holds to a file and add that to what is visible; the manifest then
 * covers `epoch` and the current tombstones. An empty segment: the manifest alone. sealing held. */
int search_segment_seal(search_index *ix, const search_segment *s, int64_t epoch, fo_err *err);
/* One merge, if there is any to be done. Not of a damaged file: FO_ECORRUPT, and *damaged is the serial
 * of its segment (else 0: any other error says nothing of the files). */
int search_merge_once(search_index *ix, bool *did, uint64_t *damaged, fo_err *err);
bool search_has_merge(search_index *ix);

/* search_index_background.c: tasks, called by the workers. */
bool search_background_seal(
    search_index *ix); /* whatever waits for its file; true: there is a merge */
/* One merge; true: there is another. *damaged: search_merge_once's, to be told (search_background_damage) with *why. */
bool search_background_merge(search_index *ix, uint64_t *damaged, fo_err *why);
/* The segment was found damaged. No other task of the index runs: whoever is told seals and fills gaps. */
void search_background_damage(search_index *ix, uint64_t serial, const fo_err *why);
/* One slice, of a new pass when `restart`; when the next is due. */
double search_background_check(search_index *ix, bool restart);
/* A segment_gate for merges: waits as long as the rate asks for. */
int search_background_gate(void *ix, size_t n, fo_err *err);
enum { BACKGROUND_SLICE = 1 << 20 }; /* bytes that a check looks at */

/* search_workers.c */
void search_workers_join(search_workers *w, search_index *ix);
void search_workers_leave(search_workers *w, search_index *ix); /* waits for its task that runs */
size_t search_workers_n_merging(search_workers *w);
void search_workers_wake(search_workers *w, search_index *ix); /* something may have to be sealed */
/* Its files are checked from now on; `restart`: from the first one. */
void search_workers_check(search_workers *w, search_index *ix, bool restart);

/* search_index_query.c */
void search_scratch_free(search_scratch *r);

#endif
