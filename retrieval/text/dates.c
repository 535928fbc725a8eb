#include "retrieval/text/dates.h"

#include <string.h>

#include "kernels/utf8.h"

static size_t digits_at(const char *s, size_t n, int *value) {
    size_t i = 0;
    for (*value = 0; i < n && i < 9 && fo_is_digit(s[i]); i++) *value = 10 * *value + (s[i] - '0');
    return i;
}

static bool is_year(int x, size_t n_digits) {
    return n_digits == 4 && x >= 1000 && x < 2200;
}

/* The year that two figures stand for. */
static int whole_year(int x) {
    enum { LAST_CENTURY_FROM = 70 };
    return x + (x < LAST_CENTURY_FROM ? 2000 : 1900);
}

static bool is_day(int x) {
    return x >= 1 && x <= DATE_DAYS;
}

static bool is_month(int x) {
    return x >= 1 && x <= DATE_MONTHS;
}

/* ---- names of months --------------------------------------------------------------------------- */

/* What is short and a word of its own elsewhere (ago, set, gen) is left out. */
/* clang-format off */
static const char *const english[DATE_MONTHS] = {
    "january jan", "february feb", "march mar", "april apr", "may", "june jun",
    "july jul", "august aug", "september sept sep", "october oct", "november nov", "december dec"};
static const char *const others[DATE_MONTHS] = {
    "januar jänner janvier janv enero ene gennaio janeiro januari tammikuu tammikuuta tammikuun январь января يناير जनवरी",
    "februar février févr febrero febbraio fevereiro februari helmikuu helmikuuta helmikuun февраль февраля فبراير फरवरी",
    "märz mrz mars marzo março maart marts maaliskuu maaliskuuta maaliskuun март марта مارس मार्च",
    "avril avr abril aprile huhtikuu huhtikuuta huhtikuun апрель апреля أبريل अप्रैल",
    "mai mayo maggio maio mei maj toukokuu toukokuuta toukokuun май мая مايو मई",
    "juni juin junio giugno junho kesäkuu kesäkuuta kesäkuun июнь июня يونيو जून",
    "juli juillet juil julio luglio julho heinäkuu heinäkuuta heinäkuun июль июля يوليو जुलाई",
    "août agosto augustus augusti elokuu elokuuta elokuun август августа أغسطس अगस्त",
    "septembre septiembre setiembre settembre setembro syyskuu syyskuuta syyskuun сентябрь сентября سبتمبر सितंबर",
    "oktober okt octobre octubre ottobre outubro lokakuu lokakuuta lokakuun октябрь октября أكتوبر अक्टूबर",
    "novembre noviembre novembro marraskuu marraskuuta marraskuun ноябрь ноября نوفمبر नवंबर",
    "dezember dez décembre déc diciembre dic dicembre dezembro desember joulukuu joulukuuta joulukuun декабрь декабря ديسمبر दिसंबर"};
/* clang-format on */

static int month_in(const char *const names[DATE_MONTHS], const word_token *t) {
    for (int m = 0; m < DATE_MONTHS; m++)
        if (word_token_in(names[m], t)) return m + 1;
    return 0;
}

int date_month_named_in_english(const word_token *t) {
    return month_in(english, t);
}

int date_month_named(const word_token *t) {
    const int m = month_in(english, t);
    return m ? m : month_in(others, t);
}

bool date_month_in(int month, const char *text, size_t len) {
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (date_month_named(&t) == month) return true;
    }
}

/* ---- in digits ----------------------------------------------------------------------------------- */

/* "11/2025" and "2025-11": a month of a year. "2010-11" is a season. */
static bool month_of_year(const int x[2], const size_t n[2], char mark, date_said *out) {
    if (mark == '/' && n[0] <= 2 && is_month(x[0]) && is_year(x[1], n[1]))
        *out = (date_said){.year = x[1], .month = x[0]};
    else if (mark != '.' && is_year(x[0], n[0]) && n[1] == 2 && is_month(x[1]) &&
             x[1] != (x[0] + 1) % 100)
        *out = (date_said){.year = x[0], .month = x[1]};
    else
        return false;
    return true;
}

