/* arch_gemma3.c - Gemma 3: five layers with a sliding window and RoPE base 10,000 to one with full
 * attention and its own base, norms before and after each half, embeddings scaled by the root of
 * the width. The file's norm weights hold the + 1 already. Source: Gemma Team 2025. */
#include <math.h>

#include "engine/model/model_internal.h"

enum { FULL_EVERY = 6 };

static int load(model_loader *l) {
    model *m = l->m;
    model_info *i = &m->info;
    int rc, window = 0, n_rot;
    float local_base = 10000.0f;
    i->causal = true;
    m->ffn = FFN_GELU_TANH_GATED;
    if ((rc = loader_common(l)) ||
        (rc = loader_need_float(l, "attention.layer_norm_rms_epsilon", &m->norm_eps)) ||
        (rc = loader_float(l, "attn_logit_softcapping", &m->attn_soft_cap)) ||
        (rc = loader_float(l, "final_logit_softcapping", &m->logit_soft_cap)) ||
        (rc = loader_int(l, "attention.sliding_window", 0, 1 << 24, &window)) ||
        (rc = loader_float(l, "rope.freq_base_swa", &local_base)) ||
        (rc = loader_rope(l, &m->ropes[0], 1000000.0, false)) || (rc = loader_decoder_layers(l)) ||
        (rc = loader_decoder_head(l)))
        return rc;
    if (!(local_base > 0)) return fo_fail(l->err, FO_ECORRUPT, "gemma3.rope.freq_base_swa");
    n_rot = 2 * m->ropes[0].n_pairs;
    if (!rope_init(&m->ropes[1], n_rot, (double)local_base, 1.0, NULL, false, 1.0f))
        return fo_fail(l->err, FO_ENOMEM, "no memory for the RoPE table");
    i->sliding_window = window;
    m->embed_scale = sqrtf((float)i->d_model);
    /* The 27B model alone scales scores by the width a head would have had. */
    if (i->n_layers == 62) m->attn_scale = 1.0f / sqrtf((float)(i->d_model / i->n_heads));
    for (int j = 0; j < i->n_layers; j++) {
        bool full = !window || j % FULL_EVERY == FULL_EVERY - 1;
        m->layers[j].rope = &m->ropes[full ? 0 : 1];
        m->layers[j].window = full ? 0 : window;
    }
    return FO_OK;
}

const architecture arch_gemma3 = {"gemma3", load};
