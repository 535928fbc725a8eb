/* hnsw_build.c - inserting points. */
#include <stdlib.h>

#include "index/dense/hnsw_link.h"
#include "kernels/splitmix.h"

static void writer_free(hnsw_writer *w) {
    if (!w) return;
    free(w->s.visited);
    free(w->s.pool);
    free(w->s.heap);
    free(w->s.q);
    free(w->s.qf);
    free(w->base.q);
    free(w->other.q);
    free(w->x);
    free(w->keys);
    free(w);
}

/* For graph h; NULL when out of memory. */
static hnsw_writer *writer_create(const hnsw *h) {
    hnsw_writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->n_keys = HNSW_CANDIDATES;
    w->base.q = aligned_alloc(64, h->code_stride);
    w->other.q = aligned_alloc(64, h->code_stride);
    w->x = malloc(h->dim * sizeof *w->x);
    w->keys = malloc(w->n_keys * sizeof *w->keys);
    if (!w->base.q || !w->other.q || !w->x || !w->keys ||
        hnsw_scratch_fit(&w->s, h, h->ef_construction, 0, NULL) != FO_OK) {
        writer_free(w);
        return NULL;
    }
    return w;
}

int hnsw_crew_init(hnsw_crew *c, const hnsw *h, fo_pool *pool, fo_err *err) {
    *c = (hnsw_crew){.n = pool ? fo_pool_threads(pool) : 1};
    c->writers = calloc((size_t)c->n, sizeof *c->writers);
    for (int i = 0; c->writers && i < c->n; i++) {
        c->writers[i] = writer_create(h);
        if (!c->writers[i]) {
            hnsw_crew_deinit(c);
            break;
        }
    }
    return c->writers ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for building a dense graph");
}

void hnsw_crew_deinit(hnsw_crew *c) {
    for (int i = 0; c->writers && i < c->n; i++) writer_free(c->writers[i]);
    free(c->writers);
    c->writers = NULL;
}

void hnsw_run(fo_pool *pool, size_t n, size_t grain, fo_pool_fn *fn, void *arg) {
    if (pool)
        fo_pool_run(pool, n, grain, fn, arg);
    else
        fn(arg, 0, n, 0);
}

/* A geometric level by the paper's m_L = 1 / ln M: each level up has one point in M. Drawn from
 * (seed, id) alone, so that neither order nor threads change it. */
uint32_t hnsw_draw_level(const hnsw *h, uint32_t id) {
    double u = fo_uniform(fo_mix64(h->seed + (id + 1ull) * FO_SPLITMIX_STEP)), bound = 1.0 / h->M;
    uint32_t level = 0;
    for (; level < HNSW_MAX_LEVEL && u < bound; level++) bound /= h->M;
    return level;
}

void hnsw_place(hnsw *h, uint32_t id, uint32_t level) {
    memset(h->links0 + (size_t)id * h->m0, 0xFF, h->m0 * sizeof *h->links0);
    size_t len = atomic_load_explicit(&h->upper_len, memory_order_relaxed);
    size_t need = 1 + (size_t)level * h->M;
    h->upper_at[id] = 0;
    if (level == 0 || len + need > h->upper_cap) return;
    h->upper[len] = level;
    memset(h->upper + len + 1, 0xFF, (need - 1) * sizeof *h->upper);
    h->upper_at[id] = (uint32_t)len + 1;
    atomic_store_explicit(&h->upper_len, (uint32_t)(len + need), memory_order_release);
}

uint32_t hnsw_choose(const hnsw *h, hnsw_writer *w, float bias, const uint64_t *keys, size_t n,
                     uint32_t max, uint32_t *out) {
    enum { AT_ONCE = 8 };
    uint32_t n_out = 0;
    for (size_t c = 0; c < n && n_out < max; c++) {
        uint32_t id = hnsw_key_id(keys[c]);
        float to_base = hnsw_key_score(keys[c]) + bias, own = h->bias ? h->bias[id] : 0;
        bool diverse = true;
        if (n_out) hnsw_probe_code(h, &w->other, id);
        for (uint32_t i = 0; diverse && i < n_out; i += AT_ONCE) {
            float to_chosen[AT_ONCE];
            uint32_t m = n_out - i < AT_ONCE ? n_out - i : AT_ONCE;
            hnsw_score(h, &w->other, out + i, m, to_chosen);
            for (uint32_t j = 0; j < m; j++) diverse &= !(to_chosen[j] + own > to_base);
        }
        if (diverse) out[n_out++] = id;
    }
    return n_out;
}

