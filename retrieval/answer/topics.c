#include "retrieval/answer/topics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/words.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/units/unit_pairs.h"

enum { FIRST_UNITS = 4 }; /* below a heading */

static const double later = 0.1; /* less for each unit behind the first */

/* ---- by words ---------------------------------------------------------------------------- */

/* Who gives a subject and asks nothing particular of it ("fire", "What do I do when there is a fire?") wants what its section
 * begins with. */
static bool asks_for_topic(const question *q) {
    return (q->kind == ASK_OTHER || q->kind == ASK_PLACE) && !q->exact.n_options &&
           q->demands.amount == AMOUNT_NONE && !q->demands.days;
}

/* How much bytes [start, end) of a passage are what the question is about: 1 where both say the same, less where they say one
 * word more, else 0. */
static double is_topic(const question *q, const candidate_passage *p, uint32_t start,
                       uint32_t end) {
    const fact_sentence s = candidate_words(&p->text, start, end);
    size_t more = 0;
    for (size_t i = s.w0; i < s.w1; i++)
        more += p->terms[i] < 0 && fact_is_content(&p->text.words[i]);
    if (more > 1 || question_share(q, candidate_terms(p, start, end)) < 0.999) return 0;
    return more ? 0.75 : 1;
}

static bool is_asked(const candidate_passage *p, const text_unit *u) {
    return u->kind == TEXT_UNIT_HEADING &&
           (p->text.text[u->end - 1] == '?' ||
            unit_pairs_is_question(p->text.text + u->start, u->end - u->start));
}

/* Two questions about the same words may ask for the time and for the place. */
static bool same_kind(const question *q, const candidate_passage *p, const text_unit *u) {
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    return question_kind_of(&p->text, s.w0, s.w1) == q->kind;
}

/* "What caused the fire?", "Why did it burn?" */
static bool asks_for_cause(const question *q) {
    return q->demands.reason ||
           word_tokens_say("cause caused causes reason reasons", q->text.text, q->text.len);
}

/* How many marks a heading has before it, "## Reasons"; 0: none tells its level. */
static size_t level_of(const candidate_passage *p, const text_unit *u) {
    size_t n = 0;
    while (u->start + n < u->end && p->text.text[u->start + n] == '#') n++;
    return n;
}

/* The question's terms in the headings that heading u stands under: those before it of a higher level, and where no marks tell
 * levels, those right above it and what the document begins with. */
static uint64_t terms_above(const candidate_passage *p, const text_unit *u) {
    size_t level = level_of(p, u);
    bool right_above = true;
    uint64_t terms = 0;
    for (size_t i = (size_t)(u - p->units.v); i-- > 0;) {
        const text_unit *h = &p->units.v[i];
        const size_t its = level_of(p, h);
        right_above &= h->kind == TEXT_UNIT_HEADING;
        if (h->kind != TEXT_UNIT_HEADING) continue;
        if (level ? !its || its >= level : !right_above && !(i == 0 && p->text.before == 0))
            continue;
        terms |= candidate_terms(p, h->start, h->end);
        level = its;
    }
    return terms;
}

/* What the question says besides that it asks for a cause. */
static uint64_t terms_but_causes(const question *q) {
    uint64_t terms = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k >= 0 && !fo_words_have_any_case("cause causes caused reason reasons",
                                              q->text.text + w->start, w->end - w->start))
            terms |= 1ull << k;
    }
    return terms;
}

/* "Root cause", "Reasons for it": what stands below says why, if its title or the headings that it stands under say what the
 * question is about. Other sections may be about that too. */
static bool heads_causes(const question *q, const candidate_passage *p, const text_unit *u) {
    static const double much = 0.5;
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    bool causes = false;
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &p->text.words[i];
        const char *word = p->text.text + w->start;
        const size_t n = w->end - w->start;
        causes |= fo_words_have_any_case("cause causes reason reasons", word, n);
        if (fact_is_content(w) &&
            !fo_words_have_any_case("root main likely probable cause causes reason reasons", word,
                                    n))
            return false;
    }
    const uint64_t above = p->title | terms_above(p, u), asked = terms_but_causes(q);
    return causes && question_share(q, above & asked) >= much * question_share(q, asked);
}

