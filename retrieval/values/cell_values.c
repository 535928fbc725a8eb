#include "retrieval/values/cell_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/values/cell_times.h"
#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_days.h"

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
    {CELL_WEIGHT, 1000, "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes"},
    {CELL_WEIGHT, 1e6, "t tonne tonnes"},
    {CELL_WEIGHT, 453.6, "lb lbs"},
    {CELL_WEIGHT, 28.35, "oz"},
    {CELL_BYTES, 1, "b byte bytes"},
    {CELL_BYTES, 1e3, "kb kib"},
    {CELL_BYTES, 1e6, "mb mib"},
    {CELL_BYTES, 1e9, "gb gib"},
    {CELL_BYTES, 1e12, "tb tib"},
    {CELL_LENGTH, .0254, "inch inches"},
    {CELL_SPEED, 1, "mph kmh knots kn rpm kbps mbps gbps"},
    {CELL_MONEY, .01, "cent cents ct pence penny"},
};

bool cell_unit_named(const char *word, size_t n, enum cell_unit *unit, double *times) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fo_words_have_any_case(units[i].words, word, n)) {
            *unit = units[i].unit;
            *times = units[i].times;
            return true;
        }
    return false;
}

bool cell_is_empty(const char *cell, size_t n) {
    return n == 0 ||
           fo_words_have_any_case("- -- \xE2\x80\x93 \xE2\x80\x94 none no n/a na ? .", cell, n);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Bytes of a mark that may stand between thousands or before decimals. */
static size_t mark_at(const char *s, size_t n) {
    if (n && cell_is_mark(*s, ".,' ")) return 1;
    return fo_utf8_wide_blank(s, n);
}

/* A number with marks between its thousands or before its decimals: "1,250", "1.250,50", "2 400". points: a point before
 * three digits stands between thousands, "1.250 EUR". Bytes; 0: none. */
static size_t number_at(const char *s, size_t n, bool points, double *out) {
    char digits[DIGITS + 3];
    size_t i = 0, kept = 0;
    bool decimals = false;
    while (i < n && kept < DIGITS) {
        if (fo_is_digit(s[i])) {
            digits[kept++] = s[i++];
            continue;
        }
        const size_t mark = mark_at(s + i, n - i);
        if (!mark || decimals || i == 0) break;
        const bool blank = s[i] == ' ' || mark > 1;
        size_t group = 0;
        while (i + mark + group < n && fo_is_digit(s[i + mark + group])) group++;
        if (group == 0 || (blank && group != 3)) break;
        const size_t behind = i + mark + group;
        const bool fraction = kept == 1 && digits[0] == '0'; /* 0,125 */
        const bool more = behind < n && cell_is_mark(s[behind], ".,") && behind + 1 < n &&
                          fo_is_digit(s[behind + 1]);
        if (group == 3 && !fraction && (s[i] != '.' || points || more)) { /* thousands */
            i += mark;
            continue;
        }
        if (s[i] == '\'' || (more && s[behind] == '.')) return 0; /* 16.3.2024, 10.0.0.1 */
        digits[kept++] = '.';
        decimals = true;
        i += mark;
    }
    if (!kept || kept >= DIGITS) return 0;
    digits[kept] = 0;
    *out = strtod(digits, NULL);
    return i;
}

/* "k", "M", "million" behind a number; "m" and "b" of money alone. Bytes; 0: none. */
static size_t magnitude_at(const char *s, size_t n, bool money, double *times) {
    static const struct {
        double times;
        const char *words;
    } magnitudes[] = {
        {1e3, "k thousand"}, {1e6, "m mn mio million"}, {1e9, "b bn billion"}, {1e12, "trillion"}};
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    const bool apart = t.s > s;
    if (t.n == 1 && !money && (apart || !cell_is_mark(*t.s, "kKM"))) return 0;
    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++)
        if (word_token_in(magnitudes[i].words, &t)) {
            *times = magnitudes[i].times;
            return at;
        }
    return 0;
}

