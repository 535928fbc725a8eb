#include "retrieval/sync/folder_sync_archives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/extract/text_parts.h"
#include "kernels/paths.h"
#include "kernels/sha256.h"

enum { TEXT_HEAD = 32 << 10 }; /* bytes that tell whether a text goes in by parts */

/* ---- a text, gone through ---------------------------------------------------------------------------- */

static void end_reading(sync_archives *a) {
    sync_reading *r = &a->reading;
    if (!r->of) return;
    text_cutter_end(&r->cutter, FO_ECANCELLED, NULL);
    for (size_t i = 0; i < r->n; i++) free((char *)r->parts[i].bytes);
    free(r->parts);
    if (r->from.fd >= 0) close(r->from.fd);
    *r = (sync_reading){0};
}

static int keep_part(void *ctx, const text_part *part, fo_err *err) {
    sync_reading *r = ctx;
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 4;
        text_part *more = realloc(r->parts, cap * sizeof *more);
        if (!more) return fo_no_memory(err);
        r->parts = more;
        r->cap = cap;
    }
    char *bytes = malloc(part->n + 1);
    if (!bytes) return fo_no_memory(err);
    memcpy(bytes, part->bytes, part->n);
    r->parts[r->n] = *part;
    r->parts[r->n++].bytes = bytes;
    return FO_OK;
}

/* Which of its archive's members the text is. */
static size_t member_of(const sync_archives *a, const sync_member *m) {
    return a->list[m->archive].is_text ? 0 : m->at;
}

/* A member's archive is at hand. */
static int begin_reading(sync_archives *a, const sync_member *m, fo_err *why) {
    sync_text from = {.fd = -1};
    if (a->list[m->archive].is_text) {
        struct stat st;
        from.fd = folder_open_file(a->folder, a->list[m->archive].file.path, &st, why);
        if (from.fd < 0) return from.fd;
    } else {
        const archive_file *f = &a->open.list[m->at];
        from = (sync_text){-1, a->open.bytes, f->at, f->at + f->n};
    }
    a->reading = (sync_reading){.of = m->archive + 1, .member = member_of(a, m), .from = from};
    a->reading.cutter = (text_cutter){.kind = m->kind, .part = keep_part, .ctx = &a->reading};
    return FO_OK;
}

