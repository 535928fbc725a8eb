#include "retrieval/answer/tiers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/values/value_bounds.h"
#include "retrieval/text/word_tokens.h"

enum { MOST = 256 }; /* candidates with bounds that are looked at */

/* The amounts of a question that bounds are looked for. */
typedef struct amounts {
    value_bound v[VALUE_BOUNDS_MAX];
    bool told[VALUE_BOUNDS_MAX]; /* there are two of its kind: by the way that it goes */
    size_t n;
} amounts;

/* What a candidate states for each of the amounts. */
typedef struct tier {
    candidate *c;
    value_bound bound[VALUE_BOUNDS_MAX];
    bool has[VALUE_BOUNDS_MAX], holds[VALUE_BOUNDS_MAX];
} tier;

/* "in 24 hours", "every 3 days": how often, not how long. */
static bool is_rate(const char *text, const value_bound *v) {
    word_token last = {0};
    if (v->unit != CELL_SPAN || v->age || v->ahead) return false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, v->at, &at);
        if (!t.n) return word_token_in("in per every each", &last);
        last = t;
    }
}

/* "50 cm long and 30 cm wide" are told apart by what bounds are called; of "3 and 9 years old" none is looked for. */
static amounts read_amounts(const candidate_set *set) {
    value_bound v[VALUE_BOUNDS_MAX];
    const size_t n = value_amounts_in(set->q.text.text, set->q.text.len, v);
    amounts out = {0};
    bool age = false;
    for (size_t i = 0; i < n; i++) age |= v[i].age;
    for (size_t i = 0; i < n; i++) {
        if (age && is_rate(set->q.text.text, &v[i])) continue;
        bool alone = true, told = v[i].way != WAY_NOT_SAID;
        for (size_t k = 0; k < n; k++) {
            if (k == i || !value_amounts_alike(&v[i], &v[k])) continue;
            alone = false;
            told = told && v[k].way && v[k].way != v[i].way;
        }
        if (!alone && !told) continue;
        out.told[out.n] = !alone;
        out.v[out.n++] = v[i];
    }
    return out;
}

/* Of the bounds in text[n] from byte `from` on: those for the amounts; the closest that holds one, if one does. `ahead`: they are so
 * long before something, as the name of their column says. */
static void take_bounds(tier *t, const amounts *a, const char *text, size_t n, size_t from,
                        bool ahead) {
    value_bound found[VALUE_BOUNDS_MAX];
    const size_t count = value_bounds_in(text, n, found);
    for (size_t i = 0; ahead && i < count; i++) found[i].ahead = true;
    for (size_t i = 0; i < count * a->n; i++) {
        const value_bound *b = &found[i / a->n];
        const size_t k = i % a->n;
        if (b->at < from || !value_bound_is_for(b, &a->v[k]) || (a->told[k] && !b->way)) continue;
        const bool holds = value_bound_holds(b, &a->v[k]);
        if (t->has[k] && (t->holds[k] > holds ||
                          (t->holds[k] == holds && !value_bound_is_closer(b, &t->bound[k]))))
            continue;
        t->bound[k] = *b;
        t->has[k] = true;
        t->holds[k] = holds;
    }
}

/* A cell behind what its column is called, "Weight up to: 5 kg". */
typedef struct cell_text {
    char s[256];
    size_t n, n_name;
    bool ahead; /* the column is "Days before departure" */
} cell_text;

/* Bytes of the name's unit, "Weight up to (kg)"; *name becomes what stands before it. 0: it has none. */
static size_t unit_of_name(const char *s, size_t *name) {
    size_t open = *name && s[*name - 1] == ')' ? *name - 1 : 0;
    while (open && s[open] != '(') open--;
    if (!open) return 0;
    const size_t n = *name - open - 2;
    enum cell_unit unit;
    double times;
    if (!cell_unit_named(s + open + 1, n, &unit, &times)) return 0;
    *name = open;
    return n;
}

/* Bytes of the unit that a column's name begins with, "Days before departure"; 0: it begins with none. */
static size_t unit_before_name(const char *name, size_t n, bool *ahead) {
    enum cell_unit unit;
    double times;
    size_t at = 0;
    const word_token first = word_token_next(name, n, &at), next = word_token_next(name, n, &at);
    if (!first.letters || !cell_unit_named(first.s, first.n, &unit, &times)) return 0;
    *ahead = unit == CELL_SPAN && word_token_in("before prior ahead until till to", &next);
    return (size_t)(first.s - name) + first.n;
}

