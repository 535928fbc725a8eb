#include "retrieval/answer/which_one.h"
#include "retrieval/answer/candidates.h"

#include "retrieval/answer/antecedents.h"
#include "retrieval/answer/asked_settings.h"
#include "retrieval/answer/contact_cards.h"
#include "retrieval/answer/contents_lists.h"
#include "retrieval/question/acronyms.h"
#include "retrieval/question/compounds.h"
#include "retrieval/question/fleeting_vowels.h"
#include "retrieval/question/opening_words.h"
#include "retrieval/question/same_words.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/answer/empty_cells.h"
#include "retrieval/answer/default_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/answer/extremes.h"
#include "retrieval/answer/heading_names.h"
#include "retrieval/answer/past_states.h"
#include "retrieval/answer/meant_commands.h"
#include "retrieval/answer/other_commands.h"
#include "retrieval/answer/other_things.h"
#include "retrieval/answer/pointers.h"
#include "retrieval/text/path_names.h"
#include "retrieval/text/rivals.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/row_conditions.h"
#include "retrieval/answer/row_keys.h"
#include "retrieval/answer/row_opposites.h"
#include "retrieval/answer/row_routes.h"
#include "retrieval/answer/setting_entries.h"
#include "retrieval/answer/sibling_things.h"
#include "retrieval/answer/subjects.h"
#include "retrieval/answer/table_names.h"
#include "retrieval/answer/task_pages.h"
#include "retrieval/answer/tiers.h"
#include "retrieval/answer/topics.h"
#include "retrieval/answer/unit_demands.h"
#include "retrieval/answer/unit_wording.h"
#include "retrieval/units/unit_code.h"

enum { MAX_CANDIDATES = 4096 };

/* ---- passages ---------------------------------------------------------------------------- */

/* BM25 with k1 = 0.9, b = 0.4 over what was handed in (title counted), as a share of what the
 * question's words could reach at most. */
static double passage_bm25(const question *q, const uint16_t *tf, double relative_length) {
    double sum = 0, k = 0.9 * (0.6 + 0.4 * relative_length);
    for (size_t i = 0; i < q->n_terms; i++)
        if (tf[i]) sum += q->terms[i].idf * tf[i] * 1.9 / (tf[i] + k);
    return q->mass > 0 ? sum / (1.9 * q->mass) : 0;
}

/* The question's term that word i is, or is made of; -1: none. */
static int term_of_word(const question *q, const fact_text *t, size_t i) {
    int term = question_term_of(q, t->words[i].id);
    if (term >= 0) return japanese_is_other_word(q, t, i) ? -1 : term;
    term = acronym_term_of(q, t, i);
    if (term < 0) term = compound_term_of(q, t, i);
    if (term < 0) term = fleeting_vowel_term_of(q, t, i);
    if (term < 0) term = japanese_term_of(q, t, i);
    if (term < 0) term = same_words_term_of(q, t, i);
    return term < 0 ? opening_term_of(q, t, i) : term;
}

int candidate_passage_read(candidate_passage *cp, const question *q, const lexicon *lx,
                           const passage *p, bool followed, fo_err *err) {
    int rc = fact_passage_read(&cp->text, lx->analyzer, p->text, p->len, p->before, err);
    if (!rc) rc = text_units_read_part(&cp->units, p->text, p->len, p->before, followed, err);
    if (!rc && !(cp->terms = malloc(cp->text.n_words + 1)))
        rc = fo_fail(err, FO_ENOMEM, "out of memory for a passage");
    for (size_t i = 0; !rc && i < cp->text.n_words; i++)
        cp->terms[i] = (int8_t)term_of_word(q, &cp->text, i);
    return rc;
}

void candidate_passage_deinit(candidate_passage *cp) {
    fact_text_deinit(&cp->text);
    text_units_deinit(&cp->units);
    free(cp->terms);
    free(cp->states);
    cp->terms = NULL;
    cp->states = NULL;
}

bool candidate_same_head(const candidate *a, const candidate *b) {
    return a->passage == b->passage && a->unit.head_end > a->unit.head_start &&
           a->unit.head_start == b->unit.head_start;
}

bool candidate_is_option(const candidate_set *set, const candidate *c) {
    return c->unit.kind == TEXT_UNIT_DEFINITION &&
           set->passages[c->passage].text.text[c->start] == '-';
}

int candidate_counted_term(const question *q) {
    const fact_text *t = &q->text;
    for (size_t i = 0; q->demands.counted && i < t->n_words; i++)
        if (t->words[i].start == q->demands.counted) return question_term_of(q, t->words[i].id);
    return -1;
}