/* A minus before a number: "-", a minus sign or an en dash that stands right before it, "minus". Bytes; 0: none. */
static size_t minus_at(const char *s, size_t n) {
    size_t i = 0;
    if (n > 5 && word_tokens_say("minus", s, 5)) i = 5 + cell_blanks_at(s + 5, n - 5);
    if (n > 3 && memcmp(s, "\xE2\x88\x92", 3) == 0) i = 3 + cell_blanks_at(s + 3, n - 3);
    if (n > 3 && memcmp(s, "\xE2\x80\x93", 3) == 0) i = 3;
    if (n > 1 && *s == '-') i = 1;
    return i < n && fo_is_digit(s[i]) ? i : 0;
}

/* ---- units ----------------------------------------------------------------------------------- */

typedef struct quantity {
    double value, magnitude; /* in its unit, the magnitude multiplied */
    enum cell_unit unit;
    double times;
    uint32_t kind;
    bool year;
} quantity;

uint32_t cell_kind_of(uint32_t kind, const char *s, size_t n) {
    if (!kind) kind = 2166136261u;
    for (size_t i = 0; i < n; i++)
        kind = (kind ^ (unsigned char)(fo_is_upper(s[i]) ? s[i] | 0x20 : s[i])) * 16777619u;
    return kind ? kind : 1;
}

/* "m2", and with the sign of a square or a cube. Bytes of what makes it one. */
static size_t power_at(const char *s, size_t n, quantity *q) {
    const size_t sign = n >= 2 && *s == '\xC2' && (s[1] == '\xB2' || s[1] == '\xB3') ? 2 : 0;
    const bool square = n && (sign ? s[1] == '\xB2' : *s == '2'), cube = n && (sign || *s == '3');
    if (q->unit != CELL_LENGTH || !(square || cube) || (!sign && n > 1 && fo_is_digit(s[1])))
        return 0;
    q->times = pow(q->times, square ? 2 : 3);
    q->kind = cell_kind_of(q->kind, square ? "2" : "3", 1);
    return sign ? sign : 1;
}

static size_t degrees_at(const char *s, size_t n, quantity *q) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    q->unit = CELL_DEGREES;
    if (word_token_in("f fahrenheit", &t)) q->kind = cell_kind_of(0, "f", 1);
    return word_token_in("c f celsius fahrenheit", &t) ? at : 0;
}

/* The unit that s begins with, known or not; what is none takes no bytes. */
static size_t unit_at(const char *s, size_t n, quantity *q) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    q->unit = CELL_PLAIN;
    q->times = 1;
    if (word_token_is(&t, "\xC2\xB0")) return at + degrees_at(s + at, n - at, q);
    if (t.letters && at + 1 < n && s[at] == '/' && fo_is_letter(s[at + 1]) &&
        word_token_in("km m mi", &t)) {
        q->unit = CELL_SPEED;
        q->kind = cell_kind_of(0, t.s, t.n);
        return at;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word_token_in(units[i].words, &t)) {
            q->unit = units[i].unit;
            q->times = units[i].times;
            if (q->unit == CELL_SPEED) q->kind = cell_kind_of(0, t.s, t.n);
            return at + power_at(s + at, n - at, q);
        }
    if (word_token_in("in", &t) && (at == n || cell_is_mark(s[at], "),;"))) { /* not "in stock" */
        q->unit = CELL_LENGTH;
        q->times = .0254;
        return at;
    }
    if (demand_currency_named(&t)) {
        q->unit = CELL_MONEY;
        return at;
    }
    const bool none = !t.n || cell_is_mark(t.s[0], ",;()-/") || word_token_is(&t, "\xE2\x80\x93") ||
                      word_token_is(&t, "\xE2\x88\x92") ||
                      word_token_in("to per a an each noon midnight", &t) ||
                      demand_month_named(&t) >= 0;
    if (none) return 0;
    q->unit = CELL_OTHER;
    if (at < n && s[at] == '/') q->kind = cell_kind_of(0, t.s, t.n); /* kbit/s, Mbit/s */
    return t.letters ? at : 0;
}

