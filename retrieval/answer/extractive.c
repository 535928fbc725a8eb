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
#include "retrieval/answer/antecedents.h"
#include "retrieval/answer/candidates.h"
#include "retrieval/answer/continuations.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/answer/extractive_text.h"
#include "retrieval/answer/command_differences.h"
#include "retrieval/answer/exit_codes.h"
#include "retrieval/answer/first_unit.h"
#include "retrieval/answer/footnotes.h"
#include "retrieval/answer/further_units.h"
#include "retrieval/answer/mail_quotes.h"
#include "retrieval/answer/meant_commands.h"
#include "retrieval/question/compound_words.h"
#include "retrieval/question/month_words.h"
#include "retrieval/question/number_words.h"
#include "retrieval/question/office_words.h"
#include "retrieval/question/ordinal_words.h"
#include "retrieval/question/size_words.h"
#include "retrieval/question/span_words.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/text/small_letters.h"
#include "retrieval/answer/setting_entries.h"
#include "retrieval/answer/subjects.h"
#include "retrieval/answer/task_pages.h"
#include "retrieval/answer/tiers.h"
#include "retrieval/answer/unit_weights.h"
#include "retrieval/answer/version_changes.h"
#include "retrieval/answer/which_one.h"
#include "retrieval/answer/version_dates.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/units/unit_headings.h"

enum { DEFAULT_SENTENCES = 3, DEFAULT_CHARS = 1200 };

/* Two sentences that share more than this of their words say the same. */
static const double same_text = 0.9;

extractive_observer_fn *extractive_observer;

static int by_score_falling(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    if (x->passage != y->passage) return x->passage < y->passage ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* By hand, whatever the model: the fitted questions name no days, and a text that holds their other words
 * nearly always states a number too. */
static double demands_met(const candidate *c) {
    static const double spoken_of = 4; /* a rival of another document has to be much better */
    static const double meant = 3, task = 10;
    return spoken_of * c->f[CAND_SPOKEN_OF] + 8 * c->f[CAND_TOPIC] + 8 * c->f[CAND_BY_TABLE] +
           meant * c->f[CAND_MEANT] + task * c->f[CAND_TASK] + 2 * c->f[CAND_DAY] -
           4 * c->f[CAND_OTHER_DAY] - 4 * c->f[CAND_OTHER_THING] - 3 * c->f[CAND_OTHER_PURPOSE] -
           6 * c->f[CAND_NO_AMOUNT] - 6 * c->f[CAND_NO_PLACE] - 6 * c->f[CAND_RESTATED] -
           3 * c->f[CAND_RUN_ON];
}

/* A line that names what follows is no answer, however well it meets the question. */
static bool names_only(const candidate *c) {
    return c->f[CAND_FRAGMENT] >= 1 &&
           (c->unit.kind == TEXT_UNIT_HEADING || c->unit.kind == TEXT_UNIT_HEADER);
}

/* Has the reader not learnt the language of the text? */
static bool is_read_as_strange(const candidate_set *set, const extractive_input *in) {
    return set->read && set->q.text.language >= 0 && in->reader &&
           !reader_has_languages(in->reader);
}

static void rank_candidates(candidate_set *set, const extractive_input *in) {
    const double *w = unit_weights_of(set, is_read_as_strange(set, in));
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        c->score = demands_met(c) - (names_only(c) ? 1000 : 0);
        for (size_t k = 0; k < CAND_FEATURES; k++) c->score += w[k] * c->f[k];
    }
    qsort(set->c, set->n, sizeof *set->c, by_score_falling);
    meant_commands_put_name_first(set);
}

/* Beside the score of all else, by what they read. A reader of many languages tells better than it ranks. */
static void rank_again(candidate_set *set, const reader *r) {
    const double weight = reader_has_languages(r) ? 0.4 : 0.7;
    for (size_t i = 0; i < set->n; i++) set->c[i].score += weight * cross_reading_of(&set->c[i]);
    qsort(set->c, set->n, sizeof *set->c, by_score_falling);
    meant_commands_put_name_first(set);
}