/* "30 to 15", "more than 60": a bound whose unit has to be said elsewhere. */
static bool is_bare_bound(const char *s, size_t n) {
    bool number = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return number;
        number |= t.digits;
        if (t.letters &&
            !word_token_in("up to more less fewer than over under above below from at least most "
                           "until till and between or max min maximum minimum older younger "
                           "longer shorter upwards",
                           &t))
            return false;
    }
}

/* The next cell of a row that is not too long; false: there is none. A number alone has the unit of its column. */
static bool next_cell(row_walk *walk, const candidate_passage *p, const text_unit *u,
                      cell_text *out) {
    for (table_pair cell; row_cell_next(walk, p, u, &cell);) {
        const char *name = cell.name ? cell.name : "";
        size_t n_name = cell.name ? cell.n_name : 0;
        const bool bare = is_bare_bound(cell.value, cell.n_value);
        const size_t in_brackets = bare ? unit_of_name(name, &n_name) : 0;
        const char *unit = in_brackets ? name + cell.n_name - 1 - in_brackets : name;
        out->ahead = false;
        const size_t n_unit =
            bare && !in_brackets ? unit_before_name(name, n_name, &out->ahead) : in_brackets;
        if (n_name + cell.n_value + n_unit + 4 > sizeof out->s) continue;
        out->n_name = n_name;
        out->n = (size_t)snprintf(out->s, sizeof out->s, "%.*s: %.*s %.*s", (int)n_name, name,
                                  (int)cell.n_value, cell.value, (int)n_unit, unit);
        return true;
    }
    return false;
}

/* What the name of a column alone bounds, all rows share. */
static void take_cells(tier *t, const amounts *a, const candidate_passage *p) {
    row_walk walk = {0};
    for (cell_text cell; next_cell(&walk, p, &t->c->unit, &cell);)
        take_bounds(t, a, cell.s, cell.n, cell.n_name, cell.ahead);
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

/* One list: rows of a table, items, sentences. */
typedef struct tier_list {
    tier *const *v;
    size_t n;
    uint8_t amounts; /* bit k: two or more of it state a bound for amount k */
} tier_list;

static bool counts(const tier_list *list, size_t k) {
    return list->amounts >> k & 1;
}

/* What states no bound for an amount, does not rule it out. */
static bool holds_all(const tier_list *list, const tier *t) {
    bool any = false;
    for (size_t k = 0; k < VALUE_BOUNDS_MAX; k++) {
        if (!counts(list, k) || !t->has[k]) continue;
        if (!t->holds[k]) return false;
        any = true;
    }
    return any;
}

/* Is a nowhere farther than b from what both hold, and somewhere closer? */
static bool is_closer(const tier_list *list, const tier *a, const tier *b) {
    bool closer = false;
    for (size_t k = 0; k < VALUE_BOUNDS_MAX; k++) {
        if (!counts(list, k) || !a->has[k] || !b->has[k]) continue;
        if (value_bound_is_closer(&b->bound[k], &a->bound[k])) return false;
        closer |= value_bound_is_closer(&a->bound[k], &b->bound[k]);
    }
    return closer;
}

static bool is_best(const tier_list *list, const tier *t) {
    if (!holds_all(list, t)) return false;
    for (size_t i = 0; i < list->n; i++)
        if (holds_all(list, list->v[i]) && is_closer(list, list->v[i], t)) return false;
    return true;
}

/* The amounts that none of the list holds; all, where each is held, but not by one: bits. */
static uint8_t not_held(const tier_list *list) {
    uint8_t held = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (holds_all(list, list->v[i])) return 0;
        for (size_t k = 0; k < VALUE_BOUNDS_MAX; k++)
            held |= (uint8_t)((unsigned)list->v[i]->holds[k] << k);
    }
    const uint8_t none = list->amounts & (uint8_t)~held;
    return none ? none : list->amounts;
}

static void mark_list(const candidate_set *set, uint32_t number, const tier_list *list) {
    const bool held = not_held(list) == 0;
    for (size_t i = 0; i < list->n; i++) {
        candidate *c = list->v[i]->c;
        c->tiers = number;
        if (!held) continue;
        c->tier_holds = is_best(list, list->v[i]);
        if (!c->tier_holds)
            candidate_set_apart(c);
        else if (c->f[CAND_OTHER_THING] < CAND_RIVAL && !set->passages[c->passage].off_subject)
            c->f[CAND_OTHER_THING] =
                0; /* that a sibling has more words of the question is no matter */
    }
}

