#include "retrieval/question/arabic_demands.h"

#include <string.h>

#include "retrieval/question/foreign_asked.h"

enum {
    FIRST = 6, /* "what" that asks stands among these */
    NEAR = 4,  /* words behind "how much" among which a sum may stand */
};

/* "The hour", with its article, is the time of the day, and "an hour" a length of time. */
static bool is_the_hour(const asked *a, size_t i) {
    static const char hour[] = "الساعة";
    if (i >= a->n) return false;
    const word_token *t = &a->v[i].t;
    return t->n >= sizeof hour - 1 && !memcmp(t->s, hour, sizeof hour - 1);
}

/* What a noun right behind "how much" or "what is" measures. */
static enum demand_amount of_noun(const asked *a, size_t i) {
    if (is(a, i, "درجه") && is(a, i + 1, a->w->warm)) return AMOUNT_TEMPERATURE;
    return foreign_asked_measure(a, i);
}

/* "كم سعر", "كم أدفع", "كم مدة", "كم عدد"; of other nouns a number. */
static enum demand_amount of_quantity(const asked *a, size_t k) {
    const enum demand_amount noun = of_noun(a, k);
    if (noun != AMOUNT_NONE) return noun;
    const size_t end = k + NEAR < a->n ? k + NEAR : a->n;
    if (among(a, k, end, a->w->spends)) return AMOUNT_MONEY;
    return is(a, k, a->w->happens) ? AMOUNT_LONG : AMOUNT_ANY;
}

/* Behind "what": "هو", "هي". */
static size_t behind_what(const asked *a, size_t i) {
    return i + (is(a, i + 1, a->w->be) ? 2 : 1);
}

static enum demand_amount amount_of(const asked *a) {
    const demand_words *w = a->w;
    for (size_t i = 0; i < a->n; i++) {
        if (is(a, i, w->costs)) return AMOUNT_MONEY; /* "بكم" */
        if (is(a, i, w->much)) return of_quantity(a, i + 1);
        if (i >= FIRST || !is(a, i, w->what)) continue;
        const enum demand_amount kind = of_noun(a, behind_what(a, i));
        if (kind != AMOUNT_NONE) return kind;
    }
    return AMOUNT_NONE;
}

static bool is_number_of(const asked *a, size_t i) {
    return is(a, i, a->w->phone) || (is(a, i, a->w->number) && is(a, i + 1, a->w->phone));
}

static enum demand_detail detail_of(const asked *a) {
    const demand_words *w = a->w;
    for (size_t i = 0; i < a->n; i++) {
        const bool what = i < FIRST && (is(a, i, w->what) || is(a, i, "اي"));
        const size_t k = behind_what(a, i);
        if ((what || is(a, i, w->much)) && is_the_hour(a, i + 1)) return DETAIL_CLOCK;
        if (is(a, i, "اي") && is(a, i + 1, "ساعه")) return DETAIL_CLOCK;
        if (is(a, i, w->much)) return DETAIL_NONE;
        if (is(a, i, w->when) || (what && is(a, k, w->day))) return DETAIL_WHEN;
        if (what && is_number_of(a, k)) return DETAIL_PHONE;
        if (what && is(a, k, w->mail)) return DETAIL_MAIL;
    }
    return DETAIL_NONE;
}

foreign_demands arabic_demands_read(const demand_words *w, const char *question, size_t len) {
    foreign_demands out = {0};
    asked a;
    foreign_asked_read(&a, w, question, len);
    out.detail = detail_of(&a);
    if (out.detail == DETAIL_NONE) out.amount = amount_of(&a);
    return out;
}
