/* hnsw_internal.h - the graph's memory, shared by hnsw*.c and nobody else.
 *
 * Invariants
 *  1. A point's code, rest, scale, bias and upper-level block are written before any link to it
 *     is published (release); whoever follows a link (acquire) sees them.
 *  2. A list of links is packed: it ends at the first HNSW_NONE. A writer changes single slots
 *     under the point's lock, so a reader sees each link that stays, and old or new for the rest.
 *  3. The entry point is changed under entry_mu, after its lists are published.
 *  4. Every link read is compared with `limit` before use: mapped bytes are hostile.
 *
 *     level 0:  links0[id][m0]
 *     above:    upper_at[id] = 0 (none) or 1 + offset of {level, links[level][M]} in upper[] */
#ifndef FORAGE_INDEX_HNSW_INTERNAL_H
#define FORAGE_INDEX_HNSW_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "index/dense/hnsw.h"
#include "kernels/dist.h"

#define HNSW_NONE UINT32_MAX

enum {
    HNSW_MAGIC = 0x57534E48, /* "HNSW" */
    HNSW_VERSION = 1,
    HNSW_MAX_LEVEL = 15,
    HNSW_LOCKS = 1024,
    HNSW_EXACT_BELOW = 1000, /* so many points are scanned rather than walked */
};

typedef struct hnsw_head {
    uint32_t magic, version;
    uint32_t dim, metric;
    uint32_t M, ef_construction;
    uint64_t seed;
    uint32_t n;
    uint32_t entry;     /* HNSW_NONE when n is 0 */
    uint32_t upper_len; /* uint32s in the upper section */
    uint32_t reserved[5];
} hnsw_head;
_Static_assert(sizeof(hnsw_head) == 64, "a section's size");

enum { SEC_HEAD, SEC_CODES, SEC_SCALES, SEC_BIAS, SEC_LINKS, SEC_UPPER_AT, SEC_UPPER, SEC_REST };

typedef struct hnsw_writer hnsw_writer;

struct hnsw {
    /* immutable after create */
    uint32_t dim, M, m0, ef_construction;
    hnsw_metric metric;
    uint64_t seed;
    uint32_t capacity;
    uint32_t limit;     /* ids from here on are not links: capacity, or n of a mapped graph */
    size_t code_stride; /* bytes */
    bool mapped;
    size_t upper_cap; /* uint32s */
    dist_kernels k;

    /* [capacity]; a row is written once, before its id is published */
    uint8_t *codes;
    float *scales;
    float *bias;  /* L2: -|x|^2 / 2; else NULL */
    int8_t *rest; /* rows of code_stride: value = scale * (code - 128 + rest / 256) */
    uint32_t *upper_at;

    uint32_t *links0; /* atomic: each slot */
    uint32_t *upper;  /* levels as above, links atomic */

    _Atomic uint32_t n;     /* points encoded and linked */
    _Atomic uint32_t entry; /* HNSW_NONE while empty */

    /* writers only */
    pthread_mutex_t entry_mu; /* entry, upper_len; taken with no other lock held */
    _Atomic uint32_t upper_len;
    pthread_mutex_t *locks; /* [HNSW_LOCKS]: the lists of the points with id % HNSW_LOCKS */

    hnsw_head head; /* filled by hnsw_sections */
};

static inline uint32_t hnsw_load(const uint32_t *slot) {
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}
static inline void hnsw_store(uint32_t *slot, uint32_t v) {
    __atomic_store_n(slot, v, __ATOMIC_RELEASE);
}

static inline const uint8_t *hnsw_code(const hnsw *h, uint32_t id) {
    return h->codes + id * h->code_stride;
}

/* The block of id's upper levels, its level checked against the section; NULL: level 0 only. */
static inline uint32_t *hnsw_upper_block(const hnsw *h, uint32_t id, uint32_t *level) {
    uint32_t at = h->upper_at[id];
    uint64_t end = atomic_load_explicit(&h->upper_len, memory_order_acquire);
    *level = 0;
    if (at == 0 || at > end) return NULL;
    uint32_t l = h->upper[at - 1];
    if (l > HNSW_MAX_LEVEL || at + (uint64_t)l * h->M > end) return NULL;
    *level = l;
    return h->upper + at;
}

static inline uint32_t hnsw_level(const hnsw *h, uint32_t id) {
    uint32_t level;
    hnsw_upper_block(h, id, &level);
    return level;
}

