/* Numbers in running text, part of facts.h. Source: ours; conventions of English and of the
 * scientific press (thin spaces, decimal commas where they cannot be thousands). */
#include "retrieval/answer/facts.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_wordlike(char c) { /* letters beyond ASCII count as letters */
    return fo_is_letter(c) || fo_is_digit(c) || c == '_' || (unsigned char)c >= 0xC3;
}

typedef struct cursor {
    const char *text;
    size_t len;
} cursor;

static char at(const cursor *c, size_t i) {
    return i < c->len ? c->text[i] : 0;
}

/* Lower-cased run of ASCII letters at i, at most 15 of them; "" when there is none or it is
 * longer. */
static size_t letters_at(const cursor *c, size_t i, char out[16]) {
    size_t n = 0;
    while (fo_is_letter(at(c, i + n))) {
        if (n < 15) out[n] = (char)(c->text[i + n] | 0x20);
        n++;
    }
    out[n < 16 ? n : 0] = 0;
    return n;
}

/* Bytes of one space at i: ASCII, no-break, thin or narrow no-break; 0 for anything else. */
static size_t space_at(const cursor *c, size_t i) {
    if (at(c, i) == ' ') return 1;
    return i < c->len ? fo_utf8_wide_blank(c->text + i, c->len - i) : 0;
}

static const struct {
    const char *word;
    double value;
} small_numbers[] = {
    {"zero", 0},         {"one", 1},         {"two", 2},         {"three", 3},
    {"four", 4},         {"five", 5},        {"six", 6},         {"seven", 7},
    {"eight", 8},        {"nine", 9},        {"ten", 10},        {"eleven", 11},
    {"twelve", 12},      {"thirteen", 13},   {"fourteen", 14},   {"fifteen", 15},
    {"sixteen", 16},     {"seventeen", 17},  {"eighteen", 18},   {"nineteen", 19},
    {"twenty", 20},      {"thirty", 30},     {"forty", 40},      {"fifty", 50},
    {"sixty", 60},       {"seventy", 70},    {"eighty", 80},     {"ninety", 90},
    {"first", 1},        {"second", 2},      {"third", 3},       {"fourth", 4},
    {"fifth", 5},        {"sixth", 6},       {"seventh", 7},     {"eighth", 8},
    {"ninth", 9},        {"tenth", 10},      {"eleventh", 11},   {"twelfth", 12},
    {"thirteenth", 13},  {"fourteenth", 14}, {"fifteenth", 15},  {"sixteenth", 16},
    {"seventeenth", 17}, {"eighteenth", 18}, {"nineteenth", 19}, {"twentieth", 20},
    {"thirtieth", 30},   {"fortieth", 40},   {"fiftieth", 50},   {"once", 1},
    {"twice", 2},
};

static const struct {
    const char *word;
    double factor;
} magnitudes[] = {
    {"hundred", 1e2},   {"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9},
    {"trillion", 1e12}, {"dozen", 12},     {"mn", 1e6},      {"bn", 1e9},
    {"hundreds", 0},    {"thousands", 0},  {"millions", 0},  {"billions", 0},
};

enum { NO_SMALL = -1 };

static double small_number(const char *word) {
    for (size_t i = 0; i < sizeof small_numbers / sizeof *small_numbers; i++)
        if (strcmp(small_numbers[i].word, word) == 0) return small_numbers[i].value;
    return NO_SMALL;
}

static double magnitude(const char *word) { /* 0: none (or an indefinite "millions") */
    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++)
        if (strcmp(magnitudes[i].word, word) == 0) return magnitudes[i].factor;
    return 0;
}

/* One row per unit, synonyms separated by spaces; the row's number + 1 is the unit's id. */
static const char *const unit_rows[] = {
    "percent pct",
    "km kilometre kilometres kilometer kilometers",
    "m metre metres meter meters",
    "cm centimetre centimetres centimeter centimeters",
    "mm millimetre millimetres millimeter millimeters",
    "mi mile miles",
    "ft foot feet",
    "inch inches",
    "yd yard yards",
    "kg kilogram kilograms kilogramme kilogrammes",
    "g gram grams gramme grammes",
    "mg milligram milligrams",
    "tonne tonnes ton tons",
    "lb lbs pound pounds",
    "oz ounce ounces",
    "s sec secs second seconds",
    "ms millisecond milliseconds",
    "min mins minute minutes",
    "h hr hrs hour hours",
    "day days",
    "week weeks",
    "month months",
    "year years",
    "decade decades",
    "century centuries",
    "dollar dollars usd",
    "euro euros eur",
    "yen jpy",
    "cent cents",
    "kb kilobyte kilobytes",
    "mb megabyte megabytes",
    "gb gigabyte gigabytes",
    "tb terabyte terabytes",
    "hz hertz",
    "khz kilohertz",
    "mhz megahertz",
    "ghz gigahertz",
    "w watt watts",
    "kw kilowatt kilowatts",
    "mw megawatt megawatts",
    "v volt volts",
    "l litre litres liter liters",
    "ml millilitre millilitres milliliter milliliters",
    "acre acres",
    "hectare hectares ha",
    "degree degrees",
    "celsius",
    "fahrenheit",
    "people persons inhabitants residents",
};
enum { UNIT_PERCENT = 1, UNIT_POUND = 14, UNIT_DOLLAR = 26, UNIT_EURO = 27, UNIT_YEN = 28 };
enum { UNIT_CELSIUS = 47, UNIT_FAHRENHEIT = 48 };

