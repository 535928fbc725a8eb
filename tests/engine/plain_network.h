/* plain_network.h - a third oracle: the networks of the Llama family that tiny_model_write writes,
 * mixtures of experts among them, in double, with kept keys and values and, of each layer and KV head, which of them are still seen: what
 * kv_sparse.h says, as plainly as it goes. It shares no code with the engine. */
#ifndef FORAGE_TESTS_PLAIN_NETWORK_H
#define FORAGE_TESTS_PLAIN_NETWORK_H

#include "engine/kv/kv_sparse.h"
#include "tests/engine/tiny_model.h"

enum { PLAIN_MOST = 512, PLAIN_BLOCKS = PLAIN_MOST / KV_BLOCK, PLAIN_LAYERS = 4, PLAIN_HEADS = 4 };

typedef struct plain_layer {
    double *norm, *q, *k, *v, *out, *ffn_norm, *gate, *up, *down, *q_bias, *k_bias, *v_bias;
    double *q_norm, *k_norm, *router;                          /* NULL: none, here and below */
    double *shared_gate, *shared_up, *shared_down, *shared_by; /* experts of every row */
    double *keys, *values; /* [PLAIN_MOST][kv_heads * head_dim] */
} plain_layer;

typedef struct plain_network {
    tiny_shape s;
    bool causal, adjacent;
    int block; /* of the attention, 0: none */
    double *embd, *norm, *head;
    plain_layer layers[PLAIN_LAYERS];
    /* What a head sees no more; what its window's rows paid to each block of positions. */
    bool dropped[PLAIN_LAYERS][PLAIN_HEADS][PLAIN_MOST];
    double paid[PLAIN_LAYERS][PLAIN_HEADS][PLAIN_BLOCKS];
    int watch_from, watch_to;
} plain_network;

static inline plain_network *plain_open(const char *file, const tiny_shape *s, int block) {
    fo_err why;
    gguf *g;
    assert_ok(gguf_open(&g, file, &why), &why);
    assert_true(s->layers <= PLAIN_LAYERS && s->kv_heads <= PLAIN_HEADS);
    plain_network *p = calloc(1, sizeof *p);
    p->s = *s;
    p->block = block;
    p->causal = !strstr(s->arch, "llada") && strcmp(s->arch, "dream") != 0;
    p->adjacent = !strcmp(s->arch, "llama") || !strcmp(s->arch, "llada");
    const bool moe = s->experts > 0;
    const size_t d = (size_t)s->d, nq = (size_t)(s->heads * s->head_dim), hd = (size_t)s->head_dim;
    const size_t ff = (size_t)s->ff * (size_t)(moe ? s->experts : 1);
    const size_t shared = (size_t)s->shared;
    const size_t nk = (size_t)(s->kv_heads * s->head_dim), n = (size_t)s->vocab * d;
    p->embd = oracle_tensor(g, "token_embd.weight", -1, 0, n);
    p->norm = oracle_tensor(g, "output_norm.weight", -1, 0, d);
    p->head = oracle_tensor(g, "output.weight", -1, 0, n);
    for (int l = 0; l < s->layers; l++)
        p->layers[l] = (plain_layer){
            .norm = oracle_tensor(g, "attn_norm.weight", l, 0, d),
            .q = oracle_tensor(g, "attn_q.weight", l, 0, nq * d),
            .k = oracle_tensor(g, "attn_k.weight", l, 0, nk * d),
            .v = oracle_tensor(g, "attn_v.weight", l, 0, nk * d),
            .q_bias = oracle_tensor(g, "attn_q.bias", l, 0, nq),
            .k_bias = oracle_tensor(g, "attn_k.bias", l, 0, nk),
            .v_bias = oracle_tensor(g, "attn_v.bias", l, 0, nk),
            .out = oracle_tensor(g, "attn_output.weight", l, 0, nq * d),
            .ffn_norm = oracle_tensor(g, "ffn_norm.weight", l, 0, d),
            .gate =
                oracle_tensor(g, moe ? "ffn_gate_exps.weight" : "ffn_gate.weight", l, 0, ff * d),
            .up = oracle_tensor(g, moe ? "ffn_up_exps.weight" : "ffn_up.weight", l, 0, ff * d),
            .down =
                oracle_tensor(g, moe ? "ffn_down_exps.weight" : "ffn_down.weight", l, 0, ff * d),
            .q_norm = oracle_tensor(g, "attn_q_norm.weight", l, 0, hd),
            .k_norm = oracle_tensor(g, "attn_k_norm.weight", l, 0, hd),
            .router =
                moe ? oracle_tensor(g, "ffn_gate_inp.weight", l, 0, (size_t)s->experts * d) : NULL,
            .shared_gate = oracle_tensor(g, "ffn_gate_shexp.weight", l, 0, shared * d),
            .shared_up = oracle_tensor(g, "ffn_up_shexp.weight", l, 0, shared * d),
            .shared_down = oracle_tensor(g, "ffn_down_shexp.weight", l, 0, shared * d),
            .shared_by = oracle_tensor(g, "ffn_gate_inp_shexp.weight", l, 0, d),
            .keys = calloc(PLAIN_MOST * nk, sizeof(double)),
            .values = calloc(PLAIN_MOST * nk, sizeof(double))};
    gguf_close(g);
    return p;
}

