#include "retrieval/answer/dated_headings.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/text/dates.h"
#include "retrieval/text/word_tokens.h"

enum asked_for { ASKED_NOTHING, ASKED_VERSION, ASKED_TIME };

/* "Which version fixed ...", "in what release", "When was ... fixed?" */
static enum asked_for asked_for(const question *q) {
    size_t at = 0, behind = 99;
    bool when = q->kind == ASK_TIME;
    const size_t n = q->text.len;
    for (word_token t; (t = word_token_next(q->text.text, n, &at)).n; behind++) {
        when |= word_token_in("when", &t); /* "Where is it, and when does it begin?" */
        if (word_token_in("which what", &t)) behind = 0;
        if (behind <= 2 && word_token_in("version versions release releases edition", &t))
            return ASKED_VERSION;
    }
    return when ? ASKED_TIME : ASKED_NOTHING;
}

/* Its first word or number, behind signs: "[4.2.1]". */
static word_token first_word(const char *s, size_t n, size_t *at) {
    word_token t = word_token_next(s, n, at);
    while (t.n && !t.letters && !t.digits) t = word_token_next(s, n, at);
    return t;
}

/* "4.2.1 (12 February 2026)", "v4.2", "Version 3". */
static bool names_version(const char *s, size_t n) {
    size_t at = 0;
    word_token t = first_word(s, n, &at);
    const bool called = word_token_in("version release v rev revision", &t);
    if (called) t = word_token_next(s, n, &at);
    return t.digits && (called || memchr(t.s, '.', t.n));
}

/* Is it a word of the question or of the passage's title? */
static bool is_asked_of(const candidate_set *set, const candidate_passage *p, const word_token *t) {
    char word[64];
    if (t->n >= sizeof word) return false;
    memcpy(word, t->s, t->n);
    word[t->n] = 0;
    return word_tokens_say(word, set->q.text.text, set->q.text.len) ||
           (p->title_text && word_tokens_say(word, p->title_text, strlen(p->title_text)));
}

/* "PgBouncer 1.17.x", "2022-03-23 - PgBouncer 1.17.0", "Release notes for v1.8.0": the version of the program that is asked about, which
 * the heading names before it. */
static bool names_version_of(const candidate_set *set, const candidate_passage *p, const char *s,
                             size_t n) {
    size_t at = 0;
    bool named = false;
    for (word_token t; (t = word_token_next(s, n, &at)).n;) {
        if (t.digits && memchr(t.s, '.', t.n)) return named;
        if (!t.letters ||
            word_token_in("v release releases notes for new features changes in of version", &t)) {
            named |= t.letters;
            continue;
        }
        if (!is_asked_of(set, p, &t)) return false;
        named = true;
    }
    return false;
}

bool dated_heading_of_version(const char *s, size_t n) {
    size_t at = 0;
    const word_token t = first_word(s, n, &at);
    if (!names_version(s, n)) return false;
    if (!t.digits) return true;
    const word_token next = word_token_next(s, n, &at);
    return !next.letters || date_month_named(&next);
}

bool dated_heading_says(const char *s, size_t n, date_said *out) {
    for (size_t i = 0; i < n; i++) {
        const bool begins = i == 0 || !(fo_is_letter(s[i - 1]) || fo_is_digit(s[i - 1]));
        if (begins && date_at(s + i, n - i, out) && !out->doubtful) return true;
    }
    return false;
}

static bool names_time(const char *s, size_t n) {
    date_said said;
    return dated_heading_says(s, n, &said);
}

bool dated_heading_of_changes(const char *s, size_t n) {
    static const char kinds[] =
        "added changed deprecated removed fixed fixes security new features feature bug bugfixes "
        "bugs "
        "improvements improved improvement enhancements breaking change changes notes known issues "
        "problems internal documentation docs upgrade upgrading other misc highlights and";
    enum { MOST_WORDS = 4 };
    size_t at = n > 2 && s[1] == ' ' && memchr("-*+", s[0], 3) ? 2 : 0, words = 0; /* "- Fixes" */
    for (word_token t; (t = word_token_next(s, n, &at)).n; words++)
        if (words == MOST_WORDS || !word_token_in(kinds, &t)) return false;
    return words > 0;
}