/* Which version a heading is of, as logs of changes have them: "## 3.2.0 (2026-08-14)". That of a numbered section, "3.2
 * Fees", is none. */
enum version_of { VERSION_NOT_SAID, VERSION_ASKED, VERSION_OTHER };
static enum version_of version_of_heading(const exact_names *x, const char *s, size_t n) {
    size_t i = 0;
    while (i < n && (s[i] == '#' || s[i] == ' ')) i++;
    const size_t number = i;
    while (i < n && (fo_is_digit(s[i]) || s[i] == '.')) i++;
    const bool numbered = i > number && i + 1 < n && s[i] == ' ' && fo_is_letter(s[i + 1]);
    if (!x->n_versions || numbered) return VERSION_NOT_SAID;
    if (exact_names_versions_in(x, s, n, NULL)) return VERSION_ASKED;
    return exact_names_other_version(x, s, n) ? VERSION_OTHER : VERSION_NOT_SAID;
}

/* Of the nearest such heading of Markdown above the passage. */
static bool begins_in_other_version(const exact_names *x, const passage *p) {
    enum { FARTHEST = 1 << 16 }; /* bytes: a heading farther off is not looked for */
    const char *end = p->text;
    const char *from = end - (p->before < FARTHEST ? p->before : FARTHEST);
    enum version_of v = VERSION_NOT_SAID;
    while (x->n_versions && end > from && v == VERSION_NOT_SAID) {
        const char *line = end - 1;
        while (line > from && line[-1] != '\n') line--;
        if (line[0] == '#') v = version_of_heading(x, line, (size_t)(end - line));
        end = line;
    }
    return v == VERSION_OTHER;
}

static int read_passage(candidate_set *set, size_t index, const extractive_input *in,
                        fact_text *title, uint16_t tf[QUESTION_MAX_TERMS], fo_err *err) {
    candidate_passage *cp = &set->passages[index];
    const passage *p = &in->passages[index];
    const lexicon *lx = in->lx;
    const size_t n_own = in->n_own ? in->n_own[index] : 0;
    const question *q = &set->q;
    const char *t = p->title ? p->title : "";
    int rc = candidate_passage_read(cp, q, lx, p, in->followed >> index & 1, err);
    cp->document = p->document ? p->document : "";
    if (!rc)
        rc = subjects_named_by(t[0] ? &cp->filed : &cp->named, q, lx, cp->document, title, err);
    if (!rc) rc = fact_text_read(title, lx->analyzer, t, strlen(t), err);
    if (rc) return rc;
    cp->lacks_version = !exact_names_versions_in(&q->exact, p->text, p->len, t) &&
                        !exact_names_version_bound_in(p->text, p->len);
    cp->other_version = begins_in_other_version(&q->exact, p);
    memset(tf, 0, QUESTION_MAX_TERMS * sizeof *tf);
    size_t names = exact_names_of_command(t);
    cp->command = names > 0;
    cp->unnamed = names > 0;
    cp->spoken_by_name = exact_names_begins_a_word(q->text.text, q->text.len, t);
    cp->title_text = t;
    cp->heading = p->heading ? p->heading : "";
    cp->whole_tables = p->whole_tables;
    cp->rivals = q->rivals ? rivals_in(t, strlen(t)) : 0;
    cp->other_days = demands_day_in(&q->demands, p->text, p->len) == DAY_OTHER;
    const enum demand_year by_title = demand_year_in(q->demands.year, t, strlen(t)),
                           by_text = demand_year_in(q->demands.year, p->text, p->len);
    cp->other_year = by_title != YEAR_MET && by_text != YEAR_MET &&
                     (by_title == YEAR_OTHER || by_text == YEAR_OTHER);
    for (size_t i = 0; i < title->n_words; i++) {
        int k = term_of_word(q, title, i);
        if (k < 0) continue;
        if (title->words[i].end <= names) cp->unnamed = false;
        cp->title |= 1ull << k;
        if (title->words[i].start + n_own >= title->len) cp->own |= 1ull << k;
        cp->named |= 1ull << k;
        tf[k] += tf[k] < UINT16_MAX;
    }
    for (size_t i = 0; i < cp->text.n_words; i++) {
        int k = cp->terms[i];
        if (k < 0) continue;
        cp->said |= 1ull << k;
        tf[k] += tf[k] < UINT16_MAX;
    }
    const int counted = candidate_counted_term(q);
    cp->uncounted = counted >= 0 && tf[counted] == 0;
    return FO_OK;
}

