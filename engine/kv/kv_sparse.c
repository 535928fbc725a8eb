#include "engine/kv/kv_sparse.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"

enum { MOST = 1 << 20 };

typedef struct group {
    uint64_t score;
    int index;
} group;

struct kv_sparse {
    /* immutable after create */
    sparse_params p;
    int n_heads; /* of all layers */
    int n_prompt, n_tokens, cap_blocks;
    uint64_t *sums; /* [n_heads][n_watched] */
    int n_watched;
    int decided; /* the point that was decided last, -1: none */
    int n_slots;
    int32_t *sources; /* [n_heads][blocks that stay] */
    int32_t *blocks;  /* [cap_blocks]: candidates, then what every head keeps */
    group *groups;    /* [cap_blocks] */
    void *room;       /* kv_seq_pack's */
};

/* ---- parameters --------------------------------------------------------------------------- */

sparse_params sparse_params_default(void) {
    return (sparse_params){
        .retention = -1, .delay = -1, .block = -1, .sink = -1, .window = -1, .refresh = -1};
}

static int check(const char *field, double v, double lo, double hi, fo_err *err) {
    if (v >= lo && v <= hi) return FO_OK;
    char name[64];
    snprintf(name, sizeof name, "sparse.%s", field);
    return fo_fail_field(err, FO_EINVAL, name, "%s must be between %g and %g", name, lo, hi);
}

int sparse_params_resolve(sparse_params *p, const sparse_params *own, fo_err *err) {
    if (p->retention < 0) p->retention = own->retention;
    if (p->delay < 0) p->delay = own->delay;
    if (p->block < 0) p->block = own->block;
    if (p->sink < 0) p->sink = own->sink;
    if (p->window < 0) p->window = own->window;
    if (p->refresh < 0) p->refresh = own->refresh;
    int rc = check("retention", (double)p->retention, (double).01f, 1, err);
    if (!rc) rc = check("delay", p->delay, 0, MOST, err);
    if (!rc) rc = check("block", p->block, KV_BLOCK, MOST, err);
    if (!rc) rc = check("sink", p->sink, 0, MOST, err);
    if (!rc) rc = check("window", p->window, KV_BLOCK, MOST, err);
    if (!rc) rc = check("refresh", p->refresh, 0, MOST, err);
    if (rc) return rc;
    if (p->block % KV_BLOCK)
        return fo_fail_field(err, FO_EINVAL, "sparse.block",
                             "sparse.block is %d: blocks are multiples of %d", p->block, KV_BLOCK);
    return FO_OK;
}

int sparse_params_read(sparse_params *own, const gguf *g, fo_err *err) {
    static const sparse_params ours = {.retention = 1,
                                       .delay = 0,
                                       .block = KV_BLOCK,
                                       .sink = KV_BLOCK,
                                       .window = 64,
                                       .refresh = 256};
    sparse_params said = sparse_params_default();
    double retention = -1;
    struct {
        const char *key;
        int *out;
    } keys[] = {{"sparse.delay", &said.delay},
                {"sparse.block", &said.block},
                {"sparse.sink", &said.sink},
                {"sparse.window", &said.window},
                {"sparse.refresh", &said.refresh}};
    int rc = gguf_get_f64(g, "sparse.retention", &retention, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    if (!rc) said.retention = (float)retention;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint64_t v;
        rc = gguf_get_u64(g, keys[i].key, &v, err);
        if (rc == FO_ENOTFOUND) continue;
        if (rc) return rc;
        *keys[i].out = v > MOST ? MOST + 1 : (int)v;
    }
    *own = ours;
    rc = sparse_params_resolve(&said, &ours, err);
    if (rc && err) err->code = FO_ECORRUPT;
    if (!rc) *own = said;
    return rc ? FO_ECORRUPT : FO_OK;
}

/* ---- create ------------------------------------------------------------------------------- */

int kv_sparse_create(kv_sparse **out, const sparse_params *p, const kv_layout *l, int n_prompt,
                     int n_tokens, fo_err *err) {
    kv_sparse *k = calloc(1, sizeof *k);
    if (!k) return fo_no_memory(err);
    *k = (kv_sparse){.p = *p,
                     .n_heads = l->n_layers * l->n_kv_heads,
                     .n_prompt = n_prompt,
                     .n_tokens = n_tokens,
                     .cap_blocks = n_tokens / KV_BLOCK + 1,
                     .decided = -1};
    const size_t blocks = (size_t)k->cap_blocks;
    size_t all;
    if (fo_mul_size(blocks, (size_t)k->n_heads, &all) && all < SIZE_MAX / sizeof *k->sums) {
        k->sums = calloc(all, sizeof *k->sums);
        k->sources = malloc(all * sizeof *k->sources);
    }
    k->blocks = malloc(blocks * sizeof *k->blocks);
    k->groups = malloc(blocks * sizeof *k->groups);
    k->room = malloc(kv_seq_pack_bytes(l, k->cap_blocks));
    if (!k->sums || !k->sources || !k->blocks || !k->groups || !k->room) {
        kv_sparse_free(k);
        return fo_no_memory(err);
    }
    *out = k;
    return FO_OK;
}

