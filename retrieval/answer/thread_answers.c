#include "retrieval/answer/thread_answers.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/text/word_tokens.h"

/* ---- what answers it ------------------------------------------------------------------------- */

/* Where a sentence proper begins behind the lines that say who wrote, and when: "ann (maintainer), 14 May 2025:". */
static size_t behind_the_sender(const char *s, size_t n) {
    const char *line = memchr(s, '\n', n);
    return line && line > s && line[-1] == ':' ? (size_t)(line - s) + 1 : 0;
}

/* Does it begin with the label, a few words at most before its colon: "Workaround until there is a release: set"? */
static bool has_the_label(const char *s, size_t n, const word_token *label) {
    enum { MOST_WORDS = 8 };
    size_t at = behind_the_sender(s, n), of = 0;
    at += text_item_mark(s + at, n - at);
    s += at;
    n = text_label(s, n - at, MOST_WORDS);
    word_token t = word_token_next(s, n, &of);
    if (word_token_in(question_asks_qualities, &t)) t = word_token_next(s, n, &of);
    return t.n && t.n == label->n && !strncasecmp(t.s, label->s, t.n) && fo_is_letter(s[n - 1]);
}

/* "1.12.2" has two points, as a version has and an amount has not; so has "version 3.4". */
static bool says_a_version(const char *s, size_t n) {
    word_token last = {0};
    size_t at = 0;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t) {
        const char *point = t.digits ? memchr(t.s, '.', t.n) : NULL;
        if (point && (memchr(point + 1, '.', t.n - (size_t)(point + 1 - t.s)) ||
                      word_token_in("version release v", &last)))
            return true;
    }
    return false;
}

/* Terms of the question that one of the lists has. */
static uint64_t terms_of_lists(const question *q, const char *list, const char *other) {
    uint64_t terms = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int k = question_term_of(q, q->text.words[i].id);
        if (k >= 0 && (fact_word_in(&q->text, i, list) || fact_word_in(&q->text, i, other)))
            terms |= 1ull << k;
    }
    return terms;
}

/* Is it of the fix that is asked about: "2.4.2 is out with the fix", or in another word of the question? What "the fix for ..." is for
 * has to be asked about. */
static bool is_of_that_fix(const candidate_set *set, const candidate *c, const char *s, size_t n) {
    const uint64_t beside = ~terms_of_lists(&set->q, question_asks_fixes, question_asks_releases);
    word_token last = {0};
    size_t at = 0;
    bool meant = false;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t) {
        meant |= word_token_in("it this", &t);
        if (!word_token_in("fix", &t) || !word_token_in("the", &last)) continue;
        size_t behind = at;
        const word_token next = word_token_next(s, n, &behind);
        if (word_token_in("for of to", &next))
            return candidate_terms_at(&set->passages[c->passage], s + at, n - at) & beside;
        meant = true;
    }
    return meant || (c->set & beside);
}

static bool denies(const char *s, size_t n) {
    return word_tokens_say("not no never without cannot isn doesn t", s, n);
}

/* Does it begin with the label that is asked for, or where none is, say which release has the fix? */
static bool is_wanted(const candidate_set *set, const candidate *c) {
    const word_token *label = &set->q.asks.label;
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    if (c->f[CAND_QUESTION] > 0 || c->unit.kind == TEXT_UNIT_HEADING ||
        c->unit.kind == TEXT_UNIT_ROW)
        return false;
    if (label->n) return has_the_label(s, n, label);
    return word_tokens_say(question_asks_fixes, s, n) && says_a_version(s, n) && !denies(s, n) &&
           is_of_that_fix(set, c, s, n);
}

/* Is it below the heading of a version, and so of a list of changes, each of another thing? */
static bool is_of_a_version(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *above = heading_above(p, &c->unit);
    const char *s = above ? p->text.text + above->start : p->heading;
    const size_t n = above ? above->end - above->start : strlen(s);
    return dated_heading_of_version(s, n) || dated_heading_of_changes(s, n);
}

/* Do two candidates say the same bytes, as in the stretch that two chunks share? */
static bool are_one_text(const candidate_set *set, const candidate *a, const candidate *b) {
    return a->end - a->start == b->end - b->start &&
           !memcmp(set->passages[a->passage].text.text + a->start,
                   set->passages[b->passage].text.text + b->start, a->end - a->start);
}

