/* MaxScore over windows of documents.
 *
 * For each window the terms are ordered by the most they can add in it. Those whose sum stays below
 * the k-th best score so far are only looked up for documents that the others bring up; the others'
 * blocks are decoded and added into an array of sums, one for each document of the window.
 * Documents whose sum can reach the k-th best score are scored exactly, the most promising first.
 */
#include "index/sparse/inverted_search_internal.h"

#include <stdlib.h>

enum {
    LOOK_UP_COST = 10, /* postings added in the time of one look-up */
    HOT_LOOK_UP_COST = 2,
};

/* The most a term can add in the window, from its peaks or the bounds of the blocks that touch it.
 */
static void bound_window(search *q, cursor *c) {
    if (c->n_blocks == 0) {
        while (c->next < c->list.n && c->docs[c->next] < q->begin) c->next++;
        bool any = c->next < c->list.n && c->docs[c->next] < q->end;
        c->window_max = any ? c->most : 0;
        return;
    }
    c->next = find_block(c, c->next, q->begin);
    uint8_t most = 0;
    if (c->peaks) {
        unsigned shift = inverted_hot_shift(q->part->hot);
        for (uint32_t b = q->begin >> shift; b <= (q->end - 1) >> shift; b++)
            most = c->peaks[b] > most ? c->peaks[b] : most;
        uint32_t add = peak_add(c, most);
        c->window_max = most == 0 ? 0 : add < c->most ? add : c->most;
        return;
    }
    bool any = false;
    for (size_t b = c->next; b < c->n_blocks; b++) {
        if (b > 0 && last_of(c, b - 1) + 1 >= q->end) break;
        uint8_t bound = c->list.data[8 * c->n_blocks + b];
        if (bound > most) most = bound;
        any = true;
        if (last_of(c, b) >= q->end - 1) break;
    }
    c->window_max = any ? add_of(c, q->bounds[most]) : 0;
}

/* As find_doc, from where the last of ascending documents was found: mostly a few places on. */
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
            !inverted_search_decode_block(q, c, block, c->docs + n, c->tfs + n, &has_tfs))
            return inverted_search_damaged(err);
        if (!has_tfs && !inverted_search_decode_tfs(c, block, c->tfs + n))
            return inverted_search_damaged(err);
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
    uint16_t *sums = q->s->sums;
    for (uint32_t i = c->begin; i < c->end; i++) {
        uint32_t doc = c->docs[i], at = doc - q->begin;
        sums[at] = (uint16_t)(sums[at] + add_of(c, impact_of(q, c->tfs[i], doc)));
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
    if (block == c->n_blocks ||
        sum_and_rest + add_of(c, q->bounds[c->list.data[8 * c->n_blocks + block]]) < q->threshold)
        return FO_OK;
    if (c->probed != block + 1) {
        c->probed = 0;
        if (!inverted_search_decode_block(q, c, block, c->probe_docs, c->probe_tfs,
                                          &c->probe_has_tfs))
            return inverted_search_damaged(err);
        c->probed = block + 1;
        c->probe_at = 0;
    }
    uint32_t n = (uint32_t)block_count(c, block), i = seek_doc(c->probe_docs, c->probe_at, n, doc);
    c->probe_at = i;
    if (i == n || c->probe_docs[i] != doc) return FO_OK;
    if (!c->probe_has_tfs) {
        if (!inverted_search_decode_tfs(c, block, c->probe_tfs))
            return inverted_search_damaged(err);
        c->probe_has_tfs = true;
    }
    *tf = c->probe_tfs[i];
    return FO_OK;
}

