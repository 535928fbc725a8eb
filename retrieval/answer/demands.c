#include "retrieval/answer/demands.h"

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/word_tokens.h"

/* ---- days -------------------------------------------------------------------------------- */

enum { EVERY_DAY = 0x7F, WORKING_DAYS = 0x1F, WEEKEND = 0x60, NO_DAY = -1 };

/* Monday is 0. A short form has a capital and a sign behind it, or ends a range ("Mon-Fri", "Sat:"): the
 * sun and what sat down are none. */
static int day_of(const word_token *t, char behind, bool ends_range) {
    static const char *const names[] = {
        "monday mondays", "tuesday tuesdays",   "wednesday wednesdays", "thursday thursdays",
        "friday fridays", "saturday saturdays", "sunday sundays"};
    static const char *const shorts[] = {"Mon", "Tue Tues", "Wed", "Thu Thur Thurs",
                                         "Fri", "Sat",      "Sun"};
    bool sign =
        ends_range || (behind && !word_token_letter(behind) && !fo_is_blank(behind) && !word_token_digit(behind));
    for (int d = 0; t->letters && d < 7; d++)
        if (word_token_in(names[d], t) || (sign && fo_words_have(shorts[d], t->s, t->n))) return d;
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

static bool is_range_sign(const word_token *t) {
    return word_token_in("to until till through", t) || word_token_is(t, "-") || word_token_is(t, "\xE2\x80\x93") ||
           word_token_is(t, "\xE2\x80\x94");
}

/* The byte behind a word, or the bar that ends its cell of a table. */
static char sign_behind(const char *text, size_t len, size_t at) {
    return at + 1 < len && text[at] == ' ' && text[at + 1] == '|' ? '|' : at < len ? text[at] : 0;
}

static uint8_t days_in(const char *text, size_t len) {
    uint8_t days = 0;
    word_token before = {0};
    int last = NO_DAY; /* the day that stands before a sign of a range */
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return days;
        bool ends_range = last != NO_DAY && is_range_sign(&before);
        int day = day_of(&t, sign_behind(text, len, at), ends_range);
        if (day != NO_DAY) days |= ends_range ? range(last, day) : (uint8_t)(1 << day);
        if (word_token_in("daily", &t) || (word_token_in("every each", &before) && word_token_in("day", &t))) days |= EVERY_DAY;
        if (word_token_in("weekdays", &t)) days |= WORKING_DAYS;
        if (word_token_in("weekend weekends", &t)) days |= WEEKEND;
        if (day != NO_DAY || !is_range_sign(&t)) last = day;
        before = t;
    }
}

/* "Only on Saturdays" answers whether it can be done on a Wednesday. */
enum demand_day demands_day_in(const demands *d, const char *text, size_t len) {
    uint8_t said = d->days ? days_in(text, len) : 0;
    return said & d->days ? DAY_MET : !said || d->whether ? DAY_NOT_SAID : DAY_OTHER;
}

/* ---- months ------------------------------------------------------------------------------ */

enum { NO_MONTH = -1, MONTHS = 12 };

/* January is 0. "may" is a month beside a number or behind a word of time, and so is "march". */
static int month_of(const word_token *t, const word_token *before, bool number_behind) {
    static const char *const names[MONTHS] = {"january", "february", "march",     "april",
                                              "may",     "june",     "july",      "august",
                                              "september", "october", "november", "december"};
    for (int m = 0; m < MONTHS; m++) {
        if (!word_token_in(names[m], t)) continue;
        const bool beside = before->digits || number_behind ||
                            word_token_in("in from to until till of by since early late mid during before after and or through next last each every", before);
        return (m == 2 || m == 4) && !beside ? NO_MONTH : m;
    }
    return NO_MONTH;
}

/* Months that are named, and those between two: "from 1 November to 31 March". */
static uint16_t months_in(const char *text, size_t len) {
    uint16_t months = 0;
    word_token before = {0};
    int last = NO_MONTH;
    bool ranges = false; /* since the last month nothing stood but a sign of a range and a number */
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return months;
        size_t behind = at;
        const word_token next = word_token_next(text, len, &behind);
        const int month = month_of(&t, &before, next.digits);
        if (month != NO_MONTH) {
            for (int m = last; ranges && m != month; m = (m + 1) % MONTHS) months |= (uint16_t)(1 << m);
            months |= (uint16_t)(1 << month);
            last = month;
            ranges = false;
        } else if (last != NO_MONTH && is_range_sign(&t)) {
            ranges = true;
        } else if (!t.digits && !(ranges && word_token_in("the end of mid early late", &t))) {
            last = NO_MONTH;
            ranges = false;
        }
        before = t;
    }
}

