/*     zstd frame(s): tar             written by libarchive
 *     skippable frame, 48 bytes:     magic 0x184D2A5B, length 40 | "FORAGEB1" | SHA-256 of all before it
 *
 * A bit that flips anywhere is therefore found before anything is unpacked: in the compressed bytes and in
 * this head by the hash, in the hash itself by its being another. */
#include "data/files/backup_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"

enum {
    LEFT_MOST = 1 << 30,
    PIECE = 1 << 18,
    TAIL_HEAD = 16,
    TAIL = TAIL_HEAD + 32,
    LEVEL = 3,
    NAME_MOST = 1024,
    ROOM_BYTES = 32 << 20, /* that unpacking leaves on the disk to others */
    ROOM_FILES = 1024
};

static const unsigned char tail_head[TAIL_HEAD] = {0x5b, 0x2a, 0x4d, 0x18, 40,  0,   0,   0,
                                                   'F',  'O',  'R',  'A',  'G', 'E', 'B', '1'};

struct backup_writer {
    struct archive *a;
    fo_file_writer *file;
    fo_sha256 hash; /* of what went into the file */
    fo_buf sums;    /* a line a member */
    unsigned char *piece;
    uint64_t left;             /* bytes of the member in work that are to come */
    bool dropped;              /* what is written now goes nowhere */
    fo_err why;                /* of the callback */
    const atomic_bool *cancel; /* NULL: nothing ends it */
};

/* ---- writing ------------------------------------------------------------------------------- */

static la_ssize_t take(struct archive *a, void *ctx, const void *data, size_t n) {
    backup_writer *w = ctx;
    if (w->dropped) return (la_ssize_t)n;
    fo_sha256_add(&w->hash, data, n);
    int rc = fo_file_write(w->file, data, n, &w->why);
    if (!rc) return (la_ssize_t)n;
    archive_set_error(a, EIO, "%s", w->why.msg);
    return -1;
}

static int archive_fail(backup_writer *w, fo_err *err) {
    if (w->why.code) {
        if (err) *err = w->why;
        return w->why.code;
    }
    const char *says = archive_error_string(w->a);
    return fo_fail(err, archive_errno(w->a) == ENOMEM ? FO_ENOMEM : FO_EIO,
                   "could not write the backup: %s", says ? says : "no reason is known");
}

static void writer_free(backup_writer *w) {
    if (w->a) {
        /* An archive that is not closed is not freed whole by libarchive, and closing one writes what is left of its
         * member and its end: nowhere. Of a large member that would take too long. */
        w->dropped = true;
        if (w->left > LEFT_MOST) archive_write_fail(w->a);
        archive_write_free(w->a);
    }
    fo_file_abort(w->file);
    fo_buf_free(&w->sums);
    free(w->piece);
    free(w);
}

void backup_abort(backup_writer *w) {
    if (w) writer_free(w);
}

int backup_create(backup_writer **out, const char *path, fo_err *err) {
    backup_writer *w = calloc(1, sizeof *w);
    if (!w) return fo_no_memory(err);
    char level[16];
    snprintf(level, sizeof level, "%d", LEVEL);
    fo_sha256_begin(&w->hash);
    w->piece = malloc(PIECE);
    w->a = archive_write_new();
    int rc = w->piece && w->a ? fo_file_create(&w->file, path, err) : fo_no_memory(err);
    if (!rc &&
        (archive_write_set_format_pax_restricted(w->a) != ARCHIVE_OK ||
         archive_write_add_filter_zstd(w->a) != ARCHIVE_OK ||
         archive_write_set_filter_option(w->a, "zstd", "compression-level", level) != ARCHIVE_OK ||
         archive_write_set_bytes_in_last_block(w->a, 1) != ARCHIVE_OK ||
         archive_write_open(w->a, w, NULL, take, NULL) != ARCHIVE_OK))
        rc = archive_fail(w, err);
    if (rc)
        writer_free(w);
    else
        *out = w;
    return rc;
}

