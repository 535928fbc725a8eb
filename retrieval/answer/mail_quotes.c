#include "retrieval/answer/mail_quotes.h"

#include <string.h>

#include "retrieval/answer/cross_reading.h"
#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"

/* How deep is the quotation that it stands in? 0: it stands in none. "Was >" counts nothing. */
static size_t depth_of(const candidate_set *set, const candidate *c) {
    const char *text = set->passages[c->passage].text.text;
    uint32_t line = c->unit.start;
    size_t depth = 0;
    while (line > 0 && text[line - 1] != '\n') line--;
    for (; text[line] == '>' || (depth && text[line] == ' ' && text[line + 1] == '>'); line++)
        depth += text[line] == '>';
    return depth;
}

static bool is_quoted(const candidate_set *set, const candidate *c) {
    return depth_of(set, c) > 0;
}

bool mail_quotes_before(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
           depth_of(set, c) > depth_of(set, best);
}

/* "One correction to the list: Merryn no longer has a key": it says of itself that what was said holds no more. English. */
static bool takes_back(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->unit.start;
    const size_t n = c->unit.end - c->unit.start;
    static const char words[] = "correction corrected corrections wrong mistake mistaken instead";
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return false;
        if (word_token_in(words, &t)) return true;
        if (word_token_in("longer more", &t) && word_token_in("no any", &before)) return true;
        if (word_token_in("all", &t) && word_token_in("after", &before)) return true;
        before = t;
    }
}

/* Does c say most of what the best says, in its words? What corrects a mail repeats what was wrong in it; half is enough of what says that it
 * does. */
static bool says_it_again(const candidate_set *set, const candidate *c) {
    enum { FEWEST = 3 };
    const candidate *best = &set->c[0];
    const fact_text *of = &set->passages[best->passage].text, *in = &set->passages[c->passage].text;
    size_t n = 0, shared = 0;
    for (uint32_t i = best->w0; i < best->w1; i++) {
        if (!fact_is_content(&of->words[i])) continue;
        n++;
        shared += fact_says(in, c->w0, c->w1, of->words[i].id);
    }
    return shared >= FEWEST && (2 * shared > n || (2 * shared == n && takes_back(set, c)));
}

/* ---- another day, or another hour ------------------------------------------------------------ */

enum value_kind { VALUE_NONE, VALUE_DAY, VALUE_HOUR, VALUE_SUM };

/* What the number t is: "17th", "14 September", "September 14" a day, "9:15" and "9 am" an hour, "31 pounds" a sum. */
static enum value_kind value_kind_of(const word_token *before, const word_token *t,
                                     const word_token *next) {
    if (!t->digits) return VALUE_NONE;
    if (demand_currency_named(next) || demand_currency_sign(before)) return VALUE_SUM;
    if (memchr(t->s, '.', t->n) || word_token_in("am pm", next)) return VALUE_HOUR;
    if (t->n > 2) return VALUE_NONE;
    if (word_token_is(next, ":")) return VALUE_HOUR;
    if (word_token_in("st nd rd th", next) || demand_month_named(next) >= 0 ||
        demand_month_named(before) >= 0)
        return VALUE_DAY;
    return VALUE_NONE;
}

/* A walk over the values of a text. */
typedef struct value_walk {
    const char *s;
    size_t n, at;
    word_token before;
} value_walk;

/* The next number that says a day, an hour or a sum, and which of them; VALUE_NONE: there is none. */
static enum value_kind next_value(value_walk *w, word_token *t) {
    while ((*t = word_token_next(w->s, w->n, &w->at)).n) {
        size_t further = w->at;
        const word_token next = word_token_next(w->s, w->n, &further);
        const enum value_kind kind = value_kind_of(&w->before, t, &next);
        w->before = *t;
        if (kind != VALUE_NONE) return kind;
    }
    return VALUE_NONE;
}

/* Has text[n] the number x as one of that kind? */
static bool has_value(const char *s, size_t n, enum value_kind kind, const word_token *x) {
    value_walk w = {.s = s, .n = n};
    word_token t;
    for (enum value_kind k; (k = next_value(&w, &t));)
        if (k == kind && t.n == x->n && !memcmp(t.s, x->s, t.n)) return true;
    return false;
}

