/* See calendar_rule.h. */
#include "data/extract/calendar_rule.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- dates ---------------------------------------------------------------------------------------- */

bool calendar_digits(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] < '0' || s[i] > '9') return false;
    return true;
}

void calendar_date(fo_buf *out, const char *v, size_t n, const char *zone) {
    if (n < 8 || !calendar_digits(v, 8)) {
        fo_buf_add(out, v, n);
        return;
    }
    fo_buf_printf(out, "%.4s-%.2s-%.2s", v, v + 4, v + 6);
    if (n < 13 || v[8] != 'T' || !calendar_digits(v + 9, 4)) return;
    fo_buf_printf(out, " %.2s:%.2s", v + 9, v + 11);
    if (n >= 15 && calendar_digits(v + 13, 2) && memcmp(v + 13, "00", 2) != 0)
        fo_buf_printf(out, ":%.2s", v + 13);
    if (v[n - 1] == 'Z')
        fo_buf_str(out, " UTC");
    else if (*zone)
        fo_buf_printf(out, " (%s)", zone);
}

void calendar_dates(fo_buf *out, const char *v, size_t n, const char *zone) {
    size_t begun = out->len;
    for (size_t at = 0, end; at < n; at = end + 1) {
        const char *comma = memchr(v + at, ',', n - at);
        end = comma ? (size_t)(comma - v) : n;
        const char *slash = memchr(v + at, '/', end - at);
        size_t stop = slash ? (size_t)(slash - v) : end;
        if (out->len > begun) fo_buf_str(out, ", ");
        calendar_date(out, v + at, stop - at, comma || slash ? "" : zone);
        if (!slash) continue;
        bool date = end - stop > 8 && calendar_digits(slash + 1, 8);
        if (date) fo_buf_str(out, " to ");
        calendar_date(out, slash + date, end - stop - date, comma ? "" : zone);
    }
}

/* ---- rules ---------------------------------------------------------------------------------------- */

typedef struct part { /* of a rule: "BYDAY=MO,FR" */
    const char *s;    /* its value; NULL: there is none */
    size_t n;
} part;

enum { FREQ, INTERVAL, COUNT, UNTIL, DAYS, MONTH_DAYS, MONTHS, POSITIONS, WEEK_START, N_PARTS };

static bool split(const char *s, size_t n, part parts[N_PARTS]) {
    static const char *const names[] = {"FREQ",       "INTERVAL", "COUNT",    "UNTIL", "BYDAY",
                                        "BYMONTHDAY", "BYMONTH",  "BYSETPOS", "WKST"};
    for (size_t at = 0, end; at < n; at = end + 1) {
        const char *semicolon = memchr(s + at, ';', n - at);
        end = semicolon ? (size_t)(semicolon - s) : n;
        if (end == at) continue;
        const char *equals = memchr(s + at, '=', end - at);
        size_t k = equals ? (size_t)(equals - s) - at : 0, i = 0;
        while (i < N_PARTS && !(strlen(names[i]) == k && !strncasecmp(names[i], s + at, k))) i++;
        if (i == N_PARTS) return false;
        parts[i] = (part){equals + 1, end - at - k - 1};
    }
    return true;
}

/* A number at s[0..n), whose sign is kept; 0: there is none, or one beyond `most`. */
static int number(const char *s, size_t n, int most) {
    bool minus = n && *s == '-', sign = n && (minus || *s == '+');
    if (n == sign || n - sign > 8 || !calendar_digits(s + sign, n - sign)) return 0;
    int v = 0;
    for (size_t i = sign; i < n; i++) v = v * 10 + (s[i] - '0');
    return v > most ? 0 : minus ? -v : v;
}

/* The next of a list's values, in *value; false behind the last. */
static bool next(part *list, part *value) {
    if (!list->s) return false;
    const char *comma = memchr(list->s, ',', list->n);
    size_t n = comma ? (size_t)(comma - list->s) : list->n;
    *value = (part){list->s, n};
    *list = comma ? (part){comma + 1, list->n - n - 1} : (part){0};
    return true;
}

/* "the 2nd", "the last", "the 2nd to last". */
static void write_ordinal(fo_buf *out, int v) {
    int n = abs(v);
    const char *end = n % 100 / 10 == 1 ? "th"
                      : n % 10 == 1     ? "st"
                      : n % 10 == 2     ? "nd"
                      : n % 10 == 3     ? "rd"
                                        : "th";
    if (v == -1)
        fo_buf_str(out, "the last");
    else
        fo_buf_printf(out, "the %d%s%s", n, end, v < 0 ? " to last" : "");
}