static double of_heading(const question *q, const candidate_passage *p, const text_unit *u) {
    if (is_asked(p, u)) return same_kind(q, p, u) ? is_topic(q, p, u->start, u->end) : 0;
    if (asks_for_cause(q) && heads_causes(q, p, u)) return 1;
    const double of_a_section =
        q->defines ? 0.6 : 1; /* what the term means may be said more plainly elsewhere */
    return asks_for_topic(q) ? of_a_section * is_topic(q, p, u->start, u->end) : 0;
}

/* Does the question name the first cell of a row, all of it, and nothing else but its column? */
static bool is_named(const question *q, const candidate_passage *p, const table_pair *term) {
    const uint64_t said = candidate_terms_at(p, term->value, term->n_value);
    const uint64_t column =
        term->name && said ? candidate_terms_at(p, term->name, term->n_name) : 0;
    const uint32_t start = (uint32_t)(term->value - p->text.text);
    const fact_sentence s = candidate_words(&p->text, start, start + (uint32_t)term->n_value);
    for (size_t i = s.w0; i < s.w1; i++)
        if (p->terms[i] < 0 && fact_is_content(&p->text.words[i])) return false;
    return question_share(q, said | column) >= 0.999;
}

/* "chunk | a stretch of a document": the first cell is the term, perhaps with what its column is called ("port 5000"). */
static double of_row(const question *q, const candidate_passage *p, const text_unit *u) {
    enum { FEWEST = 4 }; /* words that explain */
    row_walk walk = {0};
    table_pair term, next;
    if (!row_cell_next(&walk, p, u, &term) || !row_cell_next(&walk, p, u, &next)) return 0;
    const uint32_t cell = (uint32_t)(term.value - p->text.text) + (uint32_t)term.n_value;
    const fact_sentence rest = candidate_words(&p->text, cell, u->end);
    size_t n_words = 0;
    for (size_t i = rest.w0; i < rest.w1; i++)
        n_words += !(p->text.words[i].flags & (WORD_DIGIT | WORD_PART));
    return n_words >= FEWEST && is_named(q, p, &term) ? 1 : 0;
}

/* "A chunk is a stretch of a document." */
static double of_sentence(const question *q, const candidate_passage *p, const text_unit *u) {
    enum { LONGEST_TERM = 8 };
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    for (size_t i = s.w0; i < s.w1 && i < s.w0 + LONGEST_TERM; i++) {
        const fact_word *w = &p->text.words[i];
        if (!fo_words_have("is are means", p->text.text + w->start, w->end - w->start)) continue;
        return is_topic(q, p, u->start, w->start) == 1 ? 0.9 : 0;
    }
    return 0;
}

/* Is heading u that of the text which says what the page is about? */
static bool heads_description(const candidate_passage *p, const text_unit *u) {
    return u->end - u->start == 11 && !memcmp(p->text.text + u->start, "DESCRIPTION", 11);
}

void topics_of_words(const question *q, const candidate_passage *p, double *topic) {
    const bool bare = asks_for_topic(q), defines = bare && q->defines;
    const bool own = defines && topics_may_lead(q) && p->command && p->text.before == 0 &&
                     topics_name_page(q, p->title_text);
    bool described = false;
    size_t left = 0;
    double heading = 0;
    uint32_t end = 0; /* of what was counted: the items of a procedure stand within it */
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        topic[i] = 0;
        if (u->named) continue; /* its items are counted */
        if (u->kind == TEXT_UNIT_HEADING) {
            heading = of_heading(q, p, u);
            described = own && heads_description(p, u);
            left = heading > 0 ? FIRST_UNITS : 0;
        } else if (u->kind == TEXT_UNIT_DEFINITION && u->body > u->start) {
            if (bare) topic[i] = is_topic(q, p, u->start, u->body);
            left = 0;
        } else if (u->kind == TEXT_UNIT_ROW || u->kind == TEXT_UNIT_HEADER) {
            if (defines && u->kind == TEXT_UNIT_ROW) topic[i] = of_row(q, p, u);
            left = 0;
        } else if (left && u->start >= end) {
            topic[i] = heading * (1 - later * (double)(FIRST_UNITS - left));
            left--;
            end = u->end;
        } else if (defines && u->kind == TEXT_UNIT_SENTENCE) {
            topic[i] = described ? 1 : of_sentence(q, p, u);
            described = false;
        }
    }
}