/* "/ night", "per person", "a day", "weekly". Bytes; 0: none. */
static size_t per_at(const char *s, size_t n, quantity *q) {
    size_t at = 0;
    word_token t = word_token_next(s, n, &at);
    const bool often = word_token_in("hourly daily nightly weekly monthly yearly annually", &t);
    if (word_token_is(&t, "/") || word_token_in("per a an each every", &t))
        t = word_token_next(s, n, &at);
    else if (!often)
        return 0;
    if (!t.letters) return 0;
    q->kind = cell_kind_of(q->kind, t.s, t.n);
    return at;
}

/* ---- quantities ------------------------------------------------------------------------------ */

/* A number with its unit, once. */
static size_t part_at(const char *s, size_t n, bool money, quantity *q) {
    *q = (quantity){.magnitude = 1};
    size_t used = number_at(s, n, money, &q->value);
    if (!used) return 0;
    const word_token number = {.s = s, .n = used, .digits = true};
    const size_t more = magnitude_at(s + used, n - used, money, &q->magnitude);
    if (more) number_at(s, n, false, &q->value); /* 1.250 million */
    q->value *= q->magnitude;
    q->year = !more && word_token_year(&number);
    used += more;
    return used + unit_at(s + used, n - used, q);
}

/* "50 min" behind "1 h", "11 in" behind "5 ft": a smaller unit of the same; "1 h 50 m" too. Bytes. */
static size_t smaller_at(const char *s, size_t n, bool money, quantity *q) {
    size_t at = 0;
    quantity part;
    const word_token joint = word_token_next(s, n, &at);
    if (!word_token_in("and", &joint) && !word_token_is(&joint, ",")) at = 0;
    at += cell_blanks_at(s + at, n - at);
    const size_t used = at < n && fo_is_digit(s[at]) ? part_at(s + at, n - at, money, &part) : 0;
    if (!used) return 0;
    if (q->unit == CELL_SPAN && part.unit == CELL_LENGTH && part.times == 1) { /* m */
        part.unit = CELL_SPAN;
        part.times = 60;
    }
    if (part.unit != q->unit || part.kind != q->kind || part.times >= q->times) return 0;
    q->value = (q->value * q->times + part.value * part.times) / part.times;
    q->times = part.times;
    return at + used;
}

/* "45 min", "1 h 50 min", "12 EUR per night". */
static size_t quantity_at(const char *s, size_t n, bool money, quantity *q) {
    size_t used = part_at(s, n, money, q), more = used;
    while (more && q->unit != CELL_PLAIN && q->unit != CELL_OTHER)
        used += more = smaller_at(s + used, n - used, money, q);
    return used ? used + per_at(s + used, n - used, q) : 0;
}

/* A dash between the ends of a range, or "to". Bytes. */
static size_t range_mark(const char *s, size_t n) {
    size_t i = cell_blanks_at(s, n);
    if (i < n && s[i] == '-')
        i++;
    else if (i + 3 <= n && (memcmp(s + i, "\xE2\x80\x93", 3) == 0 || memcmp(s + i, "to ", 3) == 0))
        i += 3;
    else
        return 0;
    return i + cell_blanks_at(s + i, n - i);
}

/* Does more than words stand behind the figure: other figures, outside brackets? Of prices, in them too. */
static bool says_more(const char *s, size_t n, bool money) {
    size_t open = 0, from = 0;
    if (n >= 2 && (memcmp(s, "\xC2\xBD", 2) == 0 || memcmp(s, "\xC2\xBC", 2) == 0 ||
                   memcmp(s, "\xC2\xBE", 2) == 0 || memcmp(s, "\xE2\x85", 2) == 0))
        return true; /* one half, as a sign */
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '(' && open++ == 0) from = i + 1;
        if (s[i] == ')' && open && --open == 0 && money &&
            demand_amount_in(AMOUNT_MONEY, s + from, i - from) == AMOUNT_STATED)
            return true;
        if (!open && (fo_is_digit(s[i]) || s[i] == '/')) return true;
    }
    return false;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool has_year(double day) {
    return day > 2 * CELL_YEAR;
}

