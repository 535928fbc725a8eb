#include "retrieval/answer/antecedents.h"

#include <string.h>

#include "retrieval/answer/cross_reading.h"
#include "retrieval/text/word_tokens.h"

/* ---- what points back ------------------------------------------------------------------------ */

static const char *const back = "it this that these those them there then";

/* "(3) This ...", "- It ...", "**B2** There ...": the first word of a sentence behind the mark of its paragraph. */
static word_token first_word(const char *s, size_t n, size_t *at) {
    enum { MOST_MARKS = 6 };
    word_token t = word_token_next(s, n, at);
    for (int i = 0; i < MOST_MARKS && t.n && !t.letters; i++) t = word_token_next(s, n, at);
    return t;
}

/* "There is a lift" says by itself what there is; "There a day pass costs £6" does not say where. */
static bool says_what_there_is(const word_token *next) {
    return word_token_in("is are was were s isn aren wasn weren has have had will would may might "
                         "can could must "
                         "should shall exist exists used seems seem remains remain",
                         next) ||
           next->s[0] == '\'' || (unsigned char)next->s[0] >= 0x80;
}

/* "... there is none.": none of what, the sentence before says. */
bool antecedent_is_of_none(const char *s, size_t n) {
    enum { MOST_WORDS = 10 }; /* a longer one, or one of clauses, says itself of what */
    word_token before = {0}, last = {0};
    size_t words = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) break;
        if (word_token_is(&t, ";") || word_token_is(&t, ",") || ++words > MOST_WORDS + 1)
            return false;
        if (!t.letters) continue;
        before = last;
        last = t;
    }
    return word_token_in("none", &last) && word_token_in("is are was were has have", &before);
}

/* "Water does so only down to four degrees": what it does, the sentence before says. */
bool antecedent_does_so(const char *s, size_t n) {
    enum { FIRST_WORDS = 5 };
    word_token before = {0};
    size_t at = 0;
    for (int i = 0; i < FIRST_WORDS; i++) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n || !t.letters) return false;
        if (word_token_in("so", &t) && word_token_in("do does did", &before)) return true;
        before = t;
    }
    return false;
}

bool antecedent_is_meant(const char *s, size_t n) {
    size_t at = 0;
    word_token first = first_word(s, n, &at), second = word_token_next(s, n, &at);
    if (word_token_in("note", &first) &&
        word_token_in("that", &second)) { /* "Note that this ..." */
        first = word_token_next(s, n, &at);
        second = word_token_next(s, n, &at);
        if (word_token_in("that", &first)) return false;
    }
    if (!first.n || !second.n) return false;
    if (word_token_in("such", &first)) return second.letters && !word_token_in("as a an", &second);
    if (antecedent_does_so(s, n)) return true;
    if (word_token_in("it they he she its their his her this these those", &first)) return true;
    if (word_token_in("that", &first)) /* "That members vote is new" names what it speaks of */
        return word_token_in("is was does did will would can may applies holds means s", &second);
    if (word_token_in("there", &first)) return !says_what_there_is(&second);
    if (word_token_in("during after before beyond until till without with within above below "
                      "under for from in on at to by of behind like despite",
                      &first) &&
        word_token_in(back, &second)) {
        /* "In that case", "in this version": the noun may be new, and is not what is asked about */
        const word_token third = word_token_next(s, n, &at);
        return !third.letters || word_token_in("it them there", &second) ||
               word_token_in("case cases event circumstances situation situations", &third);
    }
    if (word_token_in("the", &first) && word_token_in("default", &second)) {
        word_token third = word_token_next(s, n, &at);
        if (word_token_in("value", &third)) third = word_token_next(s, n, &at);
        return word_token_in("is",
                             &third); /* "The default value for the port is 80" says of what */
    }
    return word_token_in("default", &first) ? word_token_in("is", &second)
                                            : antecedent_is_of_none(s, n);
}

/* "You could then open that port.", "To do so, ...", "By doing this ..." */
static bool goes_on_from(const word_token *first, const word_token *second,
                         const word_token *third) {
    if (word_token_in("then", third))
        return word_token_in("you we they one", first) &&
               word_token_in("can could may might must should will would", second);
    return ((word_token_in("to", first) && word_token_in("do", second)) ||
            (word_token_in("by", first) && word_token_in("doing", second))) &&
           word_token_in("so this that", third);
}

/* "However, ...", "Then ...", "As an example, ...": goes on from what is said before it. "However you pay" and "Instead of a key" do not. */
bool antecedent_is_linked(const char *s, size_t n) {
    size_t at = 0;
    const word_token first = first_word(s, n, &at), second = word_token_next(s, n, &at);
    if (!first.n || !second.n) return false;
    if (word_token_in("then therefore thus hence otherwise", &first)) return true;
    if (word_token_is(&second, ","))
        return word_token_in(
            "however again also instead rather nevertheless nonetheless moreover besides "
            "furthermore additionally conversely similarly likewise "
            "alternatively consequently accordingly",
            &first);
    const word_token third = word_token_next(s, n, &at);
    if (goes_on_from(&first, &second, &third)) return true;
    if (word_token_in("for", &first) && word_token_in("example instance", &second))
        return word_token_is(&third, ",");
    return word_token_in("as", &first) && word_token_in("an a", &second) &&
           word_token_in("example result consequence", &third);
}

