#include "retrieval/answer/row_answers.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/demand_words.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/answer/row_conditions.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/values/cell_values.h"

/* Do all figures of a record stand where they count nothing: "Person: H. Ek; Extension: 4410"? */
bool row_only_labels(const char *row, size_t n) {
    static const char labels[] = "extension ext phone telephone tel mobile fax no nr id code room "
                                 "date year zip postcode page "
                                 "isbn sku ref invoice";
    table_pair pair;
    bool figures = false;
    for (size_t at = 0; table_row_pair(row, n, &at, &pair);) {
        const bool has = fo_has_digit(pair.value, pair.n_value);
        if (has && !fo_words_have_any_case(labels, pair.name, pair.n_name)) return false;
        figures |= has;
    }
    return figures;
}

bool row_cell_next(row_walk *w, const candidate_passage *p, const text_unit *u, table_pair *cell) {
    const char *row = p->text.text + u->start, *head = p->text.text + u->head_start;
    const size_t n_row = u->end - u->start, n_head = u->head_end - u->head_start;
    if (u->record) return table_row_pair(row, n_row, &w->at, cell);
    *cell = (table_pair){0};
    if (!table_row_cell(row, n_row, &w->at, &cell->value, &cell->n_value)) return false;
    if (!n_head || !table_row_cell(head, n_head, &w->at_name, &cell->name, &cell->n_name))
        cell->name = NULL;
    return true;
}

/* The cell of the column with that name, or with that place where nobody names it. */
static bool cell_of(const candidate_passage *p, const text_unit *u, const table_pair *like,
                    size_t place, table_pair *cell) {
    row_walk walk = {0};
    for (size_t i = 0; row_cell_next(&walk, p, u, cell); i++)
        if (like->name ? cell->name && cell->n_name == like->n_name &&
                             !memcmp(cell->name, like->name, like->n_name)
                       : i == place)
            return true;
    return false;
}

bool row_affirms(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    if (u->kind != TEXT_UNIT_ROW || !set->q.demands.who_not) return false;
    row_walk walk = {0};
    uint64_t said = 0;
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        if (row_cell_denies(cell.value, cell.n_value) ||
            word_tokens_say("no not never none without except", cell.value, cell.n_value))
            return false;
        said |= candidate_terms_at(p, cell.value, cell.n_value);
    }
    return said != 0;
}

/* Does it ask which, or how many, things have something, or have none? */
static bool asks_which_have(const demands *d) {
    return d->which || d->which_none || d->amount == AMOUNT_ANY || d->amount == AMOUNT_COUNT;
}

bool row_denies(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    return (asks_which_have(&set->q.demands) || set->q.demands.place) &&
           row_conditions_met(set, p, u) == ROW_FAILS;
}

int row_of_date(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    const uint16_t asked = set->q.demands.date;
    uint16_t date = 0;
    size_t dates = 0;
    row_walk walk = {0};
    if (!asked || u->kind != TEXT_UNIT_ROW) return 0;
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        const uint16_t d = demand_date_in(cell.value, cell.n_value);
        if (!d || (cell.name && word_tokens_say("from since until till valid due by before after",
                                                cell.name, cell.n_name)))
            continue;
        date = d;
        dates++;
    }
    return dates != 1 ? 0 : date == asked ? 1 : -1;
}

/* The terms of the question that say what it is about: its names, and where those are not all, other words, but not "the
 * cheapest one", "what costs most". Days are written in many ways. */
static uint64_t subject_of(const question *q, bool names_only) {
    static const char general[] =
        "one ones thing things item items kind kinds type types sort sorts option options offer "
        "offers choice way place places cost costs pay pays paid charge charges expensive money "
        "price prices weigh weighs long time take takes get gets sell sells available first last "
        "open opens close closes closed leave leaves depart departs arrive arrives start starts "
        "begin begins run runs go goes";
    uint64_t subject = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const char *word = q->text.text + w->start;
        const size_t n = w->end - w->start;
        const int k = question_term_of(q, w->id);
        if (k < 0 || demand_day_named(word, n)) continue;
        if (q->terms[k].name || (!names_only && !fo_words_have_any_case(general, word, n) &&
                                 !demands_extreme_in(word, n)))
            subject |= 1ull << k;
    }
    return subject;
}

