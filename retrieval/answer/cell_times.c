#include "retrieval/answer/cell_times.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/answer/demand_days.h"

enum { MONTHS = 12, DAYS = 31, HOUR = 60, NOON = 12 * HOUR, DAY = 24 * HOUR };

static size_t digits_at(const char *s, size_t n, int *value) {
    size_t i = 0;
    for (*value = 0; i < n && i < 9 && fo_is_digit(s[i]); i++) *value = 10 * *value + (s[i] - '0');
    return i;
}

size_t cell_blanks_at(const char *s, size_t n) {
    size_t i = 0, wide = 0;
    while (i < n && (fo_is_blank(s[i]) || (wide = fo_utf8_wide_blank(s + i, n - i)) > 0))
        i += fo_is_blank(s[i]) ? 1 : wide;
    return i;
}

/* ---- dates ----------------------------------------------------------------------------------- */

static double day_number(int year, int month, int day) {
    return year * (double)CELL_YEAR + (month - 1) * DAYS + day;
}

static bool is_year(int x, size_t n_digits) {
    return n_digits == 4 && x >= 1000 && x < 2200;
}

static bool is_day(int x) {
    return x >= 1 && x <= DAYS;
}

static bool is_month(int x) {
    return x >= 1 && x <= MONTHS;
}

/* "11/2025" and "2025-11": a month of a year. "2010-11" is a season. */
static bool month_of_year(const int x[2], const size_t n[2], char mark, cell_date *out) {
    if (mark == '/' && n[0] <= 2 && is_month(x[0]) && is_year(x[1], n[1]))
        out->day = day_number(x[1], x[0], 1);
    else if (mark != '.' && is_year(x[0], n[0]) && n[1] == 2 && is_month(x[1]) &&
             x[1] != (x[0] + 1) % 100)
        out->day = day_number(x[0], x[1], 1);
    else
        return false;
    return true;
}

/* "03.12.2025" has the day first everywhere; "03/12/2025" may have either. */
static bool day_of_year(const int x[3], const size_t n[3], char mark, cell_date *out) {
    if (is_year(x[0], n[0]) && is_month(x[1]) && is_day(x[2])) {
        out->day = day_number(x[0], x[1], x[2]);
        return true;
    }
    const bool day_first = is_day(x[0]) && is_month(x[1]),
               month_first = mark != '.' && is_month(x[0]) && is_day(x[1]);
    if (n[0] > 2 || n[1] > 2 || !is_year(x[2], n[2]) || !(day_first || month_first)) return false;
    out->day = day_first ? day_number(x[2], x[1], x[0]) : day_number(x[2], x[0], x[1]);
    if (mark == '.') return true;
    if (day_first && month_first) {
        out->other = day_number(x[2], x[0], x[1]);
        out->order = x[0] == x[1] ? CELL_ORDER_SURE : CELL_ORDER_OPEN;
    } else {
        out->order = day_first ? CELL_ORDER_DAY_FIRST : CELL_ORDER_MONTH_FIRST;
    }
    return true;
}

/* Two or three numbers between the same marks. */
static size_t date_in_digits(const char *s, size_t n, cell_date *out) {
    int x[3] = {0};
    size_t digits[3] = {0}, i = 0, parts = 0;
    char mark = 0;
    while (parts < 3) {
        digits[parts] = digits_at(s + i, n - i, &x[parts]);
        if (!digits[parts]) return 0;
        i += digits[parts++];
        const bool goes_on = i + 1 < n && cell_is_mark(s[i], "/-.") && fo_is_digit(s[i + 1]);
        if (!goes_on || (mark && s[i] != mark)) break;
        if (parts == 3) return 0; /* 10.12.2025.1 */
        mark = s[i++];
    }
    const bool found = parts == 3   ? day_of_year(x, digits, mark, out)
                       : parts == 2 ? month_of_year(x, digits, mark, out)
                                    : false;
    return found ? i : 0;
}

/* "11 May 1901", "May 2027", "May 11, 1901", "8 June", "8th of June 2026". */
static size_t date_in_words(const char *s, size_t n, cell_date *out) {
    int year = 0, month = 0, day = 0;
    size_t used = 0;
    for (size_t at = 0, words = 0; words < 6; words++) {
        const word_token t = word_token_next(s, n, &at);
        int x = 0;
        if (!t.n) break;
        if (word_token_is(&t, ",") || word_token_is(&t, ".")) continue;
        if (day && word_token_in("st nd rd th of", &t)) continue;
        const int m = demand_month_named(&t) + 1;
        if (t.digits && digits_at(t.s, t.n, &x) != t.n) break;
        if (m && !month)
            month = m;
        else if (t.digits && month && !year && is_year(x, t.n))
            year = x;
        else if (t.digits && t.n <= 2 && is_day(x) && !day && !year)
            day = x;
        else
            break;
        used = at;
    }
    if (!month || (!day && !year)) return 0;
    out->day = day_number(year, month, day ? day : 1);
    return used;
}

