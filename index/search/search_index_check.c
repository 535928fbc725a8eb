/* Is the index sound, and does it hold what it should? */
#include "index/search/search_index_internal.h"

#include <stdlib.h>

int search_index_verify(search_index *ix, fo_err *err) {
    search_snapshot *s = search_index_acquire(ix);
    int rc = FO_OK;
    for (size_t i = 0; i < s->n_shelves && rc == FO_OK; i++) {
        const shelf *h = &s->shelves[i];
        for (size_t j = 0; j < h->n_parts && rc == FO_OK; j++) {
            const part *p = h->parts[j];
            rc = segment_verify(p->file, err);
            if (rc == FO_OK) rc = inverted_verify(&p->inv, err);
            if (rc == FO_OK) rc = metadata_verify(&p->meta, err);
            for (uint32_t d = 0; d < p->n_docs && rc == FO_OK; d++)
                if (p->order[d] >= p->n_docs ||
                    (d > 0 && p->chunks[p->order[d - 1]] >= p->chunks[p->order[d]] &&
                     p->order[d - 1] >= p->order[d]))
                    rc = fo_fail(err, FO_ECORRUPT, "the order of chunk ids is damaged at %u", d);
        }
        if (rc == FO_OK && h->file && h->graph) {
            size_t unreachable;
            rc = hnsw_verify(h->graph->h, &unreachable, err);
            if (rc == FO_OK && unreachable * 100 > h->n_docs)
                rc = fo_fail(err, FO_ECORRUPT, "%zu of %u points of the graph cannot be reached",
                             unreachable, h->n_docs);
        }
        if (rc != FO_OK) fo_fail_prefix(err, "segment %016llx", (unsigned long long)h->file);
    }
    search_index_release(s);
    return rc;
}

typedef struct place { /* of a chunk in the index */
    int64_t chunk, document;
    bool alive;
    bool dense; /* there is a point of the graph for it, or there are no graphs */
} place;

static int by_chunk(const void *x, const void *y) {
    const place *a = x, *b = y;
    return (a->chunk > b->chunk) - (a->chunk < b->chunk);
}

static size_t list_places(const search_snapshot *s, uint32_t dim, place *out) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_shelves; i++) {
        const shelf *h = &s->shelves[i];
        uint32_t points = h->graph ? hnsw_count(h->graph->h) : 0;
        for (size_t j = 0; j < h->n_parts; j++)
            for (uint32_t d = 0; d < h->parts[j]->n_docs; d++) {
                uint32_t doc = h->bases[j] + d;
                out[n++] = (place){.chunk = h->parts[j]->chunks[d],
                                   .document = h->parts[j]->documents[d],
                                   .alive = shelf_alive(h, doc),
                                   .dense = !dim || doc < points};
            }
    }
    qsort(out, n, sizeof *out, by_chunk);
    return n;
}

static void note(search_id_report *r, size_t *count, int64_t chunk) {
    if (r->first < 0) r->first = chunk;
    ++*count;
}

/* The places [begin, end) of one chunk; document is that of the store, -1: not in the store. */
static void compare_chunk(search_id_report *r, const place *begin, const place *end, int64_t chunk,
                          bool wanted, int64_t document) {
    size_t n_alive = 0;
    const place *living = NULL;
    for (const place *p = begin; p < end; p++)
        if (p->alive) {
            n_alive++;
            living = p;
        }
    if (!wanted) {
        if (n_alive) note(r, &r->n_extra, chunk);
    } else if (begin == end) {
        note(r, &r->n_missing, chunk);
    } else if (n_alive == 0) {
        note(r, &r->n_tombstoned, chunk);
    } else if (n_alive > 1) {
        note(r, &r->n_doubled, chunk);
    } else {
        if (living->document != document) note(r, &r->n_moved, chunk);
        if (!living->dense) note(r, &r->n_without_vector, chunk);
    }
}

int search_index_compare(search_index *ix, const int64_t *chunks, const int64_t *documents,
                         size_t n, search_id_report *out, fo_err *err) {
    search_snapshot *s = search_index_acquire(ix);
    size_t n_docs = 0;
    for (size_t i = 0; i < s->n_shelves; i++) n_docs += s->shelves[i].n_docs;
    place *places = malloc((n_docs + 1) * sizeof *places);
    *out = (search_id_report){.first = -1};
    size_t n_places = places ? list_places(s, ix->dim, places) : 0;
    search_index_release(s);
    if (!places) return fo_fail(err, FO_ENOMEM, "out of memory comparing an index");
    for (size_t i = 0, at = 0; i < n || at < n_places;) {
        bool wanted = i < n && (at == n_places || chunks[i] <= places[at].chunk);
        int64_t chunk = wanted ? chunks[i] : places[at].chunk;
        size_t end = at;
        while (end < n_places && places[end].chunk == chunk) end++;
        compare_chunk(out, places + at, places + end, chunk, wanted, wanted ? documents[i] : -1);
        i += wanted;
        at = end;
    }
    free(places);
    return out->first < 0 ? FO_OK
                          : fo_fail(err, FO_ECORRUPT,
                                    "not the chunks of the store: %zu missing, %zu wrongly marked "
                                    "as deleted, %zu that the store does not have, %zu doubled, "
                                    "%zu under another document, %zu without a vector (the first "
                                    "is chunk %lld)",
                                    out->n_missing, out->n_tombstoned, out->n_extra, out->n_doubled,
                                    out->n_moved, out->n_without_vector, (long long)out->first);
}
