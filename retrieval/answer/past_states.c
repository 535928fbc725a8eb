#include "retrieval/answer/past_states.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/text/word_tokens.h"

/* What a passage's section says of itself up to a unit: candidate_passage.states. */
enum { STATE_SUPERSEDED = 1, STATE_CORRECTION = 2 };

static const char *bytes_of(const candidate_set *set, const candidate *c, size_t *n) {
    *n = c->end - c->start;
    return set->passages[c->passage].text.text + c->start;
}

/* ---- sections ------------------------------------------------------------------------------------ */

/* "ADR 9: Session store": the word of a heading that a number stands right behind; n is 0: none is. */
static word_token numbered_by(const char *s, size_t n) {
    size_t at = 0;
    word_token word = word_token_next(s, n, &at);
    while (word_token_is(&word, "#")) word = word_token_next(s, n, &at);
    const word_token number = word_token_next(s, n, &at);
    return word.letters && number.digits ? word : (word_token){0};
}

static bool is_same_word(const word_token *a, const word_token *b) {
    return a->n && a->n == b->n && !strncasecmp(a->s, b->s, a->n);
}

/* "Superseded", with no noun behind it that it would belong to: "withdrawn cases are closed". `at` is behind the word. */
static bool is_over(const char *s, size_t n, const word_token *word, size_t at) {
    const word_token behind = word_token_next(s, n, &at);
    return word_token_in("superseded obsolete withdrawn outdated repealed rescinded", word) &&
           ((!behind.letters && !behind.digits) ||
            word_token_in("by in on as from since and with", &behind));
}

/* "ADR 9 (superseded)", "ADR 9: withdrawn", "ADR 9 superseded", not "Supersedes ADR 9" nor "Limits on cash withdrawn abroad". */
static bool heading_is_over(const char *s, size_t n) {
    word_token last = {0};
    size_t at = 0;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t) {
        const bool set_off = word_token_is(&last, "(") || word_token_is(&last, "[") ||
                             word_token_is(&last, ":") || word_token_is_dash(&last);
        size_t behind = at;
        if (is_over(s, n, &t, at) && (set_off || !word_token_next(s, n, &behind).n)) return true;
    }
    return false;
}

/* Bytes of "Status:" that the unit begins with, its item's mark among them; 0: it is no status. */
static size_t status_mark(const char *s, size_t n) {
    size_t at = text_item_mark(s, n);
    const word_token first = word_token_next(s, n, &at), colon = word_token_next(s, n, &at);
    return word_token_in("status state", &first) && word_token_is(&colon, ":") ? at : 0;
}

static bool status_is_over(const char *s, size_t n) {
    size_t at = status_mark(s, n);
    if (!at) return false;
    word_token word = word_token_next(s, n, &at);
    while (word_token_is(&word, "*") || word_token_is(&word, "_"))
        word = word_token_next(s, n, &at);
    return is_over(s, n, &word, at);
}

static int by_place(const void *x, const void *y) {
    const uint32_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* Below what each status of a passage stands, ascending. */
typedef struct statuses {
    uint32_t *below;
    size_t n;
} statuses;

static int read_statuses(statuses *out, const candidate_passage *p, fo_err *err) {
    if (!(out->below = malloc((p->units.n + 1) * sizeof *out->below))) return fo_no_memory(err);
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        if (status_mark(p->text.text + u->start, u->end - u->start) > 0)
            out->below[out->n++] = candidate_below(u);
    }
    qsort(out->below, out->n, sizeof *out->below, by_place);
    return FO_OK;
}

/* Is it one of several of a list, which says what each of them means? */
static bool is_one_of_several(const statuses *all, const text_unit *status) {
    const uint32_t below = candidate_below(status), *at;
    at = bsearch(&below, all->below, all->n, sizeof below, by_place);
    return at && ((at > all->below && at[-1] == below) ||
                  (at + 1 < all->below + all->n && at[1] == below));
}

typedef struct section {
    word_token kind; /* what numbered sections are called, "ADR" */
    bool over;
} section;

