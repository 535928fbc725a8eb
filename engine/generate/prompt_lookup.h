/* prompt_lookup.h - guesses what a model writes next by looking where its last tokens stood before,
 * in the prompt or in what it wrote: grounded answers copy from their contexts. The guesses are
 * rows of the next step beside the row that is due; each is kept only when the sampler, asked as
 * always, chooses it. What is written is therefore the same with and without, drawn or greedy.
 *
 *     prompt_lookup p;
 *     prompt_lookup_init(&p, n_prompt + max_tokens, &err);
 *     int k = prompt_lookup_draft(&p, tokens, n, room, n_rows, row_cost, draft);
 *     ... a step that computes tokens[n - 1] and draft[0 .. k) ...
 *     prompt_lookup_learn(&p, k, n_kept);
 *
 * How long a guess is follows from how often guesses after so long a match came true, and from what
 * a row costs: where none pays, none is made, but for a short one now and then to see.
 * Threads: one. Source: prompt lookup decoding (Saxena 2023); the length is the optimum of
 * Leviathan et al. 2023, section 3. */
#ifndef FORAGE_ENGINE_PROMPT_LOOKUP_H
#define FORAGE_ENGINE_PROMPT_LOOKUP_H

#include <stdint.h>
#include "kernels/error.h"

enum {
    PROMPT_LOOKUP_MAX = 15,    /* tokens of a draft */
    PROMPT_LOOKUP_CLASSES = 4, /* matches of 2, 3, 4 and 5, 6 and more tokens */
    PROMPT_LOOKUP_PROBE = 64   /* tokens without a draft after which one is tried */
};

typedef struct prompt_lookup {
    /* head[hash of two tokens]: where the latest such pair ended, -1 none; before[i]: the pair of
     * the same hash that ended before i. */
    int32_t *head, *before;
    int bits, cap, n_indexed;
    double kept[PROMPT_LOOKUP_CLASSES], tried[PROMPT_LOOKUP_CLASSES]; /* older ones count less */
    int last_class, n_quiet;
} prompt_lookup;

/* For sequences of at most cap tokens. FO_ENOMEM. */
int prompt_lookup_init(prompt_lookup *p, int cap, fo_err *err);
void prompt_lookup_deinit(prompt_lookup *p); /* zeroed is fine */

/* A guess of at most `most` tokens at what follows tokens[0, n), n <= cap: those of the last call
 * and more (chosen tokens never change). n_rows: rows of the step without it; row_cost: what one
 * more row adds to its time, as a share of it. Returns its length, 0 for none. Allocates nothing.
 */
int prompt_lookup_draft(prompt_lookup *p, const int32_t *tokens, int n, int most, int n_rows,
                        double row_cost, int32_t *draft);
/* Of the n_tried first tokens of the last guess, n_kept came true. */
void prompt_lookup_learn(prompt_lookup *p, int n_tried, int n_kept);

/* What a row costs, learnt from the steps: time as a line over rows, older steps forgotten. */
typedef struct step_cost {
    double n, rows, ms, rows2, rows_ms; /* sums */
    double base, slope;                 /* of the line; 0: not known yet */
} step_cost;
void step_cost_add(step_cost *c, int n_rows, double ms);
/* One more row beside n_rows, as a share of their time: in [.01, 1]. */
double step_cost_row(const step_cost *c, int n_rows);

#endif
