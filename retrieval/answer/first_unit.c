#include "retrieval/answer/first_unit.h"
#include "retrieval/answer/dated_headings.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/mail_quotes.h"
#include "retrieval/answer/past_states.h"
#include "retrieval/answer/thread_answers.h"
#include "retrieval/answer/which_one.h"
#include "retrieval/text/word_tokens.h"

/* Terms of the question that the unit says or hangs on. */
static uint64_t names_of(const candidate_set *set, const candidate *c) {
    return c->set | candidate_head_terms(&set->passages[c->passage], &c->unit);
}

/* Nothing that is demanded is lacking more than in the best. */
static bool is_fit(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    static const int lacks[] = {CAND_NO_AMOUNT,    CAND_NO_PLACE,    CAND_OTHER_DAY,
                                CAND_OTHER_THING,  CAND_FRAGMENT,    CAND_QUESTION,
                                CAND_MISSING_NAME, CAND_MISSING_CODE};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (c->f[lacks[i]] > best->f[lacks[i]]) return false;
    return cross_reading_comes_near(set, c);
}

/* ---- why it leads ---------------------------------------------------------------------------- */

/* "How much is the gym for students?": "Student: 24 a month" before "Others pay 4.50". Each thing has a price of its own; of how
 * long and how many a text speaks in other words as well. */
static bool names_the_subject(const candidate_set *set, const candidate *c,
                              const candidate *other) {
    static const double much = 0.3;
    const enum demand_amount amount = set->q.demands.amount;
    return (amount == AMOUNT_MONEY || amount == AMOUNT_EXPENSE) && names_of(set, other) == 0 &&
           c->f[CAND_NO_AMOUNT] == 0 && question_share(&set->q, names_of(set, c)) >= much;
}

/* "How many days of skiing are covered?": "17 days" before "Ski pack: 400". */
static bool counts_what_is_asked(const candidate_set *set, const candidate *c,
                                 const candidate *other) {
    const int counted = set->q.asks.how_many;
    if (counted < 0 || names_of(set, other) & 1ull << counted) return false;
    const candidate_passage *p = &set->passages[c->passage];
    for (uint32_t i = c->w0 + 1; i < c->w1; i++)
        if (p->terms[i] == counted && (p->text.words[i - 1].flags & (WORD_DIGIT | WORD_NUMERAL)))
            return true;
    return false;
}

/* "What dose does a 4 year old get?": the row for 2 to 5 years, in whose table a column is called so. */
static bool is_the_tier(const candidate_set *set, const candidate *c, const candidate *other) {
    return c->tiers && c->tier_holds && c->unit.kind == TEXT_UNIT_ROW && other->tiers != c->tiers &&
           (candidate_head_terms(&set->passages[c->passage], &c->unit) & ~names_of(set, other));
}

static int day_of(const candidate_set *set, const candidate *c) {
    return dated_heading_above(&set->passages[c->passage], &c->unit);
}

/* What is asked for is what holds now, and the other stands below an earlier day of the same document. */
static bool is_overtaken(const candidate_set *set, const candidate *c, const candidate *other) {
    const int day = set->q.asks.latest ? day_of(set, other) : 0;
    return day && day < day_of(set, c) &&
           candidate_one_document(&set->passages[c->passage], &set->passages[other->passage]);
}

/* Does a sentence say that something is otherwise from then on? */
static bool says_a_change(const char *s, size_t n) {
    return word_tokens_say(
        "now new newly instead longer anymore become becomes became change changes "
        "changed raise raised raises lowered increased reduced moved moves "
        "replace replaced replaces set agreed decided adopted approved rejected "
        "cancelled canceled dropped abandoned postponed again henceforth",
        s, n);
}

static bool is_a_form_of_to_be(const fact_text *t, const fact_word *w) {
    return fo_words_have_any_case("is are", t->text + w->start, w->end - w->start);
}

/* A name, a day or a figure: what changes in a sentence that is said anew. "Ann Roe is the treasurer" begins with one; of "Ann Roe
 * joined" the next one who joins takes nothing back. */
