#include "data/extract/text_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/extract/csv_rows.h"
#include "data/extract/gzip.h"
#include "data/extract/text_unwrap.h"
#include "kernels/utf8.h"

enum { MAX_HEADER = 64 << 10 };

/* May s[at..n] be a line of three hyphens or plus signs? At a text's top it begins what is no text of it (front_matter.h). */
static bool begins_rule(const char *s, size_t at, size_t n) {
    size_t k = at;
    while (k <= n && k < at + 3 && s[k] == s[at] && (s[k] == '-' || s[k] == '+')) k++;
    return k > n || (k == at + 3 && (s[k] == '\n' || s[k] == '\r'));
}

/* Where the part that begins at s ends, of n bytes and one more that are there: behind an empty line of its last half, else
 * behind a line, a word, a character. */
static size_t part_end(const char *s, size_t n) {
    const size_t from = n / 2;
    size_t line = 0, word = 0;
    for (size_t at = n; at > from; at--) {
        if (s[at - 1] == '\n' && !begins_rule(s, at, n)) {
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
    text_part p = {.number = ++c->n_parts, .at = c->at, .bytes = bytes, .n = n};
    c->at += n;
    if (c->kind.table && p.number > 1) {
        fo_buf_clear(&c->joined);
        fo_buf_add(&c->joined, c->header.data, c->header.len);
        fo_buf_add(&c->joined, bytes, n);
        if (c->joined.failed) return fo_no_memory(err);
        p.bytes = c->joined.data;
        p.n = c->joined.len;
        p.n_repeated = c->header.len;
        p.header_rows = (uint32_t)c->n_header_rows;
        p.first_row = c->row + 1 < UINT32_MAX ? (uint32_t)c->row + 1 : UINT32_MAX;
    }
    return c->part(c->ctx, &p, err);
}

/* The table's beginning is there: what is repeated before each part of it. */
static void learn_table(text_cutter *c) {
    const char *s = c->held.data;
    size_t n = c->held.len < MAX_HEADER ? c->held.len : MAX_HEADER;
    c->separator = csv_separator(s, n);
    size_t k = csv_header(s, n, c->separator, &c->n_header_rows);
    if (k < n)
        fo_buf_add(&c->header, s, k);
    else
        c->n_header_rows = 0; /* a line without an end names nothing */
}

/* Bytes of the next part, whose first TEXT_PART_BYTES and one more are there, and how many rows it has. */
static size_t next_end(text_cutter *c, const char *s, uint64_t *n_rows) {
    size_t n = TEXT_PART_BYTES;
    *n_rows = 0;
    if (!c->kind.table) return part_end(s, n);
    if (!c->separator) learn_table(c);
    if (c->n_parts) n -= c->header.len;
    size_t end = csv_rows_end(s, n, c->separator, true, n_rows);
    if (end) return end;
    end = part_end(s, n); /* a row as long as a part is none that anybody meant */
    csv_rows_end(s, end, c->separator, false, n_rows);
    return end;
}

static int cut(void *ctx, const char *s, size_t n, fo_err *err) {
    text_cutter *c = ctx;
    while (n) {
        size_t room = 2 * (size_t)TEXT_PART_BYTES - c->held.len, k = n < room ? n : room;
        fo_buf_add(&c->held, s, k);
        if (c->held.failed) return fo_no_memory(err);
        s += k;
        n -= k;
        /* One byte more than a part has: part_end looks at what a cut would stand before. */
        size_t done = 0;
        while (c->held.len - done > TEXT_PART_BYTES) {
            uint64_t n_rows;
            size_t end = next_end(c, c->held.data + done, &n_rows);
            if (c->header.failed) return fo_no_memory(err);
            int rc = put(c, c->held.data + done, end, err);
            if (rc) return rc;
            c->row += n_rows;
            done += end;
        }
        memmove(c->held.data, c->held.data + done, c->held.len - done);
        c->held.len -= done;
    }
    return FO_OK;
}

/* What is wrong with the text alone is kept, and the rest of it passed over. */
static int judge(text_cutter *c, int rc, const fo_err *why, fo_err *err) {
    if (rc == FO_EINVAL || rc == FO_ELIMIT) {
        c->bad = *why;
        return FO_OK;
    }
    if (rc && err) *err = *why;
    return rc;
}

typedef struct
    taker { /* of what is unwrapped: errors of who takes the parts are no errors of the text */
    text_cutter *c;
    int rc;
} taker;

static int take(void *ctx, const char *s, size_t n, fo_err *err) {
    taker *t = ctx;
    t->rc = cut(t->c, s, n, err);
    return t->rc;
}

int text_cutter_feed(text_cutter *c, const void *p, size_t n, fo_err *err) {
    if (!c->kind.gzip && !c->kind.wide) return cut(c, p, n, err);
    if (c->bad.code) return FO_OK;
    fo_err why = {0};
    taker t = {c, FO_OK};
    int rc = c->unwrap ? FO_OK : text_unwrap_create(&c->unwrap, c->kind.gzip, c->kind.wide, &why);
    if (!rc) rc = text_unwrap_feed(c->unwrap, p, n, take, &t, &why);
    if (!t.rc) return judge(c, rc, &why, err);
    if (err) *err = why;
    return t.rc;
}

int text_cutter_end(text_cutter *c, int rc, fo_err *err) {
    if (!rc && c->unwrap && !c->bad.code) {
        fo_err why = {0};
        taker t = {c, FO_OK};
        rc = text_unwrap_end(c->unwrap, take, &t, &why);
        if (!t.rc)
            rc = judge(c, rc, &why, err);
        else if (err)
            *err = why;
    }
    if (!rc && c->held.len) rc = put(c, c->held.data, c->held.len, err);
    text_unwrap_free(c->unwrap);
    c->unwrap = NULL;
    fo_buf_free(&c->held);
    fo_buf_free(&c->header);
    fo_buf_free(&c->joined);
    return rc;
}

bool text_may_be_large(uint64_t size, const void *head, size_t n_head, const void *tail,
                       size_t n_tail) {
    if (size > TEXT_WHOLE_BYTES) return true;
    if (n_tail < 4 || size < 4 || !gzip_is(head, n_head)) return false;
    const unsigned char *e = tail;
    uint64_t says =
        (uint64_t)e[0] | (uint64_t)e[1] << 8 | (uint64_t)e[2] << 16 | (uint64_t)e[3] << 24;
    /* What says of itself that it is a bomb is refused whole, before a part of it is stored. */
    return says > TEXT_WHOLE_BYTES && says / TEXT_MAX_RATIO <= size;
}

bool text_file_may_be_large(int fd, uint64_t size) {
    unsigned char head[2], tail[4];
    if (size > TEXT_WHOLE_BYTES) return true;
    if (size < 18 || pread(fd, head, 2, 0) != 2 || pread(fd, tail, 4, (off_t)size - 4) != 4)
        return false;
    return text_may_be_large(size, head, 2, tail, 4);
}

void text_part_name(fo_buf *out, const char *whole, size_t number) {
    fo_buf_printf(out, "%s/part-%06zu", whole, number);
}
