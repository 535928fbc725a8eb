#include "retrieval/answer/unit_demands.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/answer/empty_cells.h"
#include "retrieval/question/arabic_ranges.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/demand_counts.h"
#include "retrieval/question/demand_often.h"
#include "retrieval/question/demand_when.h"
#include "retrieval/question/foreign_days.h"
#include "retrieval/question/foreign_often.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/units/unit_headings.h"
#include "retrieval/answer/unit_persons.h"
#include "retrieval/answer/unit_versions.h"
#include "retrieval/answer/unit_wording.h"
#include "retrieval/text/people_kinds.h"
#include "retrieval/text/word_tokens.h"

/* The word that begins at a byte of the passage; NULL: none does. */
static const fact_word *word_at(const candidate_passage *p, size_t byte) {
    size_t low = 0, high = p->text.n_words;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (p->text.words[mid].start < byte)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->text.n_words && p->text.words[low].start == byte ? &p->text.words[low] : NULL;
}

/* Does a title count what is asked for, or measure: "The hall seats 120 people", "Lake walk, 5 km"? */
static bool says_how_many(const candidate_passage *p, size_t start, size_t end) {
    const char *text = p->text.text;
    fact_numbers f = {0};
    bool says = false;
    if (fact_numbers_read(&f, text + start, end - start, NULL)) f.n = 0;
    for (size_t i = 0; i < f.n && !says; i++) {
        const size_t behind = start + f.v[i].end;
        const bool next = behind < end && text[behind] == ' ';
        const fact_word *w = next ? word_at(p, behind + 1) : NULL;
        says = f.v[i].unit != UNIT_NONE || (w && p->terms[w - p->text.words] >= 0);
    }
    fact_numbers_deinit(&f);
    return says;
}

/* "Bicycles can be hired at the harbour." below "Double room EUR 148", a line that stands above it by chance: the price of a heading
 * that says nothing of the question is of no sentence below it. */
static bool is_price_of_heading(const candidate_passage *p, const demands *d, const text_unit *u) {
    return (d->amount == AMOUNT_MONEY || d->amount == AMOUNT_EXPENSE) &&
           u->kind == TEXT_UNIT_SENTENCE && !candidate_head_terms(p, u);
}

/* The numbers of most headings number something: "4. Fees", "GS 640"; "Weekly" says how often what stands below it is done. */
static bool is_of_heading(const candidate_passage *p, const demands *d, const text_unit *u) {
    const char *head = p->text.text + u->head_start;
    const size_t n_head = u->head_end - u->head_start;
    const bool often = d->amount == AMOUNT_OFTEN &&
                       !(d->language < 0 ? demand_often_in_words(head, n_head)
                                         : foreign_often_in(d->language, head, n_head));
    return u->head_kind == TEXT_UNIT_HEADING && u->kind != TEXT_UNIT_ROW &&
           (is_price_of_heading(p, d, u) ||
            ((often || d->amount == AMOUNT_ANY || d->amount == AMOUNT_COUNT) &&
             !says_how_many(p, u->head_start, u->head_end)));
}

static enum amount_stated stated_by(const candidate_passage *p, const question *q,
                                    const text_unit *u) {
    const demands *d = &q->demands;
    const char *text = p->text.text, *asked = q->text.text;
    if (d->amount == AMOUNT_ANY && d->language < 0 && demand_size_of(asked, q->text.len) &&
        demand_size_in(text + u->start, u->end - u->start, asked, q->text.len))
        return AMOUNT_STATED;
    const enum amount_stated itself =
        demands_amount_in(d, d->amount, text + u->start, u->end - u->start);
    if (is_of_heading(p, d, u)) return itself;
    const enum amount_stated head =
        demands_amount_in(d, d->amount, text + u->head_start, u->head_end - u->head_start);
    return head == AMOUNT_STATED || itself < head ? head : itself;
}

/* Do all its numbers, and those of what it belongs to, count something else than what "how many" counts? What the numbers of a row
 * are its columns say; but those of an age, a price or an hour are of no people. */
