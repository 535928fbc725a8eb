/* model_internal.h - what the architectures fill in and the forward passes run.
 *
 * An architecture (arch_NAME.c) reads its metadata and describes its layers here; it runs nothing.
 * Two forward passes read the description: forward_decoder.c (norm before each half of a layer) and
 * encoder_layers.c (norm after). docs/adding-an-architecture.md shows the way. */
#ifndef FORAGE_ENGINE_MODEL_INTERNAL_H
#define FORAGE_ENGINE_MODEL_INTERNAL_H

#include "engine/model/model.h"
#include "engine/model/rope.h"
#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/vec.h"

enum { LINEAR_PARTS = 3, MODEL_ROPES = 2 };

/* y = x Wᵀ + b for one to three matrices that read the same x. Part i writes columns
 * [offset[i], offset[i] + w[i].n) of the output row; offsets are multiples of MM_PANEL. */
typedef struct linear {
    int n_parts, k, n_out; /* n_out: width of an output row, padding included */
    mm_weights w[LINEAR_PARTS];
    int offset[LINEAR_PARTS];
    float *bias;     /* [n_out], zero in the padding; NULL: none */
    bool int16_sums; /* x is rounded for kernels that add up in 16 bits (mm_kernels.int16_sums) */
    /* All parts are of a wide kind: x is rotated and rounded with wide scales, in one term. */
    bool wide;
    float *columns; /* [k] what the weights of a column took over from the norm before; NULL: 1 */
    /* Fast path: the last n_fine parts take x as the sum of two int8 roundings (15 bits) instead of
     * one. For products where one rounding costs more accuracy than the second costs time. */
    int n_fine;
    /* The same in all parts for these groups of VEC_GROUP channels alone: those that an outlier
     * channel would leave hardly a bit (model_load.c). NULL: none. */
    int *fine_groups, n_fine_groups;
    /* Rows are rounded in two terms, and products read the first: lm_head.c adds the second. */
    bool two_terms;
} linear;

typedef enum ffn_kind { FFN_SILU_GATED, FFN_GELU_TANH_GATED, FFN_GELU } ffn_kind;

typedef struct layer {
    /* vectors are owned by the model; NULL where the architecture has none */
    float *attn_norm, *attn_norm_bias; /* decoder: before attention; encoder: after it */
    float *attn_post_norm;             /* decoder: on attention's output (Gemma) */
    float *ffn_norm, *ffn_norm_bias;   /* decoder: before the FFN; encoder: after it */
    float *ffn_post_norm;
    float *q_norm, *k_norm;    /* per head, before RoPE */
    linear qkv, out, up, down; /* up: gate and up (in this order), or up alone */
    /* Mixtures of experts: up and down are empty, and experts[model.n_experts] have nothing else. */
    struct layer *experts;
    float *router; /* [n_experts][d_model] */
    /* Beside them, what every row goes through, likewise; its share is the sigmoid of what the gate
     * makes of the row. NULL: none; 1. */
    struct layer *shared;
    float *shared_gate;     /* [d_model] */
    const rope_table *rope; /* one of model.ropes, or NULL */
    int window;             /* keys at distance < window are seen; 0: all */
} layer;

struct model {
    model_info info;
    gguf *file;
    fo_pool *pool; /* borrowed; NULL: the calling thread */
    /* immutable after open */
    int d_ff, group; /* d_ff: of an expert, where there are some; group: query heads per KV head */
    /* Each row goes through n_experts_used of n_experts, those to which the router's softmax gives
     * most; weights are the softmax's, divided by their sum where expert_norm, times expert_scale. */
    int n_experts, n_experts_used;
    int n_experts_shared; /* as the metadata say; layer.shared is what counts */
    bool expert_norm;
    float expert_scale;
    float norm_eps, attn_scale, attn_soft_cap, logit_soft_cap, embed_scale;
    ffn_kind ffn;
    const gguf_tensor *token_embd, *position_embd, *type_embd; /* the latter two may be NULL */
    float *embd_norm, *embd_norm_bias, *output_norm;
    layer *layers;
    linear head;          /* logits; n_parts 0 for encoders without one */
    float *head_norms;    /* fast path: lm_head.h */
    linear pooler, score; /* rerank head: tanh(pooler) then score; n_parts 0 where absent */
    rope_table ropes[MODEL_ROPES];
    const vec_kernels *vec;
    const mm_kernels *mm;
    const attention_kernels *attention;
    fo_huge *weights; /* where their panels lie */
    void **owned;     /* every block that model_close frees */
    int n_owned, cap_owned;
};

