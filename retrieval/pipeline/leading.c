#include "retrieval/pipeline/leading.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "retrieval/answer/asked_settings.h"
#include "retrieval/answer/contents_lists.h"
#include "retrieval/answer/meant_commands.h"
#include "retrieval/answer/topics.h"
#include "retrieval/pipeline/query_run.h"
#include "retrieval/text/compared_names.h"

static const double explained = 0.5; /* of topics_of_passage */
enum {
    OWN_CHUNKS = 14, /* of a command's own pages that are read before others */
    ENTRIES = 3,     /* chunks with an entry that is called by the word asked about */
    TASK_CHUNKS = 3, /* of the page of a command that is called as the task is */
};

/* What of the question decides which chunks lead. */
typedef struct asked {
    exact_names exact;
    question question;
    lexicon lx;
    bool *has_family;    /* set: pages of a family of commands lead, too */
    const char *command; /* title of a chunk of the page of the command asked about; NULL: none */
    const char *section; /* that a list of contents among the best names */
    compared_names compared;
    word_token setting; /* asked_settings_named */
} asked;

typedef int leads_fn(const asked *a, const store_chunk *k, bool *leads, fo_err *err);

static int holds_exact(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    (void)err;
    *leads = !exact_names_lacking(&a->exact, k->text, k->text_len, k->title);
    return FO_OK;
}

static int explains(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    const passage p = {
        .text = k->text, .len = k->text_len, .before = k->n_before, .title = k->title};
    double most = 0;
    int rc = topics_of_passage(&most, &a->question, &a->lx, &p, err);
    *leads = most > explained ||
             (k->title && k->n_before == 0 && topics_name_page(&a->question, k->title));
    return rc;
}

static int tells_command(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    (void)err;
    const fact_text *t = &a->question.text;
    const bool own = k->title && exact_names_command_asked(t->text, t->len, k->title);
    *leads = own || (k->title && exact_names_family_asked(t->text, t->len, k->title)) ||
             (a->command && ((k->title && exact_names_are_settings(a->command, k->title)) ||
                             exact_names_lie_together(a->command, k->document_id)));
    *a->has_family |= *leads && !own;
    return FO_OK;
}

/* "Sort by the second column": the page of sort, which a word of English names as well. */
static int is_called_so(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    (void)err;
    const fact_text *t = &a->question.text;
    *leads = k->title && exact_names_task_begins(t->text, t->len, k->title);
    return FO_OK;
}

/* The first chunk of a page of one of the commands that are compared: it says what they do. */
static int says_what_it_does(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    (void)err;
    *leads = false;
    for (size_t i = 0; i < 2 && k->title && k->n_before == 0; i++)
        *leads |= exact_names_command_is(k->title, a->compared.name[i], a->compared.n[i]);
    return FO_OK;
}

static int begins_section(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    (void)err;
    *leads = contents_lists_begins(a->section, k->text, k->text_len);
    return FO_OK;
}

/* Has it an entry that is called by the word before "option", "noatime"? A line begins with it, alone or before its description. */
static int has_entry(const asked *a, const store_chunk *k, bool *leads, fo_err *err) {
    (void)err;
    const word_token *w = &a->setting;
    *leads = false;
    for (size_t at = 0; at + w->n <= k->text_len && !*leads;) {
        const char *line = k->text + at, *end = memchr(line, '\n', k->text_len - at);
        const size_t n = end ? (size_t)(end - line) : k->text_len - at;
        size_t from = 0;
        while (from < n && (fo_is_blank(line[from]) || strchr("-*`", line[from]))) from++;
        *leads = from + w->n <= n && !strncasecmp(line + from, w->s, w->n) &&
                 (from + w->n == n || strchr(" \t:=`[", line[from + w->n]));
        at += n + 1;
    }
    return FO_OK;
}

/* The page of a command? "Paris - city guide" is one only where the question uses it as such. */
static bool is_command(const asked *a, const char *title) {
    const fact_text *t = &a->question.text;
    return exact_names_of_command(title) > 0 &&
           (!exact_names_is_capital(title) || exact_names_family_asked(t->text, t->len, title));
}

/* Are pages of commands among the best? Else no more of them are read. */
static int has_commands(run *r, const asked *a, bool *found) {
    enum { BEST = 20 };
    const int rc = run_read_fused(r, BEST);
    for (size_t i = 0; !rc && !*found && i < r->n_read && i < BEST; i++)
        *found = r->read[i].title && is_command(a, r->read[i].title);
    return rc;
}