static int read_passages(candidate_set *set, const extractive_input *in, fo_err *err) {
    size_t n = in->n_passages < EXTRACTIVE_PASSAGES ? in->n_passages : EXTRACTIVE_PASSAGES;
    set->passages = calloc(n + 1, sizeof *set->passages);
    uint16_t(*tf)[QUESTION_MAX_TERMS] = calloc(n + 1, sizeof *tf);
    fact_text title = {0};
    int rc = set->passages && tf ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for passages");
    double words = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        set->n_passages = i + 1;
        rc = read_passage(set, i, in, &title, tf[i], err);
        set->passages[i].spoken_of =
            !rc && in->spoken_of && !strcmp(in->spoken_of, set->passages[i].document);
        words += (double)set->passages[i].text.n_words;
    }
    if (!rc) other_commands_mark(set);
    if (!rc) meant_commands_mark(set, in);
    if (!rc) task_pages_ask(set, in);
    if (!rc) subjects_mark(set);
    for (size_t i = 0; !rc && i < n; i++)
        set->passages[i].bm25 = passage_bm25(
            &set->q, tf[i], (double)set->passages[i].text.n_words * (double)n / (words + 1));
    fact_text_deinit(&title);
    free(tf);
    return rc;
}

/* ---- one sentence ------------------------------------------------------------------------ */

/* What the question asks for, in the word w, which the question does not say. 0: not it. */
static double word_answers(const question *q, const fact_text *t, size_t i, size_t w0) {
    const fact_word *w = &t->words[i];
    size_t n = w->end - w->start;
    bool capital = (w->flags & WORD_CAPITAL) && !(w->flags & WORD_STOP);
    if (capital && i == w0) /* a capital begins every sentence: a second one behind it proves it */
        capital = i + 1 < t->n_words && (w[1].flags & WORD_CAPITAL) && !(w[1].flags & WORD_CLAUSE);
    switch (q->kind) {
    case ASK_TIME:
        if ((w->flags & (WORD_CALENDAR | WORD_TIME)) || ((w->flags & WORD_DIGIT) && n == 4))
            return 1;
        return w->flags & WORD_DIGIT ? 0.5 : 0;
    case ASK_NUMBER:
        return w->flags & WORD_DIGIT ? 1 : w->flags & WORD_NUMERAL ? 0.8 : 0;
    case ASK_PERSON:
    case ASK_NAME:
        return capital;
    case ASK_PLACE:
        return capital ? 1 : w->flags & WORD_PLACE ? 0.3 : 0;
    case ASK_REASON:
        return w->flags & WORD_REASON ? 1 : 0;
    case ASK_OTHER:
        return w->flags & WORD_STOP ? 0 : 1;
    }
    return 0;
}

fact_sentence candidate_words(const fact_text *t, uint32_t start, uint32_t end) {
    fact_sentence s = {start, end, 0, 0};
    size_t low = 0, high = t->n_words;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->words[mid].start < start)
            low = mid + 1;
        else
            high = mid;
    }
    s.w0 = s.w1 = (uint32_t)low;
    while (s.w1 < t->n_words && t->words[s.w1].start < end) s.w1++;
    return s;
}

uint64_t candidate_terms(const candidate_passage *p, uint32_t start, uint32_t end) {
    fact_sentence s = candidate_words(&p->text, start, end);
    uint64_t set = 0;
    for (size_t i = s.w0; i < s.w1; i++)
        if (p->terms[i] >= 0) set |= 1ull << p->terms[i];
    return set;
}

uint64_t candidate_terms_at(const candidate_passage *p, const char *s, size_t n) {
    const uint32_t start = (uint32_t)(s - p->text.text);
    return candidate_terms(p, start, start + (uint32_t)n);
}

uint64_t candidate_head_terms(const candidate_passage *p, const text_unit *u) {
    return candidate_terms(p, u->head_start, u->head_end) |
           candidate_terms(p, u->outer_start, u->outer_end);
}

/* Content positions of the first few occurrences of each term. */
enum { OCCURRENCES = 3 };
typedef struct occurrences {
    uint32_t at[QUESTION_MAX_TERMS][OCCURRENCES];
    uint8_t n[QUESTION_MAX_TERMS];
} occurrences;

static double measure_pairs(const question *q, const occurrences *o) {
    double whole = 0, near = 0;
    for (size_t i = 0; i < q->n_pairs; i++) {
        int a = q->pairs[i][0], b = q->pairs[i][1];
        double w = q->terms[a].idf + q->terms[b].idf;
        whole += w;
        bool is_near = false;
        for (size_t x = 0; x < o->n[a]; x++)
            for (size_t y = 0; y < o->n[b]; y++) is_near |= o->at[b][y] == o->at[a][x] + 1;
        near += is_near ? w : 0;
    }
    return whole > 0 ? near / whole : 0;
}

