/* Parts and segments: opening, joining, writing to a file. */
#include "index/search/search_index_internal.h"

#include <stdlib.h>
#include <string.h>
#include "index/sparse/analyze.h"
#include "kernels/bits.h"
#include "kernels/buf.h"

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory in the search index");
}

char *search_file_path(const search_index *ix, uint64_t file) {
    fo_buf b = {0};
    fo_buf_printf(&b, "%s/%016llx.seg", ix->dir, (unsigned long long)file);
    return fo_buf_take(&b, NULL);
}

/* Bitmaps ------------------------------------------------------------------------------------- */

bitmap *search_bitmap_create(uint32_t n_docs, const bitmap *like) {
    size_t words = ((size_t)n_docs + 63) / 64;
    bitmap *b = malloc(sizeof *b + (words + 1) * sizeof *b->words);
    if (!b) return NULL;
    atomic_init(&b->refs, 1);
    if (like) {
        b->n_set = like->n_set;
        memcpy(b->words, like->words, words * sizeof *b->words);
        return b;
    }
    b->n_set = n_docs;
    memset(b->words, 0xFF, words * sizeof *b->words);
    if (n_docs % 64) b->words[words - 1] = ((uint64_t)1 << (n_docs % 64)) - 1;
    return b;
}

void search_bitmap_drop(bitmap *b) {
    if (b && atomic_fetch_sub(&b->refs, 1) == 1) free(b);
}

/* Parts --------------------------------------------------------------------------------------- */

static int check_info(const segment_info *info, const search_index *ix, fo_err *err) {
    segment_info i = *info;
    i.tenant[sizeof i.tenant - 1] = i.fingerprint[sizeof i.fingerprint - 1] = 0;
    i.language[sizeof i.language - 1] = 0;
    if (strcmp(i.language, ix->language) != 0)
        return fo_fail(err, FO_EMISMATCH, "indexed as '%s', the collection is '%s'", i.language,
                       ix->language);
    if (i.dim != ix->dim || strcmp(i.fingerprint, ix->fingerprint) != 0)
        return fo_fail(err, FO_EMISMATCH, "made by another embedder (%u dimensions, %.16s)", i.dim,
                       i.fingerprint);
    if (strcmp(i.tenant, ix->tenant) != 0)
        return fo_fail(err, FO_EMISMATCH, "belongs to the tenant '%s'", i.tenant);
    return FO_OK;
}

/* Were some of its terms made as today's analysis makes none? Questions would not find them. */
static int check_analysis(const segment_info *info, const inverted *inv, fo_err *err) {
    for (const analysis_change *c = analysis_changes; c->edition; c++)
        if (c->edition > info->analysis && inverted_has_between(inv, c->from, c->to))
            return fo_fail(
                err, FO_EMISMATCH,
                "its words are of edition %d, which read a script of them otherwise than "
                "edition %d does",
                info->analysis, ANALYZER_EDITION);
    return FO_OK;
}

int search_part_open(part **out, segment *file, const search_index *ix, fo_err *err) {
    part *p = calloc(1, sizeof *p);
    if (!p) {
        segment_close(file);
        return no_memory(err);
    }
    atomic_init(&p->refs, 1);
    p->file = file;
    const void *v = NULL, *info = NULL;
    int rc = segment_get_array(file, SECTION_INFO, 1, sizeof(segment_info), &info, err);
    if (!rc) {
        p->n_docs = ((const segment_info *)info)->n_docs;
        rc = check_info(info, ix, err);
    }
    if (!rc) rc = inverted_open(&p->inv, file, err);
    if (!rc && p->inv.n_docs != p->n_docs)
        rc =
            fo_fail(err, FO_ECORRUPT, "postings of %u documents, not %u", p->inv.n_docs, p->n_docs);
    if (!rc) rc = check_analysis(info, &p->inv, err);
    if (!rc) rc = metadata_open(&p->meta, file, p->n_docs, err);
    if (!rc) rc = segment_get_array(file, SECTION_CHUNK_IDS, p->n_docs, 8, &v, err);
    if (!rc) p->chunks = v;
    if (!rc) rc = segment_get_array(file, SECTION_DOCUMENT_IDS, p->n_docs, 8, &v, err);
    if (!rc) p->documents = v;
    if (!rc) rc = segment_get_array(file, SECTION_ID_ORDER, p->n_docs, 4, &v, err);
    if (!rc) p->order = v;
    if (rc) {
        search_part_drop(p);
        return rc;
    }
    p->hot = inverted_hot_create(&p->inv);
    *out = p;
    return FO_OK;
}

