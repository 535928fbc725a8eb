/* Numbers in running text, part of facts.h. Source: ours; conventions of English and of the
 * scientific press (thin spaces, decimal commas where they cannot be thousands). */
#include "retrieval/text/facts.h"
#include "retrieval/text/figure_forms.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_wordlike(char c) { /* letters beyond ASCII count as letters */
    return fo_is_letter(c) || fo_is_digit(c) || c == '_' || (unsigned char)c >= 0xC3;
}

typedef struct cursor {
    const char *text;
    size_t len;
    size_t dated; /* the end of the last date: its figures are no time and no fraction */
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

/* ---- what stands around a number ------------------------------------------------------------- */

/* "am", "p.m." at i, perhaps behind a space. */
static uint8_t half_at(const cursor *c, size_t i) {
    i += space_at(c, i);
    const char first = at(c, i);
    i += 1 + (at(c, i + 1) == '.');
    if ((at(c, i) | 0x20) != 'm' || is_wordlike(at(c, i + 1))) return HALF_NONE;
    return (first | 0x20) == 'a' ? HALF_AM : (first | 0x20) == 'p' ? HALF_PM : HALF_NONE;
}

static bool bytes_before(const cursor *c, size_t i, const char *bytes) {
    const size_t n = strlen(bytes);
    return i >= n && memcmp(c->text + i - n, bytes, n) == 0;
}

/* Does text[..i) end where something may begin: with a blank, a bracket, not at all? */
static bool is_open_before(const cursor *c, size_t i) {
    if (i == 0 || fo_is_blank(c->text[i - 1]) || strchr("([{|\"'", c->text[i - 1])) return true;
    return (i > 1 && fo_utf8_wide_blank(c->text + i - 2, 2)) ||
           (i > 2 && fo_utf8_wide_blank(c->text + i - 3, 3));
}

/* A dash behind a number, "1990 \xE2\x80\x93" "1995", is that of a range. */
static bool digit_before(const cursor *c, size_t i) {
    while (i > 0 && fo_is_blank(c->text[i - 1])) i--;
    return i > 0 && fo_is_digit(c->text[i - 1]);
}

static bool minus_before(const cursor *c, size_t i) {
    static const char *const currencies[] = {"$", "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5"};
    for (size_t k = 0; k < sizeof currencies / sizeof *currencies; k++)
        if (bytes_before(c, i, currencies[k])) i -= strlen(currencies[k]);
    if (bytes_before(c, i, "-")) return is_open_before(c, i - 1);
    if (bytes_before(c, i, "\xE2\x80\x93"))
        return is_open_before(c, i - 3) && !digit_before(c, i - 3);
    while (i > 0 && c->text[i - 1] == ' ') i--;
    if (bytes_before(c, i, "\xE2\x88\x92")) return is_open_before(c, i - 3);
    char word[16];
    return i >= 5 && letters_at(c, i - 5, word) >= 5 && strncmp(word, "minus", 5) == 0 &&
           (i == 5 || !is_wordlike(c->text[i - 6]));
}

static bool grow(void **p, size_t *cap, size_t n, size_t size) {
    if (n < *cap) return true;
    size_t more = *cap ? 2 * *cap : 16, bytes;
    void *q = fo_mul_size(more, size, &bytes) ? realloc(*p, bytes) : NULL;
    if (!q) return false;
    *p = q;
    *cap = more;
    return true;
}

static int push(fact_numbers *f, fact_number x, fo_err *err) {
    void *p = f->v;
    if (!grow(&p, &f->cap, f->n, sizeof x))
        return fo_fail(err, FO_ENOMEM, "out of memory for the numbers of a text");
    f->v = p;
    f->v[f->n++] = x;
    return FO_OK;
}

static uint64_t hash_byte(uint64_t h, char c) { /* FNV-1a */
    return (h ^ (unsigned char)(fo_is_upper(c) ? c | 0x20 : c)) * 0x100000001B3u;
}

static const uint64_t hash_seed = 0xCBF29CE484222325u;

/* "V1.2.4" is v1.2.4 and 1.2.4; a date is one whatever noughts its figures have. */
static uint64_t code_id(const char *s, size_t n) {
    uint64_t h = hash_seed;
    date_said date;
    char plain[32];
    if (date_at(s, n, &date) == n) {
        n = (size_t)snprintf(plain, sizeof plain, "%d.%d.%d", date.day, date.month, date.year);
        s = plain;
    }
    for (size_t i = n > 1 && (s[0] | 0x20) == 'v' && fo_is_digit(s[1]); i < n; i++)
        h = hash_byte(h, s[i]);
    return h;
}

/* Words without marks are names. */
static int push_code(fact_numbers *f, const cursor *c, size_t start, size_t end, fo_err *err) {
    bool marks = false;
    for (size_t i = start; i < end; i++) marks |= c->text[i] == '.' || c->text[i] == ',';
    if (!marks) return FO_OK;
    void *p = f->codes;
    if (!grow(&p, &f->cap_codes, f->n_codes, sizeof *f->codes))
        return fo_fail(err, FO_ENOMEM, "out of memory for the numbers of a text");
    f->codes = p;
    f->codes[f->n_codes++] =
        (fact_code){code_id(c->text + start, end - start), (uint32_t)start, (uint32_t)end};
    return FO_OK;
}

/* Where a date begins at i, it is appended; *end moves behind it. */
static int push_date(fact_numbers *f, const cursor *c, size_t i, size_t *end, fo_err *err) {
    fact_date x = {.start = (uint32_t)i};
    size_t used = date_at(c->text + i, c->len - i, &x.said);
    if (!used) used = date_short_at(c->text, c->len, i, &x.said);
    if (!used || x.said.doubtful || (x.said.digits && !x.said.day)) return FO_OK;
    x.end = (uint32_t)(i + used);
    void *p = f->dates;
    if (!grow(&p, &f->cap_dates, f->n_dates, sizeof x)) return fo_no_memory(err);
    f->dates = p;
    f->dates[f->n_dates++] = x;
    *end = x.end;
    return FO_OK;
}

const fact_date *fact_date_of(const fact_numbers *f, size_t at) {
    for (size_t i = 0; i < f->n_dates; i++)
        if (at >= f->dates[i].start && at < f->dates[i].end) return &f->dates[i];
    return NULL;
}

/* ---- versions ---------------------------------------------------------------------------------- */

enum { SENTENCE_REACH = 200 };

/* Between sentences, paragraphs or rows of a table, before text[i]? */
static bool is_boundary(const cursor *c, size_t i) {
    const char before = c->text[i - 1];
    if (before == '\n') return i > 1 && (c->text[i - 2] == '\n' || c->text[i - 2] == '|');
    return fo_is_blank(at(c, i)) && (before == '.' || before == '!' || before == '?');
}

static const char version_words[] =
    "version versions v ver rev release releases released revision revisions build builds firmware "
    "patch edition section sections chapter chapters clause paragraph figure fig table appendix "
    "kapitel abschnitt fassung chapitre versi\xC3\xB3n versiones vers\xC3\xA3o versione versioni "
    "versie cap\xC3\xADtulo capitolo";

static bool names_versions(const cursor *c, size_t from, size_t end) {
    return word_tokens_say(version_words, c->text + from, end - from);
}

/* Does what stands before the number in its sentence name something that may have versions or sections: a name ("Python
 * 3.10", "Python 3.9 or 3.10"), what is done with them, or nothing ("3.10 Pumps")? */
static bool is_numbered(const cursor *c, size_t from, size_t i) {
    static const char between[] =
        "is was are and or to of the a than from at since between through either both about only "
        "by until before after over under on in no with least most newer older later";
    static const char with_versions[] =
        "install installed installs require requires required support supports supported need "
        "needs run runs upgrade upgraded upgrades update updated updates step item rule point part";
    static const char measures[] =
        "price prices cost costs fee fees fare total sum amount average mean rate ratio score "
        "factor weight length width height depth preis kosten betrag prix precio prezzo";
    word_token last = {0};
    for (size_t k = 0; from + k < i;) {
        const word_token t = word_token_next(c->text + from, i - from, &k);
        if (t.letters && !word_token_in(between, &t)) last = t;
    }
    if (word_token_in(measures, &last)) return false;
    return !(last.n && *last.s >= 'a' && *last.s <= 'z') || word_token_in(with_versions, &last);
}

/* The sentence around bytes [i, end), as far as it is looked at. */
static void sentence_around(const cursor *c, size_t i, size_t end, size_t *from, size_t *to) {
    *from = i, *to = end;
    while (*from > 0 && i - *from < SENTENCE_REACH && !is_boundary(c, *from)) --*from;
    while (*to < c->len && *to - end < SENTENCE_REACH && !is_boundary(c, *to)) ++*to;
}

static bool may_be_version(const cursor *c, size_t i, size_t end) {
    size_t from, to;
    sentence_around(c, i, end, &from, &to);
    return names_versions(c, from, to) || is_numbered(c, from, i);
}

/* ---- times and fractions ----------------------------------------------------------------------- */

/* "A scale of 1:50", "they won 21:19": two numbers beside a sign. */
static bool may_be_ratio(const cursor *c, size_t i, size_t end) {
    static const char ratios[] = "scale scales ratio ratios mix mixed mixture dilute diluted "
                                 "dilution proportion proportions odds score scores scored won win "
                                 "wins lost lose loses beat beats verse map maps";
    size_t from, to;
    sentence_around(c, i, end, &from, &to);
    return word_tokens_say(ratios, c->text + from, to - from);
}

/* A letter or a figure, but no dash, which begins with a byte above ASCII as letters do. */
static bool is_glued(const cursor *c, size_t i) {
    return is_wordlike(at(c, i)) && (unsigned char)at(c, i) != 0xE2;
}

/* A time of the day that begins at i; returns its end, or i when there is none. */
static size_t read_clock(const cursor *c, size_t i, fact_number *x) {
    double minutes;
    if (i < c->dated || (i > 0 && c->text[i - 1] == ':')) return i;
    size_t n = figure_clock_at(c->text + i, c->len - i, &minutes);
    const bool pointed = !n;
    if (pointed) n = figure_pointed_clock_at(c->text + i, c->len - i, &minutes);
    const size_t end = i + n;
    const uint8_t half = half_at(c, end);
    char word[16];
    const size_t letters = letters_at(c, end, word);
    const bool hours =
        letters && fo_words_have("h hs hrs", word, letters) && !is_glued(c, end + letters);
    if (!n || (is_glued(c, end) && !half && !hours)) return i;
    if (!half && !pointed && may_be_ratio(c, i, end)) return i;
    x->value = minutes;
    x->unit = UNIT_CLOCK;
    x->decimals = pointed ? 2 : 0;
    x->half = half;
    return end;
}

/* "On 3/4" may be a day, and "rooms 3/4" are two, unless a unit stands behind it. */
static bool may_be_two(const cursor *c, size_t i) {
    size_t end = i, from;
    while (end > 0 && c->text[end - 1] == ' ') end--;
    for (from = end; from > 0 && fo_is_letter(c->text[from - 1]);) from--;
    return fo_words_have_any_case("on since until till rooms levels floors pages lines weeks "
                                  "grades gates zones sections parts questions numbers platforms",
                                  c->text + from, end - from);
}

/* "3/4" at i, alone or behind a whole number; its end, or i when there is none. */
static size_t read_fraction(const cursor *c, size_t i, double *value) {
    if (i < c->dated || (i > 0 && (c->text[i - 1] == '/' || c->text[i - 1] == '.'))) return i;
    const size_t end = i + figure_fraction_at(c->text + i, c->len - i, value);
    if (end == i) return i;
    const bool unit = unit_after(c, end) != UNIT_NONE;
    return unit || !(is_glued(c, end) || may_be_two(c, i)) ? end : i;
}

/* What stands behind the whole number that ends at `end` and is a part of it: "2\xC2\xBD", "2 1/2". Moves *end. */
static void take_fraction(const cursor *c, size_t *end, double *value) {
    double part;
    size_t gap = space_at(c, *end);
    if (!gap && at(c, *end) == '-') gap = 1;
    const size_t from = *end + gap;
    if (from >= c->len || *end <= c->dated) return;
    const size_t sign = figure_sign_at(c->text + from, c->len - from, &part);
    const size_t behind = sign || !gap ? from + sign : read_fraction(c, from, &part);
    if (behind == from) return;
    *value += part;
    *end = behind;
}

/* "and a half" behind the number that ends at *end. */
static bool take_part(const cursor *c, size_t *end, double *value) {
    double part;
    const size_t n = figure_and_part_at(c->text + *end, c->len - *end, &part);
    if (!n || *end <= c->dated || *value != floor(*value)) return false;
    *value += part;
    *end += n;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

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

/* Digits of a code with marks go on at end: ".2" of 1.2. */
static bool goes_on(const cursor *c, size_t end) {
    return at(c, end) == '.' && fo_is_digit(at(c, end + 1));
}

/* The hash of a whole number's digits, if a double cannot tell it from its neighbours. */
static uint64_t exact_digits(const cursor *c, size_t i, size_t end, double value) {
    static const double exact = 9007199254740992.0; /* 2^53 */
    uint64_t h = hash_seed;
    bool leads = true;
    if (value < exact) return 0;
    for (; i < end; i++) {
        leads &= c->text[i] == '0';
        if (fo_is_digit(c->text[i]) && !leads) h = hash_byte(h, c->text[i]);
    }
    return h;
}

/* A number in digits that begins at i; returns its end. *opaque: digits that belong to a name or a code. */
static size_t read_digits(const cursor *c, size_t i, fact_number *x, bool *opaque) {
    size_t end = i, n = digit_run(c, i);
    double v = 0;
    const size_t fraction = read_fraction(c, i, &x->value);
    if (fraction > i) return fraction;
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
            while (fo_is_digit(at(c, end)) || goes_on(c, end)) end++;
            return end;
        }
        double scale = 1;
        for (size_t k = 0; k < decimals; k++) {
            scale /= 10;
            v += (c->text[end + 1 + k] - '0') * scale;
        }
        end += 1 + decimals;
        x->decimals = (uint8_t)(decimals < UINT8_MAX ? decimals : UINT8_MAX);
    } else {
        x->digits = exact_digits(c, i, end, v);
        if (n <= 3 && !grouped) take_fraction(c, &end, &v);
    }
    x->value = v;
    if (half_at(c, end)) return end; /* 8am */
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

/* The end of an ordinary word, and of the code that it begins: v1.2.4. */
static size_t word_end(const cursor *c, size_t i) {
    while (is_wordlike(at(c, i))) i++;
    while (fo_is_digit(c->text[i - 1]) && goes_on(c, i)) {
        i++;
        while (is_wordlike(at(c, i))) i++;
    }
    return i;
}

/* The number at i; returns its end, or i when there is none. */
static size_t read_number(const cursor *c, size_t i, fact_number *x, bool *opaque) {
    size_t end;
    *x = (fact_number){.start = (uint32_t)i};
    *opaque = false;
    if (fo_is_digit(c->text[i])) {
        x->end = (uint32_t)(end = read_clock(c, i, x));
        if (end > i) return end;
        end = read_digits(c, i, x, opaque);
        const double plain = x->value;
        if (!*opaque) (void)take_part(c, &end, &x->value);
        if (!*opaque) take_magnitude(c, &end, &x->value);
        if (x->value != plain) x->decimals = 0, x->digits = 0;
    } else if ((end = i + figure_sign_at(c->text + i, c->len - i, &x->value)) > i) {
        take_magnitude(c, &end, &x->value);
    } else {
        bool one;
        end = read_letters(c, i, &x->value, &one);
        if (end > i && take_part(c, &end, &x->value)) take_magnitude(c, &end, &x->value);
        x->weak = one && one_is_weak(c, i, end);
    }
    x->end = (uint32_t)end;
    if (end == i || *opaque) return end;
    x->half = half_at(c, end);
    x->minus = minus_before(c, i);
    x->unit = unit_before(c, i);
    if (x->unit == UNIT_NONE && !x->half) x->unit = unit_after(c, end);
    x->version = x->decimals && x->unit == UNIT_NONE && !memchr(c->text + i, ',', end - i) &&
                 (x->half || may_be_version(c, i, end));
    return end;
}

static int read_ascii(fact_numbers *out, const char *text, size_t len, fo_err *err) {
    cursor c = {.text = text, .len = len};
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < len;) {
        double part;
        if (!is_wordlike(text[i]) && !figure_sign_at(text + i, len - i, &part)) {
            i++;
            continue;
        }
        if (i >= c.dated) rc = push_date(out, &c, i, &c.dated, err);
        if (rc) break;
        fact_number x;
        bool opaque;
        size_t end = read_number(&c, i, &x, &opaque);
        const bool word = end == i;
        if (word) end = word_end(&c, i);
        if (word || opaque)
            rc = push_code(out, &c, i, end, err);
        else if (isfinite(x.value))
            rc = push(out, x, err);
        i = end;
    }
    return rc;
}

