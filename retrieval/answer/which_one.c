#include "retrieval/answer/which_one.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/word_tokens.h"

/* ---- ordinals -------------------------------------------------------------------------------- */

static const char *const ordinals[] = {"first", "second", "third",    "fourth",
                                       "fifth", "sixth",  "seventh",  "eighth",
                                       "ninth", "tenth",  "eleventh", "twelfth"};
enum { N_ORDINALS = sizeof ordinals / sizeof *ordinals };

static int ordinal_of(const fact_text *t, size_t w) {
    const char *s = t->text + t->words[w].start;
    const size_t n = t->words[w].end - t->words[w].start;
    for (int i = 0; i < N_ORDINALS; i++)
        if (fo_words_have_any_case(ordinals[i], s, n)) return i;
    return -1;
}

static bool follows_article(const fact_text *t, size_t w, size_t from) {
    if (w == from) return false;
    const fact_word *before = &t->words[w - 1];
    const char *s = t->text + before->start;
    const size_t n = before->end - before->start;
    return fo_words_have_any_case("the s his her its their", s, n) ||
           (n > 2 && s[n - 2] == '\'' && s[n - 1] == 's');
}

/* Is word w the ordinal of one of several, "the second floor", "her Second Symphony", and not "first heard"? */
static bool designates(const fact_text *t, size_t w, size_t from) {
    const bool capital = (t->words[w].flags & (WORD_CAPITAL | WORD_INITIAL)) == WORD_CAPITAL;
    return capital || follows_article(t, w, from);
}

/* "The first time" and "the first to" count nothing that has a second. */
static bool counts_things(const fact_text *t, size_t w) {
    if (w + 1 >= t->n_words) return false;
    const fact_word *next = &t->words[w + 1];
    return fact_is_content(next) &&
           !fo_words_have_any_case("time times ever", t->text + next->start,
                                   next->end - next->start);
}

/* The ordinal that the question names; -1: none, or several. */
static int asked_ordinal(const question *q) {
    int found = -1;
    if (q->demands.language >= 0) return -1;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int k = ordinal_of(&q->text, i);
        if (k < 0 || !designates(&q->text, i, 0) || !counts_things(&q->text, i)) continue;
        if (found >= 0 && found != k) return -1;
        found = k;
    }
    return found;
}

/* The ordinal that the unit begins with; -1. */
static int ordinal_it_begins_with(const candidate_set *set, const candidate *c) {
    enum { FIRST_WORDS = 2 };
    const fact_text *t = &set->passages[c->passage].text;
    for (uint32_t i = c->w0; i < c->w1 && i < c->w0 + FIRST_WORDS; i++) {
        const int k = ordinal_of(t, i);
        if (k >= 0 && follows_article(t, i, c->w0)) return k;
    }
    return -1;
}

static bool says_ordinal(const candidate_set *set, const candidate *c, int ordinal) {
    const fact_text *t = &set->passages[c->passage].text;
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (ordinal_of(t, i) == ordinal && designates(t, i, c->w0)) return true;
    return false;
}

/* ---- titles in quotes ------------------------------------------------------------------------ */

typedef struct quoted {
    const char *s;
    size_t n, end; /* end: behind its closing mark, in the text that it was looked for in */
} quoted;

/* Bytes of a double quotation mark at s, straight or curved; 0: none. */
static size_t quote_mark(const char *s, size_t n) {
    if (n && s[0] == '"') return 1;
    if (n > 2 && (!memcmp(s, "\xE2\x80\x9C", 3) || !memcmp(s, "\xE2\x80\x9D", 3))) return 3;
    return 0;
}

/* The name in quotes that begins at s: a few words, the first with a capital, no sentence. */
static bool quoted_at(const char *s, size_t n, quoted *out) {
    enum { LONGEST = 60, SHORTEST = 4 };
    const size_t open = quote_mark(s, n);
    if (!open || n <= open || s[open] < 'A' || s[open] > 'Z') return false;
    size_t i = open;
    while (i < n && i < open + LONGEST && !quote_mark(s + i, n - i)) {
        if (strchr(",;:.!?", s[i])) return false;
        i++;
    }
    const size_t close = i < n ? quote_mark(s + i, n - i) : 0;
    *out = (quoted){s + open, i - open, i + close};
    return close && out->n >= SHORTEST;
}

