/* Sentences are ranked by a linear model of what candidates.h measures; its scores are the logits
 * of "this sentence holds the answer" over all sentences of the passages, and sentences far behind
 * the best are left out. Weights: docs/measurements/answers.md. */
#include "retrieval/answer/extractive.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/candidates.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/demand_days.h"
#include "retrieval/answer/foreign_marks.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/table_row.h"

enum { DEFAULT_SENTENCES = 3, DEFAULT_CHARS = 1200, MAX_SENTENCES = 64 };

/* How far behind the best a sentence may be: e^-3.9, a fiftieth of its probability. */
static const double keep_within = 3.9;
/* A row, an option, an item beside a better one is more often another thing than more of the same. */
static const double keep_entry_within = 3;
/* An option beside the one that was asked for does another thing. */
static const double keep_option_within = 2;
/* Log odds of the cross-encoder, of a further unit and behind the best: what hardly answers, or far less likely than what is
 * said already, is beside the point. */
static const double keep_cross = -1, keep_cross_within = 3;
/* Two sentences that share more than this of their words say the same. */
static const double same_text = 0.9;

/* The fitted rows have no questions and no fragments in their text, and no options in their questions:
 * those weights are set by hand. */
static const double weights_words[CAND_FEATURES] = {
    [CAND_COVER] = 11.62,       [CAND_NEIGHBOURS] = 6.36, [CAND_PAIRS] = 1.74,
    [CAND_TYPE] = 1.57,         [CAND_TYPE_NEAR] = 1.46,  [CAND_FIRST] = 0.44,
    [CAND_MISSING_RARE] = 2.44, [CAND_SPARSE] = 5.12,     [CAND_QUESTION] = -6,
    [CAND_FRAGMENT] = -3,       [CAND_STEPS] = 3,         [CAND_STEP] = -2,
    [CAND_ENTRY] = 2,           [CAND_LENGTH] = -1,       [CAND_OPTION] = 8,
    [CAND_MISSING_CODE] = -14,
};
static const double weights_dense[CAND_FEATURES] = {
    [CAND_COVER] = 11.52,       [CAND_NEIGHBOURS] = 7.30, [CAND_PAIRS] = 1.51,
    [CAND_TYPE] = 1.89,         [CAND_TYPE_NEAR] = 0.28,  [CAND_FIRST] = 0.35,
    [CAND_MISSING_RARE] = 2.76, [CAND_SPARSE] = 3.21,     [CAND_DENSE_PASSAGE] = 0.58,
    [CAND_DENSE] = 0.52,        [CAND_QUESTION] = -6,     [CAND_FRAGMENT] = -3,
    [CAND_STEPS] = 3,           [CAND_STEP] = -2,         [CAND_ENTRY] = 2,
    [CAND_LENGTH] = -1,         [CAND_OPTION] = 8,        [CAND_MISSING_CODE] = -14,
};

extractive_observer_fn *extractive_observer;

static int by_score_falling(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    if (x->passage != y->passage) return x->passage < y->passage ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static const double weights_reader[CAND_FEATURES] = {
    [CAND_COVER] = 4.49,       [CAND_NEIGHBOURS] = 4.27,
    [CAND_PAIRS] = 1.17,       [CAND_TYPE_NEAR] = 1.18,
    [CAND_SPARSE] = 0.41,      [CAND_ALIGN] = 19.55,
    [CAND_ALIGN_LEAST] = 3.25, [CAND_ALIGN_PASSAGE] = 2.55,
    [CAND_ALIGN_BACK] = 6.72,  [CAND_ENTRY] = 3.39,
    [CAND_SUMMARY] = 3.39,     [CAND_QUESTION] = -6,
    [CAND_FRAGMENT] = -3,      [CAND_STEPS] = 3,
    [CAND_STEP] = -2,          [CAND_MISSING_NAME] = -2,
    [CAND_MISSING_CODE] = -14, [CAND_OPTION] = 8,
};

/* By hand, whatever the model: the fitted questions name no days, and a text that holds their other words
 * nearly always states a number too. */
static double demands_met(const candidate *c) {
    return 8 * c->f[CAND_TOPIC] + 2 * c->f[CAND_DAY] - 4 * c->f[CAND_OTHER_DAY] -
           4 * c->f[CAND_OTHER_THING] - 6 * c->f[CAND_NO_AMOUNT] - 6 * c->f[CAND_NO_PLACE] -
           3 * c->f[CAND_RUN_ON];
}

/* A line that names what follows is no answer, however well it meets the question. */
static bool names_only(const candidate *c) {
    return c->f[CAND_FRAGMENT] >= 1 &&
           (c->unit.kind == TEXT_UNIT_HEADING || c->unit.kind == TEXT_UNIT_HEADER);
}

static void rank_candidates(candidate_set *set) {
    const double *w = set->read ? weights_reader : set->dense ? weights_dense : weights_words;
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        c->score = demands_met(c) - (names_only(c) ? 1000 : 0);
        for (size_t k = 0; k < CAND_FEATURES; k++) c->score += w[k] * c->f[k];
    }
    qsort(set->c, set->n, sizeof *set->c, by_score_falling);
}

