#include "retrieval/question/acronyms.h"

#include <strings.h>

#include "kernels/utf8.h"

enum { SHORTEST = 2, LONGEST = 8 }; /* letters */

static bool in_capitals(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!fo_is_upper(s[i]) && !fo_is_digit(s[i])) return false;
    return n >= SHORTEST && n <= LONGEST && fo_is_upper(s[0]);
}

bool acronym_is_plural(const char *word, size_t n) {
    return n > SHORTEST && word[n - 1] == 's' && in_capitals(word, n - 1);
}

int acronym_term_of(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    const char *word = t->text + w->start;
    const size_t n = w->end - w->start;
    const bool plural = acronym_is_plural(word, n);
    const size_t stem = plural ? n - 1 : n;
    if (!in_capitals(word, stem)) return -1;
    for (size_t k = 0; k < q->text.n_words; k++) {
        const fact_word *a = &q->text.words[k];
        const char *asked = q->text.text + a->start;
        const size_t m = a->end - a->start;
        const bool same = strncasecmp(asked, word, stem < m ? stem : m) == 0,
                   other = plural ? m == stem : m == stem + 1 && (asked[m - 1] | 0x20) == 's';
        if (same && other) return question_term_of(q, a->id);
    }
    return -1;
}
