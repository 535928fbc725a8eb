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

bool plain_words(fo_buf *out, const char *question) {
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