/* Where all passages are of one document, it may well be about the subject in other words; what has a name, it names. */
bool rows_are_off_the_subject(const candidate_set *set, const candidate_passage *p) {
    bool several = false;
    for (size_t i = 0; i < set->n_passages; i++)
        several |= !candidate_one_document(&set->passages[i], p);
    uint64_t lacking = subject_of(&set->q, !several);
    for (size_t i = 0; lacking && i < set->n_passages; i++) {
        const candidate_passage *o = &set->passages[i];
        if (o == p || candidate_one_document(o, p)) lacking &= ~(o->named | o->said);
    }
    return lacking != 0;
}

void row_is_picked(candidate *c) {
    c->f[CAND_BY_TABLE] = 1;
    if (c->f[CAND_OTHER_THING] < CAND_RIVAL) c->f[CAND_OTHER_THING] = 0;
}

/* The terms of what "how many" counts, the few words before a verb: of users and people too, which demands.counted leaves out.
 * *of_one: the number is something's own, "How many users does the Office plan have?". */
static uint64_t counted_terms(const question *q, bool *of_one) {
    enum { WORDS = 3 };
    static const char verbs[] = "are is were was do does did can could may might must should will "
                                "would have has had in of on at to from per there";
    const char *text = q->text.text;
    const size_t n = q->text.len;
    size_t at = 0, from;
    word_token before = {0}, t = word_token_next(text, n, &at);
    *of_one = false;
    for (; t.n && !(word_token_in("many", &t) && word_token_in("how", &before));
         before = t, t = word_token_next(text, n, &at)) {
    }
    from = at;
    for (int words = 0; t.n && words <= WORDS; words++) {
        t = word_token_next(text, n, &at);
        if (!t.letters || word_token_in(verbs, &t)) break;
    }
    uint64_t terms = 0;
    for (size_t i = 0; t.n && i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && w->start >= from && w->start < (size_t)(t.s - text)) terms |= 1ull << k;
    }
    const bool does = word_token_in("do does did", &t);
    const word_token owner = word_token_next(text, n, &at);
    *of_one =
        does && owner.letters && !word_token_in("not i t we you they he she one have need", &owner);
    return terms;
}

/* Do the columns of the row say that it is of what is counted, or how many of it it has? */
static bool has_counted_column(const candidate_passage *p, const text_unit *u, uint64_t counted) {
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);)
        if (cell.name && (candidate_terms_at(p, cell.name, cell.n_name) & counted)) return true;
    return false;
}

/* "How many agents does the Office plan have?": a table with a row "Agents", or none of agents at all, does not say so by the
 * rows that have a yes below "Office". */
static bool is_of_another_number(const candidate_set *set, const candidate_passage *p, size_t from,
                                 size_t to) {
    bool of_one, named = false;
    if (set->q.demands.which || set->q.demands.which_none) return false;
    const uint64_t counted = counted_terms(&set->q, &of_one);
    if (has_counted_column(p, &set->c[from].unit, counted)) return false;
    for (size_t i = from; i < to; i++) {
        const text_unit *u = &set->c[i].unit;
        table_pair first;
        named |= table_row_first(p->text.text + u->start, u->end - u->start, u->record, &first) &&
                 (candidate_terms_at(p, first.value, first.n_value) & counted);
    }
    return of_one || named || p->uncounted;
}

/* Has another row of the table, [from, to) of the set, none of what row i has below that column, and does it say nothing of the
 * question that row i does not? "Which price has gas at night?" is not asked of the row "Day". */
static bool is_lacked(const candidate_set *set, const candidate_passage *p, size_t from, size_t to,
                      size_t i, const table_pair *column) {
    bool lacked = false;
    table_pair its;
    for (size_t k = from; k < to; k++) {
        if (!cell_of(p, &set->c[k].unit, column, 0, &its) ||
            !row_cell_denies(its.value, its.n_value))
            continue;
        if (set->c[k].set & ~(set->c[i].set | candidate_head_terms(p, &set->c[i].unit)))
            return false;
        lacked = true;
    }
    return lacked;
}

/* "Which canteen is open in the evening?": a row with hours below "Evening", where another one of the table has none; those that
 * say all that the question is about. */
