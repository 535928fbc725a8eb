/* Opening, staging, publishing, snapshots. The invariants stand in search_index_internal.h. */
#include "index/search/search_index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "index/search/search_index_internal.h"
#include "index/sparse/language.h"
#include "kernels/bits.h"
#include "kernels/cond.h"
#include "kernels/order.h"

enum {
    MERGE_BYTES_PER_S = 64 << 20,
    FIRST_POINTS = 512, /* that a memory segment has room for; then twice as many, and again */
    SEGMENT_METADATA = 1 << 30, /* half of what a builder takes */
    OWN_WORKERS = 2,            /* one merges, one seals beside it */
};

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory in the search index");
}

/* Snapshots ----------------------------------------------------------------------------------- */

/* The pointer and a count of readers that are between the two steps of taking it share one word:
 * a reader announces itself and learns the pointer in one instruction, takes a real reference, and
 * withdraws the announcement. A writer that swaps the word meanwhile turns the announcements it
 * finds into references, and the reader gives its second one back. Nobody ever waits.
 *
 * Between the swap and that turning a reader may give both back. So the index holds not one reference
 * of the current snapshot but more than there can be readers, and gives them back in the instruction
 * that turns announcements into references: before it none that is given back is the last. */
enum { ANNOUNCED_BITS = 16, INSTALLED = 1 << 24 };

static search_snapshot *pointer_of(uint64_t word) {
    return (search_snapshot *)(uintptr_t)(word >> ANNOUNCED_BITS);
}

search_snapshot *search_index_acquire(search_index *ix) {
    uint64_t word = atomic_fetch_add(&ix->current, 1) + 1;
    search_snapshot *s = pointer_of(word);
    atomic_fetch_add(&s->refs, 1);
    for (;;) {
        if (pointer_of(word) != s) {
            atomic_fetch_sub(&s->refs, 1); /* not the last: ours remains */
            return s;
        }
        if (atomic_compare_exchange_weak(&ix->current, &word, word - 1)) return s;
    }
}

void search_filter_bits_drop(filter_bits *f) {
    if (!f || atomic_fetch_sub(&f->refs, 1) != 1) return;
    for (size_t i = 0; i < f->n; i++) free(f->segments[i].words);
    free(f);
}

static void snapshot_free(search_snapshot *s) {
    for (size_t i = 0; i < s->n_segments; i++) search_segment_drop(&s->segments[i]);
    search_filter_bits_drop(s->cache);
    pthread_mutex_destroy(&s->cache_mu);
    free(s);
}

void search_index_release(search_snapshot *s) {
    if (s && atomic_fetch_sub(&s->refs, 1) == 1) snapshot_free(s);
}

