/* forward.h - what both forward passes are made of: scratch, matrix products, attention over pages.
 * One step at a time; nothing here allocates after forward_create. */
#ifndef FORAGE_ENGINE_FORWARD_H
#define FORAGE_ENGINE_FORWARD_H

#include "engine/model/model_internal.h"

/* Where a row of the step stands. */
typedef struct row_place {
    const int32_t *pages; /* block table of its sequence */
    int32_t position, slot;
    int32_t n_keys;                 /* it sees the slots below this */
    const model_sequence *observed; /* where its attention is added up; NULL: nowhere */
    bool watched;                   /* and by blocks */
} row_place;

typedef struct forward {
    const model *m;
    fo_pool *pool;               /* borrowed; NULL: the calling thread */
    int cap_rows, cap_head_rows; /* rows of a step; rows of logits */
    unsigned char *block;        /* the one allocation that everything below lies in */
    size_t block_bytes;
    /* rows of floats; strides are multiples of 32 */
    int d_stride, att_stride, act_stride, q_stride, g_stride, v_stride;
    float *x, *xn, *qkv, *att, *up, *act;             /* [rows][...] */
    float *cosines[MODEL_ROPES], *sines[MODEL_ROPES]; /* [rows][n_pairs] */
    int8_t *q;                                        /* a product's input in int8 */
    float *q_scale, *q_wsum;
    int32_t *q_sum, *q_halves, *q_compensation;
    /* Mixtures of experts (experts.c): by row what is wanted of which experts, rows of one expert,
     * its output, the sum */
    float *expert_weights, *expert_x, *expert_y, *expert_sum;
    int *experts_of, *expert_rows;
    float *rest;       /* [rows][d_stride] what the first of two int8 terms left */
    row_place *places; /* [rows] */
    /* lm_head.c, by row of logits: the best logit of each stretch; the length of the second term; what
     * the best logit is not below */
    float *head_tops, *head_rests, *head_bars;
    float *thread_scratch;
    size_t thread_floats;
    float
        *logits; /* [head rows][padded vocabulary] where the caller's rows are no multiple of 16 */
} forward;

/* pool: who shares the work, the model's or NULL for the calling thread alone. */
int forward_create(forward *f, const model *m, fo_pool *pool, int rows, int head_rows, fo_err *err);
void forward_free(forward *f);

/* fn(arg, begin, end, thread) over rows: by the pool where there are enough of them. */
void forward_rows(forward *f, int n, fo_pool_fn *fn, void *arg);

/* The input of a product: rows of x (stride floats apart, w->k used), rounded to int8 first where
 * the weights want that. */
void forward_input(forward *f, const linear *w, const float *x, int x_stride, int rows,
                   mm_input *in);
/* Round one row for a product; for passes that produce rows themselves. */
void forward_quantize_row(forward *f, const linear *w, const float *x, int row);
/* The input that such a pass leaves: rows of x, rounded already. */
mm_input forward_rounded(const forward *f, const float *x, int x_stride);
/* The second terms of rows that were rounded in two, to be added to a product of the first. */
mm_input forward_second_term(const forward *f, const linear *w, const mm_input *in);
/* out[rows][w->n_out] = input times w, plus its bias. */
void forward_linear(forward *f, const linear *w, const mm_input *in, int rows, float *out,
                    int out_stride);

/* Rows of an embedding matrix as floats. */
void forward_embed(const gguf_tensor *t, int row, float *out);

/* cosines and sines of every place. */
void forward_angles(forward *f, int rows);

/* q, k (after RoPE) and v out of f->qkv: norms, RoPE, keys and values into the pages. kv_layer: which
 * layer of the pages. */
void forward_store_kv(forward *f, const layer *y, kv_pages *kv, int kv_layer, int rows);
/* f->att[rows][heads * v_dim] = attention of f->qkv's queries over the pages. Neighbouring rows of
 * one sequence that ascend share a tile. */
void forward_attention(forward *f, const layer *y, const kv_pages *kv, int kv_layer, int rows);

/* Few rows that see each other's keys, product, forward_store_kv and forward_attention in one: a
 * thread takes a KV head's columns of `in` times y->qkv to their part of f->att, and what lies
 * between stays in its cache. The same bits. Only where forward_by_heads says so: heads are whole
 * strips of the weights, and there are enough of them for every thread. */
bool forward_by_heads(const forward *f, const layer *y, int rows);
void forward_heads(forward *f, const layer *y, const mm_input *in, kv_pages *kv, int kv_layer,
                   int rows);

/* From the FFN's input to the input of its second product: gate and up (or up alone) and the
 * activation. f->up is free after it: on the fast path it may hold anything, else f->act holds the
 * rows. */
void forward_up(forward *f, const layer *y, const mm_input *in, int rows, mm_input *down);

/* The FFN of a layer that has experts, from f->xn: its output, [rows][d_stride] until the next
 * step. */
const float *forward_experts(forward *f, const layer *y, int rows);

#endif