static bool has_what_others_lack(const candidate_set *set, const candidate_passage *p, size_t from,
                                 size_t to, size_t i) {
    const candidate *c = &set->c[i];
    const uint64_t said = c->set | p->title | candidate_head_terms(p, &c->unit);
    row_walk walk = {0};
    size_t at = 0;
    const word_token first = word_token_next(set->q.text.text, set->q.text.len, &at);
    if (!set->q.demands.which || !word_token_in("which", &first) ||
        (subject_of(&set->q, false) & ~said))
        return false;
    for (table_pair mine; row_cell_next(&walk, p, &set->c[i].unit, &mine);)
        if (mine.name && fo_has_digit(mine.value, mine.n_value) &&
            row_column_is_asked(set, p, mine.name, mine.n_name) &&
            !row_column_is_denied(set, p, mine.name, mine.n_name) &&
            is_lacked(set, p, from, to, i, &mine))
            return true;
    return false;
}

static void pick_what_others_lack(candidate_set *set, const candidate_passage *p, size_t from,
                                  size_t to) {
    for (size_t i = from; i < to; i++)
        if (has_what_others_lack(set, p, from, to, i) && !row_is_left_out(set, p, &set->c[i].unit))
            row_is_picked(&set->c[i]);
}

/* Of one table: a row where one of the columns says neither yes nor no has less of what is asked than others. */
static void pick_of_table(candidate_set *set, const candidate_passage *p, size_t from, size_t to) {
    int most = 0;
    for (size_t i = from; i < to; i++) {
        const int met = row_conditions_met(set, p, &set->c[i].unit);
        if (met > most) most = met;
    }
    if (most == 0) pick_what_others_lack(set, p, from, to);
    for (size_t i = from; most > 0 && i < to; i++)
        if (row_conditions_met(set, p, &set->c[i].unit) == most &&
            !row_is_left_out(set, p, &set->c[i].unit))
            row_is_picked(&set->c[i]);
}

void rows_pick_what_has_it(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    const demands *d = &set->q.demands;
    if (!asks_which_have(d) || d->extreme || rows_are_off_the_subject(set, p)) return;
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    for (size_t to; from < set->n; from = to) {
        for (to = from + 1; to < set->n; to++)
            if (!rows_of_one_table(p, &set->c[to - 1].unit, &set->c[to].unit)) break;
        if (set->c[from].unit.kind == TEXT_UNIT_ROW && !is_of_another_number(set, p, from, to))
            pick_of_table(set, p, from, to);
    }
}

/* ---- rows that answer alike ------------------------------------------------------------------- */

bool rows_of_one_table(const candidate_passage *p, const text_unit *a, const text_unit *b) {
    if (a->kind != TEXT_UNIT_ROW || b->kind != TEXT_UNIT_ROW || a->record != b->record)
        return false;
    if (!a->record) return a->head_start == b->head_start && a->head_end == b->head_end;
    return table_row_is_alike(p->text.text + a->start, a->end - a->start, p->text.text + b->start,
                              b->end - b->start);
}

static bool is_yes_or_no(const char *s, size_t n) {
    return row_cell_denies(s, n) || row_cell_consents(s, n);
}

bool row_answers_alike(const candidate_set *set, const candidate *best, const candidate *c) {
    const candidate_passage *p = &set->passages[best->passage];
    if (c->passage != best->passage || !rows_of_one_table(p, &best->unit, &c->unit) ||
        c->f[CAND_BY_TABLE] != best->f[CAND_BY_TABLE] ||
        c->f[CAND_OTHER_THING] > best->f[CAND_OTHER_THING] ||
        c->f[CAND_OTHER_DAY] > best->f[CAND_OTHER_DAY])
        return false;
    table_pair mine, its;
    uint64_t names = 0; /* what a column is called, all rows are: boats, of whatever kind */
    bool told = false;
    for (row_walk walk = {0}; row_cell_next(&walk, p, &best->unit, &mine);)
        if (mine.name) names |= candidate_terms_at(p, mine.name, mine.n_name);
    const uint64_t above =
        p->title | candidate_head_terms(p, &best->unit); /* "of the loan offer" */
    row_walk walk = {0};
    for (size_t place = 0; row_cell_next(&walk, p, &best->unit, &mine); place++) {
        const uint64_t said = candidate_terms_at(p, mine.value, mine.n_value) & ~names;
        const bool decides = best->f[CAND_BY_TABLE] == 0 && mine.name &&
                             is_yes_or_no(mine.value, mine.n_value) &&
                             candidate_terms_at(p, mine.name, mine.n_name);
        if (!said && !decides) continue;
        told = true;
        if (!cell_of(p, &c->unit, &mine, place, &its)) return false;
        /* the same, or another thing that the question names: "on Monday and Tuesday" */
        const uint64_t theirs = candidate_terms_at(p, its.value, its.n_value);
        if (said && (theirs & said) != said && !(theirs & ~(said | above))) return false;
        if (decides &&
            (its.n_value != mine.n_value || strncasecmp(its.value, mine.value, mine.n_value) != 0))
            return false;
    }
    return told || best->f[CAND_BY_TABLE] > 0;
}