search_snapshot *search_snapshot_create(search_index *ix, size_t n_segments, int64_t epoch,
                                        fo_err *err) {
    search_snapshot *s = calloc(1, sizeof *s + n_segments * sizeof *s->segments);
    if (!s) {
        no_memory(err);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    pthread_mutex_init(&s->cache_mu, NULL);
    s->ix = ix;
    s->epoch = epoch;
    return s;
}

/* After its segments are set. */
static void tally(search_snapshot *s) {
    s->n_live = s->n_parts = 0;
    for (size_t i = 0; i < s->n_segments; i++) {
        s->n_live += search_segment_n_live(&s->segments[i]);
        s->n_parts += s->segments[i].n_parts;
    }
}

search_snapshot *search_snapshot_current(search_index *ix) {
    return pointer_of(atomic_load(&ix->current));
}

static void uninstall(search_snapshot *s, int announced) {
    const int more = announced - INSTALLED;
    if (atomic_fetch_add(&s->refs, more) + more == 0) snapshot_free(s);
}

void search_snapshot_publish(search_index *ix, search_snapshot *s) {
    tally(s);
    atomic_store(&s->has_gap, ix->has_gap);
    ix->held = s;
    atomic_fetch_add(&s->refs, INSTALLED - 1); /* it had one */
    uint64_t old = atomic_exchange(&ix->current, (uint64_t)(uintptr_t)s << ANNOUNCED_BITS);
    search_snapshot *before = pointer_of(old);
    if (before) uninstall(before, (int)(old & ((1u << ANNOUNCED_BITS) - 1)));
}

int64_t search_snapshot_epoch(const search_snapshot *s) {
    return s->epoch;
}

bool search_snapshot_has_gap(const search_snapshot *s) {
    return atomic_load(&s->has_gap);
}

size_t search_snapshot_count(const search_snapshot *s) {
    return s->n_live;
}

/* Staging ------------------------------------------------------------------------------------- */

static void stage_clear(staged *g) {
    for (size_t i = 0; i < g->n_parts; i++) {
        inverted_builder_free(g->parts[i].words);
        metadata_builder_free(g->parts[i].meta);
    }
    g->n = g->n_removed = g->n_parts = 0;
    g->bytes = 0;
    g->owed = g->unordered = false;
}

static void stage_free(staged *g) {
    stage_clear(g);
    free(g->parts);
    free(g->chunks);
    free(g->documents);
    free(g->vectors);
    free(g->dead);
    free(g->removed);
}

static bool stage_room(search_index *ix) {
    staged *g = &ix->stage;
    if (g->n < g->room) return true;
    size_t room = g->room ? 2 * g->room : 16;
    int64_t *chunks = realloc(g->chunks, room * sizeof *chunks);
    if (chunks) g->chunks = chunks;
    int64_t *documents = realloc(g->documents, room * sizeof *documents);
    if (documents) g->documents = documents;
    bool *dead = realloc(g->dead, room * sizeof *dead);
    if (dead) g->dead = dead;
    float *vectors = realloc(g->vectors, (room * ix->dim + 1) * sizeof *vectors);
    if (vectors) g->vectors = vectors;
    if (!chunks || !documents || !dead || !vectors) return false;
    g->room = room;
    return true;
}

static int stage_begin_part(staged *g, fo_err *err) {
    staged_part *parts = realloc(g->parts, (g->n_parts + 1) * sizeof *parts);
    if (!parts) return no_memory(err);
    g->parts = parts;
    staged_part fresh = {.begin = g->n};
    int rc = inverted_builder_create(&fresh.words, err);
    if (!rc) rc = metadata_builder_create(&fresh.meta, err);
    if (rc)
        inverted_builder_free(fresh.words);
    else
        parts[g->n_parts++] = fresh;
    return rc;
}

/* The part that a chunk with this metadata goes into: the last, or another one. */
static int stage_part_for(search_index *ix, const char *json, fo_err *err) {
    staged *g = &ix->stage;
    if (!g->n_parts) return stage_begin_part(g, err);
    const staged_part *last = &g->parts[g->n_parts - 1];
    if (g->n == last->begin) return FO_OK;
    const uint64_t weight = metadata_builder_weight(last->meta) + metadata_most_weight(json);
    return weight > ix->segment_metadata ? stage_begin_part(g, err) : FO_OK;
}

bool search_index_is_full(const search_index *ix) {
    return ix->stage.n_parts > 1;
}

static int stage_word(void *ctx, const analyzed_term *t) {
    inverted_builder_word(ctx, t->term, t->len);
    return 0;
}

size_t search_language_mark(int language, char mark[SEARCH_MARK_ROOM]) {
    const char *name = language_name(language);
    return (size_t)snprintf(mark, SEARCH_MARK_ROOM, "\x01%s", name ? name : "");
}

void search_chunk_words(analyzer *a, const char *title, const char *text, size_t len,
                        analyze_fn *add, void *ctx) {
    int language;
    analyzer *own = analyzer_for_text(a, text, len, &language);
    analyze(own, title, strlen(title), add, ctx);
    analyze(own, text, len, add, ctx);
    if (own == a) return;
    const int marks[] = {-1, language};
    for (size_t i = 0; i < 2; i++) {
        char mark[SEARCH_MARK_ROOM];
        analyzed_term t = {.term = mark, .len = search_language_mark(marks[i], mark)};
        add(ctx, &t);
    }
}

int search_chunk_check(const search_index *ix, const search_chunk_in *c, fo_err *err) {
    if (!ix->dim) return FO_OK;
    if (!c->vector) return fo_fail_field(err, FO_EINVAL, "vector", "the chunk has no vector");
    /* All zeroes is what a text without one known piece has: it is like nothing, and found by its
     * words. Hence the inner product as the graph's metric: of unit vectors it is the cosine.
     * What the graph refuses is refused here: a publish that fails is owed and tried again for ever. */
    bool fine = true;
    for (uint32_t i = 0; i < ix->dim; i++) fine &= fabsf(c->vector[i]) <= HNSW_MAX_VALUE;
    return fine ? FO_OK
                : fo_fail_field(err, FO_EINVAL, "vector",
                                "the vector has a value that is not a number below 1e15");
}

int search_index_add(search_index *ix, const search_chunk_in *c, fo_err *err) {
    staged *g = &ix->stage;
    int rc = search_chunk_check(ix, c, err);
    if (rc) return rc;
    const char *json = c->metadata ? c->metadata : "";
    rc = stage_part_for(ix, json, err);
    if (!rc && !stage_room(ix)) rc = no_memory(err);
    if (rc) return rc;
    staged_part *to = &g->parts[g->n_parts - 1];
    rc = metadata_builder_add(to->meta, (uint32_t)(g->n - to->begin), json, err);
    if (rc) return rc;
    const char *title = c->title ? c->title : "";
    size_t title_len = strlen(title);
    search_chunk_words(ix->analyzer, title, c->text, c->text_len, stage_word, to->words);
    rc = inverted_builder_end_document(to->words, err);
    if (rc) {
        stage_clear(g); /* words of a document that never ended: start again */
        return rc;
    }
    size_t n = g->n++;
    g->unordered |= n && c->chunk < g->chunks[n - 1];
    g->chunks[n] = c->chunk;
    g->documents[n] = c->document;
    g->dead[n] = false;
    if (ix->dim) memcpy(g->vectors + n * ix->dim, c->vector, ix->dim * sizeof *c->vector);
    g->bytes += title_len + c->text_len + ix->dim * sizeof(float) + strlen(json);
    return FO_OK;
}

/* Most that are removed are not staged but older than all that are. */
static void remove_staged(staged *g, int64_t chunk) {
    size_t low = 0, high = g->unordered ? 0 : g->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (g->chunks[mid] < chunk)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i < g->n && (g->unordered || g->chunks[i] == chunk); i++)
        if (g->chunks[i] == chunk) g->dead[i] = true;
}

