/* arch_qwen3.c - Qwen3: Qwen2 without biases, with a norm on each head's query and key, heads of
 * their own width; as mixtures of experts, too. LLaDA-MoE is such a one, read in both directions.
 * Source: Yang et al. 2025; Zhu et al. 2025 (LLaDA-MoE). */
#include "engine/model/model_internal.h"

static int load_family(model_loader *l, double rope_base) {
    model *m = l->m;
    int rc = loader_llama_family(l, rope_base, false);
    if (rc) return rc;
    for (int i = 0; i < m->info.n_layers; i++)
        if (!m->layers[i].q_norm || !m->layers[i].k_norm)
            return fo_fail(l->err, FO_ECORRUPT, "layer %d lacks attn_q_norm or attn_k_norm", i);
    return FO_OK;
}

static int load(model_loader *l) {
    l->m->expert_norm = true;
    return load_family(l, 1000000.0);
}

static int load_llada_moe(model_loader *l) {
    int rc = load_family(l, 10000.0);
    return rc ? rc : loader_bidirectional(l);
}

const architecture arch_qwen3 = {"qwen3", load};
const architecture arch_qwen3moe = {"qwen3moe", load};
const architecture arch_llada_moe = {"llada-moe", load_llada_moe};
