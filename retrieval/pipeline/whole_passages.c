#include "retrieval/pipeline/whole_passages.h"

#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "retrieval/units/unit_headings.h"
#include "retrieval/units/units.h"

/* How far a sentence is followed on either side: further than any answer shows of it. */
enum { MAX_BYTES = 2048, MAX_CHUNKS = 64 };
/* How far a table is followed, both ways together. */
enum { MAX_TABLE = 32768, MAX_TABLE_CHUNKS = 256 };
enum { MAX_TO_HEADER = 8192 }; /* of a table of which only what its columns are called is sought */

static size_t trimmed(const char *s, size_t n) {
    while (n && fo_is_blank(s[n - 1])) n--;
    return n;
}

/* A growing passage: what stands before it, then itself. */
typedef struct growing {
    fo_buf all;
    size_t from; /* of all: where the passage begins */
} growing;

/* Where the last sentence of the passage begins. */
static size_t last_sentence(const growing *g) {
    const char *s = g->all.data;
    size_t n = g->all.len, start = g->from;
    for (size_t at = g->from; at < n;) {
        while (at < n && fo_is_blank(s[at])) at++;
        if (at >= n) break;
        start = at;
        at = sentence_end(s, n, at);
    }
    return start;
}

/* The chunk of k's document that stands `step` places from it; id 0 where there is none. */
static int neighbour(whole_source *s, const store_chunk *k, int step, store_chunk *out,
                     fo_err *err) {
    int64_t id = k->id + step; /* a document's chunks are in a row */
    s->read = true;
    int rc = store_get_chunks(s->store, &id, 1, out, err);
    if (rc == FO_ECORRUPT) { /* damaged: not shown, and the edge stays open */
        *out = (store_chunk){0};
        return FO_OK;
    }
    if (rc || out->id == 0) return rc;
    if (out->document != k->document || out->ordinal != (size_t)((int64_t)k->ordinal + step))
        store_chunk_deinit(out);
    return FO_OK;
}

/* Append the document's white space [from, to), which no chunk holds; false where it is none. */
static int add_gap(whole_source *s, int64_t document, size_t from, size_t to, fo_buf *out,
                   bool *blank, fo_err *err) {
    *blank = true;
    if (from >= to) return FO_OK;
    *blank = to - from <= MAX_BYTES;
    if (!*blank) return FO_OK;
    if (!fo_buf_reserve(out, to - from)) return fo_no_memory(err);
    int rc = store_get_text(s->store, document, from, to, out->data + out->len, err);
    for (size_t i = 0; !rc && i < to - from; i++) *blank &= fo_is_blank(out->data[out->len + i]);
    if (!rc && *blank) out->len += to - from;
    if (rc == FO_ECORRUPT) {
        *blank = false;
        rc = FO_OK;
    }
    return rc;
}

/* ---- the beginning ------------------------------------------------------------------------- */

/* Put what stands in the chunk before `first` in front of the passage, which begins with `first`. */
static int put_before(whole_source *s, const store_chunk *before, const store_chunk *first,
                      growing *g, bool *fits, fo_err *err) {
    growing joined = {.from = before->n_before};
    *fits = before->start < first->start;
    if (!*fits) return FO_OK;
    size_t own = first->start - before->start;
    if (own > before->text_len) own = before->text_len;
    fo_buf_add(&joined.all, before->text - before->n_before, before->n_before + own);
    int rc = joined.all.failed
                 ? fo_no_memory(err)
                 : add_gap(s, first->document, before->end, first->start, &joined.all, fits, err);
    fo_buf_add(&joined.all, g->all.data + g->from, g->all.len - g->from);
    if (!rc && joined.all.failed) rc = fo_no_memory(err);
    if (rc || !*fits) {
        fo_buf_free(&joined.all);
        return rc;
    }
    fo_buf_free(&g->all);
    *g = joined;
    return FO_OK;
}

/* The same as grow_on, backwards: *first is what the passage begins with once it has grown, and the document begins with it
 * where *ended. */
