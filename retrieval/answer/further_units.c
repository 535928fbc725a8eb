#include "retrieval/answer/further_units.h"

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/continuations.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/footnotes.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/mail_quotes.h"
#include "retrieval/answer/which_one.h"
#include "retrieval/units/unit_headings.h"

/* How far behind the best a sentence may be: e^-3.9, a fiftieth of its probability. */
static const double keep_within = 3.9;
/* A row, an option, an item beside a better one is more often another thing than more of the same. */
static const double keep_entry_within = 3;
/* An option beside the one that was asked for does another thing. */
static const double keep_option_within = 2;
/* Another document says more of the same only where it is about as likely: otherwise it speaks of another thing. */
static const double keep_other_document = 1;
/* Log odds of the cross-encoder, of a further unit and behind the best: what hardly answers, or far less likely than what is
 * said already, is beside the point. */
static const double keep_cross = -1, keep_cross_within = 3;
/* The same of a reader of many languages, which is less sure of what it reads in most of them. */
static const double keep_languages = -3, keep_languages_within = 4;
/* Where the best is so sure that nothing was read again, what is not near it is said by nobody's judgement. */
static const double keep_unread_within = 2.2;
/* A whole procedure beside the point does harm: it may be followed. */
static const double keep_steps_within = 1;

/* Does what read both with the question speak against saying this beside the best? Rows of one table and turns of one talk
 * belong together: which of them is the last, and what came of it, is seen by who reads them. */
static bool is_beside_the_point(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const double least = set->languages ? keep_languages : keep_cross;
    const double cross = cross_reading_of(c);
    const bool together = c->passage == best->passage && c->unit.kind == best->unit.kind &&
                          (c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_TURN);
    const double within = c->unit.kind == TEXT_UNIT_STEPS ? keep_steps_within
                          : set->languages                ? keep_languages_within
                                                          : keep_cross_within;
    return !together && !continuation_restricts(set, c) && set->crossed &&
           (cross < least || cross < cross_reading_of(best) - within);
}

/* A row or an item that lacks what the best of them has of the question, and has nothing else of it: of the motor boat it was
 * asked, and this is the pedal boat. */
static bool is_a_sibling(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return c->unit.kind == best->unit.kind &&
           (c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_ITEM) &&
           candidate_says_less(set, c, best);
}

static bool is_of_another_document(const candidate_set *set, const candidate *c) {
    return !candidate_one_document(&set->passages[c->passage], &set->passages[set->c[0].passage]);
}

/* Does it say nothing of the question but what the best or its neighbours say? */
static bool says_what_stands_there(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[best->passage];
    uint64_t there = best->set | p->title;
    for (uint32_t i = best->order ? best->order - 1 : 0; i < p->units.n && i <= best->order + 1;
         i++)
        there |= candidate_terms(p, p->units.v[i].start, p->units.v[i].end);
    return c->set && (c->set & ~there) == 0;
}

/* Was it read, but not again with the question? A yes or no may be of some only, "schools may always", and then the rule stands
 * beside it; so may what is asked for in the sentence right behind the best; and in other languages than English nothing is read
 * again by the built-in reader. */
static bool is_unread(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const bool behind = c->passage == best->passage && c->order == best->order + 1 &&
                        candidate_below(&c->unit) == candidate_below(&best->unit);
    return set->read && !set->crossed && !set->q.demands.whether && set->q.demands.language < 0 &&
           !behind;
}

/* "NO DOGS ALLOWED" below a text in small letters is called out to all who read it: it belongs to nothing beside it. */
static bool is_called_out(const candidate_set *set, const candidate *c) {
    const fact_text *t = &set->passages[c->passage].text;
    return c->set == 0 && c->unit.kind == TEXT_UNIT_SENTENCE && !t->capitals &&
           unit_is_in_capitals(t->text + c->start, c->end - c->start) &&
           fo_only_blanks(t->text + c->end, t->len - c->end);
}

/* Months, days of the week and seasons that words w0..w1 name, a bit each. "May" and "March" begin sentences, and there name none. */
static uint32_t times_of_year(const fact_text *t, const candidate *c) {
    static const char *const times[] = {"january",
                                        "february",
                                        "march",
                                        "april",
                                        "may",
                                        "june",
                                        "july",
                                        "august",
                                        "september",
                                        "october",
                                        "november",
                                        "december",
                                        "monday mondays",
                                        "tuesday tuesdays",
                                        "wednesday wednesdays",
                                        "thursday thursdays",
                                        "friday fridays",
                                        "saturday saturdays",
                                        "sunday sundays",
                                        "spring",
                                        "summer summers",
                                        "autumn",
                                        "winter winters",
                                        "weekend weekends",
                                        "weekdays weekday"};
    uint32_t found = 0;
    for (uint32_t i = c->w0; i < c->w1; i++) {
        const fact_word *w = &t->words[i];
        const char *s = t->text + w->start;
        const size_t n = w->end - w->start;
        if (fo_words_have_any_case("may march", s, n) &&
            (!(w->flags & WORD_CAPITAL) || (w->flags & WORD_INITIAL)))
            continue;
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            if (fo_words_have_any_case(times[k], s, n)) found |= 1u << k;
    }
    return found;
}