/* ---- digits of other scripts ----------------------------------------------------------------- */

/* What ASCII has for a digit, or a mark of numbers, of another script; 0: nothing. */
static char ascii_for(int32_t cp) {
    if (cp < 0x80) return 0;
    const int digit = fo_utf8_digit(cp);
    if (digit >= 0) return (char)('0' + digit);
    switch (cp) {
    case 0x66B:
    case 0xFF0E:
        return '.';
    case 0x66C:
        return ',';
    case 0x66A:
    case 0xFF05:
        return '%';
    case 0xFF0D:
        return '-';
    default:
        return 0;
    }
}

static bool has_other_digits(const char *text, size_t len) {
    for (size_t i = 0; i < len;) {
        int32_t cp = 0;
        if ((unsigned char)text[i] < 0x80) {
            i++;
            continue;
        }
        i += fo_utf8_decode(text + i, len - i, &cp);
        if (fo_utf8_digit(cp) >= 0) return true;
    }
    return false;
}

/* The text with ASCII's digits, and where each byte of it, and its end, stood. */
static size_t to_ascii(const char *text, size_t len, char *out, uint32_t *from) {
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        int32_t cp;
        const size_t bytes = fo_utf8_decode(text + i, len - i, &cp);
        const char c = ascii_for(cp);
        for (size_t k = 0; k < (c ? 1 : bytes); k++) {
            from[n] = (uint32_t)(i + k);
            out[n++] = c ? c : text[i + k];
        }
        i += bytes;
    }
    from[n] = (uint32_t)len;
    return n;
}

