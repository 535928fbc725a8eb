#include "retrieval/values/value_bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"

enum { TOKENS = 160 }; /* of a text; what is behind them states no bound */

typedef struct tokens {
    word_token t[TOKENS + 8]; /* empty ones behind the last */
    size_t n;
    const char *text;
} tokens;

static void read_tokens(tokens *x, const char *text, size_t len) {
    *x = (tokens){.text = text};
    for (size_t at = 0; x->n < TOKENS; x->n++) {
        x->t[x->n] = word_token_next(text, len, &at);
        if (!x->t[x->n].n) break;
    }
    x->t[x->n] = (word_token){0};
}

static const word_token *before(const tokens *x, size_t i, size_t by) {
    static const word_token none = {"", 0, false, false};
    return i >= by ? &x->t[i - by] : &none;
}

/* ---- amounts ------------------------------------------------------------------------------ */

/* Which of the words t is, counted from 1; 0: none. */
static size_t word_of(const char *const *words, size_t n, const word_token *t) {
    for (size_t i = 0; t->letters && i < n; i++)
        if (word_token_in(words[i], t)) return i + 1;
    return 0;
}

static size_t below_twenty(const word_token *t) {
    static const char *const words[] = {"one",     "two",       "three",    "four",     "five",
                                        "six",     "seven",     "eight",    "nine",     "ten",
                                        "eleven",  "twelve",    "thirteen", "fourteen", "fifteen",
                                        "sixteen", "seventeen", "eighteen", "nineteen"};
    return word_of(words, sizeof words / sizeof *words, t);
}

static size_t tens(const word_token *t) {
    static const char *const words[] = {"twenty", "thirty",  "forty",  "fifty",
                                        "sixty",  "seventy", "eighty", "ninety"};
    const size_t n = word_of(words, sizeof words / sizeof *words, t);
    return n ? 10 * (n + 1) : 0;
}

static bool is_digit_word(const word_token *t) {
    const size_t n = below_twenty(t);
    return n && n < 10;
}

/* The number that token i is, or ends ("sixty-five"); NAN: none. */
static double number_of(const tokens *x, size_t i) {
    const word_token *t = &x->t[i], *next = &x->t[i + 1], *last = before(x, i, 1);
    const size_t ten = tens(t), ones = below_twenty(t);
    if (ten) return word_token_is_dash(next) && is_digit_word(&x->t[i + 2]) ? NAN : (double)ten;
    if (ones)
        return (double)(ones + (word_token_is_dash(last) && ones < 10 ? tens(before(x, i, 2)) : 0));
    if (!t->digits || t->n > 12) return NAN;
    char digits[16];
    size_t n = 0;
    for (size_t k = 0; k < t->n; k++) /* "1,000" */
        if (t->s[k] != ',') digits[n++] = t->s[k];
    digits[n] = 0;
    char *end;
    const double value = strtod(digits, &end);
    return end == digits ? NAN : value; /* digits of another script */
}

/* "50 x 30 cm": which is which it does not say. */
static bool is_product(const tokens *x, size_t i) {
    static const char sign[] = "\xC3\x97"; /* a multiplication sign, which counts as a letter */
    const word_token *next = &x->t[i + 1], *last = before(x, i, 1);
    return (x->t[i + 2].digits && (word_token_in("x by", next) || word_token_is(next, sign))) ||
           (before(x, i, 2)->digits && (word_token_in("x by", last) || word_token_is(last, sign)));
}

/* A part of a time of the day, of a date, of a number with marks that are not read here. */
static bool is_part(const tokens *x, size_t i) {
    const word_token *t = &x->t[i], *next = &x->t[i + 1], *last = before(x, i, 1);
    return word_token_is(next, ":") || (word_token_is(last, ":") && last->s + 1 == t->s) ||
           word_token_is(next, "/") || word_token_is(last, "/") || word_token_is(last, "#") ||
           is_product(x, i) || demand_month_named(next) >= 0 || demand_month_named(last) >= 0 ||
           word_token_in("am pm o", next);
}

/* The noun without its plural. */
static uint32_t noun_of(const word_token *t) {
    const bool plural = t->n > 3 && (t->s[t->n - 1] | 0x20) == 's';
    return cell_kind_of(0, t->s, t->n - plural);
}

