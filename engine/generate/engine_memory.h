/* engine_memory.h - what a model will take, counted before it is loaded. */
#ifndef FORAGE_ENGINE_ENGINE_MEMORY_H
#define FORAGE_ENGINE_ENGINE_MEMORY_H

#include "engine/generate/engine.h"

typedef struct engine_memory_plan {
    uint64_t weights, kv, scratch, available; /* bytes */
    uint64_t store;                           /* of the KV store in RAM */
    int page_tokens, n_pages;
} engine_memory_plan;

/* Choose the size of the KV cache where opt leaves it open, and refuse with a sentence that adds it
 * all up where it does not fit into the memory available (FO_ENOMEM; *out is filled then, too).
 * info: of the file, by model_probe. */
int engine_memory_check(engine_memory_plan *out, const model_info *info, const engine_options *opt,
                        int batch_tokens, int logit_rows, fo_err *err);

#endif