/* ---- support ----------------------------------------------------------------------------- */

/* What nothing of the named document says may be said there in other words: what the best unit is read as answering, it does. */
static bool loses_a_word(const candidate_set *set) {
    const candidate *best = &set->c[0];
    return !(set->crossed && cross_reading_of(best) >= 0) &&
           subjects_lose_a_word(set, &set->passages[best->passage]);
}

/* The terms that bytes [start, end) of the passage meet by whole words. */
static uint64_t whole_terms(const question *q, const candidate_passage *p, uint32_t start,
                            uint32_t end) {
    const fact_sentence s = candidate_words(&p->text, start, end);
    uint64_t set = 0;
    for (size_t i = s.w0; i < s.w1; i++)
        if (p->terms[i] >= 0 && !japanese_is_only_a_part(q, &p->text, i))
            set |= 1ull << p->terms[i];
    return set;
}

/* Does the passage state what is demanded, a price, the number of people, somebody's name? */
static bool states_what_is_demanded(const question *q, const candidate_passage *p) {
    const enum demand_amount amount = q->demands.amount;
    if (q->kind == ASK_PERSON) return japanese_names_who_is(p->text.text, p->text.len);
    return amount != AMOUNT_NONE && amount != AMOUNT_ANY && amount != AMOUNT_LONG &&
           demands_amount_in(&q->demands, amount, p->text.text, p->text.len) == AMOUNT_STATED;
}

/* Of a Japanese question it has nothing but what its title says, or one character out of another word: "the association's office
 * holders" is not answered by what the association is, nor "会長" by "会費". Where every thing that is asked about is the title's, a
 * value of the kind that is demanded is enough: "How many people can the meeting room hold?". */
static bool says_too_little(const candidate_set *set) {
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[best->passage];
    const text_unit *u = &best->unit;
    const uint64_t met = candidate_terms(p, best->start, best->end) | candidate_head_terms(p, u),
                   whole = whole_terms(&set->q, p, best->start, best->end) |
                           whole_terms(&set->q, p, u->head_start, u->head_end) |
                           whole_terms(&set->q, p, u->outer_start, u->outer_end);
    const uint64_t more = whole & ~p->title, parts = met & ~whole & ~p->title;
    const bool is_told =
        !japanese_loses_a_noun(&set->q, whole | p->title) && states_what_is_demanded(&set->q, p);
    return (met | p->title) && !more && !(parts & (parts - 1)) && !is_told;
}

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
        .restated = best->f[CAND_RESTATED],
        .other_day = best->f[CAND_OTHER_DAY],
        .other_thing = best->f[CAND_OTHER_THING],
        .rival = best->f[CAND_OTHER_THING] >= CAND_RIVAL && best->unit.kind != TEXT_UNIT_DEFINITION,
        .run_on = best->f[CAND_RUN_ON],
        .other_purpose = best->f[CAND_OTHER_PURPOSE],
        .question = best->f[CAND_QUESTION],
        .topic = best->f[CAND_TOPIC],
        .by_table = best->f[CAND_BY_TABLE],
        .summary = candidate_names_the_command(best),
        .bm25 = set->passages[best->passage].bm25,
        .missing_names = best->f[CAND_MISSING_NAME],
        .lost_name = subjects_lose_a_name(set, &set->passages[best->passage]) || loses_a_word(set),
        .lost_kind = subjects_lose_a_kind(set, &set->passages[best->passage]),
        .best_idf = best->f[CAND_BEST_IDF],
        .unmet = best->f[CAND_BEST_IDF] > 0 ? 0 : best->f[CAND_MISSING_RARE],
        .amount = set->q.demands.amount != AMOUNT_NONE,
        .type_near = best->f[CAND_TYPE_NEAR],
        .ahead = set->n > 1 ? set->c[0].score - set->c[1].score : INFINITY,
        .pairs = best->f[CAND_PAIRS],
        .lead = 0.45, /* the mean of the calibration set, where there is nothing to compare with */
        .dense = NAN,
        .align = NAN,
        /* Of the unit that is to be said: that another one may answer is no reason to say this one. */
        .cross = set->crossed ? cross_reading_of(best) : NAN,
    };
    f->task = task_pages_support(set);
    f->spoken_of = best->f[CAND_SPOKEN_OF];
    f->other_script = !set->read && language_has_other_script(analyzer_language(in->lx->analyzer));
    const bool japanese = f->other_script && language_is(set->q.text.language, "japanese");
    f->met_sooner = japanese || (f->other_script && language_is(set->q.text.language, "arabic"));
    if (f->other_script && set->q.n_terms < 2)
        f->best_idf = 0; /* the only word is no single one of many */
    if (japanese && says_too_little(set)) f->lost_name = 1;
    if (set->read) {
        f->align = best->f[CAND_ALIGN];
        f->back = best->f[CAND_ALIGN_BACK];
        f->languages = in->reader && reader_has_languages(in->reader);
        f->strange = is_read_as_strange(set, in);
        f->follow_up = in->follow_up;
        const char *of_text = language_name(analyzer_language(in->lx->analyzer));
        f->across = f->languages && language_across(in->question, strlen(in->question),
                                                    of_text ? of_text : "english") >= 0;
        if (f->across)
            f->lost_name = f->lost_kind = 0; /* what is a name there may have another here */
    }
    if (set->n_passages > 1 && top > 0)
        f->lead = (top - (sum - top) / (double)(set->n_passages - 1)) / top;
    double floor = in->dense_floor;
    if (set->dense && cosine > -1 && isfinite(floor) && floor != 0 && floor < 1)
        f->dense = fmax(0, (cosine - floor) / (1 - floor));
}

