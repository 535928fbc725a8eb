#include "retrieval/generator/prompt_fit.h"

#include <stdlib.h>

enum {
    TURN_TOKENS = 8,   /* around a turn, roughly: its role and its end */
    LEAST_CONTEXT = 32 /* a first context is not cut to less */
};

/* The latest turns that take turns with each other, beginning with one of the user's and ending with
 * one of the assistant's (templates insist on it); what breaks that is left out. */
static size_t first_in_turn(const generator_prompt *p) {
    size_t n = p->n_turns, from = n;
    bool assistant = true;
    for (size_t i = n; i-- > 0 && n - i <= PROMPT_MAX_TURNS; assistant = !assistant) {
        if (p->turns[i].assistant != assistant) break;
        if (!assistant) from = i;
    }
    return from;
}

/* As many of them as fit a quarter of the budget. Where there are too many, the oldest go until half
 * of that is free, as it would have been at the time: so the turns that are kept begin with the same
 * one for several questions, and what was computed of them can be used again. */
static int fit_turns(generator_layout *out, const generator_prompt *p, size_t budget,
                     const prompt_counter *c, fo_err *err) {
    size_t from = first_in_turn(p), used = 0, n = p->n_turns;
    size_t *tokens = calloc(n - from + 1, sizeof *tokens), *of = tokens;
    int rc = tokens ? FO_OK : fo_no_memory(err);
    const size_t first = from, most = budget / 4;
    for (size_t i = from; !rc && i < n; i++) {
        rc = c->turn(c->ctx, i, &of[i - first], err);
        used += of[i - first] += TURN_TOKENS;
        if (!p->turns[i].assistant || used <= most) continue;
        /* The newest pair stays where it fits alone. */
        while (from < i && (used > most || (used > most / 2 && from + 1 < i))) {
            used -= of[from - first] + of[from - first + 1];
            from += 2;
        }
    }
    free(tokens);
    out->n_turns_dropped = from;
    return rc;
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

/* All but the contexts: what nothing is cut of. Where a long question does not fit beside the turns,
 * it goes without them. */
static int fit_rest(generator_layout *out, const generator_prompt *p, size_t budget,
                    const prompt_counter *c, size_t *rest, fo_err *err) {
    int rc = fit_turns(out, p, budget, c, err);
    if (!rc) rc = c->rest(c->ctx, out->n_turns_dropped, rest, err);
    if (rc || *rest <= budget || out->n_turns_dropped == p->n_turns) return rc;
    out->n_turns_dropped = p->n_turns;
    return c->rest(c->ctx, p->n_turns, rest, err);
}

int prompt_fit(generator_layout *out, const generator_prompt *p, size_t window,
               const prompt_counter *c, fo_err *err) {
    size_t budget = p->budget, rest = 0;
    size_t free_window = window > p->max_tokens ? window - p->max_tokens : 0;
    if (budget > free_window) budget = free_window;
    out->order = calloc(p->n_contexts + 1, sizeof *out->order);
    if (!out->order) return fo_no_memory(err);
    int rc = fit_rest(out, p, budget, c, &rest, err);
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
