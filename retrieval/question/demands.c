#include "retrieval/question/demands.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/demand_when.h"
#include "retrieval/question/foreign_amounts.h"
#include "retrieval/question/foreign_days.h"
#include "retrieval/question/foreign_demands.h"
#include "retrieval/question/hindi_demands.h"
#include "retrieval/question/unspaced_demands.h"
#include "retrieval/text/word_tokens.h"

/* ---- days and months -------------------------------------------------------------------- */

/* "18:30 from April to September, 17:00 in the other months": does the text speak of those that it does not name, too? */
static bool speaks_of_the_rest(const char *text, size_t len, const char *rest_of) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in("other remaining", &before) && word_token_in(rest_of, &t)) return true;
        if (word_token_in("rest", &before) && word_token_in("of", &t)) {
            size_t behind = at;
            word_token what = word_token_next(text, len, &behind);
            if (word_token_in("the", &what)) what = word_token_next(text, len, &behind);
            if (word_token_in("year week month season", &what)) return true;
        }
        before = t;
    }
}

/* "Only on Saturdays" answers whether it can be done on a Wednesday. */
enum demand_day demands_day_in(const demands *d, const char *text, size_t len) {
    if (d->days && d->language >= 0) {
        bool open;
        const uint8_t named = foreign_days_in(d->language, text, len, &open);
        if (named & d->days) return DAY_MET;
        return !named || d->whether || open ? DAY_NOT_SAID : DAY_OTHER;
    }
    uint8_t said = d->days ? demand_days_in(text, len) : 0;
    if (said & d->days || (said && speaks_of_the_rest(text, len, "days"))) return DAY_MET;
    return !said || d->whether || demand_days_open(text, len) ? DAY_NOT_SAID : DAY_OTHER;
}

enum demand_day demands_month_in(const demands *d, const char *text, size_t len) {
    const uint16_t said = d->months ? demand_months_in(text, len) : 0;
    if (said & d->months || (said && speaks_of_the_rest(text, len, "months seasons")))
        return DAY_MET;
    return !said || d->whether || demand_months_open(text, len) ? DAY_NOT_SAID : DAY_OTHER;
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
    "room rooms bin bins box boxes door desk counter floor level shelf shelves drawer cupboard "
    "field street road square yard "
    "station hall building house shed garage corner office screen menu tab where place location "
    "venue address";

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
        if ((word_token_in(prepositions, &t) && !is_time(text, len, at)) ||
            word_token_is(&t, "/") || word_token_is(&t, "~") || word_token_is(&t, "@") ||
            word_token_in(places, &t) || is_name(&before, &t))
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

/* ---- extremes ---------------------------------------------------------------------------- */

bool demands_extreme_in(const char *text, size_t len) {
    static const char extremes[] =
        "cheapest dearest tallest shortest longest largest biggest smallest highest lowest oldest "
        "youngest newest fastest slowest heaviest lightest earliest latest hottest coldest warmest "
        "deepest widest loudest noisiest quietest strongest weakest nearest closest farthest "
        "furthest busiest richest "
        "poorest "
        "fewest best worst maximum minimum max min";
    word_token before = {0};
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in(extremes, &t)) return true;
        if (word_token_in("most least", &t) && !word_token_in("at", &before)) return true;
        before = t;
    }
}

/* ---- first and last ---------------------------------------------------------------------- */

bool demands_turn_in(const char *text, size_t len, bool *last, size_t *behind) {
    static const char
        comes[] = "bus buses tram trams train trains ferry ferries boat boats flight flights metro "
                  "shuttle "
                  "coach departure departures connection",
        does[] =
            "start starts begin begins leave leaves depart departs arrive arrives open opens close "
            "closes end ends finish finishes go goes run runs come comes sail sails",
        others[] =
            "name names aid floor class time times day days date week month year years night half "
            "thing things step steps chance of two three four five few and or one";
    const bool asks = word_tokens_say("when which what who", text, len);
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in("first last", &t)) {
            size_t next_at = at;
            const word_token next = word_token_next(text, len, &next_at);
            const bool noun = asks && next.letters && !word_token_in(others, &next) &&
                              word_token_in("the our my your their s", &before);
            if (word_token_in(comes, &next) || noun || (asks && word_token_in(does, &before))) {
                *last = word_token_in("last", &t);
                *behind = at;
                return true;
            }
        }
        before = t;
    }
}

