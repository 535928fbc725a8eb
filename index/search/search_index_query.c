/* Searching a snapshot. */
#include "index/search/search_index_internal.h"

#include <stdlib.h>
#include <string.h>
#include "index/filter/filter_tree.h"
#include "index/sparse/language.h"

enum { MAX_TERMS = INVERTED_MAX_QUERY_TERMS, TEXT_ROOM = MAX_TERMS * 32 };

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory in a search");
}

/* Working memory --------------------------------------------------------------------------------------- */

typedef struct query_term {
    uint32_t text, len, count;
    bool stop;
} query_term;

void search_scratch_free(search_scratch *r) {
    if (!r) return;
    analyzer_free(r->analyzer);
    inverted_scratch_free(r->sparse);
    hnsw_scratch_free(r->dense);
    free(r->terms);
    free(r->texts);
    free(r);
}

static search_scratch *scratch_create(const search_index *ix) {
    search_scratch *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->sparse = inverted_scratch_create();
    r->dense = hnsw_scratch_create();
    r->terms = malloc(MAX_TERMS * sizeof *r->terms);
    r->texts = malloc(TEXT_ROOM);
    fo_err ignored;
    if (!r->sparse || !r->dense || !r->terms || !r->texts ||
        analyzer_create(&r->analyzer, ix->language, &ignored) != FO_OK) {
        search_scratch_free(r);
        return NULL;
    }
    return r;
}

static search_scratch *scratch_take(search_index *ix) {
    for (size_t i = 0; i < SEARCH_SCRATCHES; i++) {
        if (!atomic_load_explicit(&ix->scratches[i], memory_order_relaxed)) continue;
        search_scratch *r = atomic_exchange(&ix->scratches[i], NULL);
        if (r) return r;
    }
    return scratch_create(ix);
}

static void scratch_give(search_index *ix, search_scratch *r) {
    inverted_scratch_trim(r->sparse); /* else it stays until the index closes */
    for (size_t i = 0; i < SEARCH_SCRATCHES; i++) {
        search_scratch *empty = NULL;
        if (atomic_compare_exchange_strong(&ix->scratches[i], &empty, r)) return;
    }
    search_scratch_free(r);
}

/* Filters ------------------------------------------------------------------------------------- */

/* words[] |= bits[n] moved up by `shift` places. */
static void or_shifted(uint64_t *words, const uint64_t *bits, size_t n_bits, size_t shift) {
    size_t at = shift / 64, by = shift % 64;
    for (size_t i = 0; i < (n_bits + 63) / 64; i++) {
        words[at + i] |= bits[i] << by;
        if (by && bits[i] >> (64 - by)) words[at + i + 1] |= bits[i] >> (64 - by);
    }
}

static int match_segment(const search_segment *h, const search_filter *f, uint64_t **out,
                         size_t *n_set, fo_err *err) {
    size_t words = ((size_t)h->n_docs + 63) / 64 + 1;
    uint64_t *all = calloc(words, sizeof *all), *bits = malloc(words * sizeof *bits);
    int rc = all && bits ? FO_OK : no_memory(err);
    for (size_t i = 0; i < h->n_parts && !rc; i++) {
        rc = metadata_match(&h->parts[i]->meta, f, bits, err);
        if (!rc) or_shifted(all, bits, h->parts[i]->n_docs, h->bases[i]);
    }
    free(bits);
    if (rc) {
        free(all);
        return rc;
    }
    *n_set = 0;
    for (size_t i = 0; i + 1 < words; i++) {
        if (h->live) all[i] &= h->live->words[i];
        *n_set += (size_t)__builtin_popcountll(all[i]);
    }
    *out = all;
    return FO_OK;
}