static bool counts_others(const question *q, const candidate_passage *p, const text_unit *u) {
    const char *text = p->text.text, *asked = q->text.text;
    if (q->demands.language >= 0 || q->demands.amount != AMOUNT_ANY) return false;
    const bool people = demand_counts_people(asked, q->text.len),
               things = candidate_counted_term(q) >= 0 && u->kind != TEXT_UNIT_ROW;
    const bool belongs =
        u->head_kind != TEXT_UNIT_HEADING || says_how_many(p, u->head_start, u->head_end);
    return (people || things) &&
           !demand_count_in(text + u->start, u->end - u->start, asked, q->text.len) &&
           !(belongs && demand_count_in(text + u->head_start, u->head_end - u->head_start, asked,
                                        q->text.len));
}

/* "The commission is 3 percent": what is paid may be a share. */
static bool says_a_share(const char *s, size_t n) {
    return fo_has_digit(s, n) && (memchr(s, '%', n) || word_tokens_say("percent per cent", s, n));
}

/* Is what a row states another sum by its first cell, or by the columns of all the sums in it: 540 euros below "Monthly grant",
 * and none below "Monthly cost"? */
static bool row_is_other_sum(const question *q, const candidate_passage *p, const text_unit *u) {
    const char *asked = q->text.text;
    const size_t n = q->text.len;
    bool other = false, label = false;
    size_t i = 0;
    row_walk walk = {0};
    for (table_pair cell; row_cell_next(&walk, p, u, &cell); i++) {
        const bool named = cell.name && demand_other_sum_in(asked, n, cell.name, cell.n_name);
        const bool says = demand_other_sum_in(asked, n, cell.value, cell.n_value);
        other |= named || says;
        label |= i == 0 && says;
        if (named || !fo_has_digit(cell.value, cell.n_value)) continue;
        if (demand_amount_in(AMOUNT_MONEY, cell.value, cell.n_value) == AMOUNT_STATED && !label)
            return false;
        if (cell.name && word_tokens_say("month cost costs price prices", cell.name, cell.n_name) &&
            !label)
            return false;
    }
    return other;
}

/* "Monthly grant: 540 euros" where the rent is asked for: another sum, and that one is named nowhere near. */
static bool names_other_sum(const question *q, const candidate_passage *p, const text_unit *u) {
    const char *asked = q->text.text, *text = p->text.text;
    const size_t n = q->text.len;
    const text_unit *above = heading_above(p, u);
    if (q->demands.language >= 0 || q->demands.amount != AMOUNT_MONEY ||
        demand_sum_in(asked, n, text + u->start, u->end - u->start) ||
        demand_sum_in(asked, n, text + u->head_start, u->head_end - u->head_start) ||
        (above && demand_sum_in(asked, n, text + above->start, above->end - above->start)))
        return false;
    if (u->kind == TEXT_UNIT_ROW) return row_is_other_sum(q, p, u);
    return demand_is_other_sum(asked, n, text + u->start, u->end - u->start) ||
           (demand_other_sum_in(asked, n, text + u->head_start, u->head_end - u->head_start) &&
            !demand_sum_paid_in(asked, n, text + u->start, u->end - u->start));
}

/* "Adults pay 9.50, students 6" where the fee of seniors is asked for: what others pay. */
static bool is_paid_by_others(const question *q, const candidate_passage *p, const text_unit *u) {
    const char *text = p->text.text;
    const uint16_t asked = q->people;
    if (!asked) return false;
    const uint16_t above = people_kinds_in(text + u->head_start, u->head_end - u->head_start) |
                           people_kinds_in(text + u->outer_start, u->outer_end - u->outer_start) |
                           people_kinds_in(p->title_text, strlen(p->title_text));
    return !(above & asked) && people_kinds_are_others(asked, text + u->start, u->end - u->start);
}

/* "All prices in euros, for patients who pay": it says in what they are, and none. */
static bool only_names_currency(const demands *d, const candidate_passage *p, const text_unit *u) {
    const char *s = p->text.text + u->start;
    const size_t n = u->end - u->start;
    word_token before = {0}, t;
    bool in_one = false;
    if (u->kind != TEXT_UNIT_SENTENCE || d->language >= 0 ||
        !(d->amount == AMOUNT_MONEY || d->amount == AMOUNT_EXPENSE))
        return false;
    for (size_t at = 0; (t = word_token_next(s, n, &at)).n; before = t) {
        if (demand_currency_named(&t) && !word_token_in("in", &before)) return false;
        in_one |= demand_currency_named(&t);
    }
    return in_one && demands_amount_in(d, AMOUNT_ANY, s, n) != AMOUNT_STATED &&
           !word_tokens_say("free charge", s, n);
}