/* "8 June - 3 July", "8 June". */
static bool read_date(const char *s, size_t n, cell_value *out) {
    cell_date low, high;
    size_t at = cell_date_at(s, n, &low);
    if (!at) return false;
    const size_t mark = range_mark(s + at, n - at);
    size_t more = mark ? cell_date_at(s + at + mark, n - at - mark, &high) : 0;
    if (more)
        at += mark + more;
    else
        high = low;
    if (more && (low.order != DATE_ORDER_SURE || high.order != DATE_ORDER_SURE)) return false;
    if (more && !has_year(low.day) && has_year(high.day)) /* "8 June - 3 July 2025" */
        low.day += floor((high.day - 1) / CELL_YEAR) * CELL_YEAR;
    if (low.day > high.day || says_more(s + at, n - at, false)) return false;
    *out = (cell_value){.unit = CELL_DATE,
                        .low = low.day,
                        .high = high.day,
                        .order = low.order,
                        .month_first = low.other};
    return true;
}

/* "8-10 June 2025". */
static bool read_days(const char *s, size_t n, cell_value *out) {
    double first;
    const size_t used = number_at(s, n, false, &first), mark = range_mark(s + used, n - used);
    if (!used || used > 2 || !mark || !read_date(s + used + mark, n - used - mark, out) ||
        out->low != out->high || out->order != DATE_ORDER_SURE)
        return false;
    out->low -= fmod(floor(out->low) - 1, CELL_YEAR / 12) + 1 - first;
    return first >= 1 && out->low <= out->high;
}

/* Of what s[n], behind a dash, begins with: "midnight", no end, or one that no clock tells (true). */
static bool ends_at_a_word(const char *s, size_t n, cell_clock *high, const cell_clock *low) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    *high = *low;
    if (word_token_in("midnight", &t))
        *high = (cell_clock){.minutes = 24 * 60, .told = true, .hours = CELL_HOURS_SURE};
    return word_token_in("late close closing end open dusk dawn sunset sunrise", &t);
}

/* "9:30 to 17:00", "9-11 am", "10 pm - 2 am". */
static bool read_clock(const char *s, size_t n, cell_value *out, bool *more_said) {
    enum { HALF_DAY = 720 };
    cell_clock low, high;
    size_t at = cell_clock_at(s, n, &low);
    if (!at) return false;
    const size_t mark = range_mark(s + at, n - at),
                 more = mark ? cell_clock_at(s + at + mark, n - at - mark, &high) : 0;
    if (!low.told && !(more && high.told)) return false;
    bool open_end = false;
    if (more)
        at += mark + more;
    else
        open_end = ends_at_a_word(s + at + mark, mark ? n - at - mark : 0, &high, &low);
    const bool told = !more || high.told || low.half; /* not 9:30 - 5 people */
    const bool halves = low.half || high.half;
    if (halves && !low.half && low.hours == CELL_HOURS_OPEN) {
        cell_clock_set_half(&low, high.half);
        if (low.minutes > high.minutes)
            cell_clock_set_half(&low, high.half == CELL_HALF_PM ? CELL_HALF_AM : CELL_HALF_PM);
    }
    *more_said = says_more(s + at, n - at, false) || !told || open_end ||
                 (halves && high.half == CELL_HALF_NOT_SAID && high.hours == CELL_HOURS_OPEN);
    if (high.minutes < low.minutes) high.minutes += 2 * HALF_DAY; /* on the next day */
    const bool sure = low.hours == CELL_HOURS_SURE || high.hours == CELL_HOURS_SURE;
    *out = (cell_value){.unit = CELL_CLOCK,
                        .low = low.minutes,
                        .high = high.minutes,
                        .hours = halves ? CELL_HOURS_12
                                 : sure ? CELL_HOURS_SURE
                                        : CELL_HOURS_OPEN};
    return true;
}

