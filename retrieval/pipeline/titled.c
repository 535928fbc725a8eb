#include "retrieval/pipeline/titled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/answer/meant_commands.h"
#include "retrieval/collections/title_vectors.h"
#include "retrieval/pipeline/query_run.h"
#include "retrieval/text/exact_names.h"

enum {
    TITLES = TITLED_BEST, /* documents that are looked into */
    DEPTH = 40,           /* hits in all of them together, of each list */
    IN_FRONT = 12,        /* of the fused list, that keep their places */
};
static const float near_least = 0.3f; /* cosine: what is farther is nearest by chance */

int titled_take(run *r) {
    /* Whoever wants one list alone, or none below a score, gets what those say. */
    const search_params *p = &r->q->search;
    const bool may = r->reads && p->mode == SEARCH_HYBRID && p->score_threshold == 0;
    return may ? title_vectors_take(r->s, r->c, &r->titled.of, r->err) : FO_OK;
}

double titled_near(const run *r, int64_t document) {
    if (!r->titled.cosines) return NAN;
    const size_t at = title_vectors_find(r->titled.of, document);
    return at < title_vectors_count(r->titled.of) ? (double)r->titled.cosines[at] : NAN;
}

void titled_deinit(titled_documents *t) {
    title_vectors_drop(t->of);
    free(t->cosines);
    *t = (titled_documents){0};
}

typedef struct near_title {
    float cosine;
    int64_t document;
} near_title;

static int by_cosine(const void *a, const void *b) {
    const near_title *x = a, *y = b;
    if (x->cosine != y->cosine) return x->cosine < y->cosine ? 1 : -1;
    return (x->document > y->document) - (x->document < y->document);
}

/* The documents with the best titles, best first, of those that the question's filter leaves and that are there still: what
 * the asker does not see takes nobody's place. *n of them. */
static int best_documents(run *r, int64_t documents[TITLES], size_t *n) {
    enum { AT_ONCE = 64 };
    size_t n_near = 0;
    near_title *near = malloc(title_vectors_count(r->titled.of) * sizeof *near);
    if (!near) return fo_no_memory(r->err);
    for (size_t i = 0; i < title_vectors_count(r->titled.of); i++)
        if (r->titled.cosines[i] >= near_least)
            near[n_near++] =
                (near_title){r->titled.cosines[i], title_vectors_document(r->titled.of, i)};
    qsort(near, n_near, sizeof *near, by_cosine);
    int rc = FO_OK;
    *n = 0;
    for (size_t at = 0; !rc && at < n_near && *n < TITLES; at += AT_ONCE) {
        int64_t some[AT_ONCE];
        bool left[AT_ONCE];
        const size_t n_some = n_near - at < AT_ONCE ? n_near - at : AT_ONCE;
        for (size_t i = 0; i < n_some; i++) some[i] = near[at + i].document;
        rc = search_documents_left(r->snapshot, r->filter, some, n_some, left, r->err);
        for (size_t i = 0; !rc && i < n_some && *n < TITLES; i++)
            if (left[i]) documents[(*n)++] = some[i];
    }
    free(near);
    return rc;
}

int titled_compare(run *r) {
    const size_t n = title_vectors_count(r->titled.of);
    bool known = false;
    if (!n || r->titled.cosines) return FO_OK;
    float *cosines = malloc(n * sizeof *cosines);
    if (!cosines) return fo_no_memory(r->err);
    const int rc = title_vectors_compare(r->titled.of, r->sought, cosines, &known, r->err);
    if (rc || !known) {
        free(cosines);
        return rc;
    }
    r->titled.cosines = cosines;
    return best_documents(r, r->titled.best, &r->titled.n_best);
}

double titled_meant(const run *r, int64_t document) {
    /* Fitted on 130 questions that say what is to be done: of those above .5, 43 of 53 were the command's, of those above .6,
     * 38 of 44, and the others mostly one's that does something like it. */
    static const double least = -5.3, near_weight = 8.1, ahead_weight = 6.4;
    const double near = titled_near(r, document);
    double other = 0; /* copies of a page have the same title */
    for (size_t i = r->titled.n_best; i-- > 0;)
        if (titled_near(r, r->titled.best[i]) != near) other = titled_near(r, r->titled.best[i]);
    if (isnan(near)) return 0;
    return 1 / (1 + exp(-(least + near_weight * near + ahead_weight * (near - other))));
}

/* Of which document a chunk that was found is. */
static int64_t document_of(const found_lists *l, int64_t chunk) {
    for (size_t i = 0; i < l->n_dense; i++)
        if (l->dense[i].chunk == chunk) return l->dense[i].document;
    for (size_t i = 0; i < l->n_sparse; i++)
        if (l->sparse[i].chunk == chunk) return l->sparse[i].document;
    return 0;
}