void search_part_drop(part *p) {
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1) return;
    inverted_hot_free(p->hot);
    segment_close(p->file);
    free(p);
}

static void graph_drop(graph *g) {
    if (!g || atomic_fetch_sub(&g->refs, 1) != 1) return;
    hnsw_free(g->h);
    search_part_drop(g->holder);
    free(g);
}

int search_graph_create(graph **out, const search_index *ix, size_t capacity, fo_err *err) {
    graph *g = calloc(1, sizeof *g);
    if (!g) return no_memory(err);
    atomic_init(&g->refs, 1);
    hnsw_params p = {.dim = ix->dim,
                     .metric = HNSW_IP,
                     .M = ix->M,
                     .ef_construction = ix->ef_construction,
                     .seed = ix->seed,
                     .capacity = (uint32_t)capacity};
    int rc = hnsw_create(&g->h, &p, err);
    if (rc) {
        free(g);
        return rc;
    }
    *out = g;
    return FO_OK;
}

int search_graph_grow(graph **g, size_t capacity, fo_err *err) {
    graph *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return no_memory(err);
    atomic_init(&fresh->refs, 1);
    int rc = hnsw_grow(&fresh->h, (*g)->h, (uint32_t)capacity, err);
    if (rc) {
        free(fresh);
        return rc;
    }
    graph_drop(*g);
    *g = fresh;
    return FO_OK;
}

/* Segments ------------------------------------------------------------------------------------- */

int search_segment_copy(search_segment *out, const search_segment *in, fo_err *err) {
    search_segment s = *in;
    s.parts = malloc((in->n_parts + 1) * sizeof *s.parts);
    s.bases = malloc((in->n_parts + 1) * sizeof *s.bases);
    if (!s.parts || !s.bases) {
        free(s.parts);
        free(s.bases);
        return no_memory(err);
    }
    for (size_t i = 0; i < in->n_parts; i++) {
        s.parts[i] = in->parts[i];
        s.bases[i] = in->bases[i];
        atomic_fetch_add(&s.parts[i]->refs, 1);
    }
    if (s.graph) atomic_fetch_add(&s.graph->refs, 1);
    if (s.live) atomic_fetch_add(&s.live->refs, 1);
    *out = s;
    return FO_OK;
}

void search_segment_drop(search_segment *s) {
    graph_drop(s->graph);
    for (size_t i = 0; i < s->n_parts; i++) search_part_drop(s->parts[i]);
    search_bitmap_drop(s->live);
    free(s->parts);
    free(s->bases);
    *s = (search_segment){0};
}

bool search_segment_alive(const search_segment *s, uint32_t doc) {
    return !s->live || fo_bits_get(s->live->words, doc);
}

size_t search_segment_n_live(const search_segment *s) {
    return s->live ? s->live->n_set : s->n_docs;
}

uint64_t search_segment_metadata(const search_segment *s) {
    uint64_t weight = 0;
    for (size_t i = 0; i < s->n_parts; i++) weight += metadata_weight(&s->parts[i]->meta);
    return weight;
}