/* One unit that is well ahead and well supported, or nothing near an answer: a closer look changes neither (a fifth of
 * SQuAD's questions, a tenth of those in other words, and no answer of them was another). The words that were added from the
 * turns before meet the text that they came from whatever is asked now. */
static bool is_decided(const candidate_set *set, const support_features *f) {
    static const double clearly = .95, hardly = .0067, ahead = 1;
    const double support = support_probability(f);
    const bool alone = set->n < 2 || set->c[0].score - set->c[1].score > ahead;
    return support < hardly || (support > clearly && alone && !f->follow_up);
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

/* Never left out for want of room: half of what the best says may mislead. */
static bool is_part_of_the_best(const candidate_set *set, const candidate *c) {
    return continuation_restricts(set, c) || continuation_belongs(set, c) ||
           footnote_is_of_the_best(set, c);
}

/* "What is not insured", "Excluded": an item below it says the opposite without it. */
static bool heading_denies(const candidate_passage *p, const text_unit *u) {
    static const char excludes[] =
        "excluded exclusions excludes exempt forbidden prohibited banned verboten untersagt "
        "ausgeschlossen interdit interdits interdite exclu exclus prohibido prohibida excluido "
        "vietato vietata escluso esclusi proibido proibida";
    const fact_sentence s = candidate_words(&p->text, u->head_start, u->head_end);
    for (size_t i = s.w0; i < s.w1; i++)
        if (p->text.words[i].flags & WORD_NEGATION) return true;
    return word_tokens_say(excludes, p->text.text + u->head_start, u->head_end - u->head_start);
}

/* "Title: Safety diver", of a contact card: who is one, the name above says. */
static bool is_role_of_a_card(const candidate_set *set, const candidate *c) {
    size_t at = 0;
    const char *s = set->passages[c->passage].text.text + c->start;
    const word_token role = word_token_next(s, c->end - c->start, &at),
                     colon = word_token_next(s, c->end - c->start, &at);
    return set->q.kind == ASK_PERSON && word_token_in("title role", &role) &&
           word_token_is(&colon, ":");
}

/* "It can cool in summer": which one can, the heading above says; and of what "there is none". */
static bool heading_is_meant(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    return c->unit.kind == TEXT_UNIT_SENTENCE &&
           (antecedent_is_of_none(s, n) || (set->q.demands.which && antecedent_is_meant(s, n)));
}

/* Headings that a manual has for every entry: they name none. */
static bool heads_any_entry(const char *s, size_t n) {
    static const char any[] =
        "name names synopsis description descriptions options option overview "
        "introduction notes note remarks usage examples example details "
        "summary about general arguments parameters";
    size_t at = 0, words = 0;
    for (word_token t; (t = word_token_next(s, n, &at)).n;) /* "## 3. Notes" is numbered */
        if (t.letters && (words++ || !word_token_in(any, &t))) return false;
    return words > 0;
}

/* "This variable specifies ...", "Then, set its port": which variable, and of what, the heading says where no sentence right before it
 * does. */
static bool heading_is_pointed_at(const candidate_passage *p, const candidate *c) {
    const char *text = p->text.text, *s = text + c->start;
    const size_t n = c->end - c->start;
    const text_unit *u = &c->unit, *before = c->order ? &p->units.v[c->order - 1] : NULL;
    if (u->kind != TEXT_UNIT_SENTENCE ||
        memchr(text + u->head_start, ':', u->head_end - u->head_start))
        return false; /* "Type: path" is said of the entry, and names it not */
    if (antecedent_is_entry(s, n)) return true;
    if (!antecedent_is_meant(s, n) && !antecedent_is_linked(s, n)) return false;
    return !before || before->kind != TEXT_UNIT_SENTENCE || before->head_start != u->head_start ||
           before->end > u->start || !fo_only_blanks(text + before->end, u->start - before->end);
}

/* "sig_on_top", "3.2. sig_on_top": a name and nothing else, but for its number; "ENVIRONMENT" heads a section. */
static bool is_one_name(const char *s, size_t n) {
    size_t at = 0;
    bool name = false;
    while (at < n && (fo_is_digit(s[at]) || strchr("#.` ", s[at]))) at++;
    if (at == n || memchr(s + at, ' ', n - at)) return false;
    for (; at < n; at++) name |= s[at] == '_' || (s[at] >= 'a' && s[at] <= 'z');
    return name;
}

/* "Which variable ...?", "What mutt option ...?": a name is asked for. */
static bool asks_for_setting(const fact_text *q) {
    enum { WITHIN = 3 };
    size_t at = 0, behind = WITHIN;
    for (word_token t; (t = word_token_next(q->text, q->len, &at)).n;) {
        if (behind < WITHIN && word_token_in("variable option setting parameter directive "
                                             "keyword flag switch attribute property",
                                             &t))
            return true;
        behind = word_token_in("which what", &t) ? 0 : behind + 1;
    }
    return false;
}

/* Does it answer of the setting whose name stands above it, or says its default, "Default: 15", and does not say the name? */
static bool heading_names_setting(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    const char *head = p->text.text + u->head_start;
    size_t at = 0;
    if (!is_one_name(head, u->head_end - u->head_start)) return false;
    const word_token first = word_token_next(p->text.text + c->start, c->end - c->start, &at);
    return word_token_in("default defaults", &first) || asks_for_setting(&set->q.text);
}

/* Does the heading above a unit say of the question what neither it nor its document's title does? "Child lock: Hold the
 * key for three seconds." Or what the unit misleads without? */
static bool heading_says(const candidate_set *set, const candidate *c) {
    static const double much = 0.3;
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    if (u->head_kind != TEXT_UNIT_HEADING || u->head_end == u->head_start ||
        u->kind == TEXT_UNIT_HEADING || u->kind == TEXT_UNIT_ROW ||
        u->kind == TEXT_UNIT_DEFINITION || c->cut_start || p->text.text[u->head_end - 1] == '?' ||
        (p->command && !is_one_name(p->text.text + u->head_start, u->head_end - u->head_start)))
        return false;
    if (u->kind == TEXT_UNIT_ITEM && heading_denies(p, u)) return true;
    if (!heads_any_entry(p->text.text + u->head_start, u->head_end - u->head_start) &&
        (heading_is_meant(set, c) || heading_is_pointed_at(p, c) || heading_names_setting(set, c) ||
         is_role_of_a_card(set, c)))
        return true;
    const uint64_t head = candidate_terms(p, u->head_start, u->head_end);
    return question_share(&set->q, head & ~c->set & ~p->title) >= much;
}

/* The list of unit `all` in the place of an item of it. */
static candidate list_of(const candidate_passage *p, const candidate *c, const text_unit *all) {
    candidate list = *c;
    const fact_sentence s = candidate_words(&p->text, all->start, all->end);
    list.unit = *all;
    list.start = all->start;
    list.end = all->end;
    list.w0 = s.w0;
    list.w1 = s.w1;
    return list;
}

/* Of a list below what is asked about, is it the only item that has the kind of thing that is asked for, and by far the likeliest:
 * "Lecturer: Dr. Hanne Brisk" of who teaches the module that the list is about? */
static bool is_the_item(const candidate_set *set, const candidate *c) {
    static const double answers = 2, far = 3;
    const enum question_kind kind = set->q.kind;
    const bool of_a_kind =
        kind == ASK_PERSON || kind == ASK_TIME || kind == ASK_NUMBER || kind == ASK_PLACE;
    if (!of_a_kind || !set->crossed || c->f[CAND_TYPE] < 1 || cross_reading_of(c) < answers)
        return false;
    for (size_t i = 0; i < set->n; i++) {
        const candidate *d = &set->c[i];
        if (d->unit.kind == TEXT_UNIT_ITEM && d->start != c->start && candidate_same_head(c, d) &&
            (d->f[CAND_TYPE] >= 1 || cross_reading_of(d) > cross_reading_of(c) - far))
            return false;
    }
    return true;
}

/* Where only the heading of a short list says what was asked for, the list answers and not one of its items: "What comes in
 * the box?" So do all that stand in an item which names them and is asked about. All of it, or c itself. */
static candidate whole_list(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    if (u->names && c->set != 0) return list_of(p, c, &p->units.v[c->order - 1]);
    if (u->kind != TEXT_UNIT_ITEM || u->head_kind != TEXT_UNIT_HEADING || c->set != 0 ||
        !candidate_terms(p, u->head_start, u->head_end) || is_the_item(set, c))
        return *c;
    for (size_t i = 0; i < p->units.n; i++) { /* the whole before a part of it */
        const text_unit *all = &p->units.v[i];
        if (all->named && all->start <= u->start && all->end >= u->end &&
            all->head_start == u->head_start && !(u->names && i + 1 == c->order))
            return list_of(p, c, all);
    }
    return *c;
}

/* Read with the question, it answers so much less that it only shares words with the best row: "how many times does it try
 * again" and "time between two copies". What the table itself picks out is not asked that. */
static bool is_far_behind(const candidate_set *set, const candidate *c) {
    static const double far = 5;
    const candidate *best = &set->c[0];
    /* a further thing that is asked about by its name */
    for (size_t k = 0; k < set->q.n_terms; k++)
        if (set->q.terms[k].name && (c->set & ~best->set & 1ull << k)) return false;
    return set->crossed && isfinite(c->cross) && best->f[CAND_BY_TABLE] == 0 &&
           cross_reading_of(best) - c->cross > far;
}

/* Marks the rows that answer as the best one does; are there any? Then no other row answers. */
static bool mark_alike(candidate_set *set) {
    bool several = false;
    for (size_t i = 1; i < set->n; i++)
        several |= set->c[i].alike =
            row_answers_alike(set, &set->c[0], &set->c[i]) && !is_far_behind(set, &set->c[i]);
    return several;
}

/* Is it among chosen[n] already, or much the same? Rows of one table share the names of its columns, so of them only the same
 * bytes are. */
static bool is_repeated(const candidate_set *set, const candidate *c, const candidate *chosen,
                        size_t n) {
    for (size_t k = 0; k < n; k++) {
        const candidate *d = &chosen[k];
        if (overlap(c, d)) return true;
        if (!c->alike && !continuation_settles(set, c) && resemblance(set, c, d) > same_text)
            return true;
        if (d->headed && extractive_text_heads(c, d)) return true;
        if (c->alike && c->end - c->start == d->end - d->start &&
            !memcmp(set->passages[c->passage].text.text + c->start,
                    set->passages[d->passage].text.text + d->start, c->end - c->start))
            return true;
    }
    return false;
}

/* The best sentences that fit and do not repeat each other, best first. All rows that answer as the best one does are one
 * answer, however many they are: where there is no room for the last of them, an ellipsis says so. */
static size_t choose(const candidate_set *set, const extractive_input *in, bool several,
                     size_t max_sentences, size_t max_chars, candidate *chosen) {
    size_t n = 0, used = 0;
    candidate *last_alike = NULL;
    /* What restricts the best comes before whatever else there is room for. */
    for (size_t turn = 0; turn < 2 * set->n && n < EXTRACTIVE_MOST_SENTENCES; turn++) {
        const size_t i = turn % set->n;
        candidate c = n > 0 ? set->c[i] : whole_list(set, &set->c[i]);
        if (turn < set->n && n > 0 && !is_part_of_the_best(set, &c)) continue;
        if (n > 0 && !c.alike && several && c.unit.kind == TEXT_UNIT_ROW) continue;
        if (n > 0 && c.unit.names && c.set) continue; /* what stands in it says it too */
        if (!c.alike && (n >= max_sentences || (n > 0 && !further_unit_adds(set, &c)))) continue;
        /* By bytes, not by order: a procedure and its steps overlap. */
        const passage *p = &in->passages[c.passage];
        c.cut_start = p->open_start && c.unit.start <= set->passages[c.passage].units.v[0].start;
        c.cut_end = p->open_end && fo_only_blanks(p->text + c.end, p->len - c.end);
        if (is_repeated(set, &c, chosen, n)) continue;
        if (c.end - c.start > max_chars - used) {
            if (c.alike) (last_alike ? last_alike : &chosen[0])->cut_end = true;
            if (n > 0) continue;
            trim(set, &c, max_chars);
        }
        c.headed = heading_says(set, &c);
        dated_heading_take(set, &c);
        for (size_t k = 0; k < n; k++) /* what stands below one heading is said below it */
            if (candidate_same_head(&chosen[k], &c))
                c.headed = chosen[k].headed = c.headed || chosen[k].headed;
        used += c.end - c.start;
        chosen[n++] = c;
        if (c.alike) last_alike = &chosen[n - 1];
    }
    return n;
}

static void keep_ranks(extractive_answer *out, const candidate_set *set) {
    out->n_ranked = set->n < EXTRACTIVE_RANKS ? set->n : EXTRACTIVE_RANKS;
    for (size_t i = 0; i < out->n_ranked; i++) {
        const candidate *c = &set->c[i];
        out->ranked[i] =
            (extractive_rank){c->passage, c->unit.start, c->unit.end, set->c[0].score - c->score};
    }
}

/* "And what is the salary then?" is not answered by what some other document charges: in a conversation an amount alone, with no
 * word of the question in or beside the unit, has to be of the document spoken of, and read as an answer. */
static bool is_an_amount_alone(const candidate_set *set, const support_features *f) {
    static const double clearly = 2;
    bool talks = f->follow_up > 0;
    for (size_t i = 0; i < set->n_passages; i++) talks |= set->passages[i].spoken_of;
    return talks && set->q.demands.amount != AMOUNT_NONE && !f->across && f->cover_near < 1e-9 &&
           f->by_table == 0 && f->topic == 0 && !(f->spoken_of > 0 && !(f->cross < clearly));
}

/* "And what do they cost?" with the boats of the turns before: what the trips of the van cost, in another document that never
 * speaks of boats, is the amount of another thing. */
static bool is_of_another_thing(const candidate_set *set, const extractive_input *in,
                                const support_features *f) {
    const question *q = &set->q;
    const candidate_passage *p = &set->passages[set->c[0].passage];
    uint64_t of_talk = 0;
    if (!in->follow_up || !in->n_asked || q->demands.amount == AMOUNT_NONE || f->spoken_of > 0)
        return false;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const int term =
            q->text.words[i].start < in->n_asked ? -1 : question_term_of(q, q->text.words[i].id);
        if (term >= 0) of_talk |= UINT64_C(1) << term;
    }
    return of_talk && !((p->said | p->title | p->named | p->filed | p->own) & of_talk);
}