static uint8_t unit_of(const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; n && i < sizeof unit_rows / sizeof *unit_rows; i++) {
        for (const char *s = unit_rows[i]; *s;) {
            size_t m = strcspn(s, " ");
            if (m == n && memcmp(s, word, n) == 0) return (uint8_t)(i + 1);
            s += m + (s[m] == ' ');
        }
    }
    return UNIT_NONE;
}

static uint8_t unit_after(const cursor *c, size_t i) {
    size_t sp = space_at(c, i);
    if (!sp && at(c, i) == '-') sp = 1;
    i += sp;
    if (at(c, i) == '%') return UNIT_PERCENT;
    if (i + 2 < c->len && memcmp(c->text + i, "\xC2\xB0", 2) == 0) { /* degree sign */
        i += 2;
        i += space_at(c, i);
        if (at(c, i) == 'C') return UNIT_CELSIUS;
        if (at(c, i) == 'F') return UNIT_FAHRENHEIT;
        return UNIT_NONE;
    }
    if (i + 2 < c->len && memcmp(c->text + i, "\xE2\x82\xAC", 3) == 0) return UNIT_EURO;
    char word[16];
    size_t n = letters_at(c, i, word);
    if (strcmp(word, "per") == 0 && at(c, i + n) == ' ') {
        letters_at(c, i + n + 1, word);
        return strcmp(word, "cent") == 0 ? UNIT_PERCENT : UNIT_NONE;
    }
    if (!sp && n > 0 && is_wordlike(at(c, i + n))) return UNIT_NONE;
    return unit_of(word);
}

static uint8_t unit_before(const cursor *c, size_t i) {
    if (i > 0 && c->text[i - 1] == '$') return UNIT_DOLLAR;
    if (i > 2 && memcmp(c->text + i - 3, "\xE2\x82\xAC", 3) == 0) return UNIT_EURO;
    if (i > 1 && memcmp(c->text + i - 2, "\xC2\xA3", 2) == 0) return UNIT_POUND;
    if (i > 1 && memcmp(c->text + i - 2, "\xC2\xA5", 2) == 0) return UNIT_YEN;
    return UNIT_NONE;
}

static int push(fact_numbers *f, fact_number x, fo_err *err) {
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 16, bytes;
        fact_number *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(f->v, bytes) : NULL;
        if (!p) return fo_fail(err, FO_ENOMEM, "out of memory for the numbers of a text");
        f->v = p;
        f->cap = cap;
    }
    f->v[f->n++] = x;
    return FO_OK;
}

/* "million" and the like behind a number: multiplies *value and moves *end. */
static void take_magnitude(const cursor *c, size_t *end, double *value) {
    char word[16];
    size_t sp = space_at(c, *end);
    if (!sp && at(c, *end) == '-') sp = 1;
    size_t n = letters_at(c, *end + sp, word);
    double m = magnitude(word);
    if (m > 0) {
        *value *= m;
        *end += sp + n;
    }
}

static size_t digit_run(const cursor *c, size_t i) {
    size_t n = 0;
    while (fo_is_digit(at(c, i + n))) n++;
    return n;
}

