#include "server/routes/ingest_archive.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hex.h"
#include "kernels/paths.h"
#include "kernels/sha256.h"
#include "retrieval/sync/archive_members.h"

/* What its members are named after. */
static int name_of(const ingest_document *doc, fo_buf *out, fo_err *err) {
    const char *name = doc->id ? doc->id : doc->file_name ? doc->file_name : doc->uri;
    if (name) {
        fo_buf_str(out, name);
    } else {
        fo_sha256 h;
        unsigned char digest[32];
        char hex[65];
        fo_sha256_begin(&h);
        fo_sha256_add(&h, doc->bytes, doc->n_bytes);
        fo_sha256_end(&h, digest);
        fo_hex_write(hex, digest, 16);
        fo_buf_add(out, hex, 32);
    }
    return out->failed || !out->data ? fo_no_memory(err) : FO_OK;
}

static int add_member(const archive_door *d, const ingest_document *archive, const char *name,
                      archive_members *m, size_t i, fo_err *err) {
    const archive_file *f = &m->list[i];
    fo_buf id = {0}, uri = {0};
    fo_buf_printf(&id, "%s/%s", name, f->name);
    fo_buf_printf(&uri, "%s/%s", archive->uri ? archive->uri : name, f->name);
    int rc = id.failed || uri.failed ? fo_no_memory(err) : FO_OK;
    char *bytes = NULL;
    fo_err why = {0};
    if (!rc && f->outcome == MEMBER_SKIPPED) {
        rc = d->skipped(d->batch, id.data, f->why, err);
    } else if (!rc && f->outcome == MEMBER_FAILED) {
        fo_fail(&why, FO_EINVAL, "%s", f->why);
        rc = d->failed(d->batch, id.data, fo_base_name(f->name), &why, err);
    } else if (!rc) {
        rc = archive_members_get(m, i, &bytes, err);
        ingest_document doc = {.id = id.data,
                               .uri = uri.data,
                               .file_name = fo_base_name(f->name),
                               .metadata = archive->metadata,
                               .acl = archive->acl,
                               .bytes = bytes,
                               .n_bytes = (size_t)f->n};
        if (!rc) rc = d->add(d->batch, &doc, err);
    }
    free(bytes);
    fo_buf_free(&id);
    fo_buf_free(&uri);
    return rc;
}

int ingest_archive_add(const archive_door *d, const ingest_document *doc, fo_err *err) {
    fo_buf name = {0};
    archive_members m = {0};
    int rc = name_of(doc, &name, err);
    archive_source from = {.bytes = doc->bytes,
                           .n = doc->n_bytes,
                           .file_name = doc->file_name ? doc->file_name : doc->id,
                           .spool_dir = d->spool_dir,
                           .cancel = d->cancel};
    if (!rc) rc = archive_members_read(&m, d->service, &from, err);
    for (size_t i = 0; !rc && i < m.n; i++) rc = add_member(d, doc, name.data, &m, i, err);
    if (!rc && m.bad.code) {
        fo_fail_prefix(&m.bad, "%.200s (an archive)", doc->file_name ? doc->file_name : name.data);
        rc = d->failed(d->batch, name.data, doc->file_name, &m.bad, err);
    }
    archive_members_deinit(&m);
    fo_buf_free(&name);
    return rc;
}