/* Is the word at hand that of a fine: "a fine of 150 euros", "fined", "the penalty"? "A fine red at 34 euros" is none. */
static bool is_a_fine(const word_token *further, const word_token *before, const word_token *t) {
    return word_token_in("fined penalty", t) ||
           (word_token_in("fine", before) && word_token_in("a the", further) &&
            (word_token_in("of is", t) || !t->letters));
}

/* Does a sentence speak of a fine, with no other sum: no number but a year before it, and one with a currency at most? */
static bool says_only_a_fine(const char *s, size_t n) {
    word_token further = {0}, before = {0}, t;
    bool fine = false;
    size_t sums = 0;
    for (size_t at = 0; (t = word_token_next(s, n, &at)).n; further = before, before = t) {
        fine |= is_a_fine(&further, &before, &t);
        if (t.digits && !fine && !word_token_year(&t)) return false;
        sums += (before.digits && demand_currency_named(&t)) ||
                (t.digits && demand_currency_sign(&before));
    }
    return fine && sums <= 1;
}

/* "What does the plant cost?": not the fine for picking it, where that is the only sum. Who asks what something costs that is not to
 * be done, "parking without a ticket", asks for it. */
static bool states_a_fine(const question *q, const candidate_passage *p, const text_unit *u) {
    const char *asked = q->text.text, *s = p->text.text + u->start;
    const size_t n_asked = q->text.len, n = u->end - u->start;
    if (u->kind != TEXT_UNIT_SENTENCE || q->demands.language >= 0 ||
        !(q->demands.amount == AMOUNT_MONEY || q->demands.amount == AMOUNT_EXPENSE) ||
        !says_only_a_fine(s, n) ||
        word_tokens_say("fine fines fined penalty penalties", asked, n_asked) ||
        word_tokens_say(
            "without if when late lost lose losing break broke broken forget forgot damage "
            "damaged not illegal illegally caught punishment after over to",
            asked, n_asked))
        return false;
    for (size_t at = 0;;) { /* "picking it" */
        const word_token t = word_token_next(asked, n_asked, &at);
        if (!t.n) return true;
        if (t.n > 5 && !strncasecmp(t.s + t.n - 3, "ing", 3)) return false;
    }
}

/* How far the unit lacks the amount that is demanded, 0 to 1. It may stand in what the unit hangs on (a column's
 * name); what the numbers of a table are is seldom said in each row. */
static double amount_lacking(const candidate_set *set, const candidate_passage *p,
                             const text_unit *u) {
    static const double perhaps = 0.5, other_things = 0.375;
    const demands *d = &set->q.demands;
    const enum demand_amount amount = d->amount;
    const char *text = p->text.text;
    const bool row = u->kind == TEXT_UNIT_ROW;
    enum amount_stated stated = stated_by(p, &set->q, u);
    if (stated != AMOUNT_STATED && row &&
        demands_amount_in(d, AMOUNT_ANY, text + u->start, u->end - u->start) == AMOUNT_STATED &&
        (demands_amount_column_in(d, text + u->start, u->end - u->start) ||
         demands_amount_column_in(d, text + u->head_start, u->head_end - u->head_start)))
        stated = AMOUNT_STATED;
    if (u->record && amount != AMOUNT_NONE && amount != AMOUNT_LONG && amount != AMOUNT_OFTEN &&
        row_only_labels(text + u->start, u->end - u->start))
        return 1;
    const enum demand_dimension dimension = d->dimension;
    if (amount == AMOUNT_ANY &&
        !demand_dimension_in(dimension, text + u->start, u->end - u->start) &&
        !demand_dimension_in(dimension, text + u->head_start, u->head_end - u->head_start))
        return demand_dimension_is_named(dimension) ? 2 : 1;
    if (stated == AMOUNT_NOT_STATED && amount == AMOUNT_MONEY && !row &&
        !says_a_share(text + u->start, u->end - u->start))
        return 2; /* "She gets a yearly rent": the price itself is named, and is not said */
    if (stated == AMOUNT_NOT_STATED || (row && row_is_counted(set, p, u))) return 1;
    if (row && row_is_of_sums(&set->q, p, u)) return 2;
    if (row_states_no_price(&set->q, p, u) || names_other_sum(&set->q, p, u)) return 1;
    if (only_names_currency(d, p, u) || states_a_fine(&set->q, p, u)) return 1;
    if (counts_others(&set->q, p, u)) return 1;
    if (p->uncounted) return row ? 1 : other_things; /* a row's columns say what they count */
    return stated == AMOUNT_PERHAPS ? perhaps : 0;
}

