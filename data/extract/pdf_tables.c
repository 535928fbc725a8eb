/* Tables on a page. A PDF has none: it has words at places. What tells a table is rows of words with
 * wide gaps between them, one below the other, whose gaps meet: strips of the page that next to no row
 * crosses. Columns of running text have such strips too, and so have an index, a list of terms and
 * a table of contents; what their columns hold tells them apart. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/pdf_centred.h"
#include "data/extract/pdf_table_heads.h"
#include "kernels/utf8.h"

static const float GAP = .8f; /* of a line's height: parts cells of a row */
static const float NARROW =
    1.3f; /* of the gap between words: parts cells whose edges stand below each other */
static const float GUTTER = .55f; /* the same, for the strip between two columns */
static const float NARROW_GUTTER = .25f;

/* ---- rows and their parts ------------------------------------------------------------------------- */

/* The width of a letter where all are as wide, as a typewriter's are; 0: they are not. */
static float typewritten(const finder *f, const pdf_line *l) {
    const pdf_word *w = f->p->words;
    float least = 1e9f, most = 0;
    for (size_t i = l->word; i < l->word + l->n_words; i++) {
        const size_t letters =
            fo_utf8_count(f->p->text.data + w[i].at, pdf_finder_word_end(f, l, i) - w[i].at);
        const float width = (w[i].x1 - w[i].x0) / (float)(letters ? letters : 1);
        if (width < least) least = width;
        if (width > most) most = width;
    }
    return most - least < .002f * most ? most : 0; /* of other letters words are seldom so alike */
}

static void split_line(finder *f, pdf_line *l) {
    const pdf_word *w = f->p->words;
    const float letter = f->narrow ? 1.5f * typewritten(f, l) : 0;
    float gap = f->gap * pdf_finder_height_of(l);
    if (gap < letter) gap = letter;
    for (size_t i = l->word, end = l->word + l->n_words, k; i < end; i = k) {
        float x0 = w[i].x0, x1 = w[i].x1;
        for (k = i + 1; k < end && w[k].x0 - x1 < gap; k++)
            if (w[k].x1 > x1) x1 = w[k].x1;
        if (f->n < MAX_SEGMENTS)
            f->s[f->n] = (segment){.line = l, .word = i, .n_words = k - i, .x0 = x0, .x1 = x1};
        f->n++;
    }
}

static float middle(const segment *s) {
    return s->y0 + s->y1;
}

static int by_height(const void *a, const void *b) {
    const segment *x = a, *y = b;
    float m = middle(x), n = middle(y);
    return m != n ? m < n ? -1 : 1 : (x->word > y->word) - (x->word < y->word);
}

static int by_row(const void *a, const void *b) {
    const segment *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->x0 != y->x0) return x->x0 < y->x0 ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* "....." or ". . . ." */
static bool is_leader(const finder *f, const segment *s) {
    size_t at = f->p->words[s->word].at,
           end = pdf_finder_word_end(f, s->line, s->word + s->n_words - 1);
    size_t run = 0, apart = 0;
    for (; at < end; at++) {
        char c = f->p->text.data[at];
        run = c == '.' ? run + 1 : c == ' ' ? run : 0;
        apart = !run ? 0 : apart + (c == ' ' && run);
        if (run >= 4 || (run == 3 && apart >= 2)) return true;
    }
    return false;
}

static void make_rows(finder *f) {
    pdf_centred_join(f);
    qsort(f->s, f->n, sizeof *f->s, by_height);
    f->n_rows = 0;
    row *r = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const float y0 = f->s[i].y0, y1 = f->s[i].y1;
        float top = r && r->y0 > y0 ? r->y0 : y0, foot = r && r->y1 < y1 ? r->y1 : y1;
        float low = y1 - y0;
        if (r && r->y1 - r->y0 < low) low = r->y1 - r->y0;
        if (!r || foot - top < .5f * low) {
            r = &f->rows[f->n_rows++];
            *r = (row){.first = i, .y0 = y0, .y1 = y1};
        } else if (y1 - y0 < 2.5f * (r->y1 - r->y0)) {
            if (y0 < r->y0) r->y0 = y0;
            if (y1 > r->y1) r->y1 = y1;
        }
        r->n++;
        f->s[i].row = (uint32_t)f->n_rows;
        r->leader |= is_leader(f, &f->s[i]);
    }
    qsort(f->s, f->n, sizeof *f->s, by_row);
}

