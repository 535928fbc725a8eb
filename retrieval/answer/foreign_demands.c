#include "retrieval/answer/foreign_demands.h"

#include <string.h>

enum {
    MOST = 64,       /* words of a question that are looked at */
    FIRST = 4,       /* a word for "what" stands among the first few */
    NEAR = 6,        /* words between what asks and what is asked for */
    MOST_COUNTED = 3 /* words for what is counted */
};

typedef struct asked {
    const demand_words *w;
    struct {
        char folded[DEMAND_WORD_MOST];
        word_token t;
        bool comma; /* ... stands before it */
    } v[MOST];
    size_t n;
} asked;

/* Apostrophes, hyphens and the like stand between words. */
static void read_words(asked *a, const char *question, size_t len) {
    bool comma = false;
    for (size_t at = 0; a->n < MOST;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return;
        comma |= word_token_is(&t, ",");
        if (!t.letters && !t.digits) continue;
        a->v[a->n].t = t;
        a->v[a->n].comma = comma;
        demand_word_fold(a->v[a->n++].folded, &t);
        comma = false;
    }
}

static bool is(const asked *a, size_t i, const char *list) {
    return i < a->n && demand_word_in(list, a->v[i].folded);
}

/* Is one of words [from, end) in the list? */
static bool among(const asked *a, size_t from, size_t end, const char *list) {
    for (size_t i = from; i < end; i++)
        if (is(a, i, list)) return true;
    return false;
}

static bool sum_among(const asked *a, size_t from, size_t end) {
    for (size_t i = from; i < end && i < a->n; i++)
        if (demand_word_is_sum(a->w, a->v[i].folded)) return true;
    return false;
}

/* One past the clause that word i is of. */
static size_t clause_end(const asked *a, size_t i) {
    while (++i < a->n && !a->v[i].comma) {
    }
    return i;
}

/* Is it written with an accent, as the word that asks is, and "cuando" that joins is not? */
static bool is_accented(const asked *a, size_t i) {
    return a->v[i].t.n > strlen(a->v[i].folded);
}

/* "When", "who" that ask, which join clauses as well: at the beginning, behind a preposition, with an accent. */
static bool asks_here(const asked *a, size_t i) {
    return a->w->joins || i == 0 || is_accented(a, i) || is(a, i - 1, a->w->until);
}

/* ---- details ----------------------------------------------------------------------------- */

static bool asks_what_or_how(const asked *a, size_t i) {
    return is(a, i, a->w->what) || is(a, i, a->w->how);
}

static enum demand_detail address_at(const asked *a, size_t i, bool how) {
    const demand_words *w = a->w;
    const bool mail = is(a, i, w->mail) && !is(a, i - 1, w->calls);
    if (mail) return DETAIL_MAIL;
    if (is(a, i, w->phone)) return DETAIL_PHONE;
    /* "Wie ist Ihre Nummer?"; which one something has may be another number */
    if (is(a, i, w->number) && (how || among(a, 0, a->n, w->calls))) return DETAIL_PHONE;
    return is(a, i, w->web) ? DETAIL_WEB : DETAIL_NONE;
}

/* "Wie lautet die Telefonnummer?", "Quel numéro appeler ?" What is done with a telephone is another question. */
static enum demand_detail address_of(const asked *a) {
    for (size_t i = 0; i < FIRST; i++) {
        if (!asks_what_or_how(a, i)) continue;
        for (size_t k = i + 1; k < a->n; k++) {
            const enum demand_detail d = address_at(a, k, is(a, i, a->w->how));
            if (d != DETAIL_NONE) return d;
            if (!is(a, k, a->w->between) && !is(a, k, a->w->number)) break;
        }
        return DETAIL_NONE;
    }
    return DETAIL_NONE;
}

static bool asks_clock(const asked *a) {
    const demand_words *w = a->w;
    for (size_t i = 0; i + 1 < a->n; i++) {
        const bool two = is(a, i, w->how) && is(a, i + 1, w->behind_much);
        if ((two && is(a, i + 2, w->clock)) ||
            ((is(a, i, w->what) || is(a, i, w->much)) && is(a, i + 1, w->clock)))
            return true;
    }
    return false;
}

static enum demand_detail detail_of(const asked *a) {
    const demand_words *w = a->w;
    if (asks_clock(a)) return DETAIL_CLOCK;
    for (size_t i = 0; i < a->n; i++) {
        if (is(a, i, w->when) && asks_here(a, i)) return DETAIL_WHEN;
        if (is(a, i, w->what) && i < FIRST && is(a, i + 1, w->day)) return DETAIL_WHEN;
        if (i == 0 && is(a, i, w->who) && is(a, i + 1, w->office)) return DETAIL_PERSON;
    }
    return address_of(a);
}

/* ---- amounts ----------------------------------------------------------------------------- */

