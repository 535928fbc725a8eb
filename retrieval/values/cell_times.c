#include "retrieval/values/cell_times.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/text/dates.h"
#include "retrieval/text/word_tokens.h"

enum { HOUR = 60, NOON = 12 * HOUR, DAY = 24 * HOUR };

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
    return year * (double)CELL_YEAR + (month - 1) * DATE_DAYS + day;
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
    date_said d;
    const size_t used = date_at(s, n, &d);
    if (!used) return 0;
    *out = (cell_date){.day = day_number(d.year, d.month, d.day ? d.day : 1), .order = d.order};
    if (d.order == DATE_ORDER_OPEN) out->other = day_number(d.year, d.day, d.month);
    return used + time_behind(s + used, n - used, out);
}

/* ---- times of the day ------------------------------------------------------------------------ */

static bool word_ends(const char *s, size_t n, size_t i) {
    return i >= n || !(word_token_letter(s[i]) || fo_is_digit(s[i]));
}

/* "am", "p.m.". Bytes, with blanks before it. */
static size_t half_at(const char *s, size_t n, enum cell_half *out) {
    size_t i = cell_blanks_at(s, n);
    if (i + 2 > n || !cell_is_mark(s[i], "aApP")) return 0;
    const enum cell_half half = (s[i] | 0x20) == 'a' ? CELL_HALF_AM : CELL_HALF_PM;
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
    if (half == CELL_HALF_PM) c->minutes += NOON;
    c->half = half;
    c->hours = CELL_HOURS_12;
}

size_t cell_clock_at(const char *s, size_t n, cell_clock *out) {
    *out = (cell_clock){0};
    size_t used = word_at(s, n, "noon");
    if (used) {
        *out = (cell_clock){NOON, true, CELL_HALF_NOT_SAID, CELL_HOURS_SURE};
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
    enum cell_half half = CELL_HALF_NOT_SAID;
    used = half_at(s + i, n - i, &half);
    if (used) {
        out->told = true;
        if (hours <= 12) cell_clock_set_half(out, half); /* 17:00 pm */
        return i + used;
    }
    used = word_at(s + i, n - i, "Uhr");
    if (used) { /* counts to 24 */
        out->told = true;
        out->hours = CELL_HOURS_SURE;
        return i + used;
    }
    used = word_at(s + i, n - i, "o'clock");
    if (used) {
        out->told = true;
        return i + used;
    }
    used = hours == 12 ? word_at(s + i, n - i, "noon") : 0;
    if (used) *out = (cell_clock){NOON, true, CELL_HALF_NOT_SAID, CELL_HOURS_SURE};
    if (word_at(s + i, n - i, "midnight")) return 0; /* of which end of the day? */
    return i + used;
}