/* What the number before token i counts: *i moves behind its unit. False: nothing that is known. */
static bool read_unit(const tokens *x, size_t *i, value_bound *out, double *times) {
    const word_token *t = &x->t[*i];
    *times = 1;
    out->unit = CELL_PLAIN;
    out->noun = 0;
    out->short_span = false;
    if (word_token_is_dash(t) && x->t[*i + 1].letters && t->s + 1 == x->t[*i + 1].s)
        t = &x->t[++*i];
    if (!t->letters) return false;
    if (cell_unit_named(t->s, t->n, &out->unit, times)) {
        out->short_span = out->unit == CELL_SPAN && *times < 86400;
        return ++*i, true;
    }
    if (word_token_in("to or and up upwards plus off of in at is are was for from until before "
                      "after under over "
                      "the a an on with per each",
                      t))
        return false;
    out->unit = CELL_OTHER;
    out->noun = noun_of(t);
    ++*i;
    return true;
}

static bool is_ahead(const tokens *x, size_t i) {
    return word_token_in("before prior ahead beforehand notice", &x->t[i]) ||
           (word_token_in("in of", &x->t[i]) && word_token_in("advance notice", &x->t[i + 1]));
}

/* ---- of a question -------------------------------------------------------------------------- */

static const double year = 365.25 * 86400; /* as cell_values.h has it */

/* "9-year-old", "9 years old", "8 month old", "aged 9", "my son is 9", "a child of 9": *years of it. i: behind the number. */
static bool is_age(const tokens *x, size_t number, size_t i, double *years) {
    const word_token *t = &x->t[i], *last = before(x, number, 1);
    if (word_token_is_dash(t)) t = &x->t[++i];
    const bool old = word_token_in("old olds", &x->t[i + 1 + word_token_is_dash(&x->t[i + 1])]);
    enum cell_unit unit;
    double times = year;
    const bool span = t->letters && cell_unit_named(t->s, t->n, &unit, &times) &&
                      unit == CELL_SPAN && times >= 86400;
    const bool aged = word_token_in("aged age turned turn turns", last) ||
                      (word_token_in("of", last) &&
                       word_token_in("child boy girl kid son daughter somebody someone teenager "
                                     "person man woman baby",
                                     before(x, number, 2)));
    *years = (span ? times : year) / year;
    if (word_token_in("yo", t)) return true;
    if (span) return old || aged;
    return aged || (word_token_in("is am are m s re", last) &&
                    (!t->n || (!t->letters && !t->digits) || word_token_in("and", t)));
}

/* Which way the length goes whose number is token i, and whose unit ends before token next: "50 cm long", "50 cm in length",
 * "a length of 50 cm", "Length up to: 50 cm". */
static enum value_way way_of(const tokens *x, size_t i, size_t next) {
    static const char *const words[] = {"long length", "wide width", "high tall height",
                                        "deep depth", "thick thickness"};
    enum { WORDS = sizeof words / sizeof *words, FAR = 4 };
    const bool in = word_token_in("in", &x->t[next]);
    const size_t behind = word_of(words, WORDS, &x->t[next + in]);
    if (behind) return (enum value_way)behind;
    for (size_t by = 1; by <= FAR; by++) {
        const word_token *t = before(x, i, by);
        const size_t way = word_of(words, WORDS, t);
        if (way) return (enum value_way)way;
        if (!word_token_in("of up to max maximum from is", t) && !word_token_is(t, ":")) break;
    }
    return WAY_NOT_SAID;
}

/* The amount whose number is token i; false: none. */
static bool amount_at(const tokens *x, size_t i, value_bound *v) {
    double value = number_of(x, i), times;
    size_t next = i + 1;
    *v = (value_bound){.at = (uint32_t)(x->t[i].s - x->text)};
    if (word_token_in("a an", &x->t[i])) value = 1;
    if (isnan(value) || is_part(x, i)) return false;
    if (is_age(x, i, next, &times)) {
        v->age = true;
        v->low = v->high = value * times;
        return true;
    }
    if (!read_unit(x, &next, v, &times)) return false;
    v->ahead = is_ahead(x, next);
    if (v->unit == CELL_LENGTH) v->way = way_of(x, i, next);
    v->low = v->high = value * times;
    /* "a week before" is one; "a parcel" counts nothing */
    return !word_token_in("a an one", &x->t[i]) || v->ahead;
}