/* The dense and the sparse search of one query ask for the same filter: the last is kept. */
static int filter_take(search_snapshot *s, const search_filter *f, filter_bits **out, fo_err *err) {
    filter_bits *b = NULL;
    pthread_mutex_lock(&s->cache_mu);
    if (s->cache && s->cache->filter_id == f->id) {
        b = s->cache;
        atomic_fetch_add(&b->refs, 1);
    }
    pthread_mutex_unlock(&s->cache_mu);
    if (b) {
        *out = b;
        return FO_OK;
    }
    b = calloc(1, sizeof *b + s->n_segments * sizeof *b->segments);
    if (!b) return no_memory(err);
    b->filter_id = f->id;
    b->all = true;
    for (size_t i = 0; i < s->n_segments; i++) {
        int rc =
            match_segment(&s->segments[i], f, &b->segments[i].words, &b->segments[i].n_set, err);
        if (rc) {
            atomic_init(&b->refs, 1);
            search_filter_bits_drop(b);
            return rc;
        }
        b->all = b->all && b->segments[i].n_set == search_segment_n_live(&s->segments[i]);
        b->n++;
    }
    atomic_init(&b->refs, 2);
    pthread_mutex_lock(&s->cache_mu);
    filter_bits *before = s->cache;
    s->cache = b;
    pthread_mutex_unlock(&s->cache_mu);
    search_filter_bits_drop(before);
    *out = b;
    return FO_OK;
}

/* Some documents to look for among all: their numbers' last bits tell nearly all others. */
typedef struct wanted {
    const int64_t *documents;
    size_t n;
    uint64_t maybe[4];
} wanted;

static wanted want(const int64_t *documents, size_t n) {
    wanted w = {.documents = documents, .n = n};
    for (size_t i = 0; i < n; i++)
        w.maybe[documents[i] / 64 & 3] |= (uint64_t)1 << (documents[i] & 63);
    return w;
}

/* Its place among them; n: it is none. */
static size_t place_among(const wanted *w, int64_t document) {
    size_t i = 0;
    if (!(w->maybe[document / 64 & 3] >> (document & 63) & 1)) return w->n;
    while (i < w->n && w->documents[i] != document) i++;
    return i;
}

/* The live documents of a segment that are among those of f, and in `also` (NULL: all are). */
static int match_documents(const search_segment *h, const search_filter *f, const uint64_t *also,
                           uint64_t **out, size_t *n_set, fo_err *err) {
    const wanted w = want(f->documents, f->n_documents);
    uint64_t *all = calloc((size_t)h->n_docs / 64 + 2, sizeof *all);
    if (!all) return no_memory(err);
    *n_set = 0;
    if (!also && h->live) also = h->live->words;
    for (size_t i = 0; i < h->n_parts; i++) {
        const part *p = h->parts[i];
        for (size_t d = 0; d < p->n_docs; d++) {
            if (place_among(&w, p->documents[d]) == w.n) continue;
            const size_t at = h->bases[i] + d;
            if (also && !(also[at / 64] >> at % 64 & 1)) continue;
            all[at / 64] |= (uint64_t)1 << at % 64;
            ++*n_set;
        }
    }
    *out = all;
    return FO_OK;
}

/* Not kept: the next question has other documents. */
static int documents_take(search_snapshot *s, const search_filter *f, filter_bits **out,
                          fo_err *err) {
    filter_bits *also = NULL;
    int rc = f->also ? filter_take(s, f->also, &also, err) : FO_OK;
    filter_bits *b = rc ? NULL : calloc(1, sizeof *b + s->n_segments * sizeof *b->segments);
    if (!rc && !b) rc = no_memory(err);
    if (b) {
        b->filter_id = f->id;
        atomic_init(&b->refs, 1);
    }
    for (size_t i = 0; !rc && i < s->n_segments; i++) {
        rc = match_documents(&s->segments[i], f, also ? also->segments[i].words : NULL,
                             &b->segments[i].words, &b->segments[i].n_set, err);
        b->n += !rc;
    }
    search_filter_bits_drop(also);
    if (rc)
        search_filter_bits_drop(b);
    else
        *out = b;
    return rc;
}

/* What of the snapshot a filter matches; *out NULL: there is none. */
static int matches_take(search_snapshot *s, const search_filter *f, filter_bits **out,
                        fo_err *err) {
    *out = NULL;
    if (!f) return FO_OK;
    return f->documents ? documents_take(s, f, out, err) : filter_take(s, f, out, err);
}

