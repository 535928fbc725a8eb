#include "engine/kv/kv_segment.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "kernels/sha256.h"

/* The older interface to SHA-256, as in prefix_hash.c: one way to hash in this room. */
#define OPENSSL_SUPPRESS_DEPRECATED

enum {
    VERSION = 1,
    ALIGN = 512,
    NAME_DIGITS = 8,
    PAGE = 4096,    /* the system reads these whole: what fails fails in all of one */
    MAX_UNREAD = 16 /* each may take a failing disk seconds */
};

typedef struct file_header {
    char magic[8];
    uint32_t version;
    unsigned char owner[32];
    uint32_t crc; /* of what stands before it */
} file_header;

typedef struct record_header {
    char magic[4];
    uint32_t kind;
    unsigned char key[32];
    unsigned char owner[32];
    int32_t n_tokens;
    uint32_t reserved;
    double cost_ms;
    uint64_t n_bytes;
    unsigned char zero[24];
    uint32_t payload_crc;
    uint32_t crc; /* of what stands before it */
} record_header;

_Static_assert(sizeof(file_header) == 48, "the file's format");
_Static_assert(sizeof(record_header) == 128, "the file's format");

static const char file_magic[8] = {'F', 'O', 'R', 'A', 'G', 'E', 'K', 'V'};
static const char record_magic[4] = {'K', 'V', 'R', '1'};

void kv_segment_owner(unsigned char owner[32], const unsigned char fingerprint[32],
                      const kv_layout *l) {
    int32_t shape[6] = {VERSION, l->n_layers, l->n_kv_heads, l->k_dim, l->v_dim, (int32_t)l->type};
    unsigned char all[32 + sizeof shape];
    memcpy(all, fingerprint, 32);
    memcpy(all + 32, shape, sizeof shape);
    fo_sha256_of(owner, all, sizeof all);
}

uint64_t kv_segment_extent(uint64_t n_bytes) {
    return (sizeof(record_header) + n_bytes + ALIGN - 1) / ALIGN * ALIGN;
}

char *kv_segment_path(const char *dir, uint32_t id) {
    char *path = NULL;
    return asprintf(&path, "%s/%0*x.kv", dir, NAME_DIGITS, id) < 0 ? NULL : path;
}

bool kv_segment_name(const char *name, uint32_t *id) {
    if (strlen(name) != NAME_DIGITS + 3 || strcmp(name + NAME_DIGITS, ".kv") != 0 ||
        strspn(name, "0123456789abcdef") != NAME_DIGITS)
        return false;
    *id = (uint32_t)strtoul(name, NULL, 16);
    return true;
}

static uint32_t header_crc(const record_header *h) {
    return (uint32_t)crc32_z(0, (const void *)h, offsetof(record_header, crc));
}

static int make(kv_segment **out, uint32_t id, int fd, fo_err *err) {
    kv_segment *s = calloc(1, sizeof *s);
    if (!s) {
        close(fd);
        return fo_no_memory(err);
    }
    s->id = id;
    s->fd = fd;
    s->bytes = ALIGN;
    *out = s;
    return FO_OK;
}

int kv_segment_create(kv_segment **out, const char *dir, uint32_t id, const unsigned char owner[32],
                      fo_err *err) {
    char *path = kv_segment_path(dir, id);
    if (!path) return fo_no_memory(err);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        int rc = fo_fail_errno(err, "cannot make %s", path);
        free(path);
        return rc;
    }
    unsigned char block[ALIGN] = {0};
    file_header h = {.version = VERSION};
    memcpy(h.magic, file_magic, sizeof h.magic);
    memcpy(h.owner, owner, 32);
    h.crc = (uint32_t)crc32_z(0, (const void *)&h, offsetof(file_header, crc));
    memcpy(block, &h, sizeof h);
    ssize_t n = pwrite(fd, block, sizeof block, 0);
    if (n != (ssize_t)sizeof block) {
        if (n >= 0) errno = ENOSPC;
        int rc = fo_fail_errno(err, "cannot write %s", path);
        unlink(path);
        close(fd);
        free(path);
        return rc;
    }
    free(path);
    return make(out, id, fd, err);
}

