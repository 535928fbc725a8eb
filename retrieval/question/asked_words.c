#include "retrieval/question/asked_words.h"

#include <string.h>
#include <strings.h>

#include "kernels/words.h"

enum {
    LEAST_STEM = 5, /* bytes of a word of which a longer one is made */
    FAR = 3,        /* words that a "not" reaches */
};

bool asked_word_is_whole(const char *word, size_t n) {
    return fo_words_have_any_case("full whole entire all complete", word, n);
}

/* "Non-members", "un-insured": the word right behind it. */
static bool denies_next(const fact_text *t, size_t i) {
    return fact_word_in(t, i, "non un");
}

/* "We're not from the parish": its terms behind a word that denies, up to the end of the clause. */
static void read_denied(asked_tier *t) {
    const fact_text *text = &t->q.text;
    size_t left = 0;
    for (size_t i = 0; i < text->n_words; i++) {
        const fact_word *w = &text->words[i];
        if (w->flags & WORD_CLAUSE) left = 0;
        t->whole |= asked_word_is_whole(text->text + w->start, w->end - w->start);
        if (w->flags & WORD_NEGATION) {
            left = FAR;
            continue;
        }
        const bool right_behind = i > 0 && denies_next(text, i - 1);
        const int k = question_term_of(&t->q, w->id);
        if ((left || right_behind) && k >= 0) {
            t->denied |= 1ull << k;
            if (right_behind || question_names_thing(text, i)) t->denied_things |= 1ull << k;
        }
        left -= left > 0;
    }
}

static int read_tier(asked_words *out, const lexicon *lx, const char *s, fo_err *err) {
    asked_tier *t = &out->tier[out->n++];
    int rc = question_read(&t->q, lx, s, strlen(s), err);
    if (!rc) read_denied(t);
    return rc;
}

int asked_words_read(asked_words *out, const lexicon *lx, const char *asked, const char *own,
                     fo_err *err) {
    const bool follows = own && strcmp(own, asked) != 0;
    int rc = follows ? read_tier(out, lx, own, err) : FO_OK;
    return rc ? rc : read_tier(out, lx, asked, err);
}

void asked_words_deinit(asked_words *w) {
    for (size_t i = 0; i < w->n; i++) question_deinit(&w->tier[i].q);
    w->n = 0;
}

/* "How much", "how many", whatever is behind it. */
static bool asks_how(const char *word, const fact_text *t) {
    word_token before = {0}, now;
    for (size_t at = 0; (now = word_token_next(t->text, t->len, &at)).n; before = now)
        if (word_token_in(word, &now) && word_token_in("how", &before)) return true;
    return false;
}

/* "And a full one?", "what about the pasta one?": of something else it asks what was asked before. */
static bool goes_on(const question *q) {
    size_t at = 0;
    const word_token first = word_token_next(q->text.text, q->text.len, &at),
                     second = word_token_next(q->text.text, q->text.len, &at);
    return word_token_in("and", &first) ||
           (word_token_in("what how", &first) && word_token_in("about", &second));
}

/* "And a full one? yearly rent half plot", "What does it cost for the kids of a class?": a sum, unless it asks who or when. */
static bool speaks_of_cost(const asked_words *w) {
    static const char costs[] = "price prices cost costs rent fee fees charge charges fare fares";
    const question *q = asked_words_whole(w);
    if ((q->kind != ASK_OTHER && q->kind != ASK_NUMBER) || q->demands.whether) return false;
    if (w->n > 1)
        return goes_on(&w->tier[0].q) && word_tokens_say(costs, q->text.text, q->text.len);
    return word_tokens_say("cost costs", q->text.text, q->text.len);
}

enum asked_money asked_words_money(const asked_words *w) {
    for (size_t i = 0; i < w->n; i++) {
        const question *q = &w->tier[i].q;
        const enum demand_amount a = q->demands.amount;
        const bool any = a == AMOUNT_NONE || a == AMOUNT_ANY;
        if (asks_how("many", &q->text)) return ASKED_NO_MONEY; /* feet, people */
        if (a == AMOUNT_MONEY) return ASKED_MONEY;
        if (a == AMOUNT_EXPENSE || (any && asks_how("much", &q->text))) return ASKED_PERHAPS;
        if (a != AMOUNT_NONE) return ASKED_NO_MONEY;
    }
    return speaks_of_cost(w) ? ASKED_PERHAPS : ASKED_NO_MONEY;
}

bool asked_words_amount(const asked_words *w) {
    for (size_t i = 0; i < w->n; i++)
        if (w->tier[i].q.demands.amount != AMOUNT_NONE) return true;
    return false;
}

/* Is one the other with more behind it? */
static bool is_made_of(const char *a, size_t n_a, const char *b, size_t n_b) {
    const size_t n = n_a < n_b ? n_a : n_b;
    return n >= LEAST_STEM && !strncasecmp(a, b, n);
}

uint64_t asked_words_in(const asked_tier *t, const fact_text *text, size_t from, size_t to) {
    const fact_text *asked = &t->q.text;
    uint64_t said = 0;
    for (size_t i = 0; i < text->n_words; i++) {
        const fact_word *w = &text->words[i];
        if (w->start < from || w->end > to) continue;
        const int k = question_term_of(&t->q, w->id);
        if (k >= 0) said |= 1ull << k;
        for (size_t j = 0; k < 0 && j < asked->n_words; j++) {
            const fact_word *a = &asked->words[j];
            const int term = question_term_of(&t->q, a->id);
            if (term >= 0 && is_made_of(text->text + w->start, w->end - w->start,
                                        asked->text + a->start, a->end - a->start))
                said |= 1ull << term;
        }
    }
    return said;
}
