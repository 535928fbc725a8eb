#include "retrieval/question/foreign_demands.h"

#include <string.h>

#include "retrieval/question/arabic_demands.h"
#include "retrieval/question/foreign_asked.h"
#include "retrieval/question/foreign_often.h"

enum {
    FIRST = 4,       /* a word for "what" stands among the first few */
    NEAR = 6,        /* words between what asks and what is asked for */
    MOST_COUNTED = 3 /* words for what is counted */
};

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

/* Does a list of sums, whose words end compounds where a language joins them, have word i? */
static bool is_end(const asked *a, size_t i, const char *list) {
    if (i >= a->n || !list) return false;
    return a->w->joins ? a->v[i].folded[0] && demand_word_ends(list, a->v[i].folded)
                       : is(a, i, list);
}

/* Where "is" is left out: "какой членский взнос", "новых". */
static bool is_adjective(const asked *a, size_t i) {
    static const char ends[] = "ыи ои ии ая яя ое ее ые ие ую юю ого его ому ему ым им ых их";
    return a->w->bare_be && i < a->n && a->v[i].t.letters && strlen(a->v[i].folded) > 6 &&
           demand_word_ends(ends, a->v[i].folded) && !demand_word_is_sum(a->w, a->v[i].folded);
}

static bool is_between(const asked *a, size_t i) {
    return is(a, i, a->w->between) || is_adjective(a, i);
}

/* ---- details ----------------------------------------------------------------------------- */

/* Words [what + 1, i) between "what" and an address: "est l'adresse du", "est le numéro de". */
typedef struct link {
    size_t what;
    bool how, be, address, post, number;
} link;

static bool is_address(const asked *a, size_t i) {
    return is(a, i, "adresse direccion indirizzo endereco emailadresse mailadresse адрес");
}

/* "Quel site" is a place as often: one on the web, or somebody's. */
static bool is_web(const asked *a, size_t i, const link *l) {
    if (!is(a, i, a->w->web) || !(l->be || l->how)) return false;
    return !is(a, i, "site") || strcmp(a->w->language, "french") != 0 || l->address ||
           is(a, i + 1, "web internet") || is(a, i - 1, "votre leur notre");
}

/* "Welche E-Mail bekomme ich?", "Quel téléphone est fourni ?" ask for things. */
static enum demand_detail address_at(const asked *a, size_t i, const link *l) {
    const demand_words *w = a->w;
    const bool told = l->be || l->how, mail = is(a, i, w->mail) && !is(a, i - 1, w->calls),
               to = l->what > 0 && is(a, l->what - 1, "an a");
    if (l->be && a->w->bare_be && (is(a, i + 1, a->w->wants) || is(a, i + 2, a->w->wants)))
        return DETAIL_NONE;
    if (mail && (told || to || l->address || is_address(a, i) || is_address(a, i + 1)))
        return DETAIL_MAIL;
    if (is(a, i, w->phone) &&
        (told || l->number || demand_word_ends("nummer durchwahl", a->v[i].folded)))
        return DETAIL_PHONE;
    /* "Wie ist Ihre Nummer?"; which one something has may be another number */
    if (is(a, i, w->number) && (l->how || among(a, 0, a->n, w->calls))) return DETAIL_PHONE;
    return is_web(a, i, l) ? DETAIL_WEB : DETAIL_NONE;
}

static bool asks_what_or_how(const asked *a, size_t i) {
    return is(a, i, a->w->what) || is(a, i, a->w->how);
}

/* "Куда звонить?" */
static bool asks_whom_to_call(const asked *a) {
    for (size_t i = 0; a->w->bare_be && i + 1 < a->n; i++)
        if (is(a, i, "куда") && is(a, i + 1, a->w->calls)) return true;
    return false;
}

