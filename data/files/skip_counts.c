#include "data/files/skip_counts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(skip_counts *c, const char *kind, size_t n) {
    if (strlen(kind) >= SKIP_KIND_BYTES) kind = "other";
    c->n += n;
    for (size_t i = 0; i < c->n_kinds; i++)
        if (!strcmp(c->by[i].kind, kind)) {
            c->by[i].n += n;
            return;
        }
    if (c->n_kinds == SKIP_KINDS) { /* the last row takes what has none */
        c->by[SKIP_KINDS - 1].n += n;
        return;
    }
    if (c->n_kinds == SKIP_KINDS - 1) kind = "other";
    snprintf(c->by[c->n_kinds].kind, SKIP_KIND_BYTES, "%s", kind);
    c->by[c->n_kinds++].n = n;
}

void skip_counts_add(skip_counts *c, const char *kind) {
    add(c, kind, 1);
}

void skip_counts_join(skip_counts *to, const skip_counts *from) {
    for (size_t i = 0; i < from->n_kinds; i++) add(to, from->by[i].kind, from->by[i].n);
}

void skip_counts_add_file(skip_counts *c, const char *name) {
    static const char *const outer[] = {".gz", ".bz2", ".xz", ".zst", ".Z"};
    const char *end = strrchr(name, '.');
    if (!end || end == name || !end[1]) {
        skip_counts_add(c, "no ending");
        return;
    }
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++) {
        if (strcasecmp(end, outer[i]) != 0) continue;
        const char *inner = end; /* of x.tar.gz; a version such as 1.2.gz has none */
        while (inner > name + 1 && isalnum((unsigned char)inner[-1])) inner--;
        if (inner > name + 1 && inner[-1] == '.' && isalpha((unsigned char)*inner))
            end = inner - 1;
        else if (i == 0) /* gzip is read: INTRO.gz is left out as INTRO would be */
            end = "no ending";
        break;
    }
    char kind[SKIP_KIND_BYTES + 1];
    snprintf(kind, sizeof kind, "%s", end); /* what is cut is too long for a row as well */
    for (char *p = kind; *p; p++) *p = (char)tolower((unsigned char)*p);
    skip_counts_add(c, kind);
}

static int by_count(const void *a, const void *b) {
    const skip_kind *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->kind, y->kind);
}

void skip_counts_sort(skip_counts *c) {
    if (c->n_kinds) qsort(c->by, c->n_kinds, sizeof *c->by, by_count);
}

void skip_counts_write(skip_counts *c, fo_buf *b) {
    if (!c->n) return;
    skip_counts_sort(c);
    fo_buf_printf(b, "%zu skipped:", c->n);
    for (size_t i = 0; i < c->n_kinds; i++)
        fo_buf_printf(b, "%s %s %zu", i ? "," : "", c->by[i].kind, c->by[i].n);
}
