/* hnsw_search.c - the walk over the graph, and the choice between walking and scanning. */
#include <math.h>
#include <stdlib.h>

#include "index/dense/hnsw_internal.h"
#include "kernels/bits.h"

hnsw_scratch *hnsw_scratch_create(void) {
    return calloc(1, sizeof(hnsw_scratch));
}

void hnsw_scratch_free(hnsw_scratch *s) {
    if (!s) return;
    free(s->visited);
    free(s->pool);
    free(s->heap);
    free(s->q);
    free(s->qf);
    free(s);
}

/* Grow *p to at least `want` items; contents are lost. */
static bool grow(void *p, size_t *cap, size_t want, size_t item) {
    void **slot = p;
    if (*cap >= want) return true;
    want += want / 2;
    void *bigger = NULL;
    if (posix_memalign(&bigger, 64, want * item) != 0) return false;
    free(*slot);
    *slot = bigger;
    *cap = want;
    return true;
}

int hnsw_scratch_fit(hnsw_scratch *s, const hnsw *h, size_t pool, size_t heap, fo_err *err) {
    size_t dim_cap = s->dim_cap;
    if (!grow(&s->visited, &s->visited_words, h->limit / 64 + 1, sizeof *s->visited) ||
        !grow(&s->pool, &s->pool_cap, pool + 1, sizeof *s->pool) ||
        !grow(&s->heap, &s->heap_cap, heap, sizeof *s->heap) ||
        !grow(&s->q, &dim_cap, h->code_stride, sizeof *s->q) ||
        !grow(&s->qf, &s->dim_cap, h->code_stride, sizeof *s->qf))
        return fo_fail(err, FO_ENOMEM, "out of memory for a dense search");
    return FO_OK;
}

void hnsw_get_search_stats(const hnsw_scratch *s, hnsw_search_stats *out) {
    *out = s->stats;
}

static void sift_down(uint64_t *a, size_t i, size_t n) { /* smallest on top */
    uint64_t x = a[i];
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= n) break;
        if (c + 1 < n && a[c + 1] < a[c]) c++;
        if (x <= a[c]) break;
        a[i] = a[c];
        i = c;
    }
    a[i] = x;
}

void hnsw_sort_keys(uint64_t *keys, size_t n) {
    enum { INSERTION = 24 };
    if (n <= INSERTION) {
        for (size_t i = 1; i < n; i++) {
            uint64_t x = keys[i];
            size_t j = i;
            for (; j && keys[j - 1] < x; j--) keys[j] = keys[j - 1];
            keys[j] = x;
        }
        return;
    }
    for (size_t i = n / 2; i-- > 0;) sift_down(keys, i, n);
    for (size_t m = n; m > 1;) {
        uint64_t x = keys[0];
        keys[0] = keys[--m];
        keys[m] = x;
        sift_down(keys, 0, m);
    }
}

void hnsw_score(const hnsw *h, const hnsw_probe *p, const uint32_t *ids, size_t n, float *scores) {
    int32_t dots[HNSW_BATCH];
    for (size_t i = 0; i < n; i++) __builtin_prefetch(h->scales + ids[i]);
    h->k.dot_codes(p->q, h->codes, h->code_stride, h->code_stride, ids, n, dots);
    for (size_t i = 0; i < n; i++)
        scores[i] = (float)(dots[i] - p->offset) * p->scale * h->scales[ids[i]];
    if (h->bias)
        for (size_t i = 0; i < n; i++) scores[i] += h->bias[ids[i]];
}

uint32_t hnsw_descend(const hnsw *h, const hnsw_probe *p, hnsw_scratch *s, uint32_t entry,
                      uint32_t level, float *score) {
    uint32_t cur = entry;
    float best;
    hnsw_score(h, p, &cur, 1, &best);
    s->stats.n_scored++;
    for (uint32_t l = hnsw_level(h, entry); l > level; l--) {
        for (bool moved = true; moved;) {
            moved = false;
            const uint32_t *links = hnsw_links(h, cur, l);
            size_t n = 0;
            for (uint32_t i = 0; links && i < h->M; i++) {
                uint32_t id = hnsw_load(links + i);
                if (id >= h->limit) break;
                s->ids[n++] = id;
            }
            hnsw_score(h, p, s->ids, n, s->scores);
            s->stats.n_scored += n;
            for (size_t i = 0; i < n; i++) {
                if (s->scores[i] > best) {
                    best = s->scores[i];
                    cur = s->ids[i];
                    moved = true;
                }
            }
        }
    }
    *score = best;
    return cur;
}