static bool may_change(const fact_text *t, uint32_t w, uint32_t end) {
    const fact_word *word = &t->words[w];
    if (word->flags & (WORD_DIGIT | WORD_NUMERAL | WORD_CALENDAR)) return true;
    if (!(word->flags & WORD_INITIAL)) return fact_is_named(t, w);
    uint32_t behind = w + 1;
    while (behind < end && (t->words[behind].flags & WORD_CAPITAL)) behind++;
    return (word->flags & WORD_CAPITAL) && behind < end && is_a_form_of_to_be(t, &t->words[behind]);
}

/* Has b all content words of a that may not change? *n: how many those are. */
static bool has_its_words(const candidate_set *set, const candidate *a, const candidate *b,
                          size_t *n) {
    const fact_text *t = &set->passages[a->passage].text, *other = &set->passages[b->passage].text;
    *n = 0;
    for (uint32_t w = a->w0; w < a->w1; w++) {
        if (!fact_is_content(&t->words[w]) || may_change(t, w, a->w1)) continue;
        if (!fact_says(other, b->w0, b->w1, t->words[w].id)) return false;
        ++*n;
    }
    return true;
}

/* "The treasurer is Bo Keane" says anew what "The treasurer is Ann Roe" said: all their words are the same but names, days and
 * figures, and none of those was asked for. */
static bool says_it_anew(const candidate_set *set, const candidate *c, const candidate *other) {
    size_t mine, its;
    return !(names_of(set, other) & ~names_of(set, c)) && has_its_words(set, c, other, &mine) &&
           has_its_words(set, other, c, &its) && mine && its;
}

/* ... and c reads as well and takes the other's place, by what it says or by a figure for a figure: "The logo was printed on shirts"
 * only mentions what is asked about. */
static bool replaces(const candidate_set *set, const candidate *c, const candidate *other) {
    const char *mine = set->passages[c->passage].text.text + c->start,
               *its = set->passages[other->passage].text.text + other->start;
    const size_t n = c->end - c->start, n_its = other->end - other->start;
    if (!is_overtaken(set, c, other)) return false;
    if (says_it_anew(set, c, other)) return true;
    return (!set->crossed || cross_reading_of(c) >= cross_reading_of(other)) &&
           (says_a_change(mine, n) || (fo_has_digit(mine, n) && fo_has_digit(its, n_its)));
}

/* "Since then it has been led by ...", "Today ...": says from its beginning what holds up to now. */
static bool says_it_holds_now(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    size_t at = 0;
    const word_token first = word_token_next(s, n, &at), second = word_token_next(s, n, &at);
    return word_token_in("today now currently nowadays", &first) ||
           (word_token_in("since", &first) && word_token_in("then", &second)) ||
           (word_token_in("at", &first) && word_token_in("present", &second));
}

/* Who it was before, and elsewhere in the document, is not said beside who it is now. */
static bool was_before(const candidate_set *set, const candidate *c, const candidate *other) {
    const enum question_kind kind = set->q.kind;
    return (kind == ASK_PERSON || kind == ASK_NAME || kind == ASK_PLACE) && set->q.asks.latest &&
           says_it_holds_now(set, c) && !says_it_holds_now(set, other) &&
           candidate_one_document(&set->passages[c->passage], &set->passages[other->passage]);
}

/* Asked who it is now, of two that say who it was in one running text the later one, which says that it is so still. */
static bool holds_at_present(const candidate_set *set, const candidate *c, const candidate *other) {
    return was_before(set, c, other) && c->f[CAND_TYPE] >= 1 && c->passage == other->passage &&
           c->order > other->order;
}

/* Is the other one no answer beside c? */
static bool passes_over(const candidate_set *set, const candidate *c, const candidate *other) {
    return names_the_subject(set, c, other) || counts_what_is_asked(set, c, other) ||
           is_the_tier(set, c, other) || which_one_is_asked(set, c, other) ||
           holds_at_present(set, c, other);
}

/* A whole procedure holds words of any question by chance: where none is asked for, what reads as a better answer leads. */
static bool is_asked_rather_than_steps(const candidate_set *set, const candidate *c) {
    static const double better = 2;
    const candidate *best = &set->c[0];
    const bool apart =
        c->passage != best->passage || c->start >= best->end || c->end <= best->start;
    return set->crossed && !set->q.procedure && best->unit.kind == TEXT_UNIT_STEPS && apart &&
           cross_reading_of(c) - cross_reading_of(best) >= better;
}

