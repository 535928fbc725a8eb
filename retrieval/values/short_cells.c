#include "retrieval/values/short_cells.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/values/cell_values.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/values/table_columns.h"
#include "retrieval/units/units.h"
#include "retrieval/values/value_bounds.h"

enum kind {
    KIND_TEXT,
    KIND_MONEY,
    KIND_CLOCK,
    KIND_DATE,
    KIND_OTHER, /* and a cell_unit more */
};

typedef struct cells {
    table_pair v[TABLE_COLUMNS];
    int kind[TABLE_COLUMNS];
    bool apart[TABLE_COLUMNS]; /* not of those that may be chosen */
    size_t n;
} cells;

/* ---- the cells ------------------------------------------------------------------------------- */

/* The unit of these bytes, if it is a row of a table; its head names the columns where it has one. */
static int find_row(text_unit *out, bool *found, const short_input *in, fo_err *err) {
    const passage *p = in->passage;
    text_units u = {0};
    int rc = text_units_read(&u, p->text, p->len, p->before, err);
    *found = false;
    for (size_t i = 0; !rc && i < u.n && !*found; i++) {
        *found = u.v[i].kind == TEXT_UNIT_ROW && u.v[i].start < in->end && u.v[i].end > in->start;
        if (*found) *out = u.v[i];
    }
    text_units_deinit(&u);
    return rc;
}

static void name_by_head(cells *c, const char *head, size_t n) {
    size_t at = 0, i = 0;
    table_pair names[TABLE_COLUMNS] = {0};
    while (i < TABLE_COLUMNS && table_row_cell(head, n, &at, &names[i].name, &names[i].n_name)) i++;
    for (size_t k = 0; i == c->n && k < i; k++) {
        c->v[k].name = names[k].name;
        c->v[k].n_name = names[k].n_name;
    }
}

static void read_cells(cells *c, const short_input *in, const text_unit *u) {
    const char *row = in->passage->text + u->start;
    const size_t n = u->end - u->start;
    table_pair pair = {0};
    if (u->record) {
        for (size_t at = 0; c->n < TABLE_COLUMNS && table_row_pair(row, n, &at, &pair);)
            c->v[c->n++] = pair;
        return;
    }
    for (size_t at = 0;
         c->n < TABLE_COLUMNS && table_row_cell(row, n, &at, &pair.value, &pair.n_value);)
        c->v[c->n++] = pair;
    if (u->head_end > u->head_start)
        name_by_head(c, in->passage->text + u->head_start, u->head_end - u->head_start);
    else
        table_columns_above(c->v, c->n, in->passage->text, u->start);
}

/* ---- their kinds ----------------------------------------------------------------------------- */

static bool names_day(const char *s, size_t n) {
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return false;
        if (demand_day_named(t.s, t.n)) return true;
    }
}

static int kind_of(const table_pair *cell, bool money, bool when) {
    const char *s = cell->value;
    const size_t n = cell->n_value;
    cell_value v;
    if (when && word_tokens_say("closed", s, n)) return KIND_CLOCK;
    if (names_day(s, n)) return KIND_DATE;
    if (!cell_value_read(s, n, &v))
        return money && demand_amount_in(AMOUNT_MONEY, s, n) == AMOUNT_STATED ? KIND_MONEY
                                                                              : KIND_TEXT;
    if (v.unit == CELL_MONEY || (money && v.unit == CELL_PLAIN)) return KIND_MONEY;
    if (v.unit == CELL_CLOCK) return KIND_CLOCK;
    if (v.unit == CELL_DATE) return KIND_DATE;
    return KIND_OTHER + (int)v.unit;
}

static bool has_kind(const cells *c, int kind) {
    for (size_t i = 0; i < c->n; i++)
        if (!c->apart[i] && c->kind[i] == kind) return true;
    return false;
}

/* Among prices with a currency, a number alone counts something. */
static void leave_out_bare(cells *c) {
    bool bare[TABLE_COLUMNS], some = false;
    for (size_t i = 0; i < c->n; i++) {
        bare[i] = c->kind[i] == KIND_MONEY &&
                  demand_amount_in(AMOUNT_MONEY, c->v[i].value, c->v[i].n_value) != AMOUNT_STATED;
        some |= c->kind[i] == KIND_MONEY && !bare[i];
    }
    for (size_t i = 0; some && i < c->n; i++) c->apart[i] |= bare[i];
}

/* The cell that bytes [from, to) lie in; c->n: in none, or more than one. */
static size_t cell_at(const cells *c, const char *text, size_t from, size_t to) {
    for (size_t i = 0; from < to && i < c->n; i++) {
        const size_t a = (size_t)(c->v[i].value - text);
        if (from >= a && to <= a + c->v[i].n_value) return i;
    }
    return c->n;
}

/* ---- the column ------------------------------------------------------------------------------ */

/* How well a column's name fits what is asked. */
typedef struct fit {
    int asked;  /* of it that is said */
    int beyond; /* words that it says besides */
    bool against;
} fit;

