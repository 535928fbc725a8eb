#include "retrieval/answer/command_differences.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/text/compared_names.h"
#include "retrieval/text/exact_names.h"

const double command_differences_support = 0.8;

/* Does s[n] say the name as a word of its own? */
static bool says(const char *s, size_t n, const char *name, size_t n_name) {
    for (size_t i = 0; i + n_name <= n; i++) {
        const bool begins =
            i == 0 || !(fo_is_letter(s[i - 1]) || fo_is_digit(s[i - 1]) || strchr("-_", s[i - 1]));
        const size_t end = i + n_name;
        const bool stops =
            end == n || !(fo_is_letter(s[end]) || fo_is_digit(s[end]) || strchr("-_", s[end]));
        if (begins && stops && memcmp(s + i, name, n_name) == 0) return true;
    }
    return false;
}

static bool best_says_both(const candidate_set *set, const compared_names *names) {
    const candidate *best = &set->c[0];
    const char *text = set->passages[best->passage].text.text;
    const text_unit *u = &best->unit;
    for (size_t k = 0; k < 2; k++)
        if (!says(text + u->start, u->end - u->start, names->name[k], names->n[k]) &&
            !says(text + u->head_start, u->head_end - u->head_start, names->name[k], names->n[k]))
            return false;
    return true;
}

static bool is_page_of(const candidate_passage *p, const compared_names *names, size_t k) {
    return p->command && exact_names_command_is(p->title_text, names->name[k], names->n[k]);
}

/* The line that says what the command does, as the title has it. */
static bool take_line(const candidate_set *set, const compared_names *names, size_t k,
                      candidate *chosen) {
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        const size_t n = strlen(p->title_text);
        if (!is_page_of(p, names, k)) continue;
        for (size_t j = 0; j < p->units.n; j++) {
            const text_unit *u = &p->units.v[j];
            if (u->end - u->start < n || memcmp(p->text.text + u->start, p->title_text, n) != 0)
                continue;
            *chosen = candidate_whole(p, i, j, *u);
            chosen->f[CAND_SUMMARY] = 1;
            return true;
        }
    }
    return false;
}

size_t command_differences_take(const candidate_set *set, candidate *chosen, bool *missing) {
    const fact_text *t = &set->q.text;
    compared_names names;
    *missing = false;
    if (t->language >= 0 || !compared_names_read(&names, t->text, t->len) ||
        best_says_both(set, &names))
        return 0;
    for (size_t i = 0; i < set->n_passages; i++)
        *missing |=
            is_page_of(&set->passages[i], &names, 0) || is_page_of(&set->passages[i], &names, 1);
    for (size_t k = 0; k < 2; k++)
        if (!take_line(set, &names, k, &chosen[k])) return 0;
    *missing = false;
    return 2;
}