static inline void plain_close(plain_network *p) {
    for (int l = 0; l < p->s.layers; l++) {
        plain_layer *y = &p->layers[l];
        free(y->norm), free(y->q), free(y->k), free(y->v), free(y->out), free(y->ffn_norm);
        free(y->gate), free(y->up), free(y->down), free(y->keys), free(y->values);
        free(y->q_bias), free(y->k_bias), free(y->v_bias);
        free(y->q_norm), free(y->k_norm), free(y->router);
        free(y->shared_gate), free(y->shared_up), free(y->shared_down), free(y->shared_by);
    }
    free(p->embd), free(p->norm), free(p->head);
    free(p);
}

/* All is seen, nothing was paid. */
static inline void plain_reset(plain_network *p) {
    memset(p->dropped, 0, sizeof p->dropped);
    memset(p->paid, 0, sizeof p->paid);
}

static inline void plain_product(double *y, const double *w, const double *b, const double *x,
                                 int n, int k) {
    for (int i = 0; i < n; i++) {
        y[i] = b ? b[i] : 0;
        for (int j = 0; j < k; j++) y[i] += w[i * k + j] * x[j];
    }
}

/* h becomes what these gate, up and down make of x. */
static inline void plain_ffn(const double *of_gate, const double *of_up, const double *of_down,
                             int d, int ff, const double *x, double *h) {
    double *gate = calloc((size_t)ff, sizeof *gate), *up = calloc((size_t)ff, sizeof *up);
    plain_product(gate, of_gate, NULL, x, ff, d);
    plain_product(up, of_up, NULL, x, ff, d);
    for (int i = 0; i < ff; i++) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    plain_product(h, of_down, NULL, gate, d, ff);
    free(gate), free(up);
}

/* Those of expert e. */
static inline void plain_feed(const plain_network *p, const plain_layer *y, int e, const double *x,
                              double *h) {
    const int d = p->s.d, ff = p->s.ff, at = e * d * ff;
    plain_ffn(y->gate + at, y->up + at, y->down + at, d, ff, x, h);
}