static pthread_mutex_t *lock_of(hnsw *h, uint32_t id) {
    return &h->locks[id % HNSW_LOCKS];
}

/* A slot whose link stays is not touched: readers never miss it. */
static void replace_links(uint32_t *slots, uint32_t max, const uint32_t *ids, uint32_t n) {
    bool there[2 * HNSW_MAX_M] = {false};
    uint32_t holes[2 * HNSW_MAX_M], n_holes = 0, used = 0;
    for (; used < max && slots[used] != HNSW_NONE; used++) {
        uint32_t j = 0;
        while (j < n && ids[j] != slots[used]) j++;
        if (j < n)
            there[j] = true;
        else
            holes[n_holes++] = used;
    }
    uint32_t filled = 0;
    for (uint32_t j = 0; j < n; j++) {
        if (there[j]) continue;
        if (filled < n_holes)
            hnsw_store(slots + holes[filled++], ids[j]);
        else
            hnsw_store(slots + used++, ids[j]);
    }
    while (n_holes > filled) { /* pack: the last link moves into the hole */
        uint32_t hole = holes[--n_holes];
        if (hole != --used) hnsw_store(slots + hole, slots[used]);
        hnsw_store(slots + used, HNSW_NONE);
    }
}

void hnsw_set_links(hnsw *h, uint32_t id, uint32_t level, const uint32_t *ids, uint32_t n) {
    uint32_t *slots = hnsw_links(h, id, level);
    if (!slots) return;
    pthread_mutex_lock(lock_of(h, id));
    replace_links(slots, level ? h->M : h->m0, ids, n);
    pthread_mutex_unlock(lock_of(h, id));
}

void hnsw_link_back(hnsw *h, hnsw_writer *w, uint32_t from, uint32_t to, uint32_t level) {
    uint32_t *slots = hnsw_links(h, from, level), max = level ? h->M : h->m0, n = 0;
    if (!slots) return;
    pthread_mutex_lock(lock_of(h, from));
    uint32_t *ids = w->s.ids;
    for (; n < max && slots[n] != HNSW_NONE && slots[n] != to; n++) ids[n] = slots[n];
    if (n < max) {
        hnsw_store(slots + n, to); /* free, or there already */
    } else {
        uint32_t kept[2 * HNSW_MAX_M];
        uint64_t keys[2 * HNSW_MAX_M + 1];
        float score;
        uint32_t salt = hnsw_salt(from);
        hnsw_probe_code(h, &w->base, from);
        hnsw_score(h, &w->base, ids, n, w->s.scores);
        hnsw_score(h, &w->base, &to, 1, &score);
        for (uint32_t i = 0; i < n; i++) keys[i] = hnsw_key(w->s.scores[i], ids[i] ^ salt);
        keys[n++] = hnsw_key(score, to ^ salt);
        hnsw_sort_keys(keys, n);
        hnsw_unsalt(keys, n, salt);
        uint32_t m = hnsw_choose(h, w, h->bias ? h->bias[from] : 0, keys, n, max, kept);
        replace_links(slots, max, kept, m);
    }
    pthread_mutex_unlock(lock_of(h, from));
}

void hnsw_offer_entry(hnsw *h, uint32_t id) {
    pthread_mutex_lock(&h->entry_mu);
    uint32_t cur = atomic_load_explicit(&h->entry, memory_order_relaxed);
    if (cur == HNSW_NONE || hnsw_level(h, id) > hnsw_level(h, cur))
        atomic_store_explicit(&h->entry, id, memory_order_release);
    pthread_mutex_unlock(&h->entry_mu);
}

