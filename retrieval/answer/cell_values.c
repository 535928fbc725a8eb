#include "retrieval/answer/cell_values.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/demand_amounts.h"
#include "retrieval/answer/demand_days.h"

enum {
    MOST_BYTES = 120, /* a cell that is longer is prose */
    WORDS_BEFORE = 2, /* "from about 12 EUR" */
    DIGITS = 15,
};

static const struct {
    enum cell_unit unit;
    double times;
    const char *words;
} units[] = {
    {CELL_SPAN, .001, "ms millisecond milliseconds"},
    {CELL_SPAN, 1, "s sec secs second seconds"},
    {CELL_SPAN, 60, "min mins minute minutes"},
    {CELL_SPAN, 3600, "h hr hrs hour hours"},
    {CELL_SPAN, 86400, "d day days night nights"},
    {CELL_SPAN, 7 * 86400, "wk week weeks"},
    {CELL_SPAN, 30.44 * 86400, "month months"},
    {CELL_SPAN, 365.25 * 86400, "y yr yrs year years"},
    {CELL_LENGTH, .001, "mm millimetre millimetres millimeter millimeters"},
    {CELL_LENGTH, .01, "cm centimetre centimetres centimeter centimeters"},
    {CELL_LENGTH, 1, "m metre metres meter meters"},
    {CELL_LENGTH, 1000, "km kilometre kilometres kilometer kilometers"},
    {CELL_LENGTH, 1609.34, "mi mile miles"},
    {CELL_LENGTH, .3048, "ft foot feet"},
    {CELL_WEIGHT, .001, "mg"},
    {CELL_WEIGHT, 1, "g gram grams gramme grammes"},
    {CELL_WEIGHT, 1000, "kg kilo kilos kilogram kilograms"},
    {CELL_WEIGHT, 1e6, "t tonne tonnes"},
    {CELL_WEIGHT, 453.6, "lb lbs"},
    {CELL_WEIGHT, 28.35, "oz"},
    {CELL_BYTES, 1, "b byte bytes"},
    {CELL_BYTES, 1e3, "kb kib"},
    {CELL_BYTES, 1e6, "mb mib"},
    {CELL_BYTES, 1e9, "gb gib"},
    {CELL_BYTES, 1e12, "tb tib"},
    {CELL_SPEED, 1, "mph kmh knots kn rpm kbps mbps gbps"},
};

bool cell_is_empty(const char *cell, size_t n) {
    return n == 0 ||
           fo_words_have_any_case("- -- \xE2\x80\x93 \xE2\x80\x94 none no n/a na ? .", cell, n);
}

/* A number with marks between its thousands or before its decimals: "1,250", "1.250,50", "2 400". Bytes; 0: none. */
static size_t number_at(const char *s, size_t n, double *out) {
    char digits[DIGITS + 3];
    size_t i = 0, kept = 0;
    bool decimals = false;
    while (i < n && kept < DIGITS) {
        if (fo_is_digit(s[i])) {
            digits[kept++] = s[i++];
            continue;
        }
        if (!strchr(".,' ", s[i]) || decimals || i == 0) break;
        size_t group = 0;
        while (i + 1 + group < n && fo_is_digit(s[i + 1 + group])) group++;
        if (group == 0 || (s[i] == ' ' && group != 3)) break;
        if (group == 3 && s[i] != '.') { /* thousands */
            i++;
            continue;
        }
        const size_t behind = i + 1 + group;
        if (group == 3 && s[i] == '.' && behind < n && strchr(".,", s[behind])) { /* 1.250,50 */
            i++;
            continue;
        }
        if (s[i] == '\'' ||
            (behind < n && s[behind] == '.' && behind + 1 < n && fo_is_digit(s[behind + 1])))
            return 0; /* 16.3.2024, 10.0.0.1 */
        digits[kept++] = '.';
        decimals = true;
        i++;
    }
    if (!kept || kept >= DIGITS) return 0;
    digits[kept] = 0;
    *out = strtod(digits, NULL);
    return i;
}

/* The digits that s begins with. */
static int digits_of(const char *s, size_t n) {
    int x = 0;
    for (size_t i = 0; i < n && i < 9 && fo_is_digit(s[i]); i++) x = 10 * x + (s[i] - '0');
    return x;
}

