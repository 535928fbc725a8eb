/* See sheet_merges.h. */
#include "data/extract/sheet_merges.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MERGES = 65536, MAX_BYTES = 8 << 20, MAX_ENTRY = 512 };
enum { MAX_ROW = 1048576, MAX_COLUMN = 16384 };

static const char list[] = "mergeCells", entry[] = "mergeCell ";

const char *sheet_cell_read(const char *s, uint32_t *column, uint32_t *row) {
    uint32_t c = 0, n = 0;
    for (; isalpha((unsigned char)*s) && n < 3; s++, n++)
        c = c * 26 + (uint32_t)(toupper((unsigned char)*s) - 'A') + 1;
    if (!n || c > MAX_COLUMN) return NULL;
    *column = c - 1;
    char *end;
    unsigned long v = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;
    if (v > 0 && v <= MAX_ROW) *row = (uint32_t)v;
    return v ? end : s;
}

/* ---- the end of the part, from where the list begins ---------------------------------------------- */

enum { BEFORE = sizeof list }; /* bytes: a mark of an element and the list's name */

typedef struct tail {
    fo_buf text; /* of the list; until it begins, the last few bytes that were read */
    bool begun;
} tail;

/* Where the list begins in what was gathered; NULL: nowhere. In the words of a cell, "<" stands escaped. */
static const char *find_list(const fo_buf *text) {
    const char *s = text->data, *end = s + text->len;
    while ((s = memmem(s, (size_t)(end - s), list, sizeof list - 1))) {
        if (s > text->data && (s[-1] == '<' || s[-1] == ':')) return s;
        s++;
    }
    return NULL;
}

static bool on_piece(void *ctx, const char *piece, size_t n) {
    tail *t = ctx;
    fo_buf_add(&t->text, piece, n);
    if (t->text.failed) return false;
    if (t->begun) return t->text.len < MAX_BYTES;
    const char *at = find_list(&t->text);
    t->begun = at != NULL;
    size_t keep = at ? t->text.len - (size_t)(at - t->text.data) : BEFORE;
    if (keep > t->text.len) keep = t->text.len;
    memmove(t->text.data, t->text.data + t->text.len - keep, keep + 1);
    t->text.len = keep;
    return true;
}

/* ---- the list ------------------------------------------------------------------------------------- */

static bool add(sheet_merges *m, const sheet_merge *one) {
    if (m->n == m->cap) {
        size_t more = m->cap ? 2 * m->cap : 64;
        sheet_merge *grown = realloc(m->merges, more * sizeof *grown);
        if (!grown) return false;
        m->merges = grown;
        m->cap = more;
    }
    m->merges[m->n++] = *one;
    return true;
}

/* s: behind "mergeCell ", of an element that ends at `end`. */
static bool read_merge(const char *s, const char *end, sheet_merge *out) {
    const char *ref = memmem(s, (size_t)(end - s), "ref=", 4);
    if (!ref) return false;
    const char *to = sheet_cell_read(ref + 5, &out->column, &out->row);
    if (!to || *to != ':' || !sheet_cell_read(to + 1, &out->last_column, &out->last_row))
        return false;
    return out->row && out->row <= out->last_row && out->column <= out->last_column;
}

static int by_place(const void *a, const void *b) {
    const sheet_merge *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static bool read_list(sheet_merges *m, const fo_buf *text) {
    const char *s = text->data, *stop = s + text->len;
    const size_t n = sizeof entry - 1;
    while (m->n < MAX_MERGES && (s = memchr(s, entry[0], (size_t)(stop - s)))) {
        if ((size_t)(stop - s) < n || memcmp(s, entry, n) != 0) {
            s++;
            continue;
        }
        sheet_merge one = {0};
        s += n;
        const size_t left = (size_t)(stop - s);
        const char *end = memchr(s, '>', left < MAX_ENTRY ? left : MAX_ENTRY);
        if (end && read_merge(s, end, &one) && !add(m, &one)) return false;
    }
    if (m->n) qsort(m->merges, m->n, sizeof *m->merges, by_place);
    return true;
}

int sheet_merges_find(sheet_merges *m, zip_parts *z, const char *part, fo_err *err) {
    tail t = {0};
    m->n = m->next = 0;
    int rc = zip_parts_each_piece(z, part, on_piece, &t, err);
    bool fine = !t.text.failed && (rc || !t.begun || read_list(m, &t.text));
    fo_buf_free(&t.text);
    return rc ? rc : fine ? FO_OK : fo_no_memory(err);
}

const sheet_merge *sheet_merges_at(sheet_merges *m, uint32_t row, uint32_t column) {
    const sheet_merge cell = {.row = row, .column = column};
    while (m->next < m->n && by_place(&m->merges[m->next], &cell) < 0) m->next++;
    const sheet_merge *one = m->next < m->n ? &m->merges[m->next] : NULL;
    return one && !by_place(one, &cell) ? one : NULL;
}

void sheet_merges_free(sheet_merges *m) {
    free(m->merges);
    *m = (sheet_merges){0};
}
