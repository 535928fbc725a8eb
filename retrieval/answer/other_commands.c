#include "retrieval/answer/other_commands.h"

#include <string.h>

/* Does a line of the text begin with the word: a command of the shell, say, on the page of that? */
static bool begins_a_line(const fact_text *t, const char *word, size_t n) {
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        if ((w->start == 0 || t->text[w->start - 1] == '\n') && w->end - w->start == n &&
            memcmp(t->text + w->start, word, n) == 0)
            return true;
    }
    return false;
}

/* "What does set -e do?": no option -e of strace. */
static void mark_options_of_others(candidate_set *set) {
    const char *name = NULL;
    const size_t n = exact_names_used_with_option(set->q.text.text, set->q.text.len, &name);
    for (size_t i = 0; n && i < set->n_passages; i++) {
        candidate_passage *p = &set->passages[i];
        p->other_command = p->command && !exact_names_command_is(p->title_text, name, n) &&
                           !begins_a_line(&p->text, name, n);
    }
}

void other_commands_mark(candidate_set *set) {
    const fact_text *asked = &set->q.text;
    const char *named = NULL;
    for (size_t i = 0; i < set->n_passages && !named; i++)
        if (exact_names_command_asked(asked->text, asked->len, set->passages[i].title_text))
            named = set->passages[i].title_text;
    if (!named) return mark_options_of_others(set);
    for (size_t i = 0; i < set->n_passages; i++) {
        candidate_passage *p = &set->passages[i];
        p->other_command = p->unnamed && !exact_names_are_family(named, p->title_text);
    }
}
