/* sampler.h - one token out of a row of logits.
 *
 *     sampler_params p = sampler_params_default();
 *     p.temperature = .8f; p.seed = 7;
 *     int32_t t = sampler_pick(s, &p, logits, history, n_history, position);
 *
 * Order: bias, penalties, (greedy stops here) temperature, top-k, top-p, min-p, draw. The draw is a
 * function of (seed, position) alone: the same seed gives the same text whatever else is computed
 * beside it. A row of NaN or -inf gives token 0's successor among the finite, or 0. */
#ifndef FORAGE_ENGINE_SAMPLER_H
#define FORAGE_ENGINE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct sampler_bias {
    int32_t token;
    float bias; /* added to the logit; -INFINITY forbids */
} sampler_bias;

typedef struct sampler_params {
    float temperature;         /* 0: greedy */
    int top_k;                 /* 0: all */
    float top_p;               /* 1: all */
    float min_p;               /* share of the best token's probability; 0: all */
    float repetition;          /* 1: none; positive logits are divided by it, negative multiplied */
    float presence, frequency; /* OpenAI's: subtracted once, and once per occurrence */
    int penalty_window;        /* tokens of history that count; 0: 256, < 0: all */
    uint64_t seed;
    const sampler_bias *bias; /* the caller's, for as long as the params are used */
    size_t n_bias;
} sampler_params;

sampler_params sampler_params_default(void); /* greedy, nothing penalised */

/* FO_EINVAL names the field (temperature 0..2, top_p 0..1, penalties -2..2, ...). */
int sampler_params_check(const sampler_params *p, int32_t n_vocab, fo_err *err);

typedef struct sampler sampler; /* scratch; one thread */
int sampler_create(sampler **out, int32_t n_vocab, fo_err *err);
void sampler_free(sampler *s); /* NULL is fine */

/* May a token be taken? NULL: all may. Asked for likely tokens only, best first: a rule need not
 * look at the whole vocabulary. What is drawn is distributed as if only the allowed tokens were
 * there; with top_p, tokens that were not asked for count as allowed when the nucleus is summed. */
typedef bool sampler_allow_fn(void *ctx, int32_t token);

/* logits[n_vocab] is left as it is. history: tokens so far, prompt and answer, oldest first. -1: no
 * logit is a number that the bias leaves, or a rule was given, and it allows none of those. */
int32_t sampler_pick(sampler *s, const sampler_params *p, const float *logits,
                     const int32_t *history, size_t n_history, uint64_t position,
                     sampler_allow_fn *allow, void *allow_ctx);

/* Log-probabilities (natural, of the logits as they are, temperature 1) of `token`, and of the
 * n_top best tokens, best first. Returns how many of top[n_top] were filled. */
typedef struct sampler_logprob {
    int32_t token;
    float logprob;
} sampler_logprob;
size_t sampler_logprobs(sampler *s, const float *logits, int32_t token, float *logprob,
                        sampler_logprob *top, size_t n_top);

#endif
