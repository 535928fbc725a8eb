/* model.h - a language model out of a GGUF file, and one step of it over a ragged batch.
 *
 *     model *m;
 *     model_open(&m, "model.gguf", &(model_options){.pool = pool, .fast = true}, &err);
 *     kv_layout layout;
 *     model_kv_layout(m, 16, KV_BF16, &layout, &err);
 *     kv_pages *kv;
 *     kv_pages_create(&kv, &layout, n_pages, &err);
 *     model_context *c;
 *     model_context_create(&c, m, &(model_limits){.batch_tokens = 512, .logit_rows = 16}, &err);
 *     model_sequence s = {.tokens = t, .n_tokens = 24, .start = 0, .pages = table, .n_pages = 2,
 *                         .n_logits = 1};
 *     model_forward(c, kv, &s, 1, logits, &err);          // logits[1][n_vocab]
 *
 * A step takes sequences of any kinds together: prefill chunks of several, decode rows of others,
 * rows to be computed again in the middle of a third. It writes the keys and values of its tokens
 * into the pages, reads those of earlier positions through the block tables, and gives logits for
 * the rows asked for. It allocates nothing.
 *
 * Row invariance: what a row gives depends on that row, its KV and the weights alone, bit for bit:
 * never on the company it is computed in, on how a prefill was split, on page size or threads.
 *
 * Two paths, chosen when the model is opened: exact (F32 arithmetic on the dequantised weights) and
 * fast (weights repacked to int8 or int4 with a scale for 32 values, activations rounded to int8 in
 * groups of 32, integer sums). */
#ifndef FORAGE_ENGINE_MODEL_H
#define FORAGE_ENGINE_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/gguf/gguf.h"
#include "engine/model/kv_pages.h"
#include "kernels/error.h"
#include "kernels/matmul.h"
#include "kernels/pool.h"

typedef struct model model;                 /* immutable after open; any thread may read it */
typedef struct model_context model_context; /* scratch of one step at a time; one thread */

typedef enum model_pooling { /* the values are GGUF's */
                             MODEL_POOL_NONE = 0,
                             MODEL_POOL_MEAN = 1,
                             MODEL_POOL_CLS = 2,
                             MODEL_POOL_LAST = 3,
                             MODEL_POOL_RANK = 4,
} model_pooling;

