/* Top-k of all parts: what is common to them, the terms in each, the heap. How a part is searched
 * stands in inverted_search_internal.h. */
#include "index/sparse/inverted_search_internal.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_WINDOW = 512 }; /* smaller: everything is essential until k scores are known */

static const double MAX_PEAK_GROWTH = 1.5; /* of the average length; see SUM_MAX */

inverted_scratch *inverted_scratch_create(void) {
    return calloc(1, sizeof(inverted_scratch));
}

void inverted_scratch_free(inverted_scratch *s) {
    if (!s) return;
    free(s->cursors);
    free(s->lists);
    free(s->order);
    free(s->doc_tfs);
    free(s->heap);
    free(s->found);
    free(s->doc_sums);
    free(s->documents);
    free(s->left);
    free(s->lane_masks);
    free(s->lane_adds);
    free(s->bucket_sums);
    free(s);
}

/* Room for so many terms stays between searches: a query seldom has more, and each takes 36 KB. */
enum { KEPT_TERMS = 64 };

static void drop_terms(inverted_scratch *s) {
    free(s->cursors);
    free(s->order);
    free(s->doc_tfs);
    free(s->lane_masks);
    free(s->lane_adds);
    s->cursors = NULL;
    s->order = NULL;
    s->doc_tfs = NULL;
    s->lane_masks = s->lane_adds = NULL;
    s->cursors_room = 0;
}

void inverted_scratch_trim(inverted_scratch *s) {
    if (s->cursors_room > KEPT_TERMS) drop_terms(s);
    if (s->found_room > (size_t)KEPT_TERMS * WINDOW) {
        free(s->found);
        s->found = NULL;
        s->found_room = 0;
    }
}

static bool make_room(inverted_scratch *s, size_t n_terms, size_t n_parts, size_t k) {
    if (n_terms * n_parts > s->lists_room) {
        free(s->lists);
        s->lists_room = n_terms * n_parts;
        s->lists = malloc(s->lists_room * sizeof *s->lists);
        if (!s->lists) {
            s->lists_room = 0;
            return false;
        }
    }
    if (n_terms > s->cursors_room) {
        drop_terms(s);
        s->cursors = malloc(n_terms * sizeof *s->cursors);
        s->order = malloc(n_terms * sizeof *s->order);
        s->doc_tfs = malloc(n_terms * sizeof *s->doc_tfs);
        s->lane_masks = malloc(n_terms * sizeof *s->lane_masks);
        s->lane_adds = malloc(n_terms * sizeof *s->lane_adds);
        bool ok = s->cursors && s->order && s->doc_tfs && s->lane_masks && s->lane_adds;
        s->cursors_room = ok ? n_terms : 0;
        if (!s->cursors_room) return false;
    }
    if (k > s->heap_room) {
        free(s->heap);
        s->heap = malloc(k * sizeof *s->heap);
        s->heap_room = s->heap ? k : 0;
        if (!s->heap) return false;
    }
    return true;
}

static void fill_impacts(inverted_scratch *s, const bm25_params *p, double average) {
    if (s->params.k1 == p->k1 && s->params.b == p->b && s->average == average) return;
    s->params = *p;
    s->average = average;
    float k[256];
    for (int i = 0; i < 256; i++) {
        double ratio = average > 0 ? bm25_norm_decode((uint8_t)i) / average : 1;
        k[i] = (float)(p->k1 * (1 - p->b + p->b * ratio));
    }
    memset(s->impacts[0], 0, sizeof s->impacts[0]);
    for (int tf = 1; tf < IMPACT_TFS - 1; tf++)
        for (int i = 0; i < 256; i++) {
            float f = 255 * ((float)tf / ((float)tf + k[i])) + 1.001f; /* rounded up for sure */
            s->impacts[tf][i] = f >= 255 ? 255 : (uint8_t)f;
        }
    memset(s->impacts[IMPACT_TFS - 1], 255, sizeof s->impacts[0]);
}

/* The heap ------------------------------------------------------------------------------------ */

static bool better(const inverted_hit *a, const inverted_hit *b) {
    return a->score > b->score || (a->score == b->score && a->id < b->id);
}

static void sift_down(inverted_hit *heap, size_t n, size_t i) {
    inverted_hit x = heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && better(&heap[child], &heap[child + 1])) child++;
        if (!better(&x, &heap[child])) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = x;
}