void kv_sparse_free(kv_sparse *k) {
    if (!k) return;
    free(k->sums);
    free(k->sources);
    free(k->blocks);
    free(k->groups);
    free(k->room);
    free(k);
}

const sparse_params *kv_sparse_get_params(const kv_sparse *k) {
    return &k->p;
}

static void forget(kv_sparse *k) {
    memset(k->sums, 0, (size_t)k->n_heads * (size_t)k->n_watched * sizeof *k->sums);
    k->n_watched = 0;
}

void kv_sparse_reset(kv_sparse *k) {
    forget(k);
    k->decided = -1;
    k->n_slots = 0;
}

/* ---- the choice --------------------------------------------------------------------------- */

/* What a choice is about. */
typedef struct candidates {
    int n_groups, n_kept; /* of groups of p.block tokens, how many stay */
    int n_rest;           /* blocks behind them that do not fill one: stay */
} candidates;

/* n blocks are there; of so many they would be, had nothing been dropped before. */
static candidates count_kept(const kv_sparse *k, int n, int n_ever) {
    const int g = k->p.block / KV_BLOCK;
    candidates c = {.n_groups = n / g, .n_rest = n % g};
    const int wanted = (int)ceil((double)k->p.retention * n_ever - 1e-4) - c.n_rest;
    const int sink = (k->p.sink + k->p.block - 1) / k->p.block;
    c.n_kept = wanted > 0 ? (wanted + g - 1) / g : 0;
    if (c.n_kept < sink) c.n_kept = sink;
    if (c.n_kept > c.n_groups) c.n_kept = c.n_groups;
    return c;
}

static int by_score(const void *a, const void *b) {
    const group *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->index - y->index;
}

static int by_index(const void *a, const void *b) {
    return ((const group *)a)->index - ((const group *)b)->index;
}

/* The groups of blocks[] that a head keeps, ascending, as its first sources. */
static void choose(kv_sparse *k, const candidates *c, const uint64_t *sums, int32_t *sources) {
    const int g = k->p.block / KV_BLOCK, sink = (k->p.sink + k->p.block - 1) / k->p.block;
    for (int i = 0; i < c->n_groups; i++) {
        k->groups[i] = (group){i < sink ? UINT64_MAX : 0, i};
        for (int b = 0; b < g && i >= sink; b++) k->groups[i].score += sums[k->blocks[i * g + b]];
    }
    qsort(k->groups, (size_t)c->n_groups, sizeof *k->groups, by_score);
    qsort(k->groups, (size_t)c->n_kept, sizeof *k->groups, by_index);
    for (int i = 0; i < c->n_kept; i++)
        for (int b = 0; b < g; b++) sources[i * g + b] = k->blocks[k->groups[i].index * g + b];
}

/* Slots of blocks [b0, b1) stay, and the last one where it is not full; those before b0 and behind b1
 * are candidates. */
static int decide(kv_sparse *k, kv_seq *s, int b0, int b1, int n_slots, fo_err *err) {
    const int n_blocks = (n_slots + KV_BLOCK - 1) / KV_BLOCK, n_full = n_slots / KV_BLOCK;
    const int shift = kv_seq_shift(s), position = b0 * KV_BLOCK - shift; /* of slot b0 */
    int n = 0;
    assert(b0 >= 0 && b0 <= b1 && b1 <= n_blocks && n_blocks <= k->cap_blocks);
    for (int b = 0; b < b0; b++) k->blocks[n++] = b;
    for (int b = b1; b < n_full; b++) k->blocks[n++] = b;
    const candidates c = count_kept(k, n, n - b0 + position / KV_BLOCK);
    k->n_slots = 0;
    if (c.n_kept == c.n_groups) {
        forget(k);
        return FO_OK;
    }
    const int g = k->p.block / KV_BLOCK, n_candidates = n, first = c.n_kept * g;
    for (int b = b0; b < b1; b++) k->blocks[n++] = b;
    if (n_full < n_blocks && b1 <= n_full) k->blocks[n++] = n_full;
    const int n_same = n - c.n_groups * g, n_new = first + n_same;
    assert(k->n_watched >= b0);
    for (int h = 0; h < k->n_heads; h++) {
        int32_t *sources = k->sources + (size_t)h * (size_t)n_new;
        choose(k, &c, k->sums + (size_t)h * (size_t)k->n_watched, sources);
        memcpy(sources + first, k->blocks + c.n_groups * g, (size_t)n_same * sizeof *sources);
    }
    const int before = first + n_candidates - c.n_groups * g; /* new block of slot b0 */
    int rc = kv_seq_pack(s, k->sources, n_new, before * KV_BLOCK - position, k->room, err);
    if (rc) return rc;
    forget(k);
    k->n_slots = n_new * KV_BLOCK - (n_blocks * KV_BLOCK - n_slots);
    return FO_OK;
}