/* "Exit codes" above a table of codes is said of all its rows; where it stands in a passage before, the caller's heading says it. */
static bool has_detail_above(const demands *d, const candidate_passage *p, const text_unit *u) {
    const text_unit *above = heading_above(p, u);
    if (d->detail != DETAIL_EXIT || u->kind != TEXT_UNIT_ROW) return false;
    return above ? demands_detail_in(d, p->text.text + above->start, above->end - above->start)
                 : demands_detail_in(d, p->heading, strlen(p->heading));
}

/* "The exit status of timeout when the time is up": "exit with the same status as COMMAND" says of none which it is. */
static bool states_no_status(const demands *d, const candidate_passage *p, const text_unit *u) {
    const char *s = p->text.text + u->start;
    const size_t n = u->end - u->start;
    return d->detail == DETAIL_EXIT && !fo_has_digit(s, n) &&
           !word_tokens_say("zero nonzero one two success successful successfully failure", s, n);
}

static bool lacks_detail(const question *q, const candidate_passage *p, const text_unit *u) {
    const demands *d = &q->demands;
    const char *text = p->text.text, *letters;
    if (d->detail == DETAIL_KEPT && !p->command) return false; /* data may be kept anywhere */
    if (d->detail == DETAIL_LETTERS) {
        const size_t n = demand_letters_of(q->text.text, q->text.len, &letters);
        return n && !demand_letters_in(letters, n, text + u->start, u->end - u->start);
    }
    if (states_no_status(d, p, u)) return true;
    if (d->detail == DETAIL_PHONE && d->language < 0 &&
        demand_phone_is_another(q->text.text, q->text.len, text + u->start, u->end - u->start))
        return true;
    return !has_detail_above(d, p, u) &&
           !demands_detail_in(d, text + u->start, u->end - u->start) &&
           !demand_detail_may_be(d->detail, text + u->start, u->end - u->start) &&
           !demands_detail_in(d, text + u->head_start, u->head_end - u->head_start);
}

/* What other items of a list state, the time of the harvest assembly, is not stated of the one that is asked about: does the item
 * that says most of the question lack what is demanded? */
static bool item_lacks(const candidate_set *set, const candidate_passage *p,
                       const text_unit *list) {
    static const double much =
        0.3; /* of the question; of less it is the list that is asked about */
    double most = much;
    bool lacks = false;
    if (list->kind != TEXT_UNIT_STEPS) return false;
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        if (u->kind != TEXT_UNIT_ITEM || u->start < list->start || u->end > list->end) continue;
        const double share = question_share(&set->q, candidate_terms(p, u->start, u->end));
        if (share < most) continue;
        const bool this_lacks = lacks_detail(&set->q, p, u) || amount_lacking(set, p, u) >= 1;
        lacks = share > most ? this_lacks : lacks && this_lacks;
        most = share;
    }
    return lacks;
}

/* ---- titles ------------------------------------------------------------------------------ */

/* Is the last line of it, or the one behind it, drawn below a title? */
static bool is_underlined(const char *text, size_t len, size_t start, size_t end) {
    size_t line = end;
    while (line > start && text[line - 1] != '\n') line--;
    if (unit_is_drawn(text + line, end - line)) return true;
    if (end >= len || text[end] != '\n') return false;
    const char *next = text + end + 1, *stop = memchr(next, '\n', len - end - 1);
    return unit_is_drawn(next, stop ? (size_t)(stop - next) : len - end - 1);
}

