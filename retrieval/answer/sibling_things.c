#include "retrieval/answer/sibling_things.h"

#include <strings.h>

#include "retrieval/answer/antecedents.h"
#include "retrieval/text/word_tokens.h"

/* ---- what is known of a unit ------------------------------------------------------------------- */

/* The question's terms in a unit, in what it hangs on or points back at, in its document's title and name. */
static uint64_t known_of(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *before = antecedent_of(p, c->order);
    uint64_t known =
        c->set | p->title | p->named | p->filed | p->own | candidate_head_terms(p, &c->unit);
    if (before) known |= candidate_terms(p, before->start, before->end);
    return known;
}

/* The terms that some passage of its document says. */
static uint64_t said_of(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    uint64_t said = 0;
    for (size_t i = 0; i < set->n_passages; i++)
        if (candidate_one_document(&set->passages[i], p)) said |= set->passages[i].said;
    return said;
}

/* ---- another name in the same place ------------------------------------------------------------- */

/* Next content word of a text from word i on; end: none. */
static size_t content_from(const fact_text *t, size_t i, size_t end) {
    while (i < end && !fact_is_content(&t->words[i])) i++;
    return i;
}

static int term_at(const question *q, size_t i) {
    return question_term_of(q, q->text.words[i].id);
}

/* The term of the content word before word i; -1: there is none, or it is no term. *at: that word. */
static int term_before(const question *q, size_t i, size_t *at) {
    while (i > 0 && !fact_is_content(&q->text.words[i - 1])) i--;
    *at = i > 0 ? i - 1 : 0;
    return i > 0 ? term_at(q, i - 1) : -1;
}

static bool is_name(const question *q, size_t i) {
    const int k = term_at(q, i);
    return k >= 0 && q->terms[k].name && (q->text.words[i].flags & WORD_CAPITAL) &&
           !(q->text.words[i].flags & (WORD_DIGIT | WORD_CALENDAR | WORD_INITIAL));
}

/* Does a word of the unit, which is none of the question's, stand right behind the question's term a there, as a name does:
 * "Resetting the Workshop"? */
static bool has_another_name_behind(const candidate_passage *p, const candidate *c, int a) {
    const fact_text *t = &p->text;
    for (size_t i = c->w0; i < c->w1; i++) {
        if (p->terms[i] != a) continue;
        const size_t next = content_from(t, i + 1, c->w1);
        if (next == c->w1 || p->terms[next] >= 0 || next > i + 3) continue;
        const uint32_t flags = t->words[next].flags;
        bool clause = false;
        for (size_t k = i + 1; k <= next; k++) clause |= (t->words[k].flags & WORD_CLAUSE) != 0;
        if ((flags & WORD_CAPITAL) && !clause &&
            !(flags & (WORD_DIGIT | WORD_CALENDAR | WORD_INITIAL)))
            return true;
    }
    return false;
}

/* Do bytes [start, end) of the passage say terms a and b with one to three words between them that are not the question's? */
static bool has_others_between(const candidate_passage *p, uint32_t start, uint32_t end, int a,
                               int b) {
    enum { MOST = 3 };
    const fact_sentence s = candidate_words(&p->text, start, end);
    for (size_t i = s.w0; i < s.w1; i++) {
        if (p->terms[i] != a) continue;
        size_t others = 0, k = i + 1;
        for (; k < s.w1 && p->terms[k] < 0 && others <= MOST; k++)
            others += fact_is_content(&p->text.words[k]);
        if (k < s.w1 && others && others <= MOST && p->terms[k] == b) return true;
    }
    return false;
}

/* "How far is Rowan Street from the station?": the words before and behind the name, with another one between them, in the unit or the
 * question of a chat before it, where names have no capitals: "how far is mill quay from the station?". */
static bool has_another_between(const candidate_set *set, const candidate *c, uint64_t known,
                                size_t name) {
    const question *q = &set->q;
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    size_t before, behind = name + 1;
    for (; behind < q->text.n_words; behind++) {
        const int k = term_at(q, behind);
        if (fact_is_content(&q->text.words[behind]) && (k < 0 || (known >> k & 1))) break;
    }
    const int a = term_before(q, name, &before),
              b = behind < q->text.n_words ? term_at(q, behind) : -1;
    return a >= 0 && b >= 0 &&
           (has_others_between(p, u->start, u->end, a, b) ||
            (u->head_kind == TEXT_UNIT_TURN &&
             has_others_between(p, u->head_start, u->head_end, a, b)));
}

/* "How long does resetting the Attic take?": the unit says the word before the name, and another name behind that. The names that are
 * asked about its document says elsewhere. */
static bool is_of_another_name(const candidate_set *set, const candidate *c, uint64_t known,
                               uint64_t said) {
    const question *q = &set->q;
    const candidate_passage *p = &set->passages[c->passage];
    for (size_t i = 1; i < q->text.n_words; i++) {
        const int k = is_name(q, i) ? term_at(q, i) : -1;
        if (k < 0 || (known >> k & 1) || !(said >> k & 1)) continue;
        if (has_another_between(set, c, known, i)) return true;
        size_t before;
        const int a = term_before(q, i, &before);
        if (a < 0 || !(c->set >> a & 1) || is_name(q, before)) continue;
        if (has_another_name_behind(p, c, a)) return true;
    }
    return false;
}

/* ---- the opposite of it -------------------------------------------------------------------------- */

