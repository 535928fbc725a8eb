#include "retrieval/answer/version_dates.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/text/word_tokens.h"

/* Is word w one of the version's digits? */
static bool is_of_version(const question *q, const fact_word *w) {
    const exact_name *v = &q->exact.versions[0];
    const char *s = q->text.text + w->start;
    return s >= v->s && s < v->s + v->n;
}

/* Does the question ask when one version was released? *owner: the terms that say whose it is. */
static bool asks_for_release(const question *q, uint64_t *owner) {
    static const char asks[] = "when date day released release";
    static const char around[] =
        "when what which date day released release releases come came out published publish appear "
        "appeared available shipped version v new";
    static const char elsewhere[] =
        "since after before until till from between next last latest who "
        "why how supported";
    bool asked = false;
    *owner = 0;
    if (q->text.language >= 0 || q->exact.n_versions != 1 || q->demands.whether) return false;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const char *s = q->text.text + w->start;
        const size_t n = w->end - w->start;
        if (fo_words_have_any_case(elsewhere, s, n)) return false;
        asked |= fo_words_have_any_case(asks, s, n) &&
                 (q->kind == ASK_TIME || fo_words_have_any_case("date day", s, n));
        if ((w->flags & (WORD_STOP | WORD_PART)) || is_of_version(q, w) ||
            fo_words_have_any_case(around, s, n))
            continue;
        const int term = question_term_of(q, w->id);
        if (term < 0) return false;
        *owner |= 1ull << term;
    }
    return asked;
}

/* "4.0.0 (2025-02-11)", "Version 4.0 released on 5 May 2025": beside the version only a day, and not "supported until"; "5.0.0-rc.1"
 * is another version. */
static bool says_when_only(const char *s, size_t n) {
    word_token t;
    bool number = false;
    for (size_t at = 0; (t = word_token_next(s, n, &at)).n;) {
        if (t.digits && !number) {
            number = true;
            size_t next = at; /* the sign behind it */
            while (next < n && strchr("-+.~_", s[next])) next++;
            if (next < n && fo_is_letter(s[next])) return false;
        }
        if (t.letters &&
            !(number ? word_token_in("released on st nd rd th", &t) || date_month_named(&t)
                     : word_token_in("version release v rev revision", &t)))
            return false;
    }
    return number;
}

/* Does a sentence or a row say of the version when it came out? */
static bool is_said_elsewhere(const candidate_set *set) {
    static const char out[] = "released release releases came come comes out published publish "
                              "appeared shipped available";
    for (size_t k = 0; k < set->n_passages; k++) {
        const candidate_passage *p = &set->passages[k];
        for (size_t i = 0; !p->command && i < p->units.n; i++) {
            const text_unit *u = &p->units.v[i];
            const char *s = p->text.text + u->start;
            const size_t n = u->end - u->start;
            date_said day;
            if (u->kind != TEXT_UNIT_HEADING && u->kind != TEXT_UNIT_STEPS &&
                !says_when_only(s, n) && exact_names_versions_in(&set->q.exact, s, n, NULL) &&
                dated_heading_says(s, n, &day) &&
                (word_tokens_say(out, s, n) ||
                 word_tokens_say(out, p->text.text + u->head_start, u->head_end - u->head_start)))
                return true;
        }
    }
    return false;
}

/* Of the owner's terms, those that a heading outside the text says. */
static uint64_t terms_in(const question *q, uint64_t owner, const char *heading) {
    const size_t len = strlen(heading);
    uint64_t terms = 0;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const int k = question_term_of(q, w->id);
        if (k < 0 || !(owner >> k & 1)) continue;
        word_token t;
        for (size_t at = 0; (t = word_token_next(heading, len, &at)).n;)
            if (t.n == w->end - w->start && !strncasecmp(t.s, q->text.text + w->start, t.n))
                terms |= 1ull << k;
    }
    return terms;
}

/* Is it a heading, or a line that is taken for an item though it has no mark, as of "Merl" and "4.0.0 (2023-09-30)" right below it? */
static bool is_line_above(const text_unit *u, const char *s, size_t n) {
    return u->kind == TEXT_UNIT_HEADING || (u->kind == TEXT_UNIT_ITEM && !text_item_mark(s, n));
}

/* What the heading above says that the versions stand below: "Merl", and below it "4.0.0 (2023-09-30)", "Fixed". */
static uint64_t terms_above(const question *q, uint64_t owner, const candidate_passage *p,
                            size_t i) {
    while (i-- > 0) {
        const text_unit *u = &p->units.v[i];
        const char *s = p->text.text + u->start;
        const size_t n = u->end - u->start;
        if (is_line_above(u, s, n) && !dated_heading_of_version(s, n) &&
            !dated_heading_of_changes(s, n))
            return candidate_terms(p, u->start, u->end);
    }
    return terms_in(q, owner, p->heading);
}

/* Is unit i a heading with the version that is asked about, and when it came out? */
static bool is_its_heading(const question *q, uint64_t owner, const candidate_passage *p, size_t i,
                           date_said *day) {
    const text_unit *u = &p->units.v[i];
    const char *s = p->text.text + u->start;
    const size_t n = u->end - u->start;
    return is_line_above(u, s, n) && dated_heading_of_version(s, n) && says_when_only(s, n) &&
           exact_names_versions_in(&q->exact, s, n, NULL) && dated_heading_says(s, n, day) &&
           !(owner & ~(p->named | p->title | p->filed | terms_above(q, owner, p, i)));
}

static bool are_one_day(const date_said *a, const date_said *b) {
    return a->year == b->year && a->month == b->month && a->day == b->day;
}

/* Of headings with the version those are its that say the more of the owner above them: a passage's title may have the name of the section
 * that it begins in. */
size_t version_dates_take(const candidate_set *set, candidate *chosen) {
    uint64_t owner;
    date_said first = {0}, day;
    int most = -1;
    bool two = false;
    if (!asks_for_release(&set->q, &owner) || is_said_elsewhere(set)) return 0;
    for (size_t k = 0; k < set->n_passages; k++) {
        const candidate_passage *p = &set->passages[k];
        for (size_t i = 0; !p->command && i < p->units.n; i++) {
            const text_unit *u = &p->units.v[i];
            if (!is_its_heading(&set->q, owner, p, i, &day)) continue;
            const int said = __builtin_popcountll(owner & terms_above(&set->q, owner, p, i));
            if (said == most && !are_one_day(&first, &day)) two = true;
            if (said <= most) continue;
            most = said;
            two = false;
            first = day;
            *chosen = (candidate){.passage = (uint32_t)k,
                                  .order = (uint32_t)i,
                                  .start = u->start,
                                  .end = u->end,
                                  .unit = *u};
            chosen->unit.head_start = chosen->unit.head_end = 0;
        }
    }
    return most >= 0 && !two;
}
