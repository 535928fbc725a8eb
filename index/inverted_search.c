/* Top-k by MaxScore over windows of documents.
 *
 * For each window the terms are ordered by the most they can add in it (block bounds). Those whose
 * sum stays below the k-th best score so far are only looked up for documents that the others
 * bring up; the others' blocks are decoded and added into an array of 16-bit sums, one for each
 * document of the window. What a posting adds is an upper bound: a score quantised to 1/255
 * (impacts[tf][norm]) times the term's weight, rounded up twice. Documents whose sum can reach the
 * k-th best score are scored exactly, the most promising first. So the sums decide only what is
 * looked at, never what is returned. */
#include "index/inverted.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "index/inverted_format.h"
#include "index/inverted_hot.h"
#include "index/postings.h"
#include "kernels/scan16.h"

enum {
    WINDOW = 4096,
    FIRST_WINDOW = 512, /* smaller: everything is essential until k scores are known */
    WINDOW_ROOM = WINDOW + 2 * POSTINGS_BLOCK, /* a block may begin before and end behind it */
    IMPACT_TFS = 17,   /* rows of the table; the last stands for any larger tf */
    LOOK_UP_COST = 10, /* postings added in the time of one look-up */
    HOT_LOOK_UP_COST = 2,
    SORT_SHIFT = 6,
    SORT_BUCKETS = (1 << 16) >> SORT_SHIFT,
    SUM_MAX = 60000, /* sums of upper bounds, rounding included, stay below 2^16 */
};

typedef struct cursor {
    double weight; /* idf times the occurrences in the query */
    inverted_list list;
    size_t n_blocks;     /* of a long list, 0 of a short one */
    const uint8_t *body; /* of its blocks */
    size_t body_size;
    uint32_t next;       /* first block that ends at or after the window's begin; short: posting */
    uint32_t window_max; /* most it can add in this window */
    uint32_t place;      /* in the order of this window */
    uint32_t begin, end; /* postings of the window in docs and tfs */
    uint32_t n_buffered; /* of them, all told */
    size_t buffered;     /* the last block in there, plus one */
    size_t probed;       /* block in probe_docs, plus one */
    uint32_t probe_at;   /* in probe_docs, where the last probe of this round ended */
    bool probe_has_tfs;
    const uint8_t *hot;    /* frequencies by document; NULL: the list must be read */
    uint16_t add[256];     /* upper bound of what an impact adds, in quanta */
    uint8_t bound_of[256]; /* today's bound of a stored one */
    uint32_t docs[WINDOW_ROOM], tfs[WINDOW_ROOM];
    uint32_t probe_docs[POSTINGS_BLOCK], probe_tfs[POSTINGS_BLOCK];
} cursor;

typedef struct candidate {
    uint32_t sum;  /* upper bound so far */
    uint16_t doc;  /* in the window */
    uint16_t slot; /* column of found */
} candidate;

struct inverted_scratch {
    cursor *cursors;
    size_t cursors_room;
    inverted_list *lists; /* of part p and term t: p * n_terms + t; n 0: absent */
    size_t lists_room;
    uint16_t *order;
    inverted_hit *heap; /* k hits, the worst on top */
    size_t heap_room;
    uint32_t *found; /* tf of a non-essential term (row: its place in the order) and candidate */
    size_t found_room;
    /* impacts are for these: */
    bm25_params params;
    double average;
    uint8_t impacts[IMPACT_TFS][256];
    uint16_t sums[WINDOW + 32];
    uint16_t reached[WINDOW], reached_sums[WINDOW];
    uint16_t buckets[SORT_BUCKETS];
    candidate candidates[WINDOW], sorted[WINDOW];
};

inverted_scratch *inverted_scratch_create(void) {
    return calloc(1, sizeof(inverted_scratch));
}

