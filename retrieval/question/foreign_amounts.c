#include "retrieval/question/foreign_amounts.h"

#include <string.h>

#include "index/sparse/language.h"
#include "index/sparse/stopwords.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/dates.h"
#include "retrieval/question/clock_words.h"
#include "retrieval/question/demand_words.h"
#include "retrieval/question/foreign_often.h"
#include "retrieval/text/fact_classes.h"
#include "retrieval/text/facts.h"

/* A token, folded if it is a word. */
typedef struct said {
    word_token t;
    char folded[DEMAND_WORD_MOST];
} said;

typedef struct reader_at {
    const demand_words *w;
    int language;
    const char *text;
    size_t len, at; /* behind the token `now` */
    said before, now, next;
} reader_at;

static said token_at(const reader_at *r, size_t *at) {
    said s;
    s.t = word_token_next(r->text, r->len, at);
    demand_word_fold(s.folded, &s.t);
    return s;
}

static bool step(reader_at *r) {
    r->before = r->now;
    r->now = token_at(r, &r->at);
    size_t behind = r->at;
    r->next = token_at(r, &behind);
    return r->now.t.n > 0;
}

static reader_at read_of(int language, const char *text, size_t len) {
    return (reader_at){
        .w = demand_words_of(language), .language = language, .text = text, .len = len};
}

static bool in(const char *list, const said *s) {
    return demand_word_in(list, s->folded);
}

static bool is_class(const reader_at *r, const said *s, uint32_t classes) {
    return s->t.letters && (fact_class_of(r->language, s->t.s, s->t.n) & classes);
}

static bool is_number(const reader_at *r, const said *s) {
    return s->t.digits || (is_class(r, s, WORD_NUMERAL) && !in(r->w->articles, s));
}

static bool is_currency(const reader_at *r, const said *s) {
    return demand_currency_sign(&s->t) || in(r->w->currencies, s);
}

static bool is_unit(const reader_at *r, const said *s) {
    const demand_words *w = r->w;
    return in(w->times, s) || in(w->lengths, s) || in(w->weights, s) || in(w->degrees, s) ||
           in(w->other_units, s) || in(w->hour, s) || in(w->sounds, s) ||
           word_token_is(&s->t, "%") || word_token_is(&s->t, "\xC2\xB0");
}

/* ---- numbers that count ------------------------------------------------------------------ */

/* "8:00", "19.30 h", "8 h 30", "14. März", "2026" */
static bool is_time_or_date(const reader_at *r) {
    const said *now = &r->now, *next = &r->next;
    if (word_token_year(&now->t) || word_token_is(&next->t, ":") || in(r->w->hour, next) ||
        (word_token_is(&r->before.t, ":") && r->before.t.s + 1 == now->t.s &&
         r->before.t.s > r->text && fo_is_digit(r->before.t.s[-1])) ||
        in(r->w->hour, &r->before))
        return true;
    size_t at = r->at;
    for (int i = 0; i < 2; i++) { /* "25 de abril", "14. März" */
        const said s = token_at(r, &at);
        if (s.t.letters && date_month_named(&s.t)) return true;
        if (!word_token_is(&s.t, ".") && !word_token_is(&s.t, "/") && !in("de er", &s)) break;
    }
    return false;
}

/* "4,5 тысячи рублей", "deux millions d'euros": of what is counted, the word for the thousands. */
static bool is_magnitude(const reader_at *r, const said *s) {
    static const char words[] = "tausend tsd million millionen mio milliarde milliarden mrd mille "
                                "millions milliers millier milliard milliards mil "
                                "millon millones mila milione milioni miliardo miliardi milhao "
                                "milhoes bilhao bilhoes тысяча тысячи тысяч тыс "
                                "миллион миллиона миллионов млн миллиард миллиарда миллиардов млрд";
    return in(words, s) || (s->t.letters && is_number(r, s));
}

/* The token at *at, or, behind such a word, what is so many: "d'euros". */
static said counted_behind(const reader_at *r, size_t *at) {
    said s = token_at(r, at);
    if (in("de d di", &s)) s = token_at(r, at);
    return word_token_is(&s.t, "'") ? token_at(r, at) : s;
}

