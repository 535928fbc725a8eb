#include "retrieval/answer/row_keys.h"

#include "kernels/utf8.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/row_conditions.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"

/* Words of a question that only ask whether something is had, or what is given. */
static uint64_t terms_that_ask(const question *q) {
    static const char asks[] =
        "include includes included including contain contains have has offer "
        "offers offered come comes get gets part available provide provides "
        "provided cover covers covered allow allows allowed give gives given return "
        "returns returned show shows shown mean means stand stands use used";
    uint64_t terms = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && fact_word_in(&q->text, i, asks)) terms |= 1ull << k;
    }
    return terms;
}

/* The terms of the row's first cell, where the question says all of it; 0: it does not. */
static uint64_t key_of(const candidate_passage *p, const text_unit *u) {
    table_pair first;
    if (!table_row_first(p->text.text + u->start, u->end - u->start, u->record, &first)) return 0;
    const uint32_t start = (uint32_t)(first.value - p->text.text);
    const fact_sentence s = candidate_words(&p->text, start, start + (uint32_t)first.n_value);
    for (size_t i = s.w0; i < s.w1; i++)
        if (p->terms[i] < 0 && fact_is_content(&p->text.words[i])) return 0;
    return candidate_terms_at(p, first.value, first.n_value);
}

/* Does a cell say something below a column that the question names beside the row's key? */
static bool has_asked_cell(const candidate_passage *p, const text_unit *u, uint64_t key) {
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);)
        if (walk.at && cell.name && cell.n_value &&
            (candidate_terms_at(p, cell.name, cell.n_name) & ~key) &&
            !(candidate_terms_at(p, cell.value, cell.n_value) & key))
            return true;
    return false;
}

/* "Premium | both" below "Pool and sauna". */
static bool is_found_by_key(const question *q, const candidate_passage *p, const candidate *c,
                            uint64_t asks) {
    const uint64_t key = key_of(p, &c->unit);
    const uint64_t known = c->set | p->title | candidate_head_terms(p, &c->unit) | asks;
    return key && question_share(q, known) > 0.999 && has_asked_cell(p, &c->unit, key);
}

/* May the cell be a person, a time, a place? "12 months" is nobody, "Anatoly" no time. */
static bool is_cell_of_kind(const question *q, const table_pair *cell) {
    const bool digit = fo_has_digit(cell->value, cell->n_value);
    if (q->kind == ASK_PERSON) return !digit && fo_is_upper(cell->value[0]);
    if (q->kind != ASK_TIME || digit) return true;
    return demand_days_in(cell->value, cell->n_value) ||
           demand_months_in(cell->value, cell->n_value);
}

/* "Who coaches sabre?": "Anatoly" below "Coach", in the row that says sabre in another cell. Together they say all of the question, and
 * that cell says nothing of it. */
static bool is_found_by_cell(const question *q, const candidate_passage *p, const candidate *c) {
    const uint64_t known = c->set | p->title | candidate_head_terms(p, &c->unit);
    uint64_t values = 0, columns = 0; /* columns: that are asked for and tell something */
    row_walk walk = {0};
    if (question_share(q, known) < 0.999) return false;
    for (table_pair cell; row_cell_next(&walk, p, &c->unit, &cell);) {
        const uint64_t said = candidate_terms_at(p, cell.value, cell.n_value);
        values |= said;
        if (cell.name && !said && cell.n_value && !row_cell_denies(cell.value, cell.n_value) &&
            is_cell_of_kind(q, &cell))
            columns |= candidate_terms_at(p, cell.name, cell.n_name);
    }
    return values && (columns & ~values & ~p->title);
}

/* Of a person, a time, a place or a name: numbers and yes or no have rules of their own. Which one is the first or the most, no row
 * says. */
static bool asks_for_a_cell(const question *q) {
    const demands *d = &q->demands;
    return (q->kind == ASK_PERSON || q->kind == ASK_NAME || q->kind == ASK_PLACE ||
            q->kind == ASK_TIME) &&
           d->amount == AMOUNT_NONE && !d->whether && !d->which && !d->which_none && !d->who_not &&
           !d->none && !d->extreme && !d->in_turn;
}