static section section_below(const section *in, const char *s, size_t n) {
    const word_token kind = numbered_by(s, n);
    if (!kind.n && in->kind.n) return *in; /* "Context" is a part of "ADR 9" */
    if (!kind.n || !in->kind.n || is_same_word(&kind, &in->kind))
        return (section){kind, heading_is_over(s, n)};
    return *in;
}

/* Does its section say of itself that it holds no longer: a heading "ADR 9 (superseded)" or "Status: withdrawn" below one, not
 * "Limits on cash withdrawn abroad" nor one of a list that says what each status means? A numbered section goes on up to the next of its
 * kind, any other up to the next heading. */
static int mark_superseded(candidate_passage *p, fo_err *err) {
    statuses all = {0};
    const int rc = read_statuses(&all, p, err);
    section in = section_below(&(section){0}, p->heading, strlen(p->heading));
    for (size_t i = 0; !rc && i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        const char *s = p->text.text + u->start;
        const size_t n = u->end - u->start;
        if (u->kind == TEXT_UNIT_HEADING) in = section_below(&in, s, n);
        if (status_is_over(s, n) && !is_one_of_several(&all, u)) in.over = true;
        if (in.over) p->states[i] |= STATE_SUPERSEDED;
    }
    free(all.below);
    return rc;
}

static bool is_superseded(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    size_t i = c->order;
    while (i + 1 < p->units.n && p->units.v[i + 1].start <= c->unit.start) i++;
    return p->states[i] & STATE_SUPERSEDED;
}

/* "What came after ADR 9?", "Which one replaces ADR 9?": another one is asked for. */
static bool asks_of_its_neighbours(const question *q) {
    word_token before = {0}, last = {0};
    size_t at = 0;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;
         before = last, last = t) {
        const word_token *leads = word_token_in("the", &last) ? &before : &last;
        if (!word_token_in("after before from replace replaces replaced follow follows followed",
                           leads))
            continue;
        for (size_t k = 0; k < q->exact.n_numbered; k++) {
            const exact_name *x = &q->exact.numbered[k];
            if (x->n <= q->text.len - (size_t)(t.s - q->text.text) && !strncasecmp(x->s, t.s, x->n))
                return true;
        }
    }
    return false;
}

/* "This replaces ADR 9": does it name the number itself that is asked about, wherever it stands? */
static bool names_the_number(const exact_names *x, const char *s, size_t n) {
    for (size_t k = 0; k < x->n_numbered; k++) {
        const exact_name *name = &x->numbered[k];
        for (size_t i = 0; i + name->n <= n; i++) {
            const char behind = i + name->n < n ? s[i + name->n] : 0;
            if ((i == 0 || !fo_is_letter(s[i - 1])) && !fo_is_digit(behind) &&
                !fo_is_letter(behind) && !strncasecmp(s + i, name->s, name->n))
                return true;
        }
    }
    return false;
}

bool past_states_is_of_another_number(const candidate_set *set, const candidate_passage *p,
                                      const text_unit *u) {
    const exact_names *x = &set->q.exact;
    if (!x->n_numbered || names_the_number(x, p->text.text + u->start, u->end - u->start) ||
        asks_of_its_neighbours(&set->q))
        return false;
    bool other = exact_names_other_number(x, p->heading, strlen(p->heading));
    for (size_t i = 0; i < p->units.n && p->units.v[i].start < u->start; i++) {
        const text_unit *h = &p->units.v[i];
        const char *s = p->text.text + h->start;
        const size_t n = h->end - h->start;
        if (h->kind == TEXT_UNIT_HEADING && numbered_by(s, n).n)
            other = exact_names_other_number(x, s, n);
    }
    return other;
}

/* Does the question ask for what is over: by its number, or as such? */
static bool asks_of_the_past(const candidate_set *set) {
    return set->q.exact.n_numbered || set->q.asks.past;
}

/* ---- what was so --------------------------------------------------------------------------------- */

