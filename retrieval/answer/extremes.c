#include "retrieval/answer/extremes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/values/cell_values.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/row_conditions.h"
#include "retrieval/text/word_tokens.h"

enum { MAX_COLUMNS = 24, MAX_ROWS = 512, FEWEST_ROWS = 2 };

/* ---- what the question compares -------------------------------------------------------------- */

/* By which of its qualities things are compared. */
enum measure {
    BY_NAME, /* only a word of the question tells: "the most members" */
    BY_PRICE,
    BY_SIZE,
    BY_LENGTH, /* of time or of way */
    BY_HEIGHT,
    BY_DEPTH,
    BY_WIDTH,
    BY_WEIGHT,
    BY_SPEED,
    BY_HEAT,
    BY_NOISE,
    BY_AGE,  /* the older, the longer ago */
    BY_WHEN, /* the later, the more */
    MEASURES
};

static const struct {
    enum measure by;
    bool most;
    const char *words;
} superlatives[] = {
    {BY_PRICE, false, "cheapest"},
    {BY_PRICE, true, "dearest costliest priciest"},
    {BY_SIZE, true, "largest biggest"},
    {BY_SIZE, false, "smallest"},
    {BY_LENGTH, true, "longest"},
    {BY_LENGTH, false, "shortest"},
    {BY_HEIGHT, true, "tallest"},
    {BY_DEPTH, true, "deepest"},
    {BY_WIDTH, true, "widest"},
    {BY_WEIGHT, true, "heaviest"},
    {BY_WEIGHT, false, "lightest"},
    {BY_SPEED, true, "fastest"},
    {BY_SPEED, false, "slowest"},
    {BY_HEAT, true, "hottest warmest"},
    {BY_HEAT, false, "coldest"},
    {BY_NOISE, true, "loudest noisiest"},
    {BY_NOISE, false, "quietest"},
    {BY_AGE, true, "oldest"},
    {BY_AGE, false, "youngest newest"},
    {BY_WHEN, true, "latest"},
    {BY_WHEN, false, "earliest"},
    {BY_NAME, true, "highest most"}, /* a maximum is a limit that is stated, and no row */
    {BY_NAME, false, "lowest least fewest"},
};

/* What columns of a measure are called; of other columns whose cells have its unit, what tells that they are of something else;
 * and what says in a question that "the most" and "the least" are of it. */
static const struct {
    const char *called, *others, *asked;
} measures[MEASURES] = {
    [BY_NAME] = {"", "", ""},
    [BY_PRICE] = {"price prices priced cost costs fee fees rent rate rates charge charges fare "
                  "fares tariff premium wage salary pay budget",
                  "deposit caution fine fines penalty discount saving savings limit service",
                  "expensive cost costs price fee pay pays paid charge charges charged rent money"},
    [BY_SIZE] = {"size area capacity seats seated places people persons guests sleeps holds "
                 "population inhabitants volume members",
                 "", "people persons guests seats places spots"},
    [BY_LENGTH] = {"length duration long distance km m min minutes h hours days weeks months years",
                   "every valid guarantee warranty notice renewed before after age climb ascent "
                   "descent height "
                   "altitude width depth wide deep",
                   "time"},
    [BY_HEIGHT] = {"height high tall altitude elevation", "width length depth", "tall"},
    [BY_DEPTH] = {"depth deep", "", "deep"},
    [BY_WIDTH] = {"width wide", "", "wide"},
    [BY_WEIGHT] = {"weight mass weighs heavy kg", "load max limit", "weigh weighs weight heavy"},
    [BY_SPEED] = {"speed fast pace", "", "speed"},
    [BY_HEAT] = {"temperature temp heat", "", "heat temperature"},
    [BY_NOISE] = {"noise noisiness loudness db", "", "noise loud noisy quiet"},
    [BY_AGE] = {"age year built founded opened born established made released launched "
                "introduced",
                "died closed ended until since joined", "age"},
    [BY_WHEN] = {"date time start starts end ends until departure departs arrival arrives opens "
                 "closes due released release published",
                 "", ""},
};

/* Of ranges, "16:00-23:00": which of their ends is compared. */
enum range_end { END_THAT_REACHES, END_LOW, END_HIGH, END_NOT_SAID };

