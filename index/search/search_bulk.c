/* A private segment that grows batch by batch and becomes a file: see search_bulk.h. */
#include "index/search/search_bulk.h"

#include <stdlib.h>
#include <string.h>
#include "index/sparse/postings.h"
#include "index/search/search_index_internal.h"
#include "kernels/buf.h"

enum {
    BATCH_CHUNKS = 32768,
    BATCH_TEXT_BYTES = 48 << 20,
    LEAST_MEMORY = 1 << 20,
    /* Beside codes and links a point has its scales, its place in the upper levels, two ids and
     * its postings (7 bits to 20 each, some 60 a chunk). */
    OTHER_BYTES = 320,
};

typedef struct batch_chunk {
    int64_t chunk, document;
    size_t title, text, text_len, metadata; /* offsets in texts */
} batch_chunk;

struct search_bulk {
    search_index *ix;
    search_bulk_options opt;
    search_segment segment; /* what the next file will hold */
    size_t max_segment_docs;
    uint64_t segment_values, values_room; /* of metadata, and how many a segment may have */
    uint64_t n_done, n_bytes;             /* for the progress */
    /* the batch */
    batch_chunk *chunks;
    size_t n, room;
    uint64_t n_values;  /* of metadata in the batch, at most */
    uint64_t metadata;  /* what it adds to the segment's metadata_weight, at most */
    size_t last_values; /* those of the chunk before */
    size_t last_metadata_len;
    fo_buf texts;
    float *vectors; /* [room, dim] */
};

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory building the index");
}

int search_bulk_begin(search_bulk **out, search_index *ix, const search_bulk_options *opt,
                      fo_err *err) {
    if (ix->read_only) return fo_fail(err, FO_EUNSUPPORTED, "the index was opened read-only");
    search_bulk *b = calloc(1, sizeof *b);
    if (!b) return no_memory(err);
    b->ix = ix;
    b->opt = *opt;
    uint64_t memory = opt->memory_bytes ? opt->memory_bytes : (uint64_t)1 << 30;
    if (memory < LEAST_MEMORY) memory = LEAST_MEMORY;
    b->values_room = memory / 4 / METADATA_VALUE_BYTES;
    uint32_t M = ix->M ? ix->M : 16;
    size_t vector_bytes = (size_t)ix->dim * sizeof(float), text_bytes = 1024;
    size_t point_bytes = (ix->dim ? 2 * (size_t)ix->dim + 8 * (size_t)M : 0) + OTHER_BYTES;
    /* A quarter for the batch, half for the segment; the rest is slack for writing it out. */
    uint64_t batch = memory / 4 / (vector_bytes + text_bytes), held = memory / 2 / point_bytes;
    b->room = batch < 256 ? 256 : batch < BATCH_CHUNKS ? (size_t)batch : BATCH_CHUNKS;
    if (held < b->room) held = b->room;
    b->max_segment_docs = held < POSTINGS_MAX_DOCS - 1 ? (size_t)held : POSTINGS_MAX_DOCS - 1;
    b->chunks = malloc(b->room * sizeof *b->chunks);
    b->vectors = malloc(b->room * vector_bytes + 1);
    if (!b->chunks || !b->vectors) {
        search_bulk_abort(b);
        return no_memory(err);
    }
    *out = b;
    return FO_OK;
}

void search_bulk_abort(search_bulk *b) {
    if (!b) return;
    search_segment_drop(&b->segment);
    free(b->chunks);
    free(b->vectors);
    fo_buf_free(&b->texts);
    free(b);
}

static void report(search_bulk *b, enum search_bulk_stage stage, uint64_t done) {
    if (b->opt.progress) b->opt.progress(b->opt.ctx, stage, done);
}

/* Postings ------------------------------------------------------------------------------------ */

typedef struct slice_job {
    search_bulk *b;
    size_t n_slices;
    part **parts; /* of each slice */
    fo_err *errors;
} slice_job;

static int add_word(void *ctx, const analyzed_term *t) {
    inverted_builder_word(ctx, t->term, t->len);
    return 0;
}