/* Beside the score of all else; what was not read with the question counts like what hardly answers. */
static const double cross_weight = 0.7, cross_unread = -6;

/* "chown - change file owner and group" says all of "How do I change the owner of a file?": that command does it. */
static bool names_the_command(const candidate *c) {
    return c->f[CAND_SUMMARY] > 0 && c->f[CAND_COVER] > 0.99;
}

/* No text like those that the cross-encoder learnt from says so in a line of its own. */
static double cross_of(const candidate *c) {
    const double cross = isfinite(c->cross) ? c->cross : cross_unread;
    return names_the_command(c) ? fmax(cross, 0) : cross;
}

static void rank_again(candidate_set *set) {
    for (size_t i = 0; i < set->n; i++) set->c[i].score += cross_weight * cross_of(&set->c[i]);
    qsort(set->c, set->n, sizeof *set->c, by_score_falling);
}

/* ---- support ----------------------------------------------------------------------------- */

static void measure_support(support_features *f, const candidate_set *set,
                            const extractive_input *in) {
    const candidate *best = &set->c[0];
    double top = 0, sum = 0, cosine = -1;
    for (size_t i = 0; i < set->n_passages; i++) {
        top = fmax(top, set->passages[i].bm25);
        sum += set->passages[i].bm25;
        if (isfinite(in->passages[i].dense)) cosine = fmax(cosine, in->passages[i].dense);
    }
    *f = (support_features){
        .cover = best->f[CAND_COVER],
        .cover_near = best->f[CAND_COVER] + best->f[CAND_NEIGHBOURS],
        .missing_code = best->f[CAND_MISSING_CODE],
        .option = best->f[CAND_OPTION],
        .no_amount = best->f[CAND_NO_AMOUNT],
        .no_place = best->f[CAND_NO_PLACE],
        .other_day = best->f[CAND_OTHER_DAY],
        .other_thing = best->f[CAND_OTHER_THING],
        .run_on = best->f[CAND_RUN_ON],
        .question = best->f[CAND_QUESTION],
        .topic = best->f[CAND_TOPIC],
        .summary = names_the_command(best),
        .bm25 = set->passages[best->passage].bm25,
        .missing_names = best->f[CAND_MISSING_NAME],
        .best_idf = best->f[CAND_BEST_IDF],
        .pairs = best->f[CAND_PAIRS],
        .lead = 0.45, /* the mean of the calibration set, where there is nothing to compare with */
        .dense = NAN,
        .align = NAN,
        /* Of the unit that is to be said: that another one may answer is no reason to say this one. */
        .cross = set->crossed ? cross_of(best) : NAN,
    };
    f->other_script = !set->read && language_has_other_script(analyzer_language(in->lx->analyzer));
    if (set->read) {
        f->align = best->f[CAND_ALIGN];
        f->back = best->f[CAND_ALIGN_BACK];
        f->follow_up = in->follow_up;
    }
    if (set->n_passages > 1 && top > 0)
        f->lead = (top - (sum - top) / (double)(set->n_passages - 1)) / top;
    double floor = in->dense_floor;
    if (set->dense && cosine > -1 && isfinite(floor) && floor != 0 && floor < 1)
        f->dense = fmax(0, (cosine - floor) / (1 - floor));
}

/* One unit that is well ahead and well supported, or nothing near an answer: a closer look changes neither (a fifth of
 * SQuAD's questions, a tenth of those in other words, and no answer of them was another). */
static bool is_decided(const candidate_set *set, const support_features *f) {
    static const double clearly = .88, hardly = .0067, ahead = 1;
    const double support = support_probability(f);
    const bool alone = set->n < 2 || set->c[0].score - set->c[1].score > ahead;
    return support < hardly || (support > clearly && alone);
}

/* What it would say, where what is decided is not read again: about half as sure as the words are, by which support is
 * right as often as it says (docs/measurements/answers.md). */
static double unread_cross(const support_features *f) {
    const double p = support_probability(f);
    return 0.44 * log(p / (1 - p));
}

/* ---- choice ------------------------------------------------------------------------------ */