/* ---- columns -------------------------------------------------------------------------------------- */

static int step_of(const finder *f, float x) {
    int k = (int)((x - f->left) / f->width * STEPS);
    return k < 0 ? 0 : k >= STEPS ? STEPS - 1 : k;
}

static void cover(finder *f, const row *r, int by) {
    int last = -1;
    for (size_t i = 0; i < r->n; i++) {
        const segment *s = &f->s[r->first + i];
        int from = step_of(f, s->x0), to = step_of(f, s->x1);
        if (from <= last) from = last + 1;
        for (int k = from; k <= to; k++) f->covered[k] = (uint16_t)(f->covered[k] + by);
        if (to > last) last = to;
    }
}

/* The columns of the rows that are counted, into `out`: how many. A row in eight may cross a gutter: it
 * holds what stands over several columns. But what stands alone at an edge is a column of few cells. */
static size_t find_columns(const finder *f, float height, span *out) {
    size_t may_cross = f->wide_rows >= 4 ? 1 + f->wide_rows / 8 : 0, n = 0;
    float step = f->width / STEPS;
    int need = (int)((f->narrow ? NARROW_GUTTER : GUTTER) * height / step) + 1, clear = need,
        first = 0, last = STEPS - 1;
    while (first < STEPS && f->covered[first] <= may_cross) first++;
    while (last > first && f->covered[last] <= may_cross) last--;
    int left = first, right = last; /* the outermost columns themselves may reach further */
    while (left > 0 && f->covered[left - 1]) left--;
    while (right < STEPS - 1 && f->covered[right + 1]) right++;
    for (int k = 0; k < STEPS; k++) {
        bool edge = k < left || k > right;
        if (edge ? !f->covered[k] : f->covered[k] <= may_cross) {
            clear++;
            continue;
        }
        if (clear >= need) {
            if (n == MAX_COLUMNS) return 0;
            out[n++] = (span){f->left + (float)k * step, 0};
        }
        out[n - 1].x1 = f->left + (float)(k + 1) * step;
        clear = 0;
    }
    return n;
}

static bool fits_a_column(const finder *f, const segment *s) {
    bool crossed;
    pdf_finder_column_of(f, s->x0, s->x1, &crossed);
    return !crossed;
}

/* ---- which rows ----------------------------------------------------------------------------------- */

static size_t segment_bytes(const finder *f, const segment *s) {
    return pdf_finder_word_end(f, s->line, s->word + s->n_words - 1) - f->p->words[s->word].at;
}

/* n words or more that are no signs of a formula. */
static bool is_sentence(const finder *f, const segment *s, size_t n) {
    return s->n_words >= n && segment_bytes(f, s) >= 4 * s->n_words;
}

/* Running text, beside which no wide table stands. */
static bool has_sentence(const finder *f, const row *r) {
    for (size_t j = 0; j < r->n; j++)
        if (is_sentence(f, &f->s[r->first + j], 6)) return true;
    return false;
}

