#include "retrieval/answer/default_figures.h"

#include "kernels/utf8.h"
#include "retrieval/answer/setting_entries.h"

static bool has_figure(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] >= '1' && s[i] <= '9') return true;
    return false;
}

bool default_figures_wanted(const question *q, const candidate_passage *p, const text_unit *u) {
    const enum demand_amount amount = q->demands.amount;
    if (q->procedure || (amount == AMOUNT_NONE ? q->kind != ASK_NUMBER : amount == AMOUNT_MONEY))
        return false;
    return u->kind == TEXT_UNIT_DEFINITION &&
           !has_figure(p->text.text + u->start, u->end - u->start);
}

void default_figures_mark(candidate_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (c->f[CAND_NO_AMOUNT] <= 0 || !default_figures_wanted(&set->q, p, &c->unit)) continue;
        const text_unit *line = setting_entries_line_of_default(p, c->order);
        if (line && has_figure(p->text.text + line->start, line->end - line->start))
            c->f[CAND_NO_AMOUNT] = 0;
    }
}
