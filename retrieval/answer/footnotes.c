#include "retrieval/answer/footnotes.h"

#include <string.h>

#include "kernels/utf8.h"

typedef struct sign {
    const char *s;
    size_t n;
} sign;

/* Bytes of a sign of notes at s: "*", a dagger, a raised digit from 1 to 9. */
static size_t sign_at(const char *s, size_t n) {
    static const char *const others[] = {"\xE2\x80\xA0", "\xE2\x80\xA1", "\xC2\xB9",    "\xC2\xB2",
                                         "\xC2\xB3",     "\xE2\x81\xB4", "\xE2\x81\xB5"};
    if (n && *s == '*') return 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t bytes = strlen(others[i]);
        if (n >= bytes && !memcmp(s, others[i], bytes)) return bytes;
    }
    return 0;
}

/* "17.00*", "add 30 %1", "45^2": the sign behind a word, a figure or a bracket, and nothing of a word behind it. A second power, "5 m²",
 * is a sign, too, as far as this tells; no line begins with it. A star beside another one is emphasis. */
static bool sign_in(const char *s, size_t n, sign *out) {
    size_t stars = 0;
    for (size_t i = 0; i < n; i++) stars += s[i] == '*';
    for (size_t i = 1; i < n; i++) {
        const size_t raised = sign_at(s + i, n - i);
        const bool caret = s[i] == '^' && i + 1 < n && fo_is_digit(s[i + 1]);
        const bool glued = fo_is_digit(s[i]) && s[i - 1] == '%';
        const size_t bytes = raised ? raised : caret || glued ? 1 : 0;
        const size_t end = i + bytes + caret;
        if (!bytes || fo_is_blank(s[i - 1]) || (end < n && fo_is_of_word(s[end]))) continue;
        if (s[i] == '*' && stars > 1) continue;
        *out = (sign){s + i + caret, bytes};
        return true;
    }
    return false;
}

/* How many lines of the text begin with the sign, as one of its own. *at: where the last of them does. */
static size_t lines_with(const fact_text *t, const sign *x, uint32_t *at) {
    size_t n = 0;
    for (uint32_t i = 0; i < t->len;) {
        const char *end = memchr(t->text + i, '\n', t->len - i);
        const uint32_t stop = end ? (uint32_t)(end - t->text) : (uint32_t)t->len;
        while (i < stop && (fo_is_blank(t->text[i]) || t->text[i] == '(')) i++;
        if (stop - i > x->n && !memcmp(t->text + i, x->s, x->n) &&
            !fo_is_digit(t->text[i + x->n]) && !strchr(".,*", t->text[i + x->n])) {
            *at = i;
            n++;
        }
        i = stop + 1;
    }
    return n;
}

bool footnote_is_of_the_best(const candidate_set *set, const candidate *c) {
    enum { FARTHEST = 6 }; /* bytes of the sign, a bracket and blanks before what the note says */
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[c->passage].text;
    sign x;
    uint32_t at = 0;
    if (c->passage != best->passage || c->unit.start <= best->unit.start ||
        (best->unit.kind != TEXT_UNIT_ROW && best->unit.kind != TEXT_UNIT_ITEM) ||
        !sign_in(t->text + best->unit.start, best->unit.end - best->unit.start, &x))
        return false;
    return lines_with(t, &x, &at) == 1 && at > best->unit.start && c->unit.start >= at &&
           c->unit.start <= at + FARTHEST;
}