/* How many bytes; 0: there are no more. */
static ssize_t read_text(sync_text *from, void *to, size_t n, fo_err *err) {
    ssize_t got;
    if (from->fd < 0) {
        if (n > from->end - from->at) n = (size_t)(from->end - from->at);
        got = n ? spool_read(from->in, from->at, to, n, err) : 0;
        from->at += got > 0 ? (size_t)got : 0;
        return got;
    }
    do got = read(from->fd, to, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? fo_fail_errno(err, "cannot read it") : got;
}

/* Some more of the text: as little as a part or a few come out, for packed text is many times as long. Always in the same
 * pieces, for where damage is seen may depend on them. *over: there is no more, and the cutter is at its end. */
static int feed_some(text_cutter *c, sync_text *from, const atomic_bool *cancel, bool *over,
                     fo_err *err) {
    enum { PLAIN = 64 << 10, PACKED = 1 << 10 };
    char piece[PLAIN];
    if (cancel && atomic_load(cancel)) return fo_fail(err, FO_ECANCELLED, "cancelled");
    ssize_t n = read_text(from, piece, c->kind.gzip ? PACKED : PLAIN, err);
    if (n < 0) return (int)n;
    *over = n == 0 || c->bad.code;
    return *over ? text_cutter_end(c, FO_OK, err) : text_cutter_feed(c, piece, (size_t)n, err);
}

/* Parts are asked for in their order, mostly: those that lie before are passed over. */
static int take_part(sync_archives *a, const sync_member *m, text_part *out, fo_err *why) {
    sync_reading *r = &a->reading;
    int rc = FO_OK;
    if (r->of != m->archive + 1 || r->member != member_of(a, m) ||
        (r->n && r->parts[0].number > m->number) || (!r->n && r->cutter.n_parts >= m->number)) {
        end_reading(a);
        rc = begin_reading(a, m, why);
    }
    while (!rc) {
        while (r->n && r->parts[0].number <= m->number) {
            *out = r->parts[0];
            memmove(r->parts, r->parts + 1, --r->n * sizeof *r->parts);
            if (out->number == m->number) return FO_OK;
            free((char *)out->bytes);
        }
        if (!r->ended) {
            rc = feed_some(&r->cutter, &r->from, a->cancel, &r->ended, why);
        } else if (r->cutter.bad.code) {
            *why = r->cutter.bad;
            rc = why->code;
        } else {
            rc = fo_fail(why, FO_EBUSY, "the text changed while it was read");
        }
    }
    return rc;
}

void sync_archives_deinit(sync_archives *a) {
    for (size_t i = 0; i < a->n; i++) free(a->list[i].file.path);
    free(a->list);
    free(a->members);
    end_reading(a);
    archive_members_deinit(&a->open);
    for (size_t i = 0; i < a->n_texts; i++) free(a->texts[i]);
    free(a->texts);
    *a = (sync_archives){0};
}

/* ---- what is known --------------------------------------------------------------------------------- */

/* The first of known files whose path is not before this one. */
static size_t first_known(const known_files *known, const char *path) {
    size_t low = 0, high = known->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(known->files[mid].path, path) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* known->files[*first .. *end) are the members of the archive. */
static int known_members(const known_files *known, const char *path, size_t *first, size_t *end,
                         fo_err *err) {
    fo_buf prefix = {0};
    fo_buf_printf(&prefix, "%s/", path);
    if (prefix.failed) return fo_no_memory(err);
    *first = *end = first_known(known, prefix.data);
    while (*end < known->n && !strncmp(known->files[*end].path, prefix.data, prefix.len)) ++*end;
    fo_buf_free(&prefix);
    return FO_OK;
}

static const sync_known *known_archive(const known_files *known, const char *path) {
    size_t at = first_known(known, path);
    return at < known->n && !strcmp(known->files[at].path, path) ? &known->files[at] : NULL;
}

/* May it stay closed, if its content is what is known? */
static bool is_settled(const sync_known *row, const sync_known *members, size_t n,
                       bool retry_failed, bool other_settings) {
    if (!row || row->stored || other_settings || (row->error && retry_failed)) return false;
    for (size_t i = 0; i < n; i++)
        if (members[i].error ? retry_failed : !members[i].held) return false;
    return true;
}

/* ---- lists ----------------------------------------------------------------------------------------- */

static int add_file(folder_listing *to, folder_file f, fo_err *err) {
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 64;
        folder_file *more = realloc(to->files, cap * sizeof *more);
        if (!more) {
            free(f.path);
            return fo_no_memory(err);
        }
        to->files = more;
        to->cap = cap;
    }
    to->files[to->n++] = f;
    return f.path ? FO_OK : fo_no_memory(err);
}

static int add_unseen(folder_listing *to, const char *path, fo_err *err) {
    char **more = realloc(to->unseen, (to->n_unseen + 1) * sizeof *more);
    if (!more) return fo_no_memory(err);
    to->unseen = more;
    if (!(more[to->n_unseen] = strdup(path))) return fo_no_memory(err);
    to->n_unseen++;
    return FO_OK;
}

/* A file of the archive `of`, `path` below the folder (it goes with the listing). */
static int add_member(sync_archives *a, folder_listing *to, const folder_file *of, char *path,
                      int64_t size, sync_member m, fo_err *err) {
    if (a->n_members == a->cap_members) {
        size_t cap = a->cap_members ? 2 * a->cap_members : 64;
        sync_member *more = realloc(a->members, cap * sizeof *more);
        if (!more) {
            free(path);
            return fo_no_memory(err);
        }
        a->members = more;
        a->cap_members = cap;
    }
    a->members[a->n_members++] = m;
    folder_file f = *of;
    f.path = path;
    f.size = size;
    f.member = a->n_members;
    return add_file(to, f, err);
}

/* ---- one archive ----------------------------------------------------------------------------------- */

static int add_known(sync_archives *a, folder_listing *to, const folder_file *of,
                     const sync_known *members, size_t n, fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        sync_member m = {.archive = SIZE_MAX, .at = SIZE_MAX, .hash = {.known = true}};
        memcpy(m.hash.sha256, members[i].sha256, 32);
        rc = add_member(a, to, of, strdup(members[i].path), members[i].size, m, err);
    }
    return rc;
}