/* ---- token by token ----------------------------------------------------------------------- */

int kv_sparse_point(const kv_sparse *k, int at) {
    const int64_t first = (int64_t)k->n_prompt + k->p.delay;
    int64_t point = first;
    if (at > first) {
        if (!k->p.refresh) return INT_MAX;
        point += (at - first + k->p.refresh - 1) / k->p.refresh * k->p.refresh;
    }
    return point < k->n_tokens ? (int)point : INT_MAX;
}

/* Positions before the window of a point, in whole blocks. */
static int base_of(const kv_sparse *k, int point) {
    return point > k->p.window ? (point - k->p.window) / KV_BLOCK * KV_BLOCK : 0;
}

/* Of slots and positions before the window, whether anything would be dropped. */
static bool drops(const kv_sparse *k, int point, int shift) {
    const int base = base_of(k, point);
    const candidates c = count_kept(k, (base + shift) / KV_BLOCK, base / KV_BLOCK);
    return c.n_kept < c.n_groups;
}

int kv_sparse_shareable(const kv_sparse *k) {
    for (int p = kv_sparse_point(k, 0); p != INT_MAX; p = kv_sparse_point(k, p + 1))
        if (drops(k, p, 0)) return p - k->p.window;
    return INT_MAX;
}

void kv_sparse_watch(kv_sparse *k, const kv_seq *s, int start, int n, model_sequence *out) {
    const int point = kv_sparse_point(k, start + 1), shift = kv_seq_shift(s);
    if (point == INT_MAX || start + n <= point - k->p.window || !drops(k, point, shift)) return;
    k->n_watched = (base_of(k, point) + shift) / KV_BLOCK;
    out->watched = k->sums;
    out->n_watched = k->n_watched;
    out->watch_from = point - k->p.window;
    out->watch_to = point;
}

bool kv_sparse_due(const kv_sparse *k, const kv_seq *s) {
    const int n = kv_seq_tokens(s);
    return k->decided < n && kv_sparse_point(k, n) == n;
}

int kv_sparse_decide(kv_sparse *k, kv_seq *s, fo_err *err) {
    const int point = kv_seq_tokens(s), shift = kv_seq_shift(s);
    int rc = FO_OK;
    if (drops(k, point, shift)) {
        const int n_slots = point + shift, n_blocks = (n_slots + KV_BLOCK - 1) / KV_BLOCK;
        rc = decide(k, s, (base_of(k, point) + shift) / KV_BLOCK, n_blocks, n_slots, err);
    }
    if (!rc) k->decided = point;
    return rc;
}

/* ---- canvases ----------------------------------------------------------------------------- */

void kv_sparse_watch_canvas(kv_sparse *k, int n_slots, int from, int to, model_sequence *out) {
    forget(k);
    k->n_watched = n_slots / KV_BLOCK;
    out->watched = k->sums;
    out->n_watched = k->n_watched;
    out->watch_from = from;
    out->watch_to = to;
}

int kv_sparse_decide_canvas(kv_sparse *k, kv_seq *s, int from, int to, int n_slots, fo_err *err) {
    const int shift = kv_seq_shift(s), n_blocks = (n_slots + KV_BLOCK - 1) / KV_BLOCK;
    int end = (to + shift + KV_BLOCK - 1) / KV_BLOCK;
    if (end > n_blocks) end = n_blocks;
    return decide(k, s, (from + shift) / KV_BLOCK, end, n_slots, err);
}

int kv_sparse_slots(const kv_sparse *k) {
    return k->n_slots;
}