/* Verbs that say how something is, behind "was" and in the present: a change is none, for what "was moved to Leeds" is there now. */
static const struct {
    const char *was, *is;
} states[] = {
    {"kept", "keep keeps"},
    {"stored", "store stores"},
    {"held", "hold holds"},
    {"housed", "house houses"},
    {"run", "run runs"},
    {"led", "lead leads"},
    {"owned", "own owns"},
    {"managed", "manage manages"},
    {"hosted", "host hosts"},
    {"headed", "head heads"},
    {"served", "serve serves"},
    {"sold", "sell sells"},
    {"offered", "offer offers"},
    {"paid", "pay pays"},
    {"charged", "charge charges"},
    {"located", ""},
    {"based", ""},
};
enum { N_STATES = sizeof states / sizeof *states };

/* Which of them it is behind "was"; -1: none. */
static int state_of(const word_token *t) {
    for (int i = 0; i < N_STATES; i++)
        if (word_token_in(states[i].was, t)) return i;
    return -1;
}

/* The verb of a state behind "was" or "were", or a word of the past alone; n is 0: it says none, or something of the present as well. */
static word_token past_state(const char *s, size_t n) {
    word_token found = {0}, last = {0};
    size_t at = 0;
    bool was = false;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t) {
        if (word_token_in("is are has have does do now today currently since remains still", &t))
            return (word_token){0};
        if (word_token_in("formerly previously originally", &t) ||
            (word_token_in("used", &last) && word_token_in("to", &t)))
            found = t;
        if (was && state_of(&t) >= 0) found = t;
        was = word_token_in("was were", &t) || (was && t.n > 2 && !memcmp(t.s + t.n - 2, "ly", 2));
    }
    return found;
}

/* "Since then the company has been led by", "It is now kept in". */
static bool says_since_when(const char *s, size_t n) {
    return word_tokens_say("since now today currently nowadays", s, n) &&
           word_tokens_say("is are has have", s, n);
}

static bool says_was(const char *s, size_t n) {
    return word_tokens_say("was were had did", s, n);
}

/* The first word of weight of words w..end; end: none. */
static uint32_t content_from(const fact_text *t, uint32_t w, uint32_t end) {
    while (w < end && !fact_is_content(&t->words[w])) w++;
    return w;
}

/* Of what `past` says how it was, by the verb of a state, does c say how it is, by the same verb? "We keep keys", "Keys are kept"
 * behind "Keys were kept", not "Photographs are kept". */
static bool says_in_the_present(const candidate_set *set, const candidate *c, const candidate *past,
                                const word_token *verb) {
    const fact_text *t = &set->passages[c->passage].text, *of = &set->passages[past->passage].text;
    const int state = state_of(verb);
    const uint32_t thing = content_from(of, past->w0, past->w1),
                   first = content_from(t, c->w0, c->w1);
    bool met = false, be = false;
    if (state < 0 || thing == past->w1 || first == c->w1) return false;
    for (uint32_t i = c->w0; i < c->w1; i++) {
        const char *s = t->text + t->words[i].start;
        const size_t n = t->words[i].end - t->words[i].start;
        if (fo_words_have_any_case("was were had did", s, n)) return false;
        if (be && fo_words_have_any_case(states[state].was, s, n))
            met |= t->words[first].id == of->words[thing].id;
        be |= fo_words_have_any_case("is are", s, n);
        const uint32_t behind = content_from(t, i + 1, c->w1);
        if (fo_words_have_any_case(states[state].is, s, n) && behind < c->w1)
            met |= t->words[behind].id == of->words[thing].id;
    }
    return met;
}

/* Is a word of the question that the best has the first noun of c as well? "We keep sessions" behind "sessions were kept". */
static bool is_of_one_thing(const candidate_set *set, const candidate *c, const candidate *best) {
    return (c->set & best->set) != 0 &&
           candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]);
}

/* ---- corrections --------------------------------------------------------------------------------- */