typedef struct model_options {
    fo_pool *pool;             /* shared, outlives the model; NULL: the calling thread alone */
    bool fast;                 /* the serving path */
    const mm_kernels *kernels; /* that multiply; NULL: the best the machine has */
    /* Called now and then while weights are repacked, from the opening thread; may be NULL. */
    void (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
    uint64_t max_bytes; /* refuse with FO_ENOMEM when the weights would take more; 0: no limit */
} model_options;

typedef struct model_info {
    char arch[32];  /* "llama", "qwen2", ... */
    char name[128]; /* general.name, "" if none */
    bool causal;    /* false: every position sees every other, but for: */
    /* > 0 (and causal false): positions see up to the end of their own block of so many, counted
     * from position 0, and no further (block-causal). */
    int attention_block;
    bool encoder; /* true: use encoder.h; model_forward refuses */
    bool fast;
    int n_layers, d_model, n_heads, n_kv_heads;
    int k_dim, v_dim; /* channels of a head */
    int n_vocab, n_context;
    int sliding_window;    /* 0: none */
    model_pooling pooling; /* encoders */
    int n_scores;          /* outputs of a rerank head; 0: none */
    uint64_t n_parameters;
    /* Matrix parameters of the layers that a row is multiplied with, head and embedding apart: of a mixture's
     * experts as many as a row goes through. */
    uint64_t layer_parameters;
    uint64_t file_bytes;
    uint64_t weight_bytes; /* memory of the repacked weights; the file takes none beside them */
    /* SHA-256 over metadata, tensors and path (exact or fast) with a numerics version: models that
     * differ in one weight differ here; and those that write text where the processor's level makes
     * other bits of KV. Key of every cache of KV, embeddings and answers. */
    unsigned char fingerprint[32];
} model_info;

/* What opening would give and cost, from the file's head alone: weight_bytes is predicted,
 * fingerprint zero. FO_EUNSUPPORTED names what is missing. */
int model_probe(model_info *out, const char *path, bool fast, fo_err *err);

/* On error *out is untouched. FO_EIO, FO_ECORRUPT, FO_EUNSUPPORTED, FO_ENOMEM. */
int model_open(model **out, const char *path, const model_options *options, fo_err *err);
/* The same over a file's bytes in memory, which the caller keeps until model_close; the name stands
 * for the path in errors. */
int model_open_memory(model **out, const void *data, size_t size, const char *name,
                      const model_options *options, fo_err *err);
/* The same over a file that is open, which is the model's from then on, also on error. The fingerprint is that of its bytes: an
 * overlay (gguf_overlay) has none, and nothing is to be kept by the fingerprint of its model. */
int model_open_gguf(model **out, gguf *file, const char *name, const model_options *options,
                    fo_err *err);
void model_close(model *m); /* NULL is fine; its contexts must be gone */

const model_info *model_get_info(const model *m);
const gguf *model_gguf(const model *m); /* metadata for the tokenizer; until model_close */
/* Bytes of the file that a step of n_rows rows (1 or more) reads: all but the rows of an embedding that is no
 * output too; of a mixture's experts those that the rows go through, were they chosen evenly. */
double model_step_bytes(const model *m, int n_rows);

/* Pages for this model. FO_EINVAL for a page size or type that it cannot have. */
int model_kv_layout(const model *m, int page_tokens, kv_type type, kv_layout *out, fo_err *err);

/* --- steps --- */
typedef struct model_limits {
    int batch_tokens; /* tokens of a step, all sequences together (at least 1) */
    int logit_rows;   /* rows of logits of a step (at least 1) */
} model_limits;

typedef struct model_sequence {
    const int32_t *tokens; /* [n_tokens]; each in [0, n_vocab) */
    int n_tokens;          /* at least 1 */
    int start;             /* position of tokens[0]; the others follow */
    /* NULL, or the position of every token, ascending: to compute rows again in the middle of a
     * sequence whose KV is there already (start is then ignored). */
    const int32_t *positions;
    const int32_t *pages; /* block table from position 0 on: pages[p / page_tokens] */
    int n_pages;          /* must cover the last position */
    int n_logits;         /* logits for the last n rows: 0 .. n_tokens */
    /* NULL, or which rows want logits instead of the last ones: [n_logits], ascending. */
    const int32_t *logit_rows;
    /* 0, or (of models that are not causal): rows see the positions below this, which covers the
     * last row; the KV of those that are no rows of the step was written before. */
    int n_keys;
    /* NULL, or where the attention that this sequence's rows pay to each position below
     * n_attention is added up: softmax weights, over all rows, heads and the layers
     * [attention_layers[0], attention_layers[1]), in units of 2^-32. Integers, so that the sums do
     * not depend on order, batch or threads. */
    uint64_t *attention;
    int n_attention;
    int attention_layers[2];
    /* 0, or: some of the other positions have no KV any more (kv_seq_pack). The row of position p
     * lies in slot p + slot_shift of the block table and sees all slots before that (or n_keys +
     * slot_shift of them), which hold other positions of each layer and KV head. A multiple of
     * KV_BLOCK; not of models with a sliding window. */
    int slot_shift;
    /* NULL, or where the attention that the rows at positions [watch_from, watch_to) pay is added up
     * by blocks of KV_BLOCK slots: [n_layers][n_kv_heads][n_watched], in units as of attention, over
     * the query heads that share a KV head. Slots behind the last block are left out. */
    uint64_t *watched;
    int n_watched, watch_from, watch_to;
    /* 0, or: of this sequence's rows nobody wants more than the attention in layers below this one.
     * What is written of their KV is then good for that alone; n_logits must be 0. */
    int layers;
} model_sequence;

int model_context_create(model_context **out, const model *m, const model_limits *limits,
                         fo_err *err);
void model_context_free(model_context *c); /* NULL is fine */

/* Run one step. logits[sum of n_logits][n_vocab], in the order of the sequences (may be NULL when
 * there are none). A causal row sees the positions up to its own; with a bidirectional model all
 * positions of its sequence up to the last of this step (or n_keys, or its block's end). Two sequences of a step must not write
 * the same page; they may read the same. FO_EINVAL names what is wrong, and nothing was written
 * then; FO_ELIMIT when the batch is larger than the context, FO_EIO when the model's file was cut off or
 * its disk failed under it (gguf_intact). */
int model_forward(model_context *c, kv_pages *kv, const model_sequence *seqs, int n_seqs,
                  float *logits, fo_err *err);

/* The same step with its logits asked for later, some at a time: more of n_logits than the
 * context's logit_rows are allowed. Until the next step with c, _logits gives rows
 * [first, first + n) of them, n at most logit_rows: logits[n][n_vocab], bit for bit those of
 * model_forward. */
int model_forward_states(model_context *c, kv_pages *kv, const model_sequence *seqs, int n_seqs,
                         fo_err *err);
void model_forward_logits(model_context *c, int first, int n, float *logits);

/* The same step in two parts, so that it can give way to another one between two layers. _begin
 * checks and embeds; _go computes layers until all are done (true) or *give_way is seen true after
 * one of them (false: call it again later, with the same sequences, and nothing was lost).
 * Meanwhile other contexts may compute, and the sequences' pages may be moved (kv_cache_compact):
 * _go reads the block tables anew. The next _begin forgets a step that was not ended. The bits are
 * those of model_forward. give_way NULL: to the end. */
int model_forward_begin(model_context *c, const kv_pages *kv, const model_sequence *seqs,
                        int n_seqs, fo_err *err);
bool model_forward_go(model_context *c, kv_pages *kv, const model_sequence *seqs, int n_seqs,
                      float *logits, const atomic_bool *give_way);

/* Shift the keys of slots [slot, slot + n) of a page by `delta` positions, in all layers: what was
 * computed at position p then stands as if computed at p + delta. Rounds once more to the storage
 * type: not exact, except for delta = 0, which touches nothing. */
int model_shift_keys(const model *m, kv_pages *kv, int page, int slot, int n, int delta,
                     fo_err *err);

#endif
