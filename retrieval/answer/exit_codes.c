#include "retrieval/answer/exit_codes.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/text/word_tokens.h"

const double exit_codes_support = 0.9;

static const char codes[] = "exit exits exited status code codes return returns returned returning "
                            "error errors";
/* A page's heading or lead-in. */
static const char about[] = "exit exits exited status statuses return returns returned error "
                            "errors diagnostics codes values";

typedef struct number {
    const char *s;
    size_t n;
} number;

/* The number that is asked about as a code; n = 0: there is none, or others stand beside it ("between 1 and 3"), or it is asked how
 * to do something. */
static number asked_code(const question *q) {
    enum { LONGEST = 3, REACH = 3 /* words from the one that says what it is */ };
    number found = {0};
    size_t since = REACH + 1;
    if (q->procedure || q->text.language >= 0) return found;
    size_t at = 0;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;) {
        since = word_token_in(codes, &t) ? 0 : since + (t.letters || t.digits);
        if (!t.digits) continue;
        if (found.n || t.n > LONGEST || since > REACH) return (number){0};
        found = (number){t.s, t.n};
    }
    return found;
}

static bool is(const word_token *t, number x) {
    return t->digits && t->n == x.n && memcmp(t->s, x.s, x.n) == 0;
}

/* "23 - Partial transfer", "- 4: Left uncorrected", "124 if COMMAND times out" */
static bool begins_with(const char *s, size_t n, number x) {
    size_t at = 0;
    word_token t = word_token_next(s, n, &at);
    if (word_token_is_dash(&t) || word_token_is(&t, "*")) t = word_token_next(s, n, &at);
    if (!is(&t, x)) return false;
    const char *end = t.s + t.n;
    if (end == s + n || strchr(".,%", *end)) return false;
    t = word_token_next(s, n, &at);
    if (word_token_is_dash(&t) && t.s == end) return false; /* "1-3", "4-byte" */
    while (t.n && !t.letters && !t.digits) t = word_token_next(s, n, &at);
    return t.letters;
}

/* Byte at which "1 if no lines were selected" begins in a sentence; n: nowhere. */
static size_t condition_at(const char *s, size_t n, number x) {
    word_token last = {0};
    size_t at = 0;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t)
        if (is(&last, x) && word_token_in("if when means indicates for", &t))
            return (size_t)(last.s - s);
    return n;
}

static bool speaks_of_codes(const char *s, size_t n) {
    return word_tokens_say(about, s, n);
}

/* Does what stands above unit i say that exit statuses follow: its heading, or the sentence before the list that it is in, which the
 * list's first entry hangs on? */
static bool is_below_codes(const candidate_passage *p, size_t i) {
    const char *text = p->text.text;
    for (size_t k = i + 1; k-- > 0;) {
        const text_unit *u = &p->units.v[k];
        if (speaks_of_codes(text + u->head_start, u->head_end - u->head_start)) return true;
        if (k == i) continue;
        const bool says = u->kind == TEXT_UNIT_HEADING || u->kind == TEXT_UNIT_SENTENCE;
        if (says && speaks_of_codes(text + u->start, u->end - u->start)) return true;
        if (u->kind == TEXT_UNIT_HEADING) return false;
    }
    return speaks_of_codes(p->heading, strlen(p->heading));
}

size_t exit_codes_take(const candidate_set *set, candidate *chosen) {
    const question *q = &set->q;
    const number x = asked_code(q);
    size_t sentences = 0;
    if (!x.n) return 0;
    for (size_t k = 0; k < set->n_passages; k++) {
        const candidate_passage *p = &set->passages[k];
        if (!p->command || !exact_names_command_said(q->text.text, q->text.len, p->title_text))
            continue;
        for (size_t i = 0; i < p->units.n; i++) {
            const text_unit *u = &p->units.v[i];
            const char *s = p->text.text + u->start;
            const size_t n = u->end - u->start;
            if (u->kind == TEXT_UNIT_HEADING || u->kind == TEXT_UNIT_HEADER) continue;
            const bool entry = begins_with(s, n, x);
            if (!entry && (sentences || condition_at(s, n, x) == n)) continue;
            if (!entry && !speaks_of_codes(s, n) && !is_below_codes(p, i)) continue;
            if (entry && !is_below_codes(p, i)) continue;
            *chosen = candidate_whole(p, k, i, *u);
            if (entry) return 1;
            sentences = 1;
        }
    }
    return sentences;
}