/* "$ restic init" alone, neither right below what names it nor led in. */
static bool is_stray_example(const fact_text *t, const text_unit *u) {
    return unit_code_is_typed(t->text + u->start, u->end - u->start) &&
           !(u->head_end > u->head_start && u->head_end < u->start &&
             fo_only_blanks(t->text + u->head_end, u->start - u->head_end));
}

/* A heading, a table row, a lead-in without what it leads to, a scrap of a list. */
static double fragment_of(const fact_text *t, const fact_sentence *s, const text_unit *u) {
    if (u->kind == TEXT_UNIT_HEADING || u->kind == TEXT_UNIT_HEADER) return 1;
    if (u->kind != TEXT_UNIT_SENTENCE) return 0;
    size_t n = s->end - s->start, words = 0, bars = 0;
    const char *text = t->text + s->start;
    if (is_stray_example(t, u)) return 1;
    for (size_t i = s->w0; i < s->w1; i++) words += !(t->words[i].flags & WORD_PART);
    for (size_t i = 0; i < n; i++) bars += text[i] == '|';
    if (words < 3) return 1;
    if (text[0] == '#' || text[n - 1] == ':') return 1;
    if (bars > 1) return 0.5;
    bool stops = strchr(".!?)\"'`", text[n - 1]) || (unsigned char)text[n - 1] >= 0x80;
    bool line_ends = s->end >= t->len || t->text[s->end] == '\n';
    return !stops && line_ends && words < 8 ? 0.5 : 0;
}

/* The line of a command's page that says what the command does, which is its title too. */
static bool is_title(const candidate_passage *p, const candidate *c) {
    size_t n = strlen(p->title_text);
    return c->end - c->start == n && memcmp(p->text.text + c->start, p->title_text, n) == 0;
}

/* Mass of the question's words around word i, fading with their distance over eight words. */
static double mass_near(const question *q, const candidate_passage *p, const fact_sentence *s,
                        size_t i) {
    double near = 0;
    size_t lo = i > s->w0 + 8 ? i - 8 : s->w0, hi = i + 8 < s->w1 ? i + 8 : s->w1 - 1;
    for (size_t j = lo; j <= hi; j++) {
        if (p->terms[j] < 0) continue;
        double d = j > i ? (double)(j - i) : (double)(i - j);
        near += q->terms[p->terms[j]].idf / q->mass / (1 + d / 4);
    }
    return near;
}

static void measure_words(const candidate_set *set, const candidate_passage *p,
                          const fact_sentence *s, candidate *c) {
    const question *q = &set->q;
    const fact_text *t = &p->text;
    occurrences o;
    memset(o.n, 0, sizeof o.n);
    uint32_t content = 0;
    double type = 0, type_near = 0;
    for (size_t i = s->w0; i < s->w1; i++) {
        const fact_word *w = &t->words[i];
        int k = p->terms[i];
        if (k >= 0 && o.n[k] < OCCURRENCES) o.at[k][o.n[k]++] = content;
        if (w->flags & WORD_PART) continue;
        if (!(w->flags & WORD_STOP) || k >= 0) content++;
        if (k >= 0 || question_says(q, w->id)) continue;
        double answers = word_answers(q, t, i, s->w0);
        if (answers <= 0) continue;
        type = fmax(type, answers);
        type_near = fmax(type_near, answers * mass_near(q, p, s, i));
    }
    c->f[CAND_TYPE] = type;
    c->f[CAND_TYPE_NEAR] = fmin(type_near, 1);
    c->f[CAND_PAIRS] = measure_pairs(q, &o);
}

static void measure_cover(const candidate_set *set, const candidate_passage *p, size_t unit,
                          const uint64_t *sets, candidate *c) {
    const question *q = &set->q;
    uint64_t known = c->set | p->title | candidate_head_terms(p, &c->unit) |
                     unit_demands_calendar(q, p, &c->unit) | unit_demands_number(q, p, &c->unit);
    if (antecedent_of(p, (uint32_t)unit)) known |= sets[unit - 1];
    c->f[CAND_COVER] = question_share(q, known);
    uint64_t before = unit > 0 ? sets[unit - 1] : 0;
    uint64_t after = unit + 1 < p->units.n ? sets[unit + 1] : 0;
    if (unit > 1) after |= sets[unit - 2];
    before &= ~known;
    after &= ~known & ~before;
    c->f[CAND_NEIGHBOURS] = question_share(q, before) + 0.5 * question_share(q, after);
    for (size_t i = 0; i < q->n_terms; i++) {
        const question_term *t = &q->terms[i];
        double share = t->idf / q->mass;
        if (c->set >> i & 1) c->f[CAND_BEST_IDF] = fmax(c->f[CAND_BEST_IDF], share);
        if (known >> i & 1) continue;
        if (t->rare) c->f[CAND_MISSING_RARE] += share;
        if (t->name) c->f[CAND_MISSING_NAME] += share;
        if (t->code) c->f[CAND_MISSING_CODE] = 1;
    }
    if (p->lacks_version) c->f[CAND_MISSING_CODE] = 1;
}