int search_index_remove(search_index *ix, int64_t chunk, fo_err *err) {
    staged *g = &ix->stage;
    if (g->n_removed == g->removed_room) {
        size_t room = g->removed_room ? 2 * g->removed_room : 64;
        int64_t *p = realloc(g->removed, room * sizeof *p);
        if (!p) return no_memory(err);
        g->removed = p;
        g->removed_room = room;
    }
    remove_staged(g, chunk);
    g->removed[g->n_removed++] = chunk;
    return FO_OK;
}

void search_index_discard(search_index *ix) {
    if (!ix->stage.owed) stage_clear(&ix->stage);
}

int search_index_settle(search_index *ix, fo_err *err) {
    return ix->stage.owed ? search_index_publish(ix, ix->stage.owed_epoch, err) : FO_OK;
}

/* Publishing ---------------------------------------------------------------------------------- */

/* Documents of staged part i. */
static size_t n_of_part(const staged *g, size_t i) {
    return (i + 1 < g->n_parts ? g->parts[i + 1].begin : g->n) - g->parts[i].begin;
}

static int build_part(search_index *ix, size_t i, part **out, fo_err *err) {
    const staged *g = &ix->stage;
    const staged_part *from = &g->parts[i];
    segment_writer *w;
    segment *file;
    uint32_t n = (uint32_t)n_of_part(g, i);
    int rc = segment_writer_create(&w, NULL, err);
    if (rc) return rc;
    rc = search_write_info(w, ix, n, -1, err);
    if (!rc) rc = inverted_build(from->words, &ix->bm25, w, err);
    if (!rc) rc = search_write_ids(w, g->chunks + from->begin, g->documents + from->begin, n, err);
    if (!rc) rc = metadata_build(from->meta, n, w, err);
    if (rc) {
        segment_writer_abort(w);
        return rc;
    }
    rc = segment_writer_adopt(w, &file, err);
    return !rc ? search_part_open(out, file, ix, err) : rc;
}

