#include "retrieval/answer/demand_days.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/dates.h"

/* ---- days -------------------------------------------------------------------------------- */

enum { WORKING_DAYS = 0x1F, WEEKEND = 0x60, NO_DAY = -1, DAYS = 7 };
static const char *const long_days[DAYS] = {
    "monday mondays", "tuesday tuesdays",   "wednesday wednesdays", "thursday thursdays",
    "friday fridays", "saturday saturdays", "sunday sundays"};
static const char *const short_days[DAYS] = {"Mon", "Tue Tues", "Wed", "Thu Thur Thurs",
                                             "Fri", "Sat",      "Sun"};

static int long_day(const word_token *t) {
    for (int d = 0; t->letters && d < DAYS; d++)
        if (word_token_in(long_days[d], t)) return d;
    return NO_DAY;
}

/* A short form has a capital and a sign behind it, ends a range or stands behind "on" ("Mon-Fri", "Sat:"): the sun and what
 * sat down are none. */
static int short_day(const word_token *t, const word_token *before, char behind, bool ends_range) {
    const bool sign = ends_range ||
                      (behind && !word_token_letter(behind) && !fo_is_blank(behind)) ||
                      word_token_in("on every each next last this", before);
    for (int d = 0; sign && t->letters && d < DAYS; d++)
        if (fo_words_have(short_days[d], t->s, t->n)) return d;
    return NO_DAY;
}

bool demand_day_named(const char *word, size_t n) {
    for (int d = 0; d < DAYS; d++)
        if (fo_words_have_any_case(long_days[d], word, n) ||
            fo_words_have_any_case(short_days[d], word, n))
            return true;
    return fo_words_have_any_case("daily weekday weekdays weekend weekends", word, n);
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
    return word_token_in("to until till through", t) || word_token_is_dash(t) ||
           word_token_is(t, "\xE2\x80\x94");
}

/* The sign behind a word: that which touches it, or a figure, a dash or a bar behind blanks ("Fri   7.30", "Mon - Thu"). */
static char sign_behind(const char *text, size_t len, size_t at) {
    size_t i = at;
    while (i < len && text[i] == ' ') i++;
    if (i == len) return 0;
    return i == at || fo_is_digit(text[i]) || strchr("|-\xE2", text[i]) ? text[i] : ' ';
}

uint8_t demand_days_in(const char *text, size_t len) {
    uint8_t days = 0;
    word_token before = {0};
    int last = NO_DAY; /* the day that stands before a sign of a range */
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return days;
        bool ends_range = last != NO_DAY && is_range_sign(&before);
        int day = long_day(&t);
        if (day == NO_DAY) day = short_day(&t, &before, sign_behind(text, len, at), ends_range);
        if (day != NO_DAY) days |= ends_range ? range(last, day) : (uint8_t)(1 << day);
        if (word_token_in("daily", &t) ||
            (word_token_in("every each", &before) && word_token_in("day", &t)))
            days |= DEMAND_EVERY_DAY;
        if (word_token_in("weekdays", &t)) days |= WORKING_DAYS;
        if (word_token_in("weekend weekends", &t)) days |= WEEKEND;
        if (day != NO_DAY || !is_range_sign(&t)) last = day;
        before = t;
    }
}

/* How the text first writes the day; *is_short: in short. Nothing: it does not name it. */
static word_token day_in(const char *text, size_t len, int day, bool *is_short) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        *is_short = short_day(&t, &before, sign_behind(text, len, at), false) == day;
        if (!t.n || *is_short || long_day(&t) == day) return t;
        before = t;
    }
}

bool demand_days_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    const size_t len = strlen(question);
    size_t copied = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        const int day = long_day(&t);
        if (!t.n) break;
        if (day == NO_DAY) continue;
        bool is_short = false;
        word_token written = {0};
        for (size_t i = 0; i < n && !written.n; i++) /* the first to name it decides */
            written = day_in(passages[i].text, passages[i].len, day, &is_short);
        if (!written.n || !is_short) continue;
        fo_buf_add(out, question + copied, (size_t)(t.s - question) - copied);
        fo_buf_add(out, written.s, written.n);
        copied = at;
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0;
}

/* ---- months ------------------------------------------------------------------------------ */

enum { NO_MONTH = -1, MONTHS = 12, SHORT = 4 };

int demand_month_named(const word_token *t) {
    return date_month_named_in_english(t) - 1;
}