static void heap_offer(inverted_hit *heap, size_t *n, size_t k, inverted_hit hit) {
    if (*n < k) {
        size_t i = (*n)++;
        while (i > 0 && better(&heap[(i - 1) / 2], &hit)) {
            heap[i] = heap[(i - 1) / 2];
            i = (i - 1) / 2;
        }
        heap[i] = hit;
    } else if (better(&hit, &heap[0])) {
        heap[0] = hit;
        sift_down(heap, k, 0);
    }
}

/* One search of one part ---------------------------------------------------------------------- */

int inverted_search_damaged(fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "the postings of a query term are damaged");
}

int inverted_search_no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory in a search");
}

static void update_threshold(search *q) {
    q->threshold = 1;
    if (q->n_hits < q->k) return;
    /* the additions to a sum may each be 2^-24 of 60,000 too small */
    double t =
        floor((double)q->s->heap[0].score * q->quanta * (1 - 1e-6)) - 1 - (double)q->n_terms / 64;
    if (t > 1) q->threshold = t > SUM_MAX * 2.0 ? (uint32_t)(SUM_MAX * 2) : (uint32_t)t;
}

void inverted_search_offer(search *q, uint32_t doc, double score) {
    inverted_hit *heap = q->s->heap;
    inverted_hit hit = {
        .id = q->part->ids[doc], .score = (float)score, .part = q->part_index, .doc = doc};
    if (q->n_hits == q->k && !better(&hit, &heap[0])) return;
    for (size_t i = 0; q->revisits && i < q->n_hits; i++)
        if (heap[i].doc == doc && heap[i].part == q->part_index) return;
    heap_offer(heap, &q->n_hits, q->k, hit);
    update_threshold(q);
}

bool inverted_search_decode_block(const search *q, const cursor *c, size_t block, uint32_t *docs,
                                  uint32_t *tfs, bool *has_tfs) {
    uint32_t base = block ? last_of(c, block - 1) + 1 : 0, last = last_of(c, block);
    uint32_t begin = block ? end_of(c, block - 1) : 0, end = end_of(c, block);
    size_t n = block + 1 < c->n_blocks ? POSTINGS_BLOCK : c->list.n - block * POSTINGS_BLOCK;
    return begin <= end && end <= c->body_size && last < q->inv->n_docs &&
           postings_decode_docs(c->body + begin, end - begin, n, base, last, docs, tfs, has_tfs);
}

/* What impacts and peaks of the term add. A peak was computed for the average length of its
 * segment: `growth` corrects it. */
static void set_adds(const search *q, cursor *c, double growth) {
    double each = c->weight * (q->params->k1 + 1) / 255 * q->quanta;
    double fixed = ceil(each * 65536);
    c->each = fixed < UINT32_MAX ? (uint32_t)fixed : UINT32_MAX;
    c->most = (uint32_t)(q->bounds[c->list.bound] * each) + 1;
    unsigned bits = c->list.bound ? 32 - (unsigned)__builtin_clz(c->list.bound) : 1;
    c->peak_shift = 16 - bits; /* a peak is below 2^bits */
    double factor = ceil(each * growth * (1u << bits));
    c->peak_factor = factor < UINT16_MAX ? (uint16_t)factor : UINT16_MAX;
}