/* Share of the shorter sentence's content words that the other has too. */
static double resemblance(const candidate_set *set, const candidate *a, const candidate *b) {
    const fact_text *ta = &set->passages[a->passage].text, *tb = &set->passages[b->passage].text;
    size_t na = a->w1 - a->w0, nb = b->w1 - b->w0, shared = 0, n = 0;
    if (na > nb) return resemblance(set, b, a);
    if (na > 400) return 0;
    for (size_t i = a->w0; i < a->w1; i++) {
        if (!fact_is_content(&ta->words[i])) continue;
        n++;
        shared += fact_says(tb, b->w0, b->w1, ta->words[i].id);
    }
    return n ? (double)shared / (double)n : 0;
}

/* How far the words of a sentence from its word `a` on go into `room` bytes: the byte behind the last
 * that fits, 0 where none does, and how much of the question they hold. */
static uint32_t fill(const candidate_set *set, const candidate *c, size_t a, size_t room,
                     double *share) {
    const candidate_passage *p = &set->passages[c->passage];
    const candidate *s = c;
    const fact_word *w = p->text.words;
    size_t from = a == s->w0 ? c->start : w[a].start;
    uint64_t terms = 0;
    uint32_t end = 0;
    for (size_t b = a; b < s->w1 && w[b].end - from <= room; b++) {
        if (p->terms[b] >= 0) terms |= 1ull << p->terms[b];
        if (b + 1 == s->w1 || !(w[b + 1].flags & WORD_PART)) end = w[b].end;
    }
    *share = question_share(&set->q, terms);
    return end;
}

/* A unit that is longer than the whole answer may be is shown from its beginning on, a sentence also
 * from a clause on that holds more of the question; what is left out on either side is said. */
static void trim(const candidate_set *set, candidate *c, size_t room) {
    enum { TRIES = 256 };
    const candidate_passage *p = &set->passages[c->passage];
    const candidate *s = c;
    const fact_word *w = p->text.words;
    const uint32_t whole_end = c->end;
    double best = -1, share;
    bool sentence = c->unit.kind == TEXT_UNIT_SENTENCE;
    uint32_t start = c->start, end = fill(set, c, s->w0, room, &best);
    for (size_t a = s->w0 + 1, tries = 0; sentence && a < s->w1 && tries < TRIES; a++) {
        if (!(w[a].flags & WORD_CLAUSE) || (w[a].flags & WORD_PART)) continue;
        tries++;
        uint32_t stop = fill(set, c, a, room, &share);
        if (stop == 0 || share <= best + 1e-9) continue;
        best = share;
        start = w[a].start;
        c->cut_start = true;
        end = stop;
    }
    c->start = start;
    if (end == 0) { /* one word longer than the room */
        size_t cut = c->start + room;
        while (cut > c->start && !fo_utf8_boundary(p->text.text[cut])) cut--;
        end = (uint32_t)cut;
    }
    c->end = end;
    c->cut_end |= end < whole_end;
}

/* A step and its procedure. */
static bool overlap(const candidate *a, const candidate *b) {
    return a->passage == b->passage && a->start < b->end && b->start < a->end;
}

static bool is_option(const candidate_set *set, const candidate *c) {
    return c->unit.kind == TEXT_UNIT_DEFINITION &&
           set->passages[c->passage].text.text[c->start] == '-';
}

/* "Not on the dyke.": right behind the best, it says where or when that does not hold, and is never left out. */
static bool restricts(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const char *s = set->passages[c->passage].text.text + c->start;
    size_t n = 0;
    while (c->start + n < c->end && isalpha((unsigned char)s[n])) n++;
    return c->passage == best->passage && c->order == best->order + 1 &&
           fo_words_have_any_case("not no but only except however never unless otherwise though "
                                  "without",
                                  s, n);
}

/* The sentence right behind the best answers as well as that one: "It keeps for two weeks." */
static bool goes_on_answering(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return set->crossed && c->passage == best->passage && c->order == best->order + 1 &&
           c->unit.kind == TEXT_UNIT_SENTENCE && best->unit.kind == TEXT_UNIT_SENTENCE &&
           cross_of(c) >= 0 && cross_of(c) >= cross_of(best);
}

/* Does what read both with the question speak against saying this beside the best? Rows of one table and turns of one talk
 * belong together: which of them is the last, and what came of it, is seen by who reads them. */
static bool is_beside_the_point(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const double cross = cross_of(c);
    const bool together = c->passage == best->passage && c->unit.kind == best->unit.kind &&
                          (c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_TURN);
    return !together && !restricts(set, c) && set->crossed &&
           (cross < keep_cross || cross < cross_of(best) - keep_cross_within);
}

/* A row or an item that lacks what the best of them has of the question, and has nothing else of it: of the motor boat it was
 * asked, and this is the pedal boat. */