/* The same of a mixture: the softmax of all experts, the best of them, weighed. */
static inline void plain_mix(const plain_network *p, const plain_layer *y, const double *x,
                             double *h) {
    const int d = p->s.d, n = p->s.experts;
    double share[64], all = 0, kept = 0, *out = calloc((size_t)d, sizeof *out);
    int best[64];
    plain_product(share, y->router, NULL, x, n, d);
    for (int e = 0; e < n; e++) all += share[e] = exp(share[e]);
    for (int e = 0; e < n; e++) share[e] /= all;
    for (int k = 0; k < p->s.experts_used; k++) {
        best[k] = -1;
        for (int e = 0; e < n; e++) {
            bool taken = false;
            for (int i = 0; i < k; i++) taken |= best[i] == e;
            if (!taken && (best[k] < 0 || share[e] > share[best[k]])) best[k] = e;
        }
        kept += share[best[k]];
    }
    if (!strcmp(p->s.arch, "llada-moe")) kept = 1; /* the others divide */
    for (int i = 0; i < d; i++) h[i] = 0;
    for (int k = 0; k < p->s.experts_used; k++) {
        plain_feed(p, y, best[k], x, out);
        for (int i = 0; i < d; i++) h[i] += share[best[k]] / kept * out[i];
    }
    if (p->s.shared) {
        double by = 1;
        plain_ffn(y->shared_gate, y->shared_up, y->shared_down, d, p->s.shared, x, out);
        if (y->shared_by) {
            plain_product(&by, y->shared_by, NULL, x, 1, d);
            by = 1 / (1 + exp(-by));
        }
        for (int i = 0; i < d; i++) h[i] += by * out[i];
    }
    free(out);
}

static inline void plain_rotate(const plain_network *p, double *z, int position) {
    const int hd = p->s.head_dim;
    for (int i = 0; i < hd / 2; i++) {
        const double angle = position * pow(strstr(p->s.arch, "qwen3") ? 1e6 : 1e4, -2.0 * i / hd);
        double *a = p->adjacent ? &z[2 * i] : &z[i];
        double *b = p->adjacent ? &z[2 * i + 1] : &z[i + hd / 2];
        const double a0 = *a, b0 = *b;
        *a = a0 * cos(angle) - b0 * sin(angle);
        *b = a0 * sin(angle) + b0 * cos(angle);
    }
}

/* Up to where the row at `position` sees; n_keys: what of a canvas is there. */
static inline int plain_end(const plain_network *p, int position, int n_keys) {
    const int end = p->causal  ? position + 1
                    : p->block ? (position / p->block + 1) * p->block
                               : n_keys;
    return end < n_keys || p->causal ? end : n_keys;
}

static inline void plain_attend(plain_network *p, int l, int position, int n_keys, double *q,
                                double *o) {
    const int hd = p->s.head_dim, nk = p->s.kv_heads * hd, group = p->s.heads / p->s.kv_heads;
    const plain_layer *y = &p->layers[l];
    const int end = plain_end(p, position, n_keys);
    double w[PLAIN_MOST];
    for (int head = 0; head < p->s.heads; head++) {
        const int kh = head / group;
        double top = -1e300, all = 0;
        for (int j = 0; j < end; j++) {
            w[j] = 0;
            for (int i = 0; i < hd; i++)
                w[j] += q[head * hd + i] * y->keys[j * nk + kh * hd + i] / sqrt(hd);
            if (!p->dropped[l][kh][j] && w[j] > top) top = w[j];
        }
        for (int j = 0; j < end; j++) all += w[j] = p->dropped[l][kh][j] ? 0 : exp(w[j] - top);
        for (int i = 0; i < hd; i++) o[head * hd + i] = 0;
        for (int j = 0; j < end; j++) {
            for (int i = 0; i < hd; i++)
                o[head * hd + i] += w[j] / all * y->values[j * nk + kh * hd + i];
            if (position >= p->watch_from && position < p->watch_to)
                p->paid[l][kh][j / KV_BLOCK] += w[j] / all;
        }
    }
}

