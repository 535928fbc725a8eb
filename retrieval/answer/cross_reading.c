#include "retrieval/answer/cross_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader_cross.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "retrieval/units/table_row.h"

enum {
    WINDOWS = 4,      /* read for a question */
    OF_A_PASSAGE = 2, /* of them in one passage */
    BYTES = 450,      /* that neighbours fill a window to */
    LONGEST = 1200,   /* a unit that is longer is read so far */
    COLUMNS = 48,     /* of a table that is written anew */
};

/* What is read at a time: bytes [start, end) of a passage. */
typedef struct window {
    uint32_t passage, start, end;
    bool cut; /* a unit goes on behind it */
    bool of_row;
} window;

static bool holds(const window *w, const candidate *c) {
    return c->passage == w->passage && c->start >= w->start &&
           (c->end <= w->end || (w->cut && c->start < w->end));
}

/* The candidate and as many of its neighbours as there is room for, those after it and those before it in
 * turn, so that what "it" and "then" speak of is read too. */
static window window_around(const candidate_set *set, const candidate *c) {
    window w = {.passage = c->passage,
                .start = c->start,
                .end = c->end,
                .of_row = c->unit.kind == TEXT_UNIT_ROW};
    const uint32_t n_text = (uint32_t)set->passages[c->passage].text.len;
    for (bool after = true, more = true; more; after = !after) {
        uint32_t next = n_text + 1, before = 0;
        bool has_before = false;
        for (size_t i = 0; i < set->n; i++) {
            const candidate *x = &set->c[i];
            if (x->passage != c->passage) continue;
            if (x->end > w.end && x->end < next) next = x->end;
            if (x->start < w.start && (!has_before || x->start > before))
                before = x->start, has_before = true;
        }
        const bool can_go_on = next <= n_text && next - w.start <= BYTES;
        const bool can_go_back = has_before && w.end - before <= BYTES;
        more = can_go_on || can_go_back;
        if (can_go_on && (after || !can_go_back))
            w.end = next;
        else if (can_go_back)
            w.start = before;
    }
    w.cut = w.end - w.start > LONGEST;
    if (w.cut) w.end = w.start + LONGEST;
    return w;
}

/* Windows around the first candidates that stand in none yet. */
static size_t best_windows(const candidate_set *set, window *out) {
    size_t n = 0;
    for (size_t i = 0; i < set->n && n < WINDOWS; i++) {
        size_t k = 0, same = 0;
        for (; k < n && !holds(&out[k], &set->c[i]); k++)
            same += out[k].passage == set->c[i].passage;
        if (k == n && same < OF_A_PASSAGE) out[n++] = window_around(set, &set->c[i]);
    }
    return n;
}

/* Under which the window stands: a line before it in its passage, or what the passage itself begins under. */
static void add_heading(fo_buf *out, const candidate_set *set, const passage *p, const window *w) {
    const text_units *u = &set->passages[w->passage].units;
    const char *heading = p->heading ? p->heading : "";
    size_t n = strlen(heading);
    for (size_t i = 0; i < u->n && u->v[i].end <= w->start; i++) {
        if (u->v[i].kind != TEXT_UNIT_HEADING) continue;
        heading = p->text + u->v[i].start;
        n = u->v[i].end - u->v[i].start;
    }
    const bool is_title = p->title && strlen(p->title) == n && !memcmp(heading, p->title, n);
    if (n == 0 || is_title) return;
    fo_buf_char(out, ' ');
    fo_buf_add(out, heading, n);
}

static int by_start(const void *a, const void *b) {
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The candidates that stand in window `which` and in none before it, in the order of their start, with their
 * spans. */
static size_t units_of(candidate_set *set, const window *w, size_t which, candidate **of,
                       reader_span *spans) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++) {
        size_t k = 0;
        while (k < which && !holds(&w[k], &set->c[i])) k++;
        if (k == which && holds(&w[k], &set->c[i])) of[n++] = &set->c[i];
    }
    qsort(of, n, sizeof *of, by_start);
    for (size_t i = 0; i < n; i++) {
        const uint32_t end = of[i]->end < w[which].end ? of[i]->end : w[which].end;
        spans[i] = (reader_span){of[i]->start - w[which].start, end - w[which].start};
    }
    return n;
}

/* ---- tables ------------------------------------------------------------------------------- */

/* What is read of a window: its bytes, but records become rows below a row of their names, the form of tables that the
 * cross-encoder has learnt from, and shorter. */