/* Of all that was read nothing comes near to answering, three in eight at most: words meet what is about something like it. A table's rows are
 * read worse than sentences are; what answers by where it stands, or in a talk, is not told by reading. The scale of a reader of many
 * languages is another in each of them. */
static bool is_read_as_no_answer(const candidate_set *set, const support_features *f) {
    static const double least = -0.5; /* log odds */
    const bool is_told_otherwise = set->c[0].unit.kind == TEXT_UNIT_ROW || f->by_table > 0 ||
                                   f->topic > 0 || f->option > 0 || f->summary > 0 || f->task > 0 ||
                                   f->follow_up > 0 || f->spoken_of > 0;
    if (!set->crossed || f->languages || is_told_otherwise) return false;
    for (size_t i = 0; i < set->n; i++)
        if (set->c[i].cross >= least) return false; /* NAN: not read */
    return true;
}

/* Puts the candidates in order and measures how far the first of them is supported. */
static int weigh(extractive_answer *out, candidate_set *set, const extractive_input *in,
                 fo_err *err) {
    rank_candidates(set, in);
    measure_support(&out->features, set, in);
    if (cross_reading_can(set, in)) {
        /* whoever fits weights is to see everything */
        const bool decided =
            is_decided(set, &out->features) && !loses_a_word(set) && !extractive_observer;
        int rc = decided ? FO_OK : cross_reading(set, in, err);
        if (rc) return rc;
        if (set->crossed) {
            tiers_settle(set); /* arithmetic is not what it has learnt */
            rank_again(set, in->reader);
        }
        measure_support(&out->features, set, in);
        if (!set->crossed)
            out->features.cross = decided ? unread_cross(&out->features) : 0; /* neither way */
    }
    keep_ranks(out, set);
    if (extractive_observer) extractive_observer(set, in, &out->features);
    out->support = support_probability(&out->features);
    if (set->c[0].set == 0 && out->features.cover == 0 && !isfinite(out->features.dense) &&
        !isfinite(out->features.align))
        out->support = 0; /* nothing of the question is there */
    if (is_an_amount_alone(set, &out->features) || is_of_another_thing(set, in, &out->features) ||
        is_read_as_no_answer(set, &out->features))
        out->support = fmin(out->support, support_threshold / 2);
    return FO_OK;
}

