/* hnsw.h - approximate nearest neighbours: a hierarchical navigable small world graph over 8-bit
 * codes, rescored at 16 bits a value.
 *
 *     hnsw *h;
 *     hnsw_params p = {.dim = 384, .metric = HNSW_COSINE, .capacity = 16384};
 *     hnsw_create(&h, &p, &err);
 *     hnsw_build(h, vectors, n, NULL, NULL, NULL, &err); // ids are 0, 1, 2, ...
 *
 *     hnsw_scratch *s = hnsw_scratch_create();           // one per thread, for any graph
 *     hnsw_query q = {.vector = v, .k = 10, .ef = 64, .visible = hnsw_count(h)};
 *     hnsw_hit hits[10];
 *     size_t n;
 *     hnsw_search(h, &q, s, hits, &n, &err);
 *
 *     hnsw_section sec[HNSW_N_SECTIONS];                 // a file holds these, byte for byte
 *     hnsw_sections(h, sec);
 *     hnsw *m;
 *     hnsw_map(&m, sec, &err);                           // searches where the bytes lie
 *
 * Threads: any number of searches beside ONE writer (hnsw_build, hnsw_repair); a
 * search never waits. A mapped graph is immutable.
 * Deletion: the caller keeps a bitmap of what is alive and passes it (with a metadata filter
 * and-ed in) to each search; hnsw_repair repairs the graph around the dead, hnsw_merge drops them.
 *
 * Source: Malkov & Yashunin 2018 (graph, levels, heuristic neighbour selection). Departures: the
 * graph is built and walked on 8-bit codes; best candidates live in one sorted array; a filter is
 * respected during the walk, within a budget after which the allowed points are scanned. A value is
 * kept as a byte and a second byte that refines it: with a scale for each vector this is closer
 * than BF16 (1.5e-5 of the vector's largest value), and rescoring reads only the second row anew.
 */
#ifndef FORAGE_INDEX_HNSW_H
#define FORAGE_INDEX_HNSW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/pool.h"

typedef struct hnsw hnsw;
typedef struct hnsw_scratch hnsw_scratch;

typedef enum hnsw_metric {
    HNSW_COSINE = 0, /* vectors and queries are brought to unit length; score = cosine */
    HNSW_IP = 1,     /* score = inner product */
    HNSW_L2 = 2,     /* score = minus the squared distance */
} hnsw_metric;       /* a higher score is always better */

enum {
    HNSW_MAX_DIM = 8192,
    HNSW_MAX_M = 64,
    HNSW_MAX_K = 65536,
    HNSW_MAX_EF = 65536,
};
/* No value of a vector is larger: squares of HNSW_MAX_DIM such ones still fit a float. */
#define HNSW_MAX_VALUE 1e15f

typedef struct hnsw_params {
    uint32_t dim; /* 1 .. HNSW_MAX_DIM */
    hnsw_metric metric;
    uint32_t M;               /* links of a point above level 0, 2 M at level 0; 0: 16 */
    uint32_t ef_construction; /* 0: 200 */
    uint64_t seed;            /* of the levels */
    uint32_t capacity;        /* most points it will ever hold: address space is set aside for them,
                               * memory is used as they come */
    const atomic_bool *cancel; /* NULL, or: hnsw_merge ends with FO_ECANCELLED once it is true */
} hnsw_params;

int hnsw_create(hnsw **out, const hnsw_params *p, fo_err *err);
/* A copy, point for point and link for link, with room for `capacity` points, no fewer than h has.
 * Searches of h may run, no writer. */
int hnsw_grow(hnsw **out, const hnsw *h, uint32_t capacity, fo_err *err);
void hnsw_free(hnsw *h); /* NULL is fine; no search may be running */

uint32_t hnsw_count(const hnsw *h); /* points built in, dead ones included */
uint32_t hnsw_capacity(const hnsw *h);
uint32_t hnsw_dim(const hnsw *h);
size_t hnsw_memory(const hnsw *h); /* bytes of the points held (mapped ones too) */

/* Insert vecs[n, dim], row-major; ids go on from the count before. The threads of the pool (NULL: this one) work
 * together; with one thread the graph is the same bit for bit for the same seed and vectors, in however many calls
 * they come. All or nothing: bad input is found before the first insert. Searches that run meanwhile may walk over
 * new points and return them only if their `visible` reaches these. progress may be NULL; called now and then from
 * any thread of the pool with the points linked.
 * FO_EINVAL: a value is not finite or above HNSW_MAX_VALUE (or a vector is zero under HNSW_COSINE); FO_ELIMIT: they
 * do not fit; FO_EUNSUPPORTED: the graph is mapped; FO_ENOMEM. */
