#include "retrieval/answer/table_names.h"

#include <stdlib.h>
#include <string.h>

#include "retrieval/question/demand_amounts.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/units/table_row.h"

enum {
    MOST_NAMES = 32 /* of a table: more are a list of things, not of kinds */,
    MOST_OTHERS = 256
};

/* What a thing has, in rows or columns: a sentence about the place is no sentence about another thing than the price. */
static const char attributes[] = "price prices cost costs fee fees rate time times date dates day "
                                 "days place address phone telephone email mail contact name "
                                 "duration length size weight height width depth colour color "
                                 "notes note remarks remark description meaning default value "
                                 "unit page code number id status state type total start end from "
                                 "to opens closes hours open max min limit when where what "
                                 "who how why which yes no on off all other others total capacity "
                                 "speed temperature water power load";

typedef struct table_names {
    uint64_t asked; /* terms of the question that are names of rows or columns */
    struct other {
        uint64_t id;    /* of a name beside those, of one word */
        size_t passage; /* whose table it is of */
    } * others;
    size_t n;
} table_names;

typedef struct name {
    size_t w0, w1; /* words of the passage's text */
} name;

typedef struct list {
    name v[MOST_NAMES];
    size_t n;
    bool bad; /* no names of kinds */
} list;

static void add_name(list *l, const candidate_passage *p, const char *s, size_t n) {
    enum { MOST_WORDS = 3 };
    const size_t start = (size_t)(s - p->text.text);
    const fact_sentence words = candidate_words(&p->text, (uint32_t)start, (uint32_t)(start + n));
    if (words.w0 == words.w1) return;
    for (size_t i = words.w0; i < words.w1; i++) {
        const fact_word *w = &p->text.words[i];
        if ((w->flags & (WORD_CALENDAR | WORD_DIGIT | WORD_NUMERAL)) ||
            fact_word_in(&p->text, i, attributes))
            l->bad = true;
    }
    if (words.w1 - words.w0 > MOST_WORDS || l->n == MOST_NAMES) {
        l->bad = true;
        return;
    }
    l->v[l->n++] = (name){words.w0, words.w1};
}

/* Terms of the question that the name is, where the question says all of it; 0: it does not. */
static uint64_t asked_by(const candidate_passage *p, const name *m) {
    uint64_t terms = 0;
    for (size_t i = m->w0; i < m->w1; i++) {
        if (!fact_is_content(&p->text.words[i])) continue;
        if (p->terms[i] < 0) return 0;
        terms |= 1ull << p->terms[i];
    }
    return terms;
}

static bool says_some_of(const candidate_passage *p, const name *m) {
    for (size_t i = m->w0; i < m->w1; i++)
        if (p->terms[i] >= 0) return true;
    return false;
}

/* Of a list in which the question says one name, the others that are one word each. */
static int take(table_names *names, const candidate_set *set, size_t of, const list *l,
                fo_err *err) {
    const candidate_passage *p = &set->passages[of];
    uint64_t asked = 0;
    size_t n_asked = 0;
    if (l->bad || l->n < 2) return FO_OK;
    for (size_t i = 0; i < l->n; i++) {
        const uint64_t terms = asked_by(p, &l->v[i]);
        n_asked += terms && terms != asked;
        asked |= terms;
    }
    if (n_asked != 1) return FO_OK;
    names->asked |= asked;
    for (size_t i = 0; i < l->n && names->n < MOST_OTHERS; i++) {
        const name *m = &l->v[i];
        if (m->w1 - m->w0 != 1 || says_some_of(p, m)) continue;
        struct other *more = realloc(names->others, (names->n + 1) * sizeof *more);
        if (!more) return fo_no_memory(err);
        names->others = more;
        names->others[names->n++] = (struct other){p->text.words[m->w0].id, of};
    }
    return FO_OK;
}

/* The names of the columns but the first. */
static void add_columns(list *l, const candidate_passage *p, const text_unit *row) {
    row_walk walk = {0};
    size_t k = 0;
    for (table_pair cell; row_cell_next(&walk, p, row, &cell); k++)
        if (k && cell.name) add_name(l, p, cell.name, cell.n_name);
}

static bool is_of_same_table(const text_unit *a, const text_unit *b) {
    return b->kind == TEXT_UNIT_ROW && a->record == b->record &&
           (a->record || a->head_start == b->head_start);
}

/* Does the row say sums alone, behind its name? Who pays what tells nothing of who may do what. */
static bool says_sums(const candidate_passage *p, const text_unit *row) {
    row_walk walk = {0};
    size_t k = 0, sums = 0;
    for (table_pair cell; row_cell_next(&walk, p, row, &cell); k++) {
        if (!k || !cell.n_value) continue;
        if (demand_amount_in(AMOUNT_MONEY, cell.value, cell.n_value) == AMOUNT_NOT_STATED)
            return false;
        sums++;
    }
    return sums > 0;
}

/* The table from unit i of a passage on: one past its last row. */
static size_t read_table(table_names *names, const candidate_set *set, size_t of, size_t i, int *rc,
                         fo_err *err) {
    const candidate_passage *p = &set->passages[of];
    const text_unit *first = &p->units.v[i];
    list rows = {0}, columns = {0};
    size_t end = i;
    bool sums = true;
    for (; end < p->units.n && is_of_same_table(first, &p->units.v[end]); end++) {
        row_walk walk = {0};
        table_pair cell;
        if (row_cell_next(&walk, p, &p->units.v[end], &cell) && cell.n_value)
            add_name(&rows, p, cell.value, cell.n_value);
        sums = sums && says_sums(p, &p->units.v[end]);
    }
    if (sums && set->q.demands.amount != AMOUNT_MONEY) return end;
    add_columns(&columns, p, first);
    if (end - i > 1) *rc = take(names, set, of, &rows, err);
    if (!*rc) *rc = take(names, set, of, &columns, err);
    return end;
}

static int read_all(table_names *names, const candidate_set *set, fo_err *err) {
    int rc = FO_OK;
    for (size_t k = 0; !rc && k < set->n_passages; k++) {
        const text_units *u = &set->passages[k].units;
        for (size_t i = 0; !rc && i < u->n;)
            i = u->v[i].kind == TEXT_UNIT_ROW ? read_table(names, set, k, i, &rc, err) : i + 1;
    }
    return rc;
}

/* Does the unit say one of the others of its document, and no name that is asked about? */
static bool is_of_another(const table_names *names, const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    if (c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_HEADING) return false;
    const uint64_t said =
        c->set | p->title | candidate_terms(p, c->unit.head_start, c->unit.head_end);
    if (said & names->asked) return false;
    for (size_t i = c->w0; i < c->w1; i++)
        for (size_t k = 0; k < names->n; k++)
            if (p->text.words[i].id == names->others[k].id &&
                candidate_one_document(p, &set->passages[names->others[k].passage]))
                return true;
    return false;
}

int table_names_mark(candidate_set *set, fo_err *err) {
    table_names names = {0};
    int rc = read_all(&names, set, err);
    for (size_t i = 0; !rc && names.n && i < set->n; i++) {
        candidate *c = &set->c[i];
        if (c->f[CAND_OTHER_THING] == 0 && is_of_another(&names, set, c))
            c->f[CAND_OTHER_THING] = 1;
    }
    free(names.others);
    return rc;
}