/* list[i] is taken apart, and is the one at hand. */
static int open_archive(sync_archives *a, size_t i, const char *bytes, size_t n, fo_err *err) {
    const char *path = a->list[i].file.path;
    archive_source from = {.bytes = bytes,
                           .n = n,
                           .file_name = fo_base_name(path),
                           .spool_dir = a->s->home,
                           .cancel = a->cancel};
    if (a->reading.from.fd < 0) end_reading(a); /* of what was unpacked */
    archive_members_deinit(&a->open);
    a->at_hand = 0;
    int rc = archive_members_read(&a->open, a->s, &from, err);
    if (!rc) a->at_hand = i + 1;
    return rc;
}

/* The archive f is to be noted. */
static int add_archive(sync_archives *a, const folder_file *f, const unsigned char sha256[32],
                       fo_err *err) {
    sync_archive *more = realloc(a->list, (a->n + 1) * sizeof *more);
    if (!more) return fo_no_memory(err);
    a->list = more;
    sync_archive *to = &a->list[a->n];
    *to = (sync_archive){.file = *f};
    memcpy(to->sha256, sha256, 32);
    if (!(to->file.path = strdup(f->path))) return fo_no_memory(err);
    a->n++;
    return FO_OK;
}

/* ---- a large text ------------------------------------------------------------------------------------ */

typedef struct parting {
    sync_archives *a;
    folder_listing *to;
    const folder_file *of;
    const char *path; /* of the text below the folder */
    sync_member m;    /* what its parts have in common */
    fo_sha256 whole;
} parting;

/* Of what is made of it: rows of a table are other rows where they stand elsewhere in it. */
static void hash_part(unsigned char sha256[32], const char *bytes, const sync_member *m) {
    fo_sha256 h;
    uint32_t rows[2] = {m->first_row, m->header_rows};
    fo_sha256_begin(&h);
    fo_sha256_add(&h, bytes, m->n);
    if (m->first_row) fo_sha256_add(&h, rows, sizeof rows);
    fo_sha256_end(&h, sha256);
}

static int on_part(void *ctx, const text_part *part, fo_err *err) {
    parting *p = ctx;
    sync_member m = p->m;
    if (p->a->list[m.archive].is_text) m.at = (size_t)part->at;
    m.n = part->n;
    m.number = part->number;
    m.first_row = part->first_row;
    m.header_rows = part->header_rows;
    m.hash.known = true;
    fo_buf path = {0};
    fo_sha256_add(&p->whole, part->bytes, part->n);
    hash_part(m.hash.sha256, part->bytes, &m);
    text_part_name(&path, p->path, part->number);
    return add_member(p->a, p->to, p->of, fo_buf_take(&path, NULL), (int64_t)part->n, m, err);
}

/* The name of the file, which stands as long as a does. */
static int keep_name(sync_archives *a, const char *path, const char **name, fo_err *err) {
    char **more = realloc(a->texts, (a->n_texts + 1) * sizeof *more);
    if (!more) return fo_no_memory(err);
    a->texts = more;
    if (!(more[a->n_texts] = strdup(fo_base_name(path)))) return fo_no_memory(err);
    *name = more[a->n_texts++];
    return FO_OK;
}

/* What ends the run; all else is wrong with the file alone. */
static bool ends_run(int rc) {
    return rc == FO_ENOMEM || rc == FO_ECANCELLED;
}