/* The word behind "how much" or "how many", and whether it is how many; 0: nothing asks so. */
static size_t behind_quantity(const asked *a, bool *many) {
    const demand_words *w = a->w;
    for (size_t i = 0; i < a->n; i++) {
        const bool one = is(a, i, w->much) || is(a, i, w->many),
                   two = is(a, i, w->how) &&
                         (is(a, i + 1, w->behind_much) || is(a, i + 1, w->behind_many));
        if (!one && !two) continue;
        *many = one ? is(a, i, w->many) : is(a, i + 1, w->behind_many);
        if (i > 0 && is(a, i - 1, w->each)) return 0;
        size_t k = i + (one ? 1 : 2);
        if (!is(a, k, w->of)) return k;
        *many = true; /* "combien de" */
        return k + 1;
    }
    return 0;
}

/* What is counted: the last of a few words before the verb in German, else the first, where adjectives stand behind it. */
static size_t counted_at(const asked *a, size_t k) {
    size_t last = k;
    for (size_t i = k; a->w->joins && i < a->n && i < k + MOST_COUNTED; i++) {
        if (is(a, i, a->w->verbs) || a->v[i].t.digits) break;
        last = i;
    }
    return last;
}

static enum demand_amount of_noun(const asked *a, size_t i) {
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

/* "Wie viel zahlt ein Kind?", "¿Cuánto es la tasa?", "¿Cuánto ruido hace?", "Combien de temps dure-t-il ?" */
static enum demand_amount of_quantity(const asked *a, size_t k, bool many, size_t *counted) {
    const demand_words *w = a->w;
    if (is(a, k, w->lasting)) return AMOUNT_LONG;
    if (is(a, k, w->loud)) return AMOUNT_LOUDNESS;
    if (is(a, k, w->currencies) || is(a, k, "geld argent dinero denaro soldi dinheiro"))
        return AMOUNT_MONEY;
    if (many) {
        const size_t noun = counted_at(a, k);
        if (is(a, noun, w->lengths)) return AMOUNT_LENGTH;
        if (noun >= a->n || is(a, noun, w->often)) return AMOUNT_ANY;
        *counted = (size_t)(a->v[noun].t.s - a->v[0].t.s);
        return AMOUNT_COUNT;
    }
    if (among(a, 0, clause_end(a, k), w->spends)) return AMOUNT_MONEY;
    if (is(a, k, w->heavy) || is(a, k + 1, w->heavy)) return AMOUNT_WEIGHT;
    if (is(a, k, w->extent)) return AMOUNT_LENGTH;
    return sum_among(a, k, k + NEAR) ? AMOUNT_MONEY : AMOUNT_ANY;
}

/* "Wie teuer", "wie hoch ist der Beitrag", "wie schwer" */
static enum demand_amount of_adjective(const asked *a, size_t k) {
    const demand_words *w = a->w;
    if (is(a, k, w->dear)) return AMOUNT_MONEY;
    if (!is(a, k, w->high)) return of_noun(a, k);
    for (size_t i = k + 1; i < k + NEAR && i < a->n; i++) {
        const enum demand_amount kind = of_noun(a, i);
        if (kind == AMOUNT_MONEY || kind == AMOUNT_WEIGHT || kind == AMOUNT_TEMPERATURE)
            return kind;
    }
    return AMOUNT_ANY;
}

/* "Was kostet es?", "Was muss ich zahlen?", "¿Qué precio tiene?", "Quel est le tarif ?" */
static enum demand_amount of_what(const asked *a, size_t i) {
    const demand_words *w = a->w;
    const bool does = is(a, i, w->what_does);
    if (does && is(a, i + 1, w->spends)) return AMOUNT_MONEY;
    if (does && is(a, i + 1, w->must) && among(a, i, clause_end(a, i), w->spends))
        return AMOUNT_MONEY;
    if (!is(a, i, w->what)) return AMOUNT_NONE;
    size_t k = i + 1;
    while (k < i + NEAR && is(a, k, w->between)) k++;
    return of_noun(a, k);
}

static enum demand_amount amount_of(const asked *a, size_t *counted) {
    bool many = false;
    const size_t k = behind_quantity(a, &many);
    if (k) return of_quantity(a, k, many, counted);
    for (size_t i = 0; i < a->n; i++) {
        const enum demand_amount kind = is(a, i, a->w->how)          ? of_adjective(a, i + 1)
                                        : i < FIRST || a->v[i].comma ? of_what(a, i)
                                                                     : AMOUNT_NONE;
        if (kind != AMOUNT_NONE) return kind;
    }
    return AMOUNT_NONE;
}

foreign_demands foreign_demands_read(const demand_words *w, const char *question, size_t len) {
    foreign_demands out = {0};
    asked a = {.w = w};
    read_words(&a, question, len);
    if (!a.n) return out;
    out.detail = detail_of(&a);
    if (out.detail != DETAIL_NONE) return out;
    out.amount = amount_of(&a, &out.counted);
    if (out.counted) out.counted += (size_t)(a.v[0].t.s - question);
    return out;
}