/* From row i on, as far as the gaps meet: how many rows. */
static size_t grow_table(finder *f, size_t i) {
    memset(f->covered, 0, sizeof f->covered);
    f->n_columns = f->wide_rows = 0;
    size_t last = i; /* the last row that belongs to it for certain */
    float height = pdf_finder_height_of(f->s[f->rows[i].first].line);
    for (size_t k = i; k < f->n_rows && k - i < MAX_ROWS; k++) {
        const row *r = &f->rows[k];
        float room = k - i < 3 ? 2.5f : 2; /* rules stand around a head */
        if (k > i && r->y0 - f->rows[k - 1].y1 > room * height) break;
        if (f->gutter > 0 && has_sentence(f, r)) break;
        if (r->n < 2) {
            if (!f->n_columns || k - last > 3 || !fits_a_column(f, &f->s[r->first])) break;
            /* Behind the last full row, what goes on in a column but the first is part of it. */
            bool tight = r->y0 - f->rows[k - 1].y1 < .5f * height && last + 1 == k;
            bool crossed;
            if (tight &&
                pdf_finder_column_of(f, f->s[r->first].x0, f->s[r->first].x1, &crossed) > 0)
                last = k;
            continue;
        }
        span columns[MAX_COLUMNS];
        cover(f, r, 1);
        f->wide_rows++;
        size_t n = find_columns(f, height, columns);
        if (n < 2 || n * 2 < f->n_columns) {
            cover(f, r, -1);
            f->wide_rows--;
            break;
        }
        memcpy(f->columns, columns, n * sizeof *columns);
        f->n_columns = n;
        last = k;
    }
    f->n_columns = f->wide_rows ? find_columns(f, height, f->columns) : 0;
    return f->n_columns ? last + 1 - i : 0;
}

/* How many of rows [i, end) hold a segment that reaches over the columns at hand. */
static size_t crossing_rows(const finder *f, size_t i, size_t end) {
    size_t n = 0;
    for (; i < end; i++) {
        bool crosses = false;
        for (size_t j = 0; j < f->rows[i].n; j++)
            crosses |= !fits_a_column(f, &f->s[f->rows[i].first + j]);
        n += crosses;
    }
    return n;
}

/* A line alone at the left, "B. Rooms and charges", may stand above a group of rows or above another table: that has more
 * columns than both together, and what stands above reaches over them. From row i on: how many rows of n. */
static size_t end_at_heading(finder *f, size_t i, size_t n) {
    enum { FEWEST = 3, TRIES = 8 }; /* rows of the other table; headings */
    const size_t joint = f->n_columns, n_rows = f->n_rows;
    size_t tries = 0, end = i + n;
    for (size_t k = i + 1; k + FEWEST < i + n && end == i + n && tries < TRIES; k++) {
        bool crossed;
        const segment *s = &f->s[f->rows[k].first];
        if (f->rows[k].n > 1 || s->x0 > f->left + f->width / 4) continue;
        tries++;
        if (grow_table(f, k + 1) < FEWEST || f->n_columns <= joint || f->wide_rows < FEWEST ||
            pdf_finder_column_of(f, s->x0, s->x0 + 1, &crossed) > 0)
            continue;
        if (crossing_rows(f, i, k) * 2 > k - i) end = k;
    }
    f->n_rows = end;
    n = tries ? grow_table(f, i) : n;
    f->n_rows = n_rows;
    return n;
}

/* ---- what the columns hold ------------------------------------------------------------------------- */

/* "1.", "(a)", "*": what begins an item of a list. */
static bool is_marker(const finder *f, const segment *s) {
    size_t at = f->p->words[s->word].at,
           end = pdf_finder_word_end(f, s->line, s->word + s->n_words - 1);
    const char *t = f->p->text.data + at;
    size_t n = end - at;
    if (n > 4) return false;
    return strchr(".):", t[n - 1]) || t[0] == '(' || t[0] == '[' || t[0] == '-' || t[0] == '*' ||
           (unsigned char)t[0] == 0xE2 || (unsigned char)t[0] == 0xC2;
}

typedef struct column_sum {
    size_t cells, numbers, markers, sentences, words;
    size_t small; /* numbers of three figures or fewer */
} column_sum;

static bool is_textual(const column_sum *c) {
    return c->sentences * 2 > c->cells || c->words > 7 * c->cells;
}

/* ---- edges ---------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* How many of n places are the same but for a point or two. */
static size_t most_alike(float *x, size_t n) {
    static const float SAME = 1.5f;
    size_t most = 0;
    qsort(x, n, sizeof *x, by_place);
    for (size_t i = 0, k = 0; k < n; k++) {
        while (x[k] - x[i] > SAME) i++;
        if (k - i + 1 > most) most = k - i + 1;
    }
    return most;
}

