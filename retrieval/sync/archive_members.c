#include "retrieval/sync/archive_members.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MEMBER_BYTES = 64 << 20 };
#define MAX_BYTES ((uint64_t)1 << 30) /* of all members */

void archive_members_deinit(archive_members *m) {
    for (size_t i = 0; i < m->n; i++) {
        free(m->list[i].name);
        free(m->list[i].why);
    }
    free(m->list);
    spool_free(m->bytes);
    *m = (archive_members){0};
}

static int add(archive_members *m, archive_file f, fo_err *err) {
    if (m->n == m->cap) {
        size_t more = m->cap ? 2 * m->cap : 64;
        archive_file *list = realloc(m->list, more * sizeof *list);
        if (!list) {
            free(f.name);
            free(f.why);
            return fo_no_memory(err);
        }
        m->list = list;
        m->cap = more;
    }
    m->list[m->n++] = f;
    return f.name && f.why ? FO_OK : fo_no_memory(err);
}

static int on_bytes(void *ctx, const void *p, size_t n, fo_err *err) {
    archive_members *m = ctx;
    return spool_write(m->bytes, p, n, err);
}

static int on_member(void *ctx, const archive_member *from, fo_err *err) {
    archive_members *m = ctx;
    archive_file f = {strdup(from->name), strdup(from->why), m->begun,
                      spool_size(m->bytes) - m->begun, from->outcome};
    m->begun = spool_size(m->bytes);
    return add(m, f, err);
}

int archive_members_get(archive_members *m, size_t i, char **bytes, fo_err *err) {
    const archive_file *f = &m->list[i];
    char *p = malloc((size_t)f->n + 1);
    if (!p) return fo_no_memory(err);
    for (uint64_t at = 0; at < f->n;) {
        ssize_t got = spool_read(m->bytes, f->at + at, p + at, (size_t)(f->n - at), err);
        if (got <= 0) {
            free(p);
            return got ? (int)got : fo_fail(err, FO_EIO, "what was unpacked has gone");
        }
        at += (uint64_t)got;
    }
    *bytes = p;
    return FO_OK;
}

/* Is it the machine that is at fault, not the archive? */
static bool is_ours(int rc) {
    return rc == FO_ECANCELLED || rc == FO_ENOMEM || rc == FO_EIO || rc == FO_ENOSPC;
}

/* "inner.zip" and "a.md": "inner.zip/a.md"; `name` is freed. */
static char *name_within(const char *outer, char *name) {
    fo_buf b = {0};
    fo_buf_str(&b, outer);
    fo_buf_char(&b, '/');
    fo_buf_str(&b, name ? name : "");
    free(name);
    return fo_buf_take(&b, NULL);
}

/* Members of an archive come behind those that m has; where one is an archive its own come behind them all. Bounds are those
 * of the outermost. */
static int unpack(archive_members *m, service *s, const archive_source *from,
                  archive_bounds *bounds, int depth, fo_err *why, fo_err *err);

static int unpack_inner(archive_members *m, service *s, const archive_source *outer, size_t i,
                        const char *bytes, archive_bounds *bounds, int depth, fo_err *err) {
    char *name = m->list[i].name;
    m->list[i].name = NULL; /* this one is none, its members are */
    archive_source inner = *outer;
    inner.bytes = bytes;
    inner.n = (size_t)m->list[i].n;
    inner.file_name = name;
    size_t first = m->n;
    fo_err why = {0};
    int rc = depth > ARCHIVE_MAX_NESTING
                 ? fo_fail(&why, FO_ELIMIT, "archives within archives are read %d deep",
                           ARCHIVE_MAX_NESTING)
                 : unpack(m, s, &inner, bounds, depth, &why, err);
    for (size_t k = first; k < m->n && !is_ours(rc); k++)
        if (m->list[k].name && !(m->list[k].name = name_within(name, m->list[k].name)))
            rc = fo_no_memory(err);
    if (why.code) fo_fail_prefix(&why, "%.200s (an archive)", name);
    if (why.code && !is_ours(rc)) { /* it stands for itself, as a file that cannot be read */
        archive_file f = {strdup(name), strdup(why.msg), 0, 0, MEMBER_FAILED};
        rc = add(m, f, err);
    } else if (!is_ours(rc)) {
        rc = FO_OK;
    }
    free(name);
    return rc;
}

static int unpack(archive_members *m, service *s, const archive_source *from,
                  archive_bounds *bounds, int depth, fo_err *why, fo_err *err) {
    archive_request rq = {.bytes = from->bytes,
                          .n = from->n,
                          .file_name = from->file_name,
                          .bounds = bounds,
                          .cancel = from->cancel};
    archive_sink sink = {on_bytes, on_member, m};
    size_t first = m->n;
    m->begun = spool_size(m->bytes);
    int rc = service_unpack(s, &rq, &sink, why);
    if (is_ours(rc)) {
        if (err) *err = *why;
        return rc;
    }
    if (!rc && m->n == first) fo_fail(why, FO_EINVAL, "the archive holds no file");
    size_t end = m->n; /* archives among them add theirs behind */
    for (size_t i = first; i < end; i++) {
        char *bytes = NULL;
        if (m->list[i].outcome != MEMBER_READ) continue;
        rc = archive_members_get(m, i, &bytes, err);
        if (!rc && archive_is(bytes, (size_t)m->list[i].n))
            rc = unpack_inner(m, s, from, i, bytes, bounds, depth + 1, err);
        free(bytes);
        if (rc) return rc;
    }
    return FO_OK;
}

int archive_members_read(archive_members *out, service *s, const archive_source *from,
                         fo_err *err) {
    *out = (archive_members){0};
    archive_bounds bounds = {ARCHIVE_MAX_MEMBERS, MAX_BYTES, MAX_MEMBER_BYTES};
    int rc = spool_create(&out->bytes, from->spool_dir, err);
    if (!rc) rc = unpack(out, s, from, &bounds, 1, &out->bad, err);
    size_t n = 0; /* archives that were taken apart are no members any more */
    for (size_t i = 0; i < out->n; i++) {
        if (out->list[i].name)
            out->list[n++] = out->list[i];
        else
            free(out->list[i].why);
    }
    out->n = n;
    return rc;
}
