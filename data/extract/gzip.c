/* See gzip.h. Source: RFC 1952; inflate by zlib. */
#include "data/extract/gzip.h"

#include <stdint.h>
#include <zlib.h>

/* A byte of deflate holds no more than this many bytes of what was packed. */
enum { MAX_RATIO = 1032 };

bool gzip_is(const unsigned char *in, size_t n) {
    return n >= 2 && in[0] == 0x1F && in[1] == 0x8B;
}

size_t gzip_size_hint(const unsigned char *in, size_t n) {
    if (n < 18) return 0; /* a header, an empty block, the trailer */
    const unsigned char *end = in + n - 4;
    size_t says =
        (size_t)end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
    return n < SIZE_MAX / MAX_RATIO && says > n * MAX_RATIO ? n * MAX_RATIO : says;
}

/* What inflate has written goes to out, if it may. */
static int keep(fo_buf *out, const unsigned char *piece, size_t n, size_t max_bytes,
                doc_budget *budget, fo_err *err) {
    if (n > max_bytes - out->len)
        return fo_fail(err, FO_ELIMIT, "the gzip data unpacks to more than %zu bytes", max_bytes);
    if (!doc_budget_take(budget, n) || !doc_budget_go_on(budget, n))
        return doc_budget_fail(budget, err);
    fo_buf_add(out, piece, n);
    return out->failed ? fo_no_memory(err) : FO_OK;
}

int gzip_unpack(fo_buf *out, const unsigned char *in, size_t n, size_t max_bytes,
                doc_budget *budget, fo_err *err) {
    z_stream z = {0};
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) return fo_no_memory(err);
    int rc = FO_OK;
    size_t used = 0;
    for (bool more = true; more && !rc;) {
        size_t step = n - used < (1u << 30) ? n - used : (1u << 30);
        unsigned char piece[16384];
        z.next_in = (unsigned char *)in + used;
        z.avail_in = (uInt)step;
        z.next_out = piece;
        z.avail_out = sizeof piece;
        int got = inflate(&z, Z_NO_FLUSH);
        used += step - z.avail_in;
        rc = keep(out, piece, sizeof piece - z.avail_out, max_bytes, budget, err);
        if (rc) break;
        if (got == Z_STREAM_END) { /* further members follow, or padding */
            more = n - used >= 2 && gzip_is(in + used, n - used);
            if (more) inflateReset(&z);
        } else if (got == Z_MEM_ERROR) {
            rc = fo_no_memory(err);
        } else if (got != Z_OK && !(got == Z_BUF_ERROR && used == n)) {
            rc = fo_fail(err, FO_EINVAL, "the gzip data is damaged at byte %zu", used);
        } else if (used == n && z.avail_out > 0) {
            rc = fo_fail(err, FO_EINVAL, "the gzip data ends too early");
        }
    }
    inflateEnd(&z);
    return rc;
}

size_t gzip_peek(const unsigned char *in, size_t n, unsigned char *out, size_t cap) {
    z_stream z = {0};
    if (inflateInit2(&z, 31) != Z_OK) return 0;
    z.next_in = (unsigned char *)in;
    z.avail_in = n < UINT32_MAX ? (uInt)n : UINT32_MAX;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    inflate(&z, Z_SYNC_FLUSH);
    size_t got = cap - z.avail_out;
    inflateEnd(&z);
    return got;
}
