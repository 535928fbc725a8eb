/* tiny_model.h - small models with random weights, written for a test, and the second oracle: a
 * forward pass in double that is slow, obvious and shares no code with the engine's. */
#ifndef FORAGE_TESTS_TINY_MODEL_H
#define FORAGE_TESTS_TINY_MODEL_H

#include <math.h>

#include "engine/gguf/gguf.h"
#include "tests/test.h"

typedef struct tiny_shape {
    const char *arch;
    quant_type type; /* of the matrices */
    int d, layers, heads, kv_heads, head_dim, ff, vocab, window, outlier;
    int experts, experts_used; /* ff: of one of them */
    int shared;                /* width of what every row goes through beside; 0: none */
    bool shared_gate;
    int odd_router; /* says of itself: 1 a gating, 2 groups, 3 a bias, 4 shared experts; 0: nothing */
    bool alone;     /* what rows see of each other counts for nothing */
    bool
        unigram; /* bert: an embedder with a vocabulary of the family t5, else it scores pairs and has none */
} tiny_shape;

enum { TINY_MAX = 64, TINY_CONTEXT = 512, TINY_VOCAB = 200 };

static const tiny_shape tiny_llama = {.arch = "llama",
                                      .type = QUANT_Q8_0,
                                      .d = 64,
                                      .layers = 2,
                                      .heads = 4,
                                      .kv_heads = 2,
                                      .head_dim = 32,
                                      .ff = 96,
                                      .vocab = TINY_VOCAB};

typedef struct tiny_writer {
    gguf_writer *w;
    uint64_t *seed;
    struct {
        char name[64];
        int n, k;
        double scale, shift;
        quant_type type;
    } t[TINY_MAX * 16];
    int n;
} tiny_writer;

static inline void tiny_tensor(tiny_writer *w, const char *name, int layer, int k, int n,
                               quant_type type, double scale, double shift) {
    if (layer >= 0)
        snprintf(w->t[w->n].name, 64, "blk.%d.%s", layer, name);
    else
        snprintf(w->t[w->n].name, 64, "%s", name);
    w->t[w->n].k = k, w->t[w->n].n = n;
    w->t[w->n].scale = scale, w->t[w->n].shift = shift;
    w->t[w->n].type = type;
    uint64_t dims[2] = {(uint64_t)k, (uint64_t)n};
    gguf_put_tensor(w->w, w->t[w->n].name, type, n > 1 ? 2 : 1, dims);
    w->n++;
}

/* Matrices [experts][n][k]. */
static inline void tiny_experts(tiny_writer *w, const char *name, int layer, int k, int n,
                                int experts, quant_type type, double scale) {
    snprintf(w->t[w->n].name, 64, "blk.%d.%s", layer, name);
    w->t[w->n].k = k, w->t[w->n].n = n * experts;
    w->t[w->n].scale = scale, w->t[w->n].shift = 0;
    w->t[w->n].type = type;
    uint64_t dims[3] = {(uint64_t)k, (uint64_t)n, (uint64_t)experts};
    gguf_put_tensor(w->w, w->t[w->n++].name, type, 3, dims);
}

static inline void tiny_key_u32(tiny_writer *w, const char *arch, const char *key, int v) {
    char name[128];
    snprintf(name, sizeof name, "%s.%s", arch, key);
    gguf_put_u32(w->w, name, (uint32_t)v);
}

static inline void tiny_key_f32(tiny_writer *w, const char *arch, const char *key, float v) {
    char name[128];
    snprintf(name, sizeof name, "%s.%s", arch, key);
    gguf_put_f32(w->w, name, v);
}

/* A SentencePiece vocabulary: <unk>, <s>, </s>, the space, then the printable characters, then
 * pairs of letters. */