static bool is_bracketed(const fact_text *t, size_t at) {
    int depth = 0;
    for (size_t i = 0; i < at; i++) depth += (t->text[i] == '(') - (t->text[i] == ')');
    return depth > 0;
}

/* "Non-members", "Others": of those that another column is not for. */
static bool name_denies(const fact_text *name) {
    return word_tokens_say("non not no without", name->text, name->len);
}

/* "1 hour" is not for two, "6-15" for a child of 9. */
static void fit_amounts(fit *f, const asked_tier *t, const char *name, size_t n) {
    value_bound asked[VALUE_BOUNDS_MAX], own[VALUE_BOUNDS_MAX], bounds[VALUE_BOUNDS_MAX];
    const size_t n_asked = value_amounts_in(t->q.text.text, t->q.text.len, asked),
                 n_own = value_amounts_in(name, n, own),
                 n_bounds = value_bounds_in(name, n, bounds);
    for (size_t i = 0; i < n_asked; i++) {
        for (size_t k = 0; k < n_own; k++)
            if (value_amounts_alike(&asked[i], &own[k])) {
                f->asked += asked[i].low == own[k].low;
                f->against |= asked[i].low != own[k].low;
            }
        for (size_t k = 0; k < n_bounds; k++)
            if (value_bound_is_for(&bounds[k], &asked[i])) {
                f->asked += value_bound_holds(&bounds[k], &asked[i]);
                f->against |= !value_bound_holds(&bounds[k], &asked[i]);
            }
    }
}

static void fit_days(fit *f, const demands *d, const char *name, size_t n) {
    const enum demand_day day = d->days ? demands_day_in(d, name, n) : DAY_NOT_SAID,
                          month = d->months ? demands_month_in(d, name, n) : DAY_NOT_SAID;
    f->asked += (day == DAY_MET) + (month == DAY_MET);
    f->against |= day == DAY_OTHER || month == DAY_OTHER;
}

/* "After one claim": a name of several words that the question says as it stands, its small words, too. */
static bool stands_in(const fact_text *asked, const table_pair *cell) {
    const char *q = asked->text;
    size_t words = 0, at = 0;
    while (word_token_next(cell->name, cell->n_name, &at).letters) words++;
    if (words < 2) return false;
    for (size_t i = 0; i + cell->n_name <= asked->len; i++) {
        const size_t end = i + cell->n_name;
        if ((i == 0 || !word_token_letter(q[i - 1])) &&
            (end == asked->len || !word_token_letter(q[end])) &&
            !strncasecmp(q + i, cell->name, cell->n_name))
            return true;
    }
    return false;
}

static int fit_name(fit *out, const short_input *in, const asked_tier *t, const table_pair *cell,
                    fo_err *err) {
    fact_text name = {0};
    *out = (fit){0};
    int rc = cell->n_name ? fact_text_read(&name, in->lx->analyzer, cell->name, cell->n_name, err)
                          : FO_OK;
    for (size_t i = 0; !rc && i < name.n_words; i++) {
        const fact_word *w = &name.words[i];
        const char *word = name.text + w->start;
        const uint64_t said = asked_words_in(t, &name, w->start, w->end);
        if (asked_word_is_whole(word, w->end - w->start))
            out->asked += t->whole;
        else if (said && (said & t->denied) == said)
            out->against |= !name_denies(&name);
        else if (said)
            out->against |= name_denies(&name), out->asked++;
        else
            out->beyond += fact_is_content(w) && !is_bracketed(&name, w->start);
    }
    if (!rc && cell->n_name && stands_in(&t->q.text, cell)) {
        out->asked++;
        out->against = false; /* "after one claim, with 4 years without claim" */
    }
    if (!rc && cell->n_name) {
        fit_amounts(out, t, cell->name, cell->n_name);
        fit_days(out, &t->q.demands, cell->name, cell->n_name);
    }
    fact_text_deinit(&name);
    return rc;
}

/* "20,000 if kept in a safe" is not for what was not in one, and before others for what was. */
static int fit_condition(fit *f, const short_input *in, const asked_tier *t, const table_pair *cell,
                         fo_err *err) {
    fact_text value = {0};
    uint64_t said = 0;
    bool behind = false, denies = false;
    int rc = fact_text_read(&value, in->lx->analyzer, cell->value, cell->n_value, err);
    for (size_t i = 0; !rc && i < value.n_words; i++) {
        const fact_word *w = &value.words[i];
        behind |= fact_word_in(&value, i, "if when unless without");
        denies |=
            behind && ((w->flags & WORD_NEGATION) || fact_word_in(&value, i, "unless without"));
        if (behind) said |= asked_words_in(t, &value, w->start, w->end);
    }
    fact_text_deinit(&value);
    if (rc || !said) return rc;
    const bool denied = (said & t->denied) != 0;
    f->against |= denied != denies;
    f->asked += denied == denies;
    return FO_OK;
}

static bool is_better(const fit *a, const fit *b) {
    if (a->asked != b->asked) return a->asked > b->asked;
    return a->asked && a->beyond < b->beyond;
}

