/* lm_head.h - logits of a step's last rows.
 *
 * On the fast path a row is the sum of two int8 terms (15 bits), because one alone changes the choice
 * between the best tokens now and then. The second term costs as much as the first, and it moves a
 * logit by no more than Cauchy and Schwarz allow: |rest| |w|, rest being what the first term left
 * of the row and w the output's weights. So all logits get the first term, and the second goes to
 * the panels that hold one within reach of the row's best: whatever could be the best with both
 * terms has both, to the bit, and so has what stands close behind it. The others keep an error of
 * one rounding, a fraction of what the layers' roundings leave in every logit.
 *
 * Which panels those are depends on the row and the weights alone (row invariance). */
#ifndef FORAGE_ENGINE_LM_HEAD_H
#define FORAGE_ENGINE_LM_HEAD_H

#include "engine/model/forward.h"

enum { LM_HEAD_STRETCH = 64 }; /* panels that share one bound on their weights */

/* The largest |w| of each stretch of m->head: m->head_norms[stretches], owned by the model. t: the
 * head's tensor. For loaders, after m->head is set. FO_ENOMEM. */
int lm_head_measure(model *m, const gguf_tensor *t, fo_err *err);

static inline int lm_head_stretches(const linear *head) {
    return (head->n_out / MM_PANEL + LM_HEAD_STRETCH - 1) / LM_HEAD_STRETCH;
}

/* out[rows][m->head.n_out] = the logits of f->xn's first rows, bias added, no soft cap. */
void lm_head_logits(forward *f, int rows, float *out);

#endif