/* Begin the terms' lists in the part and set the quanta. */
static int open_cursors(search *q, fo_err *err) {
    inverted_scratch *s = q->s;
    const inverted *inv = q->inv;
    /* A larger average makes every document relatively shorter: a stored bound grows by at most
     * the ratio of the averages, and never beyond 1. */
    double growth = q->average > inv->bound_average && inv->bound_average > 0
                        ? q->average / inv->bound_average
                        : 1;
    bool usable = inv->bound_k1 == q->params->k1 && inv->bound_b == q->params->b;
    for (int i = 0; i < 256; i++) {
        double b = ceil(i * growth);
        q->bounds[i] = usable && b < 255 ? (uint8_t)b : 255;
    }
    bool peaks_usable = usable && growth <= MAX_PEAK_GROWTH;
    double most = 0;
    q->n_open = 0;
    for (size_t i = 0; i < q->n_terms; i++) {
        cursor *c = &s->cursors[i];
        c->list = s->lists[q->part_index * q->n_terms + i];
        if (c->list.n == 0) continue;
        c->n_blocks = 0;
        c->next = c->begin = c->end = c->n_buffered = 0;
        c->buffered = c->probed = 0;
        c->window_max = 0;
        const inverted_hot_list *hot =
            q->part->hot ? inverted_hot_get(q->part->hot, &c->list) : NULL;
        c->tfs_by_doc = hot ? hot->tfs : NULL;
        c->peaks = hot && peaks_usable ? hot->peaks : NULL;
        c->places = c->peaks ? hot->places : NULL;
        if (c->list.n < POSTINGS_BLOCK) {
            if (!postings_decode_short(c->list.data, c->list.size, c->list.n, 0, inv->n_docs,
                                       c->docs, c->tfs))
                return inverted_search_damaged(err);
        } else {
            c->n_blocks = ((size_t)c->list.n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
            c->body = c->list.data + c->n_blocks * LIST_BLOCK_BYTES;
            c->body_size = c->list.size - c->n_blocks * LIST_BLOCK_BYTES;
        }
        s->order[q->n_open++] = (uint16_t)i;
        most += c->weight * (q->params->k1 + 1) * q->bounds[c->list.bound] / 255;
    }
    q->quanta = most > 0 ? (SUM_MAX - 2.0 * (double)q->n_terms) / most : 0;
    for (size_t i = 0; i < q->n_open; i++) set_adds(q, &s->cursors[s->order[i]], growth);
    return FO_OK;
}

static int search_part(search *q, fo_err *err) {
    q->inv = q->part->inv;
    q->revisits = false;
    int rc = open_cursors(q, err);
    if (rc || q->n_open == 0) return rc;
    update_threshold(q);
    bool done;
    rc = inverted_search_essential(q, &done, err);
    uint32_t n_docs = done ? 0 : q->inv->n_docs;
    for (q->begin = 0; q->begin < n_docs && !rc; q->begin = q->end) {
        uint32_t size = q->n_hits < q->k ? FIRST_WINDOW : WINDOW;
        q->end = n_docs - q->begin < size ? n_docs : q->begin + size;
        if (inverted_search_any_allowed(q)) rc = inverted_search_window(q, err);
    }
    if (rc) memset(q->s->sums, 0, sizeof q->s->sums);
    return rc;
}

static int by_rank(const void *x, const void *y) {
    return better(x, y) ? -1 : 1;
}

int inverted_search(const inverted_part *parts, size_t n_parts, const bm25_params *p,
                    const inverted_query_term *terms, size_t n_terms, size_t k, inverted_scratch *s,
                    inverted_hit *hits, size_t *n, fo_err *err) {
    *n = 0;
    if (k < 1 || k > INVERTED_MAX_K)
        return fo_fail_field(err, FO_EINVAL, "top_k", "top_k must be between 1 and %d",
                             INVERTED_MAX_K);
    if (n_terms > INVERTED_MAX_QUERY_TERMS)
        return fo_fail_field(err, FO_ELIMIT, "query", "more than %d different words in the query",
                             INVERTED_MAX_QUERY_TERMS);
    if (n_terms == 0 || n_parts == 0) return FO_OK;
    if (!make_room(s, n_terms, n_parts, k))
        return fo_fail(err, FO_ENOMEM, "out of memory in a search");
    uint64_t n_docs = 0, words = 0;
    for (size_t i = 0; i < n_parts; i++) {
        n_docs += parts[i].inv->n_docs;
        words += parts[i].inv->sum_length;
    }
    search q = {.s = s,
                .params = p,
                .n_terms = n_terms,
                .k = k,
                .average = n_docs ? (double)words / (double)n_docs : 0};
    scan16_init(&q.kernels);
    fill_impacts(s, p, q.average);
    for (size_t t = 0; t < n_terms; t++) {
        uint64_t df = 0;
        for (size_t i = 0; i < n_parts; i++) {
            inverted_list *l = &s->lists[i * n_terms + t];
            if (!inverted_find(parts[i].inv, terms[t].term, terms[t].len, l)) l->n = 0;
            df += l->n;
        }
        s->cursors[t].weight = bm25_idf(n_docs, df) * terms[t].weight;
    }
    for (size_t i = 0; i < n_parts; i++) {
        q.part = &parts[i];
        q.part_index = (uint32_t)i;
        int rc = search_part(&q, err);
        if (rc) return rc;
    }
    qsort(s->heap, q.n_hits, sizeof *s->heap, by_rank);
    memcpy(hits, s->heap, q.n_hits * sizeof *hits);
    *n = q.n_hits;
    return FO_OK;
}