static int build_slice(const search_bulk *b, size_t begin, size_t end, part **out, fo_err *err) {
    search_index *ix = b->ix;
    uint32_t n = (uint32_t)(end - begin);
    inverted_builder *words = NULL;
    metadata_builder *meta = NULL;
    analyzer *a = NULL;
    segment_writer *w = NULL;
    int64_t *ids = malloc(2 * ((size_t)n + 1) * sizeof *ids);
    int rc = ids ? inverted_builder_create(&words, err) : no_memory(err);
    if (!rc) rc = metadata_builder_create(&meta, err);
    if (!rc) rc = analyzer_create(&a, ix->language, err);
    for (uint32_t i = 0; i < n && !rc; i++) {
        const batch_chunk *c = &b->chunks[begin + i];
        const char *texts = b->texts.data, *title = texts + c->title;
        ids[i] = c->chunk;
        ids[n + i] = c->document;
        rc = metadata_builder_add(meta, i, texts + c->metadata, err);
        if (rc) break;
        search_chunk_words(a, title, texts + c->text, c->text_len, add_word, words);
        rc = inverted_builder_end_document(words, err);
    }
    if (!rc) rc = segment_writer_create(&w, NULL, err);
    if (!rc) rc = search_write_info(w, ix, n, -1, err);
    if (!rc) rc = inverted_build(words, &ix->bm25, w, err);
    if (!rc) rc = search_write_ids(w, ids, ids + n, n, err);
    if (!rc) rc = metadata_build(meta, n, w, err);
    if (!rc) {
        segment *file;
        rc = segment_writer_adopt(w, &file, err);
        if (!rc) rc = search_part_open(out, file, ix, err);
    } else {
        segment_writer_abort(w);
    }
    analyzer_free(a);
    metadata_builder_free(meta);
    inverted_builder_free(words);
    free(ids);
    return rc;
}

static void build_slices(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    slice_job *j = arg;
    for (size_t i = begin; i < end; i++)
        build_slice(j->b, j->b->n * i / j->n_slices, j->b->n * (i + 1) / j->n_slices, &j->parts[i],
                    &j->errors[i]);
}

/* The batch's documents as parts at the end of the segment. */
static int add_postings(search_bulk *b, fo_err *err) {
    fo_pool *pool = b->ix->pool;
    size_t n = pool ? (size_t)fo_pool_threads(pool) : 1;
    if (n > b->n) n = b->n;
    search_segment *s = &b->segment;
    part **parts = realloc(s->parts, (s->n_parts + n) * sizeof(part *));
    if (parts) s->parts = parts;
    uint32_t *bases = realloc(s->bases, (s->n_parts + n) * sizeof *bases);
    if (bases) s->bases = bases;
    slice_job j = {b, n, calloc(n, sizeof *j.parts), calloc(n, sizeof *j.errors)};
    int rc = parts && bases && j.parts && j.errors ? FO_OK : no_memory(err);
    if (!rc) {
        if (pool)
            fo_pool_run(pool, n, 1, build_slices, &j);
        else
            build_slices(&j, 0, n, 0);
    }
    for (size_t i = 0; i < n && !rc; i++) {
        rc = j.errors[i].code;
        if (rc && err) *err = j.errors[i];
    }
    for (size_t i = 0; j.parts && i < n; i++) {
        if (rc) {
            search_part_drop(j.parts[i]);
            continue;
        }
        s->bases[s->n_parts] = s->n_docs;
        s->parts[s->n_parts++] = j.parts[i];
        s->n_docs += j.parts[i]->n_docs;
    }
    free(j.parts);
    free(j.errors);
    if (!rc) report(b, SEARCH_BULK_POSTINGS, b->n_done + b->n);
    return rc;
}

/* The graph and the file ---------------------------------------------------------------------- */

static void on_linked(void *ctx, size_t done, size_t total) {
    (void)total;
    search_bulk *b = ctx;
    report(b, SEARCH_BULK_GRAPH, b->n_done + done);
}

static int add_points(search_bulk *b, fo_err *err) {
    if (!b->ix->dim) return FO_OK;
    if (!b->segment.graph) {
        int rc = search_graph_create(&b->segment.graph, b->ix, b->max_segment_docs, err);
        if (rc) return rc;
    }
    int rc = hnsw_build(b->segment.graph->h, b->vectors, b->n, b->ix->pool, on_linked, b, err);
    if (!rc) report(b, SEARCH_BULK_GRAPH, b->n_done + b->n);
    return rc;
}