/* "03.12.2025" has the day first everywhere; "03/12/2025" may have either. */
static bool day_of_year(const int x[3], const size_t n[3], char mark, date_said *out) {
    if (is_year(x[0], n[0]) && n[1] <= 2 && n[2] <= 2 && is_month(x[1]) && is_day(x[2])) {
        *out = (date_said){.year = x[0], .month = x[1], .day = x[2]};
        return true;
    }
    const bool day_first = is_day(x[0]) && is_month(x[1]),
               month_first = mark != '.' && is_month(x[0]) && is_day(x[1]);
    if (n[0] > 2 || n[1] > 2 || !is_year(x[2], n[2]) || !(day_first || month_first)) return false;
    *out = (date_said){.year = x[2], .month = x[!!day_first], .day = x[!day_first]};
    if (mark == '.') return true;
    out->order = !day_first     ? DATE_ORDER_MONTH_FIRST
                 : !month_first ? DATE_ORDER_DAY_FIRST
                 : x[0] != x[1] ? DATE_ORDER_OPEN
                                : DATE_ORDER_SURE;
    return true;
}

/* "17.03.24": with two figures each, as versions ("3.10.12") seldom have. */
static bool day_of_short_year(const int x[3], const size_t n[3], char mark, date_said *out) {
    if (mark != '.' || n[0] != 2 || n[1] != 2 || n[2] != 2 || !is_day(x[0]) || !is_month(x[1]))
        return false;
    *out = (date_said){.year = whole_year(x[2]), .month = x[1], .day = x[0]};
    return true;
}

/* Two or three numbers between the same marks. */
static size_t between_marks(const char *s, size_t n, date_said *out) {
    int x[3] = {0};
    size_t digits[3] = {0}, i = 0, parts = 0;
    char mark = 0;
    while (parts < 3) {
        digits[parts] = digits_at(s + i, n - i, &x[parts]);
        if (!digits[parts]) return 0;
        i += digits[parts++];
        const bool goes_on = i + 1 < n && s[i] && strchr("/-.", s[i]) && fo_is_digit(s[i + 1]);
        if (!goes_on || (mark && s[i] != mark)) break;
        if (parts == 3) return 0; /* 10.12.2025.1 */
        mark = s[i++];
    }
    const bool found =
        parts == 3   ? day_of_year(x, digits, mark, out) || day_of_short_year(x, digits, mark, out)
        : parts == 2 ? month_of_year(x, digits, mark, out)
                     : false;
    return found ? i : 0;
}

/* 2024年3月17日: a number and a sign each. */
static size_t between_signs(const char *s, size_t n, date_said *out) {
    static const char *const signs[] = {"年", "月", "日"};
    int x[3] = {0};
    size_t i = 0;
    for (size_t part = 0; part < 3; part++) {
        const size_t sign = strlen(signs[part]), used = digits_at(s + i, n - i, &x[part]);
        if (!used || (part == 0 && !is_year(x[0], used)) || i + used + sign > n ||
            memcmp(s + i + used, signs[part], sign) != 0)
            return 0;
        i += used + sign;
    }
    *out = (date_said){.year = x[0], .month = x[1], .day = x[2]};
    return is_month(x[1]) && is_day(x[2]) ? i : 0;
}

/* ---- with a month's name ------------------------------------------------------------------------- */

/* Goes over the token at *at where it is one of the words or signs. */
static bool skip(const char *s, size_t n, size_t *at, const char *words, const char *const *signs) {
    size_t behind = *at;
    const word_token t = word_token_next(s, n, &behind);
    bool takes = word_token_in(words, &t);
    for (; *signs && !takes; signs++) takes = word_token_is(&t, *signs);
    if (takes) *at = behind;
    return takes;
}

static const char *const no_signs[] = {NULL};
static const char *const point[] = {".", NULL};
static const char *const comma[] = {",", NULL};
static const char *const ordinals[] = {".", "\xC2\xB0", "\xC2\xBA", NULL};

/* The day at *at, "17", "17th", "17."; 0: none is there. */
static int take_day(const char *s, size_t n, size_t *at) {
    size_t behind = *at;
    const word_token t = word_token_next(s, n, &behind);
    int day;
    if (!t.digits || t.n > 2 || digits_at(t.s, t.n, &day) != t.n || !is_day(day)) return 0;
    if (behind < n && s[behind] == '%') return 0;
    if (behind + 1 < n && s[behind] == ':' && fo_is_digit(s[behind + 1])) return 0;
    *at = behind;
    return day;
}

