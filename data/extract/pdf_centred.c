#include "data/extract/pdf_centred.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_LINES = 6 }; /* of a cell: more are a column of running text */

static const float TIGHT = .5f;  /* of a line's height: lines of one cell are no farther apart */
static const float CLOSE = .25f; /* the same: nearer than lines of two rows mostly are */
static const float ALIKE = .15f; /* the same: middles that are one */
static const float STEP = .08f; /* the same: lines of one cell are all as far apart, but for this */
static const float FAR = 1e9f;

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

/* May the second be the line below the first in a cell? *gap: between them, in points. */
static bool are_close(const segment *a, const segment *b, float *gap) {
    const float height = height_of(a);
    *gap = b->line->box[1] - a->line->box[3];
    return *gap >= -.5f * height && *gap <= TIGHT * height && share_width(a, b);
}

static float least(float a, float b) {
    return a < b ? a : b;
}

static void begin_cells(finder *f) {
    for (uint32_t i = 0; i < f->n; i++) {
        segment *s = &f->s[i];
        s->cell = i;
        s->lines = s->own_line = 1;
        s->joined = false;
        s->above = s->below = FAR;
        s->y0 = s->line->box[1], s->y1 = s->line->box[3];
    }
}

/* One past the segments that may stand right below segment i. */
static uint32_t end_below(const finder *f, uint32_t i) {
    uint32_t k = i + 1;
    while (k < f->n && middle(&f->s[k]) - middle(&f->s[i]) < 3 * height_of(&f->s[i])) k++;
    return k;
}

/* Lines that stand close below each other become cells. Rows are often hardly farther apart than the lines of a cell: where a
 * line has a nearer one on its other side, it is of another cell. */
static void make_cells(finder *f) {
    float gap;
    begin_cells(f);
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = i + 1, end = end_below(f, i); k < end; k++) {
            segment *a = &f->s[i], *b = &f->s[k];
            if (!are_close(a, b, &gap)) continue;
            a->below = least(a->below, gap), b->above = least(b->above, gap);
        }
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = i + 1, end = end_below(f, i); k < end; k++) {
            segment *a = &f->s[i], *b = &f->s[k];
            if (!are_close(a, b, &gap) || gap > least(a->above, b->below) + STEP * height_of(a))
                continue;
            if (b->lines <= a->own_line) b->lines = b->own_line = a->own_line + 1;
            join(f, i, k, false);
        }
}

/* Are the cells of two segments beside each other, each of few lines as high as those of the other, and their middles one? */
static bool have_one_middle(finder *f, uint32_t i, uint32_t k) {
    const segment *a = &f->s[first_of(f, i)], *b = &f->s[first_of(f, k)];
    const float height = height_of(&f->s[i]), other = height_of(&f->s[k]);
    return a != b && !share_width(&f->s[i], &f->s[k]) &&
           fabsf(a->y0 + a->y1 - b->y0 - b->y1) < 2 * ALIKE * height &&
           fabsf(height - other) < ALIKE * height && a->lines <= MOST_LINES &&
           b->lines <= MOST_LINES;
}

/* Lines that no other cell has beside them show it: one between the two of another cell. So does, once others are known to be
 * centred, that it stands in their middle. */
static bool are_centred(finder *f, uint32_t i, uint32_t k, bool others_known) {
    const segment *a = &f->s[first_of(f, i)], *b = &f->s[first_of(f, k)];
    return ((a->lines + b->lines) % 2 || (others_known && (a->joined || b->joined))) &&
           have_one_middle(f, i, k);
}

/* Cells beside each other, of all pairs. */
static void join_centred(finder *f, bool others_known) {
    for (uint32_t i = 0; i < f->n; i++) {
        const segment *a = &f->s[i];
        const float far = middle(a) + 2 * MOST_LINES * height_of(a);
        for (uint32_t k = i + 1; k < f->n && middle(&f->s[k]) < far; k++)
            if (are_centred(f, i, k, others_known)) join(f, i, k, true);
    }
}

/* Do all lines of the cell behind its first begin with a small letter, as those of a name that is too long for a line do? */
static bool goes_on_small(finder *f, uint32_t cell) {
    const pdf_layout *p = f->p;
    for (uint32_t k = cell + 1; k < f->n && middle(&f->s[k]) < 2 * f->s[cell].y1; k++)
        if (first_of(f, k) == cell &&
            !islower((unsigned char)p->text.data[p->words[f->s[k].word].at]))
            return false;
    return true;
}

/* The cells beside cell i, of three lines or more, that are centred on it and have 2, 4, ... lines less: one line stands beside its
 * middle one, and could be a row of its own. These and those as high as it are joined where the lower ones are as many, for
 * then the rows above and below would have nearly nothing. Names of rows that are the higher ones have to show that
 * they go on: "Assets", "Cash" with figures, and "Debts" are three. */
static void join_even(finder *f, uint32_t i) {
    enum { MOST = 64 }; /* columns */
    uint32_t beside[MOST], n = 0, high = 1, low = 0, left = i;
    bool many_lines = false;
    const segment *a = &f->s[i];
    const uint32_t lines = a->lines;
    uint32_t from = i;
    while (from && middle(&f->s[from - 1]) > 2 * a->y0) from--;
    for (uint32_t k = from; k < f->n && middle(&f->s[k]) < 2 * a->y1 && n < MOST; k++) {
        const segment *b = &f->s[k];
        if (b->cell != k || b->lines > lines || (b->lines + lines) % 2 || !have_one_middle(f, i, k))
            continue;
        beside[n++] = k;
        if (b->lines == lines)
            high++;
        else
            low++, many_lines |= b->lines > 1;
        if (b->x0 < f->s[left].x0) left = k;
    }
    const bool loose = a->below > CLOSE * height_of(a);
    if (low < high + many_lines || low < (loose ? 2 : 1) ||
        (f->s[left].lines == lines && !goes_on_small(f, left)))
        return;
    for (uint32_t k = 0; k < n; k++) join(f, i, beside[k], true);
}

void pdf_centred_join(finder *f) {
    qsort(f->s, f->n, sizeof *f->s, by_height);
    make_cells(f);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->s[i].cell == i && f->s[i].lines > 2 && f->s[i].lines <= MOST_LINES) join_even(f, i);
    join_centred(f, false);
    join_centred(f, true);
    for (uint32_t i = 0; i < f->n; i++) {
        segment *s = &f->s[i];
        const segment *first = &f->s[first_of(f, i)];
        /* A cell that nothing is centred on goes by its lines, as if it were none. */
        s->y0 = first->joined ? first->y0 : s->line->box[1];
        s->y1 = first->joined ? first->y1 : s->line->box[3];
    }
}