static bool is_a_sibling(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return c->unit.kind == best->unit.kind &&
           (c->unit.kind == TEXT_UNIT_ROW || c->unit.kind == TEXT_UNIT_ITEM) &&
           candidate_says_less(set, c, best);
}

/* Is a further unit worth its place behind the best? Behind what a section begins with is what follows there. */
static bool adds(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (best->f[CAND_TOPIC] > 0 && best->unit.kind != TEXT_UNIT_DEFINITION)
        return c->f[CAND_TOPIC] > 0 && c->passage == best->passage &&
               c->unit.head_end == best->unit.head_end;
    if (c->f[CAND_FRAGMENT] >= 1 || c->f[CAND_QUESTION] > best->f[CAND_QUESTION]) return false;
    if (is_a_sibling(set, c) || is_beside_the_point(set, c)) return false;
    if (restricts(set, c) || goes_on_answering(set, c)) return true;
    if (c->unit.kind == TEXT_UNIT_SENTENCE) return best->score - c->score <= keep_within;
    double within = is_option(set, c) ? keep_option_within : keep_entry_within;
    return best->score - c->score <= within &&
           c->f[CAND_MISSING_NAME] <= best->f[CAND_MISSING_NAME];
}

static bool only_blanks(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\r\n", s[i]) || !s[i]) return false;
    return true;
}

/* Does the heading above a unit say of the question what neither it nor its document's title does? "Child lock: Hold the
 * key for three seconds." */
static bool heading_says(const candidate_set *set, const candidate *c) {
    static const double much = 0.3;
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    if (u->head_kind != TEXT_UNIT_HEADING || u->head_end == u->head_start ||
        u->kind == TEXT_UNIT_HEADING || u->kind == TEXT_UNIT_ROW ||
        u->kind == TEXT_UNIT_DEFINITION || p->command || c->cut_start ||
        p->text.text[u->head_end - 1] == '?')
        return false;
    const uint64_t head = candidate_terms(p, u->head_start, u->head_end);
    return question_share(&set->q, head & ~c->set & ~p->title) >= much;
}

static bool same_head(const candidate *a, const candidate *b) {
    return a->passage == b->passage && a->unit.head_end > a->unit.head_start &&
           a->unit.head_start == b->unit.head_start;
}

/* Where only the heading of a short list says what was asked for, the list answers and not one of its items: "What comes in
 * the box?" All of it, or c itself. */
static candidate whole_list(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    candidate list = *c;
    if (u->kind != TEXT_UNIT_ITEM || u->head_kind != TEXT_UNIT_HEADING || c->set != 0 ||
        !candidate_terms(p, u->head_start, u->head_end))
        return list;
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *all = &p->units.v[i];
        if (!all->named || all->start > u->start || all->end < u->end) continue;
        const fact_sentence s = candidate_words(&p->text, all->start, all->end);
        list.unit = *all;
        list.start = all->start;
        list.end = all->end;
        list.w0 = s.w0;
        list.w1 = s.w1;
    }
    return list;
}

/* The best sentences that fit and do not repeat each other, best first. */
static size_t choose(const candidate_set *set, const extractive_input *in, size_t max_sentences,
                     size_t max_chars, candidate *chosen) {
    size_t n = 0, used = 0;
    for (size_t i = 0; i < set->n && n < max_sentences; i++) {
        candidate c = n > 0 ? set->c[i] : whole_list(set, &set->c[i]);
        if (n > 0 && !adds(set, &c)) continue;
        /* By bytes, not by order: a procedure and its steps overlap. */
        const passage *p = &in->passages[c.passage];
        c.cut_start = p->open_start && c.unit.start <= set->passages[c.passage].units.v[0].start;
        c.cut_end = p->open_end && only_blanks(p->text + c.end, p->len - c.end);
        bool repeats = false;
        for (size_t k = 0; k < n && !repeats; k++)
            repeats = overlap(&c, &chosen[k]) || resemblance(set, &c, &chosen[k]) > same_text;
        if (repeats) continue;
        if (c.end - c.start > max_chars - used) {
            if (n > 0) continue;
            trim(set, &c, max_chars);
        }
        c.headed = heading_says(set, &c);
        for (size_t k = 0; k < n; k++) /* what stands below one heading is said below it */
            if (same_head(&chosen[k], &c))
                c.headed = chosen[k].headed = c.headed || chosen[k].headed;
        used += c.end - c.start;
        chosen[n++] = c;
    }
    return n;
}

/* ---- text -------------------------------------------------------------------------------- */

/* The stretch of neighbours that holds the best sentence, c[0], comes first, though one may be left out between two; the
 * others follow by passage (in order of their best) and place. */
