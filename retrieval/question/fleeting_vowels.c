#include "retrieval/question/fleeting_vowels.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/words.h"

enum { LETTER = 2, LEAST = 3 * LETTER }; /* bytes of a letter, and of a stem */

static bool is_one_of(const char *list, const char *letter) {
    return fo_words_have(list, letter, LETTER);
}

/* "игрушек" and "игрушк", "окон" and "окн": the vowel before the last consonant comes and goes. Not before
 * every consonant: "город" is no "горд". */
static bool same_stem(const char *a, size_t n, const char *b, size_t m) {
    if (n < m) return same_stem(b, m, a, n);
    if (m < LEAST || n % LETTER || m % LETTER || n > m + LETTER) return false;
    const char *last = a + n - LETTER, *vowel = last - LETTER, *end = b + m - LETTER;
    if (memcmp(last, end, LETTER) || memcmp(a, b, n - 2 * LETTER)) return false;
    if (n == m) /* "копеек", "копейк" */
        return (is_one_of("е", vowel) && is_one_of("ь й", end - LETTER)) ||
               (is_one_of("ь й", vowel) && is_one_of("е", end - LETTER));
    return is_one_of("к ц н л", last) && is_one_of("о е", vowel) &&
           !is_one_of("а е и о у ы э ю я", vowel - LETTER);
}

int fleeting_vowel_term_of(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (!language_is(t->language, "russian") || t->language != q->text.language ||
        (w->flags & (WORD_STOP | WORD_DIGIT)))
        return -1;
    for (size_t k = 0; k < q->text.n_words; k++) {
        const fact_word *asked = &q->text.words[k];
        const int term = question_term_of(q, asked->id);
        if (term >= 0 && same_stem(t->stems.data + w->stem_at, w->stem_len,
                                   q->text.stems.data + asked->stem_at, asked->stem_len))
            return term;
    }
    return -1;
}
