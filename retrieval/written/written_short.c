#include "retrieval/written/written_short.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/demands.h"
#include "retrieval/text/facts.h"
#include "retrieval/units/table_row.h"
#include "retrieval/text/word_tokens.h"

/* ---- cells ------------------------------------------------------------------------------- */

/* Words behind a figure that the column's name or the heading above the table says once for all. */
static const char units[] =
    "euro euros eur dollar dollars usd pound pounds gbp franc francs chf kr crowns percent pieces "
    "items hours minutes days each";

typedef struct texts {
    fact_text question, answer, cell;
} texts;

/* Do all words of the answer stand in the value, but units of what is a figure there? And is it more than a scrap of it? */
static bool is_value(const texts *t, const fact_text *value) {
    size_t said = 0, in_value = 0;
    const fact_text *a = &t->answer;
    for (size_t i = 0; i < a->n_words; i++) {
        const fact_word *w = &a->words[i];
        if (w->flags & WORD_PART) continue;
        if (fact_has(value, w->id))
            said++;
        else if (fact_is_content(w) && !fact_word_in(a, i, units))
            return false;
    }
    for (size_t i = 0; i < value->n_words; i++) in_value += !(value->words[i].flags & WORD_PART);
    return said > 0 && 2 * said >= in_value;
}

/* Words of the question in the cell's name. */
static size_t asked_by_name(const fact_text *question, const fact_text *name) {
    size_t n = 0;
    for (size_t i = 0; i < name->n_words; i++)
        n += fact_is_content(&name->words[i]) && fact_has(question, name->words[i].id);
    return n;
}

static bool is_said(const fact_text *question, const fact_text *value) {
    for (size_t i = 0; i < value->n_words; i++)
        if (fact_is_content(&value->words[i]) && !fact_has(question, value->words[i].id))
            return false;
    return value->n_words > 0;
}

typedef struct cell_found {
    table_pair pair;
    size_t asked; /* asked_by_name, and 2 for the amount that is demanded */
    bool is_answer;
} cell_found;

static int read_cell(cell_found *out, texts *t, const written_short_input *in,
                     const table_pair *pair, enum demand_amount amount, fo_err *err) {
    *out = (cell_found){.pair = *pair};
    int rc = fact_text_read(&t->cell, in->analyzer, pair->value, pair->n_value, err);
    if (rc) return rc;
    const bool known = is_said(&t->question, &t->cell);
    out->is_answer = is_value(t, &t->cell) && !known;
    if (!pair->name || known) return FO_OK;
    rc = fact_text_read(&t->cell, in->analyzer, pair->name, pair->n_name, err);
    if (rc) return rc;
    out->asked = asked_by_name(&t->question, &t->cell);
    const size_t all = (size_t)(pair->value + pair->n_value - pair->name);
    if (amount != AMOUNT_NONE && demand_amount_in(amount, pair->name, all) == AMOUNT_STATED)
        out->asked += 2; /* more than a word that two columns share */
    return FO_OK;
}

/* "How much is a saddle?" is mostly asked for a price; a number alone is no kind. */
static enum demand_amount amount_demanded(const char *question) {
    const size_t len = strlen(question);
    const enum demand_amount amount = demand_amount_of(question, len);
    if (amount != AMOUNT_ANY) return amount;
    return word_tokens_say("much", question, len) ? AMOUNT_MONEY : AMOUNT_NONE;
}

static bool same_value(const table_pair *a, const table_pair *b) {
    return a->n_value == b->n_value && memcmp(a->value, b->value, a->n_value) == 0;
}

static bool is_figure(const table_pair *p) {
    for (size_t i = 0; i < p->n_value; i++)
        if (!fo_is_digit(p->value[i]) && !strchr(".,%-+", p->value[i])) return false;
    return p->n_value > 0;
}