static void put_in_order(candidate *c, size_t n) {
    enum { NEAR = 2 };
    if (n == 0) return;
    uint32_t first = c[0].order, last = first, home = c[0].passage;
    for (size_t again = 0; again < n; again++) {
        for (size_t i = 1; i < n; i++) {
            if (c[i].passage != home || c[i].unit.kind != TEXT_UNIT_SENTENCE ||
                c[0].unit.kind != TEXT_UNIT_SENTENCE)
                continue;
            if (c[i].order < first && first - c[i].order <= NEAR) first = c[i].order;
            if (c[i].order > last && c[i].order - last <= NEAR) last = c[i].order;
        }
    }
    size_t rank[MAX_SENTENCES];
    for (size_t i = 0; i < n; i++) {
        size_t of_passage = 0;
        while (c[of_passage].passage != c[i].passage) of_passage++;
        bool leads = i == 0 || (c[i].passage == home && c[i].order >= first && c[i].order <= last);
        rank[i] = leads ? 0 : of_passage + 1;
    }
    for (size_t i = 1; i < n; i++) { /* insertion: n is small */
        candidate moved = c[i];
        size_t r = rank[i], at = i;
        for (; at > 0 && (rank[at - 1] > r || (rank[at - 1] == r && c[at - 1].order > moved.order));
             at--) {
            c[at] = c[at - 1];
            rank[at] = rank[at - 1];
        }
        c[at] = moved;
        rank[at] = r;
    }
}

/* White space becomes one blank: an answer is running text whatever its source's line breaks. */
static void add_running(fo_buf *b, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool blank = s[i] == ' ' || (s[i] >= '\t' && s[i] <= '\r');
        if (!blank)
            fo_buf_char(b, s[i]);
        else if (b->len && b->data[b->len - 1] != ' ')
            fo_buf_char(b, ' ');
    }
}

typedef struct slice {
    const char *s;
    size_t n;
} slice;

/* An option, a lead-in or a question asked belongs to the answer; a heading only where it says what the answer does not. */
static bool shows_head(const candidate *c) {
    const text_unit *u = &c->unit;
    return u->head_end > u->head_start &&
           (u->head_kind == TEXT_UNIT_DEFINITION || u->head_kind == TEXT_UNIT_ITEM ||
            u->head_kind == TEXT_UNIT_TURN || c->headed);
}

/* What the unit hangs on, without the marks of a heading: "## Child lock". */
static slice head_of(const char *text, const candidate *c) {
    slice head = {text + c->unit.head_start, c->unit.head_end - c->unit.head_start};
    while (c->headed && head.n && strchr("# *_", head.s[0])) head.s++, head.n--;
    while (c->headed && head.n && strchr("# *_.:", head.s[head.n - 1])) head.n--;
    return head;
}

static slice trimmed(slice x) {
    while (x.n && strchr(" \t\r\n", x.s[0])) x.s++, x.n--;
    while (x.n && strchr(" \t\r\n", x.s[x.n - 1])) x.n--;
    return x;
}

/* True when nothing but white space stands between two sentences, so that they are one quote. */
static bool adjoins(const passage *p, const candidate *a, const candidate *b) {
    if (a->passage != b->passage || b->start < a->end || a->cut_end || b->cut_start) return false;
    if (a->unit.kind != TEXT_UNIT_SENTENCE || b->unit.kind != TEXT_UNIT_SENTENCE) return false;
    if (shows_head(a) != shows_head(b) || a->unit.head_start != b->unit.head_start) return false;
    return only_blanks(p->text + a->end, b->start - a->end);
}

/* Does it speak of what the sentence before it names? "It includes water, but neither electricity nor heating." */
static bool begins_with_pronoun(const passage *p, const candidate *c) {
    size_t n = 0;
    while (c->start + n < c->end && isalpha((unsigned char)p->text[c->start + n])) n++;
    return c->unit.kind == TEXT_UNIT_SENTENCE &&
           fo_words_have_any_case("it they he she its their his her", p->text + c->start, n);
}

/* An answer that begins so is shown behind the sentence before it, which stands in the place of the last one where there
 * are `most` already. How many there are now. */
static size_t add_antecedent(const candidate_set *set, const extractive_input *in, size_t most,
                             size_t max_chars, candidate *chosen, size_t n) {
    const candidate first = chosen[0];
    if (most < 2 || n == 0 || !begins_with_pronoun(&in->passages[first.passage], &first)) return n;
    for (size_t i = 1; i < n; i++)
        if (chosen[i].passage == first.passage && chosen[i].order + 1 == first.order) return n;
    for (size_t i = 0; i < set->n; i++) {
        candidate c = set->c[i];
        c.headed = first.headed && same_head(&c, &first);
        if (c.passage != first.passage || c.order + 1 != first.order ||
            !adjoins(&in->passages[c.passage], &c, &first))
            continue;
        const size_t at = n < most ? n : n - 1;
        size_t used = c.end - c.start;
        for (size_t k = 0; k < at; k++) used += chosen[k].end - chosen[k].start;
        if (used > max_chars) return n;
        chosen[at] = c;
        return at + 1;
    }
    return n;
}

