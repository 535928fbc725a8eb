/* arch_llama.c - Llama 1 to 3, SmolLM, Mistral, Mixtral and what else calls itself llama. LLaDA is the
 * same network read in both directions. Source: Touvron et al. 2023; Jiang et al. 2024 (Mixtral); Nie et
 * al. 2025 (LLaDA). */
#include "engine/model/model_internal.h"

static int load(model_loader *l) {
    l->m->expert_norm = true; /* Mixtral's softmax is over those that are used */
    return loader_llama_family(l, 10000.0, true);
}

static int load_llada(model_loader *l) {
    int rc = load(l);
    return rc ? rc : loader_bidirectional(l);
}

const architecture arch_llama = {"llama", load};
const architecture arch_llada = {"llada", load_llada};
