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
    return false;
}