int hnsw_link(hnsw *h, hnsw_writer *w, uint32_t id, fo_err *err) {
    uint32_t entry = atomic_load_explicit(&h->entry, memory_order_acquire);
    if (entry == HNSW_NONE || entry == id) {
        hnsw_offer_entry(h, id);
        return FO_OK;
    }
    int rc = hnsw_scratch_fit(&w->s, h, h->ef_construction, 0, err);
    if (rc) return rc;
    uint32_t level = hnsw_level(h, id), top = hnsw_level(h, entry);
    float score, bias = h->bias ? h->bias[id] : 0;
    hnsw_probe_code(h, &w->base, id);
    uint32_t start = hnsw_descend(h, &w->base, &w->s, entry, level, &score);
    uint32_t from = level < top ? level : top;
    for (uint32_t l = from + 1; l-- > 0;) {
        hnsw_walk(h, &w->base, &w->s, l, start, score, h->ef_construction, hnsw_salt(id));
        start = hnsw_key_id(w->s.pool[0]);
        score = hnsw_key_score(w->s.pool[0]);
        size_t n = 0; /* the point itself may be met when it is linked again */
        for (size_t i = 0; i < w->s.pool_n; i++)
            if (hnsw_key_id(w->s.pool[i]) != id) w->s.pool[n++] = w->s.pool[i];
        w->n_chosen[l] = hnsw_choose(h, w, bias, w->s.pool, n, h->M, w->chosen[l]);
    }
    /* All own lists before the first link to the point: whoever arrives can leave. */
    for (uint32_t l = 0; l <= from; l++) hnsw_set_links(h, id, l, w->chosen[l], w->n_chosen[l]);
    for (uint32_t l = 0; l <= from; l++)
        for (uint32_t i = 0; i < w->n_chosen[l]; i++) hnsw_link_back(h, w, w->chosen[l][i], id, l);
    if (level > top) hnsw_offer_entry(h, id);
    return FO_OK;
}

typedef struct build_job {
    hnsw *h;
    hnsw_crew crew;
    const float *vecs;
    uint32_t first;
    size_t n;
    hnsw_progress_fn *progress;
    void *ctx;
    atomic_size_t done;
    pthread_mutex_t mu;
    size_t bad; /* guarded by mu: the first vector that was refused */
    int rc;     /* guarded by mu */
    fo_err err; /* guarded by mu: about vector `bad` */
} build_job;

static void encode_some(void *arg, size_t begin, size_t end, int thread) {
    build_job *j = arg;
    float *x = j->crew.writers[thread]->x;
    for (size_t i = begin; i < end; i++) {
        fo_err err = {0};
        int rc = hnsw_prepare(j->h, j->vecs + i * j->h->dim, x, "the vector", &err);
        if (rc) {
            pthread_mutex_lock(&j->mu);
            if (!j->rc || i < j->bad) {
                j->rc = rc;
                j->bad = i;
                j->err = err;
            }
            pthread_mutex_unlock(&j->mu);
            return;
        }
        hnsw_encode(j->h, j->first + (uint32_t)i, x);
    }
}

static void link_some(void *arg, size_t begin, size_t end, int thread) {
    build_job *j = arg;
    for (size_t i = begin; i < end; i++)
        hnsw_link(j->h, j->crew.writers[thread], j->first + (uint32_t)i, NULL);
    size_t done = atomic_fetch_add(&j->done, end - begin) + end - begin;
    if (j->progress) j->progress(j->ctx, done, j->n);
}

int hnsw_build(hnsw *h, const float *vecs, size_t n, fo_pool *pool, hnsw_progress_fn *progress,
               void *ctx, fo_err *err) {
    enum { GRAIN = 64 };
    if (h->mapped) return fo_fail(err, FO_EUNSUPPORTED, "a mapped dense graph takes no points");
    uint32_t first = hnsw_count(h);
    if (n > h->capacity - first)
        return fo_fail(err, FO_ELIMIT, "%zu points do not fit a dense graph with %u of %u", n,
                       first, h->capacity);
    build_job j = {.h = h, .vecs = vecs, .first = first, .n = n, .progress = progress, .ctx = ctx};
    int rc = hnsw_crew_init(&j.crew, h, pool, err);
    if (rc || n == 0) goto done;
    pthread_mutex_init(&j.mu, NULL);
    hnsw_run(pool, n, GRAIN, encode_some, &j);
    pthread_mutex_destroy(&j.mu);
    if (j.rc) {
        if (err) *err = j.err;
        rc = j.rc;
        fo_fail_prefix(err, "vector %zu", j.bad);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        hnsw_place(h, first + (uint32_t)i, hnsw_draw_level(h, first + (uint32_t)i));
    if (first == 0) hnsw_offer_entry(h, 0);
    hnsw_run(pool, n, GRAIN, link_some, &j);
    atomic_store_explicit(&h->n, first + (uint32_t)n, memory_order_release);
done:
    hnsw_crew_deinit(&j.crew);
    return rc;
}