static const fused_hit *find_hit(const fused_hit *hits, size_t n, int64_t chunk) {
    for (size_t i = 0; i < n; i++)
        if (hits[i].id == chunk) return &hits[i];
    return NULL;
}

/* Has it one among the first `front` of r->fused? That is the best of its chunks, then. */
static bool is_in_front(const run *r, size_t front, int64_t document) {
    for (size_t i = 0; i < front; i++)
        if (document_of(&r->lists, r->fused[i].id) == document) return true;
    return false;
}

/* The best chunk of each document that has none in front, in the order of the documents: added[TITLES]. */
static size_t choose(const run *r, size_t front, const found_lists *l, const fused_hit *hits,
                     size_t n_hits, const int64_t *documents, size_t n, fused_hit *added) {
    size_t n_added = 0;
    for (size_t d = 0; d < n; d++) {
        size_t i = 0;
        while (i < n_hits && document_of(l, hits[i].id) != documents[d]) i++;
        if (i < n_hits && !is_in_front(r, front, documents[d])) added[n_added++] = hits[i];
    }
    return n_added;
}

/* Behind the first `front` of r->fused, which has scores of its own lists for those that it holds. */
static int put_behind(run *r, size_t front, const fused_hit *added, size_t n_added) {
    fused_hit *all = calloc(r->n_fused + n_added, sizeof *all);
    if (!all) return fo_no_memory(r->err);
    size_t n = 0;
    for (; n < front; n++) all[n] = r->fused[n];
    for (size_t i = 0; i < n_added; i++) {
        const fused_hit *own = find_hit(r->fused, r->n_fused, added[i].id);
        all[n] = own ? *own : added[i];
        if (!own) all[n].score = front ? r->fused[front - 1].score : 0;
        n++;
    }
    const size_t behind = n;
    for (size_t i = front; i < r->n_fused; i++)
        if (!find_hit(all, behind, r->fused[i].id)) all[n++] = r->fused[i];
    run_drop_read(r);
    free(r->fused);
    r->fused = all;
    r->n_fused = n;
    return FO_OK;
}

int titled_put_in(run *r) {
    const int64_t *documents = r->titled.best;
    const size_t n = r->titled.n_best;
    fused_hit hits[2 * DEPTH], added[TITLES];
    size_t n_hits = 0;
    if (!n) return FO_OK;
    search_filter *within = NULL;
    found_lists lists = {0};
    int rc = search_filter_within(&within, documents, n, r->filter, r->err);
    if (!rc) rc = lists_search(r, within, DEPTH, &lists);
    if (!rc) rc = lists_fuse(r, &lists, hits, &n_hits);
    if (!rc) {
        const size_t front = r->n_fused < IN_FRONT ? r->n_fused : IN_FRONT,
                     n_added = choose(r, front, &lists, hits, n_hits, documents, n, added);
        rc = put_behind(r, front, added, n_added);
    }
    lists_deinit(&lists);
    search_filter_free(within);
    return rc;
}

/* Does the chunk hold the title of its document? */
static bool holds_title(const store_chunk *k) {
    return k->title && k->title[0] && memmem(k->text, k->text_len, k->title, strlen(k->title));
}

int titled_keep_name(run *r) {
    query_result *out = r->out;
    query_context *of = NULL;
    if (!r->titled.n_best || out->n_contexts < 2 ||
        titled_meant(r, r->titled.best[0]) < meant_commands_least)
        return FO_OK;
    for (size_t i = 0; i < out->n_contexts; i++) {
        if (out->contexts[i].chunk.document != r->titled.best[0]) continue;
        if (holds_title(&out->contexts[i].chunk)) return FO_OK;
        if (!of) of = &out->contexts[i];
    }
    if (!of || !exact_names_of_command(of->chunk.title ? of->chunk.title : "")) return FO_OK;
    const int64_t first = of->chunk.id - (int64_t)of->chunk.ordinal; /* they are in a row */
    store_chunk k = {0};
    const int rc = run_read_chunks(r, &first, 1, &k);
    if (rc || k.document != r->titled.best[0] || !holds_title(&k)) {
        store_chunk_deinit(&k);
        return rc;
    }
    query_context *last = &out->contexts[out->n_contexts - 1];
    if (last == of) last--;
    store_chunk_deinit(&last->chunk);
    *last = (query_context){k, last->score, NAN, NAN, last->rerank, NAN};
    return FO_OK;
}