/* Terms of the question that are names. */
static uint64_t names_asked(const question *q) {
    uint64_t names = 0;
    for (size_t k = 0; k < q->n_terms; k++)
        if (q->terms[k].name) names |= 1ull << k;
    return names;
}

/* Does another item of the list of c hold as much of the question, or have what c lacks of it beside something that c has? */
static bool has_a_rival_in_the_list(const candidate_set *set, const candidate *c,
                                    const candidate *list) {
    const uint64_t lacking = list->set & ~c->set;
    for (size_t i = 0; i < set->n; i++) {
        const candidate *d = &set->c[i];
        if (d->unit.kind != TEXT_UNIT_ITEM || d->passage != c->passage || d->start == c->start ||
            d->start < list->start || d->end > list->end || d->f[CAND_OTHER_DAY] > 0 ||
            d->f[CAND_NO_AMOUNT] >= 1)
            continue;
        if ((d->set & c->set) == c->set || ((d->set & lacking) && (d->set & c->set))) return true;
        if (set->crossed && cross_reading_of(d) > cross_reading_of(c)) return true;
    }
    return false;
}

/* A list of which one item has all that is asked, but for names said of the whole, and the kind of thing that is asked for: "The
 * hotel can be cancelled until 27 November" of what was settled for the visit. Who asks how is told all of it. */
static bool is_the_item_of_the_list(const candidate_set *set, const candidate *c) {
    static const double much = 0.4, cross_as_near = 1;
    const candidate *best = &set->c[0];
    const question *q = &set->q;
    const bool of_a_kind = q->kind == ASK_PERSON || q->kind == ASK_TIME || q->kind == ASK_PLACE;
    if (!of_a_kind || q->procedure || best->unit.kind != TEXT_UNIT_STEPS ||
        c->unit.kind != TEXT_UNIT_ITEM || c->passage != best->passage || c->start < best->start ||
        c->end > best->end || c->f[CAND_TYPE] < 1)
        return false;
    const uint64_t lacking = best->set & ~c->set;
    return (lacking & ~names_asked(q)) == 0 && question_share(q, c->set) >= much &&
           c->f[CAND_OTHER_DAY] <= best->f[CAND_OTHER_DAY] &&
           c->f[CAND_NO_AMOUNT] <= best->f[CAND_NO_AMOUNT] &&
           c->f[CAND_NO_PLACE] <= best->f[CAND_NO_PLACE] &&
           (!set->crossed || cross_reading_of(c) >= cross_reading_of(best) - cross_as_near) &&
           !has_a_rival_in_the_list(set, c, best);
}

static bool begins_with_pronoun(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->start;
    size_t n = 0;
    while (c->start + n < c->end && isalpha((unsigned char)s[n])) n++;
    return fo_words_have_any_case("it they he she", s, n);
}

/* "Alcohol: One glass does no harm" says by itself what it is about; the best, about as likely, only behind the sentence before
 * it: "It contains no alcohol." */
static bool stands_by_itself(const candidate_set *set, const candidate *c) {
    static const double as_near = 1, answers = 1;
    const candidate *best = &set->c[0];
    const double cross = cross_reading_of(c);
    return set->crossed && best->unit.kind == TEXT_UNIT_SENTENCE &&
           (c->unit.kind == TEXT_UNIT_ITEM || c->unit.kind == TEXT_UNIT_DEFINITION) &&
           candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
           begins_with_pronoun(set, best) && best->score - c->score <= as_near &&
           cross >= answers && cross >= cross_reading_of(best) - as_near;
}

/* Where the condition ends that a sentence begins with, "If it is set to false,"; its start: it begins with none. */
static uint32_t condition_end(const candidate_set *set, const candidate *c) {
    const fact_text *t = &set->passages[c->passage].text;
    const char *s = t->text + c->start;
    size_t n = 0;
    while (c->start + n < c->end && isalpha((unsigned char)s[n])) n++;
    if (!fo_words_have_any_case("if unless when whenever", s, n)) return c->start;
    for (uint32_t i = c->w0 + 1; i < c->w1; i++) {
        const fact_word *w = &t->words[i];
        if ((w->flags & WORD_CLAUSE) ||
            fo_words_have_any_case("then", t->text + w->start, w->end - w->start))
            return w->start;
    }
    return c->start;
}

