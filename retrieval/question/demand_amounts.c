#include "retrieval/question/demand_amounts.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/demand_figures.h"
#include "retrieval/question/demand_often.h"
#include "retrieval/question/demand_units.h"
#include "retrieval/text/word_tokens.h"

/* ---- words ------------------------------------------------------------------------------- */

/* Numerals that are seldom a price: "one of them", "half of it". */
static const char no_prices[] = "no none zero one once twice single double triple several half "
                                "quarter";
static const char fractions[] = "third thirds fourth fourths fifth fifths sixth sixths eighth "
                                "eighths tenth tenths";
static const char currencies[] =
    "euro euros eur dollar dollars usd pound pounds gbp cent cents pence penny halfpenny shilling "
    "shillings krone kroner krona kronor kronur kr nok sek dkk isk franc francs chf "
    "yen jpy yuan cny rupee rupees inr zloty zlotys zlotych pln z\xC5\x82 z\xC5\x82oty "
    "z\xC5\x82otych koruna koruny korun czk k\xC4\x8D forint forints huf peso pesos mxn lira cad "
    "aud nzd hkd sgd zar brl bgn rub uah thb florin florins guilder guilders rouble roubles ruble "
    "rubles gratis nothing";
/* Currencies beside a number alone: CAD draws, too, and a dentist makes crowns. */
static const char beside_number[] = "cad rub kr crown crowns";
static const char prices[] =
    "pay pays paid payable cost costs price prices priced fee fees rent rents rented charge "
    "charged charges surcharge deposit fine fines fined penalty admission entry entrance ticket "
    "tickets subscription subscriptions rate rates tariff fare fares excess sum premium salary "
    "wage bond donation donations sponsor sponsors loan bill billed income due dues adult adults "
    "child children student students pensioner pensioners senior seniors guest guests member "
    "members couple couples";
static const char lengths[] =
    "second seconds minute minutes hour hours day days night nights week weeks weekend weekends "
    "fortnight month months monthly quarter quarters year years decade decades century centuries "
    "semester semesters season seasons term lifetime life forever permanently indefinitely "
    "winter winters summer summers overnight until till since metre metres meter meters kilometre "
    "kilometres kilometer "
    "kilometers centimetre centimetres centimeter centimeters millimetre millimetres millimeter "
    "millimeters mile miles foot feet inch inches yard yards line lines page pages word words "
    "character characters byte bytes bit bits digit digits letter letters sentence sentences "
    "syllable syllables";
static const char short_lengths[] =
    "s sec secs m min mins h hr hrs d ms us ns km cm mm ft in mi yd";
/* Words before a number that say what it numbers. */
static const char labels[] =
    "room page step version level line no nr number chapter article day week group row form ext "
    "extension zone bus route platform section age aged under over rule class";
static const char sounds[] = "db dba decibel decibels loud louder quiet quieter silent noisy noise";
/* ---- money ------------------------------------------------------------------------------- */

/* "8.50": in a list of prices what they are in is seldom said. */
static bool looks_like_price(const word_token *t) {
    const char *dot = t->digits ? memchr(t->s, '.', t->n) : NULL;
    size_t behind = dot ? t->n - (size_t)(dot + 1 - t->s) : 0;
    return behind >= 2 && !memchr(dot + 1, '.', behind);
}

/* "Children go free", "| free |", "Free from 15.", "free of charge" and "no charge" state a price, "free space" and "free keys" none. */
static bool is_free(const char *text, size_t len, size_t at, const word_token *before,
                    const word_token *t) {
    if (word_token_in("charge cost", t)) return word_token_in("of no without at", before);
    if (!word_token_in("free", t)) return false;
    if (word_token_in("is are be go goes travel travels ride rides enter admission entry children",
                      before))
        return true;
    const word_token next = word_token_next(text, len, &at);
    return word_token_in("of for from to up until on", &next) || word_token_is(&next, "|") ||
           word_token_is(&next, ";") || word_token_is(&next, ",") || word_token_is(&next, ".") ||
           !next.n;
}