size_t value_amounts_in(const char *question, size_t len, value_bound out[VALUE_BOUNDS_MAX]) {
    tokens x;
    size_t n = 0;
    read_tokens(&x, question, len);
    for (size_t i = 0; i < x.n && n < VALUE_BOUNDS_MAX; i++) n += amount_at(&x, i, &out[n]);
    return n;
}

/* ---- of a text ------------------------------------------------------------------------------ */

enum side { SIDE_NONE, SIDE_UPPER, SIDE_UNDER, SIDE_LOWER, SIDE_OVER };

/* By what stands before the number: "up to", "not more than". */
static enum side side_before(const tokens *x, size_t i) {
    const word_token *mark = before(x, i, 1);
    const bool hyphen = word_token_is(mark, "-") && word_token_in("under over", before(x, i, 2)) &&
                        mark->s + 1 == x->t[i].s;            /* "under-12s" */
    const size_t colon = word_token_is(mark, ":") || hyphen; /* "Weight up to: 5 kg" */
    const word_token *last = before(x, i, 1 + colon), *second = before(x, i, 2 + colon);
    if (word_token_in("to", last)) /* "up to 64", "to 64", not "1 to 64", "next to 5" */
        return word_token_in("up", second) || !second->n || word_token_is(second, ":") ? SIDE_UPPER
                                                                                       : SIDE_NONE;
    if (word_token_in("most", last) && word_token_in("at", second)) return SIDE_UPPER;
    if (word_token_in("least", last) && word_token_in("at", second)) return SIDE_LOWER;
    if (word_token_in("than", last)) {
        if (word_token_in("less fewer younger shorter lighter smaller", second)) return SIDE_UNDER;
        return word_token_in("more older longer heavier larger bigger greater", second) ? SIDE_OVER
                                                                                        : SIDE_NONE;
    }
    if (word_token_in("max maximum until till within upto", last)) return SIDE_UPPER;
    if (word_token_in("under below", last)) return SIDE_UNDER;
    if (word_token_in("from min minimum aged", last)) return SIDE_LOWER;
    return word_token_in("over above exceeding", last) ? SIDE_OVER : SIDE_NONE;
}

/* By what stands behind it: "65+", "18 and over", "200 or more". */
static enum side side_behind(const tokens *x, size_t i) {
    const word_token *t = &x->t[i], *next = &x->t[i + 1];
    if (word_token_is(t, "+") || (word_token_in("plus", t) && !next->letters)) return SIDE_LOWER;
    if (!word_token_in("or and", t)) return SIDE_NONE;
    if (word_token_in("more over older above up upwards longer heavier", next)) return SIDE_LOWER;
    return word_token_in("less fewer under younger below shorter lighter", next) ? SIDE_UPPER
                                                                                 : SIDE_NONE;
}

/* "Up to 7 days before": seven or more. "Less than 2 days before" are fewer than two. */
static enum side side_ahead(enum side side) {
    return side == SIDE_UPPER ? SIDE_LOWER : side == SIDE_LOWER ? SIDE_UPPER : side;
}

static bool read_range(const tokens *x, size_t i, value_bound *v, size_t *next) {
    const word_token *between = &x->t[i + 1];
    const bool and = word_token_in("and", between) && word_token_in("between", before(x, i, 1));
    if (!word_token_is_dash(between) && !word_token_in("to", between) && !and) return false;
    const double other = number_of(x, i + 2);
    if (isnan(other) || is_part(x, i + 2) || word_token_in("up", before(x, i, 1))) return false;
    const double one = number_of(x, i);
    double times;
    *next = i + 3;
    const bool known = read_unit(x, next, v, &times);
    if (!known && word_token_year(&x->t[i]) && word_token_year(&x->t[i + 2])) return false;
    v->ahead = is_ahead(x, *next);
    if (v->unit == CELL_LENGTH) v->way = way_of(x, i, *next);
    v->low = fmin(one, other) * times;
    v->high = fmax(one, other) * times;
    return one != other;
}

