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
    uint32_t column;    /* lines of one share it */
    int top, left;      /* of its block, in a column */
    float middle;       /* its height on the page; lines of a table share it */
} ranked;

/* What columns are told by: neither heads nor tables. */
static bool is_text(const pdf_line *l) {
    return !l->is_running && l->n && !l->table;
}

typedef struct extent {
    float x0, x1;
    size_t n, bytes; /* lines of text */
} extent;

static extent extent_of(const ranked *r, size_t n) {
    extent e = {1e9f, -1e9f, 0, 0};
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        if (!is_text(l)) continue;
        if (l->box[0] < e.x0) e.x0 = l->box[0];
        if (l->box[2] > e.x1) e.x1 = l->box[2];
        e.n++;
        e.bytes += l->n;
    }
    return e;
}

/* -1: left of g, 1: right of it, 0: across, or none of the text. */
static int side_of(const pdf_line *l, float g) {
    static const float TOLERANCE = 4;
    if (l->box[2] <= g + TOLERANCE) return -1;
    return l->box[0] >= g - TOLERANCE ? 1 : 0;
}

/* Do the lines on both sides of g look like columns of text beside each other? Bytes are counted, not
 * lines: a formula has many short ones. */
static bool holds_columns(const ranked *r, size_t n, const extent *e, float g) {
    struct {
        size_t full, bytes, full_bytes;
        float top, foot;
    } c[2] = {{0, 0, 0, 1e9f, -1e9f}, {0, 0, 0, 1e9f, -1e9f}};
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        int side = is_text(l) ? side_of(l, g) : 0;
        if (!side) continue;
        float width = side < 0 ? g - e->x0 : e->x1 - g;
        bool full = l->box[2] - l->box[0] > .7f * width;
        int k = side > 0;
        c[k].full += full;
        c[k].bytes += l->n;
        if (full) c[k].full_bytes += l->n;
        if (l->box[1] < c[k].top) c[k].top = l->box[1];
        if (l->box[3] > c[k].foot) c[k].foot = l->box[3];
    }
    float top = c[0].top > c[1].top ? c[0].top : c[1].top;
    float foot = c[0].foot < c[1].foot ? c[0].foot : c[1].foot;
    float low = c[0].foot - c[0].top, other = c[1].foot - c[1].top;
    if (other < low) low = other;
    for (int k = 0; k < 2; k++)
        if (c[k].full < MIN_LINES || c[k].full_bytes * 2 < c[k].bytes) return false;
    return foot - top > .3f * low && (c[0].bytes + c[1].bytes) * 10 >= e->bytes * 6;
}

/* May a page be parted at g, where other pages of the document are? With less to show for it. */
static bool may_part(const ranked *r, size_t n, const extent *e, float g) {
    size_t lines[2] = {0, 0}, bytes = 0, full = 0;
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        int side = is_text(l) ? side_of(l, g) : 0;
        if (!side) continue;
        lines[side > 0]++;
        bytes += l->n;
        full += l->box[2] - l->box[0] > .7f * (side < 0 ? g - e->x0 : e->x1 - g);
    }
    return lines[0] >= MIN_LINES && lines[1] >= MIN_LINES && full >= MIN_LINES &&
           bytes * 10 >= e->bytes * 7;
}

