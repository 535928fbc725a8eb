#include "retrieval/sync/folder_sync_known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hex.h"

enum { PAGE = 1000 };

void known_files_deinit(known_files *k) {
    for (size_t i = 0; i < k->n_rows; i++) store_source_file_deinit(&k->rows[i]);
    for (size_t i = 0; i < k->n_orphans; i++) free(k->orphans[i]);
    free(k->rows);
    free(k->orphans);
    free(k->files);
    *k = (known_files){0};
}

typedef int document_fn(void *ctx, const store_document *d, const char *path, bool named,
                        fo_err *err);

/* Calls fn with each document NAME/... of the source's collection that is the source's by its metadata or
 * listed in `rows`; a collection that is not there has none. */
static int each_document(service *s, const char *tenant, const char *in, const char *name,
                         document_fn *fn, void *ctx, fo_err *err) {
    store_collection c = {0};
    fo_err own = {0};
    int rc = store_get_collection(s->store, tenant, in, &c, &own);
    if (rc == FO_ENOTFOUND) return FO_OK;
    int64_t id = c.id;
    store_collection_deinit(&c);
    char prefix[80];
    size_t n_prefix = (size_t)snprintf(prefix, sizeof prefix, "%s/", name);
    char *after = rc ? NULL : strdup(prefix);
    if (!rc && !after) rc = fo_no_memory(&own);
    for (bool more = true; !rc && more;) {
        store_document *docs = NULL;
        size_t n = 0;
        rc = store_list_documents(s->store, id, after, PAGE, &docs, &n, &more, &own);
        for (size_t i = 0; i < n && !rc; i++) {
            if (strncmp(docs[i].id, prefix, n_prefix) != 0) {
                more = false;
                break;
            }
            rc = fn(ctx, &docs[i], docs[i].id + n_prefix, catalog_is_of_source(&docs[i], name),
                    &own);
        }
        free(after);
        after = n ? docs[n - 1].id : NULL;
        if (n) docs[n - 1].id = NULL;
        more = more && n;
        for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
        free(docs);
    }
    free(after);
    if (rc && err) *err = own;
    return rc;
}

typedef struct match {
    known_files *k;
    size_t at; /* of rows: both come in the same order */
} match;

static int see_document(void *ctx, const store_document *d, const char *path, bool named,
                        fo_err *err) {
    match *m = ctx;
    known_files *k = m->k;
    while (m->at < k->n_rows && strcmp(k->rows[m->at].path, path) < 0) m->at++;
    if (m->at < k->n_rows && !strcmp(k->rows[m->at].path, path)) {
        unsigned char sha256[32];
        /* The run was ended before it noted that; or somebody put a document of his own in its place. One that is
         * damaged does not say whose it is. */
        k->files[m->at].stored = named || (d->damaged && k->rows[m->at].stored);
        k->files[m->at].held = k->rows[m->at].stored && !k->other_settings && !d->damaged &&
                               fo_hex_read(sha256, 32, d->content_sha256) &&
                               !memcmp(sha256, k->rows[m->at].content_sha256, 32);
        return FO_OK;
    }
    if (!named) return FO_OK; /* of somebody else */
    char **more = realloc(k->orphans, (k->n_orphans + 1) * sizeof *more);
    if (!more) return fo_no_memory(err);
    k->orphans = more;
    if (!(more[k->n_orphans] = strdup(path))) return fo_no_memory(err);
    k->n_orphans++;
    return FO_OK;
}

static int compare_known(const void *a, const void *b) {
    return strcmp(((const sync_known *)a)->path, ((const sync_known *)b)->path);
}

