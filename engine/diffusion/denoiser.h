/* denoiser.h - one answer on its way from masks to tokens: which rows the next pass computes, which
 * masks it turns into tokens. It runs no model.
 *
 *     denoiser_create(&d, &resolved, &model, n_vocab, prompt, n_prompt, n_answer, &err);
 *     for (const denoise_pass *p; (p = denoiser_plan(d)) != NULL; denoiser_commit(d)) {
 *         // rows p->from .. p->to of denoiser_tokens(d, false), and with guidance of (d, true)
 *         for (int k = 0; k < p->n_asked; k++) denoiser_take(d, k, logits_of_asked_row(k), NULL);
 *     }
 *
 * The answer goes block by block. A block has the share of the steps that it has of the
 * tokens, a step its share of the block's masks: the same for all (the first steps take what does not
 * divide), or with eps the share that lies between two timesteps. The last step takes what is left. Steps that would unmask nothing
 * are left out. Tokens never become masks again, so what stands before the first mask is final.
 *
 * With verify (block-causal) a pass also computes the block as it would be after one step, two steps and
 * so on, each in the KV of what is before it and rows of its own: in them masks are tokens already that
 * the last pass was surer of than threshold, taken in the order in which it ranked them. A step that
 * then chooses just these has its next one computed. What is unmasked is so always what the steps
 * choose one by one. (Self-speculative decoding, Gao et al. 2025, as a chain.)
 *
 * Blocks begin where the answer does; those of a block-causal model are its attention's, which count
 * from the prompt's first token, and the canvas ends with the block.
 * Threads: one; _take for different k from any. */
#ifndef FORAGE_ENGINE_DENOISER_H
#define FORAGE_ENGINE_DENOISER_H

#include "engine/diffusion/diffusion.h"

typedef struct denoiser denoiser;

enum { DENOISER_AHEAD = 7 }; /* canvases that a pass may compute beside, at most */

/* A canvas as a pass computes it: of all of its rows. */
typedef struct denoise_canvas {
    int from;              /* its first row; the last is the pass's */
    const int32_t *tokens; /* of the rows: tokens[0] stands at `from` */
    int n_asked;           /* rows whose logits are wanted, at least 1, */
    const int32_t *asked;  /* [n_asked] counted from `from`, ascending */
} denoise_canvas;

typedef struct denoise_pass {
    int from, to;   /* rows to compute: positions of the canvas */
    int n_keys;     /* they see the positions below this: the others' KV is there */
    int n_asked;    /* rows whose logits are wanted, all canvases together, one after the other */
    int n_canvases; /* 1; with verify up to 1 + DENOISER_AHEAD */
    const denoise_canvas *canvases; /* the first as it is; those after it with guesses, whose rows
                                       [from, to) are written to places of their own */
    bool whole;                     /* KV that was kept is computed afresh */
    int phase; /* passes since it was; of a block-causal model since the block in work began */
    int work_from, work_to; /* positions of the rows that are denoised */
} denoise_pass;

/* params: resolved for n_answer; the prompt (at least 1 token) is copied. FO_ENOMEM. */
int denoiser_create(denoiser **out, const diffusion_params *params, const diffusion_model *m,
                    int n_vocab, const int32_t *prompt, int n_prompt, int n_answer, fo_err *err);
void denoiser_free(denoiser *d); /* NULL is fine */

/* The next pass; NULL: there is no mask left. Again the same until _commit. */
const denoise_pass *denoiser_plan(denoiser *d);

/* Block-causal, before the first pass or the first after _restart: the KV of positions below n, a multiple of the attention's block
 * and none of a mask, is there for good, and is not computed. Not with guidance, whose
 * other canvas has another prompt. */
void denoiser_attach(denoiser *d, int n);
/* Block-causal: positions below this have the KV that they keep for ever, and are not written any
 * more. 0 of other models, and where kv is off. */
int denoiser_exact(const denoiser *d);

/* With verify, before the first pass: n canvases at most, up to DENOISER_AHEAD, may be computed beside, whose rows
 * begin at multiples of `unit`. None before. */
void denoiser_look_ahead(denoiser *d, int n, int unit);

/* All KV is gone but what _attach says after this. Where KV is kept that computing it now would not
 * give, the canvas becomes what it was at the last whole pass; of a block-causal model it stays as it
 * is, but where KV was dropped (kv_sparse.h) begins anew. What follows is what would have followed,
 * so what is final, and was shown to somebody, becomes so again. */
void denoiser_restart(denoiser *d, bool dropped);

/* Rows of the next pass, those of the canvas without its prompt included; 0: there is none. */
int denoiser_rows(denoiser *d);

/* The canvas [n_prompt + n_answer]; without: its prompt masked, for guidance (NULL without). */
const int32_t *denoiser_tokens(const denoiser *d, bool without);

/* The logits of asked row k ([n_vocab], changed); without: those of the canvas without its prompt,
 * NULL where there is no guidance. */
void denoiser_take(denoiser *d, int k, float *logits, const float *without);

/* All asked rows were taken and the pass's KV is written: unmask. Returns how many. */
int denoiser_commit(denoiser *d);

/* Tokens of the answer before its first mask. */
int denoiser_final(const denoiser *d);
int denoiser_passes(const denoiser *d); /* so far */

#endif
