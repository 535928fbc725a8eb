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
    "second seconds sec minute minutes min hour hours day days night nights week weeks month "
    "months year years "
    "mm cm m km ft metre metres meter meters mile miles foot feet inch inches "
    "kg g gram grams kilo kilos ton tons tonne tonnes ml l litre litres liter liters percent "
    "degree degrees times am pm";

/* Whoever is asked for, people are called by any of these: two adults are guests. */
static const char people[] =
    "people persons person men women children adults customers users students members";

/* What says of people how many of them, without a number. */
static const char shares[] = "percent all every everyone everybody nobody most majority";

/* Does the question say the word, in the singular or the plural? */
static bool is_asked(const word_token *word, const char *question, size_t len) {
    if (!word->n) return false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return false;
        const size_t n = t.n < word->n ? t.n : word->n, m = t.n < word->n ? word->n : t.n;
        if (t.letters && m <= n + 1 && !strncasecmp(t.s, word->s, n) &&
            (m == n || (t.n > word->n ? t.s : word->s)[n] == 's'))
            return true;
    }
}

/* "QoS 1", "HTTP 2": a number right behind a name with two capitals numbers it. */
static bool is_of_an_acronym(const word_token *before, const word_token *t) {
    size_t capitals = 0;
    for (size_t i = 0; before->letters && i < before->n; i++) capitals += fo_is_upper(before->s[i]);
    return capitals > 1 && t->digits && t->n == 1;
}

/* "Room 5", where rooms are asked for: that one has the number. */
static bool is_of_one(const word_token *before, const word_token *t, const char *question,
                      size_t len) {
    return before->letters && t->digits && (before->s[before->n - 1] | 0x20) != 's' &&
           before->s + before->n + 1 == t->s && is_asked(before, question, len);
}

/* "1.2": there are not so many of anything; "1.200" may be a thousand. */
static bool is_fraction(const word_token *t) {
    const char *dot = t->digits ? memchr(t->s, '.', t->n) : NULL;
    return dot && t->s + t->n - dot <= 3;
}

/* "L3", "3D", "07:00", "£12", "40 %", "12 October", "in 2009": it counts nothing. */
static bool counts_nothing(const char *text, size_t len, const word_token *before,
                           const word_token *t, const word_token *behind) {
    const char *end = t->s + t->n;
    if (t->s > text && word_token_letter(t->s[-1])) return true;
    if (end < text + len && (word_token_letter(*end) || *end == ':')) return true;
    if (t->s > text && t->s[-1] == ':') return true;
    if (is_fraction(t)) return true;
    const bool code = before->n == 3 && fo_is_upper(before->s[0]) && fo_is_upper(before->s[2]);
    if (code && demand_currency_named(before)) return true; /* "EUR 150" */
    if (demand_currency_sign(before) || demand_currency_named(behind) || word_token_is(behind, "%"))
        return true;
    if (demand_month_named(before) >= 0 || demand_month_named(behind) >= 0) return true;
    return word_token_year(t) && word_token_in("in of since from until by", before);
}

/* "It tells how many it may receive", "either for a single one or for all". Text from behind the word on. */
static bool says_no_count(const char *rest, size_t len, const word_token *before,
                          const word_token *t) {
    if (word_token_in("many few", t)) return word_token_in("how", before);
    if (!word_token_in("single", t)) return false;
    size_t at = 0;
    (void)word_token_next(rest, len, &at);
    const word_token next = word_token_next(rest, len, &at);
    return word_token_in("every each any per", before) || word_token_in("or", &next);
}

bool demand_counts_people(const char *question, size_t len) {
    enum { MOST = 3 };
    size_t at = 0;
    word_token before = {0}, t = word_token_next(question, len, &at);
    for (; t.n && !(word_token_in("many", &t) && word_token_in("how", &before));
         before = t, t = word_token_next(question, len, &at)) {
    }
    for (int words = 0; t.n && words < MOST; words++) {
        t = word_token_next(question, len, &at);
        if (word_token_in(people, &t)) return true;
        if (word_token_in("are is was were do does did can could may will of in", &t)) return false;
    }
    return false;
}

bool demand_count_in(const char *text, size_t len, const char *question, size_t question_len) {
    static const char needed[] = "quorum quorate",
                      of_it[] = "quorum quorate need needs needed must necessary required valid "
                                "least minimum decide decides vote votes present be";
    if (word_tokens_say(needed, text, len) && !word_tokens_say(of_it, question, question_len))
        return false; /* how many have to come is not how many there are */
    const bool of_people = demand_counts_people(question, question_len);
    word_token before = {0};
    bool numbers_it = false; /* the number before does: "QoS 1 & 2", not "room 5, 2 beds" */
    for (size_t at = word_tokens_mark(text, len);;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        size_t further = at;
        const word_token behind = word_token_next(text, len, &further);
        const bool one = word_token_in("one", &t) &&
                         !word_token_in("the this that each every any which no", &before);
        const bool of_others =
            word_token_in(others, &behind) || (!of_people && word_token_in(people, &behind));
        if (word_token_in(counts, &t) && !says_no_count(text + at, len - at, &before, &t))
            return true;
        if (of_people && (word_token_in(shares, &t) || word_token_is(&t, "%"))) return true;
        if (t.digits || one || word_token_in(numerals, &t)) {
            const bool counts_next = behind.letters && !word_token_in("and or", &behind),
                       listed = numbers_it && (word_token_is(&before, "&") ||
                                               (word_token_is(&before, ",") && !counts_next) ||
                                               word_token_in("and or", &before));
            const bool asked = is_asked(&before, question, question_len); /* "DOGS 5" */
            numbers_it = listed || (!asked && is_of_an_acronym(&before, &t)) ||
                         is_of_one(&before, &t, question, question_len);
            if (!numbers_it && !counts_nothing(text, len, &before, &t, &behind) &&
                (!of_others || is_asked(&behind, question, question_len)))
                return true;
        } else if (t.letters && !word_token_in("and or", &t)) {
            numbers_it = false;
        }
        before = t;
    }
}
