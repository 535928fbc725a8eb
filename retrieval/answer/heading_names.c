#include "retrieval/answer/heading_names.h"

/* What a section of anything may be about: no name of a thing. */
static const char general[] =
    "general overview introduction summary contents notes note remarks information info about "
    "other others further more all everything everyone requirements options examples help contact "
    "contacts address prices price costs cost fees fee hours times dates rules policy basics terms "
    "questions appendix history team services conditions safety equipment";

enum { MOST_WORDS = 12 /* of a heading */, MOST_OF_A_NAME = 3 };

typedef struct heading {
    const candidate_passage *p;
    const text_unit *u;
    fact_sentence s;
    uint64_t terms; /* the question's */
    size_t depth;   /* signs before it, as in Markdown */
} heading;

static heading heading_of(const candidate_passage *p, const text_unit *u) {
    heading h = {p, u, candidate_words(&p->text, u->start, u->end),
                 candidate_terms(p, u->start, u->end), 0};
    uint32_t at = u->start;
    while (at > 0 && p->text.text[at - 1] != '\n') at--;
    while (at + h.depth < u->end && p->text.text[at + h.depth] == '#') h.depth++;
    return h;
}

/* Next content word from w on that is no number; s.w1: none. */
static uint32_t next_word(const heading *h, uint32_t w) {
    while (w < h->s.w1 && (!fact_is_content(&h->p->text.words[w]) ||
                           (h->p->text.words[w].flags & (WORD_DIGIT | WORD_NUMERAL))))
        w++;
    return w;
}

static bool says(const heading *h, uint64_t id) {
    return fact_says(&h->p->text, h->s.w0, h->s.w1, id);
}

/* First and last content words of a heading. */
typedef struct heading_ends {
    uint32_t first, last;
    size_t n; /* of content words; 0: there are none, nor first and last */
} heading_ends;

static heading_ends ends_of(const heading *h) {
    heading_ends e = {0};
    for (uint32_t w = next_word(h, h->s.w0); w < h->s.w1; w = next_word(h, w + 1)) {
        if (!e.n++) e.first = w;
        e.last = w;
    }
    return e;
}

/* Stands an article or the like before word w of a heading? */
static bool has_article(const heading *h, uint32_t w) {
    return w > h->s.w0 && fact_word_in(&h->p->text, w - 1, "a an any each every your our the");
}

/* "Damaged Bikes", "Returning a Bike" beside "City Bike", word v of what is asked about: the kind of thing, and none of its name. "The
 * Lantern Hours - Leeds" beside "The Lantern Hours - Glasgow" is called so. */
static bool is_of_the_kind(const heading *h, uint32_t w, const heading *asked, uint32_t v) {
    const fact_word *word = &h->p->text.words[w], *its = &asked->p->text.words[v];
    if (word->end - word->start > its->end - its->start) return true;
    return has_article(h, w) && !has_article(asked, v);
}

/* Do both begin, or end, with the same content word, as names of two things of a kind do? */
static bool are_alike(const heading *asked, const heading *other) {
    const heading_ends a = ends_of(asked), b = ends_of(other);
    if (!a.n || !b.n) return false;
    const fact_word *x = asked->p->text.words, *y = other->p->text.words;
    return (x[a.first].id == y[b.first].id && !is_of_the_kind(other, b.first, asked, a.first)) ||
           (x[a.last].id == y[b.last].id && !is_of_the_kind(other, b.last, asked, a.last));
}

static bool is_a_name(const fact_text *t, size_t i) {
    return (t->words[i].flags & WORD_CAPITAL) && !(t->words[i].flags & WORD_CALENDAR) &&
           !fact_word_in(t, i, general);
}

/* Does `other` bear a name that neither `asked` nor the question says? The first word of any heading has a capital: it is one where
 * the heading is built as the other is, "Heron Room" beside "Kestrel Room". */
static bool has_its_own_name(const heading *other, const heading *asked) {
    const bool built_alike = ends_of(other).n == ends_of(asked).n;
    for (uint32_t w = next_word(other, other->s.w0); w < other->s.w1; w = next_word(other, w + 1))
        if (other->p->terms[w] < 0 && (w > other->s.w0 || built_alike) &&
            is_a_name(&other->p->text, w) && !says(asked, other->p->text.words[w].id))
            return true;
    return false;
}

