#include "data/extract/pdf_centred.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LINES = 6 }; /* of a cell: more are a column of running text */

static const float TIGHT = .25f; /* of a line's height: lines of one cell are no farther apart */
static const float ALIKE = .15f; /* the same: middles that are one */

static float height_of(const segment *s) {
    return pdf_finder_height_of(s->line);
}

static float middle(const segment *s) {
    return s->line->box[1] + s->line->box[3];
}

static int by_height(const void *a, const void *b) {
    const segment *x = a, *y = b;
    const float m = middle(x), n = middle(y);
    return m != n ? m < n ? -1 : 1 : (x->word > y->word) - (x->word < y->word);
}

static bool share_width(const segment *a, const segment *b) {
    return (a->x1 < b->x1 ? a->x1 : b->x1) > (a->x0 > b->x0 ? a->x0 : b->x0);
}

/* The first segment of the cell, which knows its extent. */
static uint32_t first_of(finder *f, uint32_t i) {
    while (f->s[i].cell != i) i = f->s[i].cell = f->s[f->s[i].cell].cell;
    return i;
}

static void join(finder *f, uint32_t a, uint32_t b, bool centred) {
    a = first_of(f, a), b = first_of(f, b);
    if (a == b) return;
    if (a > b) {
        const uint32_t c = a;
        a = b, b = c;
    }
    f->s[b].cell = a;
    if (f->s[b].y0 < f->s[a].y0) f->s[a].y0 = f->s[b].y0;
    if (f->s[b].y1 > f->s[a].y1) f->s[a].y1 = f->s[b].y1;
    if (f->s[b].lines > f->s[a].lines) f->s[a].lines = f->s[b].lines;
    f->s[a].joined |= centred || f->s[b].joined;
}

/* Lines that stand close below each other become cells. */
static void make_cells(finder *f) {
    for (uint32_t i = 0; i < f->n; i++) {
        segment *s = &f->s[i];
        s->cell = i;
        s->lines = s->own_line = 1;
        s->joined = false;
        s->y0 = s->line->box[1], s->y1 = s->line->box[3];
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const segment *a = &f->s[i];
        for (uint32_t k = i + 1; k < f->n && middle(&f->s[k]) - middle(a) < 3 * height_of(a); k++) {
            segment *b = &f->s[k];
            const float gap = b->line->box[1] - a->line->box[3];
            if (gap < -.5f * height_of(a) || gap > TIGHT * height_of(a) || !share_width(a, b))
                continue;
            if (b->lines <= a->own_line) b->lines = b->own_line = a->own_line + 1;
            join(f, i, k, false);
        }
    }
}

/* Are the cells of two segments beside each other, each of few lines as high as those of the other, and their middles one? */
static bool are_centred(finder *f, uint32_t i, uint32_t k) {
    const segment *a = &f->s[first_of(f, i)], *b = &f->s[first_of(f, k)];
    const float height = height_of(&f->s[i]), other = height_of(&f->s[k]);
    return a != b && !share_width(&f->s[i], &f->s[k]) &&
           fabsf(a->y0 + a->y1 - b->y0 - b->y1) < 2 * ALIKE * height &&
           fabsf(height - other) < ALIKE * height && (a->lines + b->lines) % 2 &&
           a->lines <= MOST_LINES && b->lines <= MOST_LINES;
}

void pdf_centred_join(finder *f) {
    qsort(f->s, f->n, sizeof *f->s, by_height);
    make_cells(f);
    for (uint32_t i = 0; i < f->n; i++) {
        const segment *a = &f->s[i];
        const float far = middle(a) + 2 * MOST_LINES * height_of(a);
        for (uint32_t k = i + 1; k < f->n && middle(&f->s[k]) < far; k++)
            if (are_centred(f, i, k)) join(f, i, k, true);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        segment *s = &f->s[i];
        const segment *first = &f->s[first_of(f, i)];
        /* A cell that nothing is centred on goes by its lines, as if it were none. */
        s->y0 = first->joined ? first->y0 : s->line->box[1];
        s->y1 = first->joined ? first->y1 : s->line->box[3];
    }
}
