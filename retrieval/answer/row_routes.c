#include "retrieval/answer/row_routes.h"

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/values/cell_values.h"

/* Terms of the question, or of a row. */
typedef struct route {
    uint64_t from, to;
} route;

/* ---- of the question ---------------------------------------------------------------------------- */

enum place { PLACE_NONE, PLACE_FROM, PLACE_TO };

typedef struct route_reader {
    enum place now; /* what the next words name */
    bool arrives, departs;
} route_reader;

/* False: it is no word that tells where what follows lies. */
static bool read_word(route_reader *r, const char *s, size_t n) {
    if (fo_words_have_any_case("the a an our your my this that of", s, n)) return true;
    if (fo_words_have_any_case("from", s, n)) {
        r->now = PLACE_FROM;
    } else if (fo_words_have_any_case("to towards into reach reaches reaching", s, n)) {
        r->now = PLACE_TO;
    } else if (fo_words_have_any_case("in at", s, n)) {
        r->now = r->arrives ? PLACE_TO : PLACE_NONE;
    } else if (fo_words_have_any_case("for", s, n)) {
        r->now = r->departs ? PLACE_TO : PLACE_NONE;
    } else if (fo_words_have_any_case("leave leaves leaving depart departs departing", s, n)) {
        r->departs = true;
        r->now = PLACE_FROM;
    } else if (fo_words_have_any_case("arrive arrives arriving land lands landing get gets", s,
                                      n)) {
        r->arrives = true;
        r->now = PLACE_NONE;
    } else {
        return false;
    }
    return true;
}

/* "From 8 to 12", "from Monday to Friday" name no places. */
static bool may_be_a_place(const question *q, const fact_word *w) {
    return !(w->flags & (WORD_DIGIT | WORD_NUMERAL | WORD_CALENDAR)) &&
           !demand_day_named(q->text.text + w->start, w->end - w->start);
}

static route route_of_question(const question *q) {
    route out = {0};
    route_reader r = {PLACE_NONE, false, false};
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (read_word(&r, q->text.text + w->start, w->end - w->start)) continue;
        if (w->flags & WORD_STOP) r.now = PLACE_NONE;
        if (!may_be_a_place(q, w)) continue;
        if (k >= 0 && r.now == PLACE_FROM) out.from |= 1ull << k;
        if (k >= 0 && r.now == PLACE_TO) out.to |= 1ull << k;
    }
    return out;
}

/* ---- of rows ------------------------------------------------------------------------------------ */

static enum place place_of_column(const table_pair *cell) {
    if (!cell->name) return PLACE_NONE;
    if (word_tokens_say("from origin departure departs leaves", cell->name, cell->n_name))
        return PLACE_FROM;
    return word_tokens_say("to destination arrival arrives", cell->name, cell->n_name) ? PLACE_TO
                                                                                       : PLACE_NONE;
}

static route route_of_row(const candidate_passage *p, const text_unit *u) {
    route out = {0};
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        const enum place place = place_of_column(&cell);
        const uint64_t terms = candidate_terms_at(p, cell.value, cell.n_value);
        cell_value v;
        if (cell_value_read(cell.value, cell.n_value, &v) &&
            (v.unit != CELL_PLAIN || fo_is_digit(cell.value[0])))
            continue; /* hours, days, amounts; "Pier 2" is a place */
        if (place == PLACE_FROM) out.from |= terms;
        if (place == PLACE_TO) out.to |= terms;
    }
    return out;
}

/* Does the row have what the question asks for: a time, or a column that it names? */
static bool has_what_is_asked(const candidate_set *set, const candidate_passage *p,
                              const text_unit *u, const route *asked) {
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        cell_value v;
        if (set->q.kind == ASK_TIME && cell_value_read(cell.value, cell.n_value, &v) &&
            v.unit == CELL_CLOCK)
            return true;
        if (cell.name && place_of_column(&cell) == PLACE_NONE &&
            (candidate_terms_at(p, cell.name, cell.n_name) & ~(asked->from | asked->to)))
            return true;
    }
    return false;
}

/* What rows of the table begin or end with is told by those columns alone. */
static void settle_table(candidate_set *set, const candidate_passage *p, size_t from, size_t to,
                         const route *asked) {
    route any = {0};
    for (size_t i = from; i < to; i++) {
        const route r = route_of_row(p, &set->c[i].unit);
        any.from |= r.from;
        any.to |= r.to;
    }
    if (!(asked->from & (any.from | any.to)) && !(asked->to & (any.from | any.to))) return;
    for (size_t i = from; i < to; i++) {
        candidate *c = &set->c[i];
        const route r = route_of_row(p, &c->unit);
        const uint64_t against =
            (asked->from & (any.from | r.to) & ~r.from) | (asked->to & (any.to | r.from) & ~r.to);
        if (against)
            c->f[CAND_OTHER_THING] = CAND_RIVAL;
        else if (((asked->from & r.from) | (asked->to & r.to)) && c->f[CAND_NO_AMOUNT] == 0 &&
                 c->f[CAND_OTHER_DAY] == 0 && has_what_is_asked(set, p, &c->unit, asked))
            row_is_picked(c);
    }
}

void rows_follow_the_route(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    const route asked = route_of_question(&set->q);
    size_t from = set->n;
    if (set->q.text.language >= 0 || !(asked.from | asked.to)) return;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    for (size_t to; from < set->n; from = to) {
        for (to = from + 1; to < set->n; to++)
            if (!rows_of_one_table(p, &set->c[to - 1].unit, &set->c[to].unit)) break;
        if (set->c[from].unit.kind == TEXT_UNIT_ROW) settle_table(set, p, from, to, &asked);
    }
}
