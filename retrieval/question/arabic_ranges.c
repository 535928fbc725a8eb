#include "retrieval/question/arabic_ranges.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_words.h"

_Static_assert(sizeof((arabic_numbered *)0)->noun == DEMAND_WORD_MOST, "holds a folded word");

static const char *const ordinals[] = {"اول اولي",   "ثاني ثانيه", "ثالث ثالثه", "رابع رابعه",
                                       "خامس خامسه", "سادس سادسه", "سابع سابعه", "ثامن ثامنه",
                                       "تاسع تاسعه", "عاشر عاشره"};

typedef struct said {
    word_token t;
    char folded[DEMAND_WORD_MOST];
} said;

static said next_of(const char *text, size_t len, size_t *at) {
    said s;
    s.t = word_token_next(text, len, at);
    demand_word_fold(s.folded, &s.t);
    return s;
}

/* A whole number in digits of any script; 0: it is none, or a long one. */
static unsigned number_of(const word_token *t) {
    enum { MOST = 9999 };
    unsigned number = 0;
    for (size_t i = 0; t->digits && i < t->n;) {
        int32_t cp;
        i += fo_utf8_decode(t->s + i, t->n - i, &cp);
        const int digit = fo_utf8_digit(cp);
        if (digit < 0 || number > MOST) return 0;
        number = 10 * number + (unsigned)digit;
    }
    return number;
}

/* "السادس"; "الثاني عشر" with the word behind it. */
static unsigned ordinal_of(const said *s, const said *behind) {
    const unsigned ten = demand_word_in("عشر عشره", behind->folded) ? 10 : 0;
    if (ten && demand_word_in("حادي حاديه", s->folded)) return ten + 1;
    for (unsigned i = 0; i < sizeof ordinals / sizeof *ordinals; i++)
        if (demand_word_in(ordinals[i], s->folded)) return ten + i + 1;
    return 0;
}

/* What stands before a number and is not what it numbers. */
static bool is_noun(const said *s) {
    return s->folded[0] &&
           !demand_word_in("من الي حتي في بين علي عن قبل بعد ساعه كم او و كانون تشرين "
                           "ربيع جمادي",
                           s->folded);
}

arabic_numbered arabic_numbered_in(const char *question, size_t len) {
    arabic_numbered out = {0};
    size_t at = 0;
    said before = {0}, now = next_of(question, len, &at);
    while (now.t.n) {
        size_t next_at = at;
        const said next = next_of(question, len, &next_at);
        const unsigned digits = number_of(&now.t), ordinal = digits ? 0 : ordinal_of(&now, &next);
        if ((digits || ordinal) && is_noun(&before)) {
            const word_token *last = ordinal > 10 ? &next.t : &now.t;
            memcpy(out.noun, before.folded, sizeof out.noun);
            out.number = digits + ordinal;
            out.start = (size_t)(now.t.s - question);
            out.end = (size_t)(last->s - question) + last->n;
            return out;
        }
        before = now;
        now = next;
        at = next_at;
    }
    return out;
}

/* The range behind the noun; false: none. */
static bool range_at(const char *text, size_t len, size_t at, unsigned *low, unsigned *high) {
    said s = next_of(text, len, &at);
    if (demand_word_in("من", s.folded)) s = next_of(text, len, &at);
    *low = number_of(&s.t);
    s = next_of(text, len, &at);
    if (!*low || !(demand_word_in("الي حتي", s.folded) || word_token_is_dash(&s.t))) return false;
    s = next_of(text, len, &at);
    *high = number_of(&s.t);
    return *high > *low;
}

enum arabic_range arabic_range_in(const arabic_numbered *x, const char *text, size_t len) {
    enum arabic_range found = RANGE_NOT_SAID;
    for (size_t at = 0; x->noun[0];) {
        const said s = next_of(text, len, &at);
        unsigned low, high;
        if (!s.t.n) break;
        if (strcmp(s.folded, x->noun) != 0 || !range_at(text, len, at, &low, &high)) continue;
        if (x->number >= low && x->number <= high) return RANGE_HOLDS;
        found = RANGE_OTHER;
    }
    return found;
}
