#include "retrieval/question/relative_days.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_days.h"

enum { LOOKED_AT = 3, FEWEST_DAYS = 2, FEWEST_DATES = 3, MONTHS = 12 };

static const char *const month_names[MONTHS] = {"January",   "February", "March",    "April",
                                                "May",       "June",     "July",     "August",
                                                "September", "October",  "November", "December"};
static const char *const days[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                    "Friday", "Saturday", "Sunday"};

/* ---- the calendar ------------------------------------------------------------------------ */

static bool is_leap(long year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of_month(long year, int month) { /* month: 0 .. 11 */
    static const int n[MONTHS] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return n[month] + (month == 1 && is_leap(year));
}

static calendar_day day_of(long year, int month, int day) {
    calendar_day d = day - 1;
    for (long y = 1970; y < year; y++) d += 365 + is_leap(y);
    for (int m = 0; m < month; m++) d += days_of_month(year, m);
    return d;
}

static void date_of(calendar_day d, long *year, int *month, int *day) {
    for (*year = 1970; d >= 365 + is_leap(*year); (*year)++) d -= 365 + is_leap(*year);
    for (*month = 0; d >= days_of_month(*year, *month); (*month)++)
        d -= days_of_month(*year, *month);
    *day = (int)d + 1;
}

bool calendar_day_read(const char *iso, calendar_day *out) {
    for (int i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? iso[i] != '-' : !fo_is_digit(iso[i])) return false;
    const long year = strtol(iso, NULL, 10), month = strtol(iso + 5, NULL, 10),
               day = strtol(iso + 8, NULL, 10);
    if (iso[10] || year < 1970 || month < 1 || month > MONTHS || day < 1 ||
        day > days_of_month(year, (int)month - 1))
        return false;
    *out = day_of(year, (int)month - 1, (int)day);
    return true;
}

calendar_day calendar_day_now(void) {
    const time_t now = time(NULL);
    struct tm t;
    if (now < 0 || !localtime_r(&now, &t)) return 0;
    return day_of(t.tm_year + 1900L, t.tm_mon, t.tm_mday);
}

/* ---- the question ------------------------------------------------------------------------ */

/* How many days from today; false: the word is none of these. */
static bool offset_of(const word_token *t, int *days_on) {
    *days_on = word_token_in("tomorrow", t) ? 1 : word_token_in("yesterday", t) ? -1 : 0;
    return *days_on || word_token_in("today tonight", t);
}

bool relative_days_in(const char *question) {
    const size_t len = strlen(question);
    int days_on;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return false;
        if (offset_of(&t, &days_on)) return true;
    }
}

/* ---- what the passages go by --------------------------------------------------------------- */

static bool is_day_number(const word_token *t) {
    return t->digits && t->n <= 2;
}

/* Dates without a year, "28 November" or "Nov 28": of a plan. Those with one are of a history. */
static size_t dates_in(const char *text, size_t len) {
    size_t n = 0;
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return n;
        if (demand_month_named(&t) >= 0) {
            size_t behind = at;
            const word_token next = word_token_next(text, len, &behind);
            const bool year = next.digits && next.n == 4;
            n += !year && (is_day_number(&before) || is_day_number(&next));
        }
        before = t;
    }
}

enum goes_by { BY_NOTHING, BY_WEEKDAY, BY_DATE };

static enum goes_by goes_by(const passage *passages, size_t n) {
    size_t dates = 0;
    for (size_t i = 0; i < n && i < LOOKED_AT; i++) {
        if (__builtin_popcount(demand_days_in(passages[i].text, passages[i].len)) >= FEWEST_DAYS)
            return BY_WEEKDAY;
        dates += dates_in(passages[i].text, passages[i].len);
    }
    return dates >= FEWEST_DATES ? BY_DATE : BY_NOTHING;
}

bool relative_days_resolve(fo_buf *out, const char *question, calendar_day today,
                           const passage *passages, size_t n) {
    const size_t len = strlen(question);
    if (!relative_days_in(question)) return false;
    const enum goes_by by = goes_by(passages, n);
    size_t copied = 0;
    word_token before = {0};
    for (size_t at = 0; by != BY_NOTHING;) {
        const word_token t = word_token_next(question, len, &at);
        int days_on;
        if (!t.n) break;
        if (offset_of(&t, &days_on)) {
            const calendar_day d = today + days_on;
            const bool bare =
                word_token_in("on for until till by from since before after", &before) ||
                (at < len && (question[at] == '\'' || question[at] == '\xE2'));
            fo_buf_add(out, question + copied, (size_t)(t.s - question) - copied);
            if (!bare) fo_buf_str(out, "on ");
            if (by == BY_WEEKDAY) {
                fo_buf_str(out, days[((d + 3) % 7 + 7) % 7]); /* 1 January 1970 was a Thursday */
            } else {
                long year;
                int month, day;
                date_of(d < 0 ? 0 : d, &year, &month, &day);
                fo_buf_printf(out, "%d %s", day, month_names[month]);
            }
            if (word_token_in("tonight", &t)) fo_buf_str(out, " evening");
            copied = at;
        }
        before = t;
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0;
}