size_t value_bounds_in(const char *text, size_t len, value_bound out[VALUE_BOUNDS_MAX]) {
    tokens x;
    size_t n = 0;
    read_tokens(&x, text, len);
    for (size_t i = 0; i < x.n && n < VALUE_BOUNDS_MAX; i++) {
        const double value = number_of(&x, i);
        size_t next = i + 1;
        double times;
        value_bound *v = &out[n];
        *v = (value_bound){.at = (uint32_t)(x.t[i].s - text)};
        if (isnan(value) || is_part(&x, i)) continue;
        if (read_range(&x, i, v, &next)) {
            n++;
            i = next - 1;
            continue;
        }
        next = i + 1;
        enum side side = side_before(&x, i), behind = side_behind(&x, next);
        if (word_token_is(&x.t[next], "+")) next++;
        const word_token *unit = &x.t[next];
        (void)read_unit(&x, &next, v, &times);
        v->of_years = word_token_in("s", unit) && unit->s == x.t[next - 2].s + x.t[next - 2].n;
        if (v->unit == CELL_LENGTH) v->way = way_of(&x, i, next);
        if (side == SIDE_LOWER && word_token_in("to", &x.t[next])) continue; /* from 3 m to 2 ft */
        if (behind == SIDE_NONE) behind = side_behind(&x, next);
        if (behind != SIDE_NONE) side = behind;
        if (side == SIDE_NONE) continue;
        v->ahead = is_ahead(&x, next);
        if (v->ahead) side = side_ahead(side);
        const bool upper = side == SIDE_UPPER || side == SIDE_UNDER;
        v->low = upper ? -INFINITY : value * times;
        v->high = upper ? value * times : INFINITY;
        v->low_open = side == SIDE_OVER;
        v->high_open = side == SIDE_UNDER;
        n++;
    }
    return n;
}

/* ---- both ----------------------------------------------------------------------------------- */

/* "Up to 4 persons" says nothing of their age; "under 6 travel free" does. */
static bool counts_people(const value_bound *b) {
    static const char *const words[] = {"people",   "person", "adult",    "child",
                                        "children", "guest",  "member",   "visitor",
                                        "ticket",   "family", "passenger"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (noun_of(&(word_token){words[i], strlen(words[i]), true, false}) == b->noun) return true;
    return false;
}

bool value_bound_is_for(const value_bound *bound, const value_bound *amount) {
    if (bound->ahead != amount->ahead) return false;
    if (amount->age)
        return bound->unit == CELL_PLAIN ||
               (bound->unit == CELL_SPAN && (!bound->short_span || bound->of_years)) ||
               (bound->unit == CELL_OTHER && !counts_people(bound));
    if (bound->way && amount->way && bound->way != amount->way) return false;
    return bound->unit == amount->unit && bound->noun == amount->noun;
}

bool value_amounts_alike(const value_bound *a, const value_bound *b) {
    return a->age == b->age && a->ahead == b->ahead && a->unit == b->unit && a->noun == b->noun;
}

bool value_bound_holds(const value_bound *bound, const value_bound *amount) {
    const double v =
        amount->low * (amount->age && bound->unit == CELL_SPAN && !bound->of_years ? year : 1);
    const double slack = 1e-9 * fabs(v);
    return (bound->low_open ? v > bound->low + slack : v >= bound->low - slack) &&
           (bound->high_open ? v < bound->high - slack : v <= bound->high + slack);
}

bool value_bound_is_closer(const value_bound *a, const value_bound *b) {
    const double width_a = a->high - a->low, width_b = b->high - b->low;
    if (isfinite(width_a) || isfinite(width_b)) return width_a < width_b;
    if (isfinite(a->high) && isfinite(b->high)) return a->high < b->high;
    return isfinite(a->low) && isfinite(b->low) && a->low > b->low;
}

bool value_amount_is_met(const char *text, size_t len, const value_bound *amount) {
    tokens x;
    value_bound bounds[VALUE_BOUNDS_MAX];
    const size_t n = value_bounds_in(text, len, bounds);
    bool within = false, bounded[TOKENS] = {false};
    read_tokens(&x, text, len);
    for (size_t k = 0; k < n; k++) {
        within |= value_bound_is_for(&bounds[k], amount) && value_bound_holds(&bounds[k], amount);
        for (size_t i = 0; i < x.n; i++) bounded[i] |= (uint32_t)(x.t[i].s - text) == bounds[k].at;
    }
    for (size_t i = 0; i < x.n && !within; i++) {
        value_bound v;
        within = !bounded[i] && amount_at(&x, i, &v) && value_bound_is_for(&v, amount) &&
                 value_bound_holds(&v, amount);
    }
    return within;
}