/* Does text[n] have a value of the kind that old[n_old] has not? */
static bool has_new_value(const char *s, size_t n, enum value_kind kind, const char *old,
                          size_t n_old) {
    value_walk w = {.s = s, .n = n};
    word_token t;
    for (enum value_kind k; (k = next_value(&w, &t));)
        if (k == kind && !has_value(old, n_old, kind, &t)) return true;
    return false;
}

/* "They cannot do the 14th after all, it will be the 17th": does c, or the sentence right before it, name a value of the best again, and c
 * another one of its kind? Whatever words it uses, it is of the same thing. */
static bool names_it_and_another(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[c->passage];
    const fact_text *of = &set->passages[best->passage].text;
    const char *old = of->text + best->unit.start, *s = p->text.text + c->unit.start;
    const size_t n_old = best->unit.end - best->unit.start, n = c->unit.end - c->unit.start;
    const text_unit *above = c->order ? &p->units.v[c->order - 1] : NULL;
    const bool together = above && above->kind == TEXT_UNIT_SENTENCE &&
                          above->end <= c->unit.start &&
                          !memmem(p->text.text + above->end, c->unit.start - above->end, "\n\n", 2);
    value_walk w = {.s = old, .n = n_old};
    word_token t;
    for (enum value_kind kind; (kind = next_value(&w, &t));) {
        if (!has_new_value(s, n, kind, old, n_old)) continue;
        if (has_value(s, n, kind, &t) ||
            (together &&
             has_value(p->text.text + above->start, above->end - above->start, kind, &t)))
            return true;
    }
    return false;
}

/* "Delivery is on Monday 14 September" quoted, and in that quotation "Delivery would be on the 10th of September": does c say of the question
 * all that the best says, about as surely, with another value of a kind that the best has? */
static bool says_another_as_well(const candidate_set *set, const candidate *c) {
    static const double near = 3.9, answers = -1;
    const candidate *best = &set->c[0];
    const fact_text *of = &set->passages[best->passage].text, *in = &set->passages[c->passage].text;
    const char *old = of->text + best->unit.start, *s = in->text + c->unit.start;
    const size_t n_old = best->unit.end - best->unit.start, n = c->unit.end - c->unit.start;
    if ((best->set & ~c->set) || best->score - c->score > near ||
        c->f[CAND_QUESTION] > best->f[CAND_QUESTION] ||
        c->f[CAND_NO_AMOUNT] > best->f[CAND_NO_AMOUNT] ||
        (set->crossed && cross_reading_of(c) < answers))
        return false;
    for (enum value_kind kind = VALUE_DAY; kind <= VALUE_SUM; kind++)
        if (has_new_value(old, n_old, kind, s, n) && has_new_value(s, n, kind, old, n_old))
            return true;
    return false;
}

/* A day, an hour or a sum is asked for. */
static bool asks_for_value(const question *q) {
    return q->demands.language < 0 &&
           (q->kind == ASK_TIME || q->demands.detail == DETAIL_CLOCK ||
            q->demands.amount == AMOUNT_MONEY) &&
           !word_tokens_say("originally initially first earlier before", q->text.text, q->text.len);
}

bool mail_quotes_corrected(const candidate_set *set, const candidate *c) {
    static const double near = 3.9, answers = -1; /* as what is said beside the best */
    static const double far = 12; /* what takes it back need not read as an answer itself */
    const candidate *best = &set->c[0];
    if (!candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) ||
        c->f[CAND_FRAGMENT] >= 1 || depth_of(set, c) >= depth_of(set, best))
        return false;
    if (asks_for_value(&set->q) && (names_it_and_another(set, c) || says_another_as_well(set, c)))
        return true;
    if (best->score - c->score > far) return false;
    const bool back = takes_back(set, c);
    return (back || best->score - c->score <= near) &&
           c->f[CAND_QUESTION] <= best->f[CAND_QUESTION] &&
           c->f[CAND_NO_AMOUNT] <= best->f[CAND_NO_AMOUNT] && !is_quoted(set, c) &&
           (back || !set->crossed || cross_reading_of(c) >= answers) && says_it_again(set, c);
}