int known_files_load(known_files *k, service *s, const store_source *source, fo_err *err) {
    int rc = source->id ? store_list_source_files(s->store, source->id, &k->rows, &k->n_rows, err)
                        : FO_OK;
    if (rc) return rc;
    k->files = calloc(k->n_rows + 1, sizeof *k->files);
    if (!k->files) return fo_no_memory(err);
    k->n = k->n_rows;
    for (size_t i = 0; i < k->n_rows; i++) {
        const store_source_file *f = &k->rows[i];
        k->files[i] = (sync_known){.path = f->path,
                                   .size = f->size,
                                   .mtime_ns = f->mtime_ns,
                                   .ctime_ns = f->ctime_ns,
                                   .inode = (uint64_t)f->inode,
                                   .error = f->error}; /* stored: where the document is seen */
        memcpy(k->files[i].sha256, f->sha256, 32);
        memcpy(k->files[i].content_sha256, f->content_sha256, 32);
    }
    match m = {k, 0};
    rc = each_document(s, source->tenant, source->collection, source->name, see_document, &m, err);
    if (rc || !k->n_orphans) return rc;
    sync_known *more = realloc(k->files, (k->n + k->n_orphans) * sizeof *more);
    if (!more) return fo_no_memory(err);
    k->files = more;
    for (size_t i = 0; i < k->n_orphans; i++)
        more[k->n++] = (sync_known){.path = k->orphans[i], .stored = true};
    qsort(more, k->n, sizeof *more, compare_known);
    return FO_OK;
}

/* ---- documents of the source go ---------------------------------------------------------------- */

/* Is the document still of the source? FO_ENOTFOUND: there is none; FO_ECONFLICT: it is somebody else's. *d then names the
 * version that was looked at, so that another one that comes after stays, too. One that is damaged tells nothing of itself
 * and goes by its id. */
static int look_again(service *s, int64_t in, const char *source, write_deletion *d,
                      unsigned char sha256[32], fo_err *err) {
    store_document now = {0};
    int rc = store_get_document(s->store, in, d->id, false, &now, err);
    if (rc == FO_ECORRUPT) return FO_OK;
    if (!rc && !catalog_is_of_source(&now, source)) rc = FO_ECONFLICT;
    if (!rc && fo_hex_read(sha256, 32, now.content_sha256)) d->sha256 = sha256;
    store_document_deinit(&now);
    return rc;
}

static int delete_in(service *s, collection *c, const char *source, char *const *ids, size_t n,
                     bool *went, fo_err *err) {
    write_deletion *d = calloc(n + 1, sizeof *d);
    unsigned char(*sha256)[32] = calloc(n + 1, sizeof *sha256);
    size_t *at = calloc(n + 1, sizeof *at), n_still = 0;
    int rc = d && sha256 && at ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; i < n && !rc; i++) {
        d[n_still].id = ids[i];
        rc = look_again(s, c->id, source, &d[n_still], sha256[n_still], err);
        if (!rc) at[n_still++] = i;
        if (rc == FO_ECONFLICT || rc == FO_ENOTFOUND) rc = FO_OK;
    }
    if (!rc && n_still) rc = writer_delete(s, c, d, n_still, NULL, err);
    for (size_t i = 0; i < n_still && !rc; i++) {
        went[at[i]] = d[i].rc == FO_OK;
        if (d[i].rc == FO_ECORRUPT) rc = fo_fail(err, d[i].rc, "document '%s' is damaged", d[i].id);
    }
    free(d);
    free(sha256);
    free(at);
    return rc;
}

int known_documents_delete(service *s, const store_source *of, char *const *ids, size_t n,
                           bool *went, fo_err *err) {
    collection *c = NULL;
    fo_err own = {0};
    memset(went, 0, n * sizeof *went);
    int rc = collection_acquire(s, of->tenant, of->collection, &c, &own);
    if (!rc) rc = delete_in(s, c, of->name, ids, n, went, &own);
    if (c) collection_forget_foreign(s, c);
    if (c) collection_release(s, c);
    if (rc == FO_ENOTFOUND && !strcmp(own.field, "collection"))
        return FO_OK; /* the whole of it is */
    if (rc && err) *err = own;
    return rc;
}