enum demand_day demands_month_in(const demands *d, const char *text, size_t len) {
    const uint16_t said = d->months ? months_in(text, len) : 0;
    return said & d->months ? DAY_MET : !said || d->whether ? DAY_NOT_SAID : DAY_OTHER;
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

static const char *const places =
    "room rooms bin bins box boxes door desk counter floor level shelf shelves drawer cupboard field street road square yard "
    "station hall building house shed garage corner office screen menu tab";

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
static bool is_name(const word_token *before, const word_token *t) {
    return t->letters && t->s[0] >= 'A' && t->s[0] <= 'Z' && (before->letters || before->digits) &&
           !word_token_in(times, t);
}

/* Does what stands behind a preposition say when? The token that tells is the first that is no article. */
static bool is_time(const char *text, size_t len, size_t at) {
    word_token t;
    do t = word_token_next(text, len, &at);
    while (word_token_in(between, &t));
    return word_token_in(times, &t) || (t.digits && t.n == 4 && (t.s[0] == '1' || t.s[0] == '2'));
}

bool demands_place_in(const demands *d, const char *text, size_t len) {
    if (!d->place) return true;
    word_token before = {0};
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if ((word_token_in(prepositions, &t) && !is_time(text, len, at)) || word_token_is(&t, "/") || word_token_is(&t, "~") ||
            word_token_is(&t, "@") || word_token_in(places, &t) || is_name(&before, &t))
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
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return found;
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
            if (word_token_in(ranks[i], &t)) found |= (uint8_t)(1 << i);
    }
}

bool demands_rank_in(const demands *d, const char *text, size_t len) {
    return !d->rank || (ranks_in(text, len) & d->rank) != 0;
}

/* ---- the question ------------------------------------------------------------------------ */

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
    for (word_token before = {0}, t;; before = t) {
        t = word_token_next(question, len, &at);
        if (!t.n) return 0;
        if (word_token_in("many", &t) && word_token_in("how", &before)) break;
    }
    for (word_token last = {0}, t; words <= MOST; words++, last = t) {
        t = word_token_next(question, len, &at);
        if (word_token_in("people persons", &t))
            return 0; /* "fit in", "per room", "sit": who is not always said */
        if (!t.letters || word_token_in(verbs, &t)) return words && !word_token_in(often, &last) ? counted : 0;
        counted = (size_t)(t.s - question);
    }
    return 0;
}

/* Is yes or no asked for? An auxiliary, and no word that asks for something ("She was ill, can she catch up?"). */
static bool asks_whether(const char *question, size_t len) {
    bool whether = false;
    for (size_t at = 0;;) {
        word_token t = word_token_next(question, len, &at);
        if (!t.n) return whether;
        if (word_token_in("what which who whom whose when where why how", &t)) return false;
        whether |= word_token_in("is are am was were do does did can could may might must shall "
                                 "should will would has have had",
                                 &t);
    }
}

/* "Which boats need a licence?", "What classes are free?"; "Which need none?" asks for the others. */
static bool asks_which(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    bool which = word_token_in("which what", &t);
    while (which && t.n) {
        t = word_token_next(question, len, &at);
        which = !word_token_in("no not none never without cannot", &t);
    }
    return which;
}

demands demands_read(const char *question, size_t len) {
    uint8_t days = days_in(question, len);
    size_t at = 0;
    word_token first = word_token_next(question, len, &at);
    return (demands){.amount = demand_amount_of(question, len),
                     .days = days == EVERY_DAY ? 0 : days,
                     .months = months_in(question, len),
                     .which = asks_which(question, len),
                     .whether = asks_whether(question, len),
                     .place = word_token_in("where", &first),
                     .counted = counted_in(question, len),
                     .rank = word_token_in("who whom whose", &first) ? ranks_in(question, len) : 0};
}
