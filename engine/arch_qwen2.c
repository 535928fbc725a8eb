/* arch_qwen2.c - Qwen2 and Qwen2.5: Llama with biases on q, k, v and RoPE over halves. Dream is the
 * same network read in both directions. Source: Yang et al. 2024; Ye et al. 2025 (Dream). */
#include "engine/model_internal.h"

static int load(model_loader *l) {
    model *m = l->m;
    int rc;
    m->info.causal = true;
    m->ffn = FFN_SILU_GATED;
    if ((rc = loader_common(l)) ||
        (rc = loader_need_float(l, "attention.layer_norm_rms_epsilon", &m->norm_eps)) ||
        (rc = loader_rope(l, &m->ropes[0], 10000.0, false)) || (rc = loader_decoder_layers(l)) ||
        (rc = loader_decoder_head(l)))
        return rc;
    for (int i = 0; i < m->info.n_layers; i++) m->layers[i].rope = &m->ropes[0];
    return FO_OK;
}

static int load_dream(model_loader *l) {
    int rc = load(l);
    l->m->info.causal = false;
    return rc;
}

const architecture arch_qwen2 = {"qwen2", load};
const architecture arch_dream = {"dream", load_dream};