/* "Qual é a morada da escola?": where post is sent, unless word k says that it is one of something else. */
static bool asks_for_post(const asked *a, size_t k, const link *l) {
    static const char others[] =
        "ip mac web internet url eletronico eletronica electronico electronica electronique "
        "elettronico "
        "correo servidor serveur server rede red wlan wifi vent viento vento";
    return l->post && l->be && !a->w->bare_be && !among(a, k, clause_end(a, k), others);
}

/* "Wie lautet die Telefonnummer?", "Quel numéro appeler ?" What is done with a telephone is another question. */
static enum demand_detail address_of(const asked *a) {
    if (asks_whom_to_call(a)) return DETAIL_PHONE;
    for (size_t i = 0; i < FIRST; i++) {
        if (!asks_what_or_how(a, i)) continue;
        link l = {.what = i, .how = is(a, i, a->w->how) && !a->w->bare_be, .be = a->w->bare_be};
        size_t k = i + 1;
        for (; k < a->n; k++) {
            const enum demand_detail d = address_at(a, k, &l);
            if (d != DETAIL_NONE) return d;
            if (!is_between(a, k) && !is(a, k, a->w->number)) break;
            l.be |= k == i + 1 && is(a, k, a->w->be);
            l.address |= is_address(a, k);
            l.post |= is(a, k, "adresse direccion indirizzo endereco morada");
            l.number |= is(a, k, a->w->number);
        }
        return asks_for_post(a, k, &l) ? DETAIL_ADDRESS : DETAIL_NONE;
    }
    return DETAIL_NONE;
}

/* "Во сколько заезд?", "до скольки открыто"; not "во сколько обойдётся", "до скольких лет" */
static bool asks_hour(const asked *a, size_t i) {
    const demand_words *w = a->w;
    return i > 0 && is(a, i - 1, w->at) && is(a, i, w->much) && !is(a, i + 1, w->often) &&
           !is(a, i + 1, w->times) && !among(a, i, clause_end(a, i), w->spends);
}

static bool asks_clock(const asked *a) {
    const demand_words *w = a->w;
    for (size_t i = 0; i + 1 < a->n; i++) {
        if (asks_hour(a, i)) return true;
        if (w->bare_be && is(a, i, w->at) && is(a, i + 1, w->what) && is(a, i + 2, "время"))
            return true;
        const bool two = is(a, i, w->how) && is(a, i + 1, w->behind_much);
        if ((two && is(a, i + 2, w->clock)) ||
            ((is(a, i, w->what) || is(a, i, w->much)) && is(a, i + 1, w->clock)))
            return true;
    }
    return false;
}

static bool asks_at(const asked *a, size_t i) {
    const demand_words *w = a->w;
    return is(a, i, w->what) || is(a, i, w->when) || is(a, i, w->who) || is(a, i, w->much) ||
           is(a, i, w->many) || is(a, i, w->where) || (is(a, i, "ou") && is_accented(a, i));
}

/* "Quand il pleut, où a lieu la fête ?", "Cuando llueve, ¿dónde...?": the first word joins a clause to what is asked. */
static bool begins_a_clause(const asked *a) {
    const size_t end = clause_end(a, 0);
    if (a->w->joins || is_accented(a, 0) || end == a->n || is(a, end, "et y e")) return false;
    if (is(a, 1, "il on je j nous vous ils elle elles tu")) return true;
    for (size_t i = end; i < a->n; i++)
        if (asks_at(a, i)) return true;
    return false;
}

/* "When must", "when is it forbidden" ask in which case as often; "by when" does not. */
static enum demand_detail when_at(const asked *a, size_t i) {
    const bool bound = among(a, i, clause_end(a, i), a->w->bound);
    return bound && !is(a, i - 1, a->w->until) ? DETAIL_CASE : DETAIL_WHEN;
}