/* Which of the days that the rule names: "the 1st, the last "; they bear no numbers of their own then. */
static bool write_positions(fo_buf *out, part list, bool several) {
    part value;
    for (const char *comma = ""; next(&list, &value); comma = ", ") {
        int v = number(value.s, value.n, 366);
        if (!v) return false;
        fo_buf_str(out, comma);
        write_ordinal(out, v);
    }
    fo_buf_str(out, several ? " of " : " ");
    return true;
}

static bool write_days(fo_buf *out, part list, bool numbered) {
    static const char *const days[][2] = {
        {"MO", "Monday"}, {"TU", "Tuesday"},  {"WE", "Wednesday"}, {"TH", "Thursday"},
        {"FR", "Friday"}, {"SA", "Saturday"}, {"SU", "Sunday"}};
    part value;
    for (const char *comma = ""; next(&list, &value); comma = ", ") {
        size_t n = value.n, d = 0;
        while (d < 7 && !(n >= 2 && !strncasecmp(value.s + n - 2, days[d][0], 2))) d++;
        int v = n > 2 ? number(value.s, n - 2, 53) : 0;
        if (d == 7 || (n > 2 && (!v || !numbered))) return false;
        fo_buf_str(out, comma);
        if (v) write_ordinal(out, v);
        fo_buf_printf(out, "%s%s", v ? " " : "", days[d][1]);
    }
    return true;
}

static bool write_month_days(fo_buf *out, part list) {
    part value;
    for (const char *comma = ""; next(&list, &value); comma = ", ") {
        int v = number(value.s, value.n, 31);
        if (!v) return false;
        fo_buf_str(out, comma);
        if (v > 0)
            fo_buf_printf(out, "day %d", v);
        else
            write_ordinal(out, v);
        if (v < 0) fo_buf_str(out, " day");
    }
    fo_buf_str(out, " of the month");
    return true;
}

static bool write_months(fo_buf *out, part list) {
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    part value;
    for (const char *comma = ""; next(&list, &value); comma = ", ") {
        int v = number(value.s, value.n, 12);
        if (v < 1) return false;
        fo_buf_printf(out, "%s%s", comma, names[v - 1]);
    }
    return true;
}

static bool write_often(fo_buf *out, const part *often, const part *interval) {
    static const char *const names[][3] = {
        {"SECONDLY", "every second", "seconds"}, {"MINUTELY", "every minute", "minutes"},
        {"HOURLY", "every hour", "hours"},       {"DAILY", "every day", "days"},
        {"WEEKLY", "every week", "weeks"},       {"MONTHLY", "every month", "months"},
        {"YEARLY", "every year", "years"}};
    size_t f = 0;
    while (f < 7 && !(often->s && strlen(names[f][0]) == often->n &&
                      !strncasecmp(names[f][0], often->s, often->n)))
        f++;
    int every = interval->s ? number(interval->s, interval->n, INT32_MAX) : 1;
    if (f == 7 || every < 1) return false;
    if (every > 1)
        fo_buf_printf(out, "every %d %s", every, names[f][2]);
    else
        fo_buf_str(out, names[f][1]);
    return true;
}

/* On which days: "on the 2nd Tuesday", "on Friday where it is day 13 of the month". */
static bool write_on(fo_buf *out, const part parts[N_PARTS]) {
    const part *days = &parts[DAYS], *of_month = &parts[MONTH_DAYS], *positions = &parts[POSITIONS];
    if (positions->s && (!days->s || of_month->s)) return false;
    if (days->s || of_month->s) fo_buf_str(out, " on ");
    bool several = days->s && memchr(days->s, ',', days->n);
    if (positions->s && !write_positions(out, *positions, several)) return false;
    if (days->s && !write_days(out, *days, !positions->s)) return false;
    if (days->s && of_month->s) fo_buf_str(out, " where it is ");
    return !of_month->s || write_month_days(out, *of_month);
}

static bool write_rule(fo_buf *out, const part parts[N_PARTS]) {
    const part *count = &parts[COUNT], *until = &parts[UNTIL];
    if (!write_often(out, &parts[FREQ], &parts[INTERVAL]) || !write_on(out, parts)) return false;
    if (parts[MONTHS].s) fo_buf_str(out, " in ");
    if (parts[MONTHS].s && !write_months(out, parts[MONTHS])) return false;
    int times = count->s ? number(count->s, count->n, INT32_MAX) : 0;
    if (count->s && times < 1) return false;
    if (times) fo_buf_printf(out, ", %d times", times);
    if (until->s) fo_buf_str(out, ", until ");
    if (until->s) calendar_date(out, until->s, until->n, "");
    return true;
}

bool calendar_rule(fo_buf *out, const char *rule, size_t n) {
    part parts[N_PARTS] = {0};
    size_t begun = out->len;
    if (split(rule, n, parts) && write_rule(out, parts)) return true;
    out->len = begun;
    if (out->data) out->data[begun] = 0;
    return false;
}
