/* hnsw_merge.c - graphs with dead points: repaired in place, or merged into one without them. */
#include <stdlib.h>

#include "index/dense/hnsw_link.h"
#include "kernels/bits.h"

static bool is_alive(const uint64_t *alive, uint32_t id) {
    return !alive || fo_bits_get(alive, id);
}

size_t hnsw_flood(const hnsw *h, uint32_t from, uint64_t *seen, uint32_t *stack) {
    size_t n = 0, found = 0;
    uint32_t count = hnsw_count(h);
    if (from >= count || fo_bits_get(seen, from)) return 0;
    fo_bits_set(seen, from);
    stack[n++] = from;
    while (n) {
        const uint32_t *links = hnsw_links(h, stack[--n], 0);
        found++;
        for (uint32_t i = 0; i < h->m0; i++) {
            uint32_t to = hnsw_load(links + i);
            if (to >= count) break;
            if (fo_bits_get(seen, to)) continue;
            fo_bits_set(seen, to);
            stack[n++] = to;
        }
    }
    return found;
}

/* A link to `id` from a reached point near it: into a free slot where one is, else in the place of
 * the last link of the nearest point that did not give that up before (`gave`); the next round
 * finds whom that cut off. The point keeps its own links: others may hang on them. */
static int adopt(hnsw *h, hnsw_writer *w, const uint64_t *seen, uint64_t *gave,
                 const uint64_t *alive, uint32_t id, fo_err *err) {
    if (hnsw_load(hnsw_links(h, id, 0)) == HNSW_NONE) {
        int rc = hnsw_link(h, w, id, err);
        if (rc) return rc;
    }
    float score; /* from the entry on level 0: all that is met is reached, as the levels are not */
    uint32_t entry = atomic_load(&h->entry), parent = HNSW_NONE;
    hnsw_probe_code(h, &w->base, id);
    hnsw_score(h, &w->base, &entry, 1, &score);
    hnsw_walk(h, &w->base, &w->s, 0, entry, score, h->ef_construction, hnsw_salt(id));
    for (size_t i = 0; i < w->s.pool_n; i++) {
        uint32_t near = hnsw_key_id(w->s.pool[i]), j = 0;
        if (near == id || !is_alive(alive, near) || !fo_bits_get(seen, near)) continue;
        const uint32_t *slots = hnsw_links(h, near, 0);
        while (j < h->m0 && slots[j] != id && slots[j] != HNSW_NONE) j++;
        if (j < h->m0) { /* there already, or room for it */
            if (slots[j] != id) hnsw_link_back(h, w, near, id, 0);
            return FO_OK;
        }
        if (parent == HNSW_NONE && !fo_bits_get(gave, near)) parent = near;
    }
    if (parent == HNSW_NONE) return FO_OK;
    fo_bits_set(gave, parent);
    hnsw_store(hnsw_links(h, parent, 0) + h->m0 - 1, id);
    return FO_OK;
}

/* Link what cannot be reached from the entry at level 0 (of the points in alive, NULL: all). */
static int reach_all(hnsw *h, hnsw_writer *w, const uint64_t *alive, fo_err *err) {
    enum { ROUNDS = 8 };
    size_t n = hnsw_count(h), words = n / 64 + 1;
    uint32_t entry = atomic_load(&h->entry);
    if (n == 0 || entry == HNSW_NONE) return FO_OK;
    int rc = hnsw_scratch_fit(&w->s, h, h->ef_construction, 0, err);
    if (rc) return rc;
    uint64_t *seen = malloc(words * sizeof *seen), *gave = calloc(words, sizeof *gave);
    uint32_t *stack = malloc(n * sizeof *stack);
    if (!seen || !gave || !stack) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory for checking a dense graph");
        goto done;
    }
    for (int round = 0; round < ROUNDS; round++) {
        memset(seen, 0, words * sizeof *seen);
        size_t adopted = 0;
        hnsw_flood(h, entry, seen, stack);
        for (uint32_t id = 0; id < n && !rc; id++) {
            if (fo_bits_get(seen, id) || !is_alive(alive, id)) continue;
            rc = adopt(h, w, seen, gave, alive, id, err);
            hnsw_flood(h, id, seen, stack);
            adopted++;
        }
        if (rc || adopted == 0) break;
    }
done:
    free(seen);
    free(gave);
    free(stack);
    return rc;
}

/* src's lists become dst's: dead points are skipped over. In place when src == dst. */
typedef struct repair_job {
    hnsw *dst;
    const hnsw *src;
    const uint64_t *alive;  /* over src's ids */
    const uint32_t *new_id; /* [src n]; NULL: the same */
    uint64_t *repaired;     /* over src's ids: a list of theirs had lost links */
    hnsw_crew crew;
    const atomic_bool *cancel; /* NULL: never */
} repair_job;