/* Where the cells of a row begin and end: x1 < x0 where a column has none. False: one reaches over columns. */
static bool cells_of(const finder *f, const row *r, span out[MAX_COLUMNS]) {
    for (size_t k = 0; k < f->n_columns; k++) out[k] = (span){1e9f, -1e9f};
    for (size_t j = 0; j < r->n; j++) {
        const segment *s = &f->s[r->first + j];
        bool crossed;
        span *cell = &out[pdf_finder_column_of(f, s->x0, s->x1, &crossed)];
        if (crossed) return false;
        if (s->x0 < cell->x0) cell->x0 = s->x0;
        if (s->x1 > cell->x1) cell->x1 = s->x1;
    }
    return true;
}

/* Do the cells of each column stand below each other by their left edges, their right ones or their middles? Words of
 * running text do not, wherever its gaps meet. */
static bool edges_meet(finder *f, size_t i, size_t n) {
    const size_t rows = n < EDGE_ROWS ? n : EDGE_ROWS;
    size_t cells[MAX_COLUMNS] = {0};
    for (size_t k = i; k < i + rows; k++) {
        span of[MAX_COLUMNS];
        if (!cells_of(f, &f->rows[k], of)) return false;
        for (size_t col = 0; col < f->n_columns; col++) {
            if (of[col].x1 < of[col].x0) continue;
            float(*x)[EDGE_ROWS] = f->edges[col];
            x[0][cells[col]] = of[col].x0;
            x[1][cells[col]] = of[col].x1;
            x[2][cells[col]++] = (of[col].x0 + of[col].x1) / 2;
        }
    }
    for (size_t col = 0; col < f->n_columns; col++) {
        size_t most = 0;
        for (int e = 0; e < EDGES; e++) {
            const size_t alike = most_alike(f->edges[col][e], cells[col]);
            if (alike > most) most = alike;
        }
        if (cells[col] * 3 < rows || cells[col] < 2 || most * 10 < cells[col] * 7) return false;
    }
    return true;
}

static bool is_table(finder *f, size_t i, size_t n) {
    column_sum c[MAX_COLUMNS] = {0};
    size_t wide = 0, cells = 0, leaders = 0, crossing = 0, scraps = 0, over = 0;
    if (f->n_columns < 2) return false;
    for (size_t k = i; k < i + n; k++) {
        const row *r = &f->rows[k];
        wide += r->n > 1;
        leaders += r->leader;
        size_t last = SIZE_MAX;
        for (size_t j = 0; j < r->n; j++) {
            const segment *s = &f->s[r->first + j];
            bool crossed;
            size_t col = pdf_finder_column_of(f, s->x0, s->x1, &crossed);
            column_sum *to = &c[col];
            float room = f->columns[col].x1 - f->columns[col].x0;
            crossing += crossed;
            over += s->x0 < f->gutter - 2 && s->x1 > f->gutter + 2;
            scraps += s->n_words == 1 && segment_bytes(f, s) < 3 && !pdf_finder_is_number(f, s);
            cells += col != last;
            to->cells++;
            to->words += s->n_words;
            to->numbers += pdf_finder_is_number(f, s);
            to->small +=
                pdf_finder_is_number(f, s) && s->x1 - s->x0 < 2.f * pdf_finder_height_of(s->line);
            to->markers += is_marker(f, s);
            to->sentences += is_sentence(f, s, 5) && s->x1 - s->x0 > .6f * room;
            last = col;
        }
    }
    if (leaders * 4 > wide || crossing * 3 > wide) return false;
    if (f->narrow && (wide < 3 || !edges_meet(f, i, n))) return false;
    if (scraps * 3 > cells) return false; /* a formula */
    size_t texts = 0, numeric = 0, filled = 0, lists = 0;
    for (size_t k = 0; k < f->n_columns; k++) {
        texts += is_textual(&c[k]);
        numeric += c[k].numbers * 10 >= c[k].cells * 6 && c[k].cells * 2 > wide;
        filled += c[k].cells * 2 >= wide;
        lists += c[k].markers * 2 > c[k].cells;
    }
    if (lists && (texts || f->n_columns == 2)) return false;
    if (f->n_columns == 2) {
        const bool met = f->gutter <= 0 && edges_meet(f, i, n);
        const bool terms = met && !is_textual(&c[0]) && c[0].words <= 4 * c[0].cells;
        /* "Wooden box for three bottles   11.00": short numbers would be those of pages */
        const bool amounts = met && c[1].numbers * 10 >= c[1].cells * 6 &&
                             c[1].small * 2 < c[1].cells && c[0].words <= 7 * c[0].cells;
        const bool lines = c[0].small * 10 >= c[0].cells * 8 && c[1].numbers * 2 < c[1].cells;
        return wide >= 3 && filled == 2 && !lines && (texts ? terms || amounts : numeric || met);
    }
    if (filled < 2 || cells * 10 < wide * f->n_columns * 4) return false;
    if (f->gutter > 0 ? texts || over * 4 < wide : texts > 1) return false;
    return wide >= 3 ||
           (wide == 2 && f->n_columns >= 3 && (numeric >= 2 || (filled == f->n_columns && !texts)));
}