int fact_numbers_read(fact_numbers *out, const char *text, size_t len, fo_err *err) {
    if (!has_other_digits(text, len)) return read_ascii(out, text, len, err);
    const size_t n = out->n, n_codes = out->n_codes, n_dates = out->n_dates;
    size_t bytes;
    char *copy = malloc(len);
    uint32_t *from = fo_mul_size(len + 1, sizeof *from, &bytes) ? malloc(bytes) : NULL;
    int rc = copy && from ? FO_OK : fo_no_memory(err);
    if (!rc) rc = read_ascii(out, copy, to_ascii(text, len, copy, from), err);
    for (size_t i = n; i < out->n; i++) {
        out->v[i].start = from[out->v[i].start];
        out->v[i].end = from[out->v[i].end];
    }
    for (size_t i = n_codes; i < out->n_codes; i++) {
        out->codes[i].start = from[out->codes[i].start];
        out->codes[i].end = from[out->codes[i].end];
    }
    for (size_t i = n_dates; i < out->n_dates; i++) {
        out->dates[i].start = from[out->dates[i].start];
        out->dates[i].end = from[out->dates[i].end];
    }
    free(copy);
    free(from);
    return rc;
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool fact_digits_name(const char *s, size_t n) {
    const cursor c = {.text = s, .len = n};
    fact_number x = {0};
    bool opaque = false;
    if (n && fo_is_digit(*s)) read_digits(&c, 0, &x, &opaque);
    return opaque;
}

/* Sums of decimals and products with magnitudes differ in their last bits; whole numbers do not. */
static bool same_value(const fact_number *a, const fact_number *b) {
    static const double rounding = 1e-12;
    if (a->digits && b->digits) return a->digits == b->digits;
    if (a->value == floor(a->value) && b->value == floor(b->value)) return a->value == b->value;
    return fabs(a->value - b->value) <= rounding * fmax(fabs(a->value), fabs(b->value));
}

bool fact_numbers_equal(const fact_number *a, const fact_number *b) {
    if (a->unit == UNIT_CLOCK || b->unit == UNIT_CLOCK) return figure_clocks_equal(a, b);
    if (a->unit != UNIT_NONE && b->unit != UNIT_NONE && a->unit != b->unit) return false;
    if (a->half && b->half && a->half != b->half) return false;
    const bool bare = a->unit == UNIT_NONE && b->unit == UNIT_NONE;
    if (bare && (a->version || b->version) && a->decimals && b->decimals &&
        a->decimals != b->decimals)
        return false;
    return (a->minus == b->minus || a->value == 0) && same_value(a, b);
}

void fact_numbers_deinit(fact_numbers *f) {
    free(f->v);
    free(f->codes);
    free(f->dates);
    *f = (fact_numbers){0};
}
