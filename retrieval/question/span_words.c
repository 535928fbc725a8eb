#include "retrieval/question/span_words.h"

#include <string.h>

#include "retrieval/text/word_tokens.h"

/* A way to say a span. */
typedef struct span_form {
    const char *figures, *letters; /* how many; NULL: one, with or without an article */
    const char *unit, *said;
} span_form;

enum { FORMS = 3 };
/* The forms of one line are the same. */
static const span_form spans[][FORMS] = {
    {{"7", "seven", "day days", "7 days"}, {NULL, NULL, "week", "a week"}},
    {{"14", "fourteen", "day days", "14 days"},
     {"2", "two", "week weeks", "two weeks"},
     {NULL, NULL, "fortnight", "a fortnight"}},
    {{"24", "", "hour hours", "24 hours"}, {NULL, NULL, "day", "a day"}},
    {{"12", "twelve", "month months", "12 months"}, {NULL, NULL, "year", "a year"}},
    {{"60", "sixty", "minute minutes", "60 minutes"}, {NULL, NULL, "hour", "an hour"}},
};
enum { SPANS = sizeof spans / sizeof *spans };

/* The last words that were read: what a unit stands behind. */
typedef struct words_before {
    word_token t[2]; /* [0]: right before it, dashes aside */
    bool dash;       /* one stood between */
} words_before;

static void step(words_before *w, const word_token *t) {
    w->dash = word_token_is_dash(t);
    if (w->dash) return;
    w->t[1] = w->t[0];
    w->t[0] = *t;
}

/* Does the text say it at t, the unit? */
static bool says(const span_form *f, const word_token *t, const words_before *w) {
    if (!f->unit || !word_token_in(f->unit, t)) return false;
    return f->figures ? word_token_in(f->letters, &w->t[0]) || word_token_is(&w->t[0], f->figures)
                      : !w->t[0].digits || word_token_is(&w->t[0], "1");
}

/* Does the question ask for it there? *from: where the span begins. */
static bool asks(const span_form *f, const word_token *t, const words_before *w,
                 const char **from) {
    if (!says(f, t, w)) return false;
    *from = w->t[0].s;
    return f->figures ||
           (word_token_in("a an one", &w->t[0]) && word_token_in("for in within than", &w->t[1]));
}

/* Does the line around t stand between bars, as a row of a table does? */
static bool is_in_row(const passage *p, const word_token *t) {
    const char *from = t->s, *end = memchr(t->s, '\n', (size_t)(p->text + p->len - t->s));
    while (from > p->text && from[-1] != '\n') from--;
    return memchr(from, '|', (size_t)((end ? end : p->text + p->len) - from)) != NULL;
}

/* How passages write that span, the first that has it: NULL where none has it, or one as it is asked for, or not in a row. */
static const char *written(const span_form *all, const span_form *asked, const passage *passages,
                           size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *other = NULL;
        words_before w = {0};
        for (size_t at = 0;;) {
            const word_token t = word_token_next(passages[i].text, passages[i].len, &at);
            if (!t.n) break;
            const char *end = w.t[0].n ? w.t[0].s + w.t[0].n : t.s;
            if (memchr(end, '\n', (size_t)(t.s - end))) w = (words_before){0};
            for (size_t k = 0; k < FORMS; k++) {
                if (!says(&all[k], &t, &w)) continue;
                if (&all[k] == asked) return NULL;
                if (!is_in_row(&passages[i], &t)) return NULL;
                if (!other) other = all[k].said;
            }
            step(&w, &t);
        }
        if (other) return other;
    }
    return NULL;
}

bool span_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    const size_t len = strlen(question);
    size_t copied = 0;
    words_before w = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) break;
        for (size_t i = 0; i < SPANS * FORMS; i++) {
            const span_form *f = &spans[i / FORMS][i % FORMS];
            const char *from, *as = NULL;
            if (asks(f, &t, &w, &from)) as = written(spans[i / FORMS], f, passages, n);
            if (!as) continue;
            fo_buf_add(out, question + copied, (size_t)(from - question) - copied);
            /* "a 7-day permit" is "a week permit" */
            fo_buf_str(out, w.dash && as[0] == 'a' ? strchr(as, ' ') + 1 : as);
            copied = at;
            break;
        }
        step(&w, &t);
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0 && !out->failed;
}