bool topics_name_page(const question *q, const char *title) {
    const char *text = q->text.text;
    bool named = false;
    for (size_t k = 0; k < q->text.n_words; k++) {
        const fact_word *w = &q->text.words[k];
        char word[32];
        const size_t n = w->end - w->start;
        if (question_term_of(q, w->id) < 0) continue;
        if (n >= sizeof word) return false;
        memcpy(word, text + w->start, n);
        word[n] = '\0';
        if (!word_tokens_say(word, title, strlen(title))) return false;
        named |= exact_names_command_is(title, word, n);
    }
    return named && !exact_names_is_capital(title);
}

bool topics_may_lead(const question *q) {
    enum { MOST_TERMS = 3 };
    return asks_for_topic(q) && q->defines && q->n_terms <= MOST_TERMS;
}

int topics_of_passage(double *most, const question *q, const lexicon *lx, const passage *from,
                      fo_err *err) {
    candidate_passage p = {0};
    double *topic = NULL;
    *most = 0;
    int rc = candidate_passage_read(&p, q, lx, from, false, err);
    if (!rc && !(topic = calloc(p.units.n + 1, sizeof *topic)))
        rc = fo_fail(err, FO_ENOMEM, "out of memory for the units");
    if (!rc) topics_of_words(q, &p, topic);
    for (size_t i = 0; !rc && i < p.units.n; i++) *most = fmax(*most, topic[i]);
    free(topic);
    candidate_passage_deinit(&p);
    return rc;
}

/* ---- by the reader ----------------------------------------------------------------------- */

static double share_between(double x, double least, double sure) {
    return fmin(1, fmax(0, (x - least) / (sure - least)));
}

/* How much a question of a page is the question in other words: both as a whole, and its weightiest words each. Of 14 in other
 * words than the page's, those that it answered came to .55 and .45 and more; of 16 about other things four did. */
static double is_same(const candidate *heading) {
    const double near = (heading->f[CAND_ALIGN] + heading->f[CAND_ALIGN_BACK]) / 2;
    return share_between(near, 0.52, 0.62) *
           share_between(heading->f[CAND_ALIGN_LEAST], 0.36, 0.46);
}

/* ---- things that only one of two questions names ---- */

enum { MOST_BYTES = 256 };

typedef struct things {
    char text[MOST_BYTES]; /* words, divided by blanks */
    size_t len;
    uint64_t terms; /* of the question, among them */
} things;

static void add_word(things *t, const fact_text *from, const fact_word *w) {
    const size_t n = w->end - w->start;
    if (t->len + n + 1 > sizeof t->text) return;
    memcpy(t->text + t->len, from->text + w->start, n);
    t->len += n;
    t->text[t->len++] = ' ';
}

/* What the question names and the heading does not; how they ask for it may differ, so that verbs are left out. */
static void named_by_question(things *out, const question *q, const fact_text *page,
                              fact_sentence heading) {
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        if (!question_names_thing(&q->text, i)) continue;
        if (fact_says(page, heading.w0, heading.w1, w->id)) continue;
        add_word(out, &q->text, w);
        const int term = question_term_of(q, w->id);
        if (term >= 0) out->terms |= 1ULL << term;
    }
}

static void said_by_heading(things *out, const question *q, const fact_text *page,
                            fact_sentence heading) {
    for (size_t k = heading.w0; k < heading.w1; k++)
        if (fact_is_content(&page->words[k]) && !question_only_asks(page, k) &&
            !question_says(q, page->words[k].id))
            add_word(out, page, &page->words[k]);
}

typedef struct comparison {
    double nearness; /* 1 where neither names what the other one does not */
    uint64_t asked;  /* terms of the question that the heading has not */
} comparison;

