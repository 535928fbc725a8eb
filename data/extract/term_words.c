#include "data/extract/term_words.h"

#include <string.h>

#include "kernels/utf8.h"

static bool is_wide(char c) {
    return (unsigned char)c >= 0x80;
}

bool term_words_are(const char *s, size_t n, bool *several) {
    *several = false;
    if (!n || n > TERM_WORDS_BYTES || !(fo_is_upper(s[0]) || is_wide(s[0]))) return false;
    bool small = true;
    const char last = s[n - 1];
    if (last == ',' || last == '+') return false;
    for (size_t i = 1; i < n; i++) {
        const bool letter = fo_is_letter(s[i]) || is_wide(s[i]);
        const bool comma = s[i] == ',' && s[i + 1] == ' '; /* "Orange, blinking" */
        if (!letter && !comma && !fo_is_digit(s[i]) && (!s[i] || !strchr(" -'&()/+", s[i])))
            return false;
        small &= letter && !fo_is_upper(s[i]);
        *several |= s[i] == ' ';
    }
    return *several || small;
}
