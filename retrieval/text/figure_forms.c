#include "retrieval/text/figure_forms.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"

/* The whole number in figures at s[*i..n), which moves behind it; more than `most` figures, or none: -1. */
static int figures_at(const char *s, size_t n, size_t *i, size_t most) {
    int v = 0;
    size_t k = 0;
    for (; *i + k < n && fo_is_digit(s[*i + k]); k++) {
        if (k == most) return -1;
        v = 10 * v + (s[*i + k] - '0');
    }
    *i += k;
    return k ? v : -1;
}

/* Figures go on behind a sign at s[i]: the seconds of 8:30:15, the tenths of 3:10.5. */
static bool goes_on(const char *s, size_t n, size_t i, const char *signs) {
    return i + 1 < n && s[i] && strchr(signs, s[i]) && fo_is_digit(s[i + 1]);
}

enum { HOURS = 25, MINUTES = 60 };

static size_t clock_at(const char *s, size_t n, char mark, double *minutes) {
    size_t i = 0;
    const int hour = figures_at(s, n, &i, 2);
    if (hour < 0 || hour >= HOURS || i >= n || s[i] != mark) return 0;
    const size_t from = ++i;
    const int minute = figures_at(s, n, &i, 2);
    if (i != from + 2 || minute < 0 || minute >= MINUTES || goes_on(s, n, i, ":.")) return 0;
    *minutes = MINUTES * hour + minute;
    return i;
}

size_t figure_clock_at(const char *s, size_t n, double *minutes) {
    return clock_at(s, n, ':', minutes);
}

/* "am", "p.m.", "Uhr", "o'clock" behind a blank or none. */
static bool time_told(const char *s, size_t n) {
    static const char *const words[] = {"am",
                                        "a.m",
                                        "pm",
                                        "p.m",
                                        "uhr",
                                        "o'clock",
                                        "o\xE2\x80\x99"
                                        "clock"};
    size_t i = n && *s == ' ' ? 1 : fo_utf8_wide_blank(s, n);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t m = strlen(words[k]), end = i + m;
        if (end <= n && strncasecmp(s + i, words[k], m) == 0 &&
            !(end < n && (fo_is_letter(s[end]) || fo_is_digit(s[end]))))
            return true;
    }
    return false;
}

/* What stands between two times: "-", a dash, "bis", "to". */
static size_t range_at(const char *s, size_t n) {
    static const char *const marks[] = {"-",    " - ",  "\xE2\x80\x93", " \xE2\x80\x93 ",
                                        " to ", " bis "};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (strlen(marks[k]) <= n && !memcmp(s, marks[k], strlen(marks[k])))
            return strlen(marks[k]);
    return 0;
}

size_t figure_pointed_clock_at(const char *s, size_t n, double *minutes) {
    const size_t i = clock_at(s, n, '.', minutes);
    if (!i || time_told(s + i, n - i)) return i;
    const size_t from = i + range_at(s + i, n - i);
    double other;
    const size_t more = from > i ? clock_at(s + from, n - from, '.', &other) : 0;
    return more && time_told(s + from + more, n - from - more) ? i : 0;
}

size_t figure_sign_at(const char *s, size_t n, double *value) {
    static const struct {
        const char *sign;
        double value;
    } signs[] = {
        {"\xC2\xBC", 0.25},        {"\xC2\xBD", 0.5},         {"\xC2\xBE", 0.75},
        {"\xE2\x85\x93", 1.0 / 3}, {"\xE2\x85\x94", 2.0 / 3}, {"\xE2\x85\x9B", 0.125},
        {"\xE2\x85\x9C", 3.0 / 8}, {"\xE2\x85\x9D", 5.0 / 8}, {"\xE2\x85\x9E", 7.0 / 8},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t bytes = strlen(signs[i].sign);
        if (bytes > n || memcmp(s, signs[i].sign, bytes) != 0) continue;
        *value = signs[i].value;
        return bytes;
    }
    return 0;
}

size_t figure_fraction_at(const char *s, size_t n, double *value) {
    static const int parts[] = {2, 3, 4, 8, 16, 32, 64};
    size_t i = 0;
    const int above = figures_at(s, n, &i, 2);
    if (above < 1 || s[0] == '0' || i >= n || s[i] != '/') return 0;
    const size_t from = ++i;
    const int below = figures_at(s, n, &i, 2);
    if (below <= above || s[from] == '0' || (i < n && s[i] == '/') || goes_on(s, n, i, ".,"))
        return 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (parts[k] != below) continue;
        *value = (double)above / below;
        return i;
    }
    return 0;
}

size_t figure_and_part_at(const char *s, size_t n, double *value) {
    static const struct {
        const char *words;
        double value;
    } parts[] = {{" and a half", 0.5}, {" and a quarter", 0.25}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t bytes = strlen(parts[i].words);
        if (bytes > n || memcmp(s, parts[i].words, bytes) != 0 ||
            (bytes < n && fo_is_letter(s[bytes])))
            continue;
        *value = parts[i].value;
        return bytes;
    }
    return 0;
}

/* ---- times of the day ------------------------------------------------------------------------ */

enum { HALF_DAY = 720, WHOLE_DAY = 1440, ONE = 60, THIRTEEN = 780 };

/* Of a time, of a whole hour without a unit, or beside a time with a point, "8.30 Uhr", of 8.30; -1: it is none. */
static double minutes_of(const fact_number *x, const fact_number *beside) {
    if (x->unit == UNIT_CLOCK) return x->value;
    if (x->unit == UNIT_NONE && !x->minus && x->decimals == 2 && beside->decimals == 2) {
        const double hour = floor(x->value), minutes = round(100 * (x->value - hour));
        return hour < HOURS && minutes < MINUTES ? MINUTES * hour + minutes : -1;
    }
    const bool hour = x->unit == UNIT_NONE && !x->decimals && !x->minus && x->value <= 24 &&
                      x->value == floor(x->value);
    return hour ? ONE * x->value : -1;
}

static double in_its_half(double minutes, uint8_t half) {
    if (minutes >= THIRTEEN) return minutes;
    return fmod(minutes, HALF_DAY) + (half == HALF_PM ? HALF_DAY : 0);
}

bool figure_clocks_equal(const fact_number *a, const fact_number *b) {
    const double x = minutes_of(a, b), y = minutes_of(b, a);
    if (x < 0 || y < 0 || (a->half && b->half && a->half != b->half)) return false;
    if (!a->half == !b->half)
        return a->half ? in_its_half(x, a->half) == in_its_half(y, b->half)
                       : fmod(x, WHOLE_DAY) == fmod(y, WHOLE_DAY);
    const double told = a->half ? in_its_half(x, a->half) : in_its_half(y, b->half),
                 open = a->half ? y : x;
    const bool either = open >= ONE && open < THIRTEEN;
    return fmod(open, WHOLE_DAY) == told ||
           (either && fmod(open, HALF_DAY) == fmod(told, HALF_DAY));
}
