/* diffusion.h - how a diffusion language model writes: what a request may choose, what the model's
 * file says, what is chosen where neither says anything.
 *
 * Such a model sees in both directions. An answer begins as a canvas of mask tokens; each step is
 * one pass over the canvas, after which some masks become tokens, those that the remasking rule
 * ranks highest; the others stay masked and are guessed again.
 * Sources: Nie et al. 2025 (LLaDA: blocks, remasking, guidance), Ye et al. 2025 (Dream: shifted
 * logits, timesteps, entropy and margin), Wu et al. 2025 (Fast-dLLM: kept KV, thresholds). */
#ifndef FORAGE_ENGINE_DIFFUSION_H
#define FORAGE_ENGINE_DIFFUSION_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/gguf/gguf.h"
#include "engine/model/model.h"
#include "kernels/error.h"

/* By what the masked positions are ranked. */
enum diffusion_remasking {
    DIFFUSION_CONFIDENCE, /* the probability of the token that was chosen */
    DIFFUSION_ENTROPY,    /* the smaller the entropy of the distribution, the sooner */
    DIFFUSION_MARGIN,     /* how far the best token is ahead of the second */
    DIFFUSION_RANDOM,     /* any order */
    DIFFUSION_ORIGIN, /* each by its own draw, as the process was defined: any order, and how many
                             is left to chance */
    DIFFUSION_REMASKINGS
};

/* Which keys and values of the canvas are kept from pass to pass (bidirectional models; where blocks
 * see nothing behind themselves all but OFF mean that what stands before a block is computed once). */
enum diffusion_kv {
    DIFFUSION_KV_OFF,    /* none: exact */
    DIFFUSION_KV_PROMPT, /* those of the prompt */
    DIFFUSION_KV_PREFIX, /* those before the block */
    DIFFUSION_KV_DUAL,   /* those before and behind the block */
    DIFFUSION_KVS
};

/* Of each field: a negative value (NaN for none of them) means the model's own. */
typedef struct diffusion_params {
    int steps;        /* of the whole answer; at least one a block. Own: one a token */
    int block_length; /* tokens that are denoised together, block after block; 0: the whole answer.
                         Own: 32, Dream's 0, of a block-causal model its attention block */
    int remasking;    /* enum diffusion_remasking. Own: confidence, Dream's entropy */
    float eps;        /* > 0: a step unmasks the share that lies between its timestep and the next,
                         from 1 down to this; 0: all steps unmask as many. Own: 0, Dream's .001 */
    float guidance;   /* classifier-free: how far logits are moved away from those of a canvas
                         without its prompt (twice the work). Own: 0, none */
    float threshold;  /* above 0: a step also unmasks whatever is surer than this (needs confidence,
                         or verify). Own: 0, none; with verify .9 */
    int verify; /* 1: nothing is unmasked but what the steps without threshold would: what is surer is
                   taken for the steps that come, whose passes are computed beside, and counts as far
                   as they choose the same. Of block-causal models, without guidance. Own: 0 */
    int kv;     /* enum diffusion_kv. Own: off, of a block-causal model prefix */
    int refresh; /* passes after which kept KV is computed afresh; 0: only where a block begins
                         (with prompt: never). Own: 0 */
    /* Dream: tokens are drawn, and rated, among the likeliest that add up to top_p (of the tempered
     * distribution) and then among the top_k likeliest. Own: 1 and 0, all */
    float top_p;
    int top_k;
    float temperature; /* of the tokens' choice; 0: the best. Not the model's: 0 or more */
    uint64_t seed;
} diffusion_params;

diffusion_params diffusion_params_default(void); /* the model's own of everything, temperature 0 */

/* What the model's file says. */
typedef struct diffusion_model {
    int32_t mask;        /* the mask token */
    bool shift;          /* logits of a position stand one row before it (Dream) */
    int attention_block; /* model_info.attention_block */
    bool dream;          /* Dream's defaults, and confidence is that of tempered logits */
    diffusion_params
        own; /* what the file says of them (diffusion.steps and so on); else negative */
} diffusion_model;

/* Whether info is a diffusion model's: it sees in both directions and writes. */
bool diffusion_is(const model_info *info);

/* Read tokenizer.ggml.mask_token_id, diffusion.shift_logits (own: of Dream true) and the model's own
 * params. FO_ECORRUPT or FO_EUNSUPPORTED names the key. */
int diffusion_model_read(diffusion_model *out, const model_info *info, const gguf *g, fo_err *err);

/* p with the model's own in place, for an answer of n_answer tokens. FO_EINVAL names the field, as
 * "diffusion.steps". */
int diffusion_params_resolve(diffusion_params *p, const diffusion_model *m, int n_answer,
                             fo_err *err);

/* What of resolved params is approximate, "" where nothing is; static. */
const char *diffusion_kv_note(const diffusion_params *p, const diffusion_model *m);

/* "confidence", "entropy", ...; "off", "prompt", ... */
const char *diffusion_remasking_name(int remasking);
const char *diffusion_kv_name(int kv);
int diffusion_remasking_from_name(const char *name, int *out, fo_err *err);
int diffusion_kv_from_name(const char *name, int *out, fo_err *err);

/* Uniform in (0, 1), a function of its arguments alone. token: -1 for draws of order, -2 for those
 * of origin. */
double diffusion_uniform(uint64_t seed, uint64_t step, int position, int32_t token);

#endif