typedef void hnsw_progress_fn(void *ctx, size_t done, size_t total);
int hnsw_build(hnsw *h, const float *vecs, size_t n, fo_pool *pool, hnsw_progress_fn *progress,
               void *ctx, fo_err *err);

/* Working memory of one search at a time; grows to what the largest search needed and is reused:
 * searches after the first do not allocate. NULL when out of memory. */
hnsw_scratch *hnsw_scratch_create(void);
void hnsw_scratch_free(hnsw_scratch *s); /* NULL is fine */

typedef struct hnsw_query {
    const float *vector;     /* [dim] */
    size_t k;                /* 1 .. HNSW_MAX_K */
    size_t ef;               /* candidates kept while walking, at least k; 0: max(64, 2 k) */
    uint32_t visible;        /* only ids below this may be returned; 0 = none; more than count =
                              * count at the time of the call */
    const uint64_t *allowed; /* bit id%64 of word id/64 set: may be returned; covers `visible` ids;
                              * NULL: all. Unchanged during the call */
    size_t n_allowed; /* bits set below `visible`; 0 with allowed != NULL: they are counted */
    bool exact;       /* scan all allowed points at rescoring precision: the test oracle */
    bool walk;        /* walk the graph where a scan costs no more, too: for tests of the graph */
} hnsw_query;

typedef struct hnsw_hit {
    uint32_t id;
    float score; /* from the 16-bit vector and the F32 query */
} hnsw_hit;

/* Best k allowed points, best first, ties by smaller id -> hits[k], *n <= k. When at least k points
 * are allowed, k are returned: where the walk meets too few of them, or few are allowed, the
 * allowed set is scanned instead, and where that costs no more than a walk, which may miss a point far from thousands
 * that are near each other. Few points altogether: exact. */
int hnsw_search(const hnsw *h, const hnsw_query *q, hnsw_scratch *s, hnsw_hit *hits, size_t *n,
                fo_err *err);

/* What the last search with this scratch did, for statistics and tests. */
typedef struct hnsw_search_stats {
    size_t n_scored; /* codes compared */
    bool scanned;    /* the allowed set was scanned */
} hnsw_search_stats;
void hnsw_get_search_stats(const hnsw_scratch *s, hnsw_search_stats *out);

/* Make links that lead to points not in `alive` (NULL: all are) lead past them instead, so that recall
 * holds when many died, and link the living that cannot be reached; ids stay as they are. One writer,
 * searches may run. The dead stay walkable. */
int hnsw_repair(hnsw *h, const uint64_t *alive, fo_pool *pool, fo_err *err);

typedef struct hnsw_merge_input {
    const hnsw *graph;     /* not being written */
    const uint64_t *alive; /* bitmap over its ids, as hnsw_query.allowed; NULL: all */
} hnsw_merge_input;

/* One graph from several of the same dim and metric: the alive points of input 0 in order of id,
 * then those of input 1, and so on, get the ids 0, 1, 2, ... The largest input's graph is kept and
 * repaired where its points died; the others are inserted into it. capacity is exactly the sum
 * unless p->capacity is larger. p->dim and p->metric are ignored; p may be NULL. */
int hnsw_merge(hnsw **out, const hnsw_merge_input *in, size_t n_in, const hnsw_params *p,
               fo_pool *pool, hnsw_progress_fn *progress, void *ctx, fo_err *err);

/* The graph as bytes. A section may be empty (size 0). In a file each must begin at a multiple of
 * HNSW_SECTION_ALIGN; checksums are the file's matter. Little-endian. */
enum { HNSW_N_SECTIONS = 8, HNSW_SECTION_ALIGN = 64 };
typedef struct hnsw_section {
    const void *data;
    size_t size; /* bytes */
} hnsw_section;

/* Views into the graph, valid until the next write or hnsw_free; no writer may be active. */
void hnsw_sections(const hnsw *h, hnsw_section out[HNSW_N_SECTIONS]);

/* A read-only graph on bytes that the caller keeps until hnsw_free. Sizes and counts are checked
 * against each other in constant time (FO_ECORRUPT); links are checked where they are followed, so
 * hostile bytes can spoil answers but never reach outside the sections. */
int hnsw_map(hnsw **out, const hnsw_section in[HNSW_N_SECTIONS], fo_err *err);

/* Every invariant: links in range, no link to itself or twice to the same point, levels agree,
 * every point reachable from the entry (but for *n_unreachable of them; NULL: none may be).
 * FO_ECORRUPT names the first violation. No writer may be active. */
int hnsw_verify(const hnsw *h, size_t *n_unreachable, fo_err *err);

#endif
