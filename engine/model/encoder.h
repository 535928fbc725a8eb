/* encoder.h - sentence vectors and rerank scores from encoder models (BERT and its kin).
 *
 *     model_open(&m, "all-minilm-l6-v2-f16.gguf", &options, &err);
 *     encoder *e;
 *     encoder_create(&e, m, &(encoder_limits){.batch_tokens = 2048}, &err);
 *     encoder_text t[2] = {{ids_a, 9}, {ids_b, 120}};        // with [CLS] and [SEP]
 *     encoder_embed(e, t, 2, vectors, &err);                 // vectors[2][d_model]
 *
 * Texts are packed one behind the other, without padding, into steps of at most batch_tokens (or
 * of one longer text); a text's vector does not depend on its company (row invariance, model.h). */
#ifndef FORAGE_ENGINE_ENCODER_H
#define FORAGE_ENGINE_ENCODER_H

#include <stddef.h>
#include <stdint.h>
#include "engine/model/model.h"
#include "kernels/error.h"

enum { ENCODER_MAX_TOKENS = 8192 }; /* of a text, and of the texts of a step */

typedef struct encoder encoder; /* one thread at a time; the model under it may be shared */

typedef struct encoder_limits {
    int batch_tokens; /* that texts are packed to, at most ENCODER_MAX_TOKENS; 0: 512 a thread */
    fo_pool *pool;    /* who runs it, outlives it; NULL: the model's */
} encoder_limits;

typedef struct encoder_text {
    const int32_t *tokens; /* special tokens included, as the tokenizer adds them */
    int n_tokens;          /* 1 .. n_context of the model, at most ENCODER_MAX_TOKENS */
    /* First token of the second segment (cross-encoders: the passage); 0: one segment. */
    int second_segment;
} encoder_text;

/* FO_EUNSUPPORTED where the model is no encoder. */
int encoder_create(encoder **out, const model *m, const encoder_limits *limits, fo_err *err);
void encoder_free(encoder *e); /* NULL is fine; before the model */

/* Pooled vectors out[n_texts][d_model], not normalised. */
int encoder_embed(encoder *e, const encoder_text *texts, size_t n_texts, float *out, fo_err *err);

/* The last layer of every token, without pooling: out[sum of n_tokens][d_model]. */
int encoder_hidden(encoder *e, const encoder_text *texts, size_t n_texts, float *out, fo_err *err);

/* Rerank scores out[n_texts] (raw logits, higher is better) of query-passage pairs.
 * FO_EUNSUPPORTED where the model has no such head (model_info.n_scores is 0). */
int encoder_score(encoder *e, const encoder_text *pairs, size_t n_texts, float *out, fo_err *err);

#endif
