#include "retrieval/answer/subjects.h"

#include <math.h>
#include <string.h>

#include "kernels/buf.h"
#include "kernels/words.h"
#include "retrieval/values/cell_values.h"
#include "retrieval/text/file_title.h"
#include "retrieval/text/rivals.h"
#include "retrieval/text/word_tokens.h"

/* Is word w that of a certain thing: "the hotel", "your campsite at the lake"? "This machine" and "a room" may be anybody's. */
static bool is_a_certain_thing(const fact_text *t, size_t w) {
    if (!question_names_thing(t, w)) return false;
    while (w > 0 && !(t->words[w].flags & WORD_STOP)) w--;
    const fact_word *before = &t->words[w];
    return fo_words_have_any_case("the our your their at in from by", t->text + before->start,
                                  before->end - before->start);
}

/* "Hungary", not 100 "MB", "Monday" or "I'll". */
static bool is_a_name(const question *q, const fact_word *w) {
    const char *word = q->text.text + w->start;
    const size_t n = w->end - w->start;
    enum cell_unit unit;
    double times;
    return fact_is_named(&q->text, (size_t)(w - q->text.words)) &&
           !(w->flags & (WORD_DIGIT | WORD_CALENDAR)) && !memchr(word, '\'', n) &&
           !cell_unit_named(word, n, &unit, &times);
}

/* Terms of the question that say whose answer is asked for. */
static uint64_t things_of(const question *q) {
    uint64_t things = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int k = question_term_of(q, q->text.words[i].id);
        const bool names = is_a_name(q, &q->text.words[i]) || is_a_certain_thing(&q->text, i);
        if (k >= 0 && names && !(q->text.words[i].flags & (WORD_DIGIT | WORD_CALENDAR)))
            things |= 1ull << k;
    }
    return things;
}

/* Is it known which passages are of its document? */
static bool is_told_apart(const candidate_passage *p) {
    return p->title_text[0] || p->document[0];
}

int subjects_named_by(uint64_t *named, const question *q, const lexicon *lx, const char *document,
                      fact_text *words, fo_err *err) {
    fo_buf name = {0};
    file_title_add(&name, document);
    int rc = name.failed ? fo_fail(err, FO_ENOMEM, "out of memory for a name") : FO_OK;
    if (!rc && name.len) rc = fact_text_read(words, lx->analyzer, name.data, name.len, err);
    for (size_t i = 0; !rc && name.len && i < words->n_words; i++) {
        const int k = question_term_of(q, words->words[i].id);
        if (k >= 0) *named |= 1ull << k;
    }
    fo_buf_free(&name);
    return rc;
}

/* Does a unit of the passage, with what it hangs on, say all of the terms? */
static bool says_together(const candidate_passage *p, uint64_t terms) {
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        if (!(terms & ~(candidate_terms(p, u->start, u->end) | candidate_head_terms(p, u))))
            return true;
    }
    return false;
}

static bool is_called(const candidate_passage *p, uint64_t terms) {
    return !(terms & ~(p->named | p->filed));
}

/* Two words side by side that name a certain thing ("the care home") are what another document is called, by its title and its
 * file; this one's passages say them apart from each other, if at all ("the care fee", "help at home"). */
static bool is_off_pair(const candidate_set *set, const candidate_passage *p, uint64_t pair) {
    bool called = false;
    for (size_t k = 0; k < set->n_passages; k++) {
        const candidate_passage *o = &set->passages[k];
        if (!candidate_one_document(o, p))
            called |= !o->command && is_called(o, pair);
        else if (is_called(o, pair) || says_together(o, pair))
            return false;
    }
    return called;
}

static bool is_off_pairs(const candidate_set *set, const candidate_passage *p) {
    const question *q = &set->q;
    for (size_t i = 0; i + 1 < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int a = question_term_of(q, w[0].id), b = question_term_of(q, w[1].id);
        if (a >= 0 && b >= 0 && a != b && fact_is_content(&w[1]) && !(w[1].flags & WORD_CLAUSE) &&
            is_a_certain_thing(&q->text, i) && is_off_pair(set, p, 1ull << a | 1ull << b))
            return true;
    }
    return false;
}

void subjects_mark(candidate_set *set) {
    const uint64_t things = things_of(&set->q);
    for (size_t i = 0; things && i < set->n_passages; i++) {
        candidate_passage *p = &set->passages[i];
        uint64_t titled = 0, own = p->named | p->said;
        for (size_t k = 0; k < set->n_passages; k++) {
            const candidate_passage *o = &set->passages[k];
            if (candidate_one_document(o, p))
                own |= o->said;
            else if (!o->command)
                titled |= o->named;
        }
        p->off_subject =
            is_told_apart(p) && !p->command &&
            ((!(things & p->named) && (things & titled & ~own) != 0) || is_off_pairs(set, p));
    }
}

void subjects_keep_to_the_talk(candidate_set *set) {
    bool any = false;
    for (size_t i = 0; i < set->n_passages; i++) any |= set->passages[i].spoken_of;
    for (size_t i = 0; any && i < set->n; i++) {
        candidate *c = &set->c[i];
        c->f[CAND_SPOKEN_OF] = set->passages[c->passage].spoken_of;
        if (!c->f[CAND_SPOKEN_OF]) c->f[CAND_TOPIC] /= 2;
    }
}

void subjects_forget_the_talk(candidate_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (!c->f[CAND_SPOKEN_OF]) c->f[CAND_TOPIC] *= 2;
        c->f[CAND_SPOKEN_OF] = 0;
        c->cross = NAN;
    }
    set->crossed = false;
}

/* What a document that never says it tells nothing about: not of breakfast by the hours of lunch, nor of an adult's dose by those
 * of children. A season may be said by its months, a place by its neighbours. */