/* The cells of a row, each behind what its column is called: "day: Monday; open: closed". */
static void add_row(fo_buf *b, const passage *p, const candidate *c) {
    const char *row = p->text + c->start, *head = p->text + c->unit.head_start;
    const size_t n_row = c->end - c->start, n_head = c->unit.head_end - c->unit.head_start;
    size_t at = 0, at_name = 0;
    bool first = true;
    for (slice cell; table_row_cell(row, n_row, &at, &cell.s, &cell.n);) {
        slice name = {"", 0};
        (void)table_row_cell(head, n_head, &at_name, &name.s, &name.n);
        if (!cell.n) continue;
        if (!first) fo_buf_str(b, "; ");
        first = false;
        add_running(b, name.s, name.n);
        if (name.n) fo_buf_str(b, ": ");
        add_running(b, cell.s, cell.n);
    }
}

/* A list keeps its lines, steps in one running text are hard to follow; so does an example: all of them. */
static void add_lines(fo_buf *b, const char *s, size_t n, bool all) {
    for (size_t at = 0; at < n;) {
        const char *stop = memchr(s + at, '\n', n - at);
        size_t end = stop ? (size_t)(stop - s) : n;
        bool mark = (all && at > 0) || text_item_mark(s + at, end - at) > 0;
        if (b->len && mark && b->data[b->len - 1] != '\n') {
            if (b->data[b->len - 1] == ' ') b->len--;
            fo_buf_char(b, '\n');
        } else if (b->len && b->data[b->len - 1] != '\n') {
            fo_buf_char(b, ' ');
        }
        add_running(b, s + at, end - at);
        at = end + 1;
    }
}

/* Bytes of the option or term that a definition begins with; 0: it is none. */
static size_t tag_length(const passage *p, const candidate *c, uint32_t end) {
    if (c->unit.kind != TEXT_UNIT_DEFINITION || c->unit.body <= c->start || c->unit.body >= end)
        return 0;
    return trimmed((slice){p->text + c->start, c->unit.body - c->start}).n;
}

static const char *behind_head(const candidate *c) {
    return c->headed ? ": " : c->unit.head_kind == TEXT_UNIT_DEFINITION ? ": … " : " ";
}

/* Behind what heads it no bullet is said, only the number of a step: bytes of it, else 0. */
static size_t bullet_behind_head(const char *text, const candidate *c, uint32_t end) {
    if (!c->headed || c->unit.kind != TEXT_UNIT_ITEM || fo_is_digit(text[c->start])) return 0;
    return text_item_mark(text + c->start, end - c->start);
}

/* "Weight | 480 g", a row of two cells without names, is said with a colon; false: it is none. */
static bool add_pair(fo_buf *b, const char *row, size_t n, const candidate *c) {
    slice cells[3];
    size_t count = 0;
    if (c->unit.kind != TEXT_UNIT_ROW || c->unit.record || !memchr(row, '|', n)) return false;
    for (size_t at = 0; count < 3 && table_row_cell(row, n, &at, &cells[count].s, &cells[count].n);)
        count += cells[count].n > 0;
    if (count != 2) return false;
    add_running(b, cells[0].s, cells[0].n);
    fo_buf_str(b, ": ");
    add_running(b, cells[1].s, cells[1].n);
    return true;
}

static void add_unit(fo_buf *b, const passage *p, const candidate *c, uint32_t end) {
    const char *s = p->text;
    if (c->unit.kind == TEXT_UNIT_ROW && c->unit.head_end > c->unit.head_start) {
        add_row(b, p, c);
        return;
    }
    if (add_pair(b, s + c->start, end - c->start, c)) return;
    if (shows_head(c)) {
        const slice head = head_of(s, c);
        add_running(b, head.s, head.n);
        fo_buf_str(b, !c->unit.lines ? behind_head(c) : c->unit.named ? ":\n" : "\n");
    }
    size_t tag = tag_length(p, c, end);
    if (tag) {
        add_running(b, s + c->start, tag);
        fo_buf_str(b, s[c->start + tag - 1] == ':' ? " " : ": ");
        add_running(b, s + c->unit.body, end - c->unit.body);
    } else if (c->unit.kind == TEXT_UNIT_STEPS || c->unit.lines) {
        add_lines(b, s + c->start, end - c->start, c->unit.lines);
    } else {
        const size_t mark = bullet_behind_head(s, c, end);
        add_running(b, s + c->start + mark, end - c->start - mark);
    }
}

