#include "retrieval/question/arabic_words.h"

#include <string.h>

enum { LETTER = 2, LEAST = 3 * LETTER }; /* bytes of one, and of what an article stands before */

bool arabic_word_is(const char *word, size_t len) {
    const unsigned char c = len ? (unsigned char)word[0] : 0;
    return c >= 0xD8 && c <= 0xDB;
}

bool arabic_word_has_tanween(const char *word, size_t len) {
    static const char behind[] = "اً", before[] = "ًا";
    const size_t n = sizeof behind - 1;
    return len >= n && (!memcmp(word + len - n, behind, n) || !memcmp(word + len - n, before, n));
}

static void exchange(char *word) {
    static const struct { const char *letter, *plain; } letters[] = {{"ة", "ه"}, {"ى", "ي"}};
    for (char *s = word; *s && s[1]; s += LETTER)
        for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
            if (!memcmp(s, letters[i].letter, LETTER)) memcpy(s, letters[i].plain, LETTER);
}

static void drop_tatweel(char *word) {
    static const char tatweel[] = "ـ";
    char *to = word;
    for (const char *s = word; *s;) {
        if (!strncmp(s, tatweel, LETTER))
            s += LETTER;
        else
            *to++ = *s++;
    }
    *to = 0;
}

static void drop_article(char *word) {
    static const char *const articles[] = {"ال", "وال", "بال", "فال", "كال", "لل"};
    const size_t n = strlen(word);
    for (size_t i = 0; i < sizeof articles / sizeof *articles; i++) {
        const size_t k = strlen(articles[i]);
        if (n < k + LEAST || memcmp(word, articles[i], k) != 0) continue;
        memmove(word, word + k, n - k + 1);
        return;
    }
}

void arabic_word_plain(char *word, bool tanween) {
    drop_tatweel(word);
    const size_t n = strlen(word);
    if (n % LETTER) return; /* letters of other scripts among them */
    if (tanween && n > LEAST && !strcmp(word + n - LETTER, "ا")) word[n - LETTER] = 0;
    exchange(word);
    drop_article(word);
}
