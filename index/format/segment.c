#include "index/format/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "kernels/buf.h"
#include "kernels/map_guard.h"

typedef struct header {
    char magic[8];
    uint32_t version, n_sections;
    uint64_t size;
    uint32_t table_crc;
    uint32_t reserved[8];
    uint32_t crc; /* of the bytes before it */
} header;

typedef struct row {
    uint32_t type, crc;
    uint64_t offset, size, reserved;
} row;

enum { BODY = sizeof(header) + SEGMENT_MAX_SECTIONS * sizeof(row) };
_Static_assert(sizeof(header) == 64 && sizeof(row) == 32 && BODY % SEGMENT_ALIGN == 0,
               "the file format");

static const char magic[8] = {'F', 'O', 'R', 'A', 'G', 'E', 'S', 'G'};

struct segment {
    const unsigned char *data;
    size_t size;
    fo_guarded_file file; /* or */
    void *memory;
    size_t n_sections;
    row table[SEGMENT_MAX_SECTIONS];
};

static uint32_t checksum(uint32_t crc, const void *p, size_t n) {
    return (uint32_t)crc32_z(crc, p, n);
}

static uint32_t header_crc(const header *h) {
    return checksum(0, h, offsetof(header, crc));
}

/* ---- bytes to be checked ------------------------------------------------------------------ */

enum { PIECE = 1 << 18 };

/* A file's bytes are read, not looked at where they are mapped: there a sector that cannot be read and an
 * end that was cut off are a signal, not an error. It is opened anew for each check, since a home may
 * have more segments than a process may have descriptors. */
typedef struct source {
    const segment *s;
    int fd;                /* -1: the bytes in memory */
    unsigned char *buffer; /* [PIECE]; NULL: likewise */
} source;

static int source_open(source *out, const segment *s, fo_err *err) {
    *out = (source){.s = s, .fd = -1};
    if (!s->file.path) return FO_OK;
    out->fd = open(s->file.path, O_RDONLY | O_CLOEXEC);
    /* A merge has removed its name: what is mapped is all that there is of it. */
    if (out->fd < 0 && errno == ENOENT) return FO_OK;
    if (out->fd < 0) return fo_fail_errno(err, "cannot open %s", s->file.path);
    if ((out->buffer = malloc(PIECE))) return FO_OK;
    close(out->fd);
    return fo_no_memory(err);
}

static void source_close(source *in) {
    if (in->fd >= 0) close(in->fd);
    free(in->buffer);
}

/* At most PIECE bytes, until the next call. */
static int source_read(source *in, size_t at, size_t n, const unsigned char **out, fo_err *err) {
    *out = in->fd < 0 ? in->s->data + at : in->buffer;
    for (size_t got = 0; in->fd >= 0 && got < n;) {
        ssize_t k = pread(in->fd, in->buffer + got, n - got, (off_t)(at + got));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0 && errno == EIO)
            return fo_fail(err, FO_ECORRUPT, "the %zu bytes at %zu cannot be read", n - got,
                           at + got);
        if (k < 0) return fo_fail_errno(err, "cannot read %s", in->s->file.path);
        if (k == 0) return fo_fail(err, FO_ECORRUPT, "it ends at byte %zu", at + got);
        got += (size_t)k;
    }
    return FO_OK;
}

static int source_checksum(source *in, size_t at, size_t n, uint32_t *crc, fo_err *err) {
    while (n > 0) {
        const unsigned char *p;
        size_t now = n < PIECE ? n : PIECE;
        int rc = source_read(in, at, now, &p, err);
        if (rc) return rc;
        *crc = checksum(*crc, p, now);
        at += now;
        n -= now;
    }
    return FO_OK;
}

static int wrong_checksum(const row *r, fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "section %u at byte %llu has a wrong checksum", r->type,
                   (unsigned long long)r->offset);
}