/* Of a question's mass: "option" and "use" in it need not be met. */
static const double MOST = 0.7;

/* Bytes of the options that a unit begins with and goes on to explain: a definition's tag, the first cell of a row, the first word
 * of "--read-only serves a home that nothing may be written to". 0: it begins with none. */
static size_t option_tag(const text_unit *u, const char *text, uint32_t *from) {
    const char *s = text + u->start;
    const size_t n = u->end - u->start;
    table_pair first;
    if (u->kind == TEXT_UNIT_ROW) {
        if (!table_row_first(s, n, u->record, &first) || first.value[0] != '-') return 0;
        *from = (uint32_t)(first.value - text);
        return first.n_value;
    }
    const size_t mark = u->kind == TEXT_UNIT_ITEM ? text_item_mark(s, n) : 0;
    *from = u->start + (uint32_t)mark;
    if (mark >= n || s[mark] != '-') return 0;
    if (u->kind == TEXT_UNIT_DEFINITION) return u->body - u->start;
    size_t end = mark;
    while (end < n && !fo_is_blank(s[end])) end++;
    return end < n ? end - mark : 0;
}

/* Options that the question names: a unit that speaks of none of them, nor hangs on one, answers
 * nothing; the one that explains one is what was asked for. */
static void measure_options(const candidate_set *set, const candidate_passage *p, candidate *c) {
    const exact_names *x = &set->q.exact;
    const text_unit *u = &c->unit;
    const char *text = p->text.text;
    if (!x->n_options) return;
    size_t named = exact_names_options_in(x, text + u->start, u->end - u->start);
    size_t head = exact_names_options_in(x, text + u->head_start, u->head_end - u->head_start);
    if (named + head == 0 || p->other_command) c->f[CAND_MISSING_CODE] = 1;
    uint32_t from;
    const size_t tag = option_tag(u, text, &from);
    if (tag && !p->other_command && c->f[CAND_COVER] >= MOST && !memchr(text + from, '|', tag) &&
        exact_names_options_in(x, text + from, tag))
        c->f[CAND_OPTION] = 1;
}

/* ---- the list ---------------------------------------------------------------------------- */

static int push(candidate_set *set, const candidate *c, fo_err *err) {
    if (set->n == set->cap) {
        size_t cap = set->cap ? 2 * set->cap : 64, bytes;
        candidate *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(set->c, bytes) : NULL;
        if (!p) return fo_fail(err, FO_ENOMEM, "out of memory for the sentences");
        set->c = p;
        set->cap = cap;
    }
    set->c[set->n] = *c;
    set->c[set->n++].cross = NAN;
    return FO_OK;
}

/* The text proper of a sentence: bullets and quote marks of Markdown before it are cut off. */
static uint32_t skip_bullet(const fact_text *t, const fact_sentence *s) {
    uint32_t i = s->start;
    while (i < s->end && strchr("-*+>| \t", t->text[i]) && t->text[i]) {
        if (i + 1 < s->end && strchr("-*+", t->text[i]) && t->text[i + 1] != ' ')
            break; /* -x, **bold**: part of the text */
        i++;
    }
    return i < s->end ? i : s->start;
}

/* Does the question, word by word, end before word `end` of the unit? *first: its first word there. */
static bool is_question_before(const question *q, const fact_text *t, const fact_sentence *s,
                               size_t end, size_t *first) {
    enum { FEWEST = 4 };
    const fact_text *asked = &q->text;
    size_t i = asked->n_words, j = end, same = 0;
    for (;; i--, j--, same++) {
        while (i > 0 && (asked->words[i - 1].flags & WORD_PART)) i--;
        *first = j;
        while (j > s->w0 && (t->words[j - 1].flags & WORD_PART)) j--;
        if (i == 0) return same >= FEWEST;
        if (j == s->w0 || asked->words[i - 1].id != t->words[j - 1].id) return false;
    }
}