static inline void tiny_tokenizer(gguf_writer *w, const char *family, int n) {
    char text[512][4];
    gguf_str pieces[512];
    float scores[512];
    int32_t types[512];
    assert_true(n <= 512);
    for (int i = 0; i < n; i++) {
        int letter = 33 + i - 4, pair = i - 98;
        snprintf(text[i], 4, "%c", letter);
        if (i >= 98) snprintf(text[i], 4, "%c%c", 'a' + pair / 26 % 26, 'a' + pair % 26);
        const char *piece = i == 0   ? "<unk>"
                            : i == 1 ? "<s>"
                            : i == 2 ? "</s>"
                            : i == 3 ? "\xe2\x96\x81"
                                     : text[i];
        pieces[i] = (gguf_str){piece, strlen(piece)};
        scores[i] = i < 98 ? -100 : -(float)i;
        types[i] = i == 0 ? 2 : i < 3 ? 3 : 1;
    }
    gguf_put_str(w, "tokenizer.ggml.model", family);
    gguf_put_strs(w, "tokenizer.ggml.tokens", pieces, (size_t)n);
    gguf_put_f32s(w, "tokenizer.ggml.scores", scores, (size_t)n);
    gguf_put_i32s(w, "tokenizer.ggml.token_type", types, (size_t)n);
    gguf_put_u32(w, "tokenizer.ggml.bos_token_id", 1);
    gguf_put_u32(w, "tokenizer.ggml.eos_token_id", 2);
}

/* Weights of unit gain, so that activations keep their size through the layers. */
/* The mask of a diffusion model (llada, dream) is its last token; its attention goes by blocks of so
 * many where attention_block is not 0. */