static int check_section(source *in, const row *r, fo_err *err) {
    uint32_t crc = 0;
    int rc = source_checksum(in, r->offset, r->size, &crc, err);
    return rc || crc == r->crc ? rc : wrong_checksum(r, err);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int read_table(segment *s, source *in, fo_err *err) {
    header h;
    const unsigned char *body;
    if (s->size < BODY)
        return fo_fail(err, FO_ECORRUPT, "%zu bytes are too few for a segment", s->size);
    int rc = source_read(in, 0, BODY, &body, err);
    if (rc) return rc;
    memcpy(&h, body, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return fo_fail(err, FO_ECORRUPT, "not a segment file (bad magic)");
    if (h.version != SEGMENT_VERSION)
        return fo_fail(err, FO_EMISMATCH, "segment version %u, this program reads %d", h.version,
                       SEGMENT_VERSION);
    if (h.crc != header_crc(&h))
        return fo_fail(err, FO_ECORRUPT, "the header has a wrong checksum");
    if (h.size != s->size)
        return fo_fail(err, FO_ECORRUPT, "%zu bytes, the header says %llu", s->size,
                       (unsigned long long)h.size);
    memcpy(s->table, body + sizeof h, sizeof s->table);
    if (h.n_sections > SEGMENT_MAX_SECTIONS ||
        h.table_crc != checksum(0, s->table, sizeof s->table))
        return fo_fail(err, FO_ECORRUPT, "the section table has a wrong checksum");
    s->n_sections = h.n_sections;
    for (size_t i = 0; i < s->n_sections; i++) {
        const row *r = &s->table[i];
        if (r->offset % SEGMENT_ALIGN != 0 || r->offset < BODY || r->offset > s->size ||
            r->size > s->size - r->offset)
            return fo_fail(err, FO_ECORRUPT, "section %u lies outside the file", r->type);
        if (r->size <= SEGMENT_EAGER_BYTES && (rc = check_section(in, r, err))) return rc;
    }
    return FO_OK;
}

static int open_finish(segment **out, segment *s, fo_err *err) {
    source in;
    int rc = source_open(&in, s, err);
    if (!rc) {
        rc = read_table(s, &in, err);
        source_close(&in);
    }
    if (rc) {
        segment_close(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

int segment_open(segment **out, const char *path, fo_err *err) {
    segment *s = calloc(1, sizeof *s);
    if (!s) return fo_fail(err, FO_ENOMEM, "out of memory opening %s", path);
    int rc = fo_guarded_file_open(&s->file, path, err);
    if (rc) {
        segment_close(s);
        return rc;
    }
    s->data = s->file.map.data;
    s->size = s->file.map.size;
    rc = open_finish(out, s, err);
    if (rc) fo_fail_prefix(err, "%s", path);
    return rc;
}

int segment_adopt(segment **out, void *data, size_t size, fo_err *err) {
    segment *s = calloc(1, sizeof *s);
    if (!s) {
        free(data);
        return fo_fail(err, FO_ENOMEM, "out of memory for a segment");
    }
    s->data = s->memory = data;
    s->size = size;
    return open_finish(out, s, err);
}

void segment_close(segment *s) {
    if (!s) return;
    fo_guarded_file_close(&s->file);
    free(s->memory);
    free(s);
}

const void *segment_get(const segment *s, unsigned type, size_t *size) {
    for (size_t i = 0; i < s->n_sections; i++) {
        if (s->table[i].type != type) continue;
        *size = s->table[i].size;
        return s->data + s->table[i].offset;
    }
    *size = 0;
    return NULL;
}

int segment_get_array(const segment *s, unsigned type, size_t count, size_t width, const void **out,
                      fo_err *err) {
    size_t size, want;
    const void *p = segment_get(s, type, &size);
    if (!fo_mul_size(count, width, &want) || !p || size != want)
        return fo_fail(err, FO_ECORRUPT, "section %u has %zu bytes, not %zu times %zu", type, size,
                       count, width);
    *out = p;
    return FO_OK;
}

size_t segment_size(const segment *s) {
    return s->size;
}

int segment_readable(const segment *s, fo_err *err) {
    size_t at;
    return fo_guarded_file_failed(&s->file, &at)
               ? fo_fail(err, FO_ECORRUPT, "the disk does not give byte %zu", at)
               : FO_OK;
}

/* Zeroes between sections, which no checksum covers, and nothing behind the last. */
static int check_gaps(const segment *s, source *in, fo_err *err) {
    size_t end = BODY;
    for (size_t i = 0; i < s->n_sections; i++) {
        const row *r = &s->table[i];
        if (r->offset < end || r->offset - end >= SEGMENT_ALIGN)
            return fo_fail(err, FO_ECORRUPT, "section %u does not follow the one before", r->type);
        const unsigned char *gap;
        int rc = source_read(in, end, r->offset - end, &gap, err);
        if (rc) return rc;
        for (; end < r->offset; end++)
            if (*gap++)
                return fo_fail(err, FO_ECORRUPT, "byte %zu, between sections, is not zero", end);
        end = r->offset + r->size;
    }
    return end == s->size
               ? FO_OK
               : fo_fail(err, FO_ECORRUPT, "%zu bytes follow the last section", s->size - end);
}

int segment_verify(const segment *s, fo_err *err) {
    source in;
    int rc = source_open(&in, s, err);
    if (rc) return rc;
    for (size_t i = 0; i < s->n_sections && !rc; i++) rc = check_section(&in, &s->table[i], err);
    if (!rc) rc = check_gaps(s, &in, err);
    source_close(&in);
    return rc;
}

static int verify_some(const segment *s, source *in, segment_check *at, size_t n, fo_err *err) {
    for (; n > 0 && at->section < s->n_sections; at->section++, at->offset = 0, at->crc = 0) {
        const row *r = &s->table[at->section];
        size_t left = r->size - at->offset, now = left < n ? left : n;
        uint32_t crc = at->crc;
        int rc = source_checksum(in, r->offset + at->offset, now, &crc, err);
        if (rc) return rc;
        at->crc = crc;
        at->offset += now;
        n -= now;
        if (at->offset < r->size) break;
        if (at->crc != r->crc) return wrong_checksum(r, err);
    }
    return FO_OK;
}

int segment_verify_some(const segment *s, segment_check *at, size_t n, bool *done, fo_err *err) {
    source in;
    int rc = source_open(&in, s, err);
    if (rc) return rc;
    rc = verify_some(s, &in, at, n, err);
    source_close(&in);
    *done = !rc && at->section == s->n_sections;
    return rc;
}

struct segment_writer {
    fo_file_writer *file; /* NULL: memory */
    segment_gate *gate;   /* NULL: none */
    void *gate_ctx;
    fo_buf memory;
    uint64_t bytes;
    header head;
    row table[SEGMENT_MAX_SECTIONS];
};

static int append(segment_writer *w, const void *data, size_t n, fo_err *err) {
    w->bytes += n;
    if (w->file) return fo_file_write(w->file, data, n, err);
    fo_buf_add(&w->memory, data, n);
    return w->memory.failed ? fo_fail(err, FO_ENOMEM, "out of memory for a segment") : FO_OK;
}

int segment_writer_create(segment_writer **out, const char *path, fo_err *err) {
    segment_writer *w = calloc(1, sizeof *w);
    if (!w) return fo_fail(err, FO_ENOMEM, "out of memory for a segment");
    int rc = path ? fo_file_create(&w->file, path, err) : FO_OK;
    if (rc) {
        free(w);
        return rc;
    }
    static const char zeroes[BODY];
    rc = append(w, zeroes, BODY, err);
    if (rc) {
        segment_writer_abort(w);
        return rc;
    }
    *out = w;
    return FO_OK;
}

int segment_writer_begin(segment_writer *w, unsigned type, fo_err *err) {
    if (w->head.n_sections == SEGMENT_MAX_SECTIONS)
        return fo_fail(err, FO_ELIMIT, "a segment has at most %d sections", SEGMENT_MAX_SECTIONS);
    static const char zeroes[SEGMENT_ALIGN];
    size_t over = w->bytes % SEGMENT_ALIGN;
    int rc = over ? append(w, zeroes, SEGMENT_ALIGN - over, err) : FO_OK;
    if (!rc) w->table[w->head.n_sections++] = (row){.type = type, .offset = w->bytes};
    return rc;
}

int segment_writer_write(segment_writer *w, const void *data, size_t n, fo_err *err) {
    row *r = &w->table[w->head.n_sections - 1];
    for (const char *p = data; n > 0;) {
        size_t now = w->gate && n > SEGMENT_GATE_BYTES ? SEGMENT_GATE_BYTES : n;
        int rc = w->gate ? w->gate(w->gate_ctx, now, err) : FO_OK;
        if (!rc) rc = append(w, p, now, err);
        if (rc) return rc;
        r->crc = checksum(r->crc, p, now);
        r->size += now;
        p += now;
        n -= now;
    }
    return FO_OK;
}

void segment_writer_set_gate(segment_writer *w, segment_gate *gate, void *ctx) {
    w->gate = gate;
    w->gate_ctx = ctx;
}

int segment_writer_section(segment_writer *w, unsigned type, const void *data, size_t n,
                           fo_err *err) {
    int rc = segment_writer_begin(w, type, err);
    return !rc ? segment_writer_write(w, data, n, err) : rc;
}

uint64_t segment_writer_bytes(const segment_writer *w) {
    return w->bytes;
}

static void seal_header(segment_writer *w) {
    memcpy(w->head.magic, magic, sizeof magic);
    w->head.version = SEGMENT_VERSION;
    w->head.size = w->bytes;
    w->head.table_crc = checksum(0, w->table, sizeof w->table);
    w->head.crc = header_crc(&w->head);
}

int segment_writer_commit(segment_writer *w, fo_err *err) {
    seal_header(w);
    fo_file_writer *f = w->file;
    int rc = fo_file_patch(f, 0, &w->head, sizeof w->head, err);
    if (!rc) rc = fo_file_patch(f, sizeof w->head, w->table, sizeof w->table, err);
    if (!rc) {
        w->file = NULL;
        rc = fo_file_commit(f, err);
    }
    segment_writer_abort(w);
    return rc;
}

int segment_writer_adopt(segment_writer *w, segment **out, fo_err *err) {
    seal_header(w);
    memcpy(w->memory.data, &w->head, sizeof w->head);
    memcpy(w->memory.data + sizeof w->head, w->table, sizeof w->table);
    size_t size;
    char *data = fo_buf_take(&w->memory, &size);
    segment_writer_abort(w);
    return data ? segment_adopt(out, data, size, err)
                : fo_fail(err, FO_ENOMEM, "out of memory for a segment");
}

void segment_writer_abort(segment_writer *w) {
    if (!w) return;
    fo_file_abort(w->file);
    fo_buf_free(&w->memory);
    free(w);
}
