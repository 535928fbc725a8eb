/* The archive is unpacked to a spool first and read from it then: a worker waits for no encoder, and no more than one
 * member is held in memory. Archives in it are unpacked in their turn, within the same bounds. */
#include "server/routes/ingest_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/archive.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "server/http/spool.h"

enum { MAX_MEMBER_BYTES = 64 << 20, MAX_ID_BYTES = 512 };
#define MAX_BYTES ((uint64_t)1 << 30) /* of all members */

typedef struct member {
    char *name, *why;
    uint64_t at, n;
    enum archive_outcome outcome;
} member;

typedef struct unpacked {
    spool *bytes;
    member *list;
    size_t n, cap;
    uint64_t begun; /* where the bytes of the member at hand begin */
} unpacked;

static void unpacked_deinit(unpacked *u) {
    for (size_t i = 0; i < u->n; i++) {
        free(u->list[i].name);
        free(u->list[i].why);
    }
    free(u->list);
    spool_free(u->bytes);
}

static int on_bytes(void *ctx, const void *p, size_t n, fo_err *err) {
    unpacked *u = ctx;
    return spool_write(u->bytes, p, n, err);
}

static int on_member(void *ctx, const archive_member *m, fo_err *err) {
    unpacked *u = ctx;
    if (u->n == u->cap) {
        size_t more = u->cap ? 2 * u->cap : 64;
        member *list = realloc(u->list, more * sizeof *list);
        if (!list) return fo_no_memory(err);
        u->list = list;
        u->cap = more;
    }
    member *to = &u->list[u->n];
    *to = (member){strdup(m->name), strdup(m->why), u->begun, spool_size(u->bytes) - u->begun,
                   m->outcome};
    u->n++;
    u->begun = spool_size(u->bytes);
    return to->name && to->why ? FO_OK : fo_no_memory(err);
}

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

static int add_archive(const archive_door *d, const ingest_document *doc, archive_bounds *bounds,
                       int depth, fo_err *err);

static int add_member(const archive_door *d, const ingest_document *archive, const char *name,
                      unpacked *u, const member *m, archive_bounds *bounds, int depth,
                      fo_err *err) {
    fo_buf id = {0}, uri = {0};
    fo_buf_str(&id, name);
    fo_buf_char(&id, '/');
    fo_buf_str(&id, m->name);
    fo_buf_str(&uri, archive->uri ? archive->uri : name);
    fo_buf_char(&uri, '/');
    fo_buf_str(&uri, m->name);
    char *bytes = m->outcome == MEMBER_READ ? malloc((size_t)m->n + 1) : NULL;
    int rc = id.failed || uri.failed || (m->outcome == MEMBER_READ && !bytes) ? fo_no_memory(err)
                                                                              : FO_OK;
    for (uint64_t at = 0; !rc && m->outcome == MEMBER_READ && at < m->n;) {
        ssize_t got = spool_read(u->bytes, m->at + at, bytes + at, (size_t)(m->n - at), err);
        if (got < 0) rc = (int)got;
        if (got == 0) rc = fo_fail(err, FO_EIO, "what was unpacked has gone");
        if (got > 0) at += (uint64_t)got;
    }
    ingest_document doc = {.id = id.len <= MAX_ID_BYTES ? id.data : NULL,
                           .uri = uri.data,
                           .file_name = m->name,
                           .metadata = archive->metadata,
                           .bytes = bytes,
                           .n_bytes = (size_t)m->n};
    fo_err why = {0};
    if (!rc && m->outcome == MEMBER_SKIPPED) {
        rc = d->skipped(d->batch, id.data, m->why, err);
    } else if (!rc && m->outcome == MEMBER_FAILED) {
        fo_fail(&why, FO_EINVAL, "%s", m->why);
        rc = d->failed(d->batch, id.data, m->name, &why, err);
    } else if (!rc && archive_is(bytes, doc.n_bytes)) {
        doc.id = id.data;
        rc = add_archive(d, &doc, bounds, depth + 1, err);
    } else if (!rc) {
        rc = d->add(d->batch, &doc, err);
    }
    free(bytes);
    fo_buf_free(&id);
    fo_buf_free(&uri);
    return rc;
}

static int add_archive(const archive_door *d, const ingest_document *doc, archive_bounds *bounds,
                       int depth, fo_err *err) {
    fo_buf name = {0};
    fo_err why = {0};
    unpacked u = {0};
    int bad = FO_OK, rc = name_of(doc, &name, err);
    if (!rc) rc = spool_create(&u.bytes, d->spool_dir, err);
    if (!rc && depth > ARCHIVE_MAX_NESTING) {
        bad = fo_fail(&why, FO_ELIMIT, "archives within archives are read %d deep",
                      ARCHIVE_MAX_NESTING);
    } else if (!rc) {
        archive_request rq = {.bytes = doc->bytes,
                              .n = doc->n_bytes,
                              .file_name = doc->file_name ? doc->file_name : doc->id,
                              .bounds = bounds,
                              .cancel = d->cancel};
        archive_sink sink = {on_bytes, on_member, &u};
        bad = service_unpack(d->service, &rq, &sink, &why);
        if (!bad && !u.n) bad = fo_fail(&why, FO_EINVAL, "the archive holds no file");
    }
    if (bad == FO_ECANCELLED || bad == FO_ENOMEM || bad == FO_EIO || bad == FO_ENOSPC) {
        *err = why;
        rc = bad;
    }
    for (size_t i = 0; !rc && i < u.n; i++)
        rc = add_member(d, doc, name.data, &u, &u.list[i], bounds, depth, err);
    if (!rc && bad) {
        fo_fail_prefix(&why, "%.200s (an archive)", doc->file_name ? doc->file_name : name.data);
        rc = d->failed(d->batch, name.data, doc->file_name, &why, err);
    }
    unpacked_deinit(&u);
    fo_buf_free(&name);
    return rc;
}

int ingest_archive_add(const archive_door *door, const ingest_document *doc, fo_err *err) {
    archive_bounds bounds = {ARCHIVE_MAX_MEMBERS, MAX_BYTES, MAX_MEMBER_BYTES};
    return add_archive(door, doc, &bounds, 1, err);
}