/* "What happens if I lose a document?" is word by word the page's "What happens if I lose a key?" but for what is lost. Read alone,
 * "RAM" comes to "memory" as .71, "disk" to "memory" as .38, "document" to "key" as .16. */
static int compare_things(comparison *out, const question *q, const candidate_passage *p,
                          const candidate *heading, const extractive_input *in, fo_err *err) {
    things asked = {0}, said = {0};
    const fact_sentence words = candidate_words(&p->text, heading->start, heading->end);
    named_by_question(&asked, q, &p->text, words);
    said_by_heading(&said, q, &p->text, words);
    *out = (comparison){1, asked.terms};
    if (!asked.len || !said.len) return FO_OK;
    const char *texts[] = {asked.text, said.text};
    reader_text *read[2] = {0};
    int rc = reader_encode(in->reader, texts, (const size_t[]){asked.len, said.len}, 2, in->cancel,
                           read, err);
    if (rc) return rc;
    const size_t tokens = reader_text_tokens(read[0]);
    const reader_part part = {read[1], 0, (uint32_t)reader_text_tokens(read[1]), 1};
    float best[READER_MAX_TOKENS], sum = 0;
    rc = reader_align(read[0], &(reader_unit){&part, 1}, 1, best, err);
    for (size_t i = 0; !rc && i < tokens; i++) sum += best[i];
    if (!rc && tokens) out->nearness = (double)sum / (double)tokens;
    reader_texts_release(read, 2);
    return rc;
}

static bool stands_below(const candidate *c, const candidate *heading) {
    return c->passage == heading->passage && c->unit.kind != TEXT_UNIT_HEADING &&
           (c->unit.head_kind == TEXT_UNIT_HEADING || c->unit.nested) &&
           candidate_below(&c->unit) == heading->unit.end;
}

/* The first units below a heading are more of an answer than those behind. */
static void raise_below(candidate_set *set, const candidate *heading, double same) {
    size_t n = 0;
    uint32_t end = 0;
    for (size_t i = 0; i < set->n && n < FIRST_UNITS; i++) { /* in the order of their start */
        candidate *c = &set->c[i];
        if (!stands_below(c, heading) || c->start < end) continue;
        c->f[CAND_TOPIC] = fmax(c->f[CAND_TOPIC], same * (1 - later * (double)n++));
        end = c->end;
    }
}

/* Below a heading that asks about another thing, save for what names the question's own. */
static void lower_below(candidate_set *set, const candidate *heading, const comparison *with) {
    const double other = 1 - share_between(with->nearness, 0.25, 0.4);
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (!stands_below(c, heading)) continue;
        const candidate_passage *p = &set->passages[c->passage];
        if (!(candidate_terms(p, c->start, c->end) & with->asked)) c->f[CAND_OTHER_THING] = other;
    }
}

/* "Combien et combien de temps ?" says nothing of what is asked for: it is no question that another one could be. */
static bool says_something(const fact_text *page, const candidate *heading) {
    const fact_sentence s = candidate_words(page, heading->start, heading->end);
    for (size_t i = s.w0; i < s.w1; i++)
        if (fact_is_content(&page->words[i]) && !question_only_asks(page, i)) return true;
    return false;
}

int topics_of_reading(candidate_set *set, const extractive_input *in, fo_err *err) {
    static const double alike = 0.4; /* of headings that come less near nothing is said */
    const candidate *best = NULL;
    double most = 0;
    for (size_t i = 0; i < set->n; i++) {
        const candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (!is_asked(p, &c->unit) || c->f[CAND_ALIGN] < alike ||
            !same_kind(&set->q, p, &c->unit) || !says_something(&p->text, c))
            continue;
        comparison with;
        int rc = compare_things(&with, &set->q, p, c, in, err);
        if (rc) return rc;
        lower_below(set, c, &with);
        const double same = is_same(c) * share_between(with.nearness, 0.3, 0.45);
        if (same <= most) continue;
        best = c;
        most = same;
    }
    if (best) raise_below(set, best, most);
    return FO_OK;
}