/* Words before a noun of which one excludes the other: "low tide", "high tide". */
static const char *const opposites[][2] = {
    {"low", "high"},       {"old", "new"},          {"inner", "outer"},
    {"left", "right"},     {"small", "large"},      {"small", "big"},
    {"junior", "senior"},  {"long", "short"},       {"hot", "cold"},
    {"wet", "dry"},        {"early", "late"},       {"internal", "external"},
    {"gross", "net"},      {"inbound", "outbound"}, {"outward", "return"},
    {"private", "public"}, {"incoming", "outgoing"}};

/* The opposites of the word, if it has some; 0: it has none. Bit 2n+1 is the opposite of 2n. */
static uint64_t opposite_bits(const char *s, size_t n, bool itself) {
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof opposites / sizeof *opposites; i++)
        for (size_t k = 0; k < 2; k++)
            if (strlen(opposites[i][k]) == n && !strncasecmp(opposites[i][k], s, n))
                bits |= 1ull << (2 * i + (itself ? k : 1 - k));
    return bits;
}

static uint64_t opposite_bits_of(const fact_text *t, size_t i, bool itself) {
    return opposite_bits(t->text + t->words[i].start, t->words[i].end - t->words[i].start, itself);
}

/* Is the word behind "low" of the question said in the unit behind "high", and nowhere behind "low"? */
static bool is_the_opposite(const candidate_set *set, const candidate *c) {
    const question *q = &set->q;
    const candidate_passage *p = &set->passages[c->passage];
    const fact_text *asked = &q->text, *t = &p->text;
    for (size_t i = 0; i + 1 < asked->n_words; i++) {
        const uint64_t others = opposite_bits_of(asked, i, false);
        const int noun = term_at(q, i + 1);
        if (!others || noun < 0 || (asked->words[i + 1].flags & WORD_CLAUSE)) continue;
        const uint64_t own = opposite_bits_of(asked, i, true);
        bool opposite = false, same = false;
        for (size_t k = c->w0; k < c->w1; k++) {
            const uint64_t bits = opposite_bits_of(t, k, true);
            same |= (bits & own) != 0;
            opposite |= (bits & others) && k + 1 < c->w1 && p->terms[k + 1] == noun &&
                        !(t->words[k + 1].flags & WORD_CLAUSE);
        }
        if (opposite && !same) return true;
    }
    return false;
}

/* ---- said elsewhere, without a value --------------------------------------------------------------- */

/* What says how something is measured or paid, and of nothing what it is. */
static const char measures[] =
    "cost costs pay pays paid charge charges price prices fee fees much many long far heavy weigh "
    "weighs weight big high old deep wide take takes took last lasts happen happens time times "
    "date "
    "day days year years start starts begin begins end ends number amount rate total sum euros "
    "pounds dollars minutes hours";

/* The share of the question's other words that the terms hold. */
static double subject_share(const candidate_set *set, uint64_t subject, uint64_t terms) {
    const double all = question_share(&set->q, subject);
    return all > 0 ? question_share(&set->q, subject & terms) / all : 0;
}

static uint64_t subject_of(const question *q) {
    uint64_t subject = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int k = term_at(q, i);
        if (k >= 0 && fact_is_content(&q->text.words[i]) && !fact_word_in(&q->text, i, measures))
            subject |= 1ull << k;
    }
    return subject;
}

static bool speaks(const candidate *c) {
    return c->unit.kind == TEXT_UNIT_SENTENCE || c->unit.kind == TEXT_UNIT_ITEM;
}

/* Has a unit of another document no word of what is asked about, nor its passage? */
static bool is_of_none(const candidate_set *set, const candidate *c, uint64_t subject) {
    return !(subject & (known_of(set, c) | set->passages[c->passage].said));
}

/* "We might add a paid tier next year." says what is asked about, and no price; c, which stands before it, says no word of it, nor
 * does anything before c; or it is of another document, which says no word of it either. What stands behind it may go on of it. */
static bool is_said_elsewhere(const candidate_set *set, const candidate *c, uint64_t subject) {
    static const double most = .5, much = .6, all = .99;
    const candidate_passage *p = &set->passages[c->passage];
    const double own = subject_share(set, subject, known_of(set, c));
    bool elsewhere = false, away = false;
    if (own >= most || c->f[CAND_NO_AMOUNT] > 0 || c->f[CAND_TOPIC] > 0 || c->f[CAND_BY_TABLE] > 0)
        return false;
    const bool none = is_of_none(set, c, subject);
    for (size_t i = 0; i < set->n; i++) {
        const candidate *o = &set->c[i];
        if (!(o->set & subject)) continue; /* most say nothing of it */
        const double share = subject_share(set, subject, o->set);
        if (o == c || share < much || share < 2 * own) continue;
        const bool lacks = speaks(o) && o->f[CAND_NO_AMOUNT] > 0;
        if (!candidate_one_document(&set->passages[o->passage], p)) {
            if (!lacks) return false;
            away |= none && share > all;
        } else if (o->passage != c->passage || o->start < c->start || !lacks || !speaks(c)) {
            return false;
        } else {
            elsewhere = true;
        }
    }
    return elsewhere || away;
}

void sibling_things_mark(candidate_set *set) {
    const question *q = &set->q;
    const demands *d = &q->demands;
    if (d->language >= 0 || d->whether) return;
    const bool value = d->amount != AMOUNT_NONE || d->when; /* which a unit states or does not */
    const uint64_t subject = value ? subject_of(q) : 0;
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (c->f[CAND_OTHER_THING] >= CAND_RIVAL || c->unit.kind == TEXT_UNIT_HEADING) continue;
        if (is_the_opposite(set, c) ||
            (value && is_of_another_name(set, c, known_of(set, c), said_of(set, c))) ||
            (subject && is_said_elsewhere(set, c, subject)))
            c->f[CAND_OTHER_THING] = CAND_RIVAL;
    }
}