/* What a document or a section is called: a heading, a line that is underlined, what a document begins with and is no sentence. */
static bool is_title(const candidate_passage *p, const candidate *c) {
    enum { MOST_WORDS = 14 };
    const text_unit *u = &c->unit;
    const char *text = p->text.text;
    if (u->kind == TEXT_UNIT_HEADING) return true;
    uint32_t end = u->end; /* "... in the cold.[7]", "... (see below.)" end a sentence */
    while (end > u->start && strchr(")]\"'*_0123456789[", text[end - 1])) end--;
    if (u->kind != TEXT_UNIT_SENTENCE || end == u->start || strchr(".!?:;", text[end - 1]))
        return false;
    if (is_underlined(text, p->text.len, u->start, u->end)) return true;
    const bool ends = u->end == p->text.len || text[u->end] == '\n';
    return p->text.before == 0 && c->w0 == 0 && ends && c->w1 - c->w0 <= MOST_WORDS;
}

static bool says_who(const char *text, size_t len) {
    return memchr(text, ':', len) || word_tokens_say("by von vom par por per da di", text, len);
}

static bool says_where(const candidate_passage *p, const candidate *c) {
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (p->text.words[i].flags & WORD_PLACE) return true;
    return memchr(p->text.text + c->unit.start, ',', c->unit.end - c->unit.start) != NULL;
}

/* A title answers who asks for a value only where it states one: its numbers number something ("GS 640"), and its capitals are its
 * own. `lacking`: of the amount or the detail that is demanded. */
static bool is_only_a_title(const candidate_set *set, const candidate_passage *p,
                            const candidate *c, double lacking) {
    const question *q = &set->q;
    const enum demand_amount amount = q->demands.amount;
    const bool number = amount == AMOUNT_ANY || amount == AMOUNT_COUNT;
    const text_unit *u = &c->unit;
    if (!is_title(p, c)) return false;
    if (number) return !says_how_many(p, u->start, u->end);
    if (amount != AMOUNT_NONE || (q->demands.detail != DETAIL_NONE && q->kind != ASK_TIME))
        return lacking > 0;
    switch (q->kind) {
    case ASK_NUMBER:
        return !says_how_many(p, u->start, u->end);
    case ASK_TIME:
        return c->f[CAND_TYPE] < 1;
    case ASK_PERSON:
        return !says_who(p->text.text + u->start, u->end - u->start);
    case ASK_PLACE:
        return !says_where(p, c);
    case ASK_NAME:
    case ASK_REASON:
    case ASK_OTHER:
        return false;
    }
    return false;
}

/* ---- reasons, and all of them ------------------------------------------------------------------------- */

/* "Why is desk 4 wet?" is not answered by "Desk 4 stays shut until the floor is dry": most of the question's words, and little
 * else or nothing that gives a reason. Counted on people's questions: docs/measurements/answers.md. */
static bool restates(const candidate_set *set, const candidate_passage *p, const candidate *c) {
    enum { MOST_FIFTHS = 3, FEW_WORDS = 4 };
    const question *q = &set->q;
    if (!q->demands.reason) return false;
    size_t said = 0, others = 0;
    for (size_t k = 0; k < q->n_terms; k++) said += c->set >> k & 1;
    for (uint32_t i = c->w0; i < c->w1; i++)
        others += p->terms[i] < 0 && !(p->text.words[i].flags & WORD_STOP);
    if (said * 5 < q->n_terms * MOST_FIFTHS) return false;
    const enum reason_given given =
        demands_reason_in(&q->demands, p->text.text + c->unit.start, c->unit.end - c->unit.start);
    const bool by_words =
        given == REASON_NONE && q->n_terms > 2; /* "Why do I get 429?" says too little */
    return by_words || (given != REASON_GIVEN && others < FEW_WORDS);
}

/* ---- days and months --------------------------------------------------------------------------------- */

typedef enum demand_day say_when_fn(const demands *d, const char *text, size_t len);