/* Do the words of x stand in the question, one behind the other, whatever the blanks between them? */
static bool question_has(const question *q, const quoted *x) {
    for (size_t from = 0; from < q->text.len; from++) {
        if (from && fo_is_letter(q->text.text[from - 1])) continue;
        size_t at = from, i = 0;
        while (i < x->n && at < q->text.len) {
            const bool blank = fo_is_blank(x->s[i]);
            if (blank != fo_is_blank(q->text.text[at])) break;
            if (!blank && strncasecmp(x->s + i, q->text.text + at, 1) != 0) break;
            do i++;
            while (blank && i < x->n && fo_is_blank(x->s[i]));
            do at++;
            while (blank && at < q->text.len && fo_is_blank(q->text.text[at]));
        }
        if (i == x->n && (at == q->text.len || !fo_is_letter(q->text.text[at]))) return true;
    }
    return false;
}

/* Has the text[n] a name in quotes that the question has? */
static bool has_asked_title(const question *q, const char *text, size_t n) {
    quoted x;
    for (size_t i = 0; i < n; i++)
        if (quoted_at(text + i, n - i, &x)) {
            if (question_has(q, &x)) return true;
            i += x.end - 1;
        }
    return false;
}

/* Does the unit begin with the title of another work than the question's, as what it is about: "Long Pier" had been translated? */
static bool begins_with_another_title(const candidate_set *set, const candidate *c) {
    quoted x;
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    return c->unit.kind == TEXT_UNIT_SENTENCE && quoted_at(s, n, &x) && x.end + 1 < n &&
           fo_is_blank(s[x.end]) && s[x.end + 1] >= 'a' && s[x.end + 1] <= 'z' &&
           !question_has(&set->q, &x) && !has_asked_title(&set->q, s, n);
}

static bool names_a_title(const candidate_set *set, const candidate_passage *of) {
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (candidate_one_document(p, of) && has_asked_title(&set->q, p->text.text, p->text.len))
            return true;
    }
    return false;
}

void which_one_mark(candidate_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (begins_with_another_title(set, c) && names_a_title(set, &set->passages[c->passage]))
            candidate_set_apart(c);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool only_digits(const char *s, size_t n) {
    while (n > 0 && fo_is_digit(s[n - 1])) n--;
    return n == 0;
}

/* Has the unit a number of n digits? */
static bool has_number_of(const candidate_set *set, const candidate *c, size_t n) {
    const fact_text *t = &set->passages[c->passage].text;
    for (uint32_t i = c->w0; i < c->w1; i++) {
        const fact_word *w = &t->words[i];
        if (w->end - w->start == n && only_digits(t->text + w->start, n)) return true;
    }
    return false;
}

/* "A 502": the row of 502, and not what is said of 429. */
static bool has_asked_number(const candidate_set *set, const candidate *c, const candidate *other) {
    enum { FEWEST_DIGITS = 3 };
    const question *q = &set->q;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const size_t n = w->end - w->start;
        const int k = question_term_of(q, w->id);
        if (k < 0 || n < FEWEST_DIGITS || !only_digits(q->text.text + w->start, n)) continue;
        if ((c->set >> k & 1) && !(other->set >> k & 1) && has_number_of(set, other, n))
            return true;
    }
    return false;
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool which_one_is_another(const candidate_set *set, const candidate *c) {
    const int asked = asked_ordinal(&set->q), said = ordinal_it_begins_with(set, c);
    if (asked >= 0 && said >= 0 && said != asked && !says_ordinal(set, c, asked)) return true;
    return begins_with_another_title(set, c) && names_a_title(set, &set->passages[c->passage]);
}

bool which_one_is_asked(const candidate_set *set, const candidate *c, const candidate *other) {
    const int asked = asked_ordinal(&set->q);
    if (asked >= 0 && ordinal_it_begins_with(set, c) == asked && !says_ordinal(set, other, asked) &&
        candidate_one_document(&set->passages[c->passage], &set->passages[other->passage]))
        return true;
    return has_asked_number(set, c, other);
}
