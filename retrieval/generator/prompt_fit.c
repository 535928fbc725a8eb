#include "retrieval/generator/prompt_fit.h"

#include <stdlib.h>

enum {
    TURN_TOKENS = 8,   /* around a turn, roughly: its role and its end */
    LEAST_CONTEXT = 32 /* a first context is not cut to less */
};

/* The latest turns that fit a quarter of the budget, beginning with one of the user's and ending
 * with one of the assistant's (templates insist on taking turns); what breaks that is left out. */
static int fit_turns(generator_layout *out, const generator_prompt *p, size_t budget,
                     const prompt_counter *c, fo_err *err) {
    size_t used = 0, n = p->n_turns, from = n;
    bool assistant = true;
    for (size_t i = n; i-- > 0 && n - i <= PROMPT_MAX_TURNS;) {
        size_t tokens = 0;
        if (p->turns[i].assistant != assistant) break;
        int rc = c->turn(c->ctx, i, &tokens, err);
        if (rc) return rc;
        used += tokens + TURN_TOKENS;
        if (used > budget / 4) break;
        if (!p->turns[i].assistant) from = i;
        assistant = !assistant;
    }
    out->n_turns_dropped = from;
    return FO_OK;
}

static int fit_contexts(generator_layout *out, const generator_prompt *p, size_t room,
                        const prompt_counter *c, fo_err *err) {
    size_t used = 0;
    for (size_t i = 0; i < p->n_contexts && out->n_used < p->max_contexts; i++) {
        size_t tokens = 0;
        int rc = c->context(c->ctx, i, &tokens, err);
        if (rc) return rc;
        if (used + tokens > room) {
            if (out->n_used > 0 || room < LEAST_CONTEXT) continue; /* a shorter one may still fit */
            tokens = room;
            out->cut = true;
        }
        used += tokens;
        out->order[out->n_used++] = i;
    }
    out->n_dropped = p->n_contexts - out->n_used;
    out->context_tokens = used;
    return FO_OK;
}

int prompt_fit(generator_layout *out, const generator_prompt *p, size_t window,
               const prompt_counter *c, fo_err *err) {
    size_t budget = p->budget, rest = 0;
    size_t free_window = window > p->max_tokens ? window - p->max_tokens : 0;
    if (budget > free_window) budget = free_window;
    out->order = calloc(p->n_contexts + 1, sizeof *out->order);
    if (!out->order) return fo_no_memory(err);
    int rc = fit_turns(out, p, budget, c, err);
    if (!rc) rc = c->rest(c->ctx, out->n_turns_dropped, &rest, err);
    if (rc) return rc;
    if (rest > budget)
        return fo_fail_field(err, FO_ELIMIT, "query",
                             "the question takes %zu tokens with its instructions, %zu are free "
                             "beside an answer of %zu",
                             rest, budget, p->max_tokens);
    rc = fit_contexts(out, p, budget - rest, c, err);
    out->n_tokens = rest + out->context_tokens;
    return rc;
}
