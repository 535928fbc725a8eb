#include "retrieval/answer/other_things.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/answer/past_states.h"
#include "retrieval/answer/row_answers.h"
#include "retrieval/answer/row_conditions.h"
#include "retrieval/answer/topics.h"
#include "retrieval/answer/unit_demands.h"
#include "retrieval/answer/unit_wording.h"
#include "retrieval/text/path_names.h"
#include "retrieval/text/rivals.h"

/* "Chair: R. Malik" is no answer to who the vice chair is. */
static bool is_other_office(const candidate_set *set, const candidate_passage *p,
                            const text_unit *u) {
    const demands *d = &set->q.demands;
    const char *text = p->text.text;
    return !demands_rank_in(d, text + u->start, u->end - u->start) &&
           !demands_rank_in(d, text + u->head_start, u->head_end - u->head_start);
}

/* Where the paragraph begins that a sentence is of. */
static uint32_t paragraph_start(const char *text, uint32_t at) {
    while (at > 0 && !(text[at - 1] == '\n' && (at == 1 || text[at - 2] == '\n'))) at--;
    return at;
}

/* Week 31 is no answer to who cleans in week 40; a sentence is of the week that its paragraph named before. */
static bool is_other_number(const candidate_set *set, const candidate_passage *p,
                            const text_unit *u) {
    const exact_names *x = &set->q.exact;
    const char *row = p->text.text + u->start, *head = p->text.text + u->head_start, *name, *value;
    const size_t n_row = u->end - u->start, n_head = u->head_end - u->head_start;
    size_t n_name, n_value, at = 0, at_name = 0;
    if (!x->n_numbered) return false;
    if (u->kind == TEXT_UNIT_SENTENCE) {
        const uint32_t from = paragraph_start(p->text.text, u->start);
        return exact_names_other_number(x, row, n_row) ||
               exact_names_other_number_before(x, p->text.text + from, u->end - from,
                                               u->start - from);
    }
    if (u->kind != TEXT_UNIT_ROW || u->record || !n_head)
        return exact_names_other_number(x, row, n_row);
    while (table_row_cell(head, n_head, &at_name, &name, &n_name) &&
           table_row_cell(row, n_row, &at, &value, &n_value))
        if (exact_names_other_value(x, name, n_name, value, n_value)) return true;
    table_pair first; /* "Breeze S", and no "M" anywhere */
    if (table_row_first(row, n_row, false, &first) &&
        exact_names_other_letter(x, first.value, first.n_value) &&
        exact_names_other_letter(x, row, n_row))
        return true;
    return exact_names_other_number(x, head, n_head); /* "Zone 1 | Zone 2" */
}

/* Lunch is no answer to what dinner costs. */
static bool is_of_a_rival(const candidate_set *set, const candidate_passage *p,
                          const text_unit *u) {
    const char *text = p->text.text;
    return set->q.rivals &&
           rivals_exclude(set->q.rivals,
                          p->rivals | rivals_in(text + u->start, u->end - u->start) |
                              rivals_in(text + u->head_start, u->head_end - u->head_start) |
                              rivals_in(text + u->outer_start, u->outer_end - u->outer_start));
}

/* "/etc/shadow- Backup file for /etc/shadow" is said of the former. */
static bool is_of_another_path(const candidate_set *set, const candidate_passage *p,
                               const text_unit *u) {
    const char *s = p->text.text + u->start;
    size_t first = 0;
    while (u->start + first < u->end && !fo_is_blank(s[first])) first++;
    return path_names_other(set->path, set->n_path, s, first) ||
           path_names_other(set->path, set->n_path, s, u->end - u->start);
}

/* "This is a login shell for accounts of ..." says of something else that it is one, and not what one is. */
static bool only_calls_something_so(const candidate_set *set, const candidate_passage *p,
                                    const text_unit *u) {
    const question *q = &set->q;
    if (u->kind != TEXT_UNIT_SENTENCE || !topics_may_lead(q)) return false;
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    if (s.w1 < s.w0 + 3 || !fact_word_in(&p->text, s.w0, "this that it these those they") ||
        !fact_word_in(&p->text, s.w0 + 1, "is are was were"))
        return false;
    const uint64_t asked = q->n_terms < 64 ? ((uint64_t)1 << q->n_terms) - 1 : UINT64_MAX;
    return (candidate_terms(p, p->text.words[s.w0 + 1].end, u->end) & asked) == asked;
}

double other_thing_of(const candidate_set *set, const candidate_passage *p, const text_unit *u) {
    const int other_time = unit_of_another_time(set, p, u);
    if (is_of_a_rival(set, p, u) || is_other_number(set, p, u) || is_of_another_path(set, p, u) ||
        past_states_is_of_another_number(set, p, u) || unit_demands_other_number(&set->q, p, u) ||
        row_affirms(set, p, u) || row_is_left_out(set, p, u) || other_time == CAND_RIVAL)
        return CAND_RIVAL;
    return other_time || p->other_command || p->off_subject || is_other_office(set, p, u) ||
           row_denies(set, p, u) || unit_leaves_out(&set->q, p, u) ||
           row_is_no_extreme(set, p, u) || only_calls_something_so(set, p, u);
}