static inline void tiny_model_write_blocks(const char *path, const tiny_shape *s,
                                           int attention_block, uint64_t *seed) {
    fo_err err;
    tiny_writer w = {.seed = seed};
    assert_ok(gguf_writer_create(&w.w, path, &err), &err);
    const char *a = s->arch;
    bool bert = strstr(a, "bert"), phi = !strcmp(a, "phi3"), gemma = !strcmp(a, "gemma3");
    int nq = s->heads * s->head_dim, nk = s->kv_heads * s->head_dim;
    gguf_put_str(w.w, "general.architecture", a);
    tiny_key_u32(&w, a, "block_count", s->layers);
    tiny_key_u32(&w, a, "context_length", TINY_CONTEXT);
    tiny_key_u32(&w, a, "embedding_length", s->d);
    tiny_key_u32(&w, a, "feed_forward_length", s->ff);
    tiny_key_u32(&w, a, "attention.head_count", s->heads);
    tiny_key_u32(&w, a, "attention.head_count_kv", s->kv_heads);
    tiny_key_u32(&w, a, "attention.key_length", s->head_dim);
    tiny_key_u32(&w, a, "attention.value_length", s->head_dim);
    if (s->window) tiny_key_u32(&w, a, "attention.sliding_window", s->window);
    tiny_key_f32(&w, a, bert ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon",
                 1e-5f);
    if (!bert || s->unigram) tiny_tokenizer(w.w, bert ? "t5" : "llama", s->vocab);
    if (s->experts) {
        tiny_key_u32(&w, a, "expert_count", s->experts);
        tiny_key_u32(&w, a, "expert_used_count", s->experts_used);
        tiny_key_u32(&w, a, "expert_feed_forward_length", s->ff);
        if (s->odd_router == 1) tiny_key_u32(&w, a, "expert_gating_func", 2);
        if (s->odd_router == 4) tiny_key_u32(&w, a, "expert_shared_count", 2);
        if (s->odd_router == 2) tiny_key_u32(&w, a, "expert_group_count", 3);
    }
    if (strstr(a, "llada") || !strcmp(a, "dream")) {
        gguf_put_u32(w.w, "tokenizer.ggml.mask_token_id", (uint32_t)s->vocab - 1);
        gguf_put_bool(w.w, "diffusion.shift_logits", !strcmp(a, "dream"));
        if (attention_block)
            gguf_put_u32(w.w, "diffusion.attention_block", (uint32_t)attention_block);
    }
    const quant_type f = QUANT_F32;
    double gd = 1 / sqrt(s->d), gq = 1 / sqrt(nq), gf = 1 / sqrt(s->ff);
    tiny_tensor(&w, "token_embd.weight", -1, s->d, s->vocab, s->type, 1, 0);
    if (bert) {
        if (!strcmp(a, "bert"))
            tiny_tensor(&w, "position_embd.weight", -1, s->d, TINY_CONTEXT, f, 0.3, 0);
        tiny_tensor(&w, "token_types.weight", -1, s->d, 2, f, 0.3, 0);
        tiny_tensor(&w, "token_embd_norm.weight", -1, s->d, 1, f, 0.2, 1);
        tiny_tensor(&w, "token_embd_norm.bias", -1, s->d, 1, f, 0.2, 0);
    }
    if (bert && !s->unigram) {
        tiny_tensor(&w, "cls.weight", -1, s->d, s->d, f, gd, 0);
        tiny_tensor(&w, "cls.bias", -1, s->d, 1, f, 0.1, 0);
        uint64_t dims[2] = {(uint64_t)s->d, 1};
        snprintf(w.t[w.n].name, 64, "cls.output.weight");
        w.t[w.n].k = s->d, w.t[w.n].n = 1, w.t[w.n].scale = gd, w.t[w.n].type = f;
        gguf_put_tensor(w.w, w.t[w.n++].name, f, 2, dims);
    } else if (!bert) {
        tiny_tensor(&w, "output_norm.weight", -1, s->d, 1, f, 0.2, 1);
        if (!gemma) tiny_tensor(&w, "output.weight", -1, s->d, s->vocab, s->type, 2 * gd, 0);
    }
    for (int i = 0; i < s->layers; i++) {
        if (!bert) {
            tiny_tensor(&w, "attn_norm.weight", i, s->d, 1, f, 0.2, 1);
            tiny_tensor(&w, "ffn_norm.weight", i, s->d, 1, f, 0.2, 1);
        }
        if (phi)
            tiny_tensor(&w, "attn_qkv.weight", i, s->d, nq + 2 * nk, s->type, 2 * gd, 0);
        else {
            tiny_tensor(&w, "attn_q.weight", i, s->d, nq, s->type, 2 * gd, 0);
            tiny_tensor(&w, "attn_k.weight", i, s->d, nk, s->type, 2 * gd, 0);
            tiny_tensor(&w, "attn_v.weight", i, s->d, nk, s->type, gd, 0);
        }
        if (bert || !strcmp(a, "qwen2") || !strcmp(a, "dream")) {
            tiny_tensor(&w, "attn_q.bias", i, nq, 1, f, 0.3, 0);
            tiny_tensor(&w, "attn_k.bias", i, nk, 1, f, 0.3, 0);
            tiny_tensor(&w, "attn_v.bias", i, nk, 1, f, 0.3, 0);
        }
        if (strstr(a, "qwen3") || !strcmp(a, "llada-moe") || gemma) {
            tiny_tensor(&w, "attn_q_norm.weight", i, s->head_dim, 1, f, 0.2, 1);
            tiny_tensor(&w, "attn_k_norm.weight", i, s->head_dim, 1, f, 0.2, 1);
        }
        tiny_tensor(&w, "attn_output.weight", i, nq, s->d, s->type, s->alone ? 0 : gq, 0);
        if (gemma) {
            tiny_tensor(&w, "post_attention_norm.weight", i, s->d, 1, f, 0.2, 1);
            tiny_tensor(&w, "post_ffw_norm.weight", i, s->d, 1, f, 0.2, 1);
        }
        if (bert) {
            tiny_tensor(&w, "attn_output_norm.weight", i, s->d, 1, f, 0.2, 1);
            tiny_tensor(&w, "attn_output_norm.bias", i, s->d, 1, f, 0.2, 0);
            tiny_tensor(&w, "layer_output_norm.weight", i, s->d, 1, f, 0.2, 1);
            tiny_tensor(&w, "layer_output_norm.bias", i, s->d, 1, f, 0.2, 0);
        }
        if (s->experts) {
            tiny_tensor(&w, "ffn_gate_inp.weight", i, s->d, s->experts, f, 2 * gd, 0);
            tiny_experts(&w, "ffn_gate_exps.weight", i, s->d, s->ff, s->experts, s->type, gd);
            tiny_experts(&w, "ffn_up_exps.weight", i, s->d, s->ff, s->experts, s->type, gd);
            tiny_experts(&w, "ffn_down_exps.weight", i, s->ff, s->d, s->experts, s->type, gf);
            if (s->odd_router == 3) tiny_tensor(&w, "exp_probs_b.bias", i, s->experts, 1, f, 1, 0);
            if (s->shared) {
                tiny_tensor(&w, "ffn_gate_shexp.weight", i, s->d, s->shared, s->type, gd, 0);
                tiny_tensor(&w, "ffn_up_shexp.weight", i, s->d, s->shared, s->type, gd, 0);
                tiny_tensor(&w, "ffn_down_shexp.weight", i, s->shared, s->d, s->type,
                            1 / sqrt(s->shared), 0);
            }
            if (s->shared_gate) tiny_tensor(&w, "ffn_gate_inp_shexp.weight", i, s->d, 1, f, gd, 0);
            continue;
        }
        if (phi)
            tiny_tensor(&w, "ffn_up.weight", i, s->d, 2 * s->ff, s->type, gd, 0);
        else {
            if (strcmp(a, "bert"))
                tiny_tensor(&w, "ffn_gate.weight", i, s->d, s->ff, s->type, gd, 0);
            tiny_tensor(&w, "ffn_up.weight", i, s->d, s->ff, s->type, gd, 0);
        }
        tiny_tensor(&w, "ffn_down.weight", i, s->ff, s->d, s->type, gf, 0);
    }
    for (int i = 0; i < w.n; i++) {
        int k = w.t[i].k, n = w.t[i].n;
        size_t row_bytes;
        assert_true(quant_row_bytes(w.t[i].type, (uint64_t)k, &row_bytes));
        float *row = malloc((size_t)k * sizeof *row);
        void *packed = malloc(row_bytes);
        for (int r = 0; r < n; r++) {
            for (int j = 0; j < k; j++)
                row[j] = (float)((2 * test_uniform(seed) - 1) * 1.73 * w.t[i].scale + w.t[i].shift);
            if (s->outlier && strstr(w.t[i].name, "_norm.weight") && k == s->d)
                row[s->outlier] *= 20; /* the fast path's second term for groups with outliers */
            quant_pack_row(w.t[i].type, row, packed, (size_t)k);
            assert_ok(gguf_write_data(w.w, packed, row_bytes, &err), &err);
        }
        free(packed);
        free(row);
    }
    assert_ok(gguf_writer_commit(w.w, &err), &err);
}