int kv_segment_open(kv_segment **out, const char *dir, uint32_t id, const unsigned char owner[32],
                    fo_err *err) {
    char *path = kv_segment_path(dir, id);
    if (!path) return fo_no_memory(err);
    int rc = FO_OK, fd = open(path, O_RDWR | O_CLOEXEC);
    file_header h;
    if (fd < 0)
        rc = fo_fail_errno(err, "cannot open %s", path);
    else if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
             memcmp(h.magic, file_magic, sizeof h.magic) != 0 ||
             h.crc != (uint32_t)crc32_z(0, (const void *)&h, offsetof(file_header, crc)))
        rc = fo_fail(err, FO_ECORRUPT, "%s is no KV segment", path);
    else if (h.version != VERSION || memcmp(h.owner, owner, 32) != 0)
        rc = fo_fail(err, FO_EMISMATCH, "%s belongs to another model", path);
    free(path);
    if (!rc) return make(out, id, fd, err);
    if (fd >= 0) close(fd);
    return rc;
}

void kv_segment_close(kv_segment *s) {
    if (!s) return;
    close(s->fd);
    free(s);
}

/* A record header that is whole and this owner's. */
static bool good_header(const record_header *h, const unsigned char owner[32]) {
    return memcmp(h->magic, record_magic, sizeof h->magic) == 0 && h->crc == header_crc(h) &&
           memcmp(h->owner, owner, 32) == 0 && h->n_tokens > 0 && h->n_bytes > 0 &&
           h->n_bytes < INT64_MAX / 2;
}

int kv_segment_scan(kv_segment *s, uint64_t from, const unsigned char owner[32], kv_segment_fn *fn,
                    void *arg, fo_err *err) {
    struct stat st;
    if (fstat(s->fd, &st) != 0) return fo_fail_errno(err, "cannot read KV segment %08x", s->id);
    uint64_t size = (uint64_t)st.st_size, at = from < ALIGN ? ALIGN : from;
    at = (at + ALIGN - 1) / ALIGN * ALIGN;
    s->bytes = at < size ? at : (size + ALIGN - 1) / ALIGN * ALIGN;
    if (s->bytes < ALIGN) s->bytes = ALIGN;
    s->unread = 0;
    while (at + sizeof(record_header) <= size) {
        record_header h;
        ssize_t n = pread(s->fd, &h, sizeof h, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            if (++s->unread == MAX_UNREAD) break;
            at = (at / PAGE + 1) * PAGE;
            continue;
        }
        if (n < (ssize_t)sizeof h) break;
        if (!good_header(&h, owner) || h.n_bytes > size - at - sizeof h) {
            at += ALIGN;
            continue;
        }
        kv_segment_record r = {.kind = h.kind,
                               .n_tokens = h.n_tokens,
                               .cost_ms = h.cost_ms,
                               .n_bytes = h.n_bytes,
                               .offset = at};
        memcpy(r.key, h.key, 32);
        at += kv_segment_extent(h.n_bytes);
        s->bytes = at;
        if (!fn(arg, &r)) break;
    }
    return FO_OK;
}

int kv_segment_trim(kv_segment *s, fo_err *err) {
    if (ftruncate(s->fd, (off_t)s->bytes) != 0)
        return fo_fail_errno(err, "cannot cut KV segment %08x", s->id);
    return FO_OK;
}