/* Through the whole of it, as far as it can be read: a part is told of when it is whole. */
static int part_text(sync_archives *a, text_cutter *c, sync_text from, fo_err *bad, fo_err *err) {
    fo_err why = {0};
    int rc = FO_OK;
    for (bool over = false; !rc && !over;) rc = feed_some(c, &from, a->cancel, &over, &why);
    if (rc) text_cutter_end(c, rc, NULL);
    *bad = rc ? why : c->bad;
    if (!ends_run(rc)) return FO_OK;
    if (err) *err = why;
    return rc;
}

/* All that the file, of that kind, can be read of; the rest of what is known of it stays. */
static int add_parts(sync_archives *a, folder_listing *to, const folder_file *f, text_kind kind,
                     int fd, fo_err *err) {
    const unsigned char none[32] = {0};
    parting p = {.a = a, .to = to, .of = f, .path = f->path, .m = {.archive = a->n, .kind = kind}};
    text_cutter c = {.kind = kind, .part = on_part, .ctx = &p};
    fo_sha256_begin(&p.whole);
    int rc = add_archive(a, f, none, err);
    if (rc) return rc;
    a->list[a->n - 1].is_text = true;
    fo_err bad = {0};
    rc = keep_name(a, f->path, &p.m.text, err);
    if (!rc) rc = part_text(a, &c, (sync_text){.fd = fd}, &bad, err);
    if (rc) return rc;
    fo_sha256_end(&p.whole, a->list[a->n - 1].sha256);
    a->list[a->n - 1].bad = bad;
    return bad.code ? add_unseen(to, f->path, err) : FO_OK;
}

/* Nothing of a file can be read, and parts of it are known: they stay, and it has failed. */
static int keep_parts(sync_archives *a, folder_listing *to, const folder_file *f, const fo_err *why,
                      fo_err *err) {
    const unsigned char none[32] = {0};
    int rc = add_archive(a, f, none, err);
    if (rc) return rc;
    a->list[a->n - 1].bad = *why;
    return add_unseen(to, f->path, err);
}

/* Bytes of head, the file's first; < 0: these cannot be read, or not its last four, by which the size of a packed text
 * is judged. */
static ssize_t read_ends(int fd, const struct stat *st, char head[TEXT_HEAD], fo_err *why) {
    char tail[4];
    ssize_t n = pread(fd, head, TEXT_HEAD, 0);
    if (n < 0 || (st->st_size >= 4 && pread(fd, tail, 4, st->st_size - 4) < 0))
        return fo_fail_errno(why, "cannot read it");
    return n;
}

/* Its parts, to the listing. *taken: it is a text that goes in by parts, or of which parts are known. */
static int expand_text(sync_archives *a, folder_listing *to, const folder_file *f,
                       known_files *known, bool retry_failed, bool *taken, fo_err *err) {
    size_t first = 0, end = 0;
    int rc = known_members(known, f->path, &first, &end, err);
    if (rc) return rc;
    const sync_known *row = known_archive(known, f->path), *members = &known->files[first];
    if (is_settled(row, members, end - first, retry_failed, known->other_settings) && end > first &&
        sync_same_stat(f, row)) {
        *taken = true;
        return add_known(a, to, f, members, end - first, err);
    }
    struct stat st;
    char head[TEXT_HEAD];
    fo_err why = {0};
    int fd = folder_open_file(a->folder, f->path, &st, &why);
    ssize_t n = fd < 0 ? -1 : read_ends(fd, &st, head, &why);
    text_kind kind;
    if (n > 0 && text_file_may_be_large(fd, (uint64_t)st.st_size) &&
        extract_in_parts(head, (size_t)n, NULL, fo_base_name(f->path), &kind)) {
        *taken = true;
        rc = add_parts(a, to, f, kind, fd, err);
    } else if (n < 0 && end > first) {
        *taken = true;
        rc = keep_parts(a, to, f, &why, err);
    }
    if (fd >= 0) close(fd);
    return rc;
}