/* Does the stretch between two words stand in quotation marks, but for the sign that ends it? */
static bool is_quoted(const fact_text *t, size_t start, size_t end) {
    while (end < t->len && strchr("?!.", t->text[end]) && t->text[end]) end++;
    return start > 0 && t->text[start - 1] == '"' && end < t->len && t->text[end] == '"';
}

static bool is_asked_at(const fact_text *t, size_t at) {
    return at < t->len && t->text[at] == '?';
}

/* Does the unit end in the question, asked, or quote it? An example of how to ask is met by every word, and
 * answers nothing, whatever stands beside it; behind a question that somebody asked an answer may
 * stand, and "--keep N | how many versions are kept" asks nothing. */
static bool shows_how_to_ask(const question *q, const fact_text *t, const fact_sentence *s) {
    size_t first;
    for (size_t end = s->w1; end > s->w0; end--)
        if (is_question_before(q, t, s, end, &first) &&
            ((end == s->w1 && is_asked_at(t, t->words[end - 1].end)) ||
             is_quoted(t, t->words[first].start, t->words[end - 1].end)))
            return true;
    return false;
}

/* Unit i; when a message was sent, and the one before it, is no part of what is measured: it is no time that the message names. */
static text_unit without_stamps(const candidate_passage *p, size_t i) {
    text_unit u = p->units.v[i];
    if (u.kind != TEXT_UNIT_TURN) return u;
    const text_unit *before = i > 0 ? &p->units.v[i - 1] : &u;
    if (u.head_end > u.head_start && u.head_start == before->start) u.head_start = before->body;
    u.start = u.body;
    return u;
}

/* Where the bytes begin that say a unit: an answer in a chat is read and said with the question before it. */
static uint32_t said_from(const text_unit *u) {
    return u->kind == TEXT_UNIT_TURN && u->head_kind == TEXT_UNIT_TURN ? u->head_start : u->start;
}

/* Words from which on a sentence runs on. Sentences of other languages go on behind a comma where one in English ends, in Arabic more
 * than elsewhere; of Chinese and Japanese each sign counts as a word, and a word is of two or three. */
static double most_words_of(const fact_text *t) {
    enum { ENGLISH = 64, ELSEWHERE = 128, IN_SIGNS = 320 };
    if (t->language < 0) return ENGLISH;
    const bool in_signs =
        language_is(t->language, "chinese") || language_is(t->language, "japanese");
    return in_signs ? IN_SIGNS : ELSEWHERE;
}

