/* kv_sparse.h - sparse attention: which blocks of KV each head of a sequence keeps, and when that is
 * decided.
 *
 *     positions    | sink |      candidates            | window | point ...
 *     head 0         keep     . . keep . keep . . keep    keep
 *     head 1         keep     . keep . . . . keep keep    keep
 *
 * At a point, the rows of the window before it have said by their attention (softmax weights, added
 * up over the query heads that share a KV head) which blocks of candidates matter to each head. The
 * share `retention` of them stays, in every head as many blocks; the rest is dropped (kv_seq_pack),
 * and nothing sees it any more. At later points what is left and what came since is weighed again.
 * Of a canvas (engine/diffusion) rows that are denoised now are the window, and candidates are all
 * others, before them and behind them.
 *
 * What a sequence keeps depends on its tokens and these parameters alone: points are positions, not
 * steps, so that preemption and company change nothing.
 * Sources: dLLM-Serve (head-centric sparse attention for diffusion models), Sparse-dLLM (delayed
 * eviction), SnapKV (Li et al. 2024: the window that decides). */
#ifndef FORAGE_ENGINE_KV_SPARSE_H
#define FORAGE_ENGINE_KV_SPARSE_H

#include "engine/gguf/gguf.h"
#include "engine/kv/kv_cache.h"
#include "engine/model/model.h"

/* Of each field: a negative value means the model's own (sparse_params_read). */
typedef struct sparse_params {
    float retention; /* share of the candidates that every head keeps, (0, 1]; 1: dense. Own: 1 */
    int delay;       /* tokens written (passes over a canvas, at least 1) before the first choice.
                        Own: 0 (1) */
    int block;       /* tokens that are kept or dropped together: a multiple of KV_BLOCK. Own: 16 */
    int sink;        /* so many first tokens are always kept, rounded up to blocks. Own: 16 */
    int window;      /* tokens before a point that decide and are kept. Own: 64; not of canvases */
    int refresh; /* tokens from one point to the next; 0: there is but one. Own: 256; of canvases
                        diffusion's refresh decides */
} sparse_params;

sparse_params sparse_params_default(void); /* the model's own of everything */
/* What the model's file says: sparse.retention, sparse.delay and so on; what it does not say is ours.
 * FO_ECORRUPT names the key. */
int sparse_params_read(sparse_params *own, const gguf *g, fo_err *err);
/* p with own in place. FO_EINVAL names the field, as "sparse.retention". */
int sparse_params_resolve(sparse_params *p, const sparse_params *own, fo_err *err);

/* The state of one sequence. Threads: one, but that steps of the model add to what is watched. */
typedef struct kv_sparse kv_sparse;

/* For a sequence of at most n_tokens positions, n_prompt of which are prompt. All memory is taken
 * here. p: resolved. FO_ENOMEM. */
int kv_sparse_create(kv_sparse **out, const sparse_params *p, const kv_layout *l, int n_prompt,
                     int n_tokens, fo_err *err);
void kv_sparse_free(kv_sparse *k); /* NULL is fine */
const sparse_params *kv_sparse_get_params(const kv_sparse *k);

/* The sequence begins anew: with its first token, or all that was watched is void. */
void kv_sparse_reset(kv_sparse *k);

/* --- sequences that are written token by token --- */

/* The first point at or behind position `at`; INT_MAX: there is none. Rows of both sides of a point
 * must not be in one step. */
int kv_sparse_point(const kv_sparse *k, int at);
/* Tokens from the first on that may be attached: those behind decide. */
int kv_sparse_shareable(const kv_sparse *k);
/* Rows [start, start + n) of s are about to be computed: what of its attention is to be watched, in
 * *watched and what follows it (NULL: nothing). */
void kv_sparse_watch(kv_sparse *k, const kv_seq *s, int start, int n, model_sequence *out);
/* s has reached a point at which nothing is decided yet. */
bool kv_sparse_due(const kv_sparse *k, const kv_seq *s);
/* Decide, and drop. FO_ENOMEM as kv_seq_pack: nothing has changed, to be asked again. */
int kv_sparse_decide(kv_sparse *k, kv_seq *s, fo_err *err);

/* --- canvases --- */

/* The rows at positions [from, to) decide about n_slots slots. */
void kv_sparse_watch_canvas(kv_sparse *k, int n_slots, int from, int to, model_sequence *out);
/* Decide by what was watched, and drop of n_slots slots. Positions [from, to), rounded outward to
 * blocks, are kept in every head, and a last block that is not full. FO_ENOMEM as above. */
int kv_sparse_decide_canvas(kv_sparse *k, kv_seq *s, int from, int to, int n_slots, fo_err *err);
/* Slots that the canvas has since; 0: all. */
int kv_sparse_slots(const kv_sparse *k);

#endif
