/* The essential terms: the rarest ones, scored before all others (MaxScore).
 *
 * Their lists are short: all their postings are added into an array of sums, one
 * for each document of the part. For the other terms, peaks (inverted_hot.h) summed over the terms
 * bound what they add to any document of a bucket. Both together bound the score of each document
 * that has a rare term; the most promising are scored exactly, the common terms looked up.
 * What is left are documents without a rare term: their scores are at most their bucket's sum of
 * peaks, so that only buckets which reach the k-th best score are searched by windows. Mostly there
 * are none. */
#include "index/sparse/inverted_search_internal.h"

#include <stdlib.h>

enum {
    ESSENTIAL_POSTINGS = 4096, /* of common terms, added while the rarest have fewer */
    ESSENTIAL_LIST = 4096,     /* a list without peaks must not be longer */
    ESSENTIAL_K = 256,         /* with more, windows do as well */
    SCORE_BATCH = 16,          /* candidates scored before the others are looked at again */
    MANY_BUCKETS = 1024,       /* left over: searched by windows, fewer one by one */
    BUCKETS_BATCH = 16,
    PRIME_BUCKETS = 8, /* the best of them give a threshold where rare terms do not */
    BIN_SHIFT = 6,
    BINS = (1 << 15) >> BIN_SHIFT,
};

typedef struct essential {
    search *q;
    unsigned shift;     /* of a document to its bucket */
    size_t n_buckets;   /* a multiple of INVERTED_HOT_PAD */
    size_t n_essential; /* order[0 .. n_essential) are the rarest terms, behind them the rest */
} essential;

/* `old` where it has room, else fresh zeroed memory in its place; NULL when there is none. */
static void *reserve(void *old, size_t *room, size_t need, size_t width) {
    if (need <= *room) return old;
    free(old);
    void *bigger = calloc(need, width);
    *room = bigger ? need : 0;
    return bigger;
}

/* Order the terms by their postings and choose the essential ones. False: windows must do alone. */
static bool choose(essential *f) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    const cursor *cursors = s->cursors;
    for (size_t i = 1; i < q->n_open; i++) {
        uint16_t x = s->order[i];
        size_t j = i;
        for (; j > 0 && cursors[s->order[j - 1]].list.n > cursors[x].list.n; j--)
            s->order[j] = s->order[j - 1];
        s->order[j] = x;
    }
    size_t total = 0, n = 0;
    for (size_t i = 0; i < q->n_open; i++)
        if (!cursors[s->order[i]].peaks) n = i + 1; /* cannot be bounded */
    for (size_t i = 0; i < q->n_open; i++) {
        const cursor *c = &cursors[s->order[i]];
        if (i >= n && total + c->list.n > ESSENTIAL_POSTINGS) break;
        if (c->list.n > ESSENTIAL_LIST) return false;
        total += c->list.n;
        f->n_essential = i + 1;
    }
    return (s->documents =
                reserve(s->documents, &s->documents_room, total + 1, sizeof *s->documents)) &&
           (s->doc_sums =
                reserve(s->doc_sums, &s->doc_sums_room, q->inv->n_docs, sizeof *s->doc_sums)) &&
           (s->bucket_sums = reserve(s->bucket_sums, &s->bucket_sums_room, f->n_buckets,
                                     sizeof *s->bucket_sums));
}

static void sum_peaks(essential *f) {
    search *q = f->q;
    uint16_t *sums = q->s->bucket_sums;
    size_t n_rest = q->n_open - f->n_essential;
    for (size_t b = 0; b < f->n_buckets; b++) sums[b] = (uint16_t)n_rest; /* see peak_add */
    for (size_t i = f->n_essential; i < q->n_open; i++) {
        const cursor *c = &q->s->cursors[q->s->order[i]];
        q->kernels.add_scaled(sums, c->peaks, f->n_buckets, c->peak_shift, c->peak_factor);
    }
}

static int add_essential(essential *f, fo_err *err) {
    search *q = f->q;
    uint16_t *sums = q->s->doc_sums;
    for (size_t i = 0; i < f->n_essential; i++) {
        cursor *c = &q->s->cursors[q->s->order[i]];
        if (c->n_blocks) { /* a short list is decoded already */
            int rc = inverted_decode(q->inv, &c->list, c->docs, c->tfs, err);
            if (rc) return rc;
        }
        for (uint32_t j = 0; j < c->list.n; j++) {
            uint32_t doc = c->docs[j];
            sums[doc] = (uint16_t)(sums[doc] + add_of(c, impact_of(q, c->tfs[j], doc)));
        }
    }
    return FO_OK;
}

