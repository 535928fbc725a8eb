/* Reading order where a page has columns. pdftotext orders blocks by where they begin, which mixes
 * columns whose paragraphs are of different lengths. Here a page is looked at for a gutter: a place that
 * nearly no line crosses, with lines on both sides that fill their column. What crosses it (a title, a
 * wide figure) parts the page in bands; a band is read column by column, each looked at again. Tables
 * and lists of terms have no gutter in this sense: their cells do not fill their columns. */
#include "data/extract/pdf_layout.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS = 256,     /* a page's width is looked at in so many steps */
    MAX_DEPTH = 3,  /* two columns, four, eight */
    MIN_LINES = 4,  /* of a column */
    MIN_ROOM = 100, /* points: narrower text has no columns */
};

typedef struct ranked {
    pdf_line line;
    uint32_t rank, seq; /* where it goes; and where it was */
    int top, left;      /* of its block, in a column */
} ranked;

static float middle(const pdf_line *l) {
    return (l->box[1] + l->box[3]) / 2;
}

typedef struct extent {
    float x0, x1;
    size_t n;
} extent;

static extent extent_of(const ranked *r, size_t n) {
    extent e = {1e9f, -1e9f, 0};
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        if (l->is_running || !l->n) continue;
        if (l->box[0] < e.x0) e.x0 = l->box[0];
        if (l->box[2] > e.x1) e.x1 = l->box[2];
        e.n++;
    }
    return e;
}

/* -1: left of g, 1: right of it, 0: across, or none of the text. */
static int side_of(const pdf_line *l, float g) {
    static const float TOLERANCE = 4;
    if (l->box[2] <= g + TOLERANCE) return -1;
    return l->box[0] >= g - TOLERANCE ? 1 : 0;
}

/* Do the lines on both sides of g look like columns of text beside each other? */
static bool holds_columns(const ranked *r, size_t n, const extent *e, float g) {
    struct {
        size_t lines, full;
        float top, foot;
    } c[2] = {{0, 0, 1e9f, -1e9f}, {0, 0, 1e9f, -1e9f}};
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        int side = l->is_running || !l->n ? 0 : side_of(l, g);
        if (!side) continue;
        float width = side < 0 ? g - e->x0 : e->x1 - g;
        int k = side > 0;
        c[k].lines++;
        c[k].full += l->box[2] - l->box[0] > .7f * width;
        if (l->box[1] < c[k].top) c[k].top = l->box[1];
        if (l->box[3] > c[k].foot) c[k].foot = l->box[3];
    }
    float top = c[0].top > c[1].top ? c[0].top : c[1].top;
    float foot = c[0].foot < c[1].foot ? c[0].foot : c[1].foot;
    float low = c[0].foot - c[0].top, other = c[1].foot - c[1].top;
    if (other < low) low = other;
    for (int k = 0; k < 2; k++)
        if (c[k].lines < MIN_LINES || c[k].full * 2 < c[k].lines) return false;
    return foot - top > .3f * low && (c[0].lines + c[1].lines) * 10 >= e->n * 6;
}

/* The middle of the gutter, 0 where there is none. */
static float find_gutter(const ranked *r, size_t n, const extent *e) {
    size_t across[BINS] = {0};
    float width = e->x1 - e->x0;
    if (e->n < 2 * MIN_LINES || width < MIN_ROOM) return 0;
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        if (l->is_running || !l->n) continue;
        int from = (int)((l->box[0] - e->x0) / width * BINS);
        int to = (int)((l->box[2] - e->x0) / width * BINS);
        for (int k = from < 0 ? 0 : from; k <= to && k < BINS; k++) across[k]++;
    }
    /* The widest run of steps that few lines cross, not too near the edges. */
    size_t few = e->n / 7;
    int best = 0, best_at = 0;
    for (int k = BINS / 5, run = 0; k < BINS * 4 / 5; k++) {
        run = across[k] <= few ? run + 1 : 0;
        if (run > best) {
            best = run;
            best_at = k - run / 2;
        }
    }
    if (best == 0) return 0;
    float g = e->x0 + ((float)best_at + .5f) * width / BINS;
    return holds_columns(r, n, e, g) ? g : 0;
}

