/* arch_phi3.c - Phi-3 and Phi-4-mini: q, k and v in one matrix, gate and up in one, an optional
 * sliding window, long-context RoPE factors. Source: Abdin et al. 2024. */
#include "engine/model_internal.h"

static int load(model_loader *l) {
    model *m = l->m;
    int rc, window = 0;
    m->info.causal = true;
    m->ffn = FFN_SILU_GATED;
    if ((rc = loader_common(l)) ||
        (rc = loader_need_float(l, "attention.layer_norm_rms_epsilon", &m->norm_eps)) ||
        (rc = loader_int(l, "attention.sliding_window", 0, 1 << 24, &window)) ||
        (rc = loader_rope(l, &m->ropes[0], 10000.0, false)) || (rc = loader_decoder_layers(l)) ||
        (rc = loader_decoder_head(l)))
        return rc;
    m->info.sliding_window = window;
    for (int i = 0; i < m->info.n_layers; i++) {
        m->layers[i].rope = &m->ropes[0];
        m->layers[i].window = window;
    }
    return FO_OK;
}

const architecture arch_phi3 = {"phi3", load};
