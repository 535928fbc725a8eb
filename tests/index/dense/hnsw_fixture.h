/* hnsw_fixture.h - points and questions made of a seed, a graph of them, and its recall against an exhaustive scan in double
 * precision. */
#ifndef FORAGE_TESTS_HNSW_FIXTURE_H
#define FORAGE_TESTS_HNSW_FIXTURE_H

#include <math.h>

#include "index/dense/hnsw.h"
#include "tests/test.h"

enum { K = 10 };

/* Points of a test. The thread sanitizer makes each some fifty times dearer: fewer are enough to
 * show a race, and still more than are scanned instead of walked. */
static inline size_t scaled(size_t n) {
#if defined(__SANITIZE_THREAD__)
    enum { SHRINK = 5, LEAST = 1100 };
    return n / SHRINK > LEAST ? n / SHRINK : n < LEAST ? n : LEAST;
#else
    return n;
#endif
}

static inline double normal(uint64_t *r) {
    double u = test_uniform(r) + 1e-12, v = test_uniform(r);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* n points around 40 centres: vectors as embeddings are, not white noise. */
static inline float *make_points(uint64_t *r, size_t n, uint32_t dim) {
    enum { CENTRES = 40 };
    uint64_t fixed = 99; /* the same centres for points and queries */
    float *centre = malloc(CENTRES * dim * sizeof *centre), *x = malloc(n * dim * sizeof *x);
    for (size_t i = 0; i < CENTRES * dim; i++) centre[i] = (float)normal(&fixed);
    for (size_t i = 0; i < n; i++) {
        const float *c = centre + test_random(r) % CENTRES * dim;
        for (uint32_t j = 0; j < dim; j++) x[i * dim + j] = c[j] + 0.8f * (float)normal(r);
    }
    free(centre);
    return x;
}

static inline double score_of(hnsw_metric metric, const float *a, const float *b, uint32_t dim) {
    double dot = 0, aa = 0, bb = 0, l2 = 0;
    for (uint32_t j = 0; j < dim; j++) {
        dot += (double)a[j] * b[j];
        aa += (double)a[j] * a[j];
        bb += (double)b[j] * b[j];
        l2 += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
    }
    return metric == HNSW_L2 ? -l2 : metric == HNSW_IP ? dot : dot / sqrt(aa * bb);
}

static inline bool bit(const uint64_t *map, uint32_t id) {
    return !map || (map[id / 64] >> (id % 64) & 1);
}

/* Best k allowed of points[n]: ids, best first; returns how many. */
static inline size_t oracle(hnsw_metric metric, const float *points, size_t n, uint32_t dim,
                            const float *q, const uint64_t *allowed, size_t k, uint32_t *ids,
                            double *scores) {
    size_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!bit(allowed, i)) continue;
        double s = score_of(metric, q, points + (size_t)i * dim, dim);
        if (m == k && s <= scores[k - 1]) continue;
        size_t at = m < k ? m++ : k - 1;
        for (; at && scores[at - 1] < s; at--) {
            scores[at] = scores[at - 1];
            ids[at] = ids[at - 1];
        }
        scores[at] = s;
        ids[at] = i;
    }
    return m;
}

typedef struct world {
    uint32_t dim;
    size_t n, n_q;
    float *points, *queries;
    hnsw_metric metric;
} world;

static inline world make_world(uint64_t seed, size_t n, size_t n_q, uint32_t dim,
                               hnsw_metric metric) {
    uint64_t r = seed;
    world w = {dim, n, n_q, NULL, NULL, metric};
    w.points = make_points(&r, n, dim);
    w.queries = make_points(&r, n_q, dim);
    return w;
}

static inline void free_world(world *w) {
    free(w->points);
    free(w->queries);
}

static inline hnsw *build(const world *w, fo_pool *pool) {
    fo_err err = {0};
    hnsw *h;
    hnsw_params p = {
        .dim = w->dim, .metric = w->metric, .capacity = (uint32_t)w->n, .ef_construction = 100};
    assert_ok(hnsw_create(&h, &p, &err), &err);
    assert_ok(hnsw_build(h, w->points, w->n, pool, NULL, NULL, &err), &err);
    assert_int_equal(hnsw_count(h), w->n);
    return h;
}

/* Mean recall@K over the queries; every hit is allowed, unique, scored rightly, in order, and as
 * many come as exist. `points` are by id. */
static inline double measure(const hnsw *h, const world *w, const float *points, size_t n,
                             const uint64_t *allowed, size_t ef, bool exact) {
    fo_err err = {0};
    hnsw_scratch *s = hnsw_scratch_create();
    size_t found = 0, want = 0;
    for (size_t i = 0; i < w->n_q; i++) {
        const float *v = w->queries + i * w->dim;
        hnsw_query q = {.vector = v,
                        .k = K,
                        .ef = ef,
                        .visible = (uint32_t)n,
                        .allowed = allowed,
                        .exact = exact,
                        .walk = true};
        hnsw_hit hits[K];
        uint32_t ids[K];
        double scores[K];
        size_t n_hits;
        assert_ok(hnsw_search(h, &q, s, hits, &n_hits, &err), &err);
        size_t m = oracle(w->metric, points, n, w->dim, v, allowed, K, ids, scores);
        assert_int_equal(n_hits, m);
        want += m;
        for (size_t a = 0; a < m; a++) {
            assert_true(hits[a].id < n && bit(allowed, hits[a].id));
            double real = score_of(w->metric, v, points + (size_t)hits[a].id * w->dim, w->dim);
            assert_true(fabs(real - hits[a].score) <= 0.01 * (fabs(real) + 1));
            if (a) assert_true(hits[a].score <= hits[a - 1].score);
            for (size_t b = 0; b < a; b++) assert_int_not_equal(hits[a].id, hits[b].id);
            for (size_t b = 0; b < m; b++) found += hits[a].id == ids[b];
        }
    }
    hnsw_scratch_free(s);
    return want ? (double)found / (double)want : 1;
}

static inline void assert_recall(double got, double least, const char *what) {
    if (got < least) fail_msg("%s: recall %.4f, at least %.4f wanted", what, got, least);
}

#endif
