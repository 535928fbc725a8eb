/* arch_qwen3.c - Qwen3: Qwen2 without biases, with a norm on each head's query and key, heads of
 * their own width. Source: Yang et al. 2025. */
#include "engine/model/model_internal.h"

static int load(model_loader *l) {
    model *m = l->m;
    int rc = loader_llama_family(l, 1000000.0, false);
    if (rc) return rc;
    for (int i = 0; i < m->info.n_layers; i++)
        if (!m->layers[i].q_norm || !m->layers[i].k_norm)
            return fo_fail(l->err, FO_ECORRUPT, "layer %d lacks attn_q_norm or attn_k_norm", i);
    return FO_OK;
}

const architecture arch_qwen3 = {"qwen3", load};