int search_documents_left(search_snapshot *s, const search_filter *filter, const int64_t *documents,
                          size_t n, bool *left, fo_err *err) {
    const wanted w = want(documents, n);
    filter_bits *b = NULL;
    memset(left, 0, n * sizeof *left);
    int rc = matches_take(s, filter, &b, err);
    if (rc) return rc;
    for (size_t i = 0; i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        const uint64_t *bits = b ? b->segments[i].words : h->live ? h->live->words : NULL;
        for (size_t j = 0; j < h->n_parts; j++)
            for (size_t d = 0; d < h->parts[j]->n_docs; d++) {
                const size_t at = place_among(&w, h->parts[j]->documents[d]),
                             point = h->bases[j] + d;
                if (at < n && (!bits || bits[point / 64] >> point % 64 & 1)) left[at] = true;
            }
    }
    search_filter_bits_drop(b);
    return FO_OK;
}

/* Sparse -------------------------------------------------------------------------------------- */

enum { STOP_BYTES = 4096 }; /* of a query, in which stop words are remembered */

/* The terms of a query, once in each language that chunks are in. Which words are stop words, the
 * language that the query itself is in says, and that one is read first. */
typedef struct gathering {
    search_scratch *room;
    size_t n, texts;
    size_t n_before;                 /* terms of the languages read before: none counts twice */
    bool others;                     /* words of another language than the query's are read */
    bool many;                       /* several languages are read */
    uint64_t stops[STOP_BYTES / 64]; /* where the query's stop words begin, bits by byte */
} gathering;

static int gather_term(void *ctx, const analyzed_term *t) {
    gathering *g = ctx;
    search_scratch *r = g->room;
    bool stop = t->stop;
    if (g->many && t->start < STOP_BYTES) {
        uint64_t *word = &g->stops[t->start / 64], bit = 1ull << t->start % 64;
        if (g->others) stop = *word & bit;
        if (stop && !t->part) *word |= bit;
    }
    for (size_t i = 0; i < g->n; i++)
        if (r->terms[i].len == t->len &&
            memcmp(r->texts + r->terms[i].text, t->term, t->len) == 0) {
            r->terms[i].count += i >= g->n_before;
            return 0;
        }
    if (g->n == MAX_TERMS || t->len > TEXT_ROOM - g->texts) return 1; /* a book for a query */
    memcpy(r->texts + g->texts, t->term, t->len);
    r->terms[g->n++] = (query_term){(uint32_t)g->texts, (uint32_t)t->len, 1, stop};
    g->texts += t->len;
    return 0;
}

static const uint64_t LANGUAGES_KNOWN = 1ull << 63;

static uint64_t document_frequency(const search_snapshot *s, const char *term, size_t len,
                                   uint64_t *n_docs);

/* Is one chunk in `least` in this language (-1: any but the index's own)? */
static bool has_language(const search_snapshot *s, int language, uint64_t least) {
    char mark[SEARCH_MARK_ROOM];
    uint64_t n_docs, df;
    df = document_frequency(s, mark, search_language_mark(language, mark), &n_docs);
    return df && df >= n_docs / least;
}

/* Languages of chunks beside the index's own, and those of many chunks: one look-up where there are
 * none. */
static uint64_t languages_of(search_snapshot *s, uint64_t *common) {
    enum { COMMON = 16 };
    uint64_t bits = atomic_load_explicit(&s->languages, memory_order_acquire);
    if (!bits) {
        uint64_t many = 0;
        bool any = has_language(s, -1, UINT64_MAX);
        for (int i = 0; any && language_name(i); i++) {
            if (has_language(s, i, UINT64_MAX)) bits |= 1ull << i;
            if (has_language(s, i, COMMON)) many |= 1ull << i;
        }
        atomic_store_explicit(&s->common_languages, many, memory_order_relaxed);
        atomic_store_explicit(&s->languages, bits | LANGUAGES_KNOWN, memory_order_release);
    }
    *common = atomic_load_explicit(&s->common_languages, memory_order_relaxed);
    return bits & ~LANGUAGES_KNOWN;
}

static void gather_in(gathering *g, const char *query, size_t len, int language) {
    g->n_before = g->n;
    analyze(analyzer_in(g->room->analyzer, language), query, len, gather_term, g);
    g->others = true;
}

/* The language of chunks that the query is in; -1: the index's own. */
static int language_of_query(const search_snapshot *s, const char *query, uint64_t among) {
    return among ? language_of_question(query, strlen(query), s->ix->language, among) : -1;
}