/* "12 June, 10:00", "2026-06-08T10:00". */
static size_t time_behind(const char *s, size_t n, cell_date *date) {
    size_t i = 0;
    cell_clock clock;
    if (i < n && (s[i] == ',' || s[i] == 'T')) i++;
    i += cell_blanks_at(s + i, n - i);
    if (i + 3 <= n && !strncasecmp(s + i, "at ", 3)) i += 3;
    const size_t used = i ? cell_clock_at(s + i, n - i, &clock) : 0;
    if (!used || !clock.told) return 0;
    date->day += clock.minutes / DAY;
    date->other += clock.minutes / DAY;
    return i + used;
}

size_t cell_date_at(const char *s, size_t n, cell_date *out) {
    *out = (cell_date){.order = CELL_ORDER_SURE};
    size_t used = date_in_digits(s, n, out);
    if (!used) used = date_in_words(s, n, out);
    return used ? used + time_behind(s + used, n - used, out) : 0;
}

/* ---- times of the day ------------------------------------------------------------------------ */

static bool word_ends(const char *s, size_t n, size_t i) {
    return i >= n || !(word_token_letter(s[i]) || fo_is_digit(s[i]));
}

/* "am", "p.m.". Bytes, with blanks before it. */
static size_t half_at(const char *s, size_t n, enum cell_half *out) {
    size_t i = cell_blanks_at(s, n);
    if (i + 2 > n || !cell_is_mark(s[i], "aApP")) return 0;
    const enum cell_half half = (s[i] | 0x20) == 'a' ? HALF_AM : HALF_PM;
    i += 1 + (s[i + 1] == '.');
    if (i >= n || (s[i] | 0x20) != 'm' || !word_ends(s, n, i + 1)) return 0;
    *out = half;
    i++;
    return i + (i < n && s[i] == '.' && s[i - 2] == '.');
}

static size_t word_at(const char *s, size_t n, const char *word) {
    const size_t i = cell_blanks_at(s, n), m = strlen(word);
    return i + m <= n && !strncasecmp(s + i, word, m) && word_ends(s, n, i + m) ? i + m : 0;
}

void cell_clock_set_half(cell_clock *c, enum cell_half half) {
    if (c->minutes >= NOON) c->minutes -= NOON;
    if (half == HALF_PM) c->minutes += NOON;
    c->half = half;
    c->hours = CELL_HOURS_12;
}

size_t cell_clock_at(const char *s, size_t n, cell_clock *out) {
    *out = (cell_clock){0};
    size_t used = word_at(s, n, "noon");
    if (used) {
        *out = (cell_clock){NOON, true, HALF_NOT_SAID, CELL_HOURS_SURE};
        return used;
    }
    int hours, minutes = 0;
    size_t i = digits_at(s, n, &hours);
    if (i == 0 || i > 2) return 0;
    const bool leads = i == 2 && hours < 10;
    if (i + 3 <= n && cell_is_mark(s[i], ":.") && fo_is_digit(s[i + 1]) && fo_is_digit(s[i + 2]) &&
        !(i + 3 < n && fo_is_digit(s[i + 3]))) {
        out->told = s[i] == ':';
        digits_at(s + i + 1, 2, &minutes);
        i += 3;
    }
    out->minutes = HOUR * hours + minutes;
    out->hours = leads || hours > 12 ? CELL_HOURS_SURE : CELL_HOURS_OPEN;
    enum cell_half half = HALF_NOT_SAID;
    used = half_at(s + i, n - i, &half);
    if (used) {
        out->told = true;
        if (hours <= 12) cell_clock_set_half(out, half); /* 17:00 pm */
        return i + used;
    }
    used = hours == 12 ? word_at(s + i, n - i, "noon") : 0;
    if (used) *out = (cell_clock){NOON, true, HALF_NOT_SAID, CELL_HOURS_SURE};
    if (word_at(s + i, n - i, "midnight")) return 0; /* of which end of the day? */
    return i + used;
}
