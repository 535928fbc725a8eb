#include "retrieval/question/foreign_asked.h"

void foreign_asked_read(asked *a, const demand_words *w, const char *question, size_t len) {
    bool comma = false;
    *a = (asked){.w = w};
    for (size_t at = 0; a->n < FOREIGN_ASKED_MOST;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return;
        comma |= word_token_is(&t, ",") || word_token_is(&t, "\xC2\xBF");
        if (!t.letters && !t.digits) continue;
        a->v[a->n].t = t;
        a->v[a->n].comma = comma;
        demand_word_fold(a->v[a->n++].folded, &t);
        comma = false;
    }
}

enum demand_amount foreign_asked_measure(const asked *a, size_t i) {
    const demand_words *w = a->w;
    if (i >= a->n) return AMOUNT_NONE;
    if (demand_word_is_sum(w, a->v[i].folded)) return AMOUNT_MONEY;
    if (is(a, i, w->heavy)) return AMOUNT_WEIGHT;
    if (is(a, i, w->warm)) return AMOUNT_TEMPERATURE;
    if (is(a, i, w->loud)) return AMOUNT_LOUDNESS;
    if (is(a, i, w->extent)) return AMOUNT_LENGTH;
    if (is(a, i, w->lasting)) return AMOUNT_LONG;
    return is(a, i, w->size) ? AMOUNT_ANY : AMOUNT_NONE;
}