bool demands_comparison_in(const char *text, size_t len) {
    bool last;
    size_t behind;
    return demands_extreme_in(text, len) || demands_turn_in(text, len, &last, &behind);
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
        if (!t.letters || word_token_in(verbs, &t))
            return words && !word_token_in(often, &last) ? counted : 0;
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

/* ---- reasons ----------------------------------------------------------------------------- */

/* "Why is it shut?", "And why ...", "How come ..." */
static bool asks_why(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    if (word_token_in("and but so then", &t)) t = word_token_next(question, len, &at);
    if (word_token_in("how", &t)) {
        t = word_token_next(question, len, &at);
        return word_token_in("come", &t);
    }
    return word_token_in("why", &t);
}

enum reason_given demands_reason_in(const demands *d, const char *text, size_t len) {
    static const char *const words =
        "because due owing reason reasons account so otherwise to for as after since if or lest "
        "too cannot without prevent prevents "
        "avoid avoids protect protects cause causes caused risk risks danger dangerous against "
        "when therefore thus means meant";
    static const char *const perhaps =
        "could would might may clog clogs lack lacks lacking fail fails failed wrong that which "
        "who whose it they he she this "
        "need needs needed make makes made let lets can will has have had through from";
    if (!d->reason || word_tokens_say(words, text, len)) return REASON_GIVEN;
    return word_tokens_say(perhaps, text, len) ? REASON_PERHAPS : REASON_NONE;
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

static const char *const denials = "no not none never without cannot except t"; /* "doesn't" */

/* "Who is not there?", "Who doesn't pay?": the denial within the first few words. */
static bool asks_who_not(const char *question, size_t len) {
    enum { FIRST = 4 };
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    if (!word_token_in("who", &t)) return false;
    for (int i = 0; i < FIRST && t.n; i++) {
        t = word_token_next(question, len, &at);
        if (word_token_in("not never t", &t)) return true;
    }
    return false;
}

static demands read_in_english(const char *question, size_t len) {
    const bool which = asks_which(question, len);
    uint8_t days = demand_days_in(question, len);
    size_t at = 0;
    word_token first = word_token_next(question, len, &at);
    const bool whether = asks_whether(question, len);
    bool last;
    return (demands){.language = -1,
                     .amount = demand_amount_of(question, len),
                     .dimension = demand_dimension_of(question, len),
                     .detail = demand_detail_of(question, len),
                     .days = days == DEMAND_EVERY_DAY ? 0 : days,
                     .months = demand_months_in(question, len),
                     .year = demand_year_of(question, len),
                     .date = whether ? 0 : demand_date_in(question, len),
                     .extreme = demands_extreme_in(question, len),
                     .in_turn = demands_turn_in(question, len, &last, &at),
                     .which = which,
                     .which_none = !which && word_token_in("which what", &first),
                     .who_not = asks_who_not(question, len),
                     .none = word_tokens_say(denials, question, len),
                     .whether = whether,
                     .place = word_token_in("where", &first),
                     .reason = asks_why(question, len),
                     .when = demand_when_asked(question, len),
                     .counted = counted_in(question, len),
                     .rank = word_token_in("who whom whose", &first) ? ranks_in(question, len) : 0};
}

/* Which of the words are those of a place, a reason, a day or an office is known of English alone: of texts in another language
 * nothing of it is demanded. */
static demands of_foreign_texts(demands d, int language) {
    d.language = language;
    d.dimension = DIMENSION_ANY;
    if (d.amount == AMOUNT_OFTEN) d.amount = AMOUNT_NONE; /* in their words it is not known */
    d.place = d.reason = d.when = false;
    d.days = d.rank = 0;
    d.months = 0;
    d.counted = 0;
    return d;
}

/* "Was kostet das Frühstück?" of English texts: read in its own language, and held against them in theirs. */
static bool read_of_english_texts(demands *out, const char *question, size_t len) {
    const demand_words *own = demand_words_of(language_across(question, len, "english"));
    if (!own) return false;
    const foreign_demands f = foreign_demands_read(own, question, len);
    *out = (demands){.language = -1,
                     .amount = f.amount,
                     .detail = f.detail,
                     .year = demand_year_of(question, len),
                     .date = demand_date_in(question, len)};
    return true;
}

/* "多少钱": of texts without spaces, in the language of the question too. */
static bool read_unspaced(demands *out, const char *question, size_t len, int language) {
    const int english = language_number("english");
    if (!unspaced_demands_known(language)) return false;
    if (language_of_question(question, len, language_name(language), 1ull << english) == english)
        return false;
    const unspaced_demands u = unspaced_demands_read(language, question, len);
    *out = (demands){.language = language,
                     .amount = u.amount,
                     .detail = u.detail,
                     .date = demand_date_in(question, len)};
    memcpy(out->noun, u.counter, sizeof u.counter);
    return true;
}

static bool read_hindi(demands *out, const char *question, size_t len, int language) {
    const int english = language_number("english");
    if (!hindi_demands_known(language)) return false;
    if (language_of_question(question, len, language_name(language), 1ull << english) == english)
        return false;
    const foreign_demands f = hindi_demands_read(question, len);
    *out = (demands){.language = language,
                     .amount = f.amount,
                     .detail = f.detail,
                     .counted = f.counted,
                     .date = demand_date_in(question, len)};
    memcpy(out->noun, f.noun, sizeof out->noun);
    return true;
}

demands demands_read(const char *question, size_t len, int language) {
    const demand_words *w = demand_words_of(language);
    demands across;
    if (read_hindi(&across, question, len, language)) return across;
    if (read_unspaced(&across, question, len, language)) return across;
    if (!w && language < 0 && read_of_english_texts(&across, question, len)) return across;
    if (!w) return read_in_english(question, len);
    const int english = language_number("english");
    if (language_of_question(question, len, w->language, 1ull << english) == english)
        return of_foreign_texts(read_in_english(question, len), language);
    const foreign_demands f = foreign_demands_read(w, question, len);
    bool last;
    size_t behind;
    demands d = {.language = language,
                 .amount = f.amount,
                 .detail = f.detail,
                 .counted = f.counted,
                 .office = f.office,
                 .deputy = f.deputy,
                 .year = demand_year_of(question, len),
                 .date = demand_date_in(question, len),
                 .extreme = demands_extreme_in(question, len),
                 .in_turn = demands_turn_in(question, len, &last, &behind)};
    memcpy(d.noun, f.noun, sizeof d.noun);
    d.days = foreign_days_in(language, question, len, NULL);
    if (d.days == DEMAND_EVERY_DAY) d.days = 0; /* "How much is it a day?" */
    d.whether = d.days && !foreign_days_question_asks(language, question, len);
    return d;
}

enum amount_stated demands_amount_in(const demands *d, enum demand_amount amount, const char *text,
                                     size_t len) {
    if (unspaced_demands_known(d->language))
        return amount == AMOUNT_COUNT && !unspaced_counts_in(d->language, d->noun, text, len)
                   ? AMOUNT_NOT_STATED
                   : unspaced_amount_in(d->language, amount, text, len);
    if (hindi_demands_known(d->language)) return hindi_amount_in(amount, d->noun, text, len);
    if (!demand_words_of(d->language)) return demand_amount_in(amount, text, len);
    const enum amount_stated stated = foreign_amount_in(d->language, amount, text, len);
    return stated == AMOUNT_NOT_STATED && amount == d->amount
               ? foreign_amount_of_one(d->language, d->noun, text, len)
               : stated;
}

bool demands_amount_column_in(const demands *d, const char *text, size_t len) {
    if (unspaced_demands_known(d->language)) return true;
    if (hindi_demands_known(d->language)) return hindi_amount_column_in(d->amount, text, len);
    return demand_words_of(d->language)
               ? foreign_amount_column_in(d->language, d->amount, text, len)
               : demand_amount_column_in(d->amount, text, len);
}

bool demands_detail_in(const demands *d, const char *text, size_t len) {
    if (unspaced_demands_known(d->language))
        return unspaced_detail_in(d->language, d->detail, text, len);
    if (hindi_demands_known(d->language)) return hindi_detail_in(d->detail, d->noun, text, len);
    return demand_words_of(d->language) ? foreign_detail_in(d->language, d->detail, text, len)
                                        : demand_detail_in(d->detail, text, len);
}
