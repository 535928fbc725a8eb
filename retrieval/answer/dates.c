#include "retrieval/answer/dates.h"

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
    const bool found = parts == 3   ? day_of_year(x, digits, mark, out)
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

/* "17 March 2024", "17th of March", "17. März 2024", "17 de marzo de 2024". */
static size_t day_first(const char *s, size_t n, date_said *out) {
    size_t at = 0;
    *out = (date_said){.day = take_day(s, n, &at)};
    if (!out->day) return 0;
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
