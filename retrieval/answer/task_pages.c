#include "retrieval/answer/task_pages.h"

#include <math.h>

#include "retrieval/answer/cross_reading.h"
#include "retrieval/text/task_titles.h"

static bool asks_how(const question *q) {
    return q->text.language < 0 && (q->procedure || q->task);
}

/* "Can I log in without a password?" */
static bool asks_whether_one_can(const question *q) {
    return q->text.language < 0 && q->text.n_words > 2 && fact_word_in(&q->text, 0, "can could") &&
           fact_word_in(&q->text, 1, "i we you one");
}

/* The cosine of passage i's title with the question; NAN: not known. */
static double titled(const candidate_set *set, const extractive_input *in, size_t i) {
    static const double less =
        0.15; /* nearness of a page about the thing: how is not what it says */
    const char *title = set->passages[i].title_text;
    if (!in->titled || !title[0]) return NAN;
    return (double)in->titled[i] - (task_title_asks_else(title) ? less : 0);
}

/* The passage whose title is nearest to the question, of those of other documents than `but` where it is given;
 * n_passages: of none it is known. */
static size_t nearest(const candidate_set *set, const extractive_input *in,
                      const candidate_passage *but) {
    size_t best = set->n_passages;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        const double near = titled(set, in, i);
        if (!isfinite(near) || (but && candidate_one_document(p, but))) continue;
        if (best == set->n_passages || near > titled(set, in, best)) best = i;
    }
    return best;
}

void task_pages_ask(candidate_set *set, const extractive_input *in) {
    static const double near = 0.5;
    if (!asks_whether_one_can(&set->q)) return;
    const size_t of = nearest(set, in, NULL);
    set->q.procedure |= of < set->n_passages && titled(set, in, of) >= near &&
                        task_title_names_one(set->passages[of].title_text);
}

void task_pages_mark(candidate_set *set, const extractive_input *in) {
    static const double near = 0.4; /* farther ones are nearest by chance */
    const size_t of = set->n && asks_how(&set->q) ? nearest(set, in, NULL) : set->n_passages;
    /* which command is meant is told by meant_commands.h */
    const bool known = of < set->n_passages && !set->passages[of].command;
    const double most = known ? titled(set, in, of) : 0;
    for (size_t i = 0; i < set->n; i++) {
        const double its = titled(set, in, set->c[i].passage);
        set->c[i].f[CAND_TASK] = most >= near && isfinite(its) ? its - most : 0;
    }
}

double task_pages_support(const candidate_set *set, const extractive_input *in) {
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[best->passage];
    const double near = titled(set, in, best->passage);
    if (!asks_how(&set->q) || p->command || !isfinite(near) || task_title_asks_else(p->title_text))
        return 0;
    const size_t other = nearest(set, in, p);
    const double ahead = other < set->n_passages ? near - titled(set, in, other) : 1;
    if (!task_title_names_one(p->title_text)) {
        /* "Slideshows", "Percentages": of what is not done in 1,270 questions about files none came so near */
        static const double weight = 12, least = 0.52, most = 2.5, level = -0.05;
        return ahead < level ? 0 : fmax(0, fmin(most, weight * (near - least)));
    }
    /* Fitted on 194 questions about three programs' help, 33 of them foreign. Another page's nearer title is no reason against what is read
     * as an answer. */
    static const double near_weight = 6.3, ahead_weight = 7.7, least = -3, most_ahead = 0.3,
                        most = 3;
    const double lowest = set->crossed && cross_reading_of(best) > 0 ? 0 : -1;
    const double x = least + near_weight * near + ahead_weight * fmin(most_ahead, ahead);
    return fmax(lowest, fmin(most, x));
}