static int read_candidates(candidate_set *set, size_t index, double best, fo_err *err) {
    const candidate_passage *p = &set->passages[index];
    const fact_text *t = &p->text;
    uint64_t *sets = malloc((p->units.n + 1) * sizeof *sets);
    if (!sets) return fo_fail(err, FO_ENOMEM, "out of memory for the units");
    for (size_t i = 0; i < p->units.n; i++)
        sets[i] = candidate_terms(p, without_stamps(p, i).start, p->units.v[i].end);
    double *topic = calloc(p->units.n + 1, sizeof *topic);
    int rc = topic ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for the units");
    if (!rc) topics_of_words(&set->q, p, topic);
    bool how = question_asks_how(&set->q);
    const exact_names *names = &set->q.exact;
    const double most_words = most_words_of(t);
    bool other_version = p->other_version;
    for (size_t i = 0; !rc && i < p->units.n && set->n < MAX_CANDIDATES; i++) {
        const text_unit measured = without_stamps(p, i), *u = &measured;
        fact_sentence s = candidate_words(t, u->start, u->end);
        if (u->kind == TEXT_UNIT_HEADING) {
            const enum version_of v =
                version_of_heading(names, t->text + u->start, u->end - u->start);
            if (v != VERSION_NOT_SAID) other_version = v == VERSION_OTHER;
        }
        if (u->named) continue; /* chosen in the place of one of its items, if at all */
        if (s.w0 == s.w1 || shows_how_to_ask(&set->q, t, &s)) continue;
        candidate c = {.passage = (uint32_t)index,
                       .order = (uint32_t)i,
                       .start = u->kind == TEXT_UNIT_SENTENCE ? skip_bullet(t, &s)
                                                              : said_from(&p->units.v[i]),
                       .end = u->end,
                       .unit = *u,
                       .w0 = s.w0,
                       .w1 = s.w1,
                       .set = sets[i],
                       .cosine = NAN};
        measure_cover(set, p, i, sets, &c);
        measure_words(set, p, &s, &c);
        c.f[CAND_FIRST] = i == 0;
        c.f[CAND_QUESTION] = u->kind == TEXT_UNIT_TURN ? u->asks : t->text[u->end - 1] == '?';
        c.f[CAND_FRAGMENT] = fragment_of(t, &s, u);
        if (how && p->command && is_title(p, &c)) {
            c.f[CAND_SUMMARY] = 1;
            c.f[CAND_FRAGMENT] = 0;
        }
        c.f[CAND_SPARSE] = best > 0 ? p->bm25 / best : 0;
        c.f[CAND_OTHER_PURPOSE] =
            how && !names->n_options && p->command && p->unnamed && !p->title && !p->spoken_by_name;
        c.f[CAND_ENTRY] = how && !p->unnamed && u->kind == TEXT_UNIT_DEFINITION;
        if (other_version &&
            !exact_names_versions_in(names, t->text + u->start, u->end - u->start, NULL))
            c.f[CAND_MISSING_CODE] = 1;
        measure_options(set, p, &c);
        unit_demands_measure(set, p, &c);
        const size_t n_words = s.w1 - s.w0;
        if (u->kind != TEXT_UNIT_SENTENCE)
            c.f[CAND_LENGTH] = fmax(0, log2((double)n_words / 12));
        else
            c.f[CAND_RUN_ON] = fmax(0, log2((double)n_words / most_words));
        c.f[CAND_TOPIC] = topic[i];
        if (unit_names_only_others(&set->q, p, u)) {
            c.f[CAND_BY_TABLE] = 1;
            c.f[CAND_MISSING_NAME] = 0; /* that it is not among them is the answer */
        }
        c.f[CAND_OTHER_THING] = other_thing_of(set, p, u);
        c.f[CAND_STEPS] = how && u->kind == TEXT_UNIT_STEPS;
        c.f[CAND_STEP] = how && u->kind == TEXT_UNIT_ITEM && u->head_kind == TEXT_UNIT_ITEM;
        rc = push(set, &c, err);
    }
    rows_set_apart(set, index);
    rows_of_others_set_apart(set, index);
    rows_set_apart_beside_empty(set, index);
    items_set_apart(set, index);
    extremes_mark(set, index);
    rows_pick_what_has_it(set, index);
    rows_pick_by_key(set, index);
    rows_follow_the_route(set, index);
    rows_set_opposites_apart(set, index);
    rows_pick_by_cell(set, index);
    free(topic);
    free(sets);
    return rc;
}

static double dot(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* A table has no longest text and embeds a sentence in microseconds; an encoder takes milliseconds
 * for each, which is too long for every sentence of every context. */
static bool is_cheap(const embedder *e) {
    return embedder_max_tokens(e) >= 100000;
}

/* Cosines of the sentences with the question. */
static int embed_sentences(candidate_set *set, const extractive_input *in, fo_err *err) {
    size_t dim = embedder_dim(in->emb), n = set->n, floats, bytes;
    if (dim == 0 || n == 0) return FO_OK;
    const char **texts = calloc(n + 1, sizeof *texts);
    size_t *lens = calloc(n + 1, sizeof *lens);
    float *v = fo_mul_size(n + 1, dim, &floats) && fo_mul_size(floats, sizeof *v, &bytes)
                   ? malloc(bytes)
                   : NULL;
    int rc = texts && lens && v ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for vectors");
    for (size_t i = 0; !rc && i < n; i++) {
        const candidate *c = &set->c[i];
        texts[i] = in->passages[c->passage].text + c->start;
        lens[i] = c->end - c->start;
    }
    size_t q_len = strlen(in->question);
    if (!rc) rc = embedder_embed(in->emb, EMBED_QUERY, &in->question, &q_len, 1, v + n * dim, err);
    if (!rc) rc = embedder_embed(in->emb, EMBED_PASSAGE, texts, lens, n, v, err);
    for (size_t i = 0; !rc && i < n; i++) set->c[i].cosine = dot(v + i * dim, v + n * dim, dim);
    free(texts);
    free(lens);
    free(v);
    return rc;
}

/* x[i] becomes its distance from the mean in standard deviations; 0 where nothing is known. */
static void standardise(double *x, size_t n) {
    double sum = 0, squares = 0, known = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) continue;
        known++;
        sum += x[i];
        squares += x[i] * x[i];
    }
    double mean = known > 0 ? sum / known : 0;
    double variance = known > 0 ? squares / known - mean * mean : 0;
    double scale = variance > 1e-9 ? 1 / sqrt(variance) : 0;
    for (size_t i = 0; i < n; i++) x[i] = isfinite(x[i]) ? (x[i] - mean) * scale : 0;
}