/* Whose option it is has to be seen where the question does not say it, or means it as a verb and others'
 * options stand beside it: bytes of the first name in the title "gzip, gunzip - compress files"; else 0. */
static size_t owner_length(const candidate_set *set, const candidate *c, bool several) {
    const candidate_passage *p = &set->passages[c->passage];
    const fact_text *asked = &set->q.text;
    if (!is_option(set, c) || !p->command) return 0;
    bool said = exact_names_command_said(asked->text, asked->len, p->title_text);
    return several || !said ? strcspn(p->title_text, " ,") : 0;
}

/* Are units of more than one document chosen? A document is told by its title. */
static bool of_several(const candidate_set *set, const candidate *c, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (strcmp(set->passages[c[i].passage].title_text, set->passages[c[0].passage].title_text))
            return true;
    return false;
}

/* What supports a piece of the answer: the quote and, where the piece says it too, what the unit
 * hangs on (a row's header, an option), which stands elsewhere in the same passage. */
static void add_support(fo_buf *b, const passage *p, const candidate *c, const answer_citation *x) {
    fo_buf_clear(b);
    bool headed = c->unit.head_end > c->unit.head_start;
    if (headed && c->unit.kind == TEXT_UNIT_ROW) { /* as it is said: every cell is copied whole */
        add_row(b, p, c);
        return;
    }
    if (add_pair(b, p->text + c->start, c->end - c->start, c)) return;
    if (shows_head(c)) {
        const slice head = head_of(p->text, c);
        fo_buf_add(b, head.s, head.n);
        fo_buf_str(b, behind_head(c)); /* what it heads is said of it */
    }
    size_t tag = tag_length(p, c, x->end); /* the layout that ends it is said with a colon */
    if (tag) {
        fo_buf_add(b, p->text + x->start, tag);
        fo_buf_str(b, ":\n");
    }
    size_t from = tag ? c->unit.body : x->start + bullet_behind_head(p->text, c, x->end);
    fo_buf_add(b, p->text + from, x->end - from);
}

/* An option, a row or a procedure has a line of its own: run together they are hard to tell apart. */
static bool stands_alone(const candidate *c) {
    return c->unit.kind == TEXT_UNIT_DEFINITION || c->unit.kind == TEXT_UNIT_ROW ||
           c->unit.kind == TEXT_UNIT_STEPS;
}

/* What stands in text[from..] was copied: no marker in it is ours, and where the sentence is not
 * whole the answer shows that. */
static int finish_run(fo_buf *text, size_t from, const candidate *first, const candidate *last,
                      fo_err *err) {
    static const char ellipsis[] = "\xE2\x80\xA6";
    text->len = from + foreign_marks_disarm(text->data + from, text->len - from);
    if (last->cut_end) fo_buf_str(text, ellipsis);
    if (first->cut_start) {
        size_t n = text->len - from;
        fo_buf_str(text, ellipsis);
        fo_buf_char(text, ' ');
        if (text->failed) return fo_fail(err, FO_ENOMEM, "out of memory for an answer");
        memmove(text->data + from + sizeof ellipsis, text->data + from, n);
        memcpy(text->data + from, ellipsis, sizeof ellipsis - 1);
        text->data[from + sizeof ellipsis - 1] = ' ';
    }
    return FO_OK;
}

static int assemble(extractive_answer *out, const candidate_set *set, const extractive_input *in,
                    const candidate *c, size_t n, fo_err *err) {
    fo_buf text = {0}, quote = {0};
    out->citations = calloc(n + 1, sizeof *out->citations);
    if (!out->citations) return fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    int rc = FO_OK;
    bool several = of_several(set, c, n);
    for (size_t i = 0; !rc && i < n;) {
        const passage *p = &in->passages[c[i].passage];
        size_t run = 1; /* neighbours in one passage are one quote */
        while (i + run < n && adjoins(p, &c[i + run - 1], &c[i + run])) run++;
        answer_citation *x = &out->citations[out->n_citations++];
        *x = (answer_citation){.passage = c[i].passage,
                               .start = c[i].start,
                               .end = c[i + run - 1].end,
                               .answer_start = text.len + (text.len > 0)};
        bool line = stands_alone(&c[i]) || (i > 0 && stands_alone(&c[i - 1]));
        if (text.len) fo_buf_char(&text, line ? '\n' : ' ');
        candidate first = c[i]; /* a heading is said once */
        for (size_t k = 0; k < i; k++) first.headed &= !same_head(&c[k], &first);
        size_t owner = owner_length(set, &c[i], several);
        if (owner) {
            add_running(&text, p->title, owner);
            fo_buf_char(&text, ' ');
        }
        add_unit(&text, p, &first, x->end);
        add_support(&quote, p, &first, x);
        if (text.failed || quote.failed) break;
        support_check check;
        rc = citation_check(&check, in->lx,
                            &(citation_claim){.sentence = text.data + x->answer_start,
                                              .sentence_len = text.len - x->answer_start,
                                              .quote = quote.data,
                                              .quote_len = quote.len,
                                              .stored = quote.data,
                                              .stored_len = quote.len,
                                              .start = 0,
                                              .end = quote.len,
                                              .title = p->title},
                            err);
        x->verified = check.verified;
        rc = !rc ? finish_run(&text, x->answer_start, &c[i], &c[i + run - 1], err) : rc;
        x->answer_end = text.len;
        fo_buf_printf(&text, " [%zu]", out->n_citations);
        i += run;
    }
    if (!rc && (text.failed || quote.failed))
        rc = fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    fo_buf_free(&quote);
    out->text = fo_buf_take(&text, NULL);
    return rc;
}