typedef struct comparison {
    enum measure by;
    bool most, in_turn; /* in_turn: the first or the last of those that come one after another */
    enum range_end end;
    bool people;           /* "the most people": of a size, if no column is of them */
    uint64_t named;        /* terms of the question that a column may be called by */
    uint64_t kind, things; /* the first and the last word behind it: "the most popular rooms" */
    word_token noun;       /* what comes in turn: the bus, of "the last bus" */
} comparison;

static const char people[] = "people persons guests";

/* The few words behind byte `at`: "the highest daily allowance", "the most members". People are of many things. */
static void read_words_behind(const question *q, size_t at, comparison *out) {
    enum { WORDS = 3 };
    size_t words = 0;
    for (size_t i = 0; i < q->text.n_words && words < WORDS; i++) {
        const fact_word *w = &q->text.words[i];
        if (w->start < at || (w->flags & WORD_PART)) continue;
        if (w->flags & WORD_STOP) break;
        const int k = question_term_of(q, w->id);
        if (k >= 0) out->things = 1ull << k;
        if (k >= 0 && !out->kind && !fact_word_in(&q->text, i, people)) out->kind = 1ull << k;
        words++;
    }
}

static void take_measure(const word_token *t, comparison *out) {
    for (int m = BY_PRICE; out->by == BY_NAME && m < MEASURES; m++)
        if (word_token_in(measures[m].asked, t)) out->by = (enum measure)m;
    out->people |= out->by == BY_SIZE && word_token_in(people, t);
}

/* "The most expensive", "the least money", "costs the most": a measure is said right beside it. "What time of year has the most
 * rain?" is of the rain. */
static void read_measure_beside(const char *asked, size_t n, size_t at, const word_token *verb,
                                comparison *out) {
    enum { WORDS = 2 };
    for (int i = 0; i < WORDS && out->by == BY_NAME; i++) {
        const word_token t = word_token_next(asked, n, &at);
        if (!t.letters || word_token_in("per a an each in of for to from at on", &t)) break;
        take_measure(&t, out);
    }
    if (out->by == BY_NAME &&
        word_token_in("cost costs pay pays paid charge charges weigh weighs seats", verb))
        take_measure(verb, out);
}

/* "The smallest room for 150", "the most books after the main library": the least of those that are enough, the second. Line 12
 * is called so. */
static bool is_bound(const char *asked, size_t n) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(asked, n, &at);
        if (!t.n) return false;
        const bool number =
            t.digits &&
            !word_token_in("line route bus tram train ferry flight platform stop zone number no",
                           &before);
        const bool next = /* "the next cheapest" */
            word_token_in("next", &before) && demands_extreme_in(t.s, t.n);
        before = t;
        if (number || next ||
            word_token_in("after second third besides except apart excluding other "
                          "behind under over above below two three four five six seven "
                          "eight nine ten eleven twelve "
                          "fifteen twenty thirty forty fifty hundred thousand dozen",
                          &t))
            return true;
    }
}

/* What opens first does so where its hours begin, what closes last where they end. */
static enum range_end end_of_times(const char *asked, size_t n) {
    const bool low = word_tokens_say(
                   "open opens opening start starts starting begin begins beginning "
                   "leave leaves depart departs departure",
                   asked, n),
               high = word_tokens_say("close closes closing shut shuts end ends ending finish "
                                      "finishes finishing until arrive arrives arrival",
                                      asked, n);
    return low == high ? END_NOT_SAID : low ? END_LOW : END_HIGH;
}

/* The first superlative of the question. "Most expensive" is of the price, "the most members" of what its words name. How much
 * the cheapest of them is, is another question than which it is. */
static bool read_comparison(const question *q, comparison *out) {
    const char *asked = q->text.text;
    const size_t n = q->text.len;
    word_token before = {0}, verb = {0};
    size_t at = 0;
    bool found = false, counts = false;
    *out = (comparison){0};
    if (is_bound(asked, n)) return false;
    if (demands_turn_in(asked, n, &out->most, &at)) {
        out->by = BY_WHEN;
        out->in_turn = true;
        out->named = ~(uint64_t)0;
        read_words_behind(q, at, out);
        out->noun = word_token_next(asked, n, &at);
        return true;
    }
    while (!found) {
        const word_token t = word_token_next(asked, n, &at);
        if (!t.n || word_token_in("how", &t)) return false;
        for (size_t i = 0; i < sizeof superlatives / sizeof *superlatives && !found; i++) {
            found = word_token_in(superlatives[i].words, &t) && !word_token_in("at", &before);
            if (found) out->by = superlatives[i].by, out->most = superlatives[i].most;
        }
        before = t;
        if (found)
            counts = word_token_in("most least", &t);
        else if (!word_token_in("the us me you", &t))
            verb = t;
    }
    read_words_behind(q, at, out);
    read_measure_beside(asked, n, at, &verb, out);
    if (!counts) out->kind = 0;
    out->named = out->by == BY_NAME ? out->things : ~(uint64_t)0;
    return true;
}