/* ---- what a row by itself does not say ------------------------------------------------------ */

/* Does the row, or what it stands below, say all that the question names? "How many GB in Canada?" is not of Europe. */
static bool has_all_names(const candidate_set *set, const candidate_passage *p,
                          const text_unit *u) {
    const uint64_t said =
        p->title | candidate_terms(p, u->start, u->end) | candidate_head_terms(p, u);
    for (size_t k = 0; k < set->q.n_terms; k++)
        if (set->q.terms[k].name && !(said >> k & 1)) return false;
    return true;
}

bool row_is_counted(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    static const char counts[] = "number count quantity qty stock total amount pieces units copies "
                                 "how many no";
    const int counted = candidate_counted_term(&set->q);
    const demand_words *w = demand_words_of(set->q.demands.language);
    bool named = false; /* what is counted is the value of a cell: the row is one of them */
    if (counted < 0) return false;
    const uint64_t bit = 1ull << counted;
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        if (!u->record && !cell.name) return false; /* nobody says what the cells are */
        if (cell.name && (word_tokens_say(counts, cell.name, cell.n_name) ||
                          (w && demand_words_say(w->quantity, cell.name, cell.n_name))))
            return false;
        /* a column is called by a word of the question */
        if (cell.name && candidate_terms_at(p, cell.name, cell.n_name)) return false;
        if (!(candidate_terms_at(p, cell.value, cell.n_value) & bit)) continue;
        if (fo_is_digit(cell.value[0]) && has_all_names(set, p, u)) return false; /* "12 GB" */
        named = true;
    }
    return named;
}

bool row_is_of_sums(const question *q, const candidate_passage *p, const text_unit *u) {
    static const char sums[] = "revenue revenues turnover sales income surplus profit profits loss "
                               "losses budget expenses expenditure costs prices fees";
    const char *text = p->text.text;
    const text_unit *above = heading_above(p, u);
    bool of_one;
    const uint64_t counted = q->demands.language < 0 ? counted_terms(q, &of_one) : 0;
    return above && counted && word_tokens_say("many", q->text.text, q->text.len) &&
           word_tokens_say(sums, text + above->start, above->end - above->start) &&
           !word_tokens_say(sums, q->text.text, q->text.len) &&
           !(counted &
             (candidate_terms(p, u->head_start, u->head_end) |
              candidate_terms(p, u->start, u->end) | candidate_terms(p, above->start, above->end)));
}

/* Is a cell a price by how it is written: with a currency, or a number alone that has two decimals, "14.90", "14,90"? */
static bool is_written_as_price(const table_pair *cell) {
    const char *s = cell->value;
    size_t n = cell->n_value, digits = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) break;
        if (demand_currency_named(&t)) return true;
    }
    while (n > 0 && s[n - 1] == ' ') n--;
    for (; digits < n && fo_is_digit(s[n - 1 - digits]); digits++) {
    }
    if (digits != 2 || n < 4 || !(s[n - 3] == '.' || s[n - 3] == ',')) return false;
    for (size_t i = 0; i + 3 < n; i++)
        if (!fo_is_digit(s[i]) && s[i] != '.' && s[i] != ',' && s[i] != ' ') return false;
    return true;
}

/* Is that all that the column is called, but for a unit in brackets: "Weight", "Weight (kg)"? "Weight to 1 kg" is what is paid
 * for. */
static bool is_called_by(const char *words, const char *name, size_t n_name) {
    size_t at = 0;
    const word_token first = word_token_next(name, n_name, &at),
                     next = word_token_next(name, n_name, &at);
    return word_token_in(words, &first) &&
           (!next.n || word_token_is(&next, "(") || word_token_is(&next, "["));
}

