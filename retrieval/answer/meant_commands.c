#include "retrieval/answer/meant_commands.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/text/exact_names.h"

const double meant_commands_least = 0.6;

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

/* Does the question say by which command it is to be done? Not where it only says to which family that belongs, "create an ssh key", nor
 * where what is to be done is called as the command is, "split a file". */
static bool names_a_command(const candidate_set *set, const candidate_passage *likeliest) {
    const fact_text *t = &set->q.text;
    bool family = false;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (p->command && exact_names_command_asked(t->text, t->len, p->title_text)) return true;
        family |= p->command && exact_names_family_asked(t->text, t->len, p->title_text);
    }
    if (exact_names_command_said(t->text, t->len, likeliest->title_text))
        return !exact_names_task_begins(t->text, t->len, likeliest->title_text);
    return family && !exact_names_family_asked(t->text, t->len, likeliest->title_text);
}

/* "Which users are in a group?" is told by a command, too. Not "what is ...". */
static bool asks_what_is_so(const question *q) {
    return q->kind == ASK_OTHER && !q->defines && q->demands.amount == AMOUNT_NONE &&
           q->text.n_words && fact_word_in(&q->text, 0, "what which");
}

bool meant_commands_asked(const question *q) {
    return q->text.language < 0 && !q->exact.n_options &&
           (question_asks_how(q) || asks_what_is_so(q));
}

void meant_commands_mark(candidate_set *set, const extractive_input *in) {
    static const double where_asked_what = 0.65;
    const candidate_passage *likeliest = NULL;
    double most = question_asks_how(&set->q) ? meant_commands_least : where_asked_what;
    if (!in->meant || !meant_commands_asked(&set->q)) return;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (p->command && !p->other_command && (double)in->meant[i] >= most &&
            !is_of_no_command(p->document)) {
            most = (double)in->meant[i];
            likeliest = p;
        }
    }
    if (!likeliest || names_a_command(set, likeliest)) return;
    set->meant = most;
    for (size_t i = 0; i < set->n_passages; i++)
        set->passages[i].meant = !strcmp(set->passages[i].title_text, likeliest->title_text);
}

/* Is it the line of its page that says what the command does? */
static bool names_it(const candidate_passage *p, const candidate *c) {
    const size_t n = strlen(p->title_text);
    return c->end - c->start == n && memcmp(p->text.text + c->start, p->title_text, n) == 0;
}

/* Does what is first stay there? What the command's own page says, where it is surely an answer or is read as one; what another page
 * says, where it is likelier an answer than this the command; and where nothing is to be done, any answer. */
static bool stays_first(const candidate_set *set, double support) {
    static const double surely = 0.75, read_so = 0.5, surely_meant = 0.9;
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[best->passage];
    if (!question_asks_how(&set->q)) return true;
    if (!p->meant) return support >= set->meant && set->meant < surely_meant;
    return support >= surely || (set->crossed && best->cross >= read_so);
}

bool meant_commands_lead(candidate_set *set, double support) {
    bool any = false;
    if (support >= support_threshold && stays_first(set, support)) return false;
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (!p->meant) continue;
        c->f[CAND_MEANT] = 1;
        c->f[CAND_OTHER_PURPOSE] = 0;
        if (!names_it(p, c)) continue;
        c->f[CAND_SUMMARY] = 1;
        c->f[CAND_FRAGMENT] = 0;
        any = true;
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

size_t meant_commands_name_beside(const candidate_set *set, size_t most, candidate *chosen,
                                  size_t n) {
    const candidate_passage *p = n ? &set->passages[chosen[0].passage] : NULL;
    if (!p || n >= most || !question_asks_how(&set->q) || !p->command || !p->unnamed ||
        chosen[0].unit.kind == TEXT_UNIT_DEFINITION)
        return n;
    for (size_t i = 0; i < n; i++)
        if (chosen[i].f[CAND_SUMMARY] > 0 ||
            memmem(p->text.text + chosen[0].start, chosen[0].end - chosen[0].start, p->title_text,
                   strcspn(p->title_text, " ,")))
            return n;
    for (size_t i = 0; i < set->n; i++)
        if (set->c[i].f[CAND_SUMMARY] > 0 &&
            !strcmp(set->passages[set->c[i].passage].title_text, p->title_text)) {
            chosen[n++] = set->c[i];
            break;
        }
    return n;
}