/* The token behind number `now`, and behind those that it is ranged or listed with: "14 bis 18 Jahre", "10, 20 oder 50 Stück". */
static said behind_number(const reader_at *r) {
    enum { MOST_LISTED = 8 };
    size_t at = r->at;
    const bool large = r->now.t.letters && is_magnitude(r, &r->now);
    said s = large ? counted_behind(r, &at) : token_at(r, &at);
    for (int i = 0;; i++) {
        const bool joins = word_token_is_dash(&s.t) || word_token_is(&s.t, ",") ||
                           word_token_is(&s.t, "/") || in(r->w->ranges, &s);
        size_t further = at;
        const said number = token_at(r, &further);
        if (i == MOST_LISTED) return s;
        if (joins && number.t.digits) {
            at = further;
            s = token_at(r, &at);
        } else if (is_magnitude(r, &s)) {
            if (word_token_is(&number.t, ".")) at = further; /* "2 Mio. Euro" */
            s = counted_behind(r, &at);
        } else {
            return s;
        }
    }
}

/* "Platz 4", "Stellplatz 6" */
static bool is_label(const reader_at *r, const said *s) {
    return r->w->joins ? demand_word_ends(r->w->labels, s->folded) : in(r->w->labels, s);
}

/* "4. Gebühren", "## 4. Normas": the number of a section. */
static bool is_section(const reader_at *r) {
    return r->now.t.digits && (!r->before.t.n || word_token_is(&r->before.t, "#")) &&
           (word_token_is(&r->next.t, ".") || word_token_is(&r->next.t, ")"));
}

/* "E4", "A01": the digits of a name. */
static bool is_code(const reader_at *r) {
    return r->now.t.digits && r->before.t.letters && r->before.t.s + r->before.t.n == r->now.t.s;
}

/* "112-40-40", "06 12 45 78 90": three groups of figures or more, and no thousands apart ("1 200 000"). */
static bool is_of_telephone(const reader_at *r) {
    const char *from = r->now.t.s, *end = from + r->now.t.n, *last = r->text + r->len;
    size_t groups = 0;
    bool thousands = true;
    if (!r->now.t.digits) return false;
    while (from > r->text && (fo_is_digit(from[-1]) || strchr(" -/", from[-1]))) from--;
    while (end < last && *end && (fo_is_digit(*end) || strchr(" -/", *end))) end++;
    while (from < end) {
        const char *s = from;
        while (from < end && fo_is_digit(*from)) from++;
        if (from == s) {
            from++;
            continue;
        }
        thousands &= groups == 0 ? from - s <= 3 : from - s == 3;
        groups++;
    }
    return groups >= 3 && !thousands;
}

/* Does number `now` number, date or measure something else? */
static bool is_other_number(const reader_at *r) {
    return is_label(r, &r->before) || is_section(r) || is_code(r) || is_of_telephone(r) ||
           word_token_is(&r->before.t, "\xC2\xA7") ||
           word_token_is(&r->before.t, "\xE2\x84\x96") || /* the sign for "number" */
           is_time_or_date(r);
}

/* "Nur ein Koffer", "un solo perro": an article that counts. */
static bool is_single(const reader_at *r) {
    return in(r->w->articles, &r->now) &&
           (in(r->w->only, &r->before) || in(r->w->single, &r->next));
}

/* "Beliebig viele Bücher", "autant de livres", "beide": how many, without a number. */
static bool is_vague_number(const reader_at *r) {
    return in(r->w->unlimited, &r->now) || in(r->w->both, &r->now) ||
           (in("viele viel", &r->now) && in("so", &r->before));
}

/* "2 kg Kartoffeln", "100 g de pâtes": so much of what is asked for by its number. */
static bool is_amount_of_something(const reader_at *r) {
    const demand_words *w = r->w;
    return is_number(r, &r->before) &&
           (in(w->weights, &r->now) ||
            in("l ml liter litre litres litro litros litri л мл", &r->now)) &&
           r->next.t.letters && !in("pro je par por per", &r->next);
}

/* "A sala dos 5, ...", "los 12.": an article and no noun behind, of those that another sentence or everybody knows. */
static bool is_of_the_known(const reader_at *r, const said *behind) {
    return r->now.t.digits && !behind->t.letters && in("os dos das aos los las", &r->before);
}

/* "Die Wohnung hat vier Betten": no price, no time, no measure. */
static bool counts(const reader_at *r) {
    if (is_single(r) || is_vague_number(r) || is_amount_of_something(r)) return true;
    if (!is_number(r, &r->now)) return in(r->w->none, &r->now) && r->next.t.letters;
    const said behind = behind_number(r);
    return !is_other_number(r) && !is_currency(r, &r->before) && !is_currency(r, &behind) &&
           !is_unit(r, &behind) && !is_of_the_known(r, &behind);
}