/* ---- sections -------------------------------------------------------------------------------- */

typedef struct heading_said {
    const char *s; /* "": none */
    size_t n;
    uint64_t terms;
} heading_said;

/* The nearest heading above; at its passage's beginning it is not in the text, and its terms are not known. */
static heading_said heading_of(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *above = heading_above(p, &c->unit);
    if (!above) return (heading_said){p->heading, strlen(p->heading), 0};
    return (heading_said){p->text.text + above->start, above->end - above->start,
                          candidate_terms(p, above->start, above->end)};
}

/* "# Pumps" begins a text as "Pumps" does. */
static heading_said without_marks(heading_said h) {
    while (h.n && (*h.s == '#' || fo_is_blank(*h.s))) h.s++, h.n--;
    return h;
}

static bool are_of_one_section(const candidate_set *set, const candidate *a, const candidate *b) {
    const heading_said x = without_marks(heading_of(set, a)), y = without_marks(heading_of(set, b));
    return x.n == y.n && !memcmp(x.s, y.s, x.n);
}

/* "Root cause", "Cause and solution": of what the whole document is about. */
static bool is_heading_of_labels(const heading_said *h) {
    size_t at = 0;
    bool met = false;
    for (word_token t; (t = word_token_next(h->s, h->n, &at)).n;) {
        if (!t.letters) continue;
        if (word_token_in(question_asks_labels, &t) || word_token_in(question_asks_fixes, &t))
            met = true;
        else if (!word_token_in("the a and or of", &t) &&
                 !word_token_in(question_asks_qualities, &t))
            return false;
    }
    return met;
}

/* Is the unit with the label, in another section than the best, of the same thing? It is where it or its heading says something of the
 * question, and where not the sections but the document is about what is asked. */
static bool is_of_that_thing(const candidate_set *set, const candidate *c, const candidate *best) {
    const uint64_t beside = ~terms_of_lists(&set->q, question_asks_labels, question_asks_qualities),
                   title = set->passages[best->passage].named;
    const heading_said own = heading_of(set, c), other = heading_of(set, best);
    if (!own.n || are_of_one_section(set, c, best)) return true;
    return ((c->set | own.terms) & beside & ~title) || is_heading_of_labels(&own) ||
           ((title & beside) && !(other.terms & beside & ~title));
}

void thread_answers_pass_over(candidate_set *set, const candidate *was) {
    const candidate *leads = &set->c[0];
    const uint64_t told = leads->set | was->set | heading_of(set, leads).terms |
                          heading_of(set, was).terms | set->passages[was->passage].named;
    for (size_t i = 1; i < set->n; i++) {
        candidate *c = &set->c[i];
        const bool of_another_section =
            candidate_one_document(&set->passages[c->passage], &set->passages[was->passage]) &&
            !are_of_one_section(set, c, leads) && !are_of_one_section(set, c, was);
        c->passed_over = !of_another_section || !(c->set & ~told);
    }
}

void thread_answers_pass_over_others(candidate_set *set) {
    const candidate *best = &set->c[0];
    for (size_t i = 1; set->q.asks.label.n && i < set->n; i++) {
        candidate *c = &set->c[i];
        c->passed_over |=
            candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
            is_wanted(set, c) && !is_of_that_thing(set, c, best);
    }
}

size_t thread_answers_leading(const candidate_set *set) {
    const candidate *best = &set->c[0];
    const bool label = set->q.asks.label.n > 0;
    size_t found = 0;
    bool several = false;
    if (!label && !set->q.asks.release_of_fix) return 0;
    if (is_wanted(set, best) || (!label && is_of_a_version(set, best))) return 0;
    for (size_t i = 1; i < set->n; i++) {
        const candidate *c = &set->c[i];
        if (!candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) ||
            !is_wanted(set, c) || (label && !is_of_that_thing(set, c, best)))
            continue;
        if (c->passage == best->passage && c->order == best->order + 1 &&
            candidate_below(&c->unit) == candidate_below(&best->unit))
            return i; /* that of the very thing */
        if (found && !are_one_text(set, c, &set->c[found])) several = true;
        if (!found) found = i;
    }
    return several ? 0 : found; /* of several each is of another thing */
}