bool demand_currency_sign(const word_token *t) {
    const bool sign = t->n == 3 && !memcmp(t->s, "\xE2\x82", 2) && /* U+20A0 to U+20BF */
                      (unsigned char)t->s[2] >= 0xA0;
    return sign || word_token_is(t, "$") || word_token_is(t, "\xC2\xA3") ||
           word_token_is(t, "\xC2\xA5");
}

bool demand_currency_named(const word_token *t) {
    return demand_currency_sign(t) || word_token_in(currencies, t);
}

/* What a contract says in the place of a figure: "the statutory amount", "half the fare", "unpaid". */
static bool is_in_words(const word_token *before, const word_token *t) {
    static const char sums[] = "amount amounts minimum entitlement rate rates pay sum price fee "
                               "fare fares wage wages salary rent allowance";
    if (word_token_in("statutory legal", before)) return word_token_in(sums, t);
    if (word_token_in("full same whole double half usual normal reduced agreed", before))
        return word_token_in(sums, t) && !word_token_in("minimum rate rates", t);
    return word_token_in("unpaid", t);
}

/* "Had risen by a third": a change of an amount, not the amount. Text up to the article. */
static bool is_behind_by(const char *text, const word_token *article) {
    const char *s = article->s;
    while (s > text && s[-1] == ' ') s--;
    return s - text >= 2 && !strncasecmp(s - 2, "by", 2) &&
           (s - text == 2 || !word_token_letter(s[-3]));
}

/* "Paid in full", "fees by agreement", "a third": where the text speaks of paying. */
static bool may_be_in_words(const char *text, const word_token *before, const word_token *t) {
    if (word_token_in("full", t)) return word_token_in("in", before);
    if (word_token_in("agreement arrangement negotiation", t)) return word_token_in("by", before);
    if (word_token_in("request application", t)) return word_token_in("on", before);
    if (word_token_in("half", t))
        return word_token_in("pay pays paid cost costs charge charged get gets", before);
    return word_token_in("third quarter", t) && word_token_in("a one", before) &&
           !is_behind_by(text, before);
}

/* ... and "2.1 km, 1.4 million", "the full price". */
static bool is_money(const word_token *before, const word_token *t) {
    if (word_token_in("price value", t))
        return word_token_in("purchase full current half market list", before);
    if (word_token_in("million millions billion billions", t)) return demand_unit_is_number(before);
    if (word_token_in(beside_number, t)) return demand_unit_is_number(before);
    if (t->digits && word_token_in(beside_number, before)) return true;
    const bool clock = word_token_in("at until till", before); /* "at 20.55" */
    return demand_currency_named(t) || (looks_like_price(t) && !clock);
}

/* The token behind the number that ends at byte `at`, and behind those that it is listed with: "10, 20 or 50 tablets". */
static word_token behind_number(const char *text, size_t len, size_t at) {
    enum { MOST_LISTED = 8 };
    word_token t = word_token_next(text, len, &at);
    for (int i = 0;; i++) {
        size_t further = at;
        const word_token number = word_token_next(text, len, &further);
        if (!(word_token_is(&t, ",") || word_token_in("or and", &t)) || !number.digits ||
            i == MOST_LISTED)
            return t;
        at = further;
        t = word_token_next(text, len, &at);
    }
}

/* What may stand behind a price that is a number alone: "12 for members", "60 in cash". */
static const char goes_on[] =
    "for to up and or plus with including in cash every if when on at from "
    "instead back only now before without unless more off until once is as";

