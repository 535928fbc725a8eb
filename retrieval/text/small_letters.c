#include "retrieval/text/small_letters.h"

#include <string.h>
#include <utf8proc.h>

#include "kernels/utf8.h"
#include "retrieval/text/word_tokens.h"

enum { ACRONYM = 3 }; /* letters that may be one in a question of a single word */

bool small_letters_lack(const char *text, size_t len) {
    bool capital = false;
    for (size_t i = 0; i < len;) {
        int32_t cp;
        i += fo_utf8_decode(text + i, len - i, &cp);
        if (cp < 0) continue;
        if (utf8proc_category(cp) == UTF8PROC_CATEGORY_LL) return false;
        capital |= utf8proc_category(cp) == UTF8PROC_CATEGORY_LU;
    }
    return capital;
}

/* Is it part of a code or an option: a figure beside it, or a hyphen that begins a word? */
static bool is_literal(const char *text, const word_token *t) {
    const char *end = t->s + t->n;
    if (fo_is_digit(*end)) return true;
    if (t->s == text) return false;
    const bool hyphen = t->s[-1] == '-' && (t->s - 1 == text || t->s[-2] == ' ' || t->s[-2] == '-');
    return hyphen || fo_is_digit(t->s[-1]);
}

static void add_small(fo_buf *out, const word_token *t) {
    for (size_t i = 0; i < t->n;) {
        int32_t cp;
        char small[4];
        const size_t used = fo_utf8_decode(t->s + i, t->n - i, &cp);
        if (cp < 0)
            fo_buf_add(out, t->s + i, used);
        else
            fo_buf_add(out, small, fo_utf8_encode(utf8proc_tolower(cp), small));
        i += used;
    }
}

bool small_letters_question(fo_buf *out, const char *question) {
    const size_t len = strlen(question);
    bool word = false;
    if (!small_letters_lack(question, len)) return false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) break;
        word |= t.letters && t.n > ACRONYM && !is_literal(question, &t);
    }
    if (!word) return false;
    size_t copied = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) break;
        if (!t.letters || is_literal(question, &t)) continue;
        fo_buf_add(out, question + copied, (size_t)(t.s - question) - copied);
        add_small(out, &t);
        copied = at;
    }
    fo_buf_str(out, question + copied);
    return true;
}