/* Does the column say that its figures number or measure something? */
static bool is_column_of_no_price(const table_pair *cell, bool expense) {
    const char *name = cell->name;
    size_t at = 0;
    const word_token first = word_token_next(name, cell->n_name, &at);
    if (word_token_in("no nr number pos position date", &first) ||
        is_called_by("qty quantity pieces size weight", name, cell->n_name))
        return true;
    return word_token_in("days hours minutes weeks", &first) && /* "Days before harvest" */
           (!expense || word_tokens_say("before after until", name, cell->n_name));
}

/* "Requests per minute", "Concurrent requests": so many may be made, but for what the question names. "Kayaks per hour" are what is
 * paid for. */
static bool is_column_of_a_limit(const candidate_passage *p, const table_pair *cell) {
    static const char limited[] = "requests calls queries messages tokens jobs uploads downloads "
                                  "users connections emails labels searches";
    size_t at = 0;
    const word_token first = word_token_next(cell->name, cell->n_name, &at),
                     next = word_token_next(cell->name, cell->n_name, &at),
                     last = word_token_next(cell->name, cell->n_name, &at);
    if (!first.letters || candidate_terms_at(p, first.s, first.n)) return false;
    if (word_token_in("concurrent simultaneous parallel", &first)) return true;
    return word_token_in(limited, &first) && word_token_in("per a an each", &next) &&
           word_token_in("second minute hour day week month year", &last);
}

/* Does a cell whose figure is of a weight, a length, a day, or below a name for one, state no price? counted: what stands below
 * a day of the week is so many that day. */
static bool is_no_price(const table_pair *cell, bool expense, bool counted) {
    cell_value v;
    if (word_tokens_say("date", cell->name, cell->n_name)) return true; /* "14.03" */
    if (is_written_as_price(cell)) return false;
    if (demand_day_named(cell->name, cell->n_name)) return counted;
    if (is_column_of_no_price(cell, expense)) return true;
    if (!cell_value_read(cell->value, cell->n_value, &v)) return false;
    const bool lasts = v.unit == CELL_SPAN || v.unit == CELL_BYTES;
    word_token unit = {0}, t; /* the last word */
    size_t at = 0;
    while ((t = word_token_next(cell->value, cell->n_value, &at)).n) unit = t;
    return (lasts && !expense) || v.unit == CELL_LENGTH || v.unit == CELL_WEIGHT ||
           v.unit == CELL_DEGREES || v.unit == CELL_SPEED || v.unit == CELL_CLOCK ||
           v.unit == CELL_DATE ||
           (v.unit == CELL_OTHER && word_token_in("l ml cl litre litres liter liters", &unit));
}

/* Is it said above the table, or by its columns, that something is counted: "Production", "Visitors"? */
static bool is_of_counts(const candidate_passage *p, const text_unit *u) {
    static const char counts[] =
        "production produced output baked baking made quantity quantities qty pieces number "
        "numbers "
        "count counts stock sold sales orders ordered delivered deliveries attendance visitors "
        "visits passengers participants shifts rota roster";
    const char *text = p->text.text;
    const text_unit *above = heading_above(p, u);
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);)
        if (cell.name && word_tokens_say(counts, cell.name, cell.n_name)) return true;
    return above && word_tokens_say(counts, text + above->start, above->end - above->start);
}

/* Is it said above the table, or in the row, that something is paid: "Prices in euros"? */
static bool is_of_prices(const candidate_passage *p, const text_unit *u) {
    static const char paid[] = "price prices cost costs fee fees fare fares charge charges tariff "
                               "rent rental rentals hire free";
    const char *text = p->text.text;
    const text_unit *above = heading_above(p, u);
    return word_tokens_say(paid, text + u->start, u->end - u->start) ||
           word_tokens_say(paid, text + u->head_start, u->head_end - u->head_start) ||
           (above && word_tokens_say(paid, text + above->start, above->end - above->start));
}