static int by_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_top(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->top != y->top) return x->top < y->top ? -1 : 1;
    if (x->left != y->left) return x->left < y->left ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* The lines of one column: its blocks from top to bottom. */
static void order_column(ranked *r, size_t n) {
    enum { STEP = 4 }; /* points: what begins within them stands beside each other */
    for (size_t i = 0, end; i < n; i = end) {
        float top = 1e6f, left = 1e6f;
        for (end = i; end < n && r[end].line.block == r[i].line.block; end++) {
            if (r[end].line.box[1] < top) top = r[end].line.box[1];
            if (r[end].line.box[0] < left) left = r[end].line.box[0];
        }
        for (size_t k = i; k < end; k++) {
            r[k].top = (int)(top / STEP);
            r[k].left = (int)left;
            r[k].seq = (uint32_t)k;
        }
    }
    qsort(r, n, sizeof *r, by_top);
}

static int compare_floats(const void *a, const void *b) {
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Put lines r[0..n) in order; across: room for n numbers. True where they have columns. */
static bool order(builder *b, ranked *r, size_t n, float *across, int depth) {
    extent e = extent_of(r, n);
    float g = depth < MAX_DEPTH ? find_gutter(r, n, &e) : 0;
    if (g <= 0 || !builder_go_on(b, n * sizeof *r)) return false;
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!side_of(&r[i].line, g) && !r[i].line.is_running) across[m++] = middle(&r[i].line);
    qsort(across, m, sizeof *across, compare_floats);
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        size_t above = 0, high = m; /* lines across that stand above it */
        while (above < high) {
            size_t mid = above + (high - above) / 2;
            if (across[mid] < middle(l))
                above = mid + 1;
            else
                high = mid;
        }
        int side = side_of(l, g);
        r[i].rank = (uint32_t)(3 * above + (side ? side < 0 ? 1 : 2 : 3));
        r[i].seq = (uint32_t)i;
    }
    qsort(r, n, sizeof *r, by_rank);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].rank == r[i].rank;) end++;
        uint32_t rank = r[i].rank;
        if (!order(b, r + i, end - i, across, depth + 1)) order_column(r + i, end - i);
        for (size_t k = i; k < end; k++) r[k].rank = rank;
    }
    return true;
}

void pdf_layout_order_columns(pdf_layout *p, builder *b) {
    uint32_t block = 0;
    for (size_t first = 0, end; first < p->n_lines && !b->failure; first = end) {
        uint32_t page = p->lines[first].page;
        for (end = first; end < p->n_lines && p->lines[end].page == page;) end++;
        size_t n = end - first, bytes = n * (sizeof(ranked) + sizeof(float));
        if (!doc_budget_take(b->budget, bytes)) {
            b->failure = b->budget->failure;
            return;
        }
        ranked *r = malloc(n * sizeof *r);
        float *across = malloc(n * sizeof *across);
        if (!r || !across) b->failure = FO_ENOMEM;
        for (size_t i = 0; r && across && i < n; i++) r[i] = (ranked){.line = p->lines[first + i]};
        if (!b->failure) order(b, r, n, across, 0);
        uint32_t was = 0, rank = 0;
        for (size_t i = 0; !b->failure && i < n; i++) {
            uint32_t is = r[i].line.block;
            if (is != was || r[i].rank != rank) block++; /* counted anew, in the new order */
            was = is;
            rank = r[i].rank;
            p->lines[first + i] = r[i].line;
            p->lines[first + i].block = block;
        }
        free(r);
        free(across);
        doc_budget_give(b->budget, bytes);
    }
}