/* "11 May 1901", "May 2027", "May 11, 1901", "2026-06-08", "8 June". */
static bool date_at(const char *s, size_t n, double *out) {
    int year = 0, month = 0, day = 0, words = 0;
    if (n >= 10 && s[4] == '-' && s[7] == '-' && fo_is_digit(s[0]) && fo_is_digit(s[5]) &&
        fo_is_digit(s[8])) {
        *out = digits_of(s, 4) * (double)CELL_YEAR + (digits_of(s + 5, 2) - 1) * 31 +
               digits_of(s + 8, 2);
        return true;
    }
    for (size_t at = 0; words < 4; words++) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) break;
        if (word_token_is(&t, ",") || word_token_is(&t, ".")) continue;
        const int m = demand_month_named(&t) + 1;
        if (m && !month)
            month = m;
        else if (t.digits && t.n == 4 && !year && month)
            year = digits_of(t.s, t.n);
        else if (t.digits && t.n <= 2 && !day && !year)
            day = digits_of(t.s, t.n);
        else
            break;
    }
    if (!month || (!day && !year)) return false;
    *out = year * (double)CELL_YEAR + (month - 1) * 31 + (day ? day : 1);
    return true;
}

/* "9:30": minutes. Bytes; 0: none. */
static size_t clock_at(const char *s, size_t n, double *out) {
    size_t hours = 0;
    while (hours < n && hours < 3 && fo_is_digit(s[hours])) hours++;
    if (hours == 0 || hours > 2 || hours + 3 > n || s[hours] != ':' || !fo_is_digit(s[hours + 1]) ||
        !fo_is_digit(s[hours + 2]))
        return 0;
    *out = 60 * digits_of(s, hours) + digits_of(s + hours + 1, 2);
    return hours + 3;
}

/* Of what stands behind a number, at most one word: "km", "min per side". */
static enum cell_unit unit_at(const char *s, size_t n, double *times) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    *times = 1;
    if (word_token_is(&t, "\xC2\xB0")) return CELL_DEGREES;
    if (t.letters && at < n && s[at] == '/' && word_token_in("km m mi", &t)) return CELL_SPEED;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word_token_in(units[i].words, &t)) {
            *times = units[i].times;
            return units[i].unit;
        }
    return t.n && !strchr(",;()", t.s[0]) ? CELL_OTHER : CELL_PLAIN;
}

/* A dash between the ends of a range, or "to". Bytes. */
static size_t range_mark(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i] == ' ') i++;
    if (i < n && s[i] == '-')
        i++;
    else if (i + 3 <= n && (memcmp(s + i, "\xE2\x80\x93", 3) == 0 || memcmp(s + i, "to ", 3) == 0))
        i += 3;
    else
        return 0;
    while (i < n && s[i] == ' ') i++;
    return i;
}

bool cell_value_read(const char *cell, size_t n, cell_value *out) {
    *out = (cell_value){0};
    if (n == 0 || n > MOST_BYTES) return false;
    const bool money = demand_amount_in(AMOUNT_MONEY, cell, n) == AMOUNT_STATED;
    if (money && word_tokens_say("free gratis", cell, n) && !fo_has_digit(cell, n)) {
        out->unit = CELL_MONEY;
        return true;
    }
    size_t i = 0, words = 0;
    while (i < n && !fo_is_digit(cell[i])) { /* signs, and a word or two */
        double date;
        if (fo_is_letter(cell[i]) && (i == 0 || !fo_is_letter(cell[i - 1]))) {
            if (date_at(cell + i, n - i, &date)) {
                *out = (cell_value){CELL_DATE, date, date, false};
                return true;
            }
            if (++words > WORDS_BEFORE) return false;
        }
        i++;
    }
    if (i == n || (i > 0 && fo_is_letter(cell[i - 1])) ||
        (i > 1 && cell[i - 1] == '-' && fo_is_letter(cell[i - 2])))
        return false; /* A4, K-211 */
    double low, high, times;
    if (date_at(cell + i, n - i, &low)) {
        *out = (cell_value){CELL_DATE, low, low, false};
        return true;
    }
    size_t used = clock_at(cell + i, n - i, &low);
    const bool clock = used > 0;
    if (!clock) used = number_at(cell + i, n - i, &low);
    if (!used) return false;
    const bool minus =
        i > 0 && (cell[i - 1] == '-' || (i >= 3 && memcmp(cell + i - 3, "\xE2\x88\x92", 3) == 0));
    if (minus && (i == 1 || cell[i - 2] == ' ' || i == 3)) low = -low;
    high = low;
    const word_token number = {.s = cell + i, .n = used, .digits = true};
    const bool year = !clock && word_token_year(&number);
    size_t at = i + used, mark = range_mark(cell + at, n - at), more = 0;
    if (mark) {
        more = clock ? clock_at(cell + at + mark, n - at - mark, &high)
                     : number_at(cell + at + mark, n - at - mark, &high);
        if (more) at += mark + more;
        if (!more || high < low) high = low;
    }
    enum cell_unit unit = clock   ? CELL_CLOCK
                          : money ? CELL_MONEY
                                  : unit_at(cell + at, n - at, &times);
    if (clock || money) times = 1;
    *out = (cell_value){unit, low * times, high * times,
                        year && (unit == CELL_PLAIN || unit == CELL_OTHER)};
    return true;
}