/* "This variable specifies ...", "If set, this option ...": the name of the entry stands above it. */
bool antecedent_is_entry(const char *s, size_t n) {
    enum { FIRST_WORDS = 6 };
    size_t at = 0;
    bool this = false;
    for (int i = 0; i < FIRST_WORDS; i++) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return false;
        if (this)
            return word_token_in("variable option setting parameter directive keyword flag switch "
                                 "command program tool utility daemon function mode feature field "
                                 "header attribute property",
                                 &t);
        this = word_token_in("this", &t);
    }
    return false;
}

const text_unit *antecedent_of(const candidate_passage *p, uint32_t order) {
    if (order == 0) return NULL;
    const char *text = p->text.text;
    const text_unit *u = &p->units.v[order], *before = u - 1;
    if (u->kind != TEXT_UNIT_SENTENCE || before->kind != TEXT_UNIT_SENTENCE ||
        u->head_start != before->head_start || before->end > u->start ||
        !antecedent_is_meant(text + u->start, u->end - u->start))
        return NULL;
    return memmem(text + before->end, u->start - before->end, "\n\n", 2) ? NULL : before;
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* How plainly a text states a reason: 2, by a word for one ("because", "otherwise"); 1, it says what failed or is not so, which often
 * is one; 0. */
static int reason_in(const char *s, size_t n) {
    static const char
        gives[] = "because since due owing reason reasons cause causes caused therefore thus so "
                  "otherwise lest avoid avoids prevent prevents protect protects risk risks "
                  "danger dangerous whose thanks",
        fails[] = "not cannot no never nobody nothing fail fails failed wrong broken broke expired "
                  "lack lacks lacked missing too lost risen fell found refused stopped";
    return word_tokens_say(gives, s, n) ? 2 : word_tokens_say(fails, s, n) ? 1 : 0;
}

static int reason_of(const candidate_set *set, const candidate *c) {
    return reason_in(set->passages[c->passage].text.text + c->start, c->end - c->start);
}

/* Do both stand in one paragraph, with no other unit between? */
static bool are_beside(const candidate_set *set, const candidate *a, const candidate *b) {
    if (a->passage != b->passage || a->unit.kind != TEXT_UNIT_SENTENCE ||
        b->unit.kind != TEXT_UNIT_SENTENCE || a->unit.head_start != b->unit.head_start)
        return false;
    const candidate *first = a->order < b->order ? a : b, *second = first == a ? b : a;
    return first->order + 1 == second->order &&
           !memmem(set->passages[a->passage].text.text + first->end, second->start - first->end,
                   "\n\n", 2);
}

static bool is_chosen(const candidate *c, const candidate *chosen, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (chosen[i].passage == c->passage && chosen[i].order == c->order) return true;
    return false;
}

/* What only sounds like a reason, "too", "fell", is one where it speaks of the same: by a word, pointing at it, as read with the
 * question, or before it, below a heading that says what is asked about. */
static bool is_of_the_same(const candidate_set *set, const candidate *c, const candidate *of) {
    const candidate_passage *p = &set->passages[c->passage];
    const fact_text *t = &p->text;
    size_t at = 0;
    const word_token first = first_word(t->text + c->start, c->end - c->start, &at);
    if (word_token_in("it this that these those they he she", &first) ||
        (set->crossed && cross_reading_of(c) >= 0) ||
        (c->order < of->order && candidate_head_terms(p, &c->unit)))
        return true;
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (fact_is_content(&t->words[i]) && fact_says(t, of->w0, of->w1, t->words[i].id))
            return true;
    return false;
}

/* "If it fails, fish suffocate": of what the case is in which that happens, the sentence before tells. */
static bool begins_with_case_of_before(const char *s, size_t n) {
    size_t at = 0;
    const word_token first = first_word(s, n, &at), second = word_token_next(s, n, &at);
    return word_token_in("if when where unless once whenever", &first) &&
           word_token_in("it this that these those they", &second);
}

/* Where no reason is told: the sentence before the first that is chosen, if that points back at a case, and it is short and says more of
 * what is asked about. */
static size_t case_before(const candidate_set *set, const candidate *chosen, size_t n) {
    enum { MOST_WORDS = 20 };
    const char *text = set->passages[chosen->passage].text.text;
    if (!begins_with_case_of_before(text + chosen->start, chosen->end - chosen->start))
        return set->n;
    for (size_t i = 0; i < set->n; i++) {
        const candidate *c = &set->c[i];
        if (c->order < chosen->order && are_beside(set, c, chosen) && !is_chosen(c, chosen, n))
            return c->w1 - c->w0 <= MOST_WORDS && (c->set & ~chosen->set) ? i : set->n;
    }
    return set->n;
}

size_t antecedent_reason_beside(const candidate_set *set, const candidate *chosen, size_t n) {
    size_t found = set->n;
    int most = 0;
    if (!set->q.demands.reason) return found;
    for (size_t i = 0; i < n; i++)
        if (reason_of(set, &chosen[i]) == 2) return found;
    for (size_t i = 0; i < set->n; i++) { /* of two as plain the one that is ranked first */
        const candidate *c = &set->c[i];
        const int reason = reason_of(set, c);
        bool beside = false;
        for (size_t k = 0; k < n; k++)
            beside |= are_beside(set, c, &chosen[k]) &&
                      (reason == 2 || is_of_the_same(set, c, &chosen[k]));
        if (!beside || reason <= most || c->f[CAND_QUESTION] > 0 || is_chosen(c, chosen, n))
            continue;
        most = reason;
        found = i;
    }
    return found < set->n || n == 0 ? found : case_before(set, chosen, n);
}