static bool may_be_tier(const candidate *c) {
    return c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_ITEM ||
           c->unit.kind == TEXT_UNIT_SENTENCE;
}

static bool has_any(const tier *t, uint8_t of) {
    for (size_t k = 0; k < VALUE_BOUNDS_MAX; k++)
        if (t->has[k] && (of >> k & 1)) return true;
    return false;
}

/* The candidates that state a bound for one of the amounts. */
static size_t find_tiers(const candidate_set *set, const amounts *a, tier tiers[MOST]) {
    size_t n = 0;
    for (size_t i = 0; i < set->n && n < MOST; i++) {
        tier t = {.c = &set->c[i]};
        const candidate_passage *p = &set->passages[t.c->passage];
        if (!may_be_tier(t.c)) continue;
        if (t.c->unit.kind == TEXT_UNIT_ROW)
            take_cells(&t, a, p);
        else
            take_bounds(&t, a, p->text.text + t.c->start, t.c->end - t.c->start, 0, false);
        if (has_any(&t, UINT8_MAX)) tiers[n++] = t;
    }
    return n;
}

/* The terms of the question in the row's first cell, where that has no figure and says no kind of people: what the row is called. */
static uint64_t key_of(const candidate_set *set, const tier *t) {
    static const char people[] = "adult adults child children senior seniors people person persons "
                                 "student students pensioner pensioners youth youths teenager "
                                 "teenagers baby babies infant infants junior juniors kid kids";
    const candidate_passage *p = &set->passages[t->c->passage];
    const text_unit *u = &t->c->unit;
    table_pair first;
    if (u->kind != TEXT_UNIT_ROW ||
        !table_row_first(p->text.text + u->start, u->end - u->start, u->record, &first) ||
        fo_has_digit(first.value, first.n_value) ||
        word_tokens_say(people, first.value, first.n_value))
        return 0;
    return candidate_terms_at(p, first.value, first.n_value);
}

/* Are some rows called by words of the question that are not in the first cells of the others, those are of other things: 70 is "over
 * 65" in the row of the influenza, and nothing of tetanus. The others leave the list; *n: those that stay. */
static void keep_called(const candidate_set *set, tier **v, size_t *n) {
    double most = 0, share[MOST];
    for (size_t i = 0; i < *n; i++) {
        share[i] = question_share(&set->q, key_of(set, v[i]));
        most = fmax(most, share[i]);
    }
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        if (share[i] >= most)
            v[kept++] = v[i];
        else
            candidate_set_apart(v[i]->c);
    }
    *n = kept;
}

/* The amounts that two or more of the list state bounds for; those that state none of them leave it. */
static tier_list make_list(tier **v, size_t n) {
    tier_list list = {.v = v};
    for (size_t k = 0; k < VALUE_BOUNDS_MAX; k++) {
        size_t has = 0;
        for (size_t i = 0; i < n; i++) has += v[i]->has[k];
        if (has > 1) list.amounts |= (uint8_t)(1 << k);
    }
    for (size_t i = 0; i < n; i++)
        if (has_any(v[i], list.amounts)) v[list.n++] = v[i];
    return list;
}

/* Where a row or a sentence holds an age, another that states one by itself which does not, is of somebody else: "Children under 8
 * must not take it" beside "People over 70". */
static void mark_other_ages(const candidate_set *set, const amounts *a, tier *tiers, size_t n) {
    for (size_t i = 0; i < n * VALUE_BOUNDS_MAX; i++) {
        const tier *t = &tiers[i / VALUE_BOUNDS_MAX];
        const size_t k = i % VALUE_BOUNDS_MAX;
        if (t->c->tiers || !t->has[k] || t->holds[k] || !a->v[k].age) continue;
        for (size_t o = 0; o < n; o++)
            if (tiers[o].c->tier_holds && tiers[o].holds[k] &&
                candidate_one_document(&set->passages[tiers[o].c->passage],
                                       &set->passages[t->c->passage]))
                candidate_set_apart(t->c);
    }
}