/* "In our report we wrote", "We also gave the name as", "our article said"; not "if we gave you a wrong number" nor "we are told". */
static bool reports_own_words(const char *s, size_t n) {
    static const char says[] =
        "wrote said gave stated reported printed published claimed announced told named called "
        "spelled spelt quoted misstated misspelled";
    word_token before = {0}, last = {0};
    size_t at = 0;
    bool met = false;
    for (word_token t; (t = word_token_next(s, n, &at)).n; before = last, last = t) {
        if (word_token_in("if", &t)) return false;
        const bool beside = word_token_in("also had have wrongly mistakenly erroneously", &last);
        met |= word_token_in(says, &t) &&
               (word_token_in("we", beside ? &before : &last) || word_token_in("our", &before));
    }
    return met;
}

/* Below a heading "Correction", in a section that reports own words: "Corrections" of a payslip are none. */
static bool is_correction(const candidate_passage *p, const char *heading, size_t n, size_t from,
                          size_t end) {
    static const char corrects[] =
        "correction corrections corrigendum corrigenda erratum errata corrected";
    if (!word_tokens_say(corrects, heading, n)) return false;
    for (size_t i = from; i < end; i++) {
        const text_unit *u = &p->units.v[i];
        if (reports_own_words(p->text.text + u->start, u->end - u->start)) return true;
    }
    return false;
}

/* Section by section; a heading stands below the one before it. */
static void mark_corrections(candidate_passage *p) {
    const char *heading = p->heading;
    size_t n = strlen(heading);
    for (size_t from = 0, end; from < p->units.n; from = end + 1) {
        for (end = from; end < p->units.n && p->units.v[end].kind != TEXT_UNIT_HEADING;) end++;
        const bool correction = is_correction(p, heading, n, from, end);
        for (size_t i = from; correction && i <= end && i < p->units.n; i++)
            p->states[i] |= STATE_CORRECTION;
        if (end == p->units.n) return;
        heading = p->text.text + p->units.v[end].start;
        n = p->units.v[end].end - p->units.v[end].start;
    }
}

static bool is_below_a_correction(const candidate_set *set, const candidate *c) {
    return set->passages[c->passage].states[c->order] & STATE_CORRECTION;
}

int past_states_mark(candidate_set *set, fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < set->n_passages; i++) {
        candidate_passage *p = &set->passages[i];
        p->states = calloc(p->units.n + 1, sizeof *p->states);
        rc = p->states ? mark_superseded(p, err) : fo_no_memory(err);
        if (!rc) mark_corrections(p);
    }
    return rc;
}

bool past_states_reports_an_error(const candidate_set *set, const candidate *c) {
    size_t n;
    const char *s = bytes_of(set, c, &n);
    return reports_own_words(s, n) &&
           (is_below_a_correction(set, c) ||
            word_tokens_say(
                "wrong wrongly mistake mistakenly incorrect incorrectly error erroneously", s, n));
}

/* Are all words of weight of the best in c, which reports them as an error? */
static bool corrects(const candidate_set *set, const candidate *c) {
    enum { FEWEST = 2 };
    const candidate *best = &set->c[0];
    const fact_text *of = &set->passages[best->passage].text, *in = &set->passages[c->passage].text;
    size_t n = 0;
    if (!candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) ||
        !past_states_reports_an_error(set, c) || past_states_reports_an_error(set, best))
        return false;
    for (uint32_t i = best->w0; i < best->w1; i++) {
        if (!fact_is_content(&of->words[i])) continue;
        if (!fact_says(in, c->w0, c->w1, of->words[i].id)) return false;
        n++;
    }
    return n >= FEWEST;
}

/* ---- counts -------------------------------------------------------------------------------------- */

/* "The number of the sick has gone up to 61", "The toll now stands at 61". */
static bool says_a_new_count(const char *s, size_t n) {
    word_token last = {0};
    size_t at = 0;
    bool counted = false, moved = false;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t) {
        counted |= word_token_in("number numbers count total toll figure tally", &t);
        moved |= counted &&
                 word_token_in("gone risen rose climbed increased grown grew fallen fell dropped "
                               "revised stands stood",
                               &t);
        if (moved && t.digits && word_token_in("to at", &last)) return true;
    }
    return false;
}

