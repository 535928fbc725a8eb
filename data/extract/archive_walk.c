/* The members of an archive, by libarchive, one after the other and within bounds: see archive.h. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <strings.h>

#include "data/extract/archive.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/gzip.h"
#include "kernels/paths.h"
#include "kernels/utf8.h"

enum { FREE_BYTES = 16 << 20, PIECE = 256 << 10 };

typedef struct walk {
    const archive_request *rq;
    const archive_sink *sink;
    struct archive *a;
    size_t most;  /* members that are allowed */
    uint64_t out; /* bytes that have come out, of what is left out too */
    fo_buf name;
    char kind[32];
} walk;

/* ---- what it is called ------------------------------------------------------------------------------- */

/* A single file that is packed: what it is packed in is taken off its name. */
static void name_of_raw(const char *file_name, fo_buf *out) {
    const char *base = file_name ? fo_base_name(file_name) : "";
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    fo_buf_add(out, base, n);
    if (!n) fo_buf_str(out, "data");
}

static void read_name(walk *w, struct archive_entry *e) {
    fo_buf *out = &w->name;
    size_t replaced = 0;
    fo_buf_clear(out);
    const char *s = archive_entry_pathname_utf8(e);
    if (archive_format(w->a) == ARCHIVE_FORMAT_RAW) {
        fo_buf raw = {0};
        name_of_raw(w->rq->file_name, &raw);
        if (raw.data) encoding_clean(out, raw.data, raw.len, &replaced);
        fo_buf_free(&raw);
    } else if (s) {
        encoding_clean(out, s, strlen(s), &replaced);
    } else if ((s = archive_entry_pathname(e))) { /* of old archives: bytes of some character set */
        const char *charset;
        encoding_limits limits = {.max_bytes = SIZE_MAX};
        encoding_decode(out, (const unsigned char *)s, strlen(s), NULL, &limits, &charset,
                        &replaced, NULL);
    }
    for (size_t i = 0; i < out->len; i++)
        if (out->data[i] == '\n' || out->data[i] == '\t') out->data[i] = ' ';
    size_t slashes = 0; /* "/etc/x" is a name like any other */
    while (slashes < out->len && out->data[slashes] == '/') slashes++;
    if (slashes)
        memmove(out->data, out->data + slashes, out->len - slashes + 1), out->len -= slashes;
    if (out->len > ARCHIVE_MAX_NAME) {
        size_t n = ARCHIVE_MAX_NAME;
        while (n && !fo_utf8_boundary(out->data[n])) n--;
        out->data[out->len = n] = 0;
    }
    if (!out->len) fo_buf_str(out, "a member without a name");
}

static bool is_hidden(const char *name) {
    for (const char *p = name; *p; p++)
        if (*p == '.' && (p == name || p[-1] == '/') && p[1] != '/' &&
            !(p[1] == '.' && p[2] == '/'))
            return true;
    return false;
}

/* ".png", in small letters. */
static const char *kind_of(walk *w) {
    const char *base = fo_base_name(w->name.data), *dot = strrchr(base, '.');
    if (!dot || dot == base || strlen(dot) >= sizeof w->kind) return "no ending";
    size_t n = strlen(dot);
    for (size_t i = 0; i <= n; i++)
        w->kind[i] = dot[i] >= 'A' && dot[i] <= 'Z' ? (char)(dot[i] + 32) : dot[i];
    return w->kind;
}

/* ---- members ----------------------------------------------------------------------------------------- */

static int tell(walk *w, enum archive_outcome outcome, const char *why, fo_err *err) {
    archive_member m = {w->name.data, outcome, why};
    return w->sink->member(w->sink->ctx, &m, err);
}

static int too_much(const walk *w, fo_err *err) {
    uint64_t packed = w->rq->n;
    if (w->out > FREE_BYTES && w->out / ARCHIVE_MAX_RATIO > packed)
        return fo_fail(err, FO_ELIMIT,
                       "more than %d bytes come out for each that it has: it is made to do that",
                       ARCHIVE_MAX_RATIO);
    return FO_OK;
}

/* The member at hand, its bytes to the sink. */
static int read_member(walk *w, fo_err *err) {
    archive_bounds *b = w->rq->bounds;
    uint64_t n = 0;
    char why[200];
    for (;;) {
        const void *piece;
        size_t size;
        la_int64_t offset;
        int rc = archive_read_data_block(w->a, &piece, &size, &offset);
        if (rc == ARCHIVE_EOF) break;
        if (rc < ARCHIVE_WARN) {
            const char *says = archive_error_string(w->a);
            bool locked = says && (strstr(says, "ncrypt") || strstr(says, "assphrase"));
            fo_buf clean = {0};
            size_t replaced = 0;
            encoding_clean(&clean, says ? says : "", says ? strlen(says) : 0, &replaced);
            fo_utf8_print(why, sizeof why,
                          locked ? "it is encrypted and asks for a password"
                                 : "it is damaged: %.100s",
                          clean.data ? clean.data : "");
            fo_buf_free(&clean);
            int told = tell(w, MEMBER_FAILED, why, err);
            if (told || rc != ARCHIVE_FATAL) return told;
            return fo_fail(err, FO_EINVAL, "what follows %.200s cannot be read: %s", w->name.data,
                           why);
        }
        n += size;
        w->out += size;
        int much = too_much(w, err);
        if (much) return much;
        if (n > b->member) {
            fo_utf8_print(why, sizeof why, "it is larger than %llu bytes",
                          (unsigned long long)b->member);
            return tell(w, MEMBER_FAILED, why, err);
        }
        if (size > b->bytes)
            return fo_fail(
                err, FO_ELIMIT,
                "it unpacks to more than is allowed; %.200s and what follows it was not read",
                w->name.data);
        b->bytes -= size;
        for (size_t at = 0; at < size;) {
            size_t k = size - at < PIECE ? size - at : PIECE;
            int took = w->sink->bytes(w->sink->ctx, (const char *)piece + at, k, err);
            if (took) return took;
            at += k;
        }
    }
    if (!n) return tell(w, MEMBER_SKIPPED, "empty", err); /* as in a folder */
    return tell(w, MEMBER_READ, "", err);
}