static bool has_to_be_said(const char *word, size_t n) {
    return fo_words_have_any_case(
        "adult adults breakfast lunch dinner brunch petrol diesel male female", word, n);
}

/* ... or says it by another word: supper; "2.80 per person" holds for adults. */
static bool says_otherwise(const candidate_passage *p, const char *word, size_t n) {
    const uint64_t as = rivals_in(word, n);
    return (as && (rivals_in(p->text.text, p->text.len) & as)) ||
           (!as &&
            word_tokens_say("grown grownup grownups 18 person persons people everyone everybody",
                            p->text.text, p->text.len));
}

/* "A season ticket", "the family pass": what a single one costs is another price. */
static bool is_kind_of_ticket(const fact_text *t, size_t i) {
    static const char kinds[] = "season annual yearly family group",
                      tickets[] = "ticket tickets pass passes card cards";
    return i + 1 < t->n_words && fact_word_in(t, i, kinds) && fact_word_in(t, i + 1, tickets);
}

/* A family: "2 adults and 3 children", "with their children, together". */
static bool says_family(const char *s, size_t n) {
    word_token further = {0}, last = {0}, t;
    if (!word_tokens_say("child children kids", s, n)) return false;
    for (size_t at = 0; (t = word_token_next(s, n, &at)).n; further = last, last = t) {
        const bool joined = word_token_in("and with", &t) || word_token_is(&t, "+");
        if (word_token_in("together", &t) ||
            (joined && word_token_in("adult adults parent parents grown", &last) &&
             (further.digits || word_token_in("one two both", &further))))
            return true;
    }
    return false;
}

/* A group: "from 10 persons", "parties of ten", "12 people or more". */
static bool says_group(const char *s, size_t n) {
    static const char people[] = "person persons people visitors guests participants";
    word_token further = {0}, last = {0}, t;
    bool counted = false; /* people, a word or two before */
    for (size_t at = 0; (t = word_token_next(s, n, &at)).n; further = last, last = t) {
        const bool or_more = word_token_in("or", &further) && word_token_in("more", &last);
        if (word_token_in("parties", &t) ||
            (word_token_in("of", &t) && word_token_in("party", &last)) ||
            (word_token_in(people, &t) &&
             (or_more || (last.digits && word_token_in("from over than least of", &further)))) ||
            (counted && word_token_in("more", &t) && word_token_in("or", &last)))
            return true;
        counted = word_token_in(people, &t) || (counted && word_token_in("or", &t));
    }
    return false;
}

/* "Twelve months", "a year" */
static bool says_year(const char *s, size_t n) {
    word_token last = {0}, t;
    for (size_t at = 0; (t = word_token_next(s, n, &at)).n; last = t)
        if ((word_token_in("months", &t) &&
             (word_token_in("twelve", &last) || word_token_is(&last, "12"))) ||
            (word_token_in("year", &t) && word_token_in("a one per whole", &last)))
            return true;
    return false;
}

/* A kind of ticket is said by what makes it one, too; a season by its name: "summer card". */
static bool says_kind(const candidate_passage *p, const char *word, size_t n) {
    const char *s = p->text.text;
    const size_t len = p->text.len;
    if (fo_words_have_any_case("season", word, n)) return word_tokens_say("summer winter", s, len);
    if (fo_words_have_any_case("family", word, n)) return says_family(s, len);
    if (fo_words_have_any_case("group", word, n)) return says_group(s, len);
    return fo_words_have_any_case("annual yearly", word, n) && says_year(s, len);
}

bool subjects_lose_a_kind(const candidate_set *set, const candidate_passage *p) {
    const fact_text *t = &set->q.text;
    const enum demand_amount amount = set->q.demands.amount;
    const bool price = amount == AMOUNT_MONEY || amount == AMOUNT_EXPENSE;
    for (size_t i = 0; i < t->n_words; i++) {
        const char *word = t->text + t->words[i].start;
        const size_t n = t->words[i].end - t->words[i].start;
        const int k = question_term_of(&set->q, t->words[i].id);
        /* where it is sold, or whether it may be lent, holds for any ticket */
        const bool ticket = price && is_kind_of_ticket(t, i);
        if (k < 0 || !(ticket || has_to_be_said(word, n))) continue;
        bool said = false;
        for (size_t j = 0; j < set->n_passages && !said; j++) {
            const candidate_passage *o = &set->passages[j];
            said = candidate_one_document(o, p) &&
                   (((o->said | o->named) & 1ull << k) ||
                    (ticket ? says_kind(o, word, n) : says_otherwise(o, word, n)));
        }
        if (!said) return true;
    }
    return false;
}

bool subjects_lose_a_name(const candidate_set *set, const candidate_passage *p) {
    const question *q = &set->q;
    uint64_t names = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && q->terms[k].name && (is_a_name(q, w) || q->terms[k].small_name))
            names |= 1ull << k;
    }
    for (size_t i = 0; names && i < set->n_passages; i++) {
        const candidate_passage *o = &set->passages[i];
        if (!is_told_apart(p) || candidate_one_document(o, p)) names &= ~(o->said | o->named);
    }
    return names != 0;
}

bool subjects_lose_a_word(const candidate_set *set, const candidate_passage *p) {
    const question *q = &set->q;
    uint64_t words = 0;
    for (size_t k = 0; p->own && k < q->n_terms; k++)
        if (q->terms[k].rare) words |= 1ull << k;
    for (size_t i = 0; words && i < set->n_passages; i++) {
        const candidate_passage *o = &set->passages[i];
        if (candidate_one_document(o, p)) words &= ~(o->said | o->named);
    }
    return words != 0;
}
