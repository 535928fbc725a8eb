#include "retrieval/question/compound_words.h"

#include <string.h>
#include <strings.h>

#include "index/sparse/language.h"
#include "retrieval/text/word_tokens.h"

enum {
    LEAST = 9, /* bytes of a compound */
    PART = 4,  /* ... of each of its two parts */
    ENDING = 2 /* ... that a form of a word may have more or less than another */
};

/* What stands between two parts. */
static const char *const links[] = {"", "s", "es", "n", "en", "er", "e"};
enum { N_LINKS = sizeof links / sizeof *links };

typedef struct parts {
    size_t head, tail; /* bytes of the head without its link; where the tail begins */
} parts;

static bool joins_words(const char *question) {
    uint64_t among = 0;
    for (int i = 0; i < LANGUAGE_MAX; i++)
        if (language_joins_words(i)) among |= UINT64_C(1) << i;
    return language_of_question(question, strlen(question), "english", among) >= 0;
}

/* Is there a word in the text that begins with s, and has no more than `more` bytes behind it? That one ends in it says little:
 * "Klarspüler" makes no "rspüler" of "Geschirrspüler". */
static bool has_word(const passage *p, const char *s, size_t n, size_t more) {
    size_t at = 0;
    for (word_token t; (t = word_token_next(p->text, p->len, &at)).n;) {
        if (t.n >= n && t.n <= n + more && !strncasecmp(t.s, s, n)) return true;
    }
    return false;
}

static bool says_both(const passage *p, const char *word, size_t n, const parts *cut) {
    const char *tail = word + cut->tail;
    return has_word(p, word, cut->head, n) && has_word(p, tail, n - cut->tail, ENDING);
}

static bool has_link(const char *word, size_t end, const char *link) {
    const size_t k = strlen(link);
    return end >= PART + k && !memcmp(word + end - k, link, k);
}

/* Is byte i of the word the first one of a letter? */
static bool is_letter_start(const char *word, size_t i) {
    return ((unsigned char)word[i] & 0xC0) != 0x80;
}

/* Where one passage says both parts. */
static bool cut_of(parts *out, const char *word, size_t n, const passage *passages, size_t n_of) {
    for (size_t at = PART; at + PART <= n; at++) {
        for (size_t k = 0; is_letter_start(word, at) && k < N_LINKS; k++) {
            if (!has_link(word, at, links[k])) continue;
            const parts cut = {at - strlen(links[k]), at};
            for (size_t i = 0; i < n_of; i++)
                if (says_both(&passages[i], word, n, &cut)) {
                    *out = cut;
                    return true;
                }
        }
    }
    return false;
}

static bool is_said(const char *word, size_t n, const passage *passages, size_t n_of) {
    for (size_t i = 0; i < n_of; i++)
        if (has_word(&passages[i], word, n - ENDING, n)) return true;
    return false;
}

bool compound_words_as_written(fo_buf *out, const char *question, const passage *passages,
                               size_t n) {
    const size_t len = strlen(question);
    size_t copied = 0, at = 0;
    if (!joins_words(question)) return false;
    for (word_token t; (t = word_token_next(question, len, &at)).n;) {
        parts cut;
        if (!t.letters || t.n < LEAST || is_said(t.s, t.n, passages, n) ||
            !cut_of(&cut, t.s, t.n, passages, n))
            continue;
        const size_t start = (size_t)(t.s - question);
        fo_buf_add(out, question + copied, start + cut.head - copied);
        fo_buf_char(out, ' ');
        copied = start + cut.tail;
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0 && !out->failed;
}