void backup_set_cancel(backup_writer *w, const atomic_bool *cancel) {
    w->cancel = cancel;
}

static bool name_safe(const char *name) {
    size_t n = strlen(name);
    if (n == 0 || n > NAME_MOST) return false;
    for (const char *part = name;; part++) {
        size_t k = strcspn(part, "/");
        if (k == 0 || (k == 1 && part[0] == '.') || (k == 2 && !strncmp(part, "..", 2)))
            return false;
        part += k;
        if (!*part) return true;
    }
}

static int begin_member(backup_writer *w, const char *name, uint64_t size, fo_err *err) {
    struct archive_entry *e = archive_entry_new();
    if (!e) return fo_no_memory(err);
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_size(e, (la_int64_t)size);
    int rc = !name_safe(name) ? fo_fail(err, FO_EINVAL, "'%s' is no name in a backup", name)
             : archive_write_header(w->a, e) == ARCHIVE_OK ? FO_OK
                                                           : archive_fail(w, err);
    if (!rc) w->left = size;
    archive_entry_free(e);
    return rc;
}

static int add_data(backup_writer *w, const void *data, size_t n, fo_err *err) {
    if (n && archive_write_data(w->a, data, n) != (la_ssize_t)n) return archive_fail(w, err);
    w->left -= n;
    return FO_OK;
}

static int end_member(backup_writer *w, const char *name, fo_sha256 *h, fo_err *err) {
    unsigned char sum[32];
    char hex[65];
    fo_sha256_end(h, sum);
    fo_hex_write(hex, sum, sizeof sum);
    fo_buf_printf(&w->sums, "%s  %s\n", hex, name);
    if (w->sums.failed) return fo_no_memory(err);
    return archive_write_finish_entry(w->a) == ARCHIVE_OK ? FO_OK : archive_fail(w, err);
}

int backup_add_bytes(backup_writer *w, const char *name, const void *data, size_t n, fo_err *err) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    fo_sha256_add(&h, data, n);
    int rc = begin_member(w, name, n, err);
    if (!rc) rc = add_data(w, data, n, err);
    return rc ? rc : end_member(w, name, &h, err);
}

int backup_add_fd(backup_writer *w, const char *name, int fd, uint64_t size, fo_err *err) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    int rc = begin_member(w, name, size, err);
    for (uint64_t at = 0; !rc && at < size;) {
        size_t want = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ssize_t n = pread(fd, w->piece, want, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fo_fail_errno(err, "cannot read %s", name);
        if (n == 0) return fo_fail(err, FO_EIO, "%s became shorter while it was read", name);
        if (w->cancel && atomic_load(w->cancel)) return fo_fail(err, FO_ECANCELLED, "cancelled");
        fo_sha256_add(&h, w->piece, (size_t)n);
        rc = add_data(w, w->piece, (size_t)n, err);
        at += (uint64_t)n;
    }
    return rc ? rc : end_member(w, name, &h, err);
}

int backup_add_file(backup_writer *w, const char *name, const char *path, fo_err *err) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    int rc = fstat(fd, &st) == 0 ? backup_add_fd(w, name, fd, (uint64_t)st.st_size, err)
                                 : fo_fail_errno(err, "cannot stat %s", path);
    close(fd);
    return rc;
}