typedef struct rewriting {
    fo_buf *out;
    table_pair names[COLUMNS]; /* of the table at hand */
    size_t n_names;
} rewriting;

static bool same_name(const table_pair *a, const table_pair *b) {
    return a->n_name == b->n_name && memcmp(a->name, b->name, a->n_name) == 0;
}

/* The column that a cell is of, from column k on; COLUMNS: none has its name. */
static size_t column_of(const rewriting *r, size_t k, const table_pair *cell) {
    while (k < r->n_names && !same_name(&r->names[k], cell)) k++;
    return k < r->n_names ? k : COLUMNS;
}

static bool has_columns_of(const rewriting *r, const char *s, size_t n) {
    table_pair cell;
    size_t k = 0;
    for (size_t at = 0; table_row_pair(s, n, &at, &cell); k++)
        if ((k = column_of(r, k, &cell)) == COLUMNS) return false;
    return true;
}

static void begin_row(rewriting *r) {
    while (r->out->len && fo_is_blank(r->out->data[r->out->len - 1])) r->out->len--;
    if (r->out->len) fo_buf_char(r->out, '\n');
}

/* The names of a record's columns become those of the table, and unless they stand there already, a row. */
static void take_names(rewriting *r, const char *s, size_t n, bool stand_there) {
    r->n_names = 0;
    for (size_t at = 0; r->n_names < COLUMNS && table_row_pair(s, n, &at, &r->names[r->n_names]);)
        r->n_names++;
    if (stand_there) return;
    begin_row(r);
    for (size_t i = 0; i < r->n_names; i++) {
        if (i) fo_buf_str(r->out, " | ");
        fo_buf_add(r->out, r->names[i].name, r->names[i].n_name);
    }
}

static reader_span add_record(rewriting *r, const char *s, size_t n, bool below_names) {
    if (below_names || !has_columns_of(r, s, n)) take_names(r, s, n, below_names);
    begin_row(r);
    reader_span span = {(uint32_t)r->out->len, 0};
    table_pair cell;
    size_t k = 0;
    for (size_t at = 0; table_row_pair(s, n, &at, &cell);) {
        const size_t column = column_of(r, k, &cell);
        if (column == COLUMNS) break; /* more of them than are written anew */
        for (; k < column; k++)
            if (k) fo_buf_str(r->out, " | ");
        if (column) fo_buf_str(r->out, " | ");
        fo_buf_add(r->out, cell.value, cell.n_value);
        k = column + 1;
    }
    span.end = (uint32_t)r->out->len;
    return span;
}

/* The text of a window with its n units, in the order of their start, and where they stand in it. */
static void write_window(fo_buf *out, const char *text, const window *w, candidate *const *of,
                         reader_span *spans, size_t n) {
    rewriting r = {.out = out};
    size_t at = w->start;  /* up to here it is written */
    uint32_t moved_to = 0; /* where text[at] stands */
    for (size_t i = 0; i < n; i++) {
        const text_unit *u = &of[i]->unit;
        const uint32_t end = of[i]->end < w->end ? of[i]->end : w->end;
        if (!u->record) {
            spans[i] = (reader_span){of[i]->start - (uint32_t)at + moved_to,
                                     end - (uint32_t)at + moved_to};
            continue;
        }
        const char *s = text + u->start;
        const text_unit *above = i ? &of[i - 1]->unit : NULL;
        const bool below_names =
            above && above->kind == TEXT_UNIT_HEADER &&
            table_row_is_alike(text + above->start, above->end - above->start, s, end - u->start);
        fo_buf_add(out, text + at, u->start - at);
        spans[i] = add_record(&r, s, end - u->start, below_names);
        at = end;
        moved_to = (uint32_t)out->len;
    }
    fo_buf_add(out, text + at, w->end - at);
}

/* The header of the table within which a row's window begins, where it stands farther up: nobody would tell which column is which. */
static bool header_above(const window *w, candidate *const *of, size_t n, text_unit *header) {
    if (n == 0 || !w->of_row) return false;
    const text_unit *u = &of[0]->unit;
    *header = *u;
    return u->kind == TEXT_UNIT_ROW && !u->record && u->head_kind == TEXT_UNIT_HEADER &&
           u->head_end > u->head_start && u->head_end <= w->start;
}

static void write_below_header(fo_buf *out, const char *text, const window *w,
                               const text_unit *header, reader_span *spans, size_t n) {
    fo_buf_add(out, text + header->head_start, header->head_end - header->head_start);
    fo_buf_char(out, '\n');
    const uint32_t moved = (uint32_t)out->len;
    for (size_t i = 0; i < n; i++) {
        spans[i].begin += moved;
        spans[i].end += moved;
    }
    fo_buf_add(out, text + w->start, w->end - w->start);
}