/* Which command it is: what sshd does by default is told by the page of sshd_config, which the question does not name. */
static int name_command(run *r, asked *a) {
    const fact_text *t = &a->question.text;
    const int rc = run_read_fused(r, r->n_fused);
    for (size_t i = 0; !rc && !a->command && i < r->n_fused; i++)
        if (r->read[i].id && r->read[i].title &&
            exact_names_command_asked(t->text, t->len, r->read[i].title))
            a->command = r->read[i].title;
    return rc;
}

/* most: of those that lead; the others keep their places. */
static int put_first(run *r, const asked *a, leads_fn *leads, size_t most) {
    const size_t n = r->n_fused;
    fused_hit *sorted = calloc(n + 1, sizeof *sorted);
    store_chunk *chunks = calloc(n + 1, sizeof *chunks);
    bool *first = calloc(n + 1, sizeof *first);
    leading_deinit(&r->leading);
    r->leading.ids = calloc(n + 1, sizeof *r->leading.ids);
    int rc = sorted && chunks && first && r->leading.ids ? FO_OK : fo_no_memory(r->err);
    if (!rc) rc = run_read_fused(r, n);
    for (size_t i = 0; !rc && i < n && r->leading.n < most; i++) {
        if (r->read[i].id) rc = leads(a, &r->read[i], &first[i], r->err); /* 0: not there */
        if (first[i]) r->leading.ids[r->leading.n++] = r->fused[i].id;
    }
    size_t at = 0;
    for (int pass = 0; !rc && pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            if (first[i] == (pass == 0)) {
                sorted[at] = r->fused[i];
                chunks[at++] = r->read[i];
            }
    if (!rc) memcpy(r->fused, sorted, n * sizeof *sorted);
    if (!rc && n) memcpy(r->read, chunks, n * sizeof *chunks);
    free(sorted);
    free(chunks);
    free(first);
    return rc;
}

/* Of what a list of contents among the best names, and the question asks about, the section is read too, wherever it was found;
 * whether it comes first, the reader says. */
static int put_named_section(run *r, asked *a) {
    enum { BEST = 8, SECTIONS = 2 };
    char name[CONTENTS_NAME] = "";
    int rc = run_read_fused(r, BEST);
    for (size_t i = 0; !rc && !name[0] && i < r->n_read && i < BEST; i++)
        if (r->read[i].id)
            rc = contents_lists_named(name, &a->question, &a->lx, r->read[i].text,
                                      r->read[i].text_len, r->err);
    if (rc || !name[0]) return rc;
    a->section = name;
    rc = put_first(r, a, begins_section, SECTIONS);
    leading_deinit(&r->leading);
    return rc;
}

int leading_put_first(run *r) {
    analyzer *words = NULL;
    asked a = {0};
    exact_names_read(&a.exact, r->sought, strlen(r->sought));
    int rc = collection_take_analyzer(r->s, r->c, &words, r->err);
    a.lx = (lexicon){words, run_idf, r->snapshot};
    if (!rc) rc = question_read(&a.question, &a.lx, r->sought, strlen(r->sought), r->err);
    if (!rc && topics_may_lead(&a.question)) rc = put_first(r, &a, explains, SIZE_MAX);
    if (!rc && !r->leading.n && a.exact.n_options + a.exact.n_codes)
        rc = put_first(r, &a, holds_exact, SIZE_MAX);
    bool commands = false, has_family = false;
    a.has_family = &has_family;
    if (!rc && !r->leading.n) rc = has_commands(r, &a, &commands);
    if (!rc && commands && compared_names_read(&a.compared, r->sought, strlen(r->sought)))
        rc = put_first(r, &a, says_what_it_does, 2);
    commands &= !r->leading.n;
    if (!rc && commands) rc = name_command(r, &a);
    if (!rc && commands) rc = put_first(r, &a, tells_command, OWN_CHUNKS);
    /* Which of git's many pages it is, and whether it is one of them, the reader says. */
    if (has_family) leading_deinit(&r->leading);
    if (!rc && commands && !a.command && !r->leading.n && !has_family && a.question.task)
        rc = put_first(r, &a, is_called_so, TASK_CHUNKS);
    a.setting = asked_settings_named(r->sought, strlen(r->sought));
    if (!rc && !r->leading.n && a.setting.n) rc = put_first(r, &a, has_entry, ENTRIES);
    if (!rc && !r->leading.n) rc = put_named_section(r, &a);
    r->asks_command = !rc && !a.command && meant_commands_asked(&a.question);
    question_deinit(&a.question);
    collection_give_analyzer(r->s, r->c, words);
    return rc;
}

bool leading_has(const leading *l, int64_t chunk) {
    for (size_t i = 0; i < l->n; i++)
        if (l->ids[i] == chunk) return true;
    return false;
}

void leading_deinit(leading *l) {
    free(l->ids);
    *l = (leading){0};
}