/* Is it a name of a thing and nothing else: one to three words with capitals that are the question's, or all others'? */
static bool is_name_alone(const heading *h, bool asked) {
    size_t n = 0;
    for (uint32_t w = h->s.w0; w < h->s.w1; w++) {
        const fact_word *word = &h->p->text.words[w];
        if (word->flags & WORD_PART) continue;
        if (++n > MOST_OF_A_NAME || !is_a_name(&h->p->text, w) || (h->p->terms[w] >= 0) != asked ||
            (word->flags & (WORD_STOP | WORD_DIGIT)))
            return false;
    }
    return n > 0;
}

/* Names and rare words of the question that are in one heading and not in the other. */
static uint64_t told_apart_by(const question *q, const heading *asked, const heading *other) {
    uint64_t names = 0;
    for (size_t k = 0; k < q->n_terms; k++)
        if (q->terms[k].name || q->terms[k].rare) names |= 1ull << k;
    return (other->terms & ~asked->terms) ? 0 : asked->terms & ~other->terms & names;
}

/* Is one of these terms a name, and no rare word alone? */
static bool have_a_name(const question *q, uint64_t terms) {
    for (size_t k = 0; k < q->n_terms; k++)
        if ((terms & 1ull << k) && q->terms[k].name) return true;
    return false;
}

/* The heading that unit i of a passage stands below, of the same depth as `like` where there are depths. */
static bool nearest_heading(const candidate_passage *p, size_t i, const heading *like,
                            heading *out) {
    while (i-- > 0) {
        if (p->units.v[i].kind != TEXT_UNIT_HEADING) continue;
        *out = heading_of(p, &p->units.v[i]);
        if (!like->depth || out->depth <= like->depth) return out->depth == like->depth;
    }
    return false;
}

/* Has a unit below the heading as much of the question as c? */
static bool says_as_much(const candidate_set *set, const heading *asked, const candidate *c) {
    for (size_t i = 0; i < set->n; i++) {
        const candidate *o = &set->c[i];
        heading h;
        if (&set->passages[o->passage] == asked->p && o->unit.kind != TEXT_UNIT_HEADING &&
            !(c->set & ~o->set) && nearest_heading(asked->p, o->order, asked, &h) &&
            h.u == asked->u)
            return true;
    }
    return false;
}

/* Sets apart what is below another heading than this, in its document. */
static void mark_others(candidate_set *set, const heading *asked) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        heading other;
        if (c->unit.kind == TEXT_UNIT_HEADING || c->f[CAND_OTHER_THING] >= CAND_RIVAL ||
            !candidate_one_document(p, asked->p) || !nearest_heading(p, c->order, asked, &other) ||
            other.s.w1 - other.s.w0 > MOST_WORDS)
            continue;
        const uint64_t names = told_apart_by(&set->q, asked, &other);
        if (!names || ((c->set | p->title | candidate_head_terms(p, &c->unit)) & names)) continue;
        const bool as_much = says_as_much(set, asked, c);
        /* "Parking Enforcement" may say of the permit what "Parking Permits" does not; "Heron Room" says nothing of the Kestrel Room */
        if (!as_much && !have_a_name(&set->q, names)) continue;
        if (are_alike(asked, &other) && has_its_own_name(&other, asked)) {
            if (c->set && as_much) c->f[CAND_OTHER_THING] = CAND_RIVAL;
            candidate_set_apart(c);
        } else if (c->set && as_much && is_name_alone(asked, true) &&
                   is_name_alone(&other, false)) {
            candidate_set_apart(c);
        }
    }
}

void heading_names_mark(candidate_set *set) {
    for (size_t k = 0; k < set->n_passages; k++) {
        const candidate_passage *p = &set->passages[k];
        for (size_t i = 0; i < p->units.n; i++) {
            if (p->units.v[i].kind != TEXT_UNIT_HEADING) continue;
            const heading h = heading_of(p, &p->units.v[i]);
            if (h.terms && h.s.w1 - h.s.w0 <= MOST_WORDS) mark_others(set, &h);
        }
    }
}