static int take_member(walk *w, struct archive_entry *e, fo_err *err) {
    bool raw = archive_format(w->a) == ARCHIVE_FORMAT_RAW;
    if (!raw && archive_entry_filetype(e) == AE_IFDIR) return FO_OK;
    read_name(w, e);
    if (w->name.failed) return fo_no_memory(err);
    if (!w->rq->bounds->n_members)
        return fo_fail(err, FO_ELIMIT,
                       "it holds more than the %zu files that are allowed; %.200s and what follows "
                       "it was not read",
                       w->most, w->name.data);
    w->rq->bounds->n_members--;
    const char *name = w->name.data;
    if (!raw && (archive_entry_hardlink(e) || archive_entry_filetype(e) != AE_IFREG))
        return tell(w, MEMBER_SKIPPED,
                    archive_entry_hardlink(e) || archive_entry_symlink(e) ? "link" : "no file",
                    err);
    if (is_hidden(name)) return tell(w, MEMBER_SKIPPED, "hidden", err);
    if (!raw && !extract_knows_file(name) && !archive_knows_file(name))
        return tell(w, MEMBER_SKIPPED, kind_of(w), err);
    if (archive_entry_is_encrypted(e))
        return tell(w, MEMBER_FAILED, "it is encrypted and asks for a password", err);
    return read_member(w, err);
}

static int damaged(struct archive *a, fo_err *err) {
    const char *says = archive_error_string(a);
    fo_buf clean = {0};
    size_t replaced = 0;
    encoding_clean(&clean, says ? says : "it cannot be read", says ? strlen(says) : 17, &replaced);
    bool locked = says && (strstr(says, "ncrypt") || strstr(says, "assphrase"));
    int rc = locked
                 ? fo_fail(err, FO_EUNSUPPORTED, "it is encrypted and asks for a password")
                 : fo_fail(err, FO_EINVAL, "it is damaged: %.200s", clean.data ? clean.data : "");
    fo_buf_free(&clean);
    return rc;
}

static uint64_t le32(const unsigned char *p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

/* A ZIP archive ends with where its directory is. libarchive reads one without, as far as it goes: one that is cut off
 * between two members, or while it is still being written, would look whole. */
static bool is_cut_off(const unsigned char *p, size_t n) {
    enum { END_BYTES = 22, MAX_COMMENT = 65535, LOCATOR_64 = 20 };
    if (n < 4 || memcmp(p, "PK\3\4", 4) != 0) return false;
    size_t from = n > END_BYTES + MAX_COMMENT ? n - END_BYTES - MAX_COMMENT : 0;
    for (const unsigned char *end = p + from;
         (end = memmem(end, n - (size_t)(end - p), "PK\5\6", 4)); end++) {
        size_t at = (size_t)(end - p);
        if (n - at < END_BYTES) break;
        uint64_t size = le32(end + 12), begin = le32(end + 16);
        /* That of an archive within this one has its directory elsewhere. */
        if (begin + size == at || (at >= LOCATOR_64 && !memcmp(end - LOCATOR_64, "PK\6\7", 4)))
            return false;
    }
    return true;
}

int archive_walk(const archive_request *rq, const archive_sink *sink, fo_err *err) {
    walk w = {.rq = rq, .sink = sink, .a = archive_read_new(), .most = rq->bounds->n_members};
    if (!w.a) return fo_no_memory(err);
    archive_read_support_filter_gzip(w.a);
    archive_read_support_filter_bzip2(w.a);
    archive_read_support_filter_xz(w.a);
    archive_read_support_filter_zstd(w.a);
    archive_read_support_format_tar(w.a);
    archive_read_support_format_zip(w.a);
    archive_read_support_format_7zip(w.a);
    archive_read_support_format_raw(w.a);
    int rc =
        archive_read_open_memory(w.a, rq->bytes, rq->n) == ARCHIVE_OK ? FO_OK : damaged(w.a, err);
    for (struct archive_entry *e; !rc;) {
        int next = archive_read_next_header(w.a, &e);
        if (next == ARCHIVE_EOF) break;
        if (next == ARCHIVE_RETRY) continue;
        if (next < ARCHIVE_WARN) {
            rc = damaged(w.a, err);
            break;
        }
        if (rq->cancel && atomic_load(rq->cancel)) rc = fo_fail(err, FO_ECANCELLED, "cancelled");
        if (!rc) rc = take_member(&w, e, err);
    }
    archive_read_free(w.a);
    fo_buf_free(&w.name);
    if (!rc && is_cut_off(rq->bytes, rq->n))
        rc = fo_fail(err, FO_EINVAL, "it is damaged: its end is missing");
    return rc;
}

/* ---- by bytes and names -------------------------------------------------------------------------------- */

static bool is_archive(const void *bytes, size_t n) {
    const extract_format *f = extract_format_certain(bytes, n);
    return f && f->archive;
}

bool archive_is(const void *bytes, size_t n) {
    if (!gzip_is(bytes, n)) return is_archive(bytes, n);
    unsigned char head[1024];
    return is_archive(head, gzip_peek(bytes, n, head, sizeof head));
}