static inline void tiny_model_write(const char *path, const tiny_shape *s, uint64_t *seed) {
    tiny_model_write_blocks(path, s, 0, seed);
}

/* --- the oracle: decoders --- */
static inline double *oracle_tensor(const gguf *g, const char *name, int layer, size_t first,
                                    size_t n) {
    char full[64];
    if (layer >= 0)
        snprintf(full, sizeof full, "blk.%d.%s", layer, name);
    else
        snprintf(full, sizeof full, "%s", name);
    const gguf_tensor *t = gguf_find_tensor(g, full);
    if (!t) return NULL;
    float *f = malloc((size_t)t->n_values * sizeof *f);
    for (uint64_t r = 0; r < t->n_rows; r++)
        quant_unpack_row(t->type, (const char *)t->data + r * t->row_bytes, f + r * t->dims[0],
                         (size_t)t->dims[0]);
    assert_true(first + n <= t->n_values);
    double *d = malloc(n * sizeof *d);
    for (size_t i = 0; i < n; i++) d[i] = (double)f[first + i];
    free(f);
    return d;
}

/* y[n] = w[n][k] x + b; frees w and b */
static inline void oracle_product(double *y, double *w, double *b, const double *x, int n, int k) {
    for (int i = 0; i < n; i++) {
        y[i] = b ? b[i] : 0;
        for (int j = 0; j < k; j++) y[i] += w[i * k + j] * x[j];
    }
    free(w);
    free(b);
}