static int seal(search_bulk *b, int64_t epoch, fo_err *err) {
    search_index *ix = b->ix;
    uint64_t before = atomic_load(&ix->bytes_written);
    pthread_mutex_lock(&ix->sealing);
    int rc = search_segment_seal(ix, &b->segment, epoch, err);
    pthread_mutex_unlock(&ix->sealing);
    search_segment_drop(&b->segment);
    b->segment_values = 0;
    b->n_bytes += atomic_load(&ix->bytes_written) - before;
    if (!rc) report(b, SEARCH_BULK_COMMIT, b->n_bytes);
    return rc;
}

/* For the batch in the segment. */
static bool has_room(const search_bulk *b) {
    return b->segment.n_docs + b->n <= b->max_segment_docs &&
           b->segment_values + b->n_values <= b->values_room &&
           search_segment_metadata(&b->segment) + b->metadata <= b->ix->segment_metadata;
}

static int flush(search_bulk *b, fo_err *err) {
    if (!b->n) return FO_OK;
    int rc = FO_OK;
    if (b->n_done && b->opt.cancel && atomic_load(b->opt.cancel)) {
        rc = seal(b, search_index_epoch(b->ix), err);
        return rc ? rc : fo_fail(err, FO_ECANCELLED, "cancelled");
    }
    if (b->segment.n_docs && !has_room(b)) rc = seal(b, search_index_epoch(b->ix), err);
    if (!rc) rc = add_postings(b, err);
    if (!rc) rc = add_points(b, err);
    b->n_done += b->n;
    b->segment_values += b->n_values;
    b->n = 0;
    b->n_values = b->metadata = 0;
    fo_buf_clear(&b->texts);
    return rc;
}

static size_t put_text(fo_buf *b, const char *s, size_t n) {
    size_t at = b->len;
    fo_buf_add(b, s, n);
    fo_buf_char(b, 0);
    return at;
}

/* Where it is that of the chunk before, as a document's chunks have it, it stands there once. */
static size_t put_metadata(search_bulk *b, const char *json, size_t len) {
    size_t at = b->n ? b->chunks[b->n - 1].metadata : 0;
    if (b->n && b->last_metadata_len == len && memcmp(b->texts.data + at, json, len) == 0) {
        b->metadata += b->last_values;
        return at;
    }
    b->last_metadata_len = len;
    b->last_values =
        len > 2; /* a comma behind each but the last; those within strings do no harm */
    for (const char *p = json; (p = strchr(p, ',')); p++) b->last_values++;
    b->metadata += metadata_most_weight(json);
    return put_text(&b->texts, json, len);
}

static bool is_full(const search_bulk *b, const char *next_metadata) {
    if (!b->n) return false;
    return b->n == b->room || b->texts.len > BATCH_TEXT_BYTES || b->n_values > b->values_room / 2 ||
           b->metadata + metadata_most_weight(next_metadata) > b->ix->segment_metadata;
}

int search_bulk_add(search_bulk *b, const search_chunk_in *c, fo_err *err) {
    const char *title = c->title ? c->title : "", *meta = c->metadata ? c->metadata : "";
    int rc = search_chunk_check(b->ix, c, err);
    if (!rc && is_full(b, meta)) rc = flush(b, err);
    if (rc) return rc;
    size_t title_len = strlen(title), meta_len = strlen(meta);
    batch_chunk *to = &b->chunks[b->n];
    *to = (batch_chunk){.chunk = c->chunk, .document = c->document, .text_len = c->text_len};
    to->title = put_text(&b->texts, title, title_len);
    to->text = put_text(&b->texts, c->text, c->text_len);
    to->metadata = put_metadata(b, meta, meta_len);
    b->n_values += b->last_values;
    if (b->texts.failed) return no_memory(err);
    size_t dim = b->ix->dim;
    if (dim) memcpy(b->vectors + b->n * dim, c->vector, dim * sizeof *c->vector);
    b->n++;
    atomic_fetch_add(&b->ix->bytes_ingested,
                     title_len + c->text_len + meta_len + dim * sizeof(float));
    return FO_OK;
}

int search_bulk_finish(search_bulk *b, int64_t epoch, fo_err *err) {
    int rc = flush(b, err);
    if (!rc) rc = seal(b, epoch, err);
    search_bulk_abort(b);
    return rc;
}