static bool comparison_of(const question *q, comparison *out) {
    if (!read_comparison(q, out)) return false;
    if (out->by == BY_WHEN) out->end = end_of_times(q->text.text, q->text.len);
    return true;
}

/* ---- tables ------------------------------------------------------------------------------------ */

typedef struct column_values {
    table_pair name;         /* of the first row that has it */
    cell_value v[MAX_ROWS];  /* of rows that are compared */
    bool has[MAX_ROWS], bad; /* a cell that is neither empty nor read, or may be two dates */
    size_t n;                /* of rows that have one */
} column_values;

typedef struct table {
    const candidate_set *set;
    const candidate_passage *p;
    candidate *rows[MAX_ROWS];
    uint64_t said[MAX_ROWS]; /* terms of the question in their cells, times of the day aside */
    bool out[MAX_ROWS];      /* not among those that the question speaks of */
    size_t n;
    column_values columns[MAX_COLUMNS];
    size_t n_columns;
    bool priced; /* the passage speaks of prices */
} table;

/* Which column a cell is of: by its name, or by its place where nobody names it. */
static column_values *column_of(table *t, const table_pair *cell, size_t place) {
    for (size_t i = 0; cell->name && i < t->n_columns; i++) {
        const table_pair *n = &t->columns[i].name;
        if (n->n_name == cell->n_name && !memcmp(n->name, cell->name, n->n_name))
            return &t->columns[i];
    }
    if (!cell->name && place < t->n_columns) return &t->columns[place];
    if (t->n_columns == MAX_COLUMNS) return NULL;
    column_values *c = &t->columns[t->n_columns++];
    memset(c, 0, sizeof *c);
    c->name = *cell;
    return c;
}

static void read_row(table *t, size_t row) {
    row_walk walk = {0};
    cell_value v;
    size_t place = 0;
    t->said[row] = 0;
    for (table_pair cell; row_cell_next(&walk, t->p, &t->rows[row]->unit, &cell); place++) {
        column_values *c = column_of(t, &cell, place);
        const bool read = cell_value_read(cell.value, cell.n_value, &v);
        if (!read || v.unit != CELL_CLOCK) /* ten past twelve is no line 12 */
            t->said[row] |= candidate_terms_at(t->p, cell.value, cell.n_value);
        if (!c || cell_is_empty(cell.value, cell.n_value)) continue;
        if (!read) {
            c->bad = true;
            continue;
        }
        c->v[row] = v;
        c->has[row] = true;
        c->n++;
    }
}

/* The terms of the question that are days: "daily" has none of them and is on every one. */
static uint64_t days_of(const question *q) {
    uint64_t days = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && demand_day_named(q->text.text + w->start, w->end - w->start))
            days |= 1ull << k;
    }
    return days;
}

static const char of_all[] = "total totals subtotal subtotals sum average mean";

/* "Total": what the rows above it make together is none of them. */
static bool is_of_all(const table *t, size_t row) {
    table_pair first;
    const text_unit *u = &t->rows[row]->unit;
    return table_row_first(t->p->text.text + u->start, u->end - u->start, u->record, &first) &&
           word_tokens_say(of_all, first.value, first.n_value);
}

/* Rows that lack a word of the question which others of the table have are not among those that it speaks of: "the cheapest
 * single room". What a column is called says which column is meant, and no row; nor are rows of other days. */
