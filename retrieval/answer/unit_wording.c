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
        const fact_word *w = &t->words[i];
        if (p->terms[i] >= 0) in |= 1ull << p->terms[i];
        if (!fo_words_have_any_case(exclusions, t->text + w->start, w->end - w->start)) continue;
        const size_t end = exclusion_end(t, &s, i);
        for (i++; i < end; i++)
            if (p->terms[i] >= 0) out |= 1ull << p->terms[i];
        i = end - 1;
    }
    return (out & ~in) != 0;
}

/* ---- labels ------------------------------------------------------------------------------ */

/* Bytes of "Needles and blades" in "Needles and blades: yellow box"; 0: it begins with no label. */
static size_t label_of(const char *s, size_t n) {
    enum { LONGEST = 48, MOST_WORDS = 5 };
    size_t words = 1;
    for (size_t i = 0; i + 2 < n && i < LONGEST && words <= MOST_WORDS; i++) {
        if (s[i] == ':' && fo_is_blank(s[i + 1])) return i;
        if (strchr(".;!?|\"\n", s[i])) return 0;
        words += s[i] == ' ';
    }
    return 0;
}

bool unit_label_is_placed(const question *q, const candidate_passage *p, const text_unit *u) {
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
        const size_t label = label_of(text + at, end - at);
        if (label && candidate_terms_at(p, text + at, label) == said &&
            !candidate_terms_at(p, text + at + label, end - at - label) &&
            demands_place_in(&q->demands, text + at + label + 1, end - at - label - 1))
            return true;
        at = end + 1;
        while (at < u->end && fo_is_blank(text[at])) at++;
    }
    return false;
}
