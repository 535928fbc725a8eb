#include "retrieval/text/people_kinds.h"

#include "retrieval/text/word_tokens.h"

enum { SENIORS, ADULTS, CHILDREN, YOUTHS, BABIES, STUDENTS, PUPILS, UNEMPLOYED, DISABLED, KINDS };
static const char *const words[KINDS] = {
    [SENIORS] = "senior seniors pensioner pensioners oap oaps retired retiree retirees elderly",
    [ADULTS] = "adult adults grownup grownups",
    [CHILDREN] = "child children kid kids junior juniors boy boys girl girls",
    [YOUTHS] = "youth youths teenager teenagers teen teens adolescent adolescents",
    [BABIES] = "baby babies infant infants toddler toddlers",
    [STUDENTS] = "student students undergraduate undergraduates",
    [PUPILS] = "pupil pupils schoolchild schoolchildren",
    [UNEMPLOYED] = "unemployed jobseeker jobseekers jobless",
    [DISABLED] = "disabled wheelchair disability disabilities",
};
static const char everybody[] =
    "everyone everybody anyone anybody person persons people head all each visitor visitors guest "
    "guests participant participants passenger passengers others";
static const char reduced[] = "reduced reduction reductions concession concessions concessionary "
                              "discount discounts discounted half";

enum {
    ALL_YOUNG = 1 << CHILDREN | 1 << YOUTHS | 1 << BABIES | 1 << PUPILS,
    LEARNERS = 1 << STUDENTS | 1 << PUPILS
};

static int kind_of(const word_token *t) {
    for (int k = 0; k < KINDS; k++)
        if (word_token_in(words[k], t)) return k;
    return -1;
}

/* The kinds that a number tells as an age: "under 16", "5-15", "over 65", "60+". */
static uint16_t kinds_by_age(const char *text, size_t len) {
    word_token before = {0}, t;
    uint16_t kinds = 0;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; before = t) {
        size_t further = at;
        const word_token behind = word_token_next(text, len, &further);
        if (!t.digits || t.n > 2) continue;
        const unsigned n = (unsigned)(t.s[0] - '0') * (t.n > 1 ? 10 : 1) +
                           (t.n > 1 ? (unsigned)(t.s[1] - '0') : 0);
        const bool bound =
            word_token_in("under over from aged age below above to until", &before) ||
            word_token_is_dash(&before) || word_token_is(&behind, "+") ||
            word_token_is_dash(&behind) || word_token_in("and or to year years yrs plus", &behind);
        if (!bound) continue;
        if (n >= 55) kinds |= 1 << SENIORS;
        if (n <= 27) kinds |= ALL_YOUNG | 1 << STUDENTS;
        if (n >= 15 && n <= 27) kinds |= 1 << ADULTS;
    }
    return kinds;
}

uint16_t people_kinds_in(const char *text, size_t len) {
    uint16_t kinds = 0;
    word_token t;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n;) {
        const int k = kind_of(&t);
        if (k >= 0) kinds |= (uint16_t)(1u << k);
    }
    return kinds;
}

bool people_kinds_are_others(uint16_t asked, const char *text, size_t len) {
    const uint16_t said = people_kinds_in(text, len);
    if (!asked || !said || (said & asked)) return false;
    if ((asked & ALL_YOUNG) && (said & ALL_YOUNG)) return false; /* pupils are children */
    if ((asked & LEARNERS) && (said & LEARNERS)) return false;   /* "students at school" */
    if (word_tokens_say(everybody, text, len)) return false;
    if (!(asked & 1u << ADULTS) && word_tokens_say(reduced, text, len)) return false;
    return !(kinds_by_age(text, len) & asked);
}
