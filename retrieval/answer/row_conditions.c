#include "retrieval/answer/row_conditions.h"

#include "kernels/words.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/text/word_tokens.h"

/* ---- cells and columns ------------------------------------------------------------------------- */

bool row_cell_denies(const char *s, size_t n) {
    return fo_words_have_any_case("no none not never - \xE2\x80\x93 \xE2\x80\x94", s, n);
}

bool row_cell_consents(const char *s, size_t n) {
    return fo_words_have_any_case("yes x \xE2\x9C\x93 \xE2\x9C\x94", s, n);
}

bool row_column_is_asked(const candidate_set *set, const candidate_passage *p, const char *name,
                         size_t n) {
    static const char besides[] = "included available offered provided possible";
    const char *text = p->text.text;
    const uint32_t start = (uint32_t)(name - text);
    const fact_sentence s = candidate_words(&p->text, start, start + (uint32_t)n);
    size_t asked = 0;
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &p->text.words[i];
        if (p->terms[i] >= 0)
            asked++;
        else if (fact_is_content(w) && !question_says(&set->q, w->id) &&
                 !fact_word_in(&p->text, i, besides))
            return false;
    }
    return asked > 0;
}

/* ---- a yes or a no ----------------------------------------------------------------------------- */

enum wanted { WANTED_YES, WANTED_NO, WANTED_UNCLEAR };

/* Where the first and the last of these terms stand in the question. False: nowhere. */
static bool place_of(const question *q, uint64_t terms, size_t *first, size_t *last) {
    bool found = false;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int k = question_term_of(q, q->text.words[i].id);
        if (k < 0 || !(terms >> k & 1)) continue;
        if (!found) *first = q->text.words[i].start;
        *last = q->text.words[i].start;
        found = true;
    }
    return found;
}

/* What a word before that of the column makes of it: "no water or stove" is of both, "no water and a stove" may be. */
static enum wanted wanted_behind(enum wanted before, const word_token *t) {
    if (word_token_in("no not none never without cannot except lack lacks lacking t", t))
        return WANTED_NO;
    if (word_token_in("with but", t)) return WANTED_YES;
    if (before == WANTED_NO && word_token_in("and", t)) return WANTED_UNCLEAR;
    if (before == WANTED_UNCLEAR && word_token_in("have has", t)) return WANTED_YES;
    return before;
}

/* Is a yes or a no asked for in the column that these terms name? "Which is breakfast not included in?" denies behind it. */
static enum wanted wanted_of(const question *q, uint64_t terms) {
    enum wanted wanted = WANTED_YES;
    size_t first, last;
    if (!place_of(q, terms, &first, &last)) return WANTED_UNCLEAR;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(q->text.text, q->text.len, &at);
        if (!t.n) return wanted;
        if ((size_t)(t.s - q->text.text) <= last) {
            wanted = wanted_behind(wanted, &t);
            continue;
        }
        if (word_token_in("and but or with if when unless though because", &t) ||
            word_token_is(&t, ","))
            return wanted;
        if (word_token_in("not never t", &t)) return WANTED_NO;
    }
}

bool row_column_is_denied(const candidate_set *set, const candidate_passage *p, const char *name,
                          size_t n) {
    return wanted_of(&set->q, candidate_terms_at(p, name, n)) != WANTED_YES;
}

/* "A stove or water": is either enough? */
static bool either_of(const question *q, uint64_t terms) {
    size_t first, last;
    return place_of(q, terms, &first, &last) &&
           word_tokens_say("or", q->text.text + first, last - first);
}

int row_conditions_met(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    int met = 0, failed = 0;
    bool denied = false;
    uint64_t asked = 0;
    row_walk walk = {0};
    if (u->kind != TEXT_UNIT_ROW) return 0;
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        const bool yes = row_cell_consents(cell.value, cell.n_value);
        if (!cell.name || !(yes || row_cell_denies(cell.value, cell.n_value)) ||
            !row_column_is_asked(set, p, cell.name, cell.n_name))
            continue;
        const uint64_t terms = candidate_terms_at(p, cell.name, cell.n_name);
        const enum wanted wanted = wanted_of(&set->q, terms);
        if (wanted == WANTED_UNCLEAR) return ROW_UNCLEAR;
        asked |= terms;
        denied |= wanted == WANTED_NO;
        if (yes == (wanted == WANTED_YES))
            met++;
        else
            failed++;
    }
    if (!denied && met && either_of(&set->q, asked)) return 1;
    return failed ? ROW_FAILS : met;
}

/* ---- what is left out -------------------------------------------------------------------------- */

/* The byte behind "outside", "other than", "not in": 0 where the question says none. */
static size_t behind_exclusion(const question *q) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(q->text.text, q->text.len, &at);
        if (!t.n) return 0;
        if (word_token_in("outside except excluding", &t) ||
            (word_token_in("than", &t) && word_token_in("other", &before)) ||
            (word_token_in("from", &t) && word_token_in("apart", &before)) ||
            (word_token_in("in", &t) && word_token_in("not", &before)))
            return at;
        before = t;
    }
}

uint64_t row_terms_left_out(const question *q) {
    enum { WORDS = 3 };
    const size_t from = behind_exclusion(q);
    uint64_t terms = 0;
    size_t words = 0;
    if (!from || q->demands.place) return 0; /* "Where is the tap outside the barn?": beside it */
    for (size_t i = 0; i < q->text.n_words && words < WORDS; i++) {
        const fact_word *w = &q->text.words[i];
        if (w->start < from || (w->flags & WORD_PART)) continue;
        if (w->flags & WORD_CLAUSE && words) break;
        if (fo_words_have_any_case("the a an of our your my any", q->text.text + w->start,
                                   w->end - w->start))
            continue;
        if (w->flags & WORD_STOP) break; /* "grows outside in winter" */
        const int k = question_term_of(q, w->id);
        if (k >= 0) terms |= 1ull << k;
        words++;
    }
    return terms;
}

bool row_is_left_out(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    const uint64_t terms = u->kind == TEXT_UNIT_ROW ? row_terms_left_out(&set->q) : 0;
    table_pair first;
    return terms &&
           table_row_first(p->text.text + u->start, u->end - u->start, u->record, &first) &&
           (candidate_terms_at(p, first.value, first.n_value) & terms) == terms &&
           !word_tokens_say("outside except excluding other than not no without beyond",
                            first.value, first.n_value);
}
