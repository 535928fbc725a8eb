#include "retrieval/text/compared_names.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/text/word_tokens.h"

static bool in_name(char c) {
    return fo_is_letter(c) || fo_is_digit(c) || strchr("-_.", c) != NULL ||
           (unsigned char)c >= 0x80;
}

/* The word at or behind *at, which moves behind it; n = 0: there is none before a sign that is part of no name. */
static word_token next_name(const char *s, size_t len, size_t *at) {
    size_t i = *at;
    while (i < len && strchr(" '\"`", s[i])) i++;
    const size_t from = i;
    while (i < len && in_name(s[i])) i++;
    *at = i;
    while (i > from && strchr(".-", s[i - 1])) i--; /* the end of a sentence */
    return (word_token){.s = s + from, .n = i - from, .letters = i > from};
}

static word_token next_but(const char *others, const char *s, size_t len, size_t *at) {
    word_token t = next_name(s, len, at);
    while (t.n && word_token_in(others, &t)) t = next_name(s, len, at);
    return t;
}

static const char articles[] = "the a an command commands programs program using";

/* Does the question end, or go on with something that is no part of the second name: "cp and mv", not "cp and mv options"? */
static bool ends(const char *s, size_t len, size_t at) {
    const word_token t = next_but("command commands program in on for", s, len, &at);
    while (at < len && strchr(" ?.!", s[at])) at++;
    return t.n == 0 && at == len;
}

bool compared_names_read(compared_names *out, const char *question, size_t len) {
    word_token before = {0};
    bool asked = false; /* "between" or "does" was there, and the first name is `before` */
    *out = (compared_names){0};
    for (size_t at = 0; at < len;) {
        const word_token t = next_name(question, len, &at);
        if (!t.n) {
            at++;
            continue;
        }
        if (word_token_in("between is does do", &t)) {
            asked = true;
            before = next_but(articles, question, len, &at);
            continue;
        }
        const bool parts = (asked && word_token_in("and", &t)) || word_token_in("vs versus", &t);
        bool differs = asked && word_token_in("differ different", &t);
        if (differs) {
            const word_token from = next_name(question, len, &at);
            differs = word_token_in("from to than", &from);
        }
        if ((parts || differs) && before.n) {
            const word_token second = next_but(articles, question, len, &at);
            const bool compares =
                !parts || word_token_in("vs versus", &t) ||
                word_tokens_say("difference differences differ differs distinction", question, len);
            if (!second.n || !compares || !ends(question, len, at)) return false;
            *out = (compared_names){{before.s, second.s}, {before.n, second.n}};
            return true;
        }
        before = t;
    }
    return false;
}
