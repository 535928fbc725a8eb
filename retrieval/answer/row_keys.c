#include "retrieval/answer/row_keys.h"

#include "retrieval/answer/dated_headings.h"
#include "retrieval/answer/row_answers.h"
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