static void leave_out_others(table *t, const question *q) {
    uint64_t named = days_of(q), some = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].name.name)
            named |= candidate_terms_at(t->p, t->columns[i].name.name, t->columns[i].name.n_name);
    for (size_t i = 0; i < t->n; i++) some |= t->said[i];
    some &= ~(named | t->p->title | row_terms_left_out(q)); /* all are of what the title says */
    for (size_t i = 0; i < t->n; i++) {
        const text_unit *u = &t->rows[i]->unit;
        const uint8_t asked = q->demands.days,
                      days =
                          asked ? demand_days_in(t->p->text.text + u->start, u->end - u->start) : 0;
        t->out[i] = (some & ~t->said[i]) != 0 || (days && (days & asked) != asked) ||
                    row_is_left_out(t->set, t->p, u) || is_of_all(t, i);
    }
}

/* "The cheapest room with breakfast": the others are not compared; none is where it is not clear which are meant. */
static void leave_out_by_condition(table *t) {
    int met[MAX_ROWS], most = 0;
    bool unclear = false;
    for (size_t i = 0; i < t->n; i++) {
        met[i] = row_conditions_met(t->set, t->p, &t->rows[i]->unit);
        if (met[i] > most) most = met[i];
        unclear |= met[i] == ROW_UNCLEAR;
    }
    for (size_t i = 0; i < t->n; i++) t->out[i] |= unclear || met[i] < most || met[i] < 0;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static bool unit_fits(enum measure by, const cell_value *v) {
    switch (by) {
    case BY_PRICE:
        return v->unit == CELL_MONEY;
    case BY_LENGTH:
        return v->unit == CELL_SPAN || v->unit == CELL_LENGTH;
    case BY_WEIGHT:
        return v->unit == CELL_WEIGHT;
    case BY_SPEED:
        return v->unit == CELL_SPEED;
    case BY_HEAT:
        return v->unit == CELL_DEGREES;
    case BY_AGE:
        return v->unit == CELL_DATE || v->year;
    case BY_WHEN:
        return v->unit == CELL_DATE || v->unit == CELL_CLOCK || v->year;
    default:
        return false;
    }
}

/* Cells of other kinds than the measure's have it not, whatever the column is called: "Price class: 3 nights". */
static bool unit_contradicts(enum measure by, const cell_value *v) {
    if (v->unit == CELL_PLAIN || v->unit == CELL_OTHER) return by == BY_PRICE && v->year;
    switch (by) {
    case BY_PRICE:
        return v->unit != CELL_MONEY;
    case BY_SIZE:
        return v->unit == CELL_MONEY || v->unit == CELL_CLOCK || v->unit == CELL_DATE ||
               v->unit == CELL_SPAN;
    case BY_HEIGHT:
    case BY_DEPTH:
    case BY_WIDTH:
        return v->unit != CELL_LENGTH;
    case BY_NAME:
        return false;
    case BY_AGE:
        return v->unit != CELL_DATE && v->unit != CELL_SPAN;
    default:
        return !unit_fits(by, v);
    }
}

/* Days without a year that go on over a new year, "12 October ... 3 May": the first of them is not the least. */
static bool goes_over_a_year(const table *t, const column_values *c) {
    const cell_value *first = NULL, *last = NULL;
    size_t falls = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!c->has[i] || c->v[i].unit != CELL_DATE) continue;
        if (last && c->v[i].low < last->low) falls++;
        if (!first) first = &c->v[i];
        last = &c->v[i];
    }
    return falls == 1 && last->low < first->low && first->low < CELL_YEAR;
}

/* Times of the day that go on over midnight, "21:30, 22:30, 23:30, 0:30": those behind it are of the next day. False: where the
 * day begins nobody says, since some are late in the evening and others in the small hours, or since "12:30, 1:30" go on over
 * noon. A few cells may stand in any order: they tell nothing. */
static bool clocks_settle(const table *t, column_values *c, bool in_turn) {
    enum { HOUR = 60, SMALL_HOURS = 4 * HOUR, LATE = 20 * HOUR, DAY = 24 * HOUR, FEWEST = 4 };
    const cell_value *first = NULL, *last = NULL;
    size_t falls = 0, fall = 0, n = 0;
    bool early = false, late = false, open = true;
    for (size_t i = 0; i < t->n; i++) {
        const cell_value *v = &c->v[i];
        if (t->out[i] || !c->has[i] || v->unit != CELL_CLOCK) continue;
        if (last && v->low < last->low) falls++, fall = i;
        if (!first) first = v;
        last = v;
        early |= v->low <= SMALL_HOURS;
        late |= v->low >= LATE;
        open &= v->hours == CELL_HOURS_OPEN;
        n++;
    }
    const bool once = falls == 1 && last->low < first->low;
    if (!early || !late) return !(once && open);
    if (!once || !in_turn || n < FEWEST) return false;
    for (size_t i = fall; i < t->n; i++) c->v[i].low += DAY, c->v[i].high += DAY;
    return true;
}