static int open_memory_segment(search_index *ix, search_segment *out, size_t capacity,
                               fo_err *err) {
    search_segment s = {.parts = calloc(1, sizeof *s.parts), .bases = calloc(1, sizeof *s.bases)};
    int rc = s.parts && s.bases ? FO_OK : no_memory(err);
    if (!rc && ix->dim) rc = search_graph_create(&s.graph, ix, capacity, err);
    if (rc) {
        free(s.parts);
        free(s.bases);
        return rc;
    }
    *out = s;
    return FO_OK;
}

/* Four equals become one, so that a document is copied once for each power of four. */
static unsigned tier_of(uint32_t n) {
    return n ? (31u - (unsigned)__builtin_clz(n)) / 2 : 0;
}

/* The segment's parts together have no more metadata than one may have (needs_freeze). */
static int join_tail(search_index *ix, search_segment *s, fo_err *err) {
    for (;;) {
        size_t n = s->n_parts, run = 1;
        while (run < n &&
               tier_of(s->parts[n - 1 - run]->n_docs) <= tier_of(s->parts[n - 1]->n_docs))
            run++;
        if (run < 4) return FO_OK;
        part *joined;
        int rc = search_parts_join(&joined, s->parts + n - run, run, ix, err);
        if (rc) return rc;
        for (size_t i = n - run; i < n; i++) search_part_drop(s->parts[i]);
        s->parts[n - run] = joined;
        s->n_parts = n - run + 1;
    }
}

/* Append part i of what is staged, `fresh`, to the open segment s. Takes fresh over. */
static int append_part(search_index *ix, search_segment *s, size_t i, part *fresh, fo_err *err) {
    const staged *g = &ix->stage;
    const size_t begin = g->parts[i].begin, n = n_of_part(g, i);
    const bool *dead = g->dead + begin;
    int rc = FO_OK;
    bool any_dead = s->live != NULL;
    for (size_t j = 0; j < n; j++) any_dead |= dead[j];
    uint32_t n_docs = s->n_docs + (uint32_t)n;
    bitmap *live = NULL;
    if (any_dead) {
        live = search_bitmap_create(n_docs, NULL);
        if (!live) {
            search_part_drop(fresh);
            return no_memory(err);
        }
        for (uint32_t d = 0; d < n_docs; d++) {
            bool gone = d < s->n_docs ? !search_segment_alive(s, d) : dead[d - s->n_docs];
            if (!gone) continue;
            fo_bits_clear(live->words, d);
            live->n_set--;
        }
    }
    if (s->graph)
        rc = hnsw_build(s->graph->h, g->vectors + begin * ix->dim, n, ix->pool, NULL, NULL, err);
    if (rc) {
        search_part_drop(fresh);
        search_bitmap_drop(live);
        return rc;
    }
    s->bases[s->n_parts] = s->n_docs;
    s->parts[s->n_parts++] = fresh; /* search_segment_copy leaves room for one more */
    s->n_docs = n_docs;
    search_bitmap_drop(s->live);
    s->live = live;
    return join_tail(ix, s, err);
}