/* What the document of the talk has is first, and is no answer: the others are weighed as if nothing had been said before. What
 * they have stands where it is one; else all is as it was. Not for a question that words of the talk were added to: those are met
 * anywhere. */
static int weigh_without_the_talk(extractive_answer *out, candidate_set *set,
                                  const extractive_input *in, double least, fo_err *err) {
    const extractive_answer before = *out; /* owns nothing yet */
    const bool crossed = set->crossed;
    candidate *kept = malloc(set->n * sizeof *kept);
    if (!kept) return fo_fail(err, FO_ENOMEM, "out of memory for the sentences");
    memcpy(kept, set->c, set->n * sizeof *kept);
    subjects_forget_the_talk(set);
    const int rc = weigh(out, set, in, err);
    if (!rc && out->support < least) {
        memcpy(set->c, kept, set->n * sizeof *kept);
        set->crossed = crossed;
        *out = before;
    }
    free(kept);
    return rc;
}

static int answer(extractive_answer *out, candidate_set *set, const extractive_input *in,
                  fo_err *err) {
    out->abstain = true;
    if (set->n == 0) return FO_OK;
    const double least = in->min_support == 0 ? support_threshold : in->min_support,
                 bound = least > 0 ? least : support_threshold;
    int rc = weigh(out, set, in, err);
    if (!rc && out->features.spoken_of > 0 && !in->follow_up && out->support < bound)
        rc = weigh_without_the_talk(out, set, in, bound, err);
    if (!rc && meant_commands_lead(set, out->support)) rc = weigh(out, set, in, err);
    if (rc) return rc;
    first_unit_choose(set);
    const size_t max_chars = in->max_chars ? in->max_chars : DEFAULT_CHARS;
    candidate chosen[EXTRACTIVE_MOST_SENTENCES];
    size_t n = version_changes_take(set, in, max_chars, chosen);
    if (!n) n = version_dates_take(set, chosen);
    if (n) out->support = fmax(out->support, version_changes_support);
    if (!n && (n = exit_codes_take(set, chosen)))
        out->support = fmax(out->support, exit_codes_support);
    bool missing = false;
    if (!n && (n = command_differences_take(set, chosen, &missing)))
        out->support = fmax(out->support, command_differences_support);
    if (missing && least > 0) out->support = fmin(out->support, support_threshold / 2);
    bool plainly = false;
    if (!n && (n = setting_entries_default(set, in, max_chars, chosen, &plainly)) && plainly)
        out->support = fmax(out->support, setting_entries_support);
    if (out->support < least || out->support == 0) return FO_OK;
    const size_t want = in->max_sentences ? in->max_sentences : DEFAULT_SENTENCES;
    const size_t most = want < EXTRACTIVE_MOST_SENTENCES ? want : EXTRACTIVE_MOST_SENTENCES;
    if (!n) {
        task_pages_put_steps_first(set);
        n = choose(set, in, mark_alike(set), most, max_chars, chosen);
        n = task_pages_steps_beside(set, most, max_chars, chosen, n);
        n = setting_entries_default_beside(set, most, max_chars, chosen, n);
        n = meant_commands_name_beside(set, most, chosen, n);
        if (least > 0 && setting_entries_default_missing(set, chosen, n)) {
            out->support = fmin(out->support, support_threshold / 2);
            return FO_OK;
        }
    }
    out->of_cut_table =
        n && chosen[0].unit.kind == TEXT_UNIT_ROW && !in->passages[chosen[0].passage].whole_tables;
    out->several = false;
    for (size_t i = 1; i < n; i++) out->several |= chosen[i].alike;
    n = extractive_text_antecedent(set, in, most, max_chars, chosen, n);
    if (n) {
        fo_buf lead = {0};
        extractive_text_unit(&lead, &in->passages[chosen[0].passage], &chosen[0], chosen[0].end);
        out->lead = fo_buf_take(&lead, NULL);
        if (!out->lead) return fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    }
    extractive_text_order(set, chosen, n);
    out->abstain = n == 0;
    return n ? extractive_text_assemble(out, set, in, chosen, n, err) : FO_OK;
}