/* ---- money ------------------------------------------------------------------------------- */

/* "12,50" of nothing else, "50,-" */
static bool looks_like_price(const reader_at *r) {
    const word_token *t = &r->now.t;
    if (!t->digits) return false;
    const char *comma = memchr(t->s, ',', t->n);
    if (!comma) {
        size_t at = r->at;
        if (!word_token_is(&r->next.t, ",")) return false;
        (void)token_at(r, &at);
        const said dash = token_at(r, &at);
        return word_token_is_dash(&dash.t);
    }
    return (size_t)(t->s + t->n - comma) == 3 && (!r->next.t.letters || in(r->w->per, &r->next)) &&
           !word_token_is(&r->next.t, "%");
}

/* "Zahlt 7 pro Tag", "cuesta 45.": where the text speaks of paying. */
static bool is_bare(const reader_at *r) {
    if (!r->now.t.digits || is_other_number(r)) return false;
    const said behind = behind_number(r);
    return behind.t.letters ? in(r->w->per, &behind)
                            : !word_token_is(&behind.t, "%") && !demand_currency_sign(&behind.t);
}

static bool is_share(const reader_at *r) {
    const bool percent =
        is_number(r, &r->before) && (word_token_is(&r->now.t, "%") ||
                                     in("prozent ciento cento cent процентов процента", &r->now));
    return percent || in("halfte moitie mitad meta metade doppelte double doble doppio dobro "
                         "половина половину двоиная двоиную",
                         &r->now);
}

/* "Der Eintritt ist frei", "| gratuit |"; what is handed out free of charge may be another thing. */
static enum amount_stated free_of_charge(const reader_at *r) {
    if (!in(r->w->free, &r->now)) return AMOUNT_NOT_STATED;
    const bool is = in("ist sind est sont es son e sono sao", &r->before) || !r->before.t.letters;
    return is || !r->next.t.letters ? AMOUNT_STATED : AMOUNT_PERHAPS;
}

static bool has_sum(reader_at r) {
    while (step(&r))
        if (demand_word_is_sum(r.w, r.now.folded)) return true;
    return false;
}

/* "Ist inklusive", "está incluida en el precio": not "nicht im Preis enthalten", nor "inklusive Frühstück", which is another thing. */
static bool is_included(const reader_at *r, bool sum) {
    if (!in(r->w->included, &r->now) || in("y", &r->before)) return false;
    return sum || !r->next.t.letters;
}

/* "Die Kosten übernimmt die Kasse", "prise en charge", "a cargo de": another one pays. */
static bool is_paid_by_another(const reader_at *r, bool sum) {
    return (sum && in("ubernimmt ubernehmen ubernommen", &r->now)) ||
           (in("charge", &r->now) && in("en", &r->before)) ||
           (in("cargo carico", &r->now) && in("a", &r->before));
}

/* "Im Zimmerpreis", "dans le prix de la chambre": what has that price may be what is asked about. */
static bool is_price_of_something(const reader_at *r) {
    if (!demand_word_is_sum(r->w, r->now.folded)) return false;
    return r->w->joins ? !in(r->w->sums, &r->now)
                       : in("de du d des del della dello dell do da", &r->next);
}

/* "Eintritt frei", "entrée libre", "prix libre", "gegen Spende", "Preis auf Anfrage" */
static bool is_free_or_given(const reader_at *r, bool sum, bool entry) {
    return (in(r->w->donation, &r->now) && (sum || !in("anfrage aufwand", &r->now))) ||
           (entry && in("frei freier freie libre libero livre", &r->now)) ||
           (in("libre", &r->now) && in("prix participation contribution", &r->before));
}

/* What is said in place of a price: it is included, somebody else pays, entry is free, one gives what one likes. */
static enum amount_stated no_price_needed(reader_at r) {
    const bool sum = has_sum(r), entry = demand_words_say(r.w->entry, r.text, r.len);
    bool stated = false, included = false, of_something = false;
    while (step(&r)) {
        if (is_class(&r, &r.now, WORD_NEGATION)) return AMOUNT_NOT_STATED;
        included |= is_included(&r, sum);
        of_something |= is_price_of_something(&r);
        stated |= is_paid_by_another(&r, sum) || is_free_or_given(&r, sum, entry);
    }
    if (stated || (included && !of_something)) return AMOUNT_STATED;
    return included ? AMOUNT_PERHAPS : AMOUNT_NOT_STATED;
}