int kv_segment_append(kv_segment *s, const unsigned char owner[32], kv_segment_record *r,
                      const void *data, fo_err *err) {
    record_header h = {.kind = r->kind,
                       .n_tokens = r->n_tokens,
                       .cost_ms = r->cost_ms,
                       .n_bytes = r->n_bytes,
                       .payload_crc = (uint32_t)crc32_z(0, data, r->n_bytes)};
    memcpy(h.magic, record_magic, sizeof h.magic);
    memcpy(h.key, r->key, 32);
    memcpy(h.owner, owner, 32);
    h.crc = header_crc(&h);
    static const unsigned char zeroes[ALIGN];
    uint64_t whole = kv_segment_extent(r->n_bytes), done = 0;
    struct iovec part[3] = {{&h, sizeof h},
                            {(void *)(uintptr_t)data, r->n_bytes},
                            {(void *)(uintptr_t)zeroes, whole - sizeof h - r->n_bytes}};
    struct iovec *next = part;
    while (done < whole) {
        ssize_t n = pwritev(s->fd, next, (int)(part + 3 - next), (off_t)(s->bytes + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (n == 0) errno = ENOSPC;
            int rc = fo_fail_errno(err, "cannot write KV segment %08x", s->id);
            (void)!ftruncate(s->fd, (off_t)s->bytes); /* or a scan passes over it */
            return rc;
        }
        done += (uint64_t)n;
        for (size_t left = (size_t)n; left;) {
            size_t k = left < next->iov_len ? left : next->iov_len;
            next->iov_base = (char *)next->iov_base + k;
            next->iov_len -= k;
            left -= k;
            if (next->iov_len == 0) next++;
        }
    }
    r->offset = s->bytes;
    s->bytes += whole;
    return FO_OK;
}

int kv_segment_read(const kv_segment *s, const unsigned char owner[32], const kv_segment_record *r,
                    void *data, fo_err *err) {
    record_header h = {0};
    unsigned char *to = data;
    uint64_t done = 0, whole = sizeof h + r->n_bytes;
    while (done < whole) {
        struct iovec part[2] = {{(char *)&h + done, sizeof h - done}, {to, r->n_bytes}};
        bool body = done >= sizeof h;
        if (body) {
            part[1].iov_base = to + (done - sizeof h);
            part[1].iov_len = whole - done;
        }
        ssize_t n = preadv(s->fd, part + body, 2 - body, (off_t)(r->offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fo_fail_errno(err, "cannot read KV segment %08x", s->id);
        if (n == 0) break;
        done += (uint64_t)n;
    }
    if (done < whole || !good_header(&h, owner) || h.n_bytes != r->n_bytes ||
        memcmp(h.key, r->key, 32) != 0)
        return fo_fail(err, FO_ECORRUPT, "KV segment %08x has no such record at byte %llu", s->id,
                       (unsigned long long)r->offset);
    if (h.payload_crc != (uint32_t)crc32_z(0, data, r->n_bytes))
        return fo_fail(err, FO_ECORRUPT, "the record at byte %llu of KV segment %08x is damaged",
                       (unsigned long long)r->offset, s->id);
    return FO_OK;
}

/* ---- a file as it lies -------------------------------------------------------------------- */

static bool is_zero(const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

int kv_segment_check(const unsigned char *data, size_t size, fo_err *err) {
    file_header f;
    if (size < ALIGN) return fo_fail(err, FO_ECORRUPT, "it is cut off in its header");
    memcpy(&f, data, sizeof f);
    if (memcmp(f.magic, file_magic, sizeof f.magic) != 0 ||
        f.crc != (uint32_t)crc32_z(0, (const void *)&f, offsetof(file_header, crc)) ||
        !is_zero(data + sizeof f, ALIGN - sizeof f))
        return fo_fail(err, FO_ECORRUPT, "its header is damaged");
    if (f.version != VERSION) return FO_OK; /* not ours to judge; it goes when room is needed */
    for (size_t at = ALIGN; at < size;) {
        record_header h;
        size_t left = size - at;
        if (left < sizeof h)
            return fo_fail(err, FO_ECORRUPT, "a record is cut off at byte %zu", at);
        memcpy(&h, data + at, sizeof h);
        if (!good_header(&h, f.owner))
            return fo_fail(err, FO_ECORRUPT, "the record at byte %zu has a damaged header", at);
        size_t extent = (size_t)kv_segment_extent(h.n_bytes);
        if (extent > left)
            return fo_fail(err, FO_ECORRUPT, "the record at byte %zu is cut off", at);
        const unsigned char *payload = data + at + sizeof h;
        if (h.payload_crc != (uint32_t)crc32_z(0, payload, h.n_bytes) ||
            !is_zero(payload + h.n_bytes, extent - sizeof h - h.n_bytes))
            return fo_fail(err, FO_ECORRUPT, "the record at byte %zu is damaged", at);
        at += extent;
    }
    return FO_OK;
}

bool kv_segment_holds(const unsigned char *data, size_t size, const kv_segment_record *r) {
    record_header h;
    if (r->offset > size || size - r->offset < sizeof h) return false;
    memcpy(&h, data + r->offset, sizeof h);
    return memcmp(h.magic, record_magic, sizeof h.magic) == 0 && h.crc == header_crc(&h) &&
           memcmp(h.key, r->key, sizeof h.key) == 0 && h.kind == r->kind &&
           h.n_tokens == r->n_tokens && h.n_bytes == r->n_bytes;
}
