/* quantize.h - a GGUF model rewritten with other number formats.
 *
 * The names of the targets and the mixes behind them are llama.cpp's:
 *   f16, bf16   every matrix
 *   q8_0        every matrix
 *   q4_0, q6_k  every matrix; the output matrix (or the tied embedding) as Q6_K
 *   q4_k_m      Q4_K; Q6_K for the output and for the values and ffn_down of the first and last
 *               eighth of the layers and every third between; fused QKV as Q5_K
 * A row that 256 does not divide falls back: Q4_K -> Q5_0, Q5_K -> Q5_1, Q6_K -> Q8_0; one that 32
 * does not divide becomes F16. Norms, biases, positions, token types and routers stay as they are.
 */
#ifndef FORAGE_ENGINE_QUANTIZE_H
#define FORAGE_ENGINE_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/gguf/gguf.h"
#include "kernels/error.h"
#include "kernels/pool.h"

typedef enum quantize_target {
    QUANTIZE_F16,
    QUANTIZE_BF16,
    QUANTIZE_Q8_0,
    QUANTIZE_Q4_0,
    QUANTIZE_Q4_K_M,
    QUANTIZE_Q6_K,
} quantize_target;

/* "q4_k_m" (any case) -> target; false where there is none of that name. */
bool quantize_target_from_name(const char *name, quantize_target *out);

typedef struct quantize_options {
    quantize_target target;
    /* Of token_embd.weight; 0: what the target says. Every type that quant_can_pack knows. */
    quant_type token_embedding;
    fo_pool *pool; /* NULL: the calling thread alone */
    /* Called after every piece, from the calling thread; may be NULL. Bytes of the input. */
    void (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_arg;
} quantize_options;

typedef struct quantize_result {
    uint64_t in_bytes, out_bytes; /* of tensor data */
    size_t n_converted, n_kept;   /* tensors */
    size_t n_fallback;            /* of the converted: rows that the wanted block does not divide */
} quantize_result;

/* The type that tensor `t` of `g` gets by the target alone. */
quant_type quantize_type_for(const gguf *g, const gguf_tensor *t, quantize_target target);

/* Write in_path's model to out_path (temp file, renamed when whole); result may be NULL. FO_EINVAL
 * where the rows of token_embd.weight cannot have the type asked for. */
int quantize_file(const char *in_path, const char *out_path, const quantize_options *options,
                  quantize_result *result, fo_err *err);

#endif