static void mark_dead(search_segment *s, int64_t chunk, bool *copied, bool *failed) {
    for (size_t i = 0; i < s->n_parts; i++) {
        const part *p = s->parts[i];
        uint32_t low = 0, high = p->n_docs;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (p->order[mid] < p->n_docs && p->chunks[p->order[mid]] < chunk)
                low = mid + 1;
            else
                high = mid;
        }
        for (; low < p->n_docs && p->order[low] < p->n_docs && p->chunks[p->order[low]] == chunk;
             low++) {
            uint32_t doc = s->bases[i] + p->order[low];
            if (!search_segment_alive(s, doc)) continue;
            if (!*copied) { /* the old snapshot keeps its own */
                bitmap *b = search_bitmap_create(s->n_docs, s->live);
                if (!b) {
                    *failed = true;
                    return;
                }
                search_bitmap_drop(s->live);
                s->live = b;
                *copied = true;
            }
            fo_bits_clear(s->live->words, doc);
            s->live->n_set--;
        }
    }
}

/* Points that a memory segment may come to. */
static size_t most_points(const search_index *ix) {
    return 2 * ix->seal_chunks;
}

static bool needs_freeze(const search_index *ix, const search_segment *s, const part *fresh) {
    const size_t more = fresh->n_docs;
    if (search_segment_metadata(s) + metadata_weight(&fresh->meta) > ix->segment_metadata)
        return true;
    if (!s->graph) return s->n_docs + more > 4 * ix->seal_chunks + 65536;
    uint32_t points = hnsw_count(s->graph->h);
    return points != s->n_docs ||
           (points + more > hnsw_capacity(s->graph->h) && points + more > most_points(ix));
}

/* Address space is set aside as it is needed: thousands of small collections share a process. */
static int make_room(search_index *ix, search_segment *s, size_t more, fo_err *err) {
    size_t need = s->n_docs + more, room = s->graph ? hnsw_capacity(s->graph->h) : need;
    if (need <= room) return FO_OK;
    while (room < need) room *= 2;
    return search_graph_grow(&s->graph, room < most_points(ix) ? room : most_points(ix), err);
}

static bool is_open(const search_segment *s) {
    return s->file == 0 && !s->frozen;
}

/* Part i of what is staged at the end of s, each but the first in a segment of its own; `covered`: what files cover
 * once that is full and one of them. */
static int place_part(search_index *ix, search_snapshot *s, size_t i, int64_t covered,
                      fo_err *err) {
    part *fresh;
    int rc = build_part(ix, i, &fresh, err);
    if (rc) return rc;
    const size_t n = fresh->n_docs;
    search_segment *last = s->n_segments ? &s->segments[s->n_segments - 1] : NULL;
    if (last && is_open(last) && (i || needs_freeze(ix, last, fresh))) {
        last->frozen = true;
        last->epoch = ix->published;
    }
    if (!last || !is_open(last)) {
        size_t first = FIRST_POINTS < most_points(ix) ? FIRST_POINTS : most_points(ix);
        last = &s->segments[s->n_segments];
        rc = open_memory_segment(ix, last, first > n ? first : n, err);
        if (!rc) {
            last->serial = ix->next_serial++;
            s->n_segments++;
        }
    }
    if (!rc) rc = make_room(ix, last, n, err);
    if (rc) {
        search_part_drop(fresh);
        return rc;
    }
    rc = append_part(ix, last, i, fresh, err);
    if (!rc && last->n_docs >= ix->seal_chunks) {
        last->frozen = true;
        last->epoch = covered;
    }
    return rc;
}

/* The files cover the new epoch with the last of the parts: before that some of it is in memory alone. */
static int place_staged(search_index *ix, search_snapshot *s, int64_t epoch, fo_err *err) {
    const staged *g = &ix->stage;
    int rc = FO_OK;
    for (size_t i = 0; i < g->n_parts && !rc; i++)
        if (n_of_part(g, i))
            rc = place_part(ix, s, i, i + 1 < g->n_parts ? ix->published : epoch, err);
    return rc;
}

