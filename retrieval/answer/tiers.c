#include "retrieval/answer/tiers.h"

#include <math.h>
#include <string.h>

#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/value_bounds.h"

enum { MOST = 256 }; /* candidates with bounds that are looked at */

typedef struct tier {
    candidate *c;
    value_bound bound;
    bool has, holds;
} tier;

/* Of the bounds in text[n] from byte `from` on: the one for the amount; the closest that holds it, if one does. */
static void take_bounds(tier *t, const value_bound *amount, const char *text, size_t n,
                        size_t from) {
    value_bound found[VALUE_BOUNDS_MAX];
    const size_t count = value_bounds_in(text, n, found);
    for (size_t i = 0; i < count; i++) {
        const value_bound *b = &found[i];
        if (b->at < from || !value_bound_is_for(b, amount)) continue;
        const bool holds = value_bound_holds(b, amount);
        if (t->has &&
            (t->holds > holds || (t->holds == holds && !value_bound_is_closer(b, &t->bound))))
            continue;
        t->bound = *b;
        t->has = true;
        t->holds = holds;
    }
}

/* Of a row each cell behind what its column is called, "Weight up to: 5 kg": what that alone bounds, all rows share. */
static void take_cells(tier *t, const value_bound *amount, const candidate_passage *p) {
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, &t->c->unit, &cell);) {
        char text[256];
        const size_t n_name = cell.name ? cell.n_name : 0, n = n_name + 2 + cell.n_value;
        if (n >= sizeof text) continue;
        memcpy(text, cell.name ? cell.name : "", n_name);
        memcpy(text + n_name, ": ", 2);
        memcpy(text + n_name + 2, cell.value, cell.n_value);
        take_bounds(t, amount, text, n, n_name);
    }
}

/* Rows of one table may lie in several passages of a document. */
static bool are_rows_alike(const candidate_set *set, const candidate *a, const candidate *b) {
    const candidate_passage *p = &set->passages[a->passage], *q = &set->passages[b->passage];
    const text_unit *u = &a->unit, *v = &b->unit;
    if (p == q) return rows_of_one_table(p, u, v);
    if (u->record != v->record || !candidate_one_document(p, q)) return false;
    const char *s = p->text.text, *t = q->text.text;
    if (u->record)
        return table_row_is_alike(s + u->start, u->end - u->start, t + v->start, v->end - v->start);
    const size_t n = u->head_end - u->head_start;
    return n && n == v->head_end - v->head_start &&
           !memcmp(s + u->head_start, t + v->head_start, n);
}

static bool are_of_one_list(const candidate_set *set, const candidate *a, const candidate *b) {
    const text_unit *u = &a->unit, *v = &b->unit;
    if (u->kind != v->kind) return false;
    if (u->kind == TEXT_UNIT_ROW) return are_rows_alike(set, a, b);
    return a->passage == b->passage && u->head_start == v->head_start && u->head_end == v->head_end;
}

/* tiers[n] are of one list. False: none of them holds the amount. */
static bool mark_list(const candidate_set *set, uint32_t number, tier *const *tiers, size_t n) {
    const tier *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (tiers[i]->holds && (!best || value_bound_is_closer(&tiers[i]->bound, &best->bound)))
            best = tiers[i];
    for (size_t i = 0; i < n; i++) {
        candidate *c = tiers[i]->c;
        c->tiers = number;
        if (!best) continue;
        c->tier_holds = tiers[i]->holds && !value_bound_is_closer(&best->bound, &tiers[i]->bound);
        if (!c->tier_holds)
            candidate_set_apart(c);
        else if (c->f[CAND_OTHER_THING] < CAND_RIVAL && !set->passages[c->passage].off_subject)
            c->f[CAND_OTHER_THING] =
                0; /* that a sibling has more words of the question is no matter */
    }
    return best != NULL;
}

static bool may_be_tier(const candidate *c) {
    return c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_ITEM ||
           c->unit.kind == TEXT_UNIT_SENTENCE;
}

/* The candidates that state a bound for the amount. */
static size_t find_tiers(const candidate_set *set, const value_bound *amount, tier tiers[MOST]) {
    size_t n = 0;
    for (size_t i = 0; i < set->n && n < MOST; i++) {
        tier t = {.c = &set->c[i]};
        const candidate_passage *p = &set->passages[t.c->passage];
        if (!may_be_tier(t.c)) continue;
        if (t.c->unit.kind == TEXT_UNIT_ROW)
            take_cells(&t, amount, p);
        else
            take_bounds(&t, amount, p->text.text + t.c->start, t.c->end - t.c->start, 0);
        if (t.has) tiers[n++] = t;
    }
    return n;
}

static void mark_amount(candidate_set *set, const value_bound *amount) {
    tier tiers[MOST], *list[MOST];
    bool seen[MOST] = {false};
    const size_t n = find_tiers(set, amount, tiers);
    for (size_t i = 0; i < n; i++) {
        size_t n_list = 0;
        if (seen[i]) continue;
        for (size_t k = i; k < n; k++) {
            if (seen[k] || !are_of_one_list(set, tiers[i].c, tiers[k].c)) continue;
            list[n_list++] = &tiers[k];
            seen[k] = true;
        }
        if (n_list < 2) continue;
        const bool held = mark_list(set, (uint32_t)(tiers[i].c - set->c + 1), list, n_list);
        if (!held && tiers[i].c->unit.kind == TEXT_UNIT_ROW && set->q.demands.amount != AMOUNT_NONE)
            set->passages[tiers[i].c->passage].beyond = true;
    }
}

void tiers_mark(candidate_set *set) {
    value_bound amounts[VALUE_BOUNDS_MAX];
    const size_t n = value_amounts_in(set->q.text.text, set->q.text.len, amounts);
    for (size_t i = 0; i < n; i++) mark_amount(set, &amounts[i]);
}

/* The table of passage p ends below the amount, or begins above it: its document does not say what that comes to. */
static void mark_beyond(candidate_set *set, const candidate_passage *p) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (!c->tier_holds && candidate_one_document(&set->passages[c->passage], p))
            candidate_set_apart(c);
    }
}

/* What the others of the list have of the question, the one that holds has as well. */
static void share(candidate *c, const candidate *o) {
    static const int best[] = {CAND_COVER, CAND_NEIGHBOURS,  CAND_PAIRS,         CAND_TYPE_NEAR,
                               CAND_ALIGN, CAND_ALIGN_LEAST, CAND_ALIGN_PASSAGE, CAND_ALIGN_BACK};
    static const int least[] = {CAND_MISSING_NAME, CAND_NO_AMOUNT};
    for (size_t i = 0; i < sizeof best / sizeof *best; i++)
        c->f[best[i]] = fmax(c->f[best[i]], o->f[best[i]]);
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        c->f[least[i]] = fmin(c->f[least[i]], o->f[least[i]]);
    c->cross = fmax(c->cross, o->cross); /* of two of which one is not a number, the other */
}

void tiers_settle(candidate_set *set) {
    for (size_t i = 0; i < set->n_passages; i++)
        if (set->passages[i].beyond) mark_beyond(set, &set->passages[i]);
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        for (size_t k = 0; k < set->n && c->tier_holds; k++)
            if (set->c[k].tiers == c->tiers) share(c, &set->c[k]);
    }
}
