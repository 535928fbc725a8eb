#include "retrieval/answer/meant_commands.h"

#include <math.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/text/exact_names.h"

/* "symlink.7.gz", "group.5": pages of what no command does, by the section in their files' names. */
static bool is_of_no_command(const char *document) {
    const char *name = strrchr(document, '/');
    const char *dot = strchr(name ? name : document, '.');
    for (; dot; dot = strchr(dot + 1, '.')) {
        const char digit = dot[1], *end = dot + 2 + strspn(dot + 2, "abcdefghijklmnopqrstuvwxyz");
        if (digit && strchr("234579", digit) &&
            (!*end || !strcmp(end, ".gz") || !strcmp(end, ".bz2") || !strcmp(end, ".xz")))
            return true;
    }
    return false;
}

/* Does the question say by which command it is to be done? */
static bool names_a_command(const candidate_set *set) {
    const fact_text *t = &set->q.text;
    for (size_t i = 0; i < set->n_passages; i++)
        if (set->passages[i].command &&
            exact_names_family_asked(t->text, t->len, set->passages[i].title_text))
            return true;
    return false;
}

void meant_commands_mark(candidate_set *set, const extractive_input *in) {
    const question *q = &set->q;
    const char *likeliest = NULL;
    double most = passage_meant;
    if (q->text.language >= 0 || !(q->procedure || q->task) || q->exact.n_options ||
        names_a_command(set))
        return;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (p->command && !p->other_command && (double)in->passages[i].meant >= most &&
            !is_of_no_command(p->document)) {
            most = (double)in->passages[i].meant;
            likeliest = p->title_text;
        }
    }
    for (size_t i = 0; likeliest && i < set->n_passages; i++)
        set->passages[i].meant = !strcmp(set->passages[i].title_text, likeliest);
}

bool meant_commands_lead(candidate_set *set, double support, double least) {
    static const double surely = 0.9, surely_theirs = 0.75;
    bool any = false;
    if (support >= surely ||
        (support >= fmax(least, surely_theirs) && set->passages[set->c[0].passage].meant))
        return false;
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        if (!set->passages[c->passage].meant) continue;
        c->f[CAND_MEANT] = 1;
        c->f[CAND_OTHER_PURPOSE] = 0;
        any |= c->f[CAND_SUMMARY] > 0;
    }
    return any;
}

void meant_commands_put_name_first(candidate_set *set) {
    size_t i = 0;
    while (i < set->n && !(set->c[i].f[CAND_MEANT] > 0 && set->c[i].f[CAND_SUMMARY] > 0)) i++;
    if (i == set->n) return;
    const candidate name = set->c[i];
    memmove(set->c + 1, set->c, i * sizeof *set->c);
    set->c[0] = name;
}
