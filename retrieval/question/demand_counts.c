#include "retrieval/question/demand_counts.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"

static const char numerals[] =
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety";
/* What says a number of anything. */
static const char counts[] =
    "no none zero hundred hundreds thousand thousands million millions dozen dozens several half "
    "single double twin triple both pair pairs couple few many";
/* What people count besides what they are asked about. */
static const char others[] =
    "people persons person men women children adults "
    "second seconds sec minute minutes min hour hours day days night nights week weeks month "
    "months year years "
    "mm cm m km ft metre metres meter meters mile miles foot feet inch inches "
    "kg g gram grams kilo kilos ton tons tonne tonnes ml l litre litres liter liters percent "
    "degree degrees times am pm";

/* Does the question say the word, in the singular or the plural? */
static bool is_asked(const word_token *word, const char *question, size_t len) {
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return false;
        const size_t n = t.n < word->n ? t.n : word->n, m = t.n < word->n ? word->n : t.n;
        if (t.letters && m <= n + 1 && !strncasecmp(t.s, word->s, n) &&
            (m == n || (t.n > word->n ? t.s : word->s)[n] == 's'))
            return true;
    }
}

/* "L3", "3D", "07:00", "£12", "40 %", "12 October", "in 2009": it counts nothing. */
static bool counts_nothing(const char *text, size_t len, const word_token *before,
                           const word_token *t, const word_token *behind) {
    const char *end = t->s + t->n;
    if (t->s > text && word_token_letter(t->s[-1])) return true;
    if (end < text + len && (word_token_letter(*end) || *end == ':')) return true;
    if (t->s > text && t->s[-1] == ':') return true;
    if (demand_currency_sign(before) || demand_currency_named(behind) || word_token_is(behind, "%"))
        return true;
    if (demand_month_named(before) >= 0 || demand_month_named(behind) >= 0) return true;
    return word_token_year(t) && word_token_in("in of since from until by", before);
}

bool demand_count_in(const char *text, size_t len, const char *question, size_t question_len) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        size_t further = at;
        const word_token behind = word_token_next(text, len, &further);
        const bool one = word_token_in("one", &t) &&
                         !word_token_in("the this that each every any which no", &before);
        if (word_token_in(counts, &t)) return true;
        if ((t.digits || one || word_token_in(numerals, &t)) &&
            !counts_nothing(text, len, &before, &t, &behind) &&
            (!word_token_in(others, &behind) || is_asked(&behind, question, question_len)))
            return true;
        before = t;
    }
}
