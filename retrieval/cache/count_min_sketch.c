#include "retrieval/cache/count_min_sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "kernels/splitmix.h"

enum { MAX_DEPTH = 17 }; /* ln(1 / 1e-7), rounded up */
static const size_t MAX_WIDTH = (size_t)1 << 25;

struct count_min {
    size_t width, depth; /* width: a power of two */
    uint64_t seed, total;
    uint32_t *rows; /* [depth][width] */
};

/* On disk, little-endian, before the counters. */
typedef struct header {
    char magic[8];
    uint32_t version, depth;
    uint64_t width, seed, total;
} header;
static const char MAGIC[8] = "FOCMSKT";
enum { VERSION = 1 };

static int make(count_min **out, size_t width, size_t depth, uint64_t seed, fo_err *err) {
    count_min *s = calloc(1, sizeof *s);
    if (s) s->rows = calloc(width * depth, sizeof *s->rows);
    if (!s || !s->rows) {
        free(s);
        return fo_no_memory(err);
    }
    s->width = width, s->depth = depth, s->seed = seed;
    *out = s;
    return FO_OK;
}

int count_min_create(count_min **out, double epsilon, double delta, uint64_t seed, fo_err *err) {
    if (!(epsilon >= 1e-7 && epsilon < 1) || !(delta >= 1e-7 && delta < 1))
        return fo_fail(err, FO_EINVAL, "epsilon and delta must be between 1e-7 and 1");
    size_t width = 1, need = (size_t)ceil(exp(1) / epsilon);
    while (width < need) width *= 2;
    return make(out, width, (size_t)ceil(log(1 / delta)), seed, err);
}

void count_min_free(count_min *s) {
    if (!s) return;
    free(s->rows);
    free(s);
}

/* Every row hashes anew: positions derived from two hashes would collide in all rows together. */
static size_t position(const count_min *s, size_t row, uint64_t key) {
    uint64_t h = fo_mix64(key ^ fo_mix64(s->seed + FO_SPLITMIX_STEP * (row + 1)));
    return row * s->width + (size_t)(h & (s->width - 1));
}

uint32_t count_min_estimate(const count_min *s, uint64_t key) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < s->depth; i++) {
        uint32_t v = s->rows[position(s, i, key)];
        if (v < least) least = v;
    }
    return least;
}

uint32_t count_min_add(count_min *s, uint64_t key, uint32_t n) {
    size_t at[MAX_DEPTH];
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < s->depth; i++) {
        at[i] = position(s, i, key);
        if (s->rows[at[i]] < least) least = s->rows[at[i]];
    }
    uint32_t now = least > UINT32_MAX - n ? UINT32_MAX : least + n;
    for (size_t i = 0; i < s->depth; i++)
        if (s->rows[at[i]] < now) s->rows[at[i]] = now;
    s->total += n;
    return now;
}

void count_min_age(count_min *s, unsigned halvings) {
    if (halvings == 0) return;
    size_t n = s->width * s->depth;
    if (halvings > 31)
        memset(s->rows, 0, n * sizeof *s->rows);
    else
        for (size_t i = 0; i < n; i++) s->rows[i] >>= halvings;
    s->total = halvings > 63 ? 0 : s->total >> halvings;
}

uint64_t count_min_total(const count_min *s) {
    return s->total;
}
size_t count_min_width(const count_min *s) {
    return s->width;
}
size_t count_min_depth(const count_min *s) {
    return s->depth;
}
static size_t counter_bytes(const count_min *s) {
    return s->width * s->depth * sizeof *s->rows;
}

void count_min_write(const count_min *s, fo_buf *b) {
    header h = {.version = VERSION,
                .depth = (uint32_t)s->depth,
                .width = s->width,
                .seed = s->seed,
                .total = s->total};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    uint32_t crc = (uint32_t)crc32_z(0, (const void *)&h, sizeof h);
    crc = (uint32_t)crc32_z(crc, (const void *)s->rows, counter_bytes(s));
    fo_buf_add(b, &h, sizeof h);
    fo_buf_add(b, s->rows, counter_bytes(s));
    fo_buf_add(b, &crc, sizeof crc);
}

int count_min_read(count_min **out, const void *data, size_t n, size_t *used, fo_err *err) {
    header h;
    if (n < sizeof h || memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return fo_fail(err, FO_ECORRUPT, "no count-min sketch at byte 0");
    memcpy(&h, data, sizeof h);
    if (h.version != VERSION)
        return fo_fail(err, FO_EMISMATCH, "count-min sketch of version %u, this program reads %d",
                       h.version, VERSION);
    if (h.depth == 0 || h.depth > MAX_DEPTH || h.width == 0 || h.width > MAX_WIDTH ||
        (h.width & (h.width - 1)) != 0)
        return fo_fail(err, FO_ECORRUPT, "count-min sketch of %u x %llu counters at byte 8",
                       h.depth, (unsigned long long)h.width);
    size_t body = (size_t)h.width * h.depth * sizeof(uint32_t), all = sizeof h + body + 4;
    if (n < all)
        return fo_fail(err, FO_ECORRUPT, "count-min sketch ends at byte %zu of %zu", n, all);
    uint32_t crc, found = (uint32_t)crc32_z(0, data, sizeof h + body);
    memcpy(&crc, (const char *)data + sizeof h + body, sizeof crc);
    if (crc != found)
        return fo_fail(err, FO_ECORRUPT, "count-min sketch: checksum at byte %zu does not agree",
                       sizeof h + body);
    int rc = make(out, (size_t)h.width, h.depth, h.seed, err);
    if (rc) return rc;
    (*out)->total = h.total;
    memcpy((*out)->rows, (const char *)data + sizeof h, body);
    *used = all;
    return FO_OK;
}