/* By itself, or else by what it hangs on. */
static enum demand_day when_of(const demands *d, say_when_fn *say, const candidate_passage *p,
                               const text_unit *u) {
    const char *text = p->text.text;
    enum demand_day when = say(d, text + u->start, u->end - u->start);
    if (when == DAY_NOT_SAID) when = say(d, text + u->head_start, u->head_end - u->head_start);
    if (when == DAY_NOT_SAID) when = say(d, text + u->outer_start, u->outer_end - u->outer_start);
    return when;
}

/* "4.2.1 (12 February 2026)" says when all was changed that stands below it, under "Fixed" too. */
static bool is_of_a_dated_version(const candidate_passage *p, const text_unit *u) {
    bool dated = false;
    date_said said;
    for (size_t i = 0; i < p->units.n && p->units.v[i].start < u->start; i++) {
        const text_unit *h = &p->units.v[i];
        const char *s = p->text.text + h->start;
        const size_t n = h->end - h->start;
        if (h->kind == TEXT_UNIT_HEADING && !dated_heading_of_changes(s, n))
            dated = dated_heading_of_version(s, n) && dated_heading_says(s, n, &said);
    }
    return dated;
}

/* Is it asked when something happens, and neither the unit nor what stands above it says any time? */
static bool lacks_time(const question *q, const candidate_passage *p, const text_unit *u) {
    const char *text = p->text.text;
    const text_unit *above = heading_above(p, u);
    const bool heads = u->head_kind == TEXT_UNIT_HEADING;
    const char *head = text + u->head_start;
    const size_t n_head = u->head_end - u->head_start;
    return q->demands.when && !demand_when_in(text + u->start, u->end - u->start) &&
           !(heads ? demand_when_named(head, n_head) : demand_when_in(head, n_head)) &&
           !demand_when_named(text + u->outer_start, u->outer_end - u->outer_start) &&
           !(above && demand_when_named(text + above->start, above->end - above->start)) &&
           !demand_when_named(p->heading, strlen(p->heading)) &&
           !demand_when_named(p->title_text, strlen(p->title_text)) && !is_of_a_dated_version(p, u);
}

static bool says_year(const char *word, size_t n, uint16_t year) {
    size_t at = 0;
    const word_token t = word_token_next(word, n, &at);
    return word_token_year(&t) == year;
}

/* "On Mon, 9 Mar 2026, Bo wrote:" above what a mail quotes. */
static bool is_attribution(const char *s, size_t n) {
    return n && s[n - 1] == ':' && fo_has_digit(s, n) && word_tokens_say("wrote", s, n);
}

/* Has the mail a line "Subject:" with a number? */
static bool subject_has_number(const char *s, size_t n) {
    const char *subject = memmem(s, n, "Subject:", 8);
    if (!subject) return false;
    const char *end = memchr(subject, '\n', n - (size_t)(subject - s));
    return fo_has_digit(subject, (size_t)((end ? end : s + n) - subject));
}

/* "When is the reunion?", "Where is it?": the lines that a mail begins with say when it was sent, by whom and to whom. What happened,
 * "When did she write?", they may tell. English. */
static bool only_says_when_sent(const question *q, const candidate_passage *p, const text_unit *u) {
    static const char of_mails[] =
        "did was were has have had sent send mail mails email emails message messages "
        "letter wrote written write post posted reply replied answered received thread dated";
    const char *s = p->text.text + u->start;
    const size_t n = u->end - u->start;
    return (u->mail || is_attribution(s, n)) && (q->kind == ASK_TIME || q->kind == ASK_PLACE) &&
           q->demands.language < 0 && !word_tokens_say(of_mails, q->text.text, q->text.len) &&
           !subject_has_number(s, n);
}