/* What holds under a condition of which the question says nothing comes behind what holds without one: "If it is set to false then
 * a new client is turned away" behind "whenever a new client connects, the old one is". */
static bool holds_without_condition(const candidate_set *set, const candidate *c) {
    static const double as_near = 1.5;
    const candidate *best = &set->c[0];
    const uint32_t end = condition_end(set, best);
    return c->passage == best->passage && best->unit.kind == TEXT_UNIT_SENTENCE &&
           c->unit.kind == TEXT_UNIT_SENTENCE && end > best->start &&
           !candidate_terms(&set->passages[best->passage], best->start, end) &&
           condition_end(set, c) == c->start && best->score - c->score <= as_near &&
           cross_reading_of(c) >= cross_reading_of(best) - as_near &&
           question_share(&set->q, c->set) >= question_share(&set->q, best->set) - 1e-9;
}

/* Has the question that word? */
static bool has_word(const question *q, const word_token *word) {
    size_t at = 0;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;)
        if (t.n == word->n && strncasecmp(t.s, word->s, t.n) == 0) return true;
    return false;
}

/* "On Windows, the file is looked for here:", where the question names no such system. */
static bool is_of_a_system(const candidate_set *set, const candidate *c) {
    const fact_text *t = &set->passages[c->passage].text;
    const text_unit *u = &c->unit;
    const bool led = u->head_end > u->head_start && u->head_kind != TEXT_UNIT_HEADING;
    const char *s = t->text + (led ? u->head_start : c->start);
    size_t at = 0;
    const size_t n = led ? u->head_end - u->head_start : c->end - c->start;
    const word_token on = word_token_next(s, n, &at), system = word_token_next(s, n, &at);
    return word_token_in("on under", &on) &&
           word_token_in("windows macos osx mac freebsd openbsd netbsd solaris aix", &system) &&
           !has_word(&set->q, &system);
}

/* What is said of one system comes behind what says as much of all, or of the others. */
static bool holds_on_any_system(const candidate_set *set, const candidate *c) {
    static const double as_near = 1.5;
    const candidate *best = &set->c[0];
    return candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
           c->unit.kind == best->unit.kind && best->score - c->score <= as_near &&
           cross_reading_of(c) >= cross_reading_of(best) - as_near && is_of_a_system(set, best) &&
           !is_of_a_system(set, c) &&
           question_share(&set->q, names_of(set, c)) >=
               question_share(&set->q, names_of(set, best)) - 1e-9;
}

/* Of what a document says of one thing below headings with dates, the last: minutes of meetings, reports. 0: the best stays. */
static size_t latest_of(const candidate_set *set) {
    static const double much = 0.5;
    const candidate *best = &set->c[0];
    const double least = much * question_share(&set->q, names_of(set, best));
    size_t latest = 0;
    for (size_t i = 1; i < set->n && best->score - set->c[i].score <= cross_reading_near; i++) {
        const candidate *c = &set->c[i];
        if (is_overtaken(set, c, &set->c[latest]) && is_fit(set, c) &&
            question_share(&set->q, names_of(set, c) & names_of(set, best)) >= least)
            latest = i;
    }
    return latest;
}

/* "Yes, this is possible, but not recommended.": does it begin with the answer to whether something is so? */
static bool begins_with_yes_or_no(const char *s, size_t n) {
    size_t at = 0;
    const word_token first = word_token_next(s, n, &at);
    return word_token_in("yes no", &first) && at < n && strchr(",.;:!", s[at]);
}

/* Where yes or no is asked for, what the section of the best begins with and says that, if a question heads it that has all that the best
 * has of what is asked: what stands further below, why it is so or what else may be done, only is understood behind it. 0: there is none. */