void inverted_scratch_free(inverted_scratch *s) {
    if (!s) return;
    free(s->cursors);
    free(s->lists);
    free(s->order);
    free(s->heap);
    free(s->found);
    free(s);
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
        free(s->cursors);
        free(s->order);
        s->cursors = malloc(n_terms * sizeof *s->cursors);
        s->order = malloc(n_terms * sizeof *s->order);
        s->cursors_room = s->cursors && s->order ? n_terms : 0;
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

typedef struct search {
    inverted_scratch *s;
    const bm25_params *params;
    const scan16_kernels *kernels;
    size_t n_terms, k, n_hits;
    double average;
    /* of the part at hand */
    const inverted_part *part;
    const inverted *inv;
    uint32_t part_index;
    size_t n_open;       /* cursors with postings: order[0 .. n_open) */
    double quanta;       /* a unit of score in sums */
    uint32_t begin, end; /* the window */
    uint32_t threshold;  /* sums below it cannot enter the heap */
} search;

static int damaged(fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "the postings of a query term are damaged");
}

static void update_threshold(search *q) {
    q->threshold = 1;
    if (q->n_hits < q->k) return;
    /* the additions to a sum may each be 2^-24 of 60,000 too small */
    double t =
        floor((double)q->s->heap[0].score * q->quanta * (1 - 1e-6)) - 1 - (double)q->n_terms / 64;
    if (t > 1) q->threshold = t > SUM_MAX * 2.0 ? (uint32_t)(SUM_MAX * 2) : (uint32_t)t;
}

static uint32_t last_of(const cursor *c, size_t block) {
    uint32_t v;
    memcpy(&v, c->list.data + 4 * block, 4);
    return v;
}

static uint32_t end_of(const cursor *c, size_t block) {
    uint32_t v;
    memcpy(&v, c->list.data + 4 * (c->n_blocks + block), 4);
    return v;
}

static uint8_t bound_of(const cursor *c, size_t block) {
    return c->bound_of[c->list.data[8 * c->n_blocks + block]];
}

static bool decode_block(const search *q, const cursor *c, size_t block, uint32_t *docs,
                         uint32_t *tfs, bool *has_tfs) {
    uint32_t base = block ? last_of(c, block - 1) + 1 : 0, last = last_of(c, block);
    uint32_t begin = block ? end_of(c, block - 1) : 0, end = end_of(c, block);
    size_t n = block + 1 < c->n_blocks ? POSTINGS_BLOCK : c->list.n - block * POSTINGS_BLOCK;
    return begin <= end && end <= c->body_size && last < q->inv->n_docs &&
           postings_decode_docs(c->body + begin, end - begin, n, base, last, docs, tfs, has_tfs);
}

