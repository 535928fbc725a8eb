#include "retrieval/text/word_tokens.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"

bool word_token_letter(char c) {
    unsigned char u = (unsigned char)c;
    return fo_is_letter(c) || (u >= 0xC3 && u != 0xE2);
}

/* Bytes of the white space at i, no-break and thin spaces too; 0: none. */
static size_t blank_at(const char *text, size_t len, size_t i) {
    if (i >= len) return 0;
    return fo_is_blank(text[i]) ? 1 : fo_utf8_wide_blank(text + i, len - i);
}

/* Can the byte be the first of an Arabic digit or sign? Most text is not asked further. */
static bool begins_arabic(unsigned char c) {
    return c == 0xD8 || c == 0xD9 || c == 0xDB;
}

/* Bytes of the digit at i, Arabic ones too; 0: it is none. */
static size_t digit_at(const char *text, size_t len, size_t i) {
    if (i >= len) return 0;
    if (fo_is_digit(text[i])) return 1;
    if (!begins_arabic((unsigned char)text[i]) || i + 1 == len) return 0;
    const unsigned char a = (unsigned char)text[i], b = (unsigned char)text[i + 1];
    return (a == 0xD9 && b >= 0xA0 && b <= 0xA9) || (a == 0xDB && b >= 0xB0 && b <= 0xB9) ? 2 : 0;
}

/* Bytes of an Arabic comma, semicolon, question mark, per cent sign or separator of digits at i; 0: none. */
static size_t arabic_sign_at(const char *text, size_t len, size_t i) {
    if (i + 1 >= len || !begins_arabic((unsigned char)text[i])) return 0;
    const unsigned char a = (unsigned char)text[i], b = (unsigned char)text[i + 1];
    return (a == 0xD8 && (b == 0x8C || b == 0x9B || b == 0x9F)) ||
                   (a == 0xD9 && b >= 0xAA && b <= 0xAC)
               ? 2
               : 0;
}

/* Bytes of the point or comma at i that a digit stands behind; 0: none. */
static size_t goes_on(const char *text, size_t len, size_t i) {
    const size_t n =
        i < len && (text[i] == '.' || text[i] == ',') ? 1 : arabic_sign_at(text, len, i);
    return n && digit_at(text, len, i + n) ? n : 0;
}

/* What begins with C2 or E2 in UTF-8 is a sign (degree, pound, euro, dash), what begins with C3 and above a letter. */
word_token word_token_next(const char *text, size_t len, size_t *at) {
    size_t i = *at, blank;
    while ((blank = blank_at(text, len, i)) > 0) i += blank;
    word_token t = {.s = text + i};
    if (i == len) {
        *at = len;
        return t;
    }
    size_t k = i + 1, more = digit_at(text, len, i);
    if (more) {
        t.digits = true;
        for (k = i; more;
             more = digit_at(text, len, k) ? digit_at(text, len, k) : goes_on(text, len, k))
            k += more;
    } else if ((more = arabic_sign_at(text, len, i)) > 0) {
        k = i + more;
    } else if ((unsigned char)text[i] == 0xE2 || (unsigned char)text[i] == 0xC2) {
        while (k < len && ((unsigned char)text[k] & 0xC0) == 0x80) k++;
    } else if (word_token_letter(text[i])) {
        t.letters = true;
        while (k < len && (word_token_letter(text[k]) || ((unsigned char)text[k] & 0xC0) == 0x80) &&
               !(begins_arabic((unsigned char)text[k]) &&
                 (arabic_sign_at(text, len, k) || digit_at(text, len, k))))
            k++;
    }
    t.n = k - i;
    *at = k;
    return t;
}

bool word_token_in(const char *list, const word_token *t) {
    return t->letters && fo_words_have_any_case(list, t->s, t->n);
}

bool word_tokens_say(const char *list, const char *text, size_t len) {
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in(list, &t)) return true;
    }
}

size_t word_tokens_mark(const char *text, size_t len) {
    enum { MOST_DIGITS = 2 };
    size_t i = 0;
    const bool open = len > 0 && text[0] == '(';
    if (open) i++;
    const size_t digits = i;
    while (i < len && i - digits <= MOST_DIGITS && fo_is_digit(text[i])) i++;
    if (i == digits || i - digits > MOST_DIGITS || i + 2 >= len) return 0;
    if (text[i] != ')' && (open || text[i] != '.')) return 0;
    if (!fo_is_blank(text[i + 1]) || !fo_is_upper(text[i + 2])) return 0; /* "(30) books" */
    return i + 2;
}

bool word_token_is(const word_token *t, const char *bytes) {
    return t->n == strlen(bytes) && memcmp(t->s, bytes, t->n) == 0;
}

int word_token_year(const word_token *t) {
    int year = 0;
    if (!t->digits || t->n != 4) return 0;
    for (size_t i = 0; i < 4; i++) {
        if (!fo_is_digit(t->s[i])) return 0;
        year = 10 * year + (t->s[i] - '0');
    }
    return year >= 1000 && year < 2200 ? year : 0;
}

bool word_token_is_dash(const word_token *t) {
    return word_token_is(t, "-") || word_token_is(t, "\xE2\x80\x93");
}