/* The middle of the gutter, 0 where there is none. */
static float find_gutter(const ranked *r, size_t n, const extent *e) {
    size_t across[BINS] = {0};
    float width = e->x1 - e->x0;
    if (e->n < 2 * MIN_LINES || width < MIN_ROOM) return 0;
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        if (!is_text(l)) continue;
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

/* Put lines r[0..n) in order; across: room for n numbers; *column counts columns; usual: the gutter of
 * most pages, 0: there is none. True where they have columns. */
static bool order(builder *b, ranked *r, size_t n, float *across, int depth, uint32_t *column,
                  float usual) {
    extent e = extent_of(r, n);
    float g = depth < MAX_DEPTH ? find_gutter(r, n, &e) : 0;
    if (g <= 0 && usual > 0 && may_part(r, n, &e, usual)) g = usual;
    if (g <= 0 || !builder_go_on(b, n * sizeof *r)) return false;
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (r[i].line.table || (!side_of(&r[i].line, g) && !r[i].line.is_running))
            across[m++] = r[i].middle;
    qsort(across, m, sizeof *across, compare_floats);
    for (size_t i = 0; i < n; i++) {
        const pdf_line *l = &r[i].line;
        size_t above = 0, high = m; /* lines across that stand above it */
        while (above < high) {
            size_t mid = above + (high - above) / 2;
            if (across[mid] < r[i].middle)
                above = mid + 1;
            else
                high = mid;
        }
        int side = l->table ? 0 : side_of(l, g);
        r[i].rank = (uint32_t)(3 * above + (side ? side < 0 ? 1 : 2 : 3));
        r[i].seq = (uint32_t)i;
    }
    qsort(r, n, sizeof *r, by_rank);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].rank == r[i].rank;) end++;
        uint32_t rank = r[i].rank;
        if (!order(b, r + i, end - i, across, depth + 1, column, 0)) {
            order_column(r + i, end - i);
            ++*column;
            for (size_t k = i; k < end; k++) r[k].column = *column;
        }
        for (size_t k = i; k < end; k++) r[k].rank = rank;
    }
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* Those of r's lines that share a column; lines: room for n. */
static void find_tables(pdf_layout *p, builder *b, ranked *r, size_t n, pdf_line **lines,
                        float gutter) {
    for (size_t i = 0; i < n; i++) lines[i] = &r[i].line;
    pdf_layout_find_tables(p, b, lines, n, gutter);
}

/* The middle of each table is that of all its lines: they stay together. */
static void set_middles(const pdf_layout *p, ranked *r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const float *box = r[i].line.box;
        r[i].middle = (box[1] + box[3]) / 2;
        if (!r[i].line.table) continue;
        const pdf_table *t = &p->tables[r[i].line.table - 1];
        float top = p->pieces[t->piece].box[1], foot = p->pieces[t->piece + t->n_pieces - 1].box[3];
        r[i].middle = (top + foot) / 2;
    }
}

/* The lines of a table behind its first one, whatever stood between them. */
static void gather_tables(ranked *r, size_t n, ranked *room) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t table = r[i].line.table;
        if (r[i].seq == UINT32_MAX) continue; /* it has its place */
        room[k++] = r[i];
        for (size_t j = i + 1; table && j < n; j++) {
            if (r[j].line.table != table) continue;
            room[k++] = r[j];
            r[j].seq = UINT32_MAX;
        }
    }
    memcpy(r, room, n * sizeof *r);
}

/* ---- a page ---------------------------------------------------------------------------------------- */

/* r[0..n), the lines of a page, twice as much room behind them. */
static void order_page(pdf_layout *p, builder *b, ranked *r, size_t n, float *across,
                       pdf_line **lines, float usual) {
    uint32_t columns = 0;
    size_t before = p->n_tables;
    extent e = extent_of(r, n);
    float gutter = find_gutter(r, n, &e);
    if (gutter <= 0 && usual > 0 && may_part(r, n, &e, usual)) gutter = usual;
    if (gutter > 0) find_tables(p, b, r, n, lines, gutter);
    set_middles(p, r, n);
    order(b, r, n, across, 0, &columns, usual);
    for (size_t i = 0, end; i < n && !b->failure; i = end) {
        for (end = i + 1; end < n && r[end].column == r[i].column;) end++;
        find_tables(p, b, r + i, end - i, lines, 0);
    }
    if (p->n_tables == before || b->failure) return;
    for (size_t i = 0; i < n; i++) r[i].seq = (uint32_t)i;
    gather_tables(r, n, r + n);
}

