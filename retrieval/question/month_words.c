#include "retrieval/question/month_words.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/number_words.h"
#include "retrieval/text/word_tokens.h"

enum { MONTHS = 12, WORDS = 5, FEWEST_MONTHS = 2 };

static const char *const month_names[MONTHS] = {"January",   "February", "March",    "April",
                                                "May",       "June",     "July",     "August",
                                                "September", "October",  "November", "December"};
/* The month that t names by its place; -1: none. */
static int month_at(const word_token *t) {
    return word_token_in("last final", t) ? MONTHS - 1 : number_words_ordinal(t->s, t->n);
}

/* Do the words from byte `at` on say "<ordinal> month of the year"? The month, or -1; *from: its article, where it has one;
 * *end: the byte behind it. */
static int month_said(const char *text, size_t len, size_t at, size_t *from, size_t *end) {
    static const char *const behind[] = {"month", "of in", "the a any each every", "year calendar",
                                         "year"};
    word_token t = word_token_next(text, len, &at);
    *from = (size_t)(t.s - text);
    if (word_token_in("the", &t)) t = word_token_next(text, len, &at);
    const int month = month_at(&t);
    for (size_t i = 0; month >= 0 && i < WORDS; i++) {
        t = word_token_next(text, len, &at);
        if (!word_token_in(behind[i], &t)) return -1;
        if (word_token_in("year", &t)) break;
    }
    *end = at;
    return month;
}

/* How many months the passages name; 0 where one of them says such a month by its place. */
static size_t months_named(const passage *passages, size_t n) {
    unsigned seen = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0, from, end;;) {
            const size_t before = at;
            const word_token t = word_token_next(passages[i].text, passages[i].len, &at);
            if (!t.n) break;
            if (month_said(passages[i].text, passages[i].len, before, &from, &end) >= 0) return 0;
            const int month = fo_is_upper(t.s[0]) ? demand_month_named(&t) : -1; /* no "may" */
            if (month >= 0) seen |= 1u << month;
        }
    return (size_t)__builtin_popcount(seen);
}

/* ---- months in digits -------------------------------------------------------------------------------- */

enum { YEAR_MONTH = 7 }; /* bytes of "2026-10" */

/* The month, 0 to 11, of the "2026-10" that s[i] begins, which is no day, "2026-10-03"; -1: there is none. */
static int month_in_digits(const char *s, size_t len, size_t i) {
    if (i + YEAR_MONTH > len || s[i + 4] != '-' ||
        (i && (fo_is_digit(s[i - 1]) || s[i - 1] == '-')))
        return -1;
    for (size_t k = 0; k < YEAR_MONTH; k++)
        if (k != 4 && !fo_is_digit(s[i + k])) return -1;
    if ((s[i] != '1' || s[i + 1] != '9') && (s[i] != '2' || s[i + 1] != '0')) return -1;
    const size_t end = i + YEAR_MONTH;
    if (end < len && (fo_is_digit(s[end]) || s[end] == '-' || word_token_letter(s[end]))) return -1;
    const int month = (s[i + 5] - '0') * 10 + s[i + 6] - '1';
    return month >= 0 && month < MONTHS ? month : -1;
}

/* Where the passage writes that month of that year (0: of any) in digits. NULL: it does not, or it does of several years, writes no
 * other month so, or calls a month by its name. */
static const char *month_written(const passage *p, int month, int year) {
    const char *found = NULL;
    bool other = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(p->text, p->len, &at);
        if (!t.n) break;
        if (fo_is_upper(t.s[0]) && demand_month_named(&t) == month) return NULL;
    }
    for (size_t i = 0; i + YEAR_MONTH <= p->len; i++) {
        const int is = month_in_digits(p->text, p->len, i);
        if (is < 0) continue;
        const char *s = p->text + i;
        const int its = (s[0] - '0') * 1000 + (s[1] - '0') * 100 + (s[2] - '0') * 10 + s[3] - '0';
        other |= is != month;
        if (is != month || (year && its != year)) continue;
        if (found && memcmp(found, s, YEAR_MONTH) != 0) return NULL;
        found = s;
    }
    return other ? found : NULL;
}

/* "in October", "in October 2026" as "in 2026-10" where the best passage has months in such a form. */
static bool month_in_digits_as_written(fo_buf *out, const char *question, const passage *best) {
    const size_t len = strlen(question);
    for (size_t at = 0;;) {
        const word_token before = word_token_next(question, len, &at);
        if (!before.n) return false;
        if (!word_token_in("in for of during", &before)) continue;
        size_t end = at;
        const word_token t = word_token_next(question, len, &end);
        const int month = demand_month_named(&t);
        if (month < 0) continue;
        size_t behind = end;
        const word_token next = word_token_next(question, len, &behind);
        const int year = word_token_year(&next);
        const char *written = next.digits && !year ? NULL : month_written(best, month, year);
        if (!written) return false;
        fo_buf_add(out, question, (size_t)(t.s - question));
        fo_buf_add(out, written, YEAR_MONTH);
        fo_buf_str(out, question + (year ? behind : end));
        return !out->failed;
    }
}

bool month_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    const size_t len = strlen(question);
    for (size_t at = 0, from, end; at < len;) {
        const int month = month_said(question, len, at, &from, &end);
        if (month < 0) {
            (void)word_token_next(question, len, &at);
            continue;
        }
        if (months_named(passages, n) < FEWEST_MONTHS) return false;
        fo_buf_add(out, question, from);
        fo_buf_str(out, month_names[month]);
        fo_buf_str(out, question + end);
        return !out->failed;
    }
    return n && month_in_digits_as_written(out, question, &passages[0]);
}
