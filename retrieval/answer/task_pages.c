#include "retrieval/answer/task_pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/answer/cross_reading.h"
#include "retrieval/text/task_titles.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/units/unit_headings.h"

static bool asks_how(const question *q) {
    return q->text.language < 0 && question_asks_how(q);
}

/* "Can I log in without a password?", "Where do I change my address?", "I want to stop paying", "forgot my password". */
static bool may_ask_how(const question *q) {
    const fact_text *t = &q->text;
    if (t->language >= 0 || t->n_words < 3 || q->demands.amount != AMOUNT_NONE) return false;
    if (fact_word_in(t, 0, "can could")) return fact_word_in(t, 1, "i we you one");
    if (fact_word_in(t, 0, "where"))
        return fact_word_in(t, 1, "do can could") && fact_word_in(t, 2, "i we you one");
    if (memchr(t->text, '?', t->len) || q->kind != ASK_OTHER) return false;
    bool own = false; /* somebody tells of what is theirs, and asks nothing */
    for (size_t i = 0; i < t->n_words; i++) own |= fact_word_in(t, i, "i my we our");
    return own &&
           !fact_word_in(
               t, 0, "what why who when which whose is are am do does did will may must should");
}

/* Does the page, whose title or heading says the opposite, nowhere tell the side that is asked for? NULL: it says no opposite. */
static bool lacks(const candidate_passage *p, const char *side) {
    return side && !word_tokens_say(side, p->text.text, p->text.len);
}

/* How much less the nearness counts of a title or heading that does not say what is asked: "Blocking a member", where unblocking is
 * asked for, and "What is a virtual machine?" of a page about the thing. */
static const double opposite = 0.3, about_it = 0.15;

static void title_passage(candidate_passage *p, const char *asked, double cosine) {
    const bool lacking = lacks(p, task_title_opposes(p->title_text, asked));
    p->tells_task = !lacking && task_title_names_one(p->title_text);
    p->titled = cosine - (lacking ? opposite : task_title_asks_else(p->title_text) ? about_it : 0);
}

/* The passage whose title is nearest to the question; NULL: of none it is known. */
static const candidate_passage *nearest(const candidate_set *set) {
    const candidate_passage *best = NULL;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (isfinite(p->titled) && (!best || p->titled > best->titled)) best = p;
    }
    return best;
}

void task_pages_ask(candidate_set *set, const extractive_input *in) {
    static const double near = 0.5;
    const bool how = asks_how(&set->q), may = how || may_ask_how(&set->q);
    for (size_t i = 0; i < set->n_passages; i++) {
        candidate_passage *p = &set->passages[i];
        const bool known = in->titled && p->title_text[0];
        p->titled = NAN;
        if (may) title_passage(p, in->question, known ? (double)in->titled[i] : NAN);
    }
    const candidate_passage *of = may && !how ? nearest(set) : NULL;
    if (of && of->titled >= near && task_title_names_one(of->title_text)) set->q.procedure = true;
}

/* ---- headings ---------------------------------------------------------------------------- */

enum { HEADINGS = 32, LONGEST = UNIT_HEADING_BYTES };

/* Headings that name a task. */
typedef struct task_headings {
    size_t n;
    const char *text[HEADINGS];
    size_t len[HEADINGS];
    float cosine[HEADINGS];
    const char *opposes[HEADINGS]; /* task_title_opposes */
} task_headings;

static size_t find(const task_headings *h, const char *s, size_t n) {
    size_t i = 0;
    while (i < h->n && (h->len[i] != n || memcmp(h->text[i], s, n) != 0)) i++;
    return i;
}

static void add_heading(task_headings *h, const char *asked, const char *s, size_t n) {
    char title[LONGEST + 1];
    if (h->n == HEADINGS || !n || n > LONGEST || find(h, s, n) < h->n) return;
    memcpy(title, s, n);
    title[n] = '\0';
    if (!task_title_names_one(title)) return;
    h->text[h->n] = s;
    h->len[h->n] = n;
    h->opposes[h->n++] = task_title_opposes(title, asked);
}

static void gather(task_headings *h, const candidate_set *set, const char *asked) {
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (p->command) continue;
        add_heading(h, asked, p->heading, strlen(p->heading));
        for (size_t k = 0; k < p->units.n; k++) {
            const text_unit *u = &p->units.v[k];
            if (u->kind == TEXT_UNIT_HEADING)
                add_heading(h, asked, p->text.text + u->start, u->end - u->start);
        }
    }
}

/* Vectors have unit length. */
static int compare(task_headings *h, const char *asked, embedder *encoder, fo_err *err) {
    const size_t dim = embedder_dim(encoder), n_asked = strlen(asked);
    float *vectors = malloc((h->n + 1) * dim * sizeof *vectors), *v = vectors;
    if (!vectors) return fo_no_memory(err);
    int rc = embedder_embed(encoder, EMBED_QUERY, &asked, &n_asked, 1, vectors, err);
    if (!rc) rc = embedder_embed(encoder, EMBED_PASSAGE, h->text, h->len, h->n, vectors + dim, err);
    for (size_t i = 0; !rc && i < h->n; i++) {
        v += dim;
        h->cosine[i] = 0;
        for (size_t k = 0; k < dim; k++) h->cosine[i] += vectors[k] * v[k];
    }
    free(vectors);
    return rc;
}

/* The heading that the candidate stands under: the last one before it, or what its passage begins under. *n: 0 where there is none. */
static const char *heading_of(const candidate_passage *p, const candidate *c, size_t *n) {
    const char *heading = p->heading;
    *n = strlen(heading);
    for (size_t i = 0; i < p->units.n && p->units.v[i].end <= c->start; i++) {
        const text_unit *u = &p->units.v[i];
        if (u->kind != TEXT_UNIT_HEADING) continue;
        heading = p->text.text + u->start;
        *n = u->end - u->start;
    }
    return heading;
}