static int open_graph(search_segment *s, const search_index *ix, fo_err *err) {
    part *p = s->parts[0];
    hnsw_section sections[HNSW_N_SECTIONS];
    for (unsigned i = 0; i < HNSW_N_SECTIONS; i++)
        sections[i].data = segment_get(p->file, SECTION_HNSW + i, &sections[i].size);
    graph *g = calloc(1, sizeof *g);
    if (!g) return no_memory(err);
    int rc = hnsw_map(&g->h, sections, err);
    if (!rc && (hnsw_count(g->h) != p->n_docs || hnsw_dim(g->h) != ix->dim)) {
        rc = fo_fail(err, FO_ECORRUPT, "a graph of %u points for %u documents", hnsw_count(g->h),
                     p->n_docs);
        hnsw_free(g->h);
    }
    if (rc) {
        free(g);
        return rc;
    }
    atomic_init(&g->refs, 1);
    atomic_fetch_add(&p->refs, 1);
    g->holder = p;
    s->graph = g;
    return FO_OK;
}

/* Takes file over. What is wrong with it is told with its path: notices show nothing else. */
static int open_parts(search_segment *s, segment *file, const search_index *ix, const char *path,
                      fo_err *err) {
    int rc = search_part_open(&s->parts[0], file, ix, err);
    if (!rc) {
        s->n_parts = 1;
        s->n_docs = s->parts[0]->n_docs;
        if (ix->dim && s->n_docs) rc = open_graph(s, ix, err);
    }
    if (rc) fo_fail_prefix(err, "%s", path);
    return rc;
}