/* Are all cells of the rows that are compared figures of one unit? */
static bool is_comparable(const table *t, const column_values *c) {
    const cell_value *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->out[i] || !c->has[i]) continue;
        if (first && !cell_values_compare(&c->v[i], first)) return false;
        if (first && c->v[i].year != first->year) return false;
        first = &c->v[i];
        n++;
    }
    return !c->bad && n >= FEWEST_ROWS && !goes_over_a_year(t, c);
}

static uint64_t terms_of_name(const table *t, const column_values *c) {
    return c->name.name ? candidate_terms_at(t->p, c->name.name, c->name.n_name) : 0;
}

/* Bytes of a column's name without the unit that stands behind it in brackets: "Tank (l)". */
static size_t name_before_unit(const table_pair *name) {
    size_t n = name->n_name;
    if (n == 0 || name->name[n - 1] != ')') return n;
    while (n > 0 && name->name[n - 1] != '(') n--;
    while (n > 0 && strchr(" (", name->name[n - 1])) n--;
    return n ? n : name->n_name;
}

/* "The longest guarantee", "the biggest tank": is it the column itself that is said to be long or big? Its figures have a unit: what
 * rooms are numbered with is no size. */
static bool is_said_of_column(const table *t, const column_values *c, const comparison *asked,
                              const cell_value *v) {
    const size_t n = c->name.name ? name_before_unit(&c->name) : 0;
    const bool has_unit = v->unit != CELL_PLAIN || (n && n < c->name.n_name);
    return n && c != t->columns && has_unit && (asked->by == BY_SIZE || asked->by == BY_LENGTH) &&
           (candidate_terms_at(t->p, c->name.name, n) & asked->things) &&
           row_column_is_asked(t->set, t->p, c->name.name, n);
}

enum { NO_FIT = 0, BY_UNIT = 1, CALLED = 2, SAID = 4 };

/* How well a column is what the question compares: the more of its words it is called by, the better, and rather by what the
 * quality is called than by its unit alone. What is compared, the room of "the cheapest room", says little of "Room service". */
static int fit_of(const table *t, const column_values *c, const comparison *asked) {
    const cell_value *v = NULL;
    for (size_t i = 0; i < t->n && !v; i++)
        if (!t->out[i] && c->has[i]) v = &c->v[i];
    if (!v || unit_contradicts(asked->by, v)) return NO_FIT;
    const char *name = c->name.name;
    const size_t n = name ? c->name.n_name : 0;
    uint64_t terms = terms_of_name(t, c) & asked->named;
    if (asked->by == BY_NAME) /* the first column has the names of the rows */
        return c == t->columns ? NO_FIT : SAID * __builtin_popcountll(terms);
    /* "The cheapest in summer", of columns that are called by seasons: prices are written without more. */
    const bool bare = asked->by == BY_PRICE && (terms & ~asked->things) && t->priced &&
                      v->unit == CELL_PLAIN && !v->year;
    if (name && !row_column_is_asked(t->set, t->p, name, n)) terms &= ~asked->things;
    const bool called = name && !fo_has_digit(name, n) && /* "5 km" is a run, and no length */
                        word_tokens_say(measures[asked->by].called, name, n);
    const bool other = name && word_tokens_say(measures[asked->by].others, name, n);
    /* Times of the day stand in every timetable: they are compared where the first or the last is asked for. */
    const bool itself = is_said_of_column(t, c, asked, v);
    const bool by_unit = (asked->by != BY_WHEN || (asked->in_turn && v->unit == CELL_CLOCK)) &&
                         unit_fits(asked->by, v);
    if (itself) return CALLED + SAID;
    if (other || !(called || by_unit || bare)) return NO_FIT;
    return (called ? CALLED : BY_UNIT) + SAID * __builtin_popcountll(terms);
}

/* Is a column of figures called by words of the question alone, and by none for a size? "Which course have most people
 * booked?" */
