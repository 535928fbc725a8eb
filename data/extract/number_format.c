/* See number_format.h. */
#include "data/extract/number_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"

/* What a format of numbers shows: "yyyy\-mm\-dd" is a date, "mmm" a month, "0.0%" a share, "[Red]0" a number. */
static uint8_t kind_of_code(const char *s) {
    bool date = false, hours = false, elapsed = false, quoted = false, month = false, digit = false;
    for (; *s && *s != ';'; s++) {
        if (*s == '"') quoted = !quoted;
        if (quoted) continue;
        if (*s == '\\' || *s == '_' || *s == '*') {
            if (s[1]) s++;
            continue;
        }
        if (*s == '[') { /* a colour, a condition, a language, or hours beyond 24 */
            elapsed |= strchr("hHmMsS", s[1]) && s[1] && s[2] && strchr("hHmMsS]", s[2]);
            while (*s && *s != ']') s++;
            if (!*s) break;
            continue;
        }
        if (*s == '%') return NUMBER_SHARE;
        date |= strchr("yYdD", *s) != NULL;
        hours |= strchr("hHsS", *s) != NULL;
        month |= *s == 'm' || *s == 'M'; /* beside hours or seconds: minutes */
        digit |= strchr("0#?", *s) != NULL;
    }
    if (elapsed) return NUMBER_ELAPSED;
    if (date || hours) return !date ? NUMBER_TIME : hours ? NUMBER_DATE_TIME : NUMBER_DATE;
    return month && !digit ? NUMBER_MONTH : NUMBER_PLAIN;
}

uint8_t number_format_builtin(long id) {
    if (id == 9 || id == 10) return NUMBER_SHARE;
    if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id == 36 || (id >= 50 && id <= 58))
        return NUMBER_DATE;
    if (id == 46) return NUMBER_ELAPSED;
    if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47))
        return NUMBER_TIME;
    return id == 22 ? NUMBER_DATE_TIME : NUMBER_PLAIN;
}

/* ---- what stands beside the digits ------------------------------------------------------------------ */

enum { MAX_ZEROS = 20 };
static const char ZEROS[] = "00000000000000000000"; /* so many */

typedef struct format_reader {
    number_format *f;
    bool digits, behind;  /* digits were read; something was, behind them */
    bool scaled, pointed; /* a comma stands behind the last digit; there are decimals */
    bool commas;
    int zeros, decimals; /* that are shown in any case */
} format_reader;

/* False: there is no room, or digits follow what stands behind digits, as in a telephone number. */
static bool add_words(format_reader *r, const char *s, size_t n) {
    char *to = r->digits ? r->f->behind : r->f->before;
    const size_t k = strlen(to);
    if (r->scaled || k + n >= NUMBER_WORDS) return false;
    memcpy(to + k, s, n);
    to[k + n] = 0;
    r->behind = r->digits;
    return true;
}

static bool add_digit(format_reader *r, char sign) {
    if (r->behind) return false;
    r->digits = true;
    r->scaled = false;
    r->zeros += sign == '0' && !r->pointed;
    r->decimals += sign == '0' && r->pointed;
    return true;
}

/* Behind the last digit a comma says thousands, of which the number is not made here. */
static bool add_point(format_reader *r, char sign) {
    r->pointed |= sign == '.';
    r->commas |= sign == ',';
    r->scaled = sign == ',';
    r->digits = true;
    return true;
}

/* "[$EUR-407]" is EUR; colours and languages say nothing. False: it asks how large the number is. */
static bool read_brackets(format_reader *r, const char *s, size_t n) {
    if (n && strchr("<>=", *s)) return false;
    if (!n || *s != '$') return true;
    size_t k = 1;
    while (k < n && s[k] != '-') k++;
    return add_words(r, s + 1, k - 1);
}

static size_t length_of_sign(const char *s) {
    int32_t cp;
    return fo_utf8_decode(s, strnlen(s, 4), &cp);
}

/* One sign of a section and what belongs to it: bytes; 0: what stands beside the digits cannot be told. */
static size_t read_sign(format_reader *r, const char *s) {
    const size_t n = length_of_sign(s);
    if (*s == '"' || *s == '[') {
        const char *end = strchr(s + 1, *s == '"' ? '"' : ']');
        if (!end) return 0;
        const size_t k = (size_t)(end - s) - 1;
        return (*s == '"' ? add_words(r, s + 1, k) : read_brackets(r, s + 1, k)) ? k + 2 : 0;
    }
    if (strchr("\\_*", *s)) { /* a sign as it is, a blank as wide as one, one that fills the cell */
        const size_t k = s[1] ? length_of_sign(s + 1) : 0;
        const bool added = *s == '\\' ? add_words(r, s + 1, k) : add_words(r, " ", 1);
        return added ? 1 + k : 0;
    }
    if (!strncasecmp(s, "General", 7)) return add_digit(r, '#') ? 7 : 0;
    if (strchr("0#?", *s)) return add_digit(r, *s) ? 1 : 0;
    if (strchr(".,", *s)) return !r->behind && !r->scaled && add_point(r, *s);
    /* "E+00", "# ?/?" and "@" are other ways to write a number; a letter is what a date is made of. */
    return (strchr("$+-() :'&!=<>{}~^", *s) || (unsigned char)*s >= 0x80) && add_words(r, s, n) ? n
                                                                                                : 0;
}

static void trim(number_format *f) {
    size_t n = strlen(f->behind), k = strspn(f->before, " ");
    while (n && f->behind[n - 1] == ' ') f->behind[--n] = 0;
    memmove(f->before, f->before + k, strlen(f->before + k) + 1);
}