/* Put key into the descending pool of at most cap; returns its place (cap: it fell off). */
static inline size_t pool_insert(uint64_t *pool, size_t *n, size_t cap, uint64_t key) {
    size_t lo = 0, hi = *n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (pool[mid] > key)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == cap) return cap;
    size_t last = *n < cap ? (*n)++ : cap - 1;
    memmove(pool + lo + 1, pool + lo, (last - lo) * sizeof *pool);
    pool[lo] = key;
    return lo;
}

static inline bool visit(uint64_t *visited, uint32_t id) { /* true: for the first time */
    uint64_t bit = 1ull << (id & 63), old = visited[id >> 6];
    visited[id >> 6] = old | bit;
    return !(old & bit);
}

/* The links of a point that were not met yet -> s->ids[n...]; returns the new n. */
static inline size_t gather(const hnsw *h, hnsw_scratch *s, uint32_t id, uint32_t level, size_t n) {
    const uint32_t *links = hnsw_links(h, id, level);
    uint32_t max = level ? h->M : h->m0;
    if (!links) return n;
    for (uint32_t i = 0; i < max; i++) {
        uint32_t to = hnsw_load(links + i);
        if (to >= h->limit) break;
        s->ids[n] = to;
        n += visit(s->visited, to);
    }
    return n;
}

static inline void fetch_links(const hnsw *h, uint32_t id) {
    const char *p = (const char *)(h->links0 + (size_t)id * h->m0);
    for (size_t j = 0; j < h->m0 * sizeof *h->links0; j += 64) __builtin_prefetch(p + j);
}

static void forget_visits(const hnsw *h, hnsw_scratch *s) {
    memset(s->visited, 0, (h->limit / 64 + 1) * sizeof *s->visited);
}

void hnsw_walk(const hnsw *h, const hnsw_probe *p, hnsw_scratch *s, uint32_t level, uint32_t start,
               float start_score, size_t ef, uint32_t salt) {
    forget_visits(h, s);
    visit(s->visited, start);
    uint64_t *pool = s->pool;
    size_t n = 1, cur = 0;
    pool[0] = hnsw_key(start_score, start ^ salt);
    while (cur < n) {
        size_t m = 0, next = cur;
        for (int taken = 0; next < n && taken < HNSW_AT_ONCE; next++) {
            if (pool[next] & 1) continue;
            pool[next] |= 1;
            m = gather(h, s, hnsw_key_id(pool[next]) ^ salt, level, m);
            taken++;
        }
        s->stats.n_scored += m;
        hnsw_score(h, p, s->ids, m, s->scores);
        for (size_t i = 0; i < m; i++) {
            uint64_t key = hnsw_key(s->scores[i], s->ids[i] ^ salt);
            if (n == ef && key <= pool[ef - 1]) continue;
            size_t at = pool_insert(pool, &n, ef, key);
            if (at < next) next = at;
            if (level == 0) fetch_links(h, s->ids[i]);
        }
        cur = next;
    }
    if (salt) hnsw_unsalt(pool, n, salt);
    s->pool_n = n;
}

static inline bool allows(const hnsw_query *q, uint32_t visible, uint32_t id) {
    return id < visible && (!q->allowed || fo_bits_get(q->allowed, id));
}

static void heap_push(uint64_t *a, size_t *n, uint64_t x) { /* largest on top */
    size_t i = (*n)++;
    for (; i && a[(i - 1) / 2] < x; i = (i - 1) / 2) a[i] = a[(i - 1) / 2];
    a[i] = x;
}

static uint64_t heap_pop(uint64_t *a, size_t *n) {
    uint64_t top = a[0], x = a[--*n];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= *n) break;
        if (c + 1 < *n && a[c + 1] > a[c]) c++;
        if (x >= a[c]) break;
        a[i] = a[c];
        i = c;
    }
    a[i] = x;
    return top;
}

/* Walk level 0 through everything but keep only allowed points in the pool; stops when no
 * frontier point can better it. False: `budget` codes were compared before that. */
