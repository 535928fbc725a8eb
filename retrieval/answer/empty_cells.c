#include "retrieval/answer/empty_cells.h"

#include <string.h>

#include "retrieval/answer/row_answers.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/units/table_row.h"

/* "What does the Duster cost?", "What is the weight of it?": not "What boats cost 5 euros?". */
static bool asks_what_it_is(const question *q) {
    const enum demand_amount a = q->demands.amount;
    size_t at = 0;
    const word_token first = word_token_next(q->text.text, q->text.len, &at),
                     verb = word_token_next(q->text.text, q->text.len, &at);
    return (a == AMOUNT_MONEY || a == AMOUNT_EXPENSE || a == AMOUNT_WEIGHT) &&
           word_token_in("what", &first) &&
           word_token_in("is are was were does do did will would", &verb);
}

/* Does the question ask for a value that stands in one column, and not whether, or which rows have it? */
static bool asks_for_one_cell(const question *q) {
    const demands *d = &q->demands;
    return d->language < 0 && !d->whether && (!d->which || asks_what_it_is(q)) && !d->which_none &&
           (d->amount != AMOUNT_NONE || q->kind == ASK_TIME || q->kind == ASK_PERSON ||
            q->kind == ASK_PLACE || q->kind == ASK_NUMBER);
}

/* Does the name of a column say what the question's word asks for: "Departure" of when, "Contact" of who? */
static bool is_column_of_kind(const question *q, const table_pair *cell) {
    const enum demand_amount a = q->demands.amount;
    const char *words =
        q->kind == ASK_TIME
            ? "time times date day departure arrival start starts begins opens hours"
        : q->kind == ASK_PERSON                    ? "name names person contact"
        : q->kind == ASK_PLACE                     ? "place room address location venue"
        : a == AMOUNT_MONEY || a == AMOUNT_EXPENSE ? "price prices cost costs fee fees rate rates"
                                                   : NULL;
    return words && word_tokens_say(words, cell->name, cell->n_name);
}

/* Does the question say every word that the column is called by? */
static bool is_column_asked(const candidate_passage *p, const table_pair *cell) {
    const uint32_t start = (uint32_t)(cell->name - p->text.text);
    const fact_sentence s = candidate_words(&p->text, start, start + (uint32_t)cell->n_name);
    bool any = false;
    for (size_t i = s.w0; i < s.w1; i++) {
        if (!fact_is_content(&p->text.words[i])) continue;
        if (p->terms[i] < 0) return false;
        any = true;
    }
    return any;
}

/* Does the question name the column whole, but for the unit of its figures: "Tone Hz", "sold_eur"? */
static bool is_record_column_asked(const candidate_passage *p, const table_pair *cell) {
    enum { LONGEST_UNIT = 3 };
    const uint32_t start = (uint32_t)(cell->name - p->text.text);
    const fact_sentence s = candidate_words(&p->text, start, start + (uint32_t)cell->n_name);
    bool any = false;
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &p->text.words[i];
        const bool whole = !(w->flags & WORD_PART) && i + 1 < s.w1 &&
                           (w[1].flags & WORD_PART); /* its parts tell */
        if (whole || (w->flags & WORD_STOP)) continue;
        if (p->terms[i] >= 0)
            any = true;
        else if (!any || i + 1 < s.w1 || w->end - w->start > LONGEST_UNIT)
            return false;
    }
    return any;
}

/* Has the record a cell of that column? */
static bool record_has(const candidate_passage *p, const text_unit *u, const table_pair *column) {
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);)
        if (cell.name && cell.n_name == column->n_name &&
            !memcmp(cell.name, column->name, cell.n_name))
            return true;
    return false;
}

/* Is it a column for the amount that is demanded, by what it is called: "price_gbp" of what a car costs? */
static bool is_column_of_amount(const question *q, const table_pair *cell) {
    const enum demand_amount a = q->demands.amount;
    if (a == AMOUNT_MONEY || a == AMOUNT_EXPENSE) return is_column_of_kind(q, cell);
    return a == AMOUNT_WEIGHT && word_tokens_say("weight weights mass", cell->name, cell->n_name);
}

/* Records leave out what is empty: has another one of the table a cell in a column that is asked for, which this one has not? */
static bool record_lacks_cell(const question *q, const candidate_passage *p, const text_unit *u) {
    enum { NEAR = 48 }; /* units: each row looks at others */
    size_t at = 0;
    while (at < p->units.n && p->units.v[at].start < u->start) at++;
    for (size_t i = at > NEAR ? at - NEAR : 0; i < p->units.n && i <= at + NEAR; i++) {
        const text_unit *other = &p->units.v[i];
        row_walk walk = {0};
        if (other->kind != TEXT_UNIT_ROW || !other->record || !rows_of_one_table(p, other, u))
            continue;
        for (table_pair cell; row_cell_next(&walk, p, other, &cell);)
            if (walk.at && cell.name &&
                (is_record_column_asked(p, &cell) || is_column_of_amount(q, &cell)) &&
                !record_has(p, u, &cell))
                return true;
    }
    return false;
}

/* Has it a column that is asked for, or one for what is asked? Its first one names the row. */
static bool record_says_it(const question *q, const candidate_passage *p, const text_unit *u) {
    row_walk walk = {0};
    bool first = true;
    for (table_pair cell; row_cell_next(&walk, p, u, &cell); first = false)
        if (!first && cell.name &&
            (is_record_column_asked(p, &cell) || is_column_of_kind(q, &cell)))
            return true;
    return false;
}