/* Bytes of a part of a plain text, which are where they were. */
static int read_part(const sync_archives *a, const sync_member *m, char **bytes, fo_err *why) {
    struct stat st;
    int fd = folder_open_file(a->folder, a->list[m->archive].file.path, &st, why);
    if (fd < 0) return fd;
    char *p = malloc(m->n + 1);
    size_t at = 0;
    for (ssize_t got = 1; p && at < m->n && got > 0; at += got > 0 ? (size_t)got : 0)
        got = pread(fd, p + at, m->n - at, (off_t)(m->at + at));
    close(fd);
    if (!p) return fo_no_memory(why);
    *bytes = p;
    if (at == m->n) return FO_OK;
    free(p);
    return fo_fail(why, FO_EBUSY, "the text changed while it was read");
}

/* If it is still what it was. */
static int get_part(sync_archives *a, const sync_member *m, ingest_document *to, fo_err *why) {
    const text_kind *k = &m->kind;
    unsigned char sha256[32];
    char *bytes = NULL;
    text_part part = {.n = m->n};
    bool as_it_is = a->list[m->archive].is_text && !k->gzip && !k->table && !k->wide;
    int rc = as_it_is ? read_part(a, m, &bytes, why) : take_part(a, m, &part, why);
    if (rc) return rc;
    if (!bytes) bytes = (char *)part.bytes;
    if (part.n == m->n) hash_part(sha256, bytes, m);
    if (part.n != m->n || memcmp(sha256, m->hash.sha256, 32)) {
        free(bytes);
        return fo_fail(why, FO_EBUSY, "the text changed while it was read");
    }
    to->bytes = bytes;
    to->n_bytes = m->n;
    to->file_name = m->text;
    to->first_row = m->first_row;
    to->header_rows = m->header_rows;
    return FO_OK;
}

/* ---- files of an archive ----------------------------------------------------------------------------- */

/* Files that were listed from `first` on and have this path, if any. */
static void drop_listed(folder_listing *l, size_t first, const char *path) {
    size_t n = first;
    for (size_t i = first; i < l->n; i++)
        if (strcmp(l->files[i].path, path) != 0)
            l->files[n++] = l->files[i];
        else
            free(l->files[i].path);
    l->n = n;
}

/* Is there another one of the name of list[i] behind it? What unpacking would leave is that one. */
static bool comes_again(const archive_members *m, size_t i) {
    for (size_t k = i + 1; k < m->n; k++)
        if (m->list[k].outcome != MEMBER_SKIPPED && !strcmp(m->list[k].name, m->list[i].name))
            return true;
    return false;
}

/* Member m of the archive of `path`, a text of f->n bytes, by its parts; of a damaged one those before the damage, and the text
 * itself, which fails when it is asked for. first: where the archive's begin in the listing. */
static int add_member_parts(sync_archives *a, folder_listing *to, const folder_file *of,
                            const char *path, sync_member m, size_t first, fo_err *err) {
    const archive_file *f = &a->open.list[m.at];
    parting p = {.a = a, .to = to, .of = of, .path = path, .m = m};
    text_cutter c = {.kind = m.kind, .part = on_part, .ctx = &p};
    fo_err bad = {0};
    if (comes_again(&a->open, m.at)) return FO_OK;
    drop_listed(to, first, path);
    fo_sha256_begin(&p.whole);
    int rc = keep_name(a, path, &p.m.text, err);
    if (!rc) {
        sync_text from = {-1, a->open.bytes, f->at, f->at + f->n};
        rc = part_text(a, &c, from, &bad, err);
    }
    if (rc || !bad.code) return rc;
    m = p.m;
    m.number = SIZE_MAX; /* behind all of them */
    rc = add_unseen(to, path, err);
    return rc ? rc : add_member(a, to, of, strdup(path), (int64_t)f->n, m, err);
}

