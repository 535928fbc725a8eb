/* arch_bert.c - BERT encoders (MiniLM, bge, e5, cross-encoders) and Nomic's, which has RoPE, a
 * gated FFN and no biases. Source: Devlin et al. 2018; Nussbaum et al. 2024. */
#include "engine/model/model_internal.h"

static int encoder_layer(model_loader *l, layer *y) {
    model *m = l->m;
    const model_info *i = &m->info;
    int d = i->d_model, rc;
    const int qkv[] = {i->n_heads * i->k_dim, i->n_kv_heads * i->k_dim, i->n_kv_heads * i->v_dim};
    const int up[] = {m->d_ff, m->d_ff};
    static const char *const qkv_names[] = {"attn_q", "attn_k", "attn_v"};
    static const char *const up_names[] = {"ffn_gate", "ffn_up"};
    loader_rotate(l, true);
    rc = loader_has_tensor(l, "attn_qkv.weight")
             ? loader_linear_split(l, &y->qkv, d, "attn_qkv", 3, qkv)
             : loader_linear(l, &y->qkv, d, 3, qkv_names, qkv);
    if (rc || (rc = loader_linear_1(l, &y->out, i->n_heads * i->v_dim, "attn_output", d)) ||
        (rc = loader_vector(l, "attn_output_norm.weight", d, &y->attn_norm)) ||
        (rc = loader_vector_optional(l, "attn_output_norm.bias", d, &y->attn_norm_bias)))
        return rc;
    rc = m->ffn == FFN_GELU ? loader_linear_1(l, &y->up, d, "ffn_up", m->d_ff)
                            : loader_linear(l, &y->up, d, 2, up_names, up);
    /* MiniLM: worst cosine .99894 without, .99905 with the values' second term (mean loss .00037
     * and .00024); rotated .99930 without (.00029). */
    y->qkv.n_fine = y->qkv.wide ? 0 : 1;
    if (!rc) rc = loader_linear_1(l, &y->down, m->d_ff, "ffn_down", d);
    loader_rotate(l, false);
    if (rc || (rc = loader_vector(l, "layer_output_norm.weight", d, &y->ffn_norm))) return rc;
    return loader_vector_optional(l, "layer_output_norm.bias", d, &y->ffn_norm_bias);
}

static int embedding(model_loader *l, const char *name, uint64_t rows, const gguf_tensor **out) {
    const gguf_tensor *t = gguf_find_tensor(l->m->file, name);
    if (!t) return FO_OK;
    if (t->dims[0] != (uint64_t)l->m->info.d_model || t->n_rows < rows)
        return fo_fail(l->err, FO_ECORRUPT, "%s has not %d columns and %llu rows", name,
                       l->m->info.d_model, (unsigned long long)rows);
    *out = t;
    return FO_OK;
}

static int encoder(model_loader *l) {
    model *m = l->m;
    model_info *i = &m->info;
    int rc, pooling = MODEL_POOL_MEAN;
    i->encoder = true;
    if ((rc = loader_common(l)) ||
        (rc = loader_need_float(l, "attention.layer_norm_epsilon", &m->norm_eps)) ||
        (rc = loader_int(l, "pooling_type", MODEL_POOL_NONE, MODEL_POOL_RANK, &pooling)) ||
        (rc = loader_vector(l, "token_embd_norm.weight", i->d_model, &m->embd_norm)) ||
        (rc = loader_vector_optional(l, "token_embd_norm.bias", i->d_model, &m->embd_norm_bias)) ||
        (rc = embedding(l, "token_types.weight", 1, &m->type_embd)) ||
        (rc = embedding(l, "position_embd.weight", (uint64_t)i->n_context, &m->position_embd)))
        return rc;
    i->pooling = (model_pooling)pooling;
    for (l->layer = 0; l->layer < i->n_layers; l->layer++)
        if ((rc = encoder_layer(l, &m->layers[l->layer]))) return rc;
    l->layer = -1;
    if (loader_has_tensor(l, "cls.weight") &&
        (rc = loader_linear_1(l, &m->pooler, i->d_model, "cls", i->d_model)))
        return rc;
    const gguf_tensor *score = gguf_find_tensor(m->file, "cls.output.weight");
    if (!score) return FO_OK;
    if (score->dims[1] > 1024) return fo_fail(l->err, FO_ECORRUPT, "cls.output.weight");
    i->n_scores = (int)score->dims[1];
    return loader_linear_1(l, &m->score, i->d_model, "cls.output", i->n_scores);
}

static int load_bert(model_loader *l) {
    l->m->ffn = FFN_GELU;
    int rc = encoder(l);
    if (!rc && !l->m->position_embd)
        return fo_fail(l->err, FO_ECORRUPT, "the model lacks position_embd.weight");
    return rc;
}

static int load_nomic(model_loader *l) {
    l->m->ffn = FFN_SILU_GATED;
    int rc = encoder(l);
    if (rc || (rc = loader_rope(l, &l->m->ropes[0], 1000.0, false))) return rc;
    for (int i = 0; i < l->m->info.n_layers; i++) l->m->layers[i].rope = &l->m->ropes[0];
    return FO_OK;
}

const architecture arch_bert = {"bert", load_bert};
const architecture arch_nomic_bert = {"nomic-bert", load_nomic};
