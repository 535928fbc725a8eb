#include "retrieval/question/hindi_tokens.h"

#include <string.h>
#include <utf8proc.h>

#include "index/sparse/devanagari.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

enum {
    DANDA = 0x964,
    DOUBLE_DANDA = 0x965,
    SIGN = 0x970, /* of a short form */
};

static int32_t digit_of(int32_t cp) {
    cp = devanagari_fold(cp, 0);
    return cp >= '0' && cp <= '9' ? cp : 0;
}

static bool is_joiner(int32_t cp) {
    return cp == 0x200C || cp == 0x200D;
}

static bool is_of_word(int32_t cp) {
    if (cp >= 0x900 && cp <= 0x97F)
        return !digit_of(cp) && cp != DANDA && cp != DOUBLE_DANDA && cp != SIGN;
    if (cp < 0x80) return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z');
    const utf8proc_category_t k = utf8proc_category(cp);
    return is_joiner(cp) || (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_ME);
}

/* Its folded points behind the token's; a token that has no room for them is of no list. */
static void add(hindi_token *t, size_t *n, int32_t cp) {
    enum { AT_MOST = 4, LETTER = 3 /* bytes of one of Devanagari */ };
    int32_t points[AT_MOST];
    int boundary = 0;
    const utf8proc_ssize_t k = utf8proc_decompose_char(
        cp, points, AT_MOST, UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD, &boundary);
    for (utf8proc_ssize_t i = 0; i < k && i < AT_MOST; i++) {
        int32_t before = 0;
        if (*n >= LETTER) fo_utf8_decode(t->s + *n - LETTER, LETTER, &before);
        const int32_t cp_folded = devanagari_fold(points[i], before);
        if (!cp_folded || is_joiner(cp_folded)) continue;
        if (*n + 4 < sizeof t->s) *n += fo_utf8_encode(cp_folded, t->s + *n);
    }
}

static int32_t point_at(const char *text, size_t len, size_t at, size_t *n) {
    int32_t cp = 0;
    *n = at < len ? fo_utf8_decode(text + at, len - at, &cp) : 0;
    return *n ? cp : 0;
}

bool hindi_token_next(hindi_token *t, const char *text, size_t len, size_t *at) {
    size_t k, n = 0, blank;
    *t = (hindi_token){0};
    while (*at < len &&
           (fo_is_blank(text[*at]) || (blank = fo_utf8_wide_blank(text + *at, len - *at)) > 0))
        *at += fo_is_blank(text[*at]) ? 1 : blank;
    t->start = *at;
    int32_t cp = point_at(text, len, *at, &k);
    if (!k) return false;
    t->digits = digit_of(cp) != 0;
    t->letters = is_of_word(cp);
    if (!t->digits && !t->letters) {
        add(t, &n, cp);
        *at += k;
    }
    while (t->letters && k && is_of_word(cp)) {
        add(t, &n, cp);
        cp = point_at(text, len, *at += k, &k);
    }
    while (t->digits && k) {
        size_t behind;
        const bool goes_on =
            (cp == '.' || cp == ',') && digit_of(point_at(text, len, *at + k, &behind)) != 0;
        if (!digit_of(cp) && !goes_on) break;
        if (digit_of(cp)) add(t, &n, digit_of(cp));
        cp = point_at(text, len, *at += k, &k);
    }
    t->s[n] = 0;
    t->n = *at - t->start;
    return true;
}

bool hindi_token_in(const char *list, const hindi_token *t) {
    return t->letters && t->s[0] && fo_words_have(list, t->s, strlen(t->s));
}

bool hindi_word_ends(const char *list, const char *word) {
    return demand_word_ends(list, word);
}

bool hindi_word_alike(const char *a, const char *b) {
    enum { LEAST = 6, END = 9 }; /* bytes: two letters, three signs */
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    while (n > 0 && !fo_utf8_boundary(a[n])) n--;
    return n >= LEAST && strlen(a) <= n + END && strlen(b) <= n + END;
}