/* "What tone does GB7WD use?", "What is the tone of GB7WD?": nothing of weight stands before what the column is called. */
static bool asks_what_first(const question *q, const candidate_passage *p, const text_unit *u) {
    const demands *d = &q->demands;
    size_t first = 0;
    if ((q->kind != ASK_OTHER && q->kind != ASK_NUMBER) || d->language >= 0 || d->whether ||
        d->which_none || !q->text.n_words || !fact_word_in(&q->text, 0, "what which"))
        return false;
    while (first < q->text.n_words && !fact_is_content(&q->text.words[first])) first++;
    const int k = first < q->text.n_words ? question_term_of(q, q->text.words[first].id) : -1;
    return k >= 0 && !((candidate_terms(p, u->start, u->end) | p->title) >> k & 1);
}

/* The next cell, or, behind the last one, a column that the row has no cell for: what is empty at its end is not written. */
static bool row_or_column_next(row_walk *w, const candidate_passage *p, const text_unit *u,
                               table_pair *cell) {
    const char *head = p->text.text + u->head_start;
    if (row_cell_next(w, p, u, cell)) return true;
    *cell = (table_pair){.value = p->text.text + u->end};
    return !u->record && u->head_end > u->head_start && row_subject(p, u) &&
           table_row_cell(head, u->head_end - u->head_start, &w->at_name, &cell->name,
                          &cell->n_name);
}

bool row_has_empty_cell(const question *q, const candidate_passage *p, const text_unit *u) {
    bool empty = false, filled = false, first = true; /* filled: a cell before it is */
    row_walk walk = {0};
    if (u->kind != TEXT_UNIT_ROW || !(asks_for_one_cell(q) || asks_what_first(q, p, u)))
        return false;
    if (u->record) return !record_says_it(q, p, u) && record_lacks_cell(q, p, u);
    for (table_pair cell; row_or_column_next(&walk, p, u, &cell); first = false) {
        if (!cell.name) return false;
        /* of the first column, and beside nothing but blanks, a blank goes on with the row above */
        if (!cell.n_value)
            empty |= filled && (is_column_asked(p, &cell) || is_column_of_amount(q, &cell));
        else if (!first &&
                 (candidate_terms_at(p, cell.name, cell.n_name) || is_column_of_kind(q, &cell)))
            return false;
        filled |= cell.n_value > 0;
    }
    return empty;
}

/* The question's terms in the cells of a row, and not in what its columns are called. */
static uint64_t terms_of_cells(const candidate_passage *p, const text_unit *u) {
    uint64_t terms = 0;
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);)
        terms |= candidate_terms_at(p, cell.value, cell.n_value);
    return terms;
}

void rows_set_apart_beside_empty(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    for (size_t i = from; i < set->n; i++) {
        const text_unit *u = &set->c[i].unit;
        if (!set->c[i].empty_cell) continue;
        const uint64_t own = terms_of_cells(p, u);
        for (size_t k = from; own && k < set->n; k++)
            if (rows_of_one_table(p, u, &set->c[k].unit) &&
                !(terms_of_cells(p, &set->c[k].unit) & own))
                set->c[k].f[CAND_OTHER_THING] = CAND_RIVAL;
    }
}

/* "What is the focal length of the Corvus 90?": the words between "what is the" and "of", all of which are terms; 0: it asks otherwise.
 * *behind: the word behind them. */
static uint64_t attribute_asked(const question *q, size_t *behind) {
    const fact_text *t = &q->text;
    size_t i = 0;
    uint64_t terms = 0;
    if (!t->n_words || !fact_word_in(t, i++, "what whats")) return 0;
    if (i < t->n_words && fact_word_in(t, i, "s")) i++;
    if (i == 1 && (i == t->n_words || !fact_word_in(t, i, "is are was were")))
        return 0; /* "What percentage of members ..." asks for no column */
    while (i < t->n_words && fact_word_in(t, i, "is are was were the")) i++;
    for (; i < t->n_words && !fact_word_in(t, i, "of for"); i++) {
        const int k = question_term_of(q, t->words[i].id);
        if (k < 0 || q->terms[k].name || (t->words[i].flags & (WORD_STOP | WORD_DIGIT))) return 0;
        terms |= 1ull << k;
    }
    *behind = i;
    return i < t->n_words ? terms : 0;
}

bool row_lacks_column(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    const question *q = &set->q;
    const demands *d = &q->demands;
    size_t behind = 0;
    if (u->kind != TEXT_UNIT_ROW || d->language >= 0 || d->amount != AMOUNT_NONE ||
        d->detail != DETAIL_NONE || d->extreme)
        return false;
    const uint64_t asked = attribute_asked(q, &behind);
    uint64_t names = 0, said = p->title | p->named | p->filed;
    for (size_t i = behind; asked && i < q->text.n_words; i++) {
        const int k = question_term_of(q, q->text.words[i].id);
        if (k >= 0 && q->terms[k].name) names |= 1ull << k;
    }
    for (size_t i = 0; names && i < set->n_passages; i++)
        if (candidate_one_document(&set->passages[i], p)) said |= set->passages[i].said;
    row_walk walk = {0};
    table_pair cell;
    return names && !(asked & said) && (candidate_terms(p, u->start, u->end) & names) &&
           row_cell_next(&walk, p, u, &cell) && cell.name;
}