void tiers_mark(candidate_set *set) {
    tier tiers[MOST], *members[MOST];
    bool seen[MOST] = {false};
    const amounts a = read_amounts(set);
    const size_t n = a.n ? find_tiers(set, &a, tiers) : 0;
    for (size_t i = 0; i < n; i++) {
        size_t n_list = 0;
        if (seen[i]) continue;
        for (size_t k = i; k < n; k++) {
            if (seen[k] || !are_of_one_list(set, tiers[i].c, tiers[k].c)) continue;
            members[n_list++] = &tiers[k];
            seen[k] = true;
        }
        keep_called(set, members, &n_list);
        const tier_list list = make_list(members, n_list);
        if (!list.amounts) continue;
        const candidate *first = list.v[0]->c;
        mark_list(set, (uint32_t)(first - set->c + 1), &list);
        if (first->unit.kind == TEXT_UNIT_ROW && set->q.demands.amount != AMOUNT_NONE)
            set->passages[first->passage].beyond |= not_held(&list);
    }
    mark_other_ages(set, &a, tiers, n);
}

/* Does the candidate, or what it stands below, name the amount or state a bound that holds it? */
static bool meets(const candidate_set *set, const candidate *c, const value_bound *amount) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    const char *text = p->text.text;
    row_walk walk = {0};
    if (u->kind == TEXT_UNIT_ROW) {
        for (cell_text cell; next_cell(&walk, p, u, &cell);)
            if (value_amount_is_met(cell.s, cell.n, amount)) return true;
        return false;
    }
    return value_amount_is_met(text + u->start, u->end - u->start, amount) ||
           value_amount_is_met(text + u->head_start, u->head_end - u->head_start, amount);
}

/* The table of passage p ends below an amount, or begins above it: of its document only what speaks of that amount itself says
 * what it comes to, "over 30 kg by freight", "5 days | 60". */
static void mark_beyond(candidate_set *set, const amounts *a, const candidate_passage *p) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (c->tier_holds || !candidate_one_document(&set->passages[c->passage], p)) continue;
        for (size_t k = 0; k < a->n; k++)
            if ((p->beyond >> k & 1) && !meets(set, c, &a->v[k])) candidate_set_apart(c);
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

/* The terms of an amount of the question, "75 year old": number, unit, and that it is an age. */
static uint64_t terms_of(const question *q, const value_bound *amount) {
    enum { WORDS = 3 };
    uint64_t terms = 0;
    size_t words = 0;
    for (size_t i = 0; i < q->text.n_words && words < WORDS; i++) {
        const fact_word *w = &q->text.words[i];
        const char *word = q->text.text + w->start;
        if (w->start < amount->at || (w->flags & WORD_PART)) continue;
        if (words && !fo_words_have_any_case("year years yr yrs month months week weeks day days "
                                             "old olds yo",
                                             word, w->end - w->start))
            break;
        const int k = question_term_of(q, w->id);
        if (k >= 0) terms |= 1ull << k;
        words++;
    }
    return terms;
}

/* What falls within a bound, has the age: "75 year old" is all in "People over 70". */
static void cover_amounts(candidate_set *set, const amounts *a) {
    const question *q = &set->q;
    for (size_t k = 0; k < a->n; k++) {
        const uint64_t terms = a->v[k].age ? terms_of(q, &a->v[k]) : 0;
        for (size_t i = 0; terms && i < set->n; i++) {
            candidate *c = &set->c[i];
            const candidate_passage *p = &set->passages[c->passage];
            if (!c->tier_holds) continue;
            const uint64_t lacks = terms & ~(c->set | p->title | candidate_head_terms(p, &c->unit));
            c->f[CAND_COVER] = fmin(1, c->f[CAND_COVER] + question_share(q, lacks));
            for (size_t t = 0; t < q->n_terms; t++) {
                if (!(lacks >> t & 1)) continue;
                const double share = q->terms[t].idf / q->mass;
                if (q->terms[t].rare) c->f[CAND_MISSING_RARE] -= share;
                if (q->terms[t].name) c->f[CAND_MISSING_NAME] -= share;
            }
            c->f[CAND_MISSING_RARE] = fmax(0, c->f[CAND_MISSING_RARE]);
            c->f[CAND_MISSING_NAME] = fmax(0, c->f[CAND_MISSING_NAME]);
        }
    }
}

void tiers_settle(candidate_set *set) {
    const amounts a = read_amounts(set);
    cover_amounts(set, &a);
    for (size_t i = 0; i < set->n_passages; i++)
        if (set->passages[i].beyond) mark_beyond(set, &a, &set->passages[i]);
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        for (size_t k = 0; k < set->n && c->tier_holds; k++)
            if (set->c[k].tiers == c->tiers) share(c, &set->c[k]);
    }
}