/* Drop those of c[from .. n) that fall below the threshold; the rest to the front. */
static size_t keep_reaching(const search *q, bounded *c, size_t from, size_t n) {
    size_t kept = 0;
    for (size_t i = from; i < n; i++) {
        c[kept] = c[i];
        kept += c[i].bound >= q->threshold;
    }
    return kept;
}

/* The documents that can reach the threshold; clears the sums. */
static size_t gather(essential *f) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    bounded *out = s->documents;
    size_t n = 0;
    for (size_t i = 0; i < f->n_essential; i++) {
        const cursor *c = &s->cursors[s->order[i]];
        for (uint32_t j = 0; j < c->list.n; j++) {
            uint32_t doc = c->docs[j], sum = s->doc_sums[doc];
            uint32_t bound = sum + s->bucket_sums[doc >> f->shift];
            s->doc_sums[doc] = 0;
            out[n] = (bounded){.bound = bound, .at = doc};
            n += (sum > 0) & (bound >= q->threshold); /* no branch: anybody's guess */
        }
    }
    return n;
}

/* Put other bounds in place of the buckets' in d[n]: what a term adds where its frequencies lie by
 * document, a peak where the document's sixteenth of its bucket has the term. Returns how many
 * still reach the threshold; they come first. */
static size_t refine(essential *f, bounded *d, size_t n) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    for (size_t i = 0; i < n; i++) d[i].bound -= s->bucket_sums[d[i].at >> f->shift];
    for (size_t t = f->n_essential; t < q->n_open; t++) {
        const cursor *c = &s->cursors[s->order[t]];
        for (size_t i = 0; c->tfs_by_doc && i < n; i++) {
            uint32_t tf = inverted_hot_tf(c->tfs_by_doc, d[i].at);
            tf += tf == INVERTED_HOT_MORE; /* the row for any frequency */
            d[i].bound += add_of(c, s->impacts[tf][q->inv->norms[d[i].at]]);
        }
        for (size_t i = 0; !c->tfs_by_doc && i < n; i++) {
            uint32_t peak = c->peaks[d[i].at >> f->shift];
            uint32_t has = inverted_hot_has(c->places, f->shift, d[i].at);
            d[i].bound += peak_add(c, peak) & -has;
        }
    }
    return keep_reaching(q, d, 0, n);
}

static int look_up(search *q, cursor *c, uint32_t doc, uint32_t *tf, fo_err *err) {
    *tf = 0;
    if (c->n_blocks == 0) {
        uint32_t i = find_doc(c->docs, 0, c->list.n, doc);
        if (i < c->list.n && c->docs[i] == doc) *tf = c->tfs[i];
        return FO_OK;
    }
    uint32_t block = find_block(c, 0, doc);
    if (block == c->n_blocks) return FO_OK;
    if (c->probed != block + 1) {
        c->probed = 0;
        if (!inverted_search_decode_block(q, c, block, c->probe_docs, c->probe_tfs,
                                          &c->probe_has_tfs))
            return inverted_search_damaged(err);
        c->probed = block + 1;
    }
    uint32_t n = (uint32_t)block_count(c, block), i = find_doc(c->probe_docs, 0, n, doc);
    if (i == n || c->probe_docs[i] != doc) return FO_OK;
    if (!c->probe_has_tfs && !inverted_search_decode_tfs(c, block, c->probe_tfs))
        return inverted_search_damaged(err);
    c->probe_has_tfs = true;
    *tf = c->probe_tfs[i];
    return FO_OK;
}

/* doc_tfs of the other terms are set, but for those whose frequencies lie by document. */
static int score_exactly(essential *f, uint32_t doc, fo_err *err) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    for (size_t i = f->n_essential; i < q->n_open; i++) {
        cursor *c = &s->cursors[s->order[i]];
        if (!c->tfs_by_doc) continue;
        uint32_t *tf = &s->doc_tfs[s->order[i]];
        *tf = inverted_hot_tf(c->tfs_by_doc, doc);
        int rc = *tf == INVERTED_HOT_MORE ? look_up(q, c, doc, tf, err) : FO_OK;
        if (rc) return rc;
    }
    for (size_t i = 0; i < f->n_essential; i++) {
        const cursor *c = &s->cursors[s->order[i]];
        uint32_t at = find_doc(c->docs, 0, c->list.n, doc);
        s->doc_tfs[s->order[i]] = at < c->list.n && c->docs[at] == doc ? c->tfs[at] : 0;
    }
    uint32_t length = q->inv->lengths[doc];
    double score = 0;
    for (size_t t = 0; t < q->n_terms; t++) { /* in the order of the query */
        const cursor *c = &s->cursors[t];
        if (c->list.n == 0 || s->doc_tfs[t] == 0) continue;
        score += bm25_term_score(q->params, c->weight, s->doc_tfs[t], length, q->average);
    }
    inverted_search_offer(q, doc, score);
    return FO_OK;
}