static size_t yes_or_no_above(const candidate_set *set) {
    enum { LINK = 2, BLANKS = 3 }; /* the sign of a link may stand behind the question */
    const candidate *best = &set->c[0];
    const char *text = set->passages[best->passage].text.text;
    const uint32_t heading = candidate_below(&best->unit);
    if (!set->q.demands.whether || !heading || text[heading - 1] != '?') return 0;
    const candidate_passage *p = &set->passages[best->passage];
    const uint64_t asked_there = candidate_head_terms(p, &best->unit);
    if (!asked_there || candidate_terms(p, best->start, best->end) & ~(asked_there | p->title))
        return 0; /* the yes or no is that of another question */
    for (size_t i = 1; i < set->n; i++) {
        const candidate *c = &set->c[i];
        if (c->passage == best->passage && c->unit.kind == TEXT_UNIT_SENTENCE &&
            c->order < best->order && candidate_below(&c->unit) == heading &&
            c->start <= heading + LINK + BLANKS &&
            begins_with_yes_or_no(text + c->start, c->end - c->start))
            return i;
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* c[i] comes first, and the others move back by one. */
static void bring_to_front(candidate_set *set, size_t i) {
    const candidate leads = set->c[i];
    memmove(set->c + 1, set->c, i * sizeof *set->c);
    set->c[0] = leads;
}

/* Does c follow the best, or the best c, in one running text? */
static bool are_neighbours(const candidate *best, const candidate *c) {
    return c->passage == best->passage && c->unit.kind == TEXT_UNIT_SENTENCE &&
           best->unit.kind == TEXT_UNIT_SENTENCE && c->order <= best->order + 1 &&
           best->order <= c->order + 1;
}

static void mark_passed_over(candidate_set *set) {
    for (size_t i = 1; i < set->n; i++)
        set->c[i].passed_over =
            past_states_is_over(set, &set->c[i]) ||
            (!are_neighbours(&set->c[0], &set->c[i]) &&
             (passes_over(set, &set->c[0], &set->c[i]) || replaces(set, &set->c[0], &set->c[i]) ||
              was_before(set, &set->c[0], &set->c[i])));
}

/* What else stands in the list of the item that leads. */
static void pass_over_others(candidate_set *set, uint32_t of, uint32_t start, uint32_t end) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        c->passed_over = c->passage == of && c->start >= start && c->end <= end;
    }
}

void first_unit_choose(candidate_set *set) {
    const candidate *best = &set->c[0];
    const size_t plain = set->n ? yes_or_no_above(set) : 0;
    if (plain) {
        bring_to_front(set, plain);
        mark_passed_over(set);
        return;
    }
    /* a table, a section's beginning or a summary of a command is no guess */
    if (!set->n || best->f[CAND_BY_TABLE] > 0 || best->f[CAND_TOPIC] > 0 ||
        best->f[CAND_OPTION] > 0 || candidate_names_the_command(best))
        return;
    const size_t came_of_it = thread_answers_leading(set);
    if (came_of_it) {
        const candidate was = *best;
        bring_to_front(set, came_of_it);
        thread_answers_pass_over(set, &was);
        return;
    }
    const size_t latest = latest_of(set);
    if (latest) bring_to_front(set, latest);
    for (size_t newer = 1, turns = 0; newer < set->n && turns < 3; turns++) { /* and that anew */
        newer = 1;
        while (newer < set->n && !mail_quotes_corrected(set, &set->c[newer])) newer++;
        if (newer < set->n) bring_to_front(set, newer);
    }
    const size_t holds = past_states_what_holds(set);
    if (holds) {
        bring_to_front(set, holds);
        mark_passed_over(set);
        return;
    }
    for (size_t i = 1; !latest && i < set->n && best->score - set->c[i].score <= cross_reading_near;
         i++) {
        const candidate *c = &set->c[i];
        if (is_the_item_of_the_list(set, c)) {
            pass_over_others(set, best->passage, best->start, best->end);
            bring_to_front(set, i);
            return;
        }
        if (!mail_quotes_before(set, c) && is_fit(set, c) &&
            (passes_over(set, c, best) || is_asked_rather_than_steps(set, c) ||
             stands_by_itself(set, c) || holds_without_condition(set, c) ||
             holds_on_any_system(set, c))) {
            bring_to_front(set, i);
            break;
        }
    }
    mark_passed_over(set);
    thread_answers_pass_over_others(set);
}