static bool has_records(candidate *const *of, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (of[i]->unit.record) return true;
    return false;
}

/* ---- chats -------------------------------------------------------------------------------- */

static bool has_turns(candidate *const *of, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (of[i]->unit.kind == TEXT_UNIT_TURN) return true;
    return false;
}

/* A window without the times that its messages begin with, each longer than many a message; the spans move along. */
static void write_chat(fo_buf *out, const candidate_passage *p, const window *w, reader_span *spans,
                       size_t n) {
    uint32_t at = w->start;
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        if (u->kind != TEXT_UNIT_TURN || u->start < at || u->body > w->end) continue;
        fo_buf_add(out, p->text.text + at, u->start - at);
        for (size_t k = 0; k < n; k++) {
            const uint32_t gone = u->body - u->start, from = (uint32_t)out->len;
            if (spans[k].begin > from) spans[k].begin -= gone;
            if (spans[k].end > from) spans[k].end -= gone;
        }
        at = u->body;
    }
    fo_buf_add(out, p->text.text + at, w->end - at);
}

/* ---- the whole ------------------------------------------------------------------------------ */

double cross_reading_of(const candidate *c) {
    static const double unread = -6;
    const double cross = isfinite(c->cross) ? c->cross : unread;
    /* no text like those that the cross-encoder learnt from says so in a line of its own */
    return candidate_is_for_it(c) || c->f[CAND_BY_TABLE] > 0 ? fmax(cross, 0) : cross;
}

const double cross_reading_near = 3.9;

bool cross_reading_comes_near(const candidate_set *set, const candidate *c) {
    static const double within = 3;
    return !set->crossed || cross_reading_of(c) >= cross_reading_of(&set->c[0]) - within;
}

bool cross_reading_can(const candidate_set *set, const extractive_input *in) {
    return set->n && in->reader && set->read && reader_has_cross(in->reader) &&
           (reader_has_languages(in->reader) ||
            passage_is_english(&in->passages[set->c[0].passage], in->lx->analyzer));
}

int cross_reading(candidate_set *set, const extractive_input *in, fo_err *err) {
    window windows[WINDOWS];
    reader_passage pages[WINDOWS] = {0};
    fo_buf titles[WINDOWS] = {0}, texts[WINDOWS] = {0};
    const size_t n = best_windows(set, windows);
    candidate **of = calloc(set->n + 1, sizeof *of);
    reader_span *spans = calloc(set->n + 1, sizeof *spans);
    float *odds = calloc(set->n + 1, sizeof *odds);
    int rc = of && spans && odds ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    size_t at = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        const passage *p = &in->passages[windows[i].passage];
        const size_t k = units_of(set, windows, i, of + at, spans + at);
        text_unit header;
        fo_buf_str(&titles[i], p->title ? p->title : "");
        add_heading(&titles[i], set, p, &windows[i]);
        pages[i] = (reader_passage){titles[i].data, p->text + windows[i].start,
                                    windows[i].end - windows[i].start, spans + at, k};
        if (has_records(of + at, k)) {
            write_window(&texts[i], p->text, &windows[i], of + at, spans + at, k);
            pages[i].text = texts[i].data;
            pages[i].len = texts[i].len;
        } else if (has_turns(of + at, k)) {
            write_chat(&texts[i], &set->passages[windows[i].passage], &windows[i], spans + at, k);
            pages[i].text = texts[i].data;
            pages[i].len = texts[i].len;
        } else if (header_above(&windows[i], of + at, k, &header)) {
            write_below_header(&texts[i], p->text, &windows[i], &header, spans + at, k);
            pages[i].text = texts[i].data;
            pages[i].len = texts[i].len;
        }
        if (titles[i].failed || texts[i].failed) rc = fo_no_memory(err);
        at += k;
    }
    if (!rc) rc = reader_cross(in->reader, in->question, pages, n, in->cancel, odds, err);
    for (size_t i = 0; !rc && i < at; i++) of[i]->cross = (double)odds[i];
    set->crossed = !rc;
    set->languages = reader_has_languages(in->reader);
    for (size_t i = 0; i < n; i++) fo_buf_free(&titles[i]);
    for (size_t i = 0; i < n; i++) fo_buf_free(&texts[i]);
    free(of);
    free(spans);
    free(odds);
    return rc;
}