/* Each puts some words of the question as the passages write them. */
typedef bool as_written_fn(fo_buf *out, const char *question, const passage *passages, size_t n);
static as_written_fn *const as_written[] = {demand_days_as_written,    number_words_as_written,
                                            size_words_as_written,     span_words_as_written,
                                            month_words_as_written,    office_words_as_written,
                                            compound_words_as_written, ordinal_words_as_written};
enum { N_AS_WRITTEN = sizeof as_written / sizeof *as_written };

int extractive_answer_make(extractive_answer *out, const extractive_input *in, fo_err *err) {
    *out = (extractive_answer){.abstain = true,
                               .features = {.dense = NAN, .align = NAN, .cross = NAN}};
    candidate_set set = {0};
    extractive_input asked = *in;
    fo_buf small = {0}, put[N_AS_WRITTEN] = {0};
    int rc = FO_OK;
    if (!in->question || !in->question[0]) goto done;
    if (small_letters_question(&small, in->question)) asked.question = small.data;
    bool failed = small.failed;
    for (size_t i = 0; i < N_AS_WRITTEN && !failed; i++) {
        if (as_written[i](&put[i], asked.question, in->passages, in->n_passages))
            asked.question = put[i].data;
        failed = put[i].failed;
    }
    if (failed) rc = fo_no_memory(err);
    if (!rc) rc = candidate_set_read(&set, &asked, err);
    if (!rc) rc = answer(out, &set, &asked, err);
done:
    candidate_set_deinit(&set);
    fo_buf_free(&small);
    for (size_t i = 0; i < N_AS_WRITTEN; i++) fo_buf_free(&put[i]);
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