/* Does the same number count something elsewhere in the text: the 50 of "10, 20 or 50 tablets; 50 on prescription"? */
static bool counts_elsewhere(const char *text, size_t len, const word_token *number) {
    enum { REACH = 256 }; /* bytes around it */
    const size_t own = (size_t)(number->s - text);
    size_t from = own > REACH ? own - REACH : 0;
    while (from > 0 && from < own && text[from - 1] != ' ') from++;
    for (size_t at = from;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n || at > own + REACH) return false;
        if (t.s == number->s || !t.digits || t.n != number->n || memcmp(t.s, number->s, t.n) != 0)
            continue;
        const word_token behind = behind_number(text, len, at);
        if (behind.letters && !word_token_in(goes_on, &behind) &&
            !word_token_in("a an per each apiece flat extra rates rents", &behind) &&
            !demand_currency_named(&behind))
            return true;
    }
}

/* "Rua do Forno 8", "the Long Lane 5": a word with a capital right behind another word has the number, as a street or a house
 * has. What begins a line or an item, "Adults 12, Children 5", has a price. */
static bool is_of_a_place(const char *text, const word_token *before) {
    const char *s = before->s;
    return before->letters && before->n > 2 && fo_is_upper(s[0]) && s - text > 1 && s[-1] == ' ' &&
           fo_is_letter(s[-2]);
}

/* "In 2024", "for 2024 and 2025": is the number a year by what stands before it, or before the year that it is said with? */
static bool is_dated(const char *text, const word_token *before, const word_token *year) {
    enum { DIGITS = 4 };
    if (word_token_in("in of since during", before)) return true;
    const bool now = year->s[0] == '2' ? year->s[1] == '0' : year->s[1] == '9';
    if (word_token_in("for", before)) return now;
    const char *s = before->s;
    while (s && s > text && s[-1] == ' ') s--;
    return now && word_token_in("and or", before) && s - text >= DIGITS &&
           word_token_year(&(word_token){.s = s - DIGITS, .n = DIGITS, .digits = true}) != 0;
}

/* Is t, which ends at byte `at`, a number that counts nothing, numbers nothing, and is no time or date: 32 in "Fee 32 a year",
 * "dogs 5, prams free"? Not 9 in "9 to 13", "9:00", "9 March", "room 9", "9. Opening hours". */
static enum amount_stated bare_price(const char *text, size_t len, size_t at,
                                     const word_token *before, const word_token *t) {
    if (!demand_unit_is_number(t) || word_token_in(no_prices, t)) return AMOUNT_NOT_STATED;
    const bool clock = word_token_is(before, ":") && before->s + 1 == t->s && before->s > text &&
                       fo_is_digit(before->s[-1]);
    if (clock || word_token_is_dash(before) || word_token_in(labels, before) ||
        demand_month_named(before) >= 0 || word_token_is(before, "#") ||
        word_token_is(before, "/") || word_token_is(before, "\xC2\xA7"))
        return AMOUNT_NOT_STATED;
    if (word_token_year(t) && is_dated(text, before, t)) return AMOUNT_NOT_STATED;
    if (is_of_a_place(text, before) && !memchr(t->s, '.', t->n)) return AMOUNT_NOT_STATED;
    size_t next_at = at;
    const word_token next = word_token_next(text, len, &next_at);
    if (!before->n && next.n && strchr(".)", next.s[0])) return AMOUNT_NOT_STATED;
    if (word_token_in("a an per each apiece flat extra rates rents", &next)) return AMOUNT_STATED;
    if (word_token_in("from to at until till by around before after", before)) /* a clock's hour */
        return AMOUNT_NOT_STATED;
    const word_token behind = behind_number(text, len, at);
    if (t->digits && counts_elsewhere(text, len, t)) return AMOUNT_NOT_STATED;
    if (behind.letters ? word_token_in(goes_on, &behind)
                       : !behind.n || strchr(",.;|)(!?/", behind.s[0]))
        return AMOUNT_PERHAPS;
    return AMOUNT_NOT_STATED;
}

/* ---- what a text states ------------------------------------------------------------------ */

