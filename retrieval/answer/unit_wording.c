#include "retrieval/answer/unit_wording.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/word_tokens.h"

/* ---- what is left out -------------------------------------------------------------------- */

static const char exclusions[] = "without except excluding";

static bool asks_of_what_is_there(const question *q) {
    const demands *d = &q->demands;
    const bool amount =
        d->amount == AMOUNT_MONEY || d->amount == AMOUNT_EXPENSE || d->amount == AMOUNT_ANY;
    return q->text.language < 0 && amount && !d->none && !d->whether &&
           !word_tokens_say(exclusions, q->text.text, q->text.len);
}

/* Words behind "without" that it leaves out: up to the end of their clause, a few at most. One past the last. */
static size_t exclusion_end(const fact_text *t, const fact_sentence *s, size_t i) {
    enum { WORDS = 4 };
    size_t end = i + 1;
    while (end < s->w1 && end <= i + WORDS && !(t->words[end].flags & WORD_CLAUSE)) end++;
    return end;
}

bool unit_leaves_out(const question *q, const candidate_passage *p, const text_unit *u) {
    const fact_text *t = &p->text;
    const fact_sentence s = candidate_words(t, u->start, u->end);
    uint64_t out = 0, in = candidate_head_terms(p, u);
    if (!asks_of_what_is_there(q)) return false;
    for (size_t i = s.w0; i < s.w1; i++) {
        if (p->terms[i] >= 0) in |= 1ull << p->terms[i];
        if (!fact_word_in(t, i, exclusions)) continue;
        const size_t end = exclusion_end(t, &s, i);
        for (i++; i < end; i++)
            if (p->terms[i] >= 0) out |= 1ull << p->terms[i];
        i = end - 1;
    }
    return (out & ~in) != 0;
}

/* ---- only others ------------------------------------------------------------------------- */

static const char before_names[] = "on in for with at from to";

/* The word of the question that is a name behind a preposition, "on Windows", and the only one of its kind; 0: there is none. */
static size_t name_behind(const fact_text *t) {
    size_t name = 0;
    for (size_t i = 1; i < t->n_words; i++) {
        if (!fact_is_named(t, i) || !fact_word_in(t, i - 1, before_names)) continue;
        if (name) return 0;
        name = i;
    }
    return name && !(t->words[name].flags & (WORD_DIGIT | WORD_CALENDAR)) ? name : 0;
}

/* Do names stand behind word i up to the end of the sentence, and nothing else: "Linux, macOS and FreeBSD"? */
static bool lists_names(const fact_text *t, size_t i, size_t end) {
    size_t names = 0;
    for (; i < end; i++) {
        const fact_word *w = &t->words[i];
        bool capital = false;
        for (uint32_t at = w->start; at < w->end; at++) capital |= fo_is_upper(t->text[at]);
        if (!capital && !(w->flags & WORD_PART) && !fact_word_in(t, i, "and or")) return false;
        names += capital;
    }
    return names > 0;
}

bool unit_names_only_others(const question *q, const candidate_passage *p, const text_unit *u) {
    enum { WITHIN = 3 }; /* words: "only possible on" */
    const fact_text *t = &p->text, *asked = &q->text;
    const fact_sentence s = candidate_words(t, u->start, u->end);
    const size_t name = q->demands.whether && asked->language < 0 ? name_behind(asked) : 0;
    const int term = name ? question_term_of(q, asked->words[name].id) : -1;
    if (term < 0) return false;
    const uint64_t all = q->n_terms < 64 ? (1ull << q->n_terms) - 1 : ~0ull,
                   known =
                       candidate_terms(p, u->start, u->end) | candidate_head_terms(p, u) | p->title;
    if ((all & ~known) != 1ull << term) return false;
    const fact_word *before = &asked->words[name - 1];
    for (size_t i = s.w0; i < s.w1; i++) {
        if (!fact_word_in(t, i, "only")) continue;
        for (size_t k = i + 1; k < s.w1 && k <= i + WITHIN; k++)
            if (t->words[k].id == before->id && lists_names(t, k + 1, s.w1)) return true;
    }
    return false;
}

/* ---- before, during and after ------------------------------------------------------------- */

enum relation { RELATION_NONE, RELATION_BEFORE, RELATION_DURING, RELATION_AFTER };

/* Which one a word says, right before a noun. */
static enum relation relation_of(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    const char *s = t->text + w->start;
    const size_t n = w->end - w->start;
    if (fo_words_have_any_case("before", s, n)) return RELATION_BEFORE;
    if (fo_words_have_any_case("during throughout", s, n)) return RELATION_DURING;
    return fo_words_have_any_case("after", s, n) ? RELATION_AFTER : RELATION_NONE;
}

static bool is_article(const fact_text *t, const fact_word *w) {
    return fo_words_have_any_case("the a an my our your their his her its this that",
                                  t->text + w->start, w->end - w->start);
}