/* --- what an architecture gets --- */
typedef struct model_loader {
    model *m;
    const char *arch; /* prefix of its metadata keys */
    bool probe;       /* count weight_bytes, read and allocate no weights */
    bool wide;        /* loader_rotate */
    float *norm;      /* what makes the x that the matrices that come now read, or NULL */
    const model_options *options;
    int layer; /* for "blk.%d." names; -1: none */
    fo_err *err;
} model_loader;

typedef struct architecture {
    const char *name; /* general.architecture */
    /* Fill l->m. FO_* with a sentence in l->err. */
    int (*load)(model_loader *l);
} architecture;

extern const architecture arch_llama, arch_qwen2, arch_qwen3, arch_qwen3moe, arch_gemma3, arch_phi3,
    arch_dream, arch_llada, arch_llada_moe, arch_bert, arch_nomic_bert;

/* Metadata "<arch>.<key>"; absent: *out keeps its default. Errors name the key. */
int loader_int(model_loader *l, const char *key, int min, int max, int *out);
int loader_float(model_loader *l, const char *key, float *out);
int loader_need_float(model_loader *l, const char *key, float *out);
bool loader_has_tensor(model_loader *l, const char *name);

/* The sizes that every architecture has (layers, widths, heads, context, vocabulary), checked
 * against each other; allocates m->layers; token_embd. */
int loader_common(model_loader *l);

/* A RoPE table from "<arch>.rope.*" metadata, "rope_freqs.weight" and scaling included: linear where
 * "rope.scaling.type" is absent, by "rope.scaling.factor" or the older "rope.scale_linear". */
int loader_rope(model_loader *l, rope_table *t, double default_base, bool adjacent);

/* From now on, or no more: matrices of 8 bits are kept rotated and with wide scales where all that
 * read the same x can be. That is done in the FFN of a decoder, nine tenths of its products (in all
 * layers it would take the cosine of a random model's logits below .999), and in all of an
 * encoder's layers. */
void loader_rotate(model_loader *l, bool on);

/* Tensors. The name may hold one %d, the layer. Vectors are floats of exactly n values. */
int loader_vector(model_loader *l, const char *name, int n, float **out);
int loader_vector_optional(model_loader *l, const char *name, int n, float **out);
/* n_parts matrices [n[i], k] "NAME.weight", with "NAME.bias" where the file has one. */
int loader_linear(model_loader *l, linear *out, int k, int n_parts, const char *const *names,
                  const int *n);
int loader_linear_1(model_loader *l, linear *out, int k, const char *name, int n);
/* Rows [first, first + n) of a matrix that holds several (fused qkv): parts at offsets. */
int loader_linear_split(model_loader *l, linear *out, int k, const char *name, int n_parts,
                        const int *n);

/* The layers of the Llama family: norms, q k v (fused or not), output, gate, up, down; QK norms and
 * post norms where the file has them. */
int loader_decoder_layers(model_loader *l);
/* output_norm and the head (tied to token_embd where the file has no output matrix). */
int loader_decoder_head(model_loader *l);
/* All of it for the Llama family: RMS norms, a gated SiLU, causal, one RoPE table (its base where
 * the file names none; pairs of neighbours or of halves). Call it and set what differs. */
int loader_llama_family(model_loader *l, double rope_base, bool adjacent);

/* What was read is a diffusion model: it sees in both directions, or by blocks where the file's
 * diffusion.attention_block says how long they are. */
int loader_bidirectional(model_loader *l);

void *model_own(model *m, void *block); /* NULL when block is NULL or out of memory (freed then) */

#endif
