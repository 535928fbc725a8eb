/* Is the index sound, and does it hold what it should? */
#include "index/search/search_index_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the files of a folder ---------------------------------------------------------------- */

/* The path is cut off errors: who reads them knows the folder. */
static const char *without_path(const fo_err *why, const char *path) {
    size_t n = strlen(path);
    return strncmp(why->msg, path, n) == 0 && why->msg[n] == ':' ? why->msg + n + 2 : why->msg;
}

static int check_segment_file(const char *path, uint64_t n_docs, fo_err *why) {
    segment *s;
    int rc = segment_open(&s, path, why);
    if (rc) return rc;
    const void *info = NULL;
    rc = segment_get_array(s, SECTION_INFO, 1, sizeof(segment_info), &info, why);
    if (!rc && ((const segment_info *)info)->n_docs != n_docs)
        rc = fo_fail(why, FO_ECORRUPT, "%u documents, the manifest says %llu",
                     ((const segment_info *)info)->n_docs, (unsigned long long)n_docs);
    if (!rc) rc = segment_verify(s, why);
    segment_close(s);
    return rc;
}

static bool is_listed(const search_manifest_file *files, size_t n, uint64_t file) {
    for (size_t i = 0; i < n; i++)
        if (files[i].file == file) return true;
    return false;
}

static int find_extra(const char *dir, const search_manifest_file *files, size_t n,
                      search_file_fn *fn, void *ctx, fo_err *err) {
    DIR *d = opendir(dir);
    if (!d) return fo_fail_errno(err, "cannot read %s", dir);
    for (struct dirent *e; (e = readdir(d));) {
        uint64_t file;
        const char *rest, *name = e->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "MANIFEST") == 0)
            continue;
        size_t len = strlen(name);
        if (search_segment_name(name, &file, &rest)) {
            if (!rest[0] && is_listed(files, n, file)) continue;
            if (!rest[0]) fn(ctx, name, true, "the manifest does not name it");
        } else {
            rest = NULL;
        }
        if (len > 4 && strcmp(name + len - 4, ".bad") == 0)
            fn(ctx, name, true, "it was found damaged and put aside");
        else if (strstr(name, ".tmp-"))
            fn(ctx, name, true, "it was being written when a process ended");
        else if (!rest || rest[0])
            fn(ctx, name, true, "it is no file of an index");
    }
    closedir(d);
    return FO_OK;
}

int search_index_check_folder(const char *dir, search_file_fn *fn, void *ctx, fo_err *err) {
    search_manifest_file *files = NULL;
    size_t n = 0;
    fo_err why = {0};
    int rc = search_manifest_list(dir, &files, &n, &why);
    bool listed = !rc;
    if (rc == FO_ENOTFOUND) fn(ctx, "MANIFEST", false, "it is gone");
    if (rc == FO_ECORRUPT || rc == FO_ELIMIT) fn(ctx, "MANIFEST", false, why.msg);
    if (rc == FO_EIO || rc == FO_ENOMEM) {
        if (err) *err = why;
        return rc;
    }
    rc = FO_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        char path[4096], name[32];
        snprintf(name, sizeof name, "%016llx.seg", (unsigned long long)files[i].file);
        snprintf(path, sizeof path, "%s/%s", dir, name);
        int got = check_segment_file(path, files[i].n_docs, &why);
        if (got == FO_ENOTFOUND)
            fn(ctx, name, false, "it is gone");
        else if (got == FO_ENOMEM)
            rc = got;
        else if (got != FO_OK)
            fn(ctx, name, false, without_path(&why, path));
    }
    if (rc && err) *err = why;
    if (!rc && listed) rc = find_extra(dir, files, n, fn, ctx, err);
    free(files);
    return rc;
}

/* ---- an open index ------------------------------------------------------------------------ */

/* The order of chunk ids is that of mark_dead's search: ascending, equals by their document numbers. */
static int check_order(const part *p, fo_err *err) {
    for (uint32_t d = 0; d < p->n_docs; d++) {
        const uint32_t *doc = &p->order[d];
        bool sound = *doc < p->n_docs;
        if (sound && d > 0) {
            const int64_t before = p->chunks[doc[-1]], now = p->chunks[*doc];
            sound = before < now || (before == now && doc[-1] < *doc);
        }
        if (!sound) return fo_fail(err, FO_ECORRUPT, "the order of chunk ids is damaged at %u", d);
    }
    return FO_OK;
}

int search_index_verify(search_index *ix, fo_err *err) {
    search_snapshot *s = search_index_acquire(ix);
    int rc = FO_OK;
    for (size_t i = 0; i < s->n_segments && !rc; i++) {
        const search_segment *h = &s->segments[i];
        for (size_t j = 0; j < h->n_parts && !rc; j++) {
            const part *p = h->parts[j];
            rc = segment_verify(p->file, err);
            if (!rc) rc = inverted_verify(&p->inv, err);
            if (!rc) rc = metadata_verify(&p->meta, err);
            if (!rc) rc = check_order(p, err);
        }
        if (!rc && h->file && h->graph) {
            size_t unreachable;
            rc = hnsw_verify(h->graph->h, &unreachable, err);
            if (!rc && unreachable * 100 > h->n_docs)
                rc = fo_fail(err, FO_ECORRUPT, "%zu of %u points of the graph cannot be reached",
                             unreachable, h->n_docs);
        }
        if (rc) fo_fail_prefix(err, "segment %016llx", (unsigned long long)h->file);
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
    for (size_t i = 0; i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        uint32_t points = h->graph ? hnsw_count(h->graph->h) : 0;
        for (size_t j = 0; j < h->n_parts; j++)
            for (uint32_t d = 0; d < h->parts[j]->n_docs; d++) {
                uint32_t doc = h->bases[j] + d;
                out[n++] = (place){.chunk = h->parts[j]->chunks[d],
                                   .document = h->parts[j]->documents[d],
                                   .alive = search_segment_alive(h, doc),
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
    for (size_t i = 0; i < s->n_segments; i++) n_docs += s->segments[i].n_docs;
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