/* "On 6 December" says when, and not how long. Text up to the number of the day. */
static bool is_behind_on(const char *text, const word_token *day) {
    const char *s = day->s;
    while (s > text && s[-1] == ' ') s--;
    return s - text >= 2 && !strncasecmp(s - 2, "on", 2) &&
           (s - text == 2 || !word_token_letter(s[-3]));
}

/* A time or a way: "24 months", "3 m", "7:00 to 9:00", "3\'", "from 1914 to 1918", "until 19 July". */
static bool is_length(const char *text, size_t len, const word_token *before, const word_token *t) {
    const bool ranges = word_token_is_dash(before) && before->s > text &&
                        (fo_is_digit(before->s[-1]) || before->s[-1] == ' '); /* not HB-1042 */
    const bool of_a_name =
        t->letters && fo_is_upper(t->s[0]) && word_token_in("winter winters summer summers", t);
    if (demand_unit_of_a_speed(text, len, t)) return false;
    return (word_token_in(lengths, t) && !of_a_name) || /* "Winter Guests" */
           (demand_unit_is_number(before) &&
            (word_token_in(short_lengths, t) ||
             (demand_month_named(t) >= 0 && !is_behind_on(text, before)) || word_token_is(t, ":") ||
             word_token_is(t, "'") || word_token_is(t, "\""))) ||
           (word_token_in("from to until till", before) && demand_month_named(t) >= 0) ||
           (word_token_year(t) && (word_token_in("from to between and", before) ||
                                   demand_month_named(before) >= 0 || ranges));
}

/* Of what the rate is a share. */
static const char taxes[] = "tax interest vat";

/* "The tourist tax rate is 2 euros": the word "rate" at t is of the very rate, and a number is said to be it. */
static bool is_rate_in_numbers(const char *text, size_t len, const word_token *before,
                               const word_token *t) {
    size_t at = (size_t)(t->s - text) + t->n;
    word_token verb, next;
    if (!word_token_in("rate rates", t) || !word_token_in(taxes, before)) return false;
    for (verb = word_token_next(text, len, &at); (next = word_token_next(text, len, &at)).n;
         verb = next)
        if (demand_unit_is_number(&next) &&
            (word_token_in("is was are were about only", &verb) || word_token_is(&verb, ":")))
            return true;
    return false;
}

/* "5 %", "two points above the base rate", "zero-rated", "exempt", "3 per 1,000". */
static bool is_share(const char *text, size_t len, const word_token *before, const word_token *t) {
    return word_token_is(t, "%") || word_token_in("percent percentage zero exempt free", t) ||
           (word_token_in("per", before) && (word_token_in("cent mille", t) || t->digits)) ||
           (demand_unit_is_number(before) && word_token_in("point points", t)) ||
           (word_token_in("base", before) && word_token_in("rate", t)) ||
           is_rate_in_numbers(text, len, before, t);
}

static bool states(enum demand_amount amount, const char *text, size_t len,
                   const word_token *before, const word_token *t) {
    switch (amount) {
    case AMOUNT_NONE:
    case AMOUNT_OFTEN:
        return true;
    case AMOUNT_MONEY:
    case AMOUNT_EXPENSE: /* of other expenses see demand_amount_in */
        return is_money(before, t);
    case AMOUNT_WEIGHT:
        return demand_unit_is_number(before) && demand_unit_of_weight(t);
    case AMOUNT_TEMPERATURE:
        return demand_unit_of_degrees(t) ||
               (word_token_in("minus", before) && demand_unit_is_number(t));
    case AMOUNT_LONG:
        return is_length(text, len, before, t);
    case AMOUNT_LOUDNESS:
        return word_token_in(sounds, t);
    case AMOUNT_SHARE:
        return is_share(text, len, before, t);
    case AMOUNT_LENGTH:
    case AMOUNT_COUNT:
    case AMOUNT_ANY: /* "a third", "a millimetre a year"; "the third" is none */
        return demand_unit_is_number(t) ||
               (word_token_in("a one", before) &&
                (word_token_in(fractions, t) || word_token_in(lengths, t)));
    }
    return true;
}