/* Rows [from, to) of x: their keys and values anew, and logits[to - from][vocab] (NULL: none). */
static inline void plain_rows(plain_network *p, const int32_t *x, int from, int to, int n_keys,
                              double *logits) {
    const int d = p->s.d, hd = p->s.head_dim, nq = p->s.heads * hd, nk = p->s.kv_heads * hd;
    const int n = to - from;
    double *a = calloc((size_t)(n * d), sizeof *a), *q = calloc((size_t)(n * nq), sizeof *q);
    double *h = calloc((size_t)d, sizeof *h), *o = calloc((size_t)nq, sizeof *o);
    double *f = calloc((size_t)d, sizeof *f);
    for (int t = 0; t < n; t++) memcpy(a + t * d, p->embd + x[from + t] * d, (size_t)d * sizeof *a);
    for (int l = 0; l < p->s.layers; l++) {
        plain_layer *y = &p->layers[l];
        for (int t = 0; t < n; t++) {
            double *k = y->keys + (from + t) * nk;
            oracle_rms(h, a + t * d, y->norm, d, 1e-5);
            plain_product(q + t * nq, y->q, y->q_bias, h, nq, d);
            plain_product(k, y->k, y->k_bias, h, nk, d);
            plain_product(y->values + (from + t) * nk, y->v, y->v_bias, h, nk, d);
            for (int i = 0; i < p->s.heads; i++) {
                double *z = q + t * nq + i * hd;
                if (y->q_norm) oracle_rms(z, z, y->q_norm, hd, 1e-5);
                plain_rotate(p, z, from + t);
            }
            for (int i = 0; i < p->s.kv_heads; i++) {
                if (y->k_norm) oracle_rms(k + i * hd, k + i * hd, y->k_norm, hd, 1e-5);
                plain_rotate(p, k + i * hd, from + t);
            }
        }
        for (int t = 0; t < n; t++) {
            plain_attend(p, l, from + t, n_keys, q + t * nq, o);
            plain_product(h, y->out, NULL, o, d, nq);
            for (int i = 0; i < d; i++) a[t * d + i] += h[i];
            oracle_rms(h, a + t * d, y->ffn_norm, d, 1e-5);
            if (y->router)
                plain_mix(p, y, h, f);
            else
                plain_feed(p, y, 0, h, f);
            for (int i = 0; i < d; i++) a[t * d + i] += f[i];
        }
    }
    for (int t = 0; logits && t < n; t++) {
        oracle_rms(h, a + t * d, p->norm, d, 1e-5);
        plain_product(logits + t * p->s.vocab, p->head, NULL, h, p->s.vocab, d);
    }
    free(a), free(q), free(h), free(o), free(f);
}

/* Each head drops what it does not keep of the positions before `from` and behind `to`, both rounded
 * outward to blocks, n positions being there. Returns the blocks that each head keeps of them. */
static inline int plain_drop(plain_network *p, const sparse_params *sparse, int from, int to,
                             int n) {
    const int g = sparse->block / KV_BLOCK, b0 = from / KV_BLOCK;
    const int b1 = (to + KV_BLOCK - 1) / KV_BLOCK, full = n / KV_BLOCK;
    int most = 0;
    for (int l = 0; l < p->s.layers; l++)
        for (int h = 0; h < p->s.kv_heads; h++) {
            int there[PLAIN_BLOCKS], n_there = 0, ever = 0;
            for (int b = 0; b < full; b++) {
                if (b >= b0 && b < b1) continue;
                ever++;
                if (!p->dropped[l][h][b * KV_BLOCK]) there[n_there++] = b;
            }
            const int groups = n_there / g, rest = n_there % g;
            const int sink = (sparse->sink + sparse->block - 1) / sparse->block;
            int keep = (int)ceil(((double)sparse->retention * ever - 1e-4 - rest) / g);
            if (keep < sink) keep = sink;
            if (keep > groups) keep = groups;
            bool kept[PLAIN_BLOCKS] = {0};
            for (int k = 0; k < keep; k++) {
                int best = -1;
                double most_paid = -1;
                for (int i = 0; i < groups; i++) {
                    double paid = i < sink ? 1e9 : 0;
                    for (int b = 0; b < g; b++) paid += p->paid[l][h][there[i * g + b]];
                    if (!kept[i] && paid > most_paid) most_paid = paid, best = i;
                }
                kept[best] = true;
            }
            for (int i = 0; i < groups * g; i++)
                for (int j = 0; j < KV_BLOCK && !kept[i / g]; j++)
                    p->dropped[l][h][there[i] * KV_BLOCK + j] = true;
            most = keep * g + rest;
        }
    memset(p->paid, 0, sizeof p->paid);
    return most;
}

#endif