static enum amount_stated money_in(reader_at r) {
    enum amount_stated stated = no_price_needed(r);
    bool pays = false, bare = false;
    while (stated != AMOUNT_STATED && step(&r)) {
        if (is_currency(&r, &r.now) &&
            (demand_currency_sign(&r.now.t) ||
             !in("fr real livre livres libra libras peso pesos р тыс коп", &r.now) ||
             is_number(&r, &r.before)))
            return AMOUNT_STATED;
        const enum amount_stated gratis = free_of_charge(&r);
        if (looks_like_price(&r) || gratis == AMOUNT_STATED) return AMOUNT_STATED;
        bare |= gratis == AMOUNT_PERHAPS;
        if (gratis > stated) stated = gratis;
        if (in(r.w->none, &r.now) &&
            (demand_word_is_sum(r.w, r.next.folded) || !r.next.t.n ||
             word_token_is(&r.next.t, "|") || word_token_is(&r.next.t, ";")))
            return AMOUNT_STATED;
        pays |= in(r.w->pays, &r.now);
        bare |= is_bare(&r) || is_share(&r);
    }
    return pays && bare ? AMOUNT_STATED : stated;
}

/* ---- amounts ----------------------------------------------------------------------------- */

static bool measures(const reader_at *r, const char *units) {
    return is_number(r, &r->before) && in(units, &r->now);
}

static bool is_long(const reader_at *r) {
    return is_class(r, &r->now, WORD_TIME | WORD_CALENDAR) || in(r->w->timed, &r->now) ||
           measures(r, r->w->times) || measures(r, r->w->lengths) || in(r->w->unlimited, &r->now) ||
           (in(r->w->until_said, &r->now) && r->next.t.digits) ||
           (r->now.t.digits && word_token_is(&r->next.t, ":"));
}

static bool is_degree(const reader_at *r) {
    return word_token_is(&r->now.t, "\xC2\xB0") || measures(r, r->w->degrees) ||
           (in("minus moins menos meno bajo", &r->before) && is_number(r, &r->now));
}

static bool states(const reader_at *r, enum demand_amount amount) {
    switch (amount) {
    case AMOUNT_WEIGHT: /* "wie schwer" a walk is, too */
        return measures(r, r->w->weights) || in("mittelschwer schwierig anspruchsvoll", &r->now);
    case AMOUNT_TEMPERATURE:
        return is_degree(r);
    case AMOUNT_LONG:
        return is_long(r);
    case AMOUNT_LENGTH:
        return measures(r, r->w->lengths) || word_token_is(&r->now.t, "\xC3\x97");
    case AMOUNT_LOUDNESS:
        return in(r->w->sounds, &r->now);
    case AMOUNT_COUNT:
        return counts(r);
    default: /* "eine Stunde", "keine" */
        return (is_number(r, &r->now) && !is_section(r) && !is_code(r)) ||
               in(r->w->none, &r->now) || is_single(r) || is_vague_number(r) ||
               in(r->w->adult, &r->now) ||
               (in(r->w->articles, &r->before) && in(r->w->times, &r->now));
    }
}

enum amount_stated foreign_amount_in(int language, enum demand_amount amount, const char *text,
                                     size_t len) {
    reader_at r = read_of(language, text, len);
    if (!r.w || amount == AMOUNT_NONE) return AMOUNT_STATED;
    if (amount == AMOUNT_MONEY || amount == AMOUNT_EXPENSE) return money_in(r);
    if (amount == AMOUNT_OFTEN)
        return foreign_often_in(language, text, len) ? AMOUNT_STATED : AMOUNT_NOT_STATED;
    while (step(&r))
        if (states(&r, amount)) return AMOUNT_STATED;
    return AMOUNT_NOT_STATED;
}

/* "Bücher" and "Buch", "valises" and "valise": all but an end. */
static bool is_same_noun(const char *a, const char *b) {
    enum { END = 3, LEAST = 3 };
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n >= LEAST && strlen(a) <= n + END && strlen(b) <= n + END;
}