/* ---- cells ----------------------------------------------------------------------------------------- */

static bool add_piece(finder *f, const segment *s, size_t word, size_t n, uint32_t r, size_t col) {
    pdf_layout *p = f->p;
    if (!pdf_layout_grow(f->b, (void **)&p->pieces, p->n_pieces, &p->cap_pieces, sizeof *p->pieces))
        return false;
    const pdf_word *w = p->words;
    size_t end = pdf_finder_word_end(f, s->line, word + n - 1);
    pdf_piece *to = &p->pieces[p->n_pieces++];
    *to = (pdf_piece){.at = w[word].at,
                      .n = end - w[word].at,
                      .box = {w[word].x0, s->line->box[1], w[word + n - 1].x1, s->line->box[3]},
                      .row = r,
                      .column = (uint32_t)col};
    return true;
}

/* Do the cells of most rows of the table begin right here, as the word does? */
static bool begins_cells(const finder *f, float x) {
    static const float SAME = .75f;
    size_t rows = 0;
    for (size_t k = f->row; k < f->row + f->n_table_rows; k++)
        for (size_t j = 0; j < f->rows[k].n; j++) {
            const float own = f->s[f->rows[k].first + j].x0;
            if (own > x + SAME || own < x - SAME) continue;
            rows++;
            break;
        }
    return rows > 1 && rows * 2 >= f->n_table_rows;
}

/* Is no gap between words of the segment wider than this one? */
static bool is_widest(const finder *f, const segment *s, float gap) {
    static const float SAME = .1f;
    const pdf_word *w = f->p->words;
    for (size_t i = s->word + 1; i < s->word + s->n_words; i++)
        if (w[i].x0 - w[i - 1].x1 > gap + SAME) return false;
    return true;
}

/* A segment becomes pieces: it is parted where a gap between words stands in a gutter, however narrow where
 * the cells of the column begin behind it: "City bike Road bike" above "45" and "49". What reaches over
 * several columns without one (a head over others) belongs to the first of them; `spread`: to each. */
static bool add_segment(finder *f, const segment *s, uint32_t r, bool spread, uint64_t *columns) {
    const pdf_word *w = f->p->words;
    for (size_t i = s->word, end = s->word + s->n_words, k; i < end; i = k) {
        bool crossed;
        float x1 = w[i].x1;
        size_t col = pdf_finder_column_of(f, w[i].x0, x1, &crossed);
        for (k = i + 1; k < end; k++) {
            bool over;
            size_t next = pdf_finder_column_of(f, w[k].x0, w[k].x1, &over);
            float gutter = next > col ? f->columns[next].x0 - f->columns[col].x1 : 0;
            float gap =
                w[k].x0 - x1; /* words of a sentence stand closer than half of their height */
            if (next > col && !over && x1 <= f->columns[next].x0 &&
                (gap > .6f * gutter || gap > .45f * pdf_finder_height_of(s->line) ||
                 (is_widest(f, s, gap) && begins_cells(f, w[k].x0))))
                break;
            x1 = w[k].x1;
        }
        size_t last = col;
        while (spread && last + 1 < f->n_columns && f->columns[last + 1].x0 < x1 - 2) last++;
        for (size_t at = col; at <= last; at++) {
            if (!add_piece(f, s, i, k - i, r, at)) return false;
            *columns |= (uint64_t)1 << at;
        }
    }
    return true;
}

