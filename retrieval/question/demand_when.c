#include "retrieval/question/demand_when.h"

#include <strings.h>

#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/demand_units.h"
#include "retrieval/text/word_tokens.h"

static const char times[] =
    "time times date dates day days night nights week weeks weekend weekends weekday weekdays "
    "month "
    "months monthly weekly daily hourly yearly annually annual year years decade century centuries "
    "hour hours minute minutes second seconds moment season term semester quarter fortnight spring "
    "summer autumn fall winter holiday holidays morning mornings noon midday afternoon afternoons "
    "evening evenings midnight dawn dusk sunrise sunset daylight tide breakfast lunch dinner "
    "supper "
    "today tonight tomorrow yesterday now soon later earlier sooner recently lately ago already "
    "yet still never always ever immediately instantly straight directly automatically then "
    "once twice every each "
    "after before when whenever during until till while since if unless upon arrival "
    "departure receipt completion "
    "beginning begins begin began start starts started end ends ended first last next previous "
    "following past early late mid advance christmas easter advent whitsun pentecost lent ramadan "
    "eid diwali passover thanksgiving halloween birthday anniversary war reign age old young "
    "childhood infancy born expected due pending undecided decided announced agreed agreement "
    "arrangement appointment request demand unknown tbc tba tbd";
static const char hours[] =
    "one two three four five six seven eight nine ten eleven twelve half quarter";

/* "When does the bus leave?": what happens at a time, and does not hold in a case. */
static const char happens[] =
    "start starts begin begins end ends finish finishes open opens close closes arrive arrives "
    "leave "
    "leaves depart departs come comes go goes return returns meet meets happen happens take run "
    "runs expire expires fall falls land lands appear appears sail sails play plays retire retires "
    "due released published scheduled planned held delivered finished ready birthday";

/* "Is the practical test": a thing and nothing that is said of it; behind the verb. "Is the cache emptied" asks in which case. */
static bool is_of_a_thing(const char *s, size_t len) {
    enum { MOST_WORDS = 5 };
    size_t at = 0, words = 0;
    word_token last = {0}, t = word_token_next(s, len, &at);
    if (!word_token_in("the our your my this next", &t)) return false;
    for (; (t = word_token_next(s, len, &at)).n && t.letters; last = t) words++;
    const bool participle = last.n > 4 && (!strncasecmp(last.s + last.n - 2, "ed", 2) ||
                                           !strncasecmp(last.s + last.n - 2, "en", 2));
    return words > 0 && words <= MOST_WORDS && !t.digits && !participle &&
           !word_token_in("free available allowed possible required necessary needed used safe "
                          "useful true false empty full set",
                          &last);
}

bool demand_when_asked(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    if (word_token_in("and but so then", &t)) t = word_token_next(question, len, &at);
    if (!word_token_in("when", &t)) return false;
    t = word_token_next(question, len, &at);
    if (word_token_in("did was were will", &t)) return true;
    if (!word_token_in("do does is are", &t)) return false;
    return word_tokens_say(happens, question + at, len - at) ||
           (word_token_in("is are", &t) && is_of_a_thing(question + at, len - at));
}

/* Is the number that ends at byte `at` one of money or of a share, or does it weigh or measure something: "190 EUR", "5 kg"? */
static bool is_no_time(const char *text, size_t len, size_t at, const word_token *before) {
    const word_token behind = word_token_next(text, len, &at);
    return demand_currency_named(before) || demand_currency_named(&behind) ||
           (demand_unit_of_weight(&behind) && behind.n > 1) ||
           word_token_in("km cm mm metres meters litres people persons percent", &behind) ||
           word_token_is(&behind, "%");
}

bool demand_when_in(const char *text, size_t len) {
    word_token before = {0}, t;
    for (size_t at = word_tokens_mark(text, len); (t = word_token_next(text, len, &at)).n;
         before = t)
        if ((t.digits && !is_no_time(text, len, at, &before)) || word_token_in(times, &t) ||
            (word_token_in(hours, &t) &&
             word_token_in("at by from to till past around about", &before)))
            return true;
    return demand_days_in(text, len) || demand_months_in(text, len);
}

bool demand_when_named(const char *text, size_t len) {
    for (size_t i = word_tokens_mark(text, len); i < len; i++)
        if (text[i] >= '0' && text[i] <= '9') return true;
    return demand_days_in(text, len) || demand_months_in(text, len);
}
