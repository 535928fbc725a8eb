/* random_model.h - models of real shapes with random weights and a working tokenizer, to measure
 * speed with where the real ones cannot be had. */
#ifndef FORAGE_ENGINE_RANDOM_MODEL_H
#define FORAGE_ENGINE_RANDOM_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/tools/quantize.h"
#include "kernels/error.h"
#include "kernels/pool.h"

typedef struct random_model_options {
    /* "qwen2.5-0.5b", "qwen2.5-1.5b", "llama3.2-1b", "llama3.2-3b", "llama3.1-8b", "smollm2-135m",
     * "minilm-l6"; for tests "tiny", a fifth of
     * SmolLM2's layers, and "toy", which answers thousands of requests a second */
    const char *shape;
    quantize_target type;
    /* A diffusion model of that shape instead: LLaDA of a Llama, Dream of a Qwen2; its mask is the last
     * token. Its attention goes by blocks of so many where attention_block is not 0. */
    bool diffusion;
    int attention_block;
    bool outliers; /* some channels 100 times the rest, as trained models have */
    uint64_t seed;
    fo_pool *pool;
} random_model_options;

/* Write the model; an F16 one of the same shape lies beside it meanwhile (path + ".f16").
 * FO_EINVAL names the shapes there are, or diffusion where the shape has no such sister. */
int random_model_write(const char *path, const random_model_options *options, fo_err *err);

#endif
