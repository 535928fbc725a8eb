#include "retrieval/answer/which_one.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/number_words.h"
#include "retrieval/text/word_tokens.h"

/* ---- ordinals -------------------------------------------------------------------------------- */

static int ordinal_of(const fact_text *t, size_t w) {
    const fact_word *word = &t->words[w];
    return number_words_ordinal(t->text + word->start, word->end - word->start);
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

enum { NO_NOUN = -1 };

/* The ordinal that the question names; none where it names several. */
static candidate_ordinal asked_ordinal(const question *q) {
    candidate_ordinal found = {-1, NO_NOUN};
    if (q->demands.language >= 0) return found;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int k = ordinal_of(&q->text, i);
        if (k < 0 || !designates(&q->text, i, 0) || !counts_things(&q->text, i)) continue;
        if (found.place >= 0 && found.place != k) return (candidate_ordinal){-1, NO_NOUN};
        found = (candidate_ordinal){k, q->text.words[i + 1].id};
    }
    return found;
}

/* Is the ordinal at word w of what is asked about: "the second reminder", or of what it does not say again, "The Second, in D major", "the
 * second one took"? "The second helping" is of something else. */
static bool is_of_that_noun(const fact_text *t, uint32_t w, const candidate_ordinal *asked) {
    if (w + 1 >= t->n_words) return true;
    const fact_word *next = &t->words[w + 1];
    const char *behind = t->text + t->words[w].end;
    if (!fo_is_blank(*behind)) return *behind != '-';
    return behind[1] == '(' || !fact_is_content(next) || (int64_t)next->id == asked->noun ||
           fo_words_have_any_case("one ones", t->text + next->start, next->end - next->start);
}

/* The ordinal of what is asked about that the unit begins with; -1. */
static int ordinal_it_begins_with(const candidate_set *set, const candidate *c,
                                  const candidate_ordinal *asked) {
    enum { FIRST_WORDS = 2 };
    const fact_text *t = &set->passages[c->passage].text;
    for (uint32_t i = c->w0; i < c->w1 && i < c->w0 + FIRST_WORDS; i++) {
        const int k = ordinal_of(t, i);
        if (k >= 0 && follows_article(t, i, c->w0) && is_of_that_noun(t, i, asked)) return k;
    }
    return -1;
}

