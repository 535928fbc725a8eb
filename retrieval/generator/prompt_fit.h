/* prompt_fit.h - which turns and contexts of a prompt there is room for: the same for every
 * generator, by its own count of tokens.
 *
 * The latest turns may take a quarter of the budget; contexts, best first, what is left beside
 * instructions, turns and question. Where the first context alone is too long, it is cut. A question
 * that does not fit beside the turns goes without them. */
#ifndef FORAGE_RETRIEVAL_PROMPT_FIT_H
#define FORAGE_RETRIEVAL_PROMPT_FIT_H

#include "retrieval/generator/generator.h"

enum { PROMPT_MAX_TURNS = 64 };

/* Tokens of the pieces of a prompt; each is asked for once at most, and only where it matters, but for
 * the rest: a second time without turns, where it does not fit with those that were kept. */
typedef struct prompt_counter {
    void *ctx;
    int (*turn)(void *ctx, size_t i, size_t *n, fo_err *err);
    /* All but the contexts: instructions, turns from the first_turn-th on, question. */
    int (*rest)(void *ctx, size_t first_turn, size_t *n, fo_err *err);
    int (*context)(void *ctx, size_t i, size_t *n, fo_err *err);
} prompt_counter;

/* Fills *out (zeroed, its generator apart) but for head_tokens: order[] is fresh memory, contexts
 * by rank. Turns from out->n_turns_dropped on are in; where it is cut, the one context has
 * out->context_tokens tokens. FO_ELIMIT (field "query"), FO_ENOMEM, or what the counter gives. */
int prompt_fit(generator_layout *out, const generator_prompt *p, size_t window,
               const prompt_counter *c, fo_err *err);

#endif
