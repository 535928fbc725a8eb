#include "retrieval/question/demand_often.h"

#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"

static const char turns[] =
    "every each per once twice thrice daily nightly hourly weekly fortnightly biweekly monthly "
    "bimonthly quarterly yearly annually annual annum semiannually biannual biannually weekday "
    "weekdays weeknights weekend weekends morning mornings afternoons evenings nights spring "
    "summer autumn winter never always constantly continuously continuous permanently immediately "
    "instantly seldom rarely sometimes often frequently regularly occasionally alternate yes no "
    "unlimited few several single";
/* "Clean it after use". */
static const char occasions[] = "after before whenever during needed required necessary";

bool demand_often_in_words(const char *text, size_t len) {
    bool occasion = false, named = false;
    word_token before = {0}, t;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; before = t) {
        const bool how =
            word_token_in("often frequently regularly", &t) && word_token_in("how", &before);
        named |= how;
        const bool without = word_token_in("without", &before); /* "without always having" */
        if (!how && !without && word_token_in(turns, &t)) return true;
        occasion |= word_token_in(occasions, &t);
    }
    if (demand_days_in(text, len) || demand_months_in(text, len)) return true;
    /* "When that is set, this says how often it is done": it names what is asked for, and does not say it */
    return occasion && !named;
}

bool demand_often_by_occasion(const char *text, size_t len) {
    return word_tokens_say("when", text, len) && !word_tokens_say("often", text, len);
}

bool demand_often_in(const char *text, size_t len) {
    static const char numerals[] = "two three four five six seven eight nine ten eleven twelve "
                                   "fifteen twenty thirty sixty hundred thousand half";
    word_token t;
    for (size_t at = word_tokens_mark(text, len); (t = word_token_next(text, len, &at)).n;)
        if (t.digits || word_token_in(numerals, &t)) return true;
    return demand_often_in_words(text, len);
}