static bool says_ordinal(const candidate_set *set, const candidate *c,
                         const candidate_ordinal *asked) {
    const fact_text *t = &set->passages[c->passage].text;
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (ordinal_of(t, i) == asked->place && designates(t, i, c->w0) &&
            is_of_that_noun(t, i, asked))
            return true;
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

/* The words of x at byte `from` of the question, one behind the other, whatever the blanks between them: where they end; 0: they do not
 * stand there. */
static size_t end_of_title(const question *q, const quoted *x, size_t from, bool any_case) {
    size_t at = from, i = 0;
    while (i < x->n && at < q->text.len) {
        const bool blank = fo_is_blank(x->s[i]);
        if (blank != fo_is_blank(q->text.text[at])) return 0;
        if (!blank && x->s[i] != q->text.text[at] &&
            (!any_case || strncasecmp(x->s + i, q->text.text + at, 1) != 0))
            return 0;
        do i++;
        while (blank && i < x->n && fo_is_blank(x->s[i]));
        do at++;
        while (blank && at < q->text.len && fo_is_blank(q->text.text[at]));
    }
    return i == x->n && (at == q->text.len || !fo_is_letter(q->text.text[at])) ? at : 0;
}

/* Does the word "on" stand before byte `from`? What stands on an album is another thing than the album. */
static bool is_behind_on(const question *q, size_t from) {
    while (from > 0 && !fo_is_letter(q->text.text[from - 1])) from--;
    return from >= 2 && (from == 2 || !fo_is_letter(q->text.text[from - 3])) &&
           fo_words_have_any_case("on", q->text.text + from - 2, 2);
}

/* Does the question have the words of x, in whatever letters? */
static bool question_has(const question *q, const quoted *x) {
    for (size_t from = 0; from < q->text.len; from++)
        if ((from == 0 || !fo_is_letter(q->text.text[from - 1])) && end_of_title(q, x, from, true))
            return true;
    return false;
}

/* ... as a title: in its letters, of two words at least or in quotes, and not as what something else stands on? "Who saves it?" does not
 * name the button "Save". */
static bool question_names(const question *q, const quoted *x) {
    const bool several = memchr(x->s, ' ', x->n) != NULL;
    for (size_t from = 0; from < q->text.len; from++) {
        if (from && fo_is_letter(q->text.text[from - 1])) continue;
        const size_t end = end_of_title(q, x, from, false);
        if (end && (several || quote_mark(q->text.text + end, q->text.len - end)) &&
            !is_behind_on(q, from))
            return true;
    }
    return false;
}

/* Has the text[n] a name in quotes that the question has? */
static bool has_asked_title(const question *q, const char *text, size_t n) {
    quoted x;
    for (size_t i = 0; i < n; i++)
        if (quoted_at(text + i, n - i, &x)) {
            if (question_names(q, &x)) return true;
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

/* Who did something is asked, of a work itself and not of what came after it: "Who translated The Tide Clerk?" */
static bool asks_who_did_it(const question *q) {
    return q->kind == ASK_PERSON &&
           !word_tokens_say("after before next follow follows followed open opens opened",
                            q->text.text, q->text.len);
}

static bool is_of_another_title(const candidate_set *set, const candidate *c) {
    return asks_who_did_it(&set->q) && begins_with_another_title(set, c) &&
           names_a_title(set, &set->passages[c->passage]);
}

/* "First year: 1,050" where the fourth is asked about: a row, an item or a line that is called by another ordinal of the same thing. */
static bool is_called_by_another(const candidate_set *set, const candidate *c) {
    const candidate_ordinal *asked = &set->ordinal;
    const fact_text *t = &set->passages[c->passage].text;
    const int said = asked->place >= 0 && c->w0 + 1 < c->w1 ? ordinal_of(t, c->w0) : -1;
    if (said < 0 || said == asked->place || (int64_t)t->words[c->w0 + 1].id != asked->noun)
        return false;
    for (uint32_t i = c->w0 + 1; i < c->w1; i++)
        if (ordinal_of(t, i) >= 0) return false; /* "First year to fifth year" */
    return true;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* What a name goes on with that has siblings: "Petrel 3 Pro" beside "Petrel 3". */
static const char models[] =
    "pro plus max mini lite ultra premium deluxe air se xl xs sport classic "
    "junior basic comfort electric hybrid";

/* Word i of the question is of a model, behind its name: "Petrel 3 Pro", "Vivaro Plus". */
static bool is_model_at(const fact_text *t, size_t i) {
    if (i < 1 || !fact_word_in(t, i, models)) return false;
    const fact_word *w = &t->words[i], *name = &t->words[i - 1];
    if (w->start != name->end + 1 || !fo_is_blank(t->text[name->end])) return false;
    return (name->flags & WORD_DIGIT) ||
           ((w->flags & WORD_CAPITAL) &&
            (name->flags & (WORD_CAPITAL | WORD_INITIAL)) == WORD_CAPITAL);
}

/* Does a text of the words [w0, w1) name it with what stands before it in the question, with the model or without? */
static bool names_model(const question *q, size_t i, const fact_text *t, size_t w0, size_t w1,
                        bool with) {
    const fact_word *asked = q->text.words;
    const bool number = (asked[i - 1].flags & WORD_DIGIT) && i > 1;
    for (size_t k = w0; k < w1; k++) {
        if (t->words[k].id != asked[i - 1].id) continue;
        if (number && (k == w0 || t->words[k - 1].id != asked[i - 2].id)) continue;
        if (!with || (k + 1 < w1 && t->words[k + 1].id == asked[i].id)) return true;
    }
    return false;
}

/* Words of the question that are of a model: the first few. */
typedef struct asked_models {
    size_t at[4], n;
} asked_models;

static asked_models models_asked(const question *q) {
    asked_models m = {0};
    if (q->demands.language >= 0) return m;
    for (size_t i = 1; i < q->text.n_words && m.n < sizeof m.at / sizeof *m.at; i++)
        if (is_model_at(&q->text, i) && question_term_of(q, q->text.words[i].id) >= 0)
            m.at[m.n++] = i;
    return m;
}

/* "The Petrel 3 weighs 249 g" where the Petrel 3 Pro is asked about, and the document knows that one. */
static bool is_of_another_model(const candidate_set *set, const candidate *c,
                                const asked_models *asked) {
    const question *q = &set->q;
    const candidate_passage *p = &set->passages[c->passage];
    for (size_t m = 0; m < asked->n; m++) {
        const size_t i = asked->at[m];
        const int k = question_term_of(q, q->text.words[i].id);
        if (((c->set | p->title | candidate_head_terms(p, &c->unit)) >> k & 1) ||
            !names_model(q, i, &p->text, c->w0, c->w1, false))
            continue;
        for (size_t o = 0; o < set->n_passages; o++)
            if (candidate_one_document(p, &set->passages[o]) &&
                names_model(q, i, &set->passages[o].text, 0, set->passages[o].text.n_words, true))
                return true;
    }
    return false;
}

/* ---- values in quotes ------------------------------------------------------------------------ */

/* The value that a sentence of a manual begins with, "auto" of 'If "auto", ...', or behind a few words: 'If set to "auto", ...'. */
static bool begins_with_value(const char *s, size_t n, quoted *out) {
    enum { WITHIN = 16, LONGEST = 32 };
    size_t i = 0;
    while (i < n && i < WITHIN && !quote_mark(s + i, n - i) && !strchr(".:;(", s[i])) i++;
    const size_t open = i < n ? quote_mark(s + i, n - i) : 0;
    const size_t from = i + open;
    for (i = from; open && i < n && i < from + LONGEST; i++) {
        if (quote_mark(s + i, n - i)) {
            *out = (quoted){s + from, i - from, i};
            return i > from;
        }
        if (!fo_is_letter(s[i]) && !fo_is_digit(s[i]) && !strchr("-_", s[i])) return false;
    }
    return false;
}

/* Is the value a word of the question? */
static bool says_value(const question *q, const quoted *x) {
    for (size_t from = 0; from + x->n <= q->text.len; from++) {
        const char *s = q->text.text + from;
        const bool whole = (from == 0 || !fo_is_of_word(s[-1])) &&
                           (from + x->n == q->text.len || !fo_is_of_word(s[x->n]));
        if (whole && strncasecmp(s, x->s, x->n) == 0) return true;
    }
    return false;
}

/* Has the unit a value in quotes that is asked about? */
static bool has_asked_value(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    quoted x;
    for (size_t i = 0; i < n; i++)
        if (quote_mark(s + i, n - i) && begins_with_value(s + i, n - i, &x) &&
            says_value(&set->q, &x))
            return true;
    return false;
}

/* Is it of another value than the one that is asked about: does it begin with one in quotes, and never has the other? */
static bool is_of_another_value(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->start;
    quoted x;
    return c->unit.kind == TEXT_UNIT_SENTENCE && c->unit.head_kind == TEXT_UNIT_DEFINITION &&
           c->unit.head_end > c->unit.head_start && begins_with_value(s, c->end - c->start, &x) &&
           !says_value(&set->q, &x) && !has_asked_value(set, c);
}

/* Has another sentence of its setting the value that is asked about? */
static bool stands_beside_asked_value(const candidate_set *set, const candidate *c) {
    for (size_t i = 0; i < set->n; i++) {
        const candidate *d = &set->c[i];
        if (d->passage == c->passage && d->unit.kind == TEXT_UNIT_SENTENCE &&
            candidate_same_head(c, d) && has_asked_value(set, d))
            return true;
    }
    return false;
}

/* Where a sentence of a setting has the value that is asked about, "auto", those of the setting that begin with another one are of
 * that. Not of a long question: each value is looked for in it. */
static void mark_other_values(candidate_set *set) {
    enum { LONG = 1024 };
    for (size_t i = 0; set->q.text.len < LONG && i < set->n; i++) {
        candidate *c = &set->c[i];
        if (is_of_another_value(set, c) && stands_beside_asked_value(set, c))
            c->f[CAND_OTHER_THING] = CAND_RIVAL;
    }
}

void which_one_mark(candidate_set *set) {
    set->ordinal = asked_ordinal(&set->q);
    mark_other_values(set);
    const asked_models asked = models_asked(&set->q);
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (is_of_another_title(set, c)) candidate_set_apart(c);
        if (is_called_by_another(set, c) || is_of_another_model(set, c, &asked))
            c->f[CAND_OTHER_THING] = CAND_RIVAL;
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
    const candidate_ordinal asked = set->ordinal;
    const int said = asked.place >= 0 ? ordinal_it_begins_with(set, c, &asked) : -1;
    if (said >= 0 && said != asked.place && !says_ordinal(set, c, &asked)) return true;
    return is_of_another_title(set, c);
}

bool which_one_is_asked(const candidate_set *set, const candidate *c, const candidate *other) {
    const candidate_ordinal asked = set->ordinal;
    if (asked.place >= 0 && ordinal_it_begins_with(set, c, &asked) == asked.place &&
        !says_ordinal(set, other, &asked) &&
        candidate_one_document(&set->passages[c->passage], &set->passages[other->passage]))
        return true;
    return has_asked_number(set, c, other);
}