static bool walk_filtered(const hnsw *h, const hnsw_probe *p, hnsw_scratch *s, const hnsw_query *q,
                          uint32_t visible, uint32_t start, float start_score, size_t ef,
                          size_t budget) {
    forget_visits(h, s);
    visit(s->visited, start);
    size_t n_heap = 0, scored = 1;
    s->pool_n = 0;
    uint64_t first = hnsw_key(start_score, start);
    heap_push(s->heap, &n_heap, first);
    if (allows(q, visible, start)) s->pool[s->pool_n++] = first;
    while (n_heap) {
        uint64_t best = heap_pop(s->heap, &n_heap);
        if (s->pool_n == ef && best < s->pool[ef - 1]) break;
        size_t m = gather(h, s, hnsw_key_id(best), 0, 0);
        scored += m;
        s->stats.n_scored += m;
        if (scored > budget) return false;
        hnsw_score(h, p, s->ids, m, s->scores);
        for (size_t i = 0; i < m; i++) {
            uint64_t key = hnsw_key(s->scores[i], s->ids[i]);
            if (s->pool_n == ef && key <= s->pool[ef - 1]) continue;
            heap_push(s->heap, &n_heap, key); /* at most `budget` pushes: it has room */
            if (allows(q, visible, s->ids[i])) pool_insert(s->pool, &s->pool_n, ef, key);
        }
    }
    return true;
}

/* The next ids that may be returned, from *at on; at most max. */
static size_t next_allowed(const hnsw_query *q, uint32_t visible, uint32_t *at, uint32_t *ids,
                           size_t max) {
    size_t n = 0;
    uint32_t id = *at;
    if (!q->allowed) {
        while (id < visible && n < max) ids[n++] = id++;
        *at = id;
        return n;
    }
    while (id < visible && n < max) {
        uint64_t word = q->allowed[id >> 6] >> (id & 63);
        if (!word) {
            id = (id | 63) + 1;
            continue;
        }
        id += (uint32_t)__builtin_ctzll(word);
        if (id >= visible) break;
        ids[n++] = id++;
    }
    *at = id;
    return n;
}

enum { SCAN_BATCH = 32 }; /* rows asked for at once: more would not fit the first cache */

static void scan_codes(const hnsw *h, const hnsw_probe *p, hnsw_scratch *s, const hnsw_query *q,
                       uint32_t visible, size_t ef) {
    uint32_t at = 0;
    size_t m;
    s->pool_n = 0;
    s->stats.scanned = true;
    while ((m = next_allowed(q, visible, &at, s->ids, SCAN_BATCH)) != 0) {
        hnsw_score(h, p, s->ids, m, s->scores);
        s->stats.n_scored += m;
        for (size_t i = 0; i < m; i++) {
            uint64_t key = hnsw_key(s->scores[i], s->ids[i]);
            if (s->pool_n == ef && key <= s->pool[ef - 1]) continue;
            pool_insert(s->pool, &s->pool_n, ef, key);
        }
    }
}

static float rescore(const hnsw *h, const hnsw_scratch *s, uint32_t id) {
    const uint8_t *code = hnsw_code(h, id);
    const int8_t *rest = h->rest + id * h->code_stride;
    float scale = h->scales[id] / 256.0f;
    if (h->metric == HNSW_L2) return -h->k.l2_fine(s->qf, code, rest, scale, h->code_stride);
    return scale * h->k.dot_fine(s->qf, code, rest, h->code_stride);
}

static void fetch_rows(const hnsw *h, uint32_t id) {
    size_t at = id * h->code_stride;
    for (size_t j = 0; j < h->code_stride; j += 64) {
        __builtin_prefetch(h->codes + at + j);
        __builtin_prefetch(h->rest + at + j);
    }
}

static void scan_exact(const hnsw *h, hnsw_scratch *s, const hnsw_query *q, uint32_t visible,
                       size_t k) {
    uint32_t at = 0;
    size_t m;
    s->pool_n = 0;
    s->stats.scanned = true;
    while ((m = next_allowed(q, visible, &at, s->ids, SCAN_BATCH)) != 0) {
        for (size_t i = 0; i < m; i++) {
            if (i + 2 < m) fetch_rows(h, s->ids[i + 2]);
            uint64_t key = hnsw_key(rescore(h, s, s->ids[i]), s->ids[i]);
            if (s->pool_n == k && key <= s->pool[k - 1]) continue;
            pool_insert(s->pool, &s->pool_n, k, key);
        }
    }
}

/* The first `want` allowed keys of the pool, packed to its front; returns how many. */
static size_t keep_allowed(hnsw_scratch *s, const hnsw_query *q, uint32_t visible, size_t want) {
    size_t n = 0;
    for (size_t i = 0; i < s->pool_n && n < want; i++)
        if (allows(q, visible, hnsw_key_id(s->pool[i]))) s->pool[n++] = s->pool[i];
    return n;
}

static size_t count_allowed(const hnsw_query *q, uint32_t visible) {
    if (!q->allowed) return visible;
    size_t n = 0;
    for (uint32_t w = 0; w < visible / 64; w++) n += (size_t)__builtin_popcountll(q->allowed[w]);
    if (visible % 64)
        n += (size_t)__builtin_popcountll(q->allowed[visible / 64] & ((1ull << visible % 64) - 1));
    return n;
}