/* "In winter at 10" beside "In summer at 9": what the value is at another time of the year or the week than the best names. A month that is
 * itself the value, "It flowers in June", is of another thing. */
static bool is_of_another_season(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[c->passage].text, *of = &set->passages[best->passage].text;
    const uint32_t own = times_of_year(of, best);
    return own && (times_of_year(t, c) & ~own) &&
           fo_has_digit(of->text + best->start, best->end - best->start) &&
           fo_has_digit(t->text + c->start, c->end - c->start);
}

/* Who, when, where or how many is asked for, the best says it and surely answers, and this stands in another section and comes far
 * behind: another value of the same kind, of another thing. */
static bool is_a_stray(const candidate_set *set, const candidate *c) {
    static const double surely = 3;
    const candidate *best = &set->c[0];
    const enum question_kind kind = set->q.kind;
    const bool of_a_kind =
        kind == ASK_PERSON || kind == ASK_TIME || kind == ASK_PLACE || kind == ASK_NUMBER;
    return of_a_kind && set->crossed && c->unit.kind == TEXT_UNIT_SENTENCE &&
           best->f[CAND_TYPE] >= 1 && cross_reading_of(best) >= surely &&
           best->score - c->score > keep_unread_within && !is_of_another_season(set, c) &&
           (c->passage != best->passage ||
            candidate_below(&c->unit) != candidate_below(&best->unit));
}

/* "Registered associations" for who asks what there is without one: all that it says of the question is what that is without. */
static bool is_for_who_has_it(const candidate_set *set, const candidate *c) {
    const uint64_t without = set->q.asks.without;
    const fact_text *t = &set->passages[c->passage].text;
    if (!c->set || (c->set & ~without)) return false;
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (t->words[i].flags & WORD_NEGATION) return false;
    return true;
}

/* The terms that stand behind "the difference between"; none: it is not asked for. */
static uint64_t compared_terms(const question *q) {
    const fact_text *t = &q->text;
    uint64_t terms = 0;
    size_t i = 1;
    while (i < t->n_words &&
           !(fact_word_in(t, i, "between") && fact_word_in(t, i - 1, "difference differences")))
        i++;
    for (i++; i < t->n_words; i++) {
        const int k = question_term_of(q, t->words[i].id);
        if (k >= 0) terms |= 1ull << k;
    }
    return terms;
}

/* "What is the difference between rm and rmi?": the row of one beside that of the other. */
static bool is_compared_with_the_best(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (c->unit.kind != best->unit.kind || c->unit.kind == TEXT_UNIT_SENTENCE ||
        !(c->set & ~best->set) || !(best->set & ~c->set) || !candidate_same_head(c, best))
        return false;
    const uint64_t compared = compared_terms(&set->q);
    return (c->set & ~best->set & compared) && (best->set & ~c->set & compared);
}

bool further_unit_adds(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (is_called_out(set, c) || which_one_is_another(set, c)) return false;
    if (is_compared_with_the_best(set, c) || footnote_is_of_the_best(set, c)) return true;
    if (best->f[CAND_TOPIC] > 0 && best->unit.kind != TEXT_UNIT_DEFINITION)
        return c->f[CAND_TOPIC] > 0 && c->passage == best->passage &&
               candidate_below(&c->unit) == candidate_below(&best->unit);
    if (c->f[CAND_FRAGMENT] >= 1 || c->f[CAND_QUESTION] > best->f[CAND_QUESTION]) return false;
    if (continuation_completes(set, c) || continuation_belongs(set, c)) return true;
    if (is_a_sibling(set, c) || is_beside_the_point(set, c) || mail_quotes_before(set, c) ||
        is_for_who_has_it(set, c))
        return false;
    if (set->passages[c->passage].off_subject && !set->passages[best->passage].off_subject)
        return false;
    if (c->tiers && !c->tier_holds) return false;
    if (continuation_restricts(set, c) || continuation_answers(set, c)) return true;
    if (c->passed_over || is_a_stray(set, c)) return false;
    if (is_of_another_document(set, c) &&
        (best->score - c->score > keep_other_document || says_what_stands_there(set, c)))
        return false;
    if (c->unit.kind == TEXT_UNIT_SENTENCE)
        return best->score - c->score <= (is_unread(set, c) ? keep_unread_within : keep_within);
    double within = candidate_is_option(set, c) ? keep_option_within : keep_entry_within;
    return best->score - c->score <= within &&
           c->f[CAND_MISSING_NAME] <= best->f[CAND_MISSING_NAME];
}
