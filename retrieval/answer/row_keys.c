#include "retrieval/answer/row_keys.h"

#include "kernels/words.h"
#include "retrieval/answer/row_answers.h"

/* Words of a question that only ask whether something is had. */
static uint64_t terms_that_ask(const question *q) {
    static const char asks[] =
        "include includes included including contain contains have has offer "
        "offers offered come comes get gets part available provide provides "
        "provided cover covers covered allow allows allowed";
    uint64_t terms = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && fo_words_have_any_case(asks, q->text.text + w->start, w->end - w->start))
            terms |= 1ull << k;
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

void rows_pick_by_key(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    const question *q = &set->q;
    if (!q->demands.whether || q->text.language >= 0) return;
    const uint64_t asks = terms_that_ask(q);
    for (size_t i = set->n; i-- > 0 && set->c[i].passage == index;) {
        candidate *c = &set->c[i];
        const uint64_t key = c->unit.kind == TEXT_UNIT_ROW ? key_of(p, &c->unit) : 0;
        const uint64_t known = c->set | p->title | candidate_head_terms(p, &c->unit) | asks;
        if (key && question_share(q, known) > 0.999 && has_asked_cell(p, &c->unit, key))
            row_is_picked(c);
    }
}