/* The document's lines, a page at a time: what is done with them. */
typedef struct page_room {
    ranked *r; /* two for each line */
    float *across;
    pdf_line **lines;
    size_t bytes;
} page_room;

static bool take_room(page_room *room, builder *b, size_t n) {
    *room = (page_room){.bytes = n * (2 * sizeof(ranked) + sizeof(float) + sizeof(void *))};
    if (!doc_budget_take(b->budget, room->bytes)) {
        room->bytes = 0;
        b->failure = b->budget->failure;
        return false;
    }
    room->r = calloc(2 * n, sizeof *room->r);
    room->across = malloc(n * sizeof *room->across);
    room->lines = malloc(n * sizeof *room->lines);
    if (!room->r || !room->across || !room->lines) b->failure = FO_ENOMEM;
    return b->failure == FO_OK;
}

static void give_room(page_room *room, builder *b) {
    free(room->r);
    free(room->across);
    free(room->lines);
    doc_budget_give(b->budget, room->bytes);
}

static size_t page_end(const pdf_layout *p, size_t first) {
    size_t end = first;
    while (end < p->n_lines && p->lines[end].page == p->lines[first].page) end++;
    return end;
}

/* Where most pages that have columns are parted, if that is a third of all pages at least. */
static float usual_gutter(const pdf_layout *p, const page_room *room) {
    enum { POINTS = 2048, NEAR = 6 };
    uint32_t at[POINTS] = {0}, best = 0, where = 0;
    for (size_t first = 0, end; first < p->n_lines; first = end) {
        end = page_end(p, first);
        for (size_t i = first; i < end; i++) room->r[i - first].line = p->lines[i];
        extent e = extent_of(room->r, end - first);
        float g = find_gutter(room->r, end - first, &e);
        if (g > 0 && g < POINTS) at[(int)g]++;
    }
    for (uint32_t k = NEAR; k + NEAR < POINTS; k++) {
        uint32_t sum = 0;
        for (uint32_t j = k - NEAR; j <= k + NEAR; j++) sum += at[j];
        if (sum <= best) continue;
        best = sum;
        where = k;
    }
    /* The middle of those that are near. */
    uint32_t seen = 0;
    for (uint32_t j = where - (where ? NEAR : 0); best && j <= where + NEAR; j++)
        if ((seen += at[j]) * 2 >= best && at[j]) {
            where = j;
            break;
        }
    return best >= 2 && best * 3 >= p->n_pages ? (float)where + .5f : 0;
}

void pdf_layout_order_columns(pdf_layout *p, builder *b) {
    size_t most = 1;
    for (size_t first = 0, end; first < p->n_lines; first = end) {
        end = page_end(p, first);
        if (end - first > most) most = end - first;
    }
    page_room room;
    float usual = take_room(&room, b, most) ? usual_gutter(p, &room) : 0;
    uint32_t block = 0;
    for (size_t first = 0, end; first < p->n_lines && !b->failure; first = end) {
        end = page_end(p, first);
        size_t n = end - first;
        memset(room.r, 0, 2 * n * sizeof *room.r);
        for (size_t i = 0; i < n; i++) room.r[i].line = p->lines[first + i];
        order_page(p, b, room.r, n, room.across, room.lines, usual);
        const pdf_line *was = NULL;
        uint32_t was_block = 0, rank = 0;
        for (size_t i = 0; !b->failure && i < n; i++) {
            const ranked *r = &room.r[i];
            bool parted = !was || r->line.block != was_block || r->rank != rank;
            if (was && (r->line.table || was->table)) parted = r->line.table != was->table;
            block += parted; /* counted anew, in the new order */
            was_block = r->line.block;
            rank = r->rank;
            was = &p->lines[first + i];
            p->lines[first + i] = r->line;
            p->lines[first + i].block = block;
        }
    }
    give_room(&room, b);
}