/* Put what the other terms really add in place of their peaks, as long as the bound reaches the
 * threshold; then score exactly. */
static int evaluate(essential *f, bounded x, fo_err *err) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    if (q->part->allowed && !is_allowed(q->part, x.at)) return FO_OK;
    for (size_t i = f->n_essential; i < q->n_open; i++) {
        uint16_t t = s->order[i];
        cursor *c = &s->cursors[t];
        s->doc_tfs[t] = 0;
        if (c->tfs_by_doc || !inverted_hot_has(c->places, f->shift, x.at)) continue;
        int rc = look_up(q, c, x.at, &s->doc_tfs[t], err);
        if (rc) return rc;
        x.bound -= peak_add(c, c->peaks[x.at >> f->shift]);
        if (s->doc_tfs[t]) x.bound += add_of(c, impact_of(q, s->doc_tfs[t], x.at));
        if (x.bound < q->threshold) return FO_OK;
    }
    return score_exactly(f, x.at, err);
}

/* The lowest bin such that it and those above hold `wanted` (all: 0). */
static size_t cut_bins(const uint16_t *bins, size_t wanted) {
    size_t bin = BINS, n = 0;
    while (bin > 0 && n < wanted) n += bins[--bin];
    return bin;
}

/* Move those of c[n] with the highest bounds, `wanted` or more (all: fewer than that are left), to
 * the front; their number. */
static size_t select_best(bounded *c, size_t n, size_t wanted) {
    if (n <= wanted + wanted / 2) return n;
    uint16_t bins[BINS] = {0};
    for (size_t i = 0; i < n; i++) bins[c[i].bound >> BIN_SHIFT]++;
    uint32_t least = (uint32_t)cut_bins(bins, wanted) << BIN_SHIFT;
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        bounded x = c[i];
        c[i] = c[best];
        c[best] = x;
        best += x.bound >= least;
    }
    return best;
}

/* Score those of d[n] that can enter the heap, the most promising first. */
static int score_refined(essential *f, bounded *d, size_t n, fo_err *err) {
    search *q = f->q;
    for (size_t batch = q->k > SCORE_BATCH ? q->k : SCORE_BATCH; n > 0; batch *= 2) {
        size_t best = select_best(d, n, batch);
        for (size_t i = 0; i < best; i++) {
            if (d[i].bound < q->threshold) continue;
            int rc = evaluate(f, d[i], err);
            if (rc) return rc;
        }
        n = keep_reaching(q, d, best, n);
    }
    return FO_OK;
}

/* The same for n candidates with the bounds of their buckets. */
static int score_documents(essential *f, size_t n, fo_err *err) {
    search *q = f->q;
    bounded *d = q->s->documents;
    for (size_t batch = 4 * (q->k > SCORE_BATCH ? q->k : SCORE_BATCH); n > 0; batch *= 4) {
        size_t best = select_best(d, n, batch);
        int rc = score_refined(f, d, refine(f, d, best), err);
        if (rc) return rc;
        n = keep_reaching(q, d, best, n);
    }
    return FO_OK;
}

/* The documents of a bucket, by the sixteenths that reach the threshold, appended to the n
 * candidates; their number. */
static size_t take_bucket(essential *f, uint32_t bucket, size_t n) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    size_t n_rest = q->n_open - f->n_essential;
    for (size_t i = 0; i < n_rest; i++) {
        const cursor *c = &s->cursors[s->order[f->n_essential + i]];
        s->lane_masks[i] = c->places[bucket];
        s->lane_adds[i] = (uint16_t)peak_add(c, c->peaks[bucket]);
    }
    uint32_t size = 1u << (f->shift - 4), n_docs = q->inv->n_docs;
    for (uint32_t reached =
             q->kernels.reach_lanes(s->lane_masks, s->lane_adds, n_rest, (uint16_t)q->threshold);
         reached; reached &= reached - 1) {
        uint32_t begin = (bucket * 16 + (uint32_t)__builtin_ctz(reached)) * size;
        for (uint32_t doc = begin; doc < begin + size && doc < n_docs; doc++)
            s->documents[n++] = (bounded){.bound = s->bucket_sums[bucket], .at = doc};
    }
    return n;
}

/* Score the documents of n buckets, the most promising first. */
static int score_buckets(essential *f, size_t n, fo_err *err) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    for (size_t batch = BUCKETS_BATCH; n > 0; batch *= 2) {
        size_t best = select_best(s->left, n, batch), n_documents = 0;
        if (!(s->documents = reserve(s->documents, &s->documents_room, best << f->shift,
                                     sizeof *s->documents)))
            return inverted_search_no_memory(err);
        for (size_t i = 0; i < best; i++)
            if (s->left[i].bound >= q->threshold)
                n_documents = take_bucket(f, s->left[i].at, n_documents);
        int rc = score_documents(f, n_documents, err);
        if (rc) return rc;
        n = keep_reaching(q, s->left, best, n);
    }
    return FO_OK;
}

