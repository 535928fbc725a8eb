#include "retrieval/question/number_words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kernels/words.h"
#include "retrieval/text/word_tokens.h"

enum { FROM = 2, FEWEST_LETTERS = 3 };

const char *const number_words_numerals[NUMBER_WORDS_NUMERALS] = {
    "one",     "two",     "three",     "four",     "five",     "six",      "seven",
    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
const char *const number_words_ordinals[NUMBER_WORDS_ORDINALS] = {
    "first",   "second", "third", "fourth", "fifth",    "sixth",
    "seventh", "eighth", "ninth", "tenth",  "eleventh", "twelfth"};

int number_words_ordinal(const char *word, size_t n) {
    for (int i = 0; i < NUMBER_WORDS_ORDINALS; i++)
        if (fo_words_have_any_case(number_words_ordinals[i], word, n)) return i;
    return -1;
}

/* 0: it is none of them. */
static unsigned value_of(const word_token *t) {
    for (unsigned value = FROM; value <= NUMBER_WORDS_NUMERALS; value++)
        if (word_token_in(number_words_numerals[value - 1], t)) return value;
    return 0;
}

/* But for the s of many. */
static bool is_alike(const word_token *a, const word_token *b) {
    const size_t n = a->n < b->n ? a->n : b->n;
    const word_token *longer = a->n > b->n ? a : b;
    return n >= FEWEST_LETTERS && longer->n - n <= 1 && !strncasecmp(a->s, b->s, n) &&
           (longer->n == n || (longer->s[n] | 32) == 's');
}

/* How text[len] counts such things by that number. */
static void look(const char *text, size_t len, const char *figures, const char *letters,
                 const word_token *counted, bool *in_figures, bool *in_letters) {
    size_t at = 0;
    word_token number = {0};
    for (word_token t; (t = word_token_next(text, len, &at)).n;) {
        if (word_token_is_dash(&t)) continue; /* "6-day" */
        if (number.n && is_alike(&t, counted)) {
            *in_figures |= word_token_is(&number, figures);
            *in_letters |= word_token_in(letters, &number);
        }
        number = t;
    }
}

bool number_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    const size_t len = strlen(question);
    size_t copied = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        const unsigned value = value_of(&t);
        if (!t.n) break;
        if (!value) continue;
        size_t behind = at;
        word_token counted = word_token_next(question, len, &behind);
        if (word_token_is_dash(&counted)) counted = word_token_next(question, len, &behind);
        if (!counted.letters) continue;
        char figures[8];
        snprintf(figures, sizeof figures, "%u", value);
        bool in_figures = false, in_letters = false;
        for (size_t i = 0; i < n; i++)
            look(passages[i].text, passages[i].len, figures, number_words_numerals[value - 1],
                 &counted, &in_figures, &in_letters);
        if (!in_figures || in_letters) continue;
        fo_buf_add(out, question + copied, (size_t)(t.s - question) - copied);
        fo_buf_str(out, figures);
        fo_buf_char(out, ' ');
        copied = (size_t)(counted.s - question);
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0 && !out->failed;
}