/* "Come si chiama l'allenatore?", "Wie heißt die Kassenwartin?": behind what stands between the two words; 0: not asked. */
static size_t behind_called(const asked *a) {
    size_t k = 1;
    if (!is(a, 0, "come como comment wie")) return 0;
    if (is(a, k, "si se s")) k++;
    if (!is(a, k, "chiama llama chama appelle heisst")) return 0;
    return k + 1;
}

static size_t byte_of(const asked *a, size_t i) {
    return (size_t)(a->v[i].t.s - a->v[0].t.s);
}

/* Word i, or the one behind a word that makes another office of it, is an office: "vice-président", "stellvertretende Vorsitzende". */
static bool office_at(const asked *a, size_t i, foreign_demands *out) {
    static const char deputies[] =
        "vice vize sous stellvertretende stellvertretender stellvertretenden зам";
    const bool deputy = is(a, i, deputies);
    const size_t office = i + deputy;
    if (!is_end(a, office, a->w->offices)) return false;
    out->office = byte_of(a, office);
    out->deputy = deputy ? byte_of(a, i) : 0;
    return true;
}

/* "Wer leitet den Chor?", "Qui est la trésorière du club ?" Who is exempt, or responsible, is said by a role or a group as well. */
static bool asks_for_a_name(const asked *a, foreign_demands *out) {
    enum { MOST_BEHIND = 9 };
    const demand_words *w = a->w;
    const size_t called = behind_called(a);
    if (!called && !is(a, 0, w->who)) return false;
    if (!called && is(a, 1, w->office)) return true;
    if (!called && w->bare_be && clause_end(a, 1) == a->n && office_at(a, 1, out)) return true;
    size_t k = called ? called : 2;
    while (is(a, k, w->between)) k++;
    if (called) return office_at(a, k, out);
    return is(a, 1, w->be) && clause_end(a, k) == a->n && a->n <= k + MOST_BEHIND &&
           office_at(a, k, out);
}

static enum demand_detail detail_of(const asked *a, foreign_demands *out) {
    const demand_words *w = a->w;
    if (asks_clock(a)) return DETAIL_CLOCK;
    for (size_t i = 0; i < a->n; i++) {
        if (is(a, i, w->when) && asks_here(a, i) && (i > 0 || !begins_a_clause(a)))
            return when_at(a, i);
        if (is(a, i, w->what) && i < FIRST && is(a, i + 1, w->day)) return DETAIL_WHEN;
    }
    return asks_for_a_name(a, out) ? DETAIL_PERSON : address_of(a);
}

/* ---- amounts ----------------------------------------------------------------------------- */

/* "Окон", "гостей", "станций" behind "сколько" and adjectives, which *k moves behind: not "воды", nor a verb. */
static bool is_counted_noun(const asked *a, size_t *k) {
    static const char vowels[] = "а е и о у ы э ю я",
                      verbs[] = "ет ит ют ут ат ят ть тся ться лось",
                      nouns[] = "еи ии минут монет конфет газет комнат ребят билет кают";
    while (is_adjective(a, *k) && *k + 1 < a->n) ++*k;
    if (*k >= a->n || a->v[*k].t.digits || !a->v[*k].folded[0]) return false;
    const char *word = a->v[*k].folded;
    if (is(a, *k, a->w->often) || is(a, *k, a->w->lengths) || demand_word_ends(nouns, word))
        return true;
    return !is(a, *k, a->w->verbs) && !is(a, *k, a->w->lasting) && !is(a, *k, a->w->spends) &&
           !demand_word_ends(verbs, word) && !demand_word_ends(vowels, word);
}

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
        if (w->bare_be) {
            *many = is_counted_noun(a, &k);
            return k;
        }
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

static char ends_in(const char *word) {
    return word[0] ? word[strlen(word) - 1] : 's';
}

/* "Quanto è profondo il pozzo?", "Quanto è alta la quota?": an adjective behind "how much is it". High is a wall, a deposit, a
 * tension; long a pier or a leave. */