/* In the language that the query is in, and as the index has it where that is another; in all common
 * ones where it has no word that says. */
static void gather_query(gathering *g, search_snapshot *s, const char *query) {
    size_t len = strlen(query);
    uint64_t common, bits = languages_of(s, &common);
    g->many = bits != 0;
    const int own = language_of_query(s, query, bits);
    gather_in(g, query, len, own);
    if (own >= 0) gather_in(g, query, len, -1);
    for (int i = 0; own == LANGUAGE_UNTOLD && common; i++, common >>= 1)
        if (common & 1) gather_in(g, query, len, i);
}

static uint64_t document_frequency(const search_snapshot *s, const char *term, size_t len,
                                   uint64_t *n_docs) {
    uint64_t df = 0;
    *n_docs = 0;
    for (size_t i = 0; i < s->n_segments; i++)
        for (size_t j = 0; j < s->segments[i].n_parts; j++) {
            const inverted *inv = &s->segments[i].parts[j]->inv;
            inverted_list l;
            *n_docs += inv->n_docs;
            if (inverted_find(inv, term, len, &l)) df += l.n;
        }
    return df;
}

float search_idf(search_snapshot *s, const char *term, size_t len) {
    uint64_t n_docs, df = document_frequency(s, term, len, &n_docs);
    return (float)bm25_idf(n_docs, df);
}

int search_query_language(search_snapshot *s, const char *query) {
    uint64_t common;
    const int home = language_number(s->ix->language),
              own = language_of_query(s, query, languages_of(s, &common)),
              language = own >= 0 ? own : home;
    return own == LANGUAGE_UNTOLD || language == language_number("english") ? -1 : language;
}

bool search_has_term(search_snapshot *s, const char *term, size_t len) {
    uint64_t n_docs;
    return document_frequency(s, term, len, &n_docs) > 0;
}

void search_each_term(search_snapshot *s, size_t most, search_term_fn *fn, void *ctx) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_segments; i++)
        for (size_t j = 0; j < s->segments[i].n_parts; j++)
            n += s->segments[i].parts[j]->inv.n_terms;
    for (size_t i = 0; n <= most && i < s->n_segments; i++)
        for (size_t j = 0; j < s->segments[i].n_parts; j++) {
            inverted_terms it;
            inverted_terms_begin(&it, &s->segments[i].parts[j]->inv);
            while (inverted_terms_next(&it, NULL) == 1) fn(ctx, it.term, it.len);
        }
}

typedef struct sparse_query {
    const char *words;
    const search_term *beside; /* [n_beside] */
    size_t n_beside;
} sparse_query;

/* The query's terms; stop words stay only where nothing else that is looked for is in the index. */
static size_t choose_terms(search_snapshot *s, const sparse_query *q, search_scratch *r, size_t n,
                           inverted_query_term *out) {
    size_t kept = 0;
    bool found = false;
    for (size_t i = 0; i < q->n_beside && !found; i++)
        found = search_has_term(s, q->beside[i].term, q->beside[i].len);
    for (size_t i = 0; i < n; i++) {
        uint64_t n_docs;
        if (r->terms[i].stop || found) continue;
        found = document_frequency(s, r->texts + r->terms[i].text, r->terms[i].len, &n_docs) > 0;
    }
    for (size_t i = 0; i < n; i++) {
        const query_term *t = &r->terms[i];
        if (t->stop && found) continue;
        out[kept++] = (inverted_query_term){r->texts + t->text, t->len, t->count};
    }
    return kept;
}

/* terms[n], and those beside them that are none of these; how many. */
static size_t add_beside(inverted_query_term *terms, size_t n, const search_term *beside,
                         size_t n_beside) {
    for (size_t i = 0; i < n_beside && n < MAX_TERMS; i++) {
        const search_term *b = &beside[i];
        size_t k = 0;
        while (k < n && (terms[k].len != b->len || memcmp(terms[k].term, b->term, b->len) != 0))
            k++;
        if (k == n) terms[n++] = (inverted_query_term){b->term, b->len, b->weight};
    }
    return n;
}

