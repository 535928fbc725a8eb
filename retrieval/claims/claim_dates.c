#include "retrieval/claims/claim_dates.h"

/* ---- marks --------------------------------------------------------------------------------------- */

static bool is_met(const fact_numbers *f, size_t at) {
    const fact_date *d = fact_date_of(f, at);
    return d && d->met;
}

static void unmark(fact_numbers *f) {
    for (size_t i = 0; i < f->n_dates; i++) f->dates[i].met = false;
}

static void mark_numbers(fact_numbers *f) {
    for (size_t i = 0; i < f->n; i++) f->v[i].dated = f->n_dates && is_met(f, f->v[i].start);
}

static void mark_words(const dated_text *t) {
    for (size_t i = 0; i < t->text->n_words; i++) {
        fact_word *w = &t->text->words[i];
        w->flags &= ~(uint32_t)WORD_DATED;
        if (t->numbers->n_dates && is_met(t->numbers, w->start)) w->flags |= WORD_DATED;
    }
}

/* ---- what is said beside a date -------------------------------------------------------------------- */

/* Does a number stand there that is not of a day's date? */
static bool says_apart(const fact_numbers *f, int value) {
    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].value != value) continue;
        const fact_date *d = fact_date_of(f, f->v[i].start);
        if (!d || !d->said.day) return true;
    }
    return false;
}

/* A day is not said by a month; a year that only the claim has stands elsewhere. */
static bool says(const date_said *text, const date_said *claim, bool year_apart) {
    if (claim->day && !text->day) return false;
    if (claim->year && !text->year && !year_apart) return false;
    return dates_agree(text, claim);
}

static bool meet(fact_date *d, fact_numbers *f, bool year_apart) {
    bool met = false;
    for (size_t i = 0; i < f->n_dates; i++) {
        if (!says(&f->dates[i].said, &d->said, year_apart)) continue;
        met = true;
        f->dates[i].met |= d->said.day != 0; /* of "March 2024" the text's day is free */
    }
    return met;
}

void claim_dates_mark(const dated_text *claim, const dated_text *quote, const dated_text *title) {
    fact_numbers *const all[] = {claim->numbers, quote->numbers, title->numbers};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) unmark(all[i]);
    for (size_t i = 0; i < claim->numbers->n_dates; i++) {
        fact_date *d = &claim->numbers->dates[i];
        const int year = d->said.year;
        const bool apart =
            year && (says_apart(quote->numbers, year) || says_apart(title->numbers, year));
        const bool in_quote = meet(d, quote->numbers, apart);
        d->met = meet(d, title->numbers, apart) || in_quote;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mark_numbers(all[i]);
    mark_words(claim);
}

void claim_dates_mark_all(const dated_text *claim) {
    for (size_t i = 0; i < claim->numbers->n_dates; i++) claim->numbers->dates[i].met = true;
    mark_words(claim);
}

/* ---- dates in parts -------------------------------------------------------------------------------- */

bool claim_dates_hold(const dated_text *claim, const dated_text *quote, const dated_text *title) {
    for (size_t i = 0; i < claim->numbers->n_dates; i++) {
        const fact_date *d = &claim->numbers->dates[i];
        const date_said *x = &d->said;
        if (d->met) continue;
        if (x->digits || !(date_month_in(x->month, quote->text->text, quote->text->len) ||
                           date_month_in(x->month, title->text->text, title->text->len)))
            return false;
        if (x->day && !says_apart(quote->numbers, x->day) && !says_apart(title->numbers, x->day))
            return false;
    }
    return true;
}