static int by_cell(const void *a, const void *b) {
    const pdf_piece *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    if (fabsf(x->box[1] - y->box[1]) > 2) return x->box[1] < y->box[1] ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Does row k of the page begin with the second line of a name? It does with a small letter then, and is nearer to the row above it
 * than row `first` of the page, where the name begins, is to the one before. */
static bool name_goes_on(const finder *f, size_t k, size_t first, float gap) {
    static const float NEARER = .08f; /* of a line's height */
    const segment *s = &f->s[f->rows[k].first];
    return islower((unsigned char)f->p->text.data[f->p->words[s->word].at]) && first > 0 &&
           gap + NEARER * pdf_finder_height_of(s->line) < f->rows[first].y0 - f->rows[first - 1].y1;
}

/* Does row k of the page go on with what rows from `first` on, which have cells in the columns `above`, begin? */
static bool goes_on(const finder *f, size_t k, size_t first, uint64_t above) {
    const row *r = &f->rows[k];
    lines_of is = pdf_finder_look_at(f, r);
    float height = pdf_finder_height_of(f->s[r->first].line), gap = r->y0 - f->rows[k - 1].y1;
    if (gap > .6f * height || is.columns & ~above) return false;
    if (is.columns & 1)
        return !is.numbers && pdf_finder_count(is.columns) < pdf_finder_count(above) &&
               name_goes_on(f, k, first, gap);
    if (is.numbers && f->n_columns > 2) return false;
    return pdf_finder_count(is.columns) < pdf_finder_count(above) || f->n_columns == 2;
}

static void take_table(finder *f, size_t i, size_t n) {
    pdf_layout *p = f->p;
    if (!pdf_layout_grow(f->b, (void **)&p->tables, p->n_tables, &p->cap_tables, sizeof *p->tables))
        return;
    uint32_t number = (uint32_t)p->n_tables + 1, r = 0;
    pdf_table t = {.piece = p->n_pieces,
                   .page = f->s[f->rows[i].first].line->page,
                   .n_columns = (uint32_t)f->n_columns,
                   .left = f->columns[0].x0,
                   .right = f->columns[f->n_columns - 1].x1};
    size_t head = pdf_table_heads_rows(f, i, n);
    t.headed = head > 0 || pdf_table_heads_first(f, i, n);
    uint64_t columns = 0;
    size_t first = i; /* of the page's rows that make up this one of the table */
    f->row = i, f->n_table_rows = n;
    for (size_t k = i; k < i + n; k++) {
        bool in_head = k - i < head;
        if (k > i && !(in_head || (k - i != head && goes_on(f, k, first, columns)))) {
            r++;
            columns = 0;
            first = k;
        }
        for (size_t j = 0; j < f->rows[k].n; j++) {
            segment *s = &f->s[f->rows[k].first + j];
            if (!add_segment(f, s, r, in_head, &columns)) return;
            s->line->table = number;
        }
    }
    t.n_rows = r + 1;
    t.n_pieces = p->n_pieces - t.piece;
    qsort(p->pieces + t.piece, t.n_pieces, sizeof *p->pieces, by_cell);
    p->tables[p->n_tables++] = t;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static extent extent_of_rows(const finder *f, size_t i, size_t n) {
    return (extent){f->rows[i].y0, f->rows[i + n - 1].y1, n, f->n_columns};
}

/* Do wide gaps show as many rows here, or as many columns of them? */
static bool is_found(const finder *f, const extent *e) {
    for (size_t i = 0; i < f->n_found; i++) {
        const extent *x = &f->found[i];
        if (x->y0 < e->y1 && e->y0 < x->y1 &&
            (x->rows > e->rows || (x->rows == e->rows && x->columns >= e->columns)))
            return true;
    }
    return false;
}

/* What is done with a table that was found: false: nothing, for wide gaps show more of it. */
static bool deal_with_table(finder *f, size_t i, size_t n) {
    const extent e = extent_of_rows(f, i, n);
    if (f->only_looks) {
        if (f->n_found < MAX_FOUND) f->found[f->n_found++] = e;
        return true;
    }
    if (f->narrow && is_found(f, &e)) return false;
    take_table(f, i, n);
    return true;
}

static void look_through(finder *f) {
    float right = -1e9f;
    f->left = 1e9f;
    for (size_t i = 0; i < f->n; i++) {
        if (f->s[i].x0 < f->left) f->left = f->s[i].x0;
        if (f->s[i].x1 > right) right = f->s[i].x1;
    }
    f->width = right - f->left;
    if (!(f->width > 40) || f->width > 1e5f) return;
    make_rows(f);
    size_t tries = 0;
    for (size_t i = 0; i < f->n_rows && tries < MAX_TRIES;) {
        size_t n = f->rows[i].n > 1 ? grow_table(f, i) : 0;
        if (n) n = end_at_heading(f, i, n);
        if (!builder_go_on(f->b, (n + 1) * STEPS / 4)) return;
        tries += n > 0;
        /* Above and below it, what stands in one column alone is another matter. */
        size_t skip = 0;
        while (n && pdf_finder_count(pdf_finder_look_at(f, &f->rows[i + skip]).columns) < 2)
            skip++, n--;
        while (n && pdf_finder_look_at(f, &f->rows[i + skip + n - 1]).columns == 1) n--;
        i += n ? skip : 0;
        if (n > 1 && is_table(f, i, n) && deal_with_table(f, i, n)) {
            i += n;
        } else {
            i++;
        }
    }
}

static void look_among(finder *f, pdf_line *const *lines, size_t n, float gap) {
    f->n = 0;
    f->gap = gap;
    for (size_t i = 0; i < n; i++)
        if (!lines[i]->is_running && !lines[i]->table && lines[i]->n_words) split_line(f, lines[i]);
    if (f->n && f->n <= MAX_SEGMENTS) look_through(f);
}

/* Between the words of lines, as a share of their height; large where no line has three. */
static float usual_gap(const pdf_layout *p, pdf_line *const *lines, size_t n) {
    enum { MOST = 2048, FEWEST = 8 };
    static const float LEAST = .19f; /* where gaps are said to be smaller, boxes overlap */
    float gaps[MOST];
    size_t k = 0;
    for (size_t i = 0; i < n && k < MOST; i++)
        for (size_t w = 1; lines[i]->n_words > 2 && w < lines[i]->n_words && k < MOST; w++) {
            const pdf_word *at = &p->words[lines[i]->word + w];
            gaps[k++] = (at->x0 - at[-1].x1) / pdf_finder_height_of(lines[i]);
        }
    if (k < FEWEST) return GAP;
    qsort(gaps, k, sizeof *gaps, by_place);
    return gaps[k / 2] > LEAST ? gaps[k / 2] : LEAST;
}

void pdf_layout_find_tables(pdf_layout *p, builder *b, pdf_line *const *lines, size_t n,
                            float gutter) {
    size_t bytes = sizeof(finder) + MAX_SEGMENTS * (sizeof(segment) + sizeof(row));
    if (n < 4 || b->failure) return;
    if (!doc_budget_take(b->budget, bytes)) {
        b->failure = b->budget->failure;
        return;
    }
    finder *f = calloc(1, sizeof *f);
    segment *s = calloc(MAX_SEGMENTS, sizeof *s);
    row *rows = calloc(MAX_SEGMENTS, sizeof *rows);
    if (f && s && rows) {
        f->p = p;
        f->b = b;
        f->s = s;
        f->rows = rows;
        f->gutter = gutter;
        const float narrow = NARROW * usual_gap(p, lines, n);
        if (narrow < GAP) {
            f->only_looks = true;
            look_among(f, lines, n, GAP);
            f->only_looks = false;
            f->narrow = true;
            look_among(f, lines, n, narrow);
            f->narrow = false;
        }
        look_among(f, lines, n, GAP);
    } else {
        b->failure = FO_ENOMEM;
    }
    free(f);
    free(s);
    free(rows);
    doc_budget_give(b->budget, bytes);
}