bool row_states_no_price(const question *q, const candidate_passage *p, const text_unit *u) {
    const enum demand_amount amount = q->demands.amount;
    const bool expense = amount == AMOUNT_EXPENSE, counted = is_of_counts(p, u);
    size_t figures = 0;
    if (u->kind != TEXT_UNIT_ROW || q->demands.language >= 0 ||
        !(expense || amount == AMOUNT_MONEY) || is_of_prices(p, u))
        return false;
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) {
        bool figure = false;
        for (size_t i = 0; i < cell.n_value; i++) figure |= fo_is_digit(cell.value[i]);
        if (!figure) continue;
        if (!cell.name || (!is_no_price(&cell, expense, counted) &&
                           (is_written_as_price(&cell) || !is_column_of_a_limit(p, &cell))))
            return false;
        figures++;
    }
    return figures > 0;
}

uint64_t row_subject(const candidate_passage *p, const text_unit *u) {
    row_walk walk = {0};
    table_pair cell;
    return row_cell_next(&walk, p, u, &cell) ? candidate_terms_at(p, cell.value, cell.n_value) : 0;
}

bool row_is_no_extreme(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    const char *text = p->text.text;
    return u->kind == TEXT_UNIT_ROW && set->q.demands.extreme &&
           !demands_extreme_in(text + u->start, u->end - u->start) &&
           !demands_extreme_in(text + u->head_start, u->head_end - u->head_start);
}

/* The terms of a unit; of an item in an item, with those of that one. */
static uint64_t said_by(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    return c->set | (c->unit.nested ? candidate_head_terms(p, &c->unit) : 0);
}

/* What both hang on is said of both: "Zone 3" above a row, whose own 3.20 is no 3. Terms in `but` do not count. */
static bool says_less(const candidate_set *set, const candidate *c, const candidate *other,
                      uint64_t but) {
    const text_unit *u = &c->unit, *v = &other->unit;
    uint64_t shared = 0;
    const uint64_t mine = said_by(set, c), its = said_by(set, other);
    if (mine == its) return false;
    if (c->passage == other->passage && u->head_start == v->head_start)
        shared = candidate_terms(&set->passages[c->passage], u->head_start, u->head_end);
    const uint64_t a = (mine | shared) & ~but, b = (its | shared) & ~but;
    return a != b && (a & ~b) == 0;
}

bool candidate_says_less(const candidate_set *set, const candidate *c, const candidate *other) {
    return says_less(set, c, other, 0);
}

void rows_set_apart(candidate_set *set, size_t index) {
    const uint64_t left_out = row_terms_left_out(&set->q);
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    for (size_t i = from; i < set->n; i++) {
        candidate *c = &set->c[i];
        for (size_t k = from; k < set->n && c->unit.kind == TEXT_UNIT_ROW; k++) {
            const candidate *other = &set->c[k];
            if (other->unit.kind != TEXT_UNIT_ROW || other->unit.record != c->unit.record ||
                other->unit.head_start != c->unit.head_start || !says_less(set, c, other, left_out))
                continue;
            candidate_set_apart(c);
            break;
        }
    }
}

/* ---- rows of somebody else -------------------------------------------------------------------- */

/* "130P", "H5": letters and digits. */
static bool is_model(const question *q, const fact_word *w) {
    const char *word = q->text.text + w->start;
    const size_t n = w->end - w->start;
    bool letter = false;
    for (size_t i = 0; i < n; i++) letter |= fo_is_upper(word[i]);
    return letter && (w->flags & WORD_DIGIT);
}

/* Names of the question: capitals, no days or numbers, and not what it leaves out. *models: those with figures. */
static uint64_t names_asked(const question *q, uint64_t *models) {
    uint64_t names = 0;
    *models = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k < 0 || !q->terms[k].name) continue;
        if (is_model(q, w)) *models |= 1ull << k;
        if ((w->flags & WORD_CAPITAL) && !(w->flags & (WORD_DIGIT | WORD_CALENDAR | WORD_INITIAL)))
            names |= 1ull << k;
    }
    *models &= ~row_terms_left_out(q);
    return names & ~row_terms_left_out(q);
}

/* "The serial number of the battery": what a row is called by that one word alone has. */
static uint64_t things_asked(const question *q) {
    uint64_t things = 0;
    for (size_t i = 1; i < q->text.n_words; i++) {
        const int k = question_term_of(q, q->text.words[i].id);
        const bool article = i > 1 && fact_word_in(&q->text, i - 1, "the a an my our your");
        if (k >= 0 && fact_is_content(&q->text.words[i]) &&
            fact_word_in(&q->text, article ? i - 2 : i - 1, "of for") &&
            (i + 1 == q->text.n_words || (q->text.words[i + 1].flags & (WORD_STOP | WORD_CLAUSE))))
            things |= 1ull << k;
    }
    return things;
}