static bool has_column_of_people(const table *t) {
    for (size_t i = 1; i < t->n_columns; i++) {
        const column_values *c = &t->columns[i];
        if (c->name.name && c->n >= FEWEST_ROWS && !c->bad &&
            !word_tokens_say(measures[BY_SIZE].called, c->name.name, c->name.n_name) &&
            row_column_is_asked(t->set, t->p, c->name.name, c->name.n_name))
            return true;
    }
    return false;
}

/* The terms of the paragraph or heading right above a row. */
static uint64_t terms_above(const candidate_passage *p, const text_unit *row) {
    const char *text = p->text.text;
    size_t end = row->start;
    while (end > 0 && strchr(" \n|", text[end - 1])) end--;
    size_t start = end;
    while (start > 0 && !(text[start - 1] == '\n' && text[start] == '\n')) start--;
    return candidate_terms_at(p, text + start, end - start) | candidate_head_terms(p, row);
}

/* Does the question name the rows, the table or what stands above it: "the quietest dryer"? "The quietest time" is of nothing that has a noise in
 * decibels. */
static bool is_named_by_question(const table *t) {
    uint64_t named = t->p->title | terms_above(t->p, &t->rows[0]->unit);
    for (size_t i = 0; i < t->n; i++) named |= t->said[i];
    for (size_t i = 0; i < t->n_columns; i++) named |= terms_of_name(t, &t->columns[i]);
    return named != 0;
}

/* What is compared in this table. False: "the most popular room" is of no column. */
static bool compares_by(const table *t, const comparison *asked, comparison *out) {
    bool kind = false;
    *out = *asked;
    if (asked->people && has_column_of_people(t)) {
        out->by = BY_NAME;
        out->named = asked->things;
    }
    if (out->by == BY_NOISE && !is_named_by_question(t)) return false;
    if (out->by != BY_NAME || !out->kind) return true;
    out->named |= out->kind;
    for (size_t i = 0; i < t->n_columns; i++)
        kind |= (terms_of_name(t, &t->columns[i]) & out->kind) != 0;
    return kind;
}

/* Years and days grow where age falls. */
static bool wants_high(const comparison *asked, const cell_value *v) {
    const bool when = v->unit == CELL_DATE || v->year;
    return asked->by == BY_AGE && when ? !asked->most : asked->most;
}

/* What of a cell is compared; NAN where nobody says which end of a range. */
static double compared(const comparison *asked, const cell_value *v) {
    if (asked->end == END_NOT_SAID && v->low != v->high) return NAN;
    const bool high =
        asked->end == END_HIGH || (asked->end == END_THAT_REACHES && wants_high(asked, v));
    return high ? v->high : v->low;
}

/* Marks in `best` the rows that are the most or the least of a column; none where nothing tells them apart. */
static void best_rows(const table *t, const column_values *c, const comparison *asked,
                      bool best[MAX_ROWS]) {
    double extreme = NAN;
    size_t n = 0, all = 0;
    bool told = true;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->n; i++) {
            if (pass == 0) best[i] = false;
            if (t->out[i] || !c->has[i]) continue;
            const bool high = wants_high(asked, &c->v[i]);
            const double x = compared(asked, &c->v[i]);
            told &= !isnan(x);
            if (pass == 0 && !(high ? x <= extreme : x >= extreme)) extreme = x;
            if (pass == 1) all++, n += best[i] = x == extreme;
        }
    }
    for (size_t i = 0; i < t->n && (n == all || !told); i++) best[i] = false;
}

/* The best rows of the columns that fit best, where they agree. */
static bool find(table *t, const comparison *asked_of_all, bool best[MAX_ROWS]) {
    int most = NO_FIT;
    bool found = false, other[MAX_ROWS];
    comparison here, *asked = &here;
    if (!compares_by(t, asked_of_all, asked)) return false;
    for (size_t i = 0; i < t->n_columns; i++) {
        const int fit = fit_of(t, &t->columns[i], asked);
        if (fit > most) most = fit;
    }
    for (size_t i = 0; most > NO_FIT && i < t->n_columns; i++) {
        if (fit_of(t, &t->columns[i], asked) < most) continue;
        if (!is_comparable(t, &t->columns[i])) return false;
        best_rows(t, &t->columns[i], asked, found ? other : best);
        if (found && memcmp(best, other, t->n * sizeof *best)) return false;
        found = true;
    }
    return found;
}