/* The one of the kind that fits best; c->n: none does better than all others. What is against any question is set apart. */
static int best_fit(size_t *out, cells *c, int kind, const short_input *in, const asked_tier *t,
                    fo_err *err) {
    fit f[TABLE_COLUMNS];
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < c->n; i++) {
        rc = fit_name(&f[i], in, t, &c->v[i], err);
        if (!rc) rc = fit_condition(&f[i], in, t, &c->v[i], err);
    }
    *out = c->n;
    if (rc) return rc;
    for (size_t i = 0; i < c->n; i++) c->apart[i] |= f[i].against;
    for (size_t i = 0; i < c->n; i++) {
        bool best = !c->apart[i] && c->kind[i] == kind;
        for (size_t k = 0; best && k < c->n; k++)
            best = k == i || c->apart[k] || c->kind[k] != kind || is_better(&f[i], &f[k]);
        if (best) *out = i;
    }
    return FO_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* The kind of cell that is asked for; KIND_TEXT: what the reader takes says it. */
static int asked_kind(const cells *c, const short_input *in) {
    const question *q = asked_words_whole(in->asked);
    const enum asked_money money = asked_words_money(in->asked);
    if (money == ASKED_MONEY || (money == ASKED_PERHAPS && has_kind(c, KIND_MONEY)))
        return KIND_MONEY;
    if (q->kind != ASK_TIME || asked_words_amount(in->asked)) return KIND_TEXT;
    const bool clock = word_tokens_say("time", q->text.text, q->text.len);
    const int first = clock ? KIND_CLOCK : KIND_DATE, second = clock ? KIND_DATE : KIND_CLOCK;
    return has_kind(c, first) ? first : has_kind(c, second) ? second : KIND_TEXT;
}

/* What the question itself says, "Sunday", is what the row is of. */
static int leave_out_asked(cells *c, const short_input *in, fo_err *err) {
    const question *q = asked_words_whole(in->asked);
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < c->n; i++) {
        fact_text value = {0};
        size_t words = 0, asked = 0;
        rc = fact_text_read(&value, in->lx->analyzer, c->v[i].value, c->v[i].n_value, err);
        for (size_t k = 0; !rc && k < value.n_words; k++) {
            if (!fact_is_content(&value.words[k])) continue;
            words++;
            asked += question_says(q, value.words[k].id);
        }
        c->apart[i] |= words && words == asked;
        fact_text_deinit(&value);
    }
    return rc;
}

static int choose(enum short_told *told, size_t *chosen, cells *c, const short_input *in,
                  fo_err *err) {
    const size_t read = cell_at(c, in->passage->text, in->best_from, in->best_to);
    int kind = asked_kind(c, in), rc = FO_OK;
    if (kind == KIND_MONEY) leave_out_bare(c);
    if (kind == KIND_TEXT) kind = read < c->n ? c->kind[read] : KIND_TEXT;
    *told = read < c->n ? SHORT_OPEN : SHORT_NOT_TOLD;
    if (kind == KIND_TEXT) return FO_OK;
    for (size_t i = 0; !rc && i < in->asked->n; i++) {
        rc = best_fit(chosen, c, kind, in, &in->asked->tier[i], err);
        if (*chosen < c->n) break;
    }
    *told = *chosen < c->n ? SHORT_TOLD : SHORT_NOT_TOLD;
    /* of what the reader takes the words say enough: "6 hours" of "6 hours with a break" */
    if (*chosen == read && read < c->n && c->kind[read] >= KIND_OTHER) *told = SHORT_OPEN;
    return rc;
}

/* *row: the unit is one; a line of cells is where a line above it names them. */
static int read_row(cells *c, bool *row, const short_input *in, fo_err *err) {
    text_unit u = {0};
    int rc = find_row(&u, row, in, err);
    if (rc) return rc;
    if (!*row) u = (text_unit){.start = (uint32_t)in->start, .end = (uint32_t)in->end};
    if (!*row && memchr(in->passage->text + u.start, '\n', u.end - u.start)) return FO_OK;
    read_cells(c, in, &u);
    *row |= c->n > 2 && c->v[1].n_name > 0;
    const bool money = asked_words_money(in->asked) != ASKED_NO_MONEY;
    for (size_t i = 0; i < c->n; i++)
        c->kind[i] = kind_of(&c->v[i], money, asked_words_whole(in->asked)->kind == ASK_TIME);
    if (c->n > 1) c->apart[0] = !c->v[0].n_name; /* what the row is of */
    return FO_OK;
}

int short_cell(bool *row, enum short_told *told, size_t *from, size_t *to, const short_input *in,
               fo_err *err) {
    cells c = {0};
    size_t chosen = 0;
    *told = SHORT_OPEN;
    int rc = read_row(&c, row, in, err);
    if (rc || !*row) return rc;
    rc = leave_out_asked(&c, in, err);
    if (!rc) rc = choose(told, &chosen, &c, in, err);
    if (!rc && *told == SHORT_TOLD) {
        *from = (size_t)(c.v[chosen].value - in->passage->text);
        *to = *from + c.v[chosen].n_value;
    }
    return rc;
}