enum amount_stated demand_amount_in(enum demand_amount amount, const char *text, size_t len) {
    if (amount == AMOUNT_NONE) return AMOUNT_STATED;
    if (amount == AMOUNT_OFTEN)
        return demand_often_in(text, len)            ? AMOUNT_STATED
               : demand_often_by_occasion(text, len) ? AMOUNT_PERHAPS
                                                     : AMOUNT_NOT_STATED;
    const bool money = amount == AMOUNT_MONEY || amount == AMOUNT_EXPENSE;
    enum amount_stated stated = AMOUNT_NOT_STATED;
    word_token before = {0};
    bool costs = false, expense = false;
    for (size_t at = word_tokens_mark(text, len);;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        if (states(amount, text, len, &before, &t)) return AMOUNT_STATED;
        if (amount == AMOUNT_TEMPERATURE && t.digits &&
            word_token_in("at above below under over around about", &before))
            stated = AMOUNT_PERHAPS;
        if (money && is_free(text, len, at, &before, &t)) return AMOUNT_STATED;
        if ((money || amount == AMOUNT_ANY) && is_in_words(&before, &t)) return AMOUNT_STATED;
        if (money) {
            if (may_be_in_words(text, &before, &t) && stated == AMOUNT_NOT_STATED)
                stated = AMOUNT_PERHAPS;
            const enum amount_stated bare = bare_price(text, len, at, &before, &t);
            if (bare > stated) stated = bare;
        }
        costs |= word_token_in("cost costs take takes took spend spends overhead slower", &t);
        expense |= demand_unit_is_number(&before) &&
                   (demand_unit_of_an_expense(&t) || word_token_is(&t, "%"));
        before = t;
    }
    /* Time, memory or a share is what something costs where the text says so ("takes 5 ms"): a number of seconds
     * alone may be anything. */
    if (amount == AMOUNT_EXPENSE && costs && expense) return AMOUNT_STATED;
    return money && stated == AMOUNT_PERHAPS && word_tokens_say(prices, text, len) ? AMOUNT_STATED
                                                                                   : stated;
}

bool demand_amount_column_in(enum demand_amount amount, const char *text, size_t len) {
    static const char *const words[] = {
        [AMOUNT_WEIGHT] = "weight weights mass heavy load kg g lb lbs oz t",
        [AMOUNT_TEMPERATURE] =
            "temperature temperatures temp heat hot cold warm max min top water air",
        [AMOUNT_LOUDNESS] = "db noise sound loudness volume",
        [AMOUNT_SHARE] = "rate rates percent percentage",
        [AMOUNT_LONG] = "duration time length long hours minutes seconds days weeks months years "
                        "period validity valid "
                        "term h min m km cm mm d s ms"};
    const char *list = (size_t)amount < sizeof words / sizeof *words ? words[amount] : NULL;
    return !list || word_tokens_say(list, text, len);
}

/* ---- the question ------------------------------------------------------------------------ */

static enum demand_amount kind_of_noun(const word_token *t) {
    if (word_token_in("price prices fee fees fare fares rent salary wage wages deposit fine "
                      "premium surcharge toll",
                      t))
        return AMOUNT_MONEY;
    if (word_token_in("cost costs", t)) return AMOUNT_EXPENSE;
    if (word_token_in("weight", t)) return AMOUNT_WEIGHT;
    return word_token_in("temperature", t) ? AMOUNT_TEMPERATURE : AMOUNT_NONE;
}

/* "From what size", "at what age": behind a preposition it is a number that is asked for, and no kind. */
static enum demand_amount kind_of_bound(const word_token *before, const word_token *noun) {
    return word_token_in("from to until till above below over under at by of", before) &&
                   word_token_in("size age height length width depth distance speed percentage",
                                 noun)
               ? AMOUNT_ANY
               : AMOUNT_NONE;
}