/* Is all that was counted asked for, or does the newer of two counts stand below a later day? */
static bool is_of_later(const candidate_set *set, const candidate *newer, const candidate *older) {
    const question *q = &set->q;
    const int day = dated_heading_above(&set->passages[older->passage], &older->unit);
    return word_tokens_say("total altogether overall eventually finally now", q->text.text,
                           q->text.len) ||
           (day && day < dated_heading_above(&set->passages[newer->passage], &newer->unit));
}

/* "It has gone up to 61" behind "At least 43 are ill" of the same document. */
static bool is_counted_anew(const candidate_set *set, const candidate *newer,
                            const candidate *older) {
    size_t n, n_older;
    const char *s = bytes_of(set, newer, &n), *of = bytes_of(set, older, &n_older);
    return set->q.kind == ASK_NUMBER && says_a_new_count(s, n) && fo_has_digit(of, n_older) &&
           !says_a_new_count(of, n_older) &&
           candidate_one_document(&set->passages[newer->passage], &set->passages[older->passage]) &&
           is_of_later(set, newer, older);
}

/* ... of the best, and reads as an answer as well as that, or names the same. */
static bool counts_anew(const candidate_set *set, const candidate *c) {
    static const double as_near = 0.5;
    const candidate *best = &set->c[0];
    const bool answers = set->crossed ? cross_reading_of(c) >= cross_reading_of(best) - as_near
                                      : (c->set & best->set) != 0;
    return answers && best->score - c->score <= cross_reading_near && is_counted_anew(set, c, best);
}

/* ---- what holds ---------------------------------------------------------------------------------- */

static bool is_near(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return best->score - c->score <= cross_reading_near && cross_reading_comes_near(set, c);
}

/* Of the same paragraph or section as the best that tells what was, does c say how it is? However far behind: what says so of the same
 * thing, by the same verb, has often little else of the question. */
static bool says_how_it_is(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    size_t n_best, n;
    const char *of = bytes_of(set, best, &n_best), *s = bytes_of(set, c, &n);
    const word_token verb = past_state(of, n_best);
    if (verb.n && is_of_one_thing(set, c, best) && says_in_the_present(set, c, best, &verb))
        return true;
    return (verb.n || says_was(of, n_best)) && c->passage == best->passage &&
           c->unit.kind == TEXT_UNIT_SENTENCE && is_near(set, c) && says_since_when(s, n);
}

static bool is_a_sentence(const candidate *c) {
    return c->f[CAND_FRAGMENT] < 1 && c->f[CAND_QUESTION] == 0;
}

/* "Where is it now?", not "Was it moved in the end?", which asks what happened. */
static bool asks_what_holds_now(const question *q) {
    return q->asks.latest && !says_was(q->text.text, q->text.len);
}

size_t past_states_what_holds(const candidate_set *set) {
    const candidate *best = &set->c[0];
    const bool over = !asks_of_the_past(set) && is_superseded(set, best),
               latest = asks_what_holds_now(&set->q);
    for (size_t i = 1; i < set->n; i++) {
        const candidate *c = &set->c[i];
        if (!is_a_sentence(c)) continue;
        if (corrects(set, c) || counts_anew(set, c)) return i;
        if ((over && is_near(set, c)) || (latest && says_how_it_is(set, c)))
            if (!is_superseded(set, c)) return i;
    }
    return 0;
}

/* Beside what the best says holds, is it something of the past in the same document? */
static bool is_beside_what_holds(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    size_t n, n_best;
    const char *s = bytes_of(set, c, &n), *of = bytes_of(set, best, &n_best);
    if (is_below_a_correction(set, best)) return !is_below_a_correction(set, c);
    if (is_counted_anew(set, best, c)) return true;
    if (!asks_what_holds_now(&set->q)) return false;
    const word_token verb = past_state(s, n);
    return (verb.n && says_in_the_present(set, best, c, &verb)) ||
           (says_since_when(of, n_best) && says_was(s, n) && !says_since_when(s, n));
}

bool past_states_is_over(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (asks_of_the_past(set)) return false;
    if (is_superseded(set, c) && !is_superseded(set, best)) return true;
    return candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
           is_beside_what_holds(set, c);
}