/* The members of the one at hand; first as above. */
static int add_listed_one(sync_archives *a, folder_listing *to, const folder_file *of, size_t i,
                          size_t first, fo_err *err) {
    const archive_file *f = &a->open.list[i];
    sync_member m = {.archive = a->at_hand - 1, .at = i};
    fo_buf path = {0};
    fo_buf_printf(&path, "%s/%s", of->path, f->name);
    int rc = path.failed ? fo_no_memory(err) : FO_OK;
    bool large = false;
    if (!rc && f->outcome == MEMBER_READ) {
        char *bytes;
        size_t n = (size_t)f->n, n_tail = n < 4 ? 0 : 4;
        rc = archive_members_get(&a->open, i, &bytes, err);
        if (!rc) {
            large = text_may_be_large(n, bytes, n, bytes + n - n_tail, n_tail) &&
                    extract_in_parts(bytes, n < TEXT_HEAD ? n : TEXT_HEAD, NULL,
                                     fo_base_name(f->name), &m.kind);
            if (!large) fo_sha256_of(m.hash.sha256, bytes, n);
            m.hash.known = !large;
            free(bytes);
        }
    }
    if (!rc && large)
        rc = add_member_parts(a, to, of, path.data, m, first, err);
    else if (!rc)
        return add_member(a, to, of, fo_buf_take(&path, NULL), (int64_t)f->n, m, err);
    fo_buf_free(&path);
    return rc;
}

static int add_listed(sync_archives *a, folder_listing *to, const folder_file *of, fo_err *err) {
    const size_t first = to->n;
    int rc = FO_OK;
    for (size_t i = 0; i < a->open.n && !rc; i++) {
        const archive_file *f = &a->open.list[i];
        if (f->outcome == MEMBER_SKIPPED)
            skip_counts_add(&to->skipped, f->why);
        else
            rc = add_listed_one(a, to, of, i, first, err);
    }
    return rc;
}

/* ---- a file of the folder ---------------------------------------------------------------------------- */

/* *taken: f is none of the files any more, its members are. */
static int expand_archive(sync_archives *a, folder_listing *to, const folder_file *f,
                          known_files *known, bool retry_failed, bool *taken, fo_err *err) {
    size_t first = 0, end = 0;
    int rc = known_members(known, f->path, &first, &end, err);
    if (rc) return rc;
    const sync_known *row = known_archive(known, f->path), *members = &known->files[first];
    bool settled = is_settled(row, members, end - first, retry_failed, known->other_settings);
    if (settled && sync_same_stat(f, row)) {
        *taken = !row->error; /* one that is bad is told of by the plan */
        return add_known(a, to, f, members, end - first, err);
    }
    char *bytes = NULL;
    size_t n = 0;
    struct stat st;
    fo_err why = {0};
    unsigned char sha256[32] = {0};
    rc = folder_read_file(a->folder, f->path, a->max_file_bytes, &bytes, &n, &st, &why);
    if (rc == FO_ENOMEM) {
        if (err) *err = why;
        return rc;
    }
    bool unreadable = rc != FO_OK;
    rc = FO_OK;
    if (!unreadable) fo_sha256_of(sha256, bytes, n);
    bool same = settled && !unreadable && !memcmp(sha256, row->sha256, 32);
    if (!unreadable && !same && !archive_is(bytes, n)) { /* by its name alone it is one */
        free(bytes);
        return FO_OK;
    }
    *taken = !(same && row->error);
    if (*taken) rc = add_archive(a, f, sha256, err);
    if (!rc && same) {
        rc = add_known(a, to, f, members, end - first, err);
    } else if (!rc) {
        sync_archive *now = &a->list[a->n - 1];
        if (!unreadable) rc = open_archive(a, a->n - 1, bytes, n, err);
        if (!rc && !unreadable) rc = add_listed(a, to, f, err);
        now->bad = unreadable ? why : a->open.bad;
        if (!unreadable && now->bad.code) fo_fail_prefix(&now->bad, "an archive");
        if (!rc && now->bad.code) rc = add_unseen(to, f->path, err);
    }
    free(bytes);
    return rc;
}

static int expand_one(sync_archives *a, folder_listing *to, const folder_file *f,
                      known_files *known, bool retry_failed, bool *taken, fo_err *err) {
    if (archive_knows_file(fo_base_name(f->path)))
        return expand_archive(a, to, f, known, retry_failed, taken, err);
    size_t n = strlen(f->path);
    bool packed = n > 3 && !strcmp(f->path + n - 3, ".gz");
    return f->size > TEXT_WHOLE_BYTES || packed
               ? expand_text(a, to, f, known, retry_failed, taken, err)
               : FO_OK;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b) {
    const folder_file *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : x->member < y->member ? -1 : x->member > y->member;
}