static int compare_parts(const void *x, const void *y) {
    const inverted_part *a = x, *b = y;
    return (a->inv->n_docs < b->inv->n_docs) - (a->inv->n_docs > b->inv->n_docs);
}

static void convert(const search_snapshot *s, const inverted_part *parts, const inverted_hit *in,
                    search_hit *out) {
    out->chunk = in->id;
    out->score = in->score;
    out->document = 0;
    const inverted *inv = parts[in->part].inv;
    for (size_t i = 0; i < s->n_segments; i++)
        for (size_t j = 0; j < s->segments[i].n_parts; j++)
            if (&s->segments[i].parts[j]->inv == inv)
                out->document = s->segments[i].parts[j]->documents[in->doc];
}

static int sparse_in_room(search_snapshot *s, search_scratch *r, const sparse_query *q, size_t k,
                          const filter_bits *allowed, search_hit *hits, size_t *n, fo_err *err) {
    gathering g = {.room = r};
    gather_query(&g, s, q->words);
    inverted_part *parts = malloc((s->n_parts + 1) * sizeof *parts);
    inverted_query_term *terms = malloc((g.n + q->n_beside + 1) * sizeof *terms);
    inverted_hit *found = malloc(k * sizeof *found);
    int rc = parts && terms && found ? FO_OK : no_memory(err);
    if (!rc) {
        size_t n_parts = 0, n_terms = choose_terms(s, q, r, g.n, terms);
        n_terms = add_beside(terms, n_terms, q->beside, q->n_beside);
        for (size_t i = 0; i < s->n_segments; i++) {
            const search_segment *h = &s->segments[i];
            const uint64_t *bits = allowed   ? allowed->segments[i].words
                                   : h->live ? h->live->words
                                             : NULL;
            for (size_t j = 0; j < h->n_parts; j++)
                parts[n_parts++] = (inverted_part){.inv = &h->parts[j]->inv,
                                                   .hot = h->parts[j]->hot,
                                                   .allowed = bits,
                                                   .allowed_base = h->bases[j],
                                                   .ids = h->parts[j]->chunks};
        }
        /* the largest first: its hits shorten the search of all others */
        qsort(parts, n_parts, sizeof *parts, compare_parts);
        rc = inverted_search(parts, n_parts, &s->ix->bm25, terms, n_terms, k, r->sparse, found, n,
                             err);
        for (size_t i = 0; !rc && i < *n; i++) convert(s, parts, &found[i], &hits[i]);
    }
    free(parts);
    free(terms);
    free(found);
    return rc;
}

/* Dense --------------------------------------------------------------------------------------- */

static int by_rank(const void *x, const void *y) {
    const search_hit *a = x, *b = y;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return (a->chunk > b->chunk) - (a->chunk < b->chunk);
}

static void place_of(const search_segment *h, uint32_t point, const part **p, uint32_t *doc) {
    size_t low = 0, high = h->n_parts - 1;
    while (low < high) {
        size_t mid = (low + high + 1) / 2;
        if (h->bases[mid] <= point)
            low = mid;
        else
            high = mid - 1;
    }
    *p = h->parts[low];
    *doc = point - h->bases[low];
}

/* Of several graphs each gives its best k, and the best of those are kept: with narrower walks they
 * find as much together as one graph does with 2 k candidates, which a graph of all points gets. */
static size_t default_ef(const search_snapshot *s, const search_segment *h, size_t k) {
    enum { LEAST = 64 };
    size_t live = s->n_live ? s->n_live : 1, ef = k + k * search_segment_n_live(h) / live;
    return ef < LEAST ? LEAST : ef < HNSW_MAX_EF ? ef : HNSW_MAX_EF;
}