int written_cell(enum written_verdict *verdict, fo_buf *said, const written_short_input *in,
                 fo_err *err) {
    enum { MOST_WORDS = 8 };
    *verdict = WRITTEN_OTHERWISE;
    const size_t n_lead = strlen(in->lead);
    if (!table_row_is_record(in->lead, n_lead)) return FO_OK;
    texts t = {0};
    const enum demand_amount amount = amount_demanded(in->question);
    int rc = fact_text_read(&t.question, in->analyzer, in->question, strlen(in->question), err);
    if (!rc) rc = fact_text_read(&t.answer, in->analyzer, in->answer, in->n_answer, err);
    cell_found best = {0};
    size_t most = 0, others = 0; /* cells of other values, asked for as much */
    table_pair pair, first = {0};
    for (size_t at = 0;
         !rc && t.answer.n_words <= MOST_WORDS && table_row_pair(in->lead, n_lead, &at, &pair);) {
        cell_found c;
        rc = read_cell(&c, &t, in, &pair, amount, err);
        if (c.asked > most) most = c.asked, others = 0, first = c.pair;
        others += c.asked == most && !same_value(&c.pair, &first);
        if (c.is_answer) {
            if (!best.is_answer || c.asked > best.asked) best = c;
        }
    }
    if (!rc && best.is_answer && most > 0) {
        const bool holds = best.asked == most && others == 0;
        *verdict = holds ? WRITTEN_HOLDS : WRITTEN_BESIDE;
        if (holds && is_figure(&best.pair) && best.pair.n_name) {
            fo_buf_add(said, best.pair.name, best.pair.n_name);
            fo_buf_str(said, ": ");
        }
        if (holds) fo_buf_add(said, best.pair.value, best.pair.n_value);
        if (said->failed) rc = fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    }
    fact_text_deinit(&t.question);
    fact_text_deinit(&t.answer);
    fact_text_deinit(&t.cell);
    return rc;
}

/* ---- yes and no -------------------------------------------------------------------------- */

static size_t count_denials(const char *text, size_t len) {
    static const char denies[] =
        "no not never none nothing nobody neither nor cannot forbidden prohibited closed without "
        "refused banned";
    size_t n = 0;
    bool apostrophe = false;
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return n;
        n += word_token_in(denies, &t) || (t.digits && t.n == 1 && t.s[0] == '0') ||
             (apostrophe && word_token_in("t", &t)); /* "can't" */
        apostrophe = word_token_is(&t, "'") || word_token_is(&t, "\xE2\x80\x99");
    }
}

enum written_verdict written_yes_or_no(fo_buf *said, const written_short_input *in) {
    static const char limits[] =
        "only except but unless until if when where save otherwise however though although "
        "from under over least most rather instead up";
    const size_t len = strlen(in->question), n_lead = strlen(in->lead);
    size_t at = 0;
    const word_token word = word_token_next(in->answer, in->n_answer, &at);
    const word_token behind = word_token_next(in->answer, in->n_answer, &at);
    const bool yes = word_token_in("yes", &word), bare = !behind.n || strchr(".!", behind.s[0]);
    if (!bare || !(yes || word_token_in("no", &word))) return WRITTEN_OTHERWISE;
    const demands d = demands_read(in->question, len, -1);
    const size_t denials = count_denials(in->lead, n_lead);
    const bool limited = word_tokens_say(limits, in->lead, n_lead);
    const bool compares = fo_has_digit(in->question, len) && fo_has_digit(in->lead, n_lead);
    const bool day = (d.days && !(demand_days_in(in->lead, n_lead) & d.days)) ||
                     (d.months && !(demand_months_in(in->lead, n_lead) & d.months));
    if (!d.whether || compares || day || limited || (yes ? denials > 0 : denials != 1))
        return WRITTEN_BESIDE;
    fo_buf_str(said, yes ? "Yes. " : "No. ");
    fo_buf_add(said, in->lead, n_lead);
    return WRITTEN_HOLDS;
}