/* The noun behind an article, or behind an adjective. */
static bool has_noun_behind(const reader_at *r, const char *noun) {
    size_t at = r->at;
    for (int i = 0; i < 2; i++) {
        const said s = token_at(r, &at);
        if (!s.t.letters || in(r->w->per, &s) || in("de di do da", &s)) return false;
        if (is_same_noun(noun, s.folded)) return true;
    }
    return false;
}

enum amount_stated foreign_amount_of_one(int language, const char *noun, const char *text,
                                         size_t len) {
    reader_at r = read_of(language, text, len);
    enum amount_stated stated = AMOUNT_NOT_STATED;
    bool money = false;
    if (!r.w || !noun[0]) return stated;
    while (step(&r)) {
        money |= is_currency(&r, &r.now);
        if (!in(r.w->articles, &r.now) || !has_noun_behind(&r, noun)) continue;
        if (r.before.t.letters) stated = AMOUNT_STATED;
        if (stated == AMOUNT_NOT_STATED) stated = AMOUNT_PERHAPS;
    }
    return money && stated != AMOUNT_NOT_STATED ? stated - 1 : stated;
}

bool foreign_amount_column_in(int language, enum demand_amount amount, const char *text,
                              size_t len) {
    const demand_words *w = demand_words_of(language);
    if (!w) return true;
    switch (amount) {
    case AMOUNT_WEIGHT:
        return demand_words_say(w->weights, text, len) || demand_words_say(w->heavy, text, len);
    case AMOUNT_TEMPERATURE:
        return demand_words_say(w->warm, text, len);
    case AMOUNT_LENGTH:
        return demand_words_say(w->lengths, text, len) || demand_words_say(w->extent, text, len);
    case AMOUNT_LOUDNESS:
        return demand_words_say(w->loud, text, len);
    default:
        return true;
    }
}

/* ---- details ----------------------------------------------------------------------------- */

static bool has_time(reader_at r, bool of_day) {
    bool labelled = false; /* "No. 7/2025": of no time */
    while (step(&r)) {
        labelled = is_label(&r, &r.before) ||
                   (labelled && (word_token_is(&r.now.t, "/") || word_token_is(&r.before.t, "/")));
        if (labelled && r.now.t.digits) continue;
        if (is_class(&r, &r.now, WORD_TIME | WORD_CALENDAR) || in(r.w->timed, &r.now)) return true;
        if (of_day ? r.now.t.digits && (is_time_or_date(&r) || r.now.t.n > 2 ||
                                        r.before.t.letters || word_token_is_dash(&r.before.t))
                   : is_number(&r, &r.now))
            return true;
    }
    return false;
}

/* "Bei Rückgabe", "beim Verlassen", "al devolver las llaves" */
static bool is_event(const reader_at *r) {
    if (in(r->w->events, &r->now)) return true;
    static const char events[] =
        "gabe zug ung bedarf beginn ankunft abreise kauf ausfall bruch schaden verlust";
    static const char places[] = "lugar bar taller hogar alquiler mar altar";
    const char *next = r->next.folded;
    if (!next[0]) return false;
    if (in("bei beim", &r->now) && demand_word_ends(events, next)) return true;
    return (in("beim", &r->now) && demand_word_ends("en", next)) ||
           (in("al ao", &r->now) && demand_word_ends("ar er ir", next) &&
            !demand_word_in(places, next));
}

static bool has_event(reader_at r, bool or_case) {
    while (step(&r))
        if (is_event(&r) || (or_case && in(r.w->cases, &r.now))) return true;
    return false;
}

static bool has_capital(const said *s) {
    int32_t cp;
    char first[4];
    if (!s->t.letters) return false;
    fo_utf8_decode(s->t.s, s->t.n, &cp);
    if (cp >= 0x400) return cp < 0x430;              /* Cyrillic */
    if (cp >= 0x80) return cp >= 0xC0 && cp <= 0xDE; /* Latin-1: small letters stand above */
    return fo_utf8_encode(cp, first) == 1 && fo_is_upper(first[0]);
}

static bool is_office(const reader_at *r, const said *s) {
    if (!s->folded[0]) return false;
    return r->w->joins ? demand_word_ends(r->w->offices, s->folded) : in(r->w->offices, s);
}

/* "Die Sitzung leitet der Vorsitzende": who does, by another office. */
static bool is_led_by_office(reader_at r) {
    bool leads = false, office = false;
    while (step(&r)) {
        leads |= in(r.w->office, &r.now);
        office |= is_office(&r, &r.now);
    }
    return leads && office;
}

