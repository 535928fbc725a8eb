/* arch_qwen3.c - Qwen3: Qwen2 without biases, with a norm on each head's query and key, heads of
 * their own width. Source: Yang et al. 2025. */
#include "engine/model_internal.h"

static int load(model_loader *l) {
    model *m = l->m;
    int rc;
    m->info.causal = true;
    m->ffn = FFN_SILU_GATED;
    if ((rc = loader_common(l)) ||
        (rc = loader_need_float(l, "attention.layer_norm_rms_epsilon", &m->norm_eps)) ||
        (rc = loader_rope(l, &m->ropes[0], 1000000.0, false)) || (rc = loader_decoder_layers(l)) ||
        (rc = loader_decoder_head(l)))
        return rc;
    for (int i = 0; i < m->info.n_layers; i++) {
        layer *y = &m->layers[i];
        y->rope = &m->ropes[0];
        if (!y->q_norm || !y->k_norm)
            return fo_fail(l->err, FO_ECORRUPT, "layer %d lacks attn_q_norm or attn_k_norm", i);
    }
    return FO_OK;
}

const architecture arch_qwen3 = {"qwen3", load};