static inline void oracle_rms(double *y, const double *x, const double *w, int n, double eps) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    s = 1 / sqrt(s / n + eps);
    for (int i = 0; i < n; i++) y[i] = x[i] * s * w[i];
}

/* logits[n][vocab] of tokens at positions 0 .. n - 1, for what tiny_model_write writes. */
static inline void oracle_decoder(const char *path, const tiny_shape *s, const int32_t *tokens,
                                  int n, double *logits) {
    fo_err err;
    gguf *g;
    assert_ok(gguf_open(&g, path, &err), &err);
    const int d = s->d, hd = s->head_dim, nq = s->heads * hd, nk = s->kv_heads * hd;
    bool gemma = !strcmp(s->arch, "gemma3"), phi = !strcmp(s->arch, "phi3");
    bool adjacent = !strcmp(s->arch, "llama");
    double *x = calloc((size_t)(n * d), sizeof *x), *h = calloc((size_t)d, sizeof *h);
    double *q = calloc((size_t)(n * nq), sizeof *q), *k = calloc((size_t)(n * nk), sizeof *k);
    double *v = calloc((size_t)(n * nk), sizeof *v), *o = calloc((size_t)nq, sizeof *o);
    double *gate = calloc((size_t)s->ff, sizeof *gate), *up = calloc((size_t)s->ff, sizeof *up);
    double *p = calloc((size_t)n, sizeof *p), *sum = calloc((size_t)d, sizeof *sum);
    for (int t = 0; t < n; t++) {
        double *e = oracle_tensor(g, "token_embd.weight", -1, (size_t)(tokens[t] * d), (size_t)d);
        for (int i = 0; i < d; i++) x[t * d + i] = e[i] * (gemma ? sqrt(d) : 1);
        free(e);
    }
    for (int l = 0; l < s->layers; l++) {
        double *norm = oracle_tensor(g, "attn_norm.weight", l, 0, (size_t)d);
        double *qn = oracle_tensor(g, "attn_q_norm.weight", l, 0, (size_t)hd);
        double *kn = oracle_tensor(g, "attn_k_norm.weight", l, 0, (size_t)hd);
        bool full = !gemma || !s->window || l % 6 == 5;
        double base = gemma ? (full ? 1e6 : 1e4) : !strcmp(s->arch, "qwen3") ? 1e6 : 1e4;
        for (int t = 0; t < n; t++) {
            oracle_rms(h, x + t * d, norm, d, 1e-5);
            size_t aq = (size_t)(nq * d), ak = (size_t)(nk * d);
            oracle_product(q + t * nq,
                           phi ? oracle_tensor(g, "attn_qkv.weight", l, 0, aq)
                               : oracle_tensor(g, "attn_q.weight", l, 0, aq),
                           oracle_tensor(g, "attn_q.bias", l, 0, (size_t)nq), h, nq, d);
            oracle_product(k + t * nk,
                           phi ? oracle_tensor(g, "attn_qkv.weight", l, aq, ak)
                               : oracle_tensor(g, "attn_k.weight", l, 0, ak),
                           oracle_tensor(g, "attn_k.bias", l, 0, (size_t)nk), h, nk, d);
            oracle_product(v + t * nk,
                           phi ? oracle_tensor(g, "attn_qkv.weight", l, aq + ak, ak)
                               : oracle_tensor(g, "attn_v.weight", l, 0, ak),
                           oracle_tensor(g, "attn_v.bias", l, 0, (size_t)nk), h, nk, d);
            for (int head = 0; head < s->heads + s->kv_heads; head++) {
                bool key = head >= s->heads;
                double *z = key ? k + t * nk + (head - s->heads) * hd : q + t * nq + head * hd;
                if (qn) oracle_rms(z, z, key ? kn : qn, hd, 1e-5);
                for (int i = 0; i < hd / 2; i++) {
                    double angle = t * pow(base, -2.0 * i / hd);
                    double *a = adjacent ? &z[2 * i] : &z[i];
                    double *b = adjacent ? &z[2 * i + 1] : &z[i + hd / 2];
                    double a0 = *a, b0 = *b;
                    *a = a0 * cos(angle) - b0 * sin(angle);
                    *b = a0 * sin(angle) + b0 * cos(angle);
                }
            }
        }
        free(norm);
        free(qn);
        free(kn);
        double *post = oracle_tensor(g, "post_attention_norm.weight", l, 0, (size_t)d);
        double *post2 = oracle_tensor(g, "post_ffw_norm.weight", l, 0, (size_t)d);
        norm = oracle_tensor(g, "ffn_norm.weight", l, 0, (size_t)d);
        int window = gemma ? (full ? 0 : s->window) : phi ? s->window : 0;
        for (int t = 0; t < n; t++) {
            for (int head = 0; head < s->heads; head++) {
                int kh = head / (s->heads / s->kv_heads), from = 0;
                if (window && t >= window) from = t - window + 1;
                double top = -1e300, all = 0;
                for (int j = from; j <= t; j++) {
                    p[j] = 0;
                    for (int i = 0; i < hd; i++)
                        p[j] += q[t * nq + head * hd + i] * k[j * nk + kh * hd + i] / sqrt(hd);
                    if (p[j] > top) top = p[j];
                }
                for (int j = from; j <= t; j++) all += p[j] = exp(p[j] - top);
                for (int i = 0; i < hd; i++) {
                    o[head * hd + i] = 0;
                    for (int j = from; j <= t; j++)
                        o[head * hd + i] += p[j] / all * v[j * nk + kh * hd + i];
                }
            }
            oracle_product(sum, oracle_tensor(g, "attn_output.weight", l, 0, (size_t)(nq * d)),
                           NULL, o, d, nq);
            if (post) oracle_rms(sum, sum, post, d, 1e-5);
            for (int i = 0; i < d; i++) x[t * d + i] += sum[i];
            oracle_rms(h, x + t * d, norm, d, 1e-5);
            size_t au = (size_t)(s->ff * d);
            oracle_product(gate,
                           phi ? oracle_tensor(g, "ffn_up.weight", l, 0, au)
                               : oracle_tensor(g, "ffn_gate.weight", l, 0, au),
                           NULL, h, s->ff, d);
            oracle_product(up, oracle_tensor(g, "ffn_up.weight", l, phi ? au : 0, au), NULL, h,
                           s->ff, d);
            for (int i = 0; i < s->ff; i++) {
                double z = gate[i];
                double act = gemma
                                 ? 0.5 * z * (1 + tanh(sqrt(2 / M_PI) * (z + 0.044715 * z * z * z)))
                                 : z / (1 + exp(-z));
                gate[i] = act * up[i];
            }
            oracle_product(sum, oracle_tensor(g, "ffn_down.weight", l, 0, au), NULL, gate, d,
                           s->ff);
            if (post2) oracle_rms(sum, sum, post2, d, 1e-5);
            for (int i = 0; i < d; i++) x[t * d + i] += sum[i];
        }
        free(norm);
        free(post);
        free(post2);
    }
    double *norm = oracle_tensor(g, "output_norm.weight", -1, 0, (size_t)d);
    for (int t = 0; t < n; t++) {
        oracle_rms(h, x + t * d, norm, d, 1e-5);
        oracle_product(logits + t * s->vocab,
                       oracle_tensor(g, gemma ? "token_embd.weight" : "output.weight", -1, 0,
                                     (size_t)(s->vocab * d)),
                       NULL, h, s->vocab, d);
    }
    free(norm), free(x), free(h), free(q), free(k), free(v), free(o), free(gate), free(up);
    free(p), free(sum);
    gguf_close(g);
}

#endif
