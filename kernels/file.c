#include "kernels/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/buf.h"

/* O_NONBLOCK, here and below: a pipe of that name is told at once, not once somebody writes to it. */
int fo_map_open(fo_map *out, const char *path, fo_err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    struct stat st;
    int rc = FO_OK;
    if (fstat(fd, &st) != 0) {
        rc = fo_fail_errno(err, "cannot stat %s", path);
    } else if (!S_ISREG(st.st_mode)) {
        rc = fo_fail(err, FO_EINVAL, "%s is not a regular file", path);
    } else if (st.st_size == 0) {
        *out = (fo_map){0};
    } else {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            rc = fo_fail_errno(err, "cannot map %s", path);
        } else {
            *out = (fo_map){.data = p, .size = (size_t)st.st_size};
        }
    }
    close(fd);
    return rc;
}

void fo_map_close(fo_map *m) {
    if (m->data) munmap((void *)m->data, m->size);
    *m = (fo_map){0};
}

/* The whole pages that lie in the range; outer: those that reach into it, too. */
static void advise(const void *at, size_t n, bool outer, int advice) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), more = page - 1;
    const uintptr_t begin = (uintptr_t)at, end = begin + n;
    const uintptr_t from = (outer ? begin : begin + more) / page * page;
    const uintptr_t to = (outer ? end + more : end) / page * page;
    if (from < to) (void)madvise((void *)from, to - from, advice);
}

void fo_map_want(const void *at, size_t n) {
    advise(at, n, true, MADV_WILLNEED);
}

void fo_map_forget(const void *at, size_t n) {
    advise(at, n, false, MADV_DONTNEED);
}

int fo_file_read(const char *path, size_t max_bytes, char **data, size_t *size, fo_err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    fo_buf b = {0};
    int rc = FO_OK;
    for (;;) {
        if (!fo_buf_reserve(&b, 65536)) {
            rc = fo_fail(err, FO_ENOMEM, "out of memory reading %s", path);
            break;
        }
        ssize_t n = read(fd, b.data + b.len, 65536);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            rc = fo_fail_errno(err, "cannot read %s", path);
            break;
        }
        b.len += (size_t)n;
        if (n == 0) break;
        if (b.len > max_bytes) {
            rc = fo_fail(err, FO_ELIMIT, "%s is larger than %zu bytes", path, max_bytes);
            break;
        }
    }
    close(fd);
    if (rc) {
        fo_buf_free(&b);
        return rc;
    }
    *data = fo_buf_take(&b, size);
    return *data ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory reading %s", path);
}

struct fo_file_writer {
    char *path, *temp;
    int fd;
    uint64_t offset; /* bytes handed in, flushed or not */
    size_t n_pending;
    unsigned char pending[1 << 16];
};

static void writer_free(fo_file_writer *w) {
    if (w->fd >= 0) close(w->fd);
    free(w->path);
    free(w->temp);
    free(w);
}

