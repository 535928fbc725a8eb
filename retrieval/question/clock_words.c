#include "retrieval/question/clock_words.h"

#include "index/sparse/language.h"
#include "retrieval/question/demand_words.h"
#include "retrieval/text/fact_classes.h"
#include "retrieval/text/facts.h"

/* As demand_word_fold has them. */
typedef struct clock_table {
    const char *language;
    const char *named;  /* times that have a name, in one word or two: "meio dia" */
    const char *before; /* a number in words behind one of these is an hour */
    const char *parts;  /* ... and behind a number, or before it, parts of an hour and of the day */
    const char *others; /* behind such a number: it counts something else */
    bool one;           /* "la una" is an hour: else that number is an article */
} clock_table;

/* clang-format off */
static const clock_table tables[] = {
    {"german", "mittag mitternacht", "um gegen ab bis vor nach kurz punkt", "halb viertel dreiviertel uhr", "tage tagen wochen monate monaten jahre jahren euro personen prozent meter metern kilometer stunden minuten mal", false},
    {"french", "midi minuit", "", "heures heure", "", false},
    {"spanish", "mediodia medianoche", "las la", "media cuarto", "primeras ultimas partes cosas veces personas casas puertas", true},
    {"italian", "mezzogiorno mezzanotte", "alle all dalle dall le l ore", "mezza mezzo quarto", "parti persone volte cose prime ultime settimane", true},
    {"portuguese", "meia-noite meio-dia", "as a das", "meia quarto horas", "pessoas vezes partes coisas primeiras ultimas semanas", false},
    {"russian", "полдень полночь полудня полуночи", "", "часов часа час вечера утра дня ночи", "", false},
};
/* clang-format on */

static const clock_table *table_of(int language) {
    return LANGUAGE_ROW(tables, language);
}

typedef struct clock_word {
    word_token t;
    char folded[DEMAND_WORD_MOST];
    bool number, article; /* in words; ... which is an article too */
} clock_word;

static clock_word word_at(int language, const char *text, size_t len, size_t *at) {
    clock_word w = {.t = word_token_next(text, len, at)};
    demand_word_fold(w.folded, &w.t);
    w.number = w.t.letters && (fact_class_of(language, w.t.s, w.t.n) & WORD_NUMERAL);
    w.article = w.number && demand_word_in(demand_words_of(language)->articles, w.folded);
    return w;
}

/* "В половине седьмого" */
static bool is_half_past(const clock_word *a, const clock_word *b) {
    return demand_word_in("половине половина пол", a->folded) && b->folded[0] &&
           demand_word_ends("ого его", b->folded);
}

/* "Meio-dia", "meia noite" */
static bool is_named_in_two(const clock_word *a, const clock_word *b) {
    return (demand_word_in("meio", a->folded) && demand_word_in("dia", b->folded)) ||
           (demand_word_in("meia", a->folded) && demand_word_in("noite", b->folded));
}

bool clock_words_in(int language, const char *text, size_t len) {
    const clock_table *c = table_of(language);
    clock_word before = {0}, now = {0};
    size_t at = 0;
    if (!c) return false;
    now = word_at(language, text, len, &at);
    while (now.t.n) {
        clock_word next = word_at(language, text, len, &at);
        if (word_token_is_dash(&next.t)) next = word_at(language, text, len, &at);
        const bool part = demand_word_in(c->parts, next.folded) ||
                          demand_word_in(c->parts, before.folded),
                   hour = demand_word_in(c->before, before.folded) && (c->one || !now.article) &&
                          !demand_word_in(c->others, next.folded);
        if (demand_word_in(c->named, now.folded) || is_named_in_two(&now, &next) ||
            is_half_past(&now, &next) || (now.number && (part || hour)))
            return true;
        before = now;
        now = next;
    }
    return false;
}