/* The noun behind the relation that word i says: "after the trial". One past the last: none. */
static size_t related_noun(const fact_text *t, size_t i, size_t end) {
    i++;
    while (i < end && !(t->words[i].flags & WORD_CLAUSE) && is_article(t, &t->words[i])) i++;
    return i < end && !(t->words[i].flags & (WORD_CLAUSE | WORD_STOP | WORD_DIGIT | WORD_NUMERAL))
               ? i
               : end;
}

/* The one relation that the question says, and the term of its noun; RELATION_NONE: none, or several. */
static enum relation asked_relation(const question *q, int *term) {
    const fact_text *t = &q->text;
    enum relation asked = RELATION_NONE;
    *term = -1;
    for (size_t i = 0; i < t->n_words; i++) {
        const enum relation r = relation_of(t, i);
        if (r == RELATION_NONE) continue;
        const size_t noun = related_noun(t, i, t->n_words);
        if (asked != RELATION_NONE || noun == t->n_words) return RELATION_NONE;
        asked = r;
        *term = question_term_of(q, t->words[noun].id);
    }
    return *term < 0 ? RELATION_NONE : asked;
}

/* "If you do not subscribe during the trial, all is deleted": does word i stand in a condition, whose consequence may come later? */
static bool is_in_a_condition(const fact_text *t, size_t first, size_t i) {
    while (i > first && !fact_word_in(t, i, "if when unless once whenever")) {
        if (t->words[i].flags & WORD_CLAUSE) return false;
        i--;
    }
    return fact_word_in(t, i, "if when unless once whenever");
}

/* "Until the concert", "when it ends", "once it is over", "hours ahead of it": the unit speaks of several times in other words. */
static bool says_another_time(const fact_text *t, const fact_sentence *s) {
    bool when = false;
    for (size_t i = s->w0; i < s->w1; i++) {
        if (fact_word_in(t, i, "until till ahead afterwards")) return true;
        if (t->words[i].flags & WORD_CLAUSE) when = false;
        when |= fact_word_in(t, i, "when once");
        if (when && fact_word_in(t, i, "end ends ended over finished finishes starts begins"))
            return true;
    }
    return false;
}

/* "Painkillers are handed out before the operation, take two a day at home": does a clause end with the noun, and another one of
 * some words go on behind it? "After the trial, members pay" is one clause. */
static bool goes_on_behind(const fact_text *t, const fact_sentence *s, size_t relation,
                           size_t noun) {
    enum { FEWEST = 3 };
    bool content = false;
    for (size_t i = s->w0; i < relation; i++) content |= fact_is_content(&t->words[i]);
    return content && noun + FEWEST < s->w1 && (t->words[noun + 1].flags & WORD_CLAUSE);
}

/* Does a unit of the passages say the asked relation with that noun? Then it is that which answers. */
static bool is_said_elsewhere(const candidate_set *set, enum relation asked, int term) {
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        for (size_t k = 0; k < p->text.n_words; k++) {
            if (relation_of(&p->text, k) != asked) continue;
            const size_t noun = related_noun(&p->text, k, p->text.n_words);
            if (noun < p->text.n_words && p->terms[noun] == term) return true;
        }
    }
    return false;
}

int unit_of_another_time(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    int term;
    const enum relation asked = asked_relation(&set->q, &term);
    const fact_text *t = &p->text;
    const fact_sentence s = candidate_words(t, u->start, u->end);
    bool other = false, behind = false;
    for (size_t i = s.w0; asked != RELATION_NONE && i < s.w1; i++) {
        const enum relation r = relation_of(t, i);
        if (r == asked) return 0; /* whatever it stands before: "after it" */
        const size_t noun = r == RELATION_NONE ? s.w1 : related_noun(t, i, s.w1);
        if (noun == s.w1 || p->terms[noun] != term) continue;
        if (is_in_a_condition(t, s.w0, i)) return 0;
        behind |= r < asked && goes_on_behind(t, &s, i, noun);
        other = true;
    }
    if (!other || says_another_time(t, &s)) return 0;
    return is_said_elsewhere(set, asked, term) ? CAND_RIVAL : !behind;
}

/* ---- labels ------------------------------------------------------------------------------ */

bool unit_label_is_placed(const question *q, const candidate_passage *p, const text_unit *u) {
    enum { LABEL_WORDS = 5 };
    static const double most = 0.5;
    const char *text = p->text.text;
    const uint64_t said = candidate_terms(p, u->start, u->end);
    if (!q->demands.place || !said || question_share(q, said) < most) return false;
    size_t at = u->start + text_item_mark(text + u->start, u->end - u->start);
    while (at < u->end) { /* sentence by sentence */
        size_t end = at;
        while (end < u->end &&
               !(strchr(".!?", text[end]) && (end + 1 == u->end || fo_is_blank(text[end + 1]))))
            end++;
        const size_t label = text_label(text + at, end - at, LABEL_WORDS);
        if (label && candidate_terms_at(p, text + at, label) == said &&
            !candidate_terms_at(p, text + at + label, end - at - label) &&
            demands_place_in(&q->demands, text + at + label + 1, end - at - label - 1))
            return true;
        at = end + 1;
        while (at < u->end && fo_is_blank(text[at])) at++;
    }
    return false;
}