/* "The tax rate": a share. The rate of a room or of a student is a price. */
static bool asks_for_a_share(const word_token *before, const word_token *noun) {
    return word_token_in("rate rates", noun) && word_token_in(taxes, before);
}

/* Of "what's". */
static bool is_apostrophe(const word_token *t) {
    return word_token_is(t, "'") || word_token_is(t, "\xE2\x80\x99");
}

/* "What's the most I get for it?": the most that somebody gets, pays or carries, not the most of a kind. */
static bool asks_for_the_most(const char *rest, size_t len, const word_token *before,
                              const word_token *t) {
    size_t at = 0;
    word_token next = word_token_next(rest, len, &at);
    if (word_token_in("that", &next)) next = word_token_next(rest, len, &at);
    return word_token_in("most least", t) && word_token_in("the", before) &&
           word_token_in("i we you one they he she", &next);
}

/* Sums that have a name of their own: who asks for one of them is not told another one. A row has words for the same. */
static const char *const sums[] = {
    "rent rents rented rental lease tenant tenants landlord let",
    "salary salaries wage wages pay pays paid payroll earn earns earned income",
    "deposit deposits bond",
    "fine fines fined penalty penalties",
    "grant grants scholarship scholarships stipend stipends allowance allowances bursary bursaries",
};

enum { SUM_SALARY = 2 };

/* The sum that the word names, from 1; 0: none. */
static size_t sum_named(const word_token *t) {
    static const char *const names[] = {"rent rents", "salary salaries wage wages",
                                        "deposit deposits", "fine fines",
                                        "grant grants scholarship scholarships stipend stipends"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (word_token_in(names[i], t)) return i + 1;
    return 0;
}

/* "What is the rent", "how much rent": the sum that is asked for. */
static size_t sum_asked(const char *question, size_t len) {
    word_token before = {0}, t;
    for (size_t at = 0; (t = word_token_next(question, len, &at)).n; before = t) {
        const size_t sum = sum_named(&t);
        if (sum && word_token_in("the much is monthly yearly annual weekly a my our", &before))
            return sum;
    }
    return 0;
}

bool demand_sum_in(const char *question, size_t question_len, const char *text, size_t len) {
    const size_t asked = sum_asked(question, question_len);
    return !asked || word_tokens_say(sums[asked - 1], text, len);
}

/* Do the two words before the name of a sum say that it is not in another one: "without the grant"? */
static bool is_left_out(const word_token *before, const word_token *further) {
    static const char without[] = "without less minus plus besides not no excluding except";
    const bool article = word_token_in("the a an any your their", before);
    return word_token_in(without, before) || (article && word_token_in(without, further));
}

bool demand_other_sum_in(const char *question, size_t question_len, const char *text, size_t len) {
    const size_t asked = sum_asked(question, question_len);
    word_token further = {0}, before = {0}, t;
    for (size_t at = 0; asked && (t = word_token_next(text, len, &at)).n;
         further = before, before = t) {
        const size_t sum = sum_named(&t);
        if (sum && sum != asked && !is_left_out(&before, &further) &&
            !word_tokens_say(sums[sum - 1], question, question_len))
            return true;
    }
    return false;
}

/* Is a word and the one before it a sum of money: "390 euros", "$12", "14.90"? What is a number where nothing in the text has a
 * currency, bare. */
static bool is_sum(const word_token *before, const word_token *t, bool bare) {
    if (bare) return t->digits;
    const bool named = (demand_currency_named(t) && demand_unit_is_number(before)) ||
                       (demand_currency_named(before) && demand_unit_is_number(t));
    return named || (looks_like_price(t) && !demand_currency_named(before));
}

/* How many sums a text states, and where the first stands. "14.90 euros" is one. */
static size_t sums_stated(const char *text, size_t len, bool bare, size_t *first) {
    size_t n = 0;
    word_token before = {0}, t;
    const char *number = NULL; /* of the last sum */
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; before = t) {
        if (!is_sum(&before, &t, bare)) continue;
        const char *its = demand_unit_is_number(&t) ? t.s : before.s;
        if (its == number) continue;
        if (n++ == 0) *first = (size_t)(its - text);
        number = its;
    }
    return n;
}

