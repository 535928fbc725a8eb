/* arch_phi3.c - Phi-3 and Phi-4-mini: q, k and v in one matrix, gate and up in one, an optional
 * sliding window, long-context RoPE factors. Source: Abdin et al. 2024. */
#include "engine/model/model_internal.h"

static int load(model_loader *l) {
    model *m = l->m;
    int window = 0, rc = loader_llama_family(l, 10000.0, false);
    if (rc || (rc = loader_int(l, "attention.sliding_window", 0, 1 << 24, &window))) return rc;
    m->info.sliding_window = window;
    for (int i = 0; i < m->info.n_layers; i++) m->layers[i].window = window;
    return FO_OK;
}

const architecture arch_phi3 = {"phi3", load};