static bool is_cancelled(const atomic_bool *cancel) {
    return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

static uint32_t renamed(const repair_job *j, uint32_t id) {
    return j->new_id ? j->new_id[id] : id;
}

static void add_candidate(const repair_job *j, hnsw_writer *w, uint32_t id, uint32_t *n) {
    if (*n == HNSW_CANDIDATES || fo_bits_get(w->s.visited, id)) return;
    fo_bits_set(w->s.visited, id);
    w->keys[(*n)++] = renamed(j, id);
}

/* The living among the links of a dead point, through at most `depth` more dead ones. */
static void add_past(const repair_job *j, hnsw_writer *w, uint32_t dead, uint32_t level, int depth,
                     uint32_t *n) {
    const uint32_t *links = hnsw_links(j->src, dead, level);
    uint32_t max = level ? j->src->M : j->src->m0;
    for (uint32_t i = 0; links && i < max && *n < HNSW_CANDIDATES; i++) {
        uint32_t to = hnsw_load(links + i);
        if (to >= j->src->limit) break;
        if (is_alive(j->alive, to))
            add_candidate(j, w, to, n);
        else if (depth)
            add_past(j, w, to, level, depth - 1, n);
    }
}

static void forget(const repair_job *j, hnsw_writer *w) {
    memset(w->s.visited, 0, (j->src->limit / 64 + 1) * sizeof *w->s.visited);
}

/* A mapped list may name a point twice, or its own. In a graph that is written to none does: what is put into a list
 * has room for each but once. */
static uint32_t add_once(uint32_t *ids, uint32_t n, uint32_t self, uint32_t id) {
    uint32_t i = 0;
    while (i < n && ids[i] != id) i++;
    if (i == n && id != self) ids[n++] = id;
    return n;
}

/* The living among the links of a point that lost some, or past the lost ones, by the rule that a
 * new point's list is made by. */
static void repair_list(const repair_job *j, hnsw_writer *w, uint32_t id, uint32_t level) {
    hnsw *h = j->dst;
    uint32_t self = renamed(j, id), max = level ? h->M : h->m0, n = 0, n_links = 0, n_dead = 0;
    uint32_t links[2 * HNSW_MAX_M], dead[2 * HNSW_MAX_M], *out = w->chosen[0];
    const uint32_t *slots = hnsw_links(j->src, id, level);
    if (!slots || !hnsw_links(h, self, level)) return;
    for (; n_links < max; n_links++) {
        links[n_links] = hnsw_load(slots + n_links);
        if (links[n_links] >= j->src->limit) break;
        if (!is_alive(j->alive, links[n_links])) dead[n_dead++] = links[n_links];
    }
    if (n_dead == 0) {
        if (h == j->src) return;
        for (uint32_t i = 0; i < n_links; i++) n = add_once(out, n, self, renamed(j, links[i]));
        hnsw_set_links(h, self, level, out, n);
        return;
    }
    forget(j, w);
    fo_bits_set(w->s.visited, id);
    for (uint32_t i = 0; i < n_links; i++)
        if (is_alive(j->alive, links[i])) add_candidate(j, w, links[i], &n);
    for (uint32_t i = 0; i < n_dead; i++) add_past(j, w, dead[i], level, 1, &n);
    hnsw_probe_code(h, &w->base, self);
    uint32_t m, batch[HNSW_BATCH], salt = hnsw_salt(self);
    for (uint32_t i = 0; i < n; i += m) {
        for (m = 0; m < HNSW_BATCH && i + m < n; m++) batch[m] = (uint32_t)w->keys[i + m];
        hnsw_score(h, &w->base, batch, m, w->s.scores);
        for (uint32_t b = 0; b < m; b++) w->keys[i + b] = hnsw_key(w->s.scores[b], batch[b] ^ salt);
    }
    hnsw_sort_keys(w->keys, n);
    hnsw_unsalt(w->keys, n, salt);
    if (n > 2 * max) n = 2 * max; /* farther ones cost time and links that are not worth it */
    uint32_t n_out = hnsw_choose(h, w, h->bias ? h->bias[self] : 0, w->keys, n, max, out);
    hnsw_set_links(h, self, level, out, n_out);
    __atomic_fetch_or(j->repaired + id / 64, 1ull << id % 64, __ATOMIC_RELAXED);
}

static void mend_some(void *arg, size_t begin, size_t end, int thread) {
    repair_job *j = arg;
    hnsw_writer *w = j->crew.writers[thread];
    if (is_cancelled(j->cancel)) return;
    for (size_t id = begin; id < end; id++) {
        if (!is_alive(j->alive, (uint32_t)id)) continue;
        uint32_t top = hnsw_level(j->src, (uint32_t)id);
        for (uint32_t l = 0; l <= top; l++) repair_list(j, w, (uint32_t)id, l);
    }
}

/* Links back to a repaired point, as a new point gets them: who lost links was linked to by the lost
 * ones too, and without others in their place fewer paths lead to it. */
static void link_back_some(void *arg, size_t begin, size_t end, int thread) {
    repair_job *j = arg;
    hnsw *h = j->dst;
    for (size_t id = begin; id < end; id++) {
        if (!fo_bits_get(j->repaired, (uint32_t)id)) continue;
        uint32_t self = renamed(j, (uint32_t)id), top = hnsw_level(h, self), to[2 * HNSW_MAX_M];
        for (uint32_t l = 0; l <= top; l++) {
            const uint32_t *slots = hnsw_links(h, self, l);
            uint32_t n = 0, max = l ? h->M : h->m0;
            for (; n < max && (to[n] = hnsw_load(slots + n)) < h->limit; n++) continue;
            for (uint32_t i = 0; i < n; i++)
                hnsw_link_back(h, j->crew.writers[thread], to[i], self, l);
        }
    }
}

/* The living point of the highest level (the first of them) becomes the entry. */
static void settle_entry(repair_job *j) {
    uint32_t best = HNSW_NONE, level = 0;
    for (uint32_t id = 0, n = hnsw_count(j->src); id < n; id++) {
        if (!is_alive(j->alive, id)) continue;
        uint32_t l = hnsw_level(j->dst, renamed(j, id));
        if (best != HNSW_NONE && l <= level) continue;
        best = renamed(j, id);
        level = l;
    }
    if (best == HNSW_NONE) return; /* nobody lives: the dead lead to the dead */
    pthread_mutex_lock(&j->dst->entry_mu);
    atomic_store_explicit(&j->dst->entry, best, memory_order_release);
    pthread_mutex_unlock(&j->dst->entry_mu);
}

static int repair(repair_job *j, fo_pool *pool, fo_err *err) {
    enum { GRAIN = 64 };
    for (int i = 0; i < j->crew.n; i++) {
        int rc = hnsw_scratch_fit(&j->crew.writers[i]->s, j->src, 0, 0, err);
        if (rc) return rc;
    }
    size_t n = hnsw_count(j->src);
    j->repaired = calloc(n / 64 + 1, sizeof *j->repaired);
    if (!j->repaired) return fo_fail(err, FO_ENOMEM, "out of memory for repairing a dense graph");
    hnsw_run(pool, n, GRAIN, mend_some, j);
    hnsw_run(pool, n, GRAIN, link_back_some, j); /* every list stands: none is set over again */
    settle_entry(j);
    free(j->repaired);
    return FO_OK;
}

int hnsw_repair(hnsw *h, const uint64_t *alive, fo_pool *pool, fo_err *err) {
    if (h->mapped) return fo_fail(err, FO_EUNSUPPORTED, "a mapped dense graph is not changed");
    repair_job j = {.dst = h, .src = h, .alive = alive};
    int rc = hnsw_crew_init(&j.crew, h, pool, err);
    if (!rc) rc = repair(&j, pool, err);
    if (!rc) rc = reach_all(h, j.crew.writers[0], alive, err);
    hnsw_crew_deinit(&j.crew);
    return rc;
}

typedef struct link_job {
    hnsw *h;
    hnsw_crew *crew;
    uint32_t skip_from, skip_to; /* the ids of the graph that was kept */
    size_t total;
    const atomic_bool *cancel; /* NULL: never */
    hnsw_progress_fn *progress;
    void *ctx;
    atomic_size_t done;
} link_job;

static void link_rest(void *arg, size_t begin, size_t end, int thread) {
    link_job *j = arg;
    if (is_cancelled(j->cancel)) return;
    for (size_t i = begin; i < end; i++) {
        uint32_t id = (uint32_t)(i < j->skip_from ? i : i + (j->skip_to - j->skip_from));
        hnsw_link(j->h, j->crew->writers[thread], id, NULL);
    }
    size_t done = atomic_fetch_add(&j->done, end - begin) + end - begin;
    if (j->progress) j->progress(j->ctx, done, j->total);
}

/* Rows of src's living points to the slots from `at` on; new_id (may be NULL) learns the slots. */
static uint32_t copy_rows(hnsw *h, const hnsw_merge_input *in, uint32_t at, uint32_t *new_id,
                          bool keep_levels) {
    const hnsw *g = in->graph;
    for (uint32_t id = 0, n = hnsw_count(g); id < n; id++) {
        if (!is_alive(in->alive, id)) continue;
        memcpy(h->codes + at * h->code_stride, hnsw_code(g, id), h->code_stride);
        memcpy(h->rest + at * h->code_stride, g->rest + id * h->code_stride, h->code_stride);
        h->scales[at] = g->scales[id];
        if (h->bias) h->bias[at] = g->bias[id];
        hnsw_place(h, at, keep_levels ? hnsw_level(g, id) : hnsw_draw_level(h, at));
        if (new_id) new_id[id] = at;
        at++;
    }
    return at;
}

static size_t count_alive(const hnsw_merge_input *in) {
    size_t n = 0;
    for (uint32_t id = 0, count = hnsw_count(in->graph); id < count; id++)
        n += is_alive(in->alive, id);
    return n;
}

/* Everything but the links: *out gets its rows; kept (an index into in, or n_in) its ids' map. */
static int gather_rows(hnsw *h, const hnsw_merge_input *in, size_t n_in, size_t kept,
                       uint32_t **new_id, link_job *link, fo_err *err) {
    uint32_t at = 0;
    if (kept < n_in) {
        *new_id = malloc(((size_t)hnsw_count(in[kept].graph) + 1) * sizeof **new_id);
        if (!*new_id) return fo_fail(err, FO_ENOMEM, "out of memory for merging dense graphs");
    }
    for (size_t i = 0; i < n_in; i++) {
        uint32_t from = at;
        at = copy_rows(h, &in[i], at, i == kept ? *new_id : NULL, i == kept);
        if (i != kept) continue;
        link->skip_from = from;
        link->skip_to = at;
    }
    atomic_store_explicit(&h->n, at, memory_order_release);
    return FO_OK;
}

int hnsw_merge(hnsw **out, const hnsw_merge_input *in, size_t n_in, const hnsw_params *p,
               fo_pool *pool, hnsw_progress_fn *progress, void *ctx, fo_err *err) {
    enum { GRAIN = 64 };
    if (n_in == 0) return fo_fail(err, FO_EINVAL, "nothing to merge");
    size_t total = 0, kept = n_in, kept_alive = 0;
    const hnsw *first = in[0].graph;
    hnsw_params params = p ? *p
                           : (hnsw_params){.M = first->M,
                                           .ef_construction = first->ef_construction,
                                           .seed = first->seed};
    params.dim = first->dim;
    params.metric = first->metric;
    if (params.M == 0) params.M = first->M;
    for (size_t i = 0; i < n_in; i++) {
        const hnsw *g = in[i].graph;
        if (g->dim != first->dim || g->metric != first->metric)
            return fo_fail(err, FO_EINVAL, "dense graphs of different kinds do not merge");
        size_t alive = count_alive(&in[i]);
        total += alive;
        if (alive > kept_alive && g->M == params.M) {
            kept = i;
            kept_alive = alive;
        }
    }
    if (total > params.capacity) params.capacity = total > 1u << 30 ? UINT32_MAX : (uint32_t)total;
    if (params.capacity == 0) params.capacity = 1;
    hnsw *h;
    int rc = hnsw_create(&h, &params, err);
    if (rc) return rc;
    uint32_t *new_id = NULL;
    repair_job j = {.dst = h, .cancel = params.cancel};
    link_job link = {
        .h = h, .crew = &j.crew, .cancel = params.cancel, .progress = progress, .ctx = ctx};
    rc = hnsw_crew_init(&j.crew, h, pool, err);
    if (!rc) rc = gather_rows(h, in, n_in, kept, &new_id, &link, err);
    if (!rc && kept < n_in) {
        j.src = in[kept].graph;
        j.alive = in[kept].alive;
        j.new_id = new_id;
        rc = repair(&j, pool, err);
    }
    if (!rc) {
        if (total && kept == n_in) hnsw_offer_entry(h, 0);
        link.total = total - (link.skip_to - link.skip_from);
        hnsw_run(pool, link.total, GRAIN, link_rest, &link);
        rc = is_cancelled(params.cancel)
                 ? fo_fail(err, FO_ECANCELLED, "the merge of dense graphs was stopped")
                 : reach_all(h, j.crew.writers[0], NULL, err);
    }
    free(new_id);
    hnsw_crew_deinit(&j.crew);
    if (rc) {
        hnsw_free(h);
        return rc;
    }
    *out = h;
    return FO_OK;
}