/* The clause in which a byte stands: to the commas around it, or to what is joined behind it, "and no grant is given". */
static void clause_around(const char *text, size_t len, size_t byte, size_t *from, size_t *to) {
    word_token t;
    *from = 0;
    *to = len;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n;) {
        const size_t start = (size_t)(t.s - text);
        const bool behind = start > byte;
        const bool cut = (t.n == 1 && strchr(",;:.()", t.s[0])) ||
                         (behind && word_token_in("and but while whereas though or", &t));
        if (!cut) continue;
        if (behind) {
            *to = start;
            return;
        }
        *from = start + 1;
    }
}

bool demand_is_other_sum(const char *question, size_t question_len, const char *text, size_t len) {
    size_t first = 0, from, to;
    size_t n = sums_stated(text, len, false, &first);
    if (n == 0) n = sums_stated(text, len, true, &first);
    const char *colon = memchr(text, ':', len);
    const size_t label = colon ? (size_t)(colon - text) : 0;
    if (label && first > label && demand_other_sum_in(question, question_len, text, label) &&
        !demand_sum_paid_in(question, question_len, colon, len - label))
        return true;
    if (n != 1) return false;
    clause_around(text, len, first, &from, &to);
    if (word_tokens_say("cost costs", text + from, first - from)) /* "costs 90 with a grant" */
        to = first;
    return demand_other_sum_in(question, question_len, text + from, to - from);
}

bool demand_sum_paid_in(const char *question, size_t question_len, const char *text, size_t len) {
    static const char paid[] = "cost costs pay pays owe owes", got[] = "get gets earn earns";
    const size_t asked = sum_asked(question, question_len);
    return asked && word_tokens_say(asked == SUM_SALARY ? got : paid, text, len);
}

static enum demand_amount kind_of_verb(const word_token *t) {
    if (word_token_in("pay pays owe owes charge charges charged", t)) return AMOUNT_MONEY;
    if (word_token_in("cost costs", t)) return AMOUNT_EXPENSE;
    return word_token_in("weigh weighs", t) ? AMOUNT_WEIGHT : AMOUNT_NONE;
}

static enum demand_amount kind_of_adjective(const word_token *t) {
    if (word_token_in("many much far tall wide deep high fast old big large", t)) return AMOUNT_ANY;
    if (word_token_in("long", t)) return AMOUNT_LONG;
    if (word_token_in("often frequently", t)) return AMOUNT_OFTEN;
    if (word_token_in("heavy", t)) return AMOUNT_WEIGHT;
    if (word_token_in("loud noisy quiet", t)) return AMOUNT_LOUDNESS;
    if (word_token_in("warm hot cold", t)) return AMOUNT_TEMPERATURE;
    return word_token_in("expensive", t) ? AMOUNT_MONEY : AMOUNT_NONE;
}

/* "How big a dog": small ones, or such as fit in a bag. */
static bool is_of_a_kind(const char *rest, size_t len, const word_token *t) {
    size_t at = 0;
    const word_token next = word_token_next(rest, len, &at);
    return word_token_in("big large", t) && word_token_in("a an", &next);
}

/* Does the text say the word? */
static bool says_word(const char *text, size_t len, const word_token *word) {
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (t.n == word->n && !strncasecmp(t.s, word->s, t.n)) return true;
    }
}

bool demand_size_of(const char *question, size_t len) {
    size_t at = 0;
    const word_token how = word_token_next(question, len, &at),
                     big = word_token_next(question, len, &at);
    return word_token_in("how", &how) && word_token_in("big large", &big);
}