/* Of the section for numbers that are positive: the others show the same. */
static void read_beside(number_format *f, const char *code) {
    format_reader r = {.f = f};
    size_t k = 1;
    for (const char *s = code; k && *s && *s != ';'; s += k) k = read_sign(&r, s);
    trim(f);
    const char *behind = f->behind;
    if (!k || !r.digits || r.scaled || fo_is_digit(*behind) || *behind == '.' || *behind == ',') {
        *f = (number_format){.kind = f->kind};
        return;
    }
    if (!r.pointed && !r.commas && r.zeros > 1 && r.zeros <= MAX_ZEROS)
        f->digits = (uint8_t)r.zeros;
    if ((*f->before || *behind) && r.decimals <= MAX_ZEROS) f->decimals = (uint8_t)r.decimals;
}

void number_format_read(number_format *f, const char *code) {
    *f = (number_format){.kind = kind_of_code(code)};
    if (f->kind == NUMBER_PLAIN) read_beside(f, code);
}

/* ---- numbers --------------------------------------------------------------------------------------- */

/* Days since 1970 as year, month, day. Source: Howard Hinnant, chrono-compatible low-level date
 * algorithms. */
static void civil(long z, int *y, int *m, int *d) {
    z += 719468;
    long era = (z >= 0 ? z : z - 146096) / 146097;
    long day = z - era * 146097;
    long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    long of_year = day - (365 * year + year / 4 - year / 100);
    long month = (5 * of_year + 2) / 153;
    *d = (int)(of_year - (153 * month + 2) / 5 + 1);
    *m = (int)(month < 10 ? month + 3 : month - 9);
    *y = (int)(year + era * 400 + (*m <= 2));
}

static size_t show_month(int month, char *out, size_t cap) {
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    return (size_t)snprintf(out, cap, "%s", names[month - 1]);
}

static size_t show_date(double v, uint8_t kind, bool from_1904, char *out, size_t cap) {
    double days = floor(v), left = v - days;
    long seconds = lround(left * 86400);
    if (seconds == 86400) {
        days++;
        seconds = 0;
    }
    char clock[32] = "";
    if (kind != NUMBER_DATE && kind != NUMBER_MONTH)
        snprintf(clock, sizeof clock, "%02ld:%02ld", seconds / 3600, seconds / 60 % 60);
    if (*clock && seconds % 60) snprintf(clock + strlen(clock), 8, ":%02ld", seconds % 60);
    if (kind == NUMBER_ELAPSED && days > 0) { /* hours beyond a day: of a sum */
        long hours = (long)days * 24 + seconds / 3600;
        return (size_t)snprintf(out, cap, "%ld%s", hours, strchr(clock, ':'));
    }
    if (kind == NUMBER_TIME || kind == NUMBER_ELAPSED)
        return (size_t)snprintf(out, cap, "%s", clock);
    /* Day 60 of 1900 is a 29 February that never was. */
    long since_1970 = (long)days - (from_1904 ? 24107 : days < 60 ? 25568 : 25569);
    int y, m, d;
    civil(since_1970, &y, &m, &d);
    if (kind == NUMBER_MONTH) return show_month(m, out, cap);
    return (size_t)snprintf(out, cap, "%04d-%02d-%02d%s%s", y, m, d, *clock ? " " : "", clock);
}

/* 15 digits are what Excel keeps. Not as a power of ten, but for what nobody counts. */
static void show_plain(double v, char *out, size_t cap) {
    const double size = fabs(v);
    snprintf(out, cap, "%.15g", v);
    if (!strchr(out, 'e') || size >= 1e21 || size < 1e-9) return;
    if (size >= 1) {
        snprintf(out, cap, "%.0f", v);
        return;
    }
    size_t n = (size_t)snprintf(out, cap, "%.*f", 14 - (int)floor(log10(size)), v);
    while (n && out[n - 1] == '0') out[--n] = 0;
}

size_t number_format_show(const number_format *f, const char *s, bool from_1904,
                          char out[NUMBER_SHOWN]) {
    char *end, plain[64];
    const double v = strtod(s, &end);
    if (!*s || *end || !isfinite(v)) return 0;
    if (f->kind == NUMBER_SHARE) return (size_t)snprintf(out, NUMBER_SHOWN, "%.10g%%", v * 100);
    if (f->kind != NUMBER_PLAIN && v >= 0 && v < 2958466)
        return show_date(v, f->kind, from_1904, out, NUMBER_SHOWN);
    show_plain(v, plain, sizeof plain);
    const bool minus = *plain == '-';
    const char *digits = plain + minus, *point = strchr(digits, '.');
    const size_t n = strspn(digits, "0123456789"), n_behind = point ? strlen(point + 1) : 0;
    if (strchr(digits, 'e')) return (size_t)snprintf(out, NUMBER_SHOWN, "%s", plain);
    const int zeros = point || f->digits <= n ? 0 : (int)(f->digits - n),
              more = f->decimals > n_behind ? (int)(f->decimals - n_behind) : 0;
    /* What is shown of a sign is that of numbers above zero. */
    const char *before = minus ? f->before + strspn(f->before, "+-") : f->before;
    return (size_t)snprintf(out, NUMBER_SHOWN, "%s%s%.*s%s%s%.*s%s", minus ? "-" : "", before,
                            zeros, ZEROS, digits, more && !point ? "." : "", more, ZEROS,
                            f->behind);
}