/* mkostemp with a mode: open() applies the umask, which cannot be read without a race. */
static int open_temp(char *name, mode_t mode) {
    char *x = name + strlen(name) - 6;
    for (int tries = 0; tries < 100; tries++) {
        unsigned char r[6];
        if (getrandom(r, sizeof r, 0) != sizeof r) return -1;
        for (int i = 0; i < 6; i++) x[i] = "abcdefghijklmnopqrstuvwxyz012345"[r[i] & 31];
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* What to do about it; NULL where the reason says that already. */
static const char *way_out(int number, bool folder) {
    switch (number) {
    case ENOENT: /* the folders above one are made as well: only where there can be none it is not found */
        return folder
                   ? "no folder can be made there: name another place"
                   : "the folder that it is to stand in does not exist: make it, or name another";
    case ENOTDIR:
        return "a file is in its way: name another place";
    case EACCES:
    case EPERM:
        return "who runs this may not write there: change that, or name another place";
    case EROFS:
        return "nothing can be written there: name another place";
    case ENOSPC:
    case EDQUOT:
        return "make room, or name another place";
    case EISDIR:
        return "name a file in it";
    default:
        return NULL;
    }
}

static int fail_make(fo_err *err, const char *verb, const char *path, bool folder) {
    const char *next = way_out(errno, folder);
    /* A long path is cut, so that reason and next step stand behind it. */
    int rc = fo_fail_errno(err, "cannot %s %.300s", verb, path);
    if (!err || !next) return rc;
    size_t n = strlen(err->msg);
    snprintf(err->msg + n, sizeof err->msg - n, "; %s", next);
    return rc;
}

int fo_fail_make(fo_err *err, const char *verb, const char *path) {
    return fail_make(err, verb, path, false);
}

static int create(fo_file_writer **out, const char *path, mode_t mode, fo_err *err) {
    fo_file_writer *w = calloc(1, sizeof *w);
    if (!w) return fo_no_memory(err);
    w->fd = -1;
    w->path = strdup(path);
    if (!w->path || asprintf(&w->temp, "%s.tmp-XXXXXX", path) < 0) {
        w->temp = NULL;
        writer_free(w);
        return fo_no_memory(err);
    }
    w->fd = open_temp(w->temp, mode);
    if (w->fd < 0) {
        int rc = fo_fail_make(err, "create", path); /* the temporary name says nothing to anybody */
        writer_free(w);
        return rc;
    }
    *out = w;
    return FO_OK;
}

int fo_file_create(fo_file_writer **out, const char *path, fo_err *err) {
    return create(out, path, 0600, err);
}

int fo_file_create_shared(fo_file_writer **out, const char *path, fo_err *err) {
    return create(out, path, 0666, err);
}

bool fo_write_all(int fd, const void *bytes, size_t n) {
    for (size_t at = 0; at < n;) {
        const ssize_t wrote = write(fd, (const char *)bytes + at, n - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        at += (size_t)wrote;
    }
    return true;
}

static int write_all(fo_file_writer *w, const void *data, size_t n, off_t at, fo_err *err) {
    const unsigned char *p = data;
    while (n) {
        ssize_t k = at < 0 ? write(w->fd, p, n) : pwrite(w->fd, p, n, at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return fo_fail_errno(err, "cannot write %s", w->temp);
        p += k;
        n -= (size_t)k;
        if (at >= 0) at += k;
    }
    return FO_OK;
}

static int flush_pending(fo_file_writer *w, fo_err *err) {
    int rc = write_all(w, w->pending, w->n_pending, -1, err);
    w->n_pending = 0;
    return rc;
}

int fo_file_write(fo_file_writer *w, const void *data, size_t n, fo_err *err) {
    w->offset += n;
    if (n > sizeof w->pending - w->n_pending) {
        int rc = flush_pending(w, err);
        if (rc) return rc;
        if (n >= sizeof w->pending) return write_all(w, data, n, -1, err);
    }
    if (n) memcpy(w->pending + w->n_pending, data, n);
    w->n_pending += n;
    return FO_OK;
}

int fo_file_patch(fo_file_writer *w, uint64_t offset, const void *data, size_t n, fo_err *err) {
    if (offset > w->offset || n > w->offset - offset)
        return fo_fail(err, FO_EINVAL, "patch beyond the end of %s", w->temp);
    int rc = flush_pending(w, err);
    return rc ? rc : write_all(w, data, n, (off_t)offset, err);
}

uint64_t fo_file_offset(const fo_file_writer *w) {
    return w->offset;
}

int fo_file_pad(fo_file_writer *w, size_t alignment, fo_err *err) {
    static const unsigned char zeroes[4096];
    size_t pad = (alignment - w->offset % alignment) % alignment;
    while (pad) {
        size_t n = pad < sizeof zeroes ? pad : sizeof zeroes;
        int rc = fo_file_write(w, zeroes, n, err);
        if (rc) return rc;
        pad -= n;
    }
    return FO_OK;
}

int fo_file_dup(const fo_file_writer *w, int *fd, fo_err *err) {
    *fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
    return *fd >= 0 ? FO_OK : fo_fail_errno(err, "cannot open %s", w->temp);
}

int fo_file_commit(fo_file_writer *w, fo_err *err) {
    int rc = flush_pending(w, err);
    if (!rc && fsync(w->fd) != 0) rc = fo_fail_errno(err, "cannot sync %s", w->temp);
    if (!rc && rename(w->temp, w->path) != 0)
        rc = fo_fail_errno(err, "cannot rename %s to %s", w->temp, w->path);
    if (rc) {
        fo_file_abort(w);
        return rc;
    }
    rc = fo_sync_dir_of(w->path, err);
    writer_free(w);
    return rc;
}

void fo_file_abort(fo_file_writer *w) {
    if (!w) return;
    unlink(w->temp);
    writer_free(w);
}

int fo_file_put(const char *path, const void *data, size_t n, fo_err *err) {
    fo_file_writer *w;
    int rc = fo_file_create(&w, path, err);
    if (rc) return rc;
    rc = fo_file_write(w, data, n, err);
    if (!rc) return fo_file_commit(w, err);
    fo_file_abort(w);
    return rc;
}

/* By read, not by a map: what the disk does not give is an error then, and no signal. */
static int write_from(fo_file_writer *w, int fd, const char *from, fo_err *err) {
    char bytes[16384];
    for (;;) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n == 0) return FO_OK;
        if (n < 0 && errno == EINTR) continue;
        int rc = n < 0 ? fo_fail_errno(err, "cannot read %s", from)
                       : fo_file_write(w, bytes, (size_t)n, err);
        if (rc) return rc;
    }
}

int fo_file_copy(const char *from, const char *to, fo_err *err) {
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", from);
    struct stat st;
    fo_file_writer *w = NULL;
    int rc = FO_OK;
    if (fstat(fd, &st) != 0)
        rc = fo_fail_errno(err, "cannot stat %s", from);
    else if (!S_ISREG(st.st_mode))
        rc = fo_fail(err, FO_EINVAL, "%s is not a regular file", from);
    if (!rc) rc = fo_file_create(&w, to, err);
    if (!rc) rc = write_from(w, fd, from, err);
    close(fd);
    if (!rc) return fo_file_commit(w, err);
    fo_file_abort(w);
    return rc;
}

int fo_make_dirs(const char *path, fo_err *err) {
    if (!*path) return fo_fail(err, FO_EINVAL, "a folder's name is empty");
    char *copy = strdup(path);
    if (!copy) return fo_no_memory(err);
    int rc = FO_OK;
    for (char *p = copy + 1; !rc; p++) {
        if (*p != '/' && *p != 0) continue;
        char saved = *p;
        *p = 0;
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            rc = fail_make(err, "make folder", copy, true);
        *p = saved;
        if (!saved) break;
    }
    free(copy);
    return rc;
}

int fo_sync_dir_of(const char *path, fo_err *err) {
    char *copy = strdup(path);
    if (!copy) return fo_no_memory(err);
    char *slash = strrchr(copy, '/');
    const char *dir = ".";
    if (slash == copy) {
        dir = "/";
    } else if (slash) {
        *slash = 0;
        dir = copy;
    }
    int rc = FO_OK;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) rc = fo_fail_errno(err, "cannot sync folder %s", dir);
    if (fd >= 0) close(fd);
    free(copy);
    return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int fo_remove_tree(const char *path, fo_err *err) {
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT) return FO_OK;
    return fo_fail_errno(err, "cannot remove %s", path);
}