int search_segment_open(search_segment *out, const search_index *ix, const char *path,
                        uint64_t file, fo_err *err) {
    segment *seg;
    search_segment s = {
        .file = file, .parts = calloc(1, sizeof *s.parts), .bases = calloc(1, sizeof *s.bases)};
    int rc = s.parts && s.bases ? segment_open(&seg, path, err) : no_memory(err);
    if (!rc) rc = open_parts(&s, seg, ix, path, err);
    if (rc) {
        search_segment_drop(&s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

/* Writing ------------------------------------------------------------------------------------- */

int search_write_info(segment_writer *w, const search_index *ix, uint32_t n_docs, int64_t epoch,
                      fo_err *err) {
    segment_info info = {
        .analysis = ANALYZER_EDITION, .dim = ix->dim, .n_docs = n_docs, .epoch = epoch};
    strncpy(info.tenant, ix->tenant, sizeof info.tenant - 1);
    strncpy(info.fingerprint, ix->fingerprint, sizeof info.fingerprint - 1);
    strncpy(info.language, ix->language, sizeof info.language - 1);
    return segment_writer_section(w, SECTION_INFO, &info, sizeof info, err);
}

typedef struct id_place {
    int64_t id;
    uint32_t doc;
} id_place;

static int by_id(const void *x, const void *y) {
    const id_place *a = x, *b = y;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return (a->doc > b->doc) - (a->doc < b->doc);
}

int search_write_ids(segment_writer *w, const int64_t *chunks, const int64_t *documents, uint32_t n,
                     fo_err *err) {
    id_place *places = malloc(((size_t)n + 1) * sizeof *places);
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    int rc = places && order ? FO_OK : no_memory(err);
    if (!rc) {
        for (uint32_t i = 0; i < n; i++) places[i] = (id_place){chunks[i], i};
        qsort(places, n, sizeof *places, by_id);
        for (uint32_t i = 0; i < n; i++) order[i] = places[i].doc;
        rc = segment_writer_section(w, SECTION_CHUNK_IDS, chunks, 8 * (size_t)n, err);
    }
    if (!rc) rc = segment_writer_section(w, SECTION_DOCUMENT_IDS, documents, 8 * (size_t)n, err);
    if (!rc) rc = segment_writer_section(w, SECTION_ID_ORDER, order, 4 * (size_t)n, err);
    free(places);
    free(order);
    return rc;
}

typedef struct source { /* a part and the new numbers of its documents */
    const part *part;
    const uint32_t *map;
} source;

/* Everything but the graph. */
static int write_documents(segment_writer *w, const search_index *ix, const source *in, size_t n,
                           uint32_t n_docs, int64_t epoch, fo_err *err) {
    inverted_merge_input *inputs = malloc((n + 1) * sizeof *inputs);
    int64_t *chunks = malloc(((size_t)n_docs + 1) * sizeof *chunks);
    int64_t *documents = malloc(((size_t)n_docs + 1) * sizeof *documents);
    metadata_builder *meta = NULL;
    int rc = inputs && chunks && documents ? metadata_builder_create(&meta, err) : no_memory(err);
    for (size_t i = 0; i < n && !rc; i++) {
        inputs[i] = (inverted_merge_input){&in[i].part->inv, in[i].map};
        for (uint32_t d = 0; d < in[i].part->n_docs; d++) {
            if (in[i].map[d] == UINT32_MAX) continue;
            chunks[in[i].map[d]] = in[i].part->chunks[d];
            documents[in[i].map[d]] = in[i].part->documents[d];
        }
        rc = metadata_builder_merge(meta, &in[i].part->meta, in[i].map, err);
    }
    if (!rc) rc = search_write_info(w, ix, n_docs, epoch, err);
    if (!rc) rc = inverted_merge(inputs, n, n_docs, &ix->bm25, w, err);
    if (!rc) rc = search_write_ids(w, chunks, documents, n_docs, err);
    if (!rc) rc = metadata_build(meta, n_docs, w, err);
    metadata_builder_free(meta);
    free(inputs);
    free(chunks);
    free(documents);
    return rc;
}

int search_parts_join(part **out, part *const *parts, size_t n, const search_index *ix,
                      fo_err *err) {
    size_t n_docs = 0;
    for (size_t i = 0; i < n; i++) n_docs += parts[i]->n_docs;
    source *in = malloc((n + 1) * sizeof *in);
    uint32_t *map = malloc((n_docs + 1) * sizeof *map);
    segment_writer *w = NULL;
    segment *file;
    int rc = in && map ? segment_writer_create(&w, NULL, err) : no_memory(err);
    if (!rc) {
        size_t at = 0;
        for (size_t i = 0; i < n_docs; i++) map[i] = (uint32_t)i;
        for (size_t i = 0; i < n; i++) {
            in[i] = (source){parts[i], map + at};
            at += parts[i]->n_docs;
        }
        rc = write_documents(w, ix, in, n, (uint32_t)n_docs, -1, err);
        if (!rc)
            rc = segment_writer_adopt(w, &file, err);
        else
            segment_writer_abort(w);
    }
    free(in);
    free(map);
    return !rc ? search_part_open(out, file, ix, err) : rc;
}

/* The one graph among the segments, where it is in memory: all of its points can be reached then. */
static int link_lost(const search_segment *segments, size_t n, fo_err *err) {
    size_t i = 0;
    while (i < n && !segments[i].graph) i++;
    if (i == n || segments[i].file) return FO_OK;
    return hnsw_repair(segments[i].graph->h, NULL, NULL, err);
}

static int write_graph(segment_writer *w, search_index *ix, const search_segment *segments,
                       size_t n, uint32_t n_docs, const atomic_bool *cancel, fo_err *err) {
    hnsw_merge_input *inputs = malloc((n + 1) * sizeof *inputs);
    bitmap **all = calloc(n + 1, sizeof *all);
    hnsw *merged = NULL;
    size_t k = 0;
    int rc = inputs && all ? FO_OK : no_memory(err);
    for (size_t i = 0; i < n && !rc; i++) {
        const search_segment *s = &segments[i];
        if (!s->graph) continue;
        const uint64_t *alive = s->live ? s->live->words : NULL;
        uint32_t points = hnsw_count(s->graph->h);
        if (points != s->n_docs) { /* a failed publish left points without documents */
            all[i] = search_bitmap_create(points, NULL);
            if (!all[i]) {
                rc = no_memory(err);
                break;
            }
            for (uint32_t d = 0; d < points; d++)
                if (d >= s->n_docs || !search_segment_alive(s, d)) fo_bits_clear(all[i]->words, d);
            alive = all[i]->words;
        }
        inputs[k++] = (hnsw_merge_input){s->graph->h, alive};
    }
    hnsw_params p = {.dim = ix->dim,
                     .metric = HNSW_IP,
                     .M = ix->M,
                     .ef_construction = ix->ef_construction,
                     .seed = ix->seed,
                     .cancel = cancel};
    /* One graph without dead points is written as it is: no writer touches a frozen segment. Points that no link
     * leads to any more, as among near copies, are linked first, as a merge does. */
    bool whole = k == 1 && !inputs[0].alive;
    if (!rc && whole) rc = link_lost(segments, n, err);
    /* A seal takes no turn of the pool: a merge beside it may have that for long. */
    fo_pool *pool = n == 1 && !segments[0].file ? NULL : ix->merge_pool;
    if (!rc && !whole) rc = hnsw_merge(&merged, inputs, k, &p, pool, NULL, NULL, err);
    const hnsw *result = whole ? inputs[0].graph : merged;
    if (!rc && hnsw_count(result) != n_docs)
        rc = fo_fail(err, FO_ECORRUPT, "%u points for %u documents after a merge",
                     hnsw_count(result), n_docs);
    hnsw_section sections[HNSW_N_SECTIONS];
    if (!rc) hnsw_sections(result, sections);
    for (unsigned i = 0; i < HNSW_N_SECTIONS && !rc; i++)
        rc = segment_writer_section(w, SECTION_HNSW + i, sections[i].data, sections[i].size, err);
    hnsw_free(merged);
    for (size_t i = 0; all && i < n; i++) search_bitmap_drop(all[i]);
    free(all);
    free(inputs);
    return rc;
}

int search_segment_readable(const search_segment *s, fo_err *err) {
    if (!s->file) return FO_OK;
    int rc = segment_readable(s->parts[0]->file, err);
    return rc ? fo_fail_prefix(err, "segment %016llx", (unsigned long long)s->file), rc : FO_OK;
}

int search_segments_write(search_segment *out, search_index *ix, const search_segment *segments,
                          size_t n, uint64_t file, int64_t epoch, bool paced, uint32_t **maps,
                          fo_err *err) {
    size_t n_sources = 0;
    uint32_t n_docs = 0;
    for (size_t i = 0; i < n; i++) {
        maps[i] = NULL;
        n_sources += segments[i].n_parts;
    }
    source *in = malloc((n_sources + 1) * sizeof *in);
    char *path = search_file_path(ix, file);
    segment_writer *w = NULL;
    int rc = in && path ? FO_OK : no_memory(err);
    n_sources = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const search_segment *s = &segments[i];
        maps[i] = malloc(((size_t)s->n_docs + 1) * sizeof *maps[i]);
        if (!maps[i]) {
            rc = no_memory(err);
            break;
        }
        for (uint32_t d = 0; d < s->n_docs; d++)
            maps[i][d] = search_segment_alive(s, d) ? n_docs++ : UINT32_MAX;
        for (size_t j = 0; j < s->n_parts; j++)
            in[n_sources++] = (source){s->parts[j], maps[i] + s->bases[j]};
    }
    if (!rc) rc = segment_writer_create(&w, path, err);
    if (!rc) {
        if (paced) segment_writer_set_gate(w, search_background_gate, ix);
        rc = write_documents(w, ix, in, n_sources, n_docs, epoch, err);
        if (!rc && ix->dim && n_docs)
            rc = write_graph(w, ix, segments, n, n_docs, paced ? &ix->cancel : NULL, err);
        uint64_t bytes = segment_writer_bytes(w);
        for (size_t i = 0; i < n && !rc; i++) rc = search_segment_readable(&segments[i], err);
        if (!rc) {
            rc = segment_writer_commit(w, err);
            atomic_fetch_add(&ix->bytes_written, bytes);
        } else {
            segment_writer_abort(w);
        }
    }
    if (!rc) rc = search_segment_open(out, ix, path, file, err);
    free(in);
    free(path);
    return rc;
}