static enum demand_amount of_much_adjective(const asked *a, size_t k) {
    const demand_words *w = a->w;
    if (is(a, k, w->weighty)) return AMOUNT_WEIGHT;
    const bool far = is(a, k, w->far), high = is(a, k, w->high);
    if (!far && !high && !is(a, k, w->broad)) return AMOUNT_NONE;
    for (size_t i = k + 1; i < k + NEAR && i < a->n; i++) {
        const enum demand_amount kind = foreign_asked_measure(a, i);
        if (kind == AMOUNT_MONEY || kind == AMOUNT_TEMPERATURE) return kind;
        if (far && is(a, i, w->happens)) return AMOUNT_LONG;
    }
    return far || high ? AMOUNT_ANY : AMOUNT_LENGTH;
}

/* "Wie viel zahlt ein Kind?", "¿Cuánto es la tasa?", "¿Cuánto ruido hace?", "Combien de temps dure-t-il ?" */
static enum demand_amount of_quantity(const asked *a, size_t k, bool many, foreign_demands *out) {
    const demand_words *w = a->w;
    if (is(a, k, w->lasting)) return AMOUNT_LONG;
    if (is(a, k, w->loud)) return AMOUNT_LOUDNESS;
    if (is(a, k, w->currencies) || is(a, k, "geld argent dinero denaro soldi dinheiro денег"))
        return AMOUNT_MONEY;
    if (is(a, k, "prozent процентов") || is(a, k + 1, "ciento cento cent")) return AMOUNT_ANY;
    if (many) {
        const size_t noun = counted_at(a, k);
        if (w->of && noun < a->n && !strchr("sxz", ends_in(a->v[noun].folded))) return AMOUNT_ANY;
        if (is(a, noun, w->lengths)) return AMOUNT_LENGTH;
        if (noun >= a->n) return AMOUNT_ANY;
        memcpy(out->noun, a->v[noun].folded, sizeof out->noun);
        if (is(a, noun, w->often)) return AMOUNT_ANY;
        out->counted = (size_t)(a->v[noun].t.s - a->v[0].t.s);
        return AMOUNT_COUNT;
    }
    if (among(a, 0, clause_end(a, k), w->spends)) return AMOUNT_MONEY;
    const enum demand_amount measure = is(a, k, w->be) ? of_much_adjective(a, k + 1) : AMOUNT_NONE;
    if (measure != AMOUNT_NONE) return measure;
    if (is(a, k, w->heavy) || is(a, k + 1, w->heavy)) return AMOUNT_WEIGHT;
    if (is(a, k, w->extent)) return AMOUNT_LENGTH;
    return sum_among(a, k, k + NEAR) ? AMOUNT_MONEY : AMOUNT_ANY;
}

/* "Wie teuer", "wie hoch ist der Beitrag", "wie schwer" */
static enum demand_amount of_adjective(const asked *a, size_t k) {
    const demand_words *w = a->w;
    if (is(a, k, w->dear)) return AMOUNT_MONEY;
    if (!is(a, k, w->high)) return foreign_asked_measure(a, k);
    for (size_t i = k + 1; i < k + NEAR && i < a->n; i++) {
        const enum demand_amount kind = foreign_asked_measure(a, i);
        if (kind == AMOUNT_MONEY || kind == AMOUNT_WEIGHT || kind == AMOUNT_TEMPERATURE)
            return kind;
    }
    return AMOUNT_ANY;
}

/* "Was kostet es?", "Was muss ich zahlen?"; what an insurance pays for is no price. */
static enum demand_amount of_cost(const asked *a, size_t i) {
    const demand_words *w = a->w;
    const size_t end = clause_end(a, i);
    if (!is(a, i, w->what_does)) return AMOUNT_NONE;
    if (is(a, i + 1, w->costs)) return AMOUNT_MONEY;
    const bool pays =
        is(a, i + 1, w->spends) || (is(a, i + 1, w->must) && among(a, i, end, w->spends));
    return pays && !among(a, i, end, w->payers) ? AMOUNT_MONEY : AMOUNT_NONE;
}