int backup_commit(backup_writer *w, fo_err *err) {
    unsigned char tail[TAIL];
    fo_buf sums = w->sums;
    w->sums = (fo_buf){0};
    int rc = backup_add_bytes(w, BACKUP_SUMS, sums.data, sums.len, err);
    fo_buf_free(&sums);
    if (!rc && archive_write_close(w->a) != ARCHIVE_OK) rc = archive_fail(w, err);
    if (!rc) {
        memcpy(tail, tail_head, TAIL_HEAD);
        fo_sha256_add(&w->hash, tail, TAIL_HEAD);
        fo_sha256_end(&w->hash, tail + TAIL_HEAD);
        rc = fo_file_write(w->file, tail, sizeof tail, err);
    }
    if (!rc) {
        rc = fo_file_commit(w->file, err);
        w->file = NULL;
    }
    writer_free(w);
    return rc;
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct backup_reader {
    const char *path;
    int fd;
    uint64_t at, end; /* of the compressed bytes: the tail begins at `end` */
    unsigned char piece[PIECE];
} backup_reader;

static ssize_t read_piece(backup_reader *r, uint64_t most) {
    uint64_t want = most < PIECE ? most : PIECE;
    ssize_t n;
    do n = pread(r->fd, r->piece, (size_t)want, (off_t)r->at);
    while (n < 0 && errno == EINTR);
    if (n > 0) r->at += (uint64_t)n;
    return n;
}

static int reader_open(backup_reader *r, const char *path, fo_err *err) {
    struct stat st;
    r->path = path;
    r->at = 0;
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    int rc = FO_OK;
    if (fstat(r->fd, &st) != 0)
        rc = fo_fail_errno(err, "cannot stat %s", path);
    else if (!S_ISREG(st.st_mode))
        rc = fo_fail(err, FO_EINVAL, "%s is not a regular file", path);
    else if (st.st_size <= TAIL)
        rc =
            fo_fail(err, FO_ECORRUPT, "%s is cut off: a backup has more than %d bytes", path, TAIL);
    else
        r->end = (uint64_t)st.st_size - TAIL;
    if (rc) close(r->fd);
    return rc;
}

static int check_hash(backup_reader *r, fo_err *err) {
    fo_sha256 h;
    unsigned char tail[TAIL], sum[32];
    ssize_t n = 0;
    fo_sha256_begin(&h);
    for (r->at = 0; r->at < r->end && (n = read_piece(r, r->end - r->at)) > 0;)
        fo_sha256_add(&h, r->piece, (size_t)n);
    if (n < 0) return fo_fail_errno(err, "cannot read %s", r->path);
    if (pread(r->fd, tail, TAIL, (off_t)r->end) != TAIL)
        return fo_fail(err, FO_EIO, "cannot read the end of %s", r->path);
    if (r->at != r->end || memcmp(tail, tail_head, TAIL_HEAD) != 0)
        return fo_fail(err, FO_ECORRUPT,
                       "%s is cut off, or something was added to it: it does not end as a backup "
                       "does",
                       r->path);
    fo_sha256_add(&h, tail, TAIL_HEAD);
    fo_sha256_end(&h, sum);
    if (memcmp(sum, tail + TAIL_HEAD, sizeof sum) != 0)
        return fo_fail(err, FO_ECORRUPT,
                       "%s is damaged: its bytes do not have the checksum at its end", r->path);
    return FO_OK;
}

int backup_is(const char *path, bool *is, fo_err *err) {
    static const unsigned char zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char head[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    ssize_t n = pread(fd, head, sizeof head, 0);
    int rc = n < 0 ? fo_fail_errno(err, "cannot read %s", path) : FO_OK;
    *is = n == sizeof head && memcmp(head, zstd, sizeof zstd) == 0;
    close(fd);
    return rc;
}

static int open_checked(backup_reader **out, const char *path, fo_err *err) {
    backup_reader *r = malloc(sizeof *r);
    if (!r) return fo_no_memory(err);
    int rc = reader_open(r, path, err);
    if (!rc && (rc = check_hash(r, err))) close(r->fd);
    if (rc)
        free(r);
    else
        *out = r;
    return rc;
}

int backup_check(const char *path, fo_err *err) {
    backup_reader *r;
    int rc = open_checked(&r, path, err);
    if (rc) return rc;
    close(r->fd);
    free(r);
    return FO_OK;
}

static la_ssize_t give(struct archive *a, void *ctx, const void **data) {
    backup_reader *r = ctx;
    *data = r->piece;
    ssize_t n = r->at < r->end ? read_piece(r, r->end - r->at) : 0;
    if (n < 0) archive_set_error(a, errno, "cannot read it");
    return n;
}

/* FO_ENOMEM is the machine's fault, everything else the file's: its hash was right. */
static int unreadable(struct archive *a, const backup_reader *r, fo_err *err) {
    const char *says = archive_error_string(a);
    if (archive_errno(a) == ENOMEM) return fo_no_memory(err);
    return fo_fail(err, FO_ECORRUPT, "%s is no backup of Forage: %s", r->path,
                   says ? says : "no archive");
}

/* Zeros are packed to nothing: a small file may hold more than there is room for, and would fill the disk that others
 * write to before it failed. A system that counts no files says that it may have 0 of them. */
static int check_room(const char *folder, const char *name, int64_t size, const backup_reader *r,
                      fo_err *err) {
    struct statvfs fs;
    if (statvfs(folder, &fs) != 0)
        return fo_fail_errno(err, "cannot tell how much room %s has", folder);
    const uint64_t left = (uint64_t)fs.f_bavail * fs.f_frsize;
    const bool files = !fs.f_files || fs.f_favail >= ROOM_FILES;
    if (files && left >= ROOM_BYTES && (uint64_t)size <= left - ROOM_BYTES) return FO_OK;
    return fo_fail(err, FO_ENOSPC,
                   "there is no room to unpack %s: '%.100s' in it takes %llu bytes, and %s has "
                   "%llu left",
                   r->path, name, (unsigned long long)size, folder, (unsigned long long)left);
}

static int unpack(struct archive *a, struct archive_entry *e, const backup_reader *r,
                  const char *folder, fo_err *err) {
    const char *name = archive_entry_pathname(e);
    if (!name || !name_safe(name) || archive_entry_filetype(e) != AE_IFREG ||
        archive_entry_hardlink(e))
        return fo_fail(err, FO_ECORRUPT, "%s is no backup of Forage: it holds '%.100s'", r->path,
                       name ? name : "a file without a name");
    int rc = check_room(folder, name, archive_entry_size(e), r, err);
    if (rc) return rc;
    fo_buf path = {0};
    fo_file_writer *w = NULL;
    fo_buf_printf(&path, "%s/%s", folder, name);
    if (path.failed) return fo_no_memory(err);
    char *slash = strrchr(path.data, '/');
    *slash = 0;
    rc = fo_make_dirs(path.data, err);
    *slash = '/';
    if (!rc) rc = fo_file_create(&w, path.data, err);
    while (!rc) {
        const void *piece;
        size_t n;
        la_int64_t at;
        int got = archive_read_data_block(a, &piece, &n, &at);
        if (got == ARCHIVE_EOF) break;
        if (got != ARCHIVE_OK)
            rc = unreadable(a, r, err);
        else if ((uint64_t)at != fo_file_offset(w))
            rc = fo_fail(err, FO_ECORRUPT, "%s is no backup of Forage: '%.100s' has holes", r->path,
                         name);
        else
            rc = fo_file_write(w, piece, n, err);
    }
    if (!rc)
        rc = fo_file_commit(w, err);
    else
        fo_file_abort(w);
    fo_buf_free(&path);
    return rc;
}

int backup_extract(const char *path, const char *folder, fo_err *err) {
    backup_reader *r;
    int rc = open_checked(&r, path, err);
    if (rc) return rc;
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    r->at = 0;
    if (!a)
        rc = fo_no_memory(err);
    else if (archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
             archive_read_support_format_tar(a) != ARCHIVE_OK ||
             archive_read_open(a, r, NULL, give, NULL) != ARCHIVE_OK)
        rc = unreadable(a, r, err);
    if (!rc) rc = fo_make_dirs(folder, err);
    while (!rc) {
        int next = archive_read_next_header(a, &e);
        if (next == ARCHIVE_EOF) break;
        rc = next == ARCHIVE_OK ? unpack(a, e, r, folder, err) : unreadable(a, r, err);
    }
    if (a) archive_read_free(a);
    close(r->fd);
    free(r);
    return rc;
}