static bool has_currency(const char *s, size_t n) {
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return false;
        if (demand_currency_named(&t)) return true;
    }
}

/* "EUR" before the other end of a range. Bytes. */
static size_t currency_at(const char *s, size_t n) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    return demand_currency_named(&t) ? at + cell_blanks_at(s + at, n - at) : 0;
}

/* The other end of a range: of one unit with the first, which may be said of both behind the second. False: of another, or
 * the second is less. */
static bool range_of(quantity *low, const quantity *high) {
    if (low->unit == CELL_PLAIN) {
        low->unit = high->unit;
        low->times = high->times;
    }
    if (!low->kind) low->kind = high->kind;
    if (low->magnitude == 1 && low->value * high->magnitude <= high->value) /* 1.2 to 1.5 million */
        low->value *= high->magnitude;
    return low->unit == high->unit && low->kind == high->kind &&
           low->value * low->times <= high->value * high->times;
}

/* "2019-20" and "2019/20" are of the year that they begin in. Bytes of the other. */
static size_t season_at(const char *s, size_t n, const quantity *q) {
    if (!q->year || n < 3 || !cell_is_mark(*s, "-/") || !fo_is_digit(s[1]) || !fo_is_digit(s[2]) ||
        (n > 3 && fo_is_digit(s[3])))
        return 0;
    return 10 * (s[1] - '0') + (s[2] - '0') == ((int)q->value + 1) % 100 ? 3 : 0;
}

/* "32 a year", "6.40": what no currency says, words and two decimals may. Not of "3.25 km", "1.40 million". */
static bool looks_like_money(const char *cell, size_t n, const quantity *q) {
    const bool unit = q->unit != CELL_PLAIN && q->unit != CELL_OTHER;
    return !unit && !memchr(cell, '%', n) &&
           !word_tokens_say("million millions billion billions", cell, n) &&
           demand_amount_in(AMOUNT_MONEY, cell, n) == AMOUNT_STATED;
}

/* cell[i] is the figure's first digit. */
static bool read_quantity(const char *cell, size_t n, size_t i, bool minus, cell_value *out) {
    const bool currency = has_currency(cell, n);
    quantity low, high;
    size_t at = quantity_at(cell + i, n - i, currency, &low);
    if (!at) return false;
    at += i;
    if (minus) low.value = -low.value;
    high = low;
    const size_t season = season_at(cell + at, n - at, &low),
                 mark = season ? 0 : range_mark(cell + at, n - at);
    if (mark) {
        const size_t sign = minus_at(cell + at + mark, n - at - mark),
                     from =
                         at + mark + (sign ? sign : currency_at(cell + at + mark, n - at - mark)),
                     more = quantity_at(cell + from, n - from, currency, &high);
        if (!more) high = low;
        if (more && sign) high.value = -high.value;
        if (more && !range_of(&low, &high)) return false;
        if (more) at = from + more;
    }
    at += season;
    size_t behind = at;
    const word_token next = word_token_next(cell, n, &behind);
    if (demand_month_named(&next) >= 0 || word_token_in("noon midnight", &next))
        return false; /* 2025 June */
    if (currency && low.unit != CELL_MONEY) low.times = high.times = 1;
    if (currency || looks_like_money(cell, n, &low)) low.unit = CELL_MONEY;
    *out = (cell_value){.unit = low.unit,
                        .low = low.value * low.times,
                        .high = high.value * high.times,
                        .year = low.year && (low.unit == CELL_PLAIN || low.unit == CELL_OTHER),
                        .kind = low.kind};
    return out->low <= out->high && !says_more(cell + at, n - at, low.unit == CELL_MONEY);
}

/* Where its figure or the name of its month stands, behind signs and a word or two. n: nowhere. */
static size_t figure_of(const char *cell, size_t n) {
    size_t words = 0;
    for (size_t i = 0; i < n; i++) {
        if (fo_is_digit(cell[i])) return i;
        if (!fo_is_letter(cell[i]) || (i > 0 && fo_is_letter(cell[i - 1]))) continue;
        cell_date date;
        cell_clock noon;
        if (cell_date_at(cell + i, n - i, &date) || cell_clock_at(cell + i, n - i, &noon)) return i;
        if (++words > WORDS_BEFORE) return n;
    }
    return n;
}

