#include "retrieval/question/plain_words.h"

#include <string.h>
#include <strings.h>

#include "kernels/words.h"

static const char sizes[] = "high big large steep";
static const char is[] = "is are was were will would can may must";
/* What is paid: of these nobody asks for the height in metres. */
static const char sums[] =
    "rent rents deposit deposits fee fees price prices cost costs charge charges tax taxes vat "
    "salary "
    "salaries wage wages pay fine fines premium premiums bill bills discount discounts surcharge "
    "surcharges tip budget budgets debt debts loan loans pension pensions allowance bonus "
    "contribution "
    "contributions subscription toll tolls refund compensation excess turnover revenue profit "
    "income "
    "expenses expenditure fare fares";

/* The next word at *at, which moves behind it; 0 bytes: none. */
static size_t next_word(const char *s, size_t *at, const char **word) {
    *at += strspn(s + *at, " \t\r\n");
    const size_t n = strcspn(s + *at, " \t\r\n?!.,;:");
    *word = s + *at;
    *at += n;
    return n;
}

/* "How high is the deposit?" */
static bool sum_plainly(fo_buf *out, const char *question) {
    enum { NOUN_WITHIN = 6 };
    const char *how, *size, *w;
    size_t at = 0, n = next_word(question, &at, &how);
    if (n != 3 || strncasecmp(how, "how", n) != 0) return false;
    n = next_word(question, &at, &size);
    if (!fo_words_have_any_case(sizes, size, n)) return false;
    const size_t behind = at;
    n = next_word(question, &at, &w);
    if (!fo_words_have_any_case(is, w, n)) return false;
    for (size_t i = 0; i < NOUN_WITHIN && (n = next_word(question, &at, &w)) > 0; i++) {
        if (!fo_words_have_any_case(sums, w, n)) continue;
        fo_buf_add(out, question, (size_t)(size - question));
        fo_buf_str(out, "much");
        fo_buf_str(out, question + behind);
        return true;
    }
    return false;
}

/* ---- defaults ------------------------------------------------------------------------------- */

/* Ways to ask for what holds as long as nothing else is said; "|" parts words that may stand in one place. */
static const char *const by_default[] = {
    "out of the box",
    "unless changed|configured|overridden|customised|customized",
    "unless it|this is|was changed|configured|overridden|set",
    "unless i|you|we change|configure|override|set it|this|that|anything",
    "unless told|specified|stated|configured|set otherwise|differently",
    "if i|you|we don't|dont|don\xE2\x80\x99t say|set|specify|configure|change|give|pass "
    "it|anything|one|any",
    "if i|you|we do not say|set|specify|configure|change|give|pass it|anything|one|any",
    "if i|you|we say|set|specify|configure|change|give|pass nothing|none",
    "if nothing|none is said|set|specified|configured|changed|given",
};

/* Is word w[n] one of those that pattern *at allows in this place? *at moves behind them. */
static bool fits(const char *pattern, size_t *at, const char *w, size_t n) {
    const size_t end = *at + strcspn(pattern + *at, " ");
    bool fit = false;
    for (size_t i = *at; i < end;) {
        const size_t m = strcspn(pattern + i, "| ");
        fit |= m == n && !strncasecmp(pattern + i, w, n);
        i += m + 1;
    }
    *at = end + (pattern[end] == ' ');
    return fit;
}

/* Bytes of the question from `from` on that say the pattern, up to the end of a clause; 0: they say something else. */
static size_t says(const char *question, size_t from, const char *pattern) {
    size_t at = from, in = 0;
    while (pattern[in]) {
        const char *w;
        const size_t n = next_word(question, &at, &w);
        if (!n || !fits(pattern, &in, w, n)) return 0;
        if (pattern[in] && question[at] && question[at] != ' ') return 0;
    }
    return question[at] && !strchr("?,.!;:", question[at]) ? 0 : at - from;
}