/* An archive may hold a name twice: the last one is what unpacking it would leave. */
static void sort_files(folder_listing *l) {
    if (l->n) qsort(l->files, l->n, sizeof *l->files, compare_paths);
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (i + 1 < l->n && !strcmp(l->files[i].path, l->files[i + 1].path))
            free(l->files[i].path);
        else
            l->files[n++] = l->files[i];
    l->n = n;
}

int sync_archives_expand(sync_archives *a, folder_listing *found, known_files *known,
                         bool retry_failed, fo_err *err) {
    size_t n = found->n;
    int rc = FO_OK;
    bool any = false;
    for (size_t i = 0; i < n && !rc; i++) {
        folder_file f = found->files[i]; /* the list may be elsewhere behind the next call */
        bool taken = false;
        if (a->cancel && atomic_load(a->cancel)) return fo_fail(err, FO_ECANCELLED, "cancelled");
        rc = expand_one(a, found, &f, known, retry_failed, &taken, err);
        any = any || taken || found->n > n;
        if (rc || !taken) continue;
        const sync_known *row = known_archive(known, f.path);
        if (row && !row->stored) { /* it stays known, by what is noted of it at the end */
            size_t at = (size_t)(row - known->files);
            memmove(&known->files[at], &known->files[at + 1],
                    (known->n - at - 1) * sizeof *known->files);
            known->n--;
        }
        free(found->files[i].path);
        found->files[i].path = NULL;
    }
    if (!any) return rc;
    size_t kept = 0;
    for (size_t i = 0; i < found->n; i++)
        if (found->files[i].path) found->files[kept++] = found->files[i];
    found->n = kept;
    sort_files(found);
    return rc;
}

const sync_hash *sync_archives_hash(const sync_archives *a, size_t member) {
    return &a->members[member - 1].hash;
}

int sync_archives_get(sync_archives *a, size_t member, ingest_document *to, fo_err *why) {
    const sync_member *m = &a->members[member - 1];
    if (m->archive == SIZE_MAX)
        return fo_fail(why, FO_EBUSY, "its archive was not taken apart: the next run does that");
    if (a->list[m->archive].is_text) return get_part(a, m, to, why);
    if (a->at_hand != m->archive + 1) {
        const sync_archive *of = &a->list[m->archive];
        char *whole;
        size_t n_whole;
        struct stat st;
        unsigned char sha256[32];
        int rc = folder_read_file(a->folder, of->file.path, a->max_file_bytes, &whole, &n_whole,
                                  &st, why);
        if (rc) return rc;
        fo_sha256_of(sha256, whole, n_whole);
        rc = memcmp(sha256, of->sha256, 32)
                 ? fo_fail(why, FO_EBUSY, "its archive changed while it was read")
                 : open_archive(a, m->archive, whole, n_whole, why);
        free(whole);
        if (rc) return rc;
    }
    if (m->at >= a->open.n)
        return fo_fail(why, FO_EBUSY, "its archive was cut off on a second look");
    const archive_file *f = &a->open.list[m->at];
    if (f->outcome != MEMBER_READ) /* one that could be read before lacked time or memory now */
        return fo_fail(why, m->hash.known ? FO_EBUSY : FO_EINVAL, "%s", f->why);
    if (m->number) return get_part(a, m, to, why);
    char *bytes;
    int rc = archive_members_get(&a->open, m->at, &bytes, why);
    if (rc) return rc;
    /* A look that ran out of time or memory shows fewer members: others stand at their numbers then. */
    unsigned char sha256[32];
    fo_sha256_of(sha256, bytes, (size_t)f->n);
    if (!m->hash.known || memcmp(sha256, m->hash.sha256, 32)) {
        free(bytes);
        return fo_fail(why, FO_EBUSY, "its archive showed other files on a second look");
    }
    to->bytes = bytes;
    to->n_bytes = (size_t)f->n;
    return FO_OK;
}