const text_unit *heading_above(const candidate_passage *p, const text_unit *u) {
    const text_unit *above = NULL;
    for (size_t i = 0; i < p->units.n && p->units.v[i].start < u->start; i++)
        if (p->units.v[i].kind == TEXT_UNIT_HEADING) above = &p->units.v[i];
    return above;
}

/* Days since some day of a date with a year; 0: it has none, or may be another day. */
static int day_of(const date_said *d) {
    return d->year && d->order != DATE_ORDER_OPEN ? (d->year * 13 + d->month) * 32 + d->day : 0;
}

int dated_heading_above(const candidate_passage *p, const text_unit *u) {
    date_said said;
    int day = dated_heading_says(p->heading, strlen(p->heading), &said) ? day_of(&said) : 0;
    for (size_t i = 0; i < p->units.n && p->units.v[i].start < u->start; i++) {
        const text_unit *h = &p->units.v[i];
        if (h->kind == TEXT_UNIT_HEADING &&
            dated_heading_says(p->text.text + h->start, h->end - h->start, &said))
            day = day_of(&said);
    }
    return day;
}

static bool names_asked(const candidate_set *set, const candidate_passage *p, const char *s,
                        size_t n, enum asked_for asked) {
    if (asked == ASKED_TIME) return names_time(s, n);
    return names_version(s, n) || names_version_of(set, p, s, n);
}

/* ... that names a version or a time, with headings that part nothing from it between them. *section: where there is none in the
 * text, that of the version whose section the text goes on with; else NULL. */
static const text_unit *dated_above(const candidate_set *set, const candidate_passage *p,
                                    const text_unit *u, enum asked_for asked,
                                    const char **section) {
    const text_unit *above = NULL;
    const size_t bytes = strlen(p->heading);
    *section = asked == ASKED_VERSION && (dated_heading_of_version(p->heading, bytes) ||
                                          names_version_of(set, p, p->heading, bytes))
                   ? p->heading
                   : NULL;
    for (size_t i = 0; i < p->units.n && p->units.v[i].start < u->start; i++) {
        const text_unit *h = &p->units.v[i];
        const char *s = p->text.text + h->start;
        const size_t n = h->end - h->start;
        /* "- Users are not read again. They ...": what an item begins with parts nothing from it */
        if (h->kind != TEXT_UNIT_HEADING ||
            (h->head_kind == TEXT_UNIT_ITEM && h->head_end > h->head_start))
            continue;
        const bool dated = names_asked(set, p, s, n, asked);
        if (dated || !dated_heading_of_changes(s, n)) {
            above = dated ? h : NULL;
            *section = NULL;
        }
    }
    return above;
}

/* "The following changes are also included:" above an item, or before all of them, leaves the heading above that to be said. */
static bool has_lead(const text_unit *u) {
    return u->kind == TEXT_UNIT_STEPS ||
           (u->kind == TEXT_UNIT_ITEM && u->head_kind == TEXT_UNIT_ITEM &&
            u->head_end > u->head_start);
}

void dated_heading_take(const candidate_set *set, candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    const bool row = u->kind == TEXT_UNIT_ROW, beside = row || has_lead(u);
    enum asked_for asked = asked_for(&set->q);
    if (row && asked == ASKED_NOTHING && set->q.demands.days) asked = ASKED_TIME;
    if (asked == ASKED_NOTHING || p->command ||
        (!beside && u->kind != TEXT_UNIT_SENTENCE && u->kind != TEXT_UNIT_ITEM) ||
        (!beside && u->head_kind != TEXT_UNIT_HEADING && u->head_end > u->head_start) ||
        (asked == ASKED_TIME && names_time(p->text.text + c->start, c->end - c->start)))
        return;
    const text_unit *above = dated_above(set, p, u, asked, &c->section);
    if (!above) return;
    if (beside) {
        c->dated_start = above->start;
        c->dated_end = above->end;
        return;
    }
    c->unit.head_start = above->start;
    c->unit.head_end = above->end;
    c->unit.head_kind = TEXT_UNIT_HEADING;
    c->headed = true;
}