/* "- 18": a minus, or the mark of a list? */
static bool may_be_minus(const char *cell, size_t i) {
    const size_t dash = i > 1 && *cell == '-'                           ? 1
                        : i > 3 && memcmp(cell, "\xE2\x80\x93", 3) == 0 ? 3
                                                                        : 0;
    return dash && dash + cell_blanks_at(cell + dash, i - dash) == i;
}

/* Do letters stand before the figure, as in A4, K-211? */
static bool is_of_a_name(const char *cell, size_t i) {
    size_t dash = i > 0 && cell[i - 1] == '-'                              ? 1
                  : i >= 3 && memcmp(cell + i - 3, "\xE2\x80\x93", 3) == 0 ? 3
                                                                           : 0;
    return i > dash && fo_is_letter(cell[i - dash - 1]);
}

/* A minus that ends where the figure begins, and begins behind a blank, a bracket or a sign. */
static bool is_minus(const char *cell, size_t n, size_t i) {
    for (size_t from = 0; from < i; from++) {
        const bool begins = from == 0 || !word_token_letter(cell[from - 1]);
        if (begins && !fo_is_digit(cell[from]) && from + minus_at(cell + from, n - from) == i)
            return true;
    }
    return false;
}

bool cell_value_read(const char *cell, size_t n, cell_value *out) {
    *out = (cell_value){0};
    if (n == 0 || n > MOST_BYTES) return false;
    if (word_tokens_say("free gratis", cell, n) && !fo_has_digit(cell, n) &&
        demand_amount_in(AMOUNT_MONEY, cell, n) == AMOUNT_STATED) {
        out->unit = CELL_MONEY;
        return true;
    }
    const size_t i = figure_of(cell, n);
    if (i == n || (fo_is_digit(cell[i]) && is_of_a_name(cell, i)) || may_be_minus(cell, i))
        return false;
    const char *s = cell + i;
    const size_t left = n - i;
    const bool minus = is_minus(cell, n, i);
    bool more = false;
    cell_date date;
    if (cell_date_at(s, left, &date)) return !minus && read_date(s, left, out);
    if (read_days(s, left, out)) return !minus;
    if (read_clock(s, left, out, &more)) return !minus && !more;
    return read_quantity(cell, n, i, minus, out);
}

/* ---- cells of a column ----------------------------------------------------------------------- */

bool cell_values_compare(const cell_value *a, const cell_value *b) {
    if (a->unit != b->unit || a->kind != b->kind) return false;
    if (a->unit == CELL_DATE && has_year(a->low) != has_year(b->low)) return false;
    const bool open = a->hours == CELL_HOURS_OPEN || b->hours == CELL_HOURS_OPEN,
               halves = a->hours == CELL_HOURS_12 || b->hours == CELL_HOURS_12;
    return a->unit != CELL_CLOCK || !(open && halves);
}

bool cell_dates_settle(cell_value *v, const bool *has, size_t n) {
    size_t n_of[DATE_ORDER_MONTH_FIRST + 1] = {0};
    for (size_t i = 0; i < n; i++)
        if (has[i] && v[i].unit == CELL_DATE) n_of[v[i].order]++;
    if (!n_of[DATE_ORDER_OPEN]) return true;
    const bool month_first = n_of[DATE_ORDER_MONTH_FIRST] > 0;
    if (month_first == (n_of[DATE_ORDER_DAY_FIRST] > 0)) return false;
    for (size_t i = 0; i < n; i++) {
        if (!has[i] || v[i].order != DATE_ORDER_OPEN) continue;
        if (month_first) v[i].low = v[i].high = v[i].month_first;
        v[i].order = DATE_ORDER_SURE;
    }
    return true;
}