/* The term of the one word that stands in the first cell of a row; 0: there are more. */
static uint64_t row_label(const candidate_passage *p, const text_unit *u) {
    row_walk walk = {0};
    table_pair cell;
    size_t content = 0;
    if (!row_cell_next(&walk, p, u, &cell)) return 0;
    const uint32_t start = (uint32_t)(cell.value - p->text.text);
    const fact_sentence s = candidate_words(&p->text, start, start + (uint32_t)cell.n_value);
    for (size_t i = s.w0; i < s.w1; i++) content += fact_is_content(&p->text.words[i]);
    return content == 1 ? row_subject(p, u) : 0;
}

/* "IBAN | DE12" below "Account holder | Harrow Optics": what one thing has, and whose it is a value tells. */
static bool is_of_pairs(const candidate_passage *p, const text_unit *u) {
    row_walk walk = {0};
    size_t n = 0;
    for (table_pair cell; row_cell_next(&walk, p, u, &cell);) n++;
    return n <= 2;
}

/* The rows of one table, [from, to) of the set: where some are called by a name of the question, all that do not say it are of
 * somebody else, and where only those say much of the question, none of them answers it. */
static void set_apart_others_rows(candidate_set *set, const candidate_passage *p, size_t from,
                                  size_t to, uint64_t names, uint64_t models, uint64_t things) {
    static const double much = 0.2; /* of the question */
    uint64_t named = 0, called = 0, own = 0, theirs = 0;
    const uint64_t above =
        candidate_head_terms(p, &set->c[from].unit); /* what a column is called all rows have */
    names &= ~above;
    for (size_t i = from; i < to; i++) {
        named |= row_subject(p, &set->c[i].unit) & names;
        called |= row_subject(p, &set->c[i].unit) & models & ~above;
        called |= row_label(p, &set->c[i].unit) & things & ~above;
    }
    for (size_t i = from; i < to; i++) {
        const candidate *c = &set->c[i];
        if (c->set & named)
            own |= c->set; /* with what the table says of all */
        else
            theirs |= c->set & ~row_subject(p, &c->unit); /* "Main library" is what it is called */
    }
    own |= p->title | candidate_head_terms(p, &set->c[from].unit);
    if (is_of_pairs(p, &set->c[from].unit)) theirs &= ~names;
    const bool none = question_share(&set->q, theirs & ~own) >= much;
    for (size_t i = from; (named || called) && i < to; i++)
        if ((named && (none || !(set->c[i].set & named))) || (called && !(set->c[i].set & called)))
            set->c[i].f[CAND_OTHER_THING] = CAND_RIVAL;
}

void rows_of_others_set_apart(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    uint64_t models;
    const uint64_t names = names_asked(&set->q, &models),
                   things = set->q.demands.language < 0 ? things_asked(&set->q) : 0;
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    for (size_t to; (names | models | things) && !set->q.demands.extreme && from < set->n;
         from = to) {
        for (to = from + 1; to < set->n; to++)
            if (!rows_of_one_table(p, &set->c[to - 1].unit, &set->c[to].unit)) break;
        if (set->c[from].unit.kind == TEXT_UNIT_ROW)
            set_apart_others_rows(set, p, from, to, names, models, things);
    }
}

/* ---- items ------------------------------------------------------------------------------------ */

/* An item that lacks a name which another one of its list says, and has nothing else of the question, states another one's
 * amount: "Business equipment worth more than 4,000" is no price of the Gadget Extension. */
static bool is_of_another_item(const candidate_set *set, const candidate *c,
                               const candidate *other) {
    return other->unit.kind == TEXT_UNIT_ITEM && candidate_same_head(c, other) &&
           c->f[CAND_MISSING_NAME] > other->f[CAND_MISSING_NAME] &&
           candidate_says_less(set, c, other);
}

void items_set_apart(candidate_set *set, size_t index) {
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    for (size_t i = from; set->q.demands.amount != AMOUNT_NONE && i < set->n; i++)
        for (size_t k = from; k < set->n && set->c[i].unit.kind == TEXT_UNIT_ITEM; k++)
            if (is_of_another_item(set, &set->c[i], &set->c[k])) candidate_set_apart(&set->c[i]);
}