/* "may" is a month beside a number, behind a word of time or another month ("April, May and June"), and so are "march" and what
 * is short. */
static int month_of(const word_token *t, const word_token *before, bool number_behind,
                    bool listed) {
    const int m = demand_month_named(t);
    if (m == NO_MONTH) return m;
    const bool beside = before->digits || number_behind || listed ||
                        word_token_in("in from to until till of by since early late mid during "
                                      "before after and or through next last each every",
                                      before);
    const bool is_short = t->n <= SHORT && !word_token_in("july", t); /* nobody is called so */
    return (m == 2 || m == 4 || is_short) && !beside ? NO_MONTH : m;
}

static bool parts_a_list(const word_token *t) {
    return word_token_is(t, ",") || word_token_is(t, "/") || word_token_is(t, "&") ||
           word_token_in("and or", t);
}

uint16_t demand_months_in(const char *text, size_t len) {
    uint16_t months = 0;
    word_token before = {0};
    int last = NO_MONTH;
    bool ranges = false; /* since the last month nothing stood but a sign of a range and a number */
    bool listed = false; /* ... but what parts those of a list */
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) return months;
        size_t behind = at;
        const word_token next = word_token_next(text, len, &behind);
        const int month = month_of(&t, &before, next.digits, listed);
        if (month != NO_MONTH) {
            for (int m = last; ranges && m != month; m = (m + 1) % MONTHS)
                months |= (uint16_t)(1 << m);
            months |= (uint16_t)(1 << month);
            last = month;
            ranges = false;
        } else if (last != NO_MONTH && is_range_sign(&t)) {
            ranges = true;
        } else if (!t.digits && !(ranges && word_token_in("the end of mid early late", &t))) {
            last = NO_MONTH;
            ranges = false;
        }
        listed = month != NO_MONTH || (listed && parts_a_list(&t));
        before = t;
    }
}

/* ---- dates ------------------------------------------------------------------------------- */

enum { A_MONTH = 32, MOST_TOKENS = 64 };

static bool bounds_time(const word_token *t) {
    return is_range_sign(t) ||
           word_token_in("by before after from since between through and or earlier later", t);
}

/* The day that begins at token t[i] of n; *last: its last token. 0: none, one without a day, or one of two. */
static uint16_t date_from(const word_token *t, size_t n, size_t i, const char *end, size_t *last) {
    date_said d;
    const size_t used = date_at(t[i].s, (size_t)(end - t[i].s), &d);
    if (!used || !d.day || d.order == DATE_ORDER_OPEN) return 0;
    *last = i;
    while (*last + 1 < n && t[*last + 1].s < t[i].s + used) ++*last;
    return (uint16_t)(A_MONTH * d.month + d.day);
}

uint16_t demand_date_in(const char *text, size_t len) {
    word_token t[MOST_TOKENS];
    size_t n = 0, at = 0;
    uint16_t found = 0;
    while (n < MOST_TOKENS && (t[n] = word_token_next(text, len, &at)).n) n++;
    for (size_t i = 0; i < n; i++) {
        const size_t first = i;
        const uint16_t date = date_from(t, n, first, text + len, &i);
        if (!date) continue;
        if ((found && found != date) || (first > 0 && bounds_time(&t[first - 1])) ||
            (i + 1 < n && bounds_time(&t[i + 1])))
            return 0;
        found = date;
    }
    return found;
}

/* ---- years ------------------------------------------------------------------------------- */

uint16_t demand_year_of(const char *question, size_t len) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return 0;
        const uint16_t year = (uint16_t)word_token_year(&t);
        const bool ends = at == len || !word_token_letter(question[at]); /* the 1840s */
        if (year && ends &&
            word_token_in("in of for season spring summer autumn winter during year", &before))
            return year;
        before = t;
    }
}

enum demand_year demand_year_in(uint16_t year, const char *text, size_t len) {
    bool others = false, open = false;
    word_token before = {0};
    for (size_t at = 0; year;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        const int y = word_token_year(&t);
        if (y == year) return YEAR_MET;
        if (y) {
            size_t behind = at;
            const word_token next = word_token_next(text, len, &behind),
                             last = word_token_next(text, len, &behind);
            others = true;
            open |= word_token_in("since from until till before after by to between", &before) ||
                    (is_range_sign(&next) &&
                     (last.digits || word_token_in("today now present", &last)));
        }
        before = t;
    }
    return others && !open ? YEAR_OTHER : YEAR_NOT_SAID;
}