/* "Quel tarif pour les enfants ?", "¿Qué precio tiene?", "Welche Gebühr fällt an?" Which of them has or does something else is
 * another question: "Welcher Beitrag umfasst die Zeitung?" */
static bool asks_which_sum(const asked *a, size_t noun) {
    const demand_words *w = a->w;
    const size_t end = clause_end(a, noun);
    return noun + 1 == end || is(a, noun + 1, "fur pour para per") ||
           among(a, noun + 1, end, w->due) ||
           (is_end(a, noun, w->prices) && is(a, noun + 1, w->has));
}

/* "Quelle hauteur", "welche Frist": no verbs and adjectives, no weather, and no size that has a name ("XL"). */
static enum demand_amount of_which_measure(const asked *a, size_t noun) {
    static const char others[] = "mesure mesurent misura misurano mide miden mede medem pese "
                                 "pesent pesa pesan pesano pesam dure "
                                 "durent dura duran durano duram tarda tardan lange lang breit "
                                 "tief dick schwer warm heiss kalt laut "
                                 "leise gross weit alt bruit ruido rumore barulho taille surface "
                                 "superficie grosse tamano dimensione "
                                 "tamanho area numero";
    const bool weather = is(a, noun, "temps tiempo tempo") && is(a, noun + 1, "fait hace fa faz");
    if (weather || is(a, noun, others)) return AMOUNT_NONE;
    return foreign_asked_measure(a, noun);
}

/* "Quel est le tarif ?", "Welche Gebühr fällt an?"; "was" and "qué es" ask what something is, but for prices. */
static enum demand_amount of_what(const asked *a, size_t i) {
    const demand_words *w = a->w;
    const enum demand_amount cost = of_cost(a, i);
    if (cost != AMOUNT_NONE || !is(a, i, w->what)) return cost;
    const bool be = is(a, i + 1, w->be) || w->bare_be, is_what = be && is(a, i, w->what_does);
    size_t k = i + 1;
    while (k < i + NEAR && is_between(a, k)) k++;
    if (k >= a->n || (w->bare_be && among(a, k + 1, clause_end(a, k), w->holds)))
        return AMOUNT_NONE;
    if (is_what && !is_end(a, k, w->prices) && (!w->joins || demand_word_is_sum(w, a->v[k].folded)))
        return AMOUNT_NONE;
    if (demand_word_is_sum(w, a->v[k].folded))
        return is_end(a, k, w->amounts) && (be || asks_which_sum(a, k)) ? AMOUNT_MONEY
                                                                        : AMOUNT_NONE;
    return be ? foreign_asked_measure(a, k) : of_which_measure(a, k);
}

/* "Цена квартиры за ночь?", "где взять ласты и почём?" */
static bool names_a_price(const asked *a) {
    return a->w->bare_be && (is(a, 0, a->w->prices) || among(a, 0, a->n, "почем"));
}

static enum demand_amount amount_of(const asked *a, foreign_demands *out) {
    bool many = false;
    if (names_a_price(a)) return AMOUNT_MONEY;
    const size_t k = behind_quantity(a, &many);
    if (k) return of_quantity(a, k, many, out);
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
    if (!strcmp(w->language, "arabic")) return arabic_demands_read(w, question, len);
    asked a;
    foreign_asked_read(&a, w, question, len);
    if (!a.n) return out;
    out.detail = detail_of(&a, &out);
    const size_t first = (size_t)(a.v[0].t.s - question);
    if (out.office) out.office += first;
    if (out.deputy) out.deputy += first;
    if (out.detail != DETAIL_NONE) return out;
    out.amount = foreign_often_asked(question, len) ? AMOUNT_OFTEN : amount_of(&a, &out);
    if (out.counted) out.counted += first;
    return out;
}