static void keep_ranks(extractive_answer *out, const candidate_set *set) {
    out->n_ranked = set->n < EXTRACTIVE_RANKS ? set->n : EXTRACTIVE_RANKS;
    for (size_t i = 0; i < out->n_ranked; i++) {
        const candidate *c = &set->c[i];
        out->ranked[i] =
            (extractive_rank){c->passage, c->unit.start, c->unit.end, set->c[0].score - c->score};
    }
}

static int answer(extractive_answer *out, candidate_set *set, const extractive_input *in,
                  fo_err *err) {
    out->abstain = true;
    if (set->n == 0) return FO_OK;
    rank_candidates(set);
    measure_support(&out->features, set, in);
    if (cross_reading_can(set, in)) {
        /* whoever fits weights is to see everything */
        const bool decided = is_decided(set, &out->features) && !extractive_observer;
        int rc = decided ? FO_OK : cross_reading(set, in, err);
        if (rc) return rc;
        if (set->crossed) rank_again(set);
        measure_support(&out->features, set, in);
        if (!set->crossed)
            out->features.cross = decided ? unread_cross(&out->features) : 0; /* neither way */
    }
    keep_ranks(out, set);
    if (extractive_observer) extractive_observer(set, in, &out->features);
    out->support = support_probability(&out->features);
    double least = in->min_support == 0 ? support_threshold : in->min_support;
    if (set->c[0].set == 0 && out->features.cover == 0 && !isfinite(out->features.dense) &&
        !isfinite(out->features.align))
        out->support = 0; /* nothing of the question is there */
    if (out->support < least || out->support == 0) return FO_OK;
    const size_t want = in->max_sentences ? in->max_sentences : DEFAULT_SENTENCES;
    const size_t most = want < MAX_SENTENCES ? want : MAX_SENTENCES;
    const size_t max_chars = in->max_chars ? in->max_chars : DEFAULT_CHARS;
    candidate chosen[MAX_SENTENCES];
    size_t n = choose(set, in, most, max_chars, chosen);
    n = add_antecedent(set, in, most, max_chars, chosen, n);
    if (n) {
        fo_buf lead = {0};
        add_unit(&lead, &in->passages[chosen[0].passage], &chosen[0], chosen[0].end);
        out->lead = fo_buf_take(&lead, NULL);
        if (!out->lead) return fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    }
    put_in_order(chosen, n);
    out->abstain = n == 0;
    return n ? assemble(out, set, in, chosen, n, err) : FO_OK;
}

int extractive_answer_make(extractive_answer *out, const extractive_input *in, fo_err *err) {
    *out = (extractive_answer){.abstain = true,
                               .features = {.dense = NAN, .align = NAN, .cross = NAN}};
    candidate_set set = {0};
    extractive_input asked = *in;
    fo_buf as_written = {0};
    int rc = FO_OK;
    if (!in->question || !in->question[0]) goto done;
    if (demand_days_as_written(&as_written, in->question, in->passages, in->n_passages))
        asked.question = as_written.data;
    if (as_written.failed) rc = fo_fail(err, FO_ENOMEM, "out of memory for a question");
    if (!rc) rc = candidate_set_read(&set, &asked, err);
    if (!rc) rc = answer(out, &set, &asked, err);
done:
    candidate_set_deinit(&set);
    fo_buf_free(&as_written);
    if (!rc && !out->text) {
        out->text = calloc(1, 1);
        if (!out->text) rc = fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    }
    if (rc) extractive_answer_deinit(out);
    return rc;
}

void extractive_answer_deinit(extractive_answer *a) {
    free(a->lead);
    free(a->text);
    free(a->citations);
    *a = (extractive_answer){0};
}
