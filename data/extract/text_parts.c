#include "data/extract/text_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/utf8.h"

enum { READ_BYTES = 64 << 10 };

/* Where the part that begins at s ends, of TEXT_PART_BYTES that are there: behind an empty line of its last half, else
 * behind a line, a word, a character. */
static size_t part_end(const char *s) {
    const size_t n = TEXT_PART_BYTES, from = n / 2;
    size_t line = 0, word = 0;
    for (size_t at = n; at > from; at--) {
        if (s[at - 1] == '\n') {
            if (!line) line = at;
            size_t before = at - 1;
            while (before > from && (s[before - 1] == '\r' || s[before - 1] == ' ')) before--;
            if (s[before - 1] == '\n') return at;
        } else if (!word && (s[at - 1] == ' ' || s[at - 1] == '\t')) {
            word = at;
        }
    }
    if (line || word) return line ? line : word;
    size_t whole = n;
    while (whole > n - 4 && !fo_utf8_boundary(s[whole])) whole--;
    return fo_utf8_boundary(s[whole]) ? whole : n;
}

static int put(text_cutter *c, const char *bytes, size_t n, fo_err *err) {
    text_part p = {++c->n_parts, c->at, bytes, n};
    c->at += n;
    return c->part(c->ctx, &p, err);
}

int text_cutter_feed(text_cutter *c, const void *p, size_t n, fo_err *err) {
    for (const char *s = p; n;) {
        size_t room = 2 * (size_t)TEXT_PART_BYTES - c->held.len, k = n < room ? n : room;
        fo_buf_add(&c->held, s, k);
        if (c->held.failed) return fo_no_memory(err);
        s += k;
        n -= k;
        /* One byte more than a part has: part_end looks at what a cut would stand before. */
        size_t done = 0;
        while (c->held.len - done > TEXT_PART_BYTES) {
            size_t end = part_end(c->held.data + done);
            int rc = put(c, c->held.data + done, end, err);
            if (rc) return rc;
            done += end;
        }
        memmove(c->held.data, c->held.data + done, c->held.len - done);
        c->held.len -= done;
    }
    return FO_OK;
}

int text_cutter_end(text_cutter *c, int rc, fo_err *err) {
    if (!rc && c->held.len) rc = put(c, c->held.data, c->held.len, err);
    fo_buf_free(&c->held);
    return rc;
}

int text_cutter_read(text_cutter *c, int fd, const atomic_bool *cancel, fo_err *err) {
    char *piece = malloc(READ_BYTES);
    int rc = piece ? FO_OK : fo_no_memory(err);
    while (!rc) {
        if (cancel && atomic_load(cancel)) {
            rc = fo_fail(err, FO_ECANCELLED, "cancelled");
            break;
        }
        ssize_t n = read(fd, piece, READ_BYTES);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) rc = fo_fail_errno(err, "cannot read it");
        if (n <= 0) break;
        rc = text_cutter_feed(c, piece, (size_t)n, err);
    }
    free(piece);
    return text_cutter_end(c, rc, err);
}

void text_part_name(fo_buf *out, const char *whole, size_t number) {
    fo_buf_printf(out, "%s/part-%06zu", whole, number);
}