/* The year behind a month or a day, "2024", ", 2024", "de 2024", "of 2024"; 0, and *at stays: none is there. */
static int take_year(const char *s, size_t n, size_t *at) {
    size_t behind = *at;
    if (!skip(s, n, &behind, "of de del", no_signs)) skip(s, n, &behind, "", comma);
    const word_token t = word_token_next(s, n, &behind);
    const int year = word_token_year(&t);
    if (!year || (behind < n && fo_is_letter(s[behind]))) return 0; /* the 1840s */
    *at = behind;
    return year;
}

/* May it be a word that is no month: "may", "march"? */
static bool is_word_too(const word_token *t) {
    return (*t->s & 0x20) && word_token_in("may march mars mar sept", t);
}

static int take_month(const char *s, size_t n, size_t *at, date_said *out) {
    enum { SHORT = 4 };
    const word_token t = word_token_next(s, n, at);
    out->month = t.letters ? date_month_named(&t) : 0;
    out->doubtful = out->month && is_word_too(&t);
    /* "Dec. 3", but "in May. 3 people" */
    if (out->month && t.n <= SHORT && out->month != 5) {
        size_t behind = *at;
        if (skip(s, n, &behind, "", point)) {
            const word_token next = word_token_next(s, n, &(size_t){behind});
            if (next.digits) *at = behind;
        }
    }
    return out->month;
}

/* "-Mar-2024", "-Mar-24", "-Mar" behind a day. */
static size_t between_dashes(const char *s, size_t n, size_t at, date_said *out) {
    if (++at >= n || !word_token_letter(s[at]) || !take_month(s, n, &at, out)) return 0;
    int year = 0;
    const size_t digits = at + 1 < n && s[at] == '-' ? digits_at(s + at + 1, n - at - 1, &year) : 0;
    const size_t end = at + 1 + digits;
    if ((digits != 2 && !is_year(year, digits)) || (end < n && word_token_letter(s[end])))
        return at;
    out->year = digits == 2 ? whole_year(year) : year;
    return end;
}

/* "17 March 2024", "17th of March", "17. März 2024", "17 de marzo de 2024", "17-Mar-2024". */
static size_t day_first(const char *s, size_t n, date_said *out) {
    size_t at = 0;
    *out = (date_said){.day = take_day(s, n, &at)};
    if (!out->day) return 0;
    if (at < n && s[at] == '-') return between_dashes(s, n, at, out);
    skip(s, n, &at, "st nd rd th er", ordinals);
    skip(s, n, &at, "of de di", no_signs);
    if (!take_month(s, n, &at, out)) return 0;
    out->year = take_year(s, n, &at);
    return at;
}

/* Most words are followed by no number: they are not looked for among the months. */
static bool number_follows(const char *s, size_t n, size_t at) {
    skip(s, n, &at, "", point);
    if (!skip(s, n, &at, "of de del", no_signs)) skip(s, n, &at, "", comma);
    return word_token_next(s, n, &at).digits;
}

/* "March 17th, 2024", "March 17", "March 2024". */
static size_t month_first(const char *s, size_t n, date_said *out) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    if (!t.letters || !number_follows(s, n, at)) return 0;
    at = 0;
    *out = (date_said){0};
    if (!take_month(s, n, &at, out)) return 0;
    out->year = take_year(s, n, &at);
    if (out->year) return at;
    out->day = take_day(s, n, &at);
    if (!out->day) return 0;
    skip(s, n, &at, "st nd rd th", no_signs);
    out->year = take_year(s, n, &at);
    return at;
}

/* ---- all of them --------------------------------------------------------------------------------- */

static size_t in_digits(const char *s, size_t n, date_said *out) {
    size_t used = between_marks(s, n, out);
    if (!used) used = between_signs(s, n, out);
    out->digits = used > 0;
    return used;
}

size_t date_at(const char *s, size_t n, date_said *out) {
    *out = (date_said){0};
    if (n == 0) return 0;
    size_t used = fo_is_digit(*s) ? in_digits(s, n, out) : 0;
    if (used) return used;
    used = fo_is_digit(*s) ? day_first(s, n, out) : month_first(s, n, out);
    out->doubtful &= !out->year;
    return used;
}

