#include "retrieval/conversation/model_rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "retrieval/text/facts.h"
#include "retrieval/conversation/rewrite.h"

enum {
    MOST_TOKENS = 48,
    LONGEST_BYTES = 400,
    TURN_BYTES = 4096,
    MOST_NEW_WORDS = 2,
    POLL_MS = 50,
};

/* ---- what holds ------------------------------------------------------------------------------ */

/* Words that were said, by id. */
typedef struct said_words {
    uint64_t *ids;
    size_t n, cap;
    bool failed;
} said_words;

static void add_words(said_words *s, const fact_text *t) {
    for (size_t i = 0; i < t->n_words; i++) {
        if (s->n == s->cap) {
            size_t cap = s->cap ? 2 * s->cap : 256;
            uint64_t *more = realloc(s->ids, cap * sizeof *more);
            if (!more) {
                s->failed = true;
                return;
            }
            s->ids = more;
            s->cap = cap;
        }
        s->ids[s->n++] = t->words[i].id;
    }
}

static bool was_said(const said_words *s, uint64_t id) {
    for (size_t i = 0; i < s->n; i++)
        if (s->ids[i] == id) return true;
    return false;
}

static bool is_fact(const fact_word *w) {
    return (w->flags & (WORD_DIGIT | WORD_NUMERAL | WORD_CALENDAR)) ||
           ((w->flags & WORD_CAPITAL) && !(w->flags & (WORD_INITIAL | WORD_STOP)));
}

/* Nothing comes from outside of the conversation. */
static bool adds_nothing(const fact_text *text, const said_words *said) {
    size_t n_new = 0, n = 0;
    for (size_t i = 0; i < text->n_words; i++) {
        const fact_word *w = &text->words[i];
        n += fact_is_content(w);
        if (was_said(said, w->id)) continue;
        if (is_fact(w)) return false;
        n_new += fact_is_content(w);
    }
    return n > 0 && n_new <= MOST_NEW_WORDS && 3 * n_new <= n;
}

/* It points back less than the question does, and names something that the turns do. */
static int stands_alone(bool *out, const lexicon *lx, const char *question, const char *text,
                        const fact_text *q, const fact_text *t, fo_err *err) {
    size_t before = 0, after = 0, n_brought = 0;
    int rc = query_rewrite_wants(&before, lx, question, err);
    if (!rc) rc = query_rewrite_wants(&after, lx, text, err);
    for (size_t i = 0; i < t->n_words; i++)
        n_brought += fact_is_content(&t->words[i]) && !fact_has(q, t->words[i].id);
    *out = !rc && after < before && n_brought > 0;
    return rc;
}

/* What the question says is still asked: its names and numbers, and half of its other words. */
static bool keeps_question(const fact_text *text, const fact_text *question) {
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < question->n_words; i++) {
        const fact_word *w = &question->words[i];
        bool there = fact_has(text, w->id);
        if (is_fact(w) && !there) return false;
        n += fact_is_content(w);
        kept += fact_is_content(w) && there;
    }
    return 2 * kept >= n;
}

int model_rewrite_holds(bool *holds, const lexicon *lx, const prompt_turn *turns, size_t n_turns,
                        const char *question, const char *text, fo_err *err) {
    fact_text q = {0}, t = {0}, turn = {0};
    said_words said = {0};
    *holds = false;
    int rc = fact_text_read(&q, lx->analyzer, question, strlen(question), err);
    if (!rc) rc = fact_text_read(&t, lx->analyzer, text, strlen(text), err);
    if (!rc) add_words(&said, &q);
    for (size_t i = 0; !rc && i < n_turns; i++) {
        rc = fact_text_read(&turn, lx->analyzer, turns[i].text, strnlen(turns[i].text, TURN_BYTES),
                            err);
        if (!rc) add_words(&said, &turn);
    }
    if (!rc && said.failed) rc = fo_no_memory(err);
    if (!rc) rc = stands_alone(holds, lx, question, text, &q, &t, err);
    if (!rc) *holds = *holds && keeps_question(&t, &q) && adds_nothing(&t, &said);
    free(said.ids);
    fact_text_deinit(&q);
    fact_text_deinit(&t);
    fact_text_deinit(&turn);
    return rc;
}

/* ---- the model ------------------------------------------------------------------------------- */

static int lay_out(generator_layout **out, const model_rewrite_input *in, fo_err *err) {
    generator_prompt p = {.instructions = &in->prompts->rewriting,
                          .turns = in->turns,
                          .n_turns = in->n_turns,
                          .turns_first = true,
                          .question = in->question,
                          .max_tokens = MOST_TOKENS,
                          .budget = in->prompts->prompt_tokens};
    if (in->salt) memcpy(p.salt, in->salt, sizeof p.salt);
    return generator_lay_out(in->generator, &p, out, err);
}

/* The line that it writes; "" where it wrote none in time. */
static int write_line(fo_buf *line, const model_rewrite_input *in, const generator_layout *l,
                      fo_err *err) {
    static const char *const stop[] = {"\n"};
    generator_options o = {.max_tokens = MOST_TOKENS,
                           .stop = stop,
                           .n_stop = 1,
                           .priority = in->priority,
                           .deadline_ms = in->time_ms,
                           .reuse = in->reuse,
                           .drop_kv = in->drop_kv};
    generator_stream *s = NULL;
    generator_event ev = {0};
    fo_err why = {0};
    if (generator_start(in->generator, l, &o, &s, NULL, &why)) return FO_OK;
    double end = fo_now_ms() + (double)in->time_ms;
    int rc = FO_OK;
    while (!ev.done && fo_now_ms() < end) {
        generator_next(s, POLL_MS, &ev, line);
        if (in->cancel && atomic_load(in->cancel)) {
            rc = fo_fail(err, FO_ECANCELLED, "cancelled by the client");
            break;
        }
    }
    bool whole = ev.done && !ev.error && strncmp(ev.finish_reason, "stop", 4) == 0;
    if (!whole) fo_buf_clear(line);
    if (in->n_tokens) *in->n_tokens = ev.usage.prompt_tokens + ev.usage.completion_tokens;
    generator_stream_free(s);
    return rc;
}

/* Without blanks and quotes around it. */
static char *trimmed(const fo_buf *line) {
    const char *at = line->data ? line->data : "", *end = at + line->len;
    while (at < end && strchr(" \t\r\"'", *at)) at++;
    while (end > at && strchr(" \t\r\"'", end[-1])) end--;
    return strndup(at, (size_t)(end - at));
}

int model_rewrite_make(char **out, const model_rewrite_input *in, fo_err *err) {
    *out = NULL;
    if (in->n_tokens) *in->n_tokens = 0;
    generator_layout *l = NULL;
    fo_err why = {0};
    if (in->time_ms < 1 || !generator_ready(in->generator) || lay_out(&l, in, &why)) return FO_OK;
    fo_buf line = {0};
    int rc = write_line(&line, in, l, err);
    char *text = rc ? NULL : trimmed(&line);
    bool holds = false;
    if (!rc && !text) rc = fo_no_memory(err);
    /* A small model may say the request again, its quotes included. */
    bool echo = text && strchr(text, '"') && !strchr(in->question, '"');
    if (!rc && *text && !echo && strlen(text) <= LONGEST_BYTES)
        rc = model_rewrite_holds(&holds, in->lx, in->turns, in->n_turns, in->question, text, err);
    if (!rc && holds) {
        *out = text;
        text = NULL;
    }
    free(text);
    fo_buf_free(&line);
    generator_layout_free(l);
    return rc;
}