uint64_t unit_demands_calendar(const question *q, const candidate_passage *p, const text_unit *u) {
    const demands *d = &q->demands;
    const bool year = demand_year_is_bounded(d->year, p->text.text + u->start, u->end - u->start);
    if (!d->days && !d->months && !year) return 0;
    const bool day = d->days && when_of(d, demands_day_in, p, u) == DAY_MET,
               month = d->months && when_of(d, demands_month_in, p, u) == DAY_MET;
    uint64_t terms = 0;
    for (size_t i = 0; (day || month || year) && i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const size_t n = w->end - w->start;
        const char *word = q->text.text + w->start;
        const int k = question_term_of(q, w->id);
        if (k < 0) continue;
        const bool names_day =
            d->language >= 0 ? foreign_day_named(d->language, word, n) : demand_day_named(word, n);
        if (year && says_year(word, n, d->year)) terms |= 1ull << k;
        if (!(names_day || (w->flags & WORD_CALENDAR))) continue;
        if (names_day ? day : month) terms |= 1ull << k;
    }
    return terms;
}

/* Texts in Arabic alone: others state bounds as value_bounds.h reads them. */
static arabic_numbered numbered_by(const question *q) {
    return language_is(q->demands.language, "arabic")
               ? arabic_numbered_in(q->text.text, q->text.len)
               : (arabic_numbered){0};
}

uint64_t unit_demands_number(const question *q, const candidate_passage *p, const text_unit *u) {
    const arabic_numbered x = numbered_by(q);
    uint64_t terms = 0;
    if (arabic_range_in(&x, p->text.text + u->start, u->end - u->start) != RANGE_HOLDS) return 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && w->start >= x.start && w->end <= x.end) terms |= 1ull << k;
    }
    return terms;
}

bool unit_demands_other_number(const question *q, const candidate_passage *p, const text_unit *u) {
    const arabic_numbered x = numbered_by(q);
    return arabic_range_in(&x, p->text.text + u->start, u->end - u->start) == RANGE_OTHER;
}

void unit_demands_measure(const candidate_set *set, const candidate_passage *p, candidate *c) {
    const demands *d = &set->q.demands;
    const text_unit *u = &c->unit;
    const char *text = p->text.text;
    c->f[CAND_NO_AMOUNT] = amount_lacking(set, p, u);
    c->f[CAND_NO_AMOUNT] = fmax(c->f[CAND_NO_AMOUNT], unit_person_lacking(&set->q, p, u));
    c->empty_cell = row_has_empty_cell(&set->q, p, u);
    if (c->empty_cell || lacks_detail(&set->q, p, u) || item_lacks(set, p, u) ||
        unit_is_of_another_version(&set->q, p, u) || only_says_when_sent(&set->q, p, u) ||
        row_lacks_column(set, p, u) || lacks_time(&set->q, p, u))
        c->f[CAND_NO_AMOUNT] = 2; /* an address has its signs: what lacks them is none */
    if (c->f[CAND_NO_AMOUNT] < 2 && is_only_a_title(set, p, c, c->f[CAND_NO_AMOUNT]))
        c->f[CAND_NO_AMOUNT] = 2;
    bool hangs = u->head_kind != TEXT_UNIT_HEADING; /* "Working on it" above it is no place */
    c->f[CAND_NO_PLACE] =
        u->kind != TEXT_UNIT_ROW && !demands_place_in(d, text + u->start, u->end - u->start) &&
        !(hangs && demands_place_in(d, text + u->head_start, u->head_end - u->head_start));
    if (unit_label_is_placed(&set->q, p, u)) c->f[CAND_NO_PLACE] = -0.5;
    if (is_paid_by_others(&set->q, p, u)) c->f[CAND_NO_AMOUNT] = 2;
    c->f[CAND_RESTATED] = restates(set, p, c);
    enum demand_day day = when_of(d, demands_day_in, p, u);
    const text_unit *above =
        d->days && day == DAY_NOT_SAID && u->kind == TEXT_UNIT_ROW ? heading_above(p, u) : NULL;
    if (above) /* the programme of a day is a table below it */
        day = demands_day_in(d, text + above->start, above->end - above->start);
    const int of_date = row_of_date(set, p, u);
    if (of_date) day = of_date > 0 ? DAY_MET : DAY_OTHER;
    c->f[CAND_DAY] = day == DAY_MET;
    const enum demand_day month = when_of(d, demands_month_in, p, u);
    c->f[CAND_OTHER_DAY] = day == DAY_OTHER || (day == DAY_NOT_SAID && p->other_days) ||
                           month == DAY_OTHER || (p->other_year && day != DAY_MET);
}
