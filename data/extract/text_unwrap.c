/* See text_unwrap.h. Sources: RFC 1952 (inflate by zlib), RFC 2781. */
#include "data/extract/text_unwrap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "kernels/utf8.h"

enum {
    PIECE = 32 << 10,
    FREE_BYTES = 1 << 20, /* that may come out whatever went in */
    REPLACEMENT = 0xFFFD,
};

struct text_unwrap {
    bool gzip;
    enum text_wide wide;
    /* gzip */
    z_stream z;
    bool within; /* a member has begun and not ended */
    bool over;   /* behind the last member: padding */
    unsigned char head[2];
    size_t n_head; /* bytes of what may be the head of a next member */
    bool any;      /* a member has ended */
    uint64_t in, out;
    /* UTF-16 */
    unsigned char held[4]; /* of a character that is not there whole */
    size_t n_held;
    bool begun;
    char text[PIECE + 8]; /* as UTF-8 */
    size_t n_text;
    unsigned char piece[PIECE]; /* unpacked */
};

int text_unwrap_create(text_unwrap **out, bool gzip, enum text_wide wide, fo_err *err) {
    text_unwrap *u = calloc(1, sizeof *u);
    if (!u) return fo_no_memory(err);
    u->gzip = gzip;
    u->wide = wide;
    if (gzip && inflateInit2(&u->z, 16 + MAX_WBITS) != Z_OK) {
        free(u);
        return fo_no_memory(err);
    }
    *out = u;
    return FO_OK;
}

void text_unwrap_free(text_unwrap *u) {
    if (!u) return;
    if (u->gzip) inflateEnd(&u->z);
    free(u);
}

/* ---- UTF-16 ---------------------------------------------------------------------------------------- */

static int flush(text_unwrap *u, text_unwrap_fn *to, void *ctx, fo_err *err) {
    size_t n = u->n_text;
    u->n_text = 0;
    return n ? to(ctx, u->text, n, err) : FO_OK;
}

static int put(text_unwrap *u, int32_t cp, text_unwrap_fn *to, void *ctx, fo_err *err) {
    bool mark = !u->begun && cp == 0xFEFF;
    u->begun = true;
    if (mark) return FO_OK;
    u->n_text += fo_utf8_encode(cp, u->text + u->n_text);
    return u->n_text < PIECE ? FO_OK : flush(u, to, ctx, err);
}

static int32_t unit(const text_unwrap *u, const unsigned char *b) {
    return u->wide == TEXT_UTF16_BE ? b[0] << 8 | b[1] : b[1] << 8 | b[0];
}

/* What is held is a character, or the first half of one. */
static int put_held(text_unwrap *u, text_unwrap_fn *to, void *ctx, fo_err *err) {
    int32_t first = unit(u, u->held), second = u->n_held == 4 ? unit(u, u->held + 2) : 0;
    bool high = first >= 0xD800 && first < 0xDC00, low = second >= 0xDC00 && second < 0xE000;
    if (u->n_held == 2 && high) return FO_OK; /* its second half is to come */
    if (high && low) {
        u->n_held = 0;
        return put(u, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), to, ctx, err);
    }
    memmove(u->held, u->held + 2, u->n_held - 2);
    u->n_held -= 2;
    int rc = put(u, first >= 0xD800 && first < 0xE000 ? REPLACEMENT : first, to, ctx, err);
    return rc || u->n_held < 2 ? rc : put_held(u, to, ctx, err);
}

static int widen(text_unwrap *u, const unsigned char *s, size_t n, text_unwrap_fn *to, void *ctx,
                 fo_err *err) {
    if (!u->wide) return n ? to(ctx, (const char *)s, n, err) : FO_OK;
    int rc = FO_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        u->held[u->n_held++] = s[i];
        if (u->n_held % 2 == 0) rc = put_held(u, to, ctx, err);
    }
    return rc ? rc : flush(u, to, ctx, err);
}

/* ---- gzip ------------------------------------------------------------------------------------------ */

/* Another member, or padding: two bytes tell. True: these bytes belong to what is no member yet. */
static bool between(text_unwrap *u, const unsigned char **s, size_t *n) {
    while (*n && u->n_head < 2) {
        u->head[u->n_head++] = **s;
        ++*s, --*n;
    }
    if (u->n_head < 2) return true;
    if (u->head[0] != 0x1F || u->head[1] != 0x8B) {
        u->over = true;
        return true;
    }
    inflateReset(&u->z);
    u->within = true;
    u->n_head = 0;
    return false;
}

/* Some bytes of a member. *used: of them. */
static int inflate_some(text_unwrap *u, const unsigned char *s, size_t n, size_t *used,
                        text_unwrap_fn *to, void *ctx, fo_err *err) {
    int got = Z_OK, rc = FO_OK;
    u->z.next_in = (unsigned char *)s;
    u->z.avail_in = (uInt)n;
    do {
        u->z.next_out = u->piece;
        u->z.avail_out = PIECE;
        got = inflate(&u->z, Z_NO_FLUSH);
        size_t k = PIECE - u->z.avail_out;
        u->out += k;
        if (got == Z_MEM_ERROR) return fo_no_memory(err);
        if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR)
            return fo_fail(err, FO_EINVAL, "the gzip data is damaged at byte %llu",
                           (unsigned long long)(u->in + n - u->z.avail_in));
        if (u->out > FREE_BYTES && u->out / TEXT_MAX_RATIO > u->in + n)
            return fo_fail(err, FO_ELIMIT,
                           "the gzip data unpacks to more than %d times its size: a bomb",
                           TEXT_MAX_RATIO);
        rc = widen(u, u->piece, k, to, ctx, err);
    } while (!rc && got == Z_OK && u->z.avail_out == 0);
    if (got == Z_STREAM_END) {
        u->within = false;
        u->any = true;
    }
    *used = n - u->z.avail_in;
    u->in += *used;
    return rc;
}

int text_unwrap_feed(text_unwrap *u, const void *p, size_t n, text_unwrap_fn *to, void *ctx,
                     fo_err *err) {
    const unsigned char *s = p;
    if (!u->gzip) return widen(u, s, n, to, ctx, err);
    while (n && !u->over) {
        size_t step = n < PIECE ? n : PIECE, used = 0;
        int rc = FO_OK;
        if (!u->within) {
            if (between(u, &s, &n)) continue;
            rc = inflate_some(u, (const unsigned char *)"\x1F\x8B", 2, &used, to, ctx, err);
        } else {
            rc = inflate_some(u, s, step, &used, to, ctx, err);
            s += used;
            n -= used;
        }
        if (rc) return rc;
    }
    return FO_OK;
}

int text_unwrap_end(text_unwrap *u, text_unwrap_fn *to, void *ctx, fo_err *err) {
    if (u->gzip && (u->within || !u->any))
        return fo_fail(err, FO_EINVAL, "the gzip data ends too early");
    bool cut = u->n_held > 0;
    u->n_held = 0;
    int rc = cut ? put(u, REPLACEMENT, to, ctx, err) : FO_OK;
    return rc ? rc : flush(u, to, ctx, err);
}