/* What comes of it when nothing is done is asked of a case, and of no setting. */
static bool asks_for_a_setting(const char *question) {
    const char *w;
    size_t at = 0, n = next_word(question, &at, &w), more;
    bool asks = fo_words_have_any_case("how what which where who", w, n);
    while ((more = next_word(question, &at, &w)) > 0)
        asks &= !fo_words_have_any_case("happens happen default defaults", w, more);
    return asks;
}

/* "Which port is it, out of the box?" */
static bool default_plainly(fo_buf *out, const char *question) {
    if (!asks_for_a_setting(question)) return false;
    for (size_t at = 0; question[at]; at++) {
        if (at && question[at - 1] != ' ') continue;
        for (size_t k = 0; k < sizeof by_default / sizeof *by_default; k++) {
            const size_t n = says(question, at, by_default[k]);
            if (!n) continue;
            fo_buf_add(out, question, at);
            fo_buf_str(out, "by default");
            fo_buf_str(out, question + at + n);
            return true;
        }
    }
    return false;
}

/* ---- since which version -------------------------------------------------------------------- */

/* "Since which version does the option exist?" is "Since which version is the option?": that it exists no text says of anything. */
static bool since_plainly(fo_buf *out, const char *question) {
    const char *w, *before = "", *does = NULL, *last = NULL;
    size_t at = 0, n, n_before = 0, n_does = 0, n_last = 0;
    bool version = false;
    for (;; before = w, n_before = n) {
        n = next_word(question, &at, &w);
        if (!n && !question[at]) break;
        if (!n) { /* the dot of "server.port" */
            at++;
            continue;
        }
        version |= fo_words_have_any_case("version release", w, n) &&
                   fo_words_have_any_case("which what", before, n_before);
        if (version && !does && fo_words_have_any_case("does do", w, n)) {
            does = w;
            n_does = n;
        }
        last = w;
        n_last = n;
    }
    if (!does || !fo_words_have_any_case("exist", last, n_last) ||
        (size_t)(last - does) <= n_does + 1)
        return false;
    while (last[-1] == ' ') last--, n_last++;
    fo_buf_add(out, question, (size_t)(does - question));
    fo_buf_str(out, n_does == 2 ? "are" : "is");
    fo_buf_add(out, does + n_does, (size_t)(last - does) - n_does);
    fo_buf_str(out, last + n_last);
    return true;
}

/* ---- a subject ------------------------------------------------------------------------------ */

/* Ways to ask for all that there is about something. */
static const char *const about[] = {
    "tell|show|teach me about",
    "tell me something|more|all|everything about",
    "tell me a bit|little about",
    "can|could|would|will you tell me about",
    "can|could|would|will you tell me something|more|all|everything about",
    "can|could|would|will you tell me a bit|little about",
    "i'd like to know|learn|hear about",
    "i'd like to know|learn|hear more about",
    "i want to know|learn|hear about",
    "i want to know|learn|hear more about",
    "i would like to know|learn|hear about",
    "i would like to know|learn|hear more about",
    "what do you know about",
    "what can you tell me about",
};
/* What these stand for, only turns before it say. */
static const char pointing[] =
    "it its them they that this these those him her his their me us you what when where how which "
    "who why";

bool plain_words_subject(fo_buf *out, const char *question) {
    const size_t from = strspn(question, " \t\r\n");
    for (size_t k = 0; k < sizeof about / sizeof *about; k++) {
        size_t at = from, in = 0, n;
        const char *w;
        bool all = true;
        while (about[k][in] && all) {
            n = next_word(question, &at, &w);
            all = n && fits(about[k], &in, w, n);
        }
        if (!all || question[at] != ' ') continue;
        const size_t behind = at;
        n = next_word(question, &at, &w);
        if (!n || fo_words_have_any_case(pointing, w, n)) return false;
        size_t end = strlen(question);
        while (end > behind && strchr(" .!?\r\n\t", question[end - 1])) end--;
        fo_buf_str(out, "What about");
        fo_buf_add(out, question + behind, end - behind);
        fo_buf_str(out, "?");
        return true;
    }
    return false;
}

bool plain_words(fo_buf *out, const char *question) {
    return sum_plainly(out, question) || default_plainly(out, question) ||
           since_plainly(out, question);
}