/* ---- day and month alone ------------------------------------------------------------------------- */

/* "17.3.", with nothing beyond its second point. Bytes; 0: none. */
static size_t day_and_month(const char *s, size_t n, date_said *out) {
    int day, month;
    const size_t first = digits_at(s, n, &day);
    if (!first || first > 2 || !is_day(day) || first >= n || s[first] != '.') return 0;
    const size_t second = digits_at(s + first + 1, n - first - 1, &month), end = first + second + 2;
    if (!second || second > 2 || !is_month(month) || end > n || s[end - 1] != '.') return 0;
    if (end < n && (word_token_letter(s[end]) || fo_is_digit(s[end]) || s[end] == '.')) return 0;
    *out = (date_said){.month = month, .day = day, .digits = true};
    return end;
}

/* marked: with a comma or a point behind it, "So.,", which tells it from another word. */
static bool leads_to_day(const word_token *t, bool marked) {
    if (word_token_in("am vom zum bis ab seit den dem nach vor montag dienstag mittwoch donnerstag "
                      "freitag samstag sonnabend sonntag",
                      t))
        return true;
    return marked ? word_token_in("mo di mi do fr sa so", t)
                  : t->letters && fo_is_upper(*t->s) && word_token_in("mo di mi fr sa", t);
}

/* Does what stands before text[at] say that a day follows: "am", "Freitag, den", "17.3. -"? */
static bool day_follows(const char *text, size_t at) {
    enum { REACH = 32 };
    size_t from = at > REACH ? at - REACH : 0;
    while (from > 0 && from < at && !fo_is_blank(text[from - 1])) from++;
    word_token t[3] = {{0}}; /* the last first */
    bool dated = false, was_dated = false;
    for (size_t i = from; i < at;) {
        const word_token next = word_token_next(text, at, &i);
        if (!next.n) break;
        date_said said;
        const size_t used =
            next.digits ? day_and_month(next.s, (size_t)(text + at - next.s), &said) : 0;
        if (used) i = (size_t)(next.s - text) + used;
        was_dated = dated, dated = used > 0;
        t[2] = t[1], t[1] = t[0], t[0] = next;
    }
    if (was_dated && (word_token_is_dash(&t[0]) || word_token_in("und bis oder", &t[0])))
        return true;
    size_t marks = 0; /* "Fr., 17.3." has two */
    while (marks < 2 && (word_token_is(&t[marks], ",") || word_token_is(&t[marks], "."))) marks++;
    return leads_to_day(&t[marks], marks > 0);
}

/* Does what stands behind it say that it was a day: "um 10 Uhr", "bis 20.3.", "- 20.3."? */
static bool day_stood(const char *s, size_t n) {
    size_t at = 0;
    const word_token t = word_token_next(s, n, &at);
    if (word_token_in("um", &t)) return word_token_next(s, n, &at).digits;
    if (!word_token_in("bis und", &t) && !word_token_is_dash(&t)) return false;
    const word_token next = word_token_next(s, n, &at);
    date_said said;
    return next.digits && day_and_month(next.s, (size_t)(s + n - next.s), &said);
}

size_t date_short_at(const char *text, size_t len, size_t at, date_said *out) {
    date_said said;
    const size_t used = day_and_month(text + at, len - at, &said);
    if (!used || !(day_follows(text, at) || day_stood(text + at + used, len - at - used))) return 0;
    *out = said;
    return used;
}

/* ---- comparing ----------------------------------------------------------------------------------- */

static bool same_day(const date_said *a, int month, int day) {
    return a->month == month && (!a->day || !day || a->day == day);
}

bool dates_agree(const date_said *a, const date_said *b) {
    if (a->year && b->year && a->year != b->year) return false;
    if (same_day(a, b->month, b->day)) return true;
    /* Of two in figures neither is turned: 03/04/2024 is no 04/03/2024. */
    if (a->digits && a->day && b->digits && b->day && a->order == b->order) return false;
    return (b->order == DATE_ORDER_OPEN && same_day(a, b->day, b->month)) ||
           (a->order == DATE_ORDER_OPEN && same_day(b, a->day, a->month));
}