static int dense_in_room(search_snapshot *s, search_scratch *r, const float *query, size_t k,
                         size_t ef, const filter_bits *allowed, search_hit *hits, size_t *n,
                         fo_err *err) {
    hnsw_hit *found = malloc(k * sizeof *found);
    search_hit *all = malloc((s->n_segments + 1) * k * sizeof *all);
    int rc = found && all ? FO_OK : no_memory(err);
    size_t n_all = 0;
    for (size_t i = 0; i < s->n_segments && !rc; i++) {
        const search_segment *h = &s->segments[i];
        hnsw_query q = {
            .vector = query, .k = k, .ef = ef ? ef : default_ef(s, h, k), .visible = h->n_docs};
        if (allowed) {
            q.allowed = allowed->segments[i].words;
            q.n_allowed = allowed->segments[i].n_set;
        } else if (h->live) {
            q.allowed = h->live->words;
            q.n_allowed = h->live->n_set;
        }
        size_t m = 0;
        if (!h->graph || (q.allowed && q.n_allowed == 0)) continue;
        rc = hnsw_search(h->graph->h, &q, r->dense, found, &m, err);
        hnsw_search_stats st;
        hnsw_get_search_stats(r->dense, &st);
        atomic_fetch_add_explicit(&s->ix->n_dense_scored, st.n_scored, memory_order_relaxed);
        for (size_t j = 0; j < m && !rc; j++) {
            const part *p;
            uint32_t doc;
            place_of(h, found[j].id, &p, &doc);
            all[n_all++] = (search_hit){p->chunks[doc], p->documents[doc], found[j].score};
        }
    }
    if (!rc) {
        qsort(all, n_all, sizeof *all, by_rank);
        *n = n_all < k ? n_all : k;
        memcpy(hits, all, *n * sizeof *hits);
    }
    free(found);
    free(all);
    return rc;
}

/* A disk that fails ------------------------------------------------------------------------------------- */

/* What was found counts only if every byte of the files that was looked at was there. Else the file is
 * checked at once, and given up (search_index_watch). */
static int all_read(search_snapshot *s, int rc, size_t *n, fo_err *err) {
    for (size_t i = 0; i < s->n_segments; i++) {
        if (search_segment_readable(&s->segments[i], err) == FO_OK) continue;
        search_index_check_files(s->ix);
        *n = 0;
        return FO_ECORRUPT;
    }
    return rc;
}

/* Both ---------------------------------------------------------------------------------------- */

int search_sparse_beside(search_snapshot *s, const char *query, const search_term *beside,
                         size_t n_beside, size_t k, const search_filter *filter, search_hit *hits,
                         size_t *n, fo_err *err) {
    const sparse_query q = {query, beside, n_beside};
    *n = 0;
    if (k < 1 || k > INVERTED_MAX_K)
        return fo_fail_field(err, FO_EINVAL, "top_k", "top_k must be between 1 and %d",
                             INVERTED_MAX_K);
    filter_bits *allowed = NULL;
    int rc = matches_take(s, filter, &allowed, err);
    if (rc) return all_read(s, rc, n, err);
    search_scratch *r = scratch_take(s->ix);
    const filter_bits *left = allowed && !allowed->all ? allowed : NULL;
    rc = r ? sparse_in_room(s, r, &q, k, left, hits, n, err) : no_memory(err);
    if (r) scratch_give(s->ix, r);
    search_filter_bits_drop(allowed);
    return all_read(s, rc, n, err);
}

int search_sparse(search_snapshot *s, const char *query, size_t k, const search_filter *filter,
                  search_hit *hits, size_t *n, fo_err *err) {
    return search_sparse_beside(s, query, NULL, 0, k, filter, hits, n, err);
}

int search_dense(search_snapshot *s, const float *query, size_t k, size_t ef,
                 const search_filter *filter, search_hit *hits, size_t *n, fo_err *err) {
    *n = 0;
    if (s->ix->dim == 0) return fo_fail(err, FO_EUNSUPPORTED, "the index holds no vectors");
    if (k < 1 || k > HNSW_MAX_K)
        return fo_fail_field(err, FO_EINVAL, "top_k", "top_k must be between 1 and %d", HNSW_MAX_K);
    filter_bits *allowed = NULL;
    int rc = matches_take(s, filter, &allowed, err);
    if (rc) return all_read(s, rc, n, err);
    search_scratch *r = scratch_take(s->ix);
    const filter_bits *left = allowed && !allowed->all ? allowed : NULL;
    rc = r ? dense_in_room(s, r, query, k, ef, left, hits, n, err) : no_memory(err);
    if (r) scratch_give(s->ix, r);
    search_filter_bits_drop(allowed);
    return all_read(s, rc, n, err);
}