static void score_exactly(search *q, const candidate *x, size_t n_nonessential, size_t stride) {
    inverted_scratch *s = q->s;
    uint32_t doc = q->begin + x->doc, length = q->inv->lengths[doc];
    double score = 0;
    for (size_t t = 0; t < q->n_terms; t++) { /* in the order of the query */
        const cursor *c = &s->cursors[t];
        uint32_t tf = 0;
        if (c->list.n == 0 || c->window_max == 0) continue;
        if (c->place < n_nonessential) {
            tf = s->found[c->place * stride + x->slot];
        } else {
            uint32_t i = find_doc(c->docs, c->begin, c->end, doc);
            if (i < c->end && c->docs[i] == doc) tf = c->tfs[i];
        }
        if (tf) score += bm25_term_score(q->params, c->weight, tf, length, q->average);
    }
    inverted_search_offer(q, doc, score);
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

bool inverted_search_any_allowed(const search *q) {
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
    size_t n_reached = q->kernels.reach(s->sums, q->end - q->begin,
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

/* Look the non-essential terms up for the candidates, the weightiest term first; drops those that
 * fall behind. `rest` is the most that all non-essential terms add together. */
static int look_up_nonessential(search *q, size_t n_nonessential, uint32_t rest, size_t *n,
                                fo_err *err) {
    inverted_scratch *s = q->s;
    size_t stride = *n;
    if (n_nonessential * stride > s->found_room) {
        free(s->found);
        s->found_room = n_nonessential * stride;
        s->found = malloc(s->found_room * sizeof *s->found);
        if (!s->found) {
            s->found_room = 0;
            return inverted_search_no_memory(err);
        }
    }
    for (size_t row = n_nonessential; row-- > 0;) {
        cursor *c = &s->cursors[s->order[row]];
        if (c->window_max == 0) break; /* and all before it */
        rest -= c->window_max;
        uint32_t from = c->next;
        size_t kept = 0;
        c->probe_at = 0;
        for (size_t i = 0; i < *n; i++) {
            candidate x = s->candidates[i];
            uint32_t doc = q->begin + x.doc;
            uint32_t tf = c->tfs_by_doc ? inverted_hot_tf(c->tfs_by_doc, doc) : 0;
            if (!c->tfs_by_doc || __builtin_expect(tf == INVERTED_HOT_MORE, 0)) {
                int rc = probe(q, c, &from, doc, x.sum + rest, &tf, err);
                if (rc) return rc;
            }
            s->found[row * stride + x.slot] = tf;
            uint32_t more = add_of(c, impact_of(q, tf, doc));
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
 * candidates than that are left, the next non-essential term is added instead: what the others still need
 * then rises, and most candidates go at once. */
static int widen(search *q, size_t *n_nonessential, uint32_t *rest, fo_err *err) {
    inverted_scratch *s = q->s;
    size_t size = q->end - q->begin;
    while (*n_nonessential > 0) {
        cursor *c = &s->cursors[s->order[*n_nonessential - 1]];
        if (c->window_max == 0) break;
        uint32_t needed = q->threshold - *rest;
        size_t n = q->kernels.count(s->sums, size, (uint16_t)(needed < 65535 ? needed : 65535));
        size_t postings = (size_t)((uint64_t)c->list.n * size / q->inv->n_docs);
        if (n * (c->tfs_by_doc ? HOT_LOOK_UP_COST : LOOK_UP_COST) <= postings + POSTINGS_BLOCK)
            break;
        int rc = buffer_window(q, c, err);
        if (rc) return rc;
        add_window(q, c);
        *rest -= c->window_max;
        --*n_nonessential;
    }
    return FO_OK;
}

int inverted_search_window(search *q, fo_err *err) {
    inverted_scratch *s = q->s;
    for (size_t i = 0; i < q->n_open; i++) bound_window(q, &s->cursors[s->order[i]]);
    rank_terms(q);
    size_t n_nonessential = 0;
    uint32_t rest = 0;
    int rc;
    while (n_nonessential < q->n_open) {
        uint32_t more = s->cursors[s->order[n_nonessential]].window_max;
        if (rest + more >= q->threshold) break;
        rest += more;
        n_nonessential++;
    }
    if (n_nonessential == q->n_open) return FO_OK;
    for (size_t i = n_nonessential; i < q->n_open; i++) {
        cursor *c = &s->cursors[s->order[i]];
        if ((rc = buffer_window(q, c, err)) != FO_OK) return rc;
        add_window(q, c);
    }
    rc = widen(q, &n_nonessential, &rest, err);
    if (rc) return rc;
    size_t n = gather(q, q->threshold - rest), stride = n;
    if (n_nonessential > 0 && n > 0) {
        rc = look_up_nonessential(q, n_nonessential, rest, &n, err);
        if (rc) return rc;
    }
    const candidate *c = sort_candidates(s, n);
    for (size_t i = 0; i < n; i++)
        if (c[i].sum >= q->threshold) score_exactly(q, &c[i], n_nonessential, stride);
    return FO_OK;
}
