#include "retrieval/answer/contact_cards.h"

#include <string.h>

#include "kernels/words.h"

enum { MOST_CARDS = 128 /* of a passage */ };

typedef struct card {
    uint32_t start, end;  /* bytes of the passage's text */
    uint64_t name, roles; /* terms of the question */
} card;

typedef struct line {
    uint32_t start, end;
} line;

/* The next line that is not empty, from byte *at on, which moves behind it. */
static bool next_line(const fact_text *t, uint32_t *at, line *out) {
    while (*at < t->len && t->text[*at] == '\n') ++*at;
    if (*at >= t->len) return false;
    const char *end = memchr(t->text + *at, '\n', t->len - *at);
    *out = (line){*at, end ? (uint32_t)(end - t->text) : (uint32_t)t->len};
    *at = out->end;
    return true;
}

/* Does one of the fields of a card stand in the line: "Telephone (mobile): ..."? */
static bool is_field(const fact_text *t, const line *l, const char *fields) {
    const char *s = t->text + l->start, *colon = memchr(s, ':', l->end - l->start);
    if (!colon) return false;
    const char *bracket = memchr(s, '(', (size_t)(colon - s));
    const char *end = bracket && bracket > s + 1 ? bracket - 1 : colon;
    return fo_words_have(fields, s, (size_t)(end - s));
}

static const char fields[] =
    "Organization Title Role Telephone Email Address URL Birthday Anniversary Nickname";
static const char role_fields[] = "Organization Title Role";

/* The cards of a passage: a line of its own, and fields below it. What stands before the first one is of none. */
static size_t cards_of(const candidate_passage *p, card *out) {
    const fact_text *t = &p->text;
    size_t n = 0;
    line before = {0}, l;
    bool was_field = true; /* nothing stands before the first line */
    for (uint32_t at = 0; next_line(t, &at, &l); before = l) {
        const bool field = is_field(t, &l, fields);
        if (field && !was_field && n < MOST_CARDS) {
            if (n) out[n - 1].end = before.start;
            out[n++] = (card){.start = before.start,
                              .end = (uint32_t)t->len,
                              .name = candidate_terms(p, before.start, before.end)};
        }
        if (field && n && is_field(t, &l, role_fields))
            out[n - 1].roles |= candidate_terms(p, l.start, l.end);
        was_field = field;
    }
    return n;
}

/* Marks what is in cards of p that have none of the terms in their name or, `by_role`, in what they say that somebody is. */
static void mark_others(candidate_set *set, size_t index, const card *cards, size_t n,
                        uint64_t asked, bool by_role) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (c->passage != index || (c->set & asked)) continue;
        for (size_t k = 0; k < n; k++)
            if (c->unit.start >= cards[k].start && c->unit.start < cards[k].end &&
                !((by_role ? cards[k].roles | cards[k].name : cards[k].name) & asked))
                c->f[CAND_OTHER_THING] = CAND_RIVAL;
    }
}

/* All that cards of the passage's document have of the question. */
static uint64_t terms_of_cards(const candidate_set *set, const candidate_passage *of, bool roles) {
    uint64_t terms = 0;
    card cards[MOST_CARDS];
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (!candidate_one_document(p, of)) continue;
        const size_t n = cards_of(p, cards);
        for (size_t k = 0; k < n; k++) terms |= roles ? cards[k].roles : cards[k].name;
    }
    return terms;
}

void contact_cards_mark(candidate_set *set) {
    card cards[MOST_CARDS];
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        const size_t n = cards_of(p, cards);
        if (!n) continue;
        uint64_t asked = terms_of_cards(set, p, false);
        const bool by_role = !asked;
        if (by_role) asked = terms_of_cards(set, p, true);
        if (asked) mark_others(set, i, cards, n, asked, by_role);
    }
}