/* The next snapshot: the current one's segments, then tombstones, then the staged documents. */
static int next_snapshot(search_index *ix, int64_t epoch, search_snapshot **out, fo_err *err) {
    staged *g = &ix->stage;
    search_snapshot *now = search_snapshot_current(ix);
    search_snapshot *s = search_snapshot_create(ix, now->n_segments + g->n_parts, epoch, err);
    if (!s) return FO_ENOMEM;
    int rc = FO_OK;
    for (size_t i = 0; i < now->n_segments && !rc; i++) {
        rc = search_segment_copy(&s->segments[i], &now->segments[i], err);
        if (!rc) s->n_segments++;
    }
    for (size_t i = 0; i < s->n_segments && !rc; i++) {
        bool copied = false, failed = false;
        for (size_t r = 0; r < g->n_removed && !failed; r++)
            mark_dead(&s->segments[i], g->removed[r], &copied, &failed);
        if (failed) rc = no_memory(err);
    }
    if (!rc) rc = place_staged(ix, s, epoch, err);
    if (rc) {
        search_index_release(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

int search_index_publish(search_index *ix, int64_t epoch, fo_err *err) {
    search_snapshot *s;
    pthread_mutex_lock(&ix->mu);
    int rc = next_snapshot(ix, epoch, &s, err);
    if (!rc) {
        ix->published = epoch;
        atomic_fetch_add(&ix->bytes_ingested, ix->stage.bytes);
        search_snapshot_publish(ix, s);
        if (ix->workers) search_workers_wake(ix->workers, ix);
    }
    pthread_mutex_unlock(&ix->mu);
    if (!rc) {
        stage_clear(&ix->stage);
    } else {
        ix->stage.owed = true;
        ix->stage.owed_epoch = epoch;
    }
    return rc;
}

bool search_index_has_gap(search_index *ix) {
    pthread_mutex_lock(&ix->mu);
    bool gap = ix->has_gap;
    pthread_mutex_unlock(&ix->mu);
    return gap;
}

void search_index_gap_filled(search_index *ix) {
    pthread_mutex_lock(&ix->mu);
    ix->has_gap = false;
    atomic_store(&search_snapshot_current(ix)->has_gap, false);
    pthread_mutex_unlock(&ix->mu);
}

/* Freezes the open segment; under sealing. */
static int freeze(search_index *ix, fo_err *err) {
    int rc = FO_OK;
    pthread_mutex_lock(&ix->mu);
    search_snapshot *now = search_snapshot_current(ix);
    if (now->n_segments && is_open(&now->segments[now->n_segments - 1])) {
        search_snapshot *s = search_snapshot_create(ix, now->n_segments, now->epoch, err);
        rc = s ? FO_OK : FO_ENOMEM;
        for (size_t i = 0; i < now->n_segments && !rc; i++) {
            rc = search_segment_copy(&s->segments[i], &now->segments[i], err);
            if (!rc) s->n_segments++;
        }
        if (!rc) {
            s->segments[s->n_segments - 1].frozen = true;
            s->segments[s->n_segments - 1].epoch = ix->published;
            search_snapshot_publish(ix, s);
        } else if (s) {
            search_index_release(s);
        }
    }
    pthread_mutex_unlock(&ix->mu);
    return rc;
}

int search_index_seal(search_index *ix, fo_err *err) {
    if (ix->read_only) return fo_fail(err, FO_EUNSUPPORTED, "the index was opened read-only");
    pthread_mutex_lock(&ix->sealing);
    int rc = freeze(ix, err);
    if (!rc) rc = search_seal_frozen(ix, err);
    if (!rc) { /* nothing is unsealed: the files and tombstones cover all that is visible */
        pthread_mutex_lock(&ix->mu);
        search_snapshot *s = search_snapshot_current(ix);
        if (s->n_segments == 0 || !is_open(&s->segments[s->n_segments - 1]))
            rc = search_manifest_write(ix, s, ix->published, err);
        pthread_mutex_unlock(&ix->mu);
    }
    pthread_mutex_unlock(&ix->sealing);
    return rc;
}

int search_index_compact(search_index *ix, fo_err *err) {
    int rc = search_index_seal(ix, err);
    if (rc) return rc;
    pthread_mutex_lock(&ix->merging);
    rc = search_compact_all(ix, err);
    pthread_mutex_unlock(&ix->merging);
    return rc;
}

/* Opening and closing ------------------------------------------------------------------------- */

static void index_free(search_index *ix) {
    search_snapshot *s = search_snapshot_current(ix);
    if (s) uninstall(s, 0);
    for (size_t i = 0; i < SEARCH_SCRATCHES; i++)
        search_scratch_free(atomic_load(&ix->scratches[i]));
    stage_free(&ix->stage);
    analyzer_free(ix->analyzer);
    pthread_mutex_destroy(&ix->mu);
    pthread_mutex_destroy(&ix->sealing);
    pthread_mutex_destroy(&ix->merging);
    pthread_cond_destroy(&ix->stop);
    if (ix->owns_workers) search_workers_free(ix->workers);
    free(ix->dir);
    free(ix->language);
    free(ix->fingerprint);
    free(ix->tenant);
    free(ix);
}

static int configure(search_index *ix, const char *dir, const search_index_options *o,
                     fo_err *err) {
    ix->dir = strdup(dir);
    ix->language = strdup(o->language ? o->language : "english");
    ix->fingerprint = strdup(o->fingerprint ? o->fingerprint : "");
    ix->tenant = strdup(o->tenant ? o->tenant : "");
    if (!ix->dir || !ix->language || !ix->fingerprint || !ix->tenant) return no_memory(err);
    if (strlen(ix->fingerprint) >= sizeof((segment_info *)0)->fingerprint ||
        strlen(ix->tenant) >= sizeof((segment_info *)0)->tenant ||
        strlen(ix->language) >= sizeof((segment_info *)0)->language)
        return fo_fail(err, FO_EINVAL, "the fingerprint, tenant or language name is too long");
    ix->dim = o->dim;
    ix->M = o->M;
    ix->ef_construction = o->ef_construction;
    ix->seed = o->seed;
    ix->bm25 = o->k1 == 0 && o->b == 0 ? (bm25_params){0.9, 0.4}
                                       : (bm25_params){(double)o->k1, (double)o->b};
    if (!(ix->bm25.k1 > 0 && ix->bm25.k1 < 100 && ix->bm25.b >= 0 && ix->bm25.b <= 1))
        return fo_fail(err, FO_EINVAL, "k1 must be between 0 and 100 and b between 0 and 1");
    ix->seal_chunks = o->seal_chunks ? o->seal_chunks : 16384;
    ix->segment_metadata = o->segment_metadata ? o->segment_metadata : SEGMENT_METADATA;
    ix->read_only = o->read_only;
    ix->notices = o->notices;
    ix->pool = o->pool;
    ix->merge_pool = o->merge_pool ? o->merge_pool : o->pool;
    ix->merge_pace = pace_of(o->merge_bytes_per_s < 0    ? 0
                             : o->merge_bytes_per_s == 0 ? MERGE_BYTES_PER_S
                                                         : (uint64_t)o->merge_bytes_per_s);
    return analyzer_create(&ix->analyzer, ix->language, err);
}

int search_index_open(search_index **out, const char *dir, const search_index_options *opt,
                      size_t *n_dropped, fo_err *err) {
    search_index *ix = calloc(1, sizeof *ix);
    if (!ix) return no_memory(err);
    size_t dropped = 0, n = 0;
    search_segment *segments = NULL;
    pthread_mutex_init(&ix->mu, NULL);
    pthread_mutex_init(&ix->sealing, NULL);
    pthread_mutex_init(&ix->merging, NULL);
    fo_cond_init(&ix->stop);
    ix->next_file = ix->next_serial = 1;
    atomic_init(&ix->sealed_epoch, -1);
    atomic_init(&ix->newest, -1);
    int rc = configure(ix, dir, opt, err);
    if (!rc && !ix->read_only) rc = fo_make_dirs(dir, err);
    if (!rc) rc = search_manifest_read(ix, &segments, &n, &dropped, err);
    search_snapshot *s = NULL;
    if (!rc) {
        ix->published = atomic_load(&ix->sealed_epoch);
        s = search_snapshot_create(ix, n, ix->published, err);
        if (!s) rc = FO_ENOMEM;
    }
    if (!rc) {
        for (size_t i = 0; i < n; i++) {
            s->segments[i] = segments[i];
            s->segments[i].serial = ix->next_serial++;
            segments[i] = (search_segment){0};
        }
        s->n_segments = n;
        ix->has_gap = dropped > 0;
        search_snapshot_publish(ix, s);
        /* The files cover no epoch until the gap is filled and sealed. A folder always has a
         * manifest: one without has lost it. */
        if ((dropped || ix->is_new) && !ix->read_only) rc = search_manifest_write(ix, s, -1, err);
    }
    for (size_t i = 0; i < n; i++) search_segment_drop(&segments[i]);
    free(segments);
    if (!rc && !ix->read_only) {
        ix->owns_workers = !opt->workers;
        ix->workers = opt->workers;
        if (!ix->workers) rc = search_workers_create(&ix->workers, OWN_WORKERS, err);
    }
    if (rc) {
        index_free(ix);
        return rc;
    }
    if (ix->workers) search_workers_join(ix->workers, ix);
    if (n_dropped) *n_dropped = dropped;
    *out = ix;
    return FO_OK;
}

void search_index_stop(search_index *ix) {
    if (!ix->workers) return;
    pthread_mutex_lock(&ix->mu);
    ix->stopping = true;
    atomic_store(&ix->cancel, true);
    pthread_cond_broadcast(&ix->stop);
    pthread_mutex_unlock(&ix->mu);
    search_workers_leave(ix->workers, ix);
}

int search_index_close(search_index *ix, bool seal, fo_err *err) {
    if (!ix) return FO_OK;
    search_index_discard(ix);
    search_index_stop(ix);
    int rc = seal && !ix->read_only ? search_index_seal(ix, err) : FO_OK;
    index_free(ix);
    return rc;
}

int64_t search_index_epoch(const search_index *ix) {
    return atomic_load(&ix->sealed_epoch);
}

int64_t search_index_newest(const search_index *ix) {
    return atomic_load(&ix->newest);
}

int search_index_ids(search_index *ix, int64_t **ids, size_t *n, fo_err *err) {
    search_snapshot *s = search_index_acquire(ix);
    int64_t *all = malloc((s->n_live + 1) * sizeof *all);
    size_t k = 0;
    for (size_t i = 0; all && i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        if (h->file == 0) continue;
        for (uint32_t d = 0; d < h->n_docs; d++)
            if (search_segment_alive(h, d)) all[k++] = h->parts[0]->chunks[d];
    }
    search_index_release(s);
    if (!all) return no_memory(err);
    qsort(all, k, sizeof *all, fo_order_int64);
    *ids = all;
    *n = k;
    return FO_OK;
}

void search_index_get_stats(search_index *ix, search_index_stats *out) {
    search_snapshot *s = search_index_acquire(ix);
    search_index_stats t = {.n_segments = s->n_segments,
                            .n_chunks = s->n_live,
                            .bytes_written = atomic_load(&ix->bytes_written),
                            .bytes_ingested = atomic_load(&ix->bytes_ingested),
                            .bytes_checked = atomic_load(&ix->bytes_checked),
                            .n_damaged = atomic_load(&ix->n_damaged),
                            .n_failures = atomic_load(&ix->n_failures),
                            .n_dense_scored = atomic_load(&ix->n_dense_scored)};
    for (size_t i = 0; i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        t.n_deleted += h->n_docs - search_segment_n_live(h);
        uint64_t bytes = 0;
        for (size_t j = 0; j < h->n_parts; j++) {
            t.n_postings += h->parts[j]->inv.n_postings;
            t.n_terms += h->parts[j]->inv.n_terms;
            bytes += segment_size(h->parts[j]->file);
            t.bytes_memory += inverted_hot_memory(h->parts[j]->hot);
        }
        if (h->file == 0 && h->graph) bytes += hnsw_memory(h->graph->h);
        *(h->file ? &t.bytes_files : &t.bytes_memory) += bytes;
    }
    search_index_release(s);
    *out = t;
}