/* Fill the pool with at least min(k, n_allowed) allowed keys by code; returns how many lead it. */
static int find_candidates(const hnsw *h, const hnsw_query *q, hnsw_scratch *s, uint32_t visible,
                           size_t n_allowed, size_t k, size_t ef, size_t want, size_t *found,
                           fo_err *err) {
    /* A scored point costs the scan a third of what it costs a walk (rows in order, no visits),
     * and a walk for ef allowed points scores about 15 ef n / n_allowed of them. */
    enum { WALK_SCORES = 15, WALK_COST = 3 };
    size_t count = hnsw_count(h);
    uint32_t entry = atomic_load_explicit(&h->entry, memory_order_acquire);
    double share = (double)n_allowed / (double)count;
    size_t wide = share < 1 ? (size_t)((double)ef / share) + 8 : ef;
    bool walk_all = share >= 0.7; /* few are barred: the plain walk, a little wider */
    size_t budget = n_allowed / WALK_COST + ef;
    bool scan = (double)ef * WALK_SCORES / share > (double)budget && !(walk_all && q->walk);
    int rc = hnsw_scratch_fit(s, h, walk_all ? wide : ef, scan ? 0 : budget + HNSW_BATCH, err);
    if (rc) return rc;
    hnsw_probe p = {.q = s->q};
    hnsw_probe_vector(h, &p, s->qf);
    if (!scan && entry != HNSW_NONE) {
        float score;
        uint32_t start = hnsw_descend(h, &p, s, entry, 0, &score);
        if (walk_all) {
            hnsw_walk(h, &p, s, 0, start, score, wide, 0);
            *found = keep_allowed(s, q, visible, want);
            if (*found >= k) return FO_OK;
        }
        if (walk_filtered(h, &p, s, q, visible, start, score, ef, budget) && s->pool_n >= k) {
            *found = s->pool_n < want ? s->pool_n : want;
            return FO_OK;
        }
    }
    scan_codes(h, &p, s, q, visible, ef);
    *found = s->pool_n < want ? s->pool_n : want;
    return FO_OK;
}

int hnsw_search(const hnsw *h, const hnsw_query *q, hnsw_scratch *s, hnsw_hit *hits, size_t *n,
                fo_err *err) {
    *n = 0;
    s->stats = (hnsw_search_stats){0};
    if (q->k < 1 || q->k > HNSW_MAX_K)
        return fo_fail(err, FO_EINVAL, "k must be between 1 and %d", HNSW_MAX_K);
    if (q->ef > HNSW_MAX_EF) return fo_fail(err, FO_EINVAL, "ef must be at most %d", HNSW_MAX_EF);
    uint32_t count = hnsw_count(h), visible = q->visible < count ? q->visible : count;
    size_t n_allowed = q->allowed && q->n_allowed ? q->n_allowed : count_allowed(q, visible);
    if (n_allowed > visible) n_allowed = visible;
    size_t k = q->k < n_allowed ? q->k : n_allowed;
    int rc = hnsw_scratch_fit(s, h, k, 0, err);
    if (rc) return rc;
    rc = hnsw_prepare(h, q->vector, s->qf, "the query vector", err);
    if (rc || k == 0) return rc;
    memset(s->qf + h->dim, 0, (h->code_stride - h->dim) * sizeof *s->qf);
    if (q->exact || n_allowed <= HNSW_EXACT_BELOW) {
        scan_exact(h, s, q, visible, k);
    } else {
        size_t ef = q->ef ? q->ef : (2 * k > 64 ? 2 * k : 64);
        if (ef < k) ef = k;
        size_t want = k + (k / 2 > 8 ? k / 2 : 8), found = 0;
        rc = find_candidates(h, q, s, visible, n_allowed, k, ef, want, &found, err);
        if (rc) return rc;
        for (size_t i = 0; i < found; i++) fetch_rows(h, hnsw_key_id(s->pool[i]));
        for (size_t i = 0; i < found; i++) {
            uint32_t id = hnsw_key_id(s->pool[i]);
            s->pool[i] = hnsw_key(rescore(h, s, id), id);
        }
        hnsw_sort_keys(s->pool, found);
        s->pool_n = found < k ? found : k;
    }
    for (size_t i = 0; i < s->pool_n; i++)
        hits[i] = (hnsw_hit){hnsw_key_id(s->pool[i]), hnsw_key_score(s->pool[i])};
    *n = s->pool_n;
    return FO_OK;
}