/* "Monthly fee | 29 EUR | 119 EUR": a row that compares all by itself, since its first cell says what its others are. */
static bool compares(const table *t, size_t row, const comparison *asked) {
    row_walk walk = {0};
    table_pair cell;
    cell_value v, first = {0};
    size_t n = 0;
    if (!row_cell_next(&walk, t->p, &t->rows[row]->unit, &cell) || cell.n_value == 0) return false;
    const uint64_t terms = candidate_terms_at(t->p, cell.value, cell.n_value);
    const bool named =
        asked->by == BY_NAME && (terms & asked->named) && (terms & asked->kind) == asked->kind;
    if (!named && !word_tokens_say(measures[asked->by].called, cell.value, cell.n_value))
        return false;
    for (; row_cell_next(&walk, t->p, &t->rows[row]->unit, &cell); n++) {
        if (!cell_value_read(cell.value, cell.n_value, &v) || unit_contradicts(asked->by, &v) ||
            v.order == DATE_ORDER_OPEN)
            return false;
        if (n == 0) first = v;
        if (!cell_values_compare(&v, &first)) return false;
    }
    return n > 1;
}

static void mark_table(table *t, const comparison *asked, const question *q) {
    bool best[MAX_ROWS] = {false};
    if (!word_tokens_say(of_all, q->text.text, q->text.len))
        for (size_t i = 0; i < t->n; i++)
            if (is_of_all(t, i)) t->rows[i]->f[CAND_OTHER_THING] = CAND_RIVAL;
    if (t->n < FEWEST_ROWS || t->n == MAX_ROWS) return;
    for (size_t i = 0; i < t->n; i++) read_row(t, i);
    for (size_t i = 0; i < t->n_columns; i++)
        t->columns[i].bad |= !cell_dates_settle(t->columns[i].v, t->columns[i].has, t->n);
    leave_out_others(t, q);
    if (!q->demands.whether) leave_out_by_condition(t);
    for (size_t i = 0; i < t->n_columns; i++)
        t->columns[i].bad |= !clocks_settle(t, &t->columns[i], asked->in_turn);
    size_t alone = 0;
    if (!find(t, asked, best)) {
        for (size_t i = 0; i < t->n; i++) alone += best[i] = compares(t, i, asked);
        if (alone != 1) return;
    }
    for (size_t i = 0; i < t->n; i++)
        if (best[i]) row_is_picked(t->rows[i]);
}

/* Is it named in the text, or several of it? "Buses" are some where a bus is asked for. */
static bool is_named_in(const word_token *noun, const char *text, size_t n) {
    enum { PLURAL = 2 };
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, n, &at);
        if (!t.n) return false;
        if (t.n >= noun->n && t.n <= noun->n + PLURAL && !strncasecmp(t.s, noun->s, noun->n))
            return true;
    }
}

/* Does the document speak of what comes in turn? Where the question does not name it, nothing speaks against it. */
static bool speaks_of(const candidate_set *set, const candidate_passage *p,
                      const word_token *noun) {
    if (!noun->letters || is_named_in(noun, p->title_text, strlen(p->title_text))) return true;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *o = &set->passages[i];
        if (candidate_one_document(o, p) && is_named_in(noun, o->text.text, o->text.len))
            return true;
    }
    return false;
}

void extremes_mark(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    comparison asked;
    const demands *d = &set->q.demands;
    if (!(d->extreme || d->in_turn) || !p->whole_tables || !comparison_of(&set->q, &asked) ||
        rows_are_off_the_subject(set, p) || !speaks_of(set, p, &asked.noun))
        return;
    table *t = calloc(1, sizeof *t);
    if (!t) return; /* an extreme less */
    size_t from = set->n;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    t->set = set;
    t->p = p;
    t->priced = word_tokens_say(measures[BY_PRICE].called, p->text.text, p->text.len);
    for (size_t i = from; i < set->n; i++) {
        candidate *c = &set->c[i];
        const bool row = c->unit.kind == TEXT_UNIT_ROW;
        if (t->n && !rows_of_one_table(p, &t->rows[t->n - 1]->unit, &c->unit)) {
            mark_table(t, &asked, &set->q);
            t->n = t->n_columns = 0;
        }
        if (row && t->n < MAX_ROWS) t->rows[t->n++] = c;
    }
    mark_table(t, &asked, &set->q);
    free(t);
}