static int grow_back(whole_source *s, const store_chunk *k, bool room, growing *g,
                     store_chunk *first, bool *grown, bool *ended, fo_err *err) {
    const store_chunk *at = first->id ? first : k;
    store_chunk before = {0};
    *grown = false;
    *ended = at->ordinal == 0;
    if (*ended || !room) return FO_OK;
    int rc = neighbour(s, at, -1, &before, err);
    if (!rc && before.id) rc = put_before(s, &before, at, g, grown, err);
    if (rc || !*grown) {
        store_chunk_deinit(&before);
        return rc;
    }
    store_chunk_deinit(first);
    *first = before;
    return FO_OK;
}

/* The sentence of the passage that byte `at` of g->all is in, or begins: its beginning. */
static size_t sentence_around(const growing *g, size_t at) {
    const char *s = g->all.data;
    size_t n = g->all.len, start = g->from;
    for (;;) {
        while (start < n && fo_is_blank(s[start])) start++;
        if (start >= at) return at;
        size_t end = sentence_end(s, n, start);
        if (end > at) return start;
        start = end;
    }
}

/* Make the passage, which is k's, begin where its first sentence does. */
static int complete_start(whole_source *s, const store_chunk *k, growing *g, size_t *start_cp,
                          bool *open, fo_err *err) {
    store_chunk first = {0}; /* what the passage begins with, once it has grown */
    const size_t own = g->all.len - g->from;
    size_t from = g->from; /* where the sentence begins that k begins with or in */
    int rc = FO_OK;
    *open = false;
    for (int steps = 0; !rc && from == g->from; steps++) {
        const bool room = steps < MAX_CHUNKS && g->all.len - g->from - own < MAX_BYTES;
        bool grown, ended;
        rc = grow_back(s, k, room, g, &first, &grown, &ended, err);
        *open = !rc && !grown && !ended;
        if (rc || !grown) break;
        from = sentence_around(g, g->all.len - own);
    }
    if (!rc && first.id) {
        *start_cp = first.start_cp + fo_utf8_count(g->all.data + g->from, from - g->from);
        g->from = from;
    }
    store_chunk_deinit(&first);
    return rc;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Does the sentence that begins at `from` end with the passage, whether a name or a number follows? */
static bool is_finished(growing *g, size_t from) {
    static const char *const more[] = {" Xx xx", " 5 xx"};
    size_t n = g->all.len, end = trimmed(g->all.data, n);
    bool finished = true;
    for (size_t i = 0; finished && i < 2; i++) {
        fo_buf_str(&g->all, more[i]);
        finished = !g->all.failed && sentence_end(g->all.data, g->all.len, from) <= end;
        g->all.len = n;
    }
    return finished;
}

static int is_stored(whole_source *s, int64_t id, bool *is, fo_err *err) {
    store_chunk k = {0};
    int rc = store_get_chunks(s->store, &id, 1, &k, err);
    *is = !rc && k.id != 0;
    store_chunk_deinit(&k);
    return rc;
}

/* Appends the chunk behind *last (id 0: behind k, which the passage began as) and makes it *last. *grown: it is there. Else
 * *ended tells whether the document ends here: there may be no room, damage, or another document by now. */
static int grow_on(whole_source *s, const store_chunk *k, bool room, growing *g, store_chunk *last,
                   bool *grown, bool *ended, fo_err *err) {
    const store_chunk *at = last->id ? last : k;
    store_chunk next = {0};
    *grown = *ended = false;
    int rc = room ? neighbour(s, at, 1, &next, err) : FO_OK;
    if (rc) return rc;
    if (next.id == 0) return room ? is_stored(s, at->id, ended, err) : FO_OK;
    *grown = next.end > at->end;
    if (*grown) rc = add_gap(s, k->document, at->end, next.start, &g->all, grown, err);
    const size_t known = next.start < at->end ? at->end - next.start : 0;
    if (!rc && *grown && known < next.text_len)
        fo_buf_add(&g->all, next.text + known, next.text_len - known);
    store_chunk_deinit(last);
    *last = next;
    return !rc && g->all.failed ? fo_no_memory(err) : rc;
}

/* Make the passage, which ends with k, end where its last sentence does. */
static int complete_end(whole_source *s, const store_chunk *k, growing *g, bool *open,
                        fo_err *err) {
    const size_t from = last_sentence(g), whole = g->all.len;
    store_chunk last = {0}; /* what the passage ends with, once it has grown */
    int rc = FO_OK;
    *open = false;
    if (is_finished(g, from)) return FO_OK;
    for (int steps = 0; !rc; steps++) {
        const bool room = steps < MAX_CHUNKS && g->all.len - whole < MAX_BYTES;
        bool grown, ended;
        rc = grow_on(s, k, room, g, &last, &grown, &ended, err);
        *open = !grown && !ended;
        if (rc || !grown) break;
        size_t end = sentence_end(g->all.data, g->all.len, from);
        if (end < trimmed(g->all.data, g->all.len)) {
            g->all.len = end < whole ? whole : end;
            break;
        }
    }
    store_chunk_deinit(&last);
    return rc;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The passage becomes what it has grown to. */
static int take_grown(growing *g, size_t start_cp, passage *p, whole_passage *w, fo_err *err) {
    const size_t len = g->all.len - g->from;
    w->memory = fo_buf_take(&g->all, NULL);
    if (!w->memory) return fo_no_memory(err);
    w->text = w->memory + g->from;
    w->start_cp = start_cp;
    p->text = w->text;
    p->len = len;
    p->before = g->from;
    return FO_OK;
}

static int complete(whole_source *s, const store_chunk *k, passage *p, whole_passage *w,
                    bool *changed, fo_err *err) {
    growing g = {.from = k->n_before};
    size_t start_cp = k->start_cp;
    fo_buf_add(&g.all, k->text - k->n_before, k->n_before + k->text_len);
    int rc = g.all.failed ? fo_no_memory(err) : FO_OK;
    if (!rc) rc = complete_start(s, k, &g, &start_cp, &p->open_start, err);
    if (!rc) rc = complete_end(s, k, &g, &p->open_end, err);
    w->looked = true;
    const bool grown = !rc && g.all.len - g.from != k->text_len;
    *changed |= grown || p->open_start || p->open_end;
    if (grown) rc = take_grown(&g, start_cp, p, w, err);
    fo_buf_free(&g.all);
    return rc;
}

/* ---- tables -------------------------------------------------------------------------------- */

/* What whole_passages_tables knows of a passage. */
typedef struct cut_table {
    growing g;
    text_units units;       /* of the passage as far as it has grown */
    size_t start_cp, bytes; /* of the document's text, where it begins: code points, bytes */
    size_t n_chunks;        /* asked for, either way */
    size_t most;            /* bytes that it may grow to */
} cut_table;

static bool is_of_table(const text_unit *u) {
    return u->kind == TEXT_UNIT_ROW || u->kind == TEXT_UNIT_HEADER;
}

static int read_units(cut_table *c, fo_err *err) {
    if (c->g.all.failed) return fo_no_memory(err);
    return text_units_read(&c->units, c->g.all.data + c->g.from, c->g.all.len - c->g.from,
                           c->g.from, err);
}

/* Before a chunk more of the table, which is read again with it. *room: there may be one. */
static int take_step(whole_source *s, cut_table *c, bool *room, fo_err *err) {
    *room = c->g.all.len < c->most && c->n_chunks < MAX_TABLE_CHUNKS;
    c->n_chunks += *room;
    return s->alive ? s->alive(s->ctx, err) : FO_OK;
}

/* The bytes of a unit with the header that it hangs on. */
static size_t begins(const text_unit *u) {
    return u->head_end > u->head_start && u->head_kind != TEXT_UNIT_HEADING &&
                   u->head_start < u->start
               ? u->head_start
               : u->start;
}

/* Chunks before the passage are put in front of it until the table that it begins with has begun; what else came with them is
 * left out again. *whole: there is no more of it. */
static int follow_back(whole_source *s, const store_chunk *k, cut_table *c, bool *whole,
                       fo_err *err) {
    store_chunk first = {0};
    const size_t own = c->g.all.len - c->g.from;
    int rc = read_units(c, err);
    *whole = true;
    while (!rc && c->units.n && is_of_table(&c->units.v[0])) {
        bool room, grown, ended;
        rc = take_step(s, c, &room, err);
        if (rc) break;
        rc = grow_back(s, k, room, &c->g, &first, &grown, &ended, err);
        *whole = grown || ended;
        if (rc || !grown) break;
        rc = read_units(c, err);
    }
    if (!rc && first.id) {
        size_t from = c->g.all.len - c->g.from - own; /* the table's first line */
        for (size_t i = c->units.n; i-- > 0;) {
            const text_unit *u = &c->units.v[i];
            if (u->start >= from) continue;
            if (!is_of_table(u)) break;
            from = begins(u) < from ? begins(u) : from;
        }
        const char *text = c->g.all.data + c->g.from;
        c->start_cp = first.start_cp + fo_utf8_count(text, from);
        c->bytes = first.start + from;
        c->g.from += from;
    }
    store_chunk_deinit(&first);
    return rc;
}

/* The same of chunks behind it, until the table that it ends with has ended. */
static int follow_on(whole_source *s, const store_chunk *k, cut_table *c, bool *whole,
                     fo_err *err) {
    store_chunk last = {0};
    const size_t own = c->g.all.len - c->g.from;
    int rc = read_units(c, err);
    *whole = true;
    while (!rc && c->units.n && is_of_table(&c->units.v[c->units.n - 1])) {
        bool room, grown, ended;
        rc = take_step(s, c, &room, err);
        if (rc) break;
        rc = grow_on(s, k, room, &c->g, &last, &grown, &ended, err);
        *whole = grown || ended;
        if (rc || !grown) break;
        rc = read_units(c, err);
    }
    if (!rc && last.id) {
        size_t end = own; /* the table's last line */
        for (size_t i = 0; i < c->units.n; i++) {
            const text_unit *u = &c->units.v[i];
            if (u->end <= end) continue;
            if (!is_of_table(u)) break;
            end = u->end;
        }
        c->g.all.len = c->g.from + end;
    }
    store_chunk_deinit(&last);
    return rc;
}

static int complete_tables(whole_source *s, const store_chunk *k, passage *p, whole_passage *w,
                           cut_table *c, fo_err *err) {
    bool back = false, on = false;
    c->g.from = k->n_before;
    c->start_cp = k->start_cp;
    c->bytes = k->start;
    fo_buf_add(&c->g.all, k->text - k->n_before, k->n_before + k->text_len);
    int rc = follow_back(s, k, c, &back, err);
    if (!rc) rc = follow_on(s, k, c, &on, err);
    if (rc) return rc;
    p->whole_tables = back && on;
    if (c->g.all.len - c->g.from == k->text_len || !p->whole_tables) return FO_OK;
    w->looked = true;
    return take_grown(&c->g, c->start_cp, p, w, err);
}

/* Of the document's text, the bytes that a passage is. */
typedef struct stretch {
    size_t from, to;
} stretch;

static bool quotes(const extractive_answer *x, size_t index) {
    for (size_t i = 0; i < x->n_citations; i++)
        if (x->citations[i].passage == index) return true;
    return false;
}

/* Which passages are to grow. */
typedef struct chosen_passages {
    bool v[EXTRACTIVE_PASSAGES];
} chosen_passages;

static int grow_tables(whole_source *s, const query_context *contexts, size_t n, passage *passages,
                       whole_passage *whole, chosen_passages *chosen, size_t most, bool *changed,
                       fo_err *err) {
    stretch all[EXTRACTIVE_PASSAGES];
    int rc = FO_OK;
    for (size_t i = 0; i < n; i++)
        all[i] = (stretch){contexts[i].chunk.start, contexts[i].chunk.end};
    for (size_t i = 0; !rc && i < n; i++) {
        const store_chunk *k = &contexts[i].chunk;
        if (passages[i].len == 0 || whole[i].looked || !chosen->v[i]) continue;
        cut_table c = {.most = most};
        rc = complete_tables(s, k, &passages[i], &whole[i], &c, err);
        if (!rc && whole[i].memory) {
            all[i] = (stretch){c.bytes, c.bytes + passages[i].len};
            *changed = true;
            for (size_t j = 0; j < n; j++)
                if (j != i && contexts[j].chunk.document == k->document &&
                    all[i].from <= all[j].from && all[j].to <= all[i].to) {
                    passages[j].len = 0;
                    whole[j].looked = true;
                }
        }
        /* one that is too large is so for its other passages, too */
        for (size_t j = i + 1; !rc && !whole[i].memory && c.g.all.len >= most && j < n; j++)
            chosen->v[j] &= contexts[j].chunk.document != k->document;
        fo_buf_free(&c.g.all);
        text_units_deinit(&c.units);
    }
    return rc;
}

int whole_passages_tables(whole_source *s, const query_context *contexts, size_t n,
                          passage *passages, whole_passage *whole, const extractive_answer *x,
                          bool *changed, fo_err *err) {
    chosen_passages chosen;
    *changed = false;
    if (n > EXTRACTIVE_PASSAGES) n = EXTRACTIVE_PASSAGES;
    for (size_t i = 0; i < n; i++) chosen.v[i] = !x || quotes(x, i);
    return grow_tables(s, contexts, n, passages, whole, &chosen, MAX_TABLE, changed, err);
}

/* Does it begin with a row between bars whose columns nobody names? */
static int lacks_header(const passage *p, text_units *units, bool *lacks, fo_err *err) {
    const char *end = memchr(p->text, '\n', p->len);
    *lacks = false;
    if (p->before == 0 || !memchr(p->text, '|', end ? (size_t)(end - p->text) : p->len))
        return FO_OK;
    const int rc = text_units_read(units, p->text, p->len, p->before, err);
    if (rc || units->n == 0) return rc;
    const text_unit *u = &units->v[0];
    *lacks = u->kind == TEXT_UNIT_ROW && !u->record &&
             (u->head_end == u->head_start || u->head_kind == TEXT_UNIT_HEADING);
    return FO_OK;
}

int whole_passages_headers(whole_source *s, const query_context *contexts, size_t n,
                           passage *passages, whole_passage *whole, fo_err *err) {
    chosen_passages chosen;
    text_units units = {0};
    bool changed = false;
    int rc = FO_OK;
    if (n > EXTRACTIVE_PASSAGES) n = EXTRACTIVE_PASSAGES;
    for (size_t i = 0; !rc && i < n; i++)
        rc = lacks_header(&passages[i], &units, &chosen.v[i], err);
    if (!rc)
        rc = grow_tables(s, contexts, n, passages, whole, &chosen, MAX_TO_HEADER, &changed, err);
    text_units_deinit(&units);
    return rc;
}

static bool at_an_edge(const passage *p, const answer_citation *c) {
    size_t first = sentence_end(p->text - p->before, p->before + p->len, p->before) - p->before;
    return c->start < first || c->end >= trimmed(p->text, p->len);
}

int whole_passages_complete(whole_source *s, const query_context *contexts, size_t n,
                            passage *passages, whole_passage *whole, const extractive_answer *x,
                            bool all, bool *changed, fo_err *err) {
    *changed = false;
    int rc = FO_OK;
    for (size_t i = 0; i < x->n_citations; i++) {
        const answer_citation *c = &x->citations[i];
        if (!whole[c->passage].looked && at_an_edge(&passages[c->passage], c)) {
            rc = complete(s, &contexts[c->passage].chunk, &passages[c->passage], &whole[c->passage],
                          changed, err);
            if (rc) return rc;
        }
    }
    for (size_t i = 0; all && *changed && i < n && i < EXTRACTIVE_PASSAGES; i++) {
        if (whole[i].looked) continue;
        rc = complete(s, &contexts[i].chunk, &passages[i], &whole[i], changed, err);
        if (rc) return rc;
    }
    return rc;
}

static bool ends_in_capitals(const passage *p) {
    const size_t end = trimmed(p->text, p->len);
    size_t from = end;
    while (from > 0 && p->text[from - 1] != '\n') from--;
    return unit_is_in_capitals(p->text + from, end - from);
}

int whole_passages_followed(whole_source *s, const query_context *contexts, size_t n,
                            const passage *passages, uint32_t *followed, fo_err *err) {
    int rc = FO_OK;
    *followed = 0;
    for (size_t i = 0; !rc && i < n && i < EXTRACTIVE_PASSAGES; i++) {
        if (!ends_in_capitals(&passages[i])) continue;
        store_chunk next = {0};
        rc = neighbour(s, &contexts[i].chunk, 1, &next, err);
        if (!rc && next.id) *followed |= UINT32_C(1) << i;
        store_chunk_deinit(&next);
    }
    return rc;
}

void whole_passages_free(whole_passage *whole, size_t n) {
    for (size_t i = 0; whole && i < n; i++) free(whole[i].memory);
    free(whole);
}