/* The list of id at `level`, of m0 or M slots; NULL when the point does not reach it. */
static inline uint32_t *hnsw_links(const hnsw *h, uint32_t id, uint32_t level) {
    if (level == 0) return h->links0 + (size_t)id * h->m0;
    uint32_t top, *block = hnsw_upper_block(h, id, &top);
    return block && level <= top ? block + (size_t)(level - 1) * h->M : NULL;
}

/* Order of candidates as one integer: by score, then by smaller id. Bit 0 is free for a mark. */
static inline uint64_t hnsw_key(float score, uint32_t id) {
    union {
        float f;
        uint32_t u;
    } x = {.f = score};
    uint32_t o = x.u ^ (x.u >> 31 ? UINT32_MAX : 0x80000000u);
    return (uint64_t)o << 32 | (uint32_t)(~id << 1);
}
static inline uint32_t hnsw_key_id(uint64_t key) {
    return ~((uint32_t)key >> 1) & 0x7FFFFFFFu;
}
static inline float hnsw_key_score(uint64_t key) {
    uint32_t o = (uint32_t)(key >> 32);
    union {
        uint32_t u;
        float f;
    } x = {.u = o ^ (o >> 31 ? 0x80000000u : UINT32_MAX)};
    return x.f;
}

/* Equal scores (copies of one text) must not always favour the same ids: lists would all hold the
 * same few copies and lead to no other. While building, ids are compared xor-ed with a salt of the
 * point whose list is made. */
static inline uint32_t hnsw_salt(uint32_t id) {
    return (id + 1) * 0x9E3779B1u >> 2;
}
static inline void hnsw_unsalt(uint64_t *keys, size_t n, uint32_t salt) {
    for (size_t i = 0; i < n; i++) keys[i] ^= (uint64_t)salt << 1;
}

/* A query in the form the code kernels take:
 * score(id) = (dot - offset) * scale * scales[id] + bias[id]. */
typedef struct hnsw_probe {
    int8_t *q; /* [code_stride] */
    int32_t offset;
    float scale;
} hnsw_probe;

enum {
    HNSW_AT_ONCE = 2, /* candidates expanded together: their cache misses overlap */
    HNSW_BATCH = HNSW_AT_ONCE * 2 * HNSW_MAX_M, /* ids scored at once, at most */
};

struct hnsw_scratch {
    uint64_t *visited; /* [visited_words] */
    size_t visited_words;
    uint64_t *pool; /* [pool_cap]: descending keys; bit 0 = expanded */
    size_t pool_cap, pool_n;
    uint64_t *heap; /* [heap_cap]: the frontier of a filtered walk */
    size_t heap_cap;
    int8_t *q;
    float *qf;
    size_t dim_cap;
    uint32_t ids[HNSW_BATCH];
    float scores[HNSW_BATCH];
    hnsw_search_stats stats;
};

/* Room for h's points, a pool of `pool` and a heap of `heap` keys. FO_ENOMEM. */
int hnsw_scratch_fit(hnsw_scratch *s, const hnsw *h, size_t pool, size_t heap, fo_err *err);

/* scores[i] = score of ids[i]; n <= HNSW_BATCH. */
void hnsw_score(const hnsw *h, const hnsw_probe *p, const uint32_t *ids, size_t n, float *scores);

/* Best point found by greedy descent from `entry` through the levels above `level`. */
uint32_t hnsw_descend(const hnsw *h, const hnsw_probe *p, hnsw_scratch *s, uint32_t entry,
                      uint32_t level, float *score);

/* Walk one level from `start`, keeping the `ef` best in s->pool (marked keys of unsalted ids). */
void hnsw_walk(const hnsw *h, const hnsw_probe *p, hnsw_scratch *s, uint32_t level, uint32_t start,
               float start_score, size_t ef, uint32_t salt);

void hnsw_sort_keys(uint64_t *keys, size_t n); /* descending, in place */

/* x[dim] -> code row, rest row, scale and bias of slot id. x is finite; under cosine of unit
 * length already. */
void hnsw_encode(hnsw *h, uint32_t id, const float *x);
/* Query from floats (x padded with zeroes to code_stride), and from a stored point's code (then
 * score() is between stored points). */
void hnsw_probe_vector(const hnsw *h, hnsw_probe *p, const float *x);
void hnsw_probe_code(const hnsw *h, hnsw_probe *p, uint32_t id);
/* x -> out[dim], finite and normalised as the metric wants; what names the vector in the error. */
int hnsw_prepare(const hnsw *h, const float *x, float *out, const char *what, fo_err *err);

#endif