/* Search documents [begin, end) by windows over the terms that are not essential. */
static int search_buckets(essential *f, size_t begin, size_t end, fo_err *err) {
    search *q = f->q;
    q->begin = (uint32_t)(begin << f->shift);
    size_t last = end << f->shift;
    q->end = last < q->inv->n_docs ? (uint32_t)last : q->inv->n_docs;
    return q->begin < q->end && inverted_search_any_allowed(q) ? inverted_search_window(q, err)
                                                               : FO_OK;
}

static void rewind_terms(search *q) {
    for (size_t i = 0; i < q->n_open; i++) q->s->cursors[q->s->order[i]].next = 0;
}

/* Too few documents had rare terms: begin with the buckets where most can be expected. */
static int prime(essential *f, fo_err *err) {
    inverted_scratch *s = f->q->s;
    uint16_t *sums = s->bucket_sums, bins[BINS] = {0};
    for (size_t b = 0; b < f->n_buckets; b++) bins[sums[b] >> BIN_SHIFT]++;
    uint32_t least = (uint32_t)cut_bins(bins, PRIME_BUCKETS) << BIN_SHIFT;
    size_t n = 0;
    for (size_t b = 0; b < f->n_buckets && n < PRIME_BUCKETS; b++) {
        if (sums[b] < least) continue;
        int rc = search_buckets(f, b, b + 1, err);
        if (rc) return rc;
        sums[b] = 0;
        n++;
    }
    rewind_terms(f->q);
    return FO_OK;
}

/* What reaches the threshold by windows of up to WINDOW documents. */
static int search_windows(essential *f, fo_err *err) {
    search *q = f->q;
    const uint16_t *sums = q->s->bucket_sums;
    size_t room = WINDOW >> f->shift;
    if (q->n_hits < q->k) {
        int rc = prime(f, err);
        if (rc) return rc;
    }
    for (size_t b = 0; b < f->n_buckets;) {
        if (sums[b] < q->threshold) {
            b++;
            continue;
        }
        size_t end = b + 1;
        for (size_t i = end; i < b + room && i < f->n_buckets; i++)
            if (sums[i] >= q->threshold) end = i + 1;
        int rc = search_buckets(f, b, end, err);
        if (rc) return rc;
        b = end;
    }
    return FO_OK;
}

/* Documents without any of the essential terms. */
static int search_rest(essential *f, fo_err *err) {
    search *q = f->q;
    inverted_scratch *s = q->s;
    size_t n_rest = q->n_open - f->n_essential;
    q->revisits = true;
    if (n_rest == 0) return FO_OK;
    if (q->n_hits == q->k) {
        uint16_t least = (uint16_t)(q->threshold < UINT16_MAX ? q->threshold : UINT16_MAX);
        size_t n = q->kernels.count(s->bucket_sums, f->n_buckets, least);
        if (n == 0) return FO_OK;
        if (n <= MANY_BUCKETS) {
            if (!(s->left = reserve(s->left, &s->left_room, n + 1, sizeof *s->left)))
                return inverted_search_no_memory(err);
            size_t kept = 0;
            for (size_t b = 0; kept < n; b++) {
                s->left[kept] = (bounded){.bound = s->bucket_sums[b], .at = (uint32_t)b};
                kept += s->bucket_sums[b] >= least;
            }
            return score_buckets(f, n, err);
        }
    }
    memmove(s->order, s->order + f->n_essential, n_rest * sizeof *s->order);
    q->n_open = n_rest;
    for (size_t i = 0; i < n_rest; i++) s->cursors[s->order[i]].probed = 0;
    return search_windows(f, err);
}

int inverted_search_essential(search *q, bool *done, fo_err *err) {
    *done = false;
    if (!q->part->hot || q->k > ESSENTIAL_K) return FO_OK;
    essential f = {.q = q, .shift = inverted_hot_shift(q->part->hot)};
    f.n_buckets = ((q->inv->n_docs >> f.shift) / INVERTED_HOT_PAD + 1) * INVERTED_HOT_PAD;
    if (!choose(&f)) return FO_OK;
    *done = true;
    sum_peaks(&f);
    int rc = add_essential(&f, err);
    if (rc) { /* the sums stay clean */
        memset(q->s->doc_sums, 0, q->s->doc_sums_room * sizeof *q->s->doc_sums);
        return rc;
    }
    rc = score_documents(&f, gather(&f), err);
    return !rc ? search_rest(&f, err) : rc;
}