static size_t block_count(const cursor *c, size_t block) {
    return block + 1 < c->n_blocks ? POSTINGS_BLOCK : c->list.n - block * POSTINGS_BLOCK;
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
    uint8_t bounds[256];
    for (int i = 0; i < 256; i++) {
        double b = ceil(i * growth);
        bounds[i] = usable && b < 255 ? (uint8_t)b : 255;
    }
    double most = 0;
    q->n_open = 0;
    for (size_t i = 0; i < q->n_terms; i++) {
        cursor *c = &s->cursors[i];
        c->list = s->lists[q->part_index * q->n_terms + i];
        if (c->list.n == 0) continue;
        memcpy(c->bound_of, bounds, sizeof bounds);
        c->n_blocks = 0;
        c->next = c->begin = c->end = c->n_buffered = 0;
        c->buffered = c->probed = 0;
        c->hot = q->part->hot ? inverted_hot_get(q->part->hot, &c->list) : NULL;
        if (c->list.n < POSTINGS_BLOCK) {
            if (!postings_decode_short(c->list.data, c->list.size, c->list.n, 0, inv->n_docs,
                                       c->docs, c->tfs))
                return damaged(err);
        } else {
            c->n_blocks = ((size_t)c->list.n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
            c->body = c->list.data + c->n_blocks * LIST_BLOCK_BYTES;
            c->body_size = c->list.size - c->n_blocks * LIST_BLOCK_BYTES;
        }
        s->order[q->n_open++] = (uint16_t)i;
        most += c->weight * (q->params->k1 + 1) * bounds[c->list.bound] / 255;
    }
    q->quanta = most > 0 ? (SUM_MAX - 2.0 * (double)q->n_terms) / most : 0;
    for (size_t i = 0; i < q->n_open; i++) {
        cursor *c = &s->cursors[s->order[i]];
        float each = (float)(c->weight * (q->params->k1 + 1) / 255 * q->quanta);
        unsigned most_impact = c->bound_of[c->list.bound];
        /* no posting has a larger impact than the list's bound, but a hostile file may say so */
        for (unsigned g = 0; g < 256; g++)
            c->add[g] = (uint16_t)((float)(g < most_impact ? g : most_impact) * each + 1);
    }
    return FO_OK;
}

/* The most a term can add in the window, from the bounds of the blocks that touch it. */
static void bound_window(search *q, cursor *c) {
    if (c->n_blocks == 0) {
        while (c->next < c->list.n && c->docs[c->next] < q->begin) c->next++;
        bool any = c->next < c->list.n && c->docs[c->next] < q->end;
        c->window_max = any ? c->add[c->bound_of[c->list.bound]] : 0;
        return;
    }
    while (c->next < c->n_blocks && last_of(c, c->next) < q->begin) c->next++;
    uint8_t most = 0;
    bool any = false;
    for (size_t b = c->next; b < c->n_blocks; b++) {
        if (b > 0 && last_of(c, b - 1) + 1 >= q->end) break;
        uint8_t bound = c->list.data[8 * c->n_blocks + b];
        if (bound > most) most = bound;
        any = true;
        if (last_of(c, b) >= q->end - 1) break;
    }
    c->window_max = any ? c->add[c->bound_of[most]] : 0;
}

/* First of docs[begin, end) that is not below doc; without branches that depend on the data. */
static uint32_t find_doc(const uint32_t *docs, uint32_t begin, uint32_t end, uint32_t doc) {
    const uint32_t *p = docs + begin;
    uint32_t n = end - begin;
    if (n == 0) return begin;
    while (n > 1) {
        uint32_t half = n / 2;
        p += p[half - 1] < doc ? half : 0;
        n -= half;
    }
    return (uint32_t)(p - docs) + (*p < doc);
}

/* The same from where the last of ascending documents was found: mostly a few places on. */
static uint32_t seek_doc(const uint32_t *docs, uint32_t at, uint32_t end, uint32_t doc) {
    enum { NEAR = 8 };
    while (at + NEAR <= end) {
        if (docs[at + NEAR - 1] >= doc) {
            uint32_t below = 0;
            for (uint32_t i = 0; i < NEAR; i++) below += docs[at + i] < doc;
            return at + below;
        }
        at += NEAR;
    }
    while (at < end && docs[at] < doc) at++;
    return at;
}

/* Decode the blocks that touch the window: docs[begin .. end) are its postings. */
static int buffer_window(search *q, cursor *c, fo_err *err) {
    if (c->n_blocks == 0) {
        c->begin = c->end = c->next;
        while (c->end < c->list.n && c->docs[c->end] < q->end) c->end++;
        return FO_OK;
    }
    uint32_t n = 0;
    size_t block = c->next;
    if (c->buffered == block + 1) { /* the last window's last block goes on into this one */
        uint32_t count = (uint32_t)block_count(c, block);
        memmove(c->docs, c->docs + c->n_buffered - count, count * sizeof *c->docs);
        memmove(c->tfs, c->tfs + c->n_buffered - count, count * sizeof *c->tfs);
        n = count;
        block++;
    }
    while (block < c->n_blocks && (block == 0 || last_of(c, block - 1) + 1 < q->end)) {
        bool has_tfs;
        if (n + POSTINGS_BLOCK > WINDOW_ROOM ||
            !decode_block(q, c, block, c->docs + n, c->tfs + n, &has_tfs))
            return damaged(err);
        if (!has_tfs) {
            uint32_t begin = block ? end_of(c, block - 1) : 0;
            if (!postings_decode_tfs(c->body + begin, end_of(c, block) - begin, c->tfs + n))
                return damaged(err);
        }
        n += (uint32_t)block_count(c, block);
        block++;
    }
    c->n_buffered = n;
    c->buffered = block;
    /* only the first and the last block can reach over the window's edges */
    uint32_t edge = n < POSTINGS_BLOCK ? n : POSTINGS_BLOCK;
    c->begin = n && c->docs[0] < q->begin ? find_doc(c->docs, 0, edge, q->begin) : 0;
    c->end = n && c->docs[n - 1] >= q->end ? find_doc(c->docs, n - edge, n, q->end) : n;
    return FO_OK;
}

static void add_window(search *q, const cursor *c) {
    const uint8_t *norms = q->inv->norms;
    uint16_t *sums = q->s->sums;
    const uint8_t(*impacts)[256] = q->s->impacts;
    uint32_t begin = q->begin;
    for (uint32_t i = c->begin; i < c->end; i++) {
        uint32_t doc = c->docs[i], tf = c->tfs[i];
        tf = tf < IMPACT_TFS - 1 ? tf : IMPACT_TFS - 1;
        sums[doc - begin] = (uint16_t)(sums[doc - begin] + c->add[impacts[tf][norms[doc]]]);
    }
}

/* The frequency of a term in a document at or after the window's begin; documents must ascend
 * within one round of calls, from `from` = next. *tf is 0 where it does not occur, or where the
 * block's bound shows that `sum` with `rest` for the terms to come stays below the threshold. */
static int probe(search *q, cursor *c, uint32_t *from, uint32_t doc, uint32_t sum_and_rest,
                 uint32_t *tf, fo_err *err) {
    *tf = 0;
    if (c->n_blocks == 0) {
        while (*from < c->list.n && c->docs[*from] < doc) ++*from;
        if (*from < c->list.n && c->docs[*from] == doc) *tf = c->tfs[*from];
        return FO_OK;
    }
    while (*from < c->n_blocks && last_of(c, *from) < doc) ++*from;
    uint32_t block = *from;
    if (block == c->n_blocks || sum_and_rest + c->add[bound_of(c, block)] < q->threshold)
        return FO_OK;
    if (c->probed != block + 1) {
        c->probed = 0;
        if (!decode_block(q, c, block, c->probe_docs, c->probe_tfs, &c->probe_has_tfs))
            return damaged(err);
        c->probed = block + 1;
        c->probe_at = 0;
    }
    uint32_t n = (uint32_t)block_count(c, block), i = seek_doc(c->probe_docs, c->probe_at, n, doc);
    c->probe_at = i;
    if (i == n || c->probe_docs[i] != doc) return FO_OK;
    if (!c->probe_has_tfs) {
        uint32_t begin = block ? end_of(c, block - 1) : 0;
        if (!postings_decode_tfs(c->body + begin, end_of(c, block) - begin, c->probe_tfs))
            return damaged(err);
        c->probe_has_tfs = true;
    }
    *tf = c->probe_tfs[i];
    return FO_OK;
}

static void score_exactly(search *q, const candidate *x, size_t n_lazy, size_t stride) {
    inverted_scratch *s = q->s;
    uint32_t doc = q->begin + x->doc, length = q->inv->lengths[doc];
    double score = 0;
    for (size_t t = 0; t < q->n_terms; t++) { /* in the order of the query */
        const cursor *c = &s->cursors[t];
        uint32_t tf = 0;
        if (c->list.n == 0 || c->window_max == 0) continue;
        if (c->place < n_lazy) {
            tf = s->found[c->place * stride + x->slot];
        } else {
            uint32_t i = find_doc(c->docs, c->begin, c->end, doc);
            if (i < c->end && c->docs[i] == doc) tf = c->tfs[i];
        }
        if (tf) score += bm25_term_score(q->params, c->weight, tf, length, q->average);
    }
    heap_offer(
        s->heap, &q->n_hits, q->k,
        (inverted_hit){
            .id = q->part->ids[doc], .score = (float)score, .part = q->part_index, .doc = doc});
    update_threshold(q);
}

/* Ascending by window_max: the order hardly changes from window to window. */
static void rank_terms(search *q) {
    uint16_t *order = q->s->order;
    const cursor *cursors = q->s->cursors;
    for (size_t i = 1; i < q->n_open; i++) {
        uint16_t x = order[i];
        size_t j = i;
        for (; j > 0 && cursors[order[j - 1]].window_max > cursors[x].window_max; j--)
            order[j] = order[j - 1];
        order[j] = x;
    }
    for (size_t i = 0; i < q->n_open; i++) q->s->cursors[order[i]].place = (uint32_t)i;
}

static bool is_allowed(const inverted_part *part, uint32_t doc) {
    size_t bit = part->allowed_base + doc;
    return part->allowed[bit / 64] >> (bit % 64) & 1;
}

static bool any_allowed(const search *q) {
    const inverted_part *part = q->part;
    if (!part->allowed) return true;
    size_t begin = part->allowed_base + q->begin, end = part->allowed_base + q->end;
    uint64_t any = part->allowed[begin / 64] >> (begin % 64);
    if (begin / 64 == (end - 1) / 64) {
        size_t n = end - begin;
        return n < 64 ? (any & (((uint64_t)1 << n) - 1)) != 0 : any != 0;
    }
    for (size_t w = begin / 64 + 1; w < (end - 1) / 64; w++) any |= part->allowed[w];
    return (any | part->allowed[(end - 1) / 64] << (63 - (end - 1) % 64)) != 0;
}

/* Documents that reach what the essential terms must bring; clears the sums. */
static size_t gather(search *q, uint32_t needed) {
    inverted_scratch *s = q->s;
    size_t n = 0;
    size_t n_reached = q->kernels->reach(s->sums, q->end - q->begin,
                                         needed > UINT16_MAX ? UINT16_MAX : (uint16_t)needed,
                                         s->reached, s->reached_sums);
    for (size_t i = 0; i < n_reached; i++) {
        uint16_t doc = s->reached[i];
        if (q->part->allowed && !is_allowed(q->part, q->begin + doc)) continue;
        s->candidates[n] = (candidate){.sum = s->reached_sums[i], .doc = doc, .slot = (uint16_t)n};
        n++;
    }
    return n;
}

/* Look the lazy terms up for the candidates, the weightiest term first; drops those that fall
 * behind. `rest` is the most that all lazy terms add together. */
static int look_up_lazy(search *q, size_t n_lazy, uint32_t rest, size_t *n, fo_err *err) {
    inverted_scratch *s = q->s;
    size_t stride = *n;
    if (n_lazy * stride > s->found_room) {
        free(s->found);
        s->found_room = n_lazy * stride;
        s->found = malloc(s->found_room * sizeof *s->found);
        if (!s->found) {
            s->found_room = 0;
            return fo_fail(err, FO_ENOMEM, "out of memory in a search");
        }
    }
    for (size_t row = n_lazy; row-- > 0;) {
        cursor *c = &s->cursors[s->order[row]];
        if (c->window_max == 0) break; /* and all before it */
        rest -= c->window_max;
        uint32_t from = c->next;
        size_t kept = 0;
        c->probe_at = 0;
        for (size_t i = 0; i < *n; i++) {
            candidate x = s->candidates[i];
            uint32_t doc = q->begin + x.doc, tf = c->hot ? inverted_hot_tf(c->hot, doc) : 0;
            if (!c->hot || __builtin_expect(tf == INVERTED_HOT_MORE, 0)) {
                int rc = probe(q, c, &from, doc, x.sum + rest, &tf, err);
                if (rc != FO_OK) return rc;
            }
            s->found[row * stride + x.slot] = tf;
            uint32_t row_of_tf = tf < IMPACT_TFS - 1 ? tf : IMPACT_TFS - 1;
            uint32_t more = c->add[s->impacts[row_of_tf][q->inv->norms[doc]]];
            /* whether it occurs and whether that is enough is anybody's guess: no branches */
            x.sum += tf ? more : 0;
            s->candidates[kept] = x;
            kept += x.sum + rest >= q->threshold;
        }
        *n = kept;
    }
    return FO_OK;
}

/* Most promising first, up to the low bits: the threshold rises soon and cuts off the rest. */
static const candidate *sort_candidates(inverted_scratch *s, size_t n) {
    candidate *c = s->candidates;
    if (n <= 32) {
        for (size_t i = 1; i < n; i++) {
            candidate x = c[i];
            size_t j = i;
            for (; j > 0 && c[j - 1].sum < x.sum; j--) c[j] = c[j - 1];
            c[j] = x;
        }
        return c;
    }
    uint16_t *at = s->buckets;
    memset(at, 0, sizeof s->buckets);
    for (size_t i = 0; i < n; i++) at[c[i].sum >> SORT_SHIFT]++;
    unsigned below = 0;
    for (size_t b = SORT_BUCKETS; b-- > 0;) {
        unsigned count = at[b];
        at[b] = (uint16_t)below;
        below += count;
    }
    for (size_t i = 0; i < n; i++) s->sorted[at[c[i].sum >> SORT_SHIFT]++] = c[i];
    return s->sorted;
}

/* Looking a term up for one candidate costs as much as adding fifteen of its postings. While more
 * candidates than that are left, the next lazy term is added instead: what the others still need
 * then rises, and most candidates go at once. */
static int widen(search *q, size_t *n_lazy, uint32_t *rest, fo_err *err) {
    inverted_scratch *s = q->s;
    size_t size = q->end - q->begin;
    while (*n_lazy > 0) {
        cursor *c = &s->cursors[s->order[*n_lazy - 1]];
        if (c->window_max == 0) break;
        uint32_t needed = q->threshold - *rest;
        size_t n = q->kernels->count(s->sums, size, (uint16_t)(needed < 65535 ? needed : 65535));
        size_t postings = (size_t)((uint64_t)c->list.n * size / q->inv->n_docs);
        if (n * (c->hot ? HOT_LOOK_UP_COST : LOOK_UP_COST) <= postings + POSTINGS_BLOCK) break;
        int rc = buffer_window(q, c, err);
        if (rc != FO_OK) return rc;
        add_window(q, c);
        *rest -= c->window_max;
        --*n_lazy;
    }
    return FO_OK;
}

static int search_window(search *q, fo_err *err) {
    inverted_scratch *s = q->s;
    for (size_t i = 0; i < q->n_open; i++) bound_window(q, &s->cursors[s->order[i]]);
    rank_terms(q);
    size_t n_lazy = 0;
    uint32_t rest = 0;
    int rc;
    while (n_lazy < q->n_open) {
        uint32_t more = s->cursors[s->order[n_lazy]].window_max;
        if (rest + more >= q->threshold) break;
        rest += more;
        n_lazy++;
    }
    if (n_lazy == q->n_open) return FO_OK;
    for (size_t i = n_lazy; i < q->n_open; i++) {
        cursor *c = &s->cursors[s->order[i]];
        if ((rc = buffer_window(q, c, err)) != FO_OK) return rc;
        add_window(q, c);
    }
    rc = widen(q, &n_lazy, &rest, err);
    if (rc != FO_OK) return rc;
    size_t n = gather(q, q->threshold - rest), stride = n;
    if (n_lazy > 0 && n > 0) {
        rc = look_up_lazy(q, n_lazy, rest, &n, err);
        if (rc != FO_OK) return rc;
    }
    const candidate *c = sort_candidates(s, n);
    for (size_t i = 0; i < n; i++)
        if (c[i].sum >= q->threshold) score_exactly(q, &c[i], n_lazy, stride);
    return FO_OK;
}

static int search_part(search *q, fo_err *err) {
    q->inv = q->part->inv;
    int rc = open_cursors(q, err);
    if (rc != FO_OK || q->n_open == 0) return rc;
    update_threshold(q);
    memset(q->s->sums, 0, sizeof q->s->sums);
    uint32_t n_docs = q->inv->n_docs;
    for (q->begin = 0; q->begin < n_docs && rc == FO_OK; q->begin = q->end) {
        uint32_t size = q->n_hits < q->k ? FIRST_WINDOW : WINDOW;
        q->end = n_docs - q->begin < size ? n_docs : q->begin + size;
        if (any_allowed(q)) rc = search_window(q, err);
    }
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
                .kernels = scan16_table(),
                .n_terms = n_terms,
                .k = k,
                .average = n_docs ? (double)words / (double)n_docs : 0};
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
        if (rc != FO_OK) return rc;
    }
    qsort(s->heap, q.n_hits, sizeof *s->heap, by_rank);
    memcpy(hits, s->heap, q.n_hits * sizeof *hits);
    *n = q.n_hits;
    return FO_OK;
}