/* By the title of its page or by its section's heading, whichever comes nearer. */
static void title_candidate(candidate *c, const candidate_passage *p, const task_headings *h) {
    size_t n;
    const char *heading = heading_of(p, c, &n);
    const size_t of = find(h, heading, n);
    c->titled = p->titled;
    c->under_task = p->tells_task;
    c->under = (candidate_heading){p->title_text, strlen(p->title_text)};
    if (of == h->n || (n == c->under.len && !memcmp(heading, p->title_text, n))) return;
    const bool lacking = lacks(p, h->opposes[of]);
    const double its = (double)h->cosine[of] - (lacking ? opposite : 0);
    if (isfinite(p->titled) && p->titled >= its) return;
    c->titled = its;
    c->under_task = !lacking;
    c->under = (candidate_heading){heading, n};
}

int task_pages_read(candidate_set *set, const extractive_input *in, fo_err *err) {
    static const double near = 0.4; /* farther ones are nearest by chance */
    task_headings h = {0};
    for (size_t i = 0; i < set->n; i++) set->c[i].titled = NAN;
    if (!set->n || !asks_how(&set->q)) return FO_OK;
    if (in->encoder) gather(&h, set, in->question);
    const int rc = h.n ? compare(&h, in->question, in->encoder, err) : FO_OK;
    if (rc) return rc;
    double most = near;
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (p->command) continue;
        title_candidate(c, p, &h);
        if (isfinite(c->titled)) most = fmax(most, c->titled);
    }
    const candidate_passage *of = nearest(set);
    if (of && of->command && of->titled >= most) {
        /* which command is meant is told by meant_commands.h */
        for (size_t i = 0; i < set->n; i++) set->c[i].titled = NAN;
        return FO_OK;
    }
    for (size_t i = 0; most > near && i < set->n; i++)
        if (isfinite(set->c[i].titled)) set->c[i].f[CAND_TASK] = set->c[i].titled - most;
    return FO_OK;
}

static bool one_section(const candidate *a, const candidate *b) {
    return a->under.len == b->under.len && memcmp(a->under.text, b->under.text, a->under.len) == 0;
}

/* The place of the procedure of the section that the first candidate, a sentence or a step, stands in; n: there is none. */
static size_t steps_of(const candidate_set *set, const candidate *best) {
    static const double near = 0.45;
    const bool of_it = best->unit.kind == TEXT_UNIT_SENTENCE || best->unit.kind == TEXT_UNIT_ITEM;
    size_t i = 0;
    if (!asks_how(&set->q) || !best->under_task || !of_it || !(best->titled >= near)) return set->n;
    while (i < set->n && !(set->c[i].unit.kind == TEXT_UNIT_STEPS &&
                           set->c[i].passage == best->passage && one_section(best, &set->c[i])))
        i++;
    return i;
}

/* Is the sentence an answer by itself, and far likelier than the steps are? */
static bool says_it_itself(const candidate *best, const candidate *steps) {
    static const double ahead = 3;
    const double cross = cross_reading_of(best);
    return best->unit.kind == TEXT_UNIT_SENTENCE && cross > 0 &&
           cross > cross_reading_of(steps) + ahead;
}

void task_pages_put_steps_first(candidate_set *set) {
    const size_t i = steps_of(set, &set->c[0]);
    if (i >= set->n || says_it_itself(&set->c[0], &set->c[i])) return;
    const candidate steps = set->c[i];
    memmove(set->c + 1, set->c, i * sizeof *set->c);
    set->c[0] = steps;
}

size_t task_pages_steps_beside(const candidate_set *set, size_t most, size_t max_chars,
                               candidate *chosen, size_t n) {
    const size_t i = n && most > 1 ? steps_of(set, &chosen[0]) : set->n;
    if (i >= set->n) return n;
    const candidate *steps = &set->c[i];
    size_t kept = 1;
    if (chosen[0].end - chosen[0].start + steps->end - steps->start > max_chars) return n;
    for (size_t k = 0; k < n; k++)
        if (chosen[k].passage == steps->passage && chosen[k].start < steps->end &&
            chosen[k].end > steps->start)
            return n; /* they, or some of them, are there */
    chosen[kept++] = *steps;
    return kept;
}

double task_pages_support(const candidate_set *set) {
    const candidate *best = &set->c[0];
    if (!isfinite(best->titled) || task_title_asks_else(set->passages[best->passage].title_text))
        return 0;
    double other = -1;
    for (size_t i = 1; i < set->n; i++)
        if (isfinite(set->c[i].titled) && !one_section(best, &set->c[i]))
            other = fmax(other, set->c[i].titled);
    const double ahead = best->titled - other;
    if (!best->under_task) {
        /* "Slideshows", "Percentages": of what is not done in 1,270 questions about files none came so near */
        static const double weight = 12, least = 0.52, most = 2.5, level = -0.05;
        return ahead < level ? 0 : fmax(0, fmin(most, weight * (best->titled - least)));
    }
    /* Fitted on 194 questions about three programs' help, 33 of them foreign. Another page's nearer title is no reason against what is
     * read as an answer. */
    static const double near_weight = 6.3, ahead_weight = 7.7, least = -3, most_ahead = 0.3,
                        most = 3.5;
    const double lowest = set->crossed && cross_reading_of(best) > 0 ? 0 : -1;
    const double x = least + near_weight * best->titled + ahead_weight * fmin(most_ahead, ahead);
    return fmax(lowest, fmin(most, x));
}