/* At most so many rows of a table are alike in that; of more the question says too little. */
static void pick_by_cell(candidate_set *set, const candidate_passage *p, size_t from, size_t to) {
    enum { MOST = 3 };
    size_t n = 0;
    for (size_t i = from; i < to; i++) n += is_found_by_cell(&set->q, p, &set->c[i]);
    for (size_t i = from; n && n <= MOST && i < to; i++)
        if (set->c[i].f[CAND_OTHER_THING] == 0 && is_found_by_cell(&set->q, p, &set->c[i]))
            row_is_picked(&set->c[i]);
}

void rows_pick_by_cell(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    if (set->q.text.language >= 0 || !asks_for_a_cell(&set->q)) return;
    for (size_t to; from < set->n; from = to) {
        for (to = from + 1; to < set->n; to++)
            if (!rows_of_one_table(p, &set->c[to - 1].unit, &set->c[to].unit)) break;
        if (set->c[from].unit.kind == TEXT_UNIT_ROW) pick_by_cell(set, p, from, to);
    }
}

/* ---- the key of a row ------------------------------------------------------------------------ */

static bool is_bracketed(const candidate_passage *p, uint32_t from, const fact_word *w) {
    int depth = 0;
    for (uint32_t i = from; i < w->start; i++)
        depth += (p->text.text[i] == '(') - (p->text.text[i] == ')');
    return depth > 0;
}

/* How many words of weight bytes [from, to) have, those in brackets aside; 0: the question does not say them all. */
static size_t words_asked(const candidate_passage *p, uint32_t from, uint32_t to) {
    const fact_sentence s = candidate_words(&p->text, from, to);
    size_t words = 0;
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &p->text.words[i];
        if (!fact_is_content(w) || is_bracketed(p, from, w)) continue;
        if (p->terms[i] < 0) return 0;
        words++;
    }
    return words;
}

static size_t words_asked_at(const candidate_passage *p, const char *s, size_t n) {
    const uint32_t from = (uint32_t)(s - p->text.text);
    return words_asked(p, from, from + (uint32_t)n);
}

/* Is it the key that is asked for, by what its column is called, or the table: "exit code" below "Exit codes"? *names: the terms of
 * that name. */
static bool asks_for_key(const candidate_passage *p, const text_unit *u, const table_pair *key,
                         uint64_t *names) {
    const text_unit *above = key->name ? NULL : heading_above(p, u);
    if (!key->name && !above) return false;
    const uint32_t from = above ? above->start : (uint32_t)(key->name - p->text.text);
    const uint32_t to = above ? above->end : from + (uint32_t)key->n_name;
    *names = candidate_terms(p, from, to);
    return words_asked(p, from, to) > 0;
}

/* "12 | Wrong password (since 0.17)": the question says all that stands beside the key, and nearly nothing else. */
static bool is_found_by_text(const candidate_set *set, const candidate_passage *p,
                             const candidate *c, uint64_t asks) {
    static const double most = 0.85;
    enum { FEWEST = 2, LONGEST = 24 };
    row_walk walk = {0};
    table_pair key, text, more;
    uint64_t names;
    if (!row_cell_next(&walk, p, &c->unit, &key) || !row_cell_next(&walk, p, &c->unit, &text) ||
        row_cell_next(&walk, p, &c->unit, &more))
        return false;
    return key.n_value && key.n_value <= LONGEST &&
           !candidate_terms_at(p, key.value, key.n_value) &&
           words_asked_at(p, text.value, text.n_value) >= FEWEST &&
           asks_for_key(p, &c->unit, &key, &names) &&
           question_share(&set->q, c->set | names | p->title | asks) > most;
}

static bool asks_what(const question *q) {
    return (q->kind == ASK_OTHER || q->kind == ASK_NUMBER) &&
           word_tokens_say("what which", q->text.text, q->text.len);
}

void rows_pick_by_key(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    const question *q = &set->q;
    if (q->text.language >= 0 || !(q->demands.whether || asks_what(q))) return;
    const uint64_t asks = terms_that_ask(q);
    for (size_t i = set->n; i-- > 0 && set->c[i].passage == index;) {
        candidate *c = &set->c[i];
        if (c->unit.kind != TEXT_UNIT_ROW) continue;
        if (q->demands.whether) {
            if (is_found_by_key(q, p, c, asks)) row_is_picked(c);
        } else if (is_found_by_text(set, p, c, asks)) {
            row_is_picked(c);
            c->f[CAND_NO_AMOUNT] = 0; /* the key is the code that is demanded */
        }
    }
}