bool demand_size_in(const char *text, size_t len, const char *question, size_t question_len) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in("of as", &t) && word_token_in("size", &before)) return true;
        if (word_token_in("big large small tiny huge fit fits", &t) &&
            !says_word(question, question_len, &t))
            return true;
        before = t;
    }
}

enum demand_amount demand_amount_of(const char *question, size_t len) {
    enum { BEFORE, WHAT, IS, DOES, HOW, MUCH, PAST } at_word = BEFORE;
    enum demand_amount amount = AMOUNT_NONE, kind;
    bool aged = false; /* "how old": no other word tells what is asked for */
    size_t words = 0;  /* behind "what is": a noun stands among the first four */
    size_t next_at;
    word_token before, next, asks_before = {0},
                             t = {0}; /* asks_before: what "what" stands behind */
    for (size_t at = 0;;) {
        before = t;
        t = word_token_next(question, len, &at);
        if (!t.n) return amount;
        /* "How old is the peat where it is 6 m thick?": it says of what */
        if (aged && word_token_in("who whose when where", &t)) continue;
        if (word_token_in("who whom whose when where why called name named", &t))
            return AMOUNT_NONE;
        switch (at_word) {
        case BEFORE:
            at_word = word_token_in("what which", &t) ? WHAT
                      : word_token_in("how", &t)      ? HOW
                                                      : BEFORE;
            asks_before = before;
            if (demand_figure_is_default_port(&before, &t)) amount = AMOUNT_ANY, at_word = PAST;
            break;
        case WHAT:
            if (word_token_in("tcp udp", &t)) break; /* "Which TCP port": no harbour has one */
            amount = kind_of_noun(&t);
            if (amount == AMOUNT_NONE) amount = kind_of_bound(&asks_before, &t);
            if (demand_figure_is_port(question + at, len - at, &before, &t)) amount = AMOUNT_ANY;
            next_at = at;
            next = word_token_next(question, len, &next_at);
            if (asks_for_a_share(&t, &next)) amount = AMOUNT_SHARE;
            at_word = is_apostrophe(&t)                             ? WHAT
                      : word_token_in("is are was were s", &t)      ? IS
                      : word_token_in("do does did will would", &t) ? DOES
                                                                    : PAST;
            break;
        case IS:
            kind = asks_for_the_most(question + at, len - at, &before, &t) ||
                           demand_figure_is_limit(&before, &t) ||
                           demand_figure_is_default_port(&before, &t) ||
                           demand_figure_is_taken(question + at, len - at, &t)
                       ? AMOUNT_ANY
                       : kind_of_noun(&t);
            if (asks_for_a_share(&before, &t)) kind = AMOUNT_SHARE;
            if (kind != AMOUNT_NONE) amount = kind;
            if (++words == 4 || amount != AMOUNT_NONE ||
                word_token_in("of for at in on to that", &t))
                at_word = PAST;
            break;
        case HOW:
            amount =
                is_of_a_kind(question + at, len - at, &t) ? AMOUNT_NONE : kind_of_adjective(&t);
            at_word = word_token_in("many much", &t) ? MUCH : PAST;
            aged = word_token_in("old", &t);
            break;
        case MUCH:
            if (word_token_in("of", &t) && word_token_in("much", &before)) {
                at_word = PAST; /* "How much of the cost do we bear?": a share */
                break;
            }
            if (word_token_in("is are was were", &before) &&
                word_token_in("the a an my your our his her their one each this that these "
                              "those it they",
                              &t) &&
                amount == AMOUNT_ANY)
                amount = AMOUNT_MONEY; /* "How much is the red one?" */
            /* fall through */
        case DOES:
            kind = at_word == MUCH && kind_of_noun(&t) != AMOUNT_NONE ? kind_of_noun(&t)
                                                                      : kind_of_verb(&t);
            if (kind != AMOUNT_NONE) amount = kind;
            break;
        case PAST:
            break;
        }
    }
}