/* A number in digits that begins at i; returns its end. *opaque: digits that belong to a name. */
static size_t read_digits(const cursor *c, size_t i, double *value, bool *opaque) {
    size_t end = i, n = digit_run(c, i);
    double v = 0;
    for (size_t k = 0; k < n; k++) v = v * 10 + (c->text[i + k] - '0');
    end += n;
    bool grouped = false;
    while (n <= 3) { /* 1,234,567 and 1 234 567 with special spaces */
        size_t sep = at(c, end) == ',' ? 1 : at(c, end) == ' ' ? 0 : space_at(c, end);
        if (!sep || digit_run(c, end + sep) != 3) break;
        for (size_t k = 0; k < 3; k++) v = v * 10 + (c->text[end + sep + k] - '0');
        end += sep + 3;
        grouped = true;
    }
    char point = at(c, end);
    size_t decimals = digit_run(c, end + 1);
    if (decimals && (point == '.' || (point == ',' && !grouped && decimals != 3))) {
        if (point == '.' && at(c, end + 1 + decimals) == '.' &&
            fo_is_digit(
                at(c, end + 2 + decimals))) { /* 1.2.3: a version or an address, not a number */
            *opaque = true;
            while (fo_is_digit(at(c, end)) || (at(c, end) == '.' && fo_is_digit(at(c, end + 1))))
                end++;
            return end;
        }
        double scale = 1;
        for (size_t k = 0; k < decimals; k++) {
            scale /= 10;
            v += (c->text[end + 1 + k] - '0') * scale;
        }
        end += 1 + decimals;
    }
    char word[16];
    size_t letters = letters_at(c, end, word);
    if (letters > 0) {
        bool ordinal = strcmp(word, "st") == 0 || strcmp(word, "nd") == 0 ||
                       strcmp(word, "rd") == 0 || strcmp(word, "th") == 0;
        bool plural = strcmp(word, "s") == 0 && n == 4;
        if ((ordinal || plural) && !is_wordlike(at(c, end + letters))) {
            end += letters;
        } else if ((unit_of(word) == UNIT_NONE && magnitude(word) <= 0) ||
                   is_wordlike(at(c, end + letters))) {
            *opaque = true;
            while (is_wordlike(at(c, end))) end++;
            return end;
        }
    }
    *value = v;
    return end;
}

/* A number in letters at i ("two hundred and five"); returns its end, or i when there is none. */
static size_t read_letters(const cursor *c, size_t i, double *value, bool *single_one) {
    double total = 0, current = 0;
    size_t end = i, p = i, words = 0;
    bool after_tens = false, after_unit = false;
    *single_one = false;
    for (;;) {
        char word[16];
        size_t n = letters_at(c, p, word);
        if (n == 0 || is_wordlike(at(c, p + n))) break;
        double s = small_number(word), m = magnitude(word);
        if (words && strcmp(word, "and") == 0 && !after_unit && !after_tens) {
            size_t q = p + n + 1;
            char next[16];
            letters_at(c, q, next);
            if (at(c, p + n) != ' ' || small_number(next) < 0) break;
            p = q;
            continue;
        }
        if (s >= 0) {
            bool tens = s >= 20;
            if (after_unit || (after_tens && (tens || s >= 10))) break;
            if (words == 0) *single_one = strcmp(word, "one") == 0;
            current += s;
            after_tens = tens;
            after_unit = !tens;
        } else if (m > 0 && (words > 0 || strcmp(word, "dozen") == 0)) {
            if (words == 0) current = 1;
            if (m < 1000) {
                current *= m;
            } else {
                total += current * m;
                current = 0;
            }
            after_tens = after_unit = false;
        } else {
            break;
        }
        words++;
        if (words > 1) *single_one = false;
        end = p + n;
        size_t sp = space_at(c, end);
        if (!sp && at(c, end) == '-') sp = 1;
        if (!sp) break;
        p = end + sp;
    }
    *value = total + current;
    return words ? end : i;
}

static bool one_of(const char *word, const char *list) {
    return fo_words_have(list, word, strlen(word));
}

/* A "one" that is a pronoun: one of the, no one, one another, one can. */
static bool one_is_weak(const cursor *c, size_t start, size_t end) {
    char word[16] = "";
    size_t b = start;
    while (b > 0 && c->text[b - 1] == ' ') b--;
    size_t e = b;
    while (b > 0 && fo_is_letter(c->text[b - 1])) b--;
    if (e > b) letters_at(c, b, word);
    if (one_of(word, "no the this that which any every each another some only")) return true;
    size_t next = end + space_at(c, end);
    letters_at(c, next, word);
    return word[0] == 0 || one_of(word, "of another or who can could must should may might would "
                                        "which that and to is was");
}

int fact_numbers_read(fact_numbers *out, const char *text, size_t len, fo_err *err) {
    cursor c = {text, len};
    for (size_t i = 0; i < len;) {
        if (!is_wordlike(text[i])) {
            i++;
            continue;
        }
        double value = 0;
        bool opaque = false, weak = false;
        size_t end;
        if (fo_is_digit(text[i])) {
            end = read_digits(&c, i, &value, &opaque);
            if (!opaque) take_magnitude(&c, &end, &value);
        } else {
            bool one;
            end = read_letters(&c, i, &value, &one);
            weak = one && one_is_weak(&c, i, end);
        }
        if (end == i) { /* an ordinary word: on to its end */
            while (i < len && is_wordlike(text[i])) i++;
            continue;
        }
        if (!opaque && isfinite(value)) {
            uint8_t unit = unit_before(&c, i);
            if (unit == UNIT_NONE) unit = unit_after(&c, end);
            int rc = push(out, (fact_number){value, (uint32_t)i, (uint32_t)end, unit, weak}, err);
            if (rc) return rc;
        }
        i = end;
    }
    return FO_OK;
}

void fact_numbers_deinit(fact_numbers *f) {
    free(f->v);
    *f = (fact_numbers){0};
}
