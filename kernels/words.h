/* words.h - closed lists of words, and the names of an enum's values. */
#ifndef FORAGE_KERNELS_WORDS_H
#define FORAGE_KERNELS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Is the word of n bytes one of those that `list` divides by blanks? An empty word is none. */
static inline bool fo_words_have(const char *list, const char *word, size_t n) {
    for (const char *s = list; *s;) {
        size_t m = strcspn(s, " ");
        if (m == n && n && memcmp(s, word, n) == 0) return true;
        s += m + (s[m] == ' ');
    }
    return false;
}

/* The same whatever the case of ASCII letters. */
static inline bool fo_words_have_any_case(const char *list, const char *word, size_t n) {
    for (const char *s = list; *s;) {
        size_t m = strcspn(s, " ");
        if (m == n && n && strncasecmp(s, word, n) == 0) return true;
        s += m + (s[m] == ' ');
    }
    return false;
}

/* Where `name` stands in names, which NULL ends; -1: nowhere. An enum's names are such a list, in the order of its
 * values (fusion_names), so that this is the value of a name. */
static inline int fo_names_find(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

#endif
