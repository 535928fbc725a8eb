#include "retrieval/pipeline/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "retrieval/pipeline/query_run.h"
#include "retrieval/question/office_words.h"

/* r->vector, with the first search. */
static int embed(run *r) {
    if (r->vector) return FO_OK;
    const double t0 = fo_now_ms();
    r->vector = malloc(embedder_dim(r->c->embedder) * sizeof *r->vector);
    if (!r->vector) return fo_no_memory(r->err);
    size_t len = strlen(r->sought);
    int rc = embedder_embed(r->c->embedder, EMBED_QUERY, &r->sought, &len, 1, r->vector, r->err);
    r->out->ms.embed = fo_now_ms() - t0;
    return rc;
}

static int search_dense_side(run *r, const search_filter *filter, found_lists *out) {
    int rc = embed(r);
    if (rc) return rc;
    const double t0 = fo_now_ms();
    bool known = false; /* a query without one known piece has no direction */
    for (size_t i = 0; i < embedder_dim(r->c->embedder); i++) known |= r->vector[i] != 0;
    if (known)
        rc = search_dense(r->snapshot, r->vector, out->depth, r->q->search.ef, filter, out->dense,
                          &out->n_dense, r->err);
    r->out->ms.dense += fo_now_ms() - t0;
    return rc;
}

/* r->words, with the first search: a compound of the question is held against the terms of all chunks. */
static int read_words(run *r) {
    sought_words *w = &r->words;
    analyzer *a = NULL;
    if (w->read) return FO_OK;
    office_words_to_search(&w->written, r->sought);
    int rc =
        w->written.failed ? fo_no_memory(r->err) : collection_take_analyzer(r->s, r->c, &a, r->err);
    if (!rc) rc = search_beside_read(&w->beside, r->snapshot, a, r->sought, r->err);
    collection_give_analyzer(r->s, r->c, a);
    w->read = !rc;
    return rc;
}

static int search_sparse_side(run *r, const search_filter *filter, found_lists *out) {
    const double t0 = fo_now_ms();
    const sought_words *w = &r->words;
    int rc = read_words(r);
    if (!rc)
        rc = search_sparse_beside(r->snapshot, w->written.data ? w->written.data : r->sought,
                                  w->beside.terms, w->beside.n, out->depth, filter, out->sparse,
                                  &out->n_sparse, r->err);
    r->out->ms.sparse += fo_now_ms() - t0;
    return rc;
}

int lists_search(run *r, const search_filter *filter, size_t depth, found_lists *out) {
    const enum search_mode mode = r->q->search.mode;
    *out = (found_lists){.depth = depth};
    out->dense = calloc(depth, sizeof *out->dense);
    out->sparse = calloc(depth, sizeof *out->sparse);
    int rc = out->dense && out->sparse ? FO_OK : fo_no_memory(r->err);
    if (!rc && mode != SEARCH_SPARSE) rc = search_dense_side(r, filter, out);
    if (!rc && mode != SEARCH_DENSE) rc = search_sparse_side(r, filter, out);
    return rc;
}

static void copy_hits(const search_hit *in, size_t n, fusion_hit *out) {
    for (size_t i = 0; i < n; i++) out[i] = (fusion_hit){in[i].chunk, in[i].score};
}

static int fuse_both(const run *r, const found_lists *l, fused_hit *fused, size_t *n) {
    const search_params *p = &r->q->search;
    const fusion_params fp = {p->fusion, r->alpha, p->rrf_k, l->depth};
    fusion_hit *dense = calloc(l->depth, sizeof *dense), *sparse = calloc(l->depth, sizeof *sparse);
    fused_hit *scratch = calloc(2 * l->depth, sizeof *scratch);
    topk_item *heap = calloc(2 * l->depth, sizeof *heap);
    const int rc = dense && sparse && scratch && heap ? FO_OK : fo_no_memory(r->err);
    if (!rc) {
        copy_hits(l->dense, l->n_dense, dense);
        copy_hits(l->sparse, l->n_sparse, sparse);
        *n = fusion_merge(&fp, dense, l->n_dense, sparse, l->n_sparse, 2 * l->depth, scratch, heap,
                          fused);
    }
    free(dense);
    free(sparse);
    free(scratch);
    free(heap);
    return rc;
}

int lists_fuse(const run *r, const found_lists *l, fused_hit *fused, size_t *n) {
    const bool dense = r->q->search.mode == SEARCH_DENSE;
    *n = 0;
    if (r->q->search.mode == SEARCH_HYBRID) return fuse_both(r, l, fused, n);
    /* one list: its own scores, no scale put on them */
    const search_hit *list = dense ? l->dense : l->sparse;
    for (; *n < (dense ? l->n_dense : l->n_sparse); ++*n) {
        const double v = list[*n].score;
        fused[*n] = (fused_hit){list[*n].chunk, v, dense ? v : NAN, dense ? NAN : v};
    }
    return FO_OK;
}

void lists_words_deinit(sought_words *w) {
    search_beside_deinit(&w->beside);
    fo_buf_free(&w->written);
}

void lists_deinit(found_lists *l) {
    free(l->dense);
    free(l->sparse);
    *l = (found_lists){0};
}
