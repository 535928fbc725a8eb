#include "retrieval/answer/demands.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"

typedef struct token {
    const char *s; /* a run of letters, of digits, or one byte of anything else but white space */
    size_t n;
    bool letters, digits;
} token;

static bool is_letter(char c) {
    unsigned char u = (unsigned char)c;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (u >= 0xC3 && u != 0xE2);
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
/* Bytes of the white space at i, no-break and thin spaces too; 0: none. */
static size_t blank_at(const char *text, size_t len, size_t i) {
    if (i >= len) return 0;
    return fo_is_blank(text[i]) ? 1 : fo_utf8_wide_blank(text + i, len - i);
}

/* The token at or behind byte *at, which moves behind it; n = 0 at the end. What begins with C2 or E2 in
 * UTF-8 is a sign (degree, pound, euro, dash), what begins with C3 and above a letter. */
static token next_token(const char *text, size_t len, size_t *at) {
    size_t i = *at, blank;
    while ((blank = blank_at(text, len, i)) > 0) i += blank;
    token t = {.s = text + i};
    if (i == len) {
        *at = len;
        return t;
    }
    size_t k = i + 1;
    if (is_digit(text[i])) {
        t.digits = true;
        while (k < len && (is_digit(text[k]) || ((text[k] == '.' || text[k] == ',') &&
                                                 k + 1 < len && is_digit(text[k + 1]))))
            k++;
    } else if ((unsigned char)text[i] == 0xE2 || (unsigned char)text[i] == 0xC2) {
        while (k < len && ((unsigned char)text[k] & 0xC0) == 0x80) k++;
    } else if (is_letter(text[i])) {
        t.letters = true;
        while (k < len && (is_letter(text[k]) || ((unsigned char)text[k] & 0xC0) == 0x80)) k++;
    }
    t.n = k - i;
    *at = k;
    return t;
}

static bool in(const char *list, const token *t) {
    return t->letters && fo_words_have_any_case(list, t->s, t->n);
}

static bool is(const token *t, const char *bytes) {
    return t->n == strlen(bytes) && memcmp(t->s, bytes, t->n) == 0;
}

/* ---- days -------------------------------------------------------------------------------- */

enum { EVERY_DAY = 0x7F, WORKING_DAYS = 0x1F, WEEKEND = 0x60, NO_DAY = -1 };

/* Monday is 0. A short form has a capital and a sign behind it, or ends a range ("Mon-Fri", "Sat:"): the
 * sun and what sat down are none. */
static int day_of(const token *t, char behind, bool ends_range) {
    static const char *const names[] = {
        "monday mondays", "tuesday tuesdays",   "wednesday wednesdays", "thursday thursdays",
        "friday fridays", "saturday saturdays", "sunday sundays"};
    static const char *const shorts[] = {"Mon", "Tue Tues", "Wed", "Thu Thur Thurs",
                                         "Fri", "Sat",      "Sun"};
    bool sign =
        ends_range || (behind && !is_letter(behind) && !fo_is_blank(behind) && !is_digit(behind));
    for (int d = 0; t->letters && d < 7; d++)
        if (in(names[d], t) || (sign && fo_words_have(shorts[d], t->s, t->n))) return d;
    return NO_DAY;
}

/* Days a to b, over the end of the week where b comes before a. */
static uint8_t range(int a, int b) {
    uint8_t days = 0;
    for (int d = a;; d = (d + 1) % 7) {
        days |= (uint8_t)(1 << d);
        if (d == b) return days;
    }
}

static bool is_range_sign(const token *t) {
    return in("to until till through", t) || is(t, "-") || is(t, "\xE2\x80\x93") ||
           is(t, "\xE2\x80\x94");
}

static uint8_t days_in(const char *text, size_t len) {
    uint8_t days = 0;
    token before = {0};
    int last = NO_DAY; /* the day that stands before a sign of a range */
    for (size_t at = 0;;) {
        token t = next_token(text, len, &at);
        if (!t.n) return days;
        bool ends_range = last != NO_DAY && is_range_sign(&before);
        int day = day_of(&t, at < len ? text[at] : 0, ends_range);
        if (day != NO_DAY) days |= ends_range ? range(last, day) : (uint8_t)(1 << day);
        if (in("daily", &t) || (in("every each", &before) && in("day", &t))) days |= EVERY_DAY;
        if (in("weekdays", &t)) days |= WORKING_DAYS;
        if (in("weekend weekends", &t)) days |= WEEKEND;
        if (day != NO_DAY || !is_range_sign(&t)) last = day;
        before = t;
    }
}

enum demand_day demands_day_in(const demands *d, const char *text, size_t len) {
    uint8_t said = d->days ? days_in(text, len) : 0;
    return !said ? DAY_NOT_SAID : said & d->days ? DAY_MET : DAY_OTHER;
}

/* ---- amounts ----------------------------------------------------------------------------- */

static const char *const numerals =
    "no none zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred hundreds thousand thousands million millions billion billions dozen dozens "
    "half "
    "quarter once twice single double triple several";
static const char *const currencies =
    "euro euros eur dollar dollars usd pound pounds gbp cent cents pence penny crown crowns krone "
    "kroner kronor nok sek dkk franc francs chf yen jpy yuan rupee rupees inr gratis nothing";
static const char *const weights =
    "kg kilo kilos kilogram kilograms kilogramme kilogrammes g gram grams gramme grammes mg t "
    "tonne "
    "tonnes ton tons lb lbs pound pounds oz ounce ounces stone carat carats";
static const char *const expenses =
    "ms s second seconds minute minutes hour hours day days byte bytes kb mb gb kib mib gib token "
    "tokens percent cycles instructions";

static const char *const lengths =
    "second seconds minute minutes hour hours day days night nights week weeks weekend weekends "
    "fortnight month months "
    "quarter quarters year years decade decades century centuries semester semesters season "
    "seasons term lifetime life "
    "forever permanently indefinitely overnight until till since metre metres meter "
    "meters kilometre "
    "kilometres kilometer kilometers centimetre centimetres centimeter centimeters millimetre "
    "millimetres millimeter "
    "millimeters mile miles foot feet inch inches yard yards line lines page pages word words "
    "character characters "
    "byte bytes bit bits digit digits letter letters sentence sentences syllable syllables";
static const char *const short_lengths =
    "s sec secs m min mins h hr hrs d ms us ns km cm mm ft in mi yd";

static bool is_number(const token *t) {
    return t->digits || in(numerals, t);
}

/* "8.50": in a list of prices what they are in is seldom said. */
static bool looks_like_price(const token *t) {
    const char *dot = t->digits ? memchr(t->s, '.', t->n) : NULL;
    size_t behind = dot ? t->n - (size_t)(dot + 1 - t->s) : 0;
    return behind >= 2 && !memchr(dot + 1, '.', behind);
}

/* "Children go free", "free of charge", "no charge" and "2.1 km, 1.4 million" state a price, "free space" none. */
static bool is_money(const token *before, const token *t) {
    if (in("free", t)) return in("is are be go goes travel travels ride rides enter for", before);
    if (in("charge", t)) return in("of no", before);
    if (in("million millions billion billions", t)) return is_number(before);
    return in(currencies, t) || looks_like_price(t) || is(t, "$") || is(t, "\xE2\x82\xAC") ||
           is(t, "\xC2\xA3") || is(t, "\xC2\xA5");
}

static bool states(enum demand_amount amount, const token *before, const token *t) {
    switch (amount) {
    case AMOUNT_NONE:
        return true;
    case AMOUNT_MONEY:
        return is_money(before, t);
    case AMOUNT_EXPENSE: /* money; of other expenses see demands_amount_in */
        return is_money(before, t);
    case AMOUNT_WEIGHT:
        return is_number(before) && in(weights, t);
    case AMOUNT_TEMPERATURE:
        return is(t, "\xC2\xB0") || in("degree degrees celsius fahrenheit kelvin", t);
    case AMOUNT_LONG: /* "from 1914 to 1918", "7:00 to 9:00", "3\'" */
        return in(lengths, t) ||
               (is_number(before) &&
                (in(short_lengths, t) || is(t, ":") || is(t, "'") || is(t, "\""))) ||
               (t->digits && t->n == 4 &&
                (in("from to between and", before) || is(before, "-") ||
                 is(before, "\xE2\x80\x93")));
    case AMOUNT_ANY:
        return is_number(t);
    }
    return true;
}

/* Time, memory or a share is what something costs where the text says so ("takes 5 ms"): a number of
 * seconds alone may be anything. */
bool demands_amount_in(const demands *d, const char *text, size_t len) {
    if (d->amount == AMOUNT_NONE) return true;
    token before = {0};
    bool costs = false, expense = false;
    for (size_t at = 0;;) {
        token t = next_token(text, len, &at);
        if (!t.n) return d->amount == AMOUNT_EXPENSE && costs && expense;
        if (states(d->amount, &before, &t)) return true;
        costs |= in("cost costs take takes took spend spends overhead slower", &t);
        expense |= is_number(&before) && (in(expenses, &t) || is(&t, "%"));
        before = t;
    }
}

bool demands_column_in(const demands *d, const char *text, size_t len) {
    static const char *const words[] = {
        [AMOUNT_WEIGHT] = "weight weights mass heavy load kg g lb lbs oz t",
        [AMOUNT_TEMPERATURE] =
            "temperature temperatures temp heat hot cold warm max min top water air",
        [AMOUNT_LONG] = "duration time length long hours minutes seconds days weeks months years "
                        "period validity valid "
                        "term h min m km cm mm d s ms"};
    const char *list = (size_t)d->amount < sizeof words / sizeof *words ? words[d->amount] : NULL;
    if (!list) return true;
    for (size_t at = 0;;) {
        token t = next_token(text, len, &at);
        if (!t.n) return false;
        if (in(list, &t)) return true;
    }
}

/* ---- places ------------------------------------------------------------------------------ */

static const char *const prepositions =
    "in into inside within on onto upon at to toward towards from under underneath below beneath "
    "over above "
    "behind before beside besides between among near nearby next by alongside amid beyond "
    "throughout through across around along "
    "opposite "
    "outside off up down against past via here there everywhere anywhere nowhere elsewhere "
    "wherever abroad home "
    "north south east west left right indoors outdoors upstairs downstairs online";

/* Names of times, and words for them: "in March", "on the second Sunday of Advent" say when. */
static const char *const times =
    "january february march april may june july august september october november december monday "
    "mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday "
    "saturdays sunday sundays easter advent christmas lent ramadan pentecost spring summer autumn "
    "winter morning mornings afternoon afternoons evening evenings night weekend weekends week "
    "weeks month months year years season seasons advance time";
static const char *const between =
    "the a an this that each every first second third fourth fifth last next early late";

/* A name: a capital within a sentence. */
static bool is_name(const token *before, const token *t) {
    return t->letters && t->s[0] >= 'A' && t->s[0] <= 'Z' && (before->letters || before->digits) &&
           !in(times, t);
}

/* Does what stands behind a preposition say when? The token that tells is the first that is no article. */
static bool is_time(const char *text, size_t len, size_t at) {
    token t;
    do t = next_token(text, len, &at);
    while (in(between, &t));
    return in(times, &t) || (t.digits && t.n == 4 && (t.s[0] == '1' || t.s[0] == '2'));
}

bool demands_place_in(const demands *d, const char *text, size_t len) {
    if (!d->place) return true;
    token before = {0};
    for (size_t at = 0;;) {
        token t = next_token(text, len, &at);
        if (!t.n) return false;
        if ((in(prepositions, &t) && !is_time(text, len, at)) || is(&t, "/") || is(&t, "~") ||
            is(&t, "@") || is_name(&before, &t))
            return true;
        before = t;
    }
}

/* ---- offices ----------------------------------------------------------------------------- */

/* Words that make another office of one. */
static const char *const ranks[] = {"vice deputy", "assistant", "acting interim", "honorary"};

static uint8_t ranks_in(const char *text, size_t len) {
    uint8_t found = 0;
    for (size_t at = 0;;) {
        token t = next_token(text, len, &at);
        if (!t.n) return found;
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
            if (in(ranks[i], &t)) found |= (uint8_t)(1 << i);
    }
}

bool demands_rank_in(const demands *d, const char *text, size_t len) {
    return !d->rank || (ranks_in(text, len) & d->rank) != 0;
}

/* ---- the question ------------------------------------------------------------------------ */

static enum demand_amount kind_of_noun(const token *t) {
    if (in("price prices fee fees fare fares rent salary wage wages deposit fine premium surcharge "
           "toll",
           t))
        return AMOUNT_MONEY;
    if (in("cost costs", t)) return AMOUNT_EXPENSE;
    if (in("weight", t)) return AMOUNT_WEIGHT;
    return in("temperature", t) ? AMOUNT_TEMPERATURE : AMOUNT_NONE;
}

static enum demand_amount kind_of_verb(const token *t) {
    if (in("pay pays charge charges charged", t)) return AMOUNT_MONEY;
    if (in("cost costs", t)) return AMOUNT_EXPENSE;
    return in("weigh weighs", t) ? AMOUNT_WEIGHT : AMOUNT_NONE;
}

static enum demand_amount kind_of_adjective(const token *t) {
    if (in("many much far tall wide deep high fast old", t)) return AMOUNT_ANY;
    if (in("long", t)) return AMOUNT_LONG;
    if (in("heavy", t)) return AMOUNT_WEIGHT;
    if (in("warm hot cold", t)) return AMOUNT_TEMPERATURE;
    return in("expensive", t) ? AMOUNT_MONEY : AMOUNT_NONE;
}

/* "What is the yearly rent", "what does it cost", "at what temperature", "how heavy", "how much ... pay".
 * How something is done, who, why, when and what something is called are other questions. */
static enum demand_amount amount_of(const char *question, size_t len) {
    enum { BEFORE, WHAT, IS, DOES, HOW, MUCH, PAST } at_word = BEFORE;
    enum demand_amount amount = AMOUNT_NONE, kind;
    size_t words = 0; /* behind "what is": a noun stands among the first four */
    for (size_t at = 0;;) {
        token t = next_token(question, len, &at);
        if (!t.n) return amount;
        if (in("who whom whose when where why called name named", &t)) return AMOUNT_NONE;
        switch (at_word) {
        case BEFORE:
            at_word = in("what which", &t) ? WHAT : in("how", &t) ? HOW : BEFORE;
            break;
        case WHAT:
            amount = kind_of_noun(&t);
            at_word = in("is are was were", &t)          ? IS
                      : in("do does did will would", &t) ? DOES
                                                         : PAST;
            break;
        case IS:
            kind = kind_of_noun(&t);
            if (kind != AMOUNT_NONE) amount = kind;
            if (++words == 4 || amount != AMOUNT_NONE || in("of for at in on to that", &t))
                at_word = PAST;
            break;
        case HOW:
            amount = kind_of_adjective(&t);
            at_word = in("many much", &t) ? MUCH : PAST;
            break;
        case DOES:
        case MUCH:
            kind = at_word == MUCH && kind_of_noun(&t) != AMOUNT_NONE ? kind_of_noun(&t)
                                                                      : kind_of_verb(&t);
            if (kind != AMOUNT_NONE) amount = kind;
            break;
        case PAST:
            break;
        }
    }
}

/* What "how many" counts: the last of a few words before the verb. What is said in other words as often as not is left out. */
static size_t counted_in(const char *question, size_t len) {
    static const char *const verbs = "are is were was be been do does did can could may might must "
                                     "should will would have has had in "
                                     "of on at to from per there";
    static const char *const often = "people persons person men women children students users "
                                     "customers members times time things "
                                     "thing items item types type kinds kind sorts sort units unit "
                                     "pieces copies copy parts part "
                                     "years months weeks days hours minutes seconds miles "
                                     "kilometers kilometres kilometer kilometre "
                                     "meters metres feet inches acres hectares tons tonnes percent "
                                     "degrees dollars euros pounds more "
                                     "others other different total ones one";
    enum { MOST = 3 };
    size_t at = 0, counted = 0, words = 0;
    for (token before = {0}, t;; before = t) {
        t = next_token(question, len, &at);
        if (!t.n) return 0;
        if (in("many", &t) && in("how", &before)) break;
    }
    for (token last = {0}, t; words <= MOST; words++, last = t) {
        t = next_token(question, len, &at);
        if (in("people persons", &t))
            return 0; /* "fit in", "per room", "sit": who is not always said */
        if (!t.letters || in(verbs, &t)) return words && !in(often, &last) ? counted : 0;
        counted = (size_t)(t.s - question);
    }
    return 0;
}

demands demands_read(const char *question, size_t len) {
    uint8_t days = days_in(question, len);
    size_t at = 0;
    token first = next_token(question, len, &at);
    return (demands){.amount = amount_of(question, len),
                     .days = days == EVERY_DAY ? 0 : days,
                     .place = in("where", &first),
                     .counted = counted_in(question, len),
                     .rank = in("who whom whose", &first) ? ranks_in(question, len) : 0};
}
