/* arch_qwen2.c - Qwen2 and Qwen2.5: Llama with biases on q, k, v and RoPE over halves. Dream is the
 * same network read in both directions. Source: Yang et al. 2024; Ye et al. 2025 (Dream). */
#include "engine/model/model_internal.h"

static int load(model_loader *l) {
    return loader_llama_family(l, 10000.0, false);
}

static int load_dream(model_loader *l) {
    int rc = load(l);
    return rc ? rc : loader_bidirectional(l);
}

const architecture arch_qwen2 = {"qwen2", load};
const architecture arch_dream = {"dream", load_dream};
