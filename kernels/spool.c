#include "kernels/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/sha256.h"

#define MEMORY_BYTES (1u << 20)

struct spool {
    char *dir;
    fo_buf memory; /* bytes [flushed, size) */
    int fd;        /* -1: everything is in memory */
    uint64_t flushed;
    fo_sha256 sha;
};

int spool_create(spool **out, const char *dir, fo_err *err) {
    spool *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    s->fd = -1;
    s->dir = strdup(dir);
    fo_sha256_begin(&s->sha);
    if (!s->dir) {
        spool_free(s);
        return fo_no_memory(err);
    }
    *out = s;
    return FO_OK;
}

void spool_free(spool *s) {
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
    fo_buf_free(&s->memory);
    free(s->dir);
    free(s);
}

static int open_file(spool *s, fo_err *err) {
    s->fd = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd >= 0) return FO_OK;
    char path[4096]; /* file systems without O_TMPFILE */
    if (snprintf(path, sizeof path, "%s/spool-XXXXXX", s->dir) >= (int)sizeof path)
        return fo_fail(err, FO_EINVAL, "the path of %s is too long", s->dir);
    s->fd = mkostemp(path, O_CLOEXEC);
    if (s->fd < 0) return fo_fail_errno(err, "cannot make a temporary file in %s", s->dir);
    unlink(path);
    return FO_OK;
}

static int flush(spool *s, fo_err *err) {
    if (s->fd < 0) {
        int rc = open_file(s, err);
        if (rc) return rc;
    }
    for (size_t done = 0; done < s->memory.len;) {
        ssize_t n =
            pwrite(s->fd, s->memory.data + done, s->memory.len - done, (off_t)(s->flushed + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fo_fail_errno(err, "cannot write a temporary file in %s", s->dir);
        done += (size_t)n;
    }
    s->flushed += s->memory.len;
    fo_buf_clear(&s->memory);
    return FO_OK;
}

int spool_write(spool *s, const void *data, size_t n, fo_err *err) {
    const char *p = data;
    fo_sha256_add(&s->sha, data, n);
    while (n) {
        size_t room = MEMORY_BYTES - s->memory.len;
        size_t k = n < room ? n : room;
        fo_buf_add(&s->memory, p, k);
        if (s->memory.failed) return fo_no_memory(err);
        p += k;
        n -= k;
        if (s->memory.len == MEMORY_BYTES) {
            int rc = flush(s, err);
            if (rc) return rc;
        }
    }
    return FO_OK;
}

uint64_t spool_size(const spool *s) {
    return s->flushed + s->memory.len;
}

size_t spool_memory(const spool *s) {
    return s->memory.cap;
}

void spool_sha256(const spool *s, unsigned char out[32]) {
    fo_sha256 copy = s->sha;
    fo_sha256_end(&copy, out);
}

ssize_t spool_read(spool *s, uint64_t offset, void *buf, size_t n, fo_err *err) {
    if (offset >= spool_size(s)) return 0;
    if (offset >= s->flushed) {
        size_t at = (size_t)(offset - s->flushed), left = s->memory.len - at;
        if (n > left) n = left;
        memcpy(buf, s->memory.data + at, n);
        return (ssize_t)n;
    }
    uint64_t left = s->flushed - offset;
    if (n > left) n = (size_t)left;
    for (;;) {
        ssize_t got = pread(s->fd, buf, n, (off_t)offset);
        if (got > 0) return got;
        if (got < 0 && errno == EINTR) continue;
        return fo_fail_errno(err, "cannot read a temporary file in %s", s->dir);
    }
}