static int standardise_dense(candidate_set *set, const extractive_input *in, fo_err *err) {
    size_t n = set->n > set->n_passages ? set->n : set->n_passages;
    double *x = calloc(n + 1, sizeof *x);
    if (!x) return fo_fail(err, FO_ENOMEM, "out of memory for scores");
    for (size_t i = 0; i < set->n; i++) x[i] = set->c[i].cosine;
    standardise(x, set->n);
    for (size_t i = 0; i < set->n; i++) set->c[i].f[CAND_DENSE] = x[i];
    for (size_t i = 0; i < set->n_passages; i++) {
        x[i] = in->passages[i].dense;
        set->dense |= isfinite(x[i]);
    }
    standardise(x, set->n_passages);
    for (size_t i = 0; i < set->n; i++) set->c[i].f[CAND_DENSE_PASSAGE] = x[set->c[i].passage];
    free(x);
    return FO_OK;
}

/* What the reader says of passages and units. */
/* What points back at the sentence before it stands below that one, so to speak. */
static reading_unit unit_to_read(const candidate_set *set, const candidate *c) {
    reading_unit out = {c->passage, c->unit};
    const text_unit *before = antecedent_of(&set->passages[c->passage], c->order);
    if (before && out.unit.outer_end == out.unit.outer_start) {
        out.unit.outer_start = before->start;
        out.unit.outer_end = before->end;
    }
    return out;
}

static int read_closely(candidate_set *set, const extractive_input *in, fo_err *err) {
    reading *r;
    int rc = reading_create(&r, in->reader, in->question, in->passages, set->n_passages, in->cancel,
                            err);
    if (rc) return rc;
    reading_unit *units = calloc(set->n + 1, sizeof *units);
    reading_values *values = calloc(set->n + 1, sizeof *values);
    rc = units && values ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    for (size_t i = 0; !rc && i < set->n; i++) units[i] = unit_to_read(set, &set->c[i]);
    if (!rc) rc = reading_units_measure(r, units, set->n, values, err);
    for (size_t i = 0; !rc && i < set->n; i++) {
        candidate *c = &set->c[i];
        c->f[CAND_ALIGN] = values[i].align;
        c->f[CAND_ALIGN_LEAST] = values[i].least;
        c->f[CAND_ALIGN_PASSAGE] = reading_of_passage(r, c->passage);
        c->f[CAND_ALIGN_BACK] = values[i].back;
    }
    for (size_t i = 0; !rc && i < set->n_passages; i++)
        set->passages[i].align = reading_of_passage(r, i);
    set->read = !rc;
    free(units);
    free(values);
    reading_free(r);
    return rc;
}

int candidate_set_read(candidate_set *set, const extractive_input *in, fo_err *err) {
    int rc = question_read(&set->q, in->lx, in->question, strlen(in->question), err);
    if (!rc) set->n_path = path_name_asked(&set->path, set->q.text.text, set->q.text.len);
    if (!rc) rc = read_passages(set, in, err);
    if (!rc) rc = past_states_mark(set, err);
    double best = 0;
    for (size_t i = 0; i < set->n_passages; i++) {
        best = fmax(best, set->passages[i].bm25);
        set->passages[i].align = NAN;
    }
    for (size_t i = 0; !rc && i < set->n_passages; i++) rc = read_candidates(set, i, best, err);
    if (!rc) rc = table_names_mark(set, err);
    if (!rc) heading_names_mark(set);
    if (!rc) contact_cards_mark(set);
    if (!rc) sibling_things_mark(set);
    if (!rc) rc = contents_lists_mark(set, err);
    if (!rc) pointers_mark(set);
    if (!rc) which_one_mark(set);
    if (!rc) tiers_mark(set);
    if (!rc) setting_entries_mark(set);
    if (!rc) default_figures_mark(set);
    if (!rc) asked_settings_mark(set);
    if (!rc && in->emb && is_cheap(in->emb)) rc = embed_sentences(set, in, err);
    if (!rc) rc = standardise_dense(set, in, err);
    if (!rc && in->reader && set->n) rc = read_closely(set, in, err);
    if (!rc && set->read) rc = topics_of_reading(set, in, err);
    if (!rc) rc = task_pages_read(set, in, err);
    if (!rc) tiers_settle(set);
    if (!rc) subjects_keep_to_the_talk(set);
    return rc;
}

void candidate_set_deinit(candidate_set *set) {
    for (size_t i = 0; i < set->n_passages; i++) {
        candidate_passage_deinit(&set->passages[i]);
    }
    question_deinit(&set->q);
    free(set->passages);
    free(set->c);
    *set = (candidate_set){0};
}
