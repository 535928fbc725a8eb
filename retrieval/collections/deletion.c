/* Documents out: one by its id, or all that a filter matches. */
#include <stdlib.h>
#include <string.h>

#include "index/filter/metadata.h"
#include "retrieval/collections/document_acl.h"
#include "retrieval/collections/service_internal.h"
#include "kernels/bits.h"
#include "kernels/buf.h"
#include "kernels/hex.h"

/* The version of a document that the caller sees. */
static int seen_version(service *s, const collection *c, const char *id, const search_filter *sees,
                        unsigned char sha256[32], fo_err *err) {
    store_document d = {0};
    bool seen = false;
    int rc = store_get_document(s->store, c->id, id, false, &d, err);
    if (!rc) rc = document_acl_sees(sees, d.metadata, &seen, err);
    if (!rc && !seen)
        rc = fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id);
    if (!rc && !fo_hex_read(sha256, 32, d.content_sha256))
        rc = fo_fail(err, FO_ECORRUPT, "document '%s' is damaged", id);
    store_document_deinit(&d);
    return rc;
}

int service_delete_document(service *s, const char *tenant, const char *name, const char *id,
                            const search_filter *sees, int64_t *epoch, fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    collection *c = NULL;
    rc = s->read_only ? fo_fail(err, FO_EUNSUPPORTED, "this service is read-only")
                      : collection_acquire(s, tenant, name, &c, err);
    if (!rc) {
        unsigned char version[32];
        write_deletion d = {.id = id, .sha256 = sees ? version : NULL};
        if (sees) rc = seen_version(s, c, id, sees, version, err);
        if (!rc) rc = writer_delete(s, c, &d, 1, epoch, err);
        if (!rc) rc = d.rc;
        if (!rc) collection_forget_foreign(s, c);
        collection_release(s, c);
    }
    service_leave(s);
    return rc;
}

/* ---- by condition ------------------------------------------------------------------------ */

enum { PAGE = 512 }; /* looked at together, and deleted in one commit */

typedef struct page {
    store_document *docs;
    size_t n;
    const char *json[PAGE];
    uint64_t match[PAGE / 64], refused[PAGE / 64];
    unsigned char sha256[PAGE][32];
    write_deletion deletions[PAGE];
} page;

static int delete_page(service *s, collection *c, page *p, const delete_request *q,
                       delete_report *out, fo_err *err) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!fo_bits_get(p->match, i)) continue;
        p->deletions[n++] = (write_deletion){.id = p->docs[i].id, .sha256 = p->sha256[i]};
    }
    if (!n) return FO_OK;
    fo_err why = {0};
    int rc = q->dry_run ? FO_OK : writer_delete(s, c, p->deletions, n, &out->epoch, &why);
    if (rc) {
        if (err) *err = why;
        return rc;
    }
    for (size_t i = 0, k = 0; i < p->n; i++) {
        if (!fo_bits_get(p->match, i)) continue;
        const store_document *d = &p->docs[i];
        out->matched++;
        out->chunks += d->n_chunks;
        int failed = q->dry_run ? FO_OK : p->deletions[k++].rc;
        bool gone = !q->dry_run && !failed;
        out->deleted += gone;
        out->unreadable += failed == FO_ECORRUPT;
        out->changed += failed && failed != FO_ECORRUPT;
        if (q->each && (gone || q->dry_run)) q->each(q->ctx, d);
    }
    return FO_OK;
}

/* What is damaged or has metadata that no index would take is judged by nobody: it stays. */
static int match_page(page *p, const delete_request *q, delete_report *out, fo_err *err) {
    for (size_t i = 0; i < p->n; i++) p->json[i] = p->docs[i].metadata;
    memset(p->refused, 0, sizeof p->refused);
    memset(p->match, 0xff, sizeof p->match);
    int rc = q->filter ? metadata_match_json(p->json, (uint32_t)p->n, q->filter, p->match,
                                             p->refused, err)
                       : FO_OK;
    for (size_t i = 0; i < p->n && !rc; i++) {
        bool other = (q->source && !catalog_is_of_source(&p->docs[i], q->source)) ||
                     (q->text && !catalog_is_named(&p->docs[i], q->text));
        if (!p->docs[i].damaged && other) {
            fo_bits_clear(p->match, i);
            continue;
        }
        if (!p->docs[i].damaged && !fo_bits_get(p->refused, i) &&
            fo_hex_read(p->sha256[i], 32, p->docs[i].content_sha256))
            continue;
        fo_bits_clear(p->match, i);
        out->unreadable++;
    }
    return rc;
}

static int delete_all(service *s, collection *c, const delete_request *q, page *p,
                      delete_report *out, fo_err *err) {
    fo_buf prefix = {0};
    if (q->source) fo_buf_printf(&prefix, "%s/", q->source);
    char *after = prefix.len ? strdup(prefix.data) : NULL;
    bool more = true;
    int rc = prefix.failed || (prefix.len && !after) ? fo_no_memory(err) : FO_OK;
    while (!rc && more) {
        if (q->cancel && atomic_load(q->cancel)) {
            rc = fo_fail(err, FO_ECANCELLED, "cancelled");
            break;
        }
        p->n = 0;
        rc = store_list_documents(s->store, c->id, after, PAGE, &p->docs, &p->n, &more, err);
        while (prefix.len && p->n && strncmp(p->docs[p->n - 1].id, prefix.data, prefix.len) != 0) {
            store_document_deinit(&p->docs[--p->n]); /* behind the source's */
            more = false;
        }
        if (!rc && p->n) {
            rc = match_page(p, q, out, err);
            if (!rc) rc = delete_page(s, c, p, q, out, err);
            free(after);
            after = p->docs[p->n - 1].id;
            p->docs[p->n - 1].id = NULL;
        }
        for (size_t i = 0; i < p->n; i++) store_document_deinit(&p->docs[i]);
        free(p->docs);
        p->docs = NULL;
        if (p->n == 0) break;
    }
    free(after);
    fo_buf_free(&prefix);
    return rc;
}

int service_delete_documents(service *s, const delete_request *q, delete_report *out, fo_err *err) {
    *out = (delete_report){0};
    int rc = service_enter(s, err);
    if (rc) return rc;
    collection *c = NULL;
    page *p = NULL;
    rc = s->read_only && !q->dry_run ? fo_fail(err, FO_EUNSUPPORTED, "this service is read-only")
                                     : collection_acquire(s, q->tenant, q->collection, &c, err);
    if (!rc) {
        search_snapshot *now = search_index_acquire(c->index);
        out->epoch = search_snapshot_epoch(now);
        search_index_release(now);
        p = malloc(sizeof *p);
        rc = p ? delete_all(s, c, q, p, out, err) : fo_no_memory(err);
        if (out->deleted) collection_forget_foreign(s, c);
        if (rc && out->deleted)
            fo_fail_prefix(err, "after %zu documents were deleted", out->deleted);
        collection_release(s, c);
    }
    free(p);
    service_leave(s);
    return rc;
}