/* "Frau Adler", "Jonas Imhof"; where nouns are small, a capital within a sentence. */
static bool has_name(reader_at r) {
    const char *stops = stopwords_of(language_name(r.language));
    const bool nouns = language_capitalises_nouns(r.language);
    while (step(&r)) {
        if (!has_capital(&r.now) || is_class(&r, &r.now, WORD_CALENDAR)) continue;
        const bool beside = has_capital(&r.next) && r.next.t.s == r.now.t.s + r.now.t.n + 1 &&
                            !fo_words_have_any_case(stops, r.now.t.s, r.now.t.n);
        if (beside || (!nouns && (r.before.t.letters || r.before.t.digits))) return true;
        if (in("dr prof mme mlle sr sra dott", &r.now)) return true;
    }
    return false;
}

/* "8 square Victor Hugo", "au 3 cours de la Marne": a number that begins what is said, a word and small ones, and a name. */
static bool is_number_of_house(const reader_at *r) {
    enum { MOST_BETWEEN = 3 };
    size_t at = r->at;
    if (!r->now.t.digits || language_capitalises_nouns(r->language) ||
        ((r->before.t.letters || r->before.t.digits) && !in("au en al", &r->before)))
        return false;
    if (!r->next.t.letters || has_capital(&r->next) || is_class(r, &r->next, WORD_CALENDAR) ||
        in("h heure heures hora horas ora ore min minutes euro euros", &r->next))
        return false;
    word_token_next(r->text, r->len, &at);
    for (size_t n = 0; n < MOST_BETWEEN; n++) {
        said s = token_at(r, &at);
        if (word_token_is(&s.t, "'")) s = token_at(r, &at);
        if (has_capital(&s)) return true;
        if (!in("de du des la le les l d del dos da do", &s)) return false;
    }
    return false;
}

/* "Rua das Flores", "Beco Novo, 12": a word for a street before a name, or a name before a number. */
static bool has_address(reader_at r) {
    enum { MOST_BETWEEN = 2, SHORTEST = 3 };
    static const char streets[] =
        "rua avenida av travessa praca largo estrada alameda beco rue avenue boulevard place quai "
        "chemin impasse route square faubourg bd quartier calle plaza paseo carretera carrera "
        "camino ronda travesia via viale piazza piazzale corso vicolo strada strasse str gasse "
        "allee";
    static const char others[] = "cours passage"; /* streets only right before a name */
    size_t since = SIZE_MAX;                      /* small words behind one for a street */
    while (step(&r)) {
        const bool capital = has_capital(&r.now), comma = word_token_is(&r.next.t, ",");
        if (capital && since <= MOST_BETWEEN) return true;
        if (is_number_of_house(&r)) return true;
        since = in(streets, &r.now)                        ? 0
                : in(others, &r.now)                       ? MOST_BETWEEN
                : r.now.t.letters && since <= MOST_BETWEEN ? since + 1
                                                           : SIZE_MAX;
        if (!capital || !r.before.t.letters || r.now.t.n < SHORTEST) continue;
        size_t at = r.at;
        said number = token_at(&r, &at);
        if (comma) number = token_at(&r, &at);
        const said behind = token_at(&r, &at); /* "Das 9h00", "Entre 29 e 10 dias" */
        if (number.t.digits && !is_class(&r, &r.now, WORD_CALENDAR) &&
            (!behind.t.letters || has_capital(&behind)))
            return true;
    }
    return false;
}

bool foreign_detail_in(int language, enum demand_detail detail, const char *text, size_t len) {
    const reader_at r = read_of(language, text, len);
    if (!r.w) return true;
    switch (detail) {
    case DETAIL_CLOCK:
        return has_time(r, true) || clock_words_in(language, text, len);
    case DETAIL_WHEN:
        return has_time(r, false) || clock_words_in(language, text, len) || has_event(r, false);
    case DETAIL_CASE:
        return has_time(r, false) || has_event(r, true);
    case DETAIL_PERSON:
        return has_name(r) || is_led_by_office(r);
    case DETAIL_ADDRESS:
        return has_address(r);
    case DETAIL_MAIL:
    case DETAIL_PHONE:
    case DETAIL_WEB: /* the same signs in all of them */
    case DETAIL_NONE:
        return demand_detail_in(detail, text, len);
    default: /* colours, lives: by English words alone */
        return true;
    }
}
